/* term.c - see term.h. */
#include "analyzer/transform/term.h"

#include "analyzer/lint/flat.h"
#include "frontend/base/assert.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/element.h"
#include "frontend/ir/fold.h"
#include "frontend/ir/params.h"

#include <string.h>

/* ---- interning */

static bool same_pointers(const void *a, const void *b, int count)
{
    return !count || memcmp(a, b, (size_t)count * sizeof(void *)) == 0;
}

static bool same_numbers(const jx_term *a, const jx_term *b)
{
    return a->nnumbers == b->nnumbers &&
           (!a->nnumbers ||
            memcmp(a->numbers, b->numbers,
                   (size_t)a->nnumbers * sizeof *a->numbers) == 0);
}

/* The results of bodies stand for them, but not for their effects. */
static bool compares_bodies(const jx_term *node)
{
    return !node->nresults || jx_eqn_acts(node->eqn);
}

static bool same_term(const void *kept, const void *key)
{
    const jx_term *a = kept, *b = key;

    return a->kind == b->kind && a->nins == b->nins &&
           a->nresults == b->nresults && same_numbers(a, b) &&
           same_pointers(a->ins, b->ins, a->nins + a->nresults) &&
           memcmp(a->bits, b->bits, sizeof a->bits) == 0 &&
           (a->aval == b->aval || jx_aval_same_values(a->aval, b->aval)) &&
           jx_array_same_data(a->array, b->array) &&
           (a->eqn == b->eqn ||
            (a->eqn && b->eqn &&
             jx_eqn_same(a->eqn, b->eqn, compares_bodies(a), b->by_name)));
}

static uint64_t hash_aval(uint64_t h, const jx_aval *aval)
{
    if (!aval)
        return h;
    h = jx_hash_mix(h, ((uint64_t)aval->dtype << 8) + (uint64_t)aval->rank);
    for (int i = 0; i < aval->rank; i++)
        h = jx_hash_mix(h, (uint64_t)(uintptr_t)aval->shape[i]);
    return h;
}

static uint64_t hash_term(const jx_term *t)
{
    uint64_t h = jx_hash_mix(hash_aval((uint64_t)t->kind, t->aval),
                             jx_hash_bytes(t->bits, sizeof t->bits));

    if (t->eqn)
        h = jx_hash_mix(h, (uint64_t)t->eqn->prim->id);
    for (int i = 0; i < t->nins + t->nresults; i++)
        h = jx_hash_mix(h, (uint64_t)t->ins[i]->id);
    for (int i = 0; i < t->nnumbers; i++)
        h = jx_hash_mix(h, (uint64_t)t->numbers[i]);
    if (t->array && t->array->data)
        h = jx_hash_mix(h, jx_hash_bytes(t->array->data, t->array->bytes < 256
                                                             ? t->array->bytes
                                                             : 256));
    return h;
}

static const jx_term *keep(jx_terms *in, const jx_term *like)
{
    uint64_t hash = hash_term(like);
    const jx_term *kept = jx_intern_find(&in->table, hash, like, same_term);
    jx_arena *arena = in->ctx->arena;
    jx_term *to;

    if (kept)
        return kept;
    to = jx_arena_copy(arena, like, sizeof *like);
    if (!to)
        return NULL;
    to->ins = jx_arena_copy(arena, like->ins,
                            (size_t)(like->nins + like->nresults) *
                                sizeof *like->ins);
    to->numbers = jx_arena_copy(arena, like->numbers,
                                (size_t)like->nnumbers * sizeof *like->numbers);
    if (!to->ins || !to->numbers)
        return NULL;
    to->id = in->count++;
    JX_ASSERT(hash_term(to) == hash);
    return jx_intern_add(&in->table, hash, to) ? to : NULL;
}

void jx_terms_init(jx_terms *in, jx_ctx *ctx, jx_dims *dims)
{
    *in = (jx_terms){.ctx = ctx, .one = jx_dim_int(dims, 1)};
    jx_intern_init(&in->table, ctx->arena);
}

/* ---- terms that come from nowhere */

static bool is_empty(const jx_aval *aval)
{
    int64_t count;

    return aval->kind == JX_AVAL_ARRAY && jx_aval_elements(aval, &count) &&
           count == 0;
}

static const jx_term *empty(jx_terms *in, const jx_aval *aval)
{
    return keep(in, &(jx_term){.kind = JX_TERM_EMPTY, .aval = aval});
}

