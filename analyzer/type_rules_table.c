/* type_rules_table.c - which primitive has which type rule. */
#include "analyzer/type_rules.h"

static jx_type_rule *const rules[JX_NPRIMS] = {
#define PRIM(id, name, nins, nouts, params, type, plan, ...)                   \
    [JX_PRIM_##id] = jx_type_##type,
#include "frontend/ir/prims.def"
#undef PRIM
};

jx_type_rule *jx_type_rule_of(jx_prim_id id)
{
    return id > JX_PRIM_unknown && id < JX_NPRIMS ? rules[id] : NULL;
}

bool jx_type_rule_takes_any(jx_type_rule *rule)
{
    static jx_type_rule *const any[] = {
        jx_type_same,       jx_type_same_all,      jx_type_call,
        jx_type_custom_jvp, jx_type_custom_vjp,    jx_type_hi_call,
        jx_type_cond,       jx_type_while,         jx_type_scan,
        jx_type_add_any,    jx_type_call_exported, jx_type_observed,
        jx_type_stateful,
    };

    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (any[i] == rule)
            return true;
    return false;
}
