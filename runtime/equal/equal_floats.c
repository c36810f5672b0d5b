/* equal_floats.c - see equal.h: both programs in their declared dtypes.
 *
 * What two right programs may be apart is what adding up in another order
 * makes of it: the tolerance of a dtype, or, where that is too strict, what
 * both of them lose against float64.  Where only one loses digits, that is a
 * difference of both. */
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/equal/equal.h"
#include "runtime/equal/points.h"
#include "runtime/loss.h"
#include "runtime/shake.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What only floats make different counts if it is so large a part of the
 * largest number in the array: at ordinary points, and at extremes, where right
 * programs lose digits. */
#define PART 0x1p-13
#define EXTREME_PART 0.01
/* They may be apart by as many times what is lost somewhere in the array by the
 * better of both: neither has digits there that the other lacks. */
#define LOST_ALIKE 4
/* ... or by as many times what the rounding of constants makes of both. */
#define MOVED_ALIKE 4
/* Numbers so near to the end of a dtype's range overflow in one order and
 * not in another. */
#define NEAR_THE_END 0x1p-24

typedef struct run {
    jx_loss loss;
    jx_exec *exec;
} run;

typedef struct comparing {
    const jx_equal_question *question;
    jx_equal_floats *to;
    /* of the first program: pays for inputs and results that are kept */
    jx_ctx *ctx;
    run runs[2];
    int point;
    const jx_equal_span *span; /* or NULL; at which turn */
    int turn;
    const void **ins;
} comparing;

static bool open_run(run *r, const jx_equal_side *side, const jx_plan *plan)
{
    r->loss = (jx_loss){
        .ctx = side->typed->program->ctx,
        .typed = side->typed,
        .closed = &side->typed->program->entry,
        .options = {.nbindings = side->nbindings, .bindings = side->bindings},
        .plan = plan};
    r->exec = jx_exec_new(plan);
    return r->exec != NULL;
}

static void close_run(run *r)
{
    jx_loss_close(&r->loss);
    jx_exec_free(r->exec);
}

/* ---- one array */

/* The same result of both, and what is known of it. */
typedef struct arrays {
    jx_dtype dtype;
    int64_t count;
    const char *got, *want;
    const char *wide[2]; /* the same in float64; NULL: nobody knows */
    /* of each element by rounding, of a and b; NULL: likewise */
    double *lost[2];
    double off[2]; /* the most that an element of a, of b is from float64 */
    /* ... that rounded constants move it in float64; NULL: nobody asked */
    double *moved[2];
    double largest;
} arrays;

static double real_of(jx_dtype dtype, const char *at, int64_t i, bool imaginary)
{
    double value[2] = {0, 0};

    at += (size_t)i * jx_dtype_of(dtype)->bytes;
    jx_convert(dtype, jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64, at, value,
               1);
    return value[imaginary];
}

/* One part of an element, as both have it. */
typedef struct parts {
    double a, b;    /* in the declared dtype */
    double wide[2]; /* in float64, or NAN */
} parts;

static parts parts_of(const arrays *of, int64_t i, bool imaginary)
{
    jx_dtype wide = jx_dtype_is_complex(of->dtype) ? JX_C128 : JX_F64;
    parts to = {real_of(of->dtype, of->got, i, imaginary),
                real_of(of->dtype, of->want, i, imaginary),
                {NAN, NAN}};

    for (int s = 0; s < 2; s++)
        if (of->wide[s])
            to.wide[s] = real_of(wide, of->wide[s], i, imaginary);
    return to;
}

/* What is finite on one side is what float64 says it is. */
static bool is_missed(const parts *of)
{
    int side = isfinite(of->a) ? 0 : 1;
    double value = side ? of->b : of->a, truth = of->wide[side];

    return isfinite(value) && isfinite(truth) &&
           fabs(truth - value) <= 0.01 * fabs(truth) + 1e-6;
}

static bool is_beyond(const parts *of, jx_dtype dtype)
{
    jx_tolerance within = jx_tolerance_of(dtype);

    return fabs(of->a - of->b) >
           within.absolute + within.relative * fmax(fabs(of->a), fabs(of->b));
}

/* They are as far apart in float64: no rounding made them so, and none of
 * constants, which are rounded there as well. */
