/* test_round_trip.c - documents that JAX's programs gave, and JAX's own texts.
 *
 * tests/data/documents.jsonl.gz comes from scripts/make_test_data.py. */
#include "frontend/base/file.h"
#include "frontend/base/inflate.h"
#include "frontend/base/json.h"
#include "frontend/ir/print.h"
#include "frontend/read/document.h"
#include "frontend/read/text.h"
#include "frontend/write/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char path[] = "tests/data/documents.jsonl.gz";

typedef struct row {
    const char *name, *document, *text; /* text: or NULL */
    size_t document_length, text_length;
} row;

typedef struct rows {
    jx_ctx *ctx;
    row *at;
    int count;
} rows;

static const char *member(jx_ctx *ctx, const jx_json *line, const char *key,
                          size_t *length)
{
    const jx_json *value;

    *length = 0;
    if (!jx_json_get(line, key, &value) ||
        jx_json_kind_of(value) != JX_JSON_TEXT)
        return NULL;
    const char *text = jx_json_text(value, length);
    return jx_arena_string(ctx->arena, text, *length);
}

static void read_row(rows *all, const char *line, size_t length)
{
    jx_json *json;
    size_t unused;
    row *r = &all->at[all->count++];

    assert_true(jx_json_read(all->ctx, path, line, length, &json));
    r->name = member(all->ctx, json, "name", &unused);
    r->document = member(all->ctx, json, "document", &r->document_length);
    r->text = member(all->ctx, json, "text", &r->text_length);
    jx_json_free(json);
}

static int set_up(void **state)
{
    rows *all = calloc(1, sizeof *all);
    size_t size = 0;

    all->ctx = jx_ctx_new(0);
    const char *packed = jx_file_read(all->ctx, path, &size);
    const char *text =
        packed ? jx_gunzip(all->ctx, path, packed, size, &size) : NULL;
    if (!text)
        return -1;
    all->at = JX_NEW_ARRAY(all->ctx->arena, 4096, row);
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        read_row(all, text, (size_t)(end - text));
    *state = all;
    return 0;
}

static int tear_down(void **state)
{
    rows *all = *state;

    jx_ctx_free(all->ctx);
    free(all);
    return 0;
}

static void same(const char *name, const jx_buffer *got, const char *expected,
                 size_t length)
{
    size_t i = 0;

    if (got->length == length && !memcmp(got->text, expected, length))
        return;
    while (i < length && i < got->length && got->text[i] == expected[i])
        i++;
    size_t from = i > 40 ? i - 40 : 0;
    fail_msg("%s differs at byte %zu\n  expected ...%.100s\n  got      "
             "...%.100s",
             name, i, expected + from, jx_buffer_text(got) + from);
}

static const jx_program *program_of(jx_ctx *ctx, const row *r)
{
    const jx_program *p =
        jx_read_document(ctx, "-", r->document, r->document_length);

    if (!p)
        fail_msg("%s: %s: %s", r->name, ctx->error.place, ctx->error.message);
    return p;
}

static void documents_are_written_as_they_were_read(void **state)
{
    const rows *all = *state;

    assert_true(all->count > 300);
    for (int i = 0; i < all->count; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_buffer text = {0};
        assert_true(jx_write_document(program_of(ctx, &all->at[i]), &text));
        same(all->at[i].name, &text, all->at[i].document,
             all->at[i].document_length);
        jx_buffer_free(&text);
        jx_ctx_free(ctx);
    }
}

static void what_is_read_passes_the_verifier(void **state)
{
    const rows *all = *state;

    for (int i = 0; i < all->count; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        if (!jx_program_verify(program_of(ctx, &all->at[i])))
            fail_msg("%s: %s: %s", all->at[i].name, ctx->error.place,
                     ctx->error.message);
        jx_ctx_free(ctx);
    }
}

/* The document does not say what a device or a scalar type prints as. */
static bool prints_otherwise(const row *r)
{
    return strstr(r->text, "CpuDevice(") || strstr(r->text, "<class '") ||
           strstr(r->name, "grad_odeint");
}

static void documents_print_as_jax_prints_them(void **state)
{
    const rows *all = *state;
    int left_out = 0;

    for (int i = 0; i < all->count; i++) {
        const row *r = &all->at[i];
        jx_ctx *ctx = jx_ctx_new(0);
        jx_buffer text = {0};
        if (!r->text || prints_otherwise(r)) {
            left_out += r->text != NULL;
        } else {
            assert_true(jx_program_print(program_of(ctx, r),
                                         (jx_print_options){0}, &text));
            jx_buffer_putc(&text, '\n');
            same(r->name, &text, r->text, r->text_length);
        }
        jx_buffer_free(&text);
        jx_ctx_free(ctx);
    }
    assert_true(left_out < 6);
}

static const jx_program *text_program(jx_ctx *ctx, const row *r)
{
    const jx_program *p = jx_read_text(ctx, "-", r->text, r->text_length);

    if (!p || !jx_program_verify(p))
        fail_msg("%s: %s: %s", r->name, ctx->error.place, ctx->error.message);
    return p;
}

/* A solver shows its jaxprs by str(), which hides which of them are one. */
static void texts_print_as_they_were_read(void **state)
{
    const rows *all = *state;
    int left_out = 0;

    for (int i = 0; i < all->count; i++) {
        const row *r = &all->at[i];
        jx_ctx *ctx = jx_ctx_new(0);
        jx_buffer text = {0};
        if (r->text) {
            const jx_program *p = text_program(ctx, r);
            assert_true(jx_program_print(p, (jx_print_options){0}, &text));
            jx_buffer_putc(&text, '\n');
            bool unsure = strstr(r->text, "_LinearSolveTuple(matvec=") ||
                          strstr(r->name, "grad_odeint");
            left_out += unsure;
            if (!unsure)
                same(r->name, &text, r->text, r->text_length);
        }
        jx_buffer_free(&text);
        jx_ctx_free(ctx);
    }
    assert_true(left_out < 16);
}

/* Cut anywhere, a text is refused with a place, or is a whole one. */
static void texts_cut_anywhere_are_refused(void **state)
{
    const rows *all = *state;

    for (int i = 0; i < all->count; i += 23) {
        const row *r = &all->at[i];
        for (size_t n = 0; r->text && n + 3 < r->text_length; n += 7) {
            jx_ctx *ctx = jx_ctx_new(0);
            assert_null(jx_read_text(ctx, "-", r->text, n));
            assert_int_equal(ctx->error.kind, JX_E_INPUT);
            assert_non_null(strstr(ctx->error.place, "line "));
            jx_ctx_free(ctx);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_written_as_they_were_read),
        cmocka_unit_test(what_is_read_passes_the_verifier),
        cmocka_unit_test(documents_print_as_jax_prints_them),
        cmocka_unit_test(texts_print_as_they_were_read),
        cmocka_unit_test(texts_cut_anywhere_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
