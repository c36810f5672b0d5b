/* test_typing.c - the cases of tests/typing/cases.txt and rules.txt: what each
 * type rule gives, and what it says of programs that are wrong. */
#include "analyzer/cost.h"
#include "analyzer/lint/lint.h"
#include "analyzer/transform/same.h"
#include "analyzer/type_rules.h"
#include "frontend/read/document.h"
#include "frontend/write/stablehlo.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 64 };

/* A document in the making, from lines of the file. */
typedef struct maker {
    jx_buffer avals, prims, jaxprs;
    int navals, nprims, njaxprs;
    char names[MOST][32]; /* of the jaxprs defined so far */
    int nnames;
    bool other; /* change the dtype of the first result */
} maker;

typedef struct tally {
    int clean[JX_NPRIMS], wrong[JX_NPRIMS];
    int cases, failures;
} tally;

static const char *blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

static bool starts(const char *at, const char *word)
{
    return strncmp(at, word, strlen(word)) == 0;
}

/* `f32[n + 1,3]*` to JSON; a star says that it is weakly typed. */
static const char *read_type(maker *m, const char *at)
{
    int depth = 0;

    jx_buffer_puts(&m->avals, m->navals++ ? ",{\"dt\":\"" : "{\"dt\":\"");
    if (m->other)
        jx_buffer_puts(&m->avals, starts(at, "i16[") ? "i8" : "i16");
    for (; *at != '['; at++)
        if (!m->other)
            jx_buffer_putc(&m->avals, *at);
    m->other = false;
    jx_buffer_puts(&m->avals, "\"");
    if (at[1] != ']')
        jx_buffer_puts(&m->avals, ",\"sh\":[");
    for (const char *from = ++at; *at != ']' || from < at; from = at) {
        for (depth = 0; depth || (*at != ',' && *at != ']'); at++)
            depth += (*at == '(') - (*at == ')');
        const char *quote = isdigit((unsigned char)*from) &&
                                    (int)strspn(from, "0123456789") == at - from
                                ? ""
                                : "\"";
        jx_buffer_printf(&m->avals, "%s%.*s%s%s", quote, (int)(at - from), from,
                         quote, *at == ',' ? "," : "]");
        if (*at == ']')
            break;
        at++;
    }
    at++;
    if (*at == '*')
        jx_buffer_puts(&m->avals, ",\"weak\":true");
    jx_buffer_puts(&m->avals, "}");
    return blanks(*at == '*' ? at + 1 : at);
}

/* Types up to something else; their indices go to `list`. */
static const char *read_types(maker *m, const char *at, jx_buffer *list,
                              int *count)
{
    *count = 0;
    while (isalpha((unsigned char)*at)) {
        jx_buffer_printf(list, "%s%d", (*count)++ ? "," : "", m->navals);
        at = read_type(m, at);
    }
    return at;
}

static const char *read_numbers(const char *at, jx_buffer *list)
{
    int count = 0;

    while (isdigit((unsigned char)*at)) {
        char *end;
        jx_buffer_printf(list, "%s%ld", count++ ? "," : "",
                         strtol(at, &end, 10));
        at = blanks(end);
    }
    return at;
}

/* Parameters as JSON, where "$name" is a jaxpr defined before. */
static const char *read_params(maker *m, const char *at, jx_buffer *to)
{
    int depth = 0;

    if (*at != '{') {
        jx_buffer_puts(to, "{}");
        return at;
    }
    do {
        depth += (*at == '{') - (*at == '}');
        bool named = false;
        for (int i = 0; starts(at, "\"$") && i < m->nnames && !named; i++) {
            size_t length = strlen(m->names[i]);
            named = starts(at + 2, m->names[i]) && at[2 + length] == '"';
            if (named) {
                jx_buffer_printf(to, "{\"$jaxpr\":%d}", i);
                at += length + 3;
            }
        }
        if (!named)
            jx_buffer_putc(to, *at++);
    } while (depth);
    return blanks(at);
}

/* `prim {params} operands -> types`; operands are types (the case's inputs, in
 * order) or numbers of variables. */
typedef struct equation {
    jx_buffer params, ins, outs;
    int nins, nouts;
} equation;

static const char *read_equation(maker *m, const char *at, equation *e)
{
    const char *end = at + strcspn(at, " ");

    jx_buffer_printf(&m->prims, "%s\"%.*s\"", m->nprims++ ? "," : "",
                     (int)(end - at), at);
    at = read_params(m, blanks(end), &e->params);
    at = read_numbers(at, &e->ins);
    if (!starts(at, "->"))
        at = read_types(m, at, &e->ins, &e->nins);
    assert_true(starts(at, "->"));
    return blanks(at + 2);
}

