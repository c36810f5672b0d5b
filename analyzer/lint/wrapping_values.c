/* wrapping_values.c - what integers that depend on sizes alone lie between. */
#include "analyzer/lint/wrapping.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"
#include "frontend/ir/scope.h"

enum { MOST_NODES = 64 }; /* of what bounds several elements */

static const jx_interval unknown = {NULL, NULL, false, false};

bool jx_wraps(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && jx_dtype_is_integer(aval->dtype) &&
           jx_dtype_of(aval->dtype)->bytes <= 8;
}

int jx_wrap_bits(jx_dtype dtype)
{
    return jx_dtype_of(dtype)->bits;
}

static bool is_signed(jx_dtype dtype)
{
    return jx_dtype_of(dtype)->kind == JX_KIND_INT;
}

jx_int jx_wrap_most(jx_dtype dtype)
{
    return ((jx_int)1 << (jx_wrap_bits(dtype) - is_signed(dtype))) - 1;
}

jx_int jx_wrap_least(jx_dtype dtype)
{
    return is_signed(dtype) ? -jx_wrap_most(dtype) - 1 : 0;
}

bool jx_wraps_along(const jx_flat_node *node)
{
    const jx_eqn *eqn = node->eqn;

    if (!node->nouts || !jx_wraps(eqn->outs[0]->aval))
        return false;
    switch (eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_integer_pow:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_select_n:
    case JX_PRIM_cumsum: return true;
    default:
        return jx_flat_moves(eqn) &&
               (!node->nins ||
                jx_atom_aval(eqn->ins[0])->dtype == eqn->outs[0]->aval->dtype);
    }
}

static bool is_known(jx_interval x)
{
    return x.low && x.high;
}

static bool is_one(jx_interval x)
{
    return x.low == x.high;
}

static bool is_nonnegative(const jx_intervals *in, const jx_dim *dim)
{
    jx_dim_range range = jx_program_bounds(in->lint->program, dim);

    return range.has_low && range.low >= 0;
}

static jx_interval between(const jx_dim *low, const jx_dim *high, bool ends)
{
    return low && high ? (jx_interval){low, high, ends, false} : unknown;
}

static jx_interval evenly(jx_interval x, bool even)
{
    x.even = x.ends && even;
    return x;
}

static jx_interval number(const jx_intervals *in, const unsigned char *bytes,
                          jx_dtype dtype)
{
    const jx_dim *dim =
        jx_dim_int(in->dims, (int64_t)jx_element_integer(dtype, bytes));

    return between(dim, dim, true);
}

static bool is_one_element(const jx_intervals *in, int value)
{
    int64_t count;

    return jx_aval_elements(in->lint->flat->values.at[value].aval, &count) &&
           count == 1;
}

/* The least and the greatest of what is known element by element, if rules of
 * intervals do not say it exactly. */
static void narrow_to_elements(const jx_intervals *in, int value)
{
    jx_interval *to = &in->of[value];
    const jx_dim *low, *high;
    const jx_dim *const *dims;
    int count;

    if (to->ends && !is_one_element(in, value))
        return;
    dims = jx_flat_sizes_of(in->lint->sizes, value, &count);
    low = high = dims ? dims[0] : NULL;
    for (int i = 1; i < count && low && high; i++) {
        if (dims[i] != dims[i - 1]) {
            low = jx_dim_min(in->dims, low, dims[i]);
            high = jx_dim_max(in->dims, high, dims[i]);
        }
        if (low && high && jx_dim_nodes(low) + jx_dim_nodes(high) > MOST_NODES)
            return;
    }
    if (low && high)
        *to = between(low, high, dims[0] == low && dims[count - 1] == high);
}

void jx_interval_of_source(jx_intervals *in, int value)
{
    const jx_flat_value *v = &in->lint->flat->values.at[value];

    if (v->node >= 0 || !jx_wraps(v->aval))
        return;
    if (v->literal && v->literal->dim)
        in->of[value] = between(v->literal->dim, v->literal->dim, true);
    else if (v->literal && !v->literal->array)
        in->of[value] = number(in, v->literal->bits, v->aval->dtype);
    else if (v->array && v->splat && v->array->data &&
             v->array->bytes >= jx_dtype_of(v->aval->dtype)->bytes)
        in->of[value] = number(in, v->array->data, v->aval->dtype);
    narrow_to_elements(in, value);
}

static jx_interval of_iota(const jx_intervals *in, const jx_eqn *eqn)
{
    const jx_p_iota *p = eqn->typed;

    if (!p || p->dimension < 0 || p->dimension >= p->shape.count)
        return unknown;
    return evenly(between(jx_dim_int(in->dims, 0),
                          jx_dim_sub(in->dims, p->shape.at[p->dimension],
                                     jx_dim_int(in->dims, 1)),
                          true),
                  p->shape.count == 1);
}

/* -- one operand --------------------------------------------------------- */

/* The first element stays first and the last one last. */
static bool keeps_ends(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims:
    case JX_PRIM_transpose:
    case JX_PRIM_tile:
    case JX_PRIM_copy: return true;
    default: return false;
    }
}

