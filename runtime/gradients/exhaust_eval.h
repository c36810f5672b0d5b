/* exhaust_eval.h - one thread's executions of the plans of an
 * elementwise function. */
#ifndef JX_EXHAUST_EVAL_H
#define JX_EXHAUST_EVAL_H

#include "runtime/exec.h"
#include "runtime/gradients/exhaust_make.h"

/* Which plan. */
typedef enum jx_exhaust_role {
    JX_EX_VALUE = 0,
    JX_EX_SAYS,
    JX_EX_WIDE,
    JX_EX_JITTER,
    JX_EX_JITTER_AGAIN,
    JX_EX_RULE,
    JX_EX_RULE_JITTER,
    JX_EX_RULE_JITTER_AGAIN,
    JX_EX_ROLES,
} jx_exhaust_role;

typedef struct jx_exhaust_eval {
    const jx_exhaust_plans *plans;
    jx_exec *execs[JX_EX_ROLES]; /* NULL: there is no such plan */
    uint32_t *x[2];    /* bits of the arguments, `each` of them: to be filled */
    void *declared[2]; /* what the plans take of them */
    double *wide[2];
    void *unit[2][2]; /* tangents: declared and wide, zeros and ones */
} jx_exhaust_eval;

/* False without memory (an error in ctx); jx_exhaust_close() in any case. */
bool jx_exhaust_open(jx_ctx *ctx, const jx_exhaust_plans *plans,
                     jx_exhaust_eval *to);
void jx_exhaust_close(jx_exhaust_eval *e);

/* After x has changed. */
void jx_exhaust_load(jx_exhaust_eval *e);
/* Runs it on all of x: the function and its derivative along that
 * argument as float64; either may be NULL.  False: it failed
 * (jx_exec_error() of the exec). */
bool jx_exhaust_eval_run(jx_exhaust_eval *e, jx_exhaust_role role, int argument,
                         double *value, double *slope);

#endif
