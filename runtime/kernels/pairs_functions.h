/* pairs_functions.h - elementary functions of pairs (pairs.h), to about 2^-98
 * of their result.
 *
 * exp, sin and cos are series, after the argument is brought near 0; log a
 * value that the library has in double, and a step of Newton's with exp.
 * Inlined by all means: the loops over them are made of vectors. */
#ifndef JX_PAIRS_FUNCTIONS_H
#define JX_PAIRS_FUNCTIONS_H

#include "runtime/kernels/pairs.h"
#include "runtime/kernels/pairs_tables.h"

/* c[from] + x c[from + 1] + ... , of which `tail` is what is behind c[to]. */
JX_PAIR_FN jx_pair jx_pair_horner(const jx_pair *c, int from, int to, jx_pair x,
                                  jx_pair tail)
{
#pragma GCC unroll 32
    for (int n = to; n >= from; n--)
        tail = jx_pair_plus(c[n], jx_pair_mul(tail, x));
    return tail;
}

/* 2^k of a whole number within -1000 and 1000, as the bits of its exponent. */
JX_PAIR_FN double jx_power_of_two(double k)
{
    double shifted = k + (0x1.8p52 + 1023);
    uint64_t bits;

    memcpy(&bits, &shifted, sizeof bits);
    bits <<= 52;
    memcpy(&shifted, &bits, sizeof bits);
    return shifted;
}

/* exp(x) = 2^k (1 + m); |x| up to 1,500. */
JX_PAIR_FN jx_pair jx_pair_exp_parts(jx_pair x, double *k)
{
    const double head =
        0x1.62e42fee00000p-1; /* of log 2: times k it is exact */
    const jx_pair rest = {0x1.a39ef35793c76p-33, 0x1.cc01f97b57a08p-87};
    jx_pair r, m, tail;
    double small, x1;

    *k = rint(x.hi * 0x1.71547652b82fep+0);
    r = jx_pair_add(jx_pair_joined(x.hi - *k * head, x.lo),
                    jx_pair_times(rest, -*k));
    m = jx_pair_scaled(r, 0x1p-4);
    x1 = m.hi;
    small = jx_inverse_factorials[15].hi;
#pragma GCC unroll 8
    for (int n = 14; n >= 9; n--)
        small = jx_inverse_factorials[n].hi + x1 * small;
    tail = jx_pair_horner(jx_inverse_factorials, 1, 8, m, jx_pair_of(small));
    m = jx_pair_mul(m, tail);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) /* (1 + m)^2 - 1 */
        m = jx_pair_plus(jx_pair_scaled(m, 2), jx_pair_mul(m, m));
    return m;
}

JX_PAIR_FN double jx_clamped(double x, double most)
{
    x = x > most ? most : x;
    return x < -most ? -most : x;
}

JX_PAIR_FN jx_pair jx_pair_exp(jx_pair x)
{
    jx_pair within = {jx_clamped(x.hi, 1400), fabs(x.hi) < 1400 ? x.lo : 0}, m;
    double k, half;

    m = jx_pair_exp_parts(within, &k);
    half = rint(k * 0.5);
    m = jx_pair_scaled(jx_pair_plus(jx_pair_of(1), m), jx_power_of_two(half));
    m = jx_pair_scaled(m, jx_power_of_two(k - half));
    return jx_pair_choose(x.hi != x.hi, jx_pair_of(x.hi), m);
}

JX_PAIR_FN jx_pair jx_pair_expm1(jx_pair x)
{
    jx_pair within = {jx_clamped(x.hi, 720), fabs(x.hi) < 720 ? x.lo : 0}, m,
            wide;
    double k, half, power, below;

    m = jx_pair_exp_parts(within, &k);
    half = rint(k * 0.5);
    power = jx_power_of_two(k - half);
    m = jx_pair_scaled(jx_pair_scaled(m, jx_power_of_two(half)), power);
    below = jx_power_of_two(half) * power;
    wide = jx_pair_add(jx_pair_joined(below, -1), m);
    wide = jx_pair_choose(k == 0, m, wide);
    wide = jx_pair_choose(x.hi < -80, jx_pair_joined(-1, below), wide);
    wide = jx_pair_choose(x.hi > 710, jx_pair_of((double)INFINITY), wide);
    return jx_pair_choose((x.hi != x.hi) | (x.hi == 0), x, wide);
}

/* log(1 + x) of -0.4 < x < 0.6, where `near` is that in double. */
JX_PAIR_FN jx_pair jx_pair_log1p_step(jx_pair x, double near)
{
    jx_pair e = jx_pair_expm1(jx_pair_of(-near));
    jx_pair t = jx_pair_add(jx_pair_add(x, e), jx_pair_mul(x, e));

    t = jx_pair_sub(t, jx_pair_of(0.5 * t.hi * t.hi));
    t = jx_pair_plus(jx_pair_of(near), t);
    return jx_pair_choose((near - near == 0) & (near != 0), t,
                          jx_pair_of(near));
}

/* sin and cos of |x| < 10^5; of larger ones, as a double and what x.lo adds. */
JX_PAIR_FN void jx_pair_turn(jx_pair x, jx_pair *sine, jx_pair *cosine)
{
    double k = rint(x.hi * 0x1.45f306dc9c883p-1), s = 0, c = 0, square, quarter,
           odd, down;
    jx_pair r = jx_pair_of(x.hi - k * 0x1.921fb54400000p+0), sq, sn, cs;

    r = jx_pair_add(r, jx_pair_of(-k * 0x1.0b4611a600000p-34));
    r = jx_pair_add(r, jx_pair_of(-k * 0x1.3198a2e000000p-69));
    r = jx_pair_add(r, jx_pair_of(x.lo));
    r = jx_pair_sub(r, jx_pair_times((jx_pair){0x1.b839a252049c1p-104, 0}, k));
    sq = jx_pair_mul(r, r);
    square = -sq.hi;
    s = jx_inverse_factorials[27].hi;
    c = jx_inverse_factorials[26].hi;
#pragma GCC unroll 8
    for (int n = 25; n >= 19; n -= 2) {
        s = jx_inverse_factorials[n].hi + square * s;
        c = jx_inverse_factorials[n - 1].hi + square * c;
    }
    sq = jx_pair_neg(sq);
    sn = jx_pair_of(s);
    cs = jx_pair_of(c);
#pragma GCC unroll 16
    for (int n = 17; n >= 3; n -= 2) {
        sn = jx_pair_plus(jx_inverse_factorials[n], jx_pair_mul(sn, sq));
        cs = jx_pair_plus(jx_inverse_factorials[n - 1], jx_pair_mul(cs, sq));
    }
    sn = jx_pair_plus(r, jx_pair_mul(r, jx_pair_mul(sn, sq)));
    cs = jx_pair_plus(jx_pair_of(1), jx_pair_mul(cs, sq));
    /* By quarters of a turn: k - 4 floor(k / 4). */
    quarter = k - 4 * floor(k * 0.25);
    odd = quarter == 1 || quarter == 3;
    down = quarter == 2 || quarter == 3 ? -1 : 1;
    *sine = jx_pair_scaled(jx_pair_choose(odd != 0, cs, sn), down);
    down = quarter == 1 || quarter == 2 ? -1 : 1;
    *cosine = jx_pair_scaled(jx_pair_choose(odd != 0, sn, cs), down);
}

#endif
