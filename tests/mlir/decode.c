/* decode.c - reads modules of MLIR bytecode and says of each whether that
 * worked, how many ops it has and how much memory it took.
 *
 *     decode FILE... */
#include "frontend/base/file.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/vhlo.h"

#include <stdio.h>
#include <stdlib.h>

static int count(const jx_mlir_op *op)
{
    int n = 1;

    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i].nblocks; k++)
            for (int j = 0; j < op->regions[i].blocks[k]->nops; j++)
                n += count(op->regions[i].blocks[k]->ops[j]);
    return n;
}

static bool decode(const char *path)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_mlir_types types;
    size_t size = 0;

    if (!ctx)
        return false;
    jx_mlir_types_init(&types, ctx);
    const char *bytes = jx_file_read(ctx, path, &size);
    size_t before = jx_arena_used(ctx->arena);
    const jx_mlir_file *file =
        bytes ? jx_bytecode_read(ctx, &types, path, bytes, size, 0) : NULL;
    if (file && !jx_vhlo_to_stablehlo(ctx, file))
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
    int bad = 0;

    for (int i = 1; i < argc; i++)
        bad += !decode(argv[i]);
    printf("decode: %d of %d\n", argc - 1 - bad, argc - 1);
    return bad != 0;
}
