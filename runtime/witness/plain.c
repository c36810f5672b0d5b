/* plain.c - see parts.h: inputs of which nothing is declared. */
#include "runtime/witness/parts.h"

#include "runtime/elementwise.h"

#include <math.h>
#include <string.h>

typedef enum fill {
    CONSTANT, /* `scale` everywhere */
    NORMAL,   /* `scale` times a normal number */
    UNIT,     /* between 0 and 1 */
    AROUND,   /* `scale`, or what is nearest to it, and a normal number */
    NEAR,     /* ... and one that is small beside the declared range */
    ROWS,     /* one positive number for each row along the last axis */
    /* between 0 and 1; `scale` times a normal number what is
     * multiplied as a matrix */
    WEIGHTS,
    SOLVABLE, /* `scale`, but square matrices are the unit matrix */
    /* from 0 to 1 in equal steps; the next input to `scale` times as much */
    RISING,
    FALLING, /* ... from 1 to 0 */
    SIGNS,   /* -1, 0 and 1 */
    AXIS,    /* along the last axis `scale`, then zeros */
} fill;

/* What integers and masks are beside it. */
typedef enum whole { LEAST, MOST, ANY, BEYOND } whole;

static const struct way {
    fill fill;
    double scale; /* in parts of what is large in the dtype */
    whole whole;
    bool alike; /* inputs of one type are the same array */
    jx_plain plain;
} ways[] = {
    {NORMAL, .01, ANY, false, {.any = true}},
    {CONSTANT, 1, MOST, false, {.any = true, .degenerate = true}},
    {CONSTANT, -1.1, LEAST, false, {.any = true, .degenerate = true}},
    {SOLVABLE,
     0,
     LEAST,
     false,
     {.any = true, .modest = true, .degenerate = true}},
    {SOLVABLE,
     .01,
     MOST,
     false,
     {.any = true, .modest = true, .degenerate = true}},
    {UNIT, 0, MOST, false, {.any = true, .modest = true}},
    {UNIT, 0, LEAST, true, {.any = true, .modest = true, .degenerate = true}},
    {NORMAL, .3, ANY, false, {.any = true}},
    {NORMAL, .1, ANY, false, {.any = true}},
    {NORMAL, .03, ANY, true, {.any = true, .degenerate = true}},
    {WEIGHTS, .01, ANY, false, {.any = true, .modest = true}},
    /* Where 1 - tanh(x) and 1 - sigmoid(x) are 0 in f32 and not in f64. */
    {CONSTANT, .18, ANY, false, {.any = true, .degenerate = true}},
    {CONSTANT, -.18, ANY, false, {.any = true, .degenerate = true}},
    {NORMAL, 1, ANY, false, {.any = true}},
    {ROWS, .01, ANY, false, {.any = true, .modest = true, .degenerate = true}},
    /* Vectors of one direction, whose length is 1 in f32, once they are divided
     * by it, and is not in f64. */
    {AXIS, 1, ANY, false, {.any = true, .degenerate = true}},
    {UNIT, 0, BEYOND, false, {.any = true, .outside = true}},
};

enum { NWAYS = sizeof ways / sizeof *ways, ROUNDED = 12 };
/* Of several inputs that index each may hide that another lies outside (a
 * scatter leaves out what it was given): so many are so alone, too. */
enum { MOST_ALONE = 4 };
/* So many numbers are drawn, and come again: a prime, so that rows differ. */
enum { DRAWN = 1021 };
/* What a normal number takes of the generator: a row takes that in every way,
 * so that the numbers of one way do not depend on what the others need. */
enum { ROW_DRAWS = 2 };

/* Where an index is computed of floats: what looks for the largest, or for a
 * place among what is sorted, gives the last one. */
static const struct way ordered[] = {
    {RISING, 1.5, ANY, false, {.any = true, .modest = true, .ordered = true}},
    {RISING,
     1 / 1.5,
     ANY,
     false,
     {.any = true, .modest = true, .ordered = true}},
    {FALLING, 1.5, ANY, false, {.any = true, .modest = true, .ordered = true}},
    /* along axes: an angle of (-1, 0) is pi */
    {SIGNS, 1, ANY, false, {.any = true, .ordered = true}},
};

