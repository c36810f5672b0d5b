/* dim_inside.c - what is in a dim; see dim.h. */
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

bool jx_dim_mentions(jx_dims *in, const jx_dim *dim, const jx_dim_atom *var)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(in, dim, &count);

    return vars && count &&
           bsearch(&var, vars, (size_t)count, sizeof *vars, by_name);
}
