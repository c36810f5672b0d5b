/* type_rules_stablehlo.c - what StableHLO says and JAX has no primitive
 * for: map, rng. */
#include "analyzer/type_rules.h"

void jx_type_stablehlo_map(jx_typing *t)
{
    const jx_p_stablehlo_map *p = t->params;
    const jx_jaxpr *callee = p->computation.jaxpr;
    jx_dtype *dtypes;

    if (t->nins == 0) {
        jx_type_wrong(t, "has no operands");
        return;
    }
    const jx_aval *in = t->ins[0];
    if (!jx_type_same_shapes(t, 0, t->nins) ||
        !jx_type_axes(t, "dimensions", p->dimensions, in->rank))
        return;
    for (int i = 0; i < p->dimensions.count; i++)
        if (p->dimensions.at[i] != i || p->dimensions.count != in->rank) {
            jx_type_wrong(t, "dimensions are not all axes in order");
            return;
        }
    dtypes = JX_NEW_ARRAY(t->program->ctx->arena, t->nins, jx_dtype);
    for (int i = 0; dtypes && i < t->nins; i++)
        dtypes[i] = t->ins[i]->dtype;
    if (!dtypes || !callee || callee->nouts != 1) {
        jx_type_wrong(t, "computation gives no single value");
        return;
    }
    jx_dtype out = jx_callee_outs(t, callee)[0]->dtype;
    if (jx_type_computation(t, &p->computation, "computation", t->nins, dtypes,
                            1, &out))
        jx_type_out(t, 0, out, false, in->rank, in->shape);
}

/* Two scalars: the bounds of a uniform distribution, or the mean and standard
 * deviation of a normal one. */
void jx_type_stablehlo_rng(jx_typing *t)
{
    const jx_p_stablehlo_rng *p = t->params;
    unsigned kinds =
        p->rng_distribution == JX_NORMAL
            ? JX_TAKES_FLOAT
            : (unsigned)JX_TAKES_BOOL | JX_TAKES_INTEGER | JX_TAKES_FLOAT;

    if (!jx_type_scalar(t, 0) || !jx_type_scalar(t, 1) ||
        !jx_type_same_dtypes(t, 0, 2) || !jx_type_takes(t, 0, kinds))
        return;
    for (int i = 0; i < p->shape.count; i++)
        jx_require_ge(t, p->shape.at[i], jx_const(t, 0), "shape, axis %d", i);
    jx_type_out(t, 0, t->ins[0]->dtype, false, p->shape.count, p->shape.at);
}
