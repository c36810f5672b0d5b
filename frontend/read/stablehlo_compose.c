/* stablehlo_compose.c - wide and older ops, by the primitives that the
 * specification composes them of: batch normalization, einsum, indexing. */
#include "frontend/read/stablehlo_parts.h"

/* ---- batch normalization */

typedef struct norm {
    jx_hlo_body *b;
    const jx_aval *aval; /* of the operand */
    int64_t feature;
    double epsilon;
} norm;

static bool begin_norm(jx_hlo_body *b, int operands, norm *n)
{
    jx_atom in = jx_hlo_in(b, 0);

    n->b = b;
    if (!jx_is_made(in) || b->op->nins != operands)
        return jx_hlo_refuse(b, "expected %d operands", operands);
    n->aval = jx_atom_aval(in);
    if (!jx_hlo_attr_int(b, "feature_index", &n->feature) ||
        !jx_hlo_attr_real(b, "epsilon", &n->epsilon))
        return false;
    if (n->feature < 0 || n->feature >= n->aval->rank)
        return jx_hlo_refuse(b,
                             "attribute 'feature_index': expected an axis "
                             "below %d",
                             n->aval->rank);
    return true;
}

static jx_atom two(const norm *n, jx_prim_id prim, jx_atom a, jx_atom c)
{
    return jx_is_made(a) && jx_is_made(c)
               ? jx_hlo_eqn2(n->b, prim, a, c, jx_atom_aval(a))
               : (jx_atom){NULL, NULL};
}

/* One number per feature at the shape of the operand. */
static jx_atom spread(const norm *n, jx_atom a)
{
    return jx_hlo_eqn_broadcast_dims(n->b, a, (jx_ints){1, &n->feature},
                                     n->aval->rank, n->aval->shape);
}

static jx_atom number(const norm *n, double value)
{
    return jx_hlo_eqn_broadcast(
        n->b, jx_build_number(&n->b->body, n->aval->dtype, value),
        n->aval->rank, n->aval->shape);
}

static jx_atom sum(const norm *n, jx_atom a)
{
    const jx_dim *size = n->aval->shape[n->feature];
    jx_params p = jx_hlo_no_params(n->b);
    int64_t axes[JX_HLO_RANK];
    int count = 0;

    for (int i = 0; i < n->aval->rank; i++)
        if (i != n->feature)
            axes[count++] = i;
    jx_put_ints(&p, "axes", (jx_ints){count, axes});
    jx_put_none(&p, "out_sharding");
    return jx_is_made(a)
               ? jx_hlo_eqn(n->b, JX_PRIM_reduce_sum, 1, &a, &p,
                            jx_hlo_array(n->b, n->aval->dtype, 1, &size))
               : a;
}

/* How many elements a feature has, as a literal of that size. */
static jx_atom elements(const norm *n, int rank)
{
    jx_dims *dims = n->b->s->program->dims;
    const jx_dim *count = jx_dim_int(dims, 1);
    const jx_dim *size = n->aval->shape[n->feature];
    jx_literal *literal;
    jx_atom one;

    for (int i = 0; i < n->aval->rank; i++)
        if (i != n->feature)
            count = jx_dim_mul(dims, count, n->aval->shape[i]);
    if (count && jx_dim_value(count) >= 0) {
        one = jx_build_number(&n->b->body, n->aval->dtype,
                              (double)jx_dim_value(count));
    } else {
        literal = JX_NEW(n->b->s->ctx->arena, jx_literal);
        if (!literal || !count)
            return (jx_atom){NULL, NULL};
        literal->aval = jx_hlo_array(n->b, JX_I32, 0, NULL);
        literal->dim = count;
        one =
            jx_hlo_eqn_convert(n->b, (jx_atom){NULL, literal}, n->aval->dtype);
    }
    return rank == 1
               ? jx_hlo_eqn_broadcast(n->b, one, 1, &size)
               : jx_hlo_eqn_broadcast(n->b, one, n->aval->rank, n->aval->shape);
}

static jx_atom mean_of(const norm *n, jx_atom a)
{
    return two(n, JX_PRIM_div, sum(n, a), elements(n, 1));
}

static jx_atom deviation(const norm *n, jx_atom variance)
{
    jx_atom a = two(n, JX_PRIM_add, spread(n, variance), number(n, n->epsilon));

    return jx_is_made(a) ? jx_hlo_eqn1(n->b, JX_PRIM_sqrt, a, n->aval) : a;
}

