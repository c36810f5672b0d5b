/* replay_cases.c - cases by values and by residues; the caller ends each. */
#include "prover/replay_parts.h"

bool jx_case_values(jx_replaying *r, jx_facts *f, const jx_dim_atom *x,
                    jx_int low, jx_int high, jx_each_value *each, void *env)
{
    jx_writer *w = r->w;
    jx_int middle = low + (high - low) / 2;
    const jx_dim *below = jx_w_sub(w, jx_w_int(w, middle), jx_r_of(r, x)), *gap;

    if (w->failed)
        return false;
    if (low == high) {
        gap = jx_w_sub(w, jx_r_of(r, x), jx_w_int(w, low));
        if (!jx_have_ge(w, f, gap) || !jx_have_ge(w, f, jx_w_neg(w, gap)) ||
            !jx_claim_both(r, f, gap))
            return jx_writer_fail(w, "the value of a variable");
        jx_r_put(r, f, x, jx_w_int(w, low));
        return each(r, f, low, env);
    }
    jx_open_split(r, below, jx_w_not(w, below));
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(w, &in, i ? jx_w_not(w, below) : below, JX_HYP_GE);
        jx_write_list(w);
        if (!jx_case_values(r, &in, x, i ? middle + 1 : low, i ? high : middle,
                            each, env))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

/* x = m*k + i, with k = floordiv(x, m). */
bool jx_case_residues(jx_replaying *r, jx_facts *f, const jx_dim_atom *x,
                      jx_int m, const jx_dim *k, jx_each_value *each, void *env)
{
    jx_writer *w = r->w;
    const jx_dim *by = jx_w_int(w, m), *i = jx_r_new_name(r), *value;
    const jx_dim *q = jx_r_quotient(r, jx_r_of(r, x), by);

    if (!i || !k || !jx_r_have_facts(r, f, q))
        return jx_writer_fail(w, "residues");
    jx_r_let(r, f, k, q);
    jx_r_put(r, f, jx_r_atom_in(q), k);
    value = jx_w_mul(w, by, k);
    jx_r_let(r, f, i, jx_w_sub(w, jx_r_of(r, x), value));
    jx_r_put(r, f, x, jx_w_add(w, value, i));
    return jx_case_values(r, f, jx_r_atom_in(i), 0, m - 1, each, env);
}
