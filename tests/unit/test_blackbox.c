/* test_blackbox.c - the files of black boxes: what is read, what is refused. */
#include "frontend/read/blackbox.h"

#include "reports/pipeline/input.h"
#include "reports/pipeline/inputs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char program[] =
    "{ lambda ; a:f32[2] b:i32[]. let c:f32[2] = log a in (c, b) }";
static const char said[] =
    "{\"format\":\"jaxvet-blackbox\",\"version\":1,\"function\":\"f\","
    "\"place\":\"f.py:3\",\"call\":7,\"why\":\"an output is not finite\","
    "\"producer\":{\"jax\":\"0.10.2\",\"platform\":\"cpu\"},"
    "\"inputs\":[{\"lost\":null},{}],\"outputs\":[]}";

static const float two[] = {-1, 2};
static const int32_t three = 3;
static const int64_t pair = 2;

/* A file with these members; NULL leaves one out. */
static jx_buffer boxed_bytes(const char *text, const char *module, size_t size,
                             bool inputs)
{
    int64_t sizes[2] = {text ? (int64_t)strlen(text) : 0, (int64_t)size};
    jx_npy all[4];
    jx_npz npz = {0, all};
    jx_buffer file = {0};

    if (text)
        all[npz.count++] = (jx_npy){"blackbox",       "|u1", 1, &sizes[0], 1,
                                    (size_t)sizes[0], text};
    if (module)
        all[npz.count++] = (jx_npy){"module",         "|u1", 1, &sizes[1], 1,
                                    (size_t)sizes[1], module};
    if (inputs) {
        all[npz.count++] = (jx_npy){"in0", "<f4", 1, &pair, 4, 8, two};
        all[npz.count++] = (jx_npy){"in1", "<i4", 0, NULL, 4, 4, &three};
    }
    jx_npz_write(&file, &npz);
    assert_true(jx_buffer_ok(&file));
    return file;
}

static jx_buffer boxed(const char *text, const char *module, bool inputs)
{
    return boxed_bytes(text, module, module ? strlen(module) : 0, inputs);
}

static void a_box_is_its_program_with_its_inputs(void **state)
{
    jx_buffer file = boxed(said, program, true);
    jx_ctx *ctx = jx_ctx_new(1 << 22);
    const jx_binding *sizes;
    const void *const *ins;
    int nsizes;
    (void)state;

    assert_true(jx_input_is_program(ctx, file.text, file.length));
    jx_program *p = jx_input_read(ctx, "f", file.text, file.length);
    assert_non_null(p);
    assert_string_equal(p->blackbox->function, "f");
    assert_string_equal(p->blackbox->place, "f.py:3");
    assert_int_equal(p->blackbox->call, 7);
    assert_true(jx_inputs_kept(p, NULL, &nsizes, &sizes, &ins));
    assert_memory_equal(ins[0], two, sizeof two);
    assert_memory_equal(ins[1], &three, sizeof three);
    jx_buffer_free(&file);
    jx_ctx_free(ctx);
}

/* The text with one piece replaced, to be freed. */
static char *with(const char *piece, const char *other)
{
    const char *at = strstr(said, piece);
    size_t size = strlen(said) + strlen(other) + 1;
    char *text = malloc(size);

    assert_non_null(at);
    assert_non_null(text);
    snprintf(text, size, "%.*s%s%s", (int)(at - said), said, other,
             at + strlen(piece));
    return text;
}

static void expect_refused(jx_buffer file, const char *why)
{
    jx_ctx *ctx = jx_ctx_new(1 << 22);
    char all[512];

    assert_null(jx_input_read(ctx, "f", file.text, file.length));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    snprintf(all, sizeof all, "%s: %s",
             ctx->error.place ? ctx->error.place : "", ctx->error.message);
    if (!strstr(all, why))
        fail_msg("expected \"%s\" in \"%s\"", why, all);
    jx_buffer_free(&file);
    jx_ctx_free(ctx);
}

