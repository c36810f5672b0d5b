/* points.c - see parts.h: inputs within their ranges. */
#include "runtime/witness/parts.h"

#include "runtime/elementwise.h"
#include "runtime/shake.h"

#include <math.h>
#include <string.h>

enum { PIECE = 256 };

static double clamped(const jx_held *held, double value)
{
    value = held->whole ? nearbyint(value) : value;
    return value < held->lo ? held->lo : value > held->hi ? held->hi : value;
}

/* The number of the dtype that is next to an end, and inside. */
static double inside(jx_dtype dtype, double end, double sign)
{
    double number = end, step = fmax(fabs(end) * 0x1p-53, 0x1p-149), back;
    char bits[16];

    for (int k = 0; k < 64; k++, step *= 2) {
        jx_convert(JX_F64, dtype, &number, bits, 1);
        jx_convert(dtype, JX_F64, bits, &back, 1);
        if (sign * back >= sign * end)
            return back;
        number = end + sign * step;
    }
    return end;
}

void jx_held_fit(jx_held *held, jx_dtype dtype)
{
    double largest = jx_largest_finite(dtype);
    double lo = inside(dtype, fmax(held->lo, -largest), 1);
    double hi = inside(dtype, fmin(held->hi, largest), -1);

    if (lo <= hi) { /* else no number of the dtype lies between the ends */
        held->lo = lo;
        held->hi = hi;
    }
}

/* Numbers within the range stay there when they are rounded, as its ends
 * are of the dtype. */
static void put(jx_hunt *h, int input, int64_t at, const double *values,
                int64_t count)
{
    const jx_port *port = jx_plan_in(h->run.plan, input);
    char *to =
        (char *)h->run.in[input] + (size_t)at * jx_dtype_of(port->dtype)->bytes;

    jx_convert(JX_F64, port->dtype, values, to, count);
}

void jx_hunt_put(jx_hunt *h, int input, int64_t at, const double *from,
                 int64_t count)
{
    const jx_held *held = &h->held[input];
    double piece[PIECE];

    for (int64_t done = 0; done < count; done += PIECE) {
        int64_t n = count - done < PIECE ? count - done : PIECE;
        for (int64_t i = 0; i < n; i++) {
            piece[i] = clamped(held, from[done + i]);
            if (!held->whole && !(fabs(piece[i]) <= h->largest))
                h->largest = fabs(piece[i]);
        }
        put(h, input, at + done, piece, n);
    }
}

void jx_hunt_take(const jx_hunt *h, int input, double *to)
{
    const jx_port *port = jx_plan_in(h->run.plan, input);

    jx_convert(port->dtype, JX_F64, h->run.in[input], to, port->count);
}

/* -- kinds of points ------------------------------------------------------- */

typedef enum kind {
    LOW,  /* all elements at the lower end */
    HIGH, /* ... the upper one */
    MIDDLE,
    ZERO, /* ... or what is next to it */
    ONE,
    ENDS,  /* each input as a whole at one of its ends */
    WHOLE, /* ... anywhere, often near zero */
    /* along the last axis one at the upper end, the others at the lower */
    FIRST,
    /* along the last axis one at the lower end, the others at the upper */
    LAST,
    AXIS,    /* ... one at the end farther from zero, the others zero */
    COLUMNS, /* an end for each place along the last axis */
    ROWS,    /* an end for each place along the first axis */
    MIXED,   /* an end for each element */
    UNIFORM, /* anywhere */
    KINDS
} kind;

/* Which and how often; the telling ones first. */
static const struct {
    kind kind;
    int times;
} course[] = {{LOW, 1},   {HIGH, 1},    {MIDDLE, 1},  {ZERO, 1}, {ONE, 1},
              {FIRST, 2}, {COLUMNS, 4}, {ENDS, 12},   {ROWS, 2}, {LAST, 2},
              {WHOLE, 8}, {MIXED, 3},   {UNIFORM, 3}, {AXIS, 1}};

static double end_of(const jx_held *held, bool upper)
{
    return upper ? held->hi : held->lo;
}

/* A number within the range, of any size: an end times a power of two. */
static double anywhere(const jx_held *held, uint64_t bits)
{
    return end_of(held, bits & 1) * ldexp(1, -(int)(bits >> 1 & 7));
}

