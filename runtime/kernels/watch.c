/* watch.c - see watch.h. */
#include "runtime/watch.h"

#include "frontend/base/plain.h"
#include "frontend/ir/params.h"
#include "runtime/elementwise.h"
#include "runtime/plan_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Data of the kernel: an equation and which of its results are looked at. */
typedef struct watched {
    jx_watch *to;
    const jx_eqn *eqn;
    int nins, nouts; /* views of operands, then of results */
    bool whole;      /* the operands are all that the equation takes */
    bool shell;      /* it only runs other equations */
    const int *outs; /* the numbers of the results */
    const int *ins;  /* of the operands */
    int64_t *runs;
    /* with tracks: its result's elements are made of the operands' there */
    bool each;
    bool *bad; /* per result that is looked at, if the watch tracks; or NULL */
} watched;

static bool same_shape(const jx_view *a, const jx_view *b)
{
    return a->rank == b->rank &&
           !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape);
}

/* The operands' numbers where the result's lies; a scalar's is the
 * same everywhere. */
static void tell_operands(const watched *d, const jx_view *ins,
                          const jx_view *out, jx_unfinite *to)
{
    if (!d->whole || d->nins > JX_WATCHED_OPERANDS ||
        (d->to->tracks && !d->each))
        return;
    for (int i = 0; i < d->nins; i++)
        if (ins[i].rank && !same_shape(&ins[i], out))
            return;
    for (int i = 0; i < d->nins; i++) {
        const char *at = ins[i].data;
        for (int k = 0; k < ins[i].rank; k++)
            at += to->index[k] * ins[i].strides[k];
        to->operands[i] = jx_element_at(ins[i].dtype, at);
    }
    to->noperands = d->nins;
}

static jx_unfinite *told_of(const watched *d, jx_badness is)
{
    return is == JX_NO_NUMBER ? &d->to->nan : &d->to->infinity;
}

/* It may be the first of this badness in the run, of operands that
 * are not as bad. */
static bool is_first(const watched *d, jx_badness before, jx_badness is)
{
    return before < is && !told_of(d, is)->eqn;
}

/* Where and how often results are not finite is asked. */
static bool is_told(const watched *d, jx_badness before)
{
    return (before == JX_FINITE && !d->shell) ||
           is_first(d, before, JX_NO_NUMBER) ||
           is_first(d, before, JX_INFINITE);
}

static void tell_run(const watched *d, const jx_view *ins, int which,
                     const jx_look *look, jx_badness is)
{
    jx_unfinite *to = told_of(d, is);

    if (!look->found[is].count)
        return;
    if (to == &d->to->infinity)
        d->to->infinity_came_first = !d->to->nan.eqn;
    jx_look_tell(look, is, to);
    to->eqn = d->eqn;
    to->out = d->outs[which];
    to->run = *d->runs;
    tell_operands(d, ins, look->view, to);
}

/* Each element of its one result is made of those of its operands there. */
static bool is_each(const jx_eqn *eqn, const jx_slot *ins, const jx_slot *outs)
{
    bool is =
        eqn->nouts == 1 && jx_prim_in_family(eqn->prim->id, "elementwise");

    for (int i = 0; is && i < eqn->nins; i++)
        is = !ins[i].rank ||
             (ins[i].rank == outs[0].rank &&
              !memcmp(ins[i].shape, outs[0].shape,
                      (size_t)ins[i].rank * sizeof *ins[i].shape));
    return is;
}

/* What it runs is watched itself. */
static bool is_shell(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while ||
           eqn->prim->id == JX_PRIM_cond ||
           eqn->prim->id == JX_PRIM_custom_linear_solve || jx_eqn_callee(eqn);
}

static bool is_excused(const jx_watch *watch, const jx_eqn *eqn)
{
    for (int i = 0; i < watch->nexcused; i++)
        if (watch->excused[i] == eqn)
            return true;
    return false;
}

