/* base64.h - bytes as text (RFC 4648, with padding). */
#ifndef JX_BASE64_H
#define JX_BASE64_H

#include "frontend/base/buffer.h"

/* Decodes into `to`, which has room for `length / 4 * 3` bytes.  False if this
 * is not canonical base64; else *size is how many bytes it is. */
bool jx_base64_read(const char *text, size_t length, void *to, size_t *size);
void jx_base64_write(jx_buffer *to, const void *data, size_t size);

#endif
