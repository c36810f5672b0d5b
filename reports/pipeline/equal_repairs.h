/* equal_repairs.h - which one change to a program for many devices makes it the
 * other program over the reals: that is what is wrong with it. */
#ifndef JX_EQUAL_REPAIRS_H
#define JX_EQUAL_REPAIRS_H

#include "reports/pipeline/equal_causes.h"

/* Tries changes (jx_device_change), the likely ones first, until one helps or
 * all that it may take is spent.  False: none does, or an error of the first
 * program's context stands. */
bool jx_equal_find_repair(const jx_equal_words *words, bool gradient,
                          jx_equal_cause *to);

#endif
