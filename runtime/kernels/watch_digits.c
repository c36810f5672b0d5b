/* watch_digits.c - see digits.h. */
#include "runtime/digits.h"

#include "runtime/elementwise.h"
#include "runtime/kernels/vector.h"
#include "runtime/plan_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Data of the kernel: the equation's results, then its operands
 * that are floats. */
typedef struct compared {
    jx_digits *to;
    const jx_eqn *eqn;
    int nouts, nins;
    const jx_sources_of_value **sources; /* of all operands; or NULL */
    bool *lost;                          /* per result, while it plays */
    bool follows;                        /* results are taken as they were */
    double zero; /* of a digit's size beside the operands */
    int64_t runs;
} compared;

/* What stands before the elements of a result. */
typedef struct record {
    const jx_eqn *eqn;
    jx_dtype dtype;
    int64_t count;
} record;

static char *at_index(const jx_view *view, const int64_t *index)
{
    char *at = view->data;

    for (int k = 0; k < view->rank; k++)
        at += index[k] * view->strides[k];
    return at;
}

static bool next(const jx_view *view, int64_t *index)
{
    int axis = view->rank - 1;

    for (; axis >= 0 && ++index[axis] == view->shape[axis]; axis--)
        index[axis] = 0;
    return axis >= 0;
}

/* ---- recording */

static char *make_room(jx_digits *to, size_t bytes)
{
    char *at;

    bytes = (bytes + 15) / 16 * 16;
    if (to->astray || bytes > to->most - to->size) {
        to->astray = true;
        return NULL;
    }
    if (to->size + bytes > to->room) {
        size_t room = to->room ? 2 * to->room : 1 << 16;
        while (room < to->size + bytes)
            room *= 2;
        bool paid = jx_budget_left(to->budget) > room - to->room &&
                    jx_budget_take(to->budget, room - to->room);
        char *more = paid ? realloc(to->bytes, room) : NULL;
        if (!more) {
            if (paid)
                jx_budget_starved(to->budget);
            if (paid)
                jx_budget_give(to->budget, room - to->room);
            to->astray = true;
            return NULL;
        }
        to->bytes = more;
        to->room = room;
    }
    at = to->bytes + to->size;
    to->size += bytes;
    return at;
}

static void keep(const compared *d, const jx_view *view)
{
    size_t size = jx_dtype_of(view->dtype)->bytes;
    const record head = {d->eqn, view->dtype, view->count};
    int64_t index[JX_MAX_RANK] = {0};
    char *at = make_room(d->to, sizeof head + (size_t)view->count * size);

    if (!at)
        return;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    if (view->dense) {
        memcpy(at, view->data, (size_t)view->count * size);
        return;
    }
    for (bool more = view->count > 0; more;
         more = next(view, index), at += size)
        memcpy(at, at_index(view, index), size);
}

static bool run_keeping(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const compared *d = data;

    (void)run;
    (void)outs;
    (void)scratch;
    for (int i = 0; i < d->nouts; i++)
        keep(d, &ins[i]);
    return true;
}

/* ---- comparing */

/* The elements that were recorded for this result; NULL: the run
 * went another way. */
static const char *play(const compared *d, const jx_view *view, jx_dtype *dtype)
{
    jx_digits *to = d->to;
    record head;
    const char *at = to->bytes + to->at;

    if (to->astray || to->at + sizeof head > to->size) {
        to->astray = true;
        return NULL;
    }
    memcpy(&head, at, sizeof head);
    if (head.eqn != d->eqn || head.count != view->count) {
        to->astray = true;
        return NULL;
    }
    *dtype = head.dtype;
    to->at += (sizeof head +
               (size_t)head.count * jx_dtype_of(head.dtype)->bytes + 15) /
              16 * 16;
    return at + sizeof head;
}

