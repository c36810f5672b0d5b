/* discharge_path.c - parts of an array: read, written, added to.
 *
 * A path is a row of steps.  Reading goes forward; writing goes forward, keeps
 * what there is at each step, and comes back:
 *
 *     held --step--> part --step--> part of it
 *     held' <-write- part' <-write- value
 *
 * How an indexer reads says what happens out of bounds, so it is chosen as
 * JAX does: constants by `slice` (which must fit), what has scalars and no
 * strides by `dynamic_slice` (negative ones count from the end, then it is
 * moved inside), all else element by element (a read is clamped, a write
 * outside is dropped).
 */
#include "analyzer/transform/discharge_parts.h"
#include "frontend/ir/element.h"

static const jx_atom nothing = {NULL, NULL};

static jx_arena *arena_of(const jx_discharging *b)
{
    return b->d->ctx->arena;
}

/* One step with the operands that it takes, in their order. */
typedef struct indexer {
    const jx_ref_step *step;
    const jx_atom *at; /* per axis: its index, or the start of its slice */
    const jx_aval *of; /* what is indexed */
} indexer;

/* ---- what can be done */

static int operands_of(const jx_ref_step *step)
{
    int count = 0;

    for (int i = 0; i < step->rank; i++)
        count += step->axes[i].slice
                     ? !step->axes[i].start + !step->axes[i].size
                     : 1;
    return count;
}

/* Integers alone: JAX counts booleans as a mask, whose size is a value. */
static bool is_index(const jx_aval *aval)
{
    jx_dtype_kind kind = aval->kind == JX_AVAL_ARRAY
                             ? jx_dtype_of(aval->dtype)->kind
                             : JX_KIND_FLOAT;

    return kind == JX_KIND_INT || kind == JX_KIND_UINT;
}

static bool can_index(const jx_ref_step *step, const jx_atom *operands)
{
    int next = 0;

    for (int i = 0; i < step->rank; i++) {
        const jx_axis_index *axis = &step->axes[i];
        if (axis->slice && (!axis->size || !axis->stride))
            return false;
        if (axis->slice && axis->start)
            continue;
        const jx_aval *aval = jx_atom_aval(operands[next++]);
        if (!is_index(aval) || (axis->slice && aval->rank))
            return false;
    }
    return true;
}

bool jx_discharge_can(const jx_discharging *b, const jx_eqn *eqn,
                      const jx_ref_path *path)
{
    int next = jx_ref_path_at(eqn->prim), indexers = 0;
    bool adds = eqn->prim->id == JX_PRIM_addupdate;

    (void)b;
    if (path->operands < 0)
        return false;
    for (int i = 0; i < path->count; i++) {
        const jx_ref_step *step = &path->steps[i];
        indexers += step->kind == JX_STEP_INDEX;
        if (step->kind == JX_STEP_TRANSPOSE || step->kind == JX_STEP_OTHER ||
            (adds && (step->kind == JX_STEP_BITCAST || indexers > 1)))
            return false;
        if (step->kind != JX_STEP_INDEX)
            continue;
        if (!can_index(step, eqn->ins + next))
            return false;
        next += operands_of(step);
    }
    return true;
}

/* ---- indexers */

static bool check_shape(jx_discharging *b, const jx_ref_step *step,
                        const jx_aval *of)
{
    bool fits = step->shape.count == of->rank;

    for (int i = 0; fits && i < of->rank; i++)
        fits = step->shape.at[i] == of->shape[i];
    return fits ||
           jx_discharge_fail(b, "an indexer for another shape than that "
                                "of what it indexes");
}

/* Slices of numbers, which JAX has checked when it traced. */
static bool check_slice(jx_discharging *b, const jx_axis_index *axis,
                        const jx_dim *size, int i)
{
    int64_t of, start, count, last;

    if (!axis->slice || !axis->start || !jx_dim_is_int(size, &of) ||
        !jx_dim_is_int(axis->start, &start) ||
        !jx_dim_is_int(axis->size, &count))
        return true;
    if (count < 0 ||
        __builtin_mul_overflow(count ? count - 1 : 0, axis->stride, &last) ||
        __builtin_add_overflow(last, start, &last) || last >= of + !count)
        return jx_discharge_fail(b,
                                 "axis %d: a slice of %lld elements from "
                                 "%lld on, stride %lld, of %lld",
                                 i, (long long)count, (long long)start,
                                 (long long)axis->stride, (long long)of);
    return true;
}

