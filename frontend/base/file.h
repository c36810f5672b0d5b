/* file.h - whole files, in and out. */
#ifndef JX_FILE_H
#define JX_FILE_H

#include "frontend/base/ctx.h"

/* The bytes of a file, `-` being standard input, with a NUL after the last, in
 * the context's arena (its budget is the limit).  NULL with an error. */
const char *jx_file_read(jx_ctx *ctx, const char *path, size_t *size);

/* Writes a file so that no reader ever sees half of it: into a new file beside
 * it, under a name that nobody can have taken, then renamed.  `-`, and what
 * exists and is no regular file (/dev/null, a pipe), is written directly.
 * False with an error, and nothing left behind. */
bool jx_file_write(jx_ctx *ctx, const char *path, const void *data,
                   size_t size);

#endif