/* Where a function ends at 1, as arccos does, and what is computed may
 * round beyond it. */
static const struct way edge = {
    NORMAL, .3, ANY, true, {.any = true, .degenerate = true}};

/* In float16 a number without a square is not strange, either: in one
 * input, beside others that are as usual. */
static const struct way half = {NORMAL,
                                20,
                                ANY,
                                false,
                                {.any = true, .squareless = true}},
                        usual = {NORMAL, .06, ANY, false, {0}};

/* Square matrices that nobody decomposes are arrays like others,
 * and may be zero. */
static const struct way nought = {
    CONSTANT,
    0,
    LEAST,
    false,
    {.any = true, .modest = true, .degenerate = true}};

/* A number that is large and not strange: the exponential of it has no value in
 * the dtype.  (That of the tenth part more below 0 is 0.) */
static double large_in(jx_dtype dtype)
{
    return dtype == JX_F16 ? 16 : 100;
}

static bool is_square(const jx_port *port)
{
    return port->rank >= 2 &&
           port->shape[port->rank - 1] == port->shape[port->rank - 2];
}

static double drawn_whole(jx_rng *rng, const jx_held *held, whole which)
{
    switch (which) {
    case LEAST: return held->lo;
    case MOST: return held->hi;
    case BEYOND: return held->indexes ? held->hi + 1 : held->hi;
    default:
        return floor(held->lo +
                     jx_rng_uniform(rng) * (held->hi - held->lo + 1));
    }
}

static bool is_of_normals(const struct way *way, bool weight)
{
    return way->fill == NORMAL || way->fill == AROUND || way->fill == NEAR ||
           (way->fill == WEIGHTS && weight);
}

/* The number nearest to `scale` that has room for normal ones on both sides. */
static double amid(const jx_held *held, double scale)
{
    enum { ROOM = 4 };

    if (held->hi - held->lo < 2 * ROOM)
        return held->lo + (held->hi - held->lo) / 2;
    return fmin(fmax(scale, held->lo + ROOM), held->hi - ROOM);
}

/* What a range is for may vary little: an image of one shade, a sensor at
 * rest.  1 where nothing is declared. */
static double little(const jx_held *held)
{
    enum { PARTS = 750 };

    return held->declared ? fmin(1, (held->hi - held->lo) / PARTS) : 1;
}

/* Element number i; `normal`: a number of its own, for what is made of one. */
static double drawn(jx_rng *rng, const jx_port *port, const struct way *way,
                    int64_t i, double row, const jx_held *held, double normal)
{
    double scale = way->scale * large_in(port->dtype);

    switch (way->fill) {
    case NORMAL: return scale * normal;
    case UNIT: return .02 + .96 * jx_rng_uniform(rng);
    case AROUND: return amid(held, scale) + normal;
    case NEAR: return amid(held, scale) + little(held) * normal;
    case ROWS: return row;
    case WEIGHTS: return held->weight ? scale * normal : jx_rng_uniform(rng);
    case RISING: return row * (double)(i + 1) / (double)port->count;
    case FALLING: return row * (double)(port->count - i) / (double)port->count;
    case AXIS: return port->rank && i % port->shape[port->rank - 1] ? 0 : scale;
    case SIGNS: return floor(3 * jx_rng_uniform(rng)) - 1;
    default: return scale;
    }
}

/* Elements of a row, from number `first` of the input on. */
static void draw(jx_rng *rng, const jx_port *port, const jx_held *held,
                 const struct way *way, int64_t first, double row,
                 int64_t count, double *to)
{
    if (!held->whole && is_of_normals(way, held->weight))
        jx_rng_normals(rng, count, to);
    for (int64_t k = 0; k < count; k++)
        to[k] = held->whole
                    ? drawn_whole(rng, held, way->whole)
                    : drawn(rng, port, way, first + k, row, held, to[k]);
}