static bool check_indices(jx_discharging *b, const indexer *x)
{
    const jx_dim_list *shape = &x->step->index_shape;

    for (int i = 0; i < x->step->rank; i++) {
        const jx_aval *aval;
        if (x->step->axes[i].slice)
            continue;
        aval = jx_atom_aval(x->at[i]);
        bool fits = aval->rank == 0 || aval->rank == shape->count;
        for (int k = 0; fits && k < aval->rank; k++)
            fits = aval->shape[k] == shape->at[k];
        if (!fits)
            return jx_discharge_fail(b,
                                     "axis %d: indices of another shape "
                                     "than the indexer's",
                                     i);
    }
    return true;
}

/* False with a failure; *operands moves on. */
static bool begin_index(jx_discharging *b, const jx_ref_step *step,
                        jx_atom held, const jx_atom **operands, indexer *x)
{
    jx_atom *at = JX_NEW_ARRAY(arena_of(b), step->rank, jx_atom);

    if (!at || !jx_is_made(held))
        return false;
    *x = (indexer){step, at, jx_atom_aval(held)};
    if (!check_shape(b, step, x->of))
        return false;
    for (int i = 0; i < step->rank; i++) {
        const jx_axis_index *axis = &step->axes[i];
        if (!check_slice(b, axis, x->of->shape[i], i))
            return false;
        at[i] = axis->slice && axis->start ? jx_discharge_size(b, axis->start)
                                           : *(*operands)++;
        if (!jx_is_made(at[i]))
            return false;
    }
    return check_indices(b, x);
}

static bool is_all(const indexer *x)
{
    for (int i = 0; i < x->step->rank; i++) {
        const jx_axis_index *axis = &x->step->axes[i];
        int64_t start;
        if (!axis->slice || !axis->start ||
            !jx_dim_is_int(axis->start, &start) || start != 0 ||
            axis->size != x->of->shape[i])
            return false;
    }
    return true;
}

static bool is_constant(const indexer *x)
{
    for (int i = 0; i < x->step->rank; i++) {
        const jx_axis_index *axis = &x->step->axes[i];
        int64_t number;
        if (!axis->slice || !axis->start ||
            !jx_dim_is_int(axis->start, &number) ||
            !jx_dim_is_int(axis->size, &number))
            return false;
    }
    return true;
}

static bool is_window(const indexer *x)
{
    for (int i = 0; i < x->step->rank; i++)
        if (x->step->axes[i].slice ? x->step->axes[i].stride > 1
                                   : jx_atom_aval(x->at[i])->rank > 0)
            return false;
    return true;
}

/* ---- constants */

static jx_atom read_constant(jx_discharging *b, const indexer *x, jx_atom held)
{
    jx_params p = {.program = b->d->program};
    jx_dims *dims = b->d->program->dims;
    int rank = x->step->rank;
    bool strided = false;
    const jx_dim **starts = JX_NEW_ARRAY(arena_of(b), rank, const jx_dim *);
    const jx_dim **limits = JX_NEW_ARRAY(arena_of(b), rank, const jx_dim *);
    const jx_dim **strides = JX_NEW_ARRAY(arena_of(b), rank, const jx_dim *);
    const jx_dim **shape = JX_NEW_ARRAY(arena_of(b), rank, const jx_dim *);

    if (!starts || !limits || !strides || !shape)
        return nothing;
    for (int i = 0; i < rank; i++) {
        const jx_axis_index *axis = &x->step->axes[i];
        int64_t start = jx_dim_value(axis->start);
        int64_t size = jx_dim_value(axis->size);
        starts[i] = axis->start;
        shape[i] = axis->size;
        limits[i] = jx_dim_int(
            dims, size ? start + (size - 1) * axis->stride + 1 : start);
        strides[i] = jx_dim_int(dims, axis->stride);
        strided |= axis->stride > 1;
    }
    jx_put_dims(&p, "start_indices", rank, starts);
    jx_put_dims(&p, "limit_indices", rank, limits);
    if (strided)
        jx_put_dims(&p, "strides", rank, strides);
    else
        jx_put_none(&p, "strides");
    return jx_discharge_emit(
        b, JX_PRIM_slice, 1, &held, &p,
        jx_discharge_aval(b, x->of, x->of->dtype, rank, shape));
}

