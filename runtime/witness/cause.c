/* cause.c - see parts.h: which code says why a result is not finite. */
#include "runtime/witness/parts.h"

#include "frontend/ir/params.h"
#include "runtime/elementwise.h"

#include <math.h>
#include <string.h>

/* -- what a choice makes zero -------------------------------------------------
 *
 * Backwards, the arm of a `where` that was not chosen has cotangents
 * that are zero, and these are multiplied by derivatives, which need not
 * be finite there. */

typedef struct masks {
    const jx_origins *of;
    bool backward; /* within a loop or branch that goes backward */
    jx_map masked;
    jx_map *absorbing; /* by operand */
    JX_VEC(const jx_eqn *) choices;
} masks;

static bool is_backward(const jx_eqn *eqn)
{
    return eqn->name_stack && strstr(eqn->name_stack, "transpose(");
}

/* The number that all elements are, if the program says one; else NaN. */
static double number_of(const jx_origins *of, jx_atom atom)
{
    double value;

    return jx_origin_number(of, atom, &value) ? value : NAN;
}

static bool is_masked(const masks *m, jx_atom atom)
{
    return atom.var && jx_map_has(&m->masked, atom.var);
}

static bool chooses_zero(const masks *m, const jx_eqn *eqn)
{
    bool zero = false, varies = false;

    for (int i = 1; i < eqn->nins; i++) {
        double number = number_of(m->of, eqn->ins[i]);
        zero |= number == 0;
        varies |= isnan(number);
    }
    return zero && (varies || m->backward || is_backward(eqn));
}

static bool passes_on(masks *m, const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_div: return is_masked(m, eqn->ins[0]);
    case JX_PRIM_select_n:
        if (chooses_zero(m, eqn)) {
            JX_PUSH(m->masked.arena, &m->choices, eqn);
            return true;
        }
        break;
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_add_any:
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_cumsum:
    case JX_PRIM_dot_general:
    case JX_PRIM_scatter_add: break;
    default:
        if (!jx_eqn_moves(eqn))
            return false;
    }
    for (int i = 0; i < eqn->nins; i++)
        if (is_masked(m, eqn->ins[i]))
            return true;
    return false;
}

static void mask(masks *m, const jx_var *var)
{
    jx_map_add(&m->masked, var);
}

static void look_through(masks *m, const jx_jaxpr *jaxpr);

static void look_inside(masks *m, const jx_eqn *eqn)
{
    bool outside = m->backward;

    m->backward |= is_backward(eqn);
    for (int k = 0; k < jx_bodies_of(eqn); k++) {
        const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
        for (int i = 0; body && i < body->nins; i++) {
            const jx_var *in = body->vars[body->nconsts + i];
            const jx_origin *origin = jx_map_get(&m->of->of, in);
            if (origin && is_masked(m, origin->given))
                mask(m, in);
        }
        if (body)
            look_through(m, body);
        for (int i = 0; body && i < body->nouts && i < eqn->nouts; i++)
            if (is_masked(m, body->outs[i]))
                mask(m, eqn->outs[i]);
    }
    m->backward = outside;
}

static void look_through(masks *m, const jx_jaxpr *jaxpr)
{
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool quotient = eqn->prim->id == JX_PRIM_div;
        look_inside(m, eqn);
        if (!passes_on(m, eqn))
            continue;
        for (int k = 0; k < eqn->nouts; k++)
            mask(m, eqn->outs[k]);
        for (int k = 0; k < 2 && (quotient || eqn->prim->id == JX_PRIM_mul);
             k++)
            if (is_masked(m, eqn->ins[k]) && !(quotient && k))
                jx_map_add(&m->absorbing[k], eqn);
    }
}

static bool any_backward(const jx_jaxpr *jaxpr)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (is_backward(eqn))
            return true;
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            if (any_backward(jx_body_of(eqn, k)->jaxpr))
                return true;
    }
    return false;
}

void jx_hunt_look_backward(jx_hunt *h)
{
    masks m = {.of = &h->origins, .absorbing = h->absorbing};

    h->gradient = h->options->nseeds || any_backward(h->program->entry.jaxpr);
    if (!h->gradient)
        return;
    jx_map_init(&m.masked, h->program->ctx->arena);
    for (int k = 0; k < 2; k++)
        jx_map_init(&h->absorbing[k], h->program->ctx->arena);
    look_through(&m, h->program->entry.jaxpr);
    h->nchoices = (int)m.choices.count;
    h->choices = m.choices.at;
}

bool jx_hunt_absorbs(const jx_hunt *h)
{
    return h->absorbing[0].count || h->absorbing[1].count;
}

bool jx_hunt_is_masked_elsewhere(const jx_hunt *h, const jx_eqn *eqn)
{
    for (int i = 0; i < h->nchoices; i++)
        if (!jx_eqns_are_one(&h->origins, h->choices[i], eqn))
            return true;
    return false;
}