/* What is not finite becomes one; `nan`: what is NaN. */
static void mend_row(const jx_view *view, char *row, int64_t columns,
                     int64_t step, bool nan)
{
    bool complex = jx_dtype_is_complex(view->dtype);
    const double one[2] = {1, 0};

    for (int64_t i = 0; i < columns; i++) {
        double parts[2] = {0};
        jx_convert(view->dtype, complex ? JX_C128 : JX_F64, row + i * step,
                   parts, 1);
        if (nan ? isnan(parts[0]) || isnan(parts[1])
                : !isfinite(parts[0]) || !isfinite(parts[1]))
            jx_convert(complex ? JX_C128 : JX_F64, view->dtype, one,
                       row + i * step, 1);
    }
}

static void mend(const jx_view *view, bool nan)
{
    int last = view->rank - 1;
    int64_t columns = last < 0 ? 1 : jx_steps_along(view, last), rows = 1;
    int64_t step = last < 0 ? 0 : view->strides[last];

    for (int axis = 0; axis < last; axis++)
        rows *= jx_steps_along(view, axis);
    for (int64_t row = 0; row < rows; row++) {
        char *at = view->data;
        int64_t rest = row;
        for (int axis = last - 1; axis >= 0; axis--) {
            at += rest % jx_steps_along(view, axis) * view->strides[axis];
            rest /= jx_steps_along(view, axis);
        }
        mend_row(view, at, columns, step, nan);
    }
}

static bool is_zero(jx_dtype dtype, const char *at)
{
    double value;

    if (dtype == JX_F32)
        return *(const float *)at == 0;
    if (dtype == JX_F64)
        return *(const double *)at == 0;
    jx_convert(dtype, JX_F64, at, &value, 1);
    return value == 0;
}

/* Zero in the one makes zero in the other, which has its shape. */
static void absorb(const jx_view *operand, const jx_view *result)
{
    static const double none;
    int last = result->rank - 1, axis = 0;
    int64_t index[JX_MAX_RANK] = {0},
            columns = last < 0 ? 1 : result->shape[last];
    int64_t from_step = last < 0 ? 0 : operand->strides[last];
    int64_t to_step = last < 0 ? 0 : result->strides[last];
    size_t size = jx_dtype_of(result->dtype)->bytes;
    const char *from = operand->data;
    char *to = result->data, zero[16];

    jx_convert(JX_F64, result->dtype, &none, zero, 1);
    while (axis >= 0) {
        for (int64_t i = 0; i < columns; i++)
            if (is_zero(operand->dtype, from + i * from_step))
                memcpy(to + i * to_step, zero, size);
        for (axis = last - 1; axis >= 0; axis--) {
            from += operand->strides[axis];
            to += result->strides[axis];
            if (++index[axis] < result->shape[axis])
                break;
            from -= operand->strides[axis] * index[axis];
            to -= result->strides[axis] * index[axis];
            index[axis] = 0;
        }
    }
}

static bool is_absorbing(const watched *d, int operand)
{
    const jx_map *those = d->to->absorbing[operand];

    return those && jx_map_has(those, d->eqn);
}

/* Makes zeros of what is to be; whether there was anything. */
static bool absorbs(const watched *d, const jx_view *ins, const jx_view *result)
{
    bool any = false;

    for (int i = 0; i < 2; i++)
        for (int k = 0; is_absorbing(d, i) && k < d->nins; k++)
            if (d->ins[k] == i && same_shape(&ins[k], result) &&
                !jx_dtype_is_complex(result->dtype)) {
                absorb(&ins[k], result);
                any = true;
            }
    return any;
}

/* -- element by element ---------------------------------------------------- */

