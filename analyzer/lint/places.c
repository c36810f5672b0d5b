/* places.c - see places.h. */
#include "analyzer/lint/places.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/params.h"

#include <string.h>

jx_place jx_place_of_node(const jx_flat *flat, int node)
{
    const jx_flat_node *at = &flat->nodes.at[node];

    return (jx_place){node, at->eqn, at->jaxpr, at->calls, at->order};
}

jx_place jx_place_of_repeat(const jx_flat_repeat *repeat)
{
    return (jx_place){repeat->node, repeat->eqn, repeat->jaxpr, repeat->calls,
                      repeat->order};
}

/* -- frames ---------------------------------------------------------------- */

typedef JX_VEC(const jx_frame *) frames;

bool jx_frame_is_within(const jx_frame *inner, const jx_frame *outer)
{
    return inner->file == outer->file && inner->line >= outer->line &&
           inner->line <=
               (outer->end_line < outer->line ? outer->line : outer->end_line);
}

const jx_frame *jx_place_frame(const jx_eqn *eqn, const jx_calls *calls)
{
    const jx_frame *found = jx_outside_frame(eqn->stack);

    for (; calls && !found; calls = calls->outer)
        found = jx_outside_frame(calls->eqn->stack);
    return found;
}

static void add_frames(jx_arena *arena, frames *to, const jx_stack *stack)
{
    for (int i = 0; stack && i < stack->count; i++)
        if (stack->frames[i]->file->kind != JX_FILE_JAX)
            JX_PUSH(arena, to, stack->frames[i]);
}

jx_stack jx_place_stack(jx_arena *arena, const jx_place *place,
                        const jx_calls *until)
{
    frames found = {0};

    add_frames(arena, &found, place->eqn->stack);
    for (const jx_calls *c = place->calls; c && c != until; c = c->outer)
        add_frames(arena, &found, c->eqn->stack);
    return (jx_stack){(int)found.count, found.at};
}

/* The function of one frame is defined in that of the other. */
static bool is_defined_in(const jx_frame *inner, const jx_frame *outer)
{
    static const char mark[] = ".<locals>.";
    size_t length = outer->function ? strlen(outer->function) : 0;

    return length && inner->function && inner->file == outer->file &&
           strncmp(inner->function, outer->function, length) == 0 &&
           strncmp(inner->function + length, mark, sizeof mark - 1) == 0;
}

static bool has_frame(const jx_stack *stack, const jx_frame *frame)
{
    for (int i = 0; i < stack->count; i++)
        if (jx_frame_same(stack->frames[i], frame))
            return true;
    return false;
}

/* From frame `at` outward; from further inward, as long as functions are part
 * of it and not on the `other` way, too. */
static const jx_stack *outward(jx_arena *arena, jx_stack stack, int at,
                               const jx_stack *other)
{
    jx_stack *kept =
        at > 0 && at < stack.count ? JX_NEW(arena, jx_stack) : NULL;

    if (!kept)
        return NULL;
    while (at > 0 && is_defined_in(stack.frames[at - 1], stack.frames[at]) &&
           !(other && has_frame(other, stack.frames[at - 1])))
        at--;
    *kept = (jx_stack){stack.count - at, stack.frames + at};
    return kept;
}

const jx_stack *jx_places_meet(jx_arena *arena, const jx_place *first,
                               const jx_place *second)
{
    jx_stack a = jx_place_stack(arena, first, NULL);
    jx_stack b = jx_place_stack(arena, second, NULL);
    int same = 0;

    while (same < a.count && same < b.count &&
           jx_frame_same(a.frames[a.count - 1 - same],
                         b.frames[b.count - 1 - same]))
        same++;
    return outward(arena, b, b.count - 1 - same, &a);
}

const jx_stack *jx_place_in_body(jx_arena *arena, const jx_place *place,
                                 const jx_calls *body)
{
    jx_stack all = jx_place_stack(arena, place, NULL);

    return outward(arena, all, jx_place_stack(arena, place, body).count - 1,
                   NULL);
}

bool jx_place_is_written(const jx_program *program, const jx_eqn *eqn,
                         const jx_calls *calls)
{
    const jx_value *name = calls ? jx_eqn_param(calls->eqn, "name") : NULL;

    if (program->nfiles)
        return jx_outside_frame(eqn->stack) != NULL;
    /* A program without lines: JAX's own functions have such names. */
    return !name || !name->text || name->text[0] != '_';
}