static bool is_real(const arrays *all, const parts *of, int64_t i)
{
    double apart = fabs(of->wide[0] - of->wide[1]), moved = 0;

    for (int s = 0; s < 2; s++)
        moved += all->moved[s] ? all->moved[s][i] : 0;
    return isfinite(of->wide[0]) && isfinite(of->wide[1]) &&
           2 * apart >= fabs(of->a - of->b) && apart > MOVED_ALIKE * moved;
}

/* In which way a number is not finite; at zeros a pole's sign is that of a
 * zero, which nobody asks for. */
static int way_of(double value, const jx_equal_point *point)
{
    return isfinite(value)               ? 0
           : isnan(value)                ? 1
           : value > 0 || point->special ? 2
                                         : 3;
}

typedef enum difference { NONE, REAL, ROUNDED } difference;

static difference part_differs(const comparing *c, const arrays *of, int64_t i,
                               bool imaginary)
{
    const jx_equal_point *point = jx_equal_point_at(c->point);
    parts p = parts_of(of, i, imaginary);

    if (!isfinite(p.a) && !isfinite(p.b))
        return !point->extreme && way_of(p.a, point) != way_of(p.b, point) &&
                       way_of(p.wide[0], point) != way_of(p.wide[1], point)
                   ? REAL
                   : NONE;
    if (!isfinite(p.a) || !isfinite(p.b))
        return !is_missed(&p) ? NONE
               : !point->extreme && isfinite(p.wide[0]) != isfinite(p.wide[1])
                   ? REAL
                   : ROUNDED;
    if (!is_beyond(&p, of->dtype))
        return NONE;
    if (is_real(of, &p, i) || (!of->wide[0] && !of->wide[1]))
        return REAL;
    if (point->special ||
        fabs(p.a - p.b) <= (point->extreme ? EXTREME_PART : PART) * of->largest)
        return NONE;
    if (of->lost[0] && of->lost[1] &&
        (fabs(p.a - p.b) <= fmin(of->lost[0][i], of->lost[1][i]) ||
         fabs(p.a - p.b) <= LOST_ALIKE * fmin(of->off[0], of->off[1])))
        return NONE;
    return ROUNDED;
}

static difference element_differs(const comparing *c, const arrays *of,
                                  int64_t i)
{
    size_t bytes = jx_dtype_of(of->dtype)->bytes;
    difference d;

    if (!jx_dtype_is_inexact(of->dtype))
        return memcmp(of->got + (size_t)i * bytes, of->want + (size_t)i * bytes,
                      bytes)
                   ? REAL
                   : NONE;
    d = part_differs(c, of, i, false);
    return d == NONE && jx_dtype_is_complex(of->dtype)
               ? part_differs(c, of, i, true)
               : d;
}

static int64_t count_unfinite(const arrays *of)
{
    int64_t count = 0;

    for (int64_t i = 0; jx_dtype_is_inexact(of->dtype) && i < of->count; i++)
        count += !isfinite(real_of(of->dtype, of->got, i, false)) &&
                 !isfinite(real_of(of->dtype, of->want, i, false));
    return count;
}

/* The results in float64. */
static void widen(comparing *c, const int *numbers, const int *sides,
                  arrays *of)
{
    for (int s = 0; s < 2; s++) {
        jx_exec *wide = jx_loss_wide(&c->runs[sides[s]].loss);
        of->wide[s] = wide ? jx_exec_out(wide, numbers[s]) : NULL;
    }
    of->largest = fmax(jx_largest(of->dtype, of->got, of->count),
                       jx_largest(of->dtype, of->want, of->count));
}

static double most_off(const arrays *of, int side)
{
    double most = 0;

    for (int64_t i = 0; of->wide[side] && i < of->count; i++) {
        const parts p = parts_of(of, i, false);
        double off = fabs((side ? p.b : p.a) - p.wide[side]);
        most = isfinite(off) ? fmax(most, off) : most;
    }
    return most;
}

