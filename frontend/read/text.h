/* text.h - reads jaxprs as JAX prints them.
 *
 * The text says less than the program: parameters that JAX leaves out come
 * back from the binders' types or as JAX's defaults; weak types, values of
 * constants, rules and effects are unknown (jx_program.from_text).  Comments
 * from `#` to the end of a line are skipped between tokens.  Errors name line
 * and column. */
#ifndef JX_READ_TEXT_H
#define JX_READ_TEXT_H

#include "frontend/base/vec.h"
#include "frontend/ir/program.h"

/* Whether this is a jaxpr's text by its beginning: surely, or perhaps (what is
 * wrong with it is then for the reader to say). */
bool jx_is_text(const char *text, size_t length);
bool jx_may_be_text(const char *text, size_t length);
/* NULL with an error.  The text need not outlive the call. */
jx_program *jx_read_text(jx_ctx *ctx, const char *path, const char *text,
                         size_t length);
/* The same, with the line of each equation of each jaxpr, by the jaxpr's id. */
typedef JX_VEC(const int *) jx_text_lines;
jx_program *jx_read_text_lines(jx_ctx *ctx, const char *path, const char *text,
                               size_t length, jx_text_lines *lines);
/* A jaxpr beside the program's own, of its sizes (those of that scope) and
 * types, whose equations all have that context; NULL with an error. */
const jx_jaxpr *jx_read_text_for(jx_program *program, const char *path,
                                 const char *text, int dim_scope,
                                 const jx_eqn_ctx *eqn_ctx);

#endif
