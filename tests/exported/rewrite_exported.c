/* rewrite_exported.c IN OUT [MODULE [NAME]] - reads an exported file and writes
 * it again; with the module in the file MODULE, named NAME.  For
 * tests/python/test_exported_files.py. */
#include "frontend/base/file.h"
#include "frontend/write/exported.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer text = {0};
    size_t size = 0;
    const char *bytes = argc > 2 ? jx_file_read(ctx, argv[1], &size) : NULL;
    const jx_exported *x =
        bytes ? jx_exported_read(ctx, argv[1], bytes, size) : NULL;
    jx_exported changed;
    bool ok = x != NULL;

    if (ok) {
        changed = *x;
        if (argc > 3)
            changed.module.at = (const unsigned char *)jx_file_read(
                ctx, argv[3], &changed.module.size);
        if (argc > 4)
            changed.name = argv[4];
        ok = changed.module.at &&
             jx_exported_write(&changed,
                               jx_exported_builder_of(ctx, x, bytes, size),
                               &text) &&
             jx_file_write(ctx, argv[2], text.text, text.length);
    }
    if (!ok)
        fprintf(stderr, "%s\n",
                ctx->error.message ? ctx->error.message : "expected IN OUT");
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
    return ok ? 0 : 1;
}
