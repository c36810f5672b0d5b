/* key_views.c - see key_views.h. */
#include "analyzer/lint/key_views.h"
#include "analyzer/lint/turns.h"
#include "frontend/base/assert.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"

#include <string.h>

enum { MAX_RANK = 16 };

bool jx_keys_init(jx_keys *keys, const jx_flat *flat)
{
    *keys = (jx_keys){.flat = flat, .arena = flat->program->ctx->arena};
    keys->views =
        JX_NEW_ARRAY(keys->arena, flat->values.count, const jx_key_view *);
    if (!keys->views)
        return false;
    /* What a value is made of has a lower number, so nothing nests deeply. */
    for (size_t i = 0; i < flat->values.count; i++)
        jx_keys_of(keys, (int)i);
    return jx_ok(flat->program->ctx);
}

/* -- shapes of keys -------------------------------------------------------- */

bool jx_keys_fit(const jx_aval *aval)
{
    int64_t words;

    if (aval->kind != JX_AVAL_ARRAY)
        return false;
    if (aval->dtype == JX_KEY)
        return true;
    return aval->dtype == JX_U32 && aval->rank > 0 &&
           jx_dim_is_int(aval->shape[aval->rank - 1], &words) &&
           (words == 2 || words == 4);
}

static int key_rank(const jx_aval *aval)
{
    return aval->dtype == JX_KEY ? aval->rank : aval->rank - 1;
}

/* The sizes of the axes of keys, and their product; false where one is not
 * known, and for too many. */
static bool key_shape(const jx_aval *aval, int64_t *shape, int64_t *count)
{
    int rank = key_rank(aval);

    *count = 1;
    if (rank > MAX_RANK)
        return false;
    for (int i = 0; i < rank; i++)
        if (!jx_dim_is_int(aval->shape[i], &shape[i]) ||
            __builtin_mul_overflow(*count, shape[i], count) ||
            *count > JX_KEYS_MOST)
            return false;
    return true;
}

/* -- sources --------------------------------------------------------------- */

const jx_key_source *jx_key_source_of(const jx_keys *keys, int id)
{
    return &keys->sources.at[keys->source_of.at[id]];
}

static const jx_key_view *put(jx_keys *keys, int value, int count,
                              const int *ids, bool coarse)
{
    jx_key_view *view = JX_NEW(keys->arena, jx_key_view);

    if (!view)
        return NULL;
    *view = (jx_key_view){count, ids, coarse};
    keys->views[value] = view;
    return view;
}

static const jx_key_view *new_source(jx_keys *keys, int value, jx_key_link link,
                                     const jx_key_view *parents)
{
    int64_t shape[MAX_RANK], count;
    bool coarse = !key_shape(keys->flat->values.at[value].aval, shape, &count);
    jx_key_source source = {.value = value,
                            .first = (int)keys->source_of.count,
                            .count = coarse ? 1 : (int)count,
                            .coarse = coarse,
                            .link = parents ? link : JX_KEYS_ALONE};
    int *ids = JX_NEW_ARRAY(keys->arena, source.count, int);

    if (!ids)
        return NULL;
    if (parents) {
        source.nparents = parents->count;
        source.parents = parents->ids;
    }
    if (source.link == JX_KEYS_CARRIED && source.nparents != source.count)
        source.link = JX_KEYS_ALONE;
    for (int i = 0; i < source.count; i++) {
        ids[i] = source.first + i;
        JX_PUSH(keys->arena, &keys->source_of, (int)keys->sources.count);
    }
    JX_PUSH(keys->arena, &keys->sources, source);
    return put(keys, value, source.count, ids, coarse);
}

/* -- views ----------------------------------------------------------------- */

/* Where the elements of a view lie in what it is a view of: at `base`, and a
 * `step` further along each axis. */
typedef struct steps {
    int rank;
    int64_t shape[MAX_RANK], step[MAX_RANK], base;
} steps;

static void strides(int rank, const int64_t *shape, int64_t *to)
{
    int64_t stride = 1;

    for (int i = rank; i-- > 0; stride *= shape[i])
        to[i] = stride;
}