/* ---- windows */

/* The number that a scalar literal is. */
static bool is_number(jx_atom atom, int64_t *value)
{
    const jx_literal *l = atom.literal;
    const jx_dtype_info *info = l ? jx_dtype_of(l->aval->dtype) : NULL;

    if (!l || l->dim || l->array || l->aval->rank || info->bits < 8 ||
        (info->kind != JX_KIND_INT && info->kind != JX_KIND_UINT))
        return false;
    *value = (int64_t)jx_element_integer(l->aval->dtype, l->bits);
    return true;
}

/* Indices below 0 count from the end.  (As i32, whatever they were.) */
static jx_atom from_end(jx_discharging *b, jx_atom index, const jx_dim *size)
{
    jx_dims *dims = b->d->program->dims;
    const jx_aval *aval, *truth;
    jx_atom below, cases[3];
    int64_t number, of;

    if (is_number(index, &number) && number >= INT32_MIN &&
        number <= INT32_MAX) {
        if (number >= 0)
            return jx_discharge_number(b, JX_I32, number);
        if (jx_dim_is_int(size, &of))
            return jx_discharge_number(b, JX_I32, number + of);
    }
    index = jx_discharge_convert(b, index, JX_I32, false);
    if (!jx_is_made(index) || !dims)
        return nothing;
    aval = jx_atom_aval(index);
    truth = jx_discharge_aval(b, aval, JX_BOOL, aval->rank, aval->shape);
    below = jx_discharge_two(b, JX_PRIM_lt, index,
                             jx_discharge_number(b, JX_I32, 0), truth);
    cases[0] = below;
    cases[1] = index;
    cases[2] = jx_discharge_two(b, JX_PRIM_add, index,
                                jx_discharge_size(b, size), aval);
    return jx_discharge_emit(b, JX_PRIM_select_n, 3, cases, NULL, aval);
}

/* The operands of a dynamic_slice behind the array: where it begins. */
static bool put_starts(jx_discharging *b, const indexer *x, jx_atom *to)
{
    for (int i = 0; i < x->step->rank; i++) {
        to[i] = from_end(b, x->at[i], x->of->shape[i]);
        if (!jx_is_made(to[i]))
            return false;
    }
    return true;
}

static const jx_dim *const *window_sizes(jx_discharging *b, const indexer *x,
                                         bool squeezed, int *rank)
{
    const jx_dim **to =
        JX_NEW_ARRAY(arena_of(b), x->step->rank, const jx_dim *);

    *rank = 0;
    for (int i = 0; to && i < x->step->rank; i++)
        if (x->step->axes[i].slice)
            to[(*rank)++] = x->step->axes[i].size;
        else if (!squeezed)
            to[(*rank)++] = jx_dim_int(b->d->program->dims, 1);
    return to;
}

static jx_atom read_window(jx_discharging *b, const indexer *x, jx_atom held)
{
    jx_params p = {.program = b->d->program}, q = p;
    int rank, left, nsqueezed = 0;
    const jx_dim *const *sizes = window_sizes(b, x, false, &rank);
    const jx_dim *const *kept = window_sizes(b, x, true, &left);
    jx_atom *ins = JX_NEW_ARRAY(arena_of(b), rank + 1, jx_atom), window;
    int64_t *squeezed = JX_NEW_ARRAY(arena_of(b), rank, int64_t);

    if (!sizes || !kept || !ins || !squeezed || !put_starts(b, x, ins + 1))
        return nothing;
    ins[0] = held;
    jx_put_dims(&p, "slice_sizes", rank, sizes);
    window = jx_discharge_emit(
        b, JX_PRIM_dynamic_slice, rank + 1, ins, &p,
        jx_discharge_aval(b, x->of, x->of->dtype, rank, sizes));
    for (int i = 0; i < rank; i++)
        if (!x->step->axes[i].slice)
            squeezed[nsqueezed++] = i;
    if (!nsqueezed || !jx_is_made(window))
        return window;
    jx_put_ints(&q, "dimensions", (jx_ints){nsqueezed, squeezed});
    return jx_discharge_emit(
        b, JX_PRIM_squeeze, 1, &window, &q,
        jx_discharge_aval(b, x->of, x->of->dtype, left, kept));
}

