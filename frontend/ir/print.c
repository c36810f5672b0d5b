/* print.c - jaxprs as JAX prints them.  See print.h.
 *
 * Names are given in the order in which JAX's printer asks for them: a
 * jaxpr's constvars, inputs, then per equation the outputs, what its
 * parameters show, the operands; then the outputs.  Jaxprs that are met more
 * than once, or have more than ten equations, are hoisted to the top. */
#include "frontend/ir/print.h"

#include "frontend/ir/layout.h"
#include "frontend/ir/params.h"

#include <string.h>

enum { HOISTED_FROM = 10, LINE = 80 };

typedef struct named {
    const void *of; /* a variable or a jaxpr */
    const char *name;
} named;

typedef struct printer {
    const jx_program *program;
    const jx_jaxpr *top;
    jx_print_options options;
    jx_arena *arena;
    jx_layout layout;
    jx_intern names;  /* of variables */
    jx_intern shared; /* of hoisted jaxprs, by jaxpr */
    jx_intern taken;  /* names of hoisted jaxprs */
    uint64_t fresh;   /* next number to make a name of */
} printer;

/* ---- tables by pointer */

static bool same_thing(const void *kept, const void *key)
{
    return ((const named *)kept)->of == key;
}

static uint64_t hash_thing(const void *key)
{
    return jx_hash_mix(0, (uint64_t)(uintptr_t)key);
}

static const char *name_of(const jx_intern *table, const void *thing)
{
    const named *found =
        jx_intern_find(table, hash_thing(thing), thing, same_thing);

    return found ? found->name : NULL;
}

static void set_name(printer *p, jx_intern *table, const void *thing,
                     const char *name)
{
    named *entry = JX_NEW(p->arena, named);

    if (!entry)
        return;
    *entry = (named){thing, name};
    jx_intern_add(table, hash_thing(thing), entry);
}

static bool same_text(const void *kept, const void *key)
{
    return !strcmp(kept, key);
}

static uint64_t hash_text(const char *text)
{
    return jx_hash_bytes(text, strlen(text));
}

/* ---- names of variables: a, b, ..., z, ba, bb, ... */

static const char *letters(printer *p, uint64_t number)
{
    char text[16], *at = text + sizeof text;

    *--at = '\0';
    do
        *--at = (char)('a' + number % 26);
    while (number /= 26);
    return jx_arena_string(p->arena, at, strlen(at));
}

static const char *fresh_name(printer *p)
{
    const char *name = letters(p, p->fresh++);

    while (name && jx_intern_find(&p->taken, hash_text(name), name, same_text))
        name = letters(p, p->fresh++);
    return name ? name : "";
}

static const char *var_name(printer *p, const jx_var *var)
{
    const char *name = var->dropped ? "_" : name_of(&p->names, var);

    if (!name) {
        name = fresh_name(p);
        set_name(p, &p->names, var, name);
    }
    return name;
}

/* Outputs at the top that nothing uses are shown as `_`. */
static void name_unused(printer *p)
{
    const jx_jaxpr *jaxpr = p->top;
    bool *used = JX_NEW_ARRAY(p->arena, jaxpr->nvars, bool);

    if (!used)
        return;
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var)
            used[jaxpr->outs[i].var->id] = true;
    for (int i = jaxpr->neqns; i-- > 0;) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nouts; k++)
            if (!used[eqn->outs[k]->id])
                set_name(p, &p->names, eqn->outs[k], "_");
        for (int k = 0; k < eqn->nins; k++)
            if (eqn->ins[k].var)
                used[eqn->ins[k].var->id] = true;
    }
}

/* ---- which jaxprs are hoisted */

typedef struct visit {
    const jx_jaxpr *jaxpr;
    const char *name;  /* of the first call that has one */
    uint64_t count;    /* how often the walk comes here */
    bool queued;
} visit;

typedef struct census {
    printer *p;
    visit *at; /* by id */
    JX_VEC(int) order;
} census;

/* The nested jaxprs as JAX finds them: values, and one level of tuples. */
typedef void on_jaxpr(census *c, const jx_jaxpr *from, const jx_jaxpr *to,
                      const char *name);

static void each_in_value(census *c, const jx_jaxpr *from, const jx_value *v,
                          const char *name, on_jaxpr *tell)
{
    if (v->tag == JX_V_JAXPR)
        tell(c, from, v->jaxpr, name);
    if (v->tag != JX_V_TUPLE && v->tag != JX_V_RECORD)
        return;
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->tag == JX_V_JAXPR)
            tell(c, from, v->items[i]->jaxpr, name);
}

