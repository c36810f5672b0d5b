/* build_params.c - see build_params.h. */
#include "frontend/ir/build_params.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const jx_param *)a)->name, ((const jx_param *)b)->name);
}

/* As a rule they are. */
void jx_params_sort(jx_param *at, int count)
{
    for (int i = 1; i < count; i++)
        if (strcmp(at[i - 1].name, at[i].name) > 0) {
            qsort(at, (size_t)count, sizeof *at, by_name);
            return;
        }
}

static const jx_value *add_value(jx_program *in, const jx_value *like)
{
    return jx_value_add(&in->values, like);
}

void jx_put(jx_params *p, const char *name, const jx_value *value)
{
    int most = p->more ? p->capacity : (int)(sizeof p->few / sizeof *p->few);

    if (p->count == most) {
        jx_param *more =
            JX_NEW_ARRAY(p->program->ctx->arena, 2 * most, jx_param);
        if (!more)
            return;
        memcpy(more, jx_params_at(p), (size_t)most * sizeof *more);
        p->more = more;
        p->capacity = 2 * most;
    }
    jx_params_at(p)[p->count++] =
        (jx_param){jx_intern_text(p->program->ctx, name), value};
}

void jx_put_int(jx_params *p, const char *name, int64_t value)
{
    jx_put(
        p, name,
        add_value(p->program, &(jx_value){.tag = JX_V_INT, .integer = value}));
}

void jx_put_bool(jx_params *p, const char *name, bool value)
{
    jx_put(
        p, name,
        add_value(p->program, &(jx_value){.tag = JX_V_BOOL, .boolean = value}));
}

void jx_put_none(jx_params *p, const char *name)
{
    jx_put(p, name, add_value(p->program, &(jx_value){.tag = JX_V_NONE}));
}

static void put_word(jx_params *p, const char *name, jx_value_tag tag,
                     const char *text)
{
    jx_put(p, name,
           add_value(p->program, &(jx_value){.tag = tag,
                                             .text = jx_intern_text(
                                                 p->program->ctx, text)}));
}

void jx_put_text(jx_params *p, const char *name, const char *text)
{
    put_word(p, name, JX_V_TEXT, text);
}

void jx_put_enum(jx_params *p, const char *name, const char *text)
{
    put_word(p, name, JX_V_ENUM, text);
}

void jx_put_prim(jx_params *p, const char *name, const char *text)
{
    put_word(p, name, JX_V_PRIM, text);
}

void jx_put_dtype(jx_params *p, const char *name, jx_dtype dtype)
{
    const char *text =
        jx_intern_text(p->program->ctx, jx_dtype_of(dtype)->name);

    jx_put(p, name,
           add_value(
               p->program,
               &(jx_value){.tag = JX_V_DTYPE, .dtype = dtype, .text = text}));
}

const jx_value *jx_value_of_tuple(jx_program *in, int count,
                                  const jx_value *const *items)
{
    for (int i = 0; i < count; i++)
        if (!items[i])
            return NULL;
    return add_value(
        in, &(jx_value){.tag = JX_V_TUPLE, .count = count, .items = items});
}

const jx_value *jx_value_of_ints(jx_program *in, jx_ints ints)
{
    const jx_value **items =
        JX_NEW_ARRAY(in->ctx->arena, ints.count, const jx_value *);

    for (int i = 0; items && i < ints.count; i++)
        items[i] =
            add_value(in, &(jx_value){.tag = JX_V_INT, .integer = ints.at[i]});
    return items ? jx_value_of_tuple(in, ints.count, items) : NULL;
}

const jx_value *jx_value_of_dim(jx_program *in, const jx_dim *dim)
{
    int64_t number;

    if (!dim)
        return NULL;
    if (jx_dim_is_int(dim, &number))
        return add_value(in, &(jx_value){.tag = JX_V_INT, .integer = number});
    return add_value(in, &(jx_value){.tag = JX_V_DIM, .dim = dim});
}

const jx_value *jx_value_of_dims(jx_program *in, int count,
                                 const jx_dim *const *dims)
{
    const jx_value **items =
        JX_NEW_ARRAY(in->ctx->arena, count, const jx_value *);

    for (int i = 0; items && i < count; i++)
        items[i] = jx_value_of_dim(in, dims[i]);
    return items ? jx_value_of_tuple(in, count, items) : NULL;
}

void jx_put_ints(jx_params *p, const char *name, jx_ints ints)
{
    jx_put(p, name, jx_value_of_ints(p->program, ints));
}

void jx_put_dims(jx_params *p, const char *name, int count,
                 const jx_dim *const *dims)
{
    jx_put(p, name, jx_value_of_dims(p->program, count, dims));
}

void jx_put_dim(jx_params *p, const char *name, const jx_dim *dim)
{
    jx_put(p, name, jx_value_of_dim(p->program, dim));
}

void jx_put_tuples(jx_params *p, const char *name, int count, int width,
                   const jx_dim *const *dims)
{
    const jx_value **items =
        JX_NEW_ARRAY(p->program->ctx->arena, count, const jx_value *);

    for (int i = 0; items && i < count; i++)
        items[i] = jx_value_of_dims(p->program, width, dims + i * width);
    jx_put(p, name, items ? jx_value_of_tuple(p->program, count, items) : NULL);
}

