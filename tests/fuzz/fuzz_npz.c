/* fuzz_npz.c - arrays in numpy's formats: a zip file of them, or one of them as
 * the member of a zip file.
 *
 * A member's checksum hides what is in it from whoever changes bytes anywhere,
 * so the member is the input, and the zip file is made around it.  What is read
 * lies in the input or the arena; written, it must read again as the same. */
#include "frontend/base/inflate.h"
#include "frontend/base/npz.h"
#include "tests/fuzz/fuzz.h"

enum { BUDGET = 16 << 20, LOCAL = 30, ENTRY = 46, END = 22 };

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* A zip file whose one member, x.npy, is stored; to be freed. */
static uint8_t *zip_of(const uint8_t *member, size_t size, size_t *all)
{
    static const char name[5] = "x.npy";
    size_t entry = LOCAL + sizeof name + size, end = entry + ENTRY + 5;
    uint8_t *zip = calloc(1, end + END);

    check(zip != NULL);
    memcpy(zip, "PK\3\4", 4);
    put(zip + 26, sizeof name, 2);
    memcpy(zip + LOCAL, name, sizeof name);
    if (size)
        memcpy(zip + LOCAL + sizeof name, member, size);
    memcpy(zip + entry, "PK\1\2", 4);
    put(zip + entry + 16, jx_crc32(member, size), 4);
    put(zip + entry + 20, size, 4);
    put(zip + entry + 24, size, 4);
    put(zip + entry + 28, sizeof name, 2);
    memcpy(zip + entry + ENTRY, name, sizeof name);
    memcpy(zip + end, "PK\5\6", 4);
    put(zip + end + 10, 1, 2);
    put(zip + end + 12, end - entry, 4);
    put(zip + end + 16, entry, 4);
    *all = end + END;
    return zip;
}

/* To somewhere of its own, so that a sanitizer sees who reads on. */
static void walk(const jx_npz *npz)
{
    for (int i = 0; i < npz->count; i++) {
        const jx_npy *a = &npz->at[i];
        size_t count = 1;

        for (int k = 0; k < a->rank; k++)
            count *= (size_t)a->shape[k];
        check(a->item > 0 && a->bytes == count * a->item);
        check((uintptr_t)a->data % 16 == 0 || !a->bytes);
        char *copy = fuzz_copy(a->data, a->bytes);
        free(copy);
        check(jx_npz_find(npz, a->name) == a);
    }
}

static void check_same(const jx_npz *a, const jx_npz *b)
{
    check(a->count == b->count);
    for (int i = 0; i < a->count; i++) {
        const jx_npy *x = &a->at[i], *y = &b->at[i];

        check(!strcmp(x->name, y->name) && !strcmp(x->descr, y->descr));
        check(x->rank == y->rank && x->bytes == y->bytes);
        check(!x->rank ||
              !memcmp(x->shape, y->shape, (size_t)x->rank * sizeof *x->shape));
        check(!x->bytes || !memcmp(x->data, y->data, x->bytes));
    }
}

static void read_again(jx_ctx *ctx, const jx_npz *npz)
{
    jx_buffer file = {0};
    const jx_npz *again;

    jx_npz_write(&file, npz);
    check(jx_buffer_ok(&file));
    again = jx_npz_read(ctx, "-", file.text, file.length);
    check(again || ctx->error.kind == JX_E_LIMIT);
    if (again)
        check_same(npz, again);
    jx_buffer_free(&file);
}

static void read_file(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(BUDGET);
    char *copy = fuzz_copy(data, size);
    const jx_npz *npz = jx_npz_read(ctx, "-", copy, size);

    check(npz || (ctx->error.kind != JX_E_INTERNAL && ctx->error.message));
    if (npz) {
        walk(npz);
        read_again(ctx, npz);
    }
    free(copy);
    jx_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t all;
    uint8_t *zip = zip_of(data, size, &all);

    read_file(data, size);
    read_file(zip, all);
    free(zip);
    return 0;
}
