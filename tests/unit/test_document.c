/* test_document.c - what the document reader takes, and what it refuses.
 *
 * Refusals are made from one good document by replacing a piece of it. */
#include "frontend/base/file.h"
#include "frontend/base/npz.h"
#include "frontend/base/sha256.h"
#include "frontend/ir/params.h"
#include "frontend/read/document.h"
#include "frontend/write/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Two jaxprs, a call, a literal, a constant, a rule, a symbolic size. */
static const char good[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,"
    "\"producer\":{\"jaxvet\":\"0\",\"jax\":\"0.10.2\",\"python\":\"3\","
    "\"x64\":false},"
    "\"entry\":{\"jaxpr\":1,\"consts\":[0],\"name\":\"f\","
    "\"in_paths\":[\"[0]\"]},"
    "\"files\":[[\"a.py\",\"user\",{\"3\":\"y = f(x)\"}]],"
    "\"frames\":[[0,\"f\",3,4,3,8]],\"stacks\":[[0]],\"names\":[\"\"],"
    "\"contexts\":[{\"threefry_partitionable\":true}],"
    "\"meshes\":[{}],"
    "\"scopes\":[{\"constraints\":[[\"geq\",\"b\",\"4\",\"b >= 4\"]],"
    "\"stack\":0}],"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[\"b\",3]},{\"dt\":\"f32\"},"
    "{\"dt\":\"f32\",\"sh\":[3]}],"
    "\"consts\":[{\"dt\":\"f32\",\"sh\":[3],\"b64\":\"AACAPwAAAEAAAEBA\"}],"
    "\"prims\":[\"mul\",\"custom_jvp_call\",\"odd\"],"
    "\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[0,{\"a\":1,\"v\":2.0}],[0],"
    "{\"out_dtype\":null},0,0,0]],\"out\":[1]},"
    "{\"in\":[2,0],\"nc\":1,\"eqns\":[[1,[1],[0],{\"call_jaxpr\":"
    "{\"$jaxpr\":0},\"jvp_jaxpr_fun\":{\"$rule\":0,\"fn\":\"g\"},"
    "\"num_consts\":0,\"symbolic_zeros\":false},0,0,0],"
    "[2,[2],[-1],{\"any\":[1,2.5,\"x\",{\"$set\":[]}]},-1,-1,-1]],"
    "\"out\":[2]}],"
    "\"rules\":[{\"prim\":\"custom_jvp_call\",\"stack\":0,\"in\":[0],"
    "\"nout\":1,\"primal\":{\"$jaxpr\":0},\"patterns\":[{\"zeros\":\"0\","
    "\"error\":\"no\"}]}],"
    "\"comparisons\":[{\"op\":\"==\",\"lhs\":\"b\",\"rhs\":\"1\","
    "\"verdict\":false,\"n\":2,\"stack\":0,\"site\":[\"a.py\",\"f\"]}],"
    "\"retraces\":[{\"sizes\":{\"b\":4},\"jaxpr\":1,\"consts\":[0]},"
    "{\"sizes\":{\"b\":9007199254740993},\"raised\":\"E: x\",\"stack\":-1},"
    "{\"sizes\":{},\"undecided\":\"why\"}]}\n";

/* `good` with the first `from` replaced by `to`. */
static char *changed(const char *from, const char *to)
{
    const char *at = strstr(good, from);

    if (!at)
        fail_msg("no '%s' in the good document", from);
    char *text = malloc(sizeof good + strlen(to));
    sprintf(text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    return text;
}

static void the_good_one_is_read_and_written(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer text = {0}, again = {0};
    (void)state;

    const jx_program *p = jx_read_document(ctx, "-", good, sizeof good - 1);
    assert_non_null(p);
    assert_true(jx_program_verify(p));
    assert_true(jx_write_document(p, &text));
    /* Its tables are not in the order of the walk; written they are. */
    p = jx_read_document(ctx, "-", text.text, text.length);
    assert_non_null(p);
    assert_true(jx_write_document(p, &again));
    assert_string_equal(jx_buffer_text(&text), jx_buffer_text(&again));
    /* What is written has no empty mesh, and quotes integers beyond 2^53. */
    assert_int_equal(text.length, sizeof good - 1 + strlen("\"\"") -
                                      strlen("\"meshes\":[{}],"));
    jx_buffer_free(&text);
    jx_buffer_free(&again);
    jx_ctx_free(ctx);
}

static void its_parts_are_where_they_belong(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    (void)state;

    const jx_program *p = jx_read_document(ctx, "-", good, sizeof good - 1);
    assert_non_null(p);
    const jx_jaxpr *entry = p->entry.jaxpr;
    assert_int_equal(entry->nconsts, 1);
    assert_int_equal(entry->nins, 1);
    assert_int_equal(p->entry.consts[0]->bytes, 12);
    const jx_p_custom_jvp *call = entry->eqns[0].typed;
    assert_ptr_equal(call->call_jaxpr.jaxpr, p->jaxprs[0]);
    assert_ptr_equal(call->jvp_jaxpr_fun, p->rules[0]);
    assert_int_equal(entry->eqns[1].prim->id, JX_PRIM_unknown);
    assert_null(entry->eqns[1].typed);
    assert_true(entry->eqns[1].outs[0]->dropped);
    assert_string_equal(p->files[0]->lines[0].text, "y = f(x)");
    assert_int_equal(p->comparisons[0].decision, JX_DECIDED_FALSE);
    assert_false(p->scopes[0].constraints[0].equal);
    assert_int_equal(p->nretraces, 3);
    assert_ptr_equal(p->retraces[0].closed.jaxpr, entry);
    assert_string_equal(p->retraces[1].names[0], "b");
    assert_int_equal(p->retraces[1].values[0], 9007199254740993);
    assert_string_equal(p->retraces[1].raised, "E: x");
    assert_int_equal(p->retraces[2].nsizes, 0);
    assert_string_equal(p->retraces[2].undecided, "why");
    jx_ctx_free(ctx);
}

typedef struct refusal {
    const char *from, *to;
    const char *place, *message; /* a part of it */
} refusal;

static const refusal refusals[] = {
    /* the frame */
    {"\"jaxvet-jaxpr\"", "\"other\"", "/format", "expected \"jaxvet-jaxpr\""},
    {"\"version\":1", "\"version\":4", "/version",
     "version 4 of the format is newer than 3, which this jaxvet reads: "
     "update"},
    {"\"version\":1", "\"version\":\"x\"", "/version", "expected an integer"},
    {"\"format\"", "\"fmt\"", "/", "expected a key \"format\""},
    {"\"meshes\"", "\"extra\"", "/", "unknown key \"extra\""},
    {"\"entry\":{\"jaxpr\":1", "\"entry\":{\"jaxpr\":2", "/entry/jaxpr",
     "below 2, found 2"},
    {"\"entry\":{\"jaxpr\":1", "\"entry\":{\"jaxpr\":-1", "/entry/jaxpr",
     "below 2, found -1"},
    {"\"consts\":[0],", "", "/entry", "expected 1 constants"},
    {"\"in_paths\":[\"[0]\"]", "\"in_paths\":[]", "/entry/in_paths",
     "expected 1 items"},
    /* sources */
    {"\"user\"", "\"mine\"", "/files/0/1", "expected \"user\""},
    {"\"3\":\"y", "\"x\":\"y", "/files/0/2/x", "expected a line number"},
    {"[[0,\"f\",3", "[[1,\"f\",3", "/frames/0/0", "below 1"},
    {"[[0,\"f\",3", "[[0,\"f\",-2", "/frames/0/2", "from -1"},
    {"\"stacks\":[[0]]", "\"stacks\":[[7]]", "/stacks/0/0", "below 1"},
    {"\"stacks\":[[0]]", "\"stacks\":[0]", "/stacks/0", "expected an array"},
    /* sizes */
    {"[\"b\",3]", "[\"b\",-3]", "/avals/0/sh/1", "from 0"},
    {"[\"b\",3]", "[\"2*\",3]", "/avals/0/sh/0", "column"},
    {"[\"b\",3]", "[\"b\",99999999999999999999]", "byte ", "64 bits"},
    {"\"geq\"", "\"gt\"", "/scopes/0/constraints/0/0",
     "\"geq\", \"eq\" or \"ne\""},
    {"\"dt\":\"f32\"},", "\"dt\":\"f31\"},", "/avals/1/dt", "unknown dtype"},
    {"\"dt\":\"f32\"},", "\"weak\":true},", "/avals/1", "a key \"dt\""},
    {"\"dt\":\"f32\"},", "\"dt\":\"f32\",\"k\":\"ref\"},", "/avals/1",
     "expected \"of\""},
    {"\"dt\":\"f32\"},", "\"k\":\"ref\",\"of\":1},", "/avals/1/of", "below 1"},
    {"\"dt\":\"f32\"},", "\"dt\":\"f32\",\"vma\":[\"y\",\"x\"]},",
     "/avals/1/vma", "in order"},
    /* constants */
    {"AACAPwAAAEAAAEBA", "AACAPwAAAEAAAEB", "/consts/0/b64", "base64"},
    {"AACAPwAAAEAAAEBA", "AACAPwAAAEA=", "/consts/0",
     "expected 12 bytes, found 8"},
    {"\"b64\":\"AACAPwAAAEAAAEBA\"", "\"npz\":\"c0\"", "/consts/0/npz",
     "names no \"npz\" file"},
    {"\"b64\":\"AACAPwAAAEAAAEBA\"", "\"splat\":\"AA==\"", "/consts/0",
     "expected 4 bytes"},
    {"\"b64\":\"AACAPwAAAEAAAEBA\"", "\"splat\":\"\",\"b64\":\"\"", "/consts/0",
     "expected one of"},
    {"\"sh\":[3],\"b64\"", "\"sh\":[3000000000000000000,4],\"b64\"",
     "/consts/0", "a size in memory"},
    {"\"sh\":[3],\"b64\"", "\"sh\":[\"b\"],\"b64\"", "/consts/0",
     "to be numbers"},
    /* equations */
    {"[[0,[0,{", "[[3,[0,{", "/jaxprs/0/eqns/0/0", "\"prims\" below 3"},
    {"[[0,[0,{", "[[0,[1,{", "/jaxprs/0/eqns/0/1/0", "below 1, found 1"},
    {"[[0,[0,{", "[[0,[{", "/jaxprs/0/eqns/0", "expected 2 operands"},
    {"2.0}],[0],", "2.0}],[9],", "/jaxprs/0/eqns/0/2/0", "\"avals\" below"},
    {"2.0}],[0],", "2.0}],[-9],", "/jaxprs/0/eqns/0/2/0", "-1 minus"},
    {"2.0}],[0],", "2.0}],[0,0],", "/jaxprs/0/eqns/0", "1 results, found 2"},
    {"{\"out_dtype\":null},0,0,0]", "{\"out_dtype\":null},0,0]",
     "/jaxprs/0/eqns/0", "expected [primitive"},
    {"{\"out_dtype\":null},0,0,0]", "{\"out_dtype\":3},0,0,0]",
     "/jaxprs/0/eqns/0/3", "parameter 'out_dtype': expected a dtype"},
    {"{\"out_dtype\":null},0,0,0]", "{\"out_dtype\":null},4,0,0]",
     "/jaxprs/0/eqns/0/4", "\"stacks\" below 1"},
    {"{\"out_dtype\":null},0,0,0]", "{\"out_dtype\":{\"$x\":1}},0,0,0]",
     "/jaxprs/0/eqns/0/3/out_dtype", "a known tag"},
    {"{\"a\":1,\"v\":2.0}", "{\"a\":1,\"v\":true}", "/jaxprs/0/eqns/0/1/1/v",
     "expected a number"},
    {"{\"a\":1,\"v\":2.0}", "{\"a\":1,\"v\":\"0x12\"}",
     "/jaxprs/0/eqns/0/1/1/v", "8 digits"},
    {"{\"a\":1,\"v\":2.0}", "{\"a\":0,\"v\":2.0}", "/jaxprs/0/eqns/0/1/1/v",
     "a scalar aval"},
    {"{\"a\":1,\"v\":2.0}", "{\"a\":1}", "/jaxprs/0/eqns/0/1/1",
     "expected one of"},
    {"\"out\":[1]}", "\"out\":[2]}", "/jaxprs/0/out/0", "below 2"},
    {"\"out\":[2]}", "\"out\":[3]}", "/jaxprs/1/out/0", "was dropped"},
    /* calls */
    {"{\"$jaxpr\":0},\"jvp", "{\"$jaxpr\":1},\"jvp",
     "/jaxprs/1/eqns/0/3/call_jaxpr/$jaxpr", "below 1, found 1"},
    {"{\"$jaxpr\":0},\"jvp", "{\"$jaxpr\":0,\"consts\":[0]},\"jvp",
     "/jaxprs/1/eqns/0/3/call_jaxpr", "expected 0 constants"},
    {"[[1,[1],[0],", "[[1,[1,1],[0],", "/jaxprs/1/eqns/0",
     "'call_jaxpr' to have 2 inputs"},
    {"{\"$rule\":0", "{\"$rule\":1", "/jaxprs/1/eqns/0/3/jvp_jaxpr_fun/$rule",
     "\"rules\" below 1"},
    {"\"in\":[2,0],\"nc\":1", "\"in\":[2,0],\"nc\":3", "/jaxprs/1/nc",
     "from 0 to 2"},
    /* rules and comparisons */
    {"\"zeros\":\"0\"", "\"zeros\":\"01\"", "/rules/0/patterns/0/zeros",
     "expected 1 characters"},
    {"\"zeros\":\"0\"", "\"zeros\":\"x\"", "/rules/0/patterns/0/zeros",
     "of 0 and 1"},
    {"\"error\":\"no\"", "\"jvp\":{\"$jaxpr\":0}", "/rules/0/patterns/0/jvp",
     "2 inputs and 2 outputs"},
    {"\"rules\":[{\"prim\":\"custom_jvp_call\"", "\"rules\":[{\"prim\":\"x\"",
     "/rules/0/prim", "custom_jvp_call"},
    {"\"verdict\":false", "\"verdict\":0", "/comparisons/0/verdict",
     "true or false"},
    /* retraces */
    {"\"jaxpr\":1,\"consts\":[0]}", "\"jaxpr\":0,\"consts\":[0]}",
     "/retraces/0/consts", "expected 0 constants"},
    {"\"jaxpr\":1,\"consts\":[0]}", "\"jaxpr\":2}", "/retraces/0/jaxpr",
     "below 2, found 2"},
    {"\"jaxpr\":1,\"consts\":[0]}", "\"stack\":0}", "/retraces/0",
     "expected a key \"jaxpr\""},
    {"{\"b\":4}", "{\"b\":4.0}", "/retraces/0/sizes/b", "an integer"},
    {"{\"b\":4}", "[4]", "/retraces/0/sizes", "an object"},
    {"\"stack\":-1}", "\"stack\":7}", "/retraces/1/stack", "below 1"},
    {"\"undecided\"", "\"undecided\":\"\",\"jaxpr\"", "/retraces/2",
     "unknown key \"jaxpr\""},
    /* syntax */
    {"\"version\":1", "\"version\":1,\"version\":1", "byte ",
     "every key of an object once"},
    {"2.0}", "NaN}", "byte ", "a value"},
    {"2.0}", "1e999}", "byte ", "fits a double"},
    {"2.0}", "2.}", "byte ", "a digit"},
    {"2.0}", "02}", "byte ", "',' or '}'"},
    {"y = f(x)", "\xff", "byte ", "UTF-8"},
    {"y = f(x)", "\xc0\x80", "byte ", "UTF-8"},
    {"y = f(x)", "\xed\xa0\x80", "byte ", "UTF-8"},
    {"y = f(x)", "\\ud800", "byte ", "low surrogate"},
    {"y = f(x)", "\\u0000", "byte ", "without NUL"},
    {"y = f(x)", "\n", "byte ", "control character"},
    {"}]}\n", "}]} 1", "byte ", "the end of the input"},
    {"}]}\n", "}],}", "byte ", "text in double quotes"},
    {"{\"format\"", "// x\n{\"format\"", "byte 0", "a value"},
    {"{\"format\"", "\xef\xbb\xbf{\"format\"", "byte 0", "a value"},
};

static void each_kind_of_wrong_is_refused_at_its_place(void **state)
{
    (void)state;

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        char *text = changed(r->from, r->to);
        jx_ctx *ctx = jx_ctx_new(0);
        if (jx_read_document(ctx, "-", text, strlen(text)))
            fail_msg("case %zu (%s) was not refused", i, r->to);
        assert_int_equal(ctx->error.kind, JX_E_INPUT);
        bool pointer = r->place[0] == '/';
        if (pointer ? strcmp(ctx->error.place, r->place)
                    : strncmp(ctx->error.place, r->place, strlen(r->place)))
            fail_msg("case %zu (%s): at %s, expected %s (%s)", i, r->to,
                     ctx->error.place, r->place, ctx->error.message);
        if (!strstr(ctx->error.message, r->message))
            fail_msg("case %zu (%s): '%s', expected '%s'", i, r->to,
                     ctx->error.message, r->message);
        jx_ctx_free(ctx);
        free(text);
    }
}

static void cut_anywhere_it_is_refused(void **state)
{
    (void)state;

    for (size_t n = 0; n < sizeof good - 2; n++) {
        jx_ctx *ctx = jx_ctx_new(0);
        char *text = malloc(n + 1);
        memcpy(text, good, n);
        assert_null(jx_read_document(ctx, "-", text, n));
        assert_int_equal(ctx->error.kind, JX_E_INPUT);
        assert_non_null(ctx->error.place);
        free(text);
        jx_ctx_free(ctx);
    }
}

static void nesting_and_memory_have_limits(void **state)
{
    enum { DEEP = 100000 };
    char *text = malloc(DEEP + 1);
    jx_ctx *ctx = jx_ctx_new(0), *small = jx_ctx_new(2048);
    (void)state;

    memset(text, '[', DEEP);
    assert_null(jx_read_document(ctx, "-", text, DEEP));
    assert_string_equal(ctx->error.place, "byte 128");
    assert_non_null(strstr(ctx->error.message, "levels of nesting"));
    assert_null(jx_read_document(small, "-", good, sizeof good - 1));
    assert_int_equal(small->error.kind, JX_E_LIMIT);
    free(text);
    jx_ctx_free(ctx);
    jx_ctx_free(small);
}

/* f0 calls nothing, f1 calls f0, ...: no cycle, but deep. */
static void calls_inside_calls_have_a_limit(void **state)
{
    jx_buffer text = {0};
    jx_ctx *ctx = jx_ctx_new(0);
    (void)state;

    jx_buffer_puts(&text, "{\"format\":\"jaxvet-jaxpr\",\"version\":1,"
                          "\"producer\":{},\"entry\":{\"jaxpr\":299},"
                          "\"prims\":[\"closed_call\"],\"jaxprs\":[");
    for (int i = 0; i < 300; i++) {
        jx_buffer_puts(&text, i ? "," : "");
        jx_buffer_puts(&text, "{\"in\":[],\"eqns\":[");
        if (i)
            jx_buffer_printf(
                &text, "[0,[],[],{\"call_jaxpr\":{\"$jaxpr\":%d}},-1,-1,-1]",
                i - 1);
        jx_buffer_puts(&text, "],\"out\":[]}");
    }
    jx_buffer_puts(&text, "]}");
    assert_null(jx_read_document(ctx, "-", text.text, text.length));
    assert_string_equal(ctx->error.place, "/jaxprs/256");
    assert_non_null(strstr(ctx->error.message, "calls inside calls"));
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
}

/* ---- constants in a file beside */

typedef struct beside {
    char folder[64], path[96], npz[96];
} beside;

static int make_folder(void **state)
{
    beside *b = calloc(1, sizeof *b);

    strcpy(b->folder, "/tmp/jaxvet-test-XXXXXX");
    if (!mkdtemp(b->folder))
        return -1;
    snprintf(b->path, sizeof b->path, "%s/p.json", b->folder);
    snprintf(b->npz, sizeof b->npz, "%s/p.npz", b->folder);
    *state = b;
    return 0;
}

static int remove_folder(void **state)
{
    beside *b = *state;

    unlink(b->npz);
    rmdir(b->folder);
    free(b);
    return 0;
}

/* Reads `good` with its constant in `name`; gives the error's message. */
static const char *read_beside(jx_ctx *ctx, const beside *b, const char *name,
                               const char *sha256)
{
    char npz[256];
    jx_buffer text = {0};

    snprintf(npz, sizeof npz,
             "\"npz\":\"c0\"}],\"npz\":{\"name\":\"%s\",\"sha256\":\"%s\"}",
             name, sha256);
    char *changed_text = changed("\"b64\":\"AACAPwAAAEAAAEBA\"}]", npz);
    jx_buffer_puts(&text, changed_text);
    free(changed_text);
    const jx_program *p =
        jx_read_document(ctx, b->path, text.text, text.length);
    jx_buffer again = {0};
    if (p) {
        assert_int_equal(p->arrays[0]->bytes, 12);
        assert_memory_equal((const char *)p->arrays[0]->data + 4, "\0\0\0\x40",
                            4);
        assert_true(jx_write_document(p, &again));
        assert_non_null(strstr(again.text, strstr(npz, "\"npz\":{")));
    }
    jx_buffer_free(&again);
    jx_buffer_free(&text);
    return p ? "" : ctx->error.message;
}

static void large_constants_lie_beside(void **state)
{
    static const char bytes[] = "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40";
    static const int64_t shape[] = {12};
    const jx_npy npy = {"c0", "|u1", 1, shape, 1, 12, bytes};
    const jx_npz npz = {1, &npy};
    const beside *b = *state;
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer packed = {0};
    char sha256[65];

    jx_npz_write(&packed, &npz);
    jx_sha256(packed.text, packed.length, sha256);
    assert_non_null(
        strstr(read_beside(ctx, b, "p.npz", sha256), "can't be opened"));
    jx_error_clear(ctx);
    assert_true(jx_file_write(ctx, b->npz, packed.text, packed.length));
    assert_string_equal(read_beside(ctx, b, "p.npz", sha256), "");
    assert_non_null(
        strstr(read_beside(ctx, b, "../p.npz", sha256), "without folders"));
    jx_error_clear(ctx);
    sha256[0] = sha256[0] == '0' ? '1' : '0';
    assert_non_null(
        strstr(read_beside(ctx, b, "p.npz", sha256), "is not the file"));
    jx_error_clear(ctx);
    packed.length -= 5;
    jx_sha256(packed.text, packed.length, sha256);
    assert_true(jx_file_write(ctx, b->npz, packed.text, packed.length));
    assert_non_null(
        strstr(read_beside(ctx, b, "p.npz", sha256), "the end record"));
    jx_buffer_free(&packed);
    jx_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_good_one_is_read_and_written),
        cmocka_unit_test(its_parts_are_where_they_belong),
        cmocka_unit_test(each_kind_of_wrong_is_refused_at_its_place),
        cmocka_unit_test(cut_anywhere_it_is_refused),
        cmocka_unit_test(nesting_and_memory_have_limits),
        cmocka_unit_test(calls_inside_calls_have_a_limit),
        cmocka_unit_test_setup_teardown(large_constants_lie_beside, make_folder,
                                        remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
