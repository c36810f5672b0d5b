/* exhaust_count.c - see exhaust_count.h. */
#include "runtime/gradients/exhaust_count.h"

#include "runtime/kernels/vector.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool jx_float_format_of(jx_dtype dtype, jx_float_format *format)
{
    switch (dtype) {
    case JX_F32:
        *format =
            (jx_float_format){.precision = 24, .least = -126, .most = 127};
        break;
    case JX_F16:
        *format = (jx_float_format){.precision = 11, .least = -14, .most = 15};
        break;
    case JX_BF16:
        *format = (jx_float_format){.precision = 8, .least = -126, .most = 127};
        break;
    default: return false;
    }
    format->normal = ldexp(1, format->least);
    format->beyond = ldexp(2 - ldexp(1, -format->precision), format->most);
    return true;
}

enum { FEW = 128 }; /* results that are looked at together */

/* Inlined by all means: else no loop is made of vectors (the clones of one are
 * for other processors than this). */
#define IN_LOOPS static inline __attribute__((always_inline))

IN_LOOPS uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

IN_LOOPS double double_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The exponent field of a number's unit in the last place. */
IN_LOOPS uint64_t ulp_field(uint64_t least, uint64_t most, uint64_t shift,
                            double of)
{
    uint64_t e = bits_of(of) >> 52 & 0x7ff;

    e = e < least ? least : e;
    e = e > most ? most : e;
    return e - shift;
}

double jx_ulp(const jx_float_format *f, double of)
{
    return double_of(ulp_field((uint64_t)(f->least + 1023),
                               (uint64_t)(f->most + 1023),
                               (uint64_t)(f->precision - 1), of)
                     << 52);
}

/* Dividing by a power of two is multiplying by another. */
IN_LOOPS double units_off(uint64_t least, uint64_t most, uint64_t shift,
                          double got, double want)
{
    return fabs(got - want) *
           double_of((2046 - ulp_field(least, most, shift, want)) << 52);
}

/* Most are near the reference: whether any is not. */
JX_VECTOR_CLONES static int any_far(uint64_t least, uint64_t most,
                                    uint64_t shift, double normal,
                                    const double *restrict got,
                                    const double *restrict want, double limit,
                                    double subnormal, int64_t n)
{
    int any = 0;

    for (int64_t i = 0; i < n; i++)
        any |= !(units_off(least, most, shift, got[i], want[i]) <=
                 (fabs(want[i]) < normal ? subnormal : limit));
    return any;
}

/* All ones or none: conditions as masks, which vectors have. */
#define MASK(condition) ((condition) ? ~(uint64_t)0 : 0)

JX_VECTOR_CLONES static void
mark(uint64_t least, uint64_t most, uint64_t shift, double normal,
     double beyond, const double *restrict got, const double *restrict want,
     const double *restrict value, const unsigned char *restrict nan_in,
     double limit, double subnormal, unsigned char *restrict to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double g = got[i], w = want[i],
               off = units_off(least, most, shift, g, w);
        uint64_t big = MASK(fabs(w) >= beyond), nan = 0 - (uint64_t)nan_in[i];
        uint64_t near = MASK(off <= (fabs(w) < normal ? subnormal : limit));
        uint64_t same_side = MASK(fabs(g) > beyond) & MASK(g * w > 0);
        uint64_t none =
            MASK(g != g) & MASK(w != w) & (nan | MASK(value[i] != value[i]));
        uint64_t right = near | (big & (same_side | MASK(g == w))) | none |
                         (nan & MASK(w == w));
        to[i] = (unsigned char)(to[i] | (~right & 1));
    }
}

bool jx_exhaust_mark(const jx_float_format *f, const double *got,
                     const double *want, const double *value,
                     const unsigned char *nan_in, double limit,
                     double subnormal, unsigned char *to, int64_t n)
{
    uint64_t least = (uint64_t)(f->least + 1023),
             most = (uint64_t)(f->most + 1023);
    uint64_t shift = (uint64_t)(f->precision - 1);
    bool far = false;

    for (int64_t i = 0; i < n; i += FEW) {
        int64_t m = n - i < FEW ? n - i : FEW;
        if (!any_far(least, most, shift, f->normal, got + i, want + i, limit,
                     subnormal, m))
            continue;
        far = true;
        mark(least, most, shift, f->normal, f->beyond, got + i, want + i,
             value + i, nan_in + i, limit, subnormal, to + i, m);
    }
    return far;
}

/* ---- many results */

JX_VECTOR_CLONES static int64_t count_beyond(uint64_t least, uint64_t most,
                                             uint64_t shift,
                                             const double *restrict got,
                                             const double *restrict want,
                                             double units, int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count += units_off(least, most, shift, got[i], want[i]) > units;
    return count;
}

