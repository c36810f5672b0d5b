/* document_jaxprs.c - the jaxprs of a document: variables, equations.
 *
 * Variables of a jaxpr lie in one array by number, so that an operand is an
 * index that has to be below the number defined so far. */
#include "frontend/read/document_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct body {
    jx_jaxpr *to;
    jx_var *vars;
    const jx_var **pointers;
    int defined;
} body;

static jx_atom read_operand(jx_doc *d, const body *b, const jx_node *at)
{
    if (jx_node_kind(at) == JX_JSON_OBJECT)
        return (jx_atom){NULL, jx_doc_literal(d, at)};
    int index = jx_node_index(&d->walk, at, b->defined,
                              "variables defined before");
    if (index >= 0 && b->vars[index].dropped)
        jx_node_fail(&d->walk, at, "variable %d was dropped", index);
    return (jx_atom){index < 0 ? NULL : b->pointers[index], NULL};
}

static const jx_atom *read_operands(jx_doc *d, const body *b,
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

static void define(body *b, const jx_aval *aval, bool dropped)
{
    b->vars[b->defined] = (jx_var){aval, b->defined, dropped};
    b->pointers[b->defined] = &b->vars[b->defined];
    b->defined++;
}

/* An aval's index, or -1 minus it for an output that is dropped. */
static void read_output(jx_doc *d, body *b, const jx_node *at)
{
    bool dropped = jx_node_kind(at) == JX_JSON_INT &&
                   jx_json_int(at->json) < 0;
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
    if (index >= 0)
        define(b, d->avals[index], dropped);
}

static void read_outputs(jx_doc *d, body *b, const jx_node *at, jx_eqn *eqn)
{
    int n = jx_node_array(&d->walk, at);

    eqn->outs = b->pointers + b->defined;
    for (int i = 0; i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        read_output(d, b, &item);
    }
    eqn->nouts = n;
}

/* ---- parameters, one list per distinct one */

typedef struct param_list {
    const jx_prim *prim;
    int count;
    const jx_param *params;
    const void *typed;
} param_list;

static uint64_t hash_params(const param_list *list)
{
    uint64_t hash = jx_hash_mix(0, (uint64_t)(uintptr_t)list->prim);

    for (int i = 0; i < list->count; i++) {
        hash = jx_hash_mix(hash, (uint64_t)(uintptr_t)list->params[i].name);
        hash = jx_hash_mix(hash, (uint64_t)(uintptr_t)list->params[i].value);
    }
    return hash;
}

static bool same_params(const void *kept, const void *key)
{
    const param_list *a = kept, *b = key;

    if (a->prim != b->prim || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->params[i].name != b->params[i].name ||
            a->params[i].value != b->params[i].value)
            return false;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const jx_param *)a)->name, ((const jx_param *)b)->name);
}

static bool in_order(const jx_param *params, int count)
{
    for (int i = 1; i < count; i++)
        if (strcmp(params[i - 1].name, params[i].name) > 0)
            return false;
    return true;
}

/* Whether a parameter is a dtype that a library made, which only operations on
 * arrays of such a dtype have. */
static bool is_of_unknown_dtype(const jx_eqn *eqn, const param_list *list)
{
    bool named = false, typed = false;

    for (int i = 0; i < list->count; i++)
        named |= list->params[i].value->tag == JX_V_DTYPE &&
                 list->params[i].value->dtype == JX_DT_NONE;
    for (int i = 0; named && i < eqn->nouts; i++)
        typed |= eqn->outs[i]->aval->kind == JX_AVAL_OTHER;
    return named && typed;
}

