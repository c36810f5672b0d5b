/* watch_index.c - see watch.h: what equations make of their indices. */
#include "runtime/watch.h"

#include "frontend/base/assert.h"
#include "frontend/base/intern.h"
#include "frontend/ir/params.h"
#include "runtime/elementwise.h"
#include "runtime/host.h"
#include "runtime/kernels/index.h"
#include "runtime/plan_impl.h"
#include "runtime/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Data of the kernel. */
typedef struct indexed {
    jx_watch *to; /* NULL: the run notices */
    const jx_eqn *eqn;
    bool chooses; /* a predicate, two results, result */
    bool slices;  /* operand, (update,) a start for each axis, result */
    /* operand, indices, updates, result; else operand, indices, result */
    bool updates;
    bool clamps; /* low, indices of the updates of `eqn`, high, result */
    bool sets;   /* ... that replace what is there */
    bool unique, sorted;
    jx_gather_mode mode;
    jx_ints map; /* which axis a component of an index is for */
    /* axes of the indices that are axes of the operand as well */
    jx_ints paired;
    /* axes of the result or the updates that are not of the indices */
    jx_ints windows;
    int64_t most[JX_MAX_RANK]; /* by component */
} indexed;

/* The one that is made, or NULL. */
static jx_misuse *tell(const indexed *d, jx_misuse_kind kind, int axis,
                       int64_t index, int64_t most)
{
    jx_watch *to = d->to;

    for (int i = 0; i < to->nmisuses; i++)
        if (to->misuses[i].eqn == d->eqn && to->misuses[i].kind == kind)
            return NULL;
    if (to->nmisuses == JX_WATCHED_ROOTS)
        return NULL;
    to->misuses[to->nmisuses] = (jx_misuse){.eqn = d->eqn,
                                            .kind = kind,
                                            .axis = axis,
                                            .index = index,
                                            .most = most};
    return &to->misuses[to->nmisuses++];
}

/* -- changing what came from outside --------------------------------------- */

/* Another number. */
static void change(jx_dtype dtype, char *at)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    double values[2] = {0};
    char before[16];

    JX_ASSERT(size <= sizeof before);
    memcpy(before, at, size);
    if (jx_dtype_of(dtype)->kind == JX_KIND_KEY || dtype == JX_BOOL) {
        *at ^= 1;
    } else if (jx_dtype_is_complex(dtype)) {
        jx_convert(dtype, JX_C128, at, values, 1);
        values[0] = isfinite(values[0]) ? values[0] * 1.5 + 1 : 1;
        jx_convert(JX_C128, dtype, values, at, 1);
    } else {
        jx_convert(dtype, JX_F64, at, values, 1);
        values[0] = isfinite(values[0]) ? values[0] * 1.5 + 1 : 1;
        jx_convert(JX_F64, dtype, values, at, 1);
        /* -2 is the same again, and the least integer, which a gather fills
         * in, has none beyond it. */
        values[0] = (values[0] - 1) / 3;
        if (memcmp(before, at, size) == 0)
            jx_convert(JX_F64, dtype, values, at, 1);
    }
}

static char *element(const jx_view *view, const int64_t *index)
{
    char *at = view->data;

    for (int k = 0; k < view->rank; k++)
        at += index[k] * view->strides[k];
    return at;
}

static bool next(int rank, const int64_t *shape, int64_t *index)
{
    int axis = rank - 1;

    for (; axis >= 0 && ++index[axis] == shape[axis]; axis--)
        index[axis] = 0;
    return axis >= 0;
}

static void change_all(const jx_view *view)
{
    int64_t index[JX_MAX_RANK] = {0};

    if (view->count)
        do
            change(view->dtype, element(view, index));
        while (next(view->rank, view->shape, index));
}

/* -- counting from the end ------------------------------------------------- */

static void look_at_choice(const indexed *d, const jx_view *ins)
{
    int64_t index[JX_MAX_RANK] = {0};

    if (ins[0].count)
        do
            if (*element(&ins[0], index)) {
                int64_t zero[JX_MAX_RANK] = {0};
                const int64_t *at = ins[1].rank == ins[0].rank ? index : zero;
                tell(d, JX_WRAPPED, 0,
                     jx_read_index(ins[1].dtype, element(&ins[1], at)), 0);
                return;
            }
        while (next(ins[0].rank, ins[0].shape, index));
}

