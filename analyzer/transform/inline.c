/* inline.c - see inline.h. */
#include "analyzer/transform/inline.h"

#include "analyzer/transform/making.h"
#include "frontend/ir/growth.h"
#include "frontend/ir/params.h"

#include <string.h>

enum { GROWTH = 16384 };

typedef struct inliner {
    jx_making make; /* first: who fails finds the rest */
    jx_growth growth;
    /* by number: the jaxpr without calls, once it is made */
    const jx_jaxpr **bodies;
} inliner;

static jx_arena *arena_of(const inliner *in)
{
    return jx_making_arena(&in->make);
}

/* The frames of an equation, then those of what calls it. */
static const jx_stack *joined(inliner *in, const jx_stack *stack,
                              const jx_stack *calls)
{
    jx_stack *to;
    const jx_frame **frames;

    if (!stack || !calls)
        return stack ? stack : calls;
    to = JX_NEW(arena_of(in), jx_stack);
    frames = JX_NEW_ARRAY(arena_of(in), stack->count + calls->count,
                          const jx_frame *);
    if (!to || !frames)
        return NULL;
    memcpy(frames, stack->frames, (size_t)stack->count * sizeof *frames);
    memcpy(frames + stack->count, calls->frames,
           (size_t)calls->count * sizeof *frames);
    *to = (jx_stack){stack->count + calls->count, frames};
    return to;
}

static const jx_jaxpr *body_of(inliner *in, const jx_jaxpr *from);

/* A parameter with the jaxprs in it without calls. */
/* The same with the scopes' names, of which the outer one comes first. */
static jx_place placed(inliner *in, const jx_eqn *eqn, const jx_place *calls)
{
    const char *outer = calls ? calls->name_stack : NULL,
               *inner = eqn->name_stack;
    jx_place to = {joined(in, eqn->stack, calls ? calls->stack : NULL), inner,
                   eqn->ctx};

    if (outer && *outer)
        to.name_stack = inner && *inner ? jx_arena_printf(arena_of(in), "%s/%s",
                                                          outer, inner)
                                        : outer;
    return to;
}

static const jx_value *new_value(inliner *in, const jx_value *value)
{
    jx_value to = *value;
    bool changed = false;
    const jx_value **items;

    if (value->tag == JX_V_JAXPR && value->jaxpr) {
        to.jaxpr = body_of(in, value->jaxpr);
        if (!to.jaxpr)
            return NULL;
        return to.jaxpr == value->jaxpr
                   ? value
                   : jx_value_add(&in->make.to->values, &to);
    }
    if ((value->tag != JX_V_TUPLE && value->tag != JX_V_RECORD) ||
        !value->count)
        return value;
    items = JX_NEW_ARRAY(arena_of(in), value->count, const jx_value *);
    for (int i = 0; items && i < value->count; i++) {
        items[i] = new_value(in, value->items[i]);
        if (!items[i])
            return NULL;
        changed |= items[i] != value->items[i];
    }
    to.items = items;
    return !items    ? NULL
           : changed ? jx_value_add(&in->make.to->values, &to)
                     : value;
}

static jx_param *new_params(inliner *in, const jx_eqn *eqn)
{
    jx_param *to = JX_NEW_ARRAY(arena_of(in), eqn->nparams + 1, jx_param);

    for (int i = 0; to && i < eqn->nparams; i++) {
        to[i] = eqn->params[i];
        to[i].value = new_value(in, eqn->params[i].value);
        if (!to[i].value)
            return NULL;
    }
    return to;
}

static bool add_all(inliner *in, jx_body *b, const jx_jaxpr *from,
                    const jx_place *calls, jx_atom *now, jx_atom *outs);

/* What is called, of these operands: its results. */
static bool add_call(inliner *in, jx_body *b, const jx_eqn *eqn,
                     const jx_closed *callee, const jx_place *calls,
                     const jx_atom *ins, jx_atom *outs)
{
    const jx_jaxpr *jaxpr = callee->jaxpr;
    jx_place place = placed(in, eqn, calls);
    jx_atom *now = JX_NEW_ARRAY(arena_of(in), jaxpr->nvars + 1, jx_atom);

    for (int i = 0; now && i < jaxpr->nconsts; i++)
        now[i] = jx_build_constant(b, callee->consts[i]);
    for (int i = 0; now && i < jaxpr->nins; i++)
        now[jaxpr->nconsts + i] = ins[i];
    return now && add_all(in, b, jaxpr, &place, now, outs);
}

