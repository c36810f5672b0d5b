/* rewrite.c - changes modules of MLIR bytecode and writes them.
 *
 *     rewrite HOW OUT FILE...
 *
 * HOW is `strip` (no locations), `plain` (no orders of uses), a version like
 * 1.9.0, or `through:1.9.0`: by way of StableHLO.  OUT/NAME is what came of it;
 * what is refused is said. */
#include "frontend/base/file.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/bytecode_write.h"
#include "frontend/mlir/vhlo.h"

#include <stdio.h>
#include <string.h>

static jx_mlir_file *change(jx_ctx *ctx, jx_mlir_file *file, const char *how)
{
    int version[3];
    bool through = strncmp(how, "through:", 8) == 0;

    if (strcmp(how, "strip") == 0)
        return jx_mlir_strip_locations(ctx, file);
    if (strcmp(how, "plain") == 0) {
        file->extra = NULL;
        return file;
    }
    if (sscanf(through ? how + 8 : how, "%d.%d.%d", &version[0], &version[1],
               &version[2]) != 3) {
        jx_fail(ctx, JX_E_USAGE, NULL, NULL, "%s is no version", how);
        return NULL;
    }
    if (!through)
        return jx_vhlo_set_version(ctx, file, version);
    file = jx_vhlo_to_stablehlo(ctx, file);
    return file ? jx_vhlo_from_stablehlo(ctx, file, version) : NULL;
}

static bool rewrite(const char *how, const char *out, const char *path)
{
    jx_ctx *ctx = jx_ctx_new(0);
    const char *name = strrchr(path, '/');
    jx_buffer bytes = {0};
    size_t size = 0;

    if (!ctx)
        return false;
    const char *data = jx_file_read(ctx, path, &size);
    jx_mlir_file *file =
        data ? jx_bytecode_read(ctx, NULL, path, data, size, 0) : NULL;
    if (file)
        file = change(ctx, file, how);
    const char *to =
        jx_arena_printf(ctx->arena, "%s/%s", out, name ? name + 1 : path);
    bool done = file && to && jx_bytecode_write(ctx, file, &bytes) &&
                jx_file_write(ctx, to, bytes.text, bytes.length);
    if (!done)
        printf("%s: %s: %s\n", path, ctx->error.place ? ctx->error.place : "",
               ctx->error.message);
    jx_buffer_free(&bytes);
    jx_ctx_free(ctx);
    return done;
}

int main(int argc, char **argv)
{
    int bad = 0;

    if (argc < 4)
        return 2;
    for (int i = 3; i < argc; i++)
        bad += !rewrite(argv[1], argv[2], argv[i]);
    printf("rewrite: %d of %d\n", argc - 3 - bad, argc - 3);
    return 0;
}
