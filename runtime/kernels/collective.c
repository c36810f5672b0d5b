/* collective.c - collectives that are left when computations of many
 * devices have been written out (analyzer/transform/devices.h): those
 * outside of one, and, where this process is one device, those by which it
 * reaches the others. */
#include "analyzer/collective.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"
#include "runtime/run.h"

/* Only one without a mesh is left. */
bool jx_plan_manual_computation(jx_planner *p, const jx_eqn *eqn,
                                const jx_slot *ins, jx_slot *outs)
{
    (void)eqn, (void)ins, (void)outs;
    return jx_plan_fail(p, "there is no mesh");
}

static bool others_take_part(jx_planner *p)
{
    return jx_plan_fail(p, "several devices take part, outside of a "
                           "sdy.manual_computation: what each of them holds "
                           "is not in the program");
}

/* ---- between processes */

/* What a rank meets others for. */
typedef struct meeting {
    const jx_comm *comm;
    jx_meeting at;
    int source, target; /* of a permutation; -1: nobody */
    size_t bytes; /* of what each member gives all others, or one of them */
    bool (*together)(void *data, const jx_meeting *at, const void *mine,
                     void *all, size_t bytes, const char **why);
} meeting;

static bool run_together(jx_run *run, const void *data, const jx_view *ins,
                         const jx_view *outs, void *scratch)
{
    const meeting *m = data;
    jx_meeting at = m->at;
    const char *why = NULL;

    (void)scratch;
    at.turn = jx_run_turn(run);
    return m->together(m->comm->data, &at, ins[0].data, outs[0].data, m->bytes,
                       &why) ||
           jx_run_fail(run, "%s", why);
}

static bool run_permute(jx_run *run, const void *data, const jx_view *ins,
                        const jx_view *outs, void *scratch)
{
    const meeting *m = data;
    jx_meeting at = m->at;
    const char *why = NULL;

    (void)scratch;
    at.turn = jx_run_turn(run);
    return m->comm->permute(m->comm->data, &at, m->source, m->target,
                            ins[0].data, outs[0].data, m->bytes, &why) ||
           jx_run_fail(run, "%s", why);
}

/* All ranks, in order, or those of the one group. */
static const int *members_of(jx_planner *p, const jx_ints *group, int count)
{
    int *to = JX_NEW_ARRAY(p->arena, count, int);

    for (int i = 0; to && i < count; i++)
        to[i] = group ? (int)group->at[i] : i;
    return to;
}

/* An array in parts that are not all as large: their bytes. */
static const size_t *parts_of(jx_planner *p, int64_t whole, int count,
                              size_t unit)
{
    size_t *to = JX_NEW_ARRAY(p->arena, count, size_t);

    for (int i = 0; to && i < count; i++)
        to[i] = (size_t)jx_collective_share(whole, count, i) * unit;
    return to;
}

/* Its line says which collective it was, before devices_ranks.c. */
static const char *named(jx_planner *p, const jx_eqn *eqn, bool permutes)
{
    jx_buffer text = jx_ctx_text(jx_plan_ctx(p));

    jx_buffer_puts(&text, permutes ? "a permutation of " : "a collective of ");
    jx_aval_print(jx_atom_aval(eqn->ins[0]), &text);
    return jx_arena_take(p->arena, &text);
}

static bool plan_meeting(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                         jx_slot *outs)
{
    const jx_comm *comm = p->options->comm;
    bool permutes = eqn->prim->id == JX_PRIM_stablehlo_collective_permute,
         swaps = eqn->prim->id == JX_PRIM_stablehlo_all_to_all;
    jx_groups groups = jx_collective_groups(eqn);
    int count = permutes ? comm->count : groups.at[0].count;
    const jx_value *number = jx_eqn_param(eqn, "channel_id");
    jx_slot mine = jx_plan_dense(p, &ins[0]);
    meeting m = {.comm = comm, .source = -1, .target = -1};
    size_t unit = jx_dtype_of(mine.dtype)->bytes;
    int64_t whole;

    outs[0] = jx_plan_output(p, eqn, 0);
    m.bytes = (size_t)jx_slot_count(&mine) * unit;
    whole = jx_slot_count(swaps ? &mine : &outs[0]);
    m.at = (jx_meeting){
        .what = named(p, eqn, permutes),
        .place = jx_plan_user_place(p),
        .number = number ? number->integer : 0,
        .count = count,
        .members = members_of(p, permutes ? NULL : &groups.at[0], count),
        .parts = !permutes && whole % count ? parts_of(p, whole, count, unit)
                                            : NULL};
    if (!m.at.what || !m.at.place || !m.at.members ||
        (!permutes && whole % count && !m.at.parts))
        return jx_plan_starved(p);
    for (int i = 0; permutes && i < groups.count; i++) {
        if (groups.at[i].at[1] == comm->rank)
            m.source = (int)groups.at[i].at[0];
        if (groups.at[i].at[0] == comm->rank)
            m.target = (int)groups.at[i].at[1];
    }
    m.together = swaps ? comm->swap : number ? comm->gather : comm->collect;
    if (swaps)
        m.bytes /= (size_t)count;
    jx_plan_op(p, permutes ? run_permute : run_together, &m, sizeof m, 1, &mine,
               1, outs, 0);
    jx_plan_acts(p);
    return true;
}

/* What devices_ranks.c leaves. */
static bool is_meeting(const jx_planner *p, const jx_eqn *eqn)
{
    return p->options->comm &&
           (eqn->prim->id == JX_PRIM_stablehlo_collective_permute ||
            ((eqn->prim->id == JX_PRIM_stablehlo_all_gather ||
              eqn->prim->id == JX_PRIM_stablehlo_all_to_all) &&
             eqn->nins == 1 && jx_collective_groups(eqn).count == 1));
}

/* ---- in one process */

/* Outside of such a computation there is one device, which gets what it gives;
 * unless the module is for more. */
bool jx_plan_collective(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    bool permutes = eqn->prim->id == JX_PRIM_stablehlo_collective_permute;
    jx_groups groups = jx_collective_groups(eqn);

    if (is_meeting(p, eqn))
        return plan_meeting(p, eqn, ins, outs);
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