static const jx_key_view *take(jx_keys *keys, int value,
                               const jx_key_view *from, const steps *s)
{
    int64_t count = 1, at;
    int *ids;

    for (int i = 0; i < s->rank; i++)
        count *= s->shape[i];
    ids = JX_NEW_ARRAY(keys->arena, (int)count, int);
    if (!ids)
        return NULL;
    for (int64_t n = 0; n < count; n++) {
        int64_t left = n;
        at = s->base;
        for (int i = s->rank; i-- > 0; left /= s->shape[i])
            at += left % s->shape[i] * s->step[i];
        JX_ASSERT(at >= 0 && at < from->count);
        ids[n] = from->ids[at];
    }
    return put(keys, value, (int)count, ids, false);
}

static const jx_key_view *same(jx_keys *keys, int value,
                               const jx_key_view *from)
{
    int64_t shape[MAX_RANK], count;
    bool known = key_shape(keys->flat->values.at[value].aval, shape, &count);

    if (from->coarse ? known : !known || count != from->count)
        return new_source(keys, value, JX_KEYS_CHOSEN, from);
    return put(keys, value, from->count, from->ids, from->coarse);
}

/* Fills in how the result of a node lies in its first operand, if that is
 * known; the axis of a raw key's words is left whole. */
static bool steps_of(const jx_keys *keys, const jx_flat_node *node, int out,
                     steps *s)
{
    const jx_aval *from = keys->flat->values.at[node->ins[0]].aval;
    const jx_aval *to = keys->flat->values.at[node->outs[out]].aval;
    const void *p = node->eqn->typed;
    int64_t shape[MAX_RANK], stride[MAX_RANK], count, start, limit;
    int rank = key_rank(from);

    if (!p || !key_shape(from, shape, &count) ||
        !key_shape(to, s->shape, &count))
        return false;
    s->rank = key_rank(to);
    strides(rank, shape, stride);
    switch (node->eqn->prim->id) {
    case JX_PRIM_slice: {
        const jx_p_slice *slice = p;
        for (int i = 0; i < from->rank; i++) {
            int64_t by = 1;
            if (!jx_dim_is_int(slice->start_indices.at[i], &start) ||
                !jx_dim_is_int(slice->limit_indices.at[i], &limit) ||
                (slice->strides.given &&
                 !jx_dim_is_int(slice->strides.at[i], &by)))
                return false;
            if (i < rank) {
                s->base += start * stride[i];
                s->step[i] = by * stride[i];
            } else if (start != 0 || by != 1) {
                return false;
            }
        }
        return true;
    }
    case JX_PRIM_split: {
        const jx_p_split *split = p;
        if (split->axis >= rank)
            return false;
        for (int i = 0; i < out; i++) {
            if (!jx_dim_is_int(split->sizes.at[i], &start))
                return false;
            s->base += start * stride[split->axis];
        }
        for (int i = 0; i < rank; i++)
            s->step[i] = stride[i];
        return true;
    }
    case JX_PRIM_unstack: {
        const jx_p_stack *unstack = p;
        if (unstack->axis >= rank)
            return false;
        s->base = out * stride[unstack->axis];
        for (int i = 0, k = 0; i < rank; i++)
            if (i != unstack->axis)
                s->step[k++] = stride[i];
        return true;
    }
    case JX_PRIM_transpose: {
        const jx_p_transpose *transpose = p;
        for (int i = 0; i < from->rank; i++)
            if (i < rank ? transpose->permutation.at[i] >= rank
                         : transpose->permutation.at[i] != i)
                return false;
        for (int i = 0; i < rank; i++)
            s->step[i] = stride[transpose->permutation.at[i]];
        return true;
    }
    case JX_PRIM_rev: {
        const jx_p_dimensions *rev = p;
        for (int i = 0; i < from->rank; i++) {
            bool turned = jx_ints_hold(rev->dimensions, i);
            if (turned && i >= rank)
                return false;
            if (i < rank) {
                s->step[i] = turned ? -stride[i] : stride[i];
                s->base += turned ? (shape[i] - 1) * stride[i] : 0;
            }
        }
        return true;
    }
    case JX_PRIM_broadcast_in_dim: {
        const jx_p_broadcast_in_dim *broadcast = p;
        for (int i = 0; i < from->rank; i++) {
            int64_t axis = broadcast->broadcast_dimensions.at[i];
            if (i < rank ? axis >= s->rank : axis != s->rank)
                return false;
            if (i < rank)
                s->step[axis] = shape[i] == 1 ? 0 : stride[i];
        }
        return true;
    }
    default: return false;
    }
}

