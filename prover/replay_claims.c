/* replay_claims.c - the small steps that others are made of. */
#include "prover/replay_parts.h"

const jx_dim *jx_r_of(const jx_replaying *r, const jx_dim_atom *atom)
{
    return jx_dim_of_atom(r->w->in, atom);
}

const jx_dim *jx_r_quotient(const jx_replaying *r, const jx_dim *n,
                            const jx_dim *d)
{
    return jx_written_atom(r->w, JX_ATOM_FLOORDIV, n, d);
}

const jx_dim *jx_r_less(const jx_replaying *r, const jx_dim *d)
{
    return d ? jx_w_sub(r->w, d, jx_w_int(r->w, 1)) : NULL;
}

/* n - d*q >= 0 and d*q + d - 1 - n >= 0, for a quotient's facts. */
const jx_dim *jx_r_rest(const jx_replaying *r, const jx_dim *q, const jx_dim *n,
                        const jx_dim *d)
{
    return jx_w_sub(r->w, n, jx_w_mul(r->w, d, q));
}

const jx_dim *jx_r_over(const jx_replaying *r, const jx_dim *q, const jx_dim *n,
                        const jx_dim *d)
{
    return jx_r_less(r, jx_w_sub(r->w, d, jx_r_rest(r, q, n, d)));
}

void jx_r_put(jx_replaying *r, jx_facts *f, const jx_dim_atom *atom,
              const jx_dim *value)
{
    jx_note_use(r->w, f,
                (jx_hyp){jx_w_sub(r->w, jx_r_of(r, atom), value), JX_HYP_EQ});
    jx_write_begin(r->w, "put");
    jx_write_dim(r->w, jx_r_of(r, atom));
    jx_write_dim(r->w, value);
    jx_write_end(r->w);
    jx_facts_put(r->w, f, atom, value);
}

const jx_dim *jx_r_let(jx_replaying *r, jx_facts *f, const jx_dim *name,
                       const jx_dim *value)
{
    jx_write_begin(r->w, "let");
    jx_write_dim(r->w, name);
    jx_write_dim(r->w, value);
    jx_write_end(r->w);
    jx_facts_add(r->w, f, jx_w_sub(r->w, name, value), JX_HYP_EQ);
    return name;
}

const jx_dim *jx_r_new_name(jx_replaying *r)
{
    return jx_r_of(r, jx_work_fresh(r->w->work, (jx_dim_range){0}));
}

const jx_dim_atom *jx_r_atom_in(const jx_dim *d)
{
    return d && jx_dim_nterms(d) == 1 && jx_dim_terms(d)->nfactors == 1 &&
                   jx_dim_terms(d)->coefficient == 1 &&
                   jx_dim_terms(d)->factors->power == 1
               ? jx_dim_terms(d)->factors->atom
               : NULL;
}

/* The facts of a quotient that may have been folded to a number. */
bool jx_r_have_facts(jx_replaying *r, jx_facts *f, const jx_dim *q)
{
    return jx_r_atom_in(q) && jx_have_quotient(r->w, f, jx_r_atom_in(q));
}

/* -------------------------------------------------------------------------
 * Claims
 * ---------------------------------------------------------------------- */

/* `[claim, fact, [` ... `]]` */
void jx_open_claim(jx_replaying *r, jx_hyp h)
{
    jx_write_open(r->w);
    jx_write_begin(r->w, "claim");
    jx_write_fact(r->w, h);
    jx_write_list(r->w);
}

void jx_close_claim(jx_replaying *r, jx_facts *f, jx_hyp h)
{
    jx_write_end(r->w);
    jx_write_end(r->w);
    jx_facts_add(r->w, f, h.dim, h.kind);
    jx_write_closed(r->w, 1);
}

void jx_open_split(jx_replaying *r, const jx_dim *a, const jx_dim *b)
{
    jx_write_begin(r->w, "split");
    jx_write_fact(r->w, (jx_hyp){a, JX_HYP_GE});
    jx_write_fact(r->w, (jx_hyp){b, JX_HYP_GE});
}

