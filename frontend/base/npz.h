/* npz.h - arrays by name in one file, as numpy.savez writes them.
 *
 * An npz is a zip of .npy files.  Members may be stored or deflated; sizes are
 * believed only after they have been checked against the file. */
#ifndef JX_NPZ_H
#define JX_NPZ_H

#include "frontend/base/buffer.h"
#include "frontend/base/ctx.h"

#include <stdint.h>

typedef struct jx_npy {
    const char *name;  /* without ".npy" */
    const char *descr; /* numpy's: "<f4", "|b1", "|V2", "<c8" */
    int rank;
    const int64_t *shape;
    size_t item, bytes; /* of one element, of all */
    const void *data;   /* little endian, row-major; aligned to 16 */
} jx_npy;

typedef struct jx_npz {
    int count;
    const jx_npy *at; /* in the order of the file */
} jx_npz;

/* Reads an npz from memory (which has to outlive the result) into the arena.
 * NULL with an error that names the file, member and byte. */
const jx_npz *jx_npz_read(jx_ctx *ctx, const char *path, const void *data,
                          size_t size);
const jx_npy *jx_npz_find(const jx_npz *npz, const char *name);

/* Appends an uncompressed npz with these arrays (`descr` as above) to `to`.
 * The bytes are those of numpy.savez but for time stamps, which are zero. */
void jx_npz_write(jx_buffer *to, const jx_npz *npz);

#endif