/* -- slices ---------------------------------------------------------------- */

static void look_at_slice(const indexed *d, const jx_view *ins)
{
    const jx_view *whole = &ins[0], *starts = &ins[d->updates ? 2 : 1], *result;
    const jx_view *part;
    int rank = jx_atom_aval(d->eqn->ins[0])->rank;
    bool any = false;

    result = &starts[rank];
    part = d->updates ? &ins[1] : result;
    for (int i = 0; i < rank; i++) {
        int64_t start = jx_read_index(starts[i].dtype, starts[i].data);
        int64_t most = whole->shape[i] - part->shape[i];
        if (start >= 0 && start <= most)
            continue;
        tell(d, JX_CLAMPED, i, start, most);
        any = true;
    }
    if (any && d->to->spoiled == d->eqn)
        change_all(result);
}

/* -- index vectors --------------------------------------------------------- */

/* Vectors of indices, one after the other: which place each is for. */
typedef struct places {
    int64_t count;
    int width; /* the axes that are paired, then components */
    int64_t *at;
    bool *inside; /* none of its components lies outside */
    /* by what they hash to: 1 + the first of those at one place, or 0; a power
     * of two of them, or none where nobody asks who is there twice */
    int32_t *table;
    uint64_t slots;
    size_t bytes; /* of both, in one piece */
} places;

/* Of so many it is asked whether two are one. */
enum { MOST_TOLD_APART = 1 << 16 };

/* False: there are none, or there is no memory for them, and the run fails. */
static bool read_places(const indexed *d, jx_run *run, const jx_view *indices,
                        places *to)
{
    int64_t index[JX_MAX_RANK] = {0};
    int batch = indices->rank - 1;
    int64_t components = indices->shape[batch];

    *to = (places){.count = 1, .width = d->map.count + d->paired.count};
    for (int i = 0; i < batch; i++)
        to->count *= indices->shape[i];
    if (components != d->map.count)
        return false;
    if ((d->sets || d->unique) && to->count <= MOST_TOLD_APART)
        for (to->slots = 1; to->slots < 2 * (uint64_t)to->count;)
            to->slots *= 2;
    to->bytes = (size_t)to->count *
                    ((size_t)to->width * sizeof *to->at + sizeof *to->inside) +
                to->slots * sizeof *to->table + 1;
    to->at = jx_run_borrow(run, to->bytes);
    if (!to->at)
        return false;
    to->table = (int32_t *)(to->at + to->count * to->width);
    to->inside = (bool *)(to->table + to->slots);
    memset(to->table, 0, to->slots * sizeof *to->table);
    for (int64_t row = 0; row < to->count; row++) {
        int64_t *at = to->at + row * to->width;
        to->inside[row] = true;
        for (int k = 0; k < d->map.count; k++) {
            index[batch] = k;
            int64_t *component = at + d->paired.count + k;
            *component = jx_read_index(indices->dtype, element(indices, index));
            to->inside[row] &= *component >= 0 && *component <= d->most[k];
        }
        for (int k = 0; k < d->paired.count; k++)
            at[k] = index[d->paired.at[k]];
        index[batch] = 0;
        next(batch, indices->shape, index);
    }
    return true;
}

static int64_t component_of(const indexed *d, const places *p, int64_t row,
                            int k)
{
    return p->at[row * p->width + d->paired.count + k];
}

/* Which vector of indices an element of the result or the updates is for. */
static int64_t row_of(const indexed *d, const jx_view *indices,
                      const jx_view *of, const int64_t *index)
{
    int64_t row = 0;
    int axis = 0;

    for (int k = 0; k < of->rank; k++)
        if (!jx_ints_hold(d->windows, k))
            row = row * indices->shape[axis++] + index[k];
    return row;
}

static bool is_zero(const jx_view *view, const int64_t *index)
{
    double number[2] = {0};

    jx_convert(view->dtype, JX_C128, element(view, index), number, 1);
    return number[0] == 0 && number[1] == 0;
}

