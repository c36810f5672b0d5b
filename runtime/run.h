/* run.h - what some kernels do to a run besides running blocks. */
#ifndef JX_RUN_H
#define JX_RUN_H

#include "runtime/kernel.h"
#include "runtime/pool.h"

/* The run's helper thread, made when first asked for; NULL: none. */
jx_pool *jx_run_pool(jx_run *run);
/* Sets where a moving buffer (jx_plan_moving) lies. */
void jx_run_move(jx_run *run, int buffer, const void *to);

#endif
