/* leftover.c - see leftover.h.
 *
 * What is differentiated shows on the way back: JAX gives what it computes
 * there the place of what it came from.  A dead value that goes into one
 * with such a place was left over.  Sums need no work on the way back: what
 * they add up tells. */
#include "analyzer/lint/leftover.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/base/map.h"

#include <string.h>

typedef struct leftover {
    const jx_linter *lint;
    const jx_flat *flat;
    jx_map met;   /* frames at which something is needed, or goes back */
    jx_map back;  /* ... goes back */
    bool is_zero; /* no derivative comes to anything, so that no place tells */
    bool *differentiated; /* by node: or may be */
    bool *passes;         /* by node: what goes into it goes into such */
} leftover;

static int times_forward(const char *names)
{
    int times = 0;

    while (names && (names = strstr(names, "jvp("))) {
        times++;
        names++;
    }
    return times;
}

/* A rule that somebody gave, a derivative of a derivative, a body of what is
 * differentiated: what goes back there has other places, or none. */
static bool is_hidden(const jx_flat_node *node)
{
    int times = times_forward(node->eqn->name_stack);

    for (const jx_calls *c = node->calls; c; c = c->outer) {
        times += times_forward(c->eqn->name_stack);
        switch (c->eqn->prim->id) {
        case JX_PRIM_custom_jvp_call:
        case JX_PRIM_custom_vjp_call: return true;
        case JX_PRIM_scan:
        case JX_PRIM_while:
        case JX_PRIM_cond:
            if (jx_place_is_derivative(c->eqn, c->outer))
                return true;
            break;
        default: break;
        }
    }
    return times > 1;
}

static bool holds(const jx_map *frames, const jx_stack *stack)
{
    for (int i = 0; stack && i < stack->count; i++)
        if (jx_map_has(frames, stack->frames[i]))
            return true;
    return false;
}

/* Somebody needs what stands at its place, or it goes back there; what a
 * custom_vjp does has the place of its call. */
static bool is_met(const leftover *l, const jx_flat_node *node)
{
    const jx_frame *frame = jx_place_frame(node->eqn, node->calls);
    bool met = !frame || jx_map_has(&l->met, frame) ||
               holds(&l->back, node->eqn->stack);

    for (const jx_calls *c = node->calls; c && !met; c = c->outer)
        met = holds(&l->back, c->eqn->stack);
    return met;
}

/* Its derivative is no work: nothing on the way back has its place. */
static bool is_silent(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_add || eqn->prim->id == JX_PRIM_add_any ||
           eqn->prim->id == JX_PRIM_sub || jx_shows(eqn) || jx_flat_moves(eqn);
}

static bool takes_differentiated(const leftover *l, const jx_flat_node *node)
{
    for (int i = 0; i < node->nins; i++) {
        int maker = l->flat->values.at[node->ins[i]].node;
        if (maker >= 0 && l->differentiated[maker])
            return true;
    }
    return false;
}

/* Of what comes from outside nobody knows whether it is differentiated. */
static bool takes_input(const leftover *l, const jx_flat_node *node)
{
    for (int i = 0; i < node->nins; i++) {
        const jx_flat_value *v = &l->flat->values.at[node->ins[i]];
        if (v->node < 0 && v->varies && v->aval->kind == JX_AVAL_ARRAY &&
            !jx_dtype_is_integer(v->aval->dtype))
            return true;
    }
    return false;
}

static bool goes_on(const leftover *l, const jx_flat_node *node)
{
    const jx_flat_uses *uses = &l->lint->uses;

    for (int i = 0; i < node->nouts; i++) {
        int value = node->outs[i];
        if (uses->kept[value])
            return true;
        for (int k = uses->first[value]; k < uses->first[value + 1]; k++)
            if (l->passes[uses->nodes[k]])
                return true;
    }
    return false;
}

static bool is_differentiated(const leftover *l, const jx_flat_node *node)
{
    if (!jx_place_is_derivative(node->eqn, node->calls))
        return false;
    return is_hidden(node) || is_met(l, node) ||
           (is_silent(node->eqn) &&
            (takes_differentiated(l, node) || takes_input(l, node)));
}

/* What is computed from something that is differentiated may be it, too. */
static bool passes_on(const leftover *l, const jx_flat_node *node, bool own)
{
    return own || (jx_place_is_derivative(node->eqn, node->calls) &&
                   takes_differentiated(l, node));
}

const bool *jx_leftovers(const jx_linter *lint)
{
    const jx_flat *flat = lint->flat;
    size_t count = flat->nodes.count;
    bool *left = JX_NEW_ARRAY(lint->ctx->arena, count + 1, bool);
    leftover l = {
        .lint = lint,
        .flat = flat,
        .is_zero = true,
        .differentiated = JX_NEW_ARRAY(lint->ctx->arena, count + 1, bool),
        .passes = JX_NEW_ARRAY(lint->ctx->arena, count + 1, bool),
    };

    if (!left || !l.differentiated || !l.passes)
        return NULL;
    jx_map_init(&l.met, lint->ctx->arena);
    jx_map_init(&l.back, lint->ctx->arena);
    for (size_t n = 0; n < count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        const jx_frame *frame = jx_place_frame(node->eqn, node->calls);
        bool back = jx_place_is_backward(node->eqn, node->calls);
        if (back ||
            (node->live && jx_place_is_derivative(node->eqn, node->calls)))
            l.is_zero = false;
        if (frame && (node->live || back))
            jx_map_add(&l.met, frame);
        if (frame && back)
            jx_map_add(&l.back, frame);
    }
    for (size_t n = 0; n < count; n++)
        l.differentiated[n] = is_differentiated(&l, &flat->nodes.at[n]);
    for (size_t n = count; n-- > 0;) {
        const jx_flat_node *node = &flat->nodes.at[n];
        left[n] =
            node->live || l.is_zero || l.differentiated[n] || goes_on(&l, node);
        l.passes[n] = passes_on(&l, node, left[n]);
    }
    return jx_ok(lint->ctx) ? left : NULL;
}
