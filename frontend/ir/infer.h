/* infer.h - the types of one equation's results, for who makes equations.
 *
 * Type rules are the analyzer's, which stands on what readers make: a reader
 * that has to know them while it reads is given this function. */
#ifndef JX_IR_INFER_H
#define JX_IR_INFER_H

#include "frontend/ir/program.h"

/* Two sizes that a rule requires to be equal, and that are not one dim. */
typedef void jx_infer_equal(void *whom, const jx_dim *a, const jx_dim *b);

/* Fills `outs` with what the rule of the equation's primitive makes of the
 * types of its operands and of its parameters (which are decoded); NULL:
 * nobody knows, or the rule refuses them.  `*state`, of one program, is
 * NULL at first. */
typedef void jx_infer_open(void **state, jx_program *program, const jx_eqn *eqn,
                           const jx_aval **outs, jx_infer_equal *tell,
                           void *whom);

#endif
