/* replay_ends.c - steps that end a branch: what of its facts can't be. */
#include "prover/replay_parts.h"

static bool impossible_value(jx_replaying *r, jx_facts *f, jx_int value,
                             void *env)
{
    const jx_step *s = env;
    const jx_dim *x = jx_w_int(r->w, value);

    return jx_write_impossible(
        r->w, f, (jx_hyp){jx_w_substitute(r->w, s->a, s->atom, x), s->fact});
}

/* From `end` on, signs do. */
static bool settled_from(jx_replaying *r, const jx_step *s, jx_int end)
{
    const jx_dim *x = jx_w_add(r->w, jx_r_of(r, s->atom), jx_w_int(r->w, end));
    const jx_dim *far = jx_w_substitute(r->w, s->a, s->atom, x);
    int signs = far ? jx_signs_by_coefficients(far) : 7;

    return s->fact == JX_HYP_GE   ? signs == JX_NEGATIVE
           : s->fact == JX_HYP_EQ ? !(signs & JX_ZERO)
                                  : signs == JX_ZERO;
}

static bool far(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    jx_int low, high, end;
    bool has_high = jx_facts_high(w, f, s->atom, &high);
    const jx_dim *below;

    if (!jx_facts_low(w, f, s->atom, &low))
        return jx_writer_fail(w, "a variable without end");
    for (end = low; !settled_from(r, s, end) && (!has_high || end <= high);)
        if (++end - low > 5000)
            return jx_writer_fail(w, "too many values");
    if (end == low)
        return jx_write_impossible(w, f, (jx_hyp){s->a, s->fact});
    if (has_high && high < end)
        return jx_case_values(r, f, s->atom, low, high, impossible_value,
                              (void *)(uintptr_t)s);
    below = jx_w_sub(w, jx_w_int(w, end - 1), jx_r_of(r, s->atom));
    jx_open_split(r, below, jx_w_not(w, below));
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(w, &in, i ? jx_w_not(w, below) : below, JX_HYP_GE);
        jx_write_list(w);
        if (i ? !jx_write_impossible(w, &in, (jx_hyp){s->a, s->fact})
              : !jx_case_values(r, &in, s->atom, low, end - 1, impossible_value,
                                (void *)(uintptr_t)s))
            return false;
        jx_write_end(w);
    }
    jx_write_end(w);
    return true;
}

typedef struct modulo {
    const jx_dim *d;
    jx_int m;
    const jx_dim_atom *const *vars;
    int n;
} modulo;

static bool each_residue(jx_replaying *r, jx_facts *f, jx_int value, void *env)
{
    modulo rest = *(modulo *)env;
    const jx_dim *k;

    if (rest.n && value >= 0) {
        /* x = m*k + value, in the fact as in ours */
        rest.d =
            jx_w_substitute(r->w, rest.d, rest.vars[-1], jx_w_int(r->w, value));
    }
    if (!rest.n) {
        for (int i = 0; i < f->n; i++) {
            jx_int c, g = jx_work_content(f->at[i].dim, &c);

            if (f->at[i].kind == JX_HYP_EQ && g && c % g)
                return jx_write_impossible(r->w, f, f->at[i]);
        }
        return jx_writer_fail(r->w, "residues without an end");
    }
    k = jx_r_new_name(r);
    rest.n--;
    rest.vars++;
    return jx_case_residues(r, f, rest.vars[-1], rest.m, k, each_residue,
                            &rest);
}

static bool by_modulo(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    modulo all = {.d = s->a, .m = s->i};

    all.vars = jx_dim_vars(r->w->in, s->a, &all.n);
    return all.vars && each_residue(r, f, -1, &all);
}

static bool by_sum(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_writer *w = r->w;
    const jx_dim *no = jx_w_not(w, s->a); /* s->a >= 0 is what was shown */
    const jx_dim *minus = no ? jx_w_neg(w, no) : NULL;
    jx_int k;
    jx_sum sum;

    if (!minus)
        return false;
    jx_sum_start(w, &sum);
    if (jx_dim_is_wide(s->a, &k) && k == -1)
        ; /* -1 >= 0: from the products alone */
    else if (jx_facts_have(w, f, (jx_hyp){no, JX_HYP_GE}))
        jx_sum_add(w, &sum, s->i, no);
    else if (jx_facts_have(w, f, (jx_hyp){no, JX_HYP_EQ}))
        jx_sum_equation(w, &sum, jx_w_int(w, s->i), no);
    else
        return jx_writer_fail(w, "what a sum contradicts");
    for (int i = 0; i < s->nproducts; i++) {
        const jx_product *p = &s->products[i];
        const jx_dim_term *t = jx_dim_terms(p->monomial);
        jx_sum_item item = {.k = p->times, .n = 1};

        item.facts[0] = p->fact;
        if (p->fact.kind == JX_HYP_EQ)
            item.by = jx_w_int(w, p->times);
        for (int j = 0; j < t->nfactors; j++)
            for (int n = 0; n < t->factors[j].power; n++) {
                const jx_dim_atom *x = t->factors[j].atom;
                jx_int low;

                if (item.n == JX_SUM_FACTS || !jx_facts_low(w, f, x, &low))
                    return jx_writer_fail(w, "a product is too long");
                item.facts[item.n++] = (jx_hyp){
                    jx_w_sub(w, jx_r_of(r, x), jx_w_int(w, low)), JX_HYP_GE};
            }
        if (p->fact.kind == JX_HYP_GE && !jx_facts_have(w, f, p->fact))
            return jx_writer_fail(w, "a fact of a sum");
        jx_sum_item_add(w, &sum, &item);
    }
    return jx_sum_close(w, &sum, f) || jx_writer_fail(w, "a sum");
}

/* Some variable has no value left. */
static bool no_value(jx_replaying *r, const jx_facts *f)
{
    jx_writer *w = r->w;
    jx_int low, high;
    jx_sum s;

    for (int i = 0; i < f->n; i++) {
        const jx_dim_atom *x = jx_dim_nterms(f->at[i].dim) &&
                                       jx_dim_terms(f->at[i].dim)->nfactors == 1
                                   ? jx_dim_terms(f->at[i].dim)->factors->atom
                                   : NULL;

        if (!x || !jx_facts_low(w, f, x, &low) ||
            !jx_facts_high(w, f, x, &high) || low <= high)
            continue;
        jx_sum_start(w, &s);
        jx_sum_add(w, &s, 1, jx_w_sub(w, jx_r_of(r, x), jx_w_int(w, low)));
        jx_sum_add(w, &s, 1, jx_w_sub(w, jx_w_int(w, high), jx_r_of(r, x)));
        return jx_sum_write(w, &s, f);
    }
    return jx_writer_fail(w, "an empty range");
}

bool jx_replay_end(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    switch (s->kind) {
    case JX_STEP_IMPOSSIBLE:
        return jx_write_impossible(r->w, f, (jx_hyp){s->a, s->fact});
    case JX_STEP_FAR: return far(r, f, s);
    case JX_STEP_MODULO: return by_modulo(r, f, s);
    case JX_STEP_SUM: return by_sum(r, f, s);
    default: return no_value(r, f);
    }
}
