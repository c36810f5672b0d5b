/* writer_ranges.c - claims that follow from the ranges of operations. */
#include "prover/writer_parts.h"

typedef struct ranging {
    jx_writer *w;
    const jx_facts *facts;
} ranging;

static void known_range(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    const ranging *r = env;
    jx_int at;

    if (jx_facts_low(r->w, r->facts, atom, &at) &&
        (!known->has_low || at > known->low)) {
        known->has_low = true;
        known->low = at;
    }
    if (jx_facts_high(r->w, r->facts, atom, &at) &&
        (!known->has_high || at < known->high)) {
        known->has_high = true;
        known->high = at;
    }
}

static jx_dim_range range_of(jx_writer *w, const jx_facts *f, const jx_dim *d)
{
    ranging r = {w, f};

    return d ? jx_dim_bounds_by(d, known_range, &r) : (jx_dim_range){0};
}

/* Sums of what is there: a step that claims a >= 0 in one sum. */
static bool claim_from(jx_writer *w, jx_facts *f, const jx_dim *a, jx_sum *s)
{
    jx_write_open(w);
    jx_write_begin(w, "claim");
    jx_write_fact(w, (jx_hyp){a, JX_HYP_GE});
    jx_write_list(w);
    if (!jx_sum_write(w, s, f))
        return jx_writer_fail(w, "a claim does not add up");
    jx_write_end(w);
    jx_write_end(w);
    jx_facts_add(w, f, a, JX_HYP_GE);
    jx_write_closed(w, 1);
    return true;
}

bool jx_have_quotient(jx_writer *w, jx_facts *f, const jx_dim_atom *atom)
{
    const jx_dim *q = jx_dim_of_atom(w->in, atom), *rest, *over;

    if (atom->kind != JX_ATOM_FLOORDIV ||
        !jx_have_ge(w, f, jx_w_sub(w, atom->b, jx_w_int(w, 1))))
        return false;
    rest = jx_w_sub(w, atom->a, jx_w_mul(w, atom->b, q));
    over = jx_w_sub(w, jx_w_sub(w, atom->b, rest), jx_w_int(w, 1));
    if (jx_facts_have(w, f, (jx_hyp){rest, JX_HYP_GE}) &&
        jx_facts_have(w, f, (jx_hyp){over, JX_HYP_GE}))
        return true;
    jx_write_open(w);
    jx_note_use(w, f,
                (jx_hyp){jx_w_sub(w, atom->b, jx_w_int(w, 1)), JX_HYP_GE});
    jx_write_begin(w, "quotient");
    jx_write_dim(w, q);
    jx_write_end(w);
    jx_facts_add(w, f, rest, JX_HYP_GE);
    jx_facts_add(w, f, over, JX_HYP_GE);
    jx_write_closed(w, 2);
    return !w->failed;
}

/* With q = floordiv(n, d): low <= q by n - d*low >= 0, q <= high by
 * d*high + d - 1 - n >= 0. */
static bool quotient_end(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                         jx_int at, bool is_low)
{
    const jx_dim *q = jx_dim_of_atom(w->in, atom), *n = atom->a, *d = atom->b;
    const jx_dim *rest, *over, *wanted, *given, *dk;
    jx_sum s;

    if (!jx_have_quotient(w, f, atom))
        return false;
    dk = jx_w_mul(w, d, jx_w_int(w, at));
    rest = jx_w_sub(w, n, jx_w_mul(w, d, q));
    over = jx_w_sub(w, jx_w_sub(w, d, rest), jx_w_int(w, 1));
    wanted = is_low ? jx_w_sub(w, q, jx_w_int(w, at))
                    : jx_w_sub(w, jx_w_int(w, at), q);
    given = is_low ? jx_w_sub(w, n, dk)
                   : jx_w_sub(w, jx_w_add(w, dk, d),
                              jx_w_add(w, n, jx_w_int(w, 1)));
    if (jx_facts_have(w, f, (jx_hyp){wanted, JX_HYP_GE}))
        return true;
    if (!jx_have_ge(w, f, given))
        return false;
    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, is_low ? over : rest);
    jx_sum_add(w, &s, 1, given);
    return jx_sum_times(w, &s, f, d, jx_w_not(w, wanted)) &&
           claim_from(w, f, wanted, &s);
}

