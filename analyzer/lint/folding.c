/* folding.c - what constants come to, and weights among them.
 *
 * Small constant arrays are computed in double precision, rounded to their
 * dtype, as far as each element follows from elements at one place. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <math.h>

enum { MOST = 4096, LEAST_WEIGHTS = 16, NOTE_BYTES = 64 << 10, MAX_RANK = 8 };

typedef struct folder {
    jx_linter *lint;
    const jx_flat *flat;
    const double **of; /* by value: its elements, or NULL; one for a splat */
    int64_t spent;     /* elements computed */
} folder;

enum { MOST_SPENT = 1 << 22 };

static int64_t count_of(const folder *f, int value)
{
    const jx_flat_value *v = &f->flat->values.at[value];
    int64_t count;

    if (v->splat)
        return 1;
    return jx_aval_elements(v->aval, &count) && count <= MOST ? count : 0;
}

/* As an element of the dtype.  False for integers that it does not hold, which
 * wrap, or that a double does not. */
static bool hold(jx_dtype dtype, double *number)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    unsigned char bits[16] = {0};

    if (dtype == JX_BOOL) {
        *number = *number != 0;
        return true;
    }
    if (!jx_dtype_is_float(dtype)) {
        *number = trunc(*number);
        return fabs(*number) <
                   ldexp(1, info->bits > 54 ? 53 : info->bits - 1) &&
               (*number >= 0 || info->kind == JX_KIND_INT);
    }
    if (dtype != JX_F64) {
        jx_element_from_real(dtype, *number, bits);
        *number = jx_element_real(dtype, bits);
    }
    return true;
}

static bool is_number(const folder *f, int value)
{
    jx_dtype dtype = f->flat->values.at[value].aval->dtype;

    return jx_dtype_is_float(dtype) || jx_dtype_is_integer(dtype) ||
           dtype == JX_BOOL;
}

static const double *read_array(folder *f, int value)
{
    const jx_flat_value *v = &f->flat->values.at[value];
    size_t size = jx_dtype_of(v->aval->dtype)->bytes;
    int64_t count = count_of(f, value);
    double *to, one;

    if (jx_number_of(f->flat, value, &one)) {
        to = JX_NEW(f->lint->ctx->arena, double);
        if (to)
            *to = one;
        return to;
    }
    if (!v->array || !v->array->data || !count || !is_number(f, value) ||
        v->array->bytes < (size_t)count * size)
        return NULL;
    to = JX_NEW_ARRAY(f->lint->ctx->arena, (int)count, double);
    for (int64_t i = 0; to && i < count; i++)
        if (!jx_number_at(v->aval->dtype,
                          (const char *)v->array->data + (size_t)i * size,
                          &to[i]) ||
            !hold(v->aval->dtype, &to[i]))
            return NULL;
    return to;
}

/* False for what is not computed here. */
static bool unary(jx_prim_id id, double x, double *y)
{
    switch (id) {
    case JX_PRIM_convert_element_type: *y = x; return true;
    case JX_PRIM_neg: *y = -x; return true;
    case JX_PRIM_abs: *y = fabs(x); return true;
    case JX_PRIM_exp: *y = exp(x); return true;
    case JX_PRIM_exp2: *y = exp2(x); return true;
    case JX_PRIM_log: *y = log(x); return true;
    case JX_PRIM_log1p: *y = log1p(x); return true;
    case JX_PRIM_sqrt: *y = sqrt(x); return true;
    case JX_PRIM_rsqrt: *y = 1 / sqrt(x); return true;
    case JX_PRIM_square: *y = x * x; return true;
    case JX_PRIM_sin: *y = sin(x); return true;
    case JX_PRIM_cos: *y = cos(x); return true;
    case JX_PRIM_tanh: *y = tanh(x); return true;
    case JX_PRIM_tan: *y = tan(x); return true;
    case JX_PRIM_sinh: *y = sinh(x); return true;
    case JX_PRIM_cosh: *y = cosh(x); return true;
    case JX_PRIM_acosh: *y = acosh(x); return true;
    case JX_PRIM_acos: *y = acos(x); return true;
    case JX_PRIM_asin: *y = asin(x); return true;
    case JX_PRIM_atanh: *y = atanh(x); return true;
    case JX_PRIM_floor: *y = floor(x); return true;
    case JX_PRIM_ceil: *y = ceil(x); return true;
    case JX_PRIM_sign: *y = x > 0 ? 1 : x < 0 ? -1 : x; return true;
    case JX_PRIM_is_finite: *y = isfinite(x); return true;
    default: return false;
    }
}

