/* ridders.c - see ridders.h. */
#include "runtime/ridders.h"

#include "runtime/kernels/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N = JX_RIDDERS_STEPS, LANES = 8 };
static const double SHRINK = 1.8;

void jx_ridders_steps(double first, double to[JX_RIDDERS_STEPS])
{
    for (int i = 0; i < N; i++)
        to[i] = i ? to[i - 1] / SHRINK : first;
}

double jx_ridders_offset(const double *steps, int k)
{
    double h = k ? steps[(k - 1) / 2] : 0;

    return k && k % 2 == 0 ? -h : h;
}

/* Some functions' samples, unpacked, one function beside the other, and the
 * best entries of their tables. */
typedef struct lanes {
    const double *h;
    double epsilon;
    double zero[LANES], plus[N][LANES], minus[N][LANES];
    double size[LANES], value[LANES], error[LANES];
} lanes;

/* Function `which[k]`, or number k; lanes that are left have what they had. */
static void unpack(const double *from, int stride, const int *which, int count,
                   lanes *to)
{
    for (int k = 0; k < count; k++) {
        const double *at = from + (which ? which[k] : k);
        to->zero[k] = at[0];
        for (int i = 0; i < N; i++) {
            to->plus[i][k] = at[(2 * i + 1) * stride];
            to->minus[i][k] = at[(2 * i + 2) * stride];
        }
    }
}

static bool is_finite(const lanes *s, int k)
{
    bool finite = isfinite(s->zero[k]);

    for (int i = 0; i < N; i++)
        finite = finite && isfinite(s->plus[i][k]) && isfinite(s->minus[i][k]);
    return finite;
}

/* The second difference over the step: of order h where the function is
 * smooth, constant at a kink, growing where rounding is all that is seen. */
static double bend(const lanes *s, int k, int i)
{
    return fabs(s->plus[i][k] + s->minus[i][k] - 2 * s->zero[k]) / s->h[i];
}

/* Rounding as it shows in a difference over a step h: a few operations'
 * worth in f, beneath which there are no numbers at all, and the table's
 * weights; 32 was found to cover the least of the table's many estimates,
 * where 8 did not. */
#define ROUNDING(epsilon, size, h)                                             \
    (32 * ((epsilon) * (size) + DBL_TRUE_MIN) / (h))

/* How the bend changed from a step to one ten times smaller: 0.1 where the
 * function is smooth, 1 at a kink, more where it is rough or noisy.  0 if all
 * that shows is rounding. */
static double bend_growth(const lanes *s, int k, int near)
{
    double a = bend(s, k, near - 4), b = bend(s, k, near);

    return b > 100 * ROUNDING(s->epsilon, s->size[k], s->h[near]) ? b / a : 0;
}

/* Flat over the smallest steps although it changes over the largest. */
static bool is_stair(const lanes *s, int k)
{
    int flat = 0;

    for (int i = 0; i < N; i++)
        flat += s->plus[i][k] == s->minus[i][k];
    return flat >= 2 && s->plus[0][k] != s->minus[0][k];
}

/* The entries of least error.  A row's entry i of order j has seen the steps
 * i .. i + j; the last is the smallest.  Of functions that are not finite
 * there are none. */
JX_VECTOR_CLONES
static void extrapolate(lanes *s)
{
    double row[N][LANES], rounded[N][LANES], best[LANES], least[LANES],
        factor = 1;

    for (int k = 0; k < LANES; k++)
        s->size[k] = fabs(s->zero[k]);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < LANES; k++) {
            double a = fabs(s->plus[i][k]), b = fabs(s->minus[i][k]);
            double c = a > b ? a : b;
            s->size[k] = s->size[k] > c ? s->size[k] : c;
        }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < LANES; k++) {
            row[i][k] = (s->plus[i][k] - s->minus[i][k]) / (2 * s->h[i]);
            rounded[i][k] = ROUNDING(s->epsilon, s->size[k], s->h[i]);
        }
    for (int k = 0; k < LANES; k++) {
        best[k] = row[0][k];
        least[k] = INFINITY;
    }
    for (int j = 1; j < N; j++) {
        factor *= SHRINK * SHRINK;
        for (int i = 0; i + j < N; i++)
            _Pragma("GCC unroll 1") for (int k = 0; k < LANES; k++)
            {
                double next =
                    (row[i + 1][k] * factor - row[i][k]) / (factor - 1);
                double a = fabs(next - row[i + 1][k]),
                       b = fabs(next - row[i][k]);
                /* no more than one of both is NaN */
                double moved = a > b ? a : b;
                double error =
                    moved > rounded[i + j][k] ? moved : rounded[i + j][k];
                best[k] = error < least[k] ? next : best[k];
                least[k] = error < least[k] ? error : least[k];
                row[i][k] = next;
            }
    }
    memcpy(s->value, best, sizeof best);
    memcpy(s->error, least, sizeof least);
}

static jx_slope slope_of(const lanes *s, int k)
{
    jx_slope slope = {.kind = JX_SLOPE_UNDEFINED, .error = INFINITY};

    if (!is_finite(s, k))
        return slope;
    slope.value = s->value[k];
    slope.error = s->error[k];
    slope.right = (s->plus[N - 1][k] - s->zero[k]) / s->h[N - 1];
    slope.left = (s->zero[k] - s->minus[N - 1][k]) / s->h[N - 1];
    slope.precise = slope.error <= 0.05 * fabs(slope.value) ||
                    slope.error <= 1e-6 * s->size[k] / s->h[0] ||
                    slope.error < DBL_MIN;
    double growth = bend_growth(s, k, N - 1);
    slope.kind = is_stair(s, k) ? JX_SLOPE_STAIR
                 : growth >= 2  ? JX_SLOPE_ROUGH
                 : growth > 0.5 ? JX_SLOPE_KINK
                                : JX_SLOPE_SMOOTH;
    return slope;
}

void jx_ridders(const double *samples, int stride, const int *which, int count,
                const double *steps, double epsilon, jx_slope *slopes)
{
    lanes s = {.h = steps, .epsilon = epsilon};

    for (int from = 0; from < count; from += LANES) {
        int n = count - from < LANES ? count - from : LANES;
        const int *here = which ? which + from : NULL;
        unpack(which ? samples : samples + from, stride, here, n, &s);
        extrapolate(&s);
        for (int k = 0; k < n; k++)
            slopes[here ? here[k] : from + k] = slope_of(&s, k);
    }
}
