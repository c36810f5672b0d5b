/* input.h - opens whatever the command takes.
 *
 * A program is read by its content, never by its name; a gzip is unpacked
 * first.  Only this file knows which readers there are. */
#ifndef JX_INPUT_H
#define JX_INPUT_H

#include "frontend/ir/program.h"
#include "frontend/mlir/tree.h"

/* Reads the program in a file (`-`: standard input).  NULL with an error in
 * ctx->error: that the file can't be read, that it is no program of a known
 * form, or what is wrong with it. */
jx_program *jx_input_open(jx_ctx *ctx, const char *path);

/* The same in steps: the bytes of a file, unpacked; whether they look like a
 * program; the program in bytes that go by the name of `path`. */
const char *jx_input_load(jx_ctx *ctx, const char *path, size_t *size);
bool jx_input_is_program(jx_ctx *ctx, const char *bytes, size_t size);

/* What a name promises: a program of some form (model.jaxexport, f.mlir.gz), or
 * what may be a document (f.json). */
typedef enum jx_input_name {
    JX_NAMED_OTHER,
    JX_NAMED_DOCUMENT,
    JX_NAMED_PROGRAM,
} jx_input_name;
jx_input_name jx_input_name_of(const char *path);

/* For walking folders, where files that are no programs are skipped: whether
 * the file is one by its content or its name, a document that is cut short or
 * can't be looked into among them; that one can't be read is for its reader to
 * say. *bytes are those of the file, unpacked, or NULL if they can't be had. */
bool jx_input_belongs(jx_ctx *ctx, const char *path, const char **bytes,
                      size_t *size);
jx_program *jx_input_read(jx_ctx *ctx, const char *path, const char *bytes,
                          size_t size);

/* The derivative of that order (from 1) which an exported file holds beside its
 * function: the program that takes its inputs and a cotangent for each output,
 * and gives one for each input; in the same context.  NULL with an error, also
 * if the file holds none. */
jx_program *jx_input_vjp(const jx_program *program, int64_t order);

/* The modules of StableHLO text or bytecode, or of an exported file, as they
 * are written: no program is made of them.  NULL with an error; for a program
 * of another form NULL without one. */
const jx_mlir_file *jx_input_module(jx_ctx *ctx, const char *path,
                                    const char *bytes, size_t size);

#endif