int64_t jx_exhaust_beyond(const jx_float_format *f, const double *got,
                          const double *want, double units, int64_t n)
{
    return count_beyond((uint64_t)(f->least + 1023), (uint64_t)(f->most + 1023),
                        (uint64_t)(f->precision - 1), got, want, units, n);
}

JX_VECTOR_CLONES static int64_t
unsure(uint64_t least, uint64_t most, uint64_t shift, double beyond,
       const double *restrict want, const double *restrict slack,
       const unsigned char *restrict marked,
       const unsigned char *restrict nan_in, int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++) {
        double ulp = double_of(ulp_field(least, most, shift, want[i]) << 52);
        count += (fabs(want[i]) < beyond) & (slack[i] > ulp / 8) &
                 !(marked[i] | nan_in[i]);
    }
    return count;
}

int64_t jx_exhaust_unsure(const jx_float_format *f, const double *want,
                          const double *slack, const unsigned char *marked,
                          const unsigned char *nan_in, int64_t n)
{
    return unsure((uint64_t)(f->least + 1023), (uint64_t)(f->most + 1023),
                  (uint64_t)(f->precision - 1), f->beyond, want, slack, marked,
                  nan_in, n);
}

/* Beyond these a rule is not the derivative.  (Its constants are rounded
 * to the dtype.) */
IN_LOOPS bool is_wrong(double want, double slack, double by_rule,
                       double rule_slack, double ulp)
{
    double apart = fabs(by_rule - want) - 64 * slack - 16 * rule_slack;

    return by_rule == by_rule && !(apart <= 64 * ulp);
}

bool jx_exhaust_mark_wrong(const jx_float_format *f, const double *want,
                           const double *slack, const double *by_rule,
                           const double *rule_slack,
                           const unsigned char *nan_in, unsigned char *to,
                           int64_t n)
{
    bool any = false;

    for (int64_t i = 0; i < n; i++) {
        bool wrong = !nan_in[i] && fabs(want[i]) < f->beyond &&
                     is_wrong(want[i], slack[i], by_rule[i], rule_slack[i],
                              jx_ulp(f, want[i]));
        to[i] |= wrong;
        any |= wrong;
    }
    return any;
}

/* ---- one result */

static bool is_finite(double x)
{
    return x - x == 0;
}

static bool is_in_range(const jx_float_format *f, double x)
{
    return fabs(x) < f->beyond;
}

double jx_exhaust_least_error(const jx_float_format *f,
                              const jx_exhaust_item *item)
{
    double off;

    if (!is_finite(item->want) || !is_in_range(f, item->want))
        return item->got == item->want ||
                       (isnan(item->got) && isnan(item->want))
                   ? 0
               : !is_finite(item->got) && !isnan(item->got) &&
                       (item->got > 0) == (item->want > 0)
                   ? 0
                   : (double)INFINITY;
    if (!is_finite(item->got))
        return (double)INFINITY;
    off = fabs(item->got - item->want) - item->slack;
    return off > 0 ? off / jx_ulp(f, fabs(item->want) + item->slack) : 0;
}

static jx_exhaust_place place_of(const jx_exhaust_item *item, double off)
{
    return (jx_exhaust_place){true,      {item->x[0], item->x[1]},
                              item->got, item->want,
                              off,       item->by_rule};
}

static void add_range(jx_exhaust_ranges *to, const jx_exhaust_range *r,
                      int64_t step)
{
    jx_exhaust_range *last = to->kept ? &to->at[to->kept - 1] : NULL;

    if (last && last->to + step == r->from) {
        last->to = r->to;
        memcpy(last->last, r->last, sizeof r->last);
        last->count += r->count;
    } else if (to->kept < JX_EXHAUST_RANGES) {
        to->at[to->kept++] = *r;
    }
}

static void add_inputs(jx_exhaust_ranges *to, const jx_exhaust_item *item)
{
    const jx_exhaust_range range = {item->index,
                                    item->index +
                                        (item->times - 1) * item->step,
                                    {item->x[0], item->x[1]},
                                    {item->last[0], item->last[1]},
                                    item->times};

    to->count += item->times;
    add_range(to, &range, item->step);
}

static void keep_worst(jx_exhaust_place *to, const jx_exhaust_item *item,
                       double off)
{
    if (!to->there || off > to->off)
        *to = place_of(item, off);
}

/* How far from numbers of about 1 an argument is, in powers of two
 * (of its bits). */
static int distance(const jx_exhaust_place *p)
{
    return abs((int)(p->x[0] & 0x7fffffff) - 0x3f800000) >> 23;
}

static void keep_nearest(jx_exhaust_place *to, const jx_exhaust_item *item,
                         double off)
{
    const jx_exhaust_place place = place_of(item, off);

    if (!to->there || distance(&place) < distance(to))
        *to = place;
}

