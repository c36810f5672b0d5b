/* print_params.c - the parameters of an equation, as far as JAX shows them. */
#include "frontend/ir/params.h"
#include "frontend/ir/print_parts.h"

#include <string.h>

/* ---- values */

static bool all_jaxprs(const jx_value *v)
{
    if (v->tag != JX_V_TUPLE)
        return false;
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->tag != JX_V_JAXPR)
            return false;
    return true;
}

static void put_jaxprs(jx_printer *p, const jx_value *v)
{
    jx_layout_open(&p->layout);
    jx_layout_nest(&p->layout, 2);
    jx_print_text(p, "(");
    jx_layout_break(&p->layout, "");
    for (int i = 0; i < v->count; i++) {
        if (i)
            jx_layout_break(&p->layout, " ");
        jx_print_jaxpr(p, v->items[i]->jaxpr);
    }
    jx_layout_unnest(&p->layout, 2);
    jx_layout_break(&p->layout, "");
    jx_print_text(p, ")");
    jx_layout_close(&p->layout);
}

static void put_value(jx_printer *p, const jx_value *v)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);

    if (v->tag == JX_V_JAXPR) {
        jx_print_jaxpr(p, v->jaxpr);
    } else if (all_jaxprs(v)) {
        put_jaxprs(p, v);
    } else {
        jx_value_print(p->program, v, false, &text);
        jx_print_buffer(p, &text);
    }
}

/* ---- what is shown of an equation's parameters */

/* A parameter as shown: by value, or as plain text. */
typedef struct shown {
    const char *name;
    const jx_value *value;
    const char *text;
} shown;

typedef struct shown_list {
    shown at[64];
    int count;
} shown_list;

static bool is_none(const jx_value *v)
{
    return v->tag == JX_V_NONE;
}

/* All items of a tuple have this tag. */
static bool only(const jx_value *v, jx_value_tag tag)
{
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->tag != tag)
            return false;
    return v->tag == JX_V_TUPLE;
}

static bool any_true(const jx_value *v)
{
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->boolean)
            return true;
    return v->boolean;
}

static bool is_empty_mesh(const jx_printer *p, const jx_value *v)
{
    return v->tag == JX_V_MESH && !p->program->meshes[v->integer].naxes;
}

/* What JAX leaves out of a call of jit, because it is the default. */
static bool hidden_in_jit(const jx_printer *p, const char *name,
                          const jx_value *v)
{
    if (!strcmp(name, "inline"))
        return true;
    if (!strcmp(name, "donated_invars") || !strcmp(name, "keep_unused"))
        return !any_true(v);
    if (!strcmp(name, "in_shardings") || !strcmp(name, "out_shardings"))
        return only(v, JX_V_UNSPECIFIED);
    if (!strcmp(name, "in_layouts") || !strcmp(name, "out_layouts"))
        return only(v, JX_V_NONE);
    if (!strcmp(name, "ctx_mesh"))
        return is_empty_mesh(p, v);
    return !strcmp(name, "compiler_options_kvs") && v->tag == JX_V_TUPLE &&
           !v->count;
}

static bool hidden(const jx_printer *p, const jx_eqn *eqn, const char *name,
                   const jx_value *v)
{
    switch (eqn->prim->id) {
    case JX_PRIM_jit: return hidden_in_jit(p, name, v);
    case JX_PRIM_custom_jvp_call:
        return !strcmp(name, "num_consts") && v->integer == 0;
    case JX_PRIM_custom_vjp_call:
        return !strcmp(name, "out_trees") ||
               (!strcmp(name, "num_consts") && v->integer == 0);
    case JX_PRIM_custom_vmap_call: /* what its rule makes of it */
        return !strcmp(name, "batched");
    case JX_PRIM_mul: return !strcmp(name, "out_dtype") && is_none(v);
    case JX_PRIM_convert_element_type: return !strcmp(name, "sharding");
    case JX_PRIM_dot_general:
        return !strcmp(name, "out_sharding") || is_none(v);
    case JX_PRIM_broadcast_in_dim:
        return !strcmp(name, "shape") || !strcmp(name, "sharding") ||
               (!strcmp(name, "broadcast_dimensions") && !v->count);
    case JX_PRIM_call_hi_primitive: /* as text had it before 0.12 */
    case JX_PRIM_call_hi_primitive_linearized:
        return !strcmp(name, "name") && jx_eqn_param(eqn, "_prim");
    default: break;
    }
    if (!strcmp(eqn->prim->name, "reshard"))
        return true;
    if (!strcmp(eqn->prim->name, "check"))
        return !strcmp(name, "err_tree");
    if (!strcmp(eqn->prim->name, "custom_lin"))
        return !strcmp(name, "out_avals");
    return !strcmp(name, "accuracy") && is_none(v) &&
           jx_params_kind(eqn->prim->id, name);
}

/* "relu at file.py:12" is called relu. */
static const char *called(jx_printer *p, const jx_jaxpr *jaxpr)
{
    const char *text = jaxpr->function ? jaxpr->function : "";
    const char *at = NULL;

    for (const char *next = strstr(text, " at "); next;
         next = strstr(next + 1, " at "))
        at = next;
    char *name = jx_arena_string(p->arena, text,
                                 at ? (size_t)(at - text) : strlen(text));
    return name ? name : "";
}

