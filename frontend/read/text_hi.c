/* text_hi.c - equations whose primitive is an object (JAX's hi primitives).
 *
 * `Name[a=1 b=2]` is all that JAX shows of them; what they expand to is not in
 * the text.  Before 0.12 it was a parameter, `_prim=Name[{'a': 1, 'b': 2}]`,
 * which is kept as it is, and named by its class. */
#include "frontend/base/plain.h"
#include "frontend/read/text_parts.h"

#include <string.h>

static const char linearized[] = ".linearized";

bool jx_text_is_hi(const char *name)
{
    return jx_is_upper(name[strspn(name, "_")]);
}

/* A name that is given twice, or NULL. */
static const char *repeated(const jx_param *params, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (params[i].name == params[k].name)
                return params[i].name;
    return NULL;
}

static const jx_value *map_of(jx_text *t, const jx_param *params, int count)
{
    const jx_value *items[2 * JX_TEXT_PARAMS];

    for (int i = 0; i < count; i++) {
        items[2 * i] = jx_text_plain(t, JX_V_TEXT, params[i].name);
        items[2 * i + 1] = params[i].value;
    }
    jx_value v = {.tag = JX_V_MAP, .items = items, .count = 2 * count};
    return jx_text_add(t, &v);
}

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && !strcmp(name + n - m, end);
}

static void put(jx_text *t, jx_param *to, const jx_prim *prim, const char *name,
                const jx_value *value)
{
    *to = (jx_param){jx_intern_text(t->ctx, name),
                     jx_param_keep(t->program, prim, name, value)};
    if (!to->name || !to->value)
        t->failed = true;
}

/* `Name[...]` */
static void by_name(jx_text *t, jx_eqn *eqn, jx_param *params, int *count)
{
    const char *name = eqn->prim->name, *twice = repeated(params, *count);
    const jx_value *map = twice ? NULL : map_of(t, params, *count);

    if (twice)
        jx_text_fail(t, t->at, "parameter '%s' is given twice", twice);

    eqn->prim = jx_prim_of(ends_in(name, linearized)
                               ? JX_PRIM_call_hi_primitive_linearized
                               : JX_PRIM_call_hi_primitive);
    if (!map)
        return;
    put(t, &params[0], eqn->prim, "name", jx_text_plain(t, JX_V_TEXT, name));
    put(t, &params[1], eqn->prim, "params", map);
    *count = 2;
}

static const jx_param *find(const jx_param *params, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(params[i].name, name))
            return &params[i];
    return NULL;
}

/* The class in `_prim=Name[...]`. */
static const char *class_of(jx_text *t, const jx_eqn *eqn, const jx_value *prim)
{
    const char *text = prim->tag == JX_V_TEXT ? prim->text : "", *end = text;

    while (jx_is_alnum(*end) || *end == '_')
        end++;
    if (end == text)
        return NULL;
    return jx_arena_printf(
        t->ctx->arena, "%.*s%s", (int)(end - text), text,
        eqn->prim->id == JX_PRIM_call_hi_primitive ? "" : linearized);
}

void jx_text_hi_call(jx_text *t, jx_eqn *eqn, jx_param *params, int *count)
{
    const jx_param *prim = find(params, *count, "_prim");

    if (eqn->prim->id == JX_PRIM_unknown) {
        by_name(t, eqn, params, count);
        return;
    }
    for (int i = 0; i < *count; i++)
        params[i].value = jx_param_keep(t->program, eqn->prim, params[i].name,
                                        params[i].value);
    const char *name = prim && !find(params, *count, "name")
                           ? class_of(t, eqn, prim->value)
                           : NULL;
    if (name)
        put(t, &params[(*count)++], eqn->prim, "name",
            jx_text_plain(t, JX_V_TEXT, jx_intern_text(t->ctx, name)));
}

const jx_value *jx_text_hi(jx_text *t, const char *name)
{
    jx_param params[JX_TEXT_PARAMS];
    const jx_value *items[JX_TEXT_PARAMS];
    const char *keys[JX_TEXT_PARAMS];
    const jx_prim *prim = jx_prim_named(t->ctx, name);
    int count = prim ? jx_text_params(t, prim, params) : -1;

    if (count < 0 || repeated(params, count))
        return NULL;
    for (int i = 0; i < count; i++) {
        items[i] = params[i].value;
        keys[i] = params[i].name;
    }
    jx_value v = {.tag = JX_V_RECORD,
                  .text = name,
                  .items = items,
                  .keys = keys,
                  .count = count,
                  .boolean = true};
    return jx_text_add(t, &v);
}
