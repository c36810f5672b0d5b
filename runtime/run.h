/* run.h - what some kernels do to a run besides running blocks. */
#ifndef JX_RUN_H
#define JX_RUN_H

#include "runtime/comm.h"
#include "runtime/kernel.h"
#include "runtime/pool.h"

/* The run's helper thread, made when first asked for; NULL: none. */
jx_pool *jx_run_pool(jx_run *run);
/* There is something to look at closer: jx_exec_noticed(). */
void jx_run_notice(jx_run *run);
/* Sets where a moving buffer (jx_plan_moving) lies. */
void jx_run_move(jx_run *run, int buffer, const void *to);
/* Around a loop's turns, whose number it counts in `turn`. */
void jx_run_enter(jx_run *run, jx_turn *turn);
void jx_run_leave(jx_run *run);
/* The turn that the run is in, of the innermost loop; NULL: of none. */
const jx_turn *jx_run_turn(const jx_run *run);
/* The seed of random numbers that are the run's to choose, and how many arrays
 * of them it has drawn before this call. */
uint64_t jx_run_seed(const jx_run *run);
int64_t jx_run_draw(jx_run *run);

#endif
