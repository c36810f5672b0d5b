/* gradjudge.c - see gradjudge.h. */
#include "runtime/gradients/gradjudge.h"

#include <float.h>
#include <math.h>

void jx_target_add(jx_target *t, double weight, const jx_slope *s)
{
    double a, b;

    if (weight == 0)
        return;
    if (s->kind == JX_SLOPE_UNDEFINED || s->kind == JX_SLOPE_ROUGH)
        t->undefined = true;
    if (s->kind == JX_SLOPE_STAIR)
        t->stair = true;
    if (s->kind == JX_SLOPE_SMOOTH && !s->precise)
        t->imprecise = true;
    bool kink = s->kind == JX_SLOPE_KINK;
    a = weight * (kink ? s->left : s->value);
    b = weight * (kink ? s->right : s->value);
    t->low += fmin(a, b);
    t->high += fmax(a, b);
    t->error +=
        fabs(weight) * (kink ? 0.01 * fabs(s->right - s->left) : 4 * s->error);
    t->scale += fmax(fabs(a), fabs(b));
}

jx_opinion jx_judge(double value, double scale, double tolerance,
                    const jx_target *t)
{
    double slack;

    if (t->undefined || t->stair)
        return JX_SKIP;
    if (t->imprecise)
        return JX_UNCERTAIN;
    /* Before anything is allowed for: what an infinite value may be
     * off is infinite. */
    if (!isfinite(value))
        return t->low == t->high && t->error <= 0.1 * t->scale + tolerance
                   ? JX_DISAGREE
                   : JX_SKIP;
    scale += t->scale;
    slack = t->error + tolerance * scale + DBL_MIN;
    /* At a kink any answer is a convention; along lines on which both sides
     * agree, it must fit them. */
    double off = fmax(t->low - value, value - t->high);
    return off <= slack       ? JX_AGREE
           : t->low < t->high ? JX_UNCERTAIN
           : off <= 8 * slack ? JX_UNCERTAIN
                              : JX_DISAGREE;
}
