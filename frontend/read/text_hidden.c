/* text_hidden.c - parameters that JAX's text leaves out.
 *
 * Some are implied by the types of the results, all others are what they are
 * by default; `jit` is the one with many. */
#include "frontend/read/text_parts.h"

#include <string.h>

typedef struct hidden {
    jx_text *t;
    jx_eqn *eqn;
    jx_param *params;
    int *count;
} hidden;

static const jx_value *given(const hidden *h, const char *name)
{
    for (int i = 0; i < *h->count; i++)
        if (!strcmp(h->params[i].name, name))
            return h->params[i].value;
    return NULL;
}

/* Unless it was given. */
static void add(hidden *h, const char *name, const jx_value *value)
{
    if (given(h, name) || !value)
        return;
    h->params[*h->count].name = jx_intern_text(h->t->ctx, name);
    h->params[(*h->count)++].value = value;
}

static const jx_value *none(hidden *h)
{
    return jx_text_plain(h->t, JX_V_NONE, NULL);
}

static const jx_value *boolean(hidden *h, bool value)
{
    jx_value v = {.tag = JX_V_BOOL, .boolean = value};

    return jx_text_add(h->t, &v);
}

/* A tuple of `count` times the same. */
static const jx_value *repeated(hidden *h, const jx_value *item, int count)
{
    const jx_value **items =
        JX_NEW_ARRAY(h->t->ctx->arena, count, const jx_value *);

    for (int i = 0; items && i < count; i++)
        items[i] = item;
    jx_value v = {
        .tag = JX_V_TUPLE, .items = items, .count = items ? count : 0};
    return jx_text_add(h->t, &v);
}

static const jx_value *shape_of(hidden *h, const jx_aval *aval)
{
    const jx_value **items =
        JX_NEW_ARRAY(h->t->ctx->arena, aval->rank, const jx_value *);

    for (int i = 0; items && i < aval->rank; i++) {
        jx_value v = {.tag = JX_V_INT};
        if (!jx_dim_is_int(aval->shape[i], &v.integer))
            v = (jx_value){.tag = JX_V_DIM, .dim = aval->shape[i]};
        items[i] = jx_text_add(h->t, &v);
    }
    jx_value v = {
        .tag = JX_V_TUPLE, .items = items, .count = items ? aval->rank : 0};
    return jx_text_add(h->t, &v);
}

static void complete_jit(hidden *h)
{
    const jx_value *called = given(h, "jaxpr");
    const jx_value *unspecified = jx_text_plain(h->t, JX_V_UNSPECIFIED, NULL);
    int nins = called && called->tag == JX_V_JAXPR ? called->jaxpr->nins : 0;

    add(h, "inline", boolean(h, false));
    add(h, "keep_unused", boolean(h, false));
    add(h, "donated_invars", repeated(h, boolean(h, false), nins));
    add(h, "in_shardings", repeated(h, unspecified, nins));
    add(h, "out_shardings", repeated(h, unspecified, h->eqn->nouts));
    add(h, "in_layouts", repeated(h, none(h), nins));
    add(h, "out_layouts", repeated(h, none(h), h->eqn->nouts));
    add(h, "compiler_options_kvs", repeated(h, NULL, 0));
}

/* A custom call is shown by the names of its functions. */
static void complete_custom(hidden *h)
{
    static const char *const names[][2] = {{"jvp", "jvp_jaxpr_fun"},
                                           {"fwd", "fwd_jaxpr_thunk"}};
    const jx_value *call = given(h, "call_jaxpr"), *name = given(h, "name");
    jx_value zero = {.tag = JX_V_INT};
    int kept = 0;

    if (call && call->tag == JX_V_JAXPR && name && name->tag == JX_V_TEXT &&
        !call->jaxpr->function)
        ((jx_jaxpr *)(uintptr_t)call->jaxpr)->function = name->text;
    for (int i = 0; i < *h->count; i++) {
        jx_param param = h->params[i];
        bool bwd = !strcmp(param.name, "bwd");
        for (int k = 0; k < 2; k++)
            if (!strcmp(param.name, names[k][0])) {
                param.name = jx_intern_text(h->t->ctx, names[k][1]);
                bwd = true;
            }
        if (bwd && param.value->text)
            param.value = jx_text_plain(h->t, JX_V_FUNCTION, param.value->text);
        if (strcmp(param.name, "name"))
            h->params[kept++] = param;
    }
    *h->count = kept;
    add(h, "num_consts", jx_text_add(h->t, &zero));
}

/* The trees' text has the counts. */
static void complete_scan(hidden *h)
{
    static const char *const names[] = {"num_consts", "num_carry"};
    const jx_value *ft_in = given(h, "ft_in");
    int64_t counts[3];

    if (!ft_in || !jx_text_scan_counts(h->t, ft_in, counts))
        return;
    for (int i = 0; i < 2; i++) {
        jx_value v = {.tag = JX_V_INT, .integer = counts[i]};
        add(h, names[i], jx_text_add(h->t, &v));
    }
}

void jx_text_complete(jx_text *t, jx_eqn *eqn, jx_param *params, int *count)
{
    hidden h = {t, eqn, params, count};

    if (jx_prim_is_hi(eqn->prim) ||
        (eqn->prim->id == JX_PRIM_unknown && jx_text_is_hi(eqn->prim->name))) {
        jx_text_hi_call(t, eqn, params, count);
        return;
    }
    switch (eqn->prim->id) {
    case JX_PRIM_jit: complete_jit(&h); break;
    case JX_PRIM_custom_jvp_call:
    case JX_PRIM_custom_vjp_call: complete_custom(&h); break;
    case JX_PRIM_scan: complete_scan(&h); break;
    case JX_PRIM_mul: add(&h, "out_dtype", none(&h)); break;
    case JX_PRIM_convert_element_type: add(&h, "sharding", none(&h)); break;
    case JX_PRIM_dot_general:
        add(&h, "out_sharding", none(&h));
        add(&h, "precision", none(&h));
        add(&h, "preferred_element_type", none(&h));
        break;
    case JX_PRIM_broadcast_in_dim:
        if (eqn->nouts == 1)
            add(&h, "shape", shape_of(&h, eqn->outs[0]->aval));
        add(&h, "broadcast_dimensions", repeated(&h, NULL, 0));
        add(&h, "sharding", none(&h));
        break;
    default: break;
    }
}