bool jx_claim_zero(jx_replaying *r, jx_facts *f, const jx_dim *x, jx_sum *above,
                   jx_sum *below)
{
    if (!x || r->w->failed)
        return false;
    jx_open_claim(r, (jx_hyp){x, JX_HYP_EQ});
    jx_open_split(r, jx_r_less(r, x), jx_w_not(r->w, x));
    jx_write_list(r->w);
    if (!jx_sum_close(r->w, above, f))
        return jx_writer_fail(r->w, "an equation (from above)");
    jx_write_end(r->w);
    jx_write_list(r->w);
    if (!jx_sum_close(r->w, below, f))
        return jx_writer_fail(r->w, "an equation (from below)");
    jx_write_end(r->w);
    jx_write_end(r->w);
    jx_close_claim(r, f, (jx_hyp){x, JX_HYP_EQ});
    return !r->w->failed;
}

bool jx_claim_both(jx_replaying *r, jx_facts *f, const jx_dim *x)
{
    jx_sum above, below;

    jx_sum_start(r->w, &above);
    jx_sum_start(r->w, &below);
    jx_sum_add(r->w, &above, 1, jx_r_less(r, x));
    jx_sum_add(r->w, &above, 1, jx_w_neg(r->w, x));
    jx_sum_add(r->w, &below, 1, jx_w_not(r->w, x));
    jx_sum_add(r->w, &below, 1, x);
    return jx_claim_zero(r, f, x, &above, &below);
}

/* Adds the fact `from` once, whichever kind it is there as. */
static void add_given(jx_replaying *r, jx_facts *f, jx_sum *s,
                      const jx_dim *from)
{
    if (jx_facts_have(r->w, f, (jx_hyp){from, JX_HYP_GE}))
        jx_sum_add(r->w, s, 1, from);
    else
        jx_sum_equation(r->w, s, jx_w_int(r->w, 1), from);
}

bool jx_claim_divided(jx_replaying *r, jx_facts *f, const jx_dim *from,
                      const jx_dim *to, const jx_dim *m)
{
    const jx_dim *no = jx_w_not(r->w, to);
    jx_sum s;

    if (jx_facts_have(r->w, f, (jx_hyp){to, JX_HYP_GE}))
        return true;
    jx_open_claim(r, (jx_hyp){to, JX_HYP_GE});
    jx_sum_start(r->w, &s);
    add_given(r, f, &s, from);
    if (!jx_sum_times(r->w, &s, f, m, no) || !jx_sum_close(r->w, &s, f))
        return jx_writer_fail(r->w, "a division");
    jx_close_claim(r, f, (jx_hyp){to, JX_HYP_GE});
    return true;
}

bool jx_claim_factor(jx_replaying *r, jx_facts *f, jx_hyp from,
                     const jx_dim *to, const jx_dim *m)
{
    jx_writer *w = r->w;
    const jx_dim *one = jx_w_int(w, 1);
    jx_sum s[2];

    for (int i = 0; i < 2; i++) {
        jx_sum_start(w, &s[i]);
        if (from.kind == JX_HYP_EQ) {
            jx_sum_equation(w, &s[i], jx_w_int(w, i ? 1 : -1), from.dim);
            if (!jx_sum_times(w, &s[i], f, m,
                              i ? jx_w_not(w, to) : jx_r_less(r, to)))
                return false;
        } else {
            jx_sum_add(w, &s[i], 1,
                       i ? jx_w_not(w, from.dim) : jx_w_sub(w, from.dim, one));
            jx_sum_equation(w, &s[i], i ? m : jx_w_neg(w, m), to);
        }
    }
    if (from.kind == JX_HYP_EQ)
        return jx_claim_zero(r, f, to, &s[0], &s[1]);
    jx_open_claim(r, (jx_hyp){to, JX_HYP_NE});
    jx_note_use(w, f, from);
    jx_open_split(r, jx_r_less(r, from.dim), jx_w_not(w, from.dim));
    for (int i = 0; i < 2; i++) {
        jx_write_list(w);
        if (!jx_sum_close(w, &s[i], f))
            return jx_writer_fail(w, "a factor");
        jx_write_end(w);
    }
    jx_write_end(w);
    jx_close_claim(r, f, (jx_hyp){to, JX_HYP_NE});
    return true;
}
