/* devices_collectives.c - what devices say to each other, as what it does to
 * all their values: an all-reduce is a chain of additions, an all-gather a
 * concatenation, an all-to-all slices and concatenations. */
#include "analyzer/transform/devices_parts.h"
#include "analyzer/type_rules.h"
#include "frontend/ir/computation.h"
#include "frontend/ir/mesh.h"

bool jx_devices_collective_of(jx_devices *s, const jx_eqn *eqn,
                              jx_collective *to)
{
    switch (jx_collective_of(s->scratch, s->mesh, eqn, to)) {
    case JX_COLLECTIVE_NO_MESH:
        return jx_devices_fail(s, "no mesh has the axes of a collective");
    case JX_COLLECTIVE_NO_AXES:
        return jx_devices_fail(s, "the mesh has not the axes of a collective");
    default: return true;
    }
}

/* ---- who takes part ---- */

/* The devices that work together with `device`, in order; their number. */
static int group_of(jx_devices *s, const jx_collective *c, int device,
                    int *members)
{
    jx_groups groups = c->groups;

    if (c->all) {
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

/* Two values by the computation: where that is one elementwise operation (a
 * product has parameters), by it. */
static jx_atom combined(jx_devices_body *m, const jx_collective *c, jx_atom a,
                        jx_atom b)
{
    const jx_value *computation = c->computation;
    jx_prim_id op = computation ? jx_body_monoid(computation->jaxpr) : c->op;
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
    if (computation && (op == JX_PRIM_mul || !jx_prim_takes(op))) {
        op = JX_PRIM_stablehlo_map;
        jx_put(&p, "computation", computation);
        jx_put_ints(&p, "dimensions", (jx_ints){aval->rank, axes});
    }
    jx_devices_emit(m, jx_prim_of(op), &p, 2, both, 1, &aval, &out);
    return out;
}

/* What all members of a group have; *ins is it from then on. */
static bool fetch_all(jx_devices_body *m, int operands,
                      const jx_device_atoms **ins, int count,
                      const int *members)
{
    jx_device_atoms *all = JX_NEW(m->s->scratch, jx_device_atoms);

    if (!all)
        return jx_devices_starved(m->s);
    *all = jx_device_atoms_new(m->s, operands);
    for (int i = 0; i < operands && !m->s->failed; i++)
        jx_devices_fetch(m, *ins, i, count, members, false, all);
    *ins = all;
    return !m->s->failed;
}

/* Work that is the same for all members of a group is done once; or, by
 * `of_rank`, what the one that this process is has to do with less than all
 * that the others have. */
typedef bool group_fn(jx_devices_body *m, const jx_collective *c, int operands,
                      const jx_device_atoms *ins, const jx_device_atoms *outs,
                      int count, const int *members);

static bool each_group(jx_devices_body *m, int operands, const jx_collective *c,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       group_fn *work, group_fn *of_rank)
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
        int count = group_of(s, c, d, members);
        if (s->failed)
            break;
        if (count == 0)
            return jx_devices_fail(s,
                                   "a device is in no group of a collective");
        for (int i = 0; i < count; i++)
            done[members[i]] = true;
        if (s->rank != JX_ALL_DEVICES && of_rank) {
            of_rank(m, c, operands, ins, outs, count, members);
            break;
        }
        if (s->rank != JX_ALL_DEVICES &&
            !fetch_all(m, operands, &ins, count, members))
            break;
        work(m, c, operands, ins, outs, count, members);
    }
    return !s->failed;
}

static jx_atom made_or_told(jx_devices_body *m, jx_atom made)
{
    if (!jx_is_made(made) && !m->s->failed)
        jx_devices_starved(m->s);
    return made;
}

