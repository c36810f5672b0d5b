/* map.c - a computation on scalars, for every element. */
#include "runtime/kernels/shapes.h"
#include "runtime/plan_rules.h"

#include <stdlib.h>
#include <string.h>

typedef struct mapping {
    int block, n;
} mapping;

/* Outputs: the result, the computation's operands and what it gives. */
static bool run_map(jx_run *run, const void *data, const jx_view *ins,
                    const jx_view *outs, void *scratch)
{
    const mapping *m = data;
    const jx_view *slots = outs + 1, *result = slots + m->n;
    size_t size = jx_dtype_of(outs[0].dtype)->bytes;

    (void)scratch;
    for (int64_t i = 0; i < outs[0].count; i++) {
        for (int k = 0; k < m->n; k++) {
            size_t item = jx_dtype_of(ins[k].dtype)->bytes;
            memcpy(slots[k].data, ins[k].data + (size_t)i * item, item);
        }
        if (!jx_run_block(run, m->block))
            return false;
        memcpy(outs[0].data + (size_t)i * size, result->data, size);
    }
    return true;
}

static bool plan_map(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                     jx_slot *outs, jx_slot *args)
{
    const jx_p_stablehlo_map *params = eqn->typed;
    mapping m = {.n = eqn->nins};
    jx_slot *all = args + m.n;

    outs[0] = all[0] = jx_plan_output(p, eqn, 0);
    for (int i = 0; i < m.n; i++) {
        args[i] = jx_plan_dense(p, &ins[i]);
        all[1 + i] = jx_plan_new(p, ins[i].dtype, 0, NULL);
        if (!jx_same_shape(&ins[i], &outs[0]))
            return jx_plan_fail(p, "operand %d has another shape", i);
    }
    m.block = jx_plan_body(p, &params->computation, all + 1, &all[1 + m.n]);
    if (all[1 + m.n].rank != 0 || all[1 + m.n].dtype != outs[0].dtype)
        return jx_plan_fail(p, "the computation gives something else");
    if (jx_slot_count(&outs[0]) > 0)
        jx_plan_block_op(p, run_map, &m, sizeof m, m.n, args, m.n + 2, all, 0,
                         m.block, 1);
    return true;
}

bool jx_plan_stablehlo_map(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                           jx_slot *outs)
{
    const jx_p_stablehlo_map *params = eqn->typed;

    if (eqn->nins < 1 || params->computation.jaxpr->nins != eqn->nins ||
        params->computation.jaxpr->nouts != 1)
        return jx_plan_fail(p, "the computation takes other operands");
    jx_slot *args = malloc((2 * (size_t)eqn->nins + 2) * sizeof *args);
    bool ok = args && plan_map(p, eqn, ins, outs, args);
    free(args);
    return ok || jx_plan_starved(p);
}
