/* plan_pairs.c - see plan_pairs.h. */
#include "runtime/plan_pairs.h"

#include "runtime/elementwise.h"
#include "runtime/noise.h"
#include "runtime/plan_rules.h"

static bool has_pairs(const jx_eqn *eqn, const jx_slot *ins)
{
    for (int i = 0; i < eqn->nins; i++)
        if (ins[i].dtype == JX_F64X2)
            return true;
    for (int i = 0; i < eqn->nouts; i++)
        if (eqn->outs[i]->aval->dtype == JX_F64)
            return true;
    return false;
}

/* It moves elements, whatever they are, or runs equations that are
 * asked themselves. */
static bool is_made_for_any(jx_plan_rule *rule)
{
    static jx_plan_rule *const any[] = {jx_plan_identity,
                                        jx_plan_view,
                                        jx_plan_reshape,
                                        jx_plan_pad,
                                        jx_plan_concatenate,
                                        jx_plan_stack,
                                        jx_plan_unstack,
                                        jx_plan_split,
                                        jx_plan_tile,
                                        jx_plan_empty,
                                        jx_plan_dynamic_slice,
                                        jx_plan_dynamic_update_slice,
                                        jx_plan_gather,
                                        jx_plan_call,
                                        jx_plan_custom_linear_solve,
                                        jx_plan_cond,
                                        jx_plan_while,
                                        jx_plan_scan,
                                        jx_plan_pass,
                                        jx_plan_sink,
                                        jx_plan_stablehlo_map,
                                        jx_plan_stablehlo_scatter};

    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (any[i] == rule)
            return true;
    return false;
}

/* Its kernel has a form for pairs. */
static bool has_form(jx_plan_rule *rule)
{
    static jx_plan_rule *const forms[] = {jx_plan_reduce,
                                          jx_plan_reduce_general,
                                          jx_plan_arg_reduce,
                                          jx_plan_scatter,
                                          jx_plan_dot_general,
                                          jx_plan_conv,
                                          jx_plan_sort,
                                          jx_plan_stablehlo_sort,
                                          jx_plan_reduce_window,
                                          jx_plan_reduce_window_monoid,
                                          jx_plan_select_and_scatter_add};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i] == rule)
            return true;
    return false;
}

static bool has_tile(jx_prim_id prim)
{
    switch (prim) {
    case JX_PRIM_convert_element_type:
    case JX_PRIM_reduce_precision: /* which a plan of wide numbers leaves out */
    case JX_PRIM_select_n:
    case JX_PRIM_exp2:
    case JX_PRIM_log2:
    case JX_PRIM_one_minus_square:
    case JX_PRIM_polynomial: return true;
    default: return jx_tile_of(prim, JX_F64X2) != NULL;
    }
}

static bool is_made_for_pairs(const jx_eqn *eqn)
{
    jx_plan_rule *rule = jx_plan_rule_of(eqn->prim->id);

    if (rule == jx_plan_elementwise)
        return has_tile(eqn->prim->id);
    if (rule == jx_plan_cumulative)
        return eqn->prim->id != JX_PRIM_cumlogsumexp;
    return is_made_for_any(rule) || has_form(rule);
}

bool jx_pairs_take(const jx_eqn *eqn, const jx_slot *ins)
{
    return !has_pairs(eqn, ins) || is_made_for_pairs(eqn);
}

bool jx_pairs_round(const jx_eqn *eqn)
{
    return eqn->nouts > 0 && eqn->outs[0]->aval->dtype == JX_F64 &&
           jx_prim_is_noisy(eqn->prim->id) && !is_made_for_pairs(eqn);
}
