/* jvp_linear.c - derivatives of what is linear in some operands, of reductions
 * and of sorting. */
#include "analyzer/transform/jvp_parts.h"

#include "analyzer/transform/mesh_parts.h"
#include "frontend/ir/build_matrix.h"

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

/* In the first operand; the others say where, and have no tangents.  All
 * results of one that gives several are linear, where they are inexact. */
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
    return put_all(t, t->eqn->prim->id == JX_PRIM_gather
                          ? gathered(t, ins)
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
        if (is_inexact(jx_atom_aval(t->ins[i])) &&
            !jx_is_made(ins[i] = jx_jvp_full(t, i)))
            return false;
    return put_all(t, jx_jvp_again(t, ins));
}

/* In each operand alone, of which the result of its number comes. */
bool jx_jvp_psum(jx_jvp *t)
{
    jx_atom *ins = copy_of(t, t->ins);
    const jx_atom *made;

    if (!ins || !jx_jvp_primal(t))
        return false;
    for (int i = 0; i < t->eqn->nins; i++)
        if (is_inexact(jx_atom_aval(t->ins[i])) &&
            !jx_is_made(ins[i] = jx_jvp_full(t, i)))
            return false;
    made = jx_jvp_again(t, ins);
    for (int i = 0; made && i < t->eqn->nouts && i < t->eqn->nins; i++)
        if (jx_is_made(t->tins[i]))
            t->touts[i] = made[i];
    return made != NULL;
}

/* A tangent in the shape of the result. */
static jx_atom term(jx_jvp *t, int i)
{
    return jx_math_spread(t->b, t->tins[i], jx_jvp_out(t));
}

/* A sum: what has no tangent adds nothing. */
bool jx_jvp_add(jx_jvp *t)
{
    if (!jx_jvp_primal(t))
        return false;
    t->touts[0] = jx_math_sum(t->b, term(t, 0), term(t, 1));
    return jx_is_made(t->touts[0]);
}

bool jx_jvp_sub(jx_jvp *t)
{
    jx_atom second = term(t, 1);

    if (!jx_jvp_primal(t))
        return false;
    if (jx_is_made(second))
        second = jx_math_1(t->b, JX_PRIM_neg, second);
    t->touts[0] = jx_math_sum(t->b, term(t, 0), second);
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
        sum = jx_math_sum(t->b, sum, *made);
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
        if (!jx_ints_hold(axes, i))
            kept[count++] = i;
    }
    return kept ? jx_build_broadcast(t->b, a, (jx_ints){count, kept}, of->rank,
                                     of->shape)
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
    is = jx_math_2(t->b, JX_PRIM_eq, t->ins[0], spread(t, t->outs[0], axes));
    one = jx_build_convert(t->b, is, dtype, false);
    sum = reduced(t, JX_PRIM_reduce_sum,
                  jx_math_2(t->b, JX_PRIM_mul, t->tins[0], one), axes);
    t->touts[0] = jx_math_2(t->b, JX_PRIM_div, sum,
                            reduced(t, JX_PRIM_reduce_sum, one, axes));
    return jx_is_made(t->touts[0]);
}

/* The operand with the axes that are reduced as one, the last. */
static jx_atom flattened(jx_jvp *t, jx_atom a, jx_ints axes)
{
    const jx_aval *of = jx_atom_aval(a);
    int64_t *order = JX_NEW_ARRAY(jx_jvp_arena(t), of->rank + 1, int64_t);
    const jx_dim **shape =
        JX_NEW_ARRAY(jx_jvp_arena(t), of->rank + 1, const jx_dim *);
    int count = 0, kept;

    if (!order || !shape)
        return nothing;
    for (int i = 0; i < of->rank; i++)
        if (!jx_ints_hold(axes, i)) {
            shape[count] = of->shape[i];
            order[count++] = i;
        }
    kept = count;
    shape[kept] = jx_body_int(t->b, 1);
    for (int i = 0; i < axes.count; i++) {
        order[count++] = axes.at[i];
        shape[kept] = jx_dim_mul(t->b->in->program->dims, shape[kept],
                                 of->shape[axes.at[i]]);
    }
    a = jx_build_transpose(t->b, a, (jx_ints){of->rank, order});
    return jx_is_made(a) ? jx_build_reshape(t->b, a, kept + 1, shape) : a;
}

/* Of each element the product of all before it (or behind it) along
 * the last axis. */
