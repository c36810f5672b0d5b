/* exhausts.h - what is said of functions that ran on every
 * input (exhaust.h). */
#ifndef JX_EXHAUSTS_H
#define JX_EXHAUSTS_H

#include "frontend/base/buffer.h"
#include "runtime/gradients/exhaust.h"

/* The word for it: "exhausted"; or "sampled", where inputs were left out. */
const char *jx_exhausted_word(const jx_exhausted *e);
/* Lines for people, each beginning with the path. */
void jx_exhausted_text(const jx_exhausted *e, const char *path, jx_buffer *to);
/* One object. */
void jx_exhausted_json(const jx_exhausted *e, const char *path, jx_buffer *to);

#endif
