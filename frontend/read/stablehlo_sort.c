/* stablehlo_sort.c - sorting: by JAX's comparators, or by any. */
#include "frontend/read/stablehlo_parts.h"

#include "frontend/ir/element.h"

/* ---- JAX's comparators
 *
 *     less(0) or (equal(0) and (less(1) or (equal(1) and less(2) ...)))
 *
 * where less and equal compare one pair of arguments: integers as they are,
 * floats in total order after -0 has become 0 and every NaN the same one, and
 * complex numbers as their real, then their imaginary parts. */

enum { MOST_KEYS = 64 };

/* What a comparison's operand is: an argument, or a part of it. */
typedef struct key {
    int arg;
    char part;  /* 'r', 'i' of a complex number, or 0 */
    bool clean; /* -0 and NaN are as said above */
} key;

static bool defined_by(const jx_mlir_value *v, jx_op_id op, int nins)
{
    return v->op && v->op->id == op && v->op->nins == nins;
}

static bool says(const jx_mlir_op *op, const char *attribute, const char *word)
{
    const jx_mlir_attr *a = jx_mlir_get(op, attribute);

    return a && a->kind == JX_A_ENUM && a->text && !strcmp(a->text, word);
}

static bool is_number(const jx_mlir_value *v, bool nan)
{
    const jx_mlir_attr *a = v->op && v->op->id == JX_OP_stablehlo_constant
                                ? jx_mlir_get(v->op, "value")
                                : NULL;
    jx_dtype dtype;
    double value;

    if (!a || a->kind != JX_A_DENSE || !jx_hlo_dtype(v->type, &dtype) ||
        !jx_dtype_is_float(dtype) || a->size != jx_dtype_of(dtype)->bytes)
        return false;
    value = jx_element_real(dtype, a->bytes);
    if (!nan)
        return value == 0;
    /* In total order a NaN with a sign comes first. */
    return value != value &&
           !(((const unsigned char *)a->bytes)[a->size - 1] & 0x80);
}

/* select(compare(v), to, otherwise) with a comparison of v and `with`. */
static const jx_mlir_value *cleaned(const jx_mlir_value *v, const char *how,
                                    bool nan)
{
    const jx_mlir_value *test, *otherwise;

    if (!defined_by(v, JX_OP_stablehlo_select, 3) ||
        !is_number(v->op->ins[1], nan))
        return NULL;
    test = v->op->ins[0];
    otherwise = v->op->ins[2];
    if (!defined_by(test, JX_OP_stablehlo_compare, 2) ||
        !says(test->op, "comparison_direction", how))
        return NULL;
    if (nan)
        return test->op->ins[0] == test->op->ins[1] ? otherwise : NULL;
    return test->op->ins[0] == otherwise && is_number(test->op->ins[1], false)
               ? otherwise
               : NULL;
}

/* An order that takes -0 for 0 and every NaN for one, the largest, needs no
 * cleaned keys. */
static bool is_weak(const jx_mlir_op *compare)
{
    return says(compare, "compare_type", "WEAKORDER");
}

static bool key_of(const jx_mlir_block *block, const jx_mlir_value *v,
                   bool weak, key *to)
{
    const jx_mlir_value *inner = cleaned(v, "NE", true);
    jx_dtype dtype;

    *to = (key){.clean = weak};
    if (inner) {
        const jx_mlir_value *tested = v->op->ins[0]->op->ins[0];
        inner = cleaned(inner, "EQ", false);
        if (!inner || inner != tested)
            return false;
        to->clean = true;
        v = inner;
    }
    if (!jx_hlo_dtype(v->type, &dtype))
        return false;
    to->clean = to->clean || !jx_dtype_is_inexact(dtype);
    if (defined_by(v, JX_OP_stablehlo_real, 1))
        to->part = 'r';
    else if (defined_by(v, JX_OP_stablehlo_imag, 1))
        to->part = 'i';
    if (to->part)
        v = v->op->ins[0];
    to->arg = v->index;
    return !v->op && v->block == block && to->clean;
}

/* A comparison of the two of a pair. */
static bool pair_of(const jx_mlir_block *block, const jx_mlir_value *v,
                    const char *direction, key *to)
{
    key other;
    jx_dtype dtype;

    if (!defined_by(v, JX_OP_stablehlo_compare, 2) ||
        !says(v->op, "comparison_direction", direction) ||
        !key_of(block, v->op->ins[0], is_weak(v->op), to) ||
        !key_of(block, v->op->ins[1], is_weak(v->op), &other) ||
        !jx_hlo_dtype(v->op->ins[0]->type, &dtype))
        return false;
    if (jx_dtype_is_float(dtype) && !is_weak(v->op) &&
        !says(v->op, "compare_type", "TOTALORDER"))
        return false;
    return to->arg % 2 == 0 && other.arg == to->arg + 1 &&
           other.part == to->part;
}

static bool same_key(key a, key b)
{
    return a.arg == b.arg && a.part == b.part;
}