/* What was recorded takes the place of what is computed now. */
static void follow(const jx_view *view, const char *from, jx_dtype dtype)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    int64_t index[JX_MAX_RANK] = {0};

    if (view->dense)
        jx_convert(dtype, view->dtype, from, view->data, view->count);
    for (bool more = !view->dense && view->count > 0; more;
         more = next(view, index), from += size)
        jx_convert(dtype, view->dtype, from, at_index(view, index), 1);
}

/* The largest of the numbers that are finite: their bits say which that is. */
JX_VECTOR_CLONES static double larger(double largest, const double *at,
                                      int64_t count)
{
    const uint64_t *bits = (const uint64_t *)(const void *)at;
    const uint64_t number = UINT64_MAX >> 1, infinity = UINT64_C(0x7ff) << 52;
    uint64_t most;

    memcpy(&most, &largest, sizeof most);
    for (int64_t i = 0; i < count; i++) {
        uint64_t is = (bits[i] & number) < infinity ? bits[i] & number : 0;
        most = is > most ? is : most;
    }
    memcpy(&largest, &most, sizeof most);
    return largest;
}

/* Floats of the wide domains are doubles, or two of them, of which the second
 * is the smaller; complex numbers are two. */
static int doubles_of(jx_dtype stored)
{
    return stored == JX_F64 ? 1 : 2;
}

static double largest_operand(const compared *d, const jx_view *ins)
{
    double largest = 0;

    for (int i = 0; i < d->nins; i++) {
        const jx_view *view = &ins[d->nouts + i];
        int64_t index[JX_MAX_RANK] = {0}, parts = doubles_of(view->dtype),
                count;
        bool fills = jx_view_fills(view, &count);
        if (fills)
            largest = larger(largest, (const double *)(const void *)view->data,
                             parts * count);
        for (bool more = !fills && view->count > 0; more;
             more = next(view, index))
            largest = larger(
                largest, (const double *)(const void *)at_index(view, index),
                parts);
    }
    return largest;
}

static bool any_lost(const compared *d)
{
    for (int i = 0; i < d->eqn->nins; i++)
        for (int k = 0; d->sources[i] && k < d->sources[i]->count; k++)
            if (*d->sources[i]->lost[k])
                return true;
    return false;
}

/* How far a number is from what it should be, beside that. */
static double error_of(const double *was, const double *is)
{
    double off = fmax(fabs(was[0] - is[0]), fabs(was[1] - is[1]));
    double size = fmax(fabs(is[0]), fabs(is[1]));

    if (!isfinite(off) || off == 0)
        return 0; /* what is not finite others tell */
    return size > 0 ? off / size : INFINITY;
}

enum { PIECE = 256 };

/* A result while it is compared. */
typedef struct comparing {
    const compared *d;
    const jx_view *ins, *view;
    jx_dtype dtype; /* as it was recorded */
    bool complex;
    double scale;  /* of the operands; below 0: not known yet */
    int64_t count; /* of elements that have lost digits; the worst one: */
    double worst, is;
    const char *where;
    int64_t index[JX_MAX_RANK];
} comparing;

/* An element that is zero but for rounding has no digits to lose: it
 * is what it was. */
static bool is_zero(comparing *c, const double *is)
{
    if (c->scale < 0)
        c->scale = largest_operand(c->d, c->ins);
    return fmax(fabs(is[0]), fabs(is[1])) <= c->d->zero * c->scale;
}

/* The element after so many, row by row. */
static void unravel(const jx_view *view, int64_t flat, int64_t *index)
{
    for (int k = view->rank - 1; k >= 0; k--) {
        index[k] = flat % view->shape[k];
        flat /= view->shape[k];
    }
}

static char *at_number(const jx_view *view, int64_t number)
{
    int64_t index[JX_MAX_RANK];

    if (view->dense)
        return view->data + (size_t)number * jx_dtype_of(view->dtype)->bytes;
    unravel(view, number, index);
    return at_index(view, index);
}