static bool binary(jx_prim_id id, double a, double b, double *y)
{
    switch (id) {
    case JX_PRIM_add: *y = a + b; return true;
    case JX_PRIM_sub: *y = a - b; return true;
    case JX_PRIM_mul: *y = a * b; return true;
    case JX_PRIM_div: *y = a / b; return true;
    case JX_PRIM_pow: *y = pow(a, b); return true;
    case JX_PRIM_max: *y = a > b || isnan(a) ? a : b; return true;
    case JX_PRIM_min: *y = a < b || isnan(a) ? a : b; return true;
    case JX_PRIM_eq: *y = a == b; return true;
    case JX_PRIM_ne: *y = a != b; return true;
    case JX_PRIM_lt: *y = a < b; return true;
    case JX_PRIM_le: *y = a <= b; return true;
    case JX_PRIM_gt: *y = a > b; return true;
    case JX_PRIM_ge: *y = a >= b; return true;
    default: return false;
    }
}

/* What whole numbers and floats, or booleans and other bits, do each in their
 * own way. */
static bool binary_of(jx_prim_id id, jx_dtype dtype, double a, double b,
                      double *y)
{
    switch (id) {
    case JX_PRIM_rem:
        *y = fmod(a, b);
        return jx_dtype_is_float(dtype) || b != 0;
    case JX_PRIM_and: *y = a && b; return dtype == JX_BOOL;
    case JX_PRIM_or: *y = a || b; return dtype == JX_BOOL;
    case JX_PRIM_xor: *y = a != b; return dtype == JX_BOOL;
    default: return binary(id, a, b, y);
    }
}

/* Where element `at` of the result lies in an operand of a broadcast. */
static int64_t broadcast_from(const jx_p_broadcast_in_dim *p,
                              const jx_aval *from, const jx_aval *to,
                              int64_t at)
{
    int64_t index[MAX_RANK] = {0}, place = 0;

    for (int i = to->rank; i-- > 0;) {
        int64_t size = jx_dim_value(to->shape[i]);
        index[i] = at % size;
        at /= size;
    }
    for (int i = 0; i < from->rank; i++) {
        int64_t size = jx_dim_value(from->shape[i]);
        place = place * size +
                (size == 1 ? 0 : index[p->broadcast_dimensions.at[i]]);
    }
    return place;
}

/* Which element of an operand is for element `at` of the result: axes of one
 * element are for all places, and so are scalars. */
static bool taken_from(const folder *f, const jx_flat_node *node, int operand,
                       int64_t at, int64_t *to)
{
    const jx_aval *in = f->flat->values.at[node->ins[operand]].aval;
    const jx_aval *out = f->flat->values.at[node->outs[0]].aval;
    int64_t step = 1, size, most;

    *to = 0;
    if (count_of(f, node->ins[operand]) == 1)
        return true;
    if (in->rank != out->rank)
        return false;
    for (int i = in->rank; i-- > 0;) {
        if (!jx_dim_is_int(in->shape[i], &size) ||
            !jx_dim_is_int(out->shape[i], &most) || most == 0 ||
            (size != most && size != 1))
            return false;
        *to += size == 1 ? 0 : at % most * step;
        step *= size;
        at /= most;
    }
    return true;
}

