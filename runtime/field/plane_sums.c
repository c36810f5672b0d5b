/* plane_sums.c - see plane.h: reductions and contractions, of which each
 * remainder is taken once. */
#include "frontend/ir/params.h"
#include "runtime/field/plane.h"

#include <math.h>

/* A sum of products below 2^124 (or of numbers): 2^64 of them. */
typedef struct wide {
    unsigned __int128 low;
    uint64_t high;
} wide;

static inline void add_to(wide *w, unsigned __int128 x)
{
    w->low += x;
    w->high += w->low < x;
}

static uint64_t rest_of(const wide *w, const jx_modulus *by)
{
    uint64_t low = (uint64_t)(w->low % by->m);
    uint64_t unit =
        (uint64_t)((((unsigned __int128)1 << 127) % by->m) * 2 % by->m);

    return jx_mod_add(low, jx_mod_fast(unit, w->high % by->m, by), by->m);
}

/* What a sum of elements may be, in the order of kinds that win:
 * not known, NaN. */
static uint8_t sum_state(uint8_t a, uint8_t b)
{
    jx_cell_kind k = jx_state_kind(a), l = jx_state_kind(b);
    uint8_t any = (a | b) & JX_STATE_SIGNS, both = a & b & JX_STATE_SIGNS;

    if (k || l)
        return k == JX_CELL_UNKNOWN || l == JX_CELL_UNKNOWN
                   ? JX_STATE(JX_CELL_UNKNOWN, JX_MAY_BE_ANY)
               : k == JX_CELL_INFINITE && !l ? a
               : l == JX_CELL_INFINITE && !k ? b
               : k == l && k == JX_CELL_INFINITE && a == b
                   ? a
                   : JX_STATE(JX_CELL_NAN, JX_MAY_BE_ANY);
    if (any & JX_MAY_BE_NEGATIVE && any & JX_MAY_BE_POSITIVE)
        return JX_MAY_BE_ANY;
    return (uint8_t)((any & ~JX_MAY_BE_ZERO) | (both & JX_MAY_BE_ZERO));
}

/* The root that a sum has so far, and that of one more element of it;
 * false: two meet. */
static bool is_one_root(const jx_plane *p, int64_t i, bool *any, uint32_t *root)
{
    if (!p->w[i])
        return true;
    if (*any && *root != p->root[i])
        return false;
    *any = true;
    *root = p->root[i];
    return true;
}

/* ---- reductions */

/* The steps that go on through a result, by the axis of the operand; 0 for
 * those that are summed up. */
static void steps_of(const jx_field_value *x, const jx_ints *axes,
                     int64_t *steps)
{
    int64_t step = 1;

    for (int a = x->rank - 1; a >= 0; a--) {
        steps[a] = jx_ints_hold(*axes, a) ? 0 : step;
        step *= steps[a] ? x->shape[a] : 1;
    }
}

static void bound_sum(const jx_plane *of, int64_t n, jx_plane *to)
{
    jx_plane_bounds(to, of);
    to->height += n > 1 ? (float)log2((double)n) : 0;
}

/* A count of those that are the largest is not zero. */
static void look_for_counts(jx_field *f, const jx_field_value *x,
                            const int64_t *steps, jx_plane *to, int64_t count)
{
    int64_t each = count ? x->count / count : 0, *filled;
    uint64_t *terms;

    if (!f->met.count || x->splat || each < 1 ||
        to->state[0] != JX_STATE_BLENDED)
        return;
    terms = JX_NEW_ARRAY(f->ctx->arena, x->count + 1, uint64_t);
    filled = JX_NEW_ARRAY(f->ctx->arena, count + 1, int64_t);
    for (int64_t i = 0; terms && filled && i < x->count; i++) {
        int64_t where = 0, rest = i;
        for (int a = x->rank - 1; a >= 0; rest /= x->shape[a--])
            where += rest % x->shape[a] * steps[a];
        terms[where * each + filled[where]++] = x->plane->v[i];
    }
    for (int64_t i = 0; terms && filled && i < count; i++)
        if (to->state[i] == JX_STATE_BLENDED &&
            jx_cell_one_holds(f, each, terms + i * each))
            to->state[i] = JX_MAY_BE_POSITIVE;
}

/* Whether no two roots meet in an element of a result; `roots`
 * says which it has. */
