/* cmd_prove.c - `jaxvet prove`: questions about dims, one or many. */
#include "frontend/base/file.h"
#include "frontend/base/json.h"
#include "prover/question.h"
#include "prover/solver.h"
#include "reports/commands/certificates.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/formats/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a question may take where nobody says how much. */
enum { QUESTION_BUDGET = 1 << 29 };

typedef struct settings {
    jx_texts where;
    int64_t base;
    bool smt2, strict, no_solver, explain;
    const char *format, *output, *certificate, *check, *against;
    jx_limit_settings limits;
    jx_limits allowed; /* what they say */
    jx_budget *paper;  /* pays for answers; limited like all of it */
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
    {"explain", 0, JX_OPT_FLAG, NULL, "add the steps a person would write down",
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
    JX_LIMIT_OPTIONS(settings),
};

/* One question and where it comes from. */
typedef struct task {
    const settings *settings;
    jx_solver *solver;
    jx_ctx *ctx;
    jx_question question;
    const char *id;   /* as JSON; NULL for a question on the command line */
    const char *text; /* of the comparison, as given */
} task;

/* -------------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------- */

/* An error of the line, not of a text in it. */
static bool refuse(task *t, const char *where, const char *expected)
{
    return jx_question_refuse(
        &t->question, &(jx_fault){.where = where, .expected = expected});
}

/* What one question may take: the file and the answers before it have taken
 * theirs, and something is left to say that it gave up. */
static jx_limits share(const settings *s)
{
    size_t left = jx_budget_left(s->paper), bytes = left - left / 8;

    if (!s->limits.memory && bytes > QUESTION_BUDGET)
        bytes = QUESTION_BUDGET;
    return (jx_limits){.bytes = bytes ? bytes : 1,
                       .seconds = s->allowed.seconds};
}

static bool start(task *t, const settings *s, jx_solver *solver)
{
    jx_dims *dims;

    *t = (task){.settings = s, .solver = solver};
    t->ctx = jx_ctx_limited(share(s));
    if (t->ctx)
        jx_ctx_stage(t->ctx, "reading");
    dims = t->ctx ? jx_dims_new(t->ctx) : NULL;
    if (dims)
        jx_question_begin(&t->question, t->ctx, dims, s->base);
    return dims != NULL;
}

static const char *text_member(task *t, const jx_json *object, const char *key)
{
    const jx_json *value;
    size_t length;

    if (!jx_json_get(object, key, &value) ||
        jx_json_kind_of(value) != JX_JSON_TEXT) {
        refuse(t, key, "a text (the question needs lhs, op, rhs)");
        return NULL;
    }
    return jx_json_text(value, &length);
}

static bool read_id(task *t, const jx_json *object)
{
    jx_buffer to = jx_ctx_text(t->ctx);
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
    default: ok = refuse(t, "id", "a text or a number");
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
        if (!jx_question_assume(&t->question, t->settings->where.at[i]))
            return false;
    if (!jx_json_get(object, "constraints", &list))
        return true;
    if (jx_json_kind_of(list) != JX_JSON_ARRAY)
        return refuse(t, "constraints", "an array of texts");
    for (size_t i = 0; i < jx_json_count(list); i++) {
        item = jx_json_item(list, i);
        if (jx_json_kind_of(item) != JX_JSON_TEXT)
            return refuse(t, "constraints", "an array of texts");
        const char *text = jx_json_text(item, &length);
        if (!jx_question_assume(&t->question,
                                jx_arena_string(t->ctx->arena, text, length)))
            return false;
    }
    return true;
}

/* A least value beyond 64 bits is no error, but none that we work with. */
static bool read_base(task *t, const jx_json *base)
{
    if (jx_json_kind_of(base) == JX_JSON_WIDE) {
        jx_question_unfit(&t->question, "base", "a number of 64 bits");
        return true;
    }
    if (jx_json_kind_of(base) != JX_JSON_INT)
        return refuse(t, "base", "an integer");
    t->question.base = jx_json_int(base);
    return true;
}

static bool read_object(task *t, const jx_json *object)
{
    const jx_json *base;
    const char *lhs, *op, *rhs;

    if (jx_json_kind_of(object) != JX_JSON_OBJECT) {
        t->id = "null";
        return refuse(t, "line", "an object {\"lhs\":…,\"op\":…,\"rhs\":…}");
    }
    if (!read_id(t, object) || !read_constraints(t, object))
        return false;
    if (jx_json_get(object, "base", &base) && !read_base(t, base))
        return false;
    lhs = text_member(t, object, "lhs");
    op = lhs ? text_member(t, object, "op") : NULL;
    rhs = op ? text_member(t, object, "rhs") : NULL;
    if (rhs)
        t->text = jx_arena_printf(t->ctx->arena, "%s %s %s", lhs, op, rhs);
    return rhs && jx_question_relate(&t->question, op) &&
           jx_question_side(&t->question, "lhs", jx_intern_text(t->ctx, lhs)) &&
           jx_question_side(&t->question, "rhs", jx_intern_text(t->ctx, rhs));
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

    jx_constraint_print(&t->question.asked, to);
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
                         t->question.texts.at[a->core[i]]);
    for (int i = 0; i < a->nsuggestions; i++) {
        jx_buffer_puts(to, "  true with: ");
        jx_constraint_print(&a->suggestions[i], to);
        jx_buffer_putc(to, '\n');
    }
    for (int i = 0; i < a->ntogether; i++) {
        jx_buffer_puts(to, i ? "        and " : "  true with: ");
        jx_constraint_print(&a->together[i], to);
        jx_buffer_putc(to, '\n');
    }
}

