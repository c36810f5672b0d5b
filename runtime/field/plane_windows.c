/* plane_windows.c - see plane.h: windows that slide along an array.
 *
 * A convolution is a contraction of what lies under its windows
 * with the kernel. */
#include "frontend/ir/computation.h"
#include "runtime/field/plane.h"

#include <math.h>

enum { MOST_RANK = 8, MOST_UNDER = 1 << 24 }; /* elements under all windows */

/* Windows along the axes of an array. */
typedef struct windows {
    int rank;
    int64_t in[MOST_RANK], out[MOST_RANK], size[MOST_RANK];
    int64_t stride[MOST_RANK], low[MOST_RANK], spread[MOST_RANK],
        apart[MOST_RANK];
} windows;

static int64_t number_of(const jx_ints *of, int i)
{
    return of->count > i ? of->at[i] : 1;
}

static int64_t all_of(int rank, const int64_t *sizes)
{
    int64_t to = 1;

    for (int i = 0; i < rank; i++)
        to *= sizes[i];
    return to;
}

/* Where place `k` of window `i` lies along an axis; -1: in
 * what is filled in. */
static int64_t along(const windows *w, int axis, int64_t i, int64_t k)
{
    int64_t at = i * w->stride[axis] + k * w->apart[axis] - w->low[axis];

    return at < 0 || at % w->spread[axis] || at / w->spread[axis] >= w->in[axis]
               ? -1
               : at / w->spread[axis];
}

/* The same along all axes: the number of the element. */
static int64_t under(const windows *w, int64_t window, int64_t place)
{
    int64_t to = 0, step = 1;

    for (int a = w->rank - 1; a >= 0; a--) {
        int64_t at = along(w, a, window % w->out[a], place % w->size[a]);
        if (at < 0)
            return -1;
        to += at * step;
        step *= w->in[a];
        window /= w->out[a];
        place /= w->size[a];
    }
    return to;
}

/* ---- reductions */

/* What a body computes of two, if that is one operation. */
static jx_prim_id operation(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_reduce_window_sum: return JX_PRIM_add;
    case JX_PRIM_reduce_window_max: return JX_PRIM_max;
    case JX_PRIM_reduce_window_min: return JX_PRIM_min;
    case JX_PRIM_reduce_window:
        return eqn->nouts == 1
                   ? jx_body_monoid(
                         ((const jx_p_reduce_window *)eqn->typed)->jaxpr.jaxpr)
                   : JX_PRIM_unknown;
    default: return JX_PRIM_unknown;
    }
}

static bool read_windows(const jx_eqn *eqn, const jx_field_value *in,
                         const jx_field_value *out, windows *to)
{
    const jx_p_window *simple = eqn->typed;
    const jx_p_reduce_window *any = eqn->typed;
    bool own = eqn->prim->id == JX_PRIM_reduce_window;
    const jx_ints *stride =
        own ? &any->window_strides : &simple->window_strides;
    const jx_ints *spread = own ? &any->base_dilation : &simple->base_dilation;
    const jx_ints *apart =
        own ? &any->window_dilation : &simple->window_dilation;

    to->rank = in->rank;
    for (int a = 0; a < in->rank; a++) {
        const jx_dim *size =
            (own ? any->window_dimensions : simple->window_dimensions).at[a];
        to->in[a] = in->shape[a];
        to->out[a] = out->shape[a];
        to->stride[a] = number_of(stride, a);
        to->spread[a] = number_of(spread, a);
        to->apart[a] = number_of(apart, a);
        const jx_dim *low = (own ? any->padding : simple->padding).at[2 * a];
        if (!jx_dim_is_int(low, &to->low[a]) ||
            !jx_dim_is_int(size, &to->size[a]))
            return false;
    }
    return true;
}

static jx_cell join(jx_field *f, jx_prim_id op, const jx_cell *a,
                    const jx_cell *b)
{
    const jx_cell *both[] = {a, b};

    return op == JX_PRIM_add   ? jx_cell_add(f, a, b)
           : op == JX_PRIM_mul ? jx_cell_mul(f, a, b)
                               : jx_cell_most(f, op == JX_PRIM_max, 2, both);
}

