/* document_fault.c - see document_fault.h. */
#include "frontend/write/document_fault.h"

#include "frontend/read/document.h"

#include <string.h>

enum { MOST_JAXPRS = 20000 };

typedef struct comparison {
    int looked_at; /* jaxprs, each as often as it is met */
    const char *fault;
} comparison;

static void compare_jaxprs(comparison *c, const jx_jaxpr *a, const jx_jaxpr *b);

static bool same_dim(const jx_dim *a, const jx_dim *b)
{
    jx_buffer x = {0}, y = {0};

    jx_dim_print(a, &x);
    jx_dim_print(b, &y);
    bool same = !jx_buffer_ok(&x) || !jx_buffer_ok(&y) ||
                !strcmp(jx_buffer_text(&x), jx_buffer_text(&y));
    jx_buffer_free(&x);
    jx_buffer_free(&y);
    return same;
}

static bool same_aval(const jx_aval *a, const jx_aval *b)
{
    if (a->kind != b->kind || a->dtype != b->dtype || a->weak != b->weak ||
        a->rank != b->rank || !a->impl != !b->impl || !a->mesh != !b->mesh ||
        a->varying.count != b->varying.count || !a->spec != !b->spec)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (!same_dim(a->shape[i], b->shape[i]))
            return false;
    return true;
}

static void compare_values(comparison *c, const jx_value *a, const jx_value *b)
{
    bool number = a->tag == JX_V_INT; /* others are places in tables */

    if (a->tag != b->tag || a->count != b->count ||
        (number && a->integer != b->integer) || a->boolean != b->boolean ||
        !a->jaxpr != !b->jaxpr)
        c->fault = "a parameter differs";
    else if (a->tag == JX_V_JAXPR && a->jaxpr)
        compare_jaxprs(c, a->jaxpr, b->jaxpr);
    for (int i = 0; !c->fault && a->items && b->items && i < a->count; i++)
        compare_values(c, a->items[i], b->items[i]);
}

static bool same_atom(jx_atom a, jx_atom b)
{
    if (!a.var != !b.var)
        return false;
    return a.var ? a.var->id == b.var->id
                 : same_aval(a.literal->aval, b.literal->aval) &&
                       !a.literal->dim == !b.literal->dim &&
                       !memcmp(a.literal->bits, b.literal->bits,
                               sizeof a.literal->bits);
}

static void compare_eqns(comparison *c, const jx_eqn *a, const jx_eqn *b)
{
    if (strcmp(a->prim->name, b->prim->name) || a->nins != b->nins ||
        a->nouts != b->nouts || a->nparams != b->nparams) {
        c->fault = "an equation differs";
        return;
    }
    for (int i = 0; i < a->nins; i++)
        if (!same_atom(a->ins[i], b->ins[i]))
            c->fault = "an operand differs";
    for (int i = 0; i < a->nparams && !c->fault; i++)
        compare_values(c, a->params[i].value, b->params[i].value);
}

static void compare_jaxprs(comparison *c, const jx_jaxpr *a, const jx_jaxpr *b)
{
    if (c->looked_at++ > MOST_JAXPRS || c->fault)
        return;
    if (a->nvars != b->nvars || a->nins != b->nins || a->neqns != b->neqns ||
        a->nouts != b->nouts || a->nconsts != b->nconsts) {
        c->fault = "a jaxpr has other equations";
        return;
    }
    for (int i = 0; i < a->nvars; i++)
        if (!same_aval(a->vars[i]->aval, b->vars[i]->aval) ||
            a->vars[i]->dropped != b->vars[i]->dropped)
            c->fault = "a variable has another type";
    for (int i = 0; i < a->neqns && !c->fault; i++)
        compare_eqns(c, &a->eqns[i], &b->eqns[i]);
    for (int i = 0; i < a->nouts && !c->fault; i++)
        if (!same_atom(a->outs[i], b->outs[i]))
            c->fault = "an output differs";
}

const char *jx_document_fault(const jx_program *program, const char *text,
                              size_t length)
{
    jx_ctx *ctx = jx_ctx_new(0);
    comparison c = {0};

    if (!ctx)
        return NULL;
    const jx_program *back = jx_read_document(ctx, program->path, text, length);
    if (back)
        compare_jaxprs(&c, program->entry.jaxpr, back->entry.jaxpr);
    if (back && !c.fault && !program->linear != !back->linear)
        c.fault = "the linear program differs";
    if (back && !c.fault && program->linear)
        compare_jaxprs(&c, program->linear->closed.jaxpr,
                       back->linear->closed.jaxpr);
    jx_ctx_free(ctx);
    return c.fault;
}
