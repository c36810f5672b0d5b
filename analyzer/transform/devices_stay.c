/* devices_stay.c - what a process that is one of the devices has of a value
 * outside of the computations that they share: all of it, or its part alone.
 *
 * A result stays with its devices for as long as what takes it is cut alike, or
 * is done element by element; what needs all of it makes the parts come
 * together: on the first process alone, which reports, where nothing but what
 * the program gives is made of it, and that is done there, when all else is.
 * All of that follows from the program alone, so that all processes send and
 * get the same. */
#include "analyzer/transform/devices_parts.h"
#include "frontend/ir/mesh.h"

#include <string.h>

enum { MOST_DEPTH = 16 };

static bool are_same_axes(jx_axis_names a, jx_axis_names b)
{
    bool same = a.count == b.count;

    for (int i = 0; same && i < a.count; i++)
        same = strcmp(a.at[i], b.at[i]) == 0;
    return same;
}

static bool are_cut_alike(const jx_sharding *a, const jx_sharding *b)
{
    bool same = a->rank == b->rank;

    for (int k = 0; same && k < a->rank; k++)
        same = are_same_axes(a->axes[k], b->axes[k]);
    return same;
}

static const jx_sharding *sharding_of(const jx_p_manual_computation *p,
                                      bool result, int number)
{
    const jx_shardings *all = result ? &p->out_shardings : &p->in_shardings;

    return number < all->count ? &all->at[number] : NULL;
}

/* Whether an operand or result of a computation is cut as a value is. */
static bool is_cut_so(jx_devices *s, const jx_eqn *eqn, bool result, int number,
                      const jx_held *value)
{
    jx_p_manual_computation here = {0}, there = {0};
    const jx_mesh *mesh = jx_eqn_mesh(s->from, eqn),
                  *other = jx_eqn_mesh(s->from, value->by);
    const jx_sharding *a, *b;

    if (!mesh || !other || !jx_mesh_alike(mesh, other) ||
        !jx_devices_as_manual(s, eqn, &here) ||
        !jx_devices_as_manual(s, value->by, &there))
        return false;
    a = sharding_of(&here, result, number);
    b = sharding_of(&there, true, value->number);
    return a && b && are_same_axes(here.manual_axes, there.manual_axes) &&
           are_cut_alike(a, b);
}

bool jx_held_begin(jx_devices *s, jx_atom part, const jx_eqn *by, int number,
                   jx_held *to)
{
    *to = (jx_held){.part = part,
                    .first = JX_NEW(s->scratch, jx_atom),
                    .by = by,
                    .number = number};
    return to->first || jx_devices_starved(s);
}

bool jx_held_fits(jx_devices *s, const jx_eqn *eqn, int number,
                  const jx_held *value)
{
    return jx_is_made(value->part) && is_cut_so(s, eqn, false, number, value);
}

bool jx_held_is_part(const jx_held *value)
{
    return jx_is_made(value->part) && !jx_is_made(value->all);
}

bool jx_held_is_first(const jx_held *value)
{
    return value->first && !jx_is_made(value->part) && !jx_is_made(value->all);
}

jx_atom jx_held_all(jx_devices_body *m, jx_held *value)
{
    if (jx_held_is_first(value))
        jx_devices_fail(m->s, "all processes need what one of them has");
    if (jx_held_is_part(value))
        value->all =
            jx_devices_whole(m, value->by, value->number, value->part, false);
    return value->all;
}

jx_atom jx_held_reported(jx_devices_body *m, jx_held *value)
{
    if (jx_is_made(value->all))
        return value->all;
    if (!jx_is_made(*value->first))
        *value->first =
            jx_devices_whole(m, value->by, value->number, value->part, true);
    return *value->first;
}

/* ---- element by element */

static bool is_elementwise(const jx_eqn *eqn)
{
    return eqn->nouts == 1 && !jx_eqn_is_unknown(eqn) &&
           jx_prim_in_family(eqn->prim->id, "elementwise");
}

bool jx_held_is_light(const jx_jaxpr *jaxpr, int depth)
{
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        const jx_closed *callee = eqn->typed ? jx_eqn_callee(eqn) : NULL;
        if (callee ? depth == MOST_DEPTH ||
                         !jx_held_is_light(callee->jaxpr, depth + 1)
                   : !is_elementwise(eqn) &&
                         eqn->prim->id != JX_PRIM_broadcast_in_dim)
            return false;
    }
    return true;
}

/* Another operand as the device has it: its part, or a number for all. */
static jx_atom part_of(jx_devices_body *m, const jx_held *like,
                       const jx_aval *aval, const jx_held *value)
{
    const jx_aval *own =
        jx_is_made(value->all) ? jx_atom_aval(value->all) : NULL;

    if (own && own->rank == 0)
        return value->all;
    if (jx_is_made(value->part) &&
        is_cut_so(m->s, like->by, true, like->number, value))
        return value->part;
    return own && jx_aval_same_shape(own, aval)
               ? jx_devices_own_part(m, like->by, like->number, value->all)
               : (jx_atom){NULL, NULL};
}

bool jx_held_each(jx_devices_body *m, const jx_eqn *eqn,
                  const jx_held *const *ins, jx_held *out)
{
    jx_devices *s = m->s;
    jx_atom *parts = JX_NEW_ARRAY(s->scratch, eqn->nins + 1, jx_atom);
    const jx_held *like = NULL;
    const jx_aval *aval, *whole;
    const jx_atom *made;

    for (int i = 0; is_elementwise(eqn) && i < eqn->nins && !like; i++)
        like = jx_held_is_part(ins[i]) ? ins[i] : NULL;
    if (!like || !parts)
        return false;
    whole = eqn->outs[0]->aval;
    for (int i = 0; i < eqn->nins; i++) {
        parts[i] = part_of(m, like, whole, ins[i]);
        if (s->failed || !jx_is_made(parts[i]))
            return false;
    }
    aval = jx_atom_aval(like->part);
    if (aval->rank != whole->rank || !jx_devices_room(s))
        return false;
    aval = jx_body_aval(&m->body, whole, whole->dtype, aval->rank, aval->shape);
    made = jx_build_like(&m->body, eqn, parts, NULL, &aval);
    if (!made)
        return false;
    return jx_held_begin(s, made[0], like->by, like->number, out);
}
