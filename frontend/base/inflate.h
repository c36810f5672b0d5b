/* inflate.h - what zlib does for us: unpacking, and checksums.
 *
 * Unpacked data lands in the context's arena, so its budget is the limit, and
 * JX_INFLATE_MAX where there is none. */
#ifndef JX_INFLATE_H
#define JX_INFLATE_H

#include "frontend/base/ctx.h"

#include <stdint.h>

#define JX_INFLATE_MAX ((size_t)1 << 31)

/* Does this begin like a gzip file? */
bool jx_is_gzip(const void *data, size_t size);
/* Unpacks a gzip file (all its members), with a NUL after the last byte.  NULL
 * with an error. */
const char *jx_gunzip(jx_ctx *ctx, const char *path, const void *data,
                      size_t size, size_t *unpacked);

/* What a gzip file begins with, as far as it unpacks, at most `room` bytes; how
 * many. */
size_t jx_gunzip_beginning(const void *data, size_t size, void *to,
                           size_t room);

/* Unpacks a deflated member of known size into `to`.  False if it is not
 * exactly that many bytes. */
bool jx_inflate(const void *data, size_t size, void *to, size_t unpacked);
uint32_t jx_crc32(const void *data, size_t size);
const char *jx_zlib_version(void); /* "1.2.13" */

#endif