static void error_as_json(const task *t, jx_buffer *to)
{
    const jx_fault *f = &t->question.fault;
    jx_buffer why = {.budget = to->budget};

    jx_buffer_printf(to, "{\"id\":%s,\"verdict\":\"error\"",
                     t->id ? t->id : "null");
    if (f->column)
        jx_buffer_printf(to, ",\"column\":%zu", f->column);
    jx_buffer_puts(to, ",\"expected\":");
    jx_json_put_text(to, f->expected);
    jx_buffer_puts(to, ",\"why\":");
    jx_buffer_puts(&why, f->where);
    if (f->column)
        jx_buffer_printf(&why, ", column %zu", f->column);
    jx_buffer_printf(&why, ": expected %s", f->expected);
    if (f->text)
        jx_buffer_printf(&why, ", in: %s", f->text);
    jx_json_put_text(to, jx_buffer_text(&why));
    jx_buffer_free(&why);
    jx_buffer_puts(to, "}\n");
}

static void error_as_text(const task *t)
{
    const jx_fault *f = &t->question.fault;

    if (f->column)
        jx_command_say("jaxvet: %s: column %zu: expected %s", f->where,
                       f->column, f->expected);
    else
        jx_command_say("jaxvet: %s: expected %s", f->where, f->expected);
    if (f->text && f->column)
        jx_command_point(f->text, f->column);
}

/* What can't be asked: an error, or too large and so as
 * undecided as anything. */
static int answer_fault(const task *t, bool json, jx_buffer *to)
{
    jx_buffer why = {.budget = to->budget};
    jx_answer a;

    if (jx_question_is_wrong(&t->question) || t->settings->smt2) {
        if (json)
            error_as_json(t, to);
        else
            error_as_text(t);
        return JX_EXIT_INPUT;
    }
    a = jx_question_unfit_answer(&t->question, &why);
    if (json)
        jx_answer_json(&a, t->id, NULL, NULL, to);
    else
        jx_buffer_printf(to, "%s: unknown, no answer\n  why: %s\n", t->text,
                         a.why);
    jx_buffer_free(&why);
    return t->settings->strict ? JX_EXIT_UNDECIDED : JX_EXIT_OK;
}

static void answer_smt2(const task *t, jx_prover *p, jx_buffer *to)
{
    const jx_constraint *c = &t->question.asked;

    if (to->length)
        jx_buffer_puts(to, "(reset)\n"); /* one script, many queries */
    jx_prove_smt2(p, c->lhs, c->relation, c->rhs, true, to);
}

static int answer(const task *t, jx_prover *p, bool json, jx_buffer *to)
{
    const settings *s = t->settings;
    jx_answer a = jx_question_ask(&t->question, p);
    const char *const *texts = t->question.texts.at;
    const jx_certifying given = {
        t->ctx, t->id, t->question.base, t->question.given, texts, t->text, &a};
    jx_digests digests;

    if (s->certificates)
        jx_digest(&given, &digests);
    if (json)
        jx_answer_json(&a, t->id, texts, s->certificates ? &digests : NULL, to);
    else
        answer_as_text(t, &a, to);
    if (s->explain)
        jx_explanation_add(&given, json, to);
    if (s->certificates)
        jx_certificates_add(s->certificates, &given);
    return a.truth == JX_UNKNOWN && s->strict ? JX_EXIT_UNDECIDED : JX_EXIT_OK;
}

