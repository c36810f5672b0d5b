/* term_same.c - which types and parameters mean the same. */
#include "analyzer/transform/term.h"
#include "frontend/ir/params.h"

#include <string.h>

/* Equations of nested jaxprs that one comparison looks at; beyond it they
 * count as different. */
enum { MAX_EQUATIONS = 20000 };

/* One comparison. */
typedef struct comparing {
    int left;     /* equations that it may still look at */
    bool by_name; /* what is known by a name alone is what has that name */
} comparing;

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool jx_array_same_data(const jx_array *a, const jx_array *b)
{
    return a == b || (a && b && a->data && b->data && a->bytes == b->bytes &&
                      memcmp(a->data, b->data, a->bytes) == 0);
}

static bool same_array(const jx_array *a, const jx_array *b)
{
    return a == b || (a && b && jx_aval_same_values(a->aval, b->aval) &&
                      a->splat == b->splat && jx_array_same_data(a, b));
}

/* How a derivative is taken; where rules were not carried along,
 * their names stand. */
static bool is_rule(const jx_eqn *eqn, const jx_value *value)
{
    return value->tag == JX_V_RULE ||
           (value->tag == JX_V_FUNCTION &&
            (eqn->prim->id == JX_PRIM_custom_jvp_call ||
             eqn->prim->id == JX_PRIM_custom_vjp_call));
}

/* What changes how a program is made or placed, and not what it computes; how
 * a manual computation's arrays lie is what each of its devices gets. */
static bool is_meaningless(const jx_eqn *eqn, const jx_param *param)
{
    static const char *const names[] = {
        "_split_transpose", "backend",        "compiler_options_kvs",
        "ctx_mesh",         "differentiated", "donated_invars",
        "in_layouts",       "in_shardings",   "inline",
        "keep_unused",      "linear",         "name",
        "out_layouts",      "out_sharding",   "out_shardings",
        "policy",           "prevent_cse",    "sharding",
        "unroll",           "weak_type",
    };

    /* What a primitive without a row means by a name, nobody knows. */
    if (jx_eqn_is_unknown(eqn) || jx_eqn_calls_back(eqn) ||
        eqn->prim->id == JX_PRIM_sdy_manual_computation)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(param->name, names[i]) == 0)
            return true;
    /* A release that does not know a parameter yet does what None says; a
     * scan's trees say again what its counts say; a rule is of derivatives. */
    return param->value->tag == JX_V_NONE || param->value->tag == JX_V_SHOWN ||
           is_rule(eqn, param->value) ||
           (eqn->prim->id == JX_PRIM_scan && !strncmp(param->name, "ft_", 3));
}

/* What it is where a release of JAX does not know it yet. */
static bool is_default(const jx_prim *prim, const jx_param *param)
{
    return prim->id == JX_PRIM_top_k && !strcmp(param->name, "is_stable") &&
           param->value->tag == JX_V_BOOL && param->value->boolean;
}

/* A function's name is not the function: two of one name may differ.  Where a
 * primitive has a row here, what its functions do is beside them. */
static bool is_mere_name(const jx_value *value)
{
    return value->tag == JX_V_FUNCTION || value->tag == JX_V_OPAQUE;
}

static bool has_mere_name(const jx_value *value)
{
    if (is_mere_name(value))
        return true;
    for (int i = 0; value->items && i < value->count; i++)
        if (has_mere_name(value->items[i]))
            return true;
    return false;
}

static bool same_value(const jx_value *a, const jx_value *b, comparing *how);
static bool same_params(const jx_eqn *a, const jx_eqn *b, bool bodies,
                        comparing *how);

static bool same_literal(const jx_literal *a, const jx_literal *b)
{
    return jx_aval_same_values(a->aval, b->aval) && a->dim == b->dim &&
           same_array(a->array, b->array) &&
           memcmp(a->bits, b->bits, sizeof a->bits) == 0;
}

static bool same_atoms(int count, const jx_atom *a, const jx_atom *b)
{
    for (int i = 0; i < count; i++)
        if (!a[i].var != !b[i].var ||
            (a[i].var ? a[i].var->id != b[i].var->id
                      : !same_literal(a[i].literal, b[i].literal)))
            return false;
    return true;
}

static bool same_prim(const jx_prim *a, const jx_prim *b)
{
    return a == b || (a->id == b->id && strcmp(a->name, b->name) == 0);
}

/* Whether what it computes depends on how JAX is set when it is lowered. */
static bool heeds_context(const jx_prim *prim)
{
    switch (prim->id) {
    case JX_PRIM_unknown: /* who knows */
    case JX_PRIM_random_bits:
    case JX_PRIM_random_split:
    case JX_PRIM_random_gamma: return true;
    default: return false;
    }
}

/* Where nothing is said it is JAX's default, as it is run. */
static bool is_partitionable(const jx_eqn_ctx *context)
{
    return !context || context->threefry_partitionable;
}

static bool same_context(const jx_eqn *a, const jx_eqn *b)
{
    return !heeds_context(a->prim) ||
           is_partitionable(a->ctx) == is_partitionable(b->ctx);
}

static bool same_equation(const jx_eqn *a, const jx_eqn *b, comparing *how)
{
    if (--how->left < 0 || !same_prim(a->prim, b->prim) || a->nins != b->nins ||
        a->nouts != b->nouts || !same_context(a, b) ||
        !same_atoms(a->nins, a->ins, b->ins))
        return false;
    for (int i = 0; i < a->nouts; i++)
        if (!jx_aval_same_values(a->outs[i]->aval, b->outs[i]->aval))
            return false;
    return same_params(a, b, true, how);
}

