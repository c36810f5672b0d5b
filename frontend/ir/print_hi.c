/* print_hi.c - primitives that are objects (JAX's hi primitives).
 *
 * JAX 0.12 shows them by the names of their classes, with the parameters that
 * the class wants to be seen, in the order of the class; what they expand to is
 * not shown.  Before, they were a parameter as Python's repr() has it. */
#include "frontend/ir/params.h"
#include "frontend/ir/print_parts.h"

#include <stdlib.h>
#include <string.h>

bool jx_print_is_hi_call(const jx_printer *p, const jx_eqn *eqn)
{
    const jx_p_hi_call *hi = jx_prim_is_hi(eqn->prim) ? eqn->typed : NULL;

    return hi && hi->name && !p->options.all_params &&
           !jx_eqn_param(eqn, "_prim");
}

bool jx_print_hi_by_name(const jx_program *program)
{
    const char *version = program->jax_version;
    char *end;
    long major = version ? strtol(version, &end, 10) : 0;

    return !version || major > 0 || *end != '.' ||
           strtol(end + 1, NULL, 10) >= 12;
}

int jx_print_pairs(const jx_value *of)
{
    return of->tag == JX_V_MAP ? of->count / 2 : of->count;
}

const jx_value *jx_print_pair(const jx_value *of, int i, const char **name)
{
    bool map = of->tag == JX_V_MAP;

    *name = map ? of->items[2 * i]->text : of->keys[i];
    return of->items[map ? 2 * i + 1 : i];
}

/* ---- by name */

static bool is_hi(const jx_value *v)
{
    return v->tag == JX_V_RECORD && v->boolean;
}

/* Objects inside are written before anything else of the equation is: that
 * gives names to their variables. */
static jx_layout *write_inner(jx_printer *p, const jx_value *of)
{
    int count = jx_print_pairs(of);
    jx_layout outer = p->layout;
    jx_layout *parts = JX_NEW_ARRAY(p->arena, count, jx_layout);
    const char *name;

    for (int i = 0; parts && i < count; i++) {
        const jx_value *v = jx_print_pair(of, i, &name);
        if (!is_hi(v))
            continue;
        p->layout = (jx_layout){.arena = p->arena};
        jx_print_hi(p, v);
        parts[i] = p->layout;
    }
    p->layout = outer;
    return parts;
}

/* A function is its name here, an aval what a variable's type would be. */
static void put_pair(jx_printer *p, int i, const char *name, const jx_value *v,
                     const jx_layout *inner)
{
    bool plain = v->tag == JX_V_FUNCTION || v->tag == JX_V_AVAL;

    if (!is_hi(v) && !plain) {
        jx_print_param(p, i == 0, name, v);
        return;
    }
    jx_print_param(p, i == 0, name, NULL);
    if (is_hi(v))
        jx_layout_append(&p->layout, inner);
    else if (v->tag == JX_V_AVAL)
        jx_print_type(p, v->aval);
    else
        jx_print_text(p, v->text ? v->text : "");
}

static void put_by_name(jx_printer *p, const char *name, const jx_value *of)
{
    int count = of ? jx_print_pairs(of) : 0;
    const jx_layout *inner = count ? write_inner(p, of) : NULL;

    jx_print_text(p, name);
    if (!inner)
        return;
    jx_print_begin_params(p);
    for (int i = 0; i < count; i++) {
        const jx_value *v = jx_print_pair(of, i, &name);
        put_pair(p, i, name, v, &inner[i]);
    }
    jx_print_end_params(p);
}

/* ---- as a parameter */

/* JAX has no more than the name of these to say. */
static bool is_terse(const char *name)
{
    return !strcmp(name, "CustomVJPTraced") || !strcmp(name, "CustomJVPTraced");
}

static void put_repr(const jx_program *program, const char *name,
                     const jx_value *of, jx_buffer *to)
{
    jx_buffer_printf(to, "%s[{", name);
    for (int i = 0; of && i < jx_print_pairs(of); i++) {
        const jx_value *v = jx_print_pair(of, i, &name);
        jx_buffer_printf(to, "%s'%s': ", i ? ", " : "", name);
        jx_value_print(program, v, true, to);
    }
    jx_buffer_puts(to, "}]");
}

static void put_as_param(jx_printer *p, const jx_p_hi_call *hi)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);

    if (is_terse(hi->name))
        jx_buffer_puts(&text, hi->name);
    else
        put_repr(p->program, hi->name, hi->params, &text);
    jx_print_begin_params(p);
    jx_print_param(p, true, "_prim", NULL);
    jx_print_buffer(p, &text);
    jx_print_end_params(p);
}

/* `Name.linearized`, and parameters sorted by name. */
static void put_linearized(jx_printer *p, const jx_p_hi_call *hi)
{
    int count = hi->params ? jx_print_pairs(hi->params) : 0;
    const char *name, *dot = strrchr(hi->name, '.');
    size_t length = dot ? (size_t)(dot - hi->name) : strlen(hi->name);

    jx_print_begin_params(p);
    jx_print_param(p, true, "_prim", NULL);
    jx_layout_copy(&p->layout, hi->name, length);
    for (int i = count; i-- > 0;) { /* has_sres, which is last, is first */
        const jx_value *v = jx_print_pair(hi->params, i, &name);
        if (!strcmp(name, "has_sres"))
            jx_print_param(p, false, name, v);
    }
    for (int i = 0; i < count; i++) {
        const jx_value *v = jx_print_pair(hi->params, i, &name);
        if (strcmp(name, "has_sres"))
            jx_print_param(p, false, name, v);
    }
    jx_print_param(p, false, "residuals_tree", NULL);
    jx_print_text(p, "...");
    jx_print_end_params(p);
}

void jx_print_hi(jx_printer *p, const jx_value *record)
{
    jx_buffer text = jx_ctx_text(p->program->ctx);

    if (jx_print_hi_by_name(p->program)) {
        put_by_name(p, record->text, record);
        return;
    }
    put_repr(p->program, record->text, record, &text);
    jx_print_buffer(p, &text);
}

jx_eqn jx_print_unmoduled(jx_printer *p, const jx_eqn *eqn)
{
    const jx_p_hi_call *hi = eqn->typed;
    int count = hi->params ? jx_print_pairs(hi->params) : 0;
    jx_param *params = JX_NEW_ARRAY(p->arena, count, jx_param);
    jx_eqn plain = *eqn;

    for (int i = 0; params && i < count; i++)
        params[i].value = jx_print_pair(hi->params, i, &params[i].name);
    plain.prim = jx_prim_unknown(p->program->ctx, jx_eqn_name(eqn));
    plain.typed = NULL;
    plain.params = params;
    plain.nparams = params ? count : 0;
    return plain;
}

void jx_print_hi_call(jx_printer *p, const jx_eqn *eqn)
{
    const jx_p_hi_call *hi = eqn->typed;

    if (jx_print_hi_by_name(p->program) ||
        eqn->prim->id == JX_PRIM_call_library_primitive) {
        put_by_name(p, hi->name, hi->params);
        return;
    }
    jx_print_text(p, eqn->prim->name);
    if (eqn->prim->id == JX_PRIM_call_hi_primitive)
        put_as_param(p, hi);
    else
        put_linearized(p, hi);
}
