/* decode.c - reads modules of MLIR bytecode and says of each whether that
 * worked, how many ops it has and how much memory it took.  Written again, each
 * must have the same bytes.
 *
 *     decode [--print OUT] FILE...
 *
 * With --print, the StableHLO of each in the generic form, with locations, as
 * OUT/NAME.mlir. */
#include "frontend/base/file.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/bytecode_write.h"
#include "frontend/mlir/print.h"
#include "frontend/mlir/vhlo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count(const jx_mlir_op *op)
{
    int n = 1;

    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i].nblocks; k++)
            for (int j = 0; j < op->regions[i].blocks[k]->nops; j++)
                n += count(op->regions[i].blocks[k]->ops[j]);
    return n;
}

static bool print(jx_ctx *ctx, const jx_mlir_file *file, const char *out)
{
    const char *name = strrchr(file->path, '/');
    jx_buffer text = {0};
    const char *path = jx_arena_printf(ctx->arena, "%s/%s.mlir", out,
                                       name ? name + 1 : file->path);
    bool done =
        path &&
        jx_mlir_print(ctx, file->modules[0],
                      (jx_mlir_print_how){.generic = true, .locations = true},
                      &text) &&
        jx_file_write(ctx, path, jx_buffer_text(&text), text.length);

    jx_buffer_free(&text);
    return done;
}

/* Written again, the bytes must be the ones that were read. */
static bool encode(jx_ctx *ctx, const jx_mlir_file *file, const char *bytes,
                   size_t size)
{
    jx_buffer again = {0};
    bool done = jx_bytecode_write(ctx, file, &again);
    size_t same = 0;

    while (done && same < size && same < again.length &&
           again.text[same] == bytes[same])
        same++;
    if (done && getenv("JX_AGAIN"))
        jx_file_write(ctx, getenv("JX_AGAIN"), again.text, again.length);
    if (done && (same < size || again.length != size))
        done = jx_fail(ctx, JX_E_INTERNAL, file->path, NULL,
                       "written again it has %zu bytes instead of %zu and "
                       "differs at byte %zu",
                       again.length, size, same);
    jx_buffer_free(&again);
    return done;
}

static bool decode(const char *path, const char *out)
{
    jx_ctx *ctx = jx_ctx_new(0);
    size_t size = 0;

    if (!ctx)
        return false;
    const char *bytes = jx_file_read(ctx, path, &size);
    size_t before = jx_arena_used(ctx->arena);
    const jx_mlir_file *file =
        bytes ? jx_bytecode_read(ctx, NULL, path, bytes, size, 0) : NULL;
    if (file && !encode(ctx, file, bytes, size))
        file = NULL;
    if (file)
        file = jx_vhlo_to_stablehlo(ctx, file);
    if (file && out && !print(ctx, file, out))
        file = NULL;
    if (file)
        printf("%s: version %d, %s, %d ops, %.1f bytes a byte\n", path,
               file->bytecode, file->producer, count(file->modules[0]),
               (double)(jx_arena_used(ctx->arena) - before) / (double)size);
    else
        printf("%s: %s: %s\n", path, ctx->error.place ? ctx->error.place : "",
               ctx->error.message);
    jx_ctx_free(ctx);
    return file != NULL;
}

int main(int argc, char **argv)
{
    int bad = 0, from = 1;
    const char *out = NULL;

    if (argc > 3 && strcmp(argv[1], "--print") == 0) {
        out = argv[2];
        from = 3;
    }
    for (int i = from; i < argc; i++)
        bad += !decode(argv[i], out);
    printf("decode: %d of %d\n", argc - from - bad, argc - from);
    return bad != 0;
}