/* Elements in other places, of the same type or one that holds them too. */
static jx_interval moved(const jx_eqn *eqn, jx_interval x)
{
    x.ends = is_one(x) || (x.ends && keeps_ends(eqn));
    x.even = x.ends && x.even &&
             jx_atom_aval(eqn->ins[0])->rank == eqn->outs[0]->aval->rank;
    return x;
}

/* How many elements a sum adds up for each result, or NULL. */
static const jx_dim *terms_of(const jx_intervals *in, const jx_eqn *eqn)
{
    const jx_aval *aval = jx_atom_aval(eqn->ins[0]);
    const jx_dim *count = jx_dim_int(in->dims, 1);

    if (eqn->prim->id == JX_PRIM_cumsum) {
        int64_t axis = ((const jx_p_cumulative *)eqn->typed)->axis;
        return axis >= 0 && axis < aval->rank ? aval->shape[axis] : NULL;
    }
    const jx_ints axes = ((const jx_p_axes *)eqn->typed)->axes;
    for (int i = 0; i < axes.count; i++) {
        if (axes.at[i] < 0 || axes.at[i] >= aval->rank)
            return NULL;
        count = jx_dim_mul(in->dims, count, aval->shape[axes.at[i]]);
    }
    return count;
}

static jx_interval summed(const jx_intervals *in, const jx_flat_node *node,
                          jx_interval x)
{
    const jx_dim *count = node->eqn->typed ? terms_of(in, node->eqn) : NULL;
    bool running = node->eqn->prim->id == JX_PRIM_cumsum;
    const jx_dim *all;

    if (!count || (running && !is_nonnegative(in, x.low)))
        return unknown;
    if (!running && x.even &&
        ((const jx_p_axes *)node->eqn->typed)->axes.count == 1) {
        all = jx_dim_mul(in->dims, jx_dim_add(in->dims, x.low, x.high), count);
        all = jx_dim_floordiv(in->dims, all, jx_dim_int(in->dims, 2));
        return between(all, all, true);
    }
    return between(running ? x.low : jx_dim_mul(in->dims, x.low, count),
                   jx_dim_mul(in->dims, x.high, count), is_one(x));
}

static jx_interval power_of(const jx_intervals *in, const jx_eqn *eqn,
                            jx_interval x)
{
    const jx_p_integer_pow *p = eqn->typed;

    if (!p || p->y < 0 || (!is_one(x) && !is_nonnegative(in, x.low)))
        return unknown;
    return between(jx_dim_pow(in->dims, x.low, p->y),
                   jx_dim_pow(in->dims, x.high, p->y), x.ends);
}

static jx_interval of_one(const jx_intervals *in, const jx_flat_node *node,
                          jx_interval x)
{
    if (jx_flat_moves(node->eqn))
        return moved(node->eqn, x);
    switch (node->eqn->prim->id) {
    case JX_PRIM_neg:
        return between(jx_dim_neg(in->dims, x.high),
                       jx_dim_neg(in->dims, x.low), is_one(x));
    case JX_PRIM_reduce_sum:
    case JX_PRIM_cumsum: return summed(in, node, x);
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min: return moved(node->eqn, x);
    case JX_PRIM_integer_pow: return power_of(in, node->eqn, x);
    default: return unknown;
    }
}

/* -- two ----------------------------------------------------------------- */

/* A negative number turns what it multiplies around. */
static jx_interval product_of(const jx_intervals *in, jx_interval x,
                              jx_interval y, bool ends)
{
    jx_int k;

    if (is_one(x) && is_one(y))
        return between(jx_dim_mul(in->dims, x.low, y.low),
                       jx_dim_mul(in->dims, x.low, y.low), true);
    if (is_one(x) && jx_dim_is_wide(x.low, &k))
        return product_of(in, y, x, ends);
    if (is_one(y) && jx_dim_is_wide(y.low, &k) && k < 0)
        return between(jx_dim_mul(in->dims, x.high, y.low),
                       jx_dim_mul(in->dims, x.low, y.low), false);
    if (is_one(y) && jx_dim_is_wide(y.low, &k))
        return between(jx_dim_mul(in->dims, x.low, y.low),
                       jx_dim_mul(in->dims, x.high, y.low), ends);
    if (!is_nonnegative(in, x.low) || !is_nonnegative(in, y.low))
        return unknown;
    return between(jx_dim_mul(in->dims, x.low, y.low),
                   jx_dim_mul(in->dims, x.high, y.high), ends);
}

static jx_interval up_to(const jx_intervals *in, const jx_dim *most)
{
    return between(jx_dim_neg(in->dims, most), most, false);
}

/* Towards zero, which is down where nothing is negative. */
static jx_interval quotient_of(const jx_intervals *in, jx_interval x,
                               jx_interval y)
{
    jx_dim_range range = jx_program_bounds(in->lint->program, y.low);

    if (!range.has_low || range.low < 1)
        return unknown;
    if (!is_nonnegative(in, x.low)) /* no farther from zero than before */
        return between(jx_dim_min(in->dims, x.low, jx_dim_int(in->dims, 0)),
                       jx_dim_max(in->dims, x.high, jx_dim_int(in->dims, 0)),
                       false);
    return between(jx_dim_floordiv(in->dims, x.low, y.high),
                   jx_dim_floordiv(in->dims, x.high, y.low),
                   x.ends && is_one(y));
}