static const jx_key_view *joined(jx_keys *keys, const jx_flat_node *node,
                                 int64_t axis)
{
    const jx_aval *aval = keys->flat->values.at[node->outs[0]].aval;
    int64_t shape[MAX_RANK], own[MAX_RANK], count, inner = 1, at = 0;
    int *ids;

    if (!key_shape(aval, shape, &count) || axis < 0 || axis >= key_rank(aval))
        return new_source(keys, node->outs[0], JX_KEYS_ALONE, NULL);
    for (int i = (int)axis + 1; i < key_rank(aval); i++)
        inner *= shape[i];
    ids = JX_NEW_ARRAY(keys->arena, (int)count, int);
    if (!ids)
        return NULL;
    for (int k = 0; k < node->nins; k++) {
        const jx_key_view *part = jx_keys_of(keys, node->ins[k]);
        int64_t of, size;
        if (!part ||
            !key_shape(keys->flat->values.at[node->ins[k]].aval, own, &of))
            return new_source(keys, node->outs[0], JX_KEYS_ALONE, NULL);
        size = node->eqn->prim->id == JX_PRIM_stack ? 1 : own[axis];
        for (int64_t i = 0; i < of; i++)
            ids[(i / (size * inner) * shape[axis] + at) * inner +
                i % (size * inner)] = part->ids[i];
        at += size;
    }
    return put(keys, node->outs[0], (int)count, ids, false);
}

/* The index that all operands of a dynamic slice say, as literals. */
static bool fixed_steps(const jx_keys *keys, const jx_flat_node *node, steps *s)
{
    const jx_aval *from = keys->flat->values.at[node->ins[0]].aval;
    const jx_aval *to = keys->flat->values.at[node->outs[0]].aval;
    int64_t shape[MAX_RANK], stride[MAX_RANK], count;
    int rank = key_rank(from);

    if (node->nins != 1 + from->rank || !key_shape(from, shape, &count) ||
        !key_shape(to, s->shape, &count))
        return false;
    s->rank = rank;
    strides(rank, shape, stride);
    for (int i = 0; i < rank; i++) {
        const jx_literal *literal =
            keys->flat->values.at[node->ins[1 + i]].literal;
        int64_t start;
        if (!literal || literal->dim || literal->array)
            return false;
        start = (int64_t)jx_element_real(literal->aval->dtype, literal->bits);
        if (start > shape[i] - s->shape[i])
            start = shape[i] - s->shape[i];
        s->base += (start < 0 ? 0 : start) * stride[i];
        s->step[i] = stride[i];
    }
    return true;
}

/* One row for each index, from the first axis. */
static bool takes_rows(const jx_keys *keys, const jx_flat_node *node)
{
    const jx_p_gather *p = node->eqn->typed;
    const jx_aval *of = keys->flat->values.at[node->ins[0]].aval;
    const jx_aval *to = keys->flat->values.at[node->outs[0]].aval;
    const jx_gather_dims *d = p ? &p->dimension_numbers : NULL;
    int64_t size;

    if (!d || d->operand_batching_dims.count || !d->start_index_map.count ||
        d->start_index_map.at[0] != 0 || p->slice_sizes.count != of->rank)
        return false;
    for (int i = 0; i < of->rank; i++)
        if (i ? p->slice_sizes.at[i] != of->shape[i]
              : !jx_dim_is_int(p->slice_sizes.at[i], &size) || size != 1)
            return false;
    return of->dtype == JX_KEY || jx_ints_hold(d->offset_dims, to->rank - 1);
}

/* Rows that numbers say which the program computes of nothing: keys[i // 2],
 * mapped over i, or jnp.take(keys, 2). */
static const jx_key_view *taken_rows(jx_keys *keys, const jx_flat_node *node,
                                     const jx_key_view *from)
{
    const jx_aval *of = keys->flat->values.at[node->ins[0]].aval;
    int64_t shape[MAX_RANK], rows, count, row;
    int *ids;

    if (key_rank(of) != 1 || !key_shape(of, shape, &rows) ||
        !key_shape(keys->flat->values.at[node->outs[0]].aval, shape, &count) ||
        !takes_rows(keys, node))
        return NULL;
    ids = JX_NEW_ARRAY(keys->arena, (int)count, int);
    for (int64_t i = 0; ids && i < count; i++) {
        if (!jx_first_index_of(keys->flat, node->ins[1], i, count, &row) ||
            row < 0 || row >= rows)
            return NULL;
        ids[i] = from->ids[row];
    }
    return ids ? put(keys, node->outs[0], (int)count, ids, false) : NULL;
}

