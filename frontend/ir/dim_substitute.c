/* dim_substitute.c - other things put where the variables of a dim are; see
 * dim.h. */
#include "frontend/ir/dim_parts.h"

typedef struct substitution {
    jx_dims *in;
    const jx_dim_atom *var;
    const jx_dim *value;
} substitution;

static bool substitute_atom(void *env, const jx_dim_atom *a, const jx_dim **put)
{
    const substitution *s = env;
    const jx_dim *x, *y;

    if (a == s->var)
        *put = s->value;
    if (a->kind == JX_ATOM_VAR || !(jx_dim_mentions(s->in, a->a, s->var) ||
                                    jx_dim_mentions(s->in, a->b, s->var)))
        return true;
    x = jx_dim_map(s->in, a->a, substitute_atom, env);
    y = jx_dim_map(s->in, a->b, substitute_atom, env);
    *put = jx_dim_apply(s->in, a->kind, x, y);
    return *put != NULL;
}

const jx_dim *jx_dim_substitute(jx_dims *in, const jx_dim *dim,
                                const jx_dim_atom *var, const jx_dim *value)
{
    substitution s = {in, var, value};

    if (!dim || !value || !jx_dim_mentions(in, dim, var))
        return value ? dim : NULL;
    return jx_dim_map(in, dim, substitute_atom, &s);
}

/* What stands for an atom of other dims. */
static const jx_dim *import_atom(jx_dims *in, const jx_dim_atom *a,
                                 jx_dim_putting *put, void *env)
{
    if (a->kind == JX_ATOM_VAR)
        return put(env, a);
    return jx_dim_apply(in, a->kind, jx_dim_import(in, a->a, put, env),
                        jx_dim_import(in, a->b, put, env));
}

const jx_dim *jx_dim_import(jx_dims *in, const jx_dim *dim, jx_dim_putting *put,
                            void *env)
{
    const jx_dim *sum = dim ? jx_dim_int(in, 0) : NULL;

    for (int i = 0; sum && i < dim->nterms; i++) {
        const jx_dim_term *t = &dim->terms[i];
        const jx_dim *product = jx_dim_wide(in, t->coefficient);

        for (int k = 0; product && k < t->nfactors; k++)
            product = jx_dim_mul(
                in, product,
                jx_dim_pow(in, import_atom(in, t->factors[k].atom, put, env),
                           t->factors[k].power));
        sum = jx_dim_add(in, sum, product);
    }
    return sum;
}
