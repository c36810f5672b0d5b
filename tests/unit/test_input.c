/* test_input.c - programs are recognized by content. */
#include "reports/pipeline/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char document[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,"
    "\"producer\":{\"jaxvet\":\"0\",\"jax\":\"0.10.2\",\"python\":\"3\"},"
    "\"entry\":{\"jaxpr\":0,\"name\":\"f\"},"
    "\"avals\":[{\"dt\":\"f32\",\"sh\":[\"b\",3]}],\"prims\":[\"neg\"],"
    "\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[0],[0],{},-1,-1,-1]],"
    "\"out\":[1]}]}\n";

static const char *refusal(const char *text)
{
    static char message[256];
    jx_ctx *ctx = jx_ctx_new(1 << 20);

    assert_null(jx_input_read(ctx, "f", text, strlen(text)));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    assert_string_equal(ctx->error.file, "f");
    snprintf(message, sizeof message, "%s", ctx->error.message);
    jx_ctx_free(ctx);
    return message;
}

static void a_document_is_read(void **state)
{
    jx_ctx *ctx = jx_ctx_new(1 << 20);
    (void)state;

    jx_program *p = jx_input_read(ctx, "f", document, strlen(document));
    assert_non_null(p);
    assert_int_equal(p->entry.jaxpr->neqns, 1);
    assert_true(jx_input_is_program(NULL, document, strlen(document)));
    jx_ctx_free(ctx);
}

static void a_gzip_is_unpacked_first(void **state)
{
    /* `printf '{"a":1}' | gzip -n` */
    static const char packed[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56\x4a\x54\xb2"
        "\x32\xac\x05\x00\xaf\xac\x1b\x56\x07\x00\x00\x00";
    jx_ctx *ctx = jx_ctx_new(1 << 20);
    (void)state;

    assert_null(jx_input_read(ctx, "f", packed, sizeof packed - 1));
    assert_non_null(strstr(ctx->error.message, "format"));
    jx_error_clear(ctx);
    assert_null(jx_input_read(ctx, "f", packed, sizeof packed - 5));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    jx_ctx_free(ctx);
}

static void what_is_no_program_is_refused_and_skipped(void **state)
{
    static const char *const cases[] = {
        "hello",
        "[1]",
        ("\x7f"
         "ELF"),
        "(",
        "a { }",
        "{ x }",
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_non_null(strstr(refusal(cases[i]), "expected"));
        assert_false(jx_input_is_program(NULL, cases[i], strlen(cases[i])));
    }
    assert_non_null(strstr(refusal(""), "is empty"));
    assert_non_null(strstr(refusal(" \n"), "is empty"));
}

static void
other_json_is_skipped_in_a_folder_but_explained_by_name(void **state)
{
    static const char *const cases[] = {"{", "{}", "{\"format\":\"x\"}",
                                        "{\"\":1}"};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(jx_input_is_program(NULL, cases[i], strlen(cases[i])));
        assert_true(strlen(refusal(cases[i])) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_read),
        cmocka_unit_test(a_gzip_is_unpacked_first),
        cmocka_unit_test(what_is_no_program_is_refused_and_skipped),
        cmocka_unit_test(
            other_json_is_skipped_in_a_folder_but_explained_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
