/* transpose_base.c - what the rules of transpose_parts.h stand on. */
#include "analyzer/transform/transpose_parts.h"

bool jx_transpose_refuse(jx_transpose *t, const char *why)
{
    return t->b->in->fail(t->b, why);
}

bool jx_transpose_none(jx_transpose *t)
{
    return jx_transpose_refuse(
        t, "no transposition rule is known for it (PRM002)");
}

jx_atom jx_transpose_full(jx_transpose *t, int i)
{
    return jx_is_made(t->cts[i]) ? t->cts[i]
                                 : jx_build_zeros(t->b, t->eqn->outs[i]->aval);
}

jx_params jx_transpose_others(jx_transpose *t, const char *const *without)
{
    jx_params p = {.program = t->b->in->program};

    jx_put_others(&p, t->eqn, without);
    return p;
}

bool jx_transpose_give(jx_transpose *t, int i, jx_atom ct)
{
    const jx_aval *to = jx_transpose_in(t, i);
    const jx_aval *of = jx_is_made(ct) ? jx_atom_aval(ct) : NULL;
    jx_params p = {.program = t->b->in->program};
    int64_t *axes;
    int count = 0;

    if (!of || !jx_is_linear(t, i))
        return of != NULL;
    axes = JX_NEW_ARRAY(jx_transpose_arena(t), of->rank + 1, int64_t);
    for (int k = 0; axes && k < of->rank; k++)
        if (to->rank != of->rank || to->shape[k] != of->shape[k])
            axes[count++] = k;
    if (!axes)
        return false;
    jx_put_ints(&p, "axes", (jx_ints){count, axes});
    if (count)
        ct = jx_build(t->b, JX_PRIM_reduce_sum, &p, 1, &ct);
    if (count && to->rank && jx_is_made(ct))
        ct = jx_build_reshape(t->b, ct, to->rank, to->shape);
    t->gives[i] = ct;
    return jx_is_made(ct);
}