/* All elements are the same. */
static bool is_even(kind k)
{
    return k <= ONE || k == ENDS || k == WHOLE;
}

static double whole(const jx_held *held, kind k, bool upper, uint64_t bits)
{
    switch (k) {
    case LOW: return held->lo;
    case HIGH: return held->hi;
    case MIDDLE: return (held->lo + held->hi) / 2;
    case ZERO: return 0;
    case ONE: return 1;
    case ENDS: return end_of(held, upper);
    default: return anywhere(held, bits);
    }
}

static double element(jx_hunt *h, const jx_held *held, kind k, int64_t row,
                      int64_t column, uint64_t bits)
{
    switch (k) {
    case FIRST: return end_of(held, column == 0);
    case LAST: return end_of(held, column != 0);
    case AXIS: return column ? 0 : end_of(held, held->hi >= -held->lo);
    case COLUMNS: return end_of(held, bits >> (column & 63) & 1);
    case ROWS: return end_of(held, bits >> (row & 63) & 1);
    case MIXED: return end_of(held, jx_rng_next(&h->rng) & 1);
    default: return held->lo + jx_rng_uniform(&h->rng) * (held->hi - held->lo);
    }
}

/* After so many elements they come again. */
static int64_t period_of(const jx_port *port, kind k)
{
    bool by_column = k == FIRST || k == LAST || k == AXIS || k == COLUMNS;
    int64_t period = is_even(k)                ? 1
                     : by_column && port->rank ? port->shape[port->rank - 1]
                                               : port->count;

    return period < port->count ? period : port->count;
}

static void repeat(char *to, size_t have, size_t bytes)
{
    while (have && have < bytes) {
        size_t more = bytes - have < have ? bytes - have : have;
        memcpy(to + have, to, more);
        have += more;
    }
}

static void fill_input(jx_hunt *h, int input, kind k)
{
    const jx_port *port = jx_plan_in(h->run.plan, input);
    const jx_held *held = &h->held[input];
    uint64_t bits = jx_rng_next(&h->rng);
    int64_t columns = port->rank ? port->shape[port->rank - 1] : 1;
    int64_t rows = port->rank ? port->shape[0] : 1, column = 0, row = 0,
            in_row = 0;
    int64_t per_row = rows ? port->count / rows : 0,
            period = period_of(port, k);
    bool even = is_even(k);
    double piece[PIECE];

    for (int64_t at = 0; at < period; at += PIECE) {
        int64_t count = period - at < PIECE ? period - at : PIECE;
        for (int64_t i = 0; i < count; i++) {
            piece[i] =
                clamped(held, even ? whole(held, k, bits >> 63, bits)
                                   : element(h, held, k, row, column, bits));
            column = column + 1 == columns ? 0 : column + 1;
            if (++in_row == per_row) {
                in_row = 0;
                row++;
            }
        }
        put(h, input, at, piece, count);
    }
    repeat(h->run.in[input], (size_t)period * jx_dtype_of(port->dtype)->bytes,
           port->bytes);
}

static void fill_all(jx_hunt *h, kind k)
{
    for (int i = 0; i < h->run.nins; i++)
        if (!h->held[i].open)
            fill_input(h, i, k);
}

void jx_hunt_fill_anywhere(jx_hunt *h)
{
    fill_all(h, UNIFORM);
}

bool jx_hunt_start(jx_hunt *h, int number)
{
    static const kind starts[] = {MIDDLE,  UNIFORM, WHOLE,
                                  UNIFORM, ENDS,    COLUMNS};

    if (number >= (int)(sizeof starts / sizeof *starts))
        return false;
    fill_all(h, starts[number]);
    return true;
}

bool jx_hunt_fill_one(jx_hunt *h, int input, int number)
{
    static const kind ways[] = {ZERO, LOW, HIGH};

    if (number >= (int)(sizeof ways / sizeof *ways))
        return false;
    if (!h->held[input].open)
        fill_input(h, input, ways[number]);
    return true;
}

bool jx_hunt_fill(jx_hunt *h, int number)
{
    for (size_t c = 0; c < sizeof course / sizeof *course; c++) {
        if (number >= course[c].times) {
            number -= course[c].times;
            continue;
        }
        fill_all(h, course[c].kind);
        return true;
    }
    return false;
}
