/* cmd_prove.c - `jaxvet prove`: questions about dims, one or many. */
#include "frontend/base/expression.h"
#include "frontend/base/file.h"
#include "frontend/base/json.h"
#include "prover/prover.h"
#include "prover/solver.h"
#include "reports/answer.h"
#include "reports/certificates.h"
#include "reports/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { QUESTION_BUDGET = 1 << 29, MAX_CONSTRAINTS = 256, MAX_DIVISORS = 64 };

typedef struct settings {
    jx_texts where;
    int64_t base;
    bool smt2, strict, no_solver, explain;
    const char *format, *output, *certificate, *check, *against;
    jx_certificates *certificates; /* where they are gathered, or NULL */
} settings;

static const jx_option options[] = {
    {"where", 0, JX_OPT_LIST, "CONSTRAINT",
     "what may be assumed: 'a >= 2', 'mod(b, 8) == 0'",
     offsetof(settings, where)},
    {"base", 0, JX_OPT_INT, "N",
     "the least value of every variable (default 1, as in JAX)",
     offsetof(settings, base)},
    {"format", 0, JX_OPT_CHOICE, "text|json",
     "how to answer (default: text for one question, json for many)",
     offsetof(settings, format)},
    {"smt2", 0, JX_OPT_FLAG, NULL,
     "print the solver's query as SMT-LIB 2 instead of an answer",
     offsetof(settings, smt2)},
    {"no-solver", 0, JX_OPT_FLAG, NULL, "answer without Z3",
     offsetof(settings, no_solver)},
    {"strict", 0, JX_OPT_FLAG, NULL, "an unknown answer gives exit code 5",
     offsetof(settings, strict)},
    {"explain", 0, JX_OPT_FLAG, NULL,
     "add the steps a person would write down",
     offsetof(settings, explain)},
    {"certificate", 0, JX_OPT_TEXT, "FILE",
     "write a certificate of each proof (JSON Lines)",
     offsetof(settings, certificate)},
    {"check", 0, JX_OPT_TEXT, "FILE", "check the certificates in a file",
     offsetof(settings, check)},
    {"against", 0, JX_OPT_TEXT, "FILE",
     "with --check: that they are certificates of these answers",
     offsetof(settings, against)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write to a file",
     offsetof(settings, output)},
};

/* One question and what became of it. */
typedef struct task {
    const settings *settings;
    jx_solver *solver;
    jx_ctx *ctx;
    jx_dims *dims;
    jx_constraint constraints[MAX_CONSTRAINTS + MAX_DIVISORS];
    const char *texts[MAX_CONSTRAINTS + MAX_DIVISORS]; /* as given */
    int nconstraints;
    int ngiven; /* of them; behind these it says that divisors are not 0 */
    jx_dim_divisors divisors;
    int64_t base;
    const char *id; /* as JSON; NULL for a question on the command line */
    jx_constraint question;
    const char *question_text; /* as given */
    /* The first error: where it is, which text, which column (from 1). */
    const char *bad, *bad_text, *expected;
    size_t column;
    bool too_large; /* no error, but nothing we could calculate with */
} task;

/* -------------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------- */

static bool refuse(task *t, const char *where, const char *text,
                   size_t column, const char *expected)
{
    if (!t->bad || t->too_large) {
        t->too_large = false;
        t->bad = where;
        t->bad_text = text;
        t->column = column;
        t->expected = expected;
    }
    return false;
}

/* What does not fit is remembered, and reading goes on: an error behind it is
 * one.  False where this is an error itself. */
static bool does_not_fit(task *t, const char *where, const char *text,
                         const jx_dim_reading *reading)
{
    if (!reading->too_large || !t->bad)
        refuse(t, where, text, reading->end + 1, reading->expected);
    t->too_large |= reading->too_large;
    return reading->too_large;
}

/* The question has used up its memory. */
static bool no_room(task *t, const char *where)
{
    const jx_dim_reading spent = {.expected = "a smaller expression",
                                  .too_large = true};

    return does_not_fit(t, where, "", &spent);
}