/* What one device adds to a reduction: its own axes first. */
static jx_atom own_part(jx_devices_body *m, const jx_collective *c, jx_atom a)
{
    jx_prim_id op = c->op == JX_PRIM_max   ? JX_PRIM_reduce_max
                    : c->op == JX_PRIM_min ? JX_PRIM_reduce_min
                                           : JX_PRIM_reduce_sum;

    jx_params p = {.program = m->s->build.program};
    const jx_aval *aval = jx_atom_aval(a);
    const jx_dim **shape =
        JX_NEW_ARRAY(m->s->scratch, aval->rank + 1, const jx_dim *);
    int rank = 0;

    if (!c->reduced.count || m->s->failed || !jx_devices_room(m->s) || !shape)
        return a;
    for (int i = 0; i < aval->rank; i++)
        if (!jx_ints_hold(c->reduced, i))
            shape[rank++] = aval->shape[i];
    jx_put_ints(&p, "axes", c->reduced);
    return made_or_told(
        m,
        jx_build_one(&m->body, op, &p, 1, &a,
                     jx_body_aval(&m->body, aval, aval->dtype, rank, shape)));
}

static jx_atom folded(jx_devices_body *m, const jx_collective *c,
                      const jx_device_atoms *ins, int operand, int count,
                      const int *members)
{
    jx_atom sum = own_part(m, c, jx_device_row(ins, members[0])[operand]);

    for (int i = 1; i < count && !m->s->failed; i++)
        sum = combined(m, c, sum,
                       own_part(m, c, jx_device_row(ins, members[i])[operand]));
    return sum;
}

static bool all_reduce(jx_devices_body *m, const jx_collective *c, int operands,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       int count, const int *members)
{
    for (int i = 0; i < operands; i++) {
        jx_atom sum = folded(m, c, ins, i, count, members);
        for (int k = 0; k < count; k++)
            jx_device_row(outs, members[k])[i] = sum;
    }
    return !m->s->failed;
}

jx_atom jx_devices_with_axis(jx_devices_body *m, jx_atom a, int64_t axis,
                             int more)
{
    const jx_aval *aval;
    const jx_dim **shape;
    int n = 0;

    if (m->s->failed)
        return a;
    aval = jx_atom_aval(a);
    shape = JX_NEW_ARRAY(m->s->scratch, aval->rank + 1, const jx_dim *);
    for (int i = 0; shape && i < aval->rank + (more > 0); i++) {
        if (i != axis)
            shape[n++] = aval->shape[i - (more > 0 && i > axis)];
        else if (more > 0)
            shape[n++] = jx_body_int(&m->body, 1);
    }
    if (!shape || !jx_devices_room(m->s))
        return a;
    return made_or_told(m, jx_build_reshape(&m->body, a, n, shape));
}

static bool reduce_scatter(jx_devices_body *m, const jx_collective *c,
                           int operands, const jx_device_atoms *ins,
                           const jx_device_atoms *outs, int count,
                           const int *members)
{
    jx_atom sum = folded(m, c, ins, 0, count, members);

    (void)operands;
    for (int k = 0; k < count && !m->s->failed; k++) {
        jx_atom part = jx_devices_part(m, sum, c->axis, k, count);
        jx_device_row(outs, members[k])[0] =
            c->untiled ? jx_devices_with_axis(m, part, c->axis, -1) : part;
    }
    return !m->s->failed;
}

static bool all_gather(jx_devices_body *m, const jx_collective *c, int operands,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       int count, const int *members)
{
    jx_atom *parts = JX_NEW_ARRAY(m->s->scratch, count, jx_atom);

    if (!parts)
        return jx_devices_starved(m->s);
    for (int i = 0; i < operands && !m->s->failed; i++) {
        for (int k = 0; k < count; k++) {
            jx_atom part = jx_device_row(ins, members[k])[i];
            parts[k] =
                c->untiled ? jx_devices_with_axis(m, part, c->axis, 1) : part;
        }
        jx_atom all = jx_devices_joined(m, count, parts, c->axis);
        for (int k = 0; k < count; k++)
            jx_device_row(outs, members[k])[i] = all;
    }
    return !m->s->failed;
}

/* The k-th device of a group gets the k-th part of each. */
static bool all_to_all(jx_devices_body *m, const jx_collective *c, int operands,
                       const jx_device_atoms *ins, const jx_device_atoms *outs,
                       int count, const int *members)
{
    jx_atom *parts = JX_NEW_ARRAY(m->s->scratch, count, jx_atom);

    if (!parts)
        return jx_devices_starved(m->s);
    if (c->split && c->split != count)
        return jx_devices_fail(m->s, "split_count is not the size of a group");
    for (int i = 0; i < operands; i++)
        for (int k = 0; k < count && !m->s->failed; k++) {
            for (int from = 0; from < count; from++)
                parts[from] = jx_devices_part(
                    m, jx_device_row(ins, members[from])[i], c->axis, k, count);
            jx_device_row(outs, members[k])[i] =
                jx_devices_joined(m, count, parts, c->concat);
        }
    return !m->s->failed;
}