/* A while loop is built with its condition first; others by name here. */
static void each_nested(census *c, const jx_jaxpr *from, const jx_eqn *eqn,
                        on_jaxpr *tell)
{
    const jx_value *given = jx_eqn_param(eqn, "name");
    const char *name = given && given->tag == JX_V_TEXT ? given->text : NULL;
    const jx_value *first = eqn->prim->id == JX_PRIM_while
                                ? jx_eqn_param(eqn, "cond_jaxpr")
                                : NULL;

    if (first)
        each_in_value(c, from, first, name, tell);
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value != first ||
            strcmp(eqn->params[i].name, "cond_jaxpr"))
            each_in_value(c, from, eqn->params[i].value, name, tell);
}

/* "<lambda>" becomes lambda. */
static const char *stripped(printer *p, const char *name)
{
    size_t n;

    name += strspn(name, "<>");
    for (n = strlen(name); n && strchr("<>", name[n - 1]); n--)
        ;
    const char *text = jx_arena_string(p->arena, name, n);
    return text ? text : "";
}

static void meet(census *c, const jx_jaxpr *from, const jx_jaxpr *to,
                 const char *name)
{
    visit *v = &c->at[to->id];

    (void)from;
    v->jaxpr = to;
    if (name && !v->name)
        v->name = stripped(c->p, name);
    if (v->queued)
        return;
    v->queued = true;
    JX_PUSH(c->p->arena, &c->order, to->id);
}

static void count_visits(census *c, const jx_jaxpr *from, const jx_jaxpr *to,
                         const char *name)
{
    uint64_t *count = &c->at[to->id].count;

    (void)name;
    *count += c->at[from->id].count;
    if (*count > UINT32_MAX) /* only "more than once" matters */
        *count = UINT32_MAX;
}

static void take_census(census *c)
{
    const jx_jaxpr *top = c->p->top;

    c->at[top->id] = (visit){top, NULL, 1, true};
    JX_PUSH(c->p->arena, &c->order, top->id);
    for (size_t i = 0; i < c->order.count; i++) {
        const jx_jaxpr *jaxpr = c->at[c->order.at[i]].jaxpr;
        for (int k = 0; k < jaxpr->neqns; k++)
            each_nested(c, jaxpr, &jaxpr->eqns[k], meet);
    }
    /* Callers have larger ids: all visits of one are known in this order. */
    for (int id = top->id; id >= 0; id--) {
        const jx_jaxpr *jaxpr = c->at[id].jaxpr;
        for (int k = 0; jaxpr && k < jaxpr->neqns; k++)
            each_nested(c, jaxpr, &jaxpr->eqns[k], count_visits);
    }
}

/* How often a name was asked for. */
typedef struct tally {
    const char *name;
    int count;
} tally;

static bool same_tally(const void *kept, const void *key)
{
    return !strcmp(((const tally *)kept)->name, key);
}

/* Adds one; gives the count before. */
static int count_name(printer *p, jx_intern *tallies, const char *name)
{
    tally *t = (tally *)jx_intern_find(tallies, hash_text(name), name,
                                       same_tally);

    if (!t) {
        t = JX_NEW(p->arena, tally);
        if (!t)
            return 0;
        t->name = name;
        jx_intern_add(tallies, hash_text(name), t);
    }
    return t->count++;
}

/* The second f becomes f1, the third f2. */
static void name_shared(printer *p, jx_intern *tallies, const visit *v)
{
    const char *name = v->name ? v->name : "jaxpr";
    int before = count_name(p, tallies, name);

    if (before > 0) {
        name = jx_arena_printf(p->arena, "%s%d", name, before);
        if (!name)
            return;
        count_name(p, tallies, name);
    }
    set_name(p, &p->shared, v->jaxpr, name);
    if (!jx_intern_find(&p->taken, hash_text(name), name, same_text))
        jx_intern_add(&p->taken, hash_text(name), name);
}

static bool is_hoisted(const printer *p, const visit *v)
{
    return v->jaxpr != p->top &&
           (v->count > 1 || v->jaxpr->neqns > HOISTED_FROM);
}

/* ---- printing */

static void put_jaxpr_body(printer *p, const jx_jaxpr *jaxpr);

static void put(printer *p, const char *text)
{
    jx_layout_text(&p->layout, text);
}

