/* writer_facts.c - dims in the checker's form, and the facts of a branch. */
#include "prover/writer_parts.h"

#include "prover/scene.h"

/* -------------------------------------------------------------------------
 * The checker's form
 * ---------------------------------------------------------------------- */

static const jx_dim *positive_part(jx_writer *w, const jx_dim *d)
{
    jx_int k;

    if (d && jx_dim_is_wide(d, &k))
        return jx_w_int(w, k > 0 ? k : 0);
    return jx_dim_literal(w->in, JX_ATOM_MAX, d, w->zero);
}

const jx_dim *jx_written_atom(jx_writer *w, jx_atom_kind kind, const jx_dim *a,
                              const jx_dim *b)
{
    jx_int k, m, q, r;

    if (!a || !b)
        return NULL;
    switch (kind) {
    case JX_ATOM_FLOORDIV:
        if (jx_dim_is_wide(a, &k) && jx_dim_is_wide(b, &m) &&
            jx_int_floordiv(k, m, &q, &r))
            return jx_w_int(w, q);
        return jx_dim_literal(w->in, kind, a, b);
    case JX_ATOM_MOD:
        return jx_dim_sub(
            w->in, a,
            jx_dim_mul(w->in, b, jx_written_atom(w, JX_ATOM_FLOORDIV, a, b)));
    case JX_ATOM_MAX:
        return jx_dim_add(w->in, b, positive_part(w, jx_dim_sub(w->in, a, b)));
    case JX_ATOM_MIN:
        return jx_dim_sub(w->in, a, positive_part(w, jx_dim_sub(w->in, a, b)));
    case JX_ATOM_VAR: break;
    }
    return NULL;
}

static bool put_atom(void *env, const jx_dim_atom *a, const jx_dim **to)
{
    const jx_putting *p = env;

    if (a == p->atom)
        *to = p->value;
    if (a == p->atom || a->kind == JX_ATOM_VAR ||
        (p->atom && !jx_mentions(a->a, p->atom) && !jx_mentions(a->b, p->atom)))
        return true;
    *to = jx_written_atom(p->w, a->kind,
                          jx_dim_map(p->w->in, a->a, put_atom, env),
                          jx_dim_map(p->w->in, a->b, put_atom, env));
    return *to != NULL;
}

const jx_dim *jx_written_form(jx_writer *w, const jx_dim *d)
{
    jx_putting p = {w, NULL, NULL};

    return d ? jx_dim_map(w->in, d, put_atom, &p) : NULL;
}

/* -------------------------------------------------------------------------
 * Facts
 * ---------------------------------------------------------------------- */

bool jx_facts_have(const jx_writer *w, const jx_facts *f, jx_hyp h)
{
    const jx_dim *minus =
        h.kind == JX_HYP_GE ? h.dim : jx_dim_neg(w->in, h.dim);
    jx_int k;

    for (int i = 0; h.dim && i < f->n; i++)
        if (f->at[i].kind == h.kind &&
            (f->at[i].dim == h.dim || f->at[i].dim == minus))
            return true;
    return h.dim && h.kind == JX_HYP_GE && jx_dim_is_wide(h.dim, &k) && k >= 0;
}

bool jx_facts_mention(const jx_facts *f, const jx_dim_atom *atom)
{
    for (int i = 0; i < f->n; i++)
        if (jx_mentions(f->at[i].dim, atom))
            return true;
    return false;
}

void jx_facts_add(jx_writer *w, jx_facts *f, const jx_dim *d, jx_hyp_kind kind)
{
    if (!d || f->n == JX_FACTS)
        jx_writer_fail(w, "too many facts");
    else {
        f->id[f->n] = w->ids++;
        f->at[f->n++] = (jx_hyp){d, kind};
    }
}

void jx_facts_put(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                  const jx_dim *value)
{
    jx_putting p = {w, atom, value};
    int n = 0;

    if (!value || (w->left -= 1 + f->n) < 0) {
        jx_writer_fail(w, "too large");
        return;
    }
    for (int i = 0; i < f->n; i++) {
        jx_hyp h = f->at[i];

        h.dim = jx_dim_map(w->in, h.dim, put_atom, &p);
        if (h.dim) {
            f->id[n] = f->id[i];
            f->at[n++] = h;
        }
    }
    f->n = n;
}

/* d is atom*sign + c: gives c. */
static bool is_end(const jx_dim *d, const jx_dim_atom *atom, int sign,
                   jx_int *c)
{
    const jx_dim_term *t = jx_dim_terms(d);
    int n = jx_dim_nterms(d);

    if (n < 1 || n > 2 || t[0].nfactors != 1 || t[0].factors[0].power != 1 ||
        t[0].factors[0].atom != atom || t[0].coefficient != sign ||
        (n == 2 && t[1].nfactors))
        return false;
    *c = n == 2 ? t[1].coefficient : 0;
    return true;
}

bool jx_facts_low(const jx_writer *w, const jx_facts *f,
                  const jx_dim_atom *atom, jx_int *low)
{
    bool found = false;
    jx_int c;

    (void)w;
    for (int i = 0; i < f->n; i++)
        if (f->at[i].kind == JX_HYP_GE && is_end(f->at[i].dim, atom, 1, &c) &&
            (!found || -c > *low)) {
            *low = -c;
            found = true;
        }
    return found;
}

bool jx_facts_high(const jx_writer *w, const jx_facts *f,
                   const jx_dim_atom *atom, jx_int *high)
{
    bool found = false;
    jx_int c;

    (void)w;
    for (int i = 0; i < f->n; i++)
        if (f->at[i].kind == JX_HYP_GE && is_end(f->at[i].dim, atom, -1, &c) &&
            (!found || c < *high)) {
            *high = c;
            found = true;
        }
    return found;
}

/* atom - low >= 0, high - atom >= 0 */
jx_hyp jx_low_fact(jx_writer *w, const jx_dim_atom *atom, jx_int low)
{
    return (jx_hyp){jx_w_sub(w, jx_dim_of_atom(w->in, atom), jx_w_int(w, low)),
                    JX_HYP_GE};
}

jx_hyp jx_high_fact(jx_writer *w, const jx_dim_atom *atom, jx_int high)
{
    return (jx_hyp){jx_w_sub(w, jx_w_int(w, high), jx_dim_of_atom(w->in, atom)),
                    JX_HYP_GE};
}