static jx_atom write_window(jx_discharging *b, const indexer *x, jx_atom held,
                            jx_atom value)
{
    int rank, kept = 0;
    const jx_dim *const *sizes = window_sizes(b, x, false, &rank);
    jx_atom *ins = JX_NEW_ARRAY(arena_of(b), rank + 2, jx_atom);
    int64_t *axes = JX_NEW_ARRAY(arena_of(b), rank, int64_t);

    if (!sizes || !ins || !axes || !put_starts(b, x, ins + 2))
        return nothing;
    for (int i = 0; i < rank; i++)
        if (x->step->axes[i].slice)
            axes[kept++] = i;
    ins[0] = held;
    ins[1] = kept == rank ? value
                          : jx_discharge_broadcast(b, value, rank, sizes, axes);
    return jx_discharge_emit(b, JX_PRIM_dynamic_update_slice, rank + 2, ins,
                             NULL, x->of);
}

/* ---- element by element */

/* The order of axes with those that are indexed first, unless these are
 * neighbours and stay where they are. */
static bool moved(jx_discharging *b, const indexer *x, jx_ints *order)
{
    int64_t *at = JX_NEW_ARRAY(arena_of(b), x->step->rank, int64_t);
    int first = -1, last = -1, count = 0, next = 0;

    for (int i = 0; i < x->step->rank; i++)
        if (!x->step->axes[i].slice) {
            first = first < 0 ? i : first;
            last = i;
            count++;
        }
    if (!at || last - first + 1 == count || count == 0)
        return false;
    for (int slices = 0; slices < 2; slices++)
        for (int i = 0; i < x->step->rank; i++)
            if (x->step->axes[i].slice == slices)
                at[next++] = i;
    *order = (jx_ints){next, at};
    return true;
}

/* The indexer of the array whose axes have been moved. */
static bool move(jx_discharging *b, jx_ints order, indexer *x,
                 jx_ref_step *step, jx_atom held)
{
    int rank = x->step->rank;
    jx_axis_index *axes = JX_NEW_ARRAY(arena_of(b), rank, jx_axis_index);
    jx_atom *at = JX_NEW_ARRAY(arena_of(b), rank, jx_atom);

    if (!axes || !at || !jx_is_made(held))
        return false;
    for (int i = 0; i < rank; i++) {
        axes[i] = x->step->axes[order.at[i]];
        at[i] = x->at[order.at[i]];
    }
    *step = *x->step;
    step->axes = axes;
    *x = (indexer){step, at, jx_atom_aval(held)};
    return true;
}

/* The shape of the part: slices, and the indices where the first of them is. */
static const jx_dim **part_shape(jx_discharging *b, const indexer *x, int *rank,
                                 int *first)
{
    const jx_dim_list *shape = &x->step->index_shape;
    const jx_dim **to = JX_NEW_ARRAY(
        arena_of(b), x->step->rank + shape->count + 1, const jx_dim *);

    *rank = 0;
    *first = -1;
    for (int i = 0; to && i < x->step->rank; i++) {
        if (x->step->axes[i].slice) {
            to[(*rank)++] = x->step->axes[i].size;
            continue;
        }
        if (*first >= 0)
            continue;
        *first = *rank;
        for (int k = 0; k < shape->count; k++)
            to[(*rank)++] = shape->at[k];
    }
    return to;
}

/* The shape of the part as it is read. */
typedef struct indexed {
    int rank;
    const jx_dim *const *at; /* NULL without memory */
} indexed;

static indexed indexed_shape(jx_discharging *b, const indexer *x)
{
    const jx_dim_list *shape = &x->step->index_shape;
    int rank, first, next = 0;
    jx_ints order;
    const jx_dim **to = part_shape(b, x, &rank, &first);

    if (!to || !moved(b, x, &order))
        return (indexed){rank, to};
    for (int k = 0; k < shape->count; k++)
        to[next++] = shape->at[k];
    for (int i = 0; i < x->step->rank; i++)
        if (x->step->axes[i].slice)
            to[next++] = x->step->axes[i].size;
    return (indexed){next, to};
}

