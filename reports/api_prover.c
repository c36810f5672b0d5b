/* api_prover.c - the provers of jaxvet.h: questions about sizes, in process. */
#include "frontend/base/buffer.h"
#include "prover/question.h"
#include "prover/solver.h"
#include "reports/api.h"
#include "reports/formats/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUDGET = 512 << 20,
    RENEW_ABOVE = 64 << 20, /* bytes of answers, then the space is made anew */
};

/* The helper process, used by every prover that shares it. */
typedef struct shared_solver {
    jx_solver *solver;
    int users;
} shared_solver;

/* What questions leave behind: dims and answers, kept until there are many. */
typedef struct space {
    jx_ctx *ctx;
    jx_question given; /* the constraints; a question is a copy with sides */
    jx_prover *asked[JAXVET_PROVE_FLAGS + 1]; /* by flags; made when needed */
} space;

struct jaxvet_prover {
    int nconstraints;
    char **texts;
    int64_t base;
    shared_solver *shared;
    space space;
    jx_limits limits; /* of each question */
    jx_buffer answer;
};

/* ---- the solver */

static shared_solver *share(jaxvet_prover *with)
{
    shared_solver *s = with ? with->shared : calloc(1, sizeof *s);

    if (s && !s->solver)
        s->solver = jx_solver_new(NULL);
    if (s && s->solver) {
        s->users++;
        return s;
    }
    free(s);
    return NULL;
}

static void let_go(shared_solver *s)
{
    if (!s || --s->users)
        return;
    jx_solver_free(s->solver);
    free(s);
}

/* ---- reading */

/* Hands over what is in error in a question. */
static jaxvet_status refuse(const jx_fault *f, jaxvet_error *error)
{
    char place[sizeof error->place], message[sizeof error->message];
    bool is_op = !strcmp(f->where, "op");
    jaxvet_status status = is_op ? JAXVET_USAGE : JAXVET_INPUT;

    if (!strcmp(f->where, "constraints"))
        snprintf(place, sizeof place, "constraint %d, column %zu",
                 f->constraint, f->column);
    else
        snprintf(place, sizeof place, "%s, column %zu", f->where, f->column);
    snprintf(message, sizeof message, "expected %s, in: %s", f->expected,
             f->text);
    jx_api_error(error, status, NULL, is_op ? f->where : place, message);
    return status;
}

/* ---- life */

static void empty(space *s)
{
    for (int i = 0; i <= JAXVET_PROVE_FLAGS; i++)
        jx_prover_free(s->asked[i]);
    if (s->ctx)
        jx_ctx_free(s->ctx);
    *s = (space){0};
}

/* Constraints that do not fit make every question unknown. */
static jaxvet_status furnish(jaxvet_prover *p, jaxvet_error *error)
{
    space *s = &p->space;
    jx_dims *dims;

    s->ctx = jx_ctx_new(BUDGET);
    dims = s->ctx ? jx_dims_new(s->ctx) : NULL;
    if (!dims)
        return jx_api_starved(error);
    jx_question_begin(&s->given, s->ctx, dims, p->base);
    for (int i = 0; i < p->nconstraints; i++)
        if (!jx_question_assume(&s->given, p->texts[i]))
            return jx_ok(s->ctx) ? refuse(&s->given.fault, error)
                                 : jx_api_hand_over(s->ctx, error);
    return JAXVET_OK;
}

static bool keep_texts(jaxvet_prover *p, const char *const *texts, int count)
{
    p->texts = calloc((size_t)count + 1, sizeof *p->texts);
    for (int i = 0; p->texts && i < count; i++) {
        size_t size = strlen(texts[i]) + 1;
        p->texts[i] = malloc(size);
        if (!p->texts[i])
            return false;
        memcpy(p->texts[i], texts[i], size);
        p->nconstraints = i + 1;
    }
    return p->texts != NULL;
}

jaxvet_prover *jaxvet_prover_new(const char *const *constraints, int count,
                                 int64_t base, jaxvet_prover *with,
                                 jaxvet_error *error)
{
    jaxvet_prover *p;

    if (count < 0 || count > JX_QUESTION_CONSTRAINTS) {
        jx_api_error(error, JAXVET_USAGE, NULL, NULL,
                     "expected at most 4096 constraints");
        return NULL;
    }
    if (count && !jx_api_given(constraints, "constraints", error))
        return NULL;
    for (int i = 0; i < count; i++)
        if (!jx_api_given(constraints[i], "a constraint", error))
            return NULL;
    p = calloc(1, sizeof *p);
    if (p) {
        p->base = base;
        p->shared = share(with);
    }
    if (!p || !p->shared || !keep_texts(p, constraints, count))
        jx_api_starved(error);
    else if (furnish(p, error) == JAXVET_OK)
        return p;
    jaxvet_prover_free(p);
    return NULL;
}

void jaxvet_prover_free(jaxvet_prover *prover)
{
    if (!prover)
        return;
    empty(&prover->space);
    let_go(prover->shared);
    for (int i = 0; i < prover->nconstraints; i++)
        free(prover->texts[i]);
    free(prover->texts);
    jx_buffer_free(&prover->answer);
    free(prover);
}

/* ---- questions */

/* The prover of a complete question: the one that is kept, unless it has more
 * constraints than those that were given. */
