/* settle.c - see settle.h. */
#include "reports/pipeline/settle.h"
#include "analyzer/asking.h"
#include "frontend/base/assert.h"
#include "frontend/ir/scope.h"
#include "reports/pipeline/advice.h"
#include "reports/pipeline/mixing.h"
#include "reports/pipeline/settle_declared.h"

#include <string.h>

typedef struct settler {
    jx_program *program;
    const jx_settle_options *options;
    jx_prover **provers; /* by scope; made when first needed */
    int nprovers;
    jx_intern asked;
} settler;

/* A goal as a comparison that should hold for all sizes. */
typedef struct question {
    const jx_dim *lhs, *rhs;
    jx_relation relation;
    bool divides;
    int scope;
} question;

typedef struct asked {
    question question;
    jx_answer answer;
} asked;

static bool question_of(const jx_goal *goal, question *q)
{
    *q = (question){goal->lhs, goal->rhs, JX_REL_EQ, false, goal->scope};
    switch (goal->kind) {
    case JX_GOAL_EQ: return true;
    case JX_GOAL_NE: q->relation = JX_REL_NE; return true;
    case JX_GOAL_GE: q->relation = JX_REL_GE; return true;
    case JX_GOAL_GT: q->relation = JX_REL_GT; return true;
    case JX_GOAL_DIVIDES: q->divides = true; return true;
    case JX_GOAL_DECIDED:
        if (!jx_relation_named(goal->comparison->op, &q->relation))
            return false;
        if (goal->comparison->decision == JX_DECIDED_FALSE)
            q->relation = jx_relation_opposite(q->relation);
        return true;
    default: return false;
    }
}

/* The scope that stands for all of them, where a question mixes two. */
static int all_scopes(const settler *s)
{
    return s->nprovers - 1;
}

/* The constraint of that number among those of the scope, or NULL. */
static const jx_scope_constraint *constraint_at(const settler *s, int scope,
                                                int index)
{
    for (int i = 0; i < s->program->nscopes; i++) {
        const jx_scope *in = &s->program->scopes[i];
        if (scope != i && scope != all_scopes(s))
            continue;
        if (index < in->nconstraints)
            return &in->constraints[index];
        index -= in->nconstraints;
    }
    return NULL;
}

/* The constraints of a scope in the prover's form. */
static jx_prover *new_prover(settler *s, int scope)
{
    jx_program *program = s->program;
    JX_VEC(jx_constraint) all = {0};
    const jx_scope_constraint *one;
    jx_prover_options options = {
        .base = program->base,
        .base_is_set = true,
        .no_solver = s->options->no_solver,
        .suggest = s->options->suggest,
        .solver = s->options->solver,
    };

    for (int i = 0; (one = constraint_at(s, scope, i)); i++)
        JX_PUSH(program->ctx->arena, &all, jx_constraint_of_scope(one));
    return jx_prover_new(program->ctx, program->dims, all.at, (int)all.count,
                         &options);
}

static jx_prover *prover_of(settler *s, int scope)
{
    if (scope < 0 || scope >= s->nprovers)
        return NULL;
    if (!s->provers[scope])
        s->provers[scope] = new_prover(s, scope);
    return s->provers[scope];
}

static bool same_question(const void *kept, const void *key)
{
    const question *a = &((const asked *)kept)->question, *b = key;

    return a->lhs == b->lhs && a->rhs == b->rhs && a->scope == b->scope &&
           a->relation == b->relation && a->divides == b->divides;
}

static uint64_t hash_question(const question *q)
{
    uint64_t hash = jx_hash_mix((uintptr_t)q->lhs, (uintptr_t)q->rhs);

    return jx_hash_mix(hash, (uint64_t)q->relation * 2 + q->divides +
                                 ((uint64_t)(unsigned)q->scope << 8));
}

/* NULL without memory, or where there is no such scope. */
static const jx_answer *ask(settler *s, const question *q)
{
    uint64_t hash = hash_question(q);
    const asked *kept = jx_intern_find(&s->asked, hash, q, same_question);
    jx_prover *prover;
    asked *made;

    if (kept)
        return &kept->answer;
    prover = prover_of(s, q->scope);
    made = JX_NEW(s->program->ctx->arena, asked);
    if (!prover || !made)
        return NULL;
    made->question = *q;
    made->answer = q->divides
                       ? jx_prove_divides(prover, q->lhs, q->rhs)
                       : jx_prove_compare(prover, q->lhs, q->relation, q->rhs);
    if (!made->answer.passing)
        jx_intern_add(&s->asked, hash, made);
    return &made->answer;
}

