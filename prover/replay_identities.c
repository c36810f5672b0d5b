/* replay_identities.c - steps that rewrite an atom: quotients, maxima.
 *
 * They are left out where no fact has the atom: the decider also looks at dims
 * that never become facts. */
#include "prover/replay_parts.h"

/* Puts `value` for the atom, once atom - value == 0 is claimed by sums. */
static bool claim_and_put(jx_replaying *r, jx_facts *f, const jx_dim_atom *atom,
                          const jx_dim *value, jx_sum *above, jx_sum *below)
{
    if (!jx_claim_zero(r, f, jx_w_sub(r->w, jx_r_of(r, atom), value), above,
                       below))
        return false;
    jx_r_put(r, f, atom, value);
    return true;
}

/* Starts both sums of atom - value == 0 with m times their first fact. */
static bool start_two(jx_replaying *r, jx_facts *f, const jx_dim_atom *atom,
                      const jx_dim *value, const jx_dim *m, jx_sum *above,
                      jx_sum *below)
{
    const jx_dim *x = jx_w_sub(r->w, jx_r_of(r, atom), value);

    jx_sum_start(r->w, above);
    jx_sum_start(r->w, below);
    return x && jx_sum_times(r->w, above, f, m, jx_r_less(r, x)) &&
           jx_sum_times(r->w, below, f, m, jx_w_not(r->w, x));
}

/* floordiv(b + w, d) with b = floordiv(x, y) is floordiv(x + w*y, y*d), and
 * floordiv(w - b, d) is floordiv(y - 1 - x + w*y, y*d). */
static bool nest(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim_atom *a = s->atom, *b = s->other, *c = jx_r_atom_in(s->a);
    const jx_dim *y = b->b;
    jx_sum above, below;

    if (!c || !jx_have_ge(w, f, jx_r_less(r, a->b)) ||
        !jx_have_ge(w, f, jx_r_less(r, y)) ||
        !jx_have_ge(w, f, jx_r_less(r, c->b)) || !jx_have_quotient(w, f, a) ||
        !jx_have_quotient(w, f, b) || !jx_have_quotient(w, f, c) ||
        !start_two(r, f, a, s->a, c->b, &above, &below))
        return false;
    if (!jx_sum_times(w, &above, f, y,
                      jx_r_rest(r, jx_r_of(r, a), a->a, a->b)) ||
        !jx_sum_times(w, &below, f, y, jx_r_over(r, jx_r_of(r, a), a->a, a->b)))
        return false;
    jx_sum_add(w, &above, 1,
               s->i > 0 ? jx_r_rest(r, jx_r_of(r, b), b->a, y)
                        : jx_r_over(r, jx_r_of(r, b), b->a, y));
    jx_sum_add(w, &below, 1,
               s->i > 0 ? jx_r_over(r, jx_r_of(r, b), b->a, y)
                        : jx_r_rest(r, jx_r_of(r, b), b->a, y));
    jx_sum_add(w, &above, 1, jx_r_over(r, s->a, c->a, c->b));
    jx_sum_add(w, &below, 1, jx_r_rest(r, s->a, c->a, c->b));
    return claim_and_put(r, f, a, s->a, &above, &below);
}

/* floordiv(x + 1, 2) + floordiv(x, 2) == x */
static bool half(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = jx_r_less(r, s->atom->a), *two = s->atom->b;
    const jx_dim *b = jx_r_quotient(r, x, two), *q = jx_r_of(r, s->atom);
    const jx_dim *value = b ? jx_w_sub(w, x, b) : NULL;
    jx_sum above, below;

    if (!value || !jx_r_have_facts(r, f, q) || !jx_r_have_facts(r, f, b) ||
        !start_two(r, f, s->atom, value, two, &above, &below))
        return false;
    jx_sum_add(w, &above, 1, jx_r_rest(r, q, s->atom->a, two));
    jx_sum_add(w, &above, 1, jx_r_rest(r, b, x, two));
    jx_sum_add(w, &below, 1, jx_r_over(r, q, s->atom->a, two));
    jx_sum_add(w, &below, 1, jx_r_over(r, b, x, two));
    return claim_and_put(r, f, s->atom, value, &above, &below);
}

