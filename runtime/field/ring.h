/* ring.h - two fields of integers, as good as the rationals by chance.
 *
 * A number of a program is one element of F_p and one of F_q: rationals are
 * what they are, inputs are random.  Where two polynomials with rational
 * coefficients differ, their values differ but for a chance of about (degree +
 * size of coefficients) / p (Schwartz, Zippel), over primes that are drawn anew
 * each time.  exp(x) is g^x, whose exponent is the element of F_q: q divides p
 * - 1, and g has order q.
 *
 * F_p is part of F_p(sqrt n), n no square, in which every element of
 * F_p has a root. */
#ifndef JX_RING_H
#define JX_RING_H

#include <stdbool.h>
#include <stdint.h>

/* A modulus below 2^62, and what makes remainders fast (Barrett):
 * 2^(2 bits) / m. */
typedef struct jx_modulus {
    uint64_t m, by;
    int bits; /* of m */
} jx_modulus;

/* Both fields have i and the root of 2; p above 2^59, q above 2^52. */
typedef struct jx_ring {
    uint64_t p, q;
    jx_modulus fast_p, fast_q;
    uint64_t g;    /* of order q in F_p */
    uint64_t i[2]; /* i * i = -1, in F_p and in F_q */
    uint64_t root2[2];
    uint64_t no_square; /* of F_p */
} jx_ring;

/* A stream of numbers (splitmix64), and one number as a hash of it. */
uint64_t jx_ring_random(uint64_t *state);
uint64_t jx_ring_mix(uint64_t x);

/* A ring of random primes. */
void jx_ring_make(jx_ring *to, uint64_t *random);

/* Miller-Rabin to the bases that decide it for all 64-bit numbers. */
bool jx_ring_is_prime(uint64_t n);

static inline uint64_t jx_mod_add(uint64_t a, uint64_t b, uint64_t m)
{
    uint64_t sum = a + b; /* m is below 2^63 */

    return sum >= m ? sum - m : sum;
}

static inline uint64_t jx_mod_sub(uint64_t a, uint64_t b, uint64_t m)
{
    return a >= b ? a - b : a + m - b;
}

static inline uint64_t jx_mod_mul(uint64_t a, uint64_t b, uint64_t m)
{
    return a && b ? (uint64_t)((unsigned __int128)a * b % m) : 0;
}

jx_modulus jx_modulus_of(uint64_t m);

/* Of factors below m, what jx_mod_mul() gives. */
static inline uint64_t jx_mod_fast(uint64_t a, uint64_t b, const jx_modulus *by)
{
    unsigned __int128 x = (unsigned __int128)a * b;
    uint64_t high = (uint64_t)(x >> (by->bits - 1));
    uint64_t times =
        (uint64_t)(((unsigned __int128)high * by->by) >> (by->bits + 1));
    uint64_t rest = (uint64_t)x - times * by->m; /* below 3 m */

    rest = rest >= by->m ? rest - by->m : rest;
    return rest >= by->m ? rest - by->m : rest;
}

uint64_t jx_mod_power(uint64_t a, uint64_t n, uint64_t m);
/* Of what is not 0, modulo a prime. */
uint64_t jx_mod_inverse(uint64_t a, uint64_t m);
/* A square root modulo a prime; false if there is none. */
bool jx_mod_root(uint64_t a, uint64_t m, uint64_t *root);
/* m * 2^e modulo a prime. */
uint64_t jx_mod_dyadic(int64_t m, int e, uint64_t prime);

#endif
