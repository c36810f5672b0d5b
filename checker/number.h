/* number.h - the checker's numbers: exact between -2^127 and 2^127, both not
 * reached, so that every number can be negated.
 *
 * tests/prove/number_cbmc.c proves of each of these functions that it does what
 * it says for all numbers, with JX_NUM_BITS instead of 128. */
#ifndef JX_CHECKER_NUMBER_H
#define JX_CHECKER_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#ifndef JX_NUM_BITS
#define JX_NUM_BITS 128
typedef __int128 num;
typedef unsigned __int128 unum;
#endif

static const num num_least = (num)((unum)1 << (JX_NUM_BITS - 1));

/* False where the result does not fit. */
static inline bool num_add(num a, num b, num *sum)
{
    return !__builtin_add_overflow(a, b, sum) && *sum != num_least;
}

static inline bool num_mul(num a, num b, num *product)
{
    return !__builtin_mul_overflow(a, b, product) && *product != num_least;
}

/* Rounds down; b is not 0.  It always fits. */
static inline num num_floordiv(num a, num b)
{
    num quotient = (num)(b == -1 ? -a : a / b);

    return (num)(quotient - (b != -1 && a % b && (a < 0) != (b < 0)));
}

/* == != >= <= > < */
static inline bool num_compare(num a, int op, num b)
{
    const bool said[] = {a == b, a != b, a >= b, a <= b, a > b, a < b};

    return said[op];
}

#endif
