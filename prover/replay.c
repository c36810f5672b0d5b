/* replay.c - a trace as a proof in the checker's rules; see replay_parts.h for
 * the other files. */
#include "prover/replay.h"

#include "prover/replay_parts.h"

static bool skip_claim(jx_replaying *r)
{
    for (int depth = 1; depth && r->at < r->trace->count; r->at++) {
        jx_step_kind k = r->trace->at[r->at].kind;

        if (k == JX_STEP_CLAIM || k == JX_STEP_SPLIT || k == JX_STEP_RESIDUES ||
            k == JX_STEP_VALUES || k == JX_STEP_QUOTIENTS)
            depth++;
        depth -= k == JX_STEP_END;
    }
    return true;
}

/* The step that comes now, which can only be of that kind. */
static bool expect(jx_replaying *r, jx_step_kind kind, const jx_step **step)
{
    *step = NULL;
    if (r->at >= r->trace->count || r->trace->at[r->at].kind != kind)
        return jx_writer_fail(r->w, "the trace is not whole");
    *step = &r->trace->at[r->at++];
    return true;
}

/* Writes the steps up to the end of this branch. */
static bool branch(jx_replaying *r, jx_facts *f);

static bool claim(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    jx_hyp h = {s->a, JX_HYP_GE};
    jx_facts in = *f;
    const jx_step *end;

    if (jx_facts_have(r->w, f, h) || jx_have_ge(r->w, f, s->a))
        return skip_claim(r);
    in = *f;
    jx_open_claim(r, h);
    jx_say(r, "%f, as otherwise:", &h);
    r->w->depth++;
    jx_facts_add(r->w, &in, jx_w_not(r->w, s->a), JX_HYP_GE);
    if (!branch(r, &in) || !expect(r, JX_STEP_END, &end))
        return false;
    r->w->depth--;
    jx_close_claim(r, f, h);
    return true;
}

/* Steps that split into cases of the trace. */

static bool split(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_step *step;
    jx_int sum;

    /* Two that leave out 0, of what is not 0. */
    if (jx_dim_is_wide(jx_w_add(r->w, s->a, s->b), &sum) && sum == -2 &&
        !jx_facts_have(
            r->w, f,
            (jx_hyp){jx_w_add(r->w, s->a, jx_w_int(r->w, 1)), JX_HYP_NE}))
        return jx_writer_fail(r->w, "a split that leaves out 0");
    jx_note_use(r->w, f,
                (jx_hyp){jx_w_add(r->w, s->a, jx_w_int(r->w, 1)), JX_HYP_NE});
    jx_open_split(r, s->a, s->b);
    for (int i = 0; i < 2; i++) {
        jx_facts in = *f;

        jx_facts_add(r->w, &in, i ? s->b : s->a, JX_HYP_GE);
        jx_write_list(r->w);
        jx_say(r, "case %f:", &(jx_hyp){i ? s->b : s->a, JX_HYP_GE});
        r->w->depth++;
        if (!expect(r, JX_STEP_CASE, &step) || !branch(r, &in))
            return false;
        r->w->depth--;
        jx_write_end(r->w);
    }
    jx_write_end(r->w);
    return expect(r, JX_STEP_END, &step);
}

/* A case of the trace for each value. */
static bool traced_case(jx_replaying *r, jx_facts *f, jx_int value, void *env)
{
    const jx_step *step;
    bool ok;

    if (!expect(r, JX_STEP_CASE, &step))
        return false;
    if (step->i != value)
        return jx_writer_fail(r->w, "another value");
    jx_say(r, "case %d = %i:", env, &value);
    r->w->depth++;
    ok = branch(r, f);
    r->w->depth--;
    return ok;
}

static bool values(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_step *end;

    return jx_case_values(r, f, s->atom, s->i, s->j, traced_case,
                          (void *)(uintptr_t)jx_r_of(r, s->atom)) &&
           expect(r, JX_STEP_END, &end);
}

static bool quotients(jx_replaying *r, jx_facts *f, const jx_step *s)
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
           expect(r, JX_STEP_END, &end);
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

    if (!expect(r, JX_STEP_CASE, &step) || step->i != value)
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
    ok = branch(r, f);
    w->depth--;
    return ok;
}