static bool takes(int count, const jx_atom *atoms, const jx_eqn *eqn)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; atoms[i].var && k < eqn->nouts; k++)
            if (atoms[i].var == eqn->outs[k])
                return true;
    return false;
}

enum { FACTORS = 8 };

/* A product with what does not depend on the inputs, as n of n x**(n - 1), or
 * with -1. */
static bool is_multiple(const jx_origins *of, const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_neg ||
           (eqn->prim->id == JX_PRIM_mul &&
            jx_origin_varies(of, eqn->ins[0]) !=
                jx_origin_varies(of, eqn->ins[1]));
}

/* Nothing takes its results, nor `factors` multiples of them, but what
 * goes backward. */
static bool only_backward_takes(const jx_hunt *h, const jx_jaxpr *jaxpr,
                                const jx_eqn *eqn, int factors)
{
    if (!jaxpr)
        return true;
    if (takes(jaxpr->nouts, jaxpr->outs, eqn))
        return false;
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *user = &jaxpr->eqns[i];
        if (takes(user->nins, user->ins, eqn) && !is_backward(user) &&
            !(factors && is_multiple(&h->origins, user) &&
              only_backward_takes(h, h->program->entry.jaxpr, user,
                                  factors - 1)))
            return false;
        for (int k = 0; k < jx_bodies_of(user); k++)
            if (!only_backward_takes(h, jx_body_of(user, k)->jaxpr, eqn,
                                     factors))
                return false;
    }
    return true;
}

bool jx_hunt_is_slope(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_jaxpr *entry = h->program->entry.jaxpr;

    for (int i = 0; h->gradient && i < h->nroots; i++) {
        const jx_eqn *root = h->roots[i].eqn;
        bool forward =
            !is_backward(root) && !only_backward_takes(h, entry, root, FACTORS);
        /* What comes of one that goes forward has no value, and is
         * no root itself. */
        if (forward ||
            (is_backward(root) && jx_eqns_are_one(&h->origins, root, eqn)))
            return false;
    }
    return h->gradient && !is_backward(eqn) &&
           only_backward_takes(h, entry, eqn, FACTORS);
}

/* -- codes ----------------------------------------------------------------- */

/* All is finite there once zeros that a choice made stay zeros. */
static bool is_trap(jx_hunt *h, int out, int nothers,
                    const jx_eqn *const *others)
{
    jx_unfinite found;
    bool is;

    if (!jx_hunt_absorbs(h) || !jx_hunt_run(h, true, nothers, others))
        return false;
    is = !jx_port_find_unfinite(jx_plan_out(h->run.plan, out),
                                jx_exec_out(h->run.exec, out), &found);
    jx_hunt_run(h, false, nothers, others); /* as it was */
    return is;
}

/* A quotient by a square root, or a power. */
static bool may_slope(const jx_origins *of, const jx_eqn *eqn)
{
    const jx_eqn *root = NULL;

    if (eqn->prim->id == JX_PRIM_pow)
        return true;
    if (eqn->prim->id == JX_PRIM_div)
        root = jx_origin_eqn(of, eqn->ins[1]);
    return root && root->prim->id == JX_PRIM_sqrt;
}

/* One half over a square root is that root's derivative; a root's that is a
 * power is one between -1 and 0. */
bool jx_hunt_is_slope_of_root(const jx_hunt *h, const jx_unfinite *made)
{
    const jx_eqn *eqn = made->eqn;
    double base = 1, power = 0;

    if (!may_slope(&h->origins, eqn))
        return false;
    if (eqn->prim->id == JX_PRIM_pow && made->noperands == 2) {
        jx_convert(made->operands[0].dtype, JX_F64, made->operands[0].bits,
                   &base, 1);
        jx_convert(made->operands[1].dtype, JX_F64, made->operands[1].bits,
                   &power, 1);
    }
    if (eqn->prim->id == JX_PRIM_pow)
        return h->gradient && base == 0 && power < 0 && power > -1;
    base = number_of(&h->origins, eqn->ins[0]);
    return h->gradient ? !isnan(base) : base == .5;
}

/* A power that is too large, of a base that is not 0. */
static bool is_large_power(const jx_unfinite *made)
{
    double base = 0, value = 0;

    if (made->noperands == 0 || (made->eqn->prim->id != JX_PRIM_pow &&
                                 made->eqn->prim->id != JX_PRIM_integer_pow))
        return false;
    jx_convert(made->operands[0].dtype, JX_F64, made->operands[0].bits, &base,
               1);
    jx_convert(made->value.dtype, JX_F64, made->value.bits, &value, 1);
    return base != 0 && isinf(value);
}

/* It is made of an infinity that the program says itself: no other
 * was made before. */
static bool is_of_infinity(const jx_hunt *h, const jx_unfinite *root)
{
    for (int i = 0; i < h->watch->nroots; i++)
        if (h->watch->roots[i].eqn == root->eqn)
            return false;
    return root->eqn == h->watch->nan.eqn;
}

