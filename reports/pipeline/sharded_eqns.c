/* sharded_eqns.c - what single equations do in a program for many devices;
 * see sharded.h. */
#include "analyzer/collective.h"
#include "analyzer/lint/places.h"
#include "reports/pipeline/sharded.h"

bool jx_is_backward(const jx_eqn *eqn)
{
    return jx_place_is_backward(eqn, NULL);
}

bool jx_reduces_devices(const jx_eqn *eqn)
{
    jx_collective_kind kind = jx_collective_kind_of(eqn);

    return kind == JX_COLLECTIVE_REDUCE || kind == JX_COLLECTIVE_SCATTER;
}

bool jx_permutes_devices(const jx_eqn *eqn)
{
    return jx_collective_kind_of(eqn) == JX_COLLECTIVE_PERMUTE;
}

bool jx_gathers_devices(const jx_eqn *eqn)
{
    jx_collective_kind kind = jx_collective_kind_of(eqn);

    return kind == JX_COLLECTIVE_GATHER || kind == JX_COLLECTIVE_EXCHANGE;
}

bool jx_exchanges_devices(const jx_eqn *eqn)
{
    return jx_collective_kind_of(eqn) == JX_COLLECTIVE_EXCHANGE;
}

bool jx_moves_blocks(const jx_eqn *eqn)
{
    return jx_gathers_devices(eqn) ||
           jx_collective_kind_of(eqn) == JX_COLLECTIVE_SCATTER;
}

bool jx_numbers_devices(const jx_eqn *eqn)
{
    return jx_collective_kind_of(eqn) == JX_COLLECTIVE_NUMBER;
}

bool jx_spreads(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_sdy_manual_computation ||
           eqn->prim->id == JX_PRIM_shard_map;
}

bool jx_reduces_alone(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_reduce_sum ||
           eqn->prim->id == JX_PRIM_reduce_max ||
           eqn->prim->id == JX_PRIM_reduce_min ||
           eqn->prim->id == JX_PRIM_dot_general ||
           eqn->prim->id == JX_PRIM_scatter_add;
}

bool jx_masks_floats(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_select_n &&
           jx_dtype_is_float(eqn->outs[0]->aval->dtype);
}

bool jx_gathers_integers(const jx_eqn *eqn)
{
    return jx_gathers_devices(eqn) &&
           jx_dtype_is_integer(eqn->outs[0]->aval->dtype);
}

bool jx_counts_elements(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_iota || eqn->prim->id == JX_PRIM_top_k ||
           eqn->prim->id == JX_PRIM_argmax || eqn->prim->id == JX_PRIM_argmin;
}

bool jx_moves_integers(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_add || eqn->prim->id == JX_PRIM_sub) &&
           jx_dtype_is_integer(eqn->outs[0]->aval->dtype);
}

bool jx_is_index(const jx_eqn *eqn)
{
    const jx_aval *of = eqn->nins ? jx_atom_aval(eqn->ins[0]) : NULL;

    return of && !of->rank && jx_dtype_is_integer(of->dtype) &&
           (jx_moves_integers(eqn) || eqn->prim->id == JX_PRIM_eq ||
            eqn->prim->id == JX_PRIM_ge || eqn->prim->id == JX_PRIM_gt ||
            eqn->prim->id == JX_PRIM_le || eqn->prim->id == JX_PRIM_lt);
}

bool jx_makes_integers(const jx_eqn *eqn)
{
    jx_dtype dtype = eqn->nouts == 1 ? eqn->outs[0]->aval->dtype : JX_F32;

    return (jx_dtype_is_integer(dtype) || dtype == JX_BOOL) &&
           !jx_is_collective(eqn);
}

bool jx_multiplies_integers(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_mul && !eqn->outs[0]->aval->rank &&
           jx_dtype_is_integer(eqn->outs[0]->aval->dtype) &&
           !eqn->ins[0].var != !eqn->ins[1].var;
}

bool jx_scales_floats(const jx_eqn *eqn)
{
    jx_prim_id prim = eqn->prim->id;

    if (!eqn->nouts || !jx_dtype_is_float(eqn->outs[0]->aval->dtype))
        return false;
    return prim == JX_PRIM_broadcast_in_dim
               ? !eqn->ins[0].var
               : (prim == JX_PRIM_mul || prim == JX_PRIM_div) &&
                     !eqn->ins[0].var != !eqn->ins[1].var;
}

/* ---- where something may be sent that is not */

static bool makes_floats(const jx_eqn *eqn)
{
    return eqn->nouts == 1 && jx_dtype_is_float(eqn->outs[0]->aval->dtype);
}

bool jx_slices_floats(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_slice && makes_floats(eqn);
}

bool jx_takes_part(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_slice ||
            eqn->prim->id == JX_PRIM_dynamic_slice) &&
           eqn->nouts == 1;
}

bool jx_has_edges(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_pad ||
            eqn->prim->id == JX_PRIM_concatenate) &&
           makes_floats(eqn);
}

bool jx_adds_up(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_cumsum ||
            eqn->prim->id == JX_PRIM_cumprod ||
            eqn->prim->id == JX_PRIM_cummax ||
            eqn->prim->id == JX_PRIM_cummin ||
            eqn->prim->id == JX_PRIM_reduce_window) &&
           eqn->nouts == 1;
}

bool jx_reshapes(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_reshape && makes_floats(eqn) &&
           eqn->outs[0]->aval->rank + jx_atom_aval(eqn->ins[0])->rank > 3;
}

bool jx_compares_integers(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_lt || eqn->prim->id == JX_PRIM_le ||
            eqn->prim->id == JX_PRIM_gt || eqn->prim->id == JX_PRIM_ge) &&
           jx_dtype_is_integer(jx_atom_aval(eqn->ins[0])->dtype);
}

bool jx_goes_in_turns(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while;
}

bool jx_chooses_or_multiplies(const jx_eqn *eqn)
{
    return (eqn->prim->id == JX_PRIM_dot_general ||
            eqn->prim->id == JX_PRIM_select_n) &&
           makes_floats(eqn);
}

bool jx_adds_numbers(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_add && makes_floats(eqn) &&
           !eqn->outs[0]->aval->rank;
}

bool jx_joins_floats(const jx_eqn *eqn)
{
    return eqn->nins > 1 && makes_floats(eqn) && !jx_is_collective(eqn);
}

bool jx_makes_blocks(const jx_eqn *eqn)
{
    return makes_floats(eqn) && eqn->outs[0]->aval->rank > 1 &&
           !jx_is_collective(eqn);
}
