/* bytecode_check.h - what must hold of any bytes that are given to the reader
 * of MLIR bytecode: for the fuzz target and the mutator. */
#ifndef JX_TESTS_BYTECODE_CHECK_H
#define JX_TESTS_BYTECODE_CHECK_H

#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/bytecode_write.h"
#include "frontend/mlir/ops.h"
#include "frontend/mlir/vhlo.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_BUDGET = 64 << 20 };

/* What was written must be read again, and be written the same. */
static inline bool check_written(const jx_mlir_file *file)
{
    jx_buffer one = {0}, two = {0};
    jx_ctx *ctx = jx_ctx_new(CHECK_BUDGET);
    bool good = true;

    if (jx_bytecode_write(file->ctx, file, &one)) {
        jx_mlir_file *again =
            jx_bytecode_read(ctx, NULL, "-", one.text, one.length, 0);
        /* The memory that a file may take goes by its size, and a writer
         * shares what a mutated file has twice. */
        if (!again)
            good = strstr(ctx->error.message, "times the memory") != NULL;
        else if (jx_bytecode_write(ctx, again, &two))
            good = one.length == two.length &&
                   memcmp(one.text, two.text, one.length) == 0;
        else
            good = false;
    } else {
        good = file->ctx->error.kind == JX_E_INPUT;
        jx_error_clear(file->ctx);
    }
    jx_buffer_free(&one);
    jx_buffer_free(&two);
    jx_ctx_free(ctx);
    return good;
}

static inline bool check_file(jx_ctx *ctx, jx_mlir_file *file)
{
    static const int old[3] = {0, 9, 0};
    jx_mlir_file *up;

    if (!check_written(file))
        return false;
    up = jx_vhlo_to_stablehlo(ctx, file);
    if (!up) {
        if (ctx->error.kind != JX_E_INPUT && ctx->error.kind != JX_E_LIMIT)
            return false;
        jx_error_clear(ctx);
        return true;
    }
    const int *versions[] = {jx_vhlo_newest, old};
    for (int i = 0; i < 2; i++) {
        jx_mlir_file *down = jx_vhlo_from_stablehlo(ctx, up, versions[i]);
        if (!down && ctx->error.kind != JX_E_INPUT &&
            ctx->error.kind != JX_E_LIMIT)
            return false;
        jx_error_clear(ctx);
        if (down && !check_written(down))
            return false;
    }
    return jx_mlir_strip_locations(ctx, file) || jx_arena_failed(ctx->arena);
}

/* *taken: the bytes were a module. */
static inline bool check_bytes(const uint8_t *data, size_t size, bool *taken)
{
    jx_ctx *ctx = jx_ctx_new(CHECK_BUDGET);
    uint8_t *copy = malloc(size ? size : 1); /* so that overruns are seen */
    bool good;

    *taken = false;
    if (!ctx || !copy)
        return false;
    if (size)
        memcpy(copy, data, size);
    size_t before = jx_arena_used(ctx->arena);
    jx_mlir_file *file = jx_bytecode_read(ctx, NULL, "-", copy, size, 0);
    *taken = file != NULL;
    good = jx_arena_used(ctx->arena) - before <= 80 * size + (1 << 17);
    if (!file)
        good &= ctx->error.kind == JX_E_INPUT && ctx->error.message &&
                ctx->error.place;
    else
        good &= check_file(ctx, file);
    free(copy);
    jx_ctx_free(ctx);
    return good;
}

#endif
