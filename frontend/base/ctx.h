/* ctx.h - all state of one use of the library.
 *
 * A context owns an arena, the interned strings and the errors met so far.
 * There are no mutable globals: two contexts never meet, and each may be used
 * by one thread at a time.  What the layers above intern (dims, avals, params)
 * hangs off the same arena and lives as long as the context.
 *
 * Errors here are about what came from outside or from a library (an input
 * that can't be read, memory that ran out).  What is wrong with the user's
 * *program* is a claim (frontend/ir/claim.h), never an error. */
#ifndef JX_CTX_H
#define JX_CTX_H

#include "frontend/base/arena.h"
#include "frontend/base/buffer.h"
#include "frontend/base/intern.h"

/* Why something failed; decides the exit code of the command. */
typedef enum jx_error_kind {
    JX_E_NONE = 0,
    JX_E_INPUT,    /* an input can't be read: exit 3 */
    JX_E_USAGE,    /* the caller asked for what does not exist: exit 2 */
    JX_E_MEMORY,   /* the budget is spent: exit 3 */
    JX_E_SYSTEM,   /* the system refused (file, process): exit 3 */
    JX_E_INTERNAL, /* we are wrong: exit 4 */
} jx_error_kind;

typedef struct jx_error {
    jx_error_kind kind;
    const char *file;    /* NULL if no file is concerned */
    const char *place;   /* "byte 12", "line 3, column 4", "/jaxprs/2"; or NULL */
    const char *message; /* what was expected and what to do */
} jx_error;

typedef struct jx_ctx {
    jx_arena *arena;
    jx_strings strings;
    jx_error error; /* the first one; kind is JX_E_NONE while all is well */
} jx_ctx;

/* A context whose arena has this budget in bytes (0: no limit). */
jx_ctx *jx_ctx_new(size_t budget);
void jx_ctx_free(jx_ctx *ctx);

/* Records the first error only: what follows it is usually its echo.  `file`
 * and `place` may be NULL.  Always returns false, for `return jx_fail(...)`. */
bool jx_fail(jx_ctx *ctx, jx_error_kind kind, const char *file,
             const char *place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* No error recorded and the arena has not run out; when it has, that becomes
 * the error. */
bool jx_ok(jx_ctx *ctx);
void jx_error_clear(jx_ctx *ctx);

const char *jx_intern_text(jx_ctx *ctx, const char *text); /* NUL-terminated */

/* "file: place: message" as a terminal may see it: what the parts quote is
 * escaped, and a message of several lines (the source, a mark below it) has
 * them behind a bar, so that none of them begins as its author likes. */
void jx_error_print(const jx_error *error, jx_buffer *to);

#endif
