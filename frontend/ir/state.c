/* state.c - which part of a reference an equation reads or writes.
 *
 *     tree=(NDIndexer(indices=(None, Slice(start=0, size=4, stride=1)),
 *                     shape=(3, 4), int_indexer_shape=()),
 *           ReshapeTransform(shape=(2, 2)))
 *
 * A None stands for the next operand of the equation. */
#include "frontend/ir/params.h"

#include <string.h>

int jx_ref_path_at(const jx_prim *prim)
{
    switch (prim->id) {
    case JX_PRIM_get: return 1;
    case JX_PRIM_swap:
    case JX_PRIM_addupdate: return 2;
    default: return 0;
    }
}

static bool is_record(const jx_value *v, const char *name)
{
    return v && v->tag == JX_V_RECORD && v->text && !strcmp(v->text, name);
}

static const jx_dim *size_of(jx_program *program, const jx_value *v)
{
    return v->tag == JX_V_DIM   ? v->dim
           : v->tag == JX_V_INT ? jx_dim_int(program->dims, v->integer)
                                : NULL;
}

static bool sizes_of(jx_program *program, const jx_value *v, jx_dim_list *to)
{
    const jx_dim **at;

    if (!v || v->tag != JX_V_TUPLE)
        return false;
    at = JX_NEW_ARRAY(program->ctx->arena, v->count, const jx_dim *);
    for (int i = 0; at && i < v->count; i++)
        if (!(at[i] = size_of(program, v->items[i])))
            return false;
    *to = (jx_dim_list){at ? v->count : 0, at, true};
    return true;
}

/* A number of a slice, or None: the next operand. */
static bool read_bound(jx_program *program, const jx_value *v,
                       const jx_dim **to, int *operands)
{
    if (!v)
        return false;
    if (v->tag == JX_V_NONE)
        return ++*operands;
    *to = size_of(program, v);
    return *to != NULL;
}

static const char *read_axis(jx_program *program, const jx_value *v,
                             jx_axis_index *to, int *operands)
{
    const jx_value *stride;

    if (v->tag == JX_V_NONE) {
        ++*operands;
        return NULL;
    }
    if (!is_record(v, "Slice"))
        return "an indexer of slices and operands";
    to->slice = true;
    stride = jx_value_field(v, "stride");
    if (!read_bound(program, jx_value_field(v, "start"), &to->start,
                    operands) ||
        !read_bound(program, jx_value_field(v, "size"), &to->size, operands) ||
        !stride || (stride->tag != JX_V_INT && stride->tag != JX_V_NONE) ||
        (stride->tag == JX_V_INT && stride->integer < 1))
        return "a slice of a start, a size and a stride from 1 on";
    to->stride = stride->tag == JX_V_INT ? stride->integer : 0;
    return NULL;
}

static const char *read_index(jx_program *program, const jx_value *v,
                              jx_ref_step *to, int *operands)
{
    const jx_value *indices = jx_value_field(v, "indices");
    const char *expected = NULL;
    jx_axis_index *axes;

    if (!indices || indices->tag != JX_V_TUPLE ||
        !sizes_of(program, jx_value_field(v, "shape"), &to->shape) ||
        !sizes_of(program, jx_value_field(v, "int_indexer_shape"),
                  &to->index_shape))
        return "an indexer of indices, a shape and the shape of the indices";
    if (indices->count != to->shape.count)
        return "an indexer with an index for each axis";
    to->rank = indices->count;
    axes = JX_NEW_ARRAY(program->ctx->arena, to->rank, jx_axis_index);
    for (int i = 0; axes && i < to->rank && !expected; i++)
        expected = read_axis(program, indices->items[i], &axes[i], operands);
    to->axes = axes;
    return axes ? expected : "memory";
}

static bool read_order(jx_program *program, const jx_value *v, jx_ints *to)
{
    int64_t *at;

    if (!v || v->tag != JX_V_TUPLE)
        return false;
    at = JX_NEW_ARRAY(program->ctx->arena, v->count, int64_t);
    for (int i = 0; at && i < v->count; i++) {
        if (v->items[i]->tag != JX_V_INT)
            return false;
        at[i] = v->items[i]->integer;
    }
    *to = (jx_ints){at ? v->count : 0, at};
    return at != NULL;
}

static const char *read_step(jx_program *program, const jx_value *v,
                             jx_ref_step *to, int *operands)
{
    const jx_value *dtype;

    to->kind = JX_STEP_OTHER;
    to->name = v->text ? v->text : "a step";
    if (is_record(v, "NDIndexer")) {
        to->kind = JX_STEP_INDEX;
        return read_index(program, v, to, operands);
    }
    if (is_record(v, "ReshapeTransform")) {
        to->kind = JX_STEP_RESHAPE;
        return sizes_of(program, jx_value_field(v, "shape"), &to->shape)
                   ? NULL
                   : "a reshape with its shape";
    }
    if (is_record(v, "TransposeTransform")) {
        to->kind = JX_STEP_TRANSPOSE;
        return read_order(program, jx_value_field(v, "permutation"), &to->order)
                   ? NULL
                   : "a transpose with its permutation";
    }
    if (is_record(v, "BitcastTransform")) {
        dtype = jx_value_field(v, "dtype");
        if (dtype && dtype->tag == JX_V_DTYPE && dtype->dtype != JX_DT_NONE) {
            to->kind = JX_STEP_BITCAST;
            to->dtype = dtype->dtype;
            return NULL;
        }
    }
    return NULL;
}

/* Before steps were written, the tree was JAX's text of it: what reads all of a
 * reference can be told from the rest. */
static void read_tree(const jx_value *v, jx_ref_path *to, jx_ref_step *step)
{
    if (!v->text || !strcmp(v->text, "PyTreeDef(())"))
        return;
    *step = (jx_ref_step){.kind = JX_STEP_OTHER, .name = "a step"};
    *to = (jx_ref_path){1, -1, step};
}

const char *jx_ref_path_decode(jx_program *program, const jx_value *value,
                               jx_ref_path *to)
{
    int count = value->tag == JX_V_TREE ? 1 : value->count, operands = 0;
    const char *expected = NULL;
    jx_ref_step *steps;

    *to = (jx_ref_path){0};
    if (value->tag != JX_V_TREE && value->tag != JX_V_TUPLE)
        return "a tuple of steps";
    steps = JX_NEW_ARRAY(program->ctx->arena, count, jx_ref_step);
    if (!steps)
        return "memory";
    if (value->tag == JX_V_TREE) {
        read_tree(value, to, steps);
        return NULL;
    }
    for (int i = 0; i < count && !expected; i++) {
        expected = read_step(program, value->items[i], &steps[i], &operands);
        if (steps[i].kind == JX_STEP_OTHER)
            to->operands = -1;
    }
    to->count = count;
    to->steps = steps;
    if (to->operands == 0)
        to->operands = operands;
    return expected;
}