static jx_atom product_before(jx_jvp *t, jx_atom a, bool reverse)
{
    const jx_aval *of = jx_atom_aval(a);
    int64_t(*config)[3] =
        (void *)JX_NEW_ARRAY(jx_jvp_arena(t), 3 * of->rank, int64_t);
    const jx_dim **dims =
        JX_NEW_ARRAY(jx_jvp_arena(t), 3 * of->rank, const jx_dim *);
    jx_params p = {.program = t->b->in->program}, q = p;

    if (!config || !dims)
        return nothing;
    jx_put_int(&p, "axis", of->rank - 1);
    jx_put_bool(&p, "reverse", reverse);
    a = jx_build(t->b, JX_PRIM_cumprod, &p, 1, &a);
    config[of->rank - 1][0] = reverse ? -1 : 1;
    config[of->rank - 1][1] = reverse ? 1 : -1;
    for (int i = 0; i < 3 * of->rank; i++)
        dims[i] = jx_body_int(t->b, config[i / 3][i % 3]);
    jx_put_tuples(&q, "padding_config", of->rank, 3, dims);
    const jx_atom ins[] = {a, jx_math_number(t->b, a, 1)};
    return jx_is_made(a) ? jx_build(t->b, JX_PRIM_pad, &q, 2, ins) : a;
}

/* The sum of each element's tangent times the product of all others: nothing is
 * divided, since elements may be 0. */
bool jx_jvp_reduce_prod(jx_jvp *t)
{
    jx_ints axes = ((const jx_p_axes *)t->eqn->typed)->axes;
    jx_atom x = flattened(t, t->ins[0], axes),
            dx = flattened(t, t->tins[0], axes), others;

    if (!jx_is_made(x) || !jx_is_made(dx) || !jx_jvp_primal(t))
        return false;
    others = jx_math_2(t->b, JX_PRIM_mul, product_before(t, x, false),
                       product_before(t, x, true));
    t->touts[0] =
        jx_matrix_sum(t->b, jx_math_2(t->b, JX_PRIM_mul, dx, others), 1);
    return jx_is_made(t->touts[0]);
}

/* ---- sorting: tangents go where the keys went */

/* Sorts the numbers of elements along; these say where tangents go. */
bool jx_jvp_sort(jx_jvp *t)
{
    static const char *const all[] = {NULL};
    const jx_aval *each = jx_jvp_out(t), *number, **outs;
    int n = t->eqn->nins;
    jx_atom *ins = JX_NEW_ARRAY(jx_jvp_arena(t), n + 2, jx_atom);
    int64_t axis = ((const jx_p_sort *)t->eqn->typed)->dimension;
    jx_params p = jx_jvp_others(t, all),
              numbers = {.program = t->b->in->program};
    const jx_atom *made;

    outs = JX_NEW_ARRAY(jx_jvp_arena(t), n + 2, const jx_aval *);
    number = jx_body_aval(t->b, each, JX_I32, each->rank, each->shape);
    if (!ins || !outs || !number)
        return false;
    for (int i = 0; i < n; i++) {
        ins[i] = t->ins[i];
        outs[i] = t->eqn->outs[i]->aval;
    }
    jx_put_dtype(&numbers, "dtype", JX_I32);
    jx_put_dims(&numbers, "shape", each->rank, each->shape);
    jx_put_int(&numbers, "dimension", axis);
    jx_put_none(&numbers, "sharding");
    /* Where they go differs from device to device, as the keys do. */
    ins[n] =
        jx_mesh_pvary(t->b, jx_build(t->b, JX_PRIM_iota, &numbers, 0, NULL),
                      (jx_axis_names){each->varying.count, each->varying.at});
    outs[n] = number;
    made = jx_build_as(t->b, t->eqn->prim, &p, n + 1, ins, n + 1, outs);
    for (int i = 0; made && i < n; i++) {
        t->outs[i] = made[i];
        if (jx_is_made(t->tins[i]))
            t->touts[i] = jx_matrix_take(t->b, t->tins[i],
                                         each->rank - (int)axis, 0, made[n]);
    }
    return made != NULL;
}

/* Tangents go where the numbers of the second result say. */
bool jx_jvp_approx_top_k(jx_jvp *t)
{
    const jx_p_approx_top_k *p = t->eqn->typed;
    int rank = jx_jvp_out(t)->rank;
    int axis =
        (int)p->reduction_dimension + (p->reduction_dimension < 0 ? rank : 0);

    if (!jx_jvp_primal(t))
        return false;
    t->touts[0] = jx_matrix_take(t->b, t->tins[0], rank - axis, 0, t->outs[1]);
    return jx_is_made(t->touts[0]);
}

bool jx_jvp_top_k(jx_jvp *t)
{
    const jx_p_top_k *p = t->eqn->typed;
    const jx_value *axis = jx_eqn_param(t->eqn, "axis");
    int from_last = 1;

    if (axis && axis->tag == JX_V_INT)
        from_last =
            (int)(p->axis < 0 ? -p->axis : jx_jvp_out(t)->rank - p->axis);
    if (!jx_jvp_primal(t))
        return false;
    t->touts[0] = jx_matrix_take(t->b, t->tins[0], from_last, 0, t->outs[1]);
    return jx_is_made(t->touts[0]);
}