static bool add_constraint(task *t, const char *text)
{
    jx_constraint *c = &t->constraints[t->nconstraints];
    jx_dim_reading reading = {.divisors = &t->divisors};

    if (t->nconstraints == MAX_CONSTRAINTS)
        return refuse(t, "constraints", NULL, 0, "at most 256 constraints");
    if (!text)
        return no_room(t, "constraints");
    if (!jx_constraint_read(t->dims, text, strlen(text), &reading, c) &&
        !does_not_fit(t, "constraints", text, &reading))
        return false;
    t->texts[t->nconstraints++] = text;
    return true;
}

static bool read_dim(task *t, const char *where, const char *text,
                     const jx_dim **to)
{
    jx_dim_reading reading = {.divisors = &t->divisors};
    size_t length = text ? strlen(text) : 0;

    if (!text)
        return no_room(t, where);
    *to = jx_dim_read(t->dims, text, length, &reading);
    if (*to && reading.end == length)
        return true;
    if (*to || (reading.too_large && jx_expression_length(text, length) != length)) {
        reading.too_large = false;
        reading.end = jx_expression_length(text, length);
        reading.expected = "an operator or the end";
    }
    return does_not_fit(t, where, text, &reading);
}

static bool start(task *t, const settings *s, jx_solver *solver)
{
    *t = (task){.settings = s, .solver = solver, .base = s->base};
    t->ctx = jx_ctx_new(QUESTION_BUDGET);
    t->dims = t->ctx ? jx_dims_new(t->ctx) : NULL;
    return t->dims != NULL;
}

static bool read_relation(task *t, const char *text)
{
    return jx_relation_named(text, &t->question.relation) ||
           refuse(t, "op", text, 1, "one of == != >= <= > <");
}

static const char *text_member(task *t, const jx_json *object,
                               const char *key)
{
    const jx_json *value;
    size_t length;

    if (!jx_json_get(object, key, &value) ||
        jx_json_kind_of(value) != JX_JSON_TEXT) {
        refuse(t, key, NULL, 0, "a text (the question needs lhs, op, rhs)");
        return NULL;
    }
    return jx_json_text(value, &length);
}

static bool read_id(task *t, const jx_json *object)
{
    jx_buffer to = {0};
    const jx_json *id;
    size_t length;
    bool ok = true;

    t->id = "null";
    if (!jx_json_get(object, "id", &id))
        return true;
    switch (jx_json_kind_of(id)) {
    case JX_JSON_TEXT: {
        const char *text = jx_json_text(id, &length);
        jx_json_put_bytes(&to, text, length);
        break;
    }
    case JX_JSON_INT: jx_json_put_int(&to, jx_json_int(id)); break;
    case JX_JSON_WIDE: jx_buffer_puts(&to, jx_json_wide(id)); break;
    case JX_JSON_REAL: jx_json_put_real(&to, jx_json_real(id)); break;
    case JX_JSON_NULL: jx_buffer_puts(&to, "null"); break;
    default: ok = refuse(t, "id", NULL, 0, "a text or a number");
    }
    if (ok)
        t->id = jx_arena_take(t->ctx->arena, &to);
    jx_buffer_free(&to);
    return ok && t->id;
}

static bool read_constraints(task *t, const jx_json *object)
{
    const jx_json *list, *item;
    size_t length;

    for (int i = 0; i < t->settings->where.count; i++)
        if (!add_constraint(t, t->settings->where.at[i]))
            return false;
    if (!jx_json_get(object, "constraints", &list))
        return true;
    if (jx_json_kind_of(list) != JX_JSON_ARRAY)
        return refuse(t, "constraints", NULL, 0, "an array of texts");
    for (size_t i = 0; i < jx_json_count(list); i++) {
        item = jx_json_item(list, i);
        if (jx_json_kind_of(item) != JX_JSON_TEXT)
            return refuse(t, "constraints", NULL, 0, "an array of texts");
        const char *text = jx_json_text(item, &length);
        if (!add_constraint(t, jx_arena_string(t->ctx->arena, text, length)))
            return false;
    }
    return true;
}