static jx_atom normalized(const norm *n, jx_atom scale, jx_atom offset,
                          jx_atom mean, jx_atom variance)
{
    jx_atom centered = two(n, JX_PRIM_sub, jx_hlo_in(n->b, 0), spread(n, mean));
    jx_atom unit = two(n, JX_PRIM_div, centered, deviation(n, variance));

    return two(n, JX_PRIM_add, two(n, JX_PRIM_mul, spread(n, scale), unit),
               spread(n, offset));
}

bool jx_hlo_op_batch_norm_inference(jx_hlo_body *b, const jx_mlir_op *op,
                                    const jx_hlo_row *row)
{
    norm n;

    (void)op, (void)row;
    return begin_norm(b, 5, &n) &&
           jx_hlo_define1(b, normalized(&n, jx_hlo_in(b, 1), jx_hlo_in(b, 2),
                                        jx_hlo_in(b, 3), jx_hlo_in(b, 4)));
}

bool jx_hlo_op_batch_norm_training(jx_hlo_body *b, const jx_mlir_op *op,
                                   const jx_hlo_row *row)
{
    jx_atom outs[3], centered;
    norm n;

    (void)op, (void)row;
    if (!begin_norm(b, 3, &n))
        return false;
    outs[1] = mean_of(&n, jx_hlo_in(b, 0));
    if (!jx_is_made(outs[1]))
        return false;
    centered = two(&n, JX_PRIM_sub, jx_hlo_in(b, 0), spread(&n, outs[1]));
    outs[2] = mean_of(&n, two(&n, JX_PRIM_mul, centered, centered));
    if (!jx_is_made(outs[2]))
        return false;
    outs[0] =
        normalized(&n, jx_hlo_in(b, 1), jx_hlo_in(b, 2), outs[1], outs[2]);
    return jx_hlo_define(b, 3, outs);
}

/* The names are those of the specification. */
bool jx_hlo_op_batch_norm_grad(jx_hlo_body *b, const jx_mlir_op *op,
                               const jx_hlo_row *row)
{
    jx_atom scale, mean, variance, grad, outs[3];
    norm n;

    (void)op, (void)row;
    if (!begin_norm(b, 5, &n))
        return false;
    scale = spread(&n, jx_hlo_in(b, 1));
    mean = spread(&n, jx_hlo_in(b, 2));
    variance = jx_hlo_in(b, 3);
    grad = jx_hlo_in(b, 4);
    jx_atom centered = two(&n, JX_PRIM_sub, jx_hlo_in(b, 0), mean);
    jx_atom stddev = deviation(&n, variance);
    jx_atom count = elements(&n, n.aval->rank);
    jx_atom i1 = two(&n, JX_PRIM_mul, grad, count);
    jx_atom i2 = spread(&n, sum(&n, grad));
    jx_atom i3 = spread(&n, sum(&n, two(&n, JX_PRIM_mul, grad, centered)));
    jx_atom i4 = two(&n, JX_PRIM_mul, i3, centered);
    jx_atom i5 =
        two(&n, JX_PRIM_div, i4,
            two(&n, JX_PRIM_add, spread(&n, variance), number(&n, n.epsilon)));
    jx_atom i6 = two(&n, JX_PRIM_sub, two(&n, JX_PRIM_sub, i1, i2), i5);
    outs[0] = two(
        &n, JX_PRIM_mul,
        two(&n, JX_PRIM_div, two(&n, JX_PRIM_div, scale, stddev), count), i6);
    outs[1] = sum(
        &n, two(&n, JX_PRIM_mul, grad, two(&n, JX_PRIM_div, centered, stddev)));
    outs[2] = sum(&n, grad);
    return jx_hlo_define(b, 3, outs);
}

/* ---- einsum */

typedef struct labels {
    int count;
    char at[JX_HLO_RANK];
} labels;

static int place(const labels *in, char label)
{
    for (int i = 0; i < in->count; i++)
        if (in->at[i] == label)
            return i;
    return -1;
}

/* Letters up to one of `ends`; false for anything else (an ellipsis) and for a
 * letter that comes twice. */