/* An update that is left out is not zero. */
static bool drops_numbers(const indexed *d, const places *p,
                          const jx_view *indices, const jx_view *updates)
{
    int64_t index[JX_MAX_RANK] = {0};

    if (updates->count)
        do
            if (!p->inside[row_of(d, indices, updates, index)] &&
                !is_zero(updates, index))
                return true;
        while (next(updates->rank, updates->shape, index));
    return false;
}

static void look_for_outside(const indexed *d, const places *p,
                             const jx_view *ins)
{
    int64_t outside = 0;

    for (int64_t row = 0; row < p->count; row++)
        outside += !p->inside[row];
    for (int64_t row = 0; row < p->count; row++)
        for (int k = 0; k < d->map.count && !p->inside[row]; k++) {
            int64_t index = component_of(d, p, row, k);
            jx_misuse *told = NULL;
            if (index < 0 || index > d->most[k])
                told = tell(d,
                            d->updates && d->mode != JX_MODE_CLIP  ? JX_DROPPED
                            : d->mode == JX_MODE_PROMISE_IN_BOUNDS ? JX_BEYOND
                            : d->mode == JX_MODE_CLIP              ? JX_CLAMPED
                                                                   : JX_FILLED,
                            (int)d->map.at[k], index, d->most[k]);
            if (told) {
                told->row = row;
                told->rows = p->count;
                told->outside = outside;
                told->matters = told->kind == JX_DROPPED && !d->clamps &&
                                drops_numbers(d, p, &ins[1], &ins[2]);
            }
        }
}

/* Each component has this bound. */
static bool bounds_are(const indexed *d, const jx_view *bound,
                       const int64_t *values)
{
    int64_t index[JX_MAX_RANK] = {0};
    int last = bound->rank - 1;

    if (bound->count)
        do
            for (int k = 0; k < d->map.count; k++)
                if ((last < 0 || index[last] == k) &&
                    jx_read_index(bound->dtype, element(bound, index)) !=
                        values[k])
                    return false;
        while (next(bound->rank, bound->shape, index));
    return true;
}

/* A clamp keeps indices in their axes, and does nothing else. */
static bool keeps_inside(const indexed *d, const jx_view *ins)
{
    const int64_t zeros[JX_MAX_RANK] = {0};

    return bounds_are(d, &ins[0], zeros) && bounds_are(d, &ins[2], d->most);
}

static bool same_place(const places *p, int64_t a, int64_t b)
{
    return !memcmp(p->at + a * p->width, p->at + b * p->width,
                   (size_t)p->width * sizeof *p->at);
}

/* The first vector of indices that is the place of this one, which joins the
 * table if there was none. */
static int64_t first_of(const places *p, int64_t row)
{
    uint64_t slot =
        jx_hash_bytes(p->at + row * p->width, (size_t)p->width * sizeof *p->at);

    for (;; slot++) {
        int32_t *kept = &p->table[slot & (p->slots - 1)];
        if (!*kept)
            *kept = (int32_t)row + 1;
        if (same_place(p, *kept - 1, row))
            return *kept - 1;
    }
}

/* Where the updates of one vector of indices begin. */
static void begin_row(const indexed *d, const jx_view *indices,
                      const jx_view *updates, int64_t row, int64_t *index)
{
    int axis = indices->rank - 2;

    for (int k = updates->rank - 1; k >= 0; k--)
        if (!jx_ints_hold(d->windows, k)) {
            index[k] = row % indices->shape[axis];
            row /= indices->shape[axis--];
        }
}

static bool same_updates(const indexed *d, const jx_view *indices,
                         const jx_view *updates, int64_t a, int64_t b)
{
    size_t size = jx_dtype_of(updates->dtype)->bytes;
    int64_t index[JX_MAX_RANK] = {0}, other[JX_MAX_RANK] = {0}, count = 1;

    begin_row(d, indices, updates, a, index);
    begin_row(d, indices, updates, b, other);
    for (int i = 0; i < d->windows.count; i++)
        count *= updates->shape[d->windows.at[i]];
    for (int64_t n = 0; n < count; n++) {
        int64_t left = n;
        for (int i = d->windows.count; i-- > 0;) {
            int64_t axis = d->windows.at[i];
            index[axis] = other[axis] = left % updates->shape[axis];
            left /= updates->shape[axis];
        }
        if (memcmp(element(updates, index), element(updates, other), size) != 0)
            return false;
    }
    return true;
}