/* The element of that number, which is not near at sight; its numbers as they
 * were are one or two. */
static void compare_element(comparing *c, const char *from,
                            const double *numbers, int64_t number)
{
    double was[2] = {numbers[0], c->complex ? numbers[1] : 0}, is[2] = {0},
           error;
    char *at = at_number(c->view, number);

    memcpy(is, at, (c->complex ? 2 : 1) * sizeof *is);
    error = error_of(was, is);
    if (!(error > c->d->to->tolerance))
        return;
    if (is_zero(c, is)) {
        memcpy(at, was, (size_t)doubles_of(c->view->dtype) * sizeof *was);
        return;
    }
    c->count++;
    if (c->where && error <= c->worst)
        return;
    c->worst = error;
    c->where = from;
    c->is = is[0];
    unravel(c->view, number, c->index);
}

/* Whether all numbers are near enough, at sight. */
JX_VECTOR_CLONES static bool all_near(const double *was, const double *is,
                                      int64_t count, double tolerance)
{
    int any = 0;

    for (int64_t i = 0; i < count; i++)
        any |= fabs(was[i] - is[i]) > tolerance * fabs(is[i]);
    return !any;
}

/* The numbers of some elements of a view one behind the other, the first of
 * which is number `first`: where they lie, or in `room`. */
static const double *numbers_of(const jx_view *view, int64_t first,
                                int64_t count, bool complex, double *room)
{
    int parts = complex ? 2 : 1, last = view->rank - 1;
    int64_t index[JX_MAX_RANK] = {0};
    bool pairs = !complex && view->dtype == JX_F64X2;

    if ((view->dense || last < 0) && pairs) {
        jx_convert(JX_F64X2, JX_F64, view->data + first * 16, room, count);
        return room;
    }
    if (view->dense || last < 0)
        return (const double *)(const void *)view->data + first * parts;
    unravel(view, first, index);
    for (int64_t i = 0; i < count; i++) {
        const char *at = at_index(view, index);
        int64_t more = view->shape[last] - index[last];
        more = more < count - i ? more : count - i;
        for (int64_t k = 0; k < more; k++, at += view->strides[last])
            memcpy(room + (i + k) * parts, at, (size_t)parts * sizeof *room);
        i += more - 1;
        index[last] += more - 1;
        next(view, index);
    }
    return room;
}

static void compare_all(comparing *c, const char *from)
{
    const jx_view *view = c->view;
    size_t size = jx_dtype_of(c->dtype)->bytes;
    int parts = c->complex ? 2 : 1;
    double was[2 * PIECE], room[2 * PIECE], tolerance = c->d->to->tolerance;

    for (int64_t at = 0; at < view->count; at += PIECE, from += PIECE * size) {
        int64_t n = view->count - at < PIECE ? view->count - at : PIECE;
        const double *is = numbers_of(view, at, n, c->complex, room);
        jx_convert(c->dtype, c->complex ? JX_C128 : JX_F64, from, was, n);
        if (all_near(was, is, parts * n, tolerance))
            continue;
        for (int64_t i = 0; i < n; i++)
            if (c->complex || fabs(was[i] - is[i]) > tolerance * fabs(is[i]))
                compare_element(c, from + (size_t)i * size, was + parts * i,
                                at + i);
    }
}

static void tell(const comparing *c, int which)
{
    jx_digits *to = c->d->to;
    const jx_view *view = c->view;
    jx_loss *loss;

    for (int i = 0; i < to->nlosses; i++)
        if (to->losses[i].at.eqn == c->d->eqn)
            return;
    if (to->nlosses == JX_WATCHED_ROOTS)
        return;
    loss = &to->losses[to->nlosses++];
    *loss = (jx_loss){.at = {.eqn = c->d->eqn,
                             .out = which,
                             .rank = view->rank,
                             .count = c->count},
                      .is = c->is,
                      .scale = c->scale};
    loss->at.value = jx_element_at(c->dtype, c->where);
    memcpy(loss->at.index, c->index, (size_t)view->rank * sizeof *c->index);
    memcpy(loss->at.shape, view->shape,
           (size_t)view->rank * sizeof *view->shape);
}

