/* document_jaxprs.c - the jaxprs of a document: variables, equations.
 *
 * An operand is the number of a variable, of which there have to be as many so
 * far. */
#include "frontend/read/document_parts.h"

static jx_atom read_operand(jx_doc *d, const jx_body *b, const jx_node *at)
{
    if (jx_node_kind(at) == JX_JSON_OBJECT)
        return (jx_atom){NULL, jx_doc_literal(d, at)};
    int index = jx_node_index(&d->walk, at, jx_body_nvars(b),
                              "variables defined before");
    const jx_var *var = index < 0 ? NULL : jx_body_numbered(b, index);
    if (var && var->dropped)
        jx_node_fail(&d->walk, at, "variable %d was dropped", index);
    return (jx_atom){var, NULL};
}

static const jx_atom *read_operands(jx_doc *d, const jx_body *b,
                                    const jx_node *at, int *count)
{
    int n = jx_node_array(&d->walk, at);
    jx_atom *atoms = JX_NEW_ARRAY(d->ctx->arena, n, jx_atom);

    if (jx_node_kind(at) != JX_JSON_ARRAY)
        jx_node_fail(&d->walk, at, "expected an array of operands");
    for (int i = 0; atoms && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        atoms[i] = read_operand(d, b, &item);
    }
    *count = atoms ? n : 0;
    return atoms;
}

/* An aval's index, or -1 minus it for an output that is dropped. */
static jx_var *read_output(jx_doc *d, jx_body *b, const jx_node *at)
{
    bool dropped = jx_node_kind(at) == JX_JSON_INT && jx_json_int(at->json) < 0;
    int index = -1;

    if (dropped) {
        int64_t value = jx_json_int(at->json);
        if (value < -(int64_t)d->navals)
            jx_node_fail(&d->walk, at,
                         "expected -1 minus an index into \"avals\" below %d",
                         d->navals);
        else
            index = (int)(-1 - value);
    } else {
        index = jx_node_index(&d->walk, at, d->navals, "avals");
    }
    jx_var *var = index < 0 ? NULL : jx_body_var(b, d->avals[index]);
    if (var)
        var->dropped = dropped;
    return var;
}

static void read_outputs(jx_doc *d, jx_body *b, const jx_node *at, jx_eqn *eqn)
{
    int n = jx_node_array(&d->walk, at);
    const jx_var **outs = JX_NEW_ARRAY(d->ctx->arena, n, const jx_var *);

    for (int i = 0; outs && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        outs[i] = read_output(d, b, &item);
    }
    eqn->outs = outs;
    eqn->nouts = outs ? n : 0;
}

/* ---- parameters */

/* Whether a parameter is a dtype that a library made, which only operations on
 * arrays of such a dtype have. */
static bool is_of_unknown_dtype(const jx_eqn *eqn, int count,
                                const jx_param *params)
{
    bool named = false, typed = false;

    for (int i = 0; i < count; i++)
        named |= params[i].value->tag == JX_V_DTYPE &&
                 params[i].value->dtype == JX_DT_NONE;
    for (int i = 0; named && i < eqn->nouts; i++)
        typed |= eqn->outs[i]->aval->kind == JX_AVAL_OTHER;
    return named && typed;
}

static void read_params(jx_doc *d, const jx_node *at, jx_eqn *eqn)
{
    enum { FEW = 64 };
    jx_param few[FEW], *params = few;
    size_t state = 0;
    int count = 0;
    const char *key, *why;
    const jx_json *value;

    if (jx_node_kind(at) != JX_JSON_OBJECT) {
        jx_node_fail(&d->walk, at, "expected an object of parameters");
        return;
    }
    if (jx_json_count(at->json) > FEW)
        params = JX_NEW_ARRAY(d->ctx->arena, jx_json_count(at->json), jx_param);
    while (params && jx_json_next(at->json, &state, &key, &value)) {
        jx_node member = {value, true, at, key, 0};
        params[count].name = jx_intern_text(d->ctx, key);
        params[count++].value =
            jx_param_keep(d->program, eqn->prim, key, jx_doc_value(d, &member));
        if (d->walk.failed || jx_arena_failed(d->ctx->arena))
            return;
    }
    if (params && is_of_unknown_dtype(eqn, count, params))
        eqn->prim = jx_prim_unknown(d->ctx, eqn->prim->name);
    if (!params || !eqn->prim)
        return;
    why = jx_build_params(&d->build, eqn, count, params);
    if (why)
        jx_node_fail(&d->walk, at, "%s", why);
}