/* A least value beyond 64 bits is no error, but none that we work with. */
static bool read_base(task *t, const jx_json *base)
{
    if (jx_json_kind_of(base) == JX_JSON_WIDE) {
        refuse(t, "base", NULL, 0, "a number of 64 bits");
        return t->too_large = true;
    }
    if (jx_json_kind_of(base) != JX_JSON_INT)
        return refuse(t, "base", NULL, 0, "an integer");
    t->base = jx_json_int(base);
    return true;
}

static bool read_object(task *t, const jx_json *object)
{
    const jx_json *base;
    const char *lhs, *op, *rhs;

    if (jx_json_kind_of(object) != JX_JSON_OBJECT) {
        t->id = "null";
        return refuse(t, "line", NULL, 0,
                      "an object {\"lhs\":…,\"op\":…,\"rhs\":…}");
    }
    if (!read_id(t, object) || !read_constraints(t, object))
        return false;
    if (jx_json_get(object, "base", &base) && !read_base(t, base))
        return false;
    lhs = text_member(t, object, "lhs");
    op = lhs ? text_member(t, object, "op") : NULL;
    rhs = op ? text_member(t, object, "rhs") : NULL;
    if (rhs)
        t->question_text =
            jx_arena_printf(t->ctx->arena, "%s %s %s", lhs, op, rhs);
    return rhs && read_relation(t, op) &&
           read_dim(t, "lhs", jx_intern_text(t->ctx, lhs),
                    &t->question.lhs) &&
           read_dim(t, "rhs", jx_intern_text(t->ctx, rhs),
                    &t->question.rhs);
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
static bool is_seen(const task *t, const jx_dim *d)
{
    jx_dim_range r = jx_dim_bounds(d, t->base);

    if ((r.has_low && r.low > 0) || (r.has_high && r.high < 0) ||
        divides_in(t->question.lhs, d) || divides_in(t->question.rhs, d))
        return true;
    for (int i = 0; i < t->ngiven; i++)
        if (divides_in(t->constraints[i].lhs, d) ||
            divides_in(t->constraints[i].rhs, d))
            return true;
    return false;
}

/* A normal form may have lost a divisor, as that of 0*(n//d) has: assignments
 * where it is 0 don't count all the same. */
static void keep_divisors(task *t)
{
    const jx_dim *zero = jx_dim_int(t->dims, 0);

    t->ngiven = t->nconstraints;
    for (size_t i = 0; i < t->divisors.count && !t->bad; i++) {
        const jx_dim *d = t->divisors.at[i];
        jx_constraint differs = {d, JX_REL_NE, zero};
        jx_buffer text = {0};

        if (is_seen(t, d))
            continue;
        if (t->nconstraints == t->ngiven + MAX_DIVISORS) {
            refuse(t, "question", NULL, 0, "at most 64 divisors that may be 0");
            t->too_large = true;
            return;
        }
        jx_constraint_print(&differs, &text);
        t->texts[t->nconstraints] = jx_arena_take(t->ctx->arena, &text);
        t->constraints[t->nconstraints++] = differs;
        jx_buffer_free(&text);
    }
}

/* -------------------------------------------------------------------------
 * Answers
 * ---------------------------------------------------------------------- */

static void say_assignment(jx_buffer *to, const char *what,
                           const jx_assignment *a)
{
    jx_buffer_printf(to, "  %s", what);
    for (int i = 0; i < a->count; i++) {
        jx_buffer_printf(to, "%s%s = ", i ? ", " : "", a->at[i].var->name);
        jx_int_print(a->at[i].value, to);
    }
    jx_buffer_puts(to, a->count ? "\n" : "(no variables)\n");
}

static void answer_as_text(const task *t, const jx_answer *a, jx_buffer *to)
{
    static const char *const meaning[] = {
        [JX_UNKNOWN] = "no answer",
        [JX_TRUE] = "for every assignment that the constraints allow",
        [JX_FALSE] = "for no assignment that the constraints allow",
        [JX_DEPENDS] = "for some assignments, not for others",
        [JX_CONTRADICTION] = "the constraints allow no assignment",
    };

    jx_constraint_print(&t->question, to);
    jx_buffer_printf(to, ": %s, %s", jx_truth_text(a->truth),
                     meaning[a->truth]);
    if (a->by)
        jx_buffer_printf(to, " (by %s)", a->solver ? a->solver : a->by);
    jx_buffer_putc(to, '\n');
    if (a->why)
        jx_buffer_printf(to, "  why: %s\n", a->why);
    if (a->has_true && a->truth == JX_DEPENDS)
        say_assignment(to, "holds at: ", &a->when_true);
    if (a->has_false && a->truth != JX_TRUE)
        say_assignment(to, "fails at: ", &a->when_false);
    for (int i = 0; i < a->ncore; i++)
        jx_buffer_printf(to, "  %s %s\n",
                         i                    ? "    and"
                         : a->core_is_minimal ? "needs: "
                                              : "core:  ",
                         t->texts[a->core[i]]);
    for (int i = 0; i < a->nsuggestions; i++) {
        jx_buffer_puts(to, "  true with: ");
        jx_constraint_print(&a->suggestions[i], to);
        jx_buffer_putc(to, '\n');
    }
}

static void error_as_json(const task *t, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"id\":%s,\"verdict\":\"error\"",
                     t->id ? t->id : "null");
    if (t->column)
        jx_buffer_printf(to, ",\"column\":%zu", t->column);
    jx_buffer_puts(to, ",\"expected\":");
    jx_json_put_text(to, t->expected);
    jx_buffer_puts(to, ",\"why\":");
    jx_buffer why = {0};
    jx_buffer_puts(&why, t->bad);
    if (t->column)
        jx_buffer_printf(&why, ", column %zu", t->column);
    jx_buffer_printf(&why, ": expected %s", t->expected);
    if (t->bad_text)
        jx_buffer_printf(&why, ", in: %s", t->bad_text);
    jx_json_put_text(to, jx_buffer_text(&why));
    jx_buffer_free(&why);
    jx_buffer_puts(to, "}\n");
}

