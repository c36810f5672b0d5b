/* ctx.h - all state of one use of the library.
 *
 * A context owns an arena, the interned strings and the errors met so far.
 * There are no mutable globals: two contexts never meet, and each may be used
 * by one thread at a time.  What the layers above intern (dims, avals, params)
 * hangs off the same arena and lives as long as the context.
 *
 * Errors here are about what came from outside or from a library (an input
 * that can't be read, a limit that is reached).  What is wrong with the user's
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
    JX_E_LIMIT,    /* the budget is spent, the system has no memory: exit 3 */
    JX_E_SYSTEM,   /* the system refused (file, process): exit 3 */
    JX_E_INTERNAL, /* we are wrong: exit 4 */
} jx_error_kind;

typedef struct jx_error {
    jx_error_kind kind;
    const char *file;  /* NULL if no file is concerned */
    const char *place; /* "byte 12", "line 3, column 4", "/jaxprs/2"; or NULL */
    const char *message; /* what was expected and what to do */
} jx_error;

typedef struct jx_ctx {
    jx_budget budget; /* pays for the arena */
    jx_arena *arena;
    jx_strings strings;
    const char *file;  /* what it is all about, or NULL */
    const char *stage; /* what is being done, "reading"; said when giving up */
    jx_error error;    /* the first one; kind is JX_E_NONE while all is well */
    char gave_up[200];
} jx_ctx;

/* A context with limits; NULL when the system has no memory. */
jx_ctx *jx_ctx_limited(jx_limits limits);
/* One that may take so many bytes (0: no limit). */
jx_ctx *jx_ctx_new(size_t bytes);
/* One that may take so many, and takes them from `above`, too, which outlives
 * it.  NULL for `above` is as jx_ctx_new(). */
jx_ctx *jx_ctx_below(jx_ctx *above, size_t bytes);
void jx_ctx_free(jx_ctx *ctx);

/* From now on `ctx` takes from `above`, until it is told NULL; with that it
 * recovers from what was spent there, and from the system's refusing memory:
 * that was said of `above`.  Of a `ctx` that is well before. */
void jx_ctx_draw_on(jx_ctx *ctx, jx_ctx *above);
/* The file that an error concerns which concerns no other. */
void jx_ctx_concerns(jx_ctx *ctx, const char *file);
/* What is being done from now on, as a participle: "typing".  A constant. */
void jx_ctx_stage(jx_ctx *ctx, const char *stage);
/* Looks at the clock and at who may cancel; false, with the error, where it has
 * to end.  For loops that can be long and allocate little. */
bool jx_ctx_lasts(jx_ctx *ctx);
/* What is said where the system refused memory and no context can say more. */
#define JX_STARVED "gave up at the end of the system's memory"
/* The error for memory that the system refused; false. */
bool jx_starved(jx_ctx *ctx);
/* An empty text that the context pays for. */
jx_buffer jx_ctx_text(jx_ctx *ctx);

/* Records the first error only: what follows it is usually its echo.  `file`
 * and `place` may be NULL.  Always returns false, for `return jx_fail(...)`. */
bool jx_fail(jx_ctx *ctx, jx_error_kind kind, const char *file,
             const char *place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* No error recorded and the budget not spent; when it is, that becomes the
 * error. */
bool jx_ok(jx_ctx *ctx);
void jx_error_clear(jx_ctx *ctx);

/* Of a NUL-terminated text; NULL, as without memory, of NULL. */
const char *jx_intern_text(jx_ctx *ctx, const char *text);

/* "file: place: message" as a terminal may see it: what the parts quote is
 * escaped, and a message of several lines (the source, a mark below it) has
 * them behind a bar, so that none of them begins as its author likes. */
void jx_error_print(const jx_error *error, jx_buffer *to);

#endif
