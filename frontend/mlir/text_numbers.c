/* text_numbers.c - numbers of MLIR text, and floats of every format.
 *
 * A decimal number becomes the nearest value of its type, ties to even, as in
 * MLIR since JAX 0.12.  Before, MLIR made the nearest double of it first: where
 * that lies in the middle between two values of the type, the number itself may
 * not. */
#include "frontend/base/plain.h"
#include "frontend/mlir/text_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scanning */

static const char *digits(const char *at, const char *end)
{
    while (at < end && (unsigned)(*at - '0') < 10)
        at++;
    return at;
}

static const char *hex_digits(const char *at, const char *end)
{
    while (at < end && jx_is_hex(*at))
        at++;
    return at;
}

static const char *exponent(const char *at, const char *end)
{
    const char *from = at + 1;

    if (at >= end || (*at != 'e' && *at != 'E'))
        return at;
    if (from < end && (*from == '+' || *from == '-'))
        from++;
    const char *stop = digits(from, end);
    return stop > from ? stop : at;
}

bool jx_mnumber_scan(const char *at, const char *end, jx_mnumber *number)
{
    const char *from = at;

    *number = (jx_mnumber){.at = at};
    if (at < end && *at == '-') {
        number->negative = true;
        from = ++at;
    }
    number->at = from;
    if (end - at > 2 && at[0] == '0' && at[1] == 'x' &&
        hex_digits(at + 2, end) > at + 2) {
        number->hex = true;
        at = hex_digits(at + 2, end);
    } else {
        at = digits(at, end);
        if (at == from)
            return false;
        if (at < end && *at == '.') {
            number->real = true;
            at = exponent(digits(at + 1, end), end);
        }
    }
    number->length = (size_t)(at - from);
    return true;
}

/* ---- integers */

/* value * base + digit in 128 bits; false if that is too much. */
static bool step(unsigned __int128 *value, unsigned base, unsigned digit)
{
    return !__builtin_mul_overflow(*value, base, value) &&
           !__builtin_add_overflow(*value, digit, value);
}

static bool magnitude(const jx_mnumber *n, unsigned __int128 *value)
{
    size_t i = n->hex ? 2 : 0;

    for (*value = 0; i < n->length; i++) {
        char c = n->at[i];
        unsigned digit =
            c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
        if (!step(value, n->hex ? 16 : 10, digit))
            return false;
    }
    return true;
}

/* Signless ones take what either sign could hold. */
bool jx_mnumber_integer(const jx_mnumber *n, unsigned width, jx_mlir_sign sign,
                        unsigned char bytes[16])
{
    unsigned __int128 v, most;

    if (n->real || !width || width > 128 || !magnitude(n, &v))
        return false;
    most = (unsigned __int128)1 << (width - 1); /* of negative ones */
    if (n->negative) {
        if (v > (sign == JX_UNSIGNED ? 0 : most))
            return false;
        v = -v;
    } else if (v >
               (sign == JX_SIGNED && !n->hex ? most - 1 : most - 1 + most)) {
        return false;
    } else if (sign != JX_UNSIGNED && width > 1 && v >= most) {
        /* The bits mean a negative number. */
        v |= ~(most - 1 + most);
    }
    memcpy(bytes, &v, 16);
    return true;
}

/* ---- decimal numbers */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Up to 19 digits as an integer and a power of ten; false if there are more. */
static bool decimal(const jx_mnumber *n, uint64_t *mantissa, int *power)
{
    const char *at = n->at, *end = at + n->length;
    int count = 0, scale = 0;
    bool point = false;

    for (*mantissa = 0; at < end; at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        unsigned digit = (unsigned)(*at - '0');
        if (digit > 9)
            break;
        if ((*mantissa || digit) && ++count > 19)
            return false;
        *mantissa = *mantissa * 10 + digit;
        scale -= point;
    }
    if (at < end) {
        bool minus = at[1] == '-';
        int value = 0;
        at += 1 + (at[1] == '-' || at[1] == '+');
        for (; at < end; at++) {
            if (value > 9999)
                return false;
            value = value * 10 + (*at - '0');
        }
        scale += minus ? -value : value;
    }
    *power = scale;
    return true;
}

#if LDBL_MANT_DIG == 64
/* In extended precision one rounding more is harmless unless it comes to lie
 * beside the middle between two doubles. */
