/* stablehlo_control.c - branches, loops and computations on scalars: regions
 * become jaxprs that take what they capture as their first inputs. */
#include "frontend/read/stablehlo_parts.h"

static const jx_aval **avals_of(jx_hlo_body *b, jx_atoms atoms)
{
    const jx_aval **avals =
        JX_NEW_ARRAY(b->s->ctx->arena, atoms.count, const jx_aval *);

    for (int i = 0; avals && i < atoms.count; i++)
        avals[i] = jx_atom_aval(atoms.at[i]);
    return avals;
}

/* ---- branches */

/* The type of a result on which all branches agree; a size on which they do not
 * is free, if the op's type leaves it open. */
static const jx_aval *joined_aval(jx_hlo_body *b, int count,
                                  jx_hlo_body *const *bodies, int result,
                                  const jx_mlir_type *type)
{
    const jx_aval *first = jx_atom_aval(bodies[0]->body.results.at[result]);
    const jx_dim *shape[JX_HLO_RANK];
    bool same = true;

    if (!jx_hlo_is_open(type) || type->rank != first->rank ||
        first->rank > JX_HLO_RANK)
        return first;
    for (int k = 0; k < first->rank; k++) {
        shape[k] = first->shape[k];
        for (int i = 1; i < count; i++) {
            const jx_aval *aval =
                jx_atom_aval(bodies[i]->body.results.at[result]);
            if (aval->rank != first->rank || aval->shape[k] != shape[k])
                shape[k] = NULL;
        }
        same = same && (shape[k] || type->shape[k] != JX_MLIR_DYNAMIC);
        if (!shape[k] && type->shape[k] == JX_MLIR_DYNAMIC)
            shape[k] = jx_sz_free(b->s->sizes);
        else if (!shape[k])
            shape[k] = first->shape[k];
    }
    return same ? first : jx_hlo_array(b, first->dtype, first->rank, shape);
}

static const jx_aval **joined_avals(jx_hlo_body *b, int count,
                                    jx_hlo_body *const *bodies)
{
    int n = (int)bodies[0]->body.results.count;
    const jx_aval **avals =
        avals_of(b, (jx_atoms){n, bodies[0]->body.results.at});

    for (int i = 0; avals && n == b->op->nouts && i < n; i++)
        avals[i] = joined_aval(b, count, bodies, i, b->op->outs[i]->type);
    return avals;
}

/* The integers on which all branches agree. */
static const jx_sz_info *joined_infos(jx_hlo_body *b, int count,
                                      jx_hlo_body *const *bodies)
{
    jx_sizes *sizes = b->s->sizes;
    size_t n = bodies[0]->body.results.count;
    jx_sz_info *infos = JX_NEW_ARRAY(b->s->ctx->arena, n, jx_sz_info);

    for (size_t k = 0; infos && k < n; k++) {
        infos[k] = jx_sz_info_of(sizes, bodies[0]->body.results.at[k]);
        for (int i = 1; i < count; i++) {
            jx_sz_info other =
                jx_sz_info_of(sizes, bodies[i]->body.results.at[k]);
            if (!jx_sz_same_info(&infos[k], &other))
                infos[k] = (jx_sz_info){0};
        }
    }
    return infos;
}

static bool emit_cond(jx_hlo_body *b, jx_atom index, int count,
                      jx_hlo_body *const *bodies)
{
    jx_atoms captures = jx_hlo_captured(b, count, bodies);
    const jx_value **branches =
        JX_NEW_ARRAY(b->s->ctx->arena, count, const jx_value *);
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins =
        jx_hlo_joined(b, 2, (const jx_atoms[]){{1, &index}, captures});
    const jx_atom *made;

    for (int i = 0; branches && i < count; i++) {
        if (bodies[i]->body.results.count != bodies[0]->body.results.count)
            return jx_hlo_refuse(b, "expected branches with as many results");
        branches[i] = jx_value_of_jaxpr(
            b->s->program, jx_hlo_body_finish(bodies[i], captures, NULL));
    }
    if (!branches)
        return false;
    int n = (int)bodies[0]->body.results.count;
    const jx_aval **outs = joined_avals(b, count, bodies);
    jx_put(&p, "branches", jx_value_of_tuple(b->s->program, count, branches));
    made =
        outs ? jx_hlo_eqn_known(b, jx_prim_of(JX_PRIM_cond), ins.count, ins.at,
                                &p, n, outs, joined_infos(b, count, bodies))
             : NULL;
    return made && jx_hlo_define(b, n, made);
}