static void put_buffer(printer *p, jx_buffer *text)
{
    jx_layout_copy(&p->layout, jx_buffer_text(text), text->length);
    jx_buffer_free(text);
}

static void put_aval(const jx_program *program, const jx_aval *aval,
                     jx_buffer *to)
{
    jx_names order = {0};

    if (aval->mesh) {
        const jx_mesh *mesh = &program->meshes[aval->mesh - 1];
        order = (jx_names){mesh->naxes, mesh->axes};
    }
    jx_aval_print_ordered(aval, aval->mesh ? &order : NULL, to);
}

static void put_type(printer *p, const jx_aval *aval)
{
    jx_buffer text = {0};

    jx_buffer_putc(&text, ':');
    put_aval(p->program, aval, &text);
    put_buffer(p, &text);
}

static void put_var(printer *p, const jx_var *var, bool binder)
{
    put(p, var_name(p, var));
    if (binder)
        put_type(p, var->aval);
}

static void put_literal(printer *p, const jx_literal *literal)
{
    jx_buffer text = {0};

    jx_literal_print(literal, &text);
    if (literal->aval->dtype != JX_DT_NONE) {
        jx_buffer_putc(&text, ':');
        put_aval(p->program, literal->aval, &text);
    }
    put_buffer(p, &text);
}

/* Between two of a list: a separator and a break that looks for itself. */
static void put_gap(printer *p, const char *separator)
{
    if (*separator)
        put(p, separator);
    jx_layout_open(&p->layout);
    jx_layout_break(&p->layout, " ");
    jx_layout_close(&p->layout);
}

static void begin_list(printer *p)
{
    jx_layout_nest(&p->layout, 2);
    jx_layout_open(&p->layout);
}

static void end_list(printer *p)
{
    jx_layout_close(&p->layout);
    jx_layout_unnest(&p->layout, 2);
}

static void put_binders(printer *p, int count, const jx_var *const *vars)
{
    begin_list(p);
    for (int i = 0; i < count; i++) {
        if (i)
            put_gap(p, "");
        put_var(p, vars[i], true);
    }
    end_list(p);
}

static void put_atoms(printer *p, int count, const jx_atom *atoms,
                      const char *separator)
{
    begin_list(p);
    for (int i = 0; i < count; i++) {
        if (i)
            put_gap(p, separator);
        if (atoms[i].var)
            put_var(p, atoms[i].var, false);
        else
            put_literal(p, atoms[i].literal);
    }
    end_list(p);
}

/* ---- parameters */

static void put_jaxpr(printer *p, const jx_jaxpr *jaxpr)
{
    const char *name = name_of(&p->shared, jaxpr);

    if (name)
        put(p, name);
    else
        put_jaxpr_body(p, jaxpr);
}

static bool all_jaxprs(const jx_value *v)
{
    if (v->tag != JX_V_TUPLE)
        return false;
    for (int i = 0; i < v->count; i++)
        if (v->items[i]->tag != JX_V_JAXPR)
            return false;
    return true;
}

static void put_jaxprs(printer *p, const jx_value *v)
{
    jx_layout_open(&p->layout);
    jx_layout_nest(&p->layout, 2);
    put(p, "(");
    jx_layout_break(&p->layout, "");
    for (int i = 0; i < v->count; i++) {
        if (i)
            jx_layout_break(&p->layout, " ");
        put_jaxpr(p, v->items[i]->jaxpr);
    }
    jx_layout_unnest(&p->layout, 2);
    jx_layout_break(&p->layout, "");
    put(p, ")");
    jx_layout_close(&p->layout);
}