static void free_equation(equation *e)
{
    jx_buffer_free(&e->params);
    jx_buffer_free(&e->ins);
    jx_buffer_free(&e->outs);
}

/* def NAME types : equation ; equation => outputs */
static void define(maker *m, const char *at)
{
    jx_buffer ins = {0}, eqns = {0}, outs = {0};
    const char *end = at + strcspn(at, " ");
    int count;

    assert_true(m->nnames < MOST && end - at < 32);
    memcpy(m->names[m->nnames++], at, (size_t)(end - at));
    at = read_types(m, blanks(end), &ins, &count);
    assert_int_equal(*at, ':');
    at = blanks(at + 1);
    while (!starts(at, "=>")) {
        equation e = {0};
        at = read_equation(m, at, &e);
        at = read_types(m, at, &e.outs, &e.nouts);
        jx_buffer_printf(&eqns, "%s[%d,[%s],[%s],%s,-1,-1,-1]",
                         eqns.length ? "," : "", m->nprims - 1,
                         jx_buffer_text(&e.ins), jx_buffer_text(&e.outs),
                         jx_buffer_text(&e.params));
        free_equation(&e);
        at = *at == ';' ? blanks(at + 1) : at;
    }
    read_numbers(blanks(at + 2), &outs);
    jx_buffer_printf(&m->jaxprs, "%s{\"in\":[%s],\"eqns\":[%s],\"out\":[%s]}",
                     m->njaxprs++ ? "," : "", jx_buffer_text(&ins),
                     jx_buffer_text(&eqns), jx_buffer_text(&outs));
    jx_buffer_free(&ins);
    jx_buffer_free(&eqns);
    jx_buffer_free(&outs);
}

static const char within[] = "within ";

/* What a case begins with that stands in the body of a shard_map. */
static const char *behind_within(const char *line)
{
    return starts(line, within) ? line + sizeof within - 1 : line;
}

/* A shard_map over the whole mesh of the jaxpr before, which gives nothing. */
static void put_shard_map(const maker *m, const equation *e, const char *vars,
                          jx_buffer *doc)
{
    jx_buffer_printf(
        doc,
        ",{\"in\":[%s],\"eqns\":[[%d,[%s],[],{\"check_vma\":false,\"in_specs\":[",
        jx_buffer_text(&e->ins), m->nprims, vars);
    for (int i = 0; i < e->nins; i++)
        jx_buffer_printf(doc, "%s{\"$spec\":[]}", i ? "," : "");
    jx_buffer_printf(
        doc,
        "],\"jaxpr\":{\"$jaxpr\":%d,\"open\":true},\"mesh\":{\"$mesh\":0},\"newly_manual_axes\":{\"$set\":[\"x\",\"y\"]},\"out_specs\":[]},-1,-1,-1]],\"out\":[]}",
        m->njaxprs);
}

/* The program of one case; gives what follows its types. */
static const char *make(maker *m, const char *at, bool other, jx_buffer *doc)
{
    equation e = {0};
    jx_buffer vars = {0}, outs = {0};
    bool is_within = starts(at, within);

    at = read_equation(m, behind_within(at), &e);
    m->other = other;
    at = read_types(m, at, &e.outs, &e.nouts);
    for (int i = 0; i < e.nins; i++)
        jx_buffer_printf(&vars, "%s%d", i ? "," : "", i);
    for (int i = 0; i < e.nouts; i++)
        jx_buffer_printf(&outs, "%s%d", i ? "," : "", e.nins + i);
    jx_buffer_printf(
        doc,
        "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{\"jaxvet\":\"0\",\"jax\":\"0\",\"python\":\"0\",\"x64\":true},\"entry\":{\"jaxpr\":%d},\"meshes\":[{\"axes\":[[\"x\",4],[\"y\",2]],\"types\":[\"Auto\",\"Auto\"],\"abstract\":true}],\"avals\":[%s],\"prims\":[%s%s],\"jaxprs\":[%s%s{\"in\":[%s],\"eqns\":[[%d,[%s],[%s],%s,-1,-1,-1]],\"out\":[%s]}",
        m->njaxprs + is_within, jx_buffer_text(&m->avals),
        jx_buffer_text(&m->prims), is_within ? ",\"shard_map\"" : "",
        jx_buffer_text(&m->jaxprs), m->njaxprs ? "," : "",
        jx_buffer_text(&e.ins), m->nprims - 1, jx_buffer_text(&vars),
        jx_buffer_text(&e.outs), jx_buffer_text(&e.params),
        is_within ? "" : jx_buffer_text(&outs));
    if (is_within)
        put_shard_map(m, &e, jx_buffer_text(&vars), doc);
    jx_buffer_puts(doc, "]}\n");
    free_equation(&e);
    jx_buffer_free(&vars);
    jx_buffer_free(&outs);
    return at;
}