/* floordiv(g*x + k, g*m) == floordiv(x, m) for 0 <= k < g */
static bool drop(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *g = jx_w_int(w, s->i), *q = jx_r_of(r, s->atom);
    const jx_dim *m = jx_dim_divide_exactly(w->in, s->atom->b, g);
    const jx_dim *b = m ? jx_r_quotient(r, s->a, m) : NULL;
    jx_sum above, below;

    if (!b || !jx_r_have_facts(r, f, q) ||
        (jx_r_atom_in(b) && jx_r_atom_in(b)->kind == JX_ATOM_FLOORDIV &&
         !jx_r_have_facts(r, f, b)) ||
        !start_two(r, f, s->atom, b, s->atom->b, &above, &below))
        return false;
    jx_sum_add(w, &above, 1, jx_r_rest(r, q, s->atom->a, s->atom->b));
    jx_sum_add(w, &above, s->i, jx_r_over(r, b, s->a, m));
    jx_sum_add(w, &below, 1, jx_r_over(r, q, s->atom->a, s->atom->b));
    jx_sum_add(w, &below, s->i, jx_r_rest(r, b, s->a, m));
    return claim_and_put(r, f, s->atom, b, &above, &below);
}

/* A quotient is k, by n - d*k >= 0 and d*k + d - 1 - n >= 0 (facts). */
static bool is_number(jx_replaying *r, jx_facts *f, const jx_dim_atom *atom,
                      jx_int k)
{
    jx_writer *w = r->w;
    const jx_dim *n = atom->a, *d = atom->b, *q = jx_r_of(r, atom);
    const jx_dim *value = jx_w_int(w, k);
    const jx_dim *rest = jx_r_rest(r, value, n, d),
                 *over = jx_r_over(r, value, n, d);
    jx_sum above, below, positive;

    if (!jx_facts_have(w, f, (jx_hyp){jx_r_less(r, d), JX_HYP_GE})) {
        jx_open_claim(r, (jx_hyp){jx_r_less(r, d), JX_HYP_GE});
        jx_sum_start(w, &positive);
        jx_sum_add(w, &positive, 1, jx_w_neg(w, d));
        jx_sum_add(w, &positive, 1, rest);
        jx_sum_add(w, &positive, 1, over);
        if (!jx_sum_write(w, &positive, f))
            return false;
        jx_close_claim(r, f, (jx_hyp){jx_r_less(r, d), JX_HYP_GE});
    }
    if (!jx_have_quotient(w, f, atom) ||
        !start_two(r, f, atom, value, d, &above, &below))
        return false;
    jx_sum_add(w, &above, 1, jx_r_rest(r, q, n, d));
    jx_sum_add(w, &above, 1, over);
    jx_sum_add(w, &below, 1, jx_r_over(r, q, n, d));
    jx_sum_add(w, &below, 1, rest);
    return claim_and_put(r, f, atom, value, &above, &below);
}

/* By intervals. */
static bool has_value(jx_replaying *r, jx_facts *f, const jx_dim_atom *atom,
                      jx_int k)
{
    const jx_dim *x = jx_w_sub(r->w, jx_r_of(r, atom), jx_w_int(r->w, k));

    if (!jx_have_low(r->w, f, atom) || !jx_have_high(r->w, f, atom) ||
        !jx_have_ge(r->w, f, x) || !jx_have_ge(r->w, f, jx_w_neg(r->w, x)) ||
        !jx_claim_both(r, f, x))
        return false;
    jx_r_put(r, f, atom, jx_w_int(r->w, k));
    return true;
}

/* max(d, 0) is d, or 0. */
static bool one_side(jx_replaying *r, jx_facts *f, const jx_dim_atom *atom,
                     bool first)
{
    const jx_dim *d = atom->a;

    if (!jx_have_ge(r->w, f, first ? d : jx_w_neg(r->w, d)))
        return false;
    jx_note_use(r->w, f, (jx_hyp){first ? d : jx_w_neg(r->w, d), JX_HYP_GE});
    jx_write_begin(r->w, first ? "first" : "second");
    jx_write_dim(r->w, jx_r_of(r, atom));
    jx_write_end(r->w);
    jx_facts_put(r->w, f, atom, first ? d : jx_w_int(r->w, 0));
    return true;
}

/* a >= 0 is a fact: |g|*a >= 0 */
static bool have_multiple(jx_replaying *r, jx_facts *f, const jx_dim *a,
                          jx_int g)
{
    const jx_dim *to = jx_w_mul(r->w, a, jx_w_int(r->w, g));
    jx_sum s;

    if (!to || jx_facts_have(r->w, f, (jx_hyp){to, JX_HYP_GE}))
        return to != NULL;
    jx_open_claim(r, (jx_hyp){to, JX_HYP_GE});
    jx_sum_start(r->w, &s);
    jx_sum_add(r->w, &s, 1, jx_w_not(r->w, to));
    jx_sum_add(r->w, &s, g, a);
    if (!jx_sum_write(r->w, &s, f))
        return false;
    jx_close_claim(r, f, (jx_hyp){to, JX_HYP_GE});
    return true;
}