/* Answers one task, or says why it can't be read. */
static int settle(task *t, bool json, jx_buffer *to)
{
    const jx_prover_options o = {.base = t->question.base,
                                 .base_is_set = true,
                                 .suggest = true,
                                 .no_solver = t->settings->no_solver,
                                 .solver = t->solver};
    jx_prover *p = jx_question_complete(&t->question)
                       ? jx_question_prover(&t->question, &o)
                       : NULL;
    int code = JX_EXIT_OK;

    if (!p)
        return answer_fault(t, json, to);
    jx_ctx_stage(t->ctx, "proving");
    if (t->settings->smt2)
        answer_smt2(t, p, to);
    else
        code = answer(t, p, json, to);
    jx_prover_free(p);
    return code;
}

/* Where the system has no memory, nothing is said but that. */
static int answer_starved(const char *id, bool json, jx_buffer *to)
{
    const jx_answer a = {.why = JX_STARVED};

    if (!json)
        return jx_command_starved();
    jx_answer_json(&a, id, NULL, NULL, to);
    return JX_EXIT_INPUT;
}

/* A question that is beyond its share is unknown; the others are not. */
static int answer_spent(const task *t, bool json, jx_buffer *to)
{
    jx_answer a = {.why = t->ctx->gave_up};

    if (jx_ok(t->ctx)) /* puts the words there */
        return JX_EXIT_INTERNAL;
    if (t->settings->smt2)
        return jx_command_failed(t->ctx);
    if (json)
        jx_answer_json(&a, t->id ? t->id : "null", NULL, NULL, to);
    else
        jx_buffer_printf(to, "%s: unknown, no answer\n  why: %s\n",
                         t->text ? t->text : "question", a.why);
    return t->settings->strict ? JX_EXIT_UNDECIDED : JX_EXIT_OK;
}

/* Answers one task, or says why it can't be read. */
static int settle_or_give_up(task *t, bool json, jx_buffer *to)
{
    jx_certificates *certificates = t->settings->certificates;
    jx_certificates before = {0};
    size_t mark = to->length, certified = 0;
    jx_spent spent;
    int code;

    if (certificates) {
        before = *certificates;
        certified = certificates->lines.length;
    }
    code = settle(t, json, to);
    spent = jx_budget_spent(&t->ctx->budget);
    if (spent == JX_SPENT_NOTHING)
        return code;
    jx_buffer_cut(to, mark);
    if (certificates) {
        jx_buffer_cut(&certificates->lines, certified);
        certificates->written = before.written;
        certificates->none = before.none;
    }
    return spent == JX_SPENT_SYSTEM ? answer_starved(t->id, json, to)
                                    : answer_spent(t, json, to);
}

/* It gave up before anything was read. */
static int not_started(task *t, bool json, jx_buffer *to)
{
    jx_spent spent =
        t->ctx ? jx_budget_spent(&t->ctx->budget) : JX_SPENT_SYSTEM;
    int code = spent == JX_SPENT_NOTHING || spent == JX_SPENT_SYSTEM
                   ? answer_starved(NULL, json, to)
                   : answer_spent(t, json, to);

    jx_ctx_free(t->ctx);
    return code;
}

/* -------------------------------------------------------------------------
 * One question, or many
 * ---------------------------------------------------------------------- */

static int one(const settings *s, jx_solver *solver, const char *text,
               jx_buffer *to)
{
    bool json = s->format && !strcmp(s->format, "json");
    task t;
    int code;

    if (!start(&t, s, solver))
        return not_started(&t, json, to);
    for (int i = 0; i < s->where.count; i++)
        if (!jx_question_assume(&t.question, s->where.at[i]))
            break;
    jx_question_compare(&t.question, text);
    t.text = text;
    code = settle_or_give_up(&t, json, to);
    jx_ctx_free(t.ctx);
    return code;
}