/* Branches of the regions, the last first if `backward`. */
static bool branches(jx_hlo_body *b, const jx_mlir_op *op, jx_atom index,
                     bool backward)
{
    int n = op->nregions;
    jx_hlo_body **bodies = JX_NEW_ARRAY(b->s->ctx->arena, n, jx_hlo_body *);

    if (!bodies || (!index.var && !index.literal))
        return false;
    if (!n)
        return jx_hlo_refuse(b, "expected a branch");
    for (int i = 0; i < n; i++) {
        bodies[i] =
            jx_hlo_region(b, op, backward ? n - 1 - i : i, 0, NULL, NULL);
        if (!bodies[i])
            return false;
    }
    return emit_cond(b, index, n, bodies);
}

/* Every region ends with a constant that is no less than 0, as a choice among
 * platforms does. */
static bool gives_indices(const jx_mlir_op *op, int result)
{
    for (int i = 0; i < op->nregions; i++) {
        const jx_mlir_block *block = jx_mlir_body(op, i);
        const jx_mlir_op *end =
            block && block->nops ? block->ops[block->nops - 1] : NULL;
        int64_t value;
        if (!end || result >= end->nins ||
            !jx_hlo_constant_int(end->ins[result], &value) || value < 0)
            return false;
    }
    return true;
}

/* Whether an index is known not to be negative: it was clamped, converted from
 * a truth value, or chosen among constants. */
static bool is_index(const jx_mlir_value *v)
{
    const jx_mlir_op *op = v->op;
    int64_t low = -1, high = -1;

    if (!op)
        return false;
    if (op->id == JX_OP_stablehlo_clamp && op->nins == 3)
        return jx_hlo_constant_int(op->ins[0], &low) && low >= 0 &&
               jx_hlo_constant_int(op->ins[2], &high) && high >= 0;
    if (op->id == JX_OP_stablehlo_case)
        return gives_indices(op, v->index);
    return op->id == JX_OP_stablehlo_convert && op->nins == 1 &&
           op->ins[0]->type->count && op->ins[0]->type->items[0]->width == 1;
}

/* An index beyond the branches chooses the last: `cond` clamps, so what is
 * negative has to be moved there. */
static jx_atom case_index(jx_hlo_body *b, const jx_mlir_op *op, jx_atom index)
{
    const jx_aval *aval = jx_atom_aval(index);
    jx_atom last = jx_build_number(&b->body, aval->dtype, op->nregions - 1);
    const jx_aval *flag = jx_hlo_array(b, JX_BOOL, aval->rank, aval->shape);
    int32_t known = 0;

    if (index.literal && !index.literal->dim && aval->dtype == JX_I32) {
        memcpy(&known, index.literal->bits, sizeof known);
        return known < 0 ? last : index;
    }
    jx_atom negative = jx_hlo_eqn2(
        b, JX_PRIM_lt, index, jx_build_number(&b->body, aval->dtype, 0), flag);
    return jx_hlo_eqn(b, JX_PRIM_select_n, 3,
                      (const jx_atom[]){negative, index, last}, NULL, aval);
}

bool jx_hlo_op_case(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    jx_atom index = jx_hlo_in(b, 0);

    (void)row;
    if (!index.var && !index.literal)
        return false;
    if (op->nregions > 1 && !is_index(op->ins[0]))
        index = case_index(b, op, index);
    return branches(b, op, index, false);
}

