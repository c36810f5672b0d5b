/* effects.h - what equations do beside giving results: what nobody may leave
 * out, or take for equal. */
#ifndef JX_EFFECTS_H
#define JX_EFFECTS_H

#include "frontend/ir/program.h"

/* What an equation in the making does, by its primitive and what it runs. */
jx_effects jx_eqn_effects(jx_ctx *ctx, const jx_eqn *eqn);
/* What these do, all together. */
jx_effects jx_effects_of(jx_ctx *ctx, int count, const jx_eqn *eqns);

/* It does something beside giving results.  (That it works along a named axis
 * is an effect of JAX's, but none that anybody sees: JAX leaves it out where no
 * result is needed.) */
bool jx_eqn_acts(const jx_eqn *eqn);

#endif