static bool reduce(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *ins, jx_field_value *out)
{
    jx_prim_id op = operation(eqn);
    windows w;
    int64_t places;

    if ((op != JX_PRIM_add && op != JX_PRIM_mul && op != JX_PRIM_max &&
         op != JX_PRIM_min) ||
        ins[0].rank > MOST_RANK || ins[0].dtype == JX_BOOL || ins[0].bits ||
        !jx_field_like(f, program, eqn->outs[0]->aval, false, out) ||
        !read_windows(eqn, &ins[0], out, &w))
        return false;
    places = all_of(w.rank, w.size);
    if (places <= 0 || out->count > MOST_UNDER / places)
        return false;
    for (int64_t i = 0; i < out->count; i++) {
        double least = op == JX_PRIM_max ? -INFINITY : INFINITY;
        jx_cell to = eqn->nins > 1       ? jx_plane_get(&ins[1], 0)
                     : op == JX_PRIM_add ? jx_cell_integer(f, 0)
                                         : jx_cell_constant(f, least, JX_F64);
        for (int64_t k = 0; k < places; k++) {
            int64_t at = under(&w, i, k);
            if (at < 0)
                continue;
            jx_cell next = jx_plane_element(&ins[0], at);
            to = join(f, op, &to, &next);
        }
        jx_plane_put(f, out, i, &to);
    }
    return !f->spent;
}

/* ---- what a maximum of windows gives back */

/* The part of a window's cotangent that one of its places gets: a random number
 * for the place and all that lies under the window.  They sum up to 1, which
 * nobody asks for. */
static jx_cell share(jx_field *f, uint64_t window, int64_t place)
{
    uint64_t h = jx_ring_mix(jx_hash_mix(window, (uint64_t)place));

    return (jx_cell){.signs = JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE,
                     .v = h % f->ring.p,
                     .e = jx_ring_mix(h) % f->ring.q,
                     .over = 1,
                     .about = NAN,
                     .base = h % f->ring.p};
}

static uint64_t key_of(const jx_field *f, const windows *w,
                       const jx_field_value *x, int64_t window, int64_t places,
                       uint64_t seed)
{
    uint64_t h = jx_ring_mix(f->salt ^ seed);

    for (int64_t k = 0; k < places; k++) {
        int64_t at = under(w, window, k);
        jx_cell cell = at < 0 ? jx_cell_nan() : jx_plane_element(x, at);
        cell = jx_cell_collapsed(f, &cell);
        h = jx_hash_mix(jx_hash_mix(h, cell.kind), cell.v);
    }
    return h;
}

static bool read_selection(const jx_eqn *eqn, const jx_field_value *source,
                           const jx_field_value *operand, windows *to)
{
    const jx_p_select_window *p = eqn->typed;

    to->rank = operand->rank;
    for (int a = 0; a < to->rank; a++) {
        to->in[a] = operand->shape[a];
        to->out[a] = source->shape[a];
        to->stride[a] = number_of(&p->window_strides, a);
        to->spread[a] = to->apart[a] = 1;
        if (!jx_dim_is_int(p->padding.at[2 * a], &to->low[a]) ||
            !jx_dim_is_int(p->window_dimensions.at[a], &to->size[a]))
            return false;
    }
    return true;
}