static jx_interval remainder_of(const jx_intervals *in, jx_interval x,
                                jx_interval y)
{
    jx_dim_range range = jx_program_bounds(in->lint->program, y.low);

    if (!range.has_low || range.low < 1)
        return unknown;
    if (!is_nonnegative(in, x.low))
        return up_to(in, jx_dim_sub(in->dims, y.high, jx_dim_int(in->dims, 1)));
    if (is_one(x) && is_one(y))
        return between(jx_dim_mod(in->dims, x.low, y.low),
                       jx_dim_mod(in->dims, x.low, y.low), true);
    return between(jx_dim_int(in->dims, 0),
                   jx_dim_sub(in->dims, y.high, jx_dim_int(in->dims, 1)),
                   false);
}

static jx_interval of_two(const jx_intervals *in, jx_prim_id prim,
                          jx_interval x, jx_interval y)
{
    bool ends = x.ends && y.ends;
    bool even = (x.even && is_one(y)) || (y.even && is_one(x));

    switch (prim) {
    case JX_PRIM_add:
    case JX_PRIM_add_any:
        return evenly(between(jx_dim_add(in->dims, x.low, y.low),
                              jx_dim_add(in->dims, x.high, y.high), ends),
                      even);
    case JX_PRIM_sub:
        return evenly(between(jx_dim_sub(in->dims, x.low, y.high),
                              jx_dim_sub(in->dims, x.high, y.low),
                              ends && is_one(y)),
                      x.even);
    case JX_PRIM_mul: return evenly(product_of(in, x, y, ends), even);
    case JX_PRIM_div: return quotient_of(in, x, y);
    case JX_PRIM_rem: return remainder_of(in, x, y);
    case JX_PRIM_max:
        return between(jx_dim_max(in->dims, x.low, y.low),
                       jx_dim_max(in->dims, x.high, y.high), ends);
    case JX_PRIM_min:
        return between(jx_dim_min(in->dims, x.low, y.low),
                       jx_dim_min(in->dims, x.high, y.high), ends);
    default: return unknown;
    }
}

/* `x < y` of values that are never less, as in an index that would count from
 * the end. */
static bool never_holds(const jx_intervals *in, int value)
{
    const jx_flat *flat = in->lint->flat;
    int made = flat->values.at[value].node;
    const jx_flat_node *node = made < 0 ? NULL : &flat->nodes.at[made];
    const jx_dim *least;

    if (node && node->nins == 1 && jx_flat_moves(node->eqn))
        return never_holds(in, node->ins[0]);
    if (!node || node->eqn->prim->id != JX_PRIM_lt)
        return false;
    least = jx_dim_sub(in->dims, in->of[node->ins[0]].low,
                       in->of[node->ins[1]].high);
    return least && is_nonnegative(in, least);
}

/* The cases of a choice: any of them, but where only the first is possible. */
static jx_interval chosen(const jx_intervals *in, const jx_flat_node *node)
{
    jx_interval all = node->nins > 1 ? in->of[node->ins[1]] : unknown;

    if (node->nins > 2 && never_holds(in, node->ins[0]))
        return all;
    for (int i = 2; i < node->nins && is_known(all); i++) {
        jx_interval x = in->of[node->ins[i]];
        all = is_known(x)
                  ? between(jx_dim_min(in->dims, all.low, x.low),
                            jx_dim_max(in->dims, all.high, x.high), false)
                  : unknown;
    }
    return all;
}

void jx_interval_of_node(jx_intervals *in, const jx_flat_node *node)
{
    const jx_eqn *eqn = node->eqn;
    jx_interval x = node->nins ? in->of[node->ins[0]] : unknown;
    jx_interval y = node->nins == 2 ? in->of[node->ins[1]] : unknown;
    jx_interval *to = &in->of[node->outs[0]];

    if (eqn->prim->id == JX_PRIM_dim_as_value && eqn->typed) {
        const jx_dim *dim = ((const jx_p_dim_as_value *)eqn->typed)->dim;
        *to = between(dim, dim, true);
    } else if (eqn->prim->id == JX_PRIM_iota)
        *to = of_iota(in, eqn);
    else if (eqn->prim->id == JX_PRIM_sign &&
             is_signed(eqn->outs[0]->aval->dtype))
        *to = up_to(in, jx_dim_int(in->dims, 1));
    else if (eqn->prim->id == JX_PRIM_convert_element_type &&
             jx_atom_aval(eqn->ins[0])->dtype == JX_BOOL)
        *to = between(jx_dim_int(in->dims, 0), jx_dim_int(in->dims, 1), false);
    else if (eqn->prim->id == JX_PRIM_select_n)
        *to = chosen(in, node);
    else if (node->nins == 1 && is_known(x))
        *to = of_one(in, node, x);
    else if (node->nins == 2 && is_known(x) && is_known(y))
        *to = of_two(in, eqn->prim->id, x, y);
    narrow_to_elements(in, node->outs[0]);
}