static bool keeps_roots(jx_field *f, const jx_field_value *x,
                        const int64_t *steps, int64_t count, uint32_t **roots)
{
    bool *any = JX_NEW_ARRAY(f->ctx->arena, count + 1, bool);

    *roots = JX_NEW_ARRAY(f->ctx->arena, count + 1, uint32_t);
    for (int64_t i = 0; any && *roots && i < x->count; i++) {
        int64_t where = 0, rest = i;
        for (int a = x->rank - 1; a >= 0; rest /= x->shape[a--])
            where += rest % x->shape[a] * steps[a];
        if (!is_one_root(x->plane, x->splat ? 0 : i, &any[where],
                         &(*roots)[where]))
            return false;
    }
    return any && *roots;
}

static bool reduce_sum(jx_field *f, const jx_field_value *of,
                       const jx_ints *axes, jx_field_value *out)
{
    jx_field_value collapsed = *of, *x = &collapsed;
    int64_t steps[33] = {0}, at[33] = {0}, n = x->count, where = 0;
    uint32_t *roots = NULL;

    if (x->rank > 32)
        return false;
    steps_of(x, axes, steps);
    if (x->plane->w && !keeps_roots(f, x, steps, out->count, &roots) &&
        !jx_plane_collapse(f, of, x))
        return false;
    wide *v = JX_NEW_ARRAY(f->ctx->arena, out->count + 1, wide);
    wide *e =
        f->exponents ? JX_NEW_ARRAY(f->ctx->arena, out->count + 1, wide) : NULL;
    const jx_plane *p = x->plane;
    wide *w = p->w ? JX_NEW_ARRAY(f->ctx->arena, out->count + 1, wide) : NULL;
    jx_plane *to = jx_plane_new(f, out->count);

    if (!v || !to || (to->e && !e) ||
        (p->w && (!w || !jx_plane_may_extend(f, to, out->count))) ||
        (p->needs && !jx_plane_may_need(f, to, out->count)))
        return false;
    out->plane = to;
    for (int64_t i = 0; i < out->count; i++)
        to->state[i] = JX_MAY_BE_ZERO;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = x->splat ? 0 : i;
        add_to(&v[where], p->v[k]);
        if (w)
            add_to(&w[where], p->w[k]);
        if (e)
            add_to(&e[where], p->e[k]);
        to->state[where] = sum_state(to->state[where], p->state[k]);
        if (p->needs)
            to->needs[where] = jx_keys_join(f, to->needs[where], p->needs[k]);
        for (int a = x->rank - 1; a >= 0; a--) {
            where += steps[a];
            if (++at[a] < x->shape[a])
                break;
            where -= steps[a] * x->shape[a];
            at[a] = 0;
        }
    }
    for (int64_t i = 0; i < out->count; i++) {
        to->v[i] = rest_of(&v[i], &f->ring.fast_p);
        if (w) {
            to->w[i] = rest_of(&w[i], &f->ring.fast_p);
            to->root[i] = roots[i];
        }
        if (e)
            to->e[i] = rest_of(&e[i], &f->ring.fast_q);
        if (!to->v[i] && (!w || !to->w[i]) && to->state[i] <= JX_STATE_SIGNS)
            to->state[i] = JX_MAY_BE_ZERO;
    }
    look_for_counts(f, x, steps, to, out->count);
    bound_sum(p, out->count ? n / out->count : 0, to);
    f->work += n;
    return true;
}

/* ---- contractions */

/* An operand in the order batch, free, contracted: where its elements
 * lie, and of each row along the contracted axes what all need and
 * whether all are numbers. */
typedef struct side {
    uint64_t *v, *w, *e; /* w, e: or NULL */
    /* of elements, where there is w; of rows, where each has one */
    uint32_t *root, *roots;
    uint8_t *state;        /* of a row, as of their sum */
    const jx_keys **needs; /* or NULL */
    int64_t batch, rows, inner;
} side;

static int64_t size_of(const jx_field_value *x, const jx_ints *axes)
{
    int64_t to = 1;

    for (int i = 0; i < axes->count; i++)
        to *= x->shape[axes->at[i]];
    return to;
}

/* Sizes and steps of the operand's axes in that order. */
static int order(const jx_field_value *x, const jx_ints *batch,
                 const jx_ints *inner, int64_t *sizes, int64_t *steps)
{
    int64_t by[33] = {0};
    int n = 0;

    for (int64_t a = x->rank - 1, step = 1; a >= 0; step *= x->shape[a--])
        by[a] = step;
    for (int i = 0; i < batch->count; i++, n++) {
        sizes[n] = x->shape[batch->at[i]];
        steps[n] = by[batch->at[i]];
    }
    for (int a = 0; a < x->rank; a++)
        if (!jx_ints_hold(*batch, a) && !jx_ints_hold(*inner, a)) {
            sizes[n] = x->shape[a];
            steps[n++] = by[a];
        }
    for (int i = 0; i < inner->count; i++, n++) {
        sizes[n] = x->shape[inner->at[i]];
        steps[n] = by[inner->at[i]];
    }
    return n;
}