const jx_value *jx_value_of_record(jx_program *in, const char *type, int count,
                                   const char *const *keys,
                                   const jx_value *const *items)
{
    const char **names = JX_NEW_ARRAY(in->ctx->arena, count, const char *);

    for (int i = 0; names && i < count; i++) {
        names[i] = jx_intern_text(in->ctx, keys[i]);
        if (!items[i])
            return NULL;
    }
    return names ? add_value(in,
                             &(jx_value){.tag = JX_V_RECORD,
                                         .text = jx_intern_text(in->ctx, type),
                                         .count = count,
                                         .keys = names,
                                         .items = items})
                 : NULL;
}

const jx_value *jx_value_of_jaxpr(jx_program *in, const jx_jaxpr *jaxpr)
{
    return jaxpr ? add_value(in, &(jx_value){.tag = JX_V_JAXPR, .jaxpr = jaxpr})
                 : NULL;
}

void jx_put_jaxpr(jx_params *p, const char *name, const jx_jaxpr *jaxpr)
{
    jx_put(p, name, jx_value_of_jaxpr(p->program, jaxpr));
}

void jx_put_others(jx_params *p, const jx_eqn *eqn, const char *const *without)
{
    for (int i = 0; i < eqn->nparams; i++) {
        bool left_out = false;
        for (const char *const *name = without; *name; name++)
            left_out |= !strcmp(eqn->params[i].name, *name);
        if (!left_out)
            jx_put(p, eqn->params[i].name, eqn->params[i].value);
    }
}

/* ---- dimension numbers */

static void put_numbers(jx_params *p, const char *type, int count,
                        const char *const *keys, const jx_ints *lists)
{
    const jx_value **items =
        JX_NEW_ARRAY(p->program->ctx->arena, count, const jx_value *);

    for (int i = 0; items && i < count; i++)
        items[i] = jx_value_of_ints(p->program, lists[i]);
    jx_put(p, "dimension_numbers",
           items ? jx_value_of_record(p->program, type, count, keys, items)
                 : NULL);
}

static const jx_value *pair_of(jx_program *in, jx_ints a, jx_ints c)
{
    const jx_value *both[] = {jx_value_of_ints(in, a), jx_value_of_ints(in, c)};

    return jx_value_of_tuple(in, 2, both);
}

static const jx_value *pairs_of(jx_program *program, const jx_dot_dims *dims)
{
    const jx_value *both[] = {
        pair_of(program, dims->lhs_contracting, dims->rhs_contracting),
        pair_of(program, dims->lhs_batch, dims->rhs_batch)};

    return jx_value_of_tuple(program, 2, both);
}

void jx_put_dot_dims(jx_params *p, const jx_dot_dims *dims)
{
    jx_put(p, "dimension_numbers", pairs_of(p->program, dims));
}

void jx_put_ragged_dims(jx_params *p, const jx_ragged_dims *dims)
{
    static const char *const keys[] = {"dot_dimension_numbers",
                                       "lhs_ragged_dimensions",
                                       "rhs_group_dimensions"};
    const jx_value *items[] = {pairs_of(p->program, &dims->dot),
                               jx_value_of_ints(p->program, dims->of_lhs),
                               jx_value_of_ints(p->program, dims->groups)};

    jx_put(p, "ragged_dot_dimension_numbers",
           jx_value_of_record(p->program, "RaggedDotDimensionNumbers", 3, keys,
                              items));
}

void jx_put_conv_dims(jx_params *p, const jx_conv_dims *dims)
{
    static const char *const keys[] = {"lhs_spec", "rhs_spec", "out_spec"};
    const jx_ints lists[] = {dims->lhs_spec, dims->rhs_spec, dims->out_spec};

    put_numbers(p, "ConvDimensionNumbers", 3, keys, lists);
}

void jx_put_gather_dims(jx_params *p, const jx_gather_dims *dims)
{
    static const char *const keys[] = {
        "offset_dims", "collapsed_slice_dims", "start_index_map",
        "operand_batching_dims", "start_indices_batching_dims"};
    const jx_ints lists[] = {dims->offset_dims, dims->collapsed_slice_dims,
                             dims->start_index_map, dims->operand_batching_dims,
                             dims->start_indices_batching_dims};

    put_numbers(p, "GatherDimensionNumbers", 5, keys, lists);
}

void jx_put_scatter_dims(jx_params *p, const jx_scatter_dims *dims)
{
    static const char *const keys[] = {
        "update_window_dims", "inserted_window_dims",
        "scatter_dims_to_operand_dims", "operand_batching_dims",
        "scatter_indices_batching_dims"};
    const jx_ints lists[] = {
        dims->update_window_dims, dims->inserted_window_dims,
        dims->scatter_dims_to_operand_dims, dims->operand_batching_dims,
        dims->scatter_indices_batching_dims};

    put_numbers(p, "ScatterDimensionNumbers", 5, keys, lists);
}