/* The keys in order; how many, or 0 if the comparator is another one. */
static int keys_of(const jx_mlir_block *block, const jx_mlir_value *v,
                   key *keys)
{
    for (int n = 0; n < MOST_KEYS; n++) {
        const jx_mlir_value *rest;
        key equal;
        if (pair_of(block, v, "LT", &keys[n]))
            return n + 1;
        if (!defined_by(v, JX_OP_stablehlo_or, 2) ||
            !pair_of(block, v->op->ins[0], "LT", &keys[n]))
            return 0;
        rest = v->op->ins[1];
        if (!defined_by(rest, JX_OP_stablehlo_and, 2) ||
            !pair_of(block, rest->op->ins[0], "EQ", &equal) ||
            !same_key(equal, keys[n]))
            return 0;
        v = rest->op->ins[1];
    }
    return 0;
}

/* How many of the first operands a comparator of JAX's compares; 0: it is
 * another one. */
static int sort_keys(const jx_mlir_op *op)
{
    const jx_mlir_block *block = op->nregions == 1 ? jx_mlir_body(op, 0) : NULL;
    key keys[MOST_KEYS];
    int n, done = 0;

    if (!block || !block->nops || block->ops[block->nops - 1]->nins != 1)
        return 0;
    for (int i = 0; i < block->nargs; i++)
        if (jx_hlo_is_quantized(block->args[i]->type))
            return 0;
    n = keys_of(block, block->ops[block->nops - 1]->ins[0], keys);
    for (int i = 0; i < n; i++, done++) {
        if (keys[i].arg != 2 * done)
            return 0;
        if (!keys[i].part)
            continue;
        if (keys[i].part != 'r' || i + 1 == n || keys[i + 1].part != 'i' ||
            keys[i + 1].arg != keys[i].arg)
            return 0;
        i++;
    }
    return done;
}

/* ---- rules */

/* The op's results are the first of them. */
static bool emit_sort(jx_hlo_body *b, jx_prim_id prim, jx_params *p,
                      jx_atoms ins)
{
    const jx_aval **outs =
        JX_NEW_ARRAY(b->s->ctx->arena, ins.count, const jx_aval *);
    const jx_atom *made;

    for (int i = 0; outs && i < ins.count; i++)
        outs[i] = jx_atom_aval(ins.at[i]);
    made = outs ? jx_hlo_eqn_all(b, jx_prim_of(prim), ins.count, ins.at, p,
                                 ins.count, outs)
                : NULL;
    return made && jx_hlo_define(b, b->op->nouts, made);
}

bool jx_hlo_op_sort(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    jx_params p = jx_hlo_no_params(b);
    int keys = sort_keys(op);

    if (!ins.count || ins.count != op->nouts)
        return jx_hlo_refuse(b, "expected operands, and a result for each");
    int rank = jx_atom_aval(ins.at[0])->rank;
    int64_t axis = jx_hlo_attr_int_or(b, "dimension", -1);
    if (axis < 0)
        axis += rank;
    if (axis < 0 || axis >= rank)
        return jx_hlo_refuse(
            b, "attribute 'dimension': expected an axis below %d", rank);
    jx_put_int(&p, "dimension", axis);
    jx_put_bool(&p, "is_stable", jx_hlo_attr_bool_or(b, "is_stable", false));
    if (keys > 0) {
        jx_put_int(&p, "num_keys", keys);
        return emit_sort(b, row->prim, &p, ins);
    }
    const jx_aval **args =
        JX_NEW_ARRAY(b->s->ctx->arena, 2 * ins.count, const jx_aval *);
    for (int i = 0; args && i < 2 * ins.count; i++)
        args[i] = jx_hlo_array(b, jx_atom_aval(ins.at[i / 2])->dtype, 0, NULL);
    jx_atoms captured;
    const jx_jaxpr *body = args ? jx_hlo_lifted(b, op, 2 * ins.count, args,
                                                JX_HLO_PAIRS, &captured)
                                : NULL;
    if (!body)
        return jx_ok(b->s->ctx) && jx_hlo_unknown(b, op);
    captured = jx_hlo_eqn_spread(b, captured, jx_atom_aval(ins.at[0]));
    ins = jx_hlo_joined(b, 2, (const jx_atoms[]){ins, captured});
    jx_put_jaxpr(&p, "comparator", body);
    return emit_sort(b, JX_PRIM_stablehlo_sort, &p, ins);
}

bool jx_hlo_op_top_k(jx_hlo_body *b, const jx_mlir_op *op,
                     const jx_hlo_row *row)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atom in = jx_hlo_in(b, 0);
    const jx_aval *outs[2];
    int64_t k = 0;

    if ((!in.var && !in.literal) || !jx_hlo_attr_int(b, "k", &k))
        return false;
    const jx_aval *aval = jx_atom_aval(in);
    if (op->nouts != 2 || aval->rank < 1)
        return jx_hlo_refuse(b, "expected 2 results of an operand with axes");
    outs[0] = jx_hlo_result(b, 0, NULL);
    outs[1] = jx_hlo_result(b, 1, NULL);
    if (!outs[0] || !outs[1])
        return false;
    jx_put_int(&p, "k", k);
    jx_put_int(&p, "axis", aval->rank - 1);
    if (!jx_hlo_attr_bool_or(b, "is_stable", true))
        jx_put_bool(&p, "is_stable", false);
    const jx_atom *made =
        jx_hlo_eqn_all(b, jx_prim_of(row->prim), 1, &in, &p, 2, outs);
    return made && jx_hlo_define(b, 2, made);
}