/* ---- equations */

static void read_effect(jx_doc *d, const jx_node *at, jx_effect *to)
{
    if (!jx_node_object(&d->walk, at, "t axis in"))
        return;
    jx_node type = jx_node_need(&d->walk, at, "t");
    jx_node axis = jx_node_member(at, "axis"), in = jx_node_member(at, "in");
    to->type = jx_node_text(&d->walk, &type);
    to->axis = jx_node_text(&d->walk, &axis);
    to->has_input = in.there;
    to->input = in.there ? (int)jx_node_int(&d->walk, &in, -1, INT32_MAX) : -1;
}

static jx_effects read_effects(jx_doc *d, const jx_node *at)
{
    int n = jx_node_array(&d->walk, at);
    jx_effect *effects = JX_NEW_ARRAY(d->ctx->arena, n, jx_effect);

    for (int i = 0; effects && i < n; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        read_effect(d, &item, &effects[i]);
    }
    return (jx_effects){effects ? n : 0, effects};
}

static void read_extra(jx_doc *d, const jx_node *at, jx_eqn *eqn)
{
    if (!jx_node_object(&d->walk, at, "eff saveable offload refused"))
        return;
    jx_node effects = jx_node_member(at, "eff");
    jx_node saveable = jx_node_member(at, "saveable");
    jx_node offload = jx_node_member(at, "offload");
    jx_node refused = jx_node_member(at, "refused");
    eqn->effects = read_effects(d, &effects);
    eqn->saveable = jx_node_bool(&d->walk, &saveable);
    eqn->refused = jx_node_text(&d->walk, &refused);
    if (!offload.there || !jx_node_tuple(&d->walk, &offload, 2))
        return;
    jx_node from = jx_node_item(&offload, 0), to = jx_node_item(&offload, 1);
    eqn->offload_from = jx_node_text(&d->walk, &from);
    eqn->offload_to = jx_node_text(&d->walk, &to);
}

/* An index that may be -1: none. */
static int index_or_none(jx_doc *d, const jx_node *at, int count,
                         const char *table)
{
    if (jx_node_kind(at) == JX_JSON_INT && jx_json_int(at->json) == -1)
        return -1;
    return jx_node_index(&d->walk, at, count, table);
}

static void read_place(jx_doc *d, const jx_node *at, jx_eqn *eqn)
{
    jx_node stack = jx_node_item(at, 4), name = jx_node_item(at, 5);
    jx_node context = jx_node_item(at, 6);

    eqn->stack = jx_doc_stack(d, &stack);
    int index = index_or_none(d, &name, d->nnames, "names");
    eqn->name_stack = index < 0 ? NULL : d->names[index];
    index = index_or_none(d, &context, d->ncontexts, "contexts");
    eqn->ctx = index < 0 ? NULL : d->contexts[index];
}

static bool read_equation(jx_doc *d, jx_body *b, const jx_node *at)
{
    int n = jx_node_array(&d->walk, at);
    jx_node prim = jx_node_item(at, 0), ins = jx_node_item(at, 1);
    jx_node outs = jx_node_item(at, 2), params = jx_node_item(at, 3);
    jx_eqn eqn = {0};

    if (n > 2 && jx_node_kind(&outs) != JX_JSON_ARRAY)
        return jx_node_fail(&d->walk, &outs, "expected an array of outputs");
    if (n != 7 && n != 8)
        return jx_node_fail(&d->walk, at,
                            "expected [primitive, operands, "
                            "outputs, parameters, stack, name, context] or "
                            "one item more");
    jx_node extra = jx_node_item(at, 7);
    int index = jx_node_index(&d->walk, &prim, d->nprims, "prims");
    if (index < 0)
        return false;
    eqn.prim = d->prims[index];
    eqn.ins = read_operands(d, b, &ins, &eqn.nins);
    read_outputs(d, b, &outs, &eqn);
    read_params(d, &params, &eqn);
    read_place(d, at, &eqn);
    if (n == 8)
        read_extra(d, &extra, &eqn);
    if (d->walk.failed || jx_arena_failed(d->ctx->arena))
        return false;
    const char *misfit = jx_build_given(b, &eqn);
    return !misfit || jx_node_fail(&d->walk, at, "%s", misfit);
}

