/* badness.c - see badness.h. */
#include "runtime/badness.h"

#include "frontend/base/assert.h"
#include "frontend/ir/element.h"
#include "runtime/elementwise.h"
#include "runtime/kernels/vector.h"

#include <math.h>
#include <string.h>

enum {
    PIECE = 256,
    /* elements that are counted in the bits of their own type */
    AT_ONCE = 1 << 20,
    AT_SIGHT = 2048, /* that are looked at together */
};

static jx_badness badness_of(double value)
{
    return isfinite(value) ? JX_FINITE
           : isnan(value)  ? JX_NO_NUMBER
                           : JX_INFINITE;
}

jx_element jx_element_at(jx_dtype dtype, const char *at)
{
    jx_element element = {.dtype = dtype};

    memcpy(element.bits, at, jx_dtype_of(dtype)->bytes);
    return element;
}

/* A walk over the elements of a view, row by row. */
typedef struct walk {
    jx_look *look;
    const char *row;
    int64_t index[JX_MAX_RANK];
} walk;

/* So many elements, of which that is the first. */
static void note(walk *w, jx_badness is, int64_t count, int64_t column,
                 const char *at)
{
    jx_look *look = w->look;
    bool known = look->found[is].count > 0;

    look->found[is].count += count;
    if (known)
        return;
    look->found[is].at = at;
    memcpy(look->found[is].first, w->index, sizeof w->index);
    if (look->view->rank)
        look->found[is].first[look->view->rank - 1] = column;
}

static bool all_finite(const double *values, int64_t count)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += values[i] * 0; /* NaN, if one is not finite */
    return sum == 0;
}

/* The same of floats as they lie in memory: without their signs, the bits of
 * all others are less than those of infinity. */
#define ALL_FINITE(name, type, positive, infinity)                             \
    JX_VECTOR_CLONES static bool name(const void *at, int64_t count)           \
    {                                                                          \
        const type *bits = at;                                                 \
        type most = 0;                                                         \
                                                                               \
        for (int64_t i = 0; i < count; i++) {                                  \
            type size = bits[i] & positive;                                    \
            most = size > most ? size : most;                                  \
        }                                                                      \
        return most < infinity;                                                \
    }
ALL_FINITE(all_finite_f32, int32_t, INT32_MAX, 0x7f800000)
ALL_FINITE(all_finite_f64, int64_t, INT64_MAX, 0x7ff0000000000000)
ALL_FINITE(all_finite_f16, int16_t, INT16_MAX, 0x7c00)
ALL_FINITE(all_finite_bf16, int16_t, INT16_MAX, 0x7f80)

bool jx_finite_at_sight(jx_dtype dtype, const void *at, int64_t count)
{
    switch (dtype) {
    case JX_F32: return all_finite_f32(at, count);
    case JX_F64: return all_finite_f64(at, count);
    case JX_C64: return all_finite_f32(at, 2 * count);
    case JX_C128: return all_finite_f64(at, 2 * count);
    case JX_F16: return all_finite_f16(at, count);
    case JX_BF16: return all_finite_bf16(at, count);
    default: return false;
    }
}

/* Infinities and NaN among floats as they lie in memory. */
#define TALLY(name, type, exponent, fraction)                                  \
    JX_VECTOR_CLONES static void name(const void *at, int64_t count,           \
                                      int64_t *infinite, int64_t *nan)         \
    {                                                                          \
        const type *bits = at;                                                 \
        type mask = (type)((exponent) | (fraction)), all = 0, numbers = 0;     \
                                                                               \
        for (int64_t i = 0; i < count; i++) {                                  \
            all = (type)(all + ((bits[i] & (exponent)) == (exponent)));        \
            numbers = (type)(numbers + ((bits[i] & mask) == (exponent)));      \
        }                                                                      \
        *infinite = (int64_t)numbers;                                          \
        *nan = (int64_t)all - (int64_t)numbers;                                \
    }
TALLY(tally_f32, uint32_t, 0x7f800000u, 0x007fffffu)
TALLY(tally_f64, uint64_t, 0x7ff0000000000000u, 0x000fffffffffffffu)

