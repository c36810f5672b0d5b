/* build_math.c - see build_math.h. */
#include "frontend/ir/build_math.h"

static const jx_atom nothing = {NULL, NULL};

jx_atom jx_math_1(jx_body *b, jx_prim_id prim, jx_atom a)
{
    return jx_is_made(a) ? jx_build(b, prim, NULL, 1, &a) : nothing;
}

jx_atom jx_math_2(jx_body *b, jx_prim_id prim, jx_atom a, jx_atom c)
{
    return jx_is_made(a) && jx_is_made(c)
               ? jx_build(b, prim, NULL, 2, (const jx_atom[]){a, c})
               : nothing;
}

jx_atom jx_math_number(jx_body *b, jx_atom like, double value)
{
    return jx_is_made(like)
               ? jx_build_number(b, jx_atom_aval(like)->dtype, value)
               : nothing;
}

jx_atom jx_math_times(jx_body *b, jx_atom a, double value)
{
    return jx_math_2(b, JX_PRIM_mul, a, jx_math_number(b, a, value));
}

jx_atom jx_math_plus(jx_body *b, jx_atom a, double value)
{
    return jx_math_2(b, JX_PRIM_add, a, jx_math_number(b, a, value));
}

jx_atom jx_math_from(jx_body *b, double value, jx_atom a)
{
    return jx_math_2(b, JX_PRIM_sub, jx_math_number(b, a, value), a);
}

jx_atom jx_math_over(jx_body *b, double value, jx_atom a)
{
    return jx_math_2(b, JX_PRIM_div, jx_math_number(b, a, value), a);
}

jx_atom jx_math_power(jx_body *b, jx_atom a, int64_t n)
{
    jx_params p = {.program = b->in->program};

    if (!jx_is_made(a))
        return a;
    jx_put_int(&p, "y", n);
    return jx_build(b, JX_PRIM_integer_pow, &p, 1, &a);
}

jx_atom jx_math_all(jx_body *b, jx_atom like, double value)
{
    const jx_aval *aval = jx_is_made(like) ? jx_atom_aval(like) : NULL;
    jx_atom number = jx_math_number(b, like, value);

    return !aval || aval->rank == 0
               ? number
               : jx_build_broadcast(b, number, (jx_ints){0, NULL}, aval->rank,
                                    aval->shape);
}

jx_atom jx_math_spread(jx_body *b, jx_atom a, const jx_aval *like)
{
    const jx_aval *of = jx_is_made(a) ? jx_atom_aval(a) : NULL;
    int64_t *axes =
        JX_NEW_ARRAY(b->in->program->ctx->arena, like->rank + 1, int64_t);
    bool same = of && of->rank == like->rank;

    for (int i = 0; axes && i < like->rank; i++) {
        axes[i] = i;
        same = same && of->shape[i] == like->shape[i];
    }
    return !of || same ? a
           : axes
               ? jx_build_broadcast(b, a,
                                    (jx_ints){of->rank ? like->rank : 0, axes},
                                    like->rank, like->shape)
               : nothing;
}

jx_atom jx_math_where(jx_body *b, jx_atom yes_if, jx_atom yes, jx_atom no)
{
    const jx_atom ins[] = {yes_if, no, yes};

    return jx_is_made(yes_if) && jx_is_made(yes) && jx_is_made(no)
               ? jx_build(b, JX_PRIM_select_n, NULL, 3, ins)
               : nothing;
}

jx_atom jx_math_sum(jx_body *b, jx_atom a, jx_atom c)
{
    if (!jx_is_made(a))
        return c;
    return jx_is_made(c) ? jx_math_2(b, JX_PRIM_add_any, a, c) : a;
}
