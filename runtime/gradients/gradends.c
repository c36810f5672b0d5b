/* gradends.c - see gradpoints.h: points within what callers promise of
 * values (range.h). */
#include "runtime/gradients/gradpoints.h"

#include <math.h>

bool jx_span_has(const jx_span_of *span, double value)
{
    return !(span->low < span->high) || span->complex ||
           (value > span->low && value < span->high);
}

/* As if the ends were mirrors; what lies at one moves a thousandth inward. */
static double folded(double x, double low, double high)
{
    double width = high - low, by;

    if (isinf(low) && isinf(high))
        return x;
    if (isinf(high) || isinf(low)) {
        double end = isinf(high) ? low : high, inward = isinf(high) ? 1 : -1;
        by = fabs(x - end);
        return end + inward * (by > 0 ? by : 1e-3 * fmax(1, fabs(end)));
    }
    by = fmod(fabs(x - low), 2 * width);
    by = by <= width ? by : 2 * width - by;
    return low + fmin(fmax(by, 1e-3 * width), (1 - 1e-3) * width);
}

void jx_spans_keep(const jx_span_of *spans, int nspans, double *x)
{
    for (int s = 0; s < nspans; s++)
        for (int i = spans[s].at; i < spans[s].at + spans[s].count; i++)
            if (!jx_span_has(&spans[s], x[i]) && !isnan(x[i]))
                x[i] = folded(x[i], spans[s].low, spans[s].high);
}
