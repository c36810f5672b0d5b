/* exec.h - running a plan.
 *
 * An execution owns the memory of one run: nothing is allocated once it
 * exists.  The floating-point mode is set on entry (to nearest, subnormals
 * kept) and restored. */
#ifndef JX_EXEC_H
#define JX_EXEC_H

#include "runtime/plan.h"

typedef struct jx_exec jx_exec;

/* NULL without memory (an error in program->ctx). */
jx_exec *jx_exec_new(const jx_plan *plan);
void jx_exec_free(jx_exec *exec);

/* Runs once.  `ins` holds a pointer per input; `outs` one per output, or NULL
 * (as a whole or one by one) for memory of the execution's own.  Inputs and
 * outputs may not overlap.  False when a kernel failed: jx_exec_error(). */
bool jx_exec_run(jx_exec *exec, const void *const *ins, void *const *outs);
/* Where output `i` of the last run lies. */
const void *jx_exec_out(const jx_exec *exec, int i);
const char *jx_exec_error(const jx_exec *exec);

#endif