const jx_term *jx_term_input(jx_terms *in, const jx_aval *aval, int input,
                             int level, int body)
{
    const int64_t numbers[] = {input, level, body};

    if (is_empty(aval))
        return empty(in, aval);
    return keep(in, &(jx_term){.kind = JX_TERM_INPUT,
                               .aval = aval,
                               .nnumbers = 3,
                               .numbers = numbers});
}

const jx_term *jx_term_unknown(jx_terms *in, const jx_aval *aval)
{
    const int64_t number = in->count;

    return keep(in, &(jx_term){.kind = JX_TERM_UNKNOWN,
                               .aval = aval,
                               .nnumbers = 1,
                               .numbers = &number});
}

static const jx_aval *scalar_aval(jx_terms *in, const jx_aval *aval)
{
    jx_aval *to;

    if (aval->rank == 0)
        return aval;
    to = JX_NEW(in->ctx->arena, jx_aval);
    if (to)
        *to = (jx_aval){.dtype = aval->dtype, .impl = aval->impl};
    return to;
}

static const jx_term *scalar(jx_terms *in, const jx_aval *aval,
                             const void *bits, size_t bytes)
{
    jx_term like = {.kind = JX_TERM_SCALAR, .aval = scalar_aval(in, aval)};

    if (!like.aval || bytes > sizeof like.bits)
        return NULL;
    memcpy(like.bits, bits, bytes);
    return keep(in, &like);
}

/* One value in all elements. */
static const jx_term *splat(jx_terms *in, const jx_term *of,
                            const jx_aval *aval)
{
    if (!of || aval->rank == 0)
        return of;
    if (is_empty(aval))
        return empty(in, aval);
    return keep(
        in,
        &(jx_term){.kind = JX_TERM_SPLAT, .aval = aval, .nins = 1, .ins = &of});
}

const jx_term *jx_term_array(jx_terms *in, const jx_array *array)
{
    const jx_aval *aval = array->aval;
    size_t bytes = jx_dtype_of(aval->dtype)->bytes;
    int64_t count;

    if (is_empty(aval))
        return empty(in, aval);
    if (array->data && aval->dtype != JX_KEY && bytes && bytes <= 16 &&
        array->bytes == bytes &&
        (array->splat || (jx_aval_elements(aval, &count) && count == 1)))
        return splat(in, scalar(in, aval, array->data, bytes), aval);
    return keep(
        in, &(jx_term){.kind = JX_TERM_ARRAY, .aval = aval, .array = array});
}

const jx_term *jx_term_literal(jx_terms *in, const jx_literal *literal)
{
    if (literal->array)
        return jx_term_array(in, literal->array);
    if (literal->dim) {
        const int64_t dim = (int64_t)(uintptr_t)literal->dim;
        return keep(in, &(jx_term){.kind = JX_TERM_SIZE,
                                   .aval = literal->aval,
                                   .nnumbers = 1,
                                   .numbers = &dim});
    }
    return scalar(in, literal->aval, literal->bits, sizeof literal->bits);
}

/* ---- moves that move nothing */

static const jx_term *reshape(jx_terms *in, const jx_term *x,
                              const jx_aval *aval)
{
    if (x->kind == JX_TERM_RESHAPE)
        x = x->ins[0];
    if (jx_aval_same_shape(x->aval, aval))
        return x;
    if (x->kind == JX_TERM_SPLAT || (x->aval->rank == 0))
        return splat(in, x->aval->rank ? x->ins[0] : x, aval);
    return keep(
        in, &(jx_term){
                .kind = JX_TERM_RESHAPE, .aval = aval, .nins = 1, .ins = &x});
}

static bool is_one(const jx_dim *dim)
{
    int64_t size;

    return jx_dim_is_int(dim, &size) && size == 1;
}

/* The part of x from `starts` on; of steps only those of one matter. */
static const jx_term *slice(jx_terms *in, const jx_term *x,
                            const int64_t *starts, const jx_aval *aval)
{
    int64_t *sums = JX_NEW_ARRAY(in->ctx->arena, aval->rank, int64_t);

    if (!sums)
        return NULL;
    if (jx_aval_same_shape(x->aval, aval))
        return x;
    if (x->kind == JX_TERM_SPLAT)
        return splat(in, x->ins[0], aval);
    for (int i = 0; i < aval->rank; i++) {
        sums[i] = starts[i];
        if (x->kind == JX_TERM_SLICE)
            sums[i] += x->numbers[i];
    }
    if (x->kind == JX_TERM_SLICE)
        x = x->ins[0];
    return keep(in, &(jx_term){.kind = JX_TERM_SLICE,
                               .aval = aval,
                               .nins = 1,
                               .ins = &x,
                               .nnumbers = aval->rank,
                               .numbers = sums});
}

