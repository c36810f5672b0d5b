/* devices_stay.c - who needs the results of a computation, where a process is
 * one of its devices.  What only others take, cut alike, stays where it is; what
 * the program gives goes to the first process, which reports.
 *
 * It follows from how arrays are said to be cut, and from nothing that one
 * device knows alone: all leave out the same. */
#include "analyzer/transform/devices_parts.h"
#include "frontend/ir/mesh.h"

#include <string.h>

/* Of a variable: the computation that it is a result of, or NULL. */
typedef struct left {
    const jx_eqn *by;
    int number;
} left;

static bool are_same_axes(jx_axis_names a, jx_axis_names b)
{
    bool same = a.count == b.count;

    for (int i = 0; same && i < a.count; i++)
        same = strcmp(a.at[i], b.at[i]) == 0;
    return same;
}

static bool is_cut(const jx_sharding *how)
{
    bool cut = false;

    for (int k = 0; k < how->rank; k++)
        cut |= how->axes[k].count > 0;
    return cut;
}

static bool are_cut_alike(const jx_sharding *a, const jx_sharding *b)
{
    bool same = a->rank == b->rank;

    for (int k = 0; same && k < a->rank; k++)
        same = are_same_axes(a->axes[k], b->axes[k]);
    return same;
}

/* Operand `number` of a computation is what the other one left. */
static bool takes_it(jx_devices *s, const jx_eqn *eqn, int number, left of)
{
    jx_p_manual_computation here = {0}, there = {0};
    const jx_mesh *mesh = jx_eqn_mesh(s->from, eqn),
                  *other = jx_eqn_mesh(s->from, of.by);

    return mesh && other && jx_mesh_alike(mesh, other) &&
           jx_devices_as_manual(s, eqn, &here) &&
           jx_devices_as_manual(s, of.by, &there) &&
           number < here.in_shardings.count &&
           of.number < there.out_shardings.count &&
           are_same_axes(here.manual_axes, there.manual_axes) &&
           are_cut_alike(&here.in_shardings.at[number],
                         &there.out_shardings.at[of.number]) &&
           is_cut(&here.in_shardings.at[number]);
}

/* What else takes it needs all of it. */
static void note_use(jx_devices *s, const jx_jaxpr *jaxpr, const jx_eqn *eqn,
                     int number, left of, jx_need *need)
{
    bool taken = jx_is_spread(eqn) && eqn->typed &&
                 jx_typed_accepts(s->typed, jaxpr, eqn) &&
                 takes_it(s, eqn, number, of);

    if (!taken || *need != JX_NEED_OWN)
        *need = JX_NEED_ALL;
}

const jx_need *jx_devices_needs(jx_devices *s, const jx_jaxpr *jaxpr,
                                bool reports)
{
    left *found = JX_NEW_ARRAY(s->scratch, jaxpr->nvars + 1, left);
    jx_need *needs = JX_NEW_ARRAY(s->scratch, jaxpr->nvars + 1, jx_need);
    bool *used = JX_NEW_ARRAY(s->scratch, jaxpr->nvars + 1, bool);

    if (!found || !needs || !used) {
        jx_devices_starved(s);
        return NULL;
    }
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nins; k++) {
            const jx_var *var = eqn->ins[k].var;
            if (!var || !found[var->id].by)
                continue;
            note_use(s, jaxpr, eqn, k, found[var->id], &needs[var->id]);
            used[var->id] = true;
        }
        for (int k = 0; jx_is_spread(eqn) && eqn->typed && k < eqn->nouts;
             k++) {
            found[eqn->outs[k]->id] = (left){eqn, k};
            needs[eqn->outs[k]->id] = JX_NEED_OWN;
        }
    }
    for (int i = 0; i < jaxpr->nouts; i++)
        if (jaxpr->outs[i].var) {
            int id = jaxpr->outs[i].var->id;
            needs[id] = reports && !used[id] ? JX_NEED_FIRST : JX_NEED_ALL;
        }
    return needs;
}
