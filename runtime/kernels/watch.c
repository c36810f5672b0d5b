/* watch.c - see watch.h. */
#include "runtime/watch.h"

#include "frontend/base/plain.h"
#include "frontend/ir/params.h"
#include "runtime/elementwise.h"
#include "runtime/plan_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 256 };

/* How far from finite a number is; the worse counts. */
typedef enum badness { FINITE = 0, INFINITE, NO_NUMBER } badness;

static badness badness_of(double value)
{
    return isfinite(value) ? FINITE : isnan(value) ? NO_NUMBER : INFINITE;
}

static jx_element element_at(jx_dtype dtype, const char *at)
{
    jx_element element = {.dtype = dtype};

    memcpy(element.bits, at, jx_dtype_of(dtype)->bytes);
    return element;
}

/* Elements that are as bad as each other. */
typedef struct finding {
    int64_t count;
    int64_t first[JX_MAX_RANK];
    const char *at; /* the first */
} finding;

/* A walk over the elements of a view, row by row. */
typedef struct walk {
    const jx_view *view;
    const char *row;
    int64_t index[JX_MAX_RANK];
    finding found[NO_NUMBER + 1]; /* by badness */
} walk;

static void note(walk *w, badness is, int64_t column, const char *at)
{
    finding *f = &w->found[is];

    if (f->count++)
        return;
    f->at = at;
    memcpy(f->first, w->index, sizeof f->first);
    if (w->view->rank)
        f->first[w->view->rank - 1] = column;
}

static bool all_finite(const double *values, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += values[i] * 0; /* NaN, if one is not finite */
    return sum == 0;
}

static void walk_piece(walk *w, int64_t from, int64_t count, int64_t step)
{
    double values[2 * PIECE];
    char packed[PIECE * 16];
    jx_dtype dtype = w->view->dtype;
    bool complex = jx_dtype_is_complex(dtype);
    size_t size = jx_dtype_of(dtype)->bytes;
    const char *at = w->row + from * step, *source = at;

    if (step != (int64_t)size && count > 1) {
        for (int64_t i = 0; i < count; i++)
            memcpy(packed + (size_t)i * size, at + i * step, size);
        source = packed;
    }
    jx_convert(dtype, complex ? JX_C128 : JX_F64, source, values, count);
    if (all_finite(values, complex ? 2 * count : count))
        return;
    for (int64_t i = 0; i < count; i++) {
        badness is = badness_of(values[complex ? 2 * i : i]);
        if (complex && badness_of(values[2 * i + 1]) > is)
            is = badness_of(values[2 * i + 1]);
        if (is != FINITE)
            note(w, is, from + i, at + i * step);
    }
}

/* Along an axis with stride 0 all elements are the first. */
static int64_t steps_along(const jx_view *view, int axis)
{
    return view->strides[axis] ? view->shape[axis] : 1;
}

static void walk_all(walk *w)
{
    const jx_view *view = w->view;
    int last = view->rank - 1;
    int64_t columns = last < 0 ? 1 : steps_along(view, last);
    int64_t step = last < 0 ? 0 : view->strides[last];

    w->row = view->data;
    for (;;) {
        for (int64_t k = 0; k < columns; k += PIECE)
            walk_piece(w, k, columns - k < PIECE ? columns - k : PIECE, step);
        int axis = last - 1;
        for (; axis >= 0; axis--) {
            w->row += view->strides[axis];
            if (++w->index[axis] < steps_along(view, axis))
                break;
            w->row -= view->strides[axis] * w->index[axis];
            w->index[axis] = 0;
        }
        if (axis < 0)
            return;
    }
}

/* How bad the worst element is. */
static badness look(const jx_view *view, walk *w)
{
    *w = (walk){.view = view};
    if (view->count)
        walk_all(w);
    return w->found[NO_NUMBER].count  ? NO_NUMBER
           : w->found[INFINITE].count ? INFINITE
                                      : FINITE;
}

static void tell(const walk *w, badness is, jx_unfinite *to)
{
    const jx_view *view = w->view;
    const finding *f = &w->found[is];

    to->value = element_at(view->dtype, f->at);
    to->rank = view->rank;
    to->count = f->count;
    for (int i = 0; i < view->rank; i++) {
        to->shape[i] = view->shape[i];
        to->index[i] = f->first[i];
        if (!view->strides[i])
            to->count *= view->shape[i];
    }
}

bool jx_unfinite_find(const jx_view *view, jx_unfinite *found)
{
    walk w;
    badness worst = look(view, &w);

    if (worst != FINITE)
        tell(&w, worst, found);
    return worst != FINITE;
}

/* -- equations ------------------------------------------------------------ */

/* Data of the kernel: an equation and which of its results are looked at. */
typedef struct watched {
    jx_watch *to;
    const jx_eqn *eqn;
    int nins, nouts; /* views of operands, then of results */
    bool whole;      /* the operands are all that the equation takes */
    bool shell;      /* it only runs other equations */
    const int *outs; /* the numbers of the results */
    int64_t *runs;
} watched;

