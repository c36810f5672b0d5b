/* compare.c - see compare.h. */
#include "runtime/compare.h"

#include "runtime/elementwise.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The unit of a float's precision, relative to 1. */
static double unit_of(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64:
        return 0x1p-52;
    case JX_F32:
        return 0x1p-23;
    case JX_BF16:
        return 0x1p-7;
    case JX_F16:
        return 0x1p-10;
    case JX_F8_E3M4:
        return 0x1p-4;
    case JX_F8_E5M2:
    case JX_F8_E5M2FNUZ:
        return 0x1p-2;
    case JX_F8_E8M0FNU:
        return 1;
    case JX_F4_E2M1FN:
        return 0x1p-1;
    default:
        return 0x1p-3;
    }
}

jx_tolerance jx_tolerance_of(jx_dtype dtype)
{
    switch (jx_dtype_real(dtype)) {
    case JX_F64:
        return (jx_tolerance){.relative = 1e-12};
    case JX_F32:
        return (jx_tolerance){.relative = 1e-5, .absolute = 1e-6};
    default:
        if (jx_dtype_is_float(dtype))
            return (jx_tolerance){.relative = 2 * unit_of(dtype)};
        return (jx_tolerance){0};
    }
}

/* The least normal number: what is smaller may be flushed to zero. */
static double least_of(jx_dtype dtype)
{
    switch (jx_dtype_real(dtype)) {
    case JX_F64:
        return DBL_MIN;
    case JX_F16:
        return 0x1p-14;
    default:
        return FLT_MIN;
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

static bool floats_agree(jx_dtype dtype, const char *got, const char *want,
                         const jx_tolerance *t, double *difference)
{
    double a, b, c, d, other, least = least_of(dtype);

    read(dtype, got, &a, &b);
    read(dtype, want, &c, &d);
    double scale = jx_dtype_is_complex(dtype) ? hypot(c, d) : fabs(c);
    if (!(scale <= DBL_MAX))
        scale = 0;
    bool ok = near(a, c, scale, least, t, difference);
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

/* ---- rounding */

typedef struct loss {
    int64_t at;
    double size, lost;
} loss;

static int by_size(const void *a, const void *b)
{
    const loss *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool loss_of(jx_dtype dtype, const char *got, const char *wide,
                    loss *to)
{
    jx_dtype real = jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64;
    double a[2] = {0, 0}, b[2] = {0, 0};

    read(dtype, got, &a[0], &a[1]);
    read(real, wide, &b[0], &b[1]);
    to->size = to->lost = 0;
    for (int part = 0; part < 2; part++) {
        if (a[part] == b[part] || (a[part] != a[part] && b[part] != b[part]))
            continue;
        to->lost = hypot(to->lost, a[part] - b[part]);
    }
    if (isfinite(b[0]) && isfinite(b[1]))
        to->size = hypot(b[0], b[1]);
    /* What the result's own dtype can't hold is in the default tolerance. */
    to->lost = fmax(0, to->lost - unit_of(jx_dtype_real(dtype)) * to->size / 2);
    return isfinite(to->lost);
}

/* What an element lost is a measure for others of its size: what lies far below
 * the largest loss may not be off by as much.  Elements up to SPAN times as
 * large may be what is left of terms alike, of the others the share counts. */
static void allow(const loss *all, int64_t n, double *each)
{
    enum { SPAN = 16 };
    double most = 0, share = 0;

    for (int64_t i = 0, k = 0; i < n; i++) {
        for (; k < n && all[k].size <= SPAN * all[i].size; k++)
            most = fmax(most, all[k].lost);
        each[all[i].at] = JX_ROUNDINGS * fmax(most, all[i].lost);
    }
    for (int64_t i = n - 1, k = n - 1; i >= 0; i--) {
        for (; k >= 0 && all[k].size > SPAN * all[i].size; k--)
            if (all[k].size > 0)
                share = fmax(share, all[k].lost / all[k].size);
        each[all[i].at] = fmax(each[all[i].at],
                               JX_ROUNDINGS * SPAN * all[i].size * share);
    }
}

/* Where nearly all digits are lost, or another branch is taken, the measure
 * would let any error pass: no more than this part of the largest number. */
#define MOST_LOST 0.1

bool jx_loss_measure(jx_ctx *ctx, jx_dtype dtype, const void *got,
                     const void *wide, int64_t n, jx_loss *to)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    size_t step = jx_dtype_is_complex(dtype) ? 16 : 8;
    loss *all = malloc((size_t)(n + 1) * sizeof *all);
    bool known = all != NULL || jx_starved(ctx);

    to->lost = to->largest = 0;
    for (int64_t i = 0; known && i < n; i++) {
        all[i].at = i;
        known = loss_of(dtype, (const char *)got + (size_t)i * size,
                        (const char *)wide + (size_t)i * step, &all[i]);
        to->lost = fmax(to->lost, all[i].lost);
        to->largest = fmax(to->largest, all[i].size);
    }
    if (known) {
        qsort(all, (size_t)n, sizeof *all, by_size);
        allow(all, n, to->each);
    }
    for (int64_t i = 0; known && i < n; i++)
        to->each[i] = fmin(to->each[i], MOST_LOST * to->largest);
    free(all);
    return known;
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