static bool has_text(const char *want, size_t length, const char *have)
{
    char *text = strndup(want, length);
    bool found = have && strstr(have, text);

    free(text);
    return found;
}

/* `CODE`, or `CODE?` for what is left to the prover. */
static bool is_code(const char *code, const jx_claim *claim)
{
    return starts(code, jx_code_of(claim->code)->id) &&
           claim->verdict == (code[6] == '?' ? JX_UNDECIDED : JX_REFUTED);
}

static bool complain(const char *line, const char *what, const char *more)
{
    print_error("%.200s\n    %s: %s\n", line, what, more ? more : "");
    return false;
}

/* The expectations of a line, in order: `#! CODE text`, or `#! unreadable
 * text`. */
static bool expect(const char *line, const char *at, const jx_ctx *ctx,
                   const jx_analysis *to)
{
    size_t next = 0;

    while ((at = strstr(at, "#! "))) {
        const char *code = at + 3, *text = blanks(code + strcspn(code, " "));
        size_t length = strcspn(text, "#\n");
        while (length && text[length - 1] == ' ')
            length--;
        at = text;
        if (starts(code, "unreadable"))
            return (!to && has_text(text, length, ctx->error.message)) ||
                   complain(line, "is not refused so", ctx->error.message);
        if (!to || next >= to->claims.count)
            return complain(line, "not said", to ? code : ctx->error.message);
        const jx_claim *claim = to->claims.at[next++];
        if (!is_code(code, claim) || !has_text(text, length, claim->what))
            return complain(line, "says", claim->what);
    }
    if (!to)
        return complain(line, "is unreadable", ctx->error.message);
    if (next < to->claims.count)
        return complain(line, "also says", to->claims.at[next]->what);
    return true;
}

static maker copy_of(const maker *m)
{
    maker copy = *m;
    const jx_buffer *from[] = {&m->avals, &m->prims, &m->jaxprs};
    jx_buffer *to[] = {&copy.avals, &copy.prims, &copy.jaxprs};

    for (int i = 0; i < 3; i++) {
        *to[i] = (jx_buffer){0};
        jx_buffer_puts(to[i], jx_buffer_text(from[i]));
    }
    return copy;
}

static void free_maker(maker *m)
{
    jx_buffer_free(&m->avals);
    jx_buffer_free(&m->prims);
    jx_buffer_free(&m->jaxprs);
}

static jx_analysis *type(jx_ctx *ctx, const jx_buffer *doc)
{
    jx_program *program =
        jx_read_document(ctx, "-", jx_buffer_text(doc), doc->length);
    jx_analysis *to = program ? jx_analysis_new(program) : NULL;

    if (to)
        assert_true(jx_type_program(to));
    return to;
}

static jx_prim_id prim_of(const char *line)
{
    line = behind_within(line);
    char *name = strndup(line, strcspn(line, " "));
    jx_ctx *ctx = jx_ctx_new(0);
    jx_prim_id id = jx_prim_named(ctx, name)->id;

    free(name);
    jx_ctx_free(ctx);
    return id;
}

static void run_case(const maker *defined, const char *line, tally *seen)
{
    maker m = copy_of(defined);
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer doc = {0};
    const char *rest = make(&m, line, false, &doc);

    seen->cases++;
    seen->failures += !expect(line, rest, ctx, type(ctx, &doc));
    if (strstr(rest, "#! "))
        seen->wrong[prim_of(line)]++;
    else
        seen->clean[prim_of(line)]++;
    jx_buffer_free(&doc);
    jx_ctx_free(ctx);
    free_maker(&m);
}

/* A line of expectations, then a document. */
static void run_document(const char *want, const char *text, tally *seen)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer doc = {0};

    jx_buffer_puts(&doc, text);
    seen->cases++;
    seen->failures += !expect(text, want, ctx, type(ctx, &doc));
    jx_buffer_free(&doc);
    jx_ctx_free(ctx);
}

static void rules_are_held_against_their_functions(void **state)
{
    FILE *file = fopen("tests/typing/rules.txt", "r");
    char *want = NULL, *line = NULL;
    size_t capacity[2] = {0, 0};
    tally seen = {.cases = 0};

    (void)state;
    assert_non_null(file);
    while (getline(&want, &capacity[0], file) > 0) {
        if (starts(want, "# "))
            continue;
        assert_true(getline(&line, &capacity[1], file) > 0);
        run_document(want, line, &seen);
    }
    free(want);
    free(line);
    fclose(file);
    assert_int_equal(seen.failures, 0);
    assert_true(seen.cases > 10);
}

