/* cost_rules.h - what one equation costs beside the jaxprs that it runs; the
 * column `cost` of prims.def names the rule. */
#ifndef JX_COST_RULES_H
#define JX_COST_RULES_H

#include "frontend/ir/params.h"

typedef struct jx_costing {
    jx_dims *dims;
    const jx_eqn *eqn;
    const jx_dim *flops, *transcendentals; /* 0 if the rule leaves them */
    /* each of its jaxprs is run; 1 if the rule leaves it */
    const jx_dim *often;
    bool body;      /* its jaxprs combine elements: they move no arrays */
    bool uncounted; /* no formula */
} jx_costing;

typedef void jx_cost_rule(jx_costing *c);

#define PRIM(id, name, nins, nouts, params, type, plan, cost, ...)             \
    jx_cost_rule jx_cost_##cost;
#include "frontend/ir/prims.def"
#undef PRIM

jx_cost_rule *jx_cost_rule_of(jx_prim_id id);

#endif