static jx_badness badness_at(const jx_view *view, const int64_t *index)
{
    const char *at = view->data;
    double parts[2] = {0};

    for (int k = 0; k < view->rank; k++)
        at += index[k] * view->strides[k];
    jx_convert(view->dtype, jx_dtype_is_complex(view->dtype) ? JX_C128 : JX_F64,
               at, parts, 1);
    return isnan(parts[0]) || isnan(parts[1])   ? JX_NO_NUMBER
           : isinf(parts[0]) || isinf(parts[1]) ? JX_INFINITE
                                                : JX_FINITE;
}

/* Worse than all of the operands there; `finite`: which are finite. */
static bool is_new_at(const watched *d, const jx_view *ins,
                      const jx_view *result, const int64_t *index, bool finite,
                      jx_badness *is)
{
    *is = badness_at(result, index);
    for (int i = 0; *is != JX_FINITE && i < d->nins; i++)
        if (badness_at(&ins[i], index) >= (finite ? JX_INFINITE : *is))
            return false;
    return *is != JX_FINITE;
}

/* Elements of a result that are not finite though those of the operands there
 * are, where others of the operands are not, either; of the worst of these, the
 * first in `to`.  Where they are excused they become ones, and so do NaN that
 * are made of infinities. */
static bool find_new(const watched *d, const jx_view *ins,
                     const jx_view *result, bool excused, jx_unfinite *to)
{
    int64_t index[JX_MAX_RANK] = {0};
    jx_badness worst = JX_FINITE, is;
    int axis;

    do {
        if (is_new_at(d, ins, result, index, !excused, &is)) {
            char *at = result->data;
            for (int k = 0; k < result->rank; k++)
                at += index[k] * result->strides[k];
            if (is > worst) {
                worst = is;
                to->value = jx_element_at(result->dtype, at);
                to->rank = result->rank;
                to->count = 0;
                memcpy(to->index, index, (size_t)result->rank * sizeof *index);
                memcpy(to->shape, result->shape,
                       (size_t)result->rank * sizeof *index);
            }
            to->count += is == worst;
            if (excused)
                mend_row(result, at, 1, 0, false);
        }
        for (axis = result->rank - 1;
             axis >= 0 && ++index[axis] == result->shape[axis]; axis--)
            index[axis] = 0;
    } while (axis >= 0);
    return worst != JX_FINITE;
}

/* The same for an equation that is looked at element by element. */
static void look_at_each(const watched *d, const jx_view *ins,
                         const jx_view *result, int which)
{
    jx_watch *watch = d->to;
    bool excused = is_excused(watch, d->eqn);
    jx_unfinite found = {.eqn = d->eqn, .out = d->outs[which], .run = *d->runs};

    if (!find_new(d, ins, result, excused, &found) || excused)
        return;
    for (int i = 0; i < watch->nroots; i++)
        if (watch->roots[i].eqn == d->eqn)
            return;
    if (watch->nroots == JX_WATCHED_ROOTS)
        return;
    tell_operands(d, ins, result, &found);
    watch->roots[watch->nroots++] = found;
}

static void tell_root(const watched *d, const jx_view *ins, int which,
                      const jx_look *look, jx_badness is)
{
    jx_watch *watch = d->to;
    jx_unfinite *to = &watch->roots[watch->nroots];

    for (int i = 0; i < watch->nroots; i++)
        if (watch->roots[i].eqn == d->eqn)
            return;
    if (watch->nroots == JX_WATCHED_ROOTS)
        return;
    *to = (jx_unfinite){.eqn = d->eqn, .out = d->outs[which], .run = *d->runs};
    jx_look_tell(look, is, to);
    tell_operands(d, ins, look->view, to);
    watch->nroots++;
}

