/* fill.h - made-up inputs. */
#ifndef JX_FILL_H
#define JX_FILL_H

#include "runtime/plan.h"

/* Fills input `index` by "zeros" or "random:SEED" (NULL: "random:0"); false for
 * any other word.  Random numbers depend on the seed, the index and the element
 * alone: floats uniform in [-1, 1), integers small, booleans even. `to` is
 * zeroed, and is left alone where it is to be.  Once in a while the budget
 * (NULL: none) is asked whether it lasts; where not, the rest is zero. */
bool jx_fill(const char *how, int index, const jx_port *port, void *to,
             jx_budget *budget);

#endif
