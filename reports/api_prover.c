/* api_prover.c - the provers of jaxvet.h: questions about sizes, in process. */
#include "frontend/base/buffer.h"
#include "prover/prover.h"
#include "prover/solver.h"
#include "reports/answer.h"
#include "reports/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUDGET = 512 << 20,
    RENEW_ABOVE = 64 << 20, /* bytes of answers, then the space is made anew */
    MAX_CONSTRAINTS = 4096,
};

/* The helper process, used by every prover that shares it. */
typedef struct shared_solver {
    jx_solver *solver;
    int users;
} shared_solver;

/* What questions leave behind: dims and answers, kept until there are many. */
typedef struct space {
    jx_ctx *ctx;
    jx_dims *dims;
    jx_constraint *constraints;
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

static jaxvet_status refuse(jaxvet_error *error, const char *where,
                            const char *text, size_t at, const char *expected)
{
    char place[sizeof error->place], message[sizeof error->message];

    snprintf(place, sizeof place, "%s, column %zu", where, at + 1);
    snprintf(message, sizeof message, "expected %s, in: %s", expected, text);
    jx_api_error(error, JAXVET_INPUT, NULL, place, message);
    return JAXVET_INPUT;
}

static jaxvet_status read_dim(space *s, const char *where, const char *text,
                              const jx_dim **to, jaxvet_error *error)
{
    const char *expected;
    size_t at;

    *to = jx_dim_parse(s->dims, text, strlen(text), 0, &at, &expected);
    if (*to)
        return JAXVET_OK;
    return jx_ok(s->ctx) ? refuse(error, where, text, at, expected)
                         : jx_api_hand_over(s->ctx, error);
}

static jaxvet_status read_relation(const char *text, jx_relation *to,
                                   jaxvet_error *error)
{
    if (jx_relation_named(text, to))
        return JAXVET_OK;
    jx_api_error(error, JAXVET_USAGE, NULL, "op",
                 "expected one of == != >= <= > <");
    return JAXVET_USAGE;
}

static jaxvet_status read_constraint(jaxvet_prover *p, int i,
                                     jaxvet_error *error)
{
    const char *text = p->texts[i], *expected;
    char where[64];
    size_t at;

    if (jx_constraint_parse(p->space.dims, text, strlen(text), 0,
                            &p->space.constraints[i], &at, &expected))
        return JAXVET_OK;
    if (!jx_ok(p->space.ctx))
        return jx_api_hand_over(p->space.ctx, error);
    snprintf(where, sizeof where, "constraint %d", i);
    return refuse(error, where, text, at, expected);
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

static jaxvet_status furnish(jaxvet_prover *p, jaxvet_error *error)
{
    space *s = &p->space;

    s->ctx = jx_ctx_new(BUDGET);
    s->dims = s->ctx ? jx_dims_new(s->ctx) : NULL;
    if (s->dims)
        s->constraints =
            JX_NEW_ARRAY(s->ctx->arena, p->nconstraints, jx_constraint);
    if (!s->constraints)
        return jx_api_starved(error);
    for (int i = 0; i < p->nconstraints; i++) {
        jaxvet_status status = read_constraint(p, i, error);
        if (status != JAXVET_OK)
            return status;
    }
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

    if (count < 0 || count > MAX_CONSTRAINTS) {
        jx_api_error(error, JAXVET_USAGE, NULL, NULL,
                     "expected at most 4096 constraints");
        return NULL;
    }
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

static jx_prover *prover_for(jaxvet_prover *p, int flags)
{
    jx_prover **kept = &p->space.asked[flags];
    const jx_prover_options options = {
        .base = p->base,
        .base_is_set = true,
        .suggest = flags & JAXVET_PROVE_SUGGEST,
        .no_solver = flags & JAXVET_PROVE_NO_SOLVER,
        .solver = p->shared->solver,
    };

    if (!*kept)
        *kept = jx_prover_new(p->space.ctx, p->space.dims,
                              p->space.constraints, p->nconstraints, &options);
    return *kept;
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

    if (!p->space.ctx || jx_arena_used(p->space.ctx->arena) >= RENEW_ABOVE) {
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
    return jx_api_limits(limits, &prover->limits, error) ? JAXVET_OK
                                                         : JAXVET_USAGE;
}

static jaxvet_status say(jaxvet_prover *prover, const jx_answer *found,
                         jaxvet_verdict *verdict, const char **answer,
                         jaxvet_error *error)
{
    jx_buffer_clear(&prover->answer);
    jx_answer_json(found, NULL, (const char *const *)prover->texts, NULL,
                   &prover->answer);
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
    status = say(prover, &found, verdict, answer, error);
    empty(&prover->space);
    return status;
}

jaxvet_status jaxvet_prove(jaxvet_prover *prover, const char *lhs,
                           const char *op, const char *rhs, int flags,
                           jaxvet_verdict *verdict, const char **answer,
                           jaxvet_error *error)
{
    const jx_dim *a, *b;
    jaxvet_status status;
    jx_relation relation;
    jx_prover *asked;
    jx_answer found;

    *verdict = JAXVET_UNKNOWN;
    *answer = NULL;
    if ((status = make_room(prover, error)) != JAXVET_OK ||
        (status = read_relation(op, &relation, error)) != JAXVET_OK ||
        (status = read_dim(&prover->space, "lhs", lhs, &a, error)) !=
            JAXVET_OK ||
        (status = read_dim(&prover->space, "rhs", rhs, &b, error)) !=
            JAXVET_OK)
        return status == JAXVET_LIMIT
                   ? give_up(prover, verdict, answer, error)
                   : status;
    asked = prover_for(prover, flags & JAXVET_PROVE_FLAGS);
    if (!asked)
        return jx_api_starved(error);
    found = jx_prove_compare(asked, a, relation, b);
    if (!jx_ok(prover->space.ctx))
        return give_up(prover, verdict, answer, error);
    return say(prover, &found, verdict, answer, error);
}