jx_code jx_witness_code(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_log:
    case JX_PRIM_log2:
    case JX_PRIM_log1p:
    case JX_PRIM_sqrt:
    case JX_PRIM_rsqrt:
    case JX_PRIM_div:
    case JX_PRIM_rem:
    case JX_PRIM_pow:
    case JX_PRIM_integer_pow:
    case JX_PRIM_acos:
    case JX_PRIM_asin:
    case JX_PRIM_acosh:
    case JX_PRIM_atanh:
    case JX_PRIM_stablehlo_custom_call:
    case JX_PRIM_cholesky:
    case JX_PRIM_lu:
    case JX_PRIM_triangular_solve:
    case JX_PRIM_tridiagonal_solve:
    case JX_PRIM_digamma:
    case JX_PRIM_lgamma:
    case JX_PRIM_polygamma:
    case JX_PRIM_zeta:
    case JX_PRIM_erf_inv: return JX_CODE_NUM001;
    default: return JX_CODE_NUM004;
    }
}

jx_code jx_hunt_code(jx_hunt *h, const jx_unfinite *root, int out, int nothers,
                     const jx_eqn *const *others)
{
    const jx_eqn *eqn = root->eqn;
    bool declared = is_of_infinity(h, root);

    if (is_trap(h, out, nothers, others))
        return JX_CODE_NUM002;
    if (jx_hunt_is_slope_of_root(h, root))
        return JX_CODE_NUM003;
    if (declared)
        return JX_CODE_NUM009;
    if (is_large_power(root))
        return JX_CODE_NUM004;
    return jx_witness_code(eqn->prim->id);
}

/* -- what nobody asked for ------------------------------------------------ */

/* A NaN that it says itself makes none of infinities. */
static bool is_infinite(const jx_literal *number)
{
    jx_dtype dtype = number->aval->dtype;
    double parts[2] = {0};

    if (jx_dtype_is_inexact(dtype))
        jx_convert(dtype, jx_dtype_is_complex(dtype) ? JX_C128 : JX_F64,
                   number->bits, parts, 1);
    return isinf(parts[0]) || isinf(parts[1]);
}

static bool may_hold_infinities(const jx_array *array)
{
    jx_dtype dtype = array->aval->dtype;

    return jx_dtype_is_inexact(dtype) &&
           !(array->data &&
             jx_finite_at_sight(
                 dtype, array->data,
                 (int64_t)(array->bytes / jx_dtype_of(dtype)->bytes)));
}

static bool may_take_infinities(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nins; i++) {
        const jx_literal *is = eqn->ins[i].var ? NULL : eqn->ins[i].literal;
        if (is && !is->dim &&
            (is->array ? may_hold_infinities(is->array) : is_infinite(is)))
            return true;
    }
    return false;
}

/* Whether an equation is such that a gradient may be told of. */
typedef bool telling(const jx_origins *of, const jx_eqn *eqn);

static bool may_tell(const jx_closed *in, telling *is, const jx_origins *of)
{
    for (int i = 0; i < in->nconsts; i++)
        if (!in->consts || may_hold_infinities(in->consts[i]))
            return true;
    for (int i = 0; in->jaxpr && i < in->jaxpr->neqns; i++) {
        const jx_eqn *eqn = &in->jaxpr->eqns[i];
        if (is(of, eqn) || may_take_infinities(eqn))
            return true;
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            if (may_tell(jx_body_of(eqn, k), is, of))
                return true;
    }
    return false;
}

bool jx_hunt_may_tell(const jx_hunt *h)
{
    return !h->options->unasked || !h->options->plain || jx_hunt_absorbs(h) ||
           may_tell(&h->program->entry, may_slope, &h->origins);
}

/* Its derivative may choose, or divide by roots: not so that of these, which
 * many programs are all made of. */
static bool is_rough(const jx_origins *of, const jx_eqn *eqn)
{
    (void)of;
    switch (eqn->prim->id) {
    case JX_PRIM_abs: /* a complex one is a root */
        return jx_dtype_is_complex(jx_atom_aval(eqn->ins[0])->dtype);
    case JX_PRIM_neg:
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_div:
    case JX_PRIM_exp:
    case JX_PRIM_expm1:
    case JX_PRIM_log:
    case JX_PRIM_log1p:
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_tanh:
    case JX_PRIM_erf:
    case JX_PRIM_logistic:
    case JX_PRIM_square:
    case JX_PRIM_integer_pow:
    case JX_PRIM_iota:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_dot_general:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_reshape:
    case JX_PRIM_squeeze:
    case JX_PRIM_transpose:
    case JX_PRIM_slice:
    case JX_PRIM_concatenate:
    case JX_PRIM_scan: return false;
    default: return true;
    }
}

bool jx_gradient_may_tell(const jx_program *program)
{
    return may_tell(&program->entry, is_rough, NULL);
}
