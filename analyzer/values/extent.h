/* extent.h - between what the elements of an array lie.
 *
 * An extent is an interval of extended reals, ends included, and whether an
 * element may be NaN.  An end that is infinite says that an element may be that
 * infinity: where all are finite, the ends are the dtype's largest numbers at
 * most.  Integers are intervals of whole numbers, booleans of 0 and 1; ends
 * beyond 2^53 are rounded outward.
 *
 * Each function here is sound for machines that compute in the dtype and the
 * semantics that a jx_extenting names: whatever the operands hold within their
 * extents, the result holds nothing outside of the one that is returned.  Sums,
 * products, quotients and roots are rounded to nearest, which is monotone, so
 * that their ends are those of the machine; functions are widened by what
 * kernels may be off. */
#ifndef JX_EXTENT_H
#define JX_EXTENT_H

#include "frontend/base/buffer.h"
#include "frontend/ir/dtype.h"
#include "frontend/ir/prim.h"

typedef enum jx_semantics {
    JX_IEEE, /* as written: each operation rounds once, to nearest */
    JX_FTZ,  /* what is below the least normal number may be 0 instead */
    JX_XLA,  /* also: a result may be kept unrounded, products go into sums */
    JX_NSEMANTICS,
} jx_semantics;

/* "ieee", "ftz", "xla" */
const char *jx_semantics_name(jx_semantics semantics);

typedef struct jx_extent {
    double lo, hi; /* lo > hi: no element is a number */
    bool nan;
} jx_extent;

typedef struct jx_extenting {
    jx_dtype dtype; /* of the result */
    jx_semantics semantics;
    bool wraps; /* set: an integer may leave its dtype */
} jx_extenting;

/* Dtypes that extents say something of: booleans, integers, f16,
 * bf16, f32, f64. */
bool jx_extent_knows(jx_dtype dtype);
/* The largest finite number of a dtype that is known; of integers both ends. */
double jx_extent_most(jx_dtype dtype);
double jx_extent_least(jx_dtype dtype);
/* The least positive normal number; 1 of what is no float that is known. */
double jx_extent_normal(jx_dtype dtype);

/* All that the dtype holds, infinities and NaN among it; the
 * finite ones alone. */
jx_extent jx_extent_whole(jx_dtype dtype);
jx_extent jx_extent_finite(jx_dtype dtype);
jx_extent jx_extent_none(void);
jx_extent jx_extent_of(double value);
jx_extent jx_extent_between(double lo, double hi);

bool jx_extent_is_empty(jx_extent x);  /* no element is a number */
bool jx_extent_is_finite(jx_extent x); /* surely */
bool jx_extent_is_one(jx_extent x);    /* one number, and no NaN */
bool jx_extent_holds(jx_extent x, double value);
bool jx_extent_same(jx_extent a, jx_extent b);
/* What is in one of them; what is in both, NaN as in the first. */
jx_extent jx_extent_join(jx_extent a, jx_extent b);
jx_extent jx_extent_meet(jx_extent a, jx_extent b);
/* The next landmark outward where b has grown beyond a: 0, 1, powers of ten,
 * the dtype's ends, infinities. */
jx_extent jx_extent_widen(jx_extent a, jx_extent b, jx_dtype dtype);

/* "[0, 1]", "[-inf, 3] or NaN" */
void jx_extent_print(jx_extent x, jx_buffer *to);

/* The nearest number of a float dtype, ties to even; infinities
 * beyond the largest. */
double jx_round_to(jx_dtype dtype, double value);
/* The distance of a number of that size to the next. */
double jx_ulp_of(jx_dtype dtype, double value);

/* What comes of exact ends: rounded, flushed, wrapped as the semantics and
 * dtype have it. */
jx_extent jx_extent_settle(jx_extenting *how, jx_extent exact);
/* The same widened by that many ULPs of each end first. */
jx_extent jx_extent_loosen(jx_extenting *how, jx_extent exact, double ulps);

jx_extent jx_extent_add(jx_extenting *how, jx_extent a, jx_extent b);
jx_extent jx_extent_sub(jx_extenting *how, jx_extent a, jx_extent b);
jx_extent jx_extent_mul(jx_extenting *how, jx_extent a, jx_extent b);
jx_extent jx_extent_div(jx_extenting *how, jx_extent a, jx_extent b);
jx_extent jx_extent_rem(jx_extenting *how, jx_extent a, jx_extent b);
jx_extent jx_extent_max(jx_extent a, jx_extent b);
jx_extent jx_extent_min(jx_extent a, jx_extent b);
jx_extent jx_extent_neg(jx_extenting *how, jx_extent a);
jx_extent jx_extent_abs(jx_extenting *how, jx_extent a);
jx_extent jx_extent_square(jx_extenting *how, jx_extent a);
jx_extent jx_extent_power(jx_extenting *how, jx_extent a, jx_extent b);
jx_extent jx_extent_integer_power(jx_extenting *how, jx_extent a,
                                  int64_t power);

/* Whether all multiples of a number up to n times it are numbers of the
 * dtype. */
bool jx_extent_multiples_are_exact(jx_dtype dtype, double value, double n);
/* The sum of between `least` and `most` elements, in any order. */
jx_extent jx_extent_sum(jx_extenting *how, jx_extent each, double least,
                        double most);

/* A function of one operand; false if nothing is known of it. */
bool jx_extent_function(jx_extenting *how, jx_prim_id id, jx_extent a,
                        jx_extent *to);
/* An element of one dtype as one of another. */
jx_extent jx_extent_convert(jx_extenting *how, jx_dtype from, jx_extent a);

#endif