/* max(d, 0) >= at or <= at: by the two cases. */
static bool maximum_end(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                        jx_int at, bool is_low)
{
    const jx_dim *m = jx_dim_of_atom(w->in, atom), *d = atom->a;
    const jx_dim *wanted = is_low ? jx_w_sub(w, m, jx_w_int(w, at))
                                  : jx_w_sub(w, jx_w_int(w, at), m);
    jx_facts in[2], had = *f;
    size_t mark = w->to->length;

    if (jx_facts_have(w, f, (jx_hyp){wanted, JX_HYP_GE}))
        return true;
    jx_have_ranges(w, f, d);
    jx_write_open(w);
    jx_write_begin(w, "claim");
    jx_write_fact(w, (jx_hyp){wanted, JX_HYP_GE});
    jx_write_list(w);
    jx_write_begin(w, "split");
    jx_write_fact(w, (jx_hyp){d, JX_HYP_GE});
    jx_write_fact(w, (jx_hyp){jx_w_neg(w, d), JX_HYP_GE});
    for (int i = 0; i < 2; i++) {
        const jx_dim *value = i ? jx_w_int(w, 0) : d;
        const jx_dim *no = is_low ? jx_w_sub(w, jx_w_int(w, at - 1), value)
                                  : jx_w_sub(w, value, jx_w_int(w, at + 1));
        jx_sum s;

        in[i] = *f;
        jx_facts_add(w, &in[i], jx_w_not(w, wanted), JX_HYP_GE);
        jx_facts_add(w, &in[i], i ? jx_w_neg(w, d) : d, JX_HYP_GE);
        jx_facts_put(w, &in[i], atom, value);
        jx_write_list(w);
        jx_note_use(w, &in[i], (jx_hyp){i ? jx_w_neg(w, d) : d, JX_HYP_GE});
        jx_write_begin(w, i ? "second" : "first");
        jx_write_dim(w, m);
        jx_write_end(w);
        jx_sum_start(w, &s);
        jx_sum_add(w, &s, 1, no);
        if (!i && is_low && at <= 0)
            jx_sum_add(w, &s, 1, d);
        if (i && is_low && at > 0)
            jx_sum_add(w, &s, 1, jx_w_neg(w, d));
        if (!jx_sum_close(w, &s, &in[i])) {
            *f = had;
            return jx_write_take_back(w, mark);
        }
        jx_write_end(w);
    }
    jx_write_end(w);
    jx_write_end(w);
    jx_write_end(w);
    jx_facts_add(w, f, wanted, JX_HYP_GE);
    jx_write_closed(w, 1);
    return !w->failed;
}

static bool have_end(jx_writer *w, jx_facts *f, const jx_dim_atom *atom,
                     bool is_low)
{
    jx_dim_range r = range_of(w, f, jx_dim_of_atom(w->in, atom));
    jx_int had, at = is_low ? r.low : r.high;

    if (is_low ? !r.has_low : !r.has_high)
        return false;
    if (is_low ? jx_facts_low(w, f, atom, &had) && had >= at
               : jx_facts_high(w, f, atom, &had) && had <= at)
        return true;
    if (--w->left < 0)
        return jx_writer_fail(w, "too much work");
    return atom->kind == JX_ATOM_FLOORDIV ? quotient_end(w, f, atom, at, is_low)
           : atom->kind == JX_ATOM_MAX    ? maximum_end(w, f, atom, at, is_low)
                                          : false;
}

bool jx_have_low(jx_writer *w, jx_facts *f, const jx_dim_atom *atom)
{
    return have_end(w, f, atom, true);
}

bool jx_have_high(jx_writer *w, jx_facts *f, const jx_dim_atom *atom)
{
    return have_end(w, f, atom, false);
}

/* Lower ends of all operations in d, upper ends where the end is of use. */
void jx_have_ranges(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    for (int i = 0; i < jx_dim_nterms(d) && !w->failed; i++)
        for (int j = 0; j < jx_dim_terms(d)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(d)[i].factors[j].atom;

            if (a->kind == JX_ATOM_VAR)
                continue;
            jx_have_low(w, f, a);
            jx_have_high(w, f, a);
        }
}

/* A fact that is d but for a constant, or k times that. */
static bool from_fact(jx_writer *w, jx_facts *f, const jx_dim *d, jx_sum *s)
{
    for (int i = 0; i < f->n; i++) {
        const jx_dim *had = f->at[i].dim, *less;
        jx_int gap;

        if (f->at[i].kind == JX_HYP_NE || !(less = jx_dim_sub(w->in, d, had)) ||
            !jx_dim_is_wide(less, &gap) || gap < 0)
            continue;
        if (f->at[i].kind == JX_HYP_GE)
            jx_sum_add(w, s, 1, had);
        else
            jx_sum_equation(w, s, jx_w_int(w, 1), had);
        return true;
    }
    return false;
}

bool jx_have_ge(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    size_t mark = w->to->length;
    jx_facts had;
    jx_int k;
    jx_sum s;

    if (!d || w->failed)
        return false;
    if (jx_facts_have(w, f, (jx_hyp){d, JX_HYP_GE}))
        return true;
    if (jx_dim_is_wide(d, &k) || --w->left < 0)
        return false;
    had = *f;
    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, jx_w_not(w, d));
    if (from_fact(w, f, d, &s))
        return claim_from(w, f, d, &s);
    jx_have_ranges(w, f, d);
    if (!jx_sum_complete(w, &s, f)) {
        *f = had;
        return jx_write_take_back(w, mark);
    }
    return claim_from(w, f, d, &s);
}