/* An equation whose result is one of the above; NULL: it is none. */
typedef struct moving {
    jx_terms *in;
    const jx_eqn *eqn;
    const jx_term *const *ins;
    const jx_term *x; /* ins[0] */
    const jx_aval *to;
} moving;

static const jx_term *move_broadcast(const moving *m)
{
    int64_t before, after;

    if (m->eqn->nins != 1)
        return NULL;
    if (m->x->aval->rank == 0)
        return splat(m->in, m->x, m->to);
    if (m->x->kind == JX_TERM_SPLAT)
        return splat(m->in, m->x->ins[0], m->to);
    /* Axes keep their order: as many elements means new axes of size 1. */
    if (jx_aval_elements(m->x->aval, &before) &&
        jx_aval_elements(m->to, &after) && before == after)
        return reshape(m->in, m->x, m->to);
    return NULL;
}

static const jx_term *move_transpose(const moving *m)
{
    const jx_ints *order =
        &((const jx_p_transpose *)m->eqn->typed)->permutation;
    int64_t last = -1;

    if (m->x->kind == JX_TERM_SPLAT)
        return splat(m->in, m->x->ins[0], m->to);
    for (int i = 0; i < order->count; i++) {
        if (order->at[i] < 0 || order->at[i] >= m->x->aval->rank)
            return NULL;
        if (is_one(m->x->aval->shape[order->at[i]]))
            continue;
        if (order->at[i] < last)
            return NULL;
        last = order->at[i];
    }
    return reshape(m->in, m->x, m->to);
}

static const jx_term *move_rev(const moving *m)
{
    const jx_ints *axes = &((const jx_p_dimensions *)m->eqn->typed)->dimensions;

    for (int i = 0; i < axes->count && m->x->kind != JX_TERM_SPLAT; i++)
        if (axes->at[i] < 0 || axes->at[i] >= m->x->aval->rank ||
            !is_one(m->x->aval->shape[axes->at[i]]))
            return NULL;
    return m->x;
}

static const jx_term *move_slice(const moving *m)
{
    const jx_p_slice *p = m->eqn->typed;
    int rank = m->to->rank;
    int64_t *starts = JX_NEW_ARRAY(m->in->ctx->arena, rank, int64_t), step;

    if (!starts || p->start_indices.count != rank || m->x->aval->rank != rank)
        return NULL;
    for (int i = 0; i < rank; i++) {
        if (!jx_dim_is_int(p->start_indices.at[i], &starts[i]))
            return NULL;
        if (p->strides.given && !is_one(m->to->shape[i]) &&
            (p->strides.count != rank ||
             !jx_dim_is_int(p->strides.at[i], &step) || step != 1))
            return NULL;
    }
    return slice(m->in, m->x, starts, m->to);
}

static bool integer_of(const jx_term *term, int64_t *to)
{
    const jx_dtype_info *info = jx_dtype_of(term->aval->dtype);
    uint64_t bits;

    if (term->kind != JX_TERM_SCALAR ||
        (info->kind != JX_KIND_INT && info->kind != JX_KIND_UINT &&
         info->kind != JX_KIND_BOOL))
        return false;
    bits = jx_element_integer(term->aval->dtype, term->bits);
    *to = (int64_t)bits;
    return info->kind == JX_KIND_INT || bits <= INT64_MAX;
}

/* Starts are clamped, so one along an axis taken whole does not matter. */
static const jx_term *move_dynamic_slice(const moving *m)
{
    int rank = m->to->rank;
    int64_t *starts = JX_NEW_ARRAY(m->in->ctx->arena, rank, int64_t);

    if (!starts || m->eqn->nins != rank + 1 || m->x->aval->rank != rank)
        return NULL;
    for (int i = 0; i < rank; i++) {
        int64_t size, part;
        if (m->x->aval->shape[i] == m->to->shape[i])
            continue;
        if (!jx_dim_is_int(m->x->aval->shape[i], &size) ||
            !jx_dim_is_int(m->to->shape[i], &part) || part > size ||
            !integer_of(m->ins[i + 1], &starts[i]))
            return NULL;
        starts[i] = starts[i] > size - part ? size - part : starts[i];
        starts[i] = starts[i] < 0 ? 0 : starts[i];
    }
    return slice(m->in, m->x, starts, m->to);
}

