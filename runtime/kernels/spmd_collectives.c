/* spmd_collectives.c - what devices say to each other, as what it does to all
 * their values: an all-reduce is a chain of additions, an all-gather a
 * concatenation, an all-to-all slices and concatenations. */
#include "runtime/kernels/body.h"
#include "runtime/kernels/spmd.h"

jx_groups jx_spmd_groups(const jx_eqn *eqn)
{
    const void *p = eqn->typed;

    switch (eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce:
        return ((const jx_p_all_reduce *)p)->replica_groups;
    case JX_PRIM_stablehlo_all_gather:
        return ((const jx_p_all_gather *)p)->replica_groups;
    case JX_PRIM_stablehlo_reduce_scatter:
        return ((const jx_p_reduce_scatter *)p)->replica_groups;
    case JX_PRIM_stablehlo_all_to_all:
        return ((const jx_p_all_to_all *)p)->replica_groups;
    case JX_PRIM_stablehlo_collective_broadcast:
        return ((const jx_p_collective_broadcast *)p)->replica_groups;
    default: return ((const jx_p_collective_permute *)p)->source_target_pairs;
    }
}

/* The devices that work together with `device`, in order; their number. */
static int group_of(jx_spmd *s, jx_groups groups, int device, int *members)
{
    if (groups.count == 0) {
        for (int i = 0; i < s->devices; i++)
            members[i] = i;
        return s->devices;
    }
    for (int g = 0; g < groups.count; g++) {
        int count = 0;
        bool inside = false;
        for (int i = 0; i < groups.at[g].count; i++) {
            int64_t member = groups.at[g].at[i];
            if (member == -1)
                continue;
            if (member < 0 || member >= s->devices || count >= s->devices) {
                jx_spmd_fail(s, "a group names a device that the mesh has not");
                return 0;
            }
            inside |= member == device;
            members[count++] = (int)member;
        }
        if (inside)
            return count;
    }
    return 0;
}

static jx_atom combined(jx_spmd_maker *m, const jx_closed *computation,
                        jx_atom a, jx_atom b)
{
    jx_prim_id op = jx_body_monoid(computation->jaxpr);
    const jx_aval *aval = jx_atom_aval(a);
    jx_atom both[2] = {a, b};
    int64_t *axes;

    if (op != JX_PRIM_unknown && op != JX_PRIM_mul &&
        jx_plan_rule_of(op) == jx_plan_elementwise) {
        jx_p_none none = {0};
        return jx_spmd_emit_one(m, op, &none, sizeof none, 2, both, aval);
    }
    axes = JX_NEW_ARRAY(m->s->arena, aval->rank + 1, int64_t);
    for (int i = 0; axes && i < aval->rank; i++)
        axes[i] = i;
    jx_p_stablehlo_map map = {.computation = *computation,
                              .dimensions = {axes ? aval->rank : 0, axes}};
    return jx_spmd_emit_one(m, JX_PRIM_stablehlo_map, &map, sizeof map, 2, both,
                            aval);
}

/* Work that is the same for all members of a group is done once. */
typedef bool group_fn(jx_spmd_maker *m, const jx_eqn *eqn,
                      const jx_spmd_atoms *ins, const jx_spmd_atoms *outs,
                      int count, const int *members);

static bool each_group(jx_spmd_maker *m, const jx_eqn *eqn,
                       const jx_spmd_atoms *ins, const jx_spmd_atoms *outs,
                       group_fn *work)
{
    jx_spmd *s = m->s;
    int *members = JX_NEW_ARRAY(s->arena, s->devices, int);
    bool *done = JX_NEW_ARRAY(s->arena, s->devices, bool);

    if (!members || !done)
        return jx_spmd_fail(s, "there is no memory");
    for (int t = 0; t < s->team.count && !s->failed; t++) {
        int d = s->team.at[t];
        if (done[d])
            continue;
        int count = group_of(s, jx_spmd_groups(eqn), d, members);
        if (s->failed)
            break;
        if (count == 0)
            return jx_spmd_fail(s, "a device is in no group of a collective");
        for (int i = 0; i < count; i++)
            done[members[i]] = true;
        work(m, eqn, ins, outs, count, members);
    }
    return !s->failed;
}