/* Whether the question holds at these sizes, by evaluation alone.  False if
 * the sides have no value there. */
static bool evaluate(const question *q, const jx_assignment *at,
                     jx_evidence *evidence, bool *holds)
{
    jx_assignment env = *at;

    if (!jx_dim_eval(q->lhs, jx_assigned, &env, &evidence->lhs) ||
        !jx_dim_eval(q->rhs, jx_assigned, &env, &evidence->rhs))
        return false;
    if (!q->divides)
        *holds = jx_relation_holds(evidence->lhs, q->relation, evidence->rhs);
    else if (evidence->lhs == 0)
        return false;
    else /* INT64_MIN % -1 overflows */
        *holds = evidence->lhs == -1 || evidence->rhs % evidence->lhs == 0;
    return true;
}

/* Adds the dim's variables that have no value yet, at the least they may be:
 * constraints do not name them. */
static void complete(settler *s, const jx_dim *dim, jx_binding *at, int *count,
                     int capacity)
{
    int n = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->program->dims, dim, &n);

    for (int i = 0; vars && i < n && *count < capacity; i++) {
        jx_assignment so_far = {*count, at};
        int64_t value;
        if (!jx_assigned(&so_far, vars[i], &value))
            at[(*count)++] = (jx_binding){vars[i], s->program->base};
    }
}

/* Some assignment that the constraints allow, for what holds for none of them:
 * the prover then has no example of its own. */
static bool any_assignment(settler *s, const question *q, jx_assignment *at)
{
    jx_answer some = jx_prove_consistent(prover_of(s, q->scope));
    int left = 0, right = 0, count = some.when_true.count, capacity;
    jx_binding *all;

    if (some.truth != JX_TRUE || !some.has_true)
        return false;
    jx_dim_vars(s->program->dims, q->lhs, &left);
    jx_dim_vars(s->program->dims, q->rhs, &right);
    capacity = count + left + right;
    all = JX_NEW_ARRAY(s->program->ctx->arena, capacity, jx_binding);
    if (!all)
        return false;
    if (count)
        memcpy(all, some.when_true.at, (size_t)count * sizeof *all);
    complete(s, q->lhs, all, &count, capacity);
    complete(s, q->rhs, all, &count, capacity);
    *at = (jx_assignment){count, all};
    return true;
}

/* What is declared holds at these sizes. */
static bool admits(settler *s, int scope, const jx_assignment *at)
{
    const jx_scope_constraint *declared;
    jx_evidence evidence;
    bool holds;

    for (int i = 0; (declared = constraint_at(s, scope, i)); i++) {
        jx_constraint c = jx_constraint_of_scope(declared);
        question q = {c.lhs, c.rhs, c.relation, false, scope};
        if (evaluate(&q, at, &evidence, &holds) && !holds)
            return false;
    }
    return true;
}

/* Reports have sizes of 64 bits. */
static bool fits(const jx_assignment *at)
{
    for (int i = 0; i < at->count; i++)
        if (at->at[i].value != (int64_t)at->at[i].value)
            return false;
    return true;
}

static void refute(settler *s, jx_claim *claim, const question *q,
                   const jx_answer *answer)
{
    jx_assignment example = answer->when_false, *at = &example;
    bool has = answer->has_false || any_assignment(s, q, at), holds;
    jx_evidence *evidence = &claim->evidence;

    if (!has || !fits(at) || !evaluate(q, at, evidence, &holds) || holds) {
        evidence->why = "a counterexample was said to exist, and none was "
                        "confirmed";
        return;
    }
    JX_ASSERT(admits(s, q->scope, at));
    evidence->nbindings = at->count;
    evidence->bindings = at->at;
    claim->verdict = JX_REFUTED;
}

/* Where nobody knows, the statement itself can be declared, as JAX's
 * documentation advises. */
static bool itself(settler *s, const question *q, jx_constraint *to)
{
    jx_dims *dims = s->program->dims;

    *to = (jx_constraint){q->lhs, q->relation, q->rhs};
    if (q->divides)
        *to = (jx_constraint){jx_dim_mod(dims, q->rhs, q->lhs), JX_REL_EQ,
                              jx_dim_int(dims, 0)};
    else if (q->relation == JX_REL_GT)
        *to = (jx_constraint){q->lhs, JX_REL_GE,
                              jx_dim_add(dims, q->rhs, jx_dim_int(dims, 1))};
    return to->lhs && to->rhs;
}