/* An element of the case that is chosen; the others need not be known. */
static bool chosen(const folder *f, const jx_flat_node *node, int64_t at,
                   double *y)
{
    const double *which = f->of[node->ins[0]];
    int64_t from;
    int taken;

    if (!which || !taken_from(f, node, 0, at, &from))
        return false;
    if (!(which[from] >= 0 && which[from] < node->nins - 1))
        return false;
    taken = 1 + (int)which[from];
    if (!f->of[node->ins[taken]] || !taken_from(f, node, taken, at, &from))
        return false;
    *y = f->of[node->ins[taken]][from];
    return true;
}

static bool clamped(const folder *f, const jx_flat_node *node, int64_t at,
                    double *y)
{
    int64_t from[3];

    for (int i = 0; i < 3; i++)
        if (!f->of[node->ins[i]] || !taken_from(f, node, i, at, &from[i]))
            return false;
    *y = f->of[node->ins[1]][from[1]];
    return binary(JX_PRIM_max, *y, f->of[node->ins[0]][from[0]], y) &&
           binary(JX_PRIM_min, *y, f->of[node->ins[2]][from[2]], y);
}

/* What of elements up to one there is in a cumulative result. */
static bool gathered(jx_prim_id id, double before, double x, double *y)
{
    switch (id) {
    case JX_PRIM_cumsum: return binary(JX_PRIM_add, before, x, y);
    case JX_PRIM_cumprod: return binary(JX_PRIM_mul, before, x, y);
    case JX_PRIM_cummax: return binary(JX_PRIM_max, before, x, y);
    default: return binary(JX_PRIM_min, before, x, y);
    }
}

/* Of arrays of one axis: an element, of elements elsewhere; `done` are those
 * before it.  False for what is not computed here. */
static bool along_axis(const folder *f, const jx_flat_node *node, int64_t at,
                       const double *done, double *y)
{
    const jx_aval *out = f->flat->values.at[node->outs[0]].aval;
    const double *a = f->of[node->ins[0]];
    int64_t count = count_of(f, node->ins[0]), from, by = 1;
    const void *p = node->eqn->typed;

    if (!p || out->rank != 1)
        return false;
    switch (node->eqn->prim->id) {
    case JX_PRIM_concatenate:
        for (int i = 0; i < node->nins; i++, at -= count) {
            const jx_flat_value *v = &f->flat->values.at[node->ins[i]];
            if (!f->of[node->ins[i]] || !jx_aval_elements(v->aval, &count))
                return false;
            if (at < count) {
                *y = f->of[node->ins[i]]
                          [count_of(f, node->ins[i]) == 1 ? 0 : at];
                return true;
            }
        }
        return false;
    case JX_PRIM_slice: {
        const jx_p_slice *slice = p;
        if (!a || !jx_dim_is_int(slice->start_indices.at[0], &from) ||
            (slice->strides.given && !jx_dim_is_int(slice->strides.at[0], &by)))
            return false;
        *y = a[count == 1 ? 0 : from + at * by];
        return true;
    }
    case JX_PRIM_rev:
        if (a)
            *y = a[count - 1 - (count == 1 ? 0 : at)];
        return a != NULL;
    case JX_PRIM_cumsum:
    case JX_PRIM_cumprod:
    case JX_PRIM_cummax:
    case JX_PRIM_cummin:
        if (!a || ((const jx_p_cumulative *)p)->reverse)
            return false;
        *y = a[count == 1 ? 0 : at];
        return !at || gathered(node->eqn->prim->id, done[at - 1], *y, y);
    default: return false;
    }
}

/* What a reduction begins with; false for what is none. */
static bool begins_with(jx_prim_id id, double *y)
{
    switch (id) {
    case JX_PRIM_reduce_sum: *y = 0; return true;
    case JX_PRIM_reduce_prod: *y = 1; return true;
    case JX_PRIM_reduce_max: *y = -INFINITY; return true;
    case JX_PRIM_reduce_min: *y = INFINITY; return true;
    default: return false;
    }
}

static bool joined(jx_prim_id id, double a, double b, double *y)
{
    switch (id) {
    case JX_PRIM_reduce_sum: return binary(JX_PRIM_add, a, b, y);
    case JX_PRIM_reduce_prod: return binary(JX_PRIM_mul, a, b, y);
    case JX_PRIM_reduce_max: return binary(JX_PRIM_max, a, b, y);
    default: return binary(JX_PRIM_min, a, b, y);
    }
}