static const jx_term *move_pad(const moving *m)
{
    const jx_dim_tuples *config =
        &((const jx_p_pad *)m->eqn->typed)->padding_config;
    int64_t value;

    for (int i = 0; i < 3 * config->count; i++)
        if (!jx_dim_is_int(config->at[i], &value) ||
            (value && (i % 3 != 2 || !is_one(m->to->shape[i / 3]))))
            return NULL;
    return jx_aval_same_shape(m->x->aval, m->to) ? m->x : NULL;
}

/* One number in all elements: sets *to if it is an integer. */
static bool whole_of(const jx_term *term, int64_t *to)
{
    return integer_of(term->kind == JX_TERM_SPLAT ? term->ins[0] : term, to);
}

/* Integers: x + 0, x - 0, x * 1. */
static const jx_term *move_nothing(const moving *m)
{
    jx_prim_id id = m->eqn->prim->id;
    int64_t neutral = id == JX_PRIM_mul, found;

    if (!jx_dtype_is_integer(m->to->dtype) || m->eqn->nins != 2)
        return NULL;
    if (whole_of(m->ins[1], &found) && found == neutral)
        return m->x;
    if (id != JX_PRIM_sub && whole_of(m->x, &found) && found == neutral)
        return m->ins[1];
    return NULL;
}

/* A predicate that is known. */
static const jx_term *move_select(const moving *m)
{
    const jx_term *which = m->x->kind == JX_TERM_SPLAT ? m->x->ins[0] : m->x;
    int64_t index;

    if (!integer_of(which, &index) || index < 0 || index >= m->eqn->nins - 1)
        return NULL;
    return jx_aval_same_shape(m->ins[index + 1]->aval, m->to)
               ? m->ins[index + 1]
               : NULL;
}

static const jx_term *move_one(const moving *m)
{
    switch (m->eqn->prim->id) {
    case JX_PRIM_convert_element_type:
        return m->x->aval->dtype == m->to->dtype ? m->x : NULL;
    case JX_PRIM_reshape:
        if (((const jx_p_reshape *)m->eqn->typed)->dimensions.count ||
            m->eqn->nins != 1)
            return NULL;
        return reshape(m->in, m->x, m->to);
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims: return reshape(m->in, m->x, m->to);
    case JX_PRIM_broadcast_in_dim: return move_broadcast(m);
    case JX_PRIM_pvary: return m->x; /* of types alone */
    case JX_PRIM_transpose: return move_transpose(m);
    case JX_PRIM_rev: return move_rev(m);
    case JX_PRIM_slice: return move_slice(m);
    case JX_PRIM_dynamic_slice: return move_dynamic_slice(m);
    case JX_PRIM_pad: return move_pad(m);
    case JX_PRIM_select_n: return move_select(m);
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul: return move_nothing(m);
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_prod:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
    case JX_PRIM_reduce_and:
    case JX_PRIM_reduce_or:
        return ((const jx_p_axes *)m->eqn->typed)->axes.count ? NULL : m->x;
    default: return NULL;
    }
}

/* ---- equations */

static const jx_term *make_node(jx_terms *in, const jx_eqn *eqn,
                                const jx_aval *aval, int nins, int nresults,
                                const jx_term *const *ins, int64_t which)
{
    return keep(in, &(jx_term){.kind = JX_TERM_NODE,
                               .aval = aval,
                               .eqn = eqn,
                               .by_name = in->by_name,
                               .nins = nins,
                               .nresults = nresults,
                               .ins = ins,
                               .nnumbers = which != 0,
                               .numbers = &which});
}

/* Computes the equation on these, if they are all known. */
static bool fold_known(const jx_eqn *eqn, const jx_term *const *of,
                       unsigned char bits[16])
{
    jx_scalar scalars[3];

    if (eqn->nouts != 1 || eqn->nins > 3)
        return false;
    for (int i = 0; i < eqn->nins; i++) {
        if (of[i]->kind != JX_TERM_SCALAR)
            return false;
        scalars[i] = (jx_scalar){of[i]->aval->dtype, of[i]->bits};
    }
    return jx_fold(eqn->prim->id, eqn->nins, scalars, eqn->outs[0]->aval->dtype,
                   bits);
}