static void error_as_text(const task *t)
{
    if (t->column)
        jx_command_say("jaxvet: %s: column %zu: expected %s", t->bad, t->column,
                       t->expected);
    else
        jx_command_say("jaxvet: %s: expected %s", t->bad, t->expected);
    if (t->bad_text && t->column)
        jx_command_point(t->bad_text, t->column);
}

/* What could be read but not calculated with is as undecided as anything. */
static jx_answer unfit(const task *t, jx_buffer *why)
{
    char column[40] = "";

    if (t->column)
        snprintf(column, sizeof column, ", column %zu", t->column);
    jx_buffer_clear(why);
    jx_buffer_printf(why, "too large (%s%s: expected %s)", t->bad, column,
                     t->expected);
    return (jx_answer){.why = jx_buffer_text(why)};
}

static int answer_unfit(task *t, bool json, jx_buffer *to)
{
    jx_buffer why = {0};
    jx_answer a = unfit(t, &why);

    if (json)
        jx_answer_json(&a, t->id, t->texts, NULL, to);
    else
        jx_buffer_printf(to, "%s: unknown, no answer\n  why: %s\n",
                         t->question_text, a.why);
    jx_buffer_free(&why);
    return t->settings->strict ? JX_EXIT_UNDECIDED : JX_EXIT_OK;
}