static bool residues(jx_replaying *r, jx_facts *f, const jx_step *s)
{
    const jx_step *end;
    residue x = {jx_r_of(r, s->atom), r->trace->at[r->at].a, s->i};

    return jx_case_residues(r, f, s->atom, s->i, x.k, traced_residue, &x) &&
           expect(r, JX_STEP_END, &end);
}

static bool step(jx_replaying *r, jx_facts *f, const jx_step *s, bool *ends)
{
    *ends = true;
    switch (s->kind) {
    case JX_STEP_SPLIT: return split(r, f, s);
    case JX_STEP_RESIDUES: return residues(r, f, s);
    case JX_STEP_VALUES: return values(r, f, s);
    case JX_STEP_QUOTIENTS: return quotients(r, f, s);
    case JX_STEP_IMPOSSIBLE:
    case JX_STEP_FAR:
    case JX_STEP_MODULO:
    case JX_STEP_SUM:
    case JX_STEP_EMPTY:
        return r->w->explain ? jx_explain_end(r, f, s) : jx_replay_end(r, f, s);
    default: break;
    }
    *ends = false;
    if (s->kind < JX_STEP_NONZERO)
        jx_explain_identity(r, f, s);
    else
        jx_explain_fact(r, f, s);
    switch (s->kind) {
    case JX_STEP_NONZERO: return jx_replay_nonzero(r, f, s);
    case JX_STEP_RANGE: return jx_replay_range(r, f, s);
    case JX_STEP_CUT:
    case JX_STEP_DIVIDE: return jx_replay_divide(r, f, s);
    case JX_STEP_RAISE: return jx_replay_raise(r, f, s);
    case JX_STEP_BOTH: return jx_claim_both(r, f, s->a);
    case JX_STEP_PUT: return jx_replay_put(r, f, s);
    case JX_STEP_NAME: return jx_replay_name(r, f, s);
    case JX_STEP_CLAIM: return claim(r, f, s);
    default: return jx_replay_rewrite(r, f, s);
    }
}

/* A fact without variables that can't be, or NULL. */
static const jx_hyp *plainly_wrong(const jx_facts *f)
{
    jx_int k;

    for (int i = 0; i < f->n; i++)
        if (jx_dim_is_wide(f->at[i].dim, &k) &&
            (f->at[i].kind == JX_HYP_GE   ? k < 0
             : f->at[i].kind == JX_HYP_EQ ? k != 0
                                          : k == 0))
            return &f->at[i];
    return NULL;
}

/* What the decider did in the rest of this branch. */
static void skip_branch(jx_replaying *r)
{
    for (int depth = 0; r->at < r->trace->count; r->at++) {
        jx_step_kind k = r->trace->at[r->at].kind;

        if (!depth && (k == JX_STEP_CASE || k == JX_STEP_END))
            return;
        depth += k == JX_STEP_CLAIM || k == JX_STEP_SPLIT ||
                 k == JX_STEP_RESIDUES || k == JX_STEP_VALUES ||
                 k == JX_STEP_QUOTIENTS;
        depth -= k == JX_STEP_END;
    }
}

static bool branch(jx_replaying *r, jx_facts *f)
{
    bool ends = false;

    while (!ends && !r->w->failed) {
        const jx_hyp *wrong = plainly_wrong(f);

        if (wrong) {
            jx_say(r, "%f can't be", wrong);
            skip_branch(r);
            return jx_write_impossible(r->w, f, *wrong);
        }
        static const char *const names[] = {
            "ratio",  "nest",       "half",     "drop",   "value",     "first",
            "second", "part",       "power",    "is",     "nonzero",   "range",
            "cut",    "divide",     "raise",    "both",   "put",       "name",
            "claim",  "split",      "residues", "values", "quotients", "case",
            "end",    "impossible", "far",      "modulo", "sum",       "empty"};
        const jx_step *s;

        if (r->at >= r->trace->count)
            return jx_writer_fail(r->w, "the trace ends early");
        s = &r->trace->at[r->at++];
        if (!step(r, f, s, &ends))
            return jx_writer_fail(r->w, names[s->kind]);
    }
    return !r->w->failed;
}

bool jx_replay(jx_writer *w, const jx_trace *trace, const jx_facts *facts)
{
    jx_replaying r = {w, trace, 0};
    jx_facts f = *facts;
    size_t start = w->to->length;

    if (!branch(&r, &f) || r.at != trace->count || w->failed)
        return false;
    jx_write_needed(w, start);
    return !w->failed;
}