/* Element `at` of a reduction over axes. */
static bool reduced(const folder *f, const jx_flat_node *node, int64_t at,
                    double *y)
{
    const jx_aval *in = f->flat->values.at[node->ins[0]].aval;
    const jx_p_axes *p = node->eqn->typed;
    const double *a = f->of[node->ins[0]];
    bool splat = count_of(f, node->ins[0]) == 1, over[MAX_RANK] = {false};
    int64_t all, index[MAX_RANK] = {0}, place;

    if (!p || !a || in->rank > MAX_RANK || !jx_aval_elements(in, &all) ||
        all > MOST)
        return false;
    for (int i = 0; i < p->axes.count; i++)
        over[p->axes.at[i]] = true;
    for (int i = in->rank; i-- > 0;)
        if (!over[i]) {
            index[i] = at % jx_dim_value(in->shape[i]);
            at /= jx_dim_value(in->shape[i]);
        }
    for (int axis = 0; all && axis >= 0;) {
        place = 0;
        for (int i = 0; i < in->rank; i++)
            place = place * jx_dim_value(in->shape[i]) + index[i];
        if (!joined(node->eqn->prim->id, *y, a[splat ? 0 : place], y))
            return false;
        for (axis = in->rank - 1; axis >= 0; axis--) {
            if (!over[axis])
                continue;
            if (++index[axis] < jx_dim_value(in->shape[axis]))
                break;
            index[axis] = 0;
        }
    }
    return true;
}

static bool element_of(const folder *f, const jx_flat_node *node, int64_t at,
                       const double *done, double *y)
{
    const jx_aval *out = f->flat->values.at[node->outs[0]].aval;
    const void *p = node->eqn->typed;
    const double *a = node->nins ? f->of[node->ins[0]] : NULL;
    const double *b = node->nins > 1 ? f->of[node->ins[1]] : NULL;
    int64_t na = node->nins ? count_of(f, node->ins[0]) : 0, ofa, ofb;

    switch (node->eqn->prim->id) {
    case JX_PRIM_iota:
        if (out->rank != 1)
            return false;
        *y = (double)at;
        return true;
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims:
        if (!a)
            return false;
        *y = a[na == 1 ? 0 : at];
        return true;
    case JX_PRIM_broadcast_in_dim:
        if (!a || !p || out->rank > MAX_RANK || !jx_aval_is_static(out))
            return false;
        *y =
            a[na == 1 ? 0
                      : broadcast_from(p, f->flat->values.at[node->ins[0]].aval,
                                       out, at)];
        return true;
    case JX_PRIM_integer_pow:
        if (!a || !p)
            return false;
        *y = pow(a[na == 1 ? 0 : at], (double)((const jx_p_integer_pow *)p)->y);
        return true;
    case JX_PRIM_round:
        if (!a || !p)
            return false;
        *y = a[na == 1 ? 0 : at];
        *y =
            ((const jx_p_round *)p)->rounding_method == JX_ROUND_TO_NEAREST_EVEN
                ? nearbyint(*y)
                : round(*y);
        return true;
    case JX_PRIM_not:
        if (!a || out->dtype != JX_BOOL)
            return false;
        *y = !a[na == 1 ? 0 : at];
        return true;
    case JX_PRIM_select_n: return chosen(f, node, at, y);
    case JX_PRIM_clamp: return clamped(f, node, at, y);
    default: break;
    }
    if (begins_with(node->eqn->prim->id, y))
        return reduced(f, node, at, y);
    if (node->nins && along_axis(f, node, at, done, y))
        return true;
    if (node->nins == 1 && a)
        return unary(node->eqn->prim->id, a[na == 1 ? 0 : at], y);
    if (node->nins != 2 || !a || !b || !taken_from(f, node, 0, at, &ofa) ||
        !taken_from(f, node, 1, at, &ofb))
        return false;
    return binary_of(node->eqn->prim->id, out->dtype, a[ofa], b[ofb], y);
}