/* start, start + stride, ... as i32 */
static jx_atom range_of(jx_discharging *b, const jx_axis_index *axis,
                        jx_atom start)
{
    jx_params p = {.program = b->d->program};
    const jx_aval *aval =
        jx_aval_array(&b->d->program->avals, JX_I32, false, 1, &axis->size);
    const jx_dim *const *size = &axis->size;
    jx_atom range;
    int64_t first;

    jx_put_int(&p, "dimension", 0);
    jx_put_dtype(&p, "dtype", JX_I32);
    jx_put_dims(&p, "shape", 1, size);
    jx_put_none(&p, "sharding");
    range = jx_discharge_emit(b, JX_PRIM_iota, 0, NULL, &p, aval);
    if (axis->stride > 1)
        range = jx_discharge_two(b, JX_PRIM_mul, range,
                                 jx_discharge_number(b, JX_I32, axis->stride),
                                 aval);
    if (axis->start && jx_dim_is_int(axis->start, &first) && first == 0)
        return range;
    return jx_discharge_two(b, JX_PRIM_add, range,
                            jx_discharge_convert(b, start, JX_I32, false),
                            aval);
}

/* The index along one axis for each element of the part, in a shape that has
 * one more axis, of one. */
static jx_atom index_of(jx_discharging *b, const indexer *x, int axis,
                        int first, int rank, const jx_dim *const *shape)
{
    const jx_axis_index *how = &x->step->axes[axis];
    int count = x->step->index_shape.count, before = 0;
    int64_t *dims = JX_NEW_ARRAY(arena_of(b), rank + 1, int64_t);
    bool passed = false;
    int64_t begin;
    jx_atom index;

    if (!dims)
        return nothing;
    for (int i = 0; i < axis; i++) {
        before += x->step->axes[i].slice;
        passed |= !x->step->axes[i].slice;
    }
    if (how->slice) {
        index = range_of(b, how, x->at[axis]);
        dims[0] = before + (passed ? count : 0);
    } else {
        index = x->at[axis];
        for (int k = 0; k < count; k++)
            dims[k] = first + k;
    }
    if (!how->slice || !how->start || !jx_dim_is_int(how->start, &begin) ||
        begin < 0)
        index = from_end(b, index, x->of->shape[axis]);
    return jx_discharge_broadcast(b, index, rank + 1, shape, dims);
}

/* All of them side by side: the operand of a gather. */
static jx_atom indices_of(jx_discharging *b, const indexer *x, int first,
                          int rank, const jx_dim **shape)
{
    jx_params p = {.program = b->d->program};
    int n = x->step->rank;
    const jx_dim **joined = JX_NEW_ARRAY(arena_of(b), rank + 1, const jx_dim *);
    jx_atom *parts = JX_NEW_ARRAY(arena_of(b), n, jx_atom);

    shape[rank] = jx_dim_int(b->d->program->dims, 1);
    if (!joined || !parts || n == 0)
        return nothing;
    for (int i = 0; i < rank; i++)
        joined[i] = shape[i];
    joined[rank] = jx_dim_int(b->d->program->dims, n);
    for (int i = 0; i < n; i++)
        parts[i] = index_of(b, x, i, first, rank, shape);
    if (n == 1 || !jx_is_made(parts[0]))
        return parts[0];
    jx_put_int(&p, "dimension", rank);
    return jx_discharge_emit(
        b, JX_PRIM_concatenate, n, parts, &p,
        jx_discharge_aval(b, jx_atom_aval(parts[0]), JX_I32, rank + 1, joined));
}

static void put_mode(jx_params *p, const char *mode)
{
    jx_put_bool(p, "indices_are_sorted", false);
    jx_put_bool(p, "unique_indices", false);
    jx_put_enum(p, "mode", mode);
}

/* 0, 1, ... */
static jx_ints counted(jx_discharging *b, int count)
{
    int64_t *at = JX_NEW_ARRAY(arena_of(b), count, int64_t);

    for (int i = 0; at && i < count; i++)
        at[i] = i;
    return (jx_ints){at ? count : 0, at};
}

