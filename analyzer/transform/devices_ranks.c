/* devices_ranks.c - a computation of many devices as one of them runs it, in a
 * process of its own: what it needs of the others comes to it.
 *
 * Arrays of a whole group come by an all_gather, and what a collective makes of
 * them is written out as in one process that is all devices, for this one
 * alone; so the results have the same bits. */
#include "analyzer/transform/devices_parts.h"

/* Which collective of the program it is, the same number in all processes:
 * those who have come to different ones do not meet. */
static void put_channel(const jx_devices_body *m, jx_params *p)
{
    jx_put_int(p, "channel_id", m->s->met);
}

/* The one group of a collective that this process takes part in. */
static void put_group(jx_devices_body *m, jx_params *p, int count,
                      const int *members)
{
    const jx_dim **group = JX_NEW_ARRAY(m->s->scratch, count, const jx_dim *);

    if (!group) {
        jx_devices_starved(m->s);
        return;
    }
    for (int i = 0; i < count; i++)
        group[i] = jx_body_int(&m->body, members[i]);
    jx_put_tuples(p, "replica_groups", 1, count, group);
}

/* An array as long along its first axis as `whole` says. */
static const jx_aval *as_long(jx_devices_body *m, jx_atom like, int64_t whole)
{
    const jx_aval *aval = jx_atom_aval(like);
    const jx_dim **shape =
        JX_NEW_ARRAY(m->s->scratch, aval->rank, const jx_dim *);

    if (!shape) {
        jx_devices_starved(m->s);
        return aval;
    }
    memcpy(shape, aval->shape, (size_t)aval->rank * sizeof *shape);
    shape[0] = jx_body_int(&m->body, whole);
    return jx_body_aval(&m->body, aval, aval->dtype, aval->rank, shape);
}

/* What each member has, one behind the other along the first axis.  `met`: as a
 * collective of the program; else of results, for the first member alone. */
static jx_atom joined(jx_devices_body *m, jx_atom mine, int64_t whole,
                      int count, const int *members, bool met)
{
    jx_devices *s = m->s;
    jx_params p = {.program = s->build.program};
    const jx_aval *aval = as_long(m, mine, whole);
    jx_atom all = {NULL, NULL};

    jx_put_int(&p, "all_gather_dim", 0);
    put_group(m, &p, count, members);
    if (met)
        put_channel(m, &p);
    jx_put_bool(&p, "use_global_device_ids", true);
    if (!s->failed)
        jx_devices_emit(m, jx_prim_of(JX_PRIM_stablehlo_all_gather), &p, 1,
                        &mine, 1, &aval, &all);
    return all;
}

/* ... along a new axis in front. */
static jx_atom gathered(jx_devices_body *m, jx_atom mine, int count,
                        const int *members, bool met)
{
    jx_atom one = jx_devices_with_axis(m, mine, 0, 1);

    return m->s->failed ? one : joined(m, one, count, count, members, met);
}

bool jx_devices_fetch(jx_devices_body *m, const jx_device_atoms *mine,
                      int number, int count, const int *members, bool reported,
                      const jx_device_atoms *all)
{
    jx_devices *s = m->s;
    jx_atom own = jx_device_row(mine, s->rank)[number], together;

    if (count == 1) {
        jx_device_row(all, s->rank)[number] = own;
        return !s->failed;
    }
    together = gathered(m, own, count, members, !reported);
    for (int k = 0; k < count && !s->failed; k++)
        jx_device_row(all, members[k])[number] = jx_devices_with_axis(
            m, jx_devices_part(m, together, 0, k, count), 0, -1);
    return !s->failed;
}

/* [count, ...]: the parts along an axis. */
static jx_atom stacked(jx_devices_body *m, jx_atom mine, int64_t axis,
                       int count)
{
    jx_atom *parts = JX_NEW_ARRAY(m->s->scratch, count, jx_atom);

    if (!parts) {
        jx_devices_starved(m->s);
        return mine;
    }
    for (int k = 0; k < count; k++)
        parts[k] = jx_devices_with_axis(
            m, jx_devices_part(m, mine, axis, k, count), 0, 1);
    return jx_devices_joined(m, count, parts, 0);
}

/* Of what is cut along its first axis, each member's part goes to that one, and
 * what comes is one behind the other, `whole` long. */
static jx_atom swapped(jx_devices_body *m, jx_atom mine, int64_t whole,
                       int count, const int *members)
{
    jx_devices *s = m->s;
    jx_params p = {.program = s->build.program};
    const jx_aval *aval = as_long(m, mine, whole);
    jx_atom theirs = {NULL, NULL};

    jx_put_int(&p, "split_dimension", 0);
    jx_put_int(&p, "concat_dimension", 0);
    jx_put_int(&p, "split_count", count);
    put_group(m, &p, count, members);
    put_channel(m, &p);
    if (!s->failed)
        jx_devices_emit(m, jx_prim_of(JX_PRIM_stablehlo_all_to_all), &p, 1,
                        &mine, 1, &aval, &theirs);
    return theirs;
}

bool jx_devices_swap(jx_devices_body *m, jx_atom mine, int64_t axis, int count,
                     const int *members, jx_atom *theirs)
{
    jx_devices *s = m->s;
    jx_atom all = stacked(m, mine, axis, count);

    if (!s->failed)
        all = swapped(m, all, count, count, members);
    for (int k = 0; k < count && !s->failed; k++)
        theirs[k] = jx_devices_with_axis(
            m, jx_devices_part(m, all, 0, k, count), 0, -1);
    return !s->failed;
}

/* How many of a row's elements this process has to do with. */
static int64_t own_share(const jx_devices *s, int64_t whole, int count,
                         const int *members)
{
    int at = 0;

    while (at < count - 1 && members[at] != s->rank)
        at++;
    return jx_collective_share(whole, count, at);
}

bool jx_devices_share(jx_devices_body *m, jx_atom row, int count,
                      const int *members, jx_atom *theirs)
{
    jx_devices *s = m->s;
    int64_t whole = jx_devices_size(s, jx_atom_aval(row), 0);
    jx_atom all = swapped(m, row, count * own_share(s, whole, count, members),
                          count, members);

    for (int k = 0; k < count && !s->failed; k++)
        theirs[k] = jx_devices_part(m, all, 0, k, count);
    return !s->failed;
}

jx_atom jx_devices_shared(jx_devices_body *m, jx_atom own, int64_t whole,
                          int count, const int *members)
{
    return joined(m, own, whole, count, members, true);
}

bool jx_devices_permuted(jx_devices_body *m, const jx_collective *c,
                         jx_atom mine, jx_atom *theirs)
{
    jx_devices *s = m->s;
    jx_params p = {.program = s->build.program};
    const jx_aval *aval = jx_atom_aval(mine);
    const jx_dim **pairs =
        JX_NEW_ARRAY(s->scratch, 2 * c->groups.count + 1, const jx_dim *);

    if (!pairs)
        return jx_devices_starved(s);
    for (int i = 0; i < 2 * c->groups.count; i++)
        pairs[i] = jx_body_int(&m->body, c->groups.at[i / 2].at[i % 2]);
    jx_put_tuples(&p, "source_target_pairs", c->groups.count, 2, pairs);
    put_channel(m, &p);
    return jx_devices_emit(m, jx_prim_of(JX_PRIM_stablehlo_collective_permute),
                           &p, 1, &mine, 1, &aval, theirs);
}
