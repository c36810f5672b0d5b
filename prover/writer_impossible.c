/* writer_impossible.c - ends a branch by a fact that can't be. */
#include "prover/writer_parts.h"

static bool ge_impossible(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    jx_sum s;

    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, d);
    if (jx_sum_close(w, &s, f))
        return true;
    jx_have_ranges(w, f, d);
    jx_sum_start(w, &s);
    jx_sum_add(w, &s, 1, d);
    return jx_sum_close(w, &s, f);
}

/* g*x + r == 0 with 0 < r < g: x >= 0 or x <= -1. */
static bool by_content(jx_writer *w, const jx_facts *f, const jx_dim *d)
{
    jx_int c, g = jx_work_content(d, &c), q, r;
    const jx_dim *x;
    jx_sum s;

    if (g < 2 || !jx_int_floordiv(c, g, &q, &r) || !r)
        return false;
    x = jx_dim_divide_exactly(w->in, jx_w_sub(w, d, jx_w_int(w, r)),
                              jx_w_int(w, g));
    if (!x)
        return false;
    jx_write_begin(w, "split");
    jx_write_fact(w, (jx_hyp){x, JX_HYP_GE});
    jx_write_fact(w, (jx_hyp){jx_w_not(w, x), JX_HYP_GE});
    for (int i = 0; i < 2; i++) {
        jx_sum_start(w, &s);
        jx_sum_equation(w, &s, jx_w_int(w, i ? 1 : -1), d);
        jx_sum_add(w, &s, g, i ? jx_w_not(w, x) : x);
        jx_write_list(w);
        if (!jx_sum_write(w, &s, f))
            return jx_writer_fail(w, "a remainder");
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

static bool eq_impossible(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    jx_sum s;

    for (int round = 0; round < 2; round++) {
        for (int sign = 1; sign >= -1; sign -= 2) {
            jx_sum_start(w, &s);
            jx_sum_equation(w, &s, jx_w_int(w, sign), d);
            if (jx_sum_close(w, &s, f))
                return true;
        }
        if (!round)
            jx_have_ranges(w, f, d);
    }
    return by_content(w, f, d);
}

static bool ne_impossible(jx_writer *w, jx_facts *f, const jx_dim *d)
{
    const jx_dim *one = jx_w_int(w, 1);
    const jx_dim *side[2] = {jx_w_sub(w, d, one), jx_w_not(w, d)};

    jx_have_ranges(w, f, d);
    jx_note_use(w, f, (jx_hyp){d, JX_HYP_NE});
    jx_write_begin(w, "split");
    jx_write_fact(w, (jx_hyp){side[0], JX_HYP_GE});
    jx_write_fact(w, (jx_hyp){side[1], JX_HYP_GE});
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(w, &in, side[i], JX_HYP_GE);
        jx_write_list(w);
        if (!ge_impossible(w, &in, side[i]))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

/* A fact like -1 >= 0. */
static bool plainly_impossible(jx_writer *w, const jx_facts *f)
{
    jx_int k;
    jx_sum s;

    for (int i = 0; i < f->n; i++)
        if (f->at[i].kind == JX_HYP_GE && jx_dim_is_wide(f->at[i].dim, &k) &&
            k < 0) {
            jx_sum_start(w, &s);
            jx_sum_add(w, &s, 1, f->at[i].dim);
            return jx_sum_write(w, &s, f);
        }
    return false;
}

bool jx_write_impossible(jx_writer *w, jx_facts *f, jx_hyp h)
{
    bool ok = plainly_impossible(w, f);

    if (ok)
        return true;
    ok = h.dim && (h.kind == JX_HYP_GE   ? ge_impossible(w, f, h.dim)
                   : h.kind == JX_HYP_EQ ? eq_impossible(w, f, h.dim)
                                         : ne_impossible(w, f, h.dim));

    return ok || jx_writer_fail(w, "signs");
}
