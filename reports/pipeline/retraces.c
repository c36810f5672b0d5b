/* retraces.c - see retraces.h. */
#include "reports/pipeline/retraces.h"

#include "analyzer/asking.h"
#include "analyzer/transform/refine.h"
#include "analyzer/transform/same.h"
#include "analyzer/typing.h"
#include "frontend/ir/signature.h"
#include "prover/prover.h"
#include "reports/pipeline/blame.h"
#include "runtime/plan.h"

#include <string.h>

typedef enum outcome_kind {
    UNKNOWN = 0, /* why */
    SAME,        /* the same program */
    AGREES,      /* another one, which gives the same on some inputs */
    DIFFERS,
    IMPOSSIBLE, /* the program can't be at these sizes: why */
    RAISED,
} outcome_kind;

typedef struct outcome {
    const jx_retrace *retrace;
    outcome_kind kind;
    const char *why;
    jx_assignment sizes;
    jx_difference difference;
    jx_agreement agreement;
    bool told; /* by a comparison's claim, or that of another one */
} outcome;

typedef struct settler {
    jx_analysis *to;
    jx_program *program;
    jx_ctx *ctx;
    int count;
    outcome *outcomes;
    int unmattering; /* wrong answers that did no harm */
    bool any_raised; /* ... some of them, since the function raises there */
} settler;

/* Each costs a copy of the program. */
enum { MOST_RETRACES = 64 };

static const jx_agree_limits limits = {200000000, (size_t)256 << 20};

static const char help[] =
    "let the function not depend on what the size is while tracing (b == 1, "
    "isinstance(b, int), int(b), a key of a dictionary, a cache), or exclude "
    "these sizes by a constraint";

/* ---- text */

static void put_sizes(jx_buffer *to, const outcome *o)
{
    for (int i = 0; i < o->retrace->nsizes; i++)
        jx_buffer_printf(to, "%s%s = %lld", i ? ", " : "", o->retrace->names[i],
                         (long long)o->retrace->values[i]);
}

/* ---- one retrace */

static void set_unknown(settler *s, outcome *o, const char *why)
{
    o->kind = UNKNOWN;
    o->why = why ? why : "there is no memory";
    if (!jx_arena_failed(s->ctx->arena))
        jx_error_clear(s->ctx);
}

/* The message of the context's error, which is then no longer one. */
static const char *error_text(settler *s)
{
    const jx_error *error = &s->ctx->error;

    if (!error->message || !error->place)
        return error->message;
    return jx_arena_printf(s->ctx->arena, "%s: %s", error->place,
                           error->message);
}

static const jx_dim_atom *variable(const jx_dim_atom *const *vars, int count,
                                   const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(vars[i]->name, name) == 0)
            return vars[i];
    return NULL;
}

/* The sizes as values of the program's variables, all of them. */
static bool bind_sizes(settler *s, outcome *o)
{
    const jx_retrace *r = o->retrace;
    jx_binding *at = JX_NEW_ARRAY(s->ctx->arena, r->nsizes, jx_binding);
    int count = 0;
    const jx_dim_atom *const *vars = jx_input_vars(s->program, &count);

    if (!at || !vars)
        return false;
    for (int i = 0; i < r->nsizes; i++) {
        at[i] = (jx_binding){variable(vars, count, r->names[i]), r->values[i]};
        if (!at[i].var) {
            o->why = jx_arena_printf(
                s->ctx->arena, "no input has a size named %s", r->names[i]);
            return false;
        }
    }
    if (count != r->nsizes) {
        o->why = "not every size of the inputs has a value";
        return false;
    }
    o->sizes = (jx_assignment){count, at};
    return true;
}

static void run_both(settler *s, outcome *o, jx_program *exported,
                     jx_program *traced)
{
    o->agreement = jx_programs_agree(traced, exported, &limits);
    switch (o->agreement.verdict) {
    case JX_AGREES: o->kind = AGREES; return;
    case JX_DISAGREES:
        o->kind = DIFFERS;
        jx_blame(exported, traced, &limits, &o->difference.a);
        return;
    case JX_AGREE_UNKNOWN: break;
    }
    set_unknown(s, o,
                jx_arena_printf(s->ctx->arena,
                                "the exported program has another structure, "
                                "and they can't be compared by running: %s",
                                o->agreement.why ? o->agreement.why : ""));
}

