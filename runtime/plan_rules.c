/* plan_rules.c - the plan rule of each primitive: the column
 * `plan` of prims.def. */
#include "runtime/plan_rules.h"

#define jx_plan_none NULL

/* Rules that do not exist yet; whoever writes one removes its line. */
/* kernels of linear algebra and the like */

jx_plan_rule *jx_plan_rule_of(jx_prim_id id)
{
    static jx_plan_rule *const rules[JX_NPRIMS] = {
#define PRIM(id, name, nins, nouts, params, type, plan, ...)                   \
    [JX_PRIM_##id] = jx_plan_##plan,
#include "frontend/ir/prims.def"
#undef PRIM
    };
    return id > JX_PRIM_unknown && id < JX_NPRIMS ? rules[id] : NULL;
}
