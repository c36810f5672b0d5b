/* asserted.h - what the shape assertions of a StableHLO module say of sizes.
 *
 * The module's integers are computed at these sizes as XLA computes them, so
 * that what is refused, and in which words, is what the module itself says,
 * whatever was found out about its sizes before. */
#ifndef JX_READ_ASSERTED_H
#define JX_READ_ASSERTED_H

#include "frontend/ir/program.h"

/* The message of the first assertion that does not hold where the program's
 * inputs have these shapes (one per input), with the numbers that it shows.
 * NULL: none is known to fail, or the program is of no module.  Of the bindings
 * those count that are values of inputs. */
const char *jx_asserted_at(const jx_program *program,
                           const int64_t *const *shapes, int nbindings,
                           const jx_binding *bindings);
/* The same where the sizes of the inputs follow from the bindings; inputs whose
 * sizes do not are left open. */
const char *jx_asserted_for(const jx_program *program, int nbindings,
                            const jx_binding *bindings);

/* A message with its `{0}`, `{1}`, ...: what is behind them is written by
 * `put`, of which there are `count`; `{{` is a brace. */
typedef void jx_put_shown(void *env, int index, jx_buffer *to);
void jx_message_print(const char *message, int count, jx_put_shown *put,
                      void *env, jx_buffer *to);

#endif
