/* plan_rules.h - declares the plan rules: jx_plan_<plan> of prims.def. */
#ifndef JX_PLAN_RULES_H
#define JX_PLAN_RULES_H

#include "runtime/kernel.h"

#define PRIM(id, name, nins, nouts, params, type, plan, ...)                   \
    jx_plan_rule jx_plan_##plan;
#include "frontend/ir/prims.def"
#undef PRIM

#endif
