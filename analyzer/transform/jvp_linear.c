/* jvp_linear.c - derivatives of what is linear in some operands, of reductions and of
 * sorting. */
#include "analyzer/transform/jvp_parts.h"

static const jx_atom nothing = {NULL, NULL};

static jx_atom *copy_of(jx_jvp *t, const jx_atom *ins)
{
    jx_atom *to = JX_NEW_ARRAY(jx_jvp_arena(t), t->eqn->nins + 1, jx_atom);

    for (int i = 0; to && i < t->eqn->nins; i++)
        to[i] = ins[i];
    return to;
}

static bool put_all(jx_jvp *t, const jx_atom *made)
{
    for (int i = 0; made && i < t->eqn->nouts; i++)
        t->touts[i] = made[i];
    return made != NULL;
}

static bool is_inexact(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && jx_dtype_is_inexact(aval->dtype);
}

/* A gather fills with zeros where it fills. */
static const jx_atom *gathered(jx_jvp *t, const jx_atom *ins)
{
    static const char *const without[] = {"fill_value", NULL};
    jx_params p = jx_jvp_others(t, without);
    const jx_aval *out = jx_jvp_out(t);

    jx_put_int(&p, "fill_value", 0);
    return jx_build_as(t->b, t->eqn->prim, &p, t->eqn->nins, ins, 1, &out);
}

/* In the first operand; the others say where, and have no tangents.  All results of
 * one that gives several are linear, where they are inexact. */
bool jx_jvp_linear(jx_jvp *t)
{
    jx_atom *ins = copy_of(t, t->ins);

    if (!ins || !jx_jvp_primal(t))
        return false;
    if (!is_inexact(jx_jvp_out(t)))
        return true;
    if (t->eqn->nins > 1 && t->eqn->prim->id == JX_PRIM_device_put)
        return jx_jvp_optimization_barrier(t);
    ins[0] = t->tins[0];
    return put_all(t, t->eqn->prim->id == JX_PRIM_gather ? gathered(t, ins)
                                                         : jx_jvp_again(t, ins));
}

/* Each operand's tangent goes where it goes. */
bool jx_jvp_optimization_barrier(jx_jvp *t)
{
    if (!jx_is_made(t->outs[0]) && !jx_jvp_primal(t))
        return false;
    for (int i = 0; i < t->eqn->nouts && i < t->eqn->nins; i++)
        t->touts[i] = t->tins[i];
    return true;
}

/* In all that are inexact together: where one has no tangent, it is 0. */
bool jx_jvp_linear_all(jx_jvp *t)
{
    jx_atom *ins = copy_of(t, t->ins);

    if (!ins || !jx_jvp_primal(t))
        return false;
    for (int i = 0; i < t->eqn->nins; i++)
        if (is_inexact(jx_atom_aval(t->ins[i])) && !jx_is_made(ins[i] = jx_jvp_full(t, i)))
            return false;
    return put_all(t, jx_jvp_again(t, ins));
}

/* A tangent in the shape of the result: an operand may be a scalar beside arrays. */
static jx_atom term(jx_jvp *t, int i)
{
    const jx_aval *out = jx_jvp_out(t);
    jx_atom a = t->tins[i];

    return !jx_is_made(a) || jx_atom_aval(a)->rank == out->rank
               ? a
               : jx_build_broadcast(t->b, a, (jx_ints){0, NULL}, out->rank, out->shape);
}

/* A sum: what has no tangent adds nothing. */
bool jx_jvp_add(jx_jvp *t)
{
    if (!jx_jvp_primal(t))
        return false;
    t->touts[0] = jx_jvp_sum(t, term(t, 0), term(t, 1));
    return jx_is_made(t->touts[0]);
}

bool jx_jvp_sub(jx_jvp *t)
{
    jx_atom second = term(t, 1);

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(second))
        second = jx_jvp_1(t, JX_PRIM_neg, second);
    t->touts[0] = jx_jvp_sum(t, term(t, 0), second);
    return jx_is_made(t->touts[0]);
}

/* In each of the first two. */
bool jx_jvp_bilinear(jx_jvp *t)
{
    jx_atom sum = nothing;

    if (!jx_jvp_primal(t))
        return false;
    if (!is_inexact(jx_jvp_out(t)))
        return true;
    for (int i = 0; i < 2; i++) {
        jx_atom *ins = copy_of(t, t->ins);
        const jx_atom *made = NULL;
        if (!ins)
            return false;
        if (!jx_is_made(t->tins[i]))
            continue;
        ins[i] = t->tins[i];
        if (!(made = jx_jvp_again(t, ins)))
            return false;
        sum = jx_jvp_sum(t, sum, *made);
    }
    t->touts[0] = sum;
    return jx_is_made(sum);
}

/* ---- reductions */

static jx_atom reduced(jx_jvp *t, jx_prim_id prim, jx_atom a, jx_ints axes)
{
    jx_params p = {.program = t->b->in->program};

    if (!jx_is_made(a))
        return a;
    jx_put_ints(&p, "axes", axes);
    return jx_build(t->b, prim, &p, 1, &a);
}

