/* jitter.h - steps of the wide domain, rounded in other ways at random.
 *
 * Each step that rounds gives a number some units above its result, or below.  What several
 * such runs differ in is an estimate (no bound) of what rounding did to one without. */
#ifndef JX_KERNELS_JITTER_H
#define JX_KERNELS_JITTER_H

#include "runtime/kernels/elementwise.h"

/* `made` of these values by the tile, jittered if that rounds: the value to go on with. */
int jx_make_jitter(jx_maker *m, jx_tile *tile, int made, int nins, const int *ins);

#endif
