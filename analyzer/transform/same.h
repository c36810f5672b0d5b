/* same.h - do two programs compute the same, by their structure?
 *
 * Both are flattened (flat.h) and their values become terms (term.h), where
 * names, calls, dead code, the order of independent equations and moves that
 * move nothing no longer count.  If all outputs and effects are one, the
 * programs are equal bit for bit on all inputs; if not, nothing is known but
 * where the first difference lies: running decides. */
#ifndef JX_SAME_H
#define JX_SAME_H

#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"

/* An equation of one of the programs; `eqn` is NULL where there is none. */
typedef struct jx_site {
    const jx_jaxpr *jaxpr;
    const jx_eqn *eqn;
    const jx_calls *calls;
} jx_site;

typedef struct jx_difference {
    bool large;   /* too large to be compared */
    bool by_name; /* they differ in nothing but what is known by a name alone:
                     whether that is the same, nobody knows */
    int output;   /* the first that differs, or -1 */
    jx_site a, b; /* the first equation that the other program has not, in the
                     user's own code if there is one */
} jx_difference;

/* True if they are the same.  The programs share a context; without memory
 * (jx_ok() is false then) they are not. */
bool jx_same_programs(const jx_typed *a, const jx_typed *b,
                      jx_difference *found);
/* The same of two jaxprs of one program, where the operands of a sum or product
 * may stand in any order: that changes no bit but of a NaN. */
bool jx_same_jaxprs(const jx_typed *typed, const jx_closed *a,
                    const jx_closed *b);
/* The same, and so are their derivatives, if the rules that they call are. */
bool jx_same_derivatives(const jx_typed *typed, const jx_closed *a,
                         const jx_closed *b);
/* What one takes the other takes, else they can't be the same. */
bool jx_same_inputs(const jx_jaxpr *a, const jx_jaxpr *b);

#endif