static void look_for_repeated(const indexed *d, const places *p,
                              const jx_view *indices, const jx_view *updates)
{
    bool unique = true;

    for (int64_t b = 0; b < p->count && p->slots; b++) {
        int64_t a = p->inside[b] ? first_of(p, b) : b;
        if (a == b)
            continue;
        if (d->unique && unique)
            tell(d, JX_NOT_UNIQUE, (int)d->map.at[0], component_of(d, p, a, 0),
                 0);
        unique = false;
        if (!d->sets || same_updates(d, indices, updates, a, b))
            continue;
        tell(d, JX_REPEATED, (int)d->map.at[0], component_of(d, p, a, 0), 0);
        return;
    }
}

static void look_for_disorder(const indexed *d, const places *p)
{
    for (int64_t row = 1; row < p->count; row++)
        for (int k = 0; k < p->width; k++) {
            int64_t before = p->at[(row - 1) * p->width + k],
                    now = p->at[row * p->width + k];
            if (now > before)
                break;
            /* in the order of rows, what is paired ascends */
            if (now < before) {
                tell(d, JX_NOT_SORTED, (int)d->map.at[k - d->paired.count], now,
                     before);
                return;
            }
        }
}

static void spoil(const indexed *d, const places *p, const jx_view *indices,
                  const jx_view *result)
{
    int64_t index[JX_MAX_RANK] = {0};

    if (!result->count)
        return;
    do {
        if (!p->inside[row_of(d, indices, result, index)])
            change(result->dtype, element(result, index));
    } while (next(result->rank, result->shape, index));
}

/* -- noticing -------------------------------------------------------------- */

/* Some component of these vectors of indices lies outside. */
static bool any_outside(const indexed *d, const jx_view *indices)
{
    int64_t index[JX_MAX_RANK] = {0};
    int last = indices->rank - 1;
    int64_t n = last < 0 ? 0 : indices->shape[last];

    if (!indices->count || n != d->map.count)
        return false;
    do {
        const char *at = element(indices, index);
        for (int64_t k = 0; k < n; k++, at += indices->strides[last]) {
            int64_t is = indices->dtype == JX_I32
                             ? *(const int32_t *)(const void *)at
                             : jx_read_index(indices->dtype, at);
            if (is < 0 || is > d->most[k])
                return true;
        }
    } while (next(last, indices->shape, index));
    return false;
}

static bool any_moved(const indexed *d, const jx_view *starts)
{
    for (int i = 0; i < d->map.count; i++) {
        int64_t start = jx_read_index(starts[i].dtype, starts[i].data);
        if (start < 0 || start > d->most[i])
            return true;
    }
    return false;
}

static bool run_noticing(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const indexed *d = data;

    (void)outs;
    (void)scratch;
    if (d->clamps   ? any_outside(d, &ins[1]) && keeps_inside(d, ins)
        : d->slices ? any_moved(d, ins)
                    : any_outside(d, ins))
        jx_run_notice(run);
    return true;
}

static bool run_indexed(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const indexed *d = data;
    places p;

    (void)outs;
    (void)scratch;
    if (d->chooses) {
        look_at_choice(d, ins);
        return true;
    }
    if (d->slices) {
        look_at_slice(d, ins);
        return true;
    }
    if (read_places(d, run, &ins[1], &p)) {
        if (!d->clamps || keeps_inside(d, ins))
            look_for_outside(d, &p, ins);
        if (d->sets || d->unique)
            look_for_repeated(d, &p, &ins[1], &ins[2]);
        if (d->sorted)
            look_for_disorder(d, &p);
        if (d->to->spoiled == d->eqn && !d->updates && !d->to->spoiled_whole)
            spoil(d, &p, &ins[1], &ins[2]);
        else if (d->to->spoiled == d->eqn && !d->clamps)
            change_all(&ins[d->updates ? 3 : 2]);
    }
    if (p.bytes && !p.at)
        return false;
    jx_run_give_back(run, p.at, p.bytes);
    return true;
}

