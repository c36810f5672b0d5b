/* ridders.h - slopes of functions of one variable, with honest error bars.
 *
 * Ridders' method (C. J. F. Ridders, "Accurate computation of F'(x) and
 * F'(x) F''(x)", Advances in Engineering Software 4, 1982): central
 * differences at steps that shrink by a constant, extrapolated to step zero in
 * a Neville table; the error of an entry is how far it moved from its two
 * parents.  That estimate alone can be zero by accident, so it is floored by
 * the rounding error that the entry's smallest step makes visible. */
#ifndef JX_RIDDERS_H
#define JX_RIDDERS_H

#include <stdbool.h>

enum { JX_RIDDERS_STEPS = 12 };

typedef enum jx_slope_kind {
    JX_SLOPE_SMOOTH = 0,
    JX_SLOPE_KINK,      /* left and right slopes differ at the point itself */
    JX_SLOPE_STAIR,     /* flat at small steps, not at large ones */
    JX_SLOPE_ROUGH,     /* no slope: it bends more and more at small steps */
    JX_SLOPE_UNDEFINED, /* the function is not finite near the point */
} jx_slope_kind;

typedef struct jx_slope {
    jx_slope_kind kind;
    double value, error; /* of the derivative at 0; error >= 0 */
    bool precise; /* the error is small beside the slope, or beside what the
                     function's size makes of rounding */
    double left, right; /* one-sided slopes at the smallest step of a kink */
} jx_slope;

/* Where the samples of one function stand: values[0] at 0, then at +h[0],
 * -h[0], +h[1], -h[1], ... with these steps. */
enum { JX_RIDDERS_SAMPLES = 2 * JX_RIDDERS_STEPS + 1 };
void jx_ridders_steps(double first, double to[JX_RIDDERS_STEPS]);
/* Where sample k stands: 0, h[0], -h[0], h[1], ... */
double jx_ridders_offset(const double *steps, int k);

/* The slopes at 0 of functions that were sampled with these steps.  Function j
 * has its first sample at samples[j], and the next ones `stride` doubles from
 * each other; slopes[j] is its slope.  Of these functions: j = which[0], ...
 * which[count - 1], or the first ones (NULL). `epsilon` is that of the
 * narrowest dtype that the functions round to while they run: DBL_EPSILON
 * where they do not. */
void jx_ridders(const double *samples, int stride, const int *which, int count,
                const double *steps, double epsilon, jx_slope *slopes);

#endif