static int one_line(const settings *s, jx_solver *solver, const char *line,
                    size_t length, jx_buffer *to)
{
    bool json = !s->format || !strcmp(s->format, "json");
    jx_json *object = NULL;
    jx_json_fault fault;
    task t;
    int code;

    if (!start(&t, s, solver))
        return not_started(&t, json, to);
    object = jx_json_parse(t.ctx, line, length, true, &fault);
    if (object) {
        read_object(&t, object);
    } else {
        t.id = "null";
        jx_question_refuse(&t.question,
                           &(jx_fault){.where = "line",
                                       .column = fault.at + 1,
                                       .expected = fault.expected
                                                       ? fault.expected
                                                       : "less to read"});
    }
    code = settle_or_give_up(&t, json, to);
    if (object)
        jx_json_free(object);
    jx_ctx_free(t.ctx);
    return code;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

static int many(const settings *s, jx_solver *solver, const char *path,
                jx_buffer *to)
{
    int code = JX_EXIT_OK;
    jx_ctx *ctx = jx_ctx_limited(s->allowed);
    const char *text, *line, *end;
    size_t size;

    text = jx_command_read(ctx, path, s->paper, &size);
    if (!text) {
        code = jx_command_failed(ctx);
        jx_ctx_free(ctx);
        return code;
    }
    for (line = text;
         line < text + size && jx_budget_spent(s->paper) == JX_SPENT_NOTHING;
         line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end)
            end = text + size;
        if (!is_blank(line, (size_t)(end - line)))
            code = jx_exit_worse(
                code, one_line(s, solver, line, (size_t)(end - line), to));
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
    jx_budget paper;
    jx_certificates certificates = {.lines = {.budget = &paper}};
    jx_solver *solver;
    jx_buffer to = {.budget = &paper};

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n > (s.check ? 0 : 1))
        return jx_command_usage(&jx_command_prove,
                                "expected one question (in quotes) or file");
    if (s.against && !s.check)
        return jx_command_usage(&jx_command_prove,
                                "--against goes with --check");
    if (!jx_command_limits(&jx_command_prove, &s.limits, &s.allowed))
        return JX_EXIT_USAGE;
    solver = jx_solver_new(NULL);
    if (!solver)
        return jx_command_starved();
    jx_budget_init(&paper, (jx_limits){.bytes = s.allowed.bytes}, NULL);
    s.paper = &paper;
    if (s.certificate)
        s.certificates = &certificates;
    if (s.check)
        code =
            jx_certificates_check(s.check, s.against, s.strict, s.allowed, &to);
    else if (is_file(what))
        code = many(&s, solver, what, &to);
    else
        code = one(&s, solver, what, &to);
    jx_solver_free(solver);
    if (s.certificate)
        code = jx_exit_worse(
            code, jx_certificates_write(&certificates, s.certificate));
    if (to.length || jx_budget_spent(&paper) != JX_SPENT_NOTHING)
        code = jx_exit_worse(code, jx_command_write(s.output, &to));
    jx_buffer_free(&to);
    return code;
}

const jx_command jx_command_prove = {
    "prove",
    "[FILE|QUESTION]",
    "answer questions about symbolic sizes",
    "A question compares two sizes: does it hold for every assignment of its\n"
    "variables that the constraints allow?\n"
    "\n"
    "  $ jaxvet prove 'a*b >= 2*a' --where 'b >= 2'\n"
    "  $ jaxvet prove 'mod(n, 4) == 0'\n"
    "  $ jaxvet prove questions.jsonl > answers.jsonl\n"
    "\n"
    "Sizes are written as JAX prints them (2*b + 1, floordiv(n, 4), mod, max,\n"
    "min, n^2) or as in Python: parentheses, //, % and ** with its precedence;\n"
    "comparisons are == != >= <= > <.  Division rounds down; assignments "
    "where a divisor is 0 don't count.\n"
    "\n"
    "The answer is true or false (for every admissible assignment), depends\n"
    "(with one assignment for each, and constraints that would make it true),\n"
    "contradiction (with the constraints that clash) or unknown (with why).\n"
    "\n"
    "A file (- is standard input) has one question per line:\n"
    "  {\"id\":1,\"constraints\":[\"b >= 2\"],\"lhs\":\"a*b\",\"op\":\">=\","
    "\"rhs\":\"a\"}\n"
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
    "Memory and time are limits of the file and of each question: one that takes\n"
    "more (without --memory: more than 512MiB) is unknown, and the others stay.\n"
    "\n"
    "Z3 runs in a process of its own, jaxvet-solver, found beside jaxvet or named\n"
    "by the environment variable JAXVET_SOLVER.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
