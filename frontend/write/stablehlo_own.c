/* stablehlo_own.c - what StableHLO has and JAX has not: ops whose computations
 * are any, composites, custom calls (stablehlo_rules.h). */
#include "frontend/write/stablehlo_rules.h"

#include <string.h>

/* Operands, indices, updates; one computation for all. */
void jx_lowering_rule_own_scatter(jx_hlo_eqn *e)
{
    const jx_p_stablehlo_scatter *p = e->eqn->typed;
    jx_hlo *in = e->code->in;
    int n = e->eqn->nouts;

    if (e->eqn->nins != 2 * n + 1 || !e->ins[n].aval)
        return;
    jx_mlir_named attrs[] = {
        {"scatter_dimension_numbers",
         jx_hlo_scatter_dims(in, &p->dimension_numbers, e->ins[n].aval->rank)},
        {"indices_are_sorted",
         p->indices_are_sorted ? jx_hlo_bool(in, true) : NULL},
        {"unique_indices", p->unique_indices ? jx_hlo_bool(in, true) : NULL}};
    jx_mlir_region body = jx_hlo_computation(e->code, &p->update_computation, n,
                                             e->ins, JX_HLO_TWICE);
    jx_hlo_own(e, 3, attrs, &body);
}

void jx_lowering_rule_own_map(jx_hlo_eqn *e)
{
    const jx_p_stablehlo_map *p = e->eqn->typed;
    jx_mlir_named attr = {
        "dimensions",
        jx_hlo_i64s(e->code->in, p->dimensions.count, p->dimensions.at)};
    jx_mlir_region body = jx_hlo_computation(e->code, &p->computation,
                                             e->eqn->nins, e->ins, JX_HLO_ONCE);

    jx_hlo_own(e, 1, &attr, &body);
}

/* ---- composites */

static const jx_mlir_attr *plain(jx_hlo *in, const jx_value *v)
{
    switch (v->tag) {
    case JX_V_BOOL: return jx_hlo_bool(in, v->boolean);
    case JX_V_INT: return jx_hlo_i64(in, v->integer);
    case JX_V_TEXT: return jx_hlo_text(in, v->text);
    case JX_V_FLOAT: return jx_hlo_float(in, "f64", v->real);
    default: return NULL;
    }
}

/* A map, or a tuple of pairs, of names and simple values; NULL if it has none
 * or holds anything else. */
static const jx_mlir_attr *attributes(jx_hlo *in, const jx_value *v)
{
    bool map = v && v->tag == JX_V_MAP;
    int n = !v || !v->items ? 0 : map ? v->count / 2 : v->count;
    jx_mlir_named *all = JX_NEW_ARRAY(in->ctx->arena, n + 1, jx_mlir_named);

    if (!all || !n)
        return NULL;
    for (int i = 0; i < n; i++) {
        const jx_value *pair = v->items[i];
        const jx_value *name = map ? v->items[2 * i] : NULL;
        const jx_value *value = map ? v->items[2 * i + 1] : NULL;
        if (!map && pair->tag == JX_V_TUPLE && pair->count == 2) {
            name = pair->items[0];
            value = pair->items[1];
        }
        if (!name || name->tag != JX_V_TEXT)
            return NULL;
        all[i] = (jx_mlir_named){name->text, plain(in, value)};
    }
    return jx_hlo_dict(in, n, all);
}

/* The op names the function that it stands for.  Where functions take sizes,
 * which are no operands of the op, that function is called instead. */
void jx_lowering_rule_composite(jx_hlo_eqn *e)
{
    const jx_p_composite *p = e->eqn->typed;
    jx_hlo *in = e->code->in;
    const jx_closed *callee = jx_eqn_callee(e->eqn);
    const char *name = p->name ? p->name : "composite", *function;
    const jx_aval *const *types =
        jx_hlo_avals_of(e->code, e->eqn->nins, e->ins);

    if (in->nvars) {
        jx_hlo_call(e->code, name, callee, e->ins, e->outs);
        return;
    }
    function = types ? jx_hlo_function_of(e->code, name, callee, types) : NULL;
    if (!function)
        return;
    jx_mlir_named attrs[] = {
        {"name", jx_hlo_text(in, name)},
        {"decomposition", jx_hlo_symbol(in, function)},
        {"composite_attributes", attributes(in, p->attributes)},
        {"version",
         p->version ? jx_hlo_integer(in, JX_SIGNLESS, 32, p->version) : NULL}};
    jx_hlo_own(e, 4, attrs, NULL);
}

/* ---- custom calls */

/* LAPACK's functions take their options as characters, and two as indices. */
static const jx_mlir_attr *option(jx_hlo *in, const char *target,
                                  const char *name, const jx_value *v)
{
    bool lapack = !strncmp(target, "lapack_", 7);

    if (!lapack || v->tag != JX_V_INT)
        return plain(in, v);
    if (!strcmp(name, "low") || !strcmp(name, "high"))
        return jx_hlo_integer(in, JX_SIGNLESS, 32, v->integer);
    return jx_hlo_integer(in, JX_UNSIGNED, 8, v->integer);
}

/* Marks of a module with other operands, or for partitioning, which are kept as
 * no more than words. */
static bool is_gone(const char *name)
{
    return !strncmp(name, "sdy.", 4) ||
           !strcmp(name, "indices_of_shape_operands");
}

