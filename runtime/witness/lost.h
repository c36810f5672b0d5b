/* lost.h - equations that lose digits, and whose loss gets to an output: the
 * sanitizer's `digits`.
 *
 * Beside each run the program runs in double.  Only where outputs differ by
 * more than half of the digits of the narrowest float dtype of the program,
 * two more runs say where they were lost (runtime/digits.h).  What a
 * program computes in double itself is run with each step rounded in other
 * ways, instead of with more digits: twice, and who loses digits is known
 * by what that changes.
 *
 * Outputs are compared by their largest elements.  One that is zero but for
 * rounding has no digits to lose.  Outputs that differ for such zeros alone are
 * known by the two more runs: of a program that was looked at so four times in
 * a row they are looked at again after 1, 2, 4 and so on, at most 32 runs; any
 * other output that differs is at once.  So it is from the first look on that
 * finds only what others found, and of a program in which four found something
 * new: where outputs differ that are not looked at, what the last look found is
 * found again, with its numbers. */
#ifndef JX_LOST_H
#define JX_LOST_H

#include "runtime/plan.h"
#include "runtime/witness/witness.h"

typedef struct jx_shadow jx_shadow;

typedef struct jx_shadow_options {
    size_t memory; /* budget of one plan, in bytes; 0: none */
    uint64_t seed;
} jx_shadow_options;

/* Of a program without symbolic sizes whose equations stand at one place each
 * (inline.h). NULL with an error in its context: also where it computes with
 * what a host gives, who knows no other dtypes than those that are declared. */
jx_shadow *jx_shadow_new(const jx_typed *typed,
                         const jx_shadow_options *options);
void jx_shadow_free(jx_shadow *shadow);
/* Looks at a run of a plan of the declared domain with these inputs and
 * outputs. The result is valid until the next look; NULL with an error. */
const jx_witnesses *jx_shadow_look(jx_shadow *shadow, const jx_plan *plan,
                                   const void *const *ins,
                                   const void *const *outs);

#endif
