/* run.h - what control flow does to a run besides running blocks. */
#ifndef JX_RUN_H
#define JX_RUN_H

#include "runtime/kernel.h"

/* Sets where a moving buffer (jx_plan_moving) lies. */
void jx_run_move(jx_run *run, int buffer, const void *to);

#endif
