/* input.h - opens whatever the command takes.
 *
 * A program is recognized by its content, never by its name; a gzip is
 * unpacked first.  Only this file knows which readers there are. */
#ifndef JX_INPUT_H
#define JX_INPUT_H

#include "frontend/ir/program.h"

/* Reads the program in a file (`-`: standard input), or in `size` bytes that go
 * by the name of `path`.  NULL with an error in ctx->error: that the file can't
 * be read, that it is no program of a known form, or what is wrong with it. */
jx_program *jx_input_open(jx_ctx *ctx, const char *path);
jx_program *jx_input_read(jx_ctx *ctx, const char *path, const char *bytes,
                          size_t size);

/* Whether the bytes look like a program of some form at all: for walking
 * folders, where other files are skipped. */
bool jx_input_is_program(const char *bytes, size_t size);

#endif