static bool read_labels(const char **at, const char *ends, labels *to)
{
    to->count = 0;
    while (**at && !strchr(ends, **at)) {
        char c = *(*at)++;
        if (c == ' ')
            continue;
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter || to->count == JX_HLO_RANK || place(to, c) >= 0)
            return false;
        to->at[to->count++] = c;
    }
    return true;
}

/* "ab,bc->ac" */
static bool read_equation(const char *text, int inputs, labels *in, labels *out)
{
    for (int i = 0; i < inputs; i++) {
        if (!read_labels(&text, i + 1 < inputs ? "," : "-", &in[i]))
            return false;
        if (i + 1 < inputs && *text++ != ',')
            return false;
    }
    return text[0] == '-' && text[1] == '>' && (text += 2) &&
           read_labels(&text, "", out);
}

/* Sums over the axes whose labels nothing else has. */
static jx_atom sum_alone(jx_hlo_body *b, jx_atom in, labels *own,
                         const labels *other, const labels *out)
{
    const jx_dim *shape[JX_HLO_RANK];
    jx_params p = jx_hlo_no_params(b);
    int64_t axes[JX_HLO_RANK];
    const jx_aval *aval = jx_atom_aval(in);
    labels left = {0};
    int n = 0;

    for (int i = 0; i < own->count; i++) {
        bool kept = place(out, own->at[i]) >= 0 ||
                    (other && place(other, own->at[i]) >= 0);
        if (kept) {
            shape[left.count] = aval->shape[i];
            left.at[left.count++] = own->at[i];
        } else {
            axes[n++] = i;
        }
    }
    *own = left;
    if (!n)
        return in;
    jx_put_ints(&p, "axes", (jx_ints){n, axes});
    jx_put_none(&p, "out_sharding");
    return jx_hlo_eqn(b, JX_PRIM_reduce_sum, 1, &in, &p,
                      jx_hlo_array(b, aval->dtype, left.count, shape));
}

/* The axes in the order of the output's labels. */
static jx_atom ordered(jx_hlo_body *b, jx_atom in, const labels *own,
                       const labels *out)
{
    int64_t order[JX_HLO_RANK];
    bool same = true;

    if (!jx_is_made(in))
        return in;
    if (own->count != out->count) {
        jx_hlo_refuse(b, "an equation whose output has other letters than its "
                         "inputs");
        return (jx_atom){NULL, NULL};
    }
    for (int i = 0; i < out->count; i++) {
        order[i] = place(own, out->at[i]);
        same = same && order[i] == i;
        if (order[i] < 0) {
            jx_hlo_refuse(b, "an output letter that no input has");
            return (jx_atom){NULL, NULL};
        }
    }
    return same ? in : jx_hlo_eqn_transpose(b, in, order);
}

/* The product of both; `own` becomes the labels of its axes. */
static jx_atom contract(jx_hlo_body *b, const jx_atom *ins, const labels *in,
                        const labels *out, labels *own)
{
    const jx_aval *left = jx_atom_aval(ins[0]), *right = jx_atom_aval(ins[1]);
    int64_t batch[2][JX_HLO_RANK], inner[2][JX_HLO_RANK];
    const jx_dim *shape[2 * JX_HLO_RANK];
    jx_params p = jx_hlo_no_params(b);
    int nbatch = 0, ninner = 0;

    own->count = 0;
    for (int i = 0; i < in[0].count; i++) {
        int k = place(&in[1], in[0].at[i]);
        bool kept = place(out, in[0].at[i]) >= 0;
        if (k >= 0 && kept) {
            shape[own->count] = left->shape[i];
            own->at[own->count++] = in[0].at[i];
        }
        if (k >= 0 && kept) {
            batch[0][nbatch] = i;
            batch[1][nbatch++] = k;
        } else if (k >= 0) {
            inner[0][ninner] = i;
            inner[1][ninner++] = k;
        }
    }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < in[side].count; i++) {
            if (place(&in[!side], in[side].at[i]) >= 0 ||
                own->count == JX_HLO_RANK)
                continue;
            shape[own->count] = (side ? right : left)->shape[i];
            own->at[own->count++] = in[side].at[i];
        }
    const jx_dot_dims dims = {{ninner, inner[0]},
                              {ninner, inner[1]},
                              {nbatch, batch[0]},
                              {nbatch, batch[1]}};
    jx_put_dot_dims(&p, &dims);
    jx_put_none(&p, "precision");
    jx_put_dtype(&p, "preferred_element_type", left->dtype);
    jx_put_none(&p, "out_sharding");
    return jx_hlo_eqn(b, JX_PRIM_dot_general, 2, ins, &p,
                      jx_hlo_array(b, left->dtype, own->count, shape));
}