static void put_value(printer *p, const jx_value *v)
{
    jx_buffer text = {0};

    if (v->tag == JX_V_JAXPR) {
        put_jaxpr(p, v->jaxpr);
    } else if (all_jaxprs(v)) {
        put_jaxprs(p, v);
    } else {
        jx_value_print(p->program, v, false, &text);
        put_buffer(p, &text);
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

static bool is_empty_mesh(const printer *p, const jx_value *v)
{
    return v->tag == JX_V_MESH && !p->program->meshes[v->integer].naxes;
}

/* What JAX leaves out of a call of jit, because it is the default. */
static bool hidden_in_jit(const printer *p, const char *name,
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

static bool hidden(const printer *p, const jx_eqn *eqn, const char *name,
                   const jx_value *v)
{
    switch (eqn->prim->id) {
    case JX_PRIM_jit:
        return hidden_in_jit(p, name, v);
    case JX_PRIM_custom_jvp_call:
        return !strcmp(name, "num_consts") && v->integer == 0;
    case JX_PRIM_custom_vjp_call:
        return !strcmp(name, "out_trees") ||
               (!strcmp(name, "num_consts") && v->integer == 0);
    case JX_PRIM_mul:
        return !strcmp(name, "out_dtype") && is_none(v);
    case JX_PRIM_convert_element_type:
        return !strcmp(name, "sharding");
    case JX_PRIM_dot_general:
        return !strcmp(name, "out_sharding") || is_none(v);
    case JX_PRIM_broadcast_in_dim:
        return !strcmp(name, "shape") || !strcmp(name, "sharding") ||
               (!strcmp(name, "broadcast_dimensions") && !v->count);
    default:
        break;
    }
    if (!strcmp(eqn->prim->name, "reshard"))
        return true;
    if (!strcmp(eqn->prim->name, "check"))
        return !strcmp(name, "err_tree");
    return !strcmp(name, "accuracy") && is_none(v) &&
           jx_params_kind(eqn->prim->id, name);
}

/* "relu at file.py:12" is called relu. */
static const char *called(printer *p, const jx_jaxpr *jaxpr)
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
    static const char *const names[][2] = {{"jvp_jaxpr_fun", "jvp"},
                                           {"fwd_jaxpr_thunk", "fwd"},
                                           {"bwd", "bwd"}};
    const jx_value *v = param->value;

    for (size_t i = 0; i < 3; i++)
        if (!strcmp(param->name, names[i][0]) &&
            (v->tag == JX_V_RULE || v->tag == JX_V_FUNCTION))
            return (shown){names[i][1], NULL, v->text ? v->text : ""};
    return (shown){param->name, v, NULL};
}

/* The contracting and batch dimensions of dot_general, with lists inside. */
static const char *lists_of(printer *p, const jx_value *v)
{
    jx_buffer text = {0};

    for (int i = 0; i < 2; i++) {
        jx_buffer_puts(&text, i ? ", (" : "((");
        for (int k = 0; k < 2; k++) {
            const jx_value *list = v->items[i]->items[k];
            jx_buffer_puts(&text, k ? ", [" : "[");
            for (int n = 0; n < list->count; n++) {
                jx_buffer_puts(&text, n ? ", " : "");
                jx_value_print(p->program, list->items[n], true, &text);
            }
            jx_buffer_putc(&text, ']');
        }
        jx_buffer_putc(&text, ')');
    }
    jx_buffer_putc(&text, ')');
    const char *kept = jx_arena_take(p->arena, &text);
    return kept ? kept : "";
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
static void choose(printer *p, const jx_eqn *eqn, shown_list *list)
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
        if (!all && eqn->prim->id == JX_PRIM_dot_general &&
            !strcmp(param->name, "dimension_numbers"))
            one.text = lists_of(p, param->value);
        add_shown(list, one);
    }
}

static void put_pair(printer *p, const shown *one, bool first)
{
    if (!first)
        jx_layout_break(&p->layout, " ");
    put(p, one->name);
    put(p, "=");
    if (one->text)
        put(p, one->text);
    else
        put_value(p, one->value);
}

static void put_params(printer *p, const jx_eqn *eqn)
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
    jx_layout_open(&p->layout);
    jx_layout_nest(&p->layout, 2);
    put(p, "[");
    jx_layout_break(&p->layout, "");
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
    jx_layout_unnest(&p->layout, 2);
    jx_layout_break(&p->layout, "");
    put(p, "]");
    jx_layout_close(&p->layout);
}

/* ---- equations and jaxprs */

/* A call of jit lends its operands' names to what it calls. */
static void suggest(printer *p, int count, const jx_var *const *vars,
                    int like_count, const jx_atom *like)
{
    if (count != like_count)
        return;
    for (int i = 0; i < count; i++) {
        bool used = !vars[i] || !like[i].var ||
                    name_of(&p->names, vars[i]);
        for (int k = 0; k < i && !used; k++)
            used = like[k].var == like[i].var && vars[k] &&
                   name_of(&p->names, vars[k]) == var_name(p, like[i].var);
        if (!used)
            set_name(p, &p->names, vars[i], var_name(p, like[i].var));
    }
}