static bool by_extended(uint64_t mantissa, int power, double *value)
{
    static const long double big[] = {
        1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
        1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
        1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    long double x = (long double)mantissa;
    uint64_t bits;

    if (power < -27 || power > 27)
        return false;
    x = power < 0 ? x / big[-power] : x * big[power];
    memcpy(&bits, &x, sizeof bits);
    unsigned low = bits & 0x7ff;
    if (low >= 0x3ff && low <= 0x401)
        return false;
    *value = (double)x;
    return true;
}
#endif

static double by_library(jx_ctx *ctx, const jx_mnumber *n)
{
    char small[64],
        *copy = n->length < sizeof small ? small : malloc(n->length + 1);
    double value;

    if (!copy) {
        jx_starved(ctx);
        return NAN;
    }
    memcpy(copy, n->at, n->length);
    copy[n->length] = '\0';
    value = jx_strtod(copy, NULL);
    if (copy != small)
        free(copy);
    return value;
}

double jx_mnumber_real(jx_ctx *ctx, const jx_mnumber *n)
{
    uint64_t mantissa;
    double value;
    int power;

    if (!decimal(n, &mantissa, &power))
        value = by_library(ctx, n);
    else if (mantissa <= (uint64_t)1 << 53 && power >= -22 && power <= 22)
        value = power < 0 ? (double)mantissa / powers[-power]
                          : (double)mantissa * powers[power];
    else if (!mantissa)
        value = 0;
#if LDBL_MANT_DIG == 64
    else if (by_extended(mantissa, power, &value))
        ;
#endif
    else
        value = by_library(ctx, n);
    return n->negative ? -value : value;
}

/* The significant digits of a number, and the power of ten of the first. */
typedef struct spelled {
    const char *at, *end;
    int power;
} spelled;

static int exponent_value(const char *at, const char *end)
{
    enum { MOST = 99999 };
    bool minus = at < end && *at == '-';
    int value = 0;

    for (at += at < end && (*at == '-' || *at == '+'); at < end; at++)
        value = value < MOST / 10 ? value * 10 + (*at - '0') : MOST;
    return minus ? -value : value;
}

/* Whatever the point is: printf() asks the locale. */
static spelled spell(const char *at, const char *end)
{
    const char *point = digits(at, end), *stop = point;
    int power;

    if (stop < end && *stop != 'e' && *stop != 'E')
        stop = digits(stop + 1, end);
    power = stop < end ? exponent_value(stop + 1, end) : 0;
    power += (int)(point - at) - 1;
    for (; at < stop && (at == point || *at == '0'); at++)
        power -= at != point;
    return (spelled){at, stop, power};
}

/* 0 behind the last. */
static int next_digit(spelled *s)
{
    if (s->at < s->end && (unsigned)(*s->at - '0') > 9)
        s->at++;
    return s->at < s->end ? *s->at++ - '0' : 0;
}

/* Whether the number, its sign left out, is above a positive double (1), below
 * it (-1) or the same (0). */
static int compare_exactly(const jx_mnumber *n, double value)
{
    enum { DIGITS = 767 }; /* no double has more */
    char exact[DIGITS + 16];
    int length = jx_snprintf(exact, sizeof exact, "%.*e", DIGITS - 1, value);
    spelled a = spell(n->at, n->at + n->length);
    spelled b = spell(exact, exact + length);

    if (a.power != b.power)
        return a.power < b.power ? -1 : 1;
    while (a.at < a.end || b.at < b.end) {
        int x = next_digit(&a), y = next_digit(&b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

/* ---- floats */

typedef enum special {
    IEEE,   /* infinities and NaNs */
    FN,     /* no infinity; all ones is NaN */
    FNUZ,   /* no infinity, no -0; what would be -0 is NaN */
    FINITE, /* neither */
    POWER,  /* f8E8M0FNU: only powers of two, and NaN */
} special;

struct jx_mformat {
    const char *name;
    int width, mantissa, bias;
    special kind;
};

static const jx_mformat formats[] = {
    {"f32", 32, 23, 127, IEEE},      {"f64", 64, 52, 1023, IEEE},
    {"bf16", 16, 7, 127, IEEE},      {"f16", 16, 10, 15, IEEE},
    {"tf32", 19, 10, 127, IEEE},     {"f8E3M4", 8, 4, 3, IEEE},
    {"f8E4M3", 8, 3, 7, IEEE},       {"f8E4M3FN", 8, 3, 7, FN},
    {"f8E4M3FNUZ", 8, 3, 8, FNUZ},   {"f8E4M3B11FNUZ", 8, 3, 11, FNUZ},
    {"f8E5M2", 8, 2, 15, IEEE},      {"f8E5M2FNUZ", 8, 2, 16, FNUZ},
    {"f8E8M0FNU", 8, 0, 127, POWER}, {"f4E2M1FN", 4, 1, 1, FINITE},
    {"f6E2M3FN", 6, 3, 1, FINITE},   {"f6E3M2FN", 6, 2, 3, FINITE},
};

const jx_mformat *jx_mformat_of(const char *type)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, type) == 0)
            return &formats[i];
    return NULL;
}

unsigned jx_mformat_width(const jx_mformat *f)
{
    return (unsigned)f->width;
}

static uint64_t ones(int count)
{
    return ((uint64_t)1 << count) - 1;
}

static uint64_t nan_bits(const jx_mformat *f)
{
    uint64_t sign = (uint64_t)1 << (f->width - 1);

    switch (f->kind) {
    case IEEE:
        return ones(f->width - 1) & ~ones(f->mantissa)
                   ? (ones(f->width - 1) & ~ones(f->mantissa)) |
                         (uint64_t)1 << (f->mantissa - 1)
                   : 0;
    case FNUZ: return sign;
    case POWER: return ones(f->width);
    default: return ones(f->width - 1);
    }
}

/* The bits of the largest finite value. */
static uint64_t largest(const jx_mformat *f)
{
    uint64_t all = ones(f->width - 1);

    switch (f->kind) {
    case IEEE: return (all & ~ones(f->mantissa)) - 1;
    case FN: return all - 1;
    case POWER: return ones(f->width) - 1;
    default: return all;
    }
}

static uint64_t overflow(const jx_mformat *f)
{
    if (f->kind == IEEE)
        return largest(f) + 1;
    return f->kind == FINITE ? largest(f) : nan_bits(f);
}

/* A positive finite value in units of the format's last place at its power of
 * two; the exponent field 0 holds the subnormals. */
static double in_places(const jx_mformat *f, double value, int *power)
{
    int lowest = f->kind == POWER ? -f->bias : 1 - f->bias;

    frexp(value, power);
    --*power; /* value = 1.xxx * 2^power */
    if (*power < lowest)
        *power = lowest;
    return ldexp(value, f->mantissa - *power);
}

/* The bits of a positive finite value: its mantissa cut off at the format's
 * last place, ties to even. */
static uint64_t rounded(const jx_mformat *f, double value)
{
    int power;
    uint64_t bits = (uint64_t)nearbyint(in_places(f, value, &power));

    /* A normal number's leading one adds itself to the exponent field. */
    if (f->kind == POWER)
        return bits ? (uint64_t)(power + f->bias) + (bits > 1) : 0;
    return bits + ((uint64_t)(power + f->bias - 1) << f->mantissa);
}

static uint64_t encode(const jx_mformat *f, double value)
{
    uint64_t sign = signbit(value) ? (uint64_t)1 << (f->width - 1) : 0, bits;

    if (isnan(value))
        return nan_bits(f) | (f->kind == IEEE ? sign : 0);
    if (f->kind == POWER && sign)
        return nan_bits(f);
    value = fabs(value);
    if (isinf(value))
        bits = overflow(f);
    else
        bits = value == 0 ? 0 : rounded(f, value);
    if (bits > largest(f))
        bits = overflow(f);
    if (f->kind == FNUZ && (!bits || bits == nan_bits(f)))
        return bits;
    return bits | sign;
}

uint64_t jx_mformat_encode(const jx_mformat *f, double value)
{
    float narrow = (float)value;
    uint32_t low;
    uint64_t bits;

    switch (f->width) {
    case 64: return memcpy(&bits, &value, 8), bits;
    case 32: return memcpy(&low, &narrow, 4), low;
    default: return encode(f, value);
    }
}

static bool is_halfway(const jx_mformat *f, double value)
{
    int power;

    if (f->width == 64 || value == 0 || isinf(value))
        return false;
    value = in_places(f, value, &power);
    return value - floor(value) == 0.5;
}

uint64_t jx_mnumber_encode(jx_ctx *ctx, const jx_mnumber *n,
                           const jx_mformat *f)
{
    double value = jx_mnumber_real(ctx, n);

    if (is_halfway(f, fabs(value))) {
        int side = compare_exactly(n, fabs(value));
        if (side)
            value = nextafter(value, side < 0 ? 0 : copysign(INFINITY, value));
    }
    return jx_mformat_encode(f, value);
}

static double decode(const jx_mformat *f, uint64_t bits)
{
    uint64_t low = bits & ones(f->mantissa);
    uint64_t field = bits >> f->mantissa & ones(f->width - 1 - f->mantissa);
    bool minus = bits >> (f->width - 1) & 1;
    double value;

    if (f->kind == POWER)
        return bits == ones(f->width) ? (double)NAN
                                      : ldexp(1, (int)bits - f->bias);
    if ((f->kind == FNUZ && bits == nan_bits(f)) ||
        (f->kind == FN && (bits & ones(f->width - 1)) == nan_bits(f)))
        return NAN;
    if (f->kind == IEEE && field == ones(f->width - 1 - f->mantissa))
        value = low ? (double)NAN : (double)INFINITY;
    else if (field)
        value = ldexp((double)(low + ((uint64_t)1 << f->mantissa)),
                      (int)field - f->bias - f->mantissa);
    else
        value = ldexp((double)low, 1 - f->bias - f->mantissa);
    return minus ? -value : value;
}

double jx_mformat_decode(const jx_mformat *f, uint64_t bits)
{
    double value;

    if (f->width == 64)
        return memcpy(&value, &bits, 8), value;
    return decode(f, bits & ones(f->width));
}