static jx_atom read_elements(jx_discharging *b, indexer x, jx_atom held)
{
    jx_ints all = counted(b, x.step->rank), none = {0, NULL}, order;
    const jx_gather_dims dims = {none, all, all, none, none};
    const jx_dim **ones = JX_NEW_ARRAY(arena_of(b), all.count, const jx_dim *);
    jx_params p = {.program = b->d->program};
    jx_ref_step step;
    int rank, first;

    if (moved(b, &x, &order)) {
        held = jx_discharge_transpose(b, held, order);
        if (!move(b, order, &x, &step, held))
            return nothing;
    }
    const jx_dim **shape = part_shape(b, &x, &rank, &first);
    if (!shape || !ones)
        return nothing;
    jx_atom ins[] = {held, indices_of(b, &x, first, rank, shape)};
    for (int i = 0; i < all.count; i++)
        ones[i] = jx_dim_int(b->d->program->dims, 1);
    jx_put_gather_dims(&p, &dims);
    jx_put_dims(&p, "slice_sizes", all.count, ones);
    jx_put_none(&p, "fill_value");
    put_mode(&p, "GatherScatterMode.PROMISE_IN_BOUNDS");
    return jx_discharge_emit(
        b, JX_PRIM_gather, 2, ins, &p,
        jx_discharge_aval(b, x.of, x.of->dtype, rank, shape));
}

static jx_ints inverse(jx_discharging *b, jx_ints order)
{
    int64_t *at = JX_NEW_ARRAY(arena_of(b), order.count, int64_t);

    for (int i = 0; at && i < order.count; i++)
        at[order.at[i]] = i;
    return (jx_ints){order.count, at};
}

/* `how` is a scatter: it replaces or adds. */
static jx_atom write_elements(jx_discharging *b, indexer x, jx_atom held,
                              jx_atom value, jx_prim_id how)
{
    jx_ints all = counted(b, x.step->rank), none = {0, NULL}, order, back;
    const jx_scatter_dims dims = {none, all, all, none, none};
    jx_params p = {.program = b->d->program};
    jx_ref_step step;
    int rank, first;
    bool turned = moved(b, &x, &order);

    if (turned) {
        held = jx_discharge_transpose(b, held, order);
        if (!move(b, order, &x, &step, held))
            return nothing;
    }
    const jx_dim **shape = part_shape(b, &x, &rank, &first);
    if (!shape)
        return nothing;
    jx_atom ins[] = {held, indices_of(b, &x, first, rank, shape), value};
    jx_put_scatter_dims(&p, &dims);
    jx_put_none(&p, "update_jaxpr");
    put_mode(&p, "GatherScatterMode.FILL_OR_DROP");
    held = jx_discharge_emit(b, how, 3, ins, &p, x.of);
    if (!turned)
        return held;
    back = inverse(b, order);
    return back.at ? jx_discharge_transpose(b, held, back) : nothing;
}

/* ---- one indexer */

/* `reads` alone: what is read beside a write is a window, as JAX has it. */
static jx_atom read_index(jx_discharging *b, const indexer *x, jx_atom held,
                          bool alone)
{
    if (is_all(x))
        return held;
    if (alone && is_constant(x))
        return read_constant(b, x, held);
    return is_window(x) ? read_window(b, x, held) : read_elements(b, *x, held);
}

static jx_atom write_index(jx_discharging *b, const indexer *x, jx_atom held,
                           jx_atom value)
{
    if (is_all(x))
        return value;
    return is_window(x) ? write_window(b, x, held, value)
                        : write_elements(b, *x, held, value, JX_PRIM_scatter);
}

static jx_atom add_index(jx_discharging *b, const indexer *x, jx_atom held,
                         jx_atom value)
{
    jx_atom before;

    if (!is_all(x) && !is_window(x))
        return write_elements(b, *x, held, value, JX_PRIM_scatter_add);
    before = read_index(b, x, held, false);
    if (!jx_is_made(before))
        return nothing;
    return write_index(
        b, x, held,
        jx_discharge_two(b, JX_PRIM_add, before, value, jx_atom_aval(before)));
}

/* ---- bits of another dtype, of the same width: where widths differ, JAX folds
 * the second axis from the end into the elements */

static const jx_dim *const *cast_shape(jx_discharging *b, const jx_aval *in,
                                       int from, int to)
{
    const jx_dim **shape = JX_NEW_ARRAY(arena_of(b), in->rank, const jx_dim *);
    jx_dims *dims = b->d->program->dims;

    for (int i = 0; shape && i < in->rank; i++)
        shape[i] = in->shape[i];
    if (shape && in->rank >= 2)
        shape[in->rank - 2] =
            from > to ? jx_dim_mul(dims, in->shape[in->rank - 2],
                                   jx_dim_int(dims, from / to))
                      : jx_dim_floordiv(dims, in->shape[in->rank - 2],
                                        jx_dim_int(dims, to / from));
    return shape;
}