static bool ragged(jx_devices_body *m, const jx_collective *c, int operands,
                   const jx_device_atoms *ins, const jx_device_atoms *outs,
                   int count, const int *members)
{
    (void)c, (void)operands;
    return jx_devices_ragged(m, ins, outs, count, members);
}

/* ---- the same of one rank, which gets no more than it needs ---- */

/* What the group's parts for this rank come to, in the order of members. */
static jx_atom folded_parts(jx_devices_body *m, const jx_collective *c,
                            int count, const jx_atom *parts)
{
    jx_atom sum = parts[0];

    for (int k = 1; k < count && !m->s->failed; k++)
        sum = combined(m, c, sum, parts[k]);
    return sum;
}

static bool scatter_of_rank(jx_devices_body *m, const jx_collective *c,
                            int operands, const jx_device_atoms *ins,
                            const jx_device_atoms *outs, int count,
                            const int *members)
{
    jx_devices *s = m->s;
    jx_atom *parts = JX_NEW_ARRAY(s->scratch, count, jx_atom), part;

    (void)operands;
    if (!parts)
        return jx_devices_starved(s);
    part = own_part(m, c, jx_device_row(ins, s->rank)[0]);
    if (count > 1 && jx_devices_swap(m, part, c->axis, count, members, parts))
        part = folded_parts(m, c, count, parts);
    jx_device_row(outs, s->rank)[0] =
        c->untiled ? jx_devices_with_axis(m, part, c->axis, -1) : part;
    return !s->failed;
}

static bool exchange_of_rank(jx_devices_body *m, const jx_collective *c,
                             int operands, const jx_device_atoms *ins,
                             const jx_device_atoms *outs, int count,
                             const int *members)
{
    jx_devices *s = m->s;
    jx_atom *parts = JX_NEW_ARRAY(s->scratch, count, jx_atom);

    if (!parts)
        return jx_devices_starved(s);
    if (c->split && c->split != count)
        return jx_devices_fail(s, "split_count is not the size of a group");
    for (int i = 0; i < operands && !s->failed; i++) {
        jx_atom mine = jx_device_row(ins, s->rank)[i];

        if (count == 1)
            parts[0] = mine;
        else if (!jx_devices_swap(m, mine, c->axis, count, members, parts))
            return false;
        jx_device_row(outs, s->rank)[i] =
            jx_devices_joined(m, count, parts, c->concat);
    }
    return !s->failed;
}

/* A sum of all, for each: of each share by that member, whose sums then go to
 * all. */
static jx_atom reduced_by_all(jx_devices_body *m, const jx_collective *c,
                              jx_atom mine, int count, const int *members)
{
    jx_devices *s = m->s;
    const jx_aval *aval = jx_atom_aval(mine);
    jx_atom *parts = JX_NEW_ARRAY(s->scratch, count, jx_atom), sum = mine;
    const jx_dim *row;
    int64_t n = 1;

    for (int k = 0; k < aval->rank; k++)
        n *= jx_devices_size(s, aval, k);
    row = jx_body_int(&m->body, n);
    if (!parts)
        jx_devices_starved(s);
    if (s->failed || count == 1 || !jx_devices_room(s))
        return mine;
    sum = made_or_told(m, jx_build_reshape(&m->body, mine, 1, &row));
    if (s->failed || !jx_devices_share(m, sum, count, members, parts))
        return mine;
    sum = folded_parts(m, c, count, parts);
    if (!s->failed)
        sum = jx_devices_shared(m, sum, n, count, members);
    if (s->failed || !jx_devices_room(s))
        return mine;
    return made_or_told(
        m, jx_build_reshape(&m->body, sum, aval->rank, aval->shape));
}

static bool reduce_of_rank(jx_devices_body *m, const jx_collective *c,
                           int operands, const jx_device_atoms *ins,
                           const jx_device_atoms *outs, int count,
                           const int *members)
{
    jx_devices *s = m->s;

    for (int i = 0; i < operands && !s->failed; i++)
        jx_device_row(outs, s->rank)[i] =
            reduced_by_all(m, c, own_part(m, c, jx_device_row(ins, s->rank)[i]),
                           count, members);
    return !s->failed;
}