static void compare(settler *s, outcome *o)
{
    jx_program *exported, *traced;
    const jx_typed *a, *b;

    if (!jx_plan_admit(s->program, o->sizes.count, o->sizes.at)) {
        set_unknown(s, o, error_text(s));
        return;
    }
    exported = jx_program_refine(s->program, &s->program->entry, o->sizes.count,
                                 o->sizes.at);
    if (!exported) {
        bool broken = s->ctx->error.kind == JX_E_INPUT;
        set_unknown(s, o, error_text(s));
        o->kind = broken ? IMPOSSIBLE : UNKNOWN;
        return;
    }
    traced = jx_program_refine(s->program, &o->retrace->closed, o->sizes.count,
                               o->sizes.at);
    if (!traced)
        set_unknown(s, o, error_text(s));
    else if (!jx_same_inputs(exported->entry.jaxpr, traced->entry.jaxpr))
        set_unknown(s, o,
                    "its inputs are not those of the exported program "
                    "at these sizes");
    else if (!(a = jx_typed_of(exported)) || !(b = jx_typed_of(traced)))
        set_unknown(s, o, error_text(s));
    else if (jx_same_programs(a, b, &o->difference))
        o->kind = SAME;
    else
        run_both(s, o, exported, traced);
}

static void look_at(settler *s, outcome *o)
{
    if (o->retrace->undecided)
        o->why = o->retrace->undecided;
    else if (!bind_sizes(s, o))
        set_unknown(s, o, o->why);
    else if (o->retrace->raised)
        o->kind = RAISED;
    else
        compare(s, o);
}

/* ---- what it says of the answers that JAX gave */

/* The recorded answer is not the one that these sizes give. */
static bool is_wrong_at(const jx_comparison *c, outcome *o)
{
    int64_t lhs, rhs;
    jx_relation relation;

    return o->sizes.count && c->lhs && c->rhs &&
           jx_dim_eval(c->lhs, jx_assigned, &o->sizes, &lhs) &&
           jx_dim_eval(c->rhs, jx_assigned, &o->sizes, &rhs) &&
           jx_relation_named(c->op, &relation) &&
           jx_relation_holds(lhs, relation, rhs) !=
               (c->decision == JX_DECIDED_TRUE);
}

/* "traced again at b = 1, the function gives ...", for a claim. */
static const char *difference_text(settler *s, const outcome *o)
{
    const jx_agreement *a = &o->agreement;
    jx_buffer text = jx_ctx_text(s->ctx);

    jx_buffer_puts(&text, "traced again at ");
    put_sizes(&text, o);
    if (o->kind == IMPOSSIBLE)
        jx_buffer_printf(&text,
                         ", the function is there, but the exported "
                         "program is not: %s",
                         o->why);
    else if (a->index)
        jx_buffer_printf(&text,
                         ", the function gives out%d%s = %s, the exported "
                         "program %s",
                         a->output, a->index, a->a, a->b);
    else if (a->output < 0)
        jx_buffer_printf(&text,
                         ", the function gives %s, the exported "
                         "program %s",
                         a->a, a->b);
    else
        jx_buffer_printf(&text,
                         ", the function gives out%d as %s, the exported "
                         "program as %s",
                         a->output, a->a, a->b);
    return jx_arena_take(s->ctx->arena, &text);
}

static bool is_breach(const outcome *o)
{
    return o->kind == DIFFERS || o->kind == IMPOSSIBLE;
}