/* Answers one task, or says why it can't be read. */
static int settle(task *t, bool json, jx_buffer *to)
{
    jx_prover_options o = {.base = t->base,
                           .base_is_set = true,
                           .suggest = true,
                           .no_solver = t->settings->no_solver,
                           .solver = t->solver};
    jx_digests digests;
    jx_certifying given;
    jx_prover *p;
    jx_answer a;

    if (!t->bad)
        keep_divisors(t);
    if (t->too_large && !t->settings->smt2)
        return answer_unfit(t, json, to);
    if (t->bad) {
        if (json)
            error_as_json(t, to);
        else
            error_as_text(t);
        return JX_EXIT_INPUT;
    }
    p = jx_prover_new(t->ctx, t->dims, t->constraints, t->nconstraints, &o);
    if (!p || !jx_ok(t->ctx)) {
        jx_prover_free(p);
        no_room(t, "question");
        return answer_unfit(t, json, to);
    }
    if (t->settings->smt2) {
        if (to->length)
            jx_buffer_puts(to, "(reset)\n"); /* one script, many queries */
        jx_prove_smt2(p, t->question.lhs, t->question.relation,
                      t->question.rhs, true, to);
        jx_prover_free(p);
        return JX_EXIT_OK;
    }
    a = jx_prove_compare(p, t->question.lhs, t->question.relation,
                         t->question.rhs);
    if (!jx_ok(t->ctx)) /* what was lost on the way, nobody knows */
        a = (jx_answer){.why = "too large (out of memory)"};
    given = (jx_certifying){t->id, t->base, t->ngiven, t->texts,
                            t->question_text, &a};
    if (t->settings->certificates)
        jx_digest(&given, &digests);
    if (json)
        jx_answer_json(&a, t->id, t->texts,
                       t->settings->certificates ? &digests : NULL, to);
    else
        answer_as_text(t, &a, to);
    if (t->settings->explain)
        jx_explanation_add(&given, json, to);
    if (t->settings->certificates)
        jx_certificates_add(t->settings->certificates, &given);
    jx_prover_free(p);
    return a.truth == JX_UNKNOWN && t->settings->strict ? JX_EXIT_UNDECIDED
                                                        : JX_EXIT_OK;
}

/* -------------------------------------------------------------------------
 * One question, or many
 * ---------------------------------------------------------------------- */

static int one(const settings *s, jx_solver *solver, const char *text,
               jx_buffer *to)
{
    task t;
    int code;

    if (!start(&t, s, solver))
        return JX_EXIT_INPUT;
    jx_dim_reading reading = {.divisors = &t.divisors};
    for (int i = 0; i < s->where.count && (!t.bad || t.too_large); i++)
        add_constraint(&t, s->where.at[i]);
    if ((!t.bad || t.too_large) &&
        !jx_constraint_read(t.dims, text, strlen(text), &reading, &t.question))
        does_not_fit(&t, "question", text, &reading);
    t.question_text = text;
    code = settle(&t, s->format && !strcmp(s->format, "json"), to);
    jx_ctx_free(t.ctx);
    return code;
}

static int one_line(const settings *s, jx_solver *solver, const char *line,
                    size_t length, jx_buffer *to)
{
    jx_json *object = NULL;
    jx_json_fault fault;
    task t;
    int code;

    if (!start(&t, s, solver))
        return JX_EXIT_INPUT;
    object = jx_json_parse(t.ctx, line, length, true, &fault);
    if (object) {
        read_object(&t, object);
    } else {
        t.id = "null";
        refuse(&t, "line", NULL, fault.at + 1,
               fault.expected ? fault.expected : "less to read");
    }
    code = settle(&t, !s->format || !strcmp(s->format, "json"), to);
    if (object)
        jx_json_free(object);
    jx_ctx_free(t.ctx);
    return code;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", line[i]))
            return false;
    return true;
}

static int many(const settings *s, jx_solver *solver, const char *path,
                jx_buffer *to)
{
    jx_ctx *ctx = jx_ctx_new(0);
    const char *text = NULL, *line, *end;
    int code = JX_EXIT_OK;
    size_t size;

    if (ctx)
        text = jx_file_read(ctx, path, &size);
    if (!text) {
        code = ctx ? jx_command_failed(ctx) : JX_EXIT_INPUT;
        jx_ctx_free(ctx);
        return code;
    }
    for (line = text; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end)
            end = text + size;
        if (!is_blank(line, (size_t)(end - line)))
            code = jx_exit_worse(code, one_line(s, solver, line,
                                                (size_t)(end - line), to));
    }
    jx_ctx_free(ctx);
    return code;
}

