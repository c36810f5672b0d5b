/* test_npz.c - arrays in files, checksums, base64. */
#include "frontend/base/npz.h"

#include "frontend/base/base64.h"
#include "frontend/base/inflate.h"
#include "frontend/base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t two_three[] = {2, 3}, none[] = {0, 5};
static const int32_t six[] = {1, 2, 3, 4, 5, 6};
static const double pi = 3.25;
static const jx_npy arrays[] = {
    {"a", "<i4", 2, two_three, 4, 24, six},
    {"scalar", "<f8", 0, NULL, 8, 8, &pi},
    {"empty", "|u1", 2, none, 1, 0, ""},
    {"", "|b1", 0, NULL, 1, 1, "\1"}, /* its file is .npy, as numpy's */
};

enum { COUNT = sizeof arrays / sizeof *arrays };

static void pack(jx_buffer *to)
{
    const jx_npz npz = {COUNT, arrays};

    jx_npz_write(to, &npz);
    assert_true(jx_buffer_ok(to));
}

static void what_is_written_reads_back(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer packed = {0};
    (void)state;

    pack(&packed);
    const jx_npz *npz = jx_npz_read(ctx, "f", packed.text, packed.length);
    assert_non_null(npz);
    assert_int_equal(npz->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const jx_npy *got = jx_npz_find(npz, arrays[i].name);

        assert_non_null(got);
        assert_string_equal(got->descr, arrays[i].descr);
        assert_int_equal(got->rank, arrays[i].rank);
        assert_int_equal(got->bytes, arrays[i].bytes);
        assert_memory_equal(got->data, arrays[i].data, got->bytes);
        assert_int_equal((uintptr_t)got->data % 16, 0);
        for (int k = 0; k < got->rank; k++)
            assert_int_equal(got->shape[k], arrays[i].shape[k]);
    }
    assert_null(jx_npz_find(npz, "b"));
    jx_buffer_free(&packed);
    jx_ctx_free(ctx);
}

/* Readers differ in which of the two they take. */
static void a_name_that_stands_twice_is_refused(void **state)
{
    const jx_npy twice[] = {arrays[0], arrays[1], arrays[0]};
    const jx_npz npz = {3, twice};
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer packed = {0};
    (void)state;

    jx_npz_write(&packed, &npz);
    assert_null(jx_npz_read(ctx, "f", packed.text, packed.length));
    assert_non_null(strstr(ctx->error.message, "\"a\" stands there twice"));
    jx_buffer_free(&packed);
    jx_ctx_free(ctx);
}

static void cut_anywhere_it_is_refused(void **state)
{
    jx_buffer packed = {0};
    (void)state;

    pack(&packed);
    for (size_t n = 0; n < packed.length; n++) {
        jx_ctx *ctx = jx_ctx_new(0);
        char *text = malloc(n + 1);
        memcpy(text, packed.text, n);
        assert_null(jx_npz_read(ctx, "f", text, n));
        assert_int_equal(ctx->error.kind, JX_E_INPUT);
        free(text);
        jx_ctx_free(ctx);
    }
    jx_buffer_free(&packed);
}

/* Whatever one byte says: refused, or read within bounds (ASan looks on). */
static void no_changed_byte_breaks_it(void **state)
{
    static const unsigned char flips[] = {1, 0x80, 0xff};
    jx_buffer packed = {0};
    int refused = 0;
    (void)state;

    pack(&packed);
    for (size_t i = 0; i < packed.length; i++)
        for (size_t k = 0; k < sizeof flips; k++) {
            jx_ctx *ctx = jx_ctx_new(1 << 20);
            packed.text[i] = (char)(packed.text[i] ^ flips[k]);
            refused += !jx_npz_read(ctx, "f", packed.text, packed.length);
            packed.text[i] = (char)(packed.text[i] ^ flips[k]);
            jx_ctx_free(ctx);
        }
    assert_true(refused > 1000);
    jx_buffer_free(&packed);
}

static void a_changed_header_is_named(void **state)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"'<i4'", "'>i4'"},   {"'<i4'", "'|O4'"}, {"(2, 3)", "(2, 4)"},
        {"(2, 3)", "(2,-3)"}, {"False", "Maybe"}, {"'shape'", "'shapf'"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_buffer packed = {0};
        pack(&packed);
        char *at = memmem(packed.text, packed.length, cases[i].from,
                          strlen(cases[i].from));
        memcpy(at, cases[i].to, strlen(cases[i].to));
        /* The checksum is that of what is there now. */
        assert_null(jx_npz_read(ctx, "f", packed.text, packed.length));
        assert_non_null(strstr(ctx->error.place, "\"a.npy\""));
        jx_buffer_free(&packed);
        jx_ctx_free(ctx);
    }
}

static void sha256_gives_known_digests(void **state)
{
    char hex[65], many[1000];
    (void)state;

    jx_sha256("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934c"
                             "a495991b7852b855");
    jx_sha256("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9c"
                             "b410ff61f20015ad");
    memset(many, 'a', sizeof many);
    jx_sha256(many, sizeof many, hex);
    assert_string_equal(hex, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d13464"
                             "5adb5db1b9737ea3");
}

static void base64_goes_there_and_back(void **state)
{
    static const char *const wrong[] = {
        "A", "AA", "AAA", "A===", "=AAA", "AB==", "AAB=", "AA!A", "AA==AAAA"};
    unsigned char data[64], back[96];
    size_t size;
    (void)state;

    for (size_t n = 0; n < sizeof data; n++) {
        jx_buffer text = {0};
        for (size_t i = 0; i < n; i++)
            data[i] = (unsigned char)(i * 37 + n);
        jx_base64_write(&text, data, n);
        assert_true(
            jx_base64_read(jx_buffer_text(&text), text.length, back, &size));
        assert_int_equal(size, n);
        assert_memory_equal(back, data, n);
        jx_buffer_free(&text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(jx_base64_read(wrong[i], strlen(wrong[i]), back, &size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(a_name_that_stands_twice_is_refused),
        cmocka_unit_test(cut_anywhere_it_is_refused),
        cmocka_unit_test(no_changed_byte_breaks_it),
        cmocka_unit_test(a_changed_header_is_named),
        cmocka_unit_test(sha256_gives_known_digests),
        cmocka_unit_test(base64_goes_there_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
