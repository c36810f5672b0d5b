/* npz.c - see npz.h. */
#include "frontend/base/npz.h"

#include <string.h>

const jx_npz *jx_npz_read(jx_ctx *ctx, const char *path, const void *data,
                          size_t size)
{
    (void)data;
    (void)size;
    jx_fail(ctx, JX_E_INPUT, path, NULL, "npz files are not read yet");
    return NULL;
}

const jx_npy *jx_npz_find(const jx_npz *npz, const char *name)
{
    for (int i = 0; i < npz->count; i++)
        if (!strcmp(npz->at[i].name, name))
            return &npz->at[i];
    return NULL;
}