/* Where the answer is wrong, the function was traced: did it matter? */
static void settle_answer(settler *s, jx_claim *claim)
{
    const jx_comparison *c = claim->goal.comparison;
    bool user = jx_asking_of(c, NULL) == JX_ASKING_semantic;
    outcome *breach = NULL;
    int same = 0, raised = 0;

    for (int i = 0; i < s->count; i++) {
        outcome *o = &s->outcomes[i];
        if (!is_wrong_at(c, o))
            continue;
        breach = !breach && is_breach(o) ? o : breach;
        same += o->kind == SAME || o->kind == AGREES;
        raised += o->kind == RAISED;
        if (is_breach(o) && user && claim->verdict == JX_REFUTED)
            o->told = true;
    }
    if (breach && claim->verdict == JX_REFUTED) {
        claim->evidence.note = difference_text(s, breach);
        claim->evidence.nbindings = breach->sizes.count;
        claim->evidence.bindings = breach->sizes.at;
    } else if (!breach && same && user && claim->verdict == JX_REFUTED) {
        /* The line is the user's to judge: at other sizes it may matter. */
        claim->level = JX_NOTE;
        claim->evidence.note = "traced again where the answer is wrong, the "
                               "function shows no difference";
    } else if (!breach && same + raised) {
        s->unmattering++;
        s->any_raised |= !same;
        claim->verdict = JX_UNDECIDED;
        claim->class = JX_PROBE;
    }
}

static void settle_answers(settler *s)
{
    for (size_t i = 0; i < s->to->claims.count; i++) {
        jx_claim *claim = s->to->claims.at[i];
        if (claim->goal.kind == JX_GOAL_DECIDED &&
            claim->code == JX_CODE_SHP001 && claim->verdict != JX_PROVED)
            settle_answer(s, claim);
    }
}

/* ---- claims */

static const jx_frame *user_frame(const jx_site *site)
{
    const jx_frame *found = site->eqn ? jx_user_frame(site->eqn->stack) : NULL;

    for (const jx_calls *at = site->calls; at && !found; at = at->outer)
        found = jx_user_frame(at->eqn->stack);
    return found;
}

/* Where to point: in the exported program, else in what was traced again. */
static const jx_site *site_of(const outcome *o)
{
    const jx_difference *d = &o->difference;

    return d->a.eqn && (user_frame(&d->a) || !user_frame(&d->b)) ? &d->a
                                                                 : &d->b;
}

static jx_claim *add_claim(settler *s, const outcome *o)
{
    jx_claim *claim = jx_claim_add(s->ctx, &s->to->claims, JX_CODE_SHP001);

    if (!claim)
        return NULL;
    claim->evidence.by = "tracing again";
    claim->evidence.nbindings = o->sizes.count;
    claim->evidence.bindings = o->sizes.at;
    return claim;
}

/* Other sizes with a difference that begins at the same line. */
static const char *others(settler *s, const outcome *first)
{
    const jx_frame *frame = user_frame(site_of(first));
    jx_buffer text = jx_ctx_text(s->ctx);
    bool any = false;

    for (int i = 0; i < s->count; i++) {
        outcome *o = &s->outcomes[i];
        if (o == first || o->told || o->kind != first->kind ||
            user_frame(site_of(o)) != frame)
            continue;
        jx_buffer_puts(&text, any ? "; " : "they differ, too, at ");
        put_sizes(&text, o);
        o->told = any = true;
    }
    if (any)
        return jx_arena_take(s->ctx->arena, &text);
    jx_buffer_free(&text);
    return NULL;
}

static bool claim_breach(settler *s, outcome *o)
{
    jx_claim *claim = add_claim(s, o);
    const jx_site *site = site_of(o);

    if (!claim)
        return false;
    o->told = true;
    claim->jaxpr = site->jaxpr;
    claim->eqn = site->eqn;
    claim->calls = site->calls;
    claim->what = difference_text(s, o);
    claim->help = help;
    claim->evidence.note = others(s, o);
    claim->verdict = JX_WITNESSED;
    return true;
}

static bool claim_unknown(settler *s, outcome *o)
{
    jx_claim *claim = add_claim(s, o);
    const jx_site *site = site_of(o);
    jx_buffer text = jx_ctx_text(s->ctx);

    if (!claim)
        return false;
    jx_buffer_puts(&text, "traced again");
    if (o->retrace->nsizes)
        jx_buffer_puts(&text, " at ");
    put_sizes(&text, o);
    jx_buffer_puts(&text, ", the function is the exported program");
    claim->what = jx_arena_take(s->ctx->arena, &text);
    claim->jaxpr = site->jaxpr;
    claim->eqn = site->eqn;
    claim->calls = site->calls;
    claim->evidence.why = o->why;
    return true;
}

