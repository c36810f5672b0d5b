/* bounds_words.h - what bounds of values (analyzer/values) say, in words. */
#ifndef JX_BOUNDS_WORDS_H
#define JX_BOUNDS_WORDS_H

#include "analyzer/values/values.h"

/* "ieee, ftz" of those that hold, or of those that do not. */
void jx_put_semantics(const bool *holds, bool which, jx_buffer *to);
/* "log gives [-inf, 0] of [0, 1]" */
void jx_put_step(const jx_lost *lost, jx_buffer *to);
/* "an index of gather lies in [0, 9], and may lie in [0, 4]", in the arena of
 * the context. */
const char *jx_why_open(jx_ctx *ctx, const jx_extents_question *q);

#endif
