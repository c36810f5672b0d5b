/* exec.h - running a plan.
 *
 * An execution owns the memory of one run: nothing is allocated once it
 * exists.  The floating-point mode is set on entry (to nearest, subnormals
 * kept) and restored. */
#ifndef JX_EXEC_H
#define JX_EXEC_H

#include "runtime/plan.h"
#include "runtime/pool.h"

typedef struct jx_exec jx_exec;

/* NULL without memory (an error in program->ctx). */
jx_exec *jx_exec_new(const jx_plan *plan);
void jx_exec_free(jx_exec *exec);
/* From now on `pool` helps, which others may have at the same time; NULL:
 * one of its own. */
void jx_exec_share(jx_exec *exec, jx_pool *pool);

/* Runs once.  `ins` holds a pointer per input; `outs` one per output, or NULL
 * (as a whole or one by one) for memory of the execution's own.  Inputs and
 * outputs may not overlap, but as jx_plan_lends() says.  False when a kernel
 * failed: jx_exec_error(). */
bool jx_exec_run(jx_exec *exec, const void *const *ins, void *const *outs);
/* The program's limit of time counts from now; else it counts from when its
 * context was made. */
void jx_exec_restart(jx_exec *exec);
/* The last run failed for its limit of time, or was cancelled. */
bool jx_exec_gave_up(const jx_exec *exec);
/* Lets every later run execute at most so many operations (loops count each
 * turn); a longer one fails.  Without it there is no limit. */
void jx_exec_limit(jx_exec *exec, int64_t operations);
/* Operations of the last run. */
int64_t jx_exec_operations(const jx_exec *exec);
/* Elements that these took and gave. */
int64_t jx_exec_elements(const jx_exec *exec);
/* Later runs take subnormal numbers for zeros, and give none: as
 * XLA's code does on a CPU. (On processors that we have the switch
 * of; false elsewhere.) */
bool jx_exec_flush(jx_exec *exec, bool flush);
/* How later runs round (FE_TONEAREST, FE_UPWARD, ... of fenv.h), where a kernel
 * does not say itself: results that move with it are as sure as that. */
void jx_exec_round(jx_exec *exec, int mode);
/* The seed of all random numbers that programs leave open (stablehlo.rng):
 * later runs draw the same ones again, an operation in a loop others at each
 * turn. Without it the seed is 0. */
void jx_exec_seed(jx_exec *exec, uint64_t seed);
/* Arrays of such numbers in the last run. */
int64_t jx_exec_drawn(const jx_exec *exec);
/* A probe of the plan saw something in the last run. */
bool jx_exec_noticed(const jx_exec *exec);
/* Where output `i` of the last run lies. */
const void *jx_exec_out(const jx_exec *exec, int i);
/* What jx_unfinite_find() says of an array as the caller hands it over; false,
 * too, where the dtype has finite numbers alone. */
bool jx_port_find_unfinite(const jx_port *port, const void *data,
                           jx_unfinite *found);
/* Whether it says nothing. */
bool jx_port_is_finite(const jx_port *port, const void *data);
const char *jx_exec_error(const jx_exec *exec);
/* The last run failed because the program did not compute what it expects of
 * itself. */
bool jx_exec_differs(const jx_exec *exec);

#endif