static jx_atom cast(jx_discharging *b, jx_atom held, jx_dtype dtype)
{
    const jx_aval *in = jx_is_made(held) ? jx_atom_aval(held) : NULL;
    int from = in ? jx_dtype_of(in->dtype)->bits : 0;
    int to = jx_dtype_of(dtype)->bits, ratio;
    const jx_dim *const *shape;
    jx_ints order;
    int64_t *at;

    if (from == to)
        return jx_discharge_bitcast(b, held, dtype);
    if (!in || in->rank < 2 || !from || !to || (from % to && to % from)) {
        jx_discharge_fail(b, "a bitcast between dtypes of other widths, of an "
                             "array without a second axis from the end");
        return nothing;
    }
    ratio = from > to ? from / to : to / from;
    shape = cast_shape(b, in, from, to);
    order = counted(b, in->rank + 1);
    at = (int64_t *)(uintptr_t)order.at;
    if (!shape || !order.count)
        return nothing;
    /* [.., m, n] in bits: [.., m, n, r] -> [.., m, r, n], and back */
    at[in->rank - 1] = in->rank;
    at[in->rank] = in->rank - 1;
    const jx_dim **wide =
        JX_NEW_ARRAY(arena_of(b), in->rank + 1, const jx_dim *);
    if (!wide)
        return nothing;
    for (int i = 0; i < in->rank; i++)
        wide[i] = in->shape[i];
    const jx_dim *parts = jx_dim_int(b->d->program->dims, ratio);
    jx_params p = {.program = b->d->program};
    jx_put_dtype(&p, "new_dtype", dtype);
    if (from > to) {
        wide[in->rank] = parts;
        held = jx_discharge_emit(
            b, JX_PRIM_bitcast_convert_type, 1, &held, &p,
            jx_discharge_aval(b, in, dtype, in->rank + 1, wide));
        return jx_discharge_reshape(b, jx_discharge_transpose(b, held, order),
                                    in->rank, shape);
    }
    wide[in->rank - 2] = shape[in->rank - 2];
    wide[in->rank - 1] = parts;
    wide[in->rank] = in->shape[in->rank - 1];
    held = jx_discharge_reshape(b, held, in->rank + 1, wide);
    held = jx_discharge_transpose(b, held, order);
    return jx_discharge_emit(b, JX_PRIM_bitcast_convert_type, 1, &held, &p,
                             jx_discharge_aval(b, in, dtype, in->rank, shape));
}

/* ---- paths */

static jx_atom step_read(jx_discharging *b, const jx_ref_step *step,
                         const indexer *x, jx_atom held, bool alone)
{
    switch (step->kind) {
    case JX_STEP_INDEX: return read_index(b, x, held, alone);
    case JX_STEP_RESHAPE:
        return jx_discharge_reshape(b, held, step->shape.count, step->shape.at);
    case JX_STEP_BITCAST: return cast(b, held, step->dtype);
    default: return nothing;
    }
}

/* What is read at one step; the indexer is kept for the way back. */
static jx_atom forward(jx_discharging *b, const jx_ref_step *step, jx_atom held,
                       const jx_atom **operands, indexer *x, bool alone)
{
    bool begun = jx_is_made(held) && (step->kind != JX_STEP_INDEX ||
                                      begin_index(b, step, held, operands, x));

    return begun ? step_read(b, step, x, held, alone) : nothing;
}

/* The whole that a part, `value`, belongs to. */
static jx_atom backward(jx_discharging *b, const jx_ref_step *step,
                        jx_atom held, const indexer *x, jx_atom value)
{
    const jx_aval *aval = jx_is_made(held) ? jx_atom_aval(held) : NULL;

    if (!aval)
        return nothing;
    switch (step->kind) {
    case JX_STEP_INDEX: return write_index(b, x, held, value);
    case JX_STEP_RESHAPE:
        return jx_discharge_reshape(b, value, aval->rank, aval->shape);
    case JX_STEP_BITCAST: return cast(b, value, aval->dtype);
    default: return nothing;
    }
}

