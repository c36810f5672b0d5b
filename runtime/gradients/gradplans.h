/* gradplans.h - what is made of a program once, and not for each of its rules:
 * its types, who calls what, and the plans of what is run again and again on
 * the way to the call of a rule. */
#ifndef JX_GRADPLANS_H
#define JX_GRADPLANS_H

#include "analyzer/typing.h"
#include "runtime/exec.h"
#include "runtime/gradients/gradcallers.h"

enum { JX_WHOLE = -1 };

/* Zeros are none; freed by jx_kept_plans_free(). */
typedef struct jx_kept_plans {
    struct jx_kept_plan *at;
    int count, next;             /* the next to make room */
    const jx_analysis *analysis; /* of the program that was asked for last */
    const jx_call_graph *graph;  /* the same */
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

/* A jaxpr in the wide domain, or what stands before its equation `upto`, which
 * then gives that one's operands; good until another is asked for.  NULL with
 * the error in the program's context. */
const jx_kept_plan *jx_kept_plan_of(jx_kept_plans *kept, const jx_typed *typed,
                                    const jx_closed *of, int upto,
                                    int nbindings, const jx_binding *bindings);
/* As jx_program_fits() (runtime/fits.h) with the code of rules. */
const jx_typed *jx_kept_fits(jx_kept_plans *kept, jx_program *program,
                             int nbindings, const jx_binding *bindings);
/* Who calls what in a program; NULL without memory. */
const jx_call_graph *jx_kept_graph(jx_kept_plans *kept,
                                   const jx_program *program);
void jx_kept_plans_free(jx_kept_plans *kept);

#endif