bool jx_hlo_op_if(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    (void)row;
    if (op->nregions != 2)
        return jx_hlo_refuse(b, "expected 2 regions");
    return branches(b, op, jx_hlo_eqn_convert(b, jx_hlo_in(b, 0), JX_I32),
                    true);
}

/* ---- loops */

/* The integers that a loop carries and each round hands on as they are. */
static const jx_sz_info *kept_infos(jx_hlo_body *b, const jx_mlir_op *op,
                                    jx_atoms init)
{
    const jx_mlir_block *body = jx_mlir_body(op, 1);
    const jx_mlir_op *end =
        body && body->nops ? body->ops[body->nops - 1] : NULL;
    jx_sz_info *infos = JX_NEW_ARRAY(b->s->ctx->arena, init.count, jx_sz_info);

    if (!infos || !end || body->nargs != init.count || end->nins != init.count)
        return NULL;
    for (int i = 0; i < init.count; i++)
        if (end->ins[i] == body->args[i])
            infos[i] = jx_sz_info_of(b->s->sizes, init.at[i]);
    return infos;
}

bool jx_hlo_op_while(jx_hlo_body *b, const jx_mlir_op *op,
                     const jx_hlo_row *row)
{
    jx_atoms init = jx_hlo_ins(b, 0);
    const jx_aval **avals = avals_of(b, init);
    jx_params p = jx_hlo_no_params(b);
    jx_hlo_body *bodies[2] = {0};
    const jx_jaxpr *jaxprs[2];
    jx_atoms captures[2];
    const jx_sz_info *kept;

    if (!avals || op->nregions != 2)
        return jx_hlo_refuse(b, "expected 2 regions");
    kept = kept_infos(b, op, init);
    for (int i = 0; i < 2; i++) {
        bodies[i] = jx_hlo_region(b, op, i, init.count, avals, kept);
        if (!bodies[i])
            return false;
        captures[i] = jx_hlo_captured(b, 1, &bodies[i]);
        jaxprs[i] = jx_hlo_body_finish(bodies[i], captures[i], NULL);
    }
    jx_atoms ins =
        jx_hlo_joined(b, 3, (const jx_atoms[]){captures[0], captures[1], init});
    jx_put_jaxpr(&p, "cond_jaxpr", jaxprs[0]);
    jx_put_jaxpr(&p, "body_jaxpr", jaxprs[1]);
    jx_put_int(&p, "cond_nconsts", captures[0].count);
    jx_put_int(&p, "body_nconsts", captures[1].count);
    const jx_atom *made = jx_hlo_eqn_known(b, jx_prim_of(row->prim), ins.count,
                                           ins.at, &p, init.count, avals, kept);
    return made && jx_hlo_define(b, init.count, made);
}

/* ---- computations on scalars */

bool jx_hlo_op_map(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval **args = avals_of(b, ins);
    jx_params p = jx_hlo_no_params(b);
    jx_atoms captured;
    const jx_jaxpr *body;
    jx_ints axes;

    if (!args || !ins.count || !jx_hlo_attr_ints(b, "dimensions", &axes))
        return jx_hlo_refuse(b, "expected operands");
    const jx_aval *out = jx_hlo_result(b, 0, NULL);
    for (int i = 0; i < ins.count; i++)
        args[i] = jx_hlo_array(b, args[i]->dtype, 0, NULL);
    body = jx_hlo_lifted(b, op, ins.count, args, JX_HLO_ONES, &captured);
    if (!body)
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, op);
    captured = jx_hlo_eqn_spread(b, captured, jx_atom_aval(ins.at[0]));
    ins = jx_hlo_joined(b, 2, (const jx_atoms[]){ins, captured});
    jx_put_jaxpr(&p, "computation", body);
    jx_put_ints(&p, "dimensions", axes);
    return jx_hlo_define1(b,
                          jx_hlo_eqn(b, row->prim, ins.count, ins.at, &p, out));
}