static jx_prover *prover_for(jaxvet_prover *p, jx_question *q, int flags)
{
    jx_prover **kept = &p->space.asked[flags];
    const jx_prover_options options = {
        .base = p->base,
        .base_is_set = true,
        .suggest = flags & JAXVET_PROVE_SUGGEST,
        .no_solver = flags & JAXVET_PROVE_NO_SOLVER,
        .solver = p->shared->solver,
    };

    if (q->constraints.count > (size_t)q->given)
        return jx_question_prover(q, &options);
    if (!*kept)
        *kept = jx_question_prover(q, &options);
    return *kept;
}

static jx_answer ask(jaxvet_prover *p, jx_question *q, int flags,
                     jx_buffer *why)
{
    jx_prover *asked = jx_question_complete(q) ? prover_for(p, q, flags) : NULL;
    jx_answer a =
        asked ? jx_question_ask(q, asked) : jx_question_unfit_answer(q, why);

    if (asked && asked != p->space.asked[flags])
        jx_prover_free(asked);
    return a;
}

static jaxvet_verdict verdict_of(jx_truth truth)
{
    switch (truth) {
    case JX_UNKNOWN: break;
    case JX_TRUE: return JAXVET_TRUE;
    case JX_FALSE: return JAXVET_FALSE;
    case JX_DEPENDS: return JAXVET_DEPENDS;
    case JX_CONTRADICTION: return JAXVET_CONTRADICTION;
    }
    return JAXVET_UNKNOWN;
}

/* The question's limits hold from now on, beside what was answered before. */
static void limit(jaxvet_prover *p)
{
    jx_budget *budget = &p->space.ctx->budget;
    size_t used = atomic_load(&budget->used);

    budget->limits = p->limits;
    budget->limits.bytes = p->limits.bytes && p->limits.bytes < BUDGET
                               ? used + p->limits.bytes
                               : BUDGET;
    jx_budget_restart(budget);
}

/* Room for one more question; what the last one said stays. */
static jaxvet_status make_room(jaxvet_prover *p, jaxvet_error *error)
{
    jaxvet_status status = JAXVET_OK;

    if (!p->space.ctx ||
        jx_budget_spent(&p->space.ctx->budget) != JX_SPENT_NOTHING ||
        jx_arena_used(p->space.ctx->arena) >= RENEW_ABOVE) {
        empty(&p->space);
        status = furnish(p, error);
    }
    if (status == JAXVET_OK)
        limit(p);
    return status;
}

jaxvet_status jaxvet_prover_limits(jaxvet_prover *prover,
                                   const jaxvet_limits *limits,
                                   jaxvet_error *error)
{
    return jx_api_given(prover, "a prover", error) &&
                   jx_api_limits(limits, &prover->limits, error)
               ? JAXVET_OK
               : JAXVET_USAGE;
}

/* `texts`: of the question's constraints. */
static jaxvet_status say(jaxvet_prover *prover, const jx_answer *found,
                         const char *const *texts, jaxvet_verdict *verdict,
                         const char **answer, jaxvet_error *error)
{
    jx_buffer_clear(&prover->answer);
    jx_answer_json(found, NULL, texts, NULL, &prover->answer);
    if (!jx_buffer_ok(&prover->answer)) {
        jx_buffer_free(&prover->answer);
        return jx_api_starved(error);
    }
    *verdict = verdict_of(found->truth);
    *answer = jx_buffer_text(&prover->answer);
    return JAXVET_OK;
}

/* Whatever was found rests on nothing, and what was kept is not whole. */
static jaxvet_status give_up(jaxvet_prover *prover, jaxvet_verdict *verdict,
                             const char **answer, jaxvet_error *error)
{
    jaxvet_error why = {.message = "gave up"};
    jx_answer found = {.why = why.message};
    jaxvet_status status;

    if (prover->space.ctx)
        jx_api_hand_over(prover->space.ctx, &why);
    status = say(prover, &found, NULL, verdict, answer, error);
    empty(&prover->space);
    return status;
}

jaxvet_status jaxvet_prove(jaxvet_prover *prover, const char *lhs,
                           const char *op, const char *rhs, int flags,
                           jaxvet_verdict *verdict, const char **answer,
                           jaxvet_error *error)
{
    jaxvet_status status;
    jx_buffer why = {0};
    jx_question q;
    jx_answer a;

    if (!jx_api_given(prover, "a prover", error) ||
        !jx_api_given(lhs, "a left side", error) ||
        !jx_api_given(op, "a comparison", error) ||
        !jx_api_given(rhs, "a right side", error) ||
        !jx_api_given(verdict, "where to put the verdict", error) ||
        !jx_api_given(answer, "where to put the answer", error))
        return JAXVET_USAGE;
    *verdict = JAXVET_UNKNOWN;
    *answer = NULL;
    if ((status = make_room(prover, error)) != JAXVET_OK)
        return status == JAXVET_LIMIT ? give_up(prover, verdict, answer, error)
                                      : status;
    q = prover->space.given;
    if (!jx_question_relate(&q, op) || !jx_question_side(&q, "lhs", lhs) ||
        !jx_question_side(&q, "rhs", rhs))
        return jx_ok(prover->space.ctx)
                   ? refuse(&q.fault, error)
                   : give_up(prover, verdict, answer, error);
    a = ask(prover, &q, flags & JAXVET_PROVE_FLAGS, &why);
    status = jx_ok(prover->space.ctx)
                 ? say(prover, &a, q.texts.at, verdict, answer, error)
                 : give_up(prover, verdict, answer, error);
    jx_buffer_free(&why);
    return status;
}
