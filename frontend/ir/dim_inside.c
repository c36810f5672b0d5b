/* dim_inside.c - what is in a dim, and other things put there; see dim.h. */
#include "frontend/ir/dim_parts.h"

#include <stdlib.h>
#include <string.h>

bool jx_dim_is_wide(const jx_dim *dim, jx_int *value)
{
    if (!dim || !jx_dim_is_constant(dim))
        return false;
    *value = jx_dim_constant(dim);
    return true;
}

bool jx_dim_is_int(const jx_dim *dim, int64_t *value)
{
    jx_int v;

    if (!jx_dim_is_wide(dim, &v) || v < INT64_MIN || v > INT64_MAX)
        return false;
    *value = (int64_t)v;
    return true;
}

bool jx_dim_is_symbolic(const jx_dim *dim)
{
    jx_int value;

    return dim && !jx_dim_is_wide(dim, &value);
}

int64_t jx_dim_value(const jx_dim *dim)
{
    int64_t value;

    return jx_dim_is_int(dim, &value) ? value : -1;
}

int jx_dim_nterms(const jx_dim *dim)
{
    return dim->nterms;
}

const jx_dim_term *jx_dim_terms(const jx_dim *dim)
{
    return dim->terms;
}

unsigned jx_dim_id(const jx_dim *dim)
{
    return dim->id;
}

int jx_dim_nodes(const jx_dim *dim)
{
    return dim->nodes;
}

static int by_name(const void *a, const void *b)
{
    const jx_dim_atom *s = *(const jx_dim_atom *const *)a;
    const jx_dim_atom *t = *(const jx_dim_atom *const *)b;
    int c = strcmp(s->name, t->name);

    return c ? c : (s->scope > t->scope) - (s->scope < t->scope);
}

/* How many variables the atoms of a dim bring, some perhaps twice; and to
 * where they go, when `to` is given. */
static int gather_vars(jx_dims *in, const jx_dim *dim, const jx_dim_atom **to)
{
    int n = 0;

    for (int i = 0; i < dim->nterms; i++)
        for (int j = 0; j < dim->terms[i].nfactors; j++) {
            const jx_dim_atom *a = dim->terms[i].factors[j].atom;
            const jx_dim *below[2] = {a->a, a->b};

            if (a->kind == JX_ATOM_VAR) {
                if (to)
                    to[n] = a;
                n++;
                continue;
            }
            for (int k = 0; k < 2; k++) {
                int count;
                const jx_dim_atom *const *vars =
                    jx_dim_vars(in, below[k], &count);
                if (to && count)
                    memcpy(to + n, vars, (size_t)count * sizeof *to);
                n += count;
            }
        }
    return n;
}

const jx_dim_atom *const *jx_dim_vars(jx_dims *in, const jx_dim *dim,
                                      int *count)
{
    jx_dim *d = (jx_dim *)(uintptr_t)dim; /* ours to remember in */

    *count = 0;
    if (!d->vars) {
        int all = gather_vars(in, d, NULL), n = 0;
        const jx_dim_atom **at =
            JX_NEW_ARRAY(in->ctx->arena, all, const jx_dim_atom *);

        if (!at)
            return NULL;
        gather_vars(in, d, at);
        if (all > 1)
            qsort(at, (size_t)all, sizeof *at, by_name);
        for (int i = 0; i < all; i++)
            if (!n || at[n - 1] != at[i])
                at[n++] = at[i];
        d->vars = at;
        d->nvars = n;
    }
    *count = d->nvars;
    return d->vars;
}

static bool mentions(jx_dims *in, const jx_dim *dim, const jx_dim_atom *var)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(in, dim, &count);

    return vars && count &&
           bsearch(&var, vars, (size_t)count, sizeof *vars, by_name);
}

typedef struct substitution {
    jx_dims *in;
    const jx_dim_atom *var;
    const jx_dim *value;
} substitution;

static bool substitute_atom(void *env, const jx_dim_atom *a,
                            const jx_dim **put)
{
    const substitution *s = env;
    const jx_dim *x, *y;

    if (a == s->var)
        *put = s->value;
    if (a->kind == JX_ATOM_VAR ||
        !(mentions(s->in, a->a, s->var) || mentions(s->in, a->b, s->var)))
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

    if (!dim || !value || !mentions(in, dim, var))
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

const jx_dim *jx_dim_import(jx_dims *in, const jx_dim *dim,
                            jx_dim_putting *put, void *env)
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
