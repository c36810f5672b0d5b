/* sorting.h - sorting as a part of other kernels. */
#ifndef JX_SORTING_H
#define JX_SORTING_H

#include "runtime/kernel.h"

/* n operands of one shape, sorted together along an axis: new slots. */
bool jx_plan_sorted(jx_planner *p, int n, const jx_slot *ins, int64_t axis,
                    const jx_closed *comparator, jx_slot *outs);
/* The largest (or smallest) elements along an axis (-1: the last), the best
 * first, and their positions; as many as the equation's results declare. */
bool jx_plan_best(jx_planner *p, const jx_eqn *eqn, const jx_slot *in,
                  int64_t axis, bool smallest, jx_slot *outs);

#endif