/* Equation by equation: traced alike, as nested jaxprs usually are. */
static bool same_jaxpr(const jx_jaxpr *a, const jx_jaxpr *b, comparing *how)
{
    if (a == b)
        return true;
    if (!a || !b || a->nconsts != b->nconsts || a->nins != b->nins ||
        a->neqns != b->neqns || a->nouts != b->nouts || a->nvars != b->nvars)
        return false;
    for (int i = 0; i < a->nconsts + a->nins; i++)
        if (!jx_aval_same_values(a->vars[i]->aval, b->vars[i]->aval))
            return false;
    for (int i = 0; i < a->neqns; i++)
        if (!same_equation(&a->eqns[i], &b->eqns[i], how))
            return false;
    return same_atoms(a->nouts, a->outs, b->outs);
}

/* Of none, readers have a list or NULL. */
static bool same_items(const jx_value *a, const jx_value *b, comparing *how)
{
    if (a->count != b->count ||
        (a->count && (!a->items != !b->items || !a->keys != !b->keys)))
        return false;
    for (int i = 0; i < a->count; i++)
        if ((a->items && !same_value(a->items[i], b->items[i], how)) ||
            (a->keys && !same_text(a->keys[i], b->keys[i])))
            return false;
    return true;
}

/* Of numbers numpy's dtype is no part: a size may come either way.  Whether a
 * jaxpr is closed is not either: its constants are compared. */
static bool same_value(const jx_value *a, const jx_value *b, comparing *how)
{
    if (a == b)
        return true;
    if (!a || !b || a->tag != b->tag)
        return false;
    if (a->tag == JX_V_INT)
        return a->integer == b->integer;
    return a->boolean == b->boolean && a->dtype == b->dtype &&
           a->integer == b->integer &&
           memcmp(&a->real, &b->real, sizeof a->real) == 0 &&
           memcmp(&a->imag, &b->imag, sizeof a->imag) == 0 &&
           same_text(a->text, b->text) && same_text(a->detail, b->detail) &&
           a->dim == b->dim && jx_aval_same_values(a->aval, b->aval) &&
           same_jaxpr(a->jaxpr, b->jaxpr, how) && a->rule == b->rule &&
           same_array(a->array, b->array) && same_items(a, b, how) &&
           same_value(a->unreduced, b->unreduced, how) &&
           same_value(a->reduced, b->reduced, how);
}

static bool has_jaxpr(const jx_value *value)
{
    if (value->tag == JX_V_JAXPR)
        return true;
    for (int i = 0; value->items && i < value->count; i++)
        if (has_jaxpr(value->items[i]))
            return true;
    return false;
}

static int next_param(const jx_eqn *eqn, int i, bool bodies)
{
    while (i < eqn->nparams && (is_meaningless(eqn, &eqn->params[i]) ||
                                is_default(eqn->prim, &eqn->params[i]) ||
                                (!bodies && has_jaxpr(eqn->params[i].value))))
        i++;
    return i;
}

/* Its results come from what is known by a name alone: of a primitive that is
 * an object, not all is shown. */
static bool is_anyones(const jx_eqn *eqn)
{
    if ((!jx_eqn_is_unknown(eqn) && !jx_eqn_calls_back(eqn)) || !eqn->nouts)
        return false;
    if (jx_prim_is_hi(eqn->prim))
        return true;
    for (int i = 0; i < eqn->nparams; i++)
        if (has_mere_name(eqn->params[i].value))
            return true;
    return false;
}

/* What JAX says of an assertion, but for where its documentation lies: that has
 * moved between releases. */
static bool same_message(const char *a, const char *b)
{
    static const char address[] = " Please see https://";
    const char *x = a ? strstr(a, address) : NULL;
    const char *y = b ? strstr(b, address) : NULL;

    return x && y ? x - a == y - b && strncmp(a, b, (size_t)(x - a)) == 0
                  : same_text(a, b);
}

static bool same_param(const jx_eqn *eqn, const jx_param *a, const jx_param *b,
                       comparing *how)
{
    if (!same_text(a->name, b->name))
        return false;
    if (eqn->prim->id == JX_PRIM_shape_assertion &&
        !strcmp(a->name, "error_message"))
        return a->value->tag == b->value->tag &&
               same_message(a->value->text, b->value->text);
    return same_value(a->value, b->value, how);
}

/* Without `bodies`, nested jaxprs are compared by whoever asks. */
static bool same_params(const jx_eqn *a, const jx_eqn *b, bool bodies,
                        comparing *how)
{
    int i = next_param(a, 0, bodies), k = next_param(b, 0, bodies);

    if (a != b && !how->by_name && is_anyones(a))
        return false;
    /* All that `unroll` says of a polynomial. */
    if (a->prim->id == JX_PRIM_polynomial &&
        jx_polynomial_loops(a) != jx_polynomial_loops(b))
        return false;
    while (i < a->nparams && k < b->nparams) {
        if (!same_param(a, &a->params[i], &b->params[k], how))
            return false;
        i = next_param(a, i + 1, bodies);
        k = next_param(b, k + 1, bodies);
    }
    return i >= a->nparams && k >= b->nparams;
}

bool jx_eqn_same(const jx_eqn *a, const jx_eqn *b, bool bodies, bool by_name)
{
    comparing how = {MAX_EQUATIONS, by_name};

    if (!same_prim(a->prim, b->prim) || a->nouts != b->nouts ||
        !same_context(a, b))
        return false;
    for (int i = 1; i < a->nouts; i++)
        if (!jx_aval_same_values(a->outs[i]->aval, b->outs[i]->aval))
            return false;
    return same_params(a, b, bodies, &how);
}
