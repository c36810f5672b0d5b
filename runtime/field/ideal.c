/* ideal.c - see ideal.h. */
#include "runtime/field/ideal.h"

#include "frontend/base/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_BITS = 12 };

/* m/n 2^k pi^(a/2) 2^(b/2) ln2^c ln10^d. */
typedef struct shape {
    int over, under, k, a, b, c, d;
    double about; /* without the power of 2 */
} shape;

static double rounded(double value, jx_dtype dtype)
{
    return dtype == JX_F32 ? (double)(float)value : value;
}

static bool has_few_bits(double value)
{
    int exponent;
    double scaled = ldexp(frexp(fabs(value), &exponent), FEW_BITS);

    return scaled == floor(scaled);
}

static jx_number times_power(const jx_ring *r, jx_number n, uint64_t v,
                             uint64_t e, int power)
{
    for (; power < 0; power++) {
        n.v = jx_mod_mul(n.v, jx_mod_inverse(v, r->p), r->p);
        n.e = jx_mod_mul(n.e, jx_mod_inverse(e, r->q), r->q);
    }
    for (; power > 0; power--) {
        n.v = jx_mod_mul(n.v, v, r->p);
        n.e = jx_mod_mul(n.e, e, r->q);
    }
    return n;
}

/* Transcendental numbers are random elements, the same in the whole program. */
static jx_number times_named(const jx_field *f, jx_number n, uint64_t name,
                             int power)
{
    uint64_t h = jx_ring_mix(f->salt + name);

    return times_power(&f->ring, n, 1 + h % (f->ring.p - 1),
                       1 + jx_ring_mix(h) % (f->ring.q - 1), power);
}

static const char *name_of(jx_field *f, double value, const char *name)
{
    return jx_arena_printf(f->ctx->arena, "%.9g stands for %s", value, name);
}

static void say_power(jx_buffer *to, const char *of, int power, int root)
{
    if (power)
        jx_buffer_printf(to, root > 1 ? " %s^(%d/%d)" : " %s^%d", of, power,
                         root);
}

static const char *name_of_shape(jx_field *f, double value, const shape *s)
{
    jx_buffer text = jx_ctx_text(f->ctx);
    const char *name;

    jx_buffer_printf(&text, "%s%d", value < 0 ? "-" : "", s->over);
    if (s->under > 1)
        jx_buffer_printf(&text, "/%d", s->under);
    say_power(&text, "2", s->k, 1);
    say_power(&text, "pi", s->a, 2);
    say_power(&text, "2", s->b, 2);
    say_power(&text, "log(2)", s->c, 1);
    say_power(&text, "log(10)", s->d, 1);
    name = jx_arena_take(f->ctx->arena, &text);
    return name ? name_of(f, value, name) : NULL;
}

static jx_number number_of(jx_field *f, double value, const shape *s)
{
    const jx_ring *r = &f->ring;
    jx_number n = {.v = value < 0 ? r->p - 1 : 1,
                   .e = value < 0 ? r->q - 1 : 1,
                   .bits = 256};

    n = times_power(r, n, (uint64_t)s->over, (uint64_t)s->over, 1);
    n = times_power(r, n, (uint64_t)s->under, (uint64_t)s->under, -1);
    n = times_power(r, n, jx_mod_dyadic(1, s->k, r->p),
                    jx_mod_dyadic(1, s->k, r->q), 1);
    n = times_power(r, n, r->root2[0], r->root2[1], s->b);
    n = times_named(f, n, 1, s->a);
    n = times_named(f, n, 2, s->c);
    return times_named(f, n, 3, s->d);
}

/* Whether a value is the float nearest to that times a power of 2. */
static bool is_nearest(double value, double of, jx_dtype dtype, int *k)
{
    int mine, its;

    if (fabs(frexp(fabs(value), &mine) / frexp(of, &its) - 1) > 1e-6 &&
        fabs(frexp(fabs(value), &mine) / frexp(of, &its) - 2) > 1e-6 &&
        fabs(frexp(fabs(value), &mine) / frexp(of, &its) - 0.5) > 1e-6)
        return false;
    for (*k = mine - its - 1; *k <= mine - its + 1; ++*k)
        if (rounded(ldexp(of, *k), dtype) == fabs(value))
            return true;
    return false;
}