static bool add_eqn(inliner *in, jx_body *b, const jx_eqn *eqn,
                    const jx_place *calls, jx_atom *now)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    jx_atom *ins =
        JX_NEW_ARRAY(arena_of(in), eqn->nins + eqn->nouts + 1, jx_atom);
    jx_atom *outs = ins ? ins + eqn->nins : NULL;
    const jx_atom *made;
    jx_eqn like = *eqn;
    jx_place place;
    jx_param *params;

    for (int i = 0; ins && i < eqn->nins; i++)
        ins[i] = eqn->ins[i].var ? now[eqn->ins[i].var->id] : eqn->ins[i];
    if (!ins)
        return false;
    if (callee && callee->jaxpr && callee->jaxpr->nins == eqn->nins &&
        callee->jaxpr->nouts == eqn->nouts &&
        !jx_growth_shares(&in->growth, callee->jaxpr)) {
        if (!add_call(in, b, eqn, callee, calls, ins, outs))
            return false;
        for (int i = 0; i < eqn->nouts; i++)
            now[eqn->outs[i]->id] = outs[i];
        return true;
    }
    in->make.eqn = eqn;
    params = new_params(in, eqn);
    if (!params)
        return false;
    place = placed(in, eqn, calls);
    like.stack = place.stack;
    like.name_stack = place.name_stack;
    made = jx_build_like(b, &like, ins, params, NULL);
    for (int i = 0; made && i < eqn->nouts; i++)
        now[eqn->outs[i]->id] = made[i];
    return made != NULL;
}

static bool add_all(inliner *in, jx_body *b, const jx_jaxpr *from,
                    const jx_place *calls, jx_atom *now, jx_atom *outs)
{
    for (int i = 0; i < from->neqns; i++)
        if (!add_eqn(in, b, &from->eqns[i], calls, now))
            return false;
    for (int i = 0; i < from->nouts; i++)
        outs[i] =
            from->outs[i].var ? now[from->outs[i].var->id] : from->outs[i];
    return jx_ok(in->make.to->ctx);
}

/* A jaxpr of constants and inputs of its own. */
static const jx_jaxpr *alone(inliner *in, const jx_jaxpr *from)
{
    jx_body *b = jx_body_new(&in->make.build, NULL);
    jx_atom *now =
        JX_NEW_ARRAY(arena_of(in), from->nvars + from->nouts + 1, jx_atom);
    jx_atom *outs = now ? now + from->nvars : NULL;

    if (!b || !now)
        return NULL;
    jx_body_reserve(b, from->neqns);
    for (int i = 0; i < from->nconsts; i++)
        now[i] = jx_body_const(b, from->vars[i]->aval);
    for (int i = from->nconsts; i < from->nconsts + from->nins; i++)
        now[i] = jx_body_input(b, from->vars[i]->aval);
    if (!add_all(in, b, from, NULL, now, outs))
        return NULL;
    for (int i = 0; i < from->nouts; i++)
        jx_body_result(b, outs[i]);
    return jx_body_finish_like(b, from);
}

static const jx_jaxpr *body_of(inliner *in, const jx_jaxpr *from)
{
    const jx_eqn *around = in->make.eqn;

    if (!in->bodies[from->id])
        in->bodies[from->id] = alone(in, from);
    in->make.eqn = around;
    return in->bodies[from->id];
}

jx_program *jx_program_inline(jx_program *program)
{
    inliner in = {0};

    if (!jx_making_begin(&in.make, program) ||
        !jx_growth_measure(program->ctx->arena, program, program->entry.jaxpr,
                           GROWTH, &in.growth))
        return NULL;
    in.bodies = JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1,
                             const jx_jaxpr *);
    return in.bodies ? jx_making_end(&in.make, alone(&in, program->entry.jaxpr))
                     : NULL;
}
