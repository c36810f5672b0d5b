/* ridders.c - see ridders.h. */
#include "runtime/ridders.h"

#include <float.h>
#include <math.h>

enum { N = JX_RIDDERS_STEPS };
static const double SHRINK = 1.8;

double jx_ridders_step(double first, int i)
{
    while (i-- > 0)
        first /= SHRINK;
    return first;
}

double jx_ridders_offset(double first, int k)
{
    double h = k ? jx_ridders_step(first, (k - 1) / 2) : 0;

    return k && k % 2 == 0 ? -h : h;
}

/* One function's samples, unpacked. */
typedef struct samples {
    double zero, plus[N], minus[N], h[N];
    double epsilon;
} samples;

static bool unpack(const double *from, int stride, double first, samples *to)
{
    bool finite = isfinite(from[0]);

    to->zero = from[0];
    for (int i = 0; i < N; i++) {
        to->h[i] = i ? to->h[i - 1] / SHRINK : first;
        to->plus[i] = from[(2 * i + 1) * stride];
        to->minus[i] = from[(2 * i + 2) * stride];
        finite = finite && isfinite(to->plus[i]) && isfinite(to->minus[i]);
    }
    return finite;
}

/* The second difference over the step: of order h where the function is
 * smooth, constant at a kink, growing where rounding is all that is seen. */
static double bend(const samples *s, int i)
{
    return fabs(s->plus[i] + s->minus[i] - 2 * s->zero) / s->h[i];
}

/* fmax(), which is a call. */
static inline double larger(double a, double b)
{
    return a > b || isnan(b) ? a : b;
}

static double magnitude(const samples *s)
{
    double most = fabs(s->zero);

    for (int i = 0; i < N; i++)
        most = larger(most, larger(fabs(s->plus[i]), fabs(s->minus[i])));
    return most;
}

/* Rounding as it shows in a difference over this step: a few operations' worth
 * in f, beneath which there are no numbers at all, and the table's weights; 32 was found
 * to cover the least of the table's many estimates, where 8 did not. */
static double rounding(const samples *s, double magnitude_of_f, int i)
{
    return 32 * (s->epsilon * magnitude_of_f + DBL_TRUE_MIN) / s->h[i];
}

/* How the bend changed from a step to one ten times smaller: 0.1 where the
 * function is smooth, 1 at a kink, more where it is rough or noisy.  0 if all
 * that shows is rounding. */
static double bend_growth(const samples *s, double size, int near)
{
    double a = bend(s, near - 4), b = bend(s, near);

    return b > 100 * rounding(s, size, near) ? b / a : 0;
}

/* Flat over the smallest steps although it changes over the largest. */
static bool is_stair(const samples *s)
{
    int flat = 0;

    for (int i = 0; i < N; i++)
        flat += s->plus[i] == s->minus[i];
    return flat >= 2 && s->plus[0] != s->minus[0];
}

/* The entry of least error.  A row's entry i of order j has seen the steps
 * i .. i + j; the last is the smallest. */
static void extrapolate(const samples *s, double size, jx_slope *slope)
{
    double previous[N], current[N], rounded[N], factor = 1;

    slope->error = INFINITY;
    for (int i = 0; i < N; i++) {
        previous[i] = (s->plus[i] - s->minus[i]) / (2 * s->h[i]);
        rounded[i] = rounding(s, size, i);
    }
    slope->value = previous[0];
    for (int j = 1; j < N; j++) {
        factor *= SHRINK * SHRINK;
        for (int i = 0; i + j < N; i++) {
            current[i] =
                (previous[i + 1] * factor - previous[i]) / (factor - 1);
            double moved = larger(fabs(current[i] - previous[i + 1]),
                                  fabs(current[i] - previous[i]));
            double error = larger(moved, rounded[i + j]);
            if (error < slope->error) {
                slope->value = current[i];
                slope->error = error;
            }
        }
        for (int i = 0; i + j < N; i++)
            previous[i] = current[i];
    }
}

jx_slope jx_ridders(const double *at, int stride, double first, double epsilon)
{
    jx_slope slope = {.kind = JX_SLOPE_UNDEFINED, .error = INFINITY};
    samples s = {.epsilon = epsilon};

    if (!unpack(at, stride, first, &s))
        return slope;
    double size = magnitude(&s);
    slope.right = (s.plus[N - 1] - s.zero) / s.h[N - 1];
    slope.left = (s.zero - s.minus[N - 1]) / s.h[N - 1];
    extrapolate(&s, size, &slope);
    slope.precise = slope.error <= 0.05 * fabs(slope.value) ||
                    slope.error <= 1e-6 * size / first || slope.error < DBL_MIN;
    double growth = bend_growth(&s, size, N - 1);
    slope.kind = is_stair(&s)   ? JX_SLOPE_STAIR
                 : growth >= 2  ? JX_SLOPE_ROUGH
                 : growth > 0.5 ? JX_SLOPE_KINK
                                : JX_SLOPE_SMOOTH;
    return slope;
}