/* max(g*x, 0) is g*max(x, 0) for g > 0, and g*x - g*max(x, 0) for g < 0: by
 * the sign of x. */
static bool part(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *x = s->a, *whole = s->atom->a;
    const jx_dim *b = jx_w_part(w, x);
    jx_int g = s->i < 0 ? -s->i : s->i;
    const jx_dim *value = jx_w_mul(w, b, jx_w_int(w, g)), *zero;

    if (s->i < 0)
        value = jx_w_add(w, value, whole);
    if (!value)
        return false;
    zero = jx_w_sub(w, jx_r_of(r, s->atom), value);
    jx_open_claim(r, (jx_hyp){zero, JX_HYP_EQ});
    jx_open_split(r, x, jx_w_neg(w, x));
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;
        const jx_dim *up = i ? jx_w_neg(w, x) : x;
        bool first = (i == 0) == (s->i > 0);

        jx_facts_add(w, &in, zero, JX_HYP_NE);
        jx_facts_add(w, &in, up, JX_HYP_GE);
        jx_write_list(w);
        if (!have_multiple(r, &in, up, g) ||
            !one_side(r, &in, s->atom, first) ||
            !one_side(r, &in, jx_r_atom_in(b), i == 0) ||
            !jx_write_impossible(w, &in, (jx_hyp){jx_w_int(w, 0), JX_HYP_NE}))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    jx_close_claim(r, f, (jx_hyp){zero, JX_HYP_EQ});
    jx_r_put(r, f, s->atom, value);
    return true;
}

/* d != 0 or d - 1 >= 0 as a fact. */
static bool have_nonzero(jx_replaying *r, jx_facts *f, const jx_dim *d)
{
    jx_hyp not_0 = {d, JX_HYP_NE};
    jx_int k;
    jx_sum s;

    if (jx_facts_have(r->w, f, not_0) || (jx_dim_is_wide(d, &k) && k) ||
        jx_have_ge(r->w, f, jx_r_less(r, d)))
        return true;
    if (!jx_have_ge(r->w, f, jx_w_not(r->w, d)))
        return false;
    jx_open_claim(r, not_0);
    jx_sum_start(r->w, &s);
    jx_sum_add(r->w, &s, 1, jx_w_not(r->w, d));
    jx_sum_equation(r->w, &s, jx_w_int(r->w, 1), d);
    if (!jx_sum_write(r->w, &s, f))
        return false;
    jx_close_claim(r, f, not_0);
    return true;
}

/* A divisor that is not 0 keeps its facts. */
static bool ratio(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    jx_hyp not_0 = {s->atom->b, JX_HYP_NE};
    jx_int k;

    if (!s->a || !have_nonzero(r, f, s->atom->b))
        return jx_writer_fail(w, "a divisor that may be 0");
    if (s->d != s->atom->b && !jx_dim_is_wide(s->d, &k) &&
        jx_facts_have(w, f, not_0) &&
        !jx_facts_have(w, f, (jx_hyp){s->d, JX_HYP_NE}) &&
        !jx_claim_factor(r, f, not_0, s->d, s->a))
        return false;
    const jx_dim *value = jx_dim_nterms(s->c)
                              ? jx_w_add(w, s->b, jx_r_quotient(r, s->c, s->d))
                              : s->b;

    jx_note_use(w, f, not_0);
    jx_note_use(w, f, (jx_hyp){jx_r_less(r, s->atom->b), JX_HYP_GE});
    jx_write_begin(w, "ratio");
    jx_write_dim(w, jx_r_of(r, s->atom));
    jx_write_dim(w, s->a);
    jx_write_dim(w, s->b);
    jx_write_dim(w, s->c);
    jx_write_dim(w, s->d);
    jx_write_end(w);
    jx_facts_put(w, f, s->atom, value);
    return true;
}

bool jx_replay_rewrite(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    if (!jx_facts_mention(f, s->atom))
        return true;
    switch (s->kind) {
    case JX_STEP_RATIO: return ratio(r, f, s);
    case JX_STEP_NEST: return nest(r, f, s);
    case JX_STEP_HALF: return half(r, f, s);
    case JX_STEP_DROP: return drop(r, f, s);
    case JX_STEP_VALUE: return has_value(r, f, s->atom, s->i);
    case JX_STEP_IS: return is_number(r, f, s->atom, s->i);
    case JX_STEP_FIRST: return one_side(r, f, s->atom, true);
    case JX_STEP_SECOND: return one_side(r, f, s->atom, false);
    case JX_STEP_PART: return part(r, f, s);
    default: return jx_writer_fail(r->w, "a power of a maximum");
    }
}