static bool take_side(jx_field *f, const jx_field_value *x,
                      const jx_ints *batch, const jx_ints *inner, side *to)
{
    int64_t sizes[33], steps[33], at[33] = {0}, where = 0, rows;
    const jx_plane *p = x->plane;
    jx_arena *arena = f->ctx->arena;
    int n = x->rank > 32 ? 0 : order(x, batch, inner, sizes, steps);

    to->batch = size_of(x, batch);
    to->inner = size_of(x, inner);
    to->rows = x->count > 0 ? x->count / (to->batch * to->inner) : 0;
    rows = to->batch * to->rows;
    to->v = JX_NEW_ARRAY(arena, x->count + 1, uint64_t);
    to->e = f->exponents ? JX_NEW_ARRAY(arena, x->count + 1, uint64_t) : NULL;
    to->w = p->w ? JX_NEW_ARRAY(arena, x->count + 1, uint64_t) : NULL;
    to->root = p->w ? JX_NEW_ARRAY(arena, x->count + 1, uint32_t) : NULL;
    to->state = JX_NEW_ARRAY(arena, rows + 1, uint8_t);
    to->needs =
        p->needs ? JX_NEW_ARRAY(arena, rows + 1, const jx_keys *) : NULL;
    if (x->rank > 32 || !to->v || !to->state || (f->exponents && !to->e) ||
        (p->w && (!to->w || !to->root)) || (p->needs && !to->needs))
        return false;
    for (int64_t i = 0; i < x->count; i++) {
        int64_t k = x->splat ? 0 : where, row = i / to->inner;
        to->v[i] = p->v[k];
        if (to->w) {
            to->w[i] = p->w[k];
            to->root[i] = p->root[k];
        }
        if (to->e)
            to->e[i] = p->e[k];
        to->state[row] = i % to->inner ? sum_state(to->state[row], p->state[k])
                                       : p->state[k];
        if (to->needs)
            to->needs[row] = jx_keys_join(f, to->needs[row], p->needs[k]);
        for (int a = n - 1; a >= 0; a--) {
            where += steps[a];
            if (++at[a] < sizes[a])
                break;
            where -= steps[a] * sizes[a];
            at[a] = 0;
        }
    }
    return true;
}

static void multiply(jx_field *f, const uint64_t *a, const uint64_t *b,
                     const side *l, const side *r, const jx_modulus *by,
                     uint64_t *to)
{
    for (int64_t batch = 0; batch < l->batch; batch++)
        for (int64_t i = 0;
             i < l->rows && (f->spent |= !jx_ctx_lasts(f->ctx), !f->spent); i++)
            for (int64_t k = 0; k < r->rows; k++) {
                const uint64_t *x = a + (batch * l->rows + i) * l->inner;
                const uint64_t *y = b + (batch * r->rows + k) * l->inner;
                wide sum = {0, 0};
                for (int64_t c = 0; c < l->inner; c++)
                    add_to(&sum, (unsigned __int128)x[c] * y[c]);
                *to++ = rest_of(&sum, by);
            }
}

/* Whether one side has roots, one for each of its rows: which. */
static bool keep_row_roots(jx_field *f, side *of)
{
    int64_t rows = of->batch * of->rows;

    of->roots = JX_NEW_ARRAY(f->ctx->arena, rows + 1, uint32_t);
    for (int64_t i = 0; of->roots && i < rows; i++) {
        const jx_plane row = {.w = of->w + i * of->inner,
                              .root = of->root + i * of->inner};
        bool any = false;
        for (int64_t k = 0; k < of->inner; k++)
            if (!is_one_root(&row, k, &any, &of->roots[i]))
                return false;
    }
    return of->roots != NULL;
}

/* What the sums have of the roots of one side's rows. */
static bool extend(jx_field *f, const side *l, const side *r, int64_t count,
                   jx_plane *to)
{
    if (!jx_plane_may_extend(f, to, count))
        return false;
    multiply(f, l->w ? l->w : l->v, l->w ? r->v : r->w, l, r, &f->ring.fast_p,
             to->w);
    for (int64_t i = 0; i < count; i++) {
        int64_t row = i / r->rows,
                column = i / (l->rows * r->rows) * r->rows + i % r->rows;
        to->root[i] = l->w ? l->roots[row] : r->roots[column];
    }
    return true;
}

