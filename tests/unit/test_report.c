/* test_report.c - what is said about programs, and in which form. */
#include "frontend/base/json.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/check.h"
#include "reports/pipeline/record.h"
#include "reports/pipeline/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A program whose only equation compares nothing, with what JAX was asked. */
static const char document[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{\"jaxvet\":\"0."
    "1.0\",\"jax\":\"0.10.2\",\"python\":\"3.11.7\",\"x64\":false},"
    "\"entry\":{\"jaxpr\":0,\"name\":\"f\",\"in_paths\":[\"x\"],"
    "\"out_paths\":[\"\"]},"
    "\"files\":[[\"FILE\",\"KIND\",{\"12\":\"SOURCE\"}]],"
    "\"frames\":[[0,\"f\",12,7,12,22],[0,\"main\",40,4,40,8]],"
    "\"stacks\":[[0,1]],\"scopes\":[{\"stack\":0}],"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[\"DIM\",4]}],\"prims\":[\"sin\"],"
    "\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[0],[0],{\"accuracy\":null},0,-1,"
    "-1]],\"out\":[1]}],"
    "\"comparisons\":[{\"op\":\"==\",\"lhs\":\"DIM\",\"rhs\":\"1\","
    "\"verdict\":false,\"n\":1,\"stack\":0,\"site\":[\"FILE\",\"f\"]}]}\n";

/* The text with each `from` replaced; to be freed. */
static char *replace(const char *text, const char *from, const char *to)
{
    jx_buffer made = {0};
    const char *at;

    while ((at = strstr(text, from))) {
        jx_buffer_bytes(&made, text, (size_t)(at - text));
        jx_buffer_puts(&made, to);
        text = at + strlen(from);
    }
    jx_buffer_puts(&made, text);
    return made.text;
}

typedef struct variant {
    const char *file, *kind, *source, *dim;
} variant;

static const variant plain = {"model.py", "user",
                              "    if x.shape[0] == 1:", "b"};

/* The document of a variant; to be freed. */
static char *variant_of(variant v)
{
    char *a = replace(document, "FILE", v.file);
    char *b = replace(a, "KIND", v.kind);
    char *c = replace(b, "SOURCE", v.source);
    char *d = replace(c, "DIM", v.dim);

    free(a);
    free(b);
    free(c);
    return d;
}

static jx_report check_text(jx_ctx *keep, const char *text, bool deps,
                            jx_suppressions *suppressions)
{
    const jx_check_options options = {.settle = {.no_solver = true}};
    jx_ctx *ctx = jx_ctx_new(0);
    jx_report report =
        jx_check_input(keep, ctx, "model.json", text, strlen(text), &options);

    assert_true(jx_check_finish(keep, &report, deps, suppressions));
    jx_ctx_free(ctx);
    return report;
}

static jx_report check(jx_ctx *keep, variant v)
{
    char *text = variant_of(v);
    jx_report report = check_text(keep, text, false, NULL);

    free(text);
    return report;
}

static void a_wrong_decision_is_found_with_its_sizes(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = check(keep, plain);
    const jx_finding *found = report.findings.at;
    (void)state;

    assert_int_equal(report.unreadable.kind, JX_E_NONE);
    assert_int_equal(report.findings.count, 1);
    assert_int_equal(found->code, JX_CODE_SHP001);
    assert_int_equal(report.claims.refuted, 1);
    assert_string_equal(found->evidence, "counterexample");
    assert_int_equal(found->nsizes, 1);
    assert_string_equal(found->sizes[0].name, "b");
    assert_int_equal(found->sizes[0].value, 1);
    assert_string_equal(found->where.file, "model.py");
    assert_int_equal(found->where.line, 12);
    assert_int_equal(found->where.column, 8);
    assert_int_equal(found->ncalls, 1);
    assert_string_equal(found->calls[0].function, "main");
    assert_string_equal(jx_report_status(&report), "findings");
    jx_ctx_free(keep);
}

/* The fingerprint of the only finding. */
static const char *print_of(jx_ctx *keep, const char *text)
{
    jx_report report = check_text(keep, text, false, NULL);

    assert_int_equal(report.findings.count, 1);
    return report.findings.at[0].fingerprint;
}

static const char *print_of_variant(jx_ctx *keep, variant v)
{
    char *text = variant_of(v);
    const char *print = print_of(keep, text);

    free(text);
    return print;
}

static void fingerprints_outlive_moved_lines_and_renamed_files(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    char *text = variant_of(plain);
    const char *print = print_of(keep, text);
    char *down = replace(text, "12", "112");
    variant moved = plain, indented = plain, changed = plain;
    (void)state;

    moved.file = "src/model.py";
    indented.source = "\\t if x.shape[0]  == 1: ";
    changed.source = "    if x.shape[0] == 1 or flag:";
    assert_int_equal(strlen(print), 64);
    assert_string_equal(print, print_of(keep, down));
    assert_string_equal(print, print_of_variant(keep, moved));
    assert_string_equal(print, print_of_variant(keep, indented));
    assert_string_not_equal(print, print_of_variant(keep, changed));
    free(down);
    free(text);
    jx_ctx_free(keep);
}

static void fingerprints_never_come_from_the_disk(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    char *text = variant_of(plain);
    char *bare = replace(text, ",{\"12\":\"    if x.shape[0] == 1:\"}", "");
    char *here = replace(bare, "model.py", __FILE__);
    jx_sources *sources = jx_sources_new();
    (void)state;

    assert_string_equal(print_of(keep, bare), print_of(keep, here));
    /* ... although the line could be had there. */
    assert_non_null(
        strstr(jx_sources_line(sources, __FILE__, 1), "test_report.c"));
    jx_sources_free(sources);
    free(here);
    free(bare);
    free(text);
    jx_ctx_free(keep);
}

static void lines_from_disk_end_where_the_file_does(void **state)
{
    jx_sources *sources = jx_sources_new();
    (void)state;

    assert_string_equal(jx_sources_line(sources, __FILE__, 2),
                        "#include \"frontend/base/json.h\"");
    assert_null(jx_sources_line(sources, __FILE__, 0));
    assert_null(jx_sources_line(sources, __FILE__, 1000000));
    assert_null(jx_sources_line(sources, "no such file", 1));
    assert_null(jx_sources_line(sources, ".", 1));
    jx_sources_free(sources);
}

static void errors_in_libraries_are_not_hidden_but_of_rules(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    variant library = plain;
    jx_report report;
    (void)state;

    library.kind = "library";
    report = check(keep, library);
    assert_int_equal(report.findings.count, 1);
    assert_int_equal(report.hidden, 0);
    report.findings.at[0].level = JX_WARNING;
    assert_true(jx_check_finish(keep, &report, false, NULL));
    assert_int_equal(report.findings.count, 0);
    assert_int_equal(report.hidden, 1);
    report = check(keep, library);
    report.findings.at[0].code = JX_CODE_DRV001;
    assert_int_equal(report.findings.at[0].level, JX_ERROR);
    assert_true(jx_check_finish(keep, &report, false, NULL));
    assert_int_equal(report.findings.count, 0);
    assert_int_equal(report.hidden, 1);
    jx_ctx_free(keep);
}

/* All that renderers show of a report, and what they do not. */
static char *shown(const jx_report *report)
{
    const jx_report_list list = {1, report, 0, NULL};
    jx_buffer all = {0};

    jx_report_json(&list, NULL, &all);
    jx_report_sarif(&list, &(jx_style){0}, &all);
    jx_report_text(&list, &(jx_style){0}, &all);
    assert_true(jx_buffer_ok(&all));
    return all.text;
}

static void a_record_holds_all_of_a_report(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    const jx_check_options options = {.settle = {.no_solver = true}};
    char *text = variant_of(plain), *before, *after;
    jx_ctx *ctx = jx_ctx_new(0);
    jx_report report = jx_check_input(keep, ctx, "model.json", text,
                                      strlen(text), &options),
              read;
    jx_buffer record = {0};
    (void)state;

    jx_ctx_free(ctx);
    free(text);
    assert_int_equal(report.findings.count, 1);
    report.milliseconds = 1.5;
    report.findings.at[0].witness = "{}";
    report.findings.at[0].note = "a note\nof two lines";
    report.findings.at[0].fix =
        &(jx_fix){"clips", true, 1, &(jx_fixed_line){"model.py", 3, "x", "y"}};
    JX_PUSH(keep->arena, &report.proofs, "finite");
    JX_PUSH(keep->arena, &report.remarks,
            (jx_remark){"model.py", 3, "x  # jaxvet: ignore[SHP]"});
    jx_record_write(&report, &record);
    read = (jx_report){.path = "model.json"};
    assert_true(jx_record_read(keep, record.text, record.length, &read));
    assert_int_equal(read.remarks.count, 1);
    assert_string_equal(read.remarks.at[0].text, "x  # jaxvet: ignore[SHP]");
    assert_string_equal(read.findings.at[0].fix->lines[0].is, "y");
    assert_true(read.milliseconds > 1.4 && read.milliseconds < 1.6);
    assert_int_equal(read.findings.at[0].order, report.findings.at[0].order);
    assert_true(jx_check_finish(keep, &report, false, NULL));
    assert_true(jx_check_finish(keep, &read, false, NULL));
    before = shown(&report);
    after = shown(&read);
    assert_string_equal(before, after);
    free(before);
    free(after);
    jx_buffer_free(&record);
    jx_ctx_free(keep);
}

/* Cut anywhere, or with a byte that is another, a record is refused or another
 * report: nothing is read beyond it, and no number is out of its range. */
static void a_damaged_record_is_no_report(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = check(keep, plain), read = {.path = "model.json"};
    jx_buffer record = {0};
    (void)state;

    jx_record_write(&report, &record);
    for (size_t i = 0; i < record.length; i++) {
        char *cut = malloc(i ? i : 1); /* a sanitizer sees who reads on */
        char was = record.text[i];

        memcpy(cut, record.text, i);
        assert_false(jx_record_read(keep, cut, i, &read));
        free(cut);
        for (int k = 0; k < 2; k++) { /* zeroed, a text is none */
            record.text[i] = k ? 0 : (char)~was;
            if (!jx_record_read(keep, record.text, record.length, &read))
                continue;
            for (size_t n = 0; n < read.findings.count; n++)
                assert_true(strlen(read.findings.at[n].fingerprint) <
                            sizeof read.findings.at[n].fingerprint);
            free(shown(&read));
        }
        record.text[i] = was;
    }
    jx_buffer_free(&record);
    jx_ctx_free(keep);
}

static void a_comment_suppresses_and_is_then_used(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    variant accepted = plain;
    jx_suppressions *in = jx_suppressions_new(keep, NULL, NULL);
    jx_report report;
    char *text;
    (void)state;

    accepted.source = "if b == 1:  # jaxvet: ignore[SHP001] by hand";
    text = variant_of(accepted);
    /* The program's own word alone is nothing. */
    report = check_text(keep, text, false, in);
    assert_int_equal(report.findings.count, 1);
    assert_int_equal(report.suppressed, 0);
    in = jx_suppressions_new(keep, NULL, NULL);
    jx_suppressions_trust_embedded(in);
    report = check_text(keep, text, false, in);
    assert_int_equal(report.findings.count, 0);
    assert_int_equal(report.suppressed, 1);
    assert_int_equal(report.claims.refuted, 1);
    assert_string_equal(jx_report_status(&report), "ok");
    assert_true(jx_suppressions_unused(in, &report, 1));
    assert_int_equal(report.findings.count, 0);
    free(text);
    jx_ctx_free(keep);
}

static void a_comment_that_suppresses_nothing_is_a_finding(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    variant other = plain;
    jx_suppressions *in = jx_suppressions_new(keep, NULL, NULL);
    jx_report report;
    char *text;
    (void)state;

    jx_suppressions_trust_embedded(in);
    other.source = "if b == 1:  # jaxvet: ignore[STG, SHP001, DRV001, XYZ9]";
    text = variant_of(other);
    report = check_text(keep, text, false, in);
    assert_true(jx_suppressions_unused(in, &report, 1));
    /* STG and XYZ9; derivative rules are not what check looks at. */
    assert_int_equal(report.findings.count, 2);
    assert_int_equal(report.findings.at[0].code, JX_CODE_SUP001);
    assert_int_equal(report.findings.at[0].where.column, 13);
    assert_string_equal(report.findings.at[0].message,
                        "nothing here is STG: the comment suppresses nothing");
    assert_string_equal(report.findings.at[1].message,
                        "there is no code XYZ9 for the comment to suppress");
    assert_string_not_equal(report.findings.at[0].fingerprint,
                            report.findings.at[1].fingerprint);
    free(text);
    jx_ctx_free(keep);
}

static void what_is_no_program_is_unreadable(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = check_text(keep, "{\"format\":3}", false, NULL);
    (void)state;

    assert_int_equal(report.unreadable.kind, JX_E_INPUT);
    assert_string_equal(jx_report_status(&report), "unreadable");
    assert_int_equal(report.findings.count, 0);
    jx_ctx_free(keep);
}

static void codes_are_selected_by_beginning_or_name(void **state)
{
    const char *const some[] = {"SHP", "large-constant"};
    const char *const none[] = {"SHP010"};
    const jx_selection selection = {some, 2, none, 1};
    (void)state;

    assert_true(jx_selects(&selection, JX_CODE_SHP001));
    assert_true(jx_selects(&selection, JX_CODE_STG002));
    assert_false(jx_selects(&selection, JX_CODE_STG001));
    assert_false(jx_selects(&selection, JX_CODE_SHP010));
    assert_true(jx_selects(NULL, JX_CODE_STG001));
}

/* Findings made by hand, with all that formats have to escape. */
static jx_report awkward(jx_ctx *keep)
{
    jx_report report = {.path = "models/a b.json"};
    static const jx_size size = {"b", 1};
    jx_finding finding = {
        .code = JX_CODE_SHP010,
        .level = JX_ERROR,
        .verdict = JX_REFUTED,
        .evidence = "counterexample",
        .by = "search",
        .count = 1,
        .message = "100% of `a\\b\"` differ\nhere, there: everywhere",
        .where = {"my models/a,b:50%.py", "f", 3, 2, 3, 5, JX_FILE_USER,
                  "\tx\xc3\xa9y = 1"},
        .equation = "add f32[b] f32[a] -> f32[b]",
        .nsizes = 1,
        .sizes = &size,
        .help = "a 'hint'",
    };
    jx_finding note = {
        .code = JX_CODE_STG001,
        .level = JX_NOTE,
        .verdict = JX_WITNESSED,
        .evidence = "proof",
        .message = "no place",
        .count = 2,
    };
    jx_finding open = {
        .code = JX_CODE_SHP013,
        .level = JX_ERROR,
        .message = "`a` >= `b`",
        .why = "budget",
        .count = 1,
        .where = {.file = "z.py", .line = 9},
    };

    JX_PUSH(keep->arena, &report.findings, note);
    JX_PUSH(keep->arena, &report.findings, finding);
    JX_PUSH(keep->arena, &report.findings, finding);
    JX_PUSH(keep->arena, &report.undecided, open);
    JX_PUSH(keep->arena, &report.assumptions, "p is \"right\"");
    report.claims = (jx_counts){7, 2, 2, 1};
    assert_true(jx_report_finish(keep, &report));
    return report;
}

static void identical_findings_are_said_once(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = awkward(keep);
    (void)state;

    assert_int_equal(report.findings.count, 2);
    assert_int_equal(report.findings.at[0].code, JX_CODE_SHP010);
    assert_int_equal(report.findings.at[0].count, 2);
    assert_int_equal(report.findings.at[1].count, 2);
    jx_ctx_free(keep);
}

static void text_shows_the_line_under_its_place(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = awkward(keep);
    const jx_report_list list = {1, &report, 3, NULL};
    const jx_style bare = {false, NULL}, coloured = {true, NULL};
    jx_buffer to = {0};
    (void)state;

    jx_report_text(&list, &bare, &to);
    assert_string_equal(
        jx_buffer_text(&to),
        "error[SHP010] sizes-disagree: 100% of `a\\b\"` differ\\n"
        "here, there: everywhere (2 times)\n"
        "  --> my models/a,b:50%.py:3:2\n"
        "   |\n"
        " 3 |     x\xc3\xa9y = 1\n"
        "   |     ^^^\n"
        "   = counterexample: b = 1 (search)\n"
        "   = equation: add f32[b] f32[a] -> f32[b]\n"
        "   = help: a 'hint'\n"
        "\n"
        "note[STG001] constant-computation: no place (2 times)\n"
        "  --> models/a b.json\n"
        "\n"
        "undecided[SHP013] size-negative: `a` >= `b`\n"
        "  --> z.py:9\n"
        "   = why: budget\n"
        "\n"
        "assumed: p is \"right\"\n"
        "\n"
        "2 errors, 2 notes\n"
        "3 other files skipped\n"
        "1 program: 7 proved, 2 refuted, 2 witnessed, 1 undecided\n");
    jx_buffer_clear(&to);
    jx_report_text(&list, &coloured, &to);
    assert_non_null(strstr(jx_buffer_text(&to), "\033[1;31merror[SHP010]"));
    jx_buffer_free(&to);
    jx_ctx_free(keep);
}

static void annotations_are_escaped(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = awkward(keep);
    const jx_report_list list = {1, &report, 0, NULL};
    jx_buffer to = {0};
    (void)state;

    jx_report_github(&list, NULL, &to);
    assert_string_equal(
        jx_buffer_text(&to),
        "::error file=my models/a%2Cb%3A50%25.py,line=3,col=2,endColumn=5,"
        "title=SHP010 sizes-disagree::100%25 of `a\\b\"` differ%0Ahere, "
        "there: everywhere%0Aa 'hint'\n"
        "::notice title=STG001 constant-computation::no place "
        "(models/a b.json)\n"
        "::notice title=undecided::1 obligation stayed undecided\n");
    jx_buffer_free(&to);
    jx_ctx_free(keep);
}

/* JSON, read back. */

static const jx_json *member(const jx_json *of, const char *key)
{
    const jx_json *value = NULL;

    return jx_json_kind_of(of) == JX_JSON_OBJECT && jx_json_get(of, key, &value)
               ? value
               : NULL;
}

static bool is_text(const jx_json *json, const char *text)
{
    size_t length;

    return jx_json_kind_of(json) == JX_JSON_TEXT &&
           strcmp(jx_json_text(json, &length), text) == 0;
}

static void json_reads_back(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = awkward(keep);
    const jx_report_list list = {1, &report, 0, NULL};
    const jx_json *program, *finding;
    jx_json *root = NULL;
    jx_buffer to = {0};
    (void)state;

    jx_report_json(&list, NULL, &to);
    assert_true(jx_json_read(keep, "out", to.text, to.length, &root));
    program = jx_json_item(member(root, "programs"), 0);
    assert_true(is_text(member(program, "status"), "findings"));
    assert_int_equal(jx_json_int(member(member(program, "claims"), "proved")),
                     7);
    finding = jx_json_item(member(program, "findings"), 0);
    assert_true(is_text(member(finding, "message"),
                        "100% of `a\\b\"` differ\nhere, there: everywhere"));
    assert_true(is_text(member(member(finding, "where"), "file"),
                        "my models/a,b:50%.py"));
    assert_int_equal(
        jx_json_int(member(member(member(finding, "data"), "sizes"), "b")), 1);
    assert_true(
        is_text(member(jx_json_item(member(program, "undecided"), 0), "why"),
                "budget"));
    jx_json_free(root);
    jx_buffer_free(&to);
    jx_ctx_free(keep);
}

/* Of an array; 0 for anything else. */
static size_t length_of(const jx_json *json)
{
    return jx_json_kind_of(json) == JX_JSON_ARRAY ? jx_json_count(json) : 0;
}

/* What SARIF demands and its schema does not see; NULL, or what is wrong. */

static bool is_uri(const jx_json *json)
{
    size_t length;
    const char *text;

    if (jx_json_kind_of(json) != JX_JSON_TEXT)
        return false;
    text = jx_json_text(json, &length);
    for (const char *at = text; *at; at++) {
        if (*at == '%' &&
            (!at[1] || !at[2] || !strchr("0123456789ABCDEF", at[1]) ||
             !strchr("0123456789ABCDEF", at[2])))
            return false;
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f ||
            strchr("\"<>\\^`{|}:", *at))
            return false;
    }
    return *text && *text != '/';
}

static int64_t number(const jx_json *of, const char *key, int64_t otherwise)
{
    const jx_json *value = member(of, key);

    return jx_json_kind_of(value) == JX_JSON_INT ? jx_json_int(value)
                                                 : otherwise;
}

static const char *wrong_region(const jx_json *region)
{
    int64_t line = number(region, "startLine", 0);
    int64_t column = number(region, "startColumn", 1);
    int64_t end_line = number(region, "endLine", line);
    int64_t end_column = number(region, "endColumn", column + 1);

    if (line < 1 || column < 1)
        return "a region begins before the file";
    if (end_line < line || (end_line == line && end_column < column))
        return "a region ends before it begins";
    return NULL;
}

static const char *wrong_location(const jx_json *location)
{
    const jx_json *place = member(location, "physicalLocation");
    const jx_json *region = member(place, "region");

    if (!is_uri(member(member(place, "artifactLocation"), "uri")))
        return "a URI is not a relative reference";
    return region ? wrong_region(region) : NULL;
}

static const char *wrong_locations(const jx_json *list)
{
    const char *wrong = NULL;

    for (size_t i = 0; !wrong && i < length_of(list); i++)
        wrong = wrong_location(jx_json_item(list, i));
    return wrong;
}

static const char *wrong_rule(const jx_json *result, const jx_json *rules)
{
    int64_t index = number(result, "ruleIndex", -1);
    size_t length;
    const jx_json *id = member(result, "ruleId");

    if (index < 0 || (uint64_t)index >= length_of(rules))
        return "a ruleIndex is no index of the rules";
    if (jx_json_kind_of(id) != JX_JSON_TEXT ||
        !is_text(member(jx_json_item(rules, (size_t)index), "id"),
                 jx_json_text(id, &length)))
        return "a ruleId is not its rule's";
    return NULL;
}

static const char *wrong_kind(const jx_json *result)
{
    bool fails = is_text(member(result, "kind"), "fail");
    bool none = is_text(member(result, "level"), "none");

    if (fails == none)
        return "level none belongs to what does not fail";
    if (fails && !member(member(result, "partialFingerprints"), "jaxvet/v1"))
        return "a result has no fingerprint";
    return member(member(result, "message"), "text")
               ? NULL
               : "a result has no message";
}

static const char *wrong_result(const jx_json *result, const jx_json *rules)
{
    const char *wrong = wrong_rule(result, rules);

    if (!wrong)
        wrong = wrong_kind(result);
    if (!wrong && !length_of(member(result, "locations")))
        wrong = "a result has no place";
    if (!wrong)
        wrong = wrong_locations(member(result, "locations"));
    if (!wrong && member(result, "relatedLocations"))
        wrong = wrong_locations(member(result, "relatedLocations"));
    return wrong;
}

/* Two results with one fingerprint would be one alert. */
static const char *wrong_fingerprints(const jx_json *results)
{
    for (size_t i = 0; i < length_of(results); i++)
        for (size_t k = 0; k < i; k++) {
            const jx_json *a =
                member(member(jx_json_item(results, i), "partialFingerprints"),
                       "jaxvet/v1");
            const jx_json *b =
                member(member(jx_json_item(results, k), "partialFingerprints"),
                       "jaxvet/v1");
            size_t length;
            if (a && b && is_text(a, jx_json_text(b, &length)))
                return "two results share a fingerprint";
        }
    return NULL;
}

static const char *wrong_rules(const jx_json *rules)
{
    for (size_t i = 0; i < length_of(rules); i++) {
        const jx_json *rule = jx_json_item(rules, i);
        if (!member(rule, "id") ||
            !member(member(rule, "shortDescription"), "text") ||
            !member(member(rule, "fullDescription"), "text") ||
            !member(member(rule, "help"), "markdown") ||
            !member(member(rule, "properties"), "precision"))
            return "a rule lacks what code scanning shows";
    }
    return length_of(rules) ? NULL : "there are no rules";
}

static const char *wrong_sarif(const jx_json *root)
{
    const jx_json *run = jx_json_item(member(root, "runs"), 0);
    const jx_json *rules =
        member(member(member(run, "tool"), "driver"), "rules");
    const jx_json *results = member(run, "results");
    const char *wrong = wrong_rules(rules);

    if (!is_text(member(root, "version"), "2.1.0"))
        return "the version is not 2.1.0";
    for (size_t i = 0; !wrong && i < length_of(results); i++)
        wrong = wrong_result(jx_json_item(results, i), rules);
    return wrong ? wrong : wrong_fingerprints(results);
}

/* What is wrong with the text once `from` has become `to`. */
static const char *judge(jx_ctx *ctx, const char *text, const char *from,
                         const char *to)
{
    char *changed = replace(text, from, to);
    jx_json *root = NULL;
    const char *wrong;

    assert_true(from == to || strcmp(changed, text) != 0);
    assert_true(jx_json_read(ctx, "sarif", changed, strlen(changed), &root));
    wrong = wrong_sarif(root);
    jx_json_free(root);
    free(changed);
    return wrong;
}

static void sarif_means_what_it_says(void **state)
{
    static const char *const mutations[][2] = {
        {"\"version\":\"2.1.0\"", "\"version\":\"2.1\""},
        {"\"ruleIndex\":1", "\"ruleIndex\":99"},
        {"\"ruleId\":\"SHP010\"", "\"ruleId\":\"SHP011\""},
        {"my%20models", "my models"},
        {"50%25", "50%"},
        {"\"uri\":\"my", "\"uri\":\"/my"},
        {"\"startLine\":3", "\"startLine\":0"},
        {"\"startColumn\":2", "\"startColumn\":0"},
        {"\"endColumn\":5", "\"endColumn\":1"},
        {"\"endLine\":3", "\"endLine\":2"},
        {"\"level\":\"error\",\"message\"", "\"level\":\"none\",\"message\""},
        {"\"kind\":\"open\"", "\"kind\":\"fail\""},
        {"\"partialFingerprints\"", "\"fingerprints\""},
        {"\"shortDescription\"", "\"short\""},
        {"\"markdown\"", "\"html\""},
        {"\"locations\"", "\"places\""},
    };
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = awkward(keep);
    const jx_report_list list = {1, &report, 0, NULL};
    jx_buffer to = {0};
    const char *wrong;
    (void)state;

    jx_report_sarif(&list, NULL, &to);
    wrong = judge(keep, to.text, "\1", "\1");
    assert_string_equal(wrong ? wrong : "nothing", "nothing");
    for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++)
        assert_non_null(judge(keep, to.text, mutations[i][0], mutations[i][1]));
    jx_buffer_free(&to);
    jx_ctx_free(keep);
}

static void sarif_tells_of_what_it_could_not_read(void **state)
{
    jx_ctx *keep = jx_ctx_new(0);
    jx_report report = check_text(keep, "{\"format\":3}", false, NULL);
    const jx_report_list list = {1, &report, 0, NULL};
    const jx_json *run, *invocation;
    jx_json *root = NULL;
    jx_buffer to = {0};
    (void)state;

    jx_report_sarif(&list, NULL, &to);
    assert_true(jx_json_read(keep, "sarif", to.text, to.length, &root));
    run = jx_json_item(member(root, "runs"), 0);
    invocation = jx_json_item(member(run, "invocations"), 0);
    assert_false(jx_json_bool(member(invocation, "executionSuccessful")));
    assert_int_equal(
        length_of(member(invocation, "toolExecutionNotifications")), 1);
    assert_int_equal(length_of(member(run, "results")), 0);
    jx_json_free(root);
    jx_buffer_free(&to);
    jx_ctx_free(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_decision_is_found_with_its_sizes),
        cmocka_unit_test(fingerprints_outlive_moved_lines_and_renamed_files),
        cmocka_unit_test(fingerprints_never_come_from_the_disk),
        cmocka_unit_test(lines_from_disk_end_where_the_file_does),
        cmocka_unit_test(errors_in_libraries_are_not_hidden_but_of_rules),
        cmocka_unit_test(a_record_holds_all_of_a_report),
        cmocka_unit_test(a_damaged_record_is_no_report),
        cmocka_unit_test(a_comment_suppresses_and_is_then_used),
        cmocka_unit_test(a_comment_that_suppresses_nothing_is_a_finding),
        cmocka_unit_test(what_is_no_program_is_unreadable),
        cmocka_unit_test(codes_are_selected_by_beginning_or_name),
        cmocka_unit_test(identical_findings_are_said_once),
        cmocka_unit_test(text_shows_the_line_under_its_place),
        cmocka_unit_test(annotations_are_escaped),
        cmocka_unit_test(json_reads_back),
        cmocka_unit_test(sarif_means_what_it_says),
        cmocka_unit_test(sarif_tells_of_what_it_could_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
