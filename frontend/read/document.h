/* document.h - reads a jaxpr document (docs/DOCUMENT.md).
 *
 * Errors in syntax name the byte, errors in meaning the JSON pointer
 * ("/jaxprs/2/eqns/5/1/0"); either way there is one, in ctx->error, and NULL
 * comes back. */
#ifndef JX_READ_DOCUMENT_H
#define JX_READ_DOCUMENT_H

#include "frontend/ir/program.h"

/* The newest version of the format that is read and written, which documents
 * are of that have definitions, that of those that have equations with modules,
 * and that of all others. */
enum {
    JX_DOCUMENT_VERSION = 3,
    JX_DOCUMENT_MODULES = 2,
    JX_DOCUMENT_PLAIN = 1
};

/* Reads `length` bytes, packed by gzip or not.  `path` names the input in
 * messages, and its folder is where the .npz of large constants is looked up
 * ("-": nowhere).  The text need not outlive the call. */
jx_program *jx_read_document(jx_ctx *ctx, const char *path, const char *text,
                             size_t length);

#endif