static bool same_shape(const jx_view *a, const jx_view *b)
{
    return a->rank == b->rank &&
           !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

/* The operands' numbers where the result's lies. */
static void tell_operands(const watched *d, const jx_view *ins,
                          const jx_view *out, jx_unfinite *to)
{
    if (!d->whole || d->nins > JX_WATCHED_OPERANDS)
        return;
    for (int i = 0; i < d->nins; i++)
        if (!same_shape(&ins[i], out))
            return;
    for (int i = 0; i < d->nins; i++) {
        const char *at = ins[i].data;
        for (int k = 0; k < out->rank; k++)
            at += to->index[k] * ins[i].strides[k];
        to->operands[i] = element_at(ins[i].dtype, at);
    }
    to->noperands = d->nins;
}

static void tell_run(const watched *d, const jx_view *ins, int which,
                     const walk *w, badness is)
{
    jx_unfinite *to = is == NO_NUMBER ? &d->to->nan : &d->to->infinity;

    if (to->eqn || !w->found[is].count)
        return;
    if (to == &d->to->infinity)
        d->to->infinity_came_first = !d->to->nan.eqn;
    tell(w, is, to);
    to->eqn = d->eqn;
    to->out = d->outs[which];
    to->run = *d->runs;
    tell_operands(d, ins, w->view, to);
}

/* What it runs is watched itself. */
static bool is_shell(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while ||
           eqn->prim->id == JX_PRIM_cond || jx_eqn_callee(eqn);
}

static bool is_excused(const jx_watch *watch, const jx_eqn *eqn)
{
    for (int i = 0; i < watch->nexcused; i++)
        if (watch->excused[i] == eqn)
            return true;
    return false;
}

/* What is not finite becomes one. */
static void mend_row(const jx_view *view, char *row, int64_t columns, int64_t step)
{
    bool complex = jx_dtype_is_complex(view->dtype);
    const double one[2] = {1, 0};

    for (int64_t i = 0; i < columns; i++) {
        double parts[2] = {0};
        jx_convert(view->dtype, complex ? JX_C128 : JX_F64, row + i * step, parts, 1);
        if (!isfinite(parts[0]) || !isfinite(parts[1]))
            jx_convert(complex ? JX_C128 : JX_F64, view->dtype, one, row + i * step, 1);
    }
}

static void mend(const jx_view *view)
{
    int last = view->rank - 1;
    int64_t columns = last < 0 ? 1 : steps_along(view, last), rows = 1;
    int64_t step = last < 0 ? 0 : view->strides[last];

    for (int axis = 0; axis < last; axis++)
        rows *= steps_along(view, axis);
    for (int64_t row = 0; row < rows; row++) {
        char *at = view->data;
        int64_t rest = row;
        for (int axis = last - 1; axis >= 0; axis--) {
            at += rest % steps_along(view, axis) * view->strides[axis];
            rest /= steps_along(view, axis);
        }
        mend_row(view, at, columns, step);
    }
}

static void tell_root(const watched *d, const jx_view *ins, int which, const walk *w,
                      badness is)
{
    jx_watch *watch = d->to;
    jx_unfinite *to = &watch->roots[watch->nroots];

    for (int i = 0; i < watch->nroots; i++)
        if (watch->roots[i].eqn == d->eqn)
            return;
    if (watch->nroots == JX_WATCHED_ROOTS)
        return;
    *to = (jx_unfinite){.eqn = d->eqn, .out = d->outs[which], .run = *d->runs};
    tell(w, is, to);
    tell_operands(d, ins, w->view, to);
    watch->nroots++;
}

static bool run_watch(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const watched *d = data;
    badness before = FINITE;
    walk w;

    (void)run;
    (void)outs;
    (void)scratch;
    for (int i = 0; i < d->nouts; i++) {
        badness worst = look(&ins[d->nins + i], &w);
        if (worst == FINITE)
            continue;
        for (int k = 0; before < NO_NUMBER && k < d->nins; k++) {
            walk operand;
            badness is = look(&ins[k], &operand);
            before = is > before ? is : before;
        }
        if (before == FINITE && !d->shell && is_excused(d->to, d->eqn)) {
            mend(&ins[d->nins + i]);
            continue;
        }
        if (before == FINITE && !d->shell)
            tell_root(d, ins, i, &w, worst);
        if (before < NO_NUMBER)
            tell_run(d, ins, i, &w, NO_NUMBER);
        if (before < INFINITE)
            tell_run(d, ins, i, &w, INFINITE);
    }
    ++*d->runs;
    return true;
}

void jx_plan_watch(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                   const jx_slot *ins, const jx_slot *outs)
{
    size_t n = (size_t)eqn->nins + (size_t)eqn->nouts;
    jx_slot *slots = malloc((n + 1) * sizeof *slots);
    int *numbers = JX_NEW_ARRAY(p->arena, eqn->nouts + 1, int);
    int64_t *runs = JX_NEW(p->arena, int64_t);
    watched data = {to, eqn, 0, 0, true, is_shell(eqn), numbers, runs};

    if (!slots || !numbers || !runs) {
        jx_plan_starved(p);
        free(slots);
        return;
    }
    for (int i = 0; i < eqn->nins; i++)
        if (jx_dtype_is_inexact(ins[i].dtype))
            slots[data.nins++] = ins[i];
    data.whole = data.nins == eqn->nins;
    for (int i = 0; i < eqn->nouts; i++)
        if (jx_dtype_is_inexact(outs[i].dtype)) {
            numbers[data.nouts] = i;
            slots[data.nins + data.nouts++] = outs[i];
        }
    if (data.nouts)
        jx_plan_op(p, run_watch, &data, sizeof data, data.nins + data.nouts,
                   slots, 0, NULL, 0);
    free(slots);
}
