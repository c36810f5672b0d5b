/* points.c - see points.h. */
#include "runtime/equal/points.h"

#include "runtime/elementwise.h"
#include "runtime/fill.h"
#include "runtime/gradients/gradpoints.h"

#include <math.h>
#include <stdio.h>

typedef enum kind { NORMAL, UNIT, TIES, ZEROS } kind;

static const struct {
    jx_equal_point point;
    kind kind;
    double scale, mean;
} all[] = {
    {{"ordinary numbers", false, false}, NORMAL, 1, 0},
    {{"numbers between 0 and 1", false, false}, UNIT, 1, 0},
    {{"small integers, of which many are equal", false, true}, TIES, 1, 0},
    {{"small integers, of which many are equal", false, true}, TIES, 1, 0},
    {{"small integers, of which many are equal", false, true}, TIES, 1, 0},
    {{"zeros", false, true}, ZEROS, 0, 0},
    {{"numbers of scale 200", true, false}, NORMAL, 200, 0},
    {{"numbers of mean 10000", true, false}, NORMAL, 1, 1e4},
};

int jx_equal_points(void)
{
    return sizeof all / sizeof *all;
}

/* Behind all of them come the first two again, with other numbers. */
static int row_of(int point)
{
    return point < jx_equal_points() ? point : point & 1;
}

const jx_equal_point *jx_equal_point_at(int number)
{
    return &all[row_of(number)].point;
}

static double number_of(int point, jx_rng *rng)
{
    if (point == JX_EQUAL_ONES)
        return 1;
    point = row_of(point);
    switch (all[point].kind) {
    case NORMAL: return all[point].mean + all[point].scale * jx_rng_normal(rng);
    case UNIT: return jx_rng_uniform(rng);
    case TIES: return floor(3 * jx_rng_uniform(rng)) - 1;
    case ZEROS: break;
    }
    return 0;
}

/* Any index, or the first or last of one of some equal parts; any length, or
 * that of some of these; now and then the last, of one number at one point. */
static int64_t index_of(jx_rng *rng, int64_t last)
{
    int64_t size = last + 1, parts = (int64_t)2 << (jx_rng_next(rng) >> 62);
    uint64_t drawn = jx_rng_next(rng);

    if ((drawn >> 1 & 7) == 0)
        return last;
    if (!(drawn & 1) && size % parts && last % parts == 0)
        return (int64_t)((drawn >> 8) % (uint64_t)(parts + 1)) * (last / parts);
    if (drawn & 1 || size % parts)
        return (int64_t)((drawn >> 8) % (uint64_t)size);
    return ((int64_t)((drawn >> 8) % (uint64_t)parts) * (size / parts) + size -
            (int64_t)(drawn >> 1 & 1)) %
           size;
}

/* As integers are used: small, so that they index what there is. */
static int64_t whole_of(int point, jx_rng *rng, const jx_port *port,
                        jx_integer_domain in)
{
    bool ones = point == JX_EQUAL_ONES;
    int row = ones ? 0 : row_of(point);

    if (port->dtype == JX_BOOL)
        return (int64_t)(jx_rng_next(rng) >> 63);
    if (in.ntold && !ones && jx_rng_next(rng) >> 62 == 0)
        return in
            .told[in.ntold > 1 ? jx_rng_next(rng) % (uint64_t)in.ntold : 0];
    if (in.last < 0 || ones || all[row].point.special)
        return (int64_t)(jx_rng_next(rng) >>
                         (all[row].point.extreme ? 61 : 62));
    return row == 1 && port->count == 1 ? in.last : index_of(rng, in.last);
}

/* What lies outside of the range is another number within. */
static int64_t within(int64_t value, const jx_integer_domain *in)
{
    uint64_t size = (uint64_t)(in->hi - in->lo) + 1;

    return value >= in->lo && value <= in->hi
               ? value
               : in->lo + (int64_t)((uint64_t)(value - in->lo) % size);
}

static void fill_whole(int point, jx_rng *rng, const jx_port *port,
                       jx_integer_domain in, char *to)
{
    size_t bytes = jx_dtype_of(port->dtype)->bytes;
    bool zeros = point != JX_EQUAL_ONES && all[row_of(point)].kind == ZEROS;

    for (int64_t i = 0; i < port->count; i++) {
        int64_t value = zeros ? 0 : whole_of(point, rng, port, in);
        if (port->dtype == JX_BOOL) {
            to[i] = (char)value;
            continue;
        }
        value = within(value, &in);
        jx_convert(JX_I64, port->dtype, &value, to + (size_t)i * bytes, 1);
    }
}

/* Of a span's numbers the one next to 0 first, then the farthest, then any;
 * these two, and what is near to the first, often. */
static int64_t number_in(const jx_equal_span *span, int turn, jx_rng *rng)
{
    enum { FIRST, LAST, NEAR, NEARBY = 10 };
    int end = turn < NEAR ? turn : (int)(jx_rng_next(rng) >> 62);
    bool positive = span->least >= 0;
    int64_t size = span->most - span->least + 1, step = 0;

    size = end == NEAR && size > NEARBY ? NEARBY : size;
    if (end >= NEAR)
        step = (int64_t)(jx_rng_next(rng) % (uint64_t)size);
    else if (end == LAST)
        step = size - 1;
    return positive ? span->least + step : span->most - step;
}

void jx_equal_fill_span(const jx_equal_span *span, int turn,
                        const jx_port *port, void *to)
{
    jx_rng rng = {.state = 0x7370616e + (uint64_t)turn};
    size_t bytes = jx_dtype_of(port->dtype)->bytes;

    for (int64_t i = 0; i < port->count; i++) {
        /* a part of many, half, or all */
        bool in = port->count == 1 || turn == 2 ||
                  jx_rng_next(&rng) >> 62 < (turn == 0 ? 1 : 2);
        int64_t value =
            number_in(span, port->count == 1 ? turn : JX_EQUAL_TURNS, &rng);
        if (in)
            jx_convert(JX_I64, port->dtype, &value,
                       (char *)to + (size_t)i * bytes, 1);
    }
}

void jx_equal_fill(int point, int index, const jx_port *port,
                   const jx_integer_domain *domains, void *to)
{
    jx_rng rng = {.state =
                      0x9e37 + 0x1000003 * (uint64_t)point + (uint64_t)index};
    size_t bytes = jx_dtype_of(port->dtype)->bytes;
    bool complex = jx_dtype_is_complex(port->dtype);
    jx_integer_domain in =
        domains
            ? domains[index]
            : (jx_integer_domain){.last = -1, .lo = INT8_MIN, .hi = INT8_MAX};
    char seed[40];

    if (port->aval->dtype == JX_KEY) {
        snprintf(seed, sizeof seed, "random:%d", point);
        jx_fill(seed, index, port, to, NULL);
        return;
    }
    if (!jx_dtype_is_inexact(port->dtype)) {
        fill_whole(point, &rng, port, in, to);
        return;
    }
    for (int64_t i = 0; i < port->count; i++) {
        double value[2] = {number_of(point, &rng), 0};
        value[1] = complex ? number_of(point, &rng) : 0;
        jx_convert(complex ? JX_C128 : JX_F64, port->dtype, value,
                   (char *)to + (size_t)i * bytes, 1);
    }
}
