/* exhaust_run.h - every input through the plans. */
#ifndef JX_EXHAUST_RUN_H
#define JX_EXHAUST_RUN_H

#include "runtime/gradients/exhaust_make.h"

/* Fills in the columns of *to, and how many inputs they are of.  The result is
 * the same whatever threads there are.  False with the error in ctx: a limit,
 * memory, a run that failed. */
bool jx_exhaust_run(jx_ctx *ctx, const jx_exhaust_plans *plans,
                    const jx_exhaust_options *options, jx_exhausted *to);

/* Whether slopes of the function around the worst place of a rule that is wrong
 * are those of its own derivative, and not what the rule gives. */
bool jx_exhaust_confirms(jx_ctx *ctx, const jx_exhaust_plans *plans,
                         int argument, const jx_exhaust_place *place);

#endif