/* Custom rules are shown by their functions' names. */
static shown shown_rule(const jx_param *param)
{
    static const char *const names[][2] = {
        {"jvp_jaxpr_fun", "jvp"}, {"fwd_jaxpr_thunk", "fwd"}, {"bwd", "bwd"}};
    const jx_value *v = param->value;

    for (size_t i = 0; i < 3; i++)
        if (!strcmp(param->name, names[i][0]) &&
            (v->tag == JX_V_RULE || v->tag == JX_V_FUNCTION))
            return (shown){names[i][1], NULL, v->text ? v->text : ""};
    return (shown){param->name, v, NULL};
}

static void put_list(jx_printer *p, const jx_value *list, jx_buffer *to)
{
    jx_buffer_putc(to, '[');
    for (int n = 0; n < list->count; n++) {
        jx_buffer_puts(to, n ? ", " : "");
        jx_value_print(p->program, list->items[n], true, to);
    }
    jx_buffer_putc(to, ']');
}

/* The contracting and batch dimensions of dot_general, with lists inside. */
static const char *lists_of(jx_printer *p, const jx_value *v)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);

    for (int i = 0; i < 2; i++) {
        jx_buffer_puts(&text, i ? ", (" : "((");
        for (int k = 0; k < 2; k++) {
            jx_buffer_puts(&text, k ? ", " : "");
            put_list(p, v->items[i]->items[k], &text);
        }
        jx_buffer_putc(&text, ')');
    }
    jx_buffer_putc(&text, ')');
    const char *kept = jx_arena_take(p->arena, &text);
    return kept ? kept : "";
}

/* Which tangents of a custom rule are zero is a list. */
static shown shown_linear(jx_printer *p, const jx_param *param)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);
    const char *kept;

    if (strcmp(param->name, "in_zeros") || param->value->tag != JX_V_TUPLE)
        return shown_rule(param);
    put_list(p, param->value, &text);
    kept = jx_arena_take(p->arena, &text);
    return (shown){param->name, NULL, kept ? kept : ""};
}

static void add_shown(shown_list *list, shown what)
{
    int at = list->count;

    if (list->count == 64)
        return;
    list->count++;
    for (; at > 0 && strcmp(what.name, list->at[at - 1].name) < 0; at--)
        list->at[at] = list->at[at - 1];
    list->at[at] = what;
}

static bool is_custom(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_custom_jvp_call ||
           eqn->prim->id == JX_PRIM_custom_vjp_call;
}

/* A scan of trees has no counts of its own: they stand beside the trees, for
 * whoever does not read these. */
static bool is_beside(const jx_eqn *eqn, const char *name)
{
    return eqn->prim->id == JX_PRIM_scan && jx_eqn_param(eqn, "ft_in") &&
           (!strcmp(name, "num_consts") || !strcmp(name, "num_carry"));
}

/* Sorted by name, but for the name of a call, which comes first. */
static void choose(jx_printer *p, const jx_eqn *eqn, shown_list *list)
{
    bool all = p->options.all_params;

    for (int i = 0; i < eqn->nparams; i++) {
        const jx_param *param = &eqn->params[i];
        shown one = {param->name, param->value, NULL};
        if (is_beside(eqn, param->name) ||
            (!all && hidden(p, eqn, param->name, param->value)))
            continue;
        if (!all && is_custom(eqn))
            one = shown_rule(param);
        if (!all && !strcmp(eqn->prim->name, "custom_lin"))
            one = shown_linear(p, param);
        if (!all && eqn->prim->id == JX_PRIM_dot_general &&
            !strcmp(param->name, "dimension_numbers"))
            one.text = lists_of(p, param->value);
        add_shown(list, one);
    }
}

void jx_print_begin_params(jx_printer *p)
{
    jx_layout_open(&p->layout);
    jx_layout_nest(&p->layout, 2);
    jx_print_text(p, "[");
    jx_layout_break(&p->layout, "");
}

void jx_print_end_params(jx_printer *p)
{
    jx_layout_unnest(&p->layout, 2);
    jx_layout_break(&p->layout, "");
    jx_print_text(p, "]");
    jx_layout_close(&p->layout);
}

static void put_name(jx_printer *p, bool first, const char *name)
{
    if (!first)
        jx_layout_break(&p->layout, " ");
    jx_print_text(p, name);
    jx_print_text(p, "=");
}

void jx_print_param(jx_printer *p, bool first, const char *name,
                    const jx_value *value)
{
    put_name(p, first, name);
    if (value)
        put_value(p, value);
}

static void put_pair(jx_printer *p, const shown *one, bool first)
{
    put_name(p, first, one->name);
    if (one->text)
        jx_print_text(p, one->text);
    else
        put_value(p, one->value);
}

void jx_print_params(jx_printer *p, const jx_eqn *eqn)
{
    shown_list list = {.count = 0};
    shown name = {NULL, NULL, NULL};
    bool all = p->options.all_params, first = true;

    choose(p, eqn, &list);
    if (!all && eqn->prim->id == JX_PRIM_jit)
        name = (shown){"name", jx_eqn_param(eqn, "name"), NULL};
    if (!all && is_custom(eqn) && eqn->typed) {
        const jx_value *call = jx_eqn_param(eqn, "call_jaxpr");
        name = (shown){"name", NULL, called(p, call->jaxpr)};
    }
    if (!list.count && !name.name)
        return;
    jx_print_begin_params(p);
    if (name.name && (name.value || name.text)) {
        put_pair(p, &name, true);
        first = false;
    }
    for (int i = 0; i < list.count; i++) {
        if (name.name && !strcmp(list.at[i].name, "name"))
            continue;
        put_pair(p, &list.at[i], first);
        first = false;
    }
    jx_print_end_params(p);
}