/* What one predicate chooses for all keys, or each for its own. */
static const jx_key_view *either(jx_keys *keys, int value, int count,
                                 const int *cases)
{
    const jx_key_view *first = jx_keys_of(keys, cases[0]), *view;
    jx_key_view all = {0};
    int *ids;

    if (!first || first->coarse || count * first->count > JX_KEYS_MOST)
        return new_source(keys, value, JX_KEYS_ALONE, NULL);
    ids = JX_NEW_ARRAY(keys->arena, count * first->count, int);
    for (int i = 0; ids && i < count; i++, all.count += first->count) {
        view = jx_keys_of(keys, cases[i]);
        if (!view || view->coarse || view->count != first->count)
            return new_source(keys, value, JX_KEYS_ALONE, NULL);
        memcpy(ids + all.count, view->ids, (size_t)first->count * sizeof *ids);
    }
    all.ids = ids;
    return ids ? new_source(keys, value, JX_KEYS_EITHER, &all) : NULL;
}

/* Somebody wrote jnp.where: the map of a cond chooses, too, and has done what
 * all of its branches do. */
static bool is_where(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_value *name =
        node->calls ? jx_eqn_param(node->calls->eqn, "name") : NULL;

    return name && name->text && strcmp(name->text, "_where") == 0 &&
           (flat->values.at[node->outs[0]].aval->dtype == JX_KEY ||
            !flat->values.at[node->ins[0]].aval->rank);
}

static const jx_key_view *view_of_node(jx_keys *keys, int value)
{
    const jx_flat_node *node =
        &keys->flat->nodes.at[keys->flat->values.at[value].node];
    const jx_key_view *from =
        node->nins ? jx_keys_of(keys, node->ins[0]) : NULL;
    steps s = {0};
    int out = 0;

    while (node->outs[out] != value)
        out++;
    switch (node->eqn->prim->id) {
    case JX_PRIM_random_wrap:
    case JX_PRIM_random_unwrap:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_expand_dims:
    case JX_PRIM_copy:
    case JX_PRIM_copy_p:
    case JX_PRIM_name:
    case JX_PRIM_stop_gradient:
    case JX_PRIM_sharding_constraint:
    case JX_PRIM_reshard:
    case JX_PRIM_layout_constraint:
        return from ? same(keys, value, from)
                    : new_source(keys, value, JX_KEYS_ALONE, NULL);
    case JX_PRIM_optimization_barrier:
    case JX_PRIM_device_put:
        from = out < node->nins ? jx_keys_of(keys, node->ins[out]) : NULL;
        return from ? same(keys, value, from)
                    : new_source(keys, value, JX_KEYS_ALONE, NULL);
    case JX_PRIM_slice:
    case JX_PRIM_split:
    case JX_PRIM_unstack:
    case JX_PRIM_transpose:
    case JX_PRIM_rev:
    case JX_PRIM_broadcast_in_dim:
        if (from && !from->coarse && steps_of(keys, node, out, &s))
            return take(keys, value, from, &s);
        return new_source(keys, value, JX_KEYS_CHOSEN, from);
    case JX_PRIM_dynamic_slice:
        if (from && !from->coarse && fixed_steps(keys, node, &s))
            return take(keys, value, from, &s);
        return new_source(keys, value, JX_KEYS_CHOSEN, from);
    case JX_PRIM_gather: {
        const jx_key_view *rows =
            from && !from->coarse ? taken_rows(keys, node, from) : NULL;
        return rows ? rows : new_source(keys, value, JX_KEYS_CHOSEN, from);
    }
    case JX_PRIM_select_n:
        return is_where(keys->flat, node)
                   ? either(keys, value, node->nins - 1, node->ins + 1)
                   : new_source(keys, value, JX_KEYS_ALONE, NULL);
    case JX_PRIM_concatenate:
        return joined(
            keys, node,
            node->eqn->typed
                ? ((const jx_p_concatenate *)node->eqn->typed)->dimension
                : -1);
    case JX_PRIM_stack:
        return joined(keys, node,
                      node->eqn->typed
                          ? ((const jx_p_stack *)node->eqn->typed)->axis
                          : -1);
    default: return new_source(keys, value, JX_KEYS_ALONE, NULL);
    }
}

/* -- loops and branches ---------------------------------------------------- */

/* The operand with which an input of a body begins, how it goes on, and what
 * takes its place; -1 where that is not known. */
