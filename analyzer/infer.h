/* infer.h - the type rules, asked about one equation.
 *
 * Who makes equations, or follows sizes through them, wants to know what one
 * gives for operands of these types.  The rules are those of the typing pass,
 * but nothing is claimed, of no place: what holds for some sizes only is passed
 * over, what holds for none is a refusal in the words of the rule. */
#ifndef JX_INFER_H
#define JX_INFER_H

#include "frontend/ir/infer.h"

typedef enum jx_inferred {
    /* not all is known: of a primitive or a type that nobody knows, or of what
     * only a declaration says */
    JX_INFER_NOTHING = 0,
    JX_INFER_TYPES,   /* all results are known */
    JX_INFER_REFUSED, /* it fits at no size: `why` */
} jx_inferred;

typedef struct jx_inferrer jx_inferrer;

/* For many equations of a program (in the making, too: nothing of it but its
 * dims, avals and arena is used); NULL without memory.  A callee gives what its
 * results are declared to be. */
jx_inferrer *jx_inferrer_new(jx_program *program);
/* Whom to tell of sizes that must be equal; NULL: nobody. */
void jx_inferrer_tell(jx_inferrer *in, jx_infer_equal *tell, void *whom);
/* What an equation, whose parameters are decoded, gives for `eqn->nins`
 * operands of types `ins`: `eqn->nouts` types in `outs`.  What it declares
 * (`eqn->outs`, NULL if nothing) counts only where JX_INFER_NOTHING is
 * answered.  *why is arena text. */
jx_inferred jx_infer_equation(jx_inferrer *in, const jx_eqn *eqn,
                              const jx_aval *const *ins, const jx_aval **outs,
                              const char **why);
/* The same for a builder (jx_infer of frontend/ir/build.h), with an inferrer:
 * false for all but JX_INFER_TYPES, and why. */
bool jx_infer_results(void *inferrer, const jx_eqn *eqn,
                      const jx_aval *const *ins, const jx_aval **outs,
                      const char **why);

/* The same for readers. */
jx_infer_open jx_infer_reading;

#endif
