/* replay_cases.c - steps that split into cases: by a sign, by values, by
 * residues. */
#include "prover/replay_parts.h"

bool jx_replay_split(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_step *step;
    jx_int sum;

    /* Two that leave out 0, of what is not 0. */
    if (jx_dim_is_wide(jx_w_add(r->w, s->a, s->b), &sum) && sum == -2 &&
        !jx_facts_have(
            r->w, f,
            (jx_hyp){jx_w_add(r->w, s->a, jx_w_int(r->w, 1)), JX_HYP_NE}))
        return jx_writer_fail(r->w, "a split that leaves out 0");
    jx_note_use(
        r->w, f,
        (jx_hyp){jx_w_add(r->w, s->a, jx_w_int(r->w, 1)), JX_HYP_NE});
    jx_open_split(r, s->a, s->b);
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(r->w, &in, i ? s->b : s->a, JX_HYP_GE);
        jx_write_list(r->w);
        jx_say(r, "case %f:", &(jx_hyp){i ? s->b : s->a, JX_HYP_GE});
        r->w->depth++;
        if (!jx_replay_expect(r, JX_STEP_CASE, &step) ||
            !jx_replay_branch(r, &in))
            return false;
        r->w->depth--;
        jx_write_end(r->w);
    }
    jx_write_end(r->w);
    return jx_replay_expect(r, JX_STEP_END, &step);
}

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
        if (!jx_have_ge(w, f, gap) ||
            !jx_have_ge(w, f, jx_w_neg(w, gap)) ||
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

/* A case of the trace for each value. */
static bool traced_case(jx_replaying *r, jx_facts *f, jx_int value, void *env)
{
    const jx_step *step;
    bool ok;

    if (!jx_replay_expect(r, JX_STEP_CASE, &step))
        return false;
    if (step->i != value)
        return jx_writer_fail(r->w, "another value");
    jx_say(r, "case %d = %i:", env, &value);
    r->w->depth++;
    ok = jx_replay_branch(r, f);
    r->w->depth--;
    return ok;
}

bool jx_replay_values(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_step *end;

    return jx_case_values(r, f, s->atom, s->i, s->j, traced_case,
                          (void *)(uintptr_t)jx_r_of(r, s->atom)) &&
           jx_replay_expect(r, JX_STEP_END, &end);
}

bool jx_replay_quotients(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_dim *name = jx_r_new_name(r);
    const jx_step *end;

    if (!name || !jx_have_quotient(r->w, f, s->atom) ||
        !jx_have_low(r->w, f, s->atom) || !jx_have_high(r->w, f, s->atom))
        return jx_writer_fail(r->w, "the ends of a quotient");
    jx_r_let(r, f, name, jx_r_of(r, s->atom));
    jx_r_put(r, f, s->atom, name);
    return jx_case_values(r, f, jx_r_atom_in(name), s->i, s->j, traced_case,
                          (void *)(uintptr_t)jx_r_of(r, s->atom)) &&
           jx_replay_expect(r, JX_STEP_END, &end);
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

/* The ends of k, from those of m*k + i. */
static bool ends_of(jx_replaying *r, jx_facts *f, const jx_dim_atom *k,
                    jx_int m)
{
    for (int i = 0, n = f->n; i < n; i++) {
        const jx_dim *d = f->at[i].dim;
        const jx_dim_term *t = jx_dim_terms(d);
        jx_step s = {.a = d};

        if (f->at[i].kind == JX_HYP_GE && jx_dim_nterms(d) &&
            jx_dim_nterms(d) <= 2 && t->nfactors == 1 &&
            t->factors->atom == k && t->factors->power == 1 &&
            (t->coefficient == m || t->coefficient == -m) &&
            (jx_dim_nterms(d) == 1 || !t[1].nfactors) &&
            !jx_replay_range(r, f, &s))
            return false;
    }
    return true;
}

typedef struct residue {
    const jx_dim *x, *k;
    jx_int m;
} residue;

static bool traced_residue(jx_replaying *r, jx_facts *f, jx_int value,
                           void *env)
{
    const residue *x = env;
    const jx_dim_atom *k = jx_r_atom_in(x->k);
    jx_int low, high;
    jx_writer *w = r->w;
    const jx_step *step;
    jx_sum s;
    bool ok;

    if (!jx_replay_expect(r, JX_STEP_CASE, &step) || step->i != value)
        return jx_writer_fail(w, "another residue");
    jx_say(r, "case %d = %i*%d + %i:", x->x, &x->m, step->a, &value);
    if (!ends_of(r, f, k, x->m))
        return false;
    if (r->at < r->trace->count && r->trace->at[r->at].kind == JX_STEP_EMPTY) {
        r->at++;
        if (!jx_facts_low(w, f, k, &low) || !jx_facts_high(w, f, k, &high))
            return jx_writer_fail(w, "an empty case");
        jx_sum_start(w, &s);
        jx_sum_add(w, &s, 1, jx_w_sub(w, x->k, jx_w_int(w, low)));
        jx_sum_add(w, &s, 1, jx_w_sub(w, jx_w_int(w, high), x->k));
        jx_say(r, "  there is no such value");
        return jx_sum_write(w, &s, f) || jx_writer_fail(w, "an empty case");
    }
    if (step->a != x->k) {
        jx_r_let(r, f, step->a, x->k);
        jx_r_put(r, f, k, step->a);
    }
    w->depth++;
    ok = jx_replay_branch(r, f);
    w->depth--;
    return ok;
}

bool jx_replay_residues(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_step *end;
    residue x = {jx_r_of(r, s->atom), r->trace->at[r->at].a, s->i};

    return jx_case_residues(r, f, s->atom, s->i, x.k, traced_residue, &x) &&
           jx_replay_expect(r, JX_STEP_END, &end);
}