/* The entries of a map that are simple values. */
static jx_mlir_named *entries(jx_hlo *in, const char *target, const jx_value *v,
                              int *count)
{
    int n = v && v->tag == JX_V_MAP ? v->count / 2 : 0;
    /* There is room for two more. */
    jx_mlir_named *all = JX_NEW_ARRAY(in->ctx->arena, n + 3, jx_mlir_named);

    *count = 0;
    for (int i = 0; all && i < n; i++) {
        const jx_value *name = v->items[2 * i];
        if (name->tag == JX_V_TEXT && !is_gone(name->text))
            all[(*count)++] =
                (jx_mlir_named){name->text, option(in, target, name->text,
                                                   v->items[2 * i + 1])};
    }
    return all;
}

/* A tuple of tuples of axes, for the first `n` operands or results
 * (behind them there may be those of operands that only said shapes),
 * then `more` vectors. */
static const jx_mlir_attr *layouts(jx_hlo *in, const jx_value *v, int n,
                                   int more)
{
    static const int64_t only;
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, n + more + 1, const jx_mlir_attr *);

    if (!items || !v || v->tag != JX_V_TUPLE || v->count < n || !v->count)
        return NULL;
    for (int i = 0; i < n; i++) {
        const jx_value *one = v->items[i];
        int64_t *axes = JX_NEW_ARRAY(in->ctx->arena, one->count + 1, int64_t);
        if (!axes || (one->count && !one->items))
            return NULL;
        for (int k = 0; k < one->count; k++)
            axes[k] = one->items[k]->integer;
        items[i] = jx_hlo_axes(in, one->count, axes);
    }
    for (int i = 0; i < more; i++)
        items[n + i] = jx_hlo_axes(in, 1, &only);
    return jx_hlo_list(in, n + more, items);
}

/* Functions that the call is given, by name; those that the reader could not
 * read stay names. */
static const jx_mlir_attr *called(jx_code *c, const jx_value *v)
{
    jx_hlo *in = c->in;
    int n = v && v->tag == JX_V_TUPLE ? v->count : 0;
    const jx_mlir_attr **items =
        JX_NEW_ARRAY(in->ctx->arena, n + 1, const jx_mlir_attr *);

    if (!n || !items)
        return NULL;
    for (int i = 0; i < n; i++) {
        const jx_value *one = v->items[i];
        jx_closed closed = {one->jaxpr, 0, NULL};
        const jx_aval **types;
        const char *name;
        if (one->tag != JX_V_JAXPR || one->count || in->nvars) {
            jx_hlo_fail(c, "a custom call is given a function that has no "
                           "StableHLO form");
            return NULL;
        }
        types =
            JX_NEW_ARRAY(in->ctx->arena, one->jaxpr->nins + 1, const jx_aval *);
        for (int k = 0; types && k < one->jaxpr->nins; k++)
            types[k] = jx_hlo_physical(
                in, one->jaxpr->vars[one->jaxpr->nconsts + k]->aval);
        name =
            types ? jx_hlo_function_of(c, "computation", &closed, types) : NULL;
        if (!name)
            return NULL;
        items[i] = jx_hlo_symbol(in, name);
    }
    return jx_hlo_list(in, n, items);
}

void jx_lowering_rule_own_custom_call(jx_hlo_eqn *e)
{
    const jx_p_custom_call *p = e->eqn->typed;
    jx_code *c = e->code;
    jx_hlo *in = c->in;
    const char *target = p->call_target_name;
    const jx_value *config = p->backend_config;
    bool map = config && config->tag == JX_V_MAP;
    bool text = config && config->tag == JX_V_TEXT;
    int nmore, nconfig, nins = e->eqn->nins;
    const jx_mlir_attr *indices;
    const jx_hv *ins =
        jx_hlo_with_shapes(c, &nins, e->ins, e->eqn->nouts, e->avals, &indices);
    jx_mlir_named *more = entries(in, target, p->attributes, &nmore);
    jx_mlir_named *options = entries(in, target, map ? config : NULL, &nconfig);

    if (!more || !options)
        return;
    if (config && !map && !text && config->tag != JX_V_NONE) {
        jx_hlo_fail(c, "the options of the custom call `%s` are no text",
                    target);
        return;
    }
    if (map)
        more[nmore++] = (jx_mlir_named){"mhlo.backend_config",
                                        jx_hlo_dict(in, nconfig, options)};
    more[nmore++] = (jx_mlir_named){"indices_of_shape_operands", indices};
    jx_mlir_named attrs[] = {
        {"call_target_name", jx_hlo_text(in, target)},
        {"api_version",
         p->api_version && p->api_version != 1
             ? jx_hlo_integer(in, JX_SIGNLESS, 32, p->api_version)
             : NULL},
        {"backend_config",
         map || text ? jx_hlo_text(in, text ? config->text : "") : NULL},
        {"has_side_effect", p->has_side_effect ? jx_hlo_bool(in, true) : NULL},
        {"called_computations", called(c, p->called_computations)},
        {"operand_layouts",
         layouts(in, p->operand_layouts, e->eqn->nins, nins - e->eqn->nins)},
        {"result_layouts", layouts(in, p->result_layouts, e->eqn->nouts, 0)}};
    jx_hlo_emit(c,
                &(jx_hlo_op){.name = e->op,
                             .nins = nins,
                             .ins = ins,
                             .nouts = e->eqn->nouts,
                             .outs = e->avals,
                             .nattrs = 7,
                             .attrs = attrs,
                             .nmore = nmore,
                             .more = more},
                e->outs);
}
