/* asked.c - what may be asked of an equation, whether its rule answers or not.
 *
 * A proof holds for all of the program, so an equation of which nobody says
 * that its indices fit, or that its integers do, is one that may break it. */
#include "analyzer/values/values_parts.h"

static bool takes_indices(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_unknown:
    case JX_PRIM_gather:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_dynamic_update_slice:
    case JX_PRIM_get:
    case JX_PRIM_swap:
    case JX_PRIM_addupdate:
    case JX_PRIM_ragged_all_to_all:
    case JX_PRIM_stablehlo_ragged_all_to_all:
    case JX_PRIM_call_exported:
    case JX_PRIM_stablehlo_scatter: return true;
    default: return jx_prim_in_family(eqn->prim->id, "scatter");
    }
}

/* Its rule bounds what it gives by what it takes: integers that fit already. */
static bool gives_what_it_takes(jx_prim_id id)
{
    static jx_bound_rule *const rules[] = {
        jx_bound_moves,
        jx_bound_same,
        jx_bound_any_of,
        jx_bound_select_n,
        jx_bound_clamp,
        jx_bound_max,
        jx_bound_min,
        jx_bound_logic,
        jx_bound_reduce_logic,
        jx_bound_reduce_max,
        jx_bound_window_max,
        jx_bound_top_k,
        jx_bound_gather,
        jx_bound_dynamic_slice,
        jx_bound_dynamic_update_slice,
        jx_bound_scatter,
        jx_bound_rng_uniform,
        jx_bound_dim_as_value,
        jx_bound_dimension_size,
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (jx_bound_rule_of(id) == rules[i])
            return true;
    return false;
}

/* What integers it gives are some that it takes, bits, or numbers of places:
 * they fit.  Sizes are no concern of this (IDX004). */
static bool gives_what_fits(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_not:
    case JX_PRIM_reduce_xor:
    case JX_PRIM_shift_right_logical:
    case JX_PRIM_shift_right_arithmetic:
    case JX_PRIM_mulhi:
    case JX_PRIM_bitcast_convert_type:
    case JX_PRIM_approx_top_k:
    case JX_PRIM_stablehlo_sort:
    case JX_PRIM_stablehlo_scatter: /* but for its body */
    case JX_PRIM_broadcast_to:
    case JX_PRIM_empty:
    case JX_PRIM_empty2:
    case JX_PRIM_iota_2x32_shape:
    case JX_PRIM_lu:
    case JX_PRIM_lu_pivots_to_permutation:
    case JX_PRIM_platform_index:
    /* from one device to another */
    case JX_PRIM_pvary:
    case JX_PRIM_pmax:
    case JX_PRIM_pmin:
    case JX_PRIM_axis_index:
    case JX_PRIM_ppermute:
    case JX_PRIM_pbroadcast:
    case JX_PRIM_all_gather:
    case JX_PRIM_all_gather_invariant:
    case JX_PRIM_all_to_all:
    case JX_PRIM_ragged_all_to_all:
    case JX_PRIM_stablehlo_ragged_all_to_all:
    case JX_PRIM_stablehlo_all_gather:
    case JX_PRIM_stablehlo_all_to_all:
    case JX_PRIM_stablehlo_collective_permute:
    case JX_PRIM_stablehlo_collective_broadcast:
    case JX_PRIM_stablehlo_partition_id:
    case JX_PRIM_stablehlo_replica_id:
    /* references */
    case JX_PRIM_new_ref:
    case JX_PRIM_empty_ref:
    case JX_PRIM_free_ref:
    case JX_PRIM_freeze:
    case JX_PRIM_get:
    case JX_PRIM_swap:
    /* bits that are drawn */
    case JX_PRIM_random_seed:
    case JX_PRIM_random_wrap:
    case JX_PRIM_random_unwrap:
    case JX_PRIM_random_bits:
    case JX_PRIM_random_split:
    case JX_PRIM_random_fold_in:
    case JX_PRIM_random_clone:
    case JX_PRIM_threefry2x32:
    case JX_PRIM_rng_bit_generator:
    case JX_PRIM_stablehlo_rng:
    /* what runs elsewhere gives what it says */
    case JX_PRIM_pure_callback:
    case JX_PRIM_io_callback:
    case JX_PRIM_stablehlo_custom_call: return true;
    default: return gives_what_it_takes(id);
    }
}

static bool makes_integers(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_aval *aval = eqn->outs[i]->aval;
        if (aval->kind == JX_AVAL_ARRAY && jx_dtype_is_integer(aval->dtype))
            return !gives_what_fits(eqn->prim->id);
    }
    return eqn->prim->id == JX_PRIM_addupdate;
}

static bool is_asked(jx_valuing *in, const jx_eqn *eqn, jx_asked what);

/* Whether something within is asked, of a jaxpr that stands anywhere
 * in a parameter. */
static bool is_asked_within(jx_valuing *in, const jx_value *value,
                            jx_asked what)
{
    for (int i = 0; value && i < value->count; i++)
        if (is_asked_within(in, value->items[i], what))
            return true;
    for (int i = 0; value && value->jaxpr && i < value->jaxpr->neqns; i++)
        if (is_asked(in, &value->jaxpr->eqns[i], what))
            return true;
    return value && value->definition;
}

static bool has_one_that_is_asked(jx_valuing *in, const jx_eqn *eqn,
                                  jx_asked what)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (is_asked_within(in, eqn->params[i].value, what))
            return true;
    return false;
}

enum { MOST_LOOKED = 16 * JX_EXTENTS_BUDGET };

/* Jaxprs that call each other twice are met many times; what is not looked
 * at may be asked. */
static bool is_asked(jx_valuing *in, const jx_eqn *eqn, jx_asked what)
{
    return ++in->looked > MOST_LOOKED ||
           (what == JX_ASKED_IN_BOUNDS ? takes_indices(eqn)
                                       : makes_integers(eqn)) ||
           has_one_that_is_asked(in, eqn, what);
}

void jx_bound_answer_rest(jx_bounding *t)
{
    static const jx_asked all[] = {JX_ASKED_IN_BOUNDS, JX_ASKED_NO_WRAP};

    for (size_t i = 0;
         i < sizeof all / sizeof *all && t->in->recording && !t->walked; i++)
        if (!(t->answered & 1u << all[i]) && is_asked(t->in, t->eqn, all[i]))
            jx_bound_answer(t, all[i], false, jx_extent_none(),
                            jx_extent_none());
}