/* What both lose. */
static void measure(comparing *c, const int *numbers, const int *sides,
                    arrays *of)
{
    for (int s = 0; s < 2; s++) {
        jx_roundoff measured = {0};
        if (jx_loss_of(&c->runs[sides[s]].loss, numbers[s], of->dtype,
                       s ? of->want : of->got, &measured))
            of->lost[s] = measured.each;
        of->off[s] = most_off(of, s);
    }
}

/* What the rounding of constants makes of both: much, where large numbers
 * cancel. */
static void move(comparing *c, const int *numbers, const int *sides, arrays *of)
{
    for (int s = 0; s < 2; s++)
        of->moved[s] = jx_loss_by_constants(&c->runs[sides[s]].loss, numbers[s],
                                            of->count);
}

/* Elements that differ: the first, how many, and in what way the first does. */
static difference look(const comparing *c, const arrays *of,
                       jx_float_witness *found)
{
    difference first = NONE;

    found->count = 0;
    if (jx_equal_point_at(c->point)->extreme &&
        of->largest > NEAR_THE_END * jx_largest_finite(of->dtype))
        return NONE;
    for (int64_t i = 0; i < of->count; i++) {
        difference d = element_differs(c, of, i);
        if (d == NONE)
            continue;
        if (!found->count++ || (first == ROUNDED && d == REAL)) {
            found->index = i;
            first = d;
        }
    }
    return first;
}

static const void *kept(comparing *c, const void *from, size_t bytes)
{
    return jx_arena_copy(c->ctx->arena, from, bytes);
}

