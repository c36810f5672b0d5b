/* devices_teams.c - which devices wait for each other in a loop or a branch.
 *
 * A collective waits for its own group alone, so groups that share no device
 * may go separate ways.  Who is in no group at all goes alone. */
#include "analyzer/transform/devices_parts.h"
#include "frontend/ir/mesh.h"

enum { MOST_DEPTH = 256 };

/* Devices that are joined have one root, the least of them. */
typedef struct joining {
    jx_devices *s;
    int *up;    /* per device */
    char *seen; /* per jaxpr of the program */
} joining;

static int root_of(joining *j, int64_t device)
{
    while (j->up[device] != device)
        device = j->up[device] = j->up[j->up[device]];
    return (int)device;
}

static void join(joining *j, int64_t a, int64_t b)
{
    int x = root_of(j, a), y = root_of(j, b);

    j->up[x < y ? y : x] = x < y ? x : y;
}

static void join_all(joining *j)
{
    for (int i = 1; i < j->s->team.count; i++)
        join(j, j->s->team.at[0], j->s->team.at[i]);
}

/* -1 fills up a group; who does not exist is found when it is written out. */
static void join_group(joining *j, const jx_ints *group)
{
    int64_t first = -1;

    for (int i = 0; i < group->count; i++) {
        int64_t device = group->at[i];
        if (device < 0 || device >= j->s->count)
            continue;
        if (first >= 0)
            join(j, first, device);
        first = device;
    }
}

static bool join_jaxpr(joining *j, const jx_jaxpr *jaxpr, int depth);

static bool join_value(joining *j, const jx_value *value, int depth)
{
    if (value->tag == JX_V_JAXPR && value->jaxpr)
        return join_jaxpr(j, value->jaxpr, depth);
    for (int i = 0; value->items && i < value->count; i++)
        if (!join_value(j, value->items[i], depth))
            return false;
    return true;
}

/* Those without groups wait for all, and so do those that send to each other as
 * they like, but within the groups of their axes. */
static bool join_collective(joining *j, const jx_eqn *eqn)
{
    jx_collective c;

    if (!jx_devices_collective_of(j->s, eqn, &c))
        return false;
    if (c.kind == JX_COLLECTIVE_NUMBER)
        return true;
    if (c.kind == JX_COLLECTIVE_PERMUTE && eqn->prim->id == JX_PRIM_ppermute)
        c.groups = jx_mesh_groups(j->s->scratch, j->s->mesh,
                                  jx_eqn_mesh_axes(eqn), (jx_groups){0, NULL});
    else if (c.all || c.kind == JX_COLLECTIVE_PERMUTE ||
             eqn->prim->id == JX_PRIM_stablehlo_collective_broadcast)
        join_all(j);
    for (int i = 0; i < c.groups.count; i++)
        join_group(j, &c.groups.at[i]);
    return true;
}

static bool join_eqn(joining *j, const jx_eqn *eqn, int depth)
{
    if (jx_is_collective(eqn))
        return join_collective(j, eqn);
    if (jx_is_spread(eqn) || /* what is changed may be what others have */
        (j->s->change.at && jx_written_once(eqn, j->s->change.at)))
        join_all(j);
    for (int i = 0; i < eqn->nparams && !jx_is_spread(eqn); i++)
        if (!join_value(j, eqn->params[i].value, depth))
            return false;
    return true;
}

static bool join_jaxpr(joining *j, const jx_jaxpr *jaxpr, int depth)
{
    if (depth > MOST_DEPTH)
        return jx_devices_fail(j->s, "it nests too deep");
    if (j->seen[jaxpr->id])
        return true;
    j->seen[jaxpr->id] = true;
    for (int i = 0; i < jaxpr->neqns; i++)
        if (!join_eqn(j, &jaxpr->eqns[i], depth + 1))
            return false;
    return true;
}

bool jx_devices_teams(jx_devices *s, const jx_eqn *eqn, jx_teams *to)
{
    joining j = {s, JX_NEW_ARRAY(s->scratch, s->count, int),
                 JX_NEW_ARRAY(s->scratch, s->from->njaxprs, char)};
    jx_team *teams = JX_NEW_ARRAY(s->scratch, s->team.count, jx_team);
    int *at = JX_NEW_ARRAY(s->scratch, s->team.count, int);

    if (!j.up || !j.seen || !teams || !at)
        return jx_devices_starved(s);
    if (s->team.count == 1) { /* whomever it waits for, in other processes */
        teams[0] = s->team;
        *to = (jx_teams){1, teams};
        return true;
    }
    for (int d = 0; d < s->count; d++)
        j.up[d] = d;
    if (jx_devices_changes_loop(s, eqn)) /* what others have comes in */
        join_all(&j);
    for (int i = 0; i < eqn->nparams; i++)
        if (!join_value(&j, eqn->params[i].value, 0))
            return false;
    *to = (jx_teams){0, teams};
    for (int i = 0; i < s->team.count; i++) {
        int root = root_of(&j, s->team.at[i]), first = s->team.at[i];
        if (root != first)
            continue;
        jx_team *team = &teams[to->count++];
        *team = (jx_team){0, at};
        for (int k = i; k < s->team.count; k++)
            if (root_of(&j, s->team.at[k]) == root) {
                *at++ = s->team.at[k];
                team->count++;
            }
    }
    return true;
}