/* What there is to go over beside the elements of the result. */
static int64_t terms_of(const folder *f, const jx_flat_node *node)
{
    double first;
    int64_t count;

    return begins_with(node->eqn->prim->id, &first) &&
                   jx_aval_elements(f->flat->values.at[node->ins[0]].aval,
                                    &count) &&
                   count <= MOST
               ? count
               : 0;
}

static void fold(folder *f, const jx_flat_node *node)
{
    const jx_flat_value *v;
    int64_t count;
    double *to;

    if (node->nouts != 1 || f->flat->values.at[node->outs[0]].varies ||
        !is_number(f, node->outs[0]))
        return;
    v = &f->flat->values.at[node->outs[0]];
    count = count_of(f, node->outs[0]);
    if (!count || f->spent > MOST_SPENT)
        return;
    for (int i = 0; i < node->nins; i++)
        if (!f->of[node->ins[i]])
            f->of[node->ins[i]] = read_array(f, node->ins[i]);
    to = JX_NEW_ARRAY(f->lint->ctx->arena, (int)count, double);
    f->spent += count + terms_of(f, node);
    for (int64_t i = 0; to && i < count; i++) {
        if (!element_of(f, node, i, to, &to[i]) ||
            !hold(v->aval->dtype, &to[i]))
            return;
    }
    f->of[node->outs[0]] = to;
}

static int64_t first_not_finite(const folder *f, int value)
{
    int64_t count = f->of[value] ? count_of(f, value) : 0;

    for (int64_t i = 0; i < count; i++)
        if (!isfinite(f->of[value][i]))
            return i;
    return -1;
}

/* -- STG004 ---------------------------------------------------------------- */

enum { MOST_MOVES = 16 };

static bool is_left_out(const folder *f, int value, int moves);

/* What is not finite of a value is chosen from, set to others, cut off, or
 * gives what is finite. */
static bool leaves_out(const folder *f, const jx_flat_node *use, int value,
                       int moves)
{
    if (use->nouts == 1 && f->of[use->outs[0]] &&
        first_not_finite(f, use->outs[0]) < 0)
        return true;
    if (jx_shows(use->eqn))
        return is_left_out(f, use->outs[0], moves + 1);
    switch (use->eqn->prim->id) {
    case JX_PRIM_select_n:
    case JX_PRIM_max:
    case JX_PRIM_min: return true;
    case JX_PRIM_scatter:
    case JX_PRIM_dynamic_update_slice: return use->ins[0] == value;
    default: /* what constants make of it is */
        return use->nouts == 1 && f->of[use->outs[0]] &&
               is_left_out(f, use->outs[0], moves + 1);
    }
}

/* By all that uses it; who asks whether it is finite does not use it yet. */
static bool is_left_out(const folder *f, int value, int moves)
{
    const jx_flat_uses *uses = &f->lint->uses;
    bool used = false;

    if (uses->kept[value] || moves > MOST_MOVES)
        return false;
    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *use = &f->flat->nodes.at[uses->nodes[i]];
        if (!use->live || use->eqn->prim->id == JX_PRIM_is_finite ||
            use->eqn->prim->id == JX_PRIM_eq ||
            use->eqn->prim->id == JX_PRIM_ne)
            continue;
        if (!leaves_out(f, use, value, moves))
            return false;
        used = true;
    }
    return used;
}

/* The logarithm of ones and zeros of a choice is a mask: what is added to
 * infinity is left out. */
static bool is_mask(const folder *f, const jx_flat_node *node)
{
    const jx_flat_node *made;
    int value;

    if (node->eqn->prim->id != JX_PRIM_log)
        return false;
    for (int64_t i = 0; i < count_of(f, node->ins[0]); i++)
        if (f->of[node->ins[0]][i] != 0 && f->of[node->ins[0]][i] != 1)
            return false;
    value = jx_shown(f->flat, node->ins[0]);
    made = jx_maker(f->flat, value);
    while (made && made->eqn->prim->id == JX_PRIM_convert_element_type) {
        value = jx_shown(f->flat, made->ins[0]);
        made = jx_maker(f->flat, value);
    }
    return f->flat->values.at[value].aval->dtype == JX_BOOL ||
           (made && made->eqn->prim->id == JX_PRIM_select_n);
}