static int64_t size_of(const jx_slot *slot, int64_t axis)
{
    return axis < slot->rank ? slot->shape[axis] : 1;
}

/* One vector of indices is not written twice. */
static bool is_of_one_vector(const jx_aval *indices)
{
    int64_t size;

    for (int i = 0; i + 1 < indices->rank; i++)
        if (!jx_dim_is_int(indices->shape[i], &size) || size > 1)
            return false;
    return true;
}

int jx_watched_indices(const jx_eqn *eqn, int *count)
{
    *count = 0;
    switch (eqn->prim->id) {
    case JX_PRIM_select_n: /* which may be an index that counts from the end */
        *count =
            jx_dtype_is_integer(jx_atom_aval(eqn->ins[eqn->nins - 1])->dtype)
                ? eqn->nins
                : 0;
        return 0;
    case JX_PRIM_dynamic_slice: *count = eqn->nins - 1; return 1;
    case JX_PRIM_dynamic_update_slice: *count = eqn->nins - 2; return 2;
    case JX_PRIM_scatter: /* what is written twice is compared */
        *count = is_of_one_vector(jx_atom_aval(eqn->ins[1])) ? 1 : 2;
        return 1;
    case JX_PRIM_gather:
    case JX_PRIM_scatter_add:
    case JX_PRIM_scatter_sub:
    case JX_PRIM_scatter_mul:
    case JX_PRIM_scatter_min:
    case JX_PRIM_scatter_max: *count = 1; return 1;
    case JX_PRIM_stablehlo_scatter: *count = eqn->nins == 3; return 1;
    default: return 0;
    }
}

/* Where the updates of a scatter may begin. */
static bool describe_windows(indexed *d, const jx_scatter_dims *dims,
                             const jx_slot *operand, const jx_slot *updates)
{
    for (int k = 0; k < d->map.count && k < JX_MAX_RANK; k++) {
        int axis = jx_scatter_window_axis(dims, (int)d->map.at[k]);
        d->most[k] =
            operand->shape[d->map.at[k]] -
            (axis >= 0 && axis < updates->rank ? updates->shape[axis] : 1);
    }
    return d->map.count > 0 && d->map.count <= JX_MAX_RANK;
}

static bool describe(indexed *d, const jx_eqn *eqn, const jx_slot *ins)
{
    switch (eqn->prim->id) {
    case JX_PRIM_select_n:
        d->chooses = eqn->nins == 3 && ins[0].dtype == JX_BOOL &&
                     jx_dtype_is_integer(ins[1].dtype);
        return d->chooses;
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_dynamic_update_slice:
        d->slices = true;
        d->updates = eqn->prim->id == JX_PRIM_dynamic_update_slice;
        return true;
    case JX_PRIM_gather: {
        const jx_p_gather *g = eqn->typed;
        d->map = g->dimension_numbers.start_index_map;
        d->paired = g->dimension_numbers.start_indices_batching_dims;
        d->windows = g->dimension_numbers.offset_dims;
        d->mode = g->mode;
        d->unique = false; /* JAX does not look at it there */
        d->sorted = g->indices_are_sorted;
        for (int k = 0; k < d->map.count && k < JX_MAX_RANK; k++)
            d->most[k] = size_of(ins, d->map.at[k]) -
                         jx_dim_value(g->slice_sizes.at[d->map.at[k]]);
        return d->map.count <= JX_MAX_RANK;
    }
    case JX_PRIM_scatter:
    case JX_PRIM_scatter_add:
    case JX_PRIM_scatter_sub:
    case JX_PRIM_scatter_mul:
    case JX_PRIM_scatter_min:
    case JX_PRIM_scatter_max: {
        const jx_p_scatter *s = eqn->typed;
        d->map = s->dimension_numbers.scatter_dims_to_operand_dims;
        d->paired = s->dimension_numbers.scatter_indices_batching_dims;
        d->windows = s->dimension_numbers.update_window_dims;
        d->mode = s->mode;
        d->updates = true;
        d->sets = eqn->prim->id == JX_PRIM_scatter && !jx_scatter_applies(eqn);
        d->unique = s->unique_indices;
        d->sorted = s->indices_are_sorted;
        return describe_windows(d, &s->dimension_numbers, &ins[0], &ins[2]);
    }
    case JX_PRIM_stablehlo_scatter: {
        const jx_p_stablehlo_scatter *s = eqn->typed;
        if (eqn->nins != 3)
            return false; /* of several arrays: nothing of JAX's makes one */
        d->map = s->dimension_numbers.scatter_dims_to_operand_dims;
        d->paired = s->dimension_numbers.scatter_indices_batching_dims;
        d->windows = s->dimension_numbers.update_window_dims;
        d->mode = JX_MODE_FILL_OR_DROP;
        d->updates = true;
        d->unique = s->unique_indices;
        d->sorted = s->indices_are_sorted;
        return describe_windows(d, &s->dimension_numbers, &ins[0], &ins[2]);
    }
    default: return false;
    }
}