static void keep_params(jx_doc *d, const jx_node *at, jx_eqn *eqn,
                        const param_list *list)
{
    uint64_t hash = hash_params(list);
    const param_list *found =
        jx_intern_find(&d->params, hash, list, same_params);
    const char *why = NULL;

    if (!found) {
        param_list *kept = jx_arena_copy(d->ctx->arena, list, sizeof *list);
        if (!kept)
            return;
        kept->params = jx_arena_copy(
            d->ctx->arena, list->params,
            (size_t)list->count * sizeof *list->params);
        eqn->nparams = kept->count;
        eqn->params = kept->params;
        if (!kept->params)
            return;
        if (is_of_unknown_dtype(eqn, list))
            kept->prim = jx_prim_unknown(d->ctx, eqn->prim->name);
        if (!kept->prim)
            return;
        eqn->prim = kept->prim;
        if (eqn->prim->id != JX_PRIM_unknown)
            kept->typed = jx_params_decode(d->program, eqn, &why);
        if (why)
            jx_node_fail(&d->walk, at, "%s", why);
        jx_intern_add(&d->params, hash, kept);
        found = kept;
    }
    eqn->prim = found->prim;
    eqn->nparams = found->count;
    eqn->params = found->params;
    eqn->typed = found->typed;
}

static void read_params(jx_doc *d, const jx_node *at, jx_eqn *eqn)
{
    enum { FEW = 64 };
    jx_param few[FEW], *params = few;
    param_list list = {.prim = eqn->prim};
    size_t state = 0;
    const char *key;
    const jx_json *value;

    if (jx_node_kind(at) != JX_JSON_OBJECT) {
        jx_node_fail(&d->walk, at, "expected an object of parameters");
        return;
    }
    if (jx_json_count(at->json) > FEW)
        params = JX_NEW_ARRAY(d->ctx->arena, jx_json_count(at->json),
                              jx_param);
    while (params && jx_json_next(at->json, &state, &key, &value)) {
        jx_node member = {value, true, at, key, 0};
        params[list.count].name = jx_intern_text(d->ctx, key);
        params[list.count++].value =
            jx_param_keep(d->program, eqn->prim, key, jx_doc_value(d, &member));
        if (d->walk.failed || jx_arena_failed(d->ctx->arena))
            return;
    }
    if (params && !in_order(params, list.count))
        qsort(params, (size_t)list.count, sizeof *params, by_name);
    list.params = params;
    if (params)
        keep_params(d, at, eqn, &list);
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
    to->input = in.there
                    ? (int)jx_node_int(&d->walk, &in, -1, INT32_MAX)
                    : -1;
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
    if (!jx_node_object(&d->walk, at, "eff saveable offload"))
        return;
    jx_node effects = jx_node_member(at, "eff");
    jx_node saveable = jx_node_member(at, "saveable");
    jx_node offload = jx_node_member(at, "offload");
    eqn->effects = read_effects(d, &effects);
    eqn->saveable = jx_node_bool(&d->walk, &saveable);
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

static bool read_equation(jx_doc *d, body *b, const jx_node *at, jx_eqn *eqn)
{
    int n = jx_node_array(&d->walk, at);

    if (n != 7 && n != 8)
        return jx_node_fail(&d->walk, at, "expected [primitive, operands, "
                            "outputs, parameters, stack, name, context] or "
                            "one item more");
    jx_node prim = jx_node_item(at, 0), ins = jx_node_item(at, 1);
    jx_node outs = jx_node_item(at, 2), params = jx_node_item(at, 3);
    jx_node extra = jx_node_item(at, 7);
    int index = jx_node_index(&d->walk, &prim, d->nprims, "prims");
    if (index < 0)
        return false;
    eqn->prim = d->prims[index];
    eqn->ins = read_operands(d, b, &ins, &eqn->nins);
    read_outputs(d, b, &outs, eqn);
    read_params(d, &params, eqn);
    read_place(d, at, eqn);
    if (n == 8)
        read_extra(d, &extra, eqn);
    if (d->walk.failed || jx_arena_failed(d->ctx->arena))
        return false;
    const char *misfit = jx_eqn_misfit(d->ctx, eqn);
    return !misfit || jx_node_fail(&d->walk, at, "%s", misfit);
}

/* How many variables the equations define; what is wrong is found later. */
static int count_outputs(jx_doc *d, const jx_node *eqns, int n)
{
    int64_t total = 0;

    for (int i = 0; i < n; i++) {
        jx_node row = jx_node_item(eqns, (size_t)i);
        if (jx_node_kind(&row) != JX_JSON_ARRAY ||
            jx_json_count(row.json) < 3)
            continue;
        jx_node outs = jx_node_item(&row, 2);
        if (jx_node_kind(&outs) == JX_JSON_ARRAY)
            total += (int64_t)jx_json_count(outs.json);
        else
            jx_node_fail(&d->walk, &outs, "expected an array of outputs");
    }
    if (total < INT_MAX / 2)
        return (int)total;
    jx_node_fail(&d->walk, eqns, "too many variables");
    return 0;
}

static bool begin_body(jx_doc *d, const jx_node *at, const jx_node *eqns,
                       body *b)
{
    jx_node in = jx_node_need(&d->walk, at, "in");
    jx_node nc = jx_node_member(at, "nc");
    int n = jx_node_array(&d->walk, &in);

    b->to->neqns = jx_node_array(&d->walk, eqns);
    b->to->nvars = n + count_outputs(d, eqns, b->to->neqns);
    if (nc.there)
        b->to->nconsts = (int)jx_node_int(&d->walk, &nc, 0, n);
    b->to->nins = n - b->to->nconsts;
    b->vars = JX_NEW_ARRAY(d->ctx->arena, b->to->nvars, jx_var);
    b->pointers = JX_NEW_ARRAY(d->ctx->arena, b->to->nvars, const jx_var *);
    if (!b->vars || !b->pointers)
        return false;
    b->to->vars = b->pointers;
    for (int i = 0; i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&in, (size_t)i);
        define(b, jx_doc_aval(d, &item), false);
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

static jx_jaxpr *read_jaxpr(jx_doc *d, const jx_node *at, int id)
{
    jx_jaxpr *to = JX_NEW(d->ctx->arena, jx_jaxpr);
    body b = {.to = to};

    if (!to || !jx_node_object(&d->walk, at, "in nc eqns out eff fn args res"))
        return NULL;
    to->id = id;
    jx_node eqns = jx_node_need(&d->walk, at, "eqns");
    jx_node out = jx_node_need(&d->walk, at, "out");
    if (d->walk.failed || !begin_body(d, at, &eqns, &b))
        return NULL;
    jx_eqn *all = JX_NEW_ARRAY(d->ctx->arena, to->neqns, jx_eqn);
    to->eqns = all;
    for (int i = 0; all && i < to->neqns; i++) {
        jx_node row = jx_node_item(&eqns, (size_t)i);
        if (!read_equation(d, &b, &row, &all[i]))
            return NULL;
    }
    to->outs = read_operands(d, &b, &out, &to->nouts);
    read_debug(d, at, to);
    if (d->walk.failed || jx_arena_failed(d->ctx->arena))
        return NULL;
    d->depths[id] = depth_of(d, to);
    if (d->depths[id] > JX_CALL_DEPTH)
        jx_node_fail(&d->walk, at, "more than %d calls inside calls",
                     JX_CALL_DEPTH);
    return to;
}

void jx_doc_jaxprs(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_need(&d->walk, root, "jaxprs");
    jx_node rules = jx_node_member(root, "rules");
    int n = jx_node_array(&d->walk, &table);

    d->nrules = jx_node_array(&d->walk, &rules);
    d->rules = JX_NEW_ARRAY(d->ctx->arena, d->nrules, jx_rule);
    d->jaxprs = JX_NEW_ARRAY(d->ctx->arena, n, const jx_jaxpr *);
    d->depths = JX_NEW_ARRAY(d->ctx->arena, n, int);
    if (!d->rules || !d->jaxprs || !d->depths)
        return;
    for (int i = 0; i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        d->jaxprs[i] = read_jaxpr(d, &item, i);
        d->njaxprs = i + 1;
    }
    d->program->njaxprs = n;
    d->program->jaxprs = d->jaxprs;
}