static jx_atom folded(jx_spmd_maker *m, const jx_closed *computation,
                      const jx_spmd_atoms *ins, int operand, int count,
                      const int *members)
{
    jx_atom sum = jx_spmd_row(ins, members[0])[operand];

    for (int i = 1; i < count && !m->s->failed; i++)
        sum = combined(m, computation, sum,
                       jx_spmd_row(ins, members[i])[operand]);
    return sum;
}

static bool all_reduce(jx_spmd_maker *m, const jx_eqn *eqn,
                       const jx_spmd_atoms *ins, const jx_spmd_atoms *outs,
                       int count, const int *members)
{
    const jx_p_all_reduce *p = eqn->typed;

    for (int i = 0; i < eqn->nins; i++) {
        jx_atom sum = folded(m, &p->computation, ins, i, count, members);
        for (int k = 0; k < count; k++)
            jx_spmd_row(outs, members[k])[i] = sum;
    }
    return !m->s->failed;
}

static bool reduce_scatter(jx_spmd_maker *m, const jx_eqn *eqn,
                           const jx_spmd_atoms *ins, const jx_spmd_atoms *outs,
                           int count, const int *members)
{
    const jx_p_reduce_scatter *p = eqn->typed;
    jx_atom sum = folded(m, &p->computation, ins, 0, count, members);

    for (int k = 0; k < count; k++)
        jx_spmd_row(outs, members[k])[0] =
            jx_spmd_part(m, sum, p->scatter_dimension, k, count);
    return !m->s->failed;
}

static bool all_gather(jx_spmd_maker *m, const jx_eqn *eqn,
                       const jx_spmd_atoms *ins, const jx_spmd_atoms *outs,
                       int count, const int *members)
{
    const jx_p_all_gather *p = eqn->typed;
    jx_atom *parts = JX_NEW_ARRAY(m->s->arena, count, jx_atom);

    if (!parts)
        return jx_spmd_fail(m->s, "there is no memory");
    for (int i = 0; i < eqn->nins; i++) {
        for (int k = 0; k < count; k++)
            parts[k] = jx_spmd_row(ins, members[k])[i];
        jx_atom all = jx_spmd_joined(m, count, parts, p->all_gather_dim);
        for (int k = 0; k < count; k++)
            jx_spmd_row(outs, members[k])[i] = all;
    }
    return !m->s->failed;
}

/* The k-th device of a group gets the k-th part of each. */
static bool all_to_all(jx_spmd_maker *m, const jx_eqn *eqn,
                       const jx_spmd_atoms *ins, const jx_spmd_atoms *outs,
                       int count, const int *members)
{
    const jx_p_all_to_all *p = eqn->typed;
    jx_atom *parts = JX_NEW_ARRAY(m->s->arena, count, jx_atom);

    if (!parts)
        return jx_spmd_fail(m->s, "there is no memory");
    if (p->split_count != count)
        return jx_spmd_fail(m->s, "split_count is not the size of a group");
    for (int i = 0; i < eqn->nins; i++)
        for (int k = 0; k < count; k++) {
            for (int from = 0; from < count; from++)
                parts[from] =
                    jx_spmd_part(m, jx_spmd_row(ins, members[from])[i],
                                 p->split_dimension, k, count);
            jx_spmd_row(outs, members[k])[i] =
                jx_spmd_joined(m, count, parts, p->concat_dimension);
        }
    return !m->s->failed;
}

/* Who is not sent anything gets zeros. */
static bool permute(jx_spmd_maker *m, const jx_eqn *eqn,
                    const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    jx_groups pairs =
        ((const jx_p_collective_permute *)eqn->typed)->source_target_pairs;

    for (int d = 0; d < m->s->devices; d++)
        jx_spmd_row(outs, d)[0] =
            jx_spmd_zeros(m, jx_atom_aval(jx_spmd_row(ins, d)[0]));
    for (int i = 0; i < pairs.count; i++) {
        const jx_ints *pair = &pairs.at[i];
        if (pair->count != 2 || pair->at[0] < 0 || pair->at[1] < 0 ||
            pair->at[0] >= m->s->devices || pair->at[1] >= m->s->devices)
            return jx_spmd_fail(m->s,
                                "a pair names a device that the mesh has not");
        jx_spmd_row(outs, (int)pair->at[1])[0] =
            jx_spmd_row(ins, (int)pair->at[0])[0];
    }
    return !m->s->failed;
}