static bool is_ordered(const struct way *way)
{
    return way->fill == RISING || way->fill == FALLING;
}

/* How many elements are drawn; those behind them are the same again. */
static int64_t period_of(const struct way *way, int64_t count)
{
    bool again = way->fill != ROWS && way->fill != SOLVABLE && !is_ordered(way);

    return again && count > DRAWN ? DRAWN : count;
}

/* The first `period` elements from `from` on, again and again, up to `count`
 * of them. */
static void repeat(const jx_port *port, void *data, int64_t from,
                   int64_t period, int64_t count)
{
    size_t size = jx_dtype_of(port->dtype)->bytes;
    char *at = (char *)data + (size_t)from * size;

    for (int64_t done = period; done < count;) {
        int64_t n = count - done < done ? count - done : done;
        memcpy(at + (size_t)done * size, at, (size_t)n * size);
        done += n;
    }
}

/* In a matrix of n rows the ones are n + 1 elements apart. */
static void fill_unit_matrices(jx_hunt *h, int input)
{
    const jx_port *port = jx_plan_in(h->run.plan, input);
    int64_t n = port->shape[port->rank - 1];
    void *data = h->run.in[input];
    static const double one = 1, zero = 0;

    jx_hunt_put(h, input, 0, &one, 1);
    if (n > 1) {
        jx_hunt_put(h, input, 1, &zero, 1);
        repeat(port, data, 1, 1, n);
        repeat(port, data, 0, n + 1, n * n);
    }
    repeat(port, data, 0, n * n, port->count);
}

static double drawn_row(jx_rng *rng, const jx_port *port, const struct way *way)
{
    return way->scale * large_in(port->dtype) * fabs(jx_rng_normal(rng));
}

static void fill_rows(jx_hunt *h, int input, const struct way *way, jx_rng *rng)
{
    const jx_port *port = jx_plan_in(h->run.plan, input);
    int64_t columns = port->shape[port->rank - 1];

    for (int64_t at = 0; at < port->count; at += columns) {
        double row = drawn_row(rng, port, way);
        jx_hunt_put(h, input, at, &row, 1);
        repeat(port, h->run.in[input], at, 1, columns);
    }
}

/* Of floats: where few numbers are in many places. */
static bool fill_alike(jx_hunt *h, int input, const struct way *way,
                       jx_rng *rng)
{
    enum { MANY = 8 };
    const jx_port *port = jx_plan_in(h->run.plan, input);
    const jx_held *held = &h->held[input];
    int64_t columns = port->rank ? port->shape[port->rank - 1] : 1;
    int64_t rows =
        port->count ? (period_of(way, port->count) + columns - 1) / columns : 0;
    double scale = way->scale * large_in(port->dtype);

    if (!port->count || held->whole)
        return false;
    if (way->fill == ROWS && columns >= MANY) {
        fill_rows(h, input, way, rng);
        return true;
    }
    if (way->fill != CONSTANT && way->fill != SOLVABLE)
        return false;
    jx_rng_skip(rng, ROW_DRAWS * rows);
    if (way->fill == SOLVABLE && is_square(port)) {
        fill_unit_matrices(h, input);
    } else {
        jx_hunt_put(h, input, 0, &scale, 1);
        repeat(port, h->run.in[input], 0, 1, port->count);
    }
    return true;
}

