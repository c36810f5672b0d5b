/* question.c - see question.h. */
#include "prover/question.h"

#include "frontend/base/expression.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DIVISORS = 64 };

void jx_question_begin(jx_question *q, jx_ctx *ctx, jx_dims *dims, int64_t base)
{
    *q = (jx_question){.ctx = ctx, .dims = dims, .base = base};
}

/* -------------------------------------------------------------------------
 * Faults
 * ---------------------------------------------------------------------- */

bool jx_question_is_wrong(const jx_question *q)
{
    return q->fault.where && !q->fault.too_large;
}

bool jx_question_refuse(jx_question *q, const jx_fault *fault)
{
    if (!q->fault.where || (q->fault.too_large && !fault->too_large))
        q->fault = *fault;
    return false;
}

void jx_question_unfit(jx_question *q, const char *where, const char *expected)
{
    jx_question_refuse(
        q,
        &(jx_fault){.where = where, .expected = expected, .too_large = true});
}

static bool no_room(jx_question *q, const char *where)
{
    jx_question_unfit(q, where, "a smaller expression");
    return true;
}

/* What `reading` stopped at; true where that only does not fit. */
static bool stopped(jx_question *q, const char *where, const char *text,
                    const jx_dim_reading *reading)
{
    jx_question_refuse(q, &(jx_fault){.where = where,
                                      .constraint = (int)q->constraints.count,
                                      .text = text,
                                      .column = reading->end + 1,
                                      .expected = reading->expected,
                                      .too_large = reading->too_large});
    return reading->too_large;
}

/* -------------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------- */

bool jx_question_assume(jx_question *q, const char *text)
{
    jx_dim_reading reading = {.divisors = &q->divisors};
    jx_constraint c = {0};

    if (q->constraints.count == JX_QUESTION_CONSTRAINTS)
        return jx_question_refuse(
            q, &(jx_fault){.where = "constraints",
                           .expected = "at most 4096 constraints"});
    if (!text)
        return no_room(q, "constraints");
    if (!jx_constraint_read(q->dims, text, strlen(text), &reading, &c) &&
        !stopped(q, "constraints", text, &reading))
        return false;
    JX_PUSH(q->ctx->arena, &q->constraints, c);
    JX_PUSH(q->ctx->arena, &q->texts, text);
    return q->constraints.count == q->texts.count && jx_ok(q->ctx)
               ? true
               : no_room(q, "constraints");
}

bool jx_question_relate(jx_question *q, const char *op)
{
    return jx_relation_named(op, &q->asked.relation) ||
           jx_question_refuse(
               q, &(jx_fault){.where = "op",
                              .text = op,
                              .column = 1,
                              .expected = "one of == != >= <= > <"});
}

bool jx_question_side(jx_question *q, const char *side, const char *text)
{
    const jx_dim **to = !strcmp(side, "lhs") ? &q->asked.lhs : &q->asked.rhs;
    jx_dim_reading reading = {.divisors = &q->divisors};
    size_t length = text ? strlen(text) : 0, whole;

    if (!text)
        return no_room(q, side);
    *to = jx_dim_read(q->dims, text, length, &reading);
    if (*to && reading.end == length)
        return true;
    /* Behind what is too large there may be an error. */
    whole = *to ? reading.end : jx_expression_length(text, length);
    if (*to || (reading.too_large && whole != length)) {
        reading.too_large = false;
        reading.end = whole;
        reading.expected = "an operator or the end";
    }
    return stopped(q, side, text, &reading);
}

bool jx_question_compare(jx_question *q, const char *text)
{
    jx_dim_reading reading = {.divisors = &q->divisors};

    return jx_constraint_read(q->dims, text, strlen(text), &reading,
                              &q->asked) ||
           stopped(q, "question", text, &reading);
}

/* -------------------------------------------------------------------------
 * Divisors
 * ---------------------------------------------------------------------- */

static bool divides_in(const jx_dim *in, const jx_dim *d)
{
    for (int i = 0; in && i < jx_dim_nterms(in); i++)
        for (int j = 0; j < jx_dim_terms(in)[i].nfactors; j++) {
            const jx_dim_atom *a = jx_dim_terms(in)[i].factors[j].atom;

            if (a->kind == JX_ATOM_VAR)
                continue;
            if (((a->kind == JX_ATOM_FLOORDIV || a->kind == JX_ATOM_MOD) &&
                 a->b == d) ||
                divides_in(a->a, d) || divides_in(a->b, d))
                return true;
        }
    return false;
}

/* Whether nothing has to be said of it: it is never 0, or it divides in what is
 * asked of the prover, which sees to it. */
static bool is_seen(const jx_question *q, const jx_dim *d)
{
    jx_dim_range r = jx_dim_bounds(d, q->base);

    if ((r.has_low && r.low > 0) || (r.has_high && r.high < 0) ||
        divides_in(q->asked.lhs, d) || divides_in(q->asked.rhs, d))
        return true;
    for (int i = 0; i < q->given; i++)
        if (divides_in(q->constraints.at[i].lhs, d) ||
            divides_in(q->constraints.at[i].rhs, d))
            return true;
    return false;
}

static void keep_divisor(jx_question *q, const jx_dim *d)
{
    const jx_constraint differs = {d, JX_REL_NE, jx_dim_int(q->dims, 0)};
    jx_buffer text = {0};

    jx_constraint_print(&differs, &text);
    JX_PUSH(q->ctx->arena, &q->texts, jx_arena_take(q->ctx->arena, &text));
    JX_PUSH(q->ctx->arena, &q->constraints, differs);
}

bool jx_question_complete(jx_question *q)
{
    q->given = (int)q->constraints.count;
    for (size_t i = 0; i < q->divisors.count && !q->fault.where; i++) {
        if (is_seen(q, q->divisors.at[i]))
            continue;
        if (q->constraints.count == (size_t)q->given + MAX_DIVISORS)
            jx_question_unfit(q, "question",
                              "at most 64 divisors that may be 0");
        else
            keep_divisor(q, q->divisors.at[i]);
    }
    if (!q->fault.where && !jx_ok(q->ctx))
        no_room(q, "question");
    return !q->fault.where;
}

/* -------------------------------------------------------------------------
 * Asking
 * ---------------------------------------------------------------------- */

jx_answer jx_question_unfit_answer(const jx_question *q, jx_buffer *why)
{
    jx_buffer_clear(why);
    jx_buffer_printf(why, "too large (%s", q->fault.where);
    if (q->fault.column)
        jx_buffer_printf(why, ", column %zu", q->fault.column);
    jx_buffer_printf(why, ": expected %s)", q->fault.expected);
    return (jx_answer){.why = jx_buffer_text(why)};
}

jx_prover *jx_question_prover(jx_question *q, const jx_prover_options *options)
{
    jx_prover *p = jx_prover_new(q->ctx, q->dims, q->constraints.at,
                                 (int)q->constraints.count, options);

    if (p && jx_ok(q->ctx))
        return p;
    jx_prover_free(p);
    no_room(q, "question");
    return NULL;
}

jx_answer jx_question_ask(const jx_question *q, jx_prover *prover)
{
    jx_answer a =
        jx_prove_compare(prover, q->asked.lhs, q->asked.relation, q->asked.rhs);

    /* What was lost on the way, nobody knows. */
    return jx_ok(q->ctx) ? a : (jx_answer){.why = "too large (out of memory)"};
}