jx_place jx_place_written(const jx_program *program, const jx_place *place)
{
    jx_place at = *place;

    while (!jx_place_is_written(program, at.eqn, at.calls)) {
        if (!at.calls)
            return (jx_place){0};
        at.eqn = at.calls->eqn;
        at.jaxpr = at.calls->jaxpr;
        at.calls = at.calls->outer;
    }
    return at;
}

static bool is_named(const jx_eqn *eqn, const jx_calls *calls, const char *one,
                     const char *other)
{
    for (; eqn; eqn = calls ? calls->eqn : NULL,
                calls = calls && eqn ? calls->outer : NULL)
        if (eqn->name_stack && (strstr(eqn->name_stack, one) ||
                                (other && strstr(eqn->name_stack, other))))
            return true;
    return false;
}

bool jx_place_is_derivative(const jx_eqn *eqn, const jx_calls *calls)
{
    return is_named(eqn, calls, "jvp(", "transpose(");
}

bool jx_place_is_backward(const jx_eqn *eqn, const jx_calls *calls)
{
    return is_named(eqn, calls, "transpose(", NULL);
}

/* -- branches -------------------------------------------------------------- */

static int depth_of(const jx_calls *calls)
{
    int depth = 0;

    for (; calls; calls = calls->outer)
        depth++;
    return depth;
}

bool jx_places_exclude(const jx_calls *a, const jx_calls *b)
{
    int deep = depth_of(a), other = depth_of(b);

    for (; deep > other; deep--)
        a = a->outer;
    for (; other > deep; other--)
        b = b->outer;
    for (; a && b && a != b; a = a->outer, b = b->outer)
        if (a->outer == b->outer)
            return a->eqn == b->eqn && a->eqn->prim->id == JX_PRIM_cond;
    return false;
}

/* -- what is needed -------------------------------------------------------- */

bool jx_needed_init(jx_needed *needed, const jx_program *program)
{
    needed->arena = program->ctx->arena;
    needed->of = JX_NEW_ARRAY(needed->arena, program->njaxprs, const bool *);
    return needed->of != NULL;
}

static void need(bool *vars, int count, const jx_atom *atoms)
{
    for (int i = 0; i < count; i++)
        if (atoms[i].var)
            vars[atoms[i].var->id] = true;
}

static const bool *needed_in(jx_needed *needed, const jx_jaxpr *jaxpr)
{
    bool *vars, *eqns;

    if (needed->of[jaxpr->id])
        return needed->of[jaxpr->id];
    vars = JX_NEW_ARRAY(needed->arena, jaxpr->nvars + 1, bool);
    eqns = JX_NEW_ARRAY(needed->arena, jaxpr->neqns + 1, bool);
    if (!vars || !eqns)
        return NULL;
    need(vars, jaxpr->nouts, jaxpr->outs);
    for (int n = jaxpr->neqns; n-- > 0;) {
        const jx_eqn *eqn = &jaxpr->eqns[n];
        eqns[n] = jx_eqn_acts(eqn);
        for (int i = 0; i < eqn->nouts; i++)
            eqns[n] = eqns[n] || vars[eqn->outs[i]->id];
        if (eqns[n])
            need(vars, eqn->nins, eqn->ins);
    }
    return needed->of[jaxpr->id] = eqns;
}

static bool is_needed_in(jx_needed *needed, const jx_jaxpr *jaxpr,
                         const jx_eqn *eqn)
{
    const bool *eqns = needed_in(needed, jaxpr);

    /* One that typing refused is a copy, and stands nowhere. */
    return !eqns || eqn < jaxpr->eqns || eqn >= jaxpr->eqns + jaxpr->neqns ||
           eqns[eqn - jaxpr->eqns];
}

bool jx_place_is_needed(jx_needed *needed, const jx_place *place)
{
    if (!is_needed_in(needed, place->jaxpr, place->eqn))
        return false;
    for (const jx_calls *call = place->calls; call; call = call->outer)
        if (!is_needed_in(needed, call->jaxpr, call->eqn))
            return false;
    return true;
}