static bool give_back(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                      const jx_field_value *ins, jx_field_value *out)
{
    const jx_field_value *source = &ins[0], *operand = &ins[1];
    const jx_cell zero = jx_cell_integer(f, 0);
    jx_cell known;
    windows w;
    int64_t places;

    if (source->bits || operand->bits || operand->rank > MOST_RANK ||
        !jx_field_like(f, program, eqn->outs[0]->aval, false, out) ||
        !read_selection(eqn, source, operand, &w))
        return false;
    known = jx_field_reasons(f, operand);
    places = all_of(w.rank, w.size);
    if (places <= 0 || source->count > MOST_UNDER / places)
        return false;
    for (int64_t i = 0; i < out->count; i++)
        jx_plane_put(f, out, i, &zero);
    for (int64_t i = 0; i < source->count; i++) {
        uint64_t key = key_of(
            f, &w, operand, i, places,
            (uint64_t)((const jx_p_select_window *)eqn->typed)->select_prim);
        jx_cell gives = jx_plane_element(source, i);
        for (int64_t k = 0; k < places; k++) {
            int64_t at = under(&w, i, k);
            if (at < 0)
                continue;
            jx_cell part = share(f, key, k), sum = jx_plane_get(out, at);
            part = jx_cell_mul(f, &part, &gives);
            part = jx_cell_depends(f, part, &known);
            sum = jx_cell_add(f, &sum, &part);
            jx_plane_put(f, out, at, &sum);
        }
    }
    f->opaque += source->count * places;
    return !f->spent;
}

/* ---- convolutions */

typedef struct convolution {
    const jx_p_conv *p;
    windows w;
    int64_t batch;                     /* of the result */
    int64_t groups, in_each, out_each; /* features of a group */
    /* groups are parts of the batch of the array, not of its features */
    bool cuts_batch;
    int64_t places, spots; /* of a window; windows of one image */
} convolution;

static bool read_convolution(const jx_eqn *eqn, const jx_field_value *ins,
                             const jx_field_value *out, convolution *c)
{
    const jx_p_conv *p = eqn->typed;
    const jx_conv_dims *d = &p->dimension_numbers;
    int64_t batches;

    c->p = p;
    c->w.rank = out->rank - 2;
    if (out->rank < 2 || c->w.rank > MOST_RANK ||
        !jx_dim_is_int(p->feature_group_count, &c->groups) ||
        !jx_dim_is_int(p->batch_group_count, &batches) || c->groups < 1 ||
        batches < 1 || (c->groups > 1 && batches > 1))
        return false;
    c->cuts_batch = batches > 1;
    c->groups *= batches;
    for (int a = 0; a < c->w.rank; a++) {
        c->w.in[a] = ins[0].shape[d->lhs_spec.at[a + 2]];
        c->w.size[a] = ins[1].shape[d->rhs_spec.at[a + 2]];
        c->w.out[a] = out->shape[d->out_spec.at[a + 2]];
        c->w.stride[a] = number_of(&p->window_strides, a);
        c->w.spread[a] = number_of(&p->lhs_dilation, a);
        c->w.apart[a] = number_of(&p->rhs_dilation, a);
        if (!jx_dim_is_int(p->padding.at[2 * a], &c->w.low[a]))
            return false;
    }
    c->batch = ins[0].shape[d->lhs_spec.at[0]] / batches;
    c->in_each = ins[1].shape[d->rhs_spec.at[1]];
    c->out_each = ins[1].shape[d->rhs_spec.at[0]] / c->groups;
    c->places = all_of(c->w.rank, c->w.size);
    c->spots = all_of(c->w.rank, c->w.out);
    return true;
}

/* The number of an element, by its batch, its feature and its
 * place among all. */
static int64_t element_of(const jx_field_value *of, const jx_ints *spec,
                          int64_t first, int64_t second, int64_t place)
{
    int64_t steps[MOST_RANK + 2] = {0}, to;

    for (int64_t a = of->rank - 1, step = 1; a >= 0; step *= of->shape[a--])
        steps[a] = step;
    to = first * steps[spec->at[0]] + second * steps[spec->at[1]];
    for (int a = of->rank - 3; a >= 0; a--) {
        int64_t size = of->shape[spec->at[a + 2]];
        to += place % size * steps[spec->at[a + 2]];
        place /= size;
    }
    return to;
}