static void fill_input(jx_hunt *h, int input, const struct way *way,
                       jx_rng *rng)
{
    const jx_port *port = jx_plan_in(h->run.plan, input);
    jx_held *held = &h->held[input];
    bool beyond = way->whole == BEYOND && held->indexes;
    int64_t columns = port->rank ? port->shape[port->rank - 1] : 1;
    int64_t period = way->fill == AXIS && !held->whole && columns < port->count
                         ? columns
                         : period_of(way, port->count);
    double piece[DRAWN], row = is_ordered(way) ? pow(way->scale, input) : 0;

    if (fill_alike(h, input, way, rng))
        return;
    for (int64_t at = 0, column = 0; at < period; at += DRAWN) {
        int64_t n = period - at < DRAWN ? period - at : DRAWN;
        for (int64_t k = 0, more; k < n; k += more) {
            if (column == 0 && way->fill == ROWS)
                row = drawn_row(rng, port, way);
            else if (column == 0 && !is_ordered(way))
                jx_rng_skip(rng, ROW_DRAWS);
            more = columns - column < n - k ? columns - column : n - k;
            draw(rng, port, held, way, at + k, row, more, piece + k);
            column = column + more < columns ? column + more : 0;
        }
        held->hi += beyond;
        jx_hunt_put(h, input, at, piece, n);
        held->hi -= beyond;
    }
    repeat(port, h->run.in[input], 0, period, port->count);
}

/* `one` input, or all (-1), in that way; others in another. */
static void fill_some(jx_hunt *h, const struct way *way, int one,
                      const struct way *others)
{
    jx_rng alike = {jx_rng_next(&h->rng)};

    h->plain = way->plain;
    h->largest = 0;
    for (int i = 0; i < h->run.nins; i++) {
        jx_rng same = alike;
        if (!h->held[i].open)
            fill_input(h, i, one < 0 || i == one ? way : others,
                       way->alike ? &same : &h->rng);
    }
}

static void fill_all(jx_hunt *h, const struct way *way)
{
    fill_some(h, way, -1, NULL);
}

/* One input indexes outside; others have the last numbers that they may
 * have. */
static void fill_outside(jx_hunt *h, int one)
{
    const struct way *way = &ways[NWAYS - 1];
    struct way others = *way;

    others.whole = MOST;
    fill_some(h, way, one, &others);
}

/* The input that is number `number` of several that index, or -1. */
static int indexing(const jx_hunt *h, int number)
{
    int count = 0, found = -1;

    for (int i = 0; i < h->run.nins; i++)
        if (h->held[i].indexes && count++ == number)
            found = i;
    return count > 1 ? found : -1;
}

static bool any_square(const jx_hunt *h)
{
    for (int i = 0; i < h->run.nins; i++)
        if (!h->held[i].whole && !h->held[i].open &&
            is_square(jx_plan_in(h->run.plan, i)))
            return true;
    return false;
}

/* The input that is number `number` of those in float16 that no matrix is, or
 * -1. */
static int halved(const jx_hunt *h, int number)
{
    for (int i = 0; i < h->run.nins; i++)
        if (jx_plan_in(h->run.plan, i)->dtype == JX_F16 && !h->held[i].weight &&
            !h->held[i].open && number-- == 0)
            return i;
    return -1;
}

bool jx_hunt_fill_plain(jx_hunt *h, int number)
{
    enum { ORDERED = sizeof ordered / sizeof *ordered };
    int further = !h->decomposes && any_square(h), halves = 0,
        sorted = h->placed ? ORDERED : 0, alone = 0;

    while (alone < MOST_ALONE && indexing(h, alone) >= 0)
        alone++;
    while (halves < MOST_ALONE && halved(h, halves) >= 0)
        halves++;
    if (number < NWAYS)
        fill_all(h, &ways[number]);
    else if ((number -= NWAYS) < alone)
        fill_outside(h, indexing(h, number));
    else if ((number -= alone) < further)
        fill_all(h, &nought);
    else if ((number -= further) < sorted)
        fill_all(h, &ordered[number]);
    else if ((number -= sorted) < halves)
        fill_some(h, &half, halved(h, number), &usual);
    else if (h->edged && number - halves < ROUNDED)
        fill_all(h, &edge);
    else
        return false;
    return true;
}

void jx_hunt_fill_around(jx_hunt *h, bool near)
{
    static const struct way around = {AROUND, 10, ANY, false, {.any = true}},
                            close = {NEAR, 10, ANY, false, {.any = true}};

    fill_all(h, near ? &close : &around);
}
