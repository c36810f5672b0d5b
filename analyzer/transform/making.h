/* making.h - a program in the making from another, equation by equation. */
#ifndef JX_MAKING_H
#define JX_MAKING_H

#include "frontend/ir/build.h"

typedef struct jx_making {
    jx_builder build; /* first: who fails finds the rest */
    jx_program *to;
    /* being worked on, or NULL: errors name it and its place */
    const jx_eqn *eqn;
    const jx_eqn *failed; /* what the last error names */
} jx_making;

/* A copy of the program, to be made another: it has its jaxprs, and types,
 * values and retraces of its own.  False without memory. */
bool jx_making_begin(jx_making *m, jx_program *from);

static inline jx_arena *jx_making_arena(const jx_making *m)
{
    return m->to->ctx->arena;
}

/* Tells why, of the equation being worked on; always false. */
bool jx_making_fail(jx_making *m, const char *why);

/* A jaxpr that was made, whose first inputs are those of `like`: they have
 * their names, by which ranges are declared.  NULL if `made` is. */
const jx_jaxpr *jx_making_named(jx_making *m, const jx_jaxpr *made,
                                const jx_jaxpr *like);

/* The program with that entry and with what else was made; NULL
 * after a failure. */
jx_program *jx_making_end(jx_making *m, const jx_jaxpr *entry);

/* A parameter: a jaxpr with the constants of another. */
const jx_value *jx_making_closed(jx_making *m, const jx_jaxpr *jaxpr,
                                 const jx_closed *like);

/* The same as what is known of a rule. */
jx_closed jx_making_closed_like(const jx_jaxpr *jaxpr, const jx_closed *like);
/* A copy of a rule that is one more of the program, to be changed; it as a
 * parameter, like one that has the rule. */
jx_rule *jx_making_rule(jx_making *m, const jx_value *like,
                        const jx_value **value);

/* Which of n: a copy, NULL of NULL; whether two say the same (NULL: none). */
const bool *jx_making_mask(const jx_making *m, int n, const bool *mask);
bool jx_same_masks(int n, const bool *a, const bool *c);

/* Adds what a jaxpr computes of these constants and inputs: fills in its
 * results, of which `wanted` (NULL: all) say which are needed; equations that
 * only others need are left out.  False after a failure. */
bool jx_making_inline(jx_making *m, jx_body *b, const jx_jaxpr *from,
                      const jx_atom *consts, const jx_atom *ins,
                      const bool *wanted, jx_atom *outs);
/* The same of the jaxpr's own constants, which become the body's. */
bool jx_making_enclose(jx_making *m, jx_body *b, const jx_jaxpr *from,
                       const jx_atom *ins, jx_atom *outs);

#endif