static void suggest_names(printer *p, const jx_eqn *eqn)
{
    const jx_value *v = jx_eqn_param(eqn, "jaxpr");

    if (!v || v->tag != JX_V_JAXPR || name_of(&p->shared, v->jaxpr))
        return;
    const jx_jaxpr *to = v->jaxpr;
    suggest(p, to->nins, to->vars + to->nconsts, eqn->nins, eqn->ins);
    jx_atom *like = JX_NEW_ARRAY(p->arena, eqn->nouts, jx_atom);
    const jx_var **vars = JX_NEW_ARRAY(p->arena, to->nouts, const jx_var *);
    if (!like || !vars)
        return;
    for (int i = 0; i < eqn->nouts; i++)
        like[i].var = eqn->outs[i];
    for (int i = 0; i < to->nouts; i++)
        vars[i] = to->outs[i].var;
    suggest(p, to->nouts, vars, eqn->nouts, like);
}

static void put_eqn(printer *p, const jx_eqn *eqn)
{
    if (eqn->prim->id == JX_PRIM_jit && !p->options.all_params)
        suggest_names(p, eqn);
    if (eqn->nouts) {
        put_binders(p, eqn->nouts, eqn->outs);
        put(p, " = ");
    }
    put(p, eqn->prim->name);
    put_params(p, eqn);
    put(p, " ");
    put_atoms(p, eqn->nins, eqn->ins, "");
}

static void put_jaxpr_body(printer *p, const jx_jaxpr *jaxpr)
{
    if (jx_arena_failed(p->arena))
        return;
    jx_layout_open(&p->layout);
    jx_layout_nest(&p->layout, 2);
    put(p, "{ lambda ");
    put_binders(p, jaxpr->nconsts, jaxpr->vars);
    put(p, "; ");
    put_binders(p, jaxpr->nins, jaxpr->vars + jaxpr->nconsts);
    put(p, ". let");
    jx_layout_nest(&p->layout, 2);
    jx_layout_break(&p->layout, " ");
    for (int i = 0; i < jaxpr->neqns; i++) {
        if (i)
            jx_layout_break(&p->layout, "; ");
        put_eqn(p, &jaxpr->eqns[i]);
    }
    jx_layout_unnest(&p->layout, 2);
    jx_layout_break(&p->layout, " ");
    put(p, "in (");
    put_atoms(p, jaxpr->nouts, jaxpr->outs, ",");
    put(p, jaxpr->nouts == 1 ? ",)" : ")");
    jx_layout_unnest(&p->layout, 2);
    put(p, " }");
    jx_layout_close(&p->layout);
}

static void put_program(printer *p)
{
    census c = {.p = p};
    jx_intern tallies;

    c.at = JX_NEW_ARRAY(p->arena, p->top->id + 1, visit);
    if (!c.at)
        return;
    jx_intern_init(&tallies, p->arena);
    take_census(&c);
    for (size_t i = 0; i < c.order.count; i++)
        if (is_hoisted(p, &c.at[c.order.at[i]]))
            name_shared(p, &tallies, &c.at[c.order.at[i]]);
    name_unused(p);
    for (size_t i = 0; i < c.order.count; i++) {
        const visit *v = &c.at[c.order.at[i]];
        if (!is_hoisted(p, v))
            continue;
        put(p, "let ");
        put(p, name_of(&p->shared, v->jaxpr));
        put(p, " = ");
        put_jaxpr_body(p, v->jaxpr);
        put(p, " in");
        jx_layout_break(&p->layout, " ");
    }
    put_jaxpr_body(p, p->top);
}

bool jx_jaxpr_print(const jx_program *program, const jx_jaxpr *jaxpr,
                    jx_print_options options, jx_buffer *to)
{
    printer p = {.program = program, .top = jaxpr, .options = options,
                 .arena = jx_arena_new((size_t)1 << 30)};

    if (!p.arena)
        return jx_fail(program->ctx, JX_E_MEMORY, NULL, NULL,
                       "out of memory while printing");
    p.layout.arena = p.arena;
    jx_intern_init(&p.names, p.arena);
    jx_intern_init(&p.shared, p.arena);
    jx_intern_init(&p.taken, p.arena);
    put_program(&p);
    bool ok = !jx_arena_failed(p.arena);
    if (ok)
        jx_layout_print(&p.layout,
                        options.width > 0 ? (size_t)options.width : LINE, to);
    jx_arena_free(p.arena);
    return ok || jx_fail(program->ctx, JX_E_MEMORY, program->path, NULL,
                         "the text of this program is too large to print");
}

bool jx_program_print(const jx_program *program, jx_print_options options,
                      jx_buffer *to)
{
    return jx_jaxpr_print(program, program->entry.jaxpr, options, to);
}
