/* rounds.c - see lost_parts.h: equations whose results are taken as they
 * were computed. */
#include "runtime/witness/lost_parts.h"

#include "frontend/ir/params.h"

#include <math.h>

/* Both are one variable, or one number, moves and conversions passed by. */
static bool same_value(const jx_origins *of, jx_atom a, jx_atom b)
{
    const jx_eqn *x, *y;
    double c, d;

    if (a.var && a.var == b.var)
        return true;
    if (jx_origin_number(of, a, &c) && jx_origin_number(of, b, &d))
        return c == d;
    x = jx_origin_eqn(of, a);
    y = jx_origin_eqn(of, b);
    return x && x == y;
}

/* A number that is added to round: 2^n or 3 2^n, and large for its dtype; what
 * is lost beside any other number is lost. */
static bool may_round(const jx_origins *of, jx_atom c)
{
    double value, part;
    int exponent,
        digits = jx_dtype_of(jx_atom_aval(c)->dtype)->bits == 64 ? 53 : 24;

    if (!jx_origin_number(of, c, &value))
        return true;
    part = fabs(frexp(value, &exponent));
    return (part == 0.5 || part == 0.75) && exponent > digits / 2;
}

/* (x + c) - c, t - (t - x): what is left is what rounding took, which
 * its author wants. */
static bool is_idiom(const jx_origins *of, const jx_eqn *eqn)
{
    const jx_eqn *left, *right;

    if (eqn->prim->id != JX_PRIM_sub)
        return false;
    left = jx_origin_eqn(of, eqn->ins[0]);
    right = jx_origin_eqn(of, eqn->ins[1]);
    if (left && may_round(of, eqn->ins[1]) &&
        (left->prim->id == JX_PRIM_add || left->prim->id == JX_PRIM_sub) &&
        (same_value(of, left->ins[0], eqn->ins[1]) ||
         (left->prim->id == JX_PRIM_add &&
          same_value(of, left->ins[1], eqn->ins[1]))))
        return true;
    return right && right->prim->id == JX_PRIM_sub &&
           same_value(of, right->ins[0], eqn->ins[0]);
}

static bool narrows(const jx_eqn *eqn)
{
    return eqn->nins == 1 && eqn->nouts == 1 &&
           jx_dtype_is_narrower(eqn->outs[0]->aval->dtype,
                                jx_atom_aval(eqn->ins[0])->dtype);
}

bool jx_eqn_rounds(const jx_origins *of, const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_convert_element_type: return narrows(eqn);
    case JX_PRIM_reduce_precision:
    case JX_PRIM_bitcast_convert_type:
    case JX_PRIM_nextafter:
    /* They jump: a little before may be much behind. */
    case JX_PRIM_floor:
    case JX_PRIM_ceil:
    case JX_PRIM_round:
    case JX_PRIM_sign:
    case JX_PRIM_rem:
    /* They have several answers, or draw them. */
    case JX_PRIM_eigh:
    case JX_PRIM_eig:
    case JX_PRIM_svd:
    case JX_PRIM_schur:
    case JX_PRIM_hessenberg:
    case JX_PRIM_stablehlo_custom_call:
    case JX_PRIM_rng_uniform:
    case JX_PRIM_random_gamma:
    case JX_PRIM_top_k:
    case JX_PRIM_approx_top_k: return true;
    case JX_PRIM_sort: return eqn->nins > 1;
    default: return is_idiom(of, eqn);
    }
}
