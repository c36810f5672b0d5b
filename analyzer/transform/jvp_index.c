/* jvp_index.c - derivatives of scatters that do not add, and of windows. */
#include "analyzer/transform/jvp_parts.h"

#include "frontend/ir/build_index.h"

#include <string.h>

static const jx_atom nothing = {NULL, NULL};

static jx_atom gathered(jx_jvp *t, jx_atom from)
{
    return jx_build_gather_back(t->b, t->eqn, from, t->ins[1]);
}

static jx_atom added(jx_jvp *t, jx_atom to, jx_atom updates)
{
    static const char *const without[] = {"update_jaxpr", "update_consts",
                                          NULL};
    jx_params p = jx_jvp_others(t, without);
    const jx_atom ins[] = {to, t->ins[1], updates};

    if (!jx_is_made(to) || !jx_is_made(updates))
        return nothing;
    jx_put_none(&p, "update_jaxpr");
    jx_put(&p, "update_consts", jx_value_of_tuple(t->b->in->program, 0, NULL));
    return jx_build_one(t->b, JX_PRIM_scatter_add, &p, 3, ins, jx_jvp_out(t));
}

/* What a jaxpr makes of the elements has no derivative in JAX, either. */
bool jx_jvp_scatter(jx_jvp *t)
{
    return jx_scatter_applies(t->eqn) ? jx_jvp_none(t) : jx_jvp_linear_all(t);
}

/* Of all that are the largest, each has the same share. */
bool jx_jvp_scatter_extremum(jx_jvp *t)
{
    jx_dtype dtype = jx_jvp_out(t)->dtype;
    jx_atom kept, won, share, old, new;

    if (!jx_jvp_primal(t))
        return false;
    kept = jx_build_convert(
        t->b, jx_math_2(t->b, JX_PRIM_eq, t->ins[0], t->outs[0]), dtype, false);
    won = jx_build_convert(
        t->b, jx_math_2(t->b, JX_PRIM_eq, t->ins[2], gathered(t, t->outs[0])),
        dtype, false);
    share = jx_math_over(t->b, 1, added(t, kept, won));
    old = jx_math_2(
        t->b, JX_PRIM_mul, jx_jvp_full(t, 0),
        jx_math_where(t->b, jx_math_2(t->b, JX_PRIM_eq, t->ins[0], t->outs[0]),
                      share, jx_math_all(t->b, t->ins[0], 0)));
    new =
        jx_math_2(t->b, JX_PRIM_mul, jx_jvp_full(t, 2),
                  jx_math_where(t->b,
                                jx_math_2(t->b, JX_PRIM_ne, won,
                                          jx_math_number(t->b, won, 0)),
                                gathered(t, share), jx_math_all(t->b, won, 0)));
    t->touts[0] = added(t, old, new);
    return jx_is_made(t->touts[0]);
}

/* Each element by what multiplies it, and each factor, if no two meet, by what
 * it multiplies. */
bool jx_jvp_scatter_mul(jx_jvp *t)
{
    const jx_p_scatter *s = t->eqn->typed;
    jx_atom first = nothing, second = nothing;

    if (jx_is_made(t->tins[2]) && !s->unique_indices)
        return jx_jvp_refuse(
            t, "its updates have no derivative unless unique_indices=True "
               "(PRM002)");
    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(t->tins[0])) {
        const jx_atom ins[] = {t->tins[0], t->ins[1], t->ins[2]};
        const jx_atom *made = jx_jvp_again(t, ins);
        first = made ? *made : nothing;
    }
    if (jx_is_made(t->tins[2]))
        second =
            jx_math_2(t->b, JX_PRIM_mul, t->ins[0],
                      added(t, jx_math_all(t->b, t->ins[0], 0), t->tins[2]));
    t->touts[0] = jx_math_sum(t->b, first, second);
    return jx_is_made(t->touts[0]);
}

/* ---- windows */

/* The tangent of the element that each window chose. */
static bool chosen(jx_jvp *t, const char *by)
{
    static const char *const all[] = {NULL};
    jx_params p = jx_jvp_others(t, all);
    const jx_atom ins[] = {t->tins[0], t->ins[0]};
    const jx_aval *out = jx_jvp_out(t);

    if (!jx_jvp_primal(t))
        return false;
    jx_put_prim(&p, "select_prim", by);
    t->touts[0] =
        jx_build_one(t->b, JX_PRIM_select_and_gather_add, &p, 2, ins, out);
    return jx_is_made(t->touts[0]);
}

bool jx_jvp_reduce_window_max(jx_jvp *t)
{
    return chosen(t, "ge");
}

bool jx_jvp_reduce_window_min(jx_jvp *t)
{
    return chosen(t, "le");
}

/* Linear in what goes where the second operand says. */
bool jx_jvp_select_and_add(jx_jvp *t)
{
    const jx_atom ins[] = {t->tins[0], t->ins[1]};
    const jx_atom *made;

    if (!jx_jvp_primal(t))
        return false;
    if (!jx_is_made(t->tins[0]))
        return true;
    made = jx_jvp_again(t, ins);
    if (made)
        t->touts[0] = *made;
    return made != NULL;
}
