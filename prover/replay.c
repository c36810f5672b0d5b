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

bool jx_replay_expect(jx_replaying *r, jx_step_kind kind, const jx_step **step)
{
    *step = NULL;
    if (r->at >= r->trace->count || r->trace->at[r->at].kind != kind)
        return jx_writer_fail(r->w, "the trace is not whole");
    *step = &r->trace->at[r->at++];
    return true;
}

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
    if (!jx_replay_branch(r, &in) || !jx_replay_expect(r, JX_STEP_END, &end))
        return false;
    r->w->depth--;
    jx_close_claim(r, f, h);
    return true;
}

static bool step(jx_replaying *r, jx_facts *f, const jx_step *s, bool *ends)
{
    *ends = true;
    switch (s->kind) {
    case JX_STEP_SPLIT: return jx_replay_split(r, f, s);
    case JX_STEP_RESIDUES: return jx_replay_residues(r, f, s);
    case JX_STEP_VALUES: return jx_replay_values(r, f, s);
    case JX_STEP_QUOTIENTS: return jx_replay_quotients(r, f, s);
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

bool jx_replay_branch(jx_replaying *r, jx_facts *f)
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

    if (!jx_replay_branch(&r, &f) || r.at != trace->count || w->failed)
        return false;
    jx_write_needed(w, start);
    return !w->failed;
}