static jx_atom zeros(jx_devices_body *m, const jx_aval *aval)
{
    return jx_devices_room(m->s) ? jx_build_zeros(&m->body, aval)
                                 : (jx_atom){NULL, NULL};
}

static bool in_team(const jx_devices *s, int64_t device)
{
    for (int t = 0; t < s->team.count; t++)
        if (s->team.at[t] == device)
            return true;
    return false;
}

static bool are_pairs(jx_devices *s, const jx_collective *c)
{
    for (int i = 0; i < c->groups.count; i++) {
        const jx_ints *pair = &c->groups.at[i];
        if (pair->count != 2 || pair->at[0] < 0 || pair->at[1] < 0 ||
            pair->at[0] >= s->count || pair->at[1] >= s->count)
            return jx_devices_fail(
                s, "a pair names a device that the mesh has not");
    }
    return true;
}

/* Who is not sent anything gets zeros. */
static bool permute(jx_devices_body *m, const jx_collective *c,
                    const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;

    if (s->rank != JX_ALL_DEVICES)
        return are_pairs(s, c) &&
               jx_devices_permuted(m, c, jx_device_row(ins, s->rank)[0],
                                   jx_device_row(outs, s->rank));
    for (int t = 0; t < s->team.count; t++) {
        int d = s->team.at[t];
        jx_device_row(outs, d)[0] =
            zeros(m, jx_atom_aval(jx_device_row(ins, d)[0]));
    }
    if (!are_pairs(s, c))
        return false;
    for (int i = 0; i < c->groups.count; i++) {
        const jx_ints *pair = &c->groups.at[i];
        if (in_team(s, pair->at[0]) && in_team(s, pair->at[1]))
            jx_device_row(outs, (int)pair->at[1])[0] =
                jx_device_row(ins, (int)pair->at[0])[0];
    }
    return !s->failed;
}

/* One of a group speaks; who is in no group gets zeros. */
static bool broadcast(jx_devices_body *m, const jx_collective *c,
                      const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_devices *s = m->s;
    int *members = JX_NEW_ARRAY(s->scratch, s->count, int);

    if (!members)
        return jx_devices_starved(s);
    for (int t = 0; t < s->team.count && !s->failed; t++) {
        int d = s->team.at[t], count = group_of(s, c, d, members);
        if (count && (c->source < 0 || c->source >= count))
            return jx_devices_fail(s, "nobody is the source of a broadcast");
        if (count && s->rank != JX_ALL_DEVICES &&
            !fetch_all(m, 1, &ins, count, members))
            break;
        jx_device_row(outs, d)[0] =
            count ? jx_device_row(ins, members[c->source])[0]
                  : zeros(m, jx_atom_aval(jx_device_row(ins, d)[0]));
    }
    return !s->failed;
}

/* The module is for replicas alone: each is a device. */
static bool has_replicas(const jx_devices *s)
{
    return s->whole && s->from->replicas > 1;
}

/* Where a device stands along axes of the mesh; or its number among all. */
static int64_t number_of(const jx_devices *s, const jx_eqn *eqn, int device)
{
    jx_axis_names axes = jx_eqn_mesh_axes(eqn);
    int64_t at = 0;

    if (eqn->prim->id == JX_PRIM_stablehlo_partition_id)
        return has_replicas(s) ? 0 : device;
    if (eqn->prim->id == JX_PRIM_stablehlo_replica_id)
        return has_replicas(s) ? device : 0;
    for (int i = 0; i < axes.count; i++) {
        int axis = jx_mesh_axis(s->mesh, axes.at[i]);
        at = at * s->mesh->sizes[axis] + jx_mesh_stand(s->mesh, device, axis);
    }
    return at;
}

static bool numbered(jx_devices_body *m, const jx_eqn *eqn,
                     const jx_device_atoms *outs)
{
    for (int t = 0; t < m->s->team.count; t++) {
        int d = m->s->team.at[t];
        jx_device_row(outs, d)[0] = jx_build_number(
            &m->body, eqn->outs[0]->aval->dtype,
            (double)number_of(m->s, eqn, jx_devices_taken_for(m->s, eqn, d)));
    }
    return !m->s->failed;
}

