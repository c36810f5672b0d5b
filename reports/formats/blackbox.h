/* blackbox.h - what `info` and `run` say of the call that a black box keeps. */
#ifndef JX_BLACKBOX_FORMAT_H
#define JX_BLACKBOX_FORMAT_H

#include "frontend/base/buffer.h"

struct jx_blackbox;

/* "call 17 of step (train.py:12), JAX 0.10.2 on cpu: an output is not finite",
 * and a line for each input that was not kept. */
void jx_blackbox_print(const struct jx_blackbox *box, jx_buffer *to);
/* The same as the members of a JSON object. */
void jx_blackbox_json(const struct jx_blackbox *box, jx_buffer *to);

#endif