static void keep_inputs(comparing *c, jx_float_witness *to)
{
    const jx_plan *plan = c->question->plans[0];
    const void **ins =
        JX_NEW_ARRAY(c->ctx->arena, jx_plan_nins(plan) + 1, const void *);

    for (int i = 0; ins && i < jx_plan_nins(plan); i++)
        ins[i] = kept(c, c->ins[i], jx_plan_in(plan, i)->bytes);
    to->inputs = ins;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One part of all elements, in order. */
static double *in_order(jx_arena *arena, const arrays *of, const char *from,
                        bool imaginary)
{
    double *to = JX_NEW_ARRAY(arena, of->count + 1, double);

    for (int64_t i = 0; to && i < of->count; i++)
        to[i] = real_of(of->dtype, from, i, imaginary);
    if (to)
        qsort(to, (size_t)of->count, sizeof *to, by_value);
    return to;
}

static bool has_the_same(jx_arena *arena, const arrays *of)
{
    bool same = of->count > 1;

    for (int part = 0; same && part <= jx_dtype_is_complex(of->dtype); part++) {
        const double *a = in_order(arena, of, of->got, part);
        const double *b = in_order(arena, of, of->want, part);
        same = a && b;
        for (int64_t i = 0; same && i < of->count; i++) {
            const parts p = {a[i], b[i], {NAN, NAN}};
            same = isfinite(a[i]) && isfinite(b[i]) &&
                   !is_beyond(&p, jx_dtype_is_inexact(of->dtype) ? of->dtype
                                                                 : JX_F32);
        }
    }
    return same;
}

/* Compares an array of one side with one of another: numbers and
 * sides of both. */
static void compare(comparing *c, const int *numbers, const int *sides,
                    int output, jx_float_witness *to)
{
    const jx_port *port = jx_plan_out(c->question->plans[sides[0]], numbers[0]);
    arrays of = {.dtype = port->dtype,
                 .count = port->count,
                 .got = jx_exec_out(c->runs[sides[0]].exec, numbers[0]),
                 .want = jx_exec_out(c->runs[sides[1]].exec, numbers[1])};
    jx_tolerance within = jx_tolerance_of(of.dtype);
    jx_mismatch beyond;

    c->to->unfinite += count_unfinite(&of);
    if (to->point ||
        jx_compare(of.dtype, of.got, of.want, of.count, &within, &beyond))
        return;
    jx_float_witness found = {
        .output = output, .side = sides[0], .of = of.count, .lost = {NAN, NAN}};
    if (jx_dtype_is_inexact(of.dtype))
        widen(c, numbers, sides, &of);
    difference d = look(c, &of, &found);
    if (d == REAL && jx_equal_point_at(c->point)->extreme &&
        jx_dtype_is_float(of.dtype)) {
        move(c, numbers, sides, &of);
        d = look(c, &of, &found);
    }
    if (d == ROUNDED && jx_dtype_is_inexact(of.dtype)) {
        measure(c, numbers, sides, &of);
        d = look(c, &of, &found);
    }
    if (d == NONE)
        return;
    found.rounded = d == ROUNDED;
    found.point = jx_equal_point_at(c->point)->name;
    found.extreme = jx_equal_point_at(c->point)->extreme;
    found.rearranged = !found.extreme && has_the_same(c->ctx->arena, &of);
    found.got = kept(c, of.got, port->bytes);
    found.want = kept(c, of.want, port->bytes);
    for (int s = 0; s < 2; s++)
        if (of.wide[s] && !jx_dtype_is_complex(of.dtype) &&
            jx_dtype_is_float(of.dtype))
            found.lost[s] = fabs(
                real_of(of.dtype, s ? of.want : of.got, found.index, false) -
                real_of(JX_F64, of.wide[s], found.index, false));
    keep_inputs(c, &found);
    *to = found;
}

/* ---- points */

static bool fill(comparing *c)
{
    const jx_plan *plan = c->question->plans[0];
    int n = jx_plan_nins(plan);

    for (int i = 0; i < n; i++) {
        const jx_port *port = jx_plan_in(plan, i);
        void *to = c->ins[i] ? (void *)(uintptr_t)c->ins[i]
                             : jx_arena_alloc(c->ctx->arena, port->bytes + 16);
        if (!to)
            return false;
        jx_equal_fill(c->point, i, port, c->question->domains, to);
        if (c->span && c->span->input == i)
            jx_equal_fill_span(c->span, c->turn, port, to);
        c->ins[i] = to;
    }
    return true;
}

/* Runs both at a point; false: one of them fails. */
static bool run_point(comparing *c)
{
    for (int s = 0; s < 2; s++) {
        run *r = &c->runs[s];
        jx_loss_again(&r->loss, c->ins);
        jx_exec_restart(r->exec);
        if (!jx_exec_run(r->exec, c->ins, NULL)) {
            const char *why = jx_exec_error(r->exec);
            c->to->why = jx_arena_string(c->ctx->arena, why, strlen(why));
            c->to->failed = s;
            return false;
        }
    }
    return true;
}

static void limit_runs(comparing *c, int64_t operations)
{
    for (int s = 0; s < 2; s++)
        jx_exec_limit(c->runs[s].exec, operations);
}

/* A loop may go round for ever for a number that programs tell from others:
 * this point and later ones are then without them. */
static bool run_point_of_told(comparing *c)
{
    enum { MOST_OPERATIONS = 1 << 23 };
    const jx_equal_question *told = c->question;
    jx_equal_question plain = *told;
    bool done;

    if (!c->to->endless) {
        limit_runs(c, MOST_OPERATIONS);
        done = fill(c) && run_point(c);
        limit_runs(c, INT64_MAX);
        if (done)
            return true;
        c->to->endless = c->to->why;
        c->to->why = NULL;
    }
    plain.domains = told->plain;
    c->question = &plain;
    done = fill(c) && run_point(c);
    c->question = told;
    return done;
}

static void compare_point(comparing *c)
{
    int nouts = c->question->nouts;
    const int both[] = {0, 1};

    for (int i = 0; i < nouts; i++) {
        const int numbers[] = {i, i};
        if (jx_equal_asks(c->question, i))
            compare(c, numbers, both, i, &c->to->differs);
    }
    for (int s = 0; s < 2 && !c->question->alone; s++)
        for (int i = nouts; i + 1 < jx_plan_nouts(c->question->plans[s]);
             i += 2) {
            const int numbers[] = {i, i + 1}, one[] = {s, s};
            compare(c, numbers, one, nouts + (i - nouts) / 2, &c->to->pair);
        }
    c->to->points++;
}

static bool has_pairs(const jx_equal_question *question)
{
    return jx_plan_nouts(question->plans[0]) > question->nouts ||
           jx_plan_nouts(question->plans[1]) > question->nouts;
}

static bool begin_runs(comparing *c)
{
    const jx_equal_question *q = c->question;
    bool done = true;

    c->ctx = q->a.typed->program->ctx;
    c->ins = JX_NEW_ARRAY(c->ctx->arena, jx_plan_nins(q->plans[0]) + 1,
                          const void *);
    for (int s = 0; s < 2 && done; s++)
        done = open_run(&c->runs[s], s ? &q->b : &q->a, q->plans[s]);
    return done && c->ins;
}

static void end_runs(comparing *c)
{
    for (int s = 0; s < 2; s++)
        close_run(&c->runs[s]);
}

bool jx_equal_in_floats(const jx_equal_question *question, jx_equal_floats *to)
{
    comparing c = {.question = question, .to = to};
    jx_ctx *ctx = question->a.typed->program->ctx;
    bool told = jx_equal_tells_integers(question), done;

    *to = (jx_equal_floats){0};
    jx_ctx_stage(ctx, "running both");
    done = begin_runs(&c);
    for (; done && c.point < jx_equal_points(); c.point++) {
        if (question->progress)
            question->progress(question->to, "running both", c.point,
                               jx_equal_points());
        done = told ? run_point_of_told(&c) : fill(&c) && run_point(&c);
        if (done)
            compare_point(&c);
        if (to->differs.point && (to->pair.point || !has_pairs(question)))
            break;
    }
    end_runs(&c);
    return jx_ok(ctx) && jx_ok(question->b.typed->program->ctx);
}

bool jx_equal_in_span(const jx_equal_question *question,
                      const jx_equal_span *span, jx_float_witness *to)
{
    /* a loop may go round as often as an integer says */
    enum { MOST_OPERATIONS = 1 << 22 };
    jx_equal_floats found = {0};
    comparing c = {.question = question, .to = &found, .span = span};
    bool done = begin_runs(&c);

    if (done)
        limit_runs(&c, MOST_OPERATIONS);
    for (; done && c.turn < JX_EQUAL_TURNS; c.turn++) {
        found.differs.point = NULL;
        c.point = c.turn % 2;
        if (fill(&c) && run_point(&c))
            compare_point(&c);
        if (found.differs.point && !found.differs.rounded)
            break;
    }
    end_runs(&c);
    *to = c.turn < JX_EQUAL_TURNS ? found.differs : (jx_float_witness){0};
    return jx_ok(question->a.typed->program->ctx) &&
           jx_ok(question->b.typed->program->ctx);
}

int jx_equal_agree(const jx_equal_question *question, bool soon)
{
    /* what is changed may go round for ever */
    enum { MORE = 16, MOST_OPERATIONS = 1 << 18 };
    jx_equal_floats found = {0};
    comparing c = {.question = question, .to = &found};
    int points = soon ? 1 : jx_equal_points() + MORE;
    bool agree = begin_runs(&c);

    if (agree)
        limit_runs(&c, MOST_OPERATIONS);
    for (; agree && c.point < points; c.point++) {
        agree = fill(&c) && run_point(&c);
        if (agree)
            compare_point(&c);
        agree &= !found.differs.point && !found.pair.point;
    }
    end_runs(&c);
    return agree ? points : 0;
}

/* ---- ones */

static int sign_of(double a, double b)
{
    double slack = 1e-5 * fmax(fabs(a), fabs(b));

    return a < b - slack ? -1 : a > b + slack;
}

bool jx_equal_of_ones(const jx_equal_question *question, int *sign)
{
    jx_equal_floats unused = {0};
    comparing c = {.question = question, .to = &unused, .point = JX_EQUAL_ONES};
    bool known = begin_runs(&c) && fill(&c) && run_point(&c), any = false;

    for (int i = 0; known && i < question->nouts; i++) {
        const jx_port *port = jx_plan_out(question->plans[0], i);
        for (int64_t k = 0;
             known && jx_dtype_is_float(port->dtype) && k < port->count; k++) {
            double a =
                real_of(port->dtype, jx_exec_out(c.runs[0].exec, i), k, false);
            double b =
                real_of(port->dtype, jx_exec_out(c.runs[1].exec, i), k, false);
            int now = sign_of(a, b);
            known = isfinite(a) && isfinite(b) && a > 0 && b > 0 &&
                    (!any || *sign == now);
            *sign = now;
            any = true;
        }
    }
    end_runs(&c);
    return known && any;
}
