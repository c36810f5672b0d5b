/* print.c - jaxprs as JAX prints them.  See print.h.
 *
 * Names are given in the order in which JAX's printer asks for them: a
 * jaxpr's constvars, inputs, then per equation the outputs, what its
 * parameters show, the operands; then the outputs.  Jaxprs that are met more
 * than once, or have more than ten equations, are hoisted to the top. */
#include "frontend/ir/print_parts.h"

#include "frontend/base/utf8.h"
#include "frontend/ir/params.h"

#include <string.h>

enum { LINE = 80 };

/* ---- names of variables: a, b, ..., z, ba, bb, ... */

static bool same_text(const void *kept, const void *key)
{
    return !strcmp(kept, key);
}

static bool is_taken(const jx_printer *p, const char *name)
{
    return jx_intern_find(&p->taken, jx_hash_bytes(name, strlen(name)), name,
                          same_text);
}

static const char *letters(jx_printer *p, uint64_t number)
{
    char text[16], *at = text + sizeof text;

    *--at = '\0';
    do
        *--at = (char)('a' + number % 26);
    while (number /= 26);
    return jx_arena_string(p->arena, at, strlen(at));
}

static const char *fresh_name(jx_printer *p)
{
    const char *name = letters(p, p->fresh++);

    while (name && is_taken(p, name))
        name = letters(p, p->fresh++);
    return name ? name : "";
}

static const char *var_name(jx_printer *p, const jx_var *var)
{
    const char *name = var->dropped ? "_" : jx_map_get(&p->names, var);

    if (!name) {
        name = fresh_name(p);
        jx_map_put(&p->names, var, name);
    }
    return name;
}

/* Outputs at the top that nothing uses are shown as `_`. */
static void name_unused(jx_printer *p)
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
                jx_map_put(&p->names, eqn->outs[k], "_");
        for (int k = 0; k < eqn->nins; k++)
            if (eqn->ins[k].var)
                used[eqn->ins[k].var->id] = true;
    }
}

/* ---- printing */

static void put_jaxpr_body(jx_printer *p, const jx_jaxpr *jaxpr);

/* Names and strings of programs hold anything; all of a layout may be seen.
 * Lines in a piece that values were put together in are those of a jaxpr. */
static bool may_be_seen(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

static void put_piece(jx_printer *p, const char *text, size_t length,
                      bool lines)
{
    jx_buffer shown = jx_ctx_text(p->program->ctx);

    if (lines)
        jx_utf8_show_lines(text, length, &shown);
    else
        jx_utf8_show_bytes(text, length, &shown);
    jx_layout_copy(&p->layout, jx_buffer_text(&shown), shown.length);
    jx_buffer_free(&shown);
}

void jx_print_text(jx_printer *p, const char *text)
{
    if (may_be_seen(text, strlen(text)))
        jx_layout_text(&p->layout, text);
    else
        put_piece(p, text, strlen(text), false);
}

void jx_print_buffer(jx_printer *p, jx_buffer *text)
{
    if (may_be_seen(jx_buffer_text(text), text->length))
        jx_layout_copy(&p->layout, jx_buffer_text(text), text->length);
    else
        put_piece(p, jx_buffer_text(text), text->length, true);
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

void jx_print_type(jx_printer *p, const jx_aval *aval)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);

    put_aval(p->program, aval, &text);
    jx_print_buffer(p, &text);
}

static void put_var(jx_printer *p, const jx_var *var, bool binder)
{
    jx_print_text(p, var_name(p, var));
    if (!binder)
        return;
    jx_print_text(p, ":");
    jx_print_type(p, var->aval);
}

static void put_literal(jx_printer *p, const jx_literal *literal)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);

    jx_literal_print(literal, &text);
    if (literal->aval->dtype != JX_DT_NONE) {
        jx_buffer_putc(&text, ':');
        put_aval(p->program, literal->aval, &text);
    }
    jx_print_buffer(p, &text);
}

/* Between two of a list: a separator and a break that looks for itself. */
static void put_gap(jx_printer *p, const char *separator)
{
    if (*separator)
        jx_print_text(p, separator);
    jx_layout_open(&p->layout);
    jx_layout_break(&p->layout, " ");
    jx_layout_close(&p->layout);
}

static void begin_list(jx_printer *p)
{
    jx_layout_nest(&p->layout, 2);
    jx_layout_open(&p->layout);
}

static void end_list(jx_printer *p)
{
    jx_layout_close(&p->layout);
    jx_layout_unnest(&p->layout, 2);
}

static void put_binders(jx_printer *p, int count, const jx_var *const *vars)
{
    begin_list(p);
    for (int i = 0; i < count; i++) {
        if (i)
            put_gap(p, "");
        put_var(p, vars[i], true);
    }
    end_list(p);
}

void jx_print_binders(jx_printer *p, const jx_eqn *eqn)
{
    put_binders(p, eqn->nouts, eqn->outs);
}

void jx_print_atom(jx_printer *p, jx_atom atom)
{
    if (atom.var)
        put_var(p, atom.var, false);
    else
        put_literal(p, atom.literal);
}

static void put_atoms(jx_printer *p, int count, const jx_atom *atoms,
                      const char *separator)
{
    begin_list(p);
    for (int i = 0; i < count; i++) {
        if (i)
            put_gap(p, separator);
        jx_print_atom(p, atoms[i]);
    }
    end_list(p);
}

/* ---- equations and jaxprs */