bool jx_hlo_op_einsum(jx_hlo_body *b, const jx_mlir_op *op,
                      const jx_hlo_row *row)
{
    const char *text = jx_hlo_attr_text(b, "einsum_config");
    int n = op->nins;
    labels in[2], out, own;
    jx_atom ins[2];

    (void)row;
    if (n < 1 || n > 2 || !text || !read_equation(text, n, in, &out))
        return jx_hlo_unknown(b, op);
    for (int i = 0; i < n; i++) {
        ins[i] = jx_hlo_in(b, i);
        if (!jx_is_made(ins[i]))
            return false;
        if (jx_atom_aval(ins[i])->rank != in[i].count)
            return jx_hlo_refuse(b, "attribute 'einsum_config': expected a "
                                    "letter for each axis");
    }
    for (int i = 0; i < n; i++) {
        ins[i] = sum_alone(b, ins[i], &in[i], n == 2 ? &in[!i] : NULL, &out);
        if (!jx_is_made(ins[i]))
            return false;
    }
    own = in[0];
    if (n == 2)
        ins[0] = contract(b, ins, in, &out, &own);
    return jx_hlo_define1(b, ordered(b, ins[0], &own, &out));
}

/* ---- indexing */

/* operand[..., index, ...] along an axis, with leading axes in common. */
bool jx_hlo_op_torch_index_select(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    int64_t offset[JX_HLO_RANK], batch[JX_HLO_RANK], axis = 0, nbatch = 0;
    const jx_dim *shape[2 * JX_HLO_RANK], *sizes[JX_HLO_RANK];
    jx_params p = jx_hlo_no_params(b);
    jx_atom ins[] = {jx_hlo_in(b, 0), jx_hlo_in(b, 1)};
    int noffset = 0, rank = 0;

    (void)op, (void)row;
    if (!jx_is_made(ins[0]) || !jx_is_made(ins[1]) ||
        !jx_hlo_attr_int(b, "dim", &axis) ||
        !jx_hlo_attr_int(b, "batch_dims", &nbatch))
        return false;
    const jx_aval *in = jx_atom_aval(ins[0]), *index = jx_atom_aval(ins[1]);
    if (axis < nbatch || axis >= in->rank || nbatch < 0 ||
        nbatch > index->rank || in->rank + index->rank > JX_HLO_RANK)
        return jx_hlo_refuse(b, "expected an axis and leading axes of both "
                                "operands");
    for (int i = 0; i < in->rank; i++) {
        sizes[i] =
            i < nbatch || i == axis ? jx_hlo_dim_int(b, 1) : in->shape[i];
        if (i < nbatch)
            batch[i] = i;
        for (int k = (int)nbatch; i == axis && k < index->rank; k++)
            shape[rank++] = index->shape[k];
        if (i >= nbatch && i != axis)
            offset[noffset++] = rank;
        if (i != axis)
            shape[rank++] = in->shape[i];
    }
    const jx_dim *wide[JX_HLO_RANK + 1];
    for (int i = 0; i < index->rank; i++)
        wide[i] = index->shape[i];
    wide[index->rank] = jx_hlo_dim_int(b, 1);
    ins[1] = jx_hlo_eqn_reshape(b, ins[1], index->rank + 1, wide);
    const jx_ints before = {(int)nbatch, batch}, along = {1, &axis};
    jx_put_gather_dims(
        &p, &(jx_gather_dims){{noffset, offset}, along, along, before, before});
    jx_put_dims(&p, "slice_sizes", in->rank, sizes);
    jx_put_enum(&p, "mode", "GatherScatterMode.CLIP");
    jx_put_none(&p, "fill_value");
    jx_put_bool(&p, "unique_indices", false);
    jx_put_bool(&p, "indices_are_sorted", false);
    return jx_hlo_define1(b,
                          jx_hlo_eqn(b, JX_PRIM_gather, 2, ins, &p,
                                     jx_hlo_array(b, in->dtype, rank, shape)));
}