/* A sum of products: what is no number anywhere in it makes it none. */
static uint8_t product_state(uint8_t a, uint8_t b)
{
    jx_cell_kind k = jx_state_kind(a), l = jx_state_kind(b);

    if (k == JX_CELL_NAN || l == JX_CELL_NAN)
        return JX_STATE(JX_CELL_NAN, JX_MAY_BE_ANY);
    if (k || l)
        return JX_STATE(JX_CELL_UNKNOWN, JX_MAY_BE_ANY);
    return (a | b) & JX_MAY_BE_NEGATIVE ? JX_MAY_BE_ANY
           : a & b & JX_MAY_BE_ZERO     ? JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE
           : a == JX_MAY_BE_POSITIVE && b == JX_MAY_BE_POSITIVE
               ? JX_MAY_BE_POSITIVE
               : JX_MAY_BE_ZERO | JX_MAY_BE_POSITIVE;
}

/* So many products are more than is left of the work. */
static bool is_beyond(jx_field *f, int64_t count, int64_t each)
{
    f->spent |= each > 0 && count > -f->work / each;
    return f->spent;
}

/* Both, without roots where two could meet. */
static bool take_sides(jx_field *f, const jx_dot_dims *d,
                       const jx_field_value *a, const jx_field_value *b,
                       side *l, side *r)
{
    jx_field_value both[2] = {*a, *b};

    for (int turn = 0; turn < 2; turn++) {
        *l = *r = (side){0};
        if (!take_side(f, &both[0], &d->lhs_batch, &d->lhs_contracting, l) ||
            !take_side(f, &both[1], &d->rhs_batch, &d->rhs_contracting, r))
            return false;
        if ((!l->w && !r->w) ||
            (!(l->w && r->w) && keep_row_roots(f, l->w ? l : r)))
            return true;
        if (!jx_plane_collapse(f, a, &both[0]) ||
            !jx_plane_collapse(f, b, &both[1]))
            return false;
    }
    return !l->w && !r->w;
}

bool jx_plane_contract(jx_field *f, const jx_dot_dims *d,
                       const jx_field_value *a, const jx_field_value *b,
                       jx_field_value *out)
{
    jx_plane *to = jx_plane_new(f, out->count);
    jx_plane product = {0};
    side l, r;

    if (!to || !take_sides(f, d, a, b, &l, &r) ||
        out->count != l.batch * l.rows * r.rows || l.inner != r.inner ||
        is_beyond(f, out->count, l.inner) ||
        ((l.needs || r.needs) && !jx_plane_may_need(f, to, out->count)))
        return false;
    out->plane = to;
    multiply(f, l.v, r.v, &l, &r, &f->ring.fast_p, to->v);
    if ((l.w || r.w) && !extend(f, &l, &r, out->count, to))
        return false;
    if (to->e)
        multiply(f, l.e, r.e, &l, &r, &f->ring.fast_q, to->e);
    for (int64_t i = 0; i < out->count; i++) {
        int64_t row = i / r.rows,
                column = i / (l.rows * r.rows) * r.rows + i % r.rows;
        to->state[i] = product_state(l.state[row], r.state[column]);
        if (to->state[i] <= JX_STATE_SIGNS && !to->v[i] &&
            (!to->w || !to->w[i]))
            to->state[i] = JX_MAY_BE_ZERO;
        if (to->needs)
            to->needs[i] = jx_keys_join(f, l.needs ? l.needs[row] : NULL,
                                        r.needs ? r.needs[column] : NULL);
    }
    product.over = a->plane->over + b->plane->over;
    product.under = fmaxf(a->plane->under, b->plane->under);
    product.height = a->plane->height + b->plane->height;
    product.parts = a->plane->parts + b->plane->parts;
    bound_sum(&product, l.inner, to);
    f->work += out->count * l.inner;
    return true;
}

bool jx_plane_sums(jx_field *f, jx_field_program *program, const jx_eqn *eqn,
                   const jx_field_value *ins, jx_field_value *outs)
{
    jx_field_value both[2];

    if (eqn->nins > 2)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (ins[i].dtype == JX_BOOL || (!ins[i].cells && !ins[i].plane))
            return false;
    if (eqn->prim->id != JX_PRIM_reduce_sum &&
        eqn->prim->id != JX_PRIM_dot_general)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!jx_plane_of(f, &ins[i], &both[i]))
            return false;
    if (!jx_field_shape(f, program, eqn->outs[0]->aval, &outs[0]))
        return false;
    return eqn->prim->id == JX_PRIM_reduce_sum
               ? reduce_sum(f, &both[0], &((const jx_p_axes *)eqn->typed)->axes,
                            &outs[0])
               : jx_plane_contract(
                     f,
                     &((const jx_p_dot_general *)eqn->typed)->dimension_numbers,
                     &both[0], &both[1], &outs[0]);
}
