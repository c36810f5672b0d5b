/* fix.h - a program of fewer inputs: what it is where some of them are known.
 *
 * Such an input has one number in all of its elements.  What follows from that
 * is computed as far as machines agree on it (frontend/ir/fold.h), for scalars
 * and for arrays whose elements are all the same; choices that are known then
 * are made, and what nothing needs any more is left out.  Rules, loops and what
 * they hold stay as they are, and are given the numbers. */
#ifndef JX_FIX_H
#define JX_FIX_H

#include "frontend/ir/typed.h"

/* `values` has, per input of the entry, the element that it has everywhere, as
 * a literal of its dtype; NULL: it stays an input.  NULL with an error: of an
 * input that is no array of numbers, or that alone says what a size is. */
jx_program *jx_program_fix(const jx_typed *typed,
                           const jx_literal *const *values);

#endif
