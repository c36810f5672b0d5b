/* stablehlo_async.c - collectives that are begun and ended apart.
 *
 * What is ended is used behind its end only, so that data flow says the order,
 * and what was begun is the collective.  JAX 0.10 writes the op of it in a
 * region of stablehlo.async_start, JAX 0.12 a custom call whose attribute says
 * in JSON what the op would. */
#include "frontend/base/json.h"
#include "frontend/read/stablehlo_parts.h"

#include <string.h>

/* ---- a region */

bool jx_hlo_op_async_start(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval **avals =
        JX_NEW_ARRAY(b->s->ctx->arena, ins.count, const jx_aval *);
    const jx_jaxpr *body;
    const jx_atom *made;

    (void)row;
    for (int i = 0; avals && i < ins.count; i++)
        avals[i] = jx_atom_aval(ins.at[i]);
    body = avals ? jx_hlo_closed(b, op, 0, ins.count, avals) : NULL;
    made = body ? jx_hlo_eqn_call(b, body, ins, "async") : NULL;
    return made && jx_hlo_define(b, body->nouts, made);
}

/* It gives what was begun. */
bool jx_hlo_op_async_done(jx_hlo_body *b, const jx_mlir_op *op,
                          const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);

    (void)op;
    (void)row;
    return jx_hlo_define(b, ins.count, ins.at);
}

/* ---- a custom call */

static const jx_value *row_of(jx_hlo_body *b, const jx_json *row)
{
    size_t count =
        jx_json_kind_of(row) == JX_JSON_ARRAY ? jx_json_count(row) : 0;
    int64_t *at = JX_NEW_ARRAY(b->s->ctx->arena, (int64_t)count + 1, int64_t);

    for (size_t i = 0; at && i < count; i++) {
        const jx_json *item = jx_json_item(row, i);
        if (jx_json_kind_of(item) != JX_JSON_INT)
            return NULL;
        at[i] = jx_json_int(item);
    }
    return at && count
               ? jx_value_of_ints(b->s->program, (jx_ints){(int)count, at})
               : NULL;
}

static const jx_value *rows_of(jx_hlo_body *b, const jx_json *config,
                               const char *key)
{
    const jx_json *rows;
    size_t count;
    const jx_value **at;

    if (!jx_json_get(config, key, &rows) ||
        jx_json_kind_of(rows) != JX_JSON_ARRAY)
        return NULL;
    count = jx_json_count(rows);
    at = JX_NEW_ARRAY(b->s->ctx->arena, (int64_t)count + 1, const jx_value *);
    for (size_t i = 0; at && i < count; i++)
        if (!(at[i] = row_of(b, jx_json_item(rows, i))))
            return NULL;
    return at ? jx_value_of_tuple(b->s->program, (int)count, at) : NULL;
}

/* The function that combines two scalars. */
static bool put_reducer(jx_hlo_body *b, jx_params *p, jx_atoms ins)
{
    const jx_mlir_op *func = jx_hlo_reducer_called(b);
    const jx_aval *scalar =
        func ? jx_hlo_array(b, jx_atom_aval(ins.at[0])->dtype, 0, NULL) : NULL;
    const jx_aval *const args[] = {scalar, scalar};
    const jx_jaxpr *body =
        scalar ? jx_hlo_jaxpr_of(b->s, func, b->op, 2, args, NULL) : NULL;

    jx_put_jaxpr(p, "computation", body);
    return body != NULL;
}

static bool is_reduction(jx_prim_id id)
{
    return id == JX_PRIM_stablehlo_all_reduce ||
           id == JX_PRIM_stablehlo_reduce_scatter;
}

/* In whose words the parameter is called otherwise. */
static bool put_config(jx_hlo_body *b, jx_params *p, const jx_json *config,
                       jx_prim_id id)
{
    static const char *const ints[][2] = {
        {"all_gather_dimension", "all_gather_dim"},
        {"scatter_dimension", "scatter_dimension"},
        {"split_dimension", "split_dimension"},
        {"concat_dimension", "concat_dimension"},
        {"split_count", "split_count"},
        {"channel_id", "channel_id"}};
    bool permutes = id == JX_PRIM_stablehlo_collective_permute;
    const jx_value *rows =
        rows_of(b, config, permutes ? "permutation" : "replica_groups");
    const jx_json *value;

    if (!rows)
        return false;
    jx_put(p, permutes ? "source_target_pairs" : "replica_groups", rows);
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        if (jx_json_get(config, ints[i][0], &value)) {
            if (jx_json_kind_of(value) != JX_JSON_INT)
                return false;
            jx_put_int(p, ints[i][1], jx_json_int(value));
        }
    if (jx_json_get(config, "use_global_device_ids", &value) &&
        jx_json_kind_of(value) == JX_JSON_BOOL && jx_json_bool(value))
        jx_put_bool(p, "use_global_device_ids", true);
    return true;
}

static const jx_mlir_attr *config_text(const jx_mlir_op *op)
{
    const jx_mlir_attr *all = jx_mlir_get(op, "mhlo.frontend_attributes");
    const jx_mlir_attr *text =
        all ? jx_mlir_field(all, "async_collective_config") : NULL;

    return text && text->kind == JX_A_STRING ? text : NULL;
}

static jx_json *config_of(jx_hlo_body *b)
{
    const jx_mlir_attr *text = config_text(b->op);
    jx_json_fault fault;

    return text ? jx_json_parse(b->s->ctx, (const char *)text->bytes,
                                text->size, false, &fault)
                : NULL;
}

/* One that says nothing of itself is a custom call of somebody else's. */
bool jx_hlo_op_begun_collective(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    jx_json *config = op->nins == 1 && op->nouts == 1 ? config_of(b) : NULL;
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval *out = jx_hlo_result(b, 0, NULL);
    const jx_atom *made;
    bool said;

    if (!config)
        return jx_ok(b->s->ctx) && jx_hlo_op_host_call(b, op, row);
    said = jx_json_kind_of(config) == JX_JSON_OBJECT &&
           put_config(b, &p, config, row->prim) &&
           (!is_reduction(row->prim) || put_reducer(b, &p, ins));
    jx_json_free(config);
    if (!said)
        return jx_ok(b->s->ctx) &&
               jx_hlo_refuse(b, "async_collective_config: expected groups of "
                                "devices, and the "
                                "axes of the collective");
    made =
        out ? jx_hlo_eqn_all(b, jx_prim_of(row->prim), 1, ins.at, &p, 1, &out)
            : NULL;
    return made && jx_hlo_define(b, 1, made);
}

/* The end of what one began that said what it is. */
bool jx_hlo_op_ended_collective(jx_hlo_body *b, const jx_mlir_op *op,
                                const jx_hlo_row *row)
{
    const jx_mlir_op *begun = op->nins == 1 ? op->ins[0]->op : NULL;

    return begun && config_text(begun) ? jx_hlo_op_async_done(b, op, row)
                                       : jx_hlo_op_host_call(b, op, row);
}