static void count_off(jx_exhaust_column *to, double off, int64_t times)
{
    /* of what is not negative: its power of two */
    uint64_t field = bits_of(off) >> 52;
    int bar = (int)field - 1023;

    to->off += times;
    to->bars[bar < JX_EXHAUST_BARS ? bar : JX_EXHAUST_BARS - 1] += times;
}

/* The reference is a number within range. */
static void count_finite(jx_exhaust_column *to, const jx_float_format *f,
                         const jx_exhaust_item *item)
{
    double ulp = jx_ulp(f, item->want), off = jx_exhaust_least_error(f, item);
    bool is_normal = fabs(item->want) >= f->normal;

    to->unsure += item->slack > ulp / 8 ? item->times : 0;
    if (!item->is_kink && is_wrong(item->want, item->slack, item->by_rule,
                                   item->rule_slack, ulp)) {
        double apart = (fabs(item->by_rule - item->want) - 64 * item->slack -
                        16 * item->rule_slack) /
                       ulp;
        to->wrong += item->times;
        keep_worst(&to->worst_wrong, item, apart);
        keep_nearest(&to->near_wrong, item, apart);
    }
    if (item->is_kink) {
        to->kinks += item->times;
        if (!to->kink.there)
            to->kink = place_of(item, off);
        return;
    }
    if (!is_finite(item->got)) {
        add_inputs(&to->not_finite, item);
        if (isnan(item->got))
            add_inputs(&to->nan, item);
        return;
    }
    keep_worst(is_normal ? &to->normal : &to->subnormal, item, off);
    if (off >= 1)
        count_off(to, off, item->times);
}

bool jx_exhaust_tally(jx_exhaust_column *to, const jx_float_format *f,
                      double got, double want, double slack)
{
    double size = fabs(want), ulp = jx_ulp(f, size),
           apart = fabs(got - want) - slack;
    double off = apart > 0 ? apart / jx_ulp(f, size + slack) : 0;
    const jx_exhaust_place *worst =
        size >= f->normal ? &to->normal : &to->subnormal;

    if (!worst->there || off > worst->off)
        return false;
    to->unsure += slack > ulp / 8;
    if (off >= 1)
        count_off(to, off, 1);
    return true;
}

JX_VECTOR_CLONES static void
keep_plain(uint64_t least, uint64_t most, uint64_t shift, double beyond,
           const double *restrict got, const double *restrict want,
           const double *restrict value, double slack, double known,
           double kinked, unsigned char *restrict which, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double g = got[i], w = want[i], v = value[i], apart = fabs(g - w);
        double ulp = double_of(ulp_field(least, most, shift, w) << 52);
        int plain = (g - g == 0) & (fabs(w) < beyond) & (slack <= ulp / 1024) &
                    (apart <= known * ulp) & (apart <= kinked * ulp);
        int none = (g != g) & (w != w) & (v - v != 0);
        int same =
            (fabs(w) >= beyond) & (fabs(g) > DBL_MAX) & ((g > 0) == (w > 0));
        which[i] = (unsigned char)(which[i] & (plain | none | same));
    }
}

void jx_exhaust_keep_plain(const jx_float_format *f, const double *got,
                           const double *want, const double *value,
                           const jx_exhaust_nearness *near,
                           unsigned char *which, int64_t n)
{
    keep_plain((uint64_t)(f->least + 1023), (uint64_t)(f->most + 1023),
               (uint64_t)(f->precision - 1), f->beyond, got, want, value,
               near->slack, near->known, near->kinked, which, n);
}

/* How far they are off (-1: of no matter), of how many the reference is unsure;
 * whether any is off by more than the limits. */
JX_VECTOR_CLONES static int64_t
find_off(uint64_t least, uint64_t most, uint64_t shift,
         const jx_float_format *f, const double *restrict got,
         const double *restrict want, const double *restrict slack,
         const unsigned char *restrict which, double limit, double subnormal,
         double *restrict off, jx_exhaust_tallied *to, int64_t n)
{
    int64_t over = 0, unsure = 0, undefined = 0;
    double normal = f->normal, beyond = f->beyond;

    for (int64_t i = 0; i < n; i++) {
        double size = fabs(want[i]), apart = fabs(got[i] - want[i]) - slack[i];
        double ulp = double_of(ulp_field(least, most, shift, size) << 52);
        double by = double_of(
            (2046 - ulp_field(least, most, shift, size + slack[i])) << 52);
        double o = apart > 0 ? apart * by : 0;
        int is_number = which[i] & (size < beyond);
        off[i] = is_number ? o : -1;
        over += is_number & (o > (size < normal ? subnormal : limit));
        unsure += is_number & (slack[i] > ulp / 8);
        undefined += which[i] & (size != size);
    }
    to->unsure = unsure;
    to->undefined = undefined;
    return over;
}

