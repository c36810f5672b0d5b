/* compiles.h - which functions were compiled how often, and why again.
 *
 * Where plans are made in no time, a function that is compiled anew at every
 * call is not felt, and would be on any other backend.  JAXVET_COMPILES=report
 * has the process say at its end which functions that were, and what differed
 * from the time before. */
#ifndef JX_PJRT_COMPILES_H
#define JX_PJRT_COMPILES_H

#include "jaxvet.h"

/* Takes note of a program that was compiled in so many seconds, if somebody
 * asked for the report.  Any thread. */
void jx_pjrt_compiles_note(jaxvet_program *program, double seconds);

#endif
