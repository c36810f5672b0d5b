/* path.c - see parts.h: by what way what is not finite gets to an output.
 *
 * From variable to variable, forward: to the results of the equations that take
 * one, as far as they were not finite in the last run, into the bodies of loops
 * and branches and out of them.  The shortest way is told. */
#include "runtime/witness/parts.h"

#include "frontend/ir/params.h"

#include <string.h>

/* An equation that takes a variable as that operand, or the result of a body
 * that it is: then of the equation that runs the body. */
typedef struct use {
    const jx_eqn *eqn;
    int number;
    bool leaves; /* a body, as its result */
} use;

typedef struct uses {
    JX_VEC(use) all;
} uses;

typedef struct step {
    const jx_var *var;
    const jx_eqn *by; /* that made it; NULL: it is an input of a body */
    long from;        /* the step before, or -1 */
} step;

/* Of all variables of the program; and of the last run, which results
 * were not finite. */
typedef struct jx_ways {
    jx_map uses;
    jx_map bad;  /* from equations: bools */
    jx_map seen; /* of a walk: from variables to where they are in `steps` */
    JX_VEC(step) steps;
} jx_ways;

static void note_use(jx_hunt *h, jx_atom atom, use is)
{
    jx_arena *arena = h->program->ctx->arena;
    uses *of;

    if (!atom.var)
        return;
    of = (uses *)(uintptr_t)jx_map_get(&h->ways->uses, atom.var);
    if (!of) {
        of = JX_NEW(arena, uses);
        if (!of || !jx_map_put(&h->ways->uses, atom.var, of))
            return;
    }
    JX_PUSH(arena, &of->all, is);
}

static void note_uses(jx_hunt *h, const jx_jaxpr *jaxpr, const jx_eqn *owner)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nins; k++)
            note_use(h, eqn->ins[k], (use){eqn, k, false});
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            note_uses(h, jx_body_of(eqn, k)->jaxpr, eqn);
    }
    for (int i = 0; jaxpr && i < jaxpr->nouts; i++)
        note_use(h, jaxpr->outs[i], (use){owner, i, true});
}

static bool make_ways(jx_hunt *h)
{
    jx_arena *arena = h->program->ctx->arena;

    if (h->ways)
        return true;
    h->ways = JX_NEW(arena, jx_ways);
    if (!h->ways)
        return false;
    jx_map_init(&h->ways->uses, arena);
    jx_map_init(&h->ways->bad, arena);
    note_uses(h, h->program->entry.jaxpr, NULL);
    for (size_t i = 0; i < h->watch->tracks->all.count; i++)
        jx_map_put(&h->ways->bad, h->watch->tracks->all.at[i].eqn,
                   h->watch->tracks->all.at[i].bad);
    return jx_ok(h->program->ctx);
}

static bool was_bad(const jx_hunt *h, const jx_eqn *eqn, int out)
{
    const bool *bad = jx_map_get(&h->ways->bad, eqn);

    return bad && bad[out];
}

static jx_arena *scratch_of(const jx_hunt *h)
{
    return h->scratch ? h->scratch : h->program->ctx->arena;
}

bool jx_hunt_scratch(jx_hunt *h)
{
    jx_arena_free(h->scratch);
    h->scratch = jx_arena_new(&h->program->ctx->budget);
    return h->scratch || jx_starved(h->program->ctx);
}

static void go_to(jx_hunt *h, const jx_var *var, const jx_eqn *by, long from)
{
    jx_ways *w = h->ways;

    if (jx_map_add(&w->seen, var))
        JX_PUSH(h->program->ctx->arena, &w->steps,
                /* used again */ ((step){var, by, from}));
}

/* Into a body as this input of it. */
static void go_into(jx_hunt *h, const jx_jaxpr *body, int64_t input, long from)
{
    if (body && input >= 0 && input < body->nins)
        go_to(h, body->vars[body->nconsts + input], NULL, from);
}

static void enter(jx_hunt *h, const jx_eqn *eqn, int operand, long from)
{
    for (int k = 0; k < jx_bodies_of(eqn); k++) {
        const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
        int64_t input = operand;
        if (eqn->prim->id == JX_PRIM_while)
            input -= ((const jx_p_while *)eqn->typed)->cond_nconsts;
        else if (eqn->prim->id == JX_PRIM_cond)
            input -= 1;
        go_into(h, body, input, from);
    }
}

/* Out of a body: to the result, and to the next turn of the loop. */
static void leave(jx_hunt *h, const jx_eqn *owner, int result, long from)
{
    if (result < owner->nouts && was_bad(h, owner, result))
        go_to(h, owner->outs[result], owner, from);
    if (owner->prim->id == JX_PRIM_scan) {
        const jx_p_scan *scan = owner->typed;
        if (result < scan->num_carry)
            go_into(h, scan->jaxpr.jaxpr, scan->num_consts + result, from);
    } else if (owner->prim->id == JX_PRIM_while) {
        const jx_p_while *loop = owner->typed;
        go_into(h, loop->body_jaxpr.jaxpr, loop->body_nconsts + result, from);
    }
}

/* Whether the step ends at an output of the program, or at that loop. */
static bool go_on(jx_hunt *h, long number, const jx_eqn *loop)
{
    const jx_var *var = h->ways->steps.at[number].var;
    const uses *of = jx_map_get(&h->ways->uses, var);

    for (size_t i = 0; of && i < of->all.count; i++) {
        use u = of->all.at[i];
        if (loop ? u.eqn == loop : u.leaves && !u.eqn)
            return true;
        if (!u.eqn)
            continue;
        if (u.leaves) {
            leave(h, u.eqn, u.number, number);
            continue;
        }
        enter(h, u.eqn, u.number, number);
        /* A linear solve is a body of its own and a result of all of them. */
        for (int k = 0; k < u.eqn->nouts; k++)
            if (was_bad(h, u.eqn, k) &&
                (!jx_bodies_of(u.eqn) ||
                 u.eqn->prim->id == JX_PRIM_custom_linear_solve))
                go_to(h, u.eqn->outs[k], u.eqn, number);
    }
    return false;
}

static bool tell_path(jx_hunt *h, jx_witness *w, long last)
{
    const jx_ways *ways = h->ways;
    const jx_eqn **path;
    int n = 0;

    for (long at = last; at >= 0; at = ways->steps.at[at].from)
        n += ways->steps.at[at].by != NULL;
    path = JX_NEW_ARRAY(scratch_of(h), n + 1, const jx_eqn *);
    if (!path)
        return false;
    w->npath = n;
    w->path = path;
    for (long at = last; at >= 0; at = ways->steps.at[at].from)
        if (ways->steps.at[at].by)
            path[--n] = ways->steps.at[at].by;
    return true;
}

bool jx_hunt_follow(jx_hunt *h, jx_witness *w)
{
    const jx_eqn *eqn = w->made.eqn;
    const jx_eqn *loop = w->out == JX_OUT_OF_LOOP ? h->watch->decided : NULL;

    if (!make_ways(h))
        return true; /* memory ended, which is told elsewhere */
    if (eqn->nouts && !jx_map_has(&h->origins.of, eqn->outs[0]))
        return true; /* it stands in a call, behind which nobody looks */
    jx_map_init(&h->ways->seen, scratch_of(h));
    h->ways->steps.count = 0;
    for (int k = 0; k < eqn->nouts; k++)
        if (was_bad(h, eqn, k))
            go_to(h, eqn->outs[k], eqn, -1);
    for (long i = 0; i < (long)h->ways->steps.count; i++)
        if (go_on(h, i, loop))
            return tell_path(h, w, i);
    return false;
}
