/* compare.c - see compare.h. */
#include "runtime/compare.h"

#include "runtime/elementwise.h"
#include "runtime/shake.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

jx_tolerance jx_tolerance_of(jx_dtype dtype)
{
    switch (jx_dtype_real(dtype)) {
    case JX_F64: return (jx_tolerance){.relative = 1e-12};
    case JX_F32: return (jx_tolerance){.relative = 1e-5, .absolute = 1e-6};
    default:
        if (!jx_dtype_is_float(dtype))
            return (jx_tolerance){0};
        if (jx_dtype_of(dtype)->bytes > 1)
            return (jx_tolerance){.relative = 2 * jx_unit_roundoff(dtype)};
        return (jx_tolerance){.neighbours = true};
    }
}

/* The least normal number: what is smaller may be flushed to zero. */
static double least_of(jx_dtype dtype)
{
    switch (jx_dtype_real(dtype)) {
    case JX_F64: return DBL_MIN;
    case JX_F16: return 0x1p-14;
    default: return FLT_MIN;
    }
}

static bool near(double got, double want, double scale, double least,
                 const jx_tolerance *t, double *difference)
{
    *difference = fabs(got - want);
    if (got == want || (got != got && want != want)) {
        *difference = 0;
        return true;
    }
    if (!(*difference <= DBL_MAX))
        return false;
    return *difference <= t->absolute + t->relative * scale ||
           (want == 0 && t->relative > 0 && fabs(got) < least);
}

static void read(jx_dtype dtype, const void *at, double *re, double *im)
{
    double parts[2] = {0, 0};

    jx_convert(dtype, jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64, at, parts,
               1);
    *re = parts[0];
    *im = parts[1];
}

/* The numbers of a small dtype in order. */
static int ordinal(jx_dtype dtype, const char *at)
{
    unsigned byte = (unsigned char)*at;
    unsigned sign = dtype == JX_F4_E2M1FN    ? 8
                    : dtype == JX_F8_E8M0FNU ? 0x100
                                             : 0x80;

    return byte & sign ? -(int)(byte & (sign - 1)) : (int)byte;
}

static bool are_neighbours(jx_dtype dtype, const char *got, const char *want)
{
    return abs(ordinal(dtype, got) - ordinal(dtype, want)) <= 1;
}

static bool floats_agree(jx_dtype dtype, const char *got, const char *want,
                         const jx_tolerance *t, double *difference)
{
    double a, b, c, d, other, least = least_of(dtype);

    read(dtype, got, &a, &b);
    read(dtype, want, &c, &d);
    double scale = jx_dtype_is_complex(dtype) ? hypot(c, d) : fabs(c);
    if (!(scale <= DBL_MAX))
        scale = 0;
    bool ok = near(a, c, scale, least, t, difference) ||
              (t->neighbours && isfinite(*difference) &&
               are_neighbours(dtype, got, want));
    if (jx_dtype_is_complex(dtype)) {
        ok &= near(b, d, scale, least, t, &other);
        if (!(other <= *difference))
            *difference = other;
    }
    return ok;
}

bool jx_compare(jx_dtype dtype, const void *got, const void *want, int64_t n,
                const jx_tolerance *within, jx_mismatch *found)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    bool exact = within->bits || !jx_dtype_is_inexact(dtype);
    jx_tolerance here = *within;

    *found = (jx_mismatch){0, -1, -1, 0};
    if (dtype == JX_FLOAT0 || !memcmp(got, want, (size_t)n * size))
        return true;
    for (int64_t i = 0; i < n; i++) {
        const char *a = (const char *)got + (size_t)i * size;
        const char *b = (const char *)want + (size_t)i * size;
        double difference = 1;
        if (within->each)
            here.absolute = fmax(within->absolute, within->each[i]);
        if (!memcmp(a, b, size) ||
            (!exact && floats_agree(dtype, a, b, &here, &difference)))
            continue;
        if (exact && dtype == JX_BOOL && !*a == !*b)
            continue;
        if (found->count++ == 0)
            found->index = i;
        /* A NaN stays the worst. */
        if (found->worst < 0 || (found->largest == found->largest &&
                                 !(difference <= found->largest))) {
            found->worst = i;
            found->largest = difference;
        }
    }
    return found->count == 0;
}

double jx_largest(jx_dtype dtype, const void *at, int64_t n)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    double largest = -1, re, im;

    for (int64_t i = 0; i < n; i++) {
        read(dtype, (const char *)at + (size_t)i * size, &re, &im);
        re = hypot(re, im);
        if (re <= DBL_MAX && re > largest)
            largest = re;
    }
    return largest;
}

static void print_float(double x, int digits, jx_buffer *to)
{
    jx_buffer_printf(to, "%.*g", digits, x);
}

void jx_element_print(jx_dtype dtype, const void *at, jx_buffer *to)
{
    jx_dtype_kind kind = jx_dtype_of(dtype)->kind;
    double re, im;
    int64_t value = 0;

    if (kind == JX_KIND_BOOL) {
        jx_buffer_puts(to, *(const char *)at ? "True" : "False");
    } else if (kind == JX_KIND_FLOAT || kind == JX_KIND_COMPLEX) {
        int digits = jx_dtype_real(dtype) == JX_F64 ? 17 : 9;
        read(dtype, at, &re, &im);
        print_float(re, digits, to);
        if (kind == JX_KIND_COMPLEX) {
            jx_buffer_puts(to, signbit(im) ? "" : "+");
            print_float(im, digits, to);
            jx_buffer_putc(to, 'j');
        }
    } else {
        jx_convert(dtype == JX_KEY ? JX_U32 : dtype, JX_I64, at, &value, 1);
        if (kind == JX_KIND_UINT || kind == JX_KIND_KEY)
            jx_buffer_printf(to, "%" PRIu64, (uint64_t)value);
        else
            jx_buffer_printf(to, "%" PRId64, value);
    }
}