static bool run_watch(jx_run *run, const void *data, const jx_view *ins,
                      const jx_view *outs, void *scratch)
{
    const watched *d = data;
    jx_badness before = JX_FINITE;
    jx_look result;

    (void)run;
    (void)outs;
    (void)scratch;
    for (int i = 0; i < d->nouts; i++) {
        jx_badness worst = jx_worst_of(&ins[d->nins + i]);
        if (worst == JX_FINITE)
            continue;
        if (absorbs(d, ins, &ins[d->nins + i]))
            worst = jx_worst_of(&ins[d->nins + i]);
        if (worst == JX_FINITE)
            continue;
        if (d->bad)
            d->bad[d->outs[i]] = true;
        for (int k = 0; before < JX_NO_NUMBER && k < d->nins; k++) {
            jx_badness is = jx_worst_of(&ins[k]);
            before = is > before ? is : before;
        }
        if (is_told(d, before))
            jx_look_at(&result, &ins[d->nins + i]);
        if (before == JX_FINITE && !d->shell && is_excused(d->to, d->eqn)) {
            mend(&ins[d->nins + i], false);
            if (d->bad)
                d->bad[d->outs[i]] = false;
            continue;
        }
        if (before != JX_FINITE && d->each)
            look_at_each(d, ins, &ins[d->nins + i], i);
        else if (before == JX_INFINITE && d->bad && is_excused(d->to, d->eqn))
            mend(&ins[d->nins + i], true);
        if (before == JX_FINITE && !d->shell)
            tell_root(d, ins, i, &result, worst);
        if (is_first(d, before, JX_NO_NUMBER))
            tell_run(d, ins, i, &result, JX_NO_NUMBER);
        if (is_first(d, before, JX_INFINITE))
            tell_run(d, ins, i, &result, JX_INFINITE);
    }
    ++*d->runs;
    return true;
}

/* Each element of its results is one of its operands', so that none is
 * worse than these. */
static bool only_takes(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_concatenate:
    case JX_PRIM_copy:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_dynamic_update_slice:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_pad:
    case JX_PRIM_select_n: return true;
    default: return jx_prim_rearranges(eqn->prim->id);
    }
}

static void watch_results(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                          const jx_slot *ins, const jx_slot *outs)
{
    size_t n = (size_t)eqn->nins + (size_t)eqn->nouts;
    jx_slot *slots = malloc((n + 1) * sizeof *slots);
    int *numbers = JX_NEW_ARRAY(p->arena, eqn->nouts + 1, int);
    int64_t *runs = JX_NEW(p->arena, int64_t);
    int *operands = JX_NEW_ARRAY(p->arena, eqn->nins + 1, int);
    bool *bad =
        to->tracks ? JX_NEW_ARRAY(p->arena, eqn->nouts + 1, bool) : NULL;
    watched data = {to,      eqn,
                    0,       0,
                    true,    is_shell(eqn),
                    numbers, operands,
                    runs,    to->tracks && is_each(eqn, ins, outs),
                    bad};
    if (!slots || !numbers || !operands || !runs || (to->tracks && !bad)) {
        jx_plan_starved(p);
        free(slots);
        return;
    }
    for (int i = 0; i < eqn->nins; i++)
        if (jx_dtype_is_inexact(ins[i].dtype)) {
            operands[data.nins] = i;
            slots[data.nins++] = ins[i];
        }
    data.whole = data.nins == eqn->nins;
    for (int i = 0; i < eqn->nouts; i++)
        if (jx_dtype_is_inexact(outs[i].dtype)) {
            numbers[data.nouts] = i;
            slots[data.nins + data.nouts++] = outs[i];
        }
    if (data.nouts && bad)
        JX_PUSH(to->tracks->arena, &to->tracks->runs, runs);
    if (data.nouts && bad)
        JX_PUSH(to->tracks->arena, &to->tracks->all, ((jx_tracked){eqn, bad}));
    if (data.nouts)
        jx_plan_op(p, run_watch, &data, sizeof data, data.nins + data.nouts,
                   slots, 0, NULL, 0);
    free(slots);
}

void jx_plan_watch(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                   const jx_slot *ins, const jx_slot *outs)
{
    if (to->tracks || !only_takes(eqn))
        watch_results(p, to, eqn, ins, outs);
}