static bool begin_body(jx_doc *d, const jx_node *at, jx_body *b)
{
    jx_node in = jx_node_need(&d->walk, at, "in");
    jx_node nc = jx_node_member(at, "nc");
    int n = jx_node_array(&d->walk, &in), nconsts = 0;

    if (nc.there)
        nconsts = (int)jx_node_int(&d->walk, &nc, 0, n);
    for (int i = 0; i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&in, (size_t)i);
        (i < nconsts ? jx_body_const : jx_body_input)(b, jx_doc_aval(d, &item));
    }
    return !d->walk.failed;
}

/* Texts, or NULL where none are given. */
static void read_debug(jx_doc *d, const jx_node *at, jx_jaxpr *to)
{
    jx_node fn = jx_node_member(at, "fn"), args = jx_node_member(at, "args");
    jx_node res = jx_node_member(at, "res"), eff = jx_node_member(at, "eff");

    to->effects = read_effects(d, &eff);
    to->function = jx_node_text(&d->walk, &fn);
    to->arg_names = jx_node_texts(&d->walk, &args, to->nins);
    to->result_paths = jx_node_texts(&d->walk, &res, to->nouts);
}

static int deepest(const jx_doc *d, const jx_value *v)
{
    int depth = v->tag == JX_V_JAXPR ? d->depths[v->jaxpr->id] : 0;

    for (int i = 0; i < v->count; i++) {
        int below = v->items ? deepest(d, v->items[i]) : 0;
        depth = below > depth ? below : depth;
    }
    int shown = v->shown ? deepest(d, v->shown) : 0;
    return shown > depth ? shown : depth;
}

static int depth_of(const jx_doc *d, const jx_jaxpr *jaxpr)
{
    int depth = 0;

    for (int i = 0; i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nparams; k++) {
            int below = deepest(d, jaxpr->eqns[i].params[k].value);
            depth = below > depth ? below : depth;
        }
    return depth + 1;
}

static bool read_jaxpr(jx_doc *d, const jx_node *at, int id)
{
    jx_body b = {.in = &d->build};
    jx_jaxpr *to;
    int nouts;

    if (!jx_node_object(&d->walk, at, "in nc eqns out eff fn args res"))
        return false;
    jx_node eqns = jx_node_need(&d->walk, at, "eqns");
    jx_node out = jx_node_need(&d->walk, at, "out");
    if (d->walk.failed || !begin_body(d, at, &b))
        return false;
    int neqns = jx_node_array(&d->walk, &eqns);
    jx_body_reserve(&b, neqns);
    for (int i = 0; i < neqns; i++) {
        jx_node row = jx_node_item(&eqns, (size_t)i);
        if (!read_equation(d, &b, &row))
            return false;
    }
    const jx_atom *outs = read_operands(d, &b, &out, &nouts);
    for (int i = 0; !d->walk.failed && i < nouts; i++)
        jx_body_result(&b, outs[i]);
    to = d->walk.failed ? NULL : jx_body_finish(&b, jx_no_atoms, NULL);
    if (!to)
        return false;
    read_debug(d, at, to);
    d->depths[id] = depth_of(d, to);
    return d->depths[id] <= JX_CALL_DEPTH ||
           jx_node_fail(&d->walk, at, "more than %d calls inside calls",
                        JX_CALL_DEPTH);
}

void jx_doc_jaxprs(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_need(&d->walk, root, "jaxprs");
    jx_node rules = jx_node_member(root, "rules");
    int n = jx_node_array(&d->walk, &table);

    d->nrules = jx_node_array(&d->walk, &rules);
    d->rules = JX_NEW_ARRAY(d->ctx->arena, d->nrules, jx_rule);
    d->depths = JX_NEW_ARRAY(d->ctx->arena, n, int);
    jx_doc_begin_definitions(d, root);
    if (!d->rules || !d->depths || !d->definitions)
        return;
    for (int i = 0; i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        if (!read_jaxpr(d, &item, i))
            return;
    }
    d->program->njaxprs = (int)d->build.jaxprs.count;
    d->program->jaxprs = d->build.jaxprs.at;
}