/* The first of a group speaks; who is in no group gets zeros. */
static bool broadcast(jx_spmd_maker *m, const jx_eqn *eqn,
                      const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    const jx_p_collective_broadcast *p = eqn->typed;
    int *members = JX_NEW_ARRAY(m->s->arena, m->s->devices, int);

    if (!members)
        return jx_spmd_fail(m->s, "there is no memory");
    for (int d = 0; d < m->s->devices && !m->s->failed; d++) {
        int count = group_of(m->s, p->replica_groups, d, members);
        jx_spmd_row(outs, d)[0] =
            count ? jx_spmd_row(ins, members[0])[0]
                  : jx_spmd_zeros(m, jx_atom_aval(jx_spmd_row(ins, d)[0]));
    }
    return !m->s->failed;
}

/* Its number among the devices; there is one replica. */
static bool numbered(jx_spmd_maker *m, const jx_eqn *eqn,
                     const jx_spmd_atoms *outs)
{
    bool partition = eqn->prim->id == JX_PRIM_stablehlo_partition_id;

    for (int t = 0; t < m->s->team.count; t++) {
        int d = m->s->team.at[t];
        jx_spmd_row(outs, d)[0] = jx_spmd_device_number(
            m, eqn->outs[0]->aval, partition ? (uint32_t)d : 0);
    }
    return !m->s->failed;
}

bool jx_spmd_collective(jx_spmd_maker *m, const jx_eqn *eqn,
                        const jx_spmd_atoms *ins, const jx_spmd_atoms *outs)
{
    switch (eqn->prim->id) {
    case JX_PRIM_stablehlo_all_reduce:
        return each_group(m, eqn, ins, outs, all_reduce);
    case JX_PRIM_stablehlo_all_gather:
        return each_group(m, eqn, ins, outs, all_gather);
    case JX_PRIM_stablehlo_reduce_scatter:
        return each_group(m, eqn, ins, outs, reduce_scatter);
    case JX_PRIM_stablehlo_all_to_all:
        return each_group(m, eqn, ins, outs, all_to_all);
    case JX_PRIM_stablehlo_collective_permute:
        return permute(m, eqn, ins, outs);
    case JX_PRIM_stablehlo_collective_broadcast:
        return broadcast(m, eqn, ins, outs);
    default: return numbered(m, eqn, outs);
    }
}

/* ---- outside of a computation that many devices run ---- */

static bool others_take_part(jx_planner *p)
{
    return jx_plan_fail(p, "several devices take part, outside of a "
                           "sdy.manual_computation: what each of them holds "
                           "is not in the program");
}

/* Outside of such a computation there is one device, which gets what it gives;
 * unless the module is for more. */
bool jx_plan_collective(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    bool permutes = eqn->prim->id == JX_PRIM_stablehlo_collective_permute;
    jx_groups groups = jx_spmd_groups(eqn);
    bool alone = p->program->devices <= 1 && groups.count <= 1 &&
                 (groups.count == 1 || !permutes);

    for (int i = 0; i < groups.count && alone; i++)
        for (int k = 0; k < groups.at[i].count; k++)
            alone &= groups.at[i].at[k] == 0 && (k == 0 || permutes);
    return alone ? jx_plan_pass(p, eqn, ins, outs) : others_take_part(p);
}

bool jx_plan_device_id(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                       jx_slot *outs)
{
    const uint32_t first = 0;

    (void)eqn, (void)ins;
    if (p->program->devices > 1)
        return others_take_part(p);
    outs[0] = jx_plan_constant(p, JX_U32, 0, NULL, &first);
    return true;
}