/* A scatter leaves out what is outside.  An update of a slice, which begins
 * elsewhere instead, is one over a mapped axis, and what a module has in front
 * of it is a clamp of its indices, which are sorted and differ.  Others that
 * clamp do what somebody asked for. */
static bool describe_clamp(jx_planner *p, indexed *d, const jx_eqn *eqn)
{
    const jx_eqn *user = jx_plan_only_user(p, eqn);
    const jx_map *quiet = p->options->probes.quiet;
    jx_slot *slots;
    bool is_one;

    if (!user || user->nins != 3 || !user->typed ||
        user->ins[1].var != eqn->outs[0] || (quiet && jx_map_has(quiet, user)))
        return false;
    slots = malloc(3 * sizeof *slots);
    if (!slots)
        return jx_plan_starved(p);
    for (int i = 0; i < 3; i++)
        jx_plan_shape(p, jx_atom_aval(user->ins[i]), &slots[i].rank,
                      slots[i].shape);
    is_one = describe(d, user, slots) && d->updates && !d->slices &&
             d->unique && d->sorted;
    free(slots);
    d->eqn = user;
    d->clamps = true;
    d->mode = JX_MODE_CLIP;
    d->sets = d->unique = d->sorted = false;
    return is_one;
}

/* The probe takes indices alone, so that what they are for may lie in place. */
static void plan_noticing(jx_planner *p, indexed *d, const jx_slot *ins,
                          const jx_slot *outs)
{
    const jx_slot *part = d->updates ? &ins[1] : &outs[0];

    if (d->slices) {
        d->map.count = ins[0].rank;
        for (int i = 0; i < ins[0].rank; i++)
            d->most[i] = ins[0].shape[i] - part->shape[i];
    }
    jx_plan_op(p, run_noticing, d, sizeof *d,
               d->clamps   ? 3
               : d->slices ? ins[0].rank
                           : 1,
               d->clamps   ? ins
               : d->slices ? &ins[d->updates ? 2 : 1]
                           : &ins[1],
               0, NULL, 0);
}

void jx_plan_watch_indices(jx_planner *p, jx_watch *to, const jx_eqn *eqn,
                           const jx_slot *ins, const jx_slot *outs)
{
    indexed data = {.to = to, .eqn = eqn};
    int n = eqn->nins;
    jx_slot *slots;

    if (!eqn->typed || !n ||
        !(eqn->prim->id == JX_PRIM_clamp ? describe_clamp(p, &data, eqn)
                                         : describe(&data, eqn, ins)) ||
        jx_dtype_of(jx_atom_aval(eqn->ins[0])->dtype)->kind == JX_KIND_KEY)
        return;
    if (!to && !data.chooses)
        plan_noticing(p, &data, ins, outs);
    if (!to)
        return;
    slots = malloc((size_t)(n + 1) * sizeof *slots);
    if (!slots) {
        jx_plan_starved(p);
        return;
    }
    to->indexed = true;
    memcpy(slots, ins, (size_t)n * sizeof *slots);
    slots[n] = outs[0];
    jx_plan_op(p, run_indexed, &data, sizeof data, n + 1, slots, 0, NULL, 0);
    free(slots);
}