bool jx_devices_combine(jx_devices_body *m, jx_prim_id op, jx_groups groups,
                        const jx_device_atoms *values)
{
    const jx_collective c = {
        .kind = JX_COLLECTIVE_REDUCE, .groups = groups, .op = op};

    return each_group(m, 1, &c, values, values, all_reduce, reduce_of_rank);
}

/* The devices that it names are all that there are, partitions as in a
 * sdy.manual_computation or replicas.  Without a channel it goes over replicas;
 * with one over partitions, or, where it takes numbers of devices, over both,
 * which are global ones if it says so and else those of replicas. */
static bool is_of_devices(const jx_devices *s, const jx_eqn *eqn)
{
    const jx_value *channel = jx_eqn_param(eqn, "channel_id");
    const jx_value *global = jx_eqn_param(eqn, "use_global_device_ids");
    bool takes_numbers = eqn->prim->id == JX_PRIM_stablehlo_all_reduce ||
                         eqn->prim->id == JX_PRIM_stablehlo_all_gather ||
                         eqn->prim->id == JX_PRIM_stablehlo_reduce_scatter;
    bool has_channel =
        channel && channel->tag == JX_V_INT && channel->integer > 0;

    if (eqn->nins == 0)
        return true;
    if (has_replicas(s))
        return !has_channel || takes_numbers;
    return has_channel &&
           (!takes_numbers ||
            (global && global->tag == JX_V_BOOL && global->boolean));
}

static bool communicate(jx_devices_body *m, const jx_eqn *eqn,
                        const jx_device_atoms *ins, const jx_device_atoms *outs)
{
    jx_collective c;

    if (m->s->whole && !is_of_devices(m->s, eqn))
        return jx_devices_fail(m->s,
                               "%s goes over %s, of which there is one: its "
                               "channel and its numbers of devices say so",
                               eqn->prim->name,
                               has_replicas(m->s) ? "partitions" : "replicas");
    if (!jx_devices_collective_of(m->s, eqn, &c))
        return false;
    jx_devices_change_collective(m->s, eqn, &c);
    switch (c.kind) {
    case JX_COLLECTIVE_REDUCE:
        return each_group(m, eqn->nins, &c, ins, outs, all_reduce,
                          reduce_of_rank) &&
               jx_devices_change_sum(m, eqn,
                                     c.all ? m->s->count : c.groups.at[0].count,
                                     ins, outs) &&
               jx_devices_change_before(m, eqn, ins, outs);
    case JX_COLLECTIVE_GATHER:
        return each_group(m, eqn->nins, &c, ins, outs, all_gather, NULL) &&
               jx_devices_change_shape(m, eqn, outs);
    case JX_COLLECTIVE_SCATTER:
        return each_group(m, eqn->nins, &c, ins, outs, reduce_scatter,
                          scatter_of_rank) &&
               jx_devices_change_shape(m, eqn, outs) &&
               jx_devices_change_sum(m, eqn,
                                     c.all ? m->s->count : c.groups.at[0].count,
                                     ins, outs);
    case JX_COLLECTIVE_EXCHANGE:
        return each_group(m, eqn->nins, &c, ins, outs, all_to_all,
                          exchange_of_rank);
    case JX_COLLECTIVE_PERMUTE: return permute(m, &c, ins, outs);
    case JX_COLLECTIVE_BROADCAST: return broadcast(m, &c, ins, outs);
    case JX_COLLECTIVE_NUMBER: return numbered(m, eqn, outs);
    case JX_COLLECTIVE_RAGGED: break;
    }
    return each_group(m, eqn->nins, &c, ins, outs, ragged, NULL);
}

bool jx_devices_collective(jx_devices_body *m, const jx_eqn *eqn,
                           const jx_device_atoms *ins,
                           const jx_device_atoms *outs)
{
    if (!jx_devices_change_turned(m, eqn, false, ins) ||
        !communicate(m, eqn, ins, outs) ||
        !jx_devices_change_turned(m, eqn, true, outs))
        return false;
    jx_devices_change_late(m->s, eqn, ins, outs);
    return jx_devices_change_integers(m, eqn, outs);
}
