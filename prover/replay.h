/* replay.h - writes a trace as a proof for the checker. */
#ifndef JX_PROVER_REPLAY_H
#define JX_PROVER_REPLAY_H

#include "prover/writer.h"

/* Writes the steps (without the brackets around them) that refute the facts;
 * false, and w->why, if some step can't be written in the checker's rules. */
bool jx_replay(jx_writer *w, const jx_trace *trace, const jx_facts *facts);

#endif