JX_VECTOR_CLONES static int64_t count_at_least(const double *off, double units,
                                               int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count += off[i] >= units;
    return count;
}

void jx_exhaust_tally_many(const jx_exhaust_column *so_far,
                           const jx_float_format *f, const double *got,
                           const double *want, const double *slack,
                           const unsigned char *which, double *off, int64_t n,
                           jx_exhaust_tallied *to)
{
    const jx_exhaust_place *worst[] = {&so_far->normal, &so_far->subnormal};
    double limits[] = {worst[0]->there ? worst[0]->off : -1,
                       worst[1]->there ? worst[1]->off : -1};
    int64_t left = n;

    *to = (jx_exhaust_tallied){.worst = {-1, -1}};
    if (find_off((uint64_t)(f->least + 1023), (uint64_t)(f->most + 1023),
                 (uint64_t)(f->precision - 1), f, got, want, slack, which,
                 limits[0], limits[1], off, to, n))
        for (int64_t i = 0; i < n; i++) {
            bool is_subnormal = fabs(want[i]) < f->normal;
            if (off[i] > limits[is_subnormal]) {
                limits[is_subnormal] = off[i];
                to->worst[is_subnormal] = i;
            }
        }
    for (int k = 0; k < JX_EXHAUST_BARS && left; k++)
        to->least[k] = left = count_at_least(off, ldexp(1, k), n);
}

void jx_exhaust_keep_worst(jx_exhaust_column *to, const jx_float_format *f,
                           const jx_exhaust_item *item)
{
    keep_worst(fabs(item->want) >= f->normal ? &to->normal : &to->subnormal,
               item, jx_exhaust_least_error(f, item));
}

void jx_exhaust_add_tallied(jx_exhaust_column *to,
                            const jx_exhaust_tallied *tallied)
{
    to->unsure += tallied->unsure;
    to->undefined += tallied->undefined;
    to->off += tallied->least[0];
    for (int k = 0; k < JX_EXHAUST_BARS; k++)
        to->bars[k] += tallied->least[k] -
                       (k + 1 < JX_EXHAUST_BARS ? tallied->least[k + 1] : 0);
}

void jx_exhaust_count(jx_exhaust_column *to, const jx_float_format *f,
                      const jx_exhaust_item *item)
{
    bool nan = isnan(item->got);

    if (item->nan_in) {
        to->lost_nan += isnan(item->want) && !nan ? item->times : 0;
        return;
    }
    if (isnan(item->want)) {
        if (nan) {
            to->undefined += item->times;
            if (item->finite) {
                to->ntrapped += item->times;
                if (!to->trapped.there)
                    to->trapped = place_of(item, 0);
            }
        } else {
            add_inputs(&to->beyond, item);
        }
        return;
    }
    if (is_finite(item->want) && is_in_range(f, item->want)) {
        count_finite(to, f, item);
        return;
    }
    if (nan)
        add_inputs(&to->nan, item);
    else if (jx_exhaust_least_error(f, item) > 0 && !item->is_kink)
        add_inputs(&to->beyond, item);
}

/* ---- two parts */

static void join_worst(jx_exhaust_place *to, const jx_exhaust_place *later)
{
    if (later->there && (!to->there || later->off > to->off))
        *to = *later;
}

static void join_first(jx_exhaust_place *to, const jx_exhaust_place *later)
{
    if (!to->there)
        *to = *later;
}

static void join_ranges(jx_exhaust_ranges *to, const jx_exhaust_ranges *later,
                        int64_t step)
{
    to->count += later->count;
    for (int i = 0; i < later->kept; i++)
        add_range(to, &later->at[i], step);
}

void jx_exhaust_join(jx_exhaust_column *to, const jx_exhaust_column *later,
                     int64_t step)
{
    join_worst(&to->normal, &later->normal);
    join_worst(&to->subnormal, &later->subnormal);
    join_worst(&to->worst_wrong, &later->worst_wrong);
    if (later->near_wrong.there &&
        (!to->near_wrong.there ||
         distance(&later->near_wrong) < distance(&to->near_wrong)))
        to->near_wrong = later->near_wrong;
    join_first(&to->trapped, &later->trapped);
    join_first(&to->first_down, &later->first_down);
    join_first(&to->kink, &later->kink);
    join_ranges(&to->not_finite, &later->not_finite, step);
    join_ranges(&to->nan, &later->nan, step);
    join_ranges(&to->beyond, &later->beyond, step);
    to->off += later->off;
    to->unsure += later->unsure;
    to->undefined += later->undefined;
    to->ntrapped += later->ntrapped;
    to->lost_nan += later->lost_nan;
    to->down += later->down;
    to->kinks += later->kinks;
    to->wrong += later->wrong;
    for (int i = 0; i < JX_EXHAUST_BARS; i++)
        to->bars[i] += later->bars[i];
}