/* A file that is there, or what can't be a question. */
static bool is_file(const char *word)
{
    return !strcmp(word, "-") || access(word, F_OK) == 0 ||
           (errno != ENAMETOOLONG && !strpbrk(word, "=<>"));
}

static int run(int argc, char **argv)
{
    settings s = {.base = 1};
    int n = jx_command_options(&jx_command_prove, argc, argv, &s), code;
    const char *what = n == 1 ? argv[0] : "-";
    jx_certificates certificates = {0};
    jx_solver *solver;
    jx_buffer to = {0};

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n > (s.check ? 0 : 1))
        return jx_command_usage(&jx_command_prove,
                                "expected one question (in quotes) or file");
    if (s.against && !s.check)
        return jx_command_usage(&jx_command_prove,
                                "--against goes with --check");
    solver = jx_solver_new(NULL);
    if (!solver)
        return JX_EXIT_INPUT;
    if (s.certificate)
        s.certificates = &certificates;
    if (s.check)
        code = jx_certificates_check(s.check, s.against, s.strict, &to);
    else if (is_file(what))
        code = many(&s, solver, what, &to);
    else
        code = one(&s, solver, what, &to);
    jx_solver_free(solver);
    if (s.certificate)
        code = jx_exit_worse(
            code, jx_certificates_write(&certificates, s.certificate));
    if (to.length)
        code = jx_exit_worse(code, jx_command_write(s.output, &to));
    jx_buffer_free(&to);
    return code;
}

const jx_command jx_command_prove = {
    "prove", "[FILE|QUESTION]", "answer questions about symbolic sizes",
    "A question compares two sizes: does it hold for every assignment of its\n"
    "variables that the constraints allow?\n"
    "\n"
    "  $ jaxvet prove 'a*b >= 2*a' --where 'b >= 2'\n"
    "  $ jaxvet prove 'mod(n, 4) == 0'\n"
    "  $ jaxvet prove questions.jsonl > answers.jsonl\n"
    "\n"
    "Sizes are written as JAX prints them (2*b + 1, floordiv(n, 4), mod, max,\n"
    "min, n^2) or as in Python: parentheses, //, % and ** with its precedence;\n"
    "comparisons are == != >= <= > <.  Division rounds down; assignments where a divisor is 0 don't count.\n"
    "\n"
    "The answer is true or false (for every admissible assignment), depends\n"
    "(with one assignment for each, and constraints that would make it true),\n"
    "contradiction (with the constraints that clash) or unknown (with why).\n"
    "\n"
    "A file (- is standard input) has one question per line:\n"
    "  {\"id\":1,\"constraints\":[\"b >= 2\"],\"lhs\":\"a*b\",\"op\":\">=\",\"rhs\":\"a\"}\n"
    "and gets one line per answer, in the same order.  A line that can't be\n"
    "read gets the verdict \"error\" with column and expectation; the others are\n"
    "answered all the same, and the exit code is 3.\n"
    "\n"
        "With --explain the steps follow that a person would write down: cases, what is\n"
    "put for what, and what can't be; for `depends` both assignments, evaluated.\n"
    "\n"
    "With --certificate FILE each proof is written down, one JSON line per answer;\n"
    "--check FILE replays such lines with a checker of its own and says accepted\n"
    "or rejected (exit code 1) of each, and why (docs/CERTIFICATE.md); with\n"
    "--against ANSWERS also that they are of these answers, printed by the run\n"
    "that wrote them, and how many answers have one.  What Z3 found has none.\n"
    "\n"
    "Z3 runs in a process of its own, jaxvet-solver, found beside jaxvet or named\n"
    "by the environment variable JAXVET_SOLVER.\n",
    options, sizeof options / sizeof *options, run,
};
