/* roundoff.c - see roundoff.h. */
#include "runtime/roundoff.h"

#include "runtime/elementwise.h"
#include "runtime/shake.h"

#include <math.h>
#include <stdlib.h>

typedef struct element {
    double size;
    /* off from the wider dtype, beyond what the result's own can hold */
    double forward;
    double moved; /* by inputs that are off */
    bool jumps;   /* not by rounding that grew: nothing for others to go by */
} element;

typedef struct parts {
    double re, im;
} parts;

static parts part_of(jx_dtype dtype, const void *all, int64_t i)
{
    double at[2] = {0, 0};
    const char *from =
        (const char *)all + (size_t)i * jx_dtype_of(dtype)->bytes;

    jx_convert(dtype, jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64, from, at,
               1);
    return (parts){at[0], at[1]};
}

static double off(double a, double b)
{
    return a == b || (a != a && b != b) ? 0 : fabs(a - b);
}

/* Not finite where one of both is not. */
static double distance(parts a, parts b)
{
    return hypot(off(a.re, b.re), off(a.im, b.im));
}

static double size_of(parts a)
{
    double size = hypot(a.re, a.im);

    return isfinite(size) ? size : 0;
}

/* Rounding that grows does so in all runs alike; what goes another way at
 * a threshold in one of them is off by a part of itself there, and
 * elsewhere by a unit. */
static void see_runs(element *e, jx_dtype dtype, parts wide, int runs,
                     const void *const *others, int64_t i, double unit)
{
    double least = INFINITY, apart = fmax(1000, 0.05 / unit);

    for (int k = 0; k < runs; k++) {
        double moved = distance(part_of(dtype, others[k], i), wide);
        if (!isfinite(moved)) {
            e->jumps = true;
            continue;
        }
        e->moved = fmax(e->moved, moved);
        least = fmin(least, moved);
    }
    e->jumps |= e->moved > apart * least;
}

/* Inputs that few bits hold are not moved: then rounding is known by its size,
 * small against the result.  What is larger is meant (the error of a sum, a
 * residue of a conversion), or a threshold between both. */
static bool is_meant(const element *e, jx_dtype dtype)
{
    enum { APART = 1000 };

    return e->forward > APART * e->moved &&
           e->forward > sqrt(jx_unit_roundoff(dtype)) * e->size;
}

static bool see(element *e, jx_dtype dtype, const void *got, const void *wide,
                int runs, const void *const *others, int64_t i)
{
    jx_dtype real = jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64;
    parts w = part_of(real, wide, i);

    *e = (element){.size = size_of(w)};
    e->forward = distance(part_of(dtype, got, i), w);
    if (!isfinite(e->forward))
        return false;
    if (real == dtype)
        e->forward = 0;
    else
        e->forward =
            fmax(0, e->forward - jx_unit_roundoff(dtype) * e->size / 2);
    see_runs(e, real, w, runs, others, i, jx_unit_roundoff(dtype));
    if (is_meant(e, dtype)) {
        e->forward = 0;
        e->jumps = true;
    }
    return true;
}

static double lost_by(const element *e)
{
    return fmax(e->forward, e->moved);
}

/* ---- what others of its size lost */

/* Sizes between two powers of 16 are alike. */
enum { ALIKE = 16, CLASSES = 600 };

static int class_of(double size)
{
    int exponent = 0;

    frexp(size, &exponent);
    exponent = size > 0 ? (exponent + 1100) / 4 + 1 : 0;
    return exponent < CLASSES ? exponent : CLASSES - 1;
}

/* What lies far below the largest loss may not be off by as much:
 * elements of a size alike, or smaller, count by what they lost, of the
 * others the share does. */
static double pooled(const double *lost, const double *share, double size)
{
    int class = class_of(size);
    double most = 0, part = 0;

    for (int i = 0; i < CLASSES; i++)
        if (i <= class + 1)
            most = fmax(most, lost[i]);
        else
            part = fmax(part, share[i]);
    return fmax(most, ALIKE * size * part);
}

static void pool(const element *all, int64_t n, double *each)
{
    double lost[CLASSES] = {0}, share[CLASSES] = {0};

    for (int64_t i = 0; i < n; i++) {
        int class = class_of(all[i].size);
        if (all[i].jumps)
            continue;
        lost[class] = fmax(lost[class], lost_by(&all[i]));
        if (all[i].size > 0)
            share[class] = fmax(share[class], lost_by(&all[i]) / all[i].size);
    }
    for (int64_t i = 0; i < n; i++)
        each[i] = fmax(all[i].jumps ? lost_by(&all[i]) : 0,
                       JX_ROUNDINGS * pooled(lost, share, all[i].size));
}

/* ---- noise */

/* Most elements are no larger than what moves them, and, where a wider
 * dtype knows better, no better known than that; and none is larger
 * than that of any. */
static bool is_noise(const element *all, int64_t n, jx_dtype dtype,
                     double largest, double lost)
{
    bool wide = jx_dtype_real(dtype) == JX_F64;
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count += !all[i].jumps && all[i].size <= JX_ROUNDINGS * all[i].moved &&
                 (wide || all[i].size <= JX_ROUNDINGS * all[i].forward);
    return n > 0 && count * 4 >= n * 3 && largest <= JX_ROUNDINGS * lost;
}

bool jx_roundoff_measure(jx_ctx *ctx, jx_dtype dtype, const void *got,
                         const void *wide, int runs, const void *const *others,
                         int64_t n, double made_of, jx_roundoff *to)
{
    enum { UNITS = 64 };
    element *all = calloc((size_t)(n + 1), sizeof *all);
    bool known = all != NULL || jx_starved(ctx);
    double sure = 0; /* lost by those that measure */

    to->lost = to->largest = 0;
    for (int64_t i = 0; known && i < n; i++) {
        known = see(&all[i], dtype, got, wide, runs, others, i);
        to->lost = fmax(to->lost, lost_by(&all[i]));
        to->largest = fmax(to->largest, all[i].size);
        if (!all[i].jumps)
            sure = fmax(sure, lost_by(&all[i]));
    }
    if (known)
        pool(all, n, to->each);
    to->is_noise = known &&
                   to->largest <= UNITS * jx_unit_roundoff(dtype) * made_of &&
                   is_noise(all, n, dtype, to->largest, sure);
    for (int64_t i = 0; known && i < n; i++)
        to->each[i] = to->is_noise
                          ? JX_ROUNDINGS * sure
                          : fmin(to->each[i], to->largest / JX_ROUNDOFF_PART);
    free(all);
    return known;
}