/* Operands of what commutes in order. */
static void put_in_order(const jx_terms *in, const jx_eqn *eqn,
                         const jx_term **of)
{
    jx_prim_id id = eqn->prim->id;

    if (in->commutes && eqn->nins == 2 && of[0]->id > of[1]->id &&
        (id == JX_PRIM_add || id == JX_PRIM_add_any || id == JX_PRIM_mul)) {
        const jx_term *first = of[0];
        of[0] = of[1];
        of[1] = first;
    }
}

/* Elements are computed alone: an operand that is one value everywhere is that
 * value, and so is the result if all of them are. */
static const jx_term *elementwise(jx_terms *in, const jx_eqn *eqn,
                                  const jx_term *const *ins)
{
    const jx_aval *to = eqn->outs[0]->aval;
    const jx_term **of =
        JX_NEW_ARRAY(in->ctx->arena, eqn->nins, const jx_term *);
    const jx_aval *aval = scalar_aval(in, to);
    unsigned char bits[16];
    bool all = true;

    if (!of || !aval)
        return NULL;
    for (int i = 0; i < eqn->nins; i++) {
        of[i] = ins[i]->kind == JX_TERM_SPLAT ? ins[i]->ins[0] : ins[i];
        all = all && of[i]->aval->rank == 0;
    }
    put_in_order(in, eqn, of);
    if (!all)
        return make_node(in, eqn, to, eqn->nins, 0, of, 0);
    if (fold_known(eqn, of, bits))
        return splat(in, scalar(in, aval, bits, sizeof bits), to);
    return splat(in, make_node(in, eqn, aval, eqn->nins, 0, of, 0), to);
}

/* Operands without elements add nothing. */
static const jx_term *concatenate(jx_terms *in, const jx_eqn *eqn,
                                  const jx_term *const *ins)
{
    const jx_aval *to = eqn->outs[0]->aval;
    const jx_term **of =
        JX_NEW_ARRAY(in->ctx->arena, eqn->nins, const jx_term *);
    int n = 0;

    for (int i = 0; of && i < eqn->nins; i++)
        if (ins[i]->kind != JX_TERM_EMPTY)
            of[n++] = ins[i];
    if (!of)
        return NULL;
    if (n == 1 && jx_aval_same_shape(of[0]->aval, to))
        return of[0];
    return make_node(in, eqn, to, n, 0, of, 0);
}

static bool is_array(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY;
}

/* The one result of an equation that may be simpler than it looks; NULL if it
 * is not. */
static const jx_term *simple(jx_terms *in, const jx_eqn *eqn,
                             const jx_term *const *ins)
{
    const jx_aval *to = eqn->outs[0]->aval;
    moving m = {in, eqn, ins, eqn->nins ? ins[0] : NULL, to};
    const jx_term *found;

    if (!eqn->typed || !is_array(to))
        return NULL;
    for (int i = 0; i < eqn->nins; i++)
        if (!is_array(ins[i]->aval))
            return NULL;
    found = m.x ? move_one(&m) : NULL;
    if (found && jx_aval_same_values(found->aval, to))
        return found;
    if (eqn->prim->id == JX_PRIM_concatenate)
        return concatenate(in, eqn, ins);
    if (m.x && jx_prim_in_family(eqn->prim->id, "elementwise"))
        return elementwise(in, eqn, ins);
    return NULL;
}

/* A branch that is known gives what its body gives. */
static bool known_branch(const jx_eqn *eqn, const jx_term *const *ins,
                         int nresults, const jx_term *const *results,
                         const jx_term **outs)
{
    int64_t index;

    if (eqn->prim->id != JX_PRIM_cond || !eqn->nins || !eqn->nouts ||
        nresults % eqn->nouts || !nresults || !integer_of(ins[0], &index))
        return false;
    int64_t last = nresults / eqn->nouts - 1;
    index = index < 0 ? 0 : index > last ? last : index;
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = results[index * eqn->nouts + i];
    return true;
}

static bool same_again(const jx_terms *in, const jx_eqn *eqn,
                       const jx_term *const *ins, const jx_term **outs)
{
    if (!jx_prim_in_family(eqn->prim->id, "identity") ||
        eqn->nins != eqn->nouts ||
        (in->differentiated && eqn->prim->id == JX_PRIM_stop_gradient))
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        if (!jx_aval_same_values(ins[i]->aval, eqn->outs[i]->aval))
            return false;
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = ins[i];
    return true;
}