/* The promise holds where the function raises, but nobody saw it kept. */
static bool raised_everywhere(settler *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->outcomes[i].kind != RAISED)
            return false;
    s->outcomes[0].why = "the function raised at every size where it was "
                         "traced again, so that nothing was compared";
    return true;
}

static bool make_claims(settler *s)
{
    if (raised_everywhere(s) && !claim_unknown(s, &s->outcomes[0]))
        return false;
    for (int i = 0; i < s->count; i++) {
        outcome *o = &s->outcomes[i];
        bool ok = true;
        if (o->told)
            continue;
        if (is_breach(o))
            ok = claim_breach(s, o);
        else if (o->kind == UNKNOWN)
            ok = claim_unknown(s, o);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- what was found to be as it should */

static void assume(settler *s, jx_buffer *text)
{
    const char *line = jx_arena_take(s->ctx->arena, text);

    JX_PUSH(s->ctx->arena, &s->to->assumptions, line);
}

static void tell_agreement(settler *s)
{
    jx_buffer text = jx_ctx_text(s->ctx);
    int any = 0, run = 0;

    for (int i = 0; i < s->count; i++) {
        const outcome *o = &s->outcomes[i];
        if (o->kind != SAME && o->kind != AGREES)
            continue;
        jx_buffer_puts(&text, any++ ? "; " : "traced again at ");
        put_sizes(&text, o);
        run += o->kind == AGREES;
    }
    if (any) {
        jx_buffer_puts(&text, ": no difference at these sizes");
        if (run)
            jx_buffer_printf(&text, " (%d of %d by running both)", run, any);
        assume(s, &text);
    }
    jx_buffer_free(&text);
}

/* What the function raises, the promise does not speak of. */
static void tell_raised(settler *s)
{
    for (int i = 0; i < s->count; i++) {
        const outcome *o = &s->outcomes[i];
        const jx_frame *frame = jx_user_frame(o->retrace->stack);
        jx_buffer text = jx_ctx_text(s->ctx);
        if (o->kind != RAISED)
            continue;
        jx_buffer_puts(&text, "traced again at ");
        put_sizes(&text, o);
        jx_buffer_printf(&text, ", the function raises %s", o->retrace->raised);
        if (frame)
            jx_buffer_printf(&text, " (%s:%d)", frame->file->path, frame->line);
        jx_buffer_puts(&text, "; the exported program takes these sizes");
        assume(s, &text);
    }
}

static void tell_unmattering(settler *s)
{
    if (!s->unmattering)
        return;
    JX_PUSH(s->ctx->arena, &s->to->assumptions,
            jx_arena_printf(
                s->ctx->arena,
                "%d answer%s of JAX about sizes %s wrong for some sizes; "
                "traced again where %s, the function shows no difference%s",
                s->unmattering, s->unmattering == 1 ? "" : "s",
                s->unmattering == 1 ? "is" : "are",
                s->unmattering == 1 ? "it is" : "they are",
                s->any_raised ? ", or raises" : ""));
}

bool jx_settle_retraces(jx_analysis *to)
{
    jx_program *program = to->program;
    settler s = {.to = to, .program = program, .ctx = program->ctx};

    if (!program->nretraces)
        return true;
    s.count = program->nretraces;
    s.outcomes = JX_NEW_ARRAY(s.ctx->arena, s.count, outcome);
    for (int i = 0; s.outcomes && i < s.count; i++) {
        s.outcomes[i].retrace = &program->retraces[i];
        if (i < MOST_RETRACES)
            look_at(&s, &s.outcomes[i]);
        else
            s.outcomes[i].why = "so many sizes are not compared";
    }
    if (!s.outcomes || !jx_ok(s.ctx))
        return false;
    settle_answers(&s);
    tell_agreement(&s);
    tell_raised(&s);
    tell_unmattering(&s);
    return make_claims(&s) && jx_ok(s.ctx);
}