static bool tally(jx_dtype dtype, const void *at, int64_t count,
                  int64_t *infinite, int64_t *nan)
{
    if (dtype == JX_F32)
        tally_f32(at, count, infinite, nan);
    else if (dtype == JX_F64)
        tally_f64(at, count, infinite, nan);
    return dtype == JX_F32 || dtype == JX_F64;
}

static int64_t first_of(jx_dtype dtype, const char *at, jx_badness is)
{
    for (int64_t i = 0;; i++) {
        double value =
            dtype == JX_F32 ? ((const float *)at)[i] : ((const double *)at)[i];
        if (badness_of(value) == is)
            return i;
    }
}

static void walk_piece(walk *w, int64_t from, int64_t count, int64_t step)
{
    double values[2 * PIECE];
    _Alignas(16) char packed[PIECE * 16];
    jx_dtype dtype = w->look->view->dtype;
    bool complex = jx_dtype_is_complex(dtype);
    size_t size = jx_dtype_of(dtype)->bytes;
    const char *at = w->row + from * step, *source = at;
    int64_t number[JX_NO_NUMBER + 1] = {0};

    if (step == (int64_t)size && jx_finite_at_sight(dtype, at, count))
        return;
    if (step != (int64_t)size && count > 1) {
        for (int64_t i = 0; i < count; i++)
            memcpy(packed + (size_t)i * size, at + i * step, size);
        source = packed;
    }
    if (tally(dtype, source, count, &number[JX_INFINITE],
              &number[JX_NO_NUMBER])) {
        for (jx_badness is = JX_INFINITE; is <= JX_NO_NUMBER; is++)
            if (number[is]) {
                int64_t i = first_of(dtype, source, is);
                note(w, is, number[is], from + i, at + i * step);
            }
        return;
    }
    jx_convert(dtype, complex ? JX_C128 : JX_F64, source, values, count);
    if (all_finite(values, complex ? 2 * count : count))
        return;
    for (int64_t i = 0; i < count; i++) {
        jx_badness is = badness_of(values[complex ? 2 * i : i]);
        if (complex && badness_of(values[2 * i + 1]) > is)
            is = badness_of(values[2 * i + 1]);
        if (is != JX_FINITE)
            note(w, is, 1, from + i, at + i * step);
    }
}

int64_t jx_steps_along(const jx_view *view, int axis)
{
    return view->strides[axis] ? view->shape[axis] : 1;
}

bool jx_view_fills(const jx_view *view, int64_t *count)
{
    int64_t size = (int64_t)jx_dtype_of(view->dtype)->bytes;
    uint64_t taken = 0;

    *count = 1;
    for (int k = 0; k < view->rank; k++)
        if (!(taken >> k & 1) && view->shape[k] > 1 &&
            view->strides[k] == *count * size) {
            *count *= view->shape[k];
            taken |= UINT64_C(1) << k;
            k = -1; /* the axis on which what follows lies may be any */
        }
    for (int k = 0; k < view->rank; k++)
        if (!(taken >> k & 1) && view->shape[k] > 1 && view->strides[k])
            return false;
    return view->count > 0;
}

static void walk_all(walk *w)
{
    const jx_view *view = w->look->view;
    int last = view->rank - 1;
    int64_t columns = last < 0 ? 1 : jx_steps_along(view, last);
    int64_t step = last < 0 ? 0 : view->strides[last];

    w->row = view->data;
    for (;;) {
        for (int64_t k = 0; k < columns; k += PIECE)
            walk_piece(w, k, columns - k < PIECE ? columns - k : PIECE, step);
        int axis = last - 1;
        for (; axis >= 0; axis--) {
            w->row += view->strides[axis];
            if (++w->index[axis] < jx_steps_along(view, axis))
                break;
            w->row -= view->strides[axis] * w->index[axis];
            w->index[axis] = 0;
        }
        if (axis < 0)
            return;
    }
}

