/* collective.c - collectives outside of a computation that many devices run: those
 * inside are written out before anything is planned (analyzer/transform/devices.h). */
#include "analyzer/transform/devices.h"
#include "runtime/plan_impl.h"
#include "runtime/plan_rules.h"

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

/* Outside of such a computation there is one device, which gets what it gives;
 * unless the module is for more. */
bool jx_plan_collective(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                        jx_slot *outs)
{
    bool permutes = eqn->prim->id == JX_PRIM_stablehlo_collective_permute;
    jx_groups groups = jx_collective_groups(eqn);
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
