/* operand.c - see parts.h: a value somewhere in a program as a
 * program of its own. */
#include "runtime/witness/parts.h"

#include "analyzer/transform/making.h"
#include "frontend/ir/params.h"

typedef struct giver {
    jx_making make; /* first: who fails finds the rest */
    jx_body *body;
} giver;

static jx_arena *arena_of(const giver *g)
{
    return jx_making_arena(&g->make);
}

/* Values of a jaxpr of these constants and inputs. */
static bool give(giver *g, const jx_jaxpr *jaxpr, const jx_atom *consts,
                 const jx_atom *ins, int count, const jx_atom *values,
                 jx_atom *outs)
{
    jx_jaxpr part = *jaxpr;

    part.nouts = count;
    part.outs = values;
    return jx_making_inline(&g->make, g->body, &part, consts, ins, NULL, outs);
}

/* What a scan's body is given of an array at its first turn. */
static jx_atom first_slice(giver *g, jx_atom array, bool reverse,
                           const jx_dim *length)
{
    const jx_aval *aval = jx_atom_aval(array);
    const jx_dim *from =
        jx_body_int(g->body, reverse ? jx_dim_value(length) - 1 : 0);
    const jx_dim *to = jx_body_int(g->body, reverse ? jx_dim_value(length) : 1);
    jx_atom slice = jx_build_slice(g->body, array, 0, from, to);

    return jx_is_made(slice) ? jx_build_reshape(g->body, slice, aval->rank - 1,
                                                aval->shape + 1)
                             : slice;
}

/* What the body of a loop or a branch is given first: `ins` are the
 * equation's operands. */
static const jx_atom *enter(giver *g, const jx_eqn *eqn, const jx_atom *ins,
                            int nins)
{
    jx_atom *to = JX_NEW_ARRAY(arena_of(g), eqn->nins + 1, jx_atom);

    if (!to)
        return NULL;
    if (eqn->prim->id == JX_PRIM_scan) {
        const jx_p_scan *scan = eqn->typed;
        int64_t fixed = scan->num_consts + scan->num_carry;
        if (jx_dim_value(scan->length) < 1)
            return NULL;
        for (int i = 0; i < eqn->nins; i++)
            to[i] = i < fixed
                        ? ins[i]
                        : first_slice(g, ins[i], scan->reverse, scan->length);
        return eqn->nins == nins ? to : NULL;
    }
    int skipped = eqn->prim->id == JX_PRIM_while
                      ? (int)((const jx_p_while *)eqn->typed)->cond_nconsts
                      : 1; /* the predicate */
    for (int i = skipped; i < eqn->nins; i++)
        to[i - skipped] = ins[i];
    return eqn->nins - skipped == nins ? to : NULL;
}

static const jx_jaxpr *giving(giver *g, const jx_site *site, int first,
                              int count)
{
    const jx_jaxpr *at = g->make.to->entry.jaxpr;
    jx_atom *consts = JX_NEW_ARRAY(arena_of(g), at->nconsts + 1, jx_atom);
    jx_atom *own = JX_NEW_ARRAY(arena_of(g), at->nins + 1, jx_atom);
    jx_atom *outs = JX_NEW_ARRAY(arena_of(g), count + 1, jx_atom);
    const jx_atom *ins = own;

    g->body = jx_body_new(&g->make.build, NULL);
    if (!g->body || !consts || !own || !outs)
        return NULL;
    for (int i = 0; i < at->nconsts; i++)
        consts[i] = jx_body_const(g->body, at->vars[i]->aval);
    for (int i = 0; i < at->nins; i++)
        own[i] = jx_body_input(g->body, at->vars[at->nconsts + i]->aval);
    for (int d = 0; d < site->depth; d++) {
        const jx_eqn *eqn = site->around[d];
        const jx_closed *body = site->bodies[d];
        jx_atom *operands = JX_NEW_ARRAY(arena_of(g), eqn->nins + 1, jx_atom);
        if (!operands ||
            !give(g, at, consts, ins, eqn->nins, eqn->ins, operands))
            return NULL;
        at = body->jaxpr;
        ins = enter(g, eqn, operands, at->nins);
        consts = JX_NEW_ARRAY(arena_of(g), at->nconsts + 1, jx_atom);
        if (!ins || !consts)
            return NULL;
        for (int i = 0; i < at->nconsts; i++)
            consts[i] = jx_build_constant(g->body, body->consts[i]);
    }
    if (!give(g, at, consts, ins, count, &site->eqn->ins[first], outs))
        return NULL;
    for (int i = 0; i < count; i++)
        jx_body_result(g->body, outs[i]);
    return jx_body_finish(g->body, jx_no_atoms, NULL);
}

jx_program *jx_hunt_operands(jx_hunt *h, const jx_site *site, int first,
                             int count)
{
    giver g = {0};

    if (!jx_making_begin(&g.make, h->program))
        return NULL;
    g.make.to->out_paths = NULL;
    return jx_making_end(&g.make, giving(&g, site, first, count));
}