static bool is_known(double value, jx_dtype dtype, shape *s)
{
    static const int fractions[][2] = {{1, 1}, {3, 1}, {1, 3}, {5, 1}, {1, 5}};
    static const int logs[][2] = {{0, 0},  {1, 0},  {-1, 0}, {0, 1},
                                  {0, -1}, {1, -1}, {-1, 1}};
    static const long double pi = 3.14159265358979323846264338327950288L,
                             root_pi = 1.77245385090551602729816748334114518L,
                             root_2 = 1.41421356237309504880168872420969808L,
                             log_2 = 0.693147180559945309417232121458176568L,
                             log_10 = 2.30258509299404568401799145468436421L;
    const long double powers_of_pi[] = {1 / (pi * pi),
                                        1 / (pi * root_pi),
                                        1 / pi,
                                        1 / root_pi,
                                        1,
                                        root_pi,
                                        pi,
                                        pi * root_pi,
                                        pi * pi};
    const long double of_logs[] = {
        1,          log_2,          1 / log_2,     log_10,
        1 / log_10, log_2 / log_10, log_10 / log_2};

    for (int i = 0; i < 5; i++)
        for (int l = 0; l < 7; l++)
            for (int a = -4; a <= 4; a++)
                for (int b = 0; b < 2; b++) {
                    long double of = (long double)fractions[i][0] /
                                     fractions[i][1] * powers_of_pi[a + 4] *
                                     (b ? root_2 : 1) * of_logs[l];
                    *s = (shape){
                        fractions[i][0], fractions[i][1], 0,         a, b,
                        logs[l][0],      logs[l][1],      (double)of};
                    if ((a || b || l || i > 1) &&
                        is_nearest(value, (double)of, dtype, &s->k))
                        return true;
                }
    return false;
}

/* The shortest decimal that is read as it, of so many digits at most. */
static bool take_decimal(jx_field *f, double value, jx_dtype dtype, int digits,
                         jx_number *to)
{
    const jx_ring *r = &f->ring;
    char text[40];

    for (int n = 1; n <= digits; n++) {
        jx_snprintf(text, sizeof text, "%.*e", n - 1, fabs(value));
        if ((dtype == JX_F32 ? (double)jx_strtof(text, NULL)
                             : jx_strtod(text, NULL)) != fabs(value))
            continue;
        char *e = strchr(text, 'e');
        int64_t whole = 0;
        for (const char *c = text; c < e; c++)
            whole = *c == '.' ? whole : 10 * whole + (*c - '0');
        int power = atoi(e + 1) - (n - 1);
        jx_number made = {
            .v = jx_mod_dyadic(value < 0 ? -whole : whole, 0, r->p),
            .e = jx_mod_dyadic(value < 0 ? -whole : whole, 0, r->q),
            .bits = 64 + 4 * (float)abs(power)};
        *to = times_power(r, made, 10, 10, power);
        to->about = jx_strtod(text, NULL) * (value < 0 ? -1 : 1);
        jx_snprintf(text, sizeof text, "%.*g", n, value);
        to->name = name_of(f, value, text);
        return true;
    }
    return false;
}

bool jx_number_ideal(jx_field *f, double value, jx_dtype dtype, jx_number *to)
{
    bool wide = dtype == JX_F64;
    shape s;

    if ((dtype != JX_F32 && !wide) || !value || has_few_bits(value) ||
        fabs(value) > 1e30 || fabs(value) < 1e-30)
        return false;
    if (take_decimal(f, value, dtype, wide ? 9 : 5, to))
        return true;
    if (is_known(value, dtype, &s)) {
        *to = number_of(f, value, &s);
        to->about = ldexp(value < 0 ? -s.about : s.about, s.k);
        to->name = name_of_shape(f, value, &s);
        return true;
    }
    return take_decimal(f, value, dtype, wide ? 15 : 6, to);
}