const jx_term *jx_term_effect(jx_terms *in, const jx_eqn *eqn,
                              const jx_term *const *ins, int nresults,
                              const jx_term *const *results, int64_t which)
{
    size_t n = (size_t)eqn->nins + (size_t)nresults;
    const jx_term **all = JX_NEW_ARRAY(in->ctx->arena, n, const jx_term *);

    if (!all)
        return NULL;
    if (eqn->nins)
        memcpy(all, ins, (size_t)eqn->nins * sizeof *all);
    if (nresults)
        memcpy(all + eqn->nins, results, (size_t)nresults * sizeof *all);
    return make_node(in, eqn, eqn->nouts ? eqn->outs[0]->aval : NULL, eqn->nins,
                     nresults, all, which);
}

/* Of x, from `start` on along an axis as much as `size`, in the shape `to`. */
static const jx_term *part(jx_terms *in, const jx_term *x, int64_t axis,
                           int64_t start, const jx_dim *size, const jx_aval *to)
{
    int rank = x->aval->rank;
    int64_t *starts = JX_NEW_ARRAY(in->ctx->arena, rank, int64_t);
    const jx_dim **shape = JX_NEW_ARRAY(in->ctx->arena, rank, const jx_dim *);
    jx_aval *aval = JX_NEW(in->ctx->arena, jx_aval);
    const jx_term *cut;

    if (!starts || !shape || !aval)
        return NULL;
    memcpy(shape, x->aval->shape, (size_t)rank * sizeof *shape);
    shape[axis] = size;
    starts[axis] = start;
    *aval = *to;
    aval->rank = rank;
    aval->shape = shape;
    cut = slice(in, x, starts, aval);
    return cut ? reshape(in, cut, to) : NULL;
}

/* `split` and `unstack` are slices, as which other programs say the same. */
static bool cut_apart(jx_terms *in, const jx_eqn *eqn, const jx_term *x,
                      const jx_term **outs)
{
    bool splits = eqn->prim->id == JX_PRIM_split;
    int64_t start = 0, length, axis;
    const jx_p_split *split = eqn->typed;
    const jx_p_stack *unstack = eqn->typed;

    if (!eqn->typed || (!splits && eqn->prim->id != JX_PRIM_unstack))
        return false;
    axis = splits ? split->axis : unstack->axis;
    if (!is_array(x->aval) || axis < 0 || axis >= x->aval->rank ||
        (splits && split->sizes.count != eqn->nouts))
        return false;
    for (int i = 0; i < eqn->nouts; i++, start += length) {
        const jx_dim *size = splits ? split->sizes.at[i] : in->one;
        if (!jx_dim_is_int(size, &length))
            return false;
        outs[i] = is_empty(eqn->outs[i]->aval)
                      ? empty(in, eqn->outs[i]->aval)
                      : part(in, x, axis, start, size, eqn->outs[i]->aval);
        if (!outs[i] || !jx_aval_same_values(outs[i]->aval, eqn->outs[i]->aval))
            return false;
    }
    return true;
}

static const jx_term *result_of(jx_terms *in, const jx_eqn *eqn,
                                const jx_term *node, int64_t i)
{
    const jx_aval *aval = eqn->outs[i]->aval;

    if (is_empty(aval))
        return empty(in, aval);
    if (eqn->nouts == 1)
        return node;
    return keep(in, &(jx_term){.kind = JX_TERM_RESULT,
                               .aval = aval,
                               .nins = 1,
                               .ins = &node,
                               .nnumbers = 1,
                               .numbers = &i});
}

bool jx_term_apply(jx_terms *in, const jx_eqn *eqn, const jx_term *const *ins,
                   int nresults, const jx_term *const *results, int64_t which,
                   const jx_term **outs)
{
    const jx_term *node;

    if (!which && eqn->nouts == 1) {
        if (is_empty(eqn->outs[0]->aval))
            return (outs[0] = empty(in, eqn->outs[0]->aval)) != NULL;
        if ((outs[0] = simple(in, eqn, ins)))
            return true;
    }
    if (!which && (same_again(in, eqn, ins, outs) ||
                   known_branch(eqn, ins, nresults, results, outs) ||
                   (eqn->nins == 1 && cut_apart(in, eqn, ins[0], outs))))
        return true;
    node = jx_term_effect(in, eqn, ins, nresults, results, which);
    for (int i = 0; node && i < eqn->nouts; i++)
        if (!(outs[i] = result_of(in, eqn, node, i)))
            return false;
    return node != NULL;
}