/* [group, batch and window, feature and place] of the array. */
static void place_images(const convolution *c, const jx_field_value *x,
                         int64_t *at)
{
    for (int64_t g = 0; g < c->groups; g++)
        for (int64_t n = 0; n < c->batch; n++)
            for (int64_t s = 0; s < c->spots; s++)
                for (int64_t i = 0; i < c->in_each; i++)
                    for (int64_t k = 0; k < c->places; k++) {
                        int64_t place = under(&c->w, s, k);
                        int64_t image = c->cuts_batch ? g * c->batch + n : n;
                        int64_t feature =
                            c->cuts_batch ? i : g * c->in_each + i;
                        *at++ = place < 0
                                    ? -1
                                    : element_of(
                                          x, &c->p->dimension_numbers.lhs_spec,
                                          image, feature, place);
                    }
}

/* [group, feature of the result, feature and place] of the kernel. */
static void place_kernel(const convolution *c, const jx_field_value *x,
                         int64_t *at)
{
    for (int64_t o = 0; o < c->groups * c->out_each; o++)
        for (int64_t i = 0; i < c->in_each; i++)
            for (int64_t k = 0; k < c->places; k++)
                *at++ =
                    element_of(x, &c->p->dimension_numbers.rhs_spec, o, i, k);
}

/* Where the elements of the result are in [group, batch and
 * window, feature]. */
static void place_results(const convolution *c, const jx_field_value *x,
                          int64_t *at)
{
    int64_t next = 0;

    for (int64_t g = 0; g < c->groups; g++)
        for (int64_t n = 0; n < c->batch; n++)
            for (int64_t s = 0; s < c->spots; s++)
                for (int64_t o = 0; o < c->out_each; o++)
                    at[element_of(x, &c->p->dimension_numbers.out_spec, n,
                                  g * c->out_each + o, s)] = next++;
}

/* Three axes of these sizes. */
static jx_field_value cube(const jx_field_value *like, int64_t *shape)
{
    return (jx_field_value){.dtype = like->dtype,
                            .rank = 3,
                            .shape = shape,
                            .count = shape[0] * shape[1] * shape[2]};
}

static bool convolve(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                     const jx_field_value *ins, jx_field_value *out)
{
    static const int64_t first[] = {0}, last[] = {2};
    const jx_ints batch = {1, first}, inner = {1, last};
    const jx_dot_dims dims = {inner, inner, batch, batch};
    convolution c;

    if (ins[0].bits || ins[1].bits ||
        !jx_field_shape(f, program, eqn->outs[0]->aval, out) ||
        !read_convolution(eqn, ins, out, &c))
        return false;
    int64_t shapes[3][3] = {{c.groups, c.batch * c.spots, c.in_each * c.places},
                            {c.groups, c.out_each, c.in_each * c.places},
                            {c.groups, c.batch * c.spots, c.out_each}};
    jx_field_value from[2], images = cube(&ins[0], shapes[0]),
                            kernel = cube(&ins[1], shapes[1]);
    jx_field_value results = cube(out, shapes[2]);
    if (images.count > MOST_UNDER || results.count != out->count ||
        !jx_plane_of(f, &ins[0], &from[0]) ||
        !jx_plane_of(f, &ins[1], &from[1]))
        return false;
    int64_t *at = JX_NEW_ARRAY(
        f->ctx->arena, images.count + kernel.count + out->count + 1, int64_t);
    if (!at)
        return false;
    place_images(&c, &ins[0], at);
    place_kernel(&c, &ins[1], at + images.count);
    place_results(&c, out, at + images.count + kernel.count);
    return jx_plane_take(f, &from[0], at, &images) &&
           jx_plane_take(f, &from[1], at + images.count, &kernel) &&
           jx_plane_contract(f, &dims, &images, &kernel, &results) &&
           jx_plane_take(f, &results, at + images.count + kernel.count, out);
}

bool jx_plane_windows(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                      const jx_field_value *ins, jx_field_value *outs)
{
    if (eqn->prim->id == JX_PRIM_conv_general_dilated)
        return convolve(f, program, eqn, ins, &outs[0]);
    if (eqn->prim->id == JX_PRIM_select_and_scatter_add)
        return give_back(f, program, eqn, ins, &outs[0]);
    return operation(eqn) != JX_PRIM_unknown &&
           reduce(f, program, eqn, ins, &outs[0]);
}
