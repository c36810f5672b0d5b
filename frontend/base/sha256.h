/* sha256.h - SHA-256 (FIPS 180-4), to know a side file again. */
#ifndef JX_SHA256_H
#define JX_SHA256_H

#include <stddef.h>

/* The digest as 64 lower-case hexadecimal digits and a NUL. */
void jx_sha256(const void *data, size_t size, char hex[65]);

#endif
