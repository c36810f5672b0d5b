/* devices_collectives.c - what devices say to each other, as what it does to all
 * their values: an all-reduce is a chain of additions, an all-gather a
 * concatenation, an all-to-all slices and concatenations. */
#include "analyzer/transform/devices_parts.h"
#include "analyzer/type_rules.h"
#include "frontend/ir/computation.h"

jx_groups jx_collective_groups(const jx_eqn *eqn)
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
static int group_of(jx_devices *s, jx_groups groups, int device, int *members)
{
    if (groups.count == 0) {
        for (int i = 0; i < s->count; i++)
            members[i] = i;
        return s->count;
    }
    for (int g = 0; g < groups.count; g++) {
        int count = 0;
        bool inside = false;
        for (int i = 0; i < groups.at[g].count; i++) {
            int64_t member = groups.at[g].at[i];
            if (member == -1)
                continue;
            if (member < 0 || member >= s->count || count >= s->count) {
                jx_devices_fail(s,
                                "a group names a device that the mesh has not");
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

/* Two values by the computation: where that is one elementwise operation (a product
 * has parameters), by it. */
static jx_atom combined(jx_devices_body *m, const jx_value *computation,
                        jx_atom a, jx_atom b)
{
    jx_prim_id op = jx_body_monoid(computation->jaxpr);
    const jx_aval *aval = jx_atom_aval(a);
    jx_params p = {.program = m->s->build.program};
    jx_atom both[2] = {a, b}, out = {NULL, NULL};
    int64_t *axes = JX_NEW_ARRAY(m->s->scratch, aval->rank + 1, int64_t);

    if (!axes) {
        jx_devices_starved(m->s);
        return out;
    }
    for (int i = 0; i < aval->rank; i++)
        axes[i] = i;
    if (op == JX_PRIM_mul || !jx_prim_takes(op)) {
        op = JX_PRIM_stablehlo_map;
        jx_put(&p, "computation", computation);
        jx_put_ints(&p, "dimensions", (jx_ints){aval->rank, axes});
    }
    jx_devices_emit(m, jx_prim_of(op), &p, 2, both, 1, &aval, &out);
    return out;
}

/* Work that is the same for all members of a group is done once. */
typedef bool group_fn(jx_devices_body *m, const jx_eqn *eqn,
                      const jx_device_atoms *ins, const jx_device_atoms *outs,
                      int count, const int *members);

static bool each_group(jx_devices_body *m, const jx_eqn *eqn,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       group_fn *work)
{
    jx_devices *s = m->s;
    int *members = JX_NEW_ARRAY(s->scratch, s->count, int);
    bool *done = JX_NEW_ARRAY(s->scratch, s->count, bool);

    if (!members || !done)
        return jx_devices_starved(s);
    for (int t = 0; t < s->team.count && !s->failed; t++) {
        int d = s->team.at[t];
        if (done[d])
            continue;
        int count = group_of(s, jx_collective_groups(eqn), d, members);
        if (s->failed)
            break;
        if (count == 0)
            return jx_devices_fail(s,
                                   "a device is in no group of a collective");
        for (int i = 0; i < count; i++)
            done[members[i]] = true;
        work(m, eqn, ins, outs, count, members);
    }
    return !s->failed;
}

static jx_atom folded(jx_devices_body *m, const jx_value *computation,
                      const jx_device_atoms *ins, int operand, int count,
                      const int *members)
{
    jx_atom sum = jx_device_row(ins, members[0])[operand];

    for (int i = 1; i < count && !m->s->failed; i++)
        sum = combined(m, computation, sum,
                       jx_device_row(ins, members[i])[operand]);
    return sum;
}

static bool all_reduce(jx_devices_body *m, const jx_eqn *eqn,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       int count, const int *members)
{
    for (int i = 0; i < eqn->nins; i++) {
        jx_atom sum =
            folded(m, jx_eqn_param(eqn, "computation"), ins, i, count, members);
        for (int k = 0; k < count; k++)
            jx_device_row(outs, members[k])[i] = sum;
    }
    return !m->s->failed;
}

static bool reduce_scatter(jx_devices_body *m, const jx_eqn *eqn,
                           const jx_device_atoms *ins,
                           const jx_device_atoms *outs, int count,
                           const int *members)
{
    const jx_p_reduce_scatter *p = eqn->typed;
    jx_atom sum =
        folded(m, jx_eqn_param(eqn, "computation"), ins, 0, count, members);

    for (int k = 0; k < count; k++)
        jx_device_row(outs, members[k])[0] =
            jx_devices_part(m, sum, p->scatter_dimension, k, count);
    return !m->s->failed;
}

static bool all_gather(jx_devices_body *m, const jx_eqn *eqn,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       int count, const int *members)
{
    const jx_p_all_gather *p = eqn->typed;
    jx_atom *parts = JX_NEW_ARRAY(m->s->scratch, count, jx_atom);

    if (!parts)
        return jx_devices_starved(m->s);
    for (int i = 0; i < eqn->nins; i++) {
        for (int k = 0; k < count; k++)
            parts[k] = jx_device_row(ins, members[k])[i];
        jx_atom all = jx_devices_joined(m, count, parts, p->all_gather_dim);
        for (int k = 0; k < count; k++)
            jx_device_row(outs, members[k])[i] = all;
    }
    return !m->s->failed;
}

/* The k-th device of a group gets the k-th part of each. */
static bool all_to_all(jx_devices_body *m, const jx_eqn *eqn,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       int count, const int *members)
{
    const jx_p_all_to_all *p = eqn->typed;
    jx_atom *parts = JX_NEW_ARRAY(m->s->scratch, count, jx_atom);

    if (!parts)
        return jx_devices_starved(m->s);
    if (p->split_count != count)
        return jx_devices_fail(m->s, "split_count is not the size of a group");
    for (int i = 0; i < eqn->nins; i++)
        for (int k = 0; k < count; k++) {
            for (int from = 0; from < count; from++)
                parts[from] =
                    jx_devices_part(m, jx_device_row(ins, members[from])[i],
                                    p->split_dimension, k, count);
            jx_device_row(outs, members[k])[i] =
                jx_devices_joined(m, count, parts, p->concat_dimension);
        }
    return !m->s->failed;
}

static jx_atom zeros(jx_devices_body *m, const jx_aval *aval)
{
    return jx_devices_room(m->s) ? jx_build_zeros(&m->body, aval)
                                 : (jx_atom){NULL, NULL};
}

/* Who is not sent anything gets zeros. */
static bool permute(jx_devices_body *m, const jx_eqn *eqn,
                    const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_groups pairs =
        ((const jx_p_collective_permute *)eqn->typed)->source_target_pairs;

    for (int d = 0; d < m->s->count; d++)
        jx_device_row(outs, d)[0] =
            zeros(m, jx_atom_aval(jx_device_row(ins, d)[0]));
    for (int i = 0; i < pairs.count; i++) {
        const jx_ints *pair = &pairs.at[i];
        if (pair->count != 2 || pair->at[0] < 0 || pair->at[1] < 0 ||
            pair->at[0] >= m->s->count || pair->at[1] >= m->s->count)
            return jx_devices_fail(
                m->s, "a pair names a device that the mesh has not");
        jx_device_row(outs, (int)pair->at[1])[0] =
            jx_device_row(ins, (int)pair->at[0])[0];
    }
    return !m->s->failed;
}

/* The first of a group speaks; who is in no group gets zeros. */
static bool broadcast(jx_devices_body *m, const jx_eqn *eqn,
                      const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    const jx_p_collective_broadcast *p = eqn->typed;
    int *members = JX_NEW_ARRAY(m->s->scratch, m->s->count, int);

    if (!members)
        return jx_devices_starved(m->s);
    for (int d = 0; d < m->s->count && !m->s->failed; d++) {
        int count = group_of(m->s, p->replica_groups, d, members);
        jx_device_row(outs, d)[0] =
            count ? jx_device_row(ins, members[0])[0]
                  : zeros(m, jx_atom_aval(jx_device_row(ins, d)[0]));
    }
    return !m->s->failed;
}

/* Its number among the devices; there is one replica. */
static bool numbered(jx_devices_body *m, const jx_eqn *eqn,
                     const jx_device_atoms *outs)
{
    bool partition = eqn->prim->id == JX_PRIM_stablehlo_partition_id;

    for (int t = 0; t < m->s->team.count; t++) {
        int d = m->s->team.at[t];
        jx_device_row(outs, d)[0] = jx_build_number(
            &m->body, eqn->outs[0]->aval->dtype, partition ? d : 0);
    }
    return !m->s->failed;
}

/* The devices that it names are those of all partitions, as in a
 * sdy.manual_computation: without a channel, or with numbers that are not global,
 * it goes over replicas (or over them, too), of which there is one. */
static bool is_of_partitions(const jx_eqn *eqn)
{
    const jx_value *channel = jx_eqn_param(eqn, "channel_id");
    const jx_value *global = jx_eqn_param(eqn, "use_global_device_ids");
    bool takes_numbers = eqn->prim->id == JX_PRIM_stablehlo_all_reduce ||
                         eqn->prim->id == JX_PRIM_stablehlo_all_gather ||
                         eqn->prim->id == JX_PRIM_stablehlo_reduce_scatter;

    return eqn->nins == 0 ||
           (channel && channel->tag == JX_V_INT && channel->integer > 0 &&
            (!takes_numbers ||
             (global && global->tag == JX_V_BOOL && global->boolean)));
}

bool jx_devices_collective(jx_devices_body *m, const jx_eqn *eqn,
                           const jx_device_atoms *ins,
                           const jx_device_atoms *outs)
{
    if (m->s->whole && !is_of_partitions(eqn))
        return jx_devices_fail(m->s,
                               "%s goes over replicas: one is written out that "
                               "has a channel and global numbers of devices",
                               eqn->prim->name);
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
