/* sharding_rules.h - how an op's result is cut if its operands are. */
#ifndef JX_READ_SHARDING_RULES_H
#define JX_READ_SHARDING_RULES_H

#include "frontend/read/sharding_cut.h"

/* Puts into *to, which cuts nothing yet, what follows for result `i` from the
 * operands' cuts, of which each may be NULL. */
void jx_cut_result(jx_cuts *in, const jx_mlir_op *op, int i,
                   const jx_cut *const *ins, jx_cut *to);

#endif
