/* plan_pairs.h - plans of pairs of doubles (JX_DOUBLED), and what in them is
 * computed in double.
 *
 * Moves, arithmetic, sums, products and elementary functions are made for
 * pairs; the rest gets the first doubles, gives doubles, and is moved by the
 * plan's noise where it rounds, so that what depends on its rounding does
 * not look sure. */
#ifndef JX_PLAN_PAIRS_H
#define JX_PLAN_PAIRS_H

#include "runtime/kernel.h"

/* Of a plan of JX_DOUBLED: whether the equation is planned with the
 * operands as they are. */
bool jx_pairs_take(const jx_eqn *eqn, const jx_slot *ins);
/* It gives an f64 that such a plan computes in double, and rounds. */
bool jx_pairs_round(const jx_eqn *eqn);

#endif