/* Whatever is right is wrong with another dtype declared. */
static void run_declared_otherwise(const maker *defined, const char *line,
                                   tally *seen)
{
    maker m = copy_of(defined);
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer doc = {0};
    const char *rest = make(&m, line, true, &doc);

    if (!m.other && !strstr(rest, "#! ") && !starts(line, "call_exported"))
        seen->failures +=
            !expect(line, "#! SHP011 result 0: inferred", ctx, type(ctx, &doc));
    jx_buffer_free(&doc);
    jx_ctx_free(ctx);
    free_maker(&m);
}

static void each_line(void (*run)(const maker *, const char *, tally *),
                      tally *seen)
{
    FILE *file = fopen("tests/typing/cases.txt", "r");
    char *line = NULL;
    size_t capacity = 0;
    maker m = {0};

    assert_non_null(file);
    while (getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (starts(line, "def "))
            define(&m, blanks(line + 4));
        else if (*line && *line != '#')
            run(&m, line, seen);
    }
    free(line);
    fclose(file);
    free_maker(&m);
}

static void each_case_gets_the_claims_that_it_names(void **state)
{
    tally seen = {.cases = 0};

    (void)state;
    each_line(run_case, &seen);
    for (int i = 1; i < JX_NPRIMS; i++) {
        /* Those become others before typing: tests/prims has them. */
        if (jx_type_rule_of((jx_prim_id)i) == jx_type_stateful)
            continue;
        if (!seen.clean[i] || (!seen.wrong[i] && i != JX_PRIM_call_exported)) {
            seen.failures++;
            complain(jx_prim_of((jx_prim_id)i)->name, "has no case that is",
                     seen.clean[i] ? "wrong" : "right");
        }
    }
    assert_int_equal(seen.failures, 0);
    assert_true(seen.cases > 500);
}

static void another_declared_dtype_is_always_noticed(void **state)
{
    tally seen = {.cases = 0};

    (void)state;
    each_line(run_declared_otherwise, &seen);
    assert_int_equal(seen.failures, 0);
}

/* Whoever indexes shapes by parameters looks at a program that may be wrong. */
static void look_inside(jx_analysis *of)
{
    const jx_typed *typed = &of->typed;
    jx_ctx *ctx = typed->program->ctx;
    jx_mlir_types *types = jx_mlir_types_new(ctx);
    jx_difference found;
    jx_cost cost;

    assert_true(jx_cost_of(typed, &cost));
    assert_non_null(jx_flatten_all(typed));
    assert_true(jx_same_programs(typed, typed, &found) || found.large);
    assert_true(jx_lint(of, NULL));
    if (!jx_write_stablehlo(typed, types)) {
        assert_false(jx_ok(ctx));
        jx_error_clear(ctx);
    }
}

/* The case with `number` in the place of the integer of its parameters that
 * begins at `at`. */
static void run_with(const maker *defined, const char *line, const char *at,
                     const char *number, tally *seen)
{
    maker m = copy_of(defined);
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer text = {0}, doc = {0};
    jx_analysis *to;

    jx_buffer_printf(&text, "%.*s%s%s", (int)(at - line), line, number,
                     at + strspn(at, "-0123456789"));
    make(&m, jx_buffer_text(&text), false, &doc);
    to = type(ctx, &doc);
    if (to)
        look_inside(to);
    seen->cases += to != NULL;
    jx_buffer_free(&text);
    jx_buffer_free(&doc);
    jx_ctx_free(ctx);
    free_maker(&m);
}

/* Numbers outside of names and texts of the parameters. */
static void run_with_others(const maker *defined, const char *line, tally *seen)
{
    static const char *const numbers[] = {"-99999999", "-1", "0", "1",
                                          "2",         "3",  "7", "99999999"};
    bool quoted = false;
    int depth = 0;

    for (const char *at = line; *at; at++) {
        depth += !quoted && *at == '{';
        depth -= !quoted && *at == '}';
        quoted ^= depth && *at == '"';
        if (*at == '}' && !depth)
            return;
        if (!depth || quoted || !strchr("-0123456789", *at))
            continue;
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            run_with(defined, line, at, numbers[i], seen);
        at += strspn(at, "-0123456789") - 1;
    }
}

static void nobody_leaves_a_shape_by_a_parameter(void **state)
{
    tally seen = {.cases = 0};

    (void)state;
    each_line(run_with_others, &seen);
    print_message("%d programs looked into\n", seen.cases);
    assert_true(seen.cases > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_gets_the_claims_that_it_names),
        cmocka_unit_test(rules_are_held_against_their_functions),
        cmocka_unit_test(another_declared_dtype_is_always_noticed),
        cmocka_unit_test(nobody_leaves_a_shape_by_a_parameter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