jx_atom jx_discharge_read(jx_discharging *b, const jx_ref_path *path,
                          jx_atom held, const jx_atom *operands)
{
    indexer x;

    for (int i = 0; i < path->count; i++)
        held = forward(b, &path->steps[i], held, &operands, &x, true);
    return held;
}

/* The type of the part that one step leads to. */
static const jx_aval *part_aval(jx_discharging *b, const jx_ref_step *step,
                                const indexer *x, const jx_aval *of)
{
    indexed part;

    switch (step->kind) {
    case JX_STEP_INDEX:
        part = indexed_shape(b, x);
        return part.at ? jx_discharge_aval(b, of, of->dtype, part.rank, part.at)
                       : NULL;
    case JX_STEP_RESHAPE:
        return jx_discharge_aval(b, of, of->dtype, step->shape.count,
                                 step->shape.at);
    case JX_STEP_BITCAST:
        return jx_discharge_aval(b, of, step->dtype, of->rank,
                                 cast_shape(b, of, jx_dtype_of(of->dtype)->bits,
                                            jx_dtype_of(step->dtype)->bits));
    default: return NULL;
    }
}

jx_atom jx_discharge_write(jx_discharging *b, const jx_ref_path *path,
                           jx_atom held, const jx_atom *operands, jx_atom value,
                           jx_atom *before)
{
    int last = path->count - 1;
    jx_atom *at = JX_NEW_ARRAY(arena_of(b), path->count + 1, jx_atom);
    indexer *x = JX_NEW_ARRAY(arena_of(b), path->count + 1, indexer);
    const jx_aval *aval;

    if (!at || !x || !jx_is_made(held))
        return nothing;
    at[0] = held;
    for (int i = 0; i < last; i++)
        at[i + 1] = forward(b, &path->steps[i], at[i], &operands, &x[i], false);
    if (last < 0) {
        aval = jx_atom_aval(held);
    } else {
        if (!jx_is_made(at[last]) ||
            (path->steps[last].kind == JX_STEP_INDEX &&
             !begin_index(b, &path->steps[last], at[last], &operands,
                          &x[last])))
            return nothing;
        aval =
            part_aval(b, &path->steps[last], &x[last], jx_atom_aval(at[last]));
        if (before)
            at[path->count] =
                step_read(b, &path->steps[last], &x[last], at[last], false);
    }
    if (before)
        *before = at[path->count];
    value = aval ? jx_discharge_as(b, value, aval) : nothing;
    for (int i = last; i >= 0; i--)
        value = backward(b, &path->steps[i], at[i], &x[i], value);
    return value;
}

/* The value in the shape of what the indexer gives, from that of what the
 * reshapes behind it make of that. */
static jx_atom unshaped(jx_discharging *b, const jx_ref_path *path, int k,
                        const jx_aval *part, jx_atom value)
{
    const jx_ref_step *last = &path->steps[path->count - 1];

    if (!part || k + 1 == path->count)
        return part ? jx_discharge_as(b, value, part) : nothing;
    value =
        jx_discharge_as(b, value,
                        jx_discharge_aval(b, part, part->dtype,
                                          last->shape.count, last->shape.at));
    return jx_discharge_reshape(b, value, part->rank, part->shape);
}

/* Reshapes before and behind one indexer, or none. */
jx_atom jx_discharge_add(jx_discharging *b, const jx_ref_path *path,
                         jx_atom held, const jx_atom *operands, jx_atom value)
{
    jx_ref_path before = *path;
    jx_atom base;
    indexer x;
    int k = 0;

    while (k < path->count && path->steps[k].kind != JX_STEP_INDEX)
        k++;
    before.count = k;
    base = jx_discharge_read(b, &before, held, NULL);
    if (!jx_is_made(base))
        return nothing;
    if (k == path->count) {
        value = jx_discharge_as(b, value, jx_atom_aval(base));
        value =
            jx_discharge_two(b, JX_PRIM_add, base, value, jx_atom_aval(base));
    } else {
        if (!begin_index(b, &path->steps[k], base, &operands, &x))
            return nothing;
        value = unshaped(b, path, k,
                         part_aval(b, &path->steps[k], &x, jx_atom_aval(base)),
                         value);
        value = add_index(b, &x, base, value);
    }
    return jx_discharge_write(b, &before, held, NULL, value, NULL);
}