static void look_at_result(folder *f, const jx_flat_node *node)
{
    int64_t at = node->nouts == 1 ? first_not_finite(f, node->outs[0]) : -1;
    double value;
    jx_claim *claim;

    if (at < 0 || !jx_looks_at(node) ||
        !(node->nins ? jx_is_asked_for(f->lint->program, node, 0)
                     : jx_place_is_written(f->lint->program, node->eqn,
                                           node->calls)) ||
        is_left_out(f, node->outs[0], 0) || is_mask(f, node))
        return;
    for (int i = 0; i < node->nins; i++)
        if (first_not_finite(f, node->ins[i]) >= 0)
            return;
    value = f->of[node->outs[0]][at];
    claim = jx_lint_claim(
        f->lint, JX_CODE_STG004, node,
        jx_arena_printf(f->lint->ctx->arena, "`%s` of constants gives %s%s",
                        jx_eqn_name(node->eqn),
                        isnan(value) ? "NaN"
                        : value > 0  ? "inf"
                                     : "-inf",
                        count_of(f, node->outs[0]) == 1
                            ? ""
                            : jx_arena_printf(f->lint->ctx->arena,
                                              ", at element %lld",
                                              (long long)at)));
    if (claim)
        claim->help = "every run computes with it: mend the constant";
}

/* -- STG005 ---------------------------------------------------------------- */

/* Some element is no whole number: no mask, permutation or table of indices. */
static bool has_fractions(const jx_array *array)
{
    size_t size = jx_dtype_of(array->aval->dtype)->bytes;

    for (size_t i = 0; array->data && i + size <= array->bytes; i += size) {
        double x =
            jx_element_real(array->aval->dtype, (const char *)array->data + i);
        if (x != floor(x))
            return true;
    }
    return false;
}

static void look_at_operands(folder *f, const jx_flat_node *node)
{
    for (int i = 0; i < node->nins; i++) {
        int value = jx_shown(f->flat, node->ins[i]);
        const jx_flat_value *v = &f->flat->values.at[value];
        int64_t count;
        jx_buffer text;
        jx_claim *claim;
        if (!v->array || v->array->splat ||
            !jx_dtype_is_float(v->aval->dtype) ||
            !jx_aval_elements(v->aval, &count) || count < LEAST_WEIGHTS ||
            jx_lint_bytes(v->aval) >= NOTE_BYTES || !has_fractions(v->array))
            continue;
        text = jx_ctx_text(f->lint->ctx);
        jx_buffer_printf(&text,
                         "`%s` takes weights that are part of the program: ",
                         jx_eqn_name(node->eqn));
        jx_aval_print(v->aval, &text);
        claim = jx_lint_suspect(f->lint, JX_CODE_STG005, node,
                                jx_arena_take(f->lint->ctx->arena, &text));
        if (claim)
            claim->help =
                "take them as an argument (a default of a parameter that is "
                "not passed is a constant, too): new weights would mean a new "
                "program";
    }
}

bool jx_lint_folding(jx_linter *lint)
{
    folder f = {.lint = lint, .flat = lint->flat};

    f.of = JX_NEW_ARRAY(lint->ctx->arena, f.flat->values.count, const double *);
    if (!f.of)
        return false;
    for (size_t n = 0; n < f.flat->nodes.count; n++) {
        const jx_flat_node *node = &f.flat->nodes.at[n];
        fold(&f, node);
        if (node->live && (node->eqn->prim->id == JX_PRIM_dot_general ||
                           node->eqn->prim->id == JX_PRIM_conv_general_dilated))
            look_at_operands(&f, node);
    }
    for (size_t n = 0; n < f.flat->nodes.count; n++)
        look_at_result(&f, &f.flat->nodes.at[n]);
    return jx_ok(lint->ctx);
}
