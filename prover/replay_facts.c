/* replay_facts.c - steps that derive facts and give names to values. */
#include "prover/replay_parts.h"

/* k*x + c >= 0, which may be there as k*x + c == 0. */
bool jx_replay_range(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim_term *t = jx_dim_terms(s->a);
    jx_int c = jx_dim_nterms(s->a) == 2 ? t[1].coefficient : 0, q, rest;
    jx_int k = t->coefficient < 0 ? -t->coefficient : t->coefficient;
    const jx_dim *x = jx_r_of(r, t->factors[0].atom), *to;

    if (!jx_int_floordiv(c, k, &q, &rest))
        return false;
    to = jx_w_add(w, t->coefficient < 0 ? jx_w_neg(w, x) : x, jx_w_int(w, q));
    return jx_claim_divided(r, f, s->a, to, jx_w_int(w, k));
}

bool jx_replay_divide(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_int c;
    const jx_dim *m = s->atom ? jx_r_of(r, s->atom)
                              : jx_w_int(r->w, jx_work_content(s->a, &c));
    jx_hyp from = {s->a, s->fact};

    return from.kind == JX_HYP_GE ? jx_claim_divided(r, f, s->a, s->b, m)
                                  : jx_claim_factor(r, f, from, s->b, m);
}

/* x*u + c >= 0 with c < 0 (or == 0 with c != 0) and x >= 0: x is not 0. */
bool jx_replay_raise(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = jx_r_of(r, s->atom), *up = jx_r_less(r, x), *u;
    jx_facts in = *f;
    jx_int c;
    jx_sum sum;

    jx_work_content(s->a, &c);
    u = jx_dim_divide_exactly(w->in, jx_w_sub(w, s->a, jx_w_int(w, c)), x);
    if (!u)
        return false;
    if (jx_facts_have(w, f, (jx_hyp){up, JX_HYP_GE}))
        return true;
    if (!jx_have_ge(w, f, x))
        return false;
    in = *f;
    jx_open_claim(r, (jx_hyp){up, JX_HYP_GE});
    jx_facts_add(w, &in, jx_w_neg(w, x), JX_HYP_GE);
    if (!jx_claim_both(r, &in, x))
        return false;
    jx_sum_start(w, &sum);
    if (s->fact == JX_HYP_GE)
        jx_sum_add(w, &sum, 1, s->a);
    else
        jx_sum_equation(w, &sum, jx_w_int(w, c < 0 ? 1 : -1), s->a);
    jx_sum_equation(w, &sum, s->fact == JX_HYP_GE || c < 0 ? jx_w_neg(w, u) : u,
                    x);
    if (!jx_sum_write(w, &sum, &in))
        return false;
    jx_close_claim(r, f, (jx_hyp){up, JX_HYP_GE});
    return true;
}

/* The new variable of a value x = e + t, where t is in no fact. */
static const jx_dim_atom *new_in(jx_replaying *r, const jx_facts *f,
                                 const jx_dim *d)
{
    int n;
    const jx_dim_atom *const *vars = jx_dim_vars(r->w->in, d, &n);

    for (int i = 0; vars && i < n; i++) {
        jx_int k = jx_linear_coefficient(d, vars[i]);

        if (vars[i]->name[0] == ' ' && k == 1 && !jx_facts_mention(f, vars[i]))
            return vars[i];
    }
    return NULL;
}

bool jx_replay_put(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = jx_r_of(r, s->atom), *gap = jx_w_sub(w, x, s->a), *t;
    const jx_dim_atom *fresh;

    if (!jx_facts_mention(f, s->atom))
        return true;
    if (!jx_facts_have(w, f, (jx_hyp){gap, JX_HYP_EQ})) {
        fresh = new_in(r, f, s->a);
        if (fresh) {
            t = jx_r_of(r, fresh); /* t = x - e */
            jx_r_let(r, f, t, jx_w_add(w, gap, t));
        } else if (!jx_have_ge(w, f, gap) ||
                   !jx_have_ge(w, f, jx_w_neg(w, gap)) ||
                   !jx_claim_both(r, f, gap)) {
            return jx_writer_fail(w, "a value that is not known");
        }
    }
    jx_r_put(r, f, s->atom, s->a);
    return true;
}

/* q = floordiv(n, d) and r = n - d*q: 0 <= q (or q <= -1), 0 <= r < d. */
bool jx_replay_name(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *n = s->atom->a, *d = s->atom->b, *q = jx_r_of(r, s->atom);
    const jx_dim *sign = s->i ? jx_w_not(w, n) : n, *rest, *over, *value;
    const jx_dim *up = s->i ? jx_w_not(w, q) : q;
    jx_sum sum;

    if (!jx_have_quotient(w, f, s->atom) || !jx_have_ge(w, f, sign))
        return jx_writer_fail(w, "the signs of a quotient");
    rest = jx_r_rest(r, q, n, d);
    over = jx_r_over(r, q, n, d);
    if (!jx_facts_have(w, f, (jx_hyp){up, JX_HYP_GE})) {
        jx_open_claim(r, (jx_hyp){up, JX_HYP_GE});
        jx_sum_start(w, &sum);
        jx_sum_add(w, &sum, 1, s->i ? rest : over);
        jx_sum_add(w, &sum, 1, sign);
        if (!jx_sum_times(w, &sum, f, d, jx_w_not(w, up)) ||
            !jx_sum_write(w, &sum, f))
            return jx_writer_fail(w, "the sign of a quotient");
        jx_close_claim(r, f, (jx_hyp){up, JX_HYP_GE});
    }
    jx_r_let(r, f, s->a, up);
    value = s->i ? jx_w_not(w, s->a) : s->a;
    jx_r_put(r, f, s->atom, value);
    rest = jx_r_rest(r, value, n, d);
    over = jx_r_over(r, value, n, d);
    jx_r_let(r, f, s->b, rest);
    /* The same of r, by its equation. */
    for (int i = 0; i < 2; i++) {
        const jx_dim *to = i ? jx_r_less(r, jx_w_sub(w, d, s->b)) : s->b;

        if (jx_facts_have(w, f, (jx_hyp){to, JX_HYP_GE}))
            continue;
        jx_open_claim(r, (jx_hyp){to, JX_HYP_GE});
        jx_sum_start(w, &sum);
        jx_sum_add(w, &sum, 1, jx_w_not(w, to));
        jx_sum_add(w, &sum, 1, i ? over : rest);
        jx_sum_equation(w, &sum, jx_w_int(w, i ? -1 : 1),
                        jx_w_sub(w, s->b, rest));
        if (!jx_sum_write(w, &sum, f))
            return jx_writer_fail(w, "a remainder's range");
        jx_close_claim(r, f, (jx_hyp){to, JX_HYP_GE});
    }
    return true;
}

bool jx_replay_nonzero(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_dim *d = jx_written_form(r->w, s->a);
    jx_int k;

    if (!d || (jx_dim_is_wide(d, &k) && k) ||
        jx_facts_have(r->w, f, (jx_hyp){d, JX_HYP_NE}))
        return d != NULL;
    if (jx_have_ge(r->w, f, jx_r_less(r, d)))
        return true;
    if (!s->i) /* not as in the question */
        return jx_have_ge(r->w, f, jx_w_not(r->w, d));
    jx_write_open(r->w);
    jx_write_begin(r->w, "nonzero");
    jx_write_dim(r->w, d);
    jx_write_end(r->w);
    jx_facts_add(r->w, f, d, JX_HYP_NE);
    jx_write_closed(r->w, 1);
    return true;
}