/* To the next element in the order of axes; false: that was the last. */
static bool step_on(walk *w)
{
    const jx_view *view = w->look->view;

    for (int axis = view->rank - 1; axis >= 0; axis--) {
        w->row += view->strides[axis];
        if (++w->index[axis] < jx_steps_along(view, axis))
            return true;
        w->row -= view->strides[axis] * w->index[axis];
        w->index[axis] = 0;
    }
    return false;
}

/* A matrix that is transposed, and more of that kind: its elements are counted
 * as they lie in memory, and walked, in the order of axes, to the first of each
 * badness that there is. */
static bool count_filled(walk *w, int64_t count)
{
    jx_look *look = w->look;
    const jx_view *view = look->view;
    size_t size = jx_dtype_of(view->dtype)->bytes;
    int64_t number[JX_NO_NUMBER + 1] = {0}, piece[JX_NO_NUMBER + 1], left = 0;

    if (!view->rank || view->strides[view->rank - 1] == (int64_t)size)
        return false; /* rows as they lie are quicker */
    for (int64_t from = 0; from < count; from += AT_ONCE) {
        if (!tally(view->dtype, view->data + (size_t)from * size,
                   count - from < AT_ONCE ? count - from : AT_ONCE,
                   &piece[JX_INFINITE], &piece[JX_NO_NUMBER]))
            return false;
        for (jx_badness is = JX_INFINITE; is <= JX_NO_NUMBER; is++)
            number[is] += piece[is];
    }
    left = (number[JX_INFINITE] > 0) + (number[JX_NO_NUMBER] > 0);
    w->row = view->data;
    for (bool more = true; left && more; more = step_on(w)) {
        jx_badness is = badness_of(jx_element_real(view->dtype, w->row));
        if (is == JX_FINITE || look->found[is].count)
            continue;
        note(w, is, number[is], w->index[view->rank - 1], w->row);
        left--;
    }
    JX_ASSERT(!left);
    return true;
}

jx_badness jx_look_at(jx_look *look, const jx_view *view)
{
    walk w = {.look = look};
    int64_t count;
    bool fills = jx_view_fills(view, &count);

    *look = (jx_look){.view = view};
    if (view->count &&
        !(fills && jx_finite_at_sight(view->dtype, view->data, count)) &&
        !(fills && count_filled(&w, count)))
        walk_all(&w);
    return look->found[JX_NO_NUMBER].count  ? JX_NO_NUMBER
           : look->found[JX_INFINITE].count ? JX_INFINITE
                                            : JX_FINITE;
}

/* A piece of it that has a NaN says it all. */
jx_badness jx_worst_of(const jx_view *view)
{
    jx_badness worst = JX_FINITE;
    int64_t count, infinite, nan;
    jx_look look;

    if (!view->count)
        return JX_FINITE;
    if (!jx_view_fills(view, &count))
        return jx_look_at(&look, view);
    for (int64_t from = 0, n; from < count; from += n) {
        const char *at =
            view->data + (size_t)from * jx_dtype_of(view->dtype)->bytes;
        n = count - from < AT_SIGHT ? count - from : AT_SIGHT;
        if (jx_finite_at_sight(view->dtype, at, n))
            continue;
        if (!tally(view->dtype, at, n, &infinite, &nan))
            return jx_look_at(&look, view);
        if (nan)
            return JX_NO_NUMBER;
        worst = infinite ? JX_INFINITE : worst;
    }
    return worst;
}

void jx_look_tell(const jx_look *look, jx_badness is, jx_unfinite *to)
{
    const jx_view *view = look->view;

    to->value = jx_element_at(view->dtype, look->found[is].at);
    to->rank = view->rank;
    to->count = look->found[is].count;
    for (int i = 0; i < view->rank; i++) {
        to->shape[i] = view->shape[i];
        to->index[i] = look->found[is].first[i];
        if (!view->strides[i])
            to->count *= view->shape[i];
    }
}

bool jx_unfinite_find(const jx_view *view, jx_unfinite *found)
{
    jx_look look;
    jx_badness worst = jx_look_at(&look, view);

    if (worst != JX_FINITE)
        jx_look_tell(&look, worst, found);
    return worst != JX_FINITE;
}