void jx_print_jaxpr(jx_printer *p, const jx_jaxpr *jaxpr)
{
    const char *name = jx_map_get(&p->shared, jaxpr);

    if (name)
        jx_print_text(p, name);
    else
        put_jaxpr_body(p, jaxpr);
}

/* A call of jit lends its operands' names to what it calls. */
static void suggest(jx_printer *p, int count, const jx_var *const *vars,
                    int like_count, const jx_atom *like)
{
    if (count != like_count)
        return;
    for (int i = 0; i < count; i++) {
        bool used = !vars[i] || !like[i].var || jx_map_has(&p->names, vars[i]);
        for (int k = 0; k < i && !used; k++)
            used = like[k].var == like[i].var && vars[k] &&
                   jx_map_get(&p->names, vars[k]) == var_name(p, like[i].var);
        if (!used)
            jx_map_put(&p->names, vars[i], var_name(p, like[i].var));
    }
}

static void suggest_names(jx_printer *p, const jx_eqn *eqn)
{
    const jx_value *v = jx_eqn_param(eqn, "jaxpr");

    if (!v || v->tag != JX_V_JAXPR || jx_map_has(&p->shared, v->jaxpr))
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

static void put_eqn(jx_printer *p, const jx_eqn *eqn)
{
    if (eqn->prim->id == JX_PRIM_jit && !p->options.all_params)
        suggest_names(p, eqn);
    if (jx_print_is_access(eqn)) {
        jx_print_access(p, eqn);
        return;
    }
    if (eqn->nouts) {
        jx_print_binders(p, eqn);
        jx_print_text(p, " = ");
    }
    if (jx_eqn_module(eqn)) {
        jx_eqn plain = jx_print_unmoduled(p, eqn);
        jx_print_text(p, plain.prim->name);
        jx_print_params(p, &plain);
    } else if (jx_print_is_hi_call(p, eqn)) {
        jx_print_hi_call(p, eqn);
    } else {
        jx_print_text(p, eqn->prim->name);
        jx_print_params(p, eqn);
    }
    jx_print_text(p, " ");
    put_atoms(p, eqn->nins, eqn->ins, "");
}

static void put_jaxpr_body(jx_printer *p, const jx_jaxpr *jaxpr)
{
    if (jx_arena_failed(p->arena))
        return;
    jx_layout_open(&p->layout);
    jx_layout_nest(&p->layout, 2);
    jx_print_text(p, "{ lambda ");
    put_binders(p, jaxpr->nconsts, jaxpr->vars);
    jx_print_text(p, "; ");
    put_binders(p, jaxpr->nins, jaxpr->vars + jaxpr->nconsts);
    jx_print_text(p, ". let");
    jx_layout_nest(&p->layout, 2);
    jx_layout_break(&p->layout, " ");
    for (int i = 0; i < jaxpr->neqns; i++) {
        if (i)
            jx_layout_break(&p->layout, "; ");
        put_eqn(p, &jaxpr->eqns[i]);
    }
    jx_layout_unnest(&p->layout, 2);
    jx_layout_break(&p->layout, " ");
    jx_print_text(p, "in (");
    put_atoms(p, jaxpr->nouts, jaxpr->outs, ",");
    jx_print_text(p, jaxpr->nouts == 1 ? ",)" : ")");
    jx_layout_unnest(&p->layout, 2);
    jx_print_text(p, " }");
    jx_layout_close(&p->layout);
}

static void put_program(jx_printer *p)
{
    jx_print_census(p);
    name_unused(p);
    for (size_t i = 0; i < p->hoisted.count; i++) {
        jx_print_text(p, "let ");
        jx_print_jaxpr(p, p->hoisted.at[i]);
        jx_print_text(p, " = ");
        put_jaxpr_body(p, p->hoisted.at[i]);
        jx_print_text(p, " in");
        jx_layout_break(&p->layout, " ");
    }
    put_jaxpr_body(p, p->top);
}

static bool begin(jx_printer *p)
{
    p->arena = jx_arena_new(&p->program->ctx->budget);
    if (!p->arena)
        return jx_starved(p->program->ctx);
    p->layout.arena = p->arena;
    jx_map_init(&p->names, p->arena);
    jx_map_init(&p->shared, p->arena);
    jx_intern_init(&p->taken, p->arena);
    return true;
}

static bool finish(jx_printer *p, jx_buffer *to)
{
    bool ok = !jx_arena_failed(p->arena);

    if (ok)
        jx_layout_print(&p->layout,
                        p->options.width > 0 ? (size_t)p->options.width : LINE,
                        to);
    jx_arena_free(p->arena);
    return ok || jx_starved(p->program->ctx);
}

bool jx_jaxpr_print(const jx_program *program, const jx_jaxpr *jaxpr,
                    jx_print_options options, jx_buffer *to)
{
    jx_printer p = {.program = program, .top = jaxpr, .options = options};

    if (!begin(&p))
        return false;
    put_program(&p);
    return finish(&p, to);
}

bool jx_hi_print(const jx_program *program, const jx_value *record,
                 jx_buffer *to)
{
    jx_printer p = {.program = program};

    if (!begin(&p))
        return false;
    jx_print_hi(&p, record);
    return finish(&p, to);
}

bool jx_program_print(const jx_program *program, jx_print_options options,
                      jx_buffer *to)
{
    return jx_jaxpr_print(program, program->entry.jaxpr, options, to);
}
