/* number_cbmc.c - the checker's arithmetic, for a bounded model checker (make
 * cbmc): at 8 bits against wider integers, which is all of them, and at 128
 * bits that nothing overflows on the way. */
#include <stdint.h>

#ifndef WIDE
#define JX_NUM_BITS 8
typedef int8_t num;
typedef uint8_t unum;
#endif
#include "checker/number.h"

#include <assert.h>

num nondet_number(void);
int nondet_int(void);

/* What a certificate can hold: the least number is none. */
static num some_number(void)
{
    num k = nondet_number();

    __CPROVER_assume(k != num_least);
    return k;
}

int main(void)
{
    num a = some_number(), b = some_number(), result = 0;

#ifndef WIDE
    int sum = a + b, product = a * b;

    assert(num_add(a, b, &result) == (sum > -128 && sum < 128));
    assert(!num_add(a, b, &result) || result == sum);
    assert(num_mul(a, b, &result) == (product > -128 && product < 128));
    assert(!num_mul(a, b, &result) || result == product);
#else
    num_add(a, b, &result);
    num_mul(a, b, &result);
#endif
    if (b) {
        num q = num_floordiv(a, b);

        assert(q != num_least);
#ifndef WIDE
        int rest = a - q * b;
        assert(b > 0 ? rest >= 0 && rest < b : rest <= 0 && rest > b);
#endif
    }
    int op = nondet_int();
    __CPROVER_assume(op >= 0 && op < 6);
    bool said[] = {a == b, a != b, a >= b, a <= b, a > b, a < b};
    assert(num_compare(a, op, b) == said[op]);
    return 0;
}
