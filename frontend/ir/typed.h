/* typed.h - a program that typing has looked at, and what it refused.
 *
 * A document may declare anything: an axis that its operand has not, a result
 * of another rank than its operation gives.  Type rules find that.  So whoever
 * indexes shapes by parameters (costs, the flat form, terms, plans, the
 * lowering) takes a jx_typed and no program, and looks at no equation that is
 * refused: that one counts as an equation of an unknown primitive.
 *
 * Only typing makes one (jx_type_program() of typing.h). */
#ifndef JX_TYPED_H
#define JX_TYPED_H

#include "frontend/ir/program.h"

struct jx_claim; /* claim.h */

/* What became of a jaxpr's equations. */
typedef struct jx_looked_at {
    bool typed;          /* false: nobody looked, nothing of it is accepted */
    bool runs;           /* when the entry does; rules don't */
    const bool *refused; /* by equation; NULL: none is */
} jx_looked_at;

typedef struct jx_typed {
    jx_program *program;
    const jx_looked_at *jaxprs; /* by id */
    /* the first of what the program itself runs that can hold at no size; NULL:
     * all is accepted, though what is claimed of sizes may be undecided */
    const struct jx_claim *refusal;
} jx_typed;

/* Its operands fit its parameters, and its results and operands are what they
 * are declared to be, as far as ranks, dtypes and numbers go.  (Jaxprs that a
 * plan makes of accepted ones are not the program's: those are accepted.) */
static inline bool jx_typed_accepts(const jx_typed *typed,
                                    const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    const jx_program *program = typed->program;
    bool own = jaxpr->id >= 0 && jaxpr->id < program->njaxprs &&
               program->jaxprs[jaxpr->id]->eqns == jaxpr->eqns;
    const jx_looked_at *at = own ? &typed->jaxprs[jaxpr->id] : NULL;

    return !at ||
           (at->typed && !(at->refused && at->refused[eqn - jaxpr->eqns]));
}

/* Where the claim is made, in words: arena text. */
const char *jx_claim_place(const jx_program *program,
                           const struct jx_claim *claim);
/* True if all that the program runs is accepted, else false with an error that
 * names the first that is not. */
bool jx_typed_all(const jx_typed *typed);

#endif