static void compare(const compared *d, const jx_view *ins, int which,
                    const char *from, jx_dtype dtype)
{
    const jx_view *view = &ins[which];
    comparing c = {.d = d,
                   .ins = ins,
                   .view = view,
                   .dtype = dtype,
                   .complex = jx_dtype_is_complex(dtype),
                   .scale = -1};

    compare_all(&c, from);
    if (!c.count)
        return;
    if (!any_lost(d))
        tell(&c, which);
    d->lost[which] = true;
}

static bool is_excused(const jx_digits *to, const jx_eqn *eqn)
{
    for (int i = 0; i < to->nexcused; i++)
        if (to->excused[i] == eqn)
            return true;
    return false;
}

static bool run_comparing(jx_run *run, const void *data, const jx_view *ins,
                          const jx_view *outs, void *scratch)
{
    const compared *d = data;

    (void)run;
    (void)outs;
    (void)scratch;
    for (int i = 0; i < d->nouts; i++) {
        jx_dtype dtype;
        const char *from = play(d, &ins[i], &dtype);
        if (!from)
            continue;
        if (d->follows || !jx_dtype_is_inexact(dtype) ||
            is_excused(d->to, d->eqn))
            follow(&ins[i], from, dtype);
        else
            compare(d, ins, i, from, dtype);
    }
    return true;
}

/* ---- planning */

static bool any_inexact(int count, const jx_slot *slots)
{
    for (int i = 0; i < count; i++)
        if (jx_dtype_is_inexact(slots[i].dtype))
            return true;
    return false;
}

/* What it runs is looked at itself. */
static bool is_shell(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while ||
           eqn->prim->id == JX_PRIM_cond;
}

static bool find_sources(jx_planner *p, compared *d)
{
    d->sources =
        JX_NEW_ARRAY(p->arena, d->eqn->nins + 1, const jx_sources_of_value *);
    for (int i = 0; d->sources && i < d->eqn->nins; i++)
        if (d->eqn->ins[i].var)
            d->sources[i] = jx_map_get(d->to->sources, d->eqn->ins[i].var);
    return d->sources || jx_plan_starved(p);
}

void jx_plan_digits(jx_planner *p, jx_digits *to, const jx_eqn *eqn,
                    const jx_slot *ins, const jx_slot *outs)
{
    bool plays = jx_plan_domain(p) != JX_DECLARED;
    compared data = {.to = to,
                     .eqn = eqn,
                     .nouts = eqn->nouts,
                     .lost = (bool *)(uintptr_t)jx_map_get(to->lost, eqn),
                     .follows = jx_map_has(to->rounds, eqn),
                     .zero = jx_map_has(to->unsure, eqn) ? to->unsure_zero
                                                         : to->zero};
    jx_slot *slots;

    if (is_shell(eqn) || !data.lost || jx_map_has(to->passed, eqn) ||
        !eqn->nouts ||
        (!any_inexact(eqn->nins, ins) && !any_inexact(eqn->nouts, outs)))
        return;
    slots = malloc((size_t)(eqn->nins + eqn->nouts + 1) * sizeof *slots);
    if (!slots) {
        jx_plan_starved(p);
        return;
    }
    memcpy(slots, outs, (size_t)eqn->nouts * sizeof *slots);
    for (int i = 0; plays && i < eqn->nins; i++)
        if (jx_dtype_is_inexact(ins[i].dtype))
            slots[data.nouts + data.nins++] = ins[i];
    if (!plays || find_sources(p, &data))
        jx_plan_op(p, plays ? run_comparing : run_keeping, &data, sizeof data,
                   data.nouts + data.nins, slots, 0, NULL, 0);
    free(slots);
}