static void suggest(settler *s, jx_claim *claim, const question *q,
                    const jx_answer *answer)
{
    const jx_constraint *settles;
    int count = jx_advised(answer, &settles);
    jx_constraint same;

    if (!count && answer->truth == JX_UNKNOWN && itself(s, q, &same)) {
        settles = &same;
        count = 1;
    }
    if (claim->verdict == JX_PROVED)
        return;
    claim->evidence.advice = jx_advice(s->program, claim, count, settles);
    if (count)
        claim->evidence.suggestion =
            jx_advised_text(s->program, count, settles);
}

static const char *why_contradicting(settler *s, int scope,
                                     const jx_answer *answer)
{
    const jx_scope_constraint *c;
    jx_buffer text = jx_ctx_text(s->program->ctx);

    jx_buffer_puts(&text, "the constraints allow no sizes");
    for (int i = 0; i < answer->ncore; i++) {
        jx_buffer_puts(&text, i ? ", " : ": ");
        c = constraint_at(s, scope, answer->core[i]);
        if (c)
            jx_scope_print(c, &text);
    }
    return jx_arena_take(s->program->ctx->arena, &text);
}

/* It holds for some sizes and not for others, and which of these the program
 * makes is not known. */
static const char *why_unsaid(settler *s, const question *q)
{
    const jx_dim_atom *var = jx_program_unsaid(s->program, q->lhs);

    if (!var)
        var = jx_program_unsaid(s->program, q->rhs);
    return var ? jx_arena_printf(s->program->ctx->arena,
                                 "nothing that is understood of the program "
                                 "says how large `%s` is",
                                 var->name)
               : NULL;
}

/* JAX's code asked, and nobody has read what it does with the answer: that it
 * is wrong somewhere need not matter. */
static void doubt(jx_claim *claim)
{
    if (claim->goal.kind != JX_GOAL_DECIDED || claim->verdict != JX_REFUTED ||
        jx_asking_of(claim->goal.comparison, NULL) != JX_ASKING_UNKNOWN)
        return;
    claim->verdict = JX_UNDECIDED;
    claim->evidence.why = "JAX's own code asked; whether anything depends on "
                          "the answer is not known";
}

static void settle(settler *s, jx_claim *claim)
{
    const jx_answer *answer;
    question q;

    if (claim->verdict != JX_UNDECIDED || claim->evidence.why ||
        jx_settle_declared(s->program, claim, s->options))
        return;
    if (!question_of(&claim->goal, &q)) {
        if (claim->goal.kind == JX_GOAL_DECIDED)
            claim->evidence.why = "JAX was asked something that is no "
                                  "comparison";
        return;
    }
    if (!q.lhs || !q.rhs) {
        claim->evidence.why = "its sizes do not fit in 128 bits";
        return;
    }
    if (jx_mixes_scopes(s->program, q.lhs, q.rhs)) {
        q.scope = all_scopes(s);
        claim->evidence.note = jx_mixing_note(s->program, q.lhs, q.rhs);
        claim->help = "make both with one symbolic_shape(), or the second with "
                      "scope= of the first";
    }
    answer = ask(s, &q);
    if (!answer)
        return;
    claim->evidence.by = answer->solver ? answer->solver : answer->by;
    claim->evidence.why = answer->why;
    switch (answer->truth) {
    case JX_TRUE: claim->verdict = JX_PROVED; break;
    case JX_FALSE: refute(s, claim, &q, answer); break;
    case JX_DEPENDS:
        claim->evidence.why = why_unsaid(s, &q);
        if (claim->evidence.why)
            return;
        refute(s, claim, &q, answer);
        break;
    case JX_CONTRADICTION:
        claim->evidence.why = why_contradicting(s, q.scope, answer);
        break;
    case JX_UNKNOWN: break;
    }
    if (q.scope != all_scopes(s))
        suggest(s, claim, &q, answer);
    doubt(claim);
}

bool jx_settle(jx_program *program, const jx_claim_list *claims,
               const jx_settle_options *options)
{
    settler s = {.program = program, .options = options};

    s.nprovers = (program->nscopes ? program->nscopes : 1) + 1;
    s.provers = JX_NEW_ARRAY(program->ctx->arena, s.nprovers, jx_prover *);
    jx_intern_init(&s.asked, program->ctx->arena);
    for (size_t i = 0; s.provers && i < claims->count; i++)
        settle(&s, claims->at[i]);
    for (int i = 0; s.provers && i < s.nprovers; i++)
        jx_prover_free(s.provers[i]);
    return jx_ok(program->ctx);
}