static void what_it_says_is_held_to_its_form(void **state)
{
    static const char *const cases[][3] = {
        {"\"jaxvet-blackbox\"", "\"other\"", "\"format\""},
        {"\"version\":1", "\"version\":2", "has version 2"},
        {"\"version\":1", "\"version\":\"1\"", "\"version\", a number"},
        {"\"function\":\"f\"", "\"function\":null", "\"function\""},
        {"\"function\":\"f\"", "\"function\":\"f\\u0000\"", ""},
        {"\"place\":\"f.py:3\"", "\"place\":3", "\"place\""},
        {"\"call\":7", "\"call\":-7", "\"call\""},
        {"\"call\":7", "\"call\":1e3", "\"call\""},
        {"\"why\":\"an output is not finite\",", "", "\"why\""},
        {"\"producer\":{", "\"producer\":[],\"other\":{", "\"producer\""},
        {"\"jax\":\"0.10.2\"", "\"jax\":[]", "\"jax\""},
        {"[{\"lost\":null},{}]", "{}", "\"inputs\""},
        {"[{\"lost\":null},{}]", "[1,2]", "\"inputs\""},
        {"{\"lost\":null}", "{\"lost\":1}", "\"lost\""},
        {"[{\"lost\":null},{}]", "[{}]", "had 1 inputs, its module takes 2"},
        {"\"outputs\":[]}", "", "byte"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = with(cases[i][0], cases[i][1]);
        expect_refused(boxed(text, program, true), cases[i][2]);
        free(text);
    }
    expect_refused(boxed("[]", program, true), "an object");
    expect_refused(boxed("", program, true), "byte 0");
}

static void members_that_lack_are_named(void **state)
{
    jx_buffer file = boxed(said, program, false);
    jx_ctx *ctx = jx_ctx_new(1 << 22);
    const jx_binding *sizes;
    const void *const *ins;
    int nsizes;
    (void)state;

    expect_refused(boxed(said, NULL, true), "\"module\"");
    expect_refused(boxed(said, "nothing", true), "member \"module\"");
    expect_refused(boxed(said, "{ lambda ; a:f32[2]. let in (b,) }", true),
                   "member \"module\", ");
    jx_program *p = jx_input_read(ctx, "f", file.text, file.length);
    assert_non_null(p);
    assert_false(jx_inputs_kept(p, NULL, &nsizes, &sizes, &ins));
    assert_string_equal(ctx->error.place, "in0");
    jx_buffer_free(&file);
    jx_ctx_free(ctx);
}

static void why_an_input_lacks_is_said(void **state)
{
    char *text = with("{\"lost\":null}", "{\"lost\":\"it was elsewhere\"}");
    jx_buffer file = boxed(text, program, false);
    jx_ctx *ctx = jx_ctx_new(1 << 22);
    const jx_binding *sizes;
    const void *const *ins;
    int nsizes;
    (void)state;

    jx_program *p = jx_input_read(ctx, "f", file.text, file.length);
    assert_non_null(p);
    assert_false(jx_inputs_kept(p, NULL, &nsizes, &sizes, &ins));
    assert_non_null(strstr(ctx->error.message, "it was elsewhere"));
    free(text);
    jx_buffer_free(&file);
    jx_ctx_free(ctx);
}

static void cut_anywhere_it_is_refused(void **state)
{
    jx_buffer file = boxed(said, program, true);
    (void)state;

    for (size_t n = 0; n < file.length; n += 7) {
        jx_ctx *ctx = jx_ctx_new(1 << 22);
        char *cut = malloc(n + 1);
        assert_non_null(cut);
        memcpy(cut, file.text, n);
        assert_null(jx_input_read(ctx, "f", cut, n));
        assert_int_equal(ctx->error.kind, JX_E_INPUT);
        free(cut);
        jx_ctx_free(ctx);
    }
    jx_buffer_free(&file);
}

static void a_box_in_a_box_is_refused(void **state)
{
    jx_buffer inner = boxed(said, program, true);
    (void)state;

    expect_refused(boxed_bytes(said, inner.text, inner.length, true),
                   "member \"module\": expected a program");
    jx_buffer_free(&inner);
}

static void text_is_bytes(void **state)
{
    const jx_npy all[] = {{"blackbox", "<f4", 1, &pair, 4, 8, two}};
    const jx_npz npz = {1, all};
    jx_buffer file = {0};
    (void)state;

    jx_npz_write(&file, &npz);
    expect_refused(file, "an array of bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_its_program_with_its_inputs),
        cmocka_unit_test(what_it_says_is_held_to_its_form),
        cmocka_unit_test(members_that_lack_are_named),
        cmocka_unit_test(why_an_input_lacks_is_said),
        cmocka_unit_test(cut_anywhere_it_is_refused),
        cmocka_unit_test(a_box_in_a_box_is_refused),
        cmocka_unit_test(text_is_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
