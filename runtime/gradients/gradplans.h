/* gradplans.h - plans that are made once, of what is run again and again on the way to the
 * call of a rule. */
#ifndef JX_GRADPLANS_H
#define JX_GRADPLANS_H

#include "runtime/exec.h"

enum { JX_WHOLE = -1 };

/* Zeros are none; freed by jx_kept_plans_free(). */
typedef struct jx_kept_plans {
    struct jx_kept_plan *at;
    int count, next; /* the next to make room */
} jx_kept_plans;

typedef struct jx_kept_plan {
    const jx_typed *typed;
    jx_closed of;
    int upto;
    int nbindings;
    jx_binding *bindings;
    jx_plan *plan;
    jx_exec *exec;
} jx_kept_plan;

/* A jaxpr in the wide domain, or what stands before its equation `upto`, which then gives
 * that one's operands; good until another is asked for.  NULL with the error in the program's
 * context. */
const jx_kept_plan *jx_kept_plan_of(jx_kept_plans *kept, const jx_typed *typed,
                                    const jx_closed *of, int upto, int nbindings,
                                    const jx_binding *bindings);
void jx_kept_plans_free(jx_kept_plans *kept);

#endif