/* In the shape of the operand. */
static jx_atom spread(jx_jvp *t, jx_atom a, jx_ints axes)
{
    const jx_aval *of = jx_atom_aval(t->ins[0]);
    int64_t *kept = JX_NEW_ARRAY(jx_jvp_arena(t), of->rank + 1, int64_t);
    int count = 0;

    for (int i = 0; kept && i < of->rank; i++) {
        int k = 0;
        while (k < axes.count && axes.at[k] != i)
            k++;
        if (k == axes.count)
            kept[count++] = i;
    }
    return kept ? jx_build_broadcast(t->b, a, (jx_ints){count, kept}, of->rank, of->shape)
                : nothing;
}

/* The mean of the tangents of all elements that are the largest. */
bool jx_jvp_extremum(jx_jvp *t)
{
    jx_ints axes = ((const jx_p_axes *)t->eqn->typed)->axes;
    jx_dtype dtype = jx_jvp_out(t)->dtype;
    jx_atom is, one, sum;

    if (!jx_jvp_primal(t))
        return false;
    is = jx_jvp_2(t, JX_PRIM_eq, t->ins[0], spread(t, t->outs[0], axes));
    one = jx_build_convert(t->b, is, dtype, false);
    sum = reduced(t, JX_PRIM_reduce_sum, jx_jvp_2(t, JX_PRIM_mul, t->tins[0], one), axes);
    t->touts[0] = jx_jvp_2(t, JX_PRIM_div, sum, reduced(t, JX_PRIM_reduce_sum, one, axes));
    return jx_is_made(t->touts[0]);
}

/* ---- sorting: tangents go along behind the keys */

bool jx_jvp_sort(jx_jvp *t)
{
    int n = t->eqn->nins, count = n;
    jx_atom *ins = JX_NEW_ARRAY(jx_jvp_arena(t), 2 * n + 1, jx_atom);
    const jx_aval **outs = JX_NEW_ARRAY(jx_jvp_arena(t), 2 * n + 1, const jx_aval *);
    static const char *const all[] = {NULL};
    jx_params p = jx_jvp_others(t, all);
    const jx_atom *made;

    if (!ins || !outs)
        return false;
    for (int i = 0; i < n; i++) {
        ins[i] = t->ins[i];
        outs[i] = t->eqn->outs[i]->aval;
        if (!jx_is_made(t->tins[i]))
            continue;
        outs[count] = jx_atom_aval(t->tins[i]);
        ins[count++] = t->tins[i];
    }
    made = jx_build_as(t->b, t->eqn->prim, &p, count, ins, count, outs);
    for (int i = 0, k = n; made && i < n; i++) {
        t->outs[i] = made[i];
        if (jx_is_made(t->tins[i]))
            t->touts[i] = made[k++];
    }
    return made != NULL;
}

/* The elements of `a` along the last axis at the numbers `at`. */
static jx_atom taken(jx_jvp *t, jx_atom a, jx_atom at)
{
    static const char *const keys[] = {
        "offset_dims", "collapsed_slice_dims", "start_index_map",
        "operand_batching_dims", "start_indices_batching_dims"};
    const jx_aval *from = jx_atom_aval(a), *to = jx_atom_aval(at);
    jx_program *program = t->b->in->program;
    int rank = from->rank, last = rank - 1;
    int64_t *before = JX_NEW_ARRAY(jx_jvp_arena(t), rank, int64_t);
    int64_t *ones = JX_NEW_ARRAY(jx_jvp_arena(t), rank, int64_t);
    const jx_dim **shape = JX_NEW_ARRAY(jx_jvp_arena(t), rank + 1, const jx_dim *);
    const jx_value *items[5];
    jx_params p = {.program = program};

    if (!before || !ones || !shape)
        return nothing;
    for (int i = 0; i < rank; i++) {
        before[i] = i;
        ones[i] = 1;
        shape[i] = to->shape[i];
    }
    shape[rank] = jx_body_int(t->b, 1);
    const jx_ints none = {0, NULL}, axis = {1, (const int64_t[]){last}},
                  batch = {last, before};
    const jx_ints lists[5] = {none, axis, axis, batch, batch};
    for (int i = 0; i < 5; i++)
        items[i] = jx_value_of_ints(program, lists[i]);
    jx_put(&p, "dimension_numbers",
           jx_value_of_record(program, "GatherDimensionNumbers", 5, keys, items));
    jx_put_ints(&p, "slice_sizes", (jx_ints){rank, ones});
    jx_put_enum(&p, "mode", "GatherScatterMode.PROMISE_IN_BOUNDS");
    jx_put_none(&p, "fill_value");
    jx_put_bool(&p, "indices_are_sorted", false);
    jx_put_bool(&p, "unique_indices", false);
    const jx_atom ins[] = {a, jx_build_reshape(t->b, at, rank + 1, shape)};
    return jx_build(t->b, JX_PRIM_gather, &p, 2, ins);
}

bool jx_jvp_top_k(jx_jvp *t)
{
    const jx_p_top_k *p = t->eqn->typed;
    const jx_value *axis = jx_eqn_param(t->eqn, "axis");
    int rank = jx_jvp_out(t)->rank;

    if (axis && axis->tag == JX_V_INT && p->axis != -1 && p->axis != rank - 1)
        return jx_jvp_refuse(t, "its derivative along another axis than the last is not "
                                "known (PRM002)");
    if (!jx_jvp_primal(t))
        return false;
    t->touts[0] = taken(t, t->tins[0], t->outs[1]);
    return jx_is_made(t->touts[0]);
}
