/* reading.c - reads MLIR text as a test wants it.
 *
 *     reading FILE...          reads each; says what fails, and at the end how
 *                              many were read and how many were not
 *     reading --same           pairs of paths, one pair of lines after another,
 *                              from standard input: both must give the same
 *                              trees
 *     reading --again FILE...  prints what can be read in the generic form;
 *                              read again, it must be the same
 *     reading --time N FILE    the fastest of N readings, in milliseconds */
#include "frontend/base/file.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/print.h"
#include "frontend/mlir/text.h"
#include "frontend/mlir/vhlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static jx_mlir_file *read_path(jx_ctx *ctx, jx_mlir_types *types,
                               const char *path)
{
    size_t size;
    const char *text = jx_file_read(ctx, path, &size);

    if (!text || !jx_bytecode_is(text, size))
        return text ? jx_mlir_read_text(ctx, types, path, text, size) : NULL;
    jx_mlir_file *file = jx_bytecode_read(ctx, types, path, text, size, 0);
    return file ? jx_vhlo_to_stablehlo(ctx, file) : NULL;
}

static void complain(const jx_ctx *ctx, const char *path)
{
    printf("%s: %s: %s\n", path, ctx->error.place ? ctx->error.place : "-",
           ctx->error.message);
}

static bool reads(const char *path)
{
    jx_ctx *ctx = jx_ctx_new(0);
    bool ok = read_path(ctx, NULL, path) != NULL;

    if (!ok)
        complain(ctx, path);
    jx_ctx_free(ctx);
    return ok;
}

static int read_all(int count, char **paths)
{
    int read = 0;

    for (int i = 0; i < count; i++)
        read += reads(paths[i]);
    printf("%d read, %d not\n", read, count - read);
    return read == count ? 0 : 1;
}

static void say_place(const jx_mlir_op *op)
{
    if (op)
        printf(" %s at %d:%d", op->name, op->place.line, op->place.column);
    else
        printf(" nothing");
}

static bool same_modules(jx_ctx *ctx, const jx_mlir_file *a,
                         const jx_mlir_file *b, const char *path)
{
    jx_mlir_difference why = {0};

    if (a->nmodules != b->nmodules) {
        printf("%s: %d and %d modules\n", path, a->nmodules, b->nmodules);
        return false;
    }
    for (int i = 0; i < a->nmodules; i++)
        if (!jx_mlir_same(ctx, a->modules[i], b->modules[i], &why)) {
            printf("%s: %s:", path, why.what);
            say_place(why.a);
            printf(",");
            say_place(why.b);
            printf("\n");
            return false;
        }
    return true;
}

static bool same(const char *first, const char *second)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_mlir_types types;
    bool ok;

    jx_mlir_types_init(&types, ctx);
    jx_mlir_file *a = read_path(ctx, &types, first);
    jx_mlir_file *b = a ? read_path(ctx, &types, second) : NULL;
    if (!b)
        complain(ctx, a ? second : first);
    ok = b && same_modules(ctx, a, b, first);
    jx_ctx_free(ctx);
    return ok;
}

static int same_all(void)
{
    char first[4096], second[4096];
    int good = 0, all = 0;

    while (fgets(first, sizeof first, stdin) &&
           fgets(second, sizeof second, stdin)) {
        first[strcspn(first, "\n")] = '\0';
        second[strcspn(second, "\n")] = '\0';
        all++;
        good += same(first, second);
    }
    printf("%d of %d are the same\n", good, all);
    return good == all ? 0 : 1;
}

/* Printed in the generic form, and read. */
static bool same_again(const char *path)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_mlir_types types;
    bool ok = true;

    jx_mlir_types_init(&types, ctx);
    jx_mlir_file *file = read_path(ctx, &types, path);
    for (int i = 0; file && ok && i < file->nmodules; i++) {
        jx_buffer text = {0};
        jx_mlir_file part = *file;
        if (!jx_mlir_print(ctx, file->modules[i],
                           (jx_mlir_print_how){.generic = true}, &text))
            break;
        jx_mlir_file *again =
            jx_mlir_read_text(ctx, &types, "printed", text.text, text.length);
        if (!again)
            complain(ctx, path);
        part.nmodules = 1;
        part.modules = file->modules + i;
        ok = again && same_modules(ctx, &part, again, path);
        jx_buffer_free(&text);
    }
    jx_ctx_free(ctx);
    return ok;
}

static int again_all(int count, char **paths)
{
    int good = 0;

    for (int i = 0; i < count; i++)
        good += same_again(paths[i]);
    printf("%d of %d are the same again\n", good, count);
    return good == count ? 0 : 1;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int time_reading(int count, const char *path)
{
    jx_ctx *files = jx_ctx_new(0);
    size_t size;
    const char *text = jx_file_read(files, path, &size);
    double best = 0;

    for (int i = 0; text && i < count; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        double begin = now();
        if (!jx_mlir_read_text(ctx, NULL, path, text, size))
            complain(ctx, path);
        double spent = now() - begin;
        best = i && best < spent ? best : spent;
        if (!i)
            printf("%zu bytes of text, %zu of memory\n", size,
                   jx_arena_used(ctx->arena));
        jx_ctx_free(ctx);
    }
    printf("%.3f ms, %.0f MB/s\n", best, (double)size / 1e3 / best);
    jx_ctx_free(files);
    return text ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--same") == 0)
        return same_all();
    if (argc > 2 && strcmp(argv[1], "--again") == 0)
        return again_all(argc - 2, argv + 2);
    if (argc == 4 && strcmp(argv[1], "--time") == 0)
        return time_reading(atoi(argv[2]), argv[3]);
    return read_all(argc - 1, argv + 1);
}
