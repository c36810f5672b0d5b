/* z3.h - one question to Z3; only the helper process links it. */
#ifndef JX_PROVER_Z3_H
#define JX_PROVER_Z3_H

#include "frontend/base/buffer.h"

/* Appends the reply line (solver.h) for an SMT-LIB script. */
void jx_z3_check(const char *script, unsigned rlimit, jx_buffer *reply);
void jx_z3_version(jx_buffer *to); /* "4.8.12" */

#endif