typedef struct entering {
    int operand, result;
    jx_key_link link;
} entering;

static entering enters_as(const jx_keys *keys, const jx_flat_value *v)
{
    const jx_flat_body *body = &keys->flat->bodies.at[v->inside - 1];
    const jx_flat_node *node =
        body->node < 0 ? NULL : &keys->flat->nodes.at[body->node];
    entering to = {-1, -1, JX_KEYS_ALONE};

    if (!node)
        return to;
    if (node->eqn->prim->id == JX_PRIM_scan) {
        const jx_p_scan *p = node->eqn->typed;
        bool carried = v->input < p->num_carry;
        to.operand = node->ins[p->num_consts + v->input];
        to.link = carried ? JX_KEYS_CARRIED : JX_KEYS_SLICED;
        to.result = carried ? node->results[v->input] : -1;
    } else if (node->eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *p = node->eqn->typed;
        int nouts = p->cond_jaxpr.jaxpr->nouts;
        to.operand = node->ins[p->cond_nconsts + p->body_nconsts + v->input];
        to.link = JX_KEYS_CARRIED;
        /* Its test sees what its body does. */
        to.result = body->which == 1 ? node->results[nouts + v->input] : -1;
    }
    return to;
}

int jx_keys_next_of(const jx_keys *keys, int value)
{
    const jx_flat_value *v = &keys->flat->values.at[value];

    return v->inside && v->input >= 0 ? enters_as(keys, v).result : -1;
}

static const jx_key_view *view_of_input(jx_keys *keys, int value)
{
    const jx_flat_value *v = &keys->flat->values.at[value];
    entering as =
        v->inside && v->input >= 0 ? enters_as(keys, v) : (entering){-1, -1, 0};
    const jx_key_view *from =
        as.operand >= 0 ? jx_keys_of(keys, as.operand) : NULL;

    if (from && as.result == value)
        return same(keys, value, from);
    return new_source(keys, value, as.link, from);
}

static const jx_key_view *either_branch(jx_keys *keys, int value,
                                        const jx_flat_node *node, int out)
{
    int count = node->nresults / node->nouts;
    int *cases = JX_NEW_ARRAY(keys->arena, count, int);

    for (int i = 0; cases && i < count; i++)
        cases[i] = node->results[out + i * node->nouts];
    return cases ? either(keys, value, count, cases) : NULL;
}

/* What a loop or branch gives, where that is what went in. */
static const jx_key_view *view_of_control(jx_keys *keys, int value)
{
    const jx_flat_node *node =
        &keys->flat->nodes.at[keys->flat->values.at[value].node];
    const jx_key_view *from = NULL, *other;
    int out = 0, first = 0;

    while (node->outs[out] != value)
        out++;
    if (node->eqn->prim->id == JX_PRIM_cond) {
        for (int i = out; i < node->nresults; i += node->nouts) {
            other = jx_keys_of(keys, node->results[i]);
            if (from && (!other || other->count != from->count ||
                         memcmp(other->ids, from->ids,
                                (size_t)from->count * sizeof(int)) != 0))
                return either_branch(keys, value, node, out);
            from = other;
        }
    } else if (node->eqn->prim->id == JX_PRIM_scan) {
        const jx_p_scan *p = node->eqn->typed;
        if (out < p->num_carry)
            from = jx_keys_of(keys, node->ins[p->num_consts + out]);
        first = out;
    } else if (node->eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *p = node->eqn->typed;
        from = jx_keys_of(keys,
                          node->ins[p->cond_nconsts + p->body_nconsts + out]);
        first = p->cond_jaxpr.jaxpr->nouts + out;
    }
    if (from && node->eqn->prim->id != JX_PRIM_cond) {
        other = jx_keys_of(keys, node->results[first]);
        if (!other || other->count != from->count ||
            memcmp(other->ids, from->ids, (size_t)from->count * sizeof(int)) !=
                0)
            from = NULL;
    }
    return from ? same(keys, value, from)
                : new_source(keys, value, JX_KEYS_ALONE, NULL);
}

const jx_key_view *jx_keys_of(jx_keys *keys, int value)
{
    const jx_flat_value *v = &keys->flat->values.at[value];

    if (keys->views[value] || !jx_keys_fit(v->aval))
        return keys->views[value];
    if (v->node < 0)
        return view_of_input(keys, value);
    if (keys->flat->nodes.at[v->node].nresults)
        return view_of_control(keys, value);
    return view_of_node(keys, value);
}
