/* field_elementwise.c - see field.h. */
#include "frontend/ir/params.h"
#include "runtime/field/plane.h"

#include <math.h>

/* Primitives that are functions of cell.h. */
static bool known_function(jx_prim_id id, jx_cell_function *to)
{
    switch (id) {
    case JX_PRIM_exp: *to = JX_F_EXP; return true;
    case JX_PRIM_exp2: *to = JX_F_EXP2; return true;
    case JX_PRIM_expm1: *to = JX_F_EXPM1; return true;
    case JX_PRIM_log: *to = JX_F_LOG; return true;
    case JX_PRIM_log2: *to = JX_F_LOG2; return true;
    case JX_PRIM_log1p: *to = JX_F_LOG1P; return true;
    case JX_PRIM_logistic: *to = JX_F_LOGISTIC; return true;
    case JX_PRIM_sin: *to = JX_F_SIN; return true;
    case JX_PRIM_cos: *to = JX_F_COS; return true;
    case JX_PRIM_tan: *to = JX_F_TAN; return true;
    case JX_PRIM_sinh: *to = JX_F_SINH; return true;
    case JX_PRIM_cosh: *to = JX_F_COSH; return true;
    case JX_PRIM_tanh: *to = JX_F_TANH; return true;
    case JX_PRIM_sqrt: *to = JX_F_SQRT; return true;
    case JX_PRIM_rsqrt: *to = JX_F_RSQRT; return true;
    default: return false;
    }
}

/* Rounds to what its dtype has anyhow: JAX keeps values for later by it. */
static bool keeps_all(const jx_eqn *eqn, jx_dtype dtype)
{
    static const struct {
        jx_dtype dtype;
        int exponent, mantissa;
    } all[] = {
        {JX_F64, 11, 52}, {JX_F32, 8, 23}, {JX_BF16, 8, 7}, {JX_F16, 5, 10}};
    const jx_p_reduce_precision *p = eqn->typed;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].dtype == dtype)
            return p->exponent_bits >= all[i].exponent &&
                   p->mantissa_bits >= all[i].mantissa;
    return false;
}

/* Functions that are taken as they come, one number for each
 * list of arguments. */
static bool is_opaque(jx_prim_id id, bool *partial)
{
    *partial = false;
    switch (id) {
    case JX_PRIM_floor:
    case JX_PRIM_ceil:
    case JX_PRIM_round:
    case JX_PRIM_atan:
    case JX_PRIM_asinh:
    case JX_PRIM_cbrt:
    case JX_PRIM_erf:
    case JX_PRIM_bessel_i0e:
    case JX_PRIM_bessel_i1e:
    case JX_PRIM_reduce_precision:
    case JX_PRIM_nextafter: return true;
    case JX_PRIM_asin:
    case JX_PRIM_acos:
    case JX_PRIM_acosh:
    case JX_PRIM_atanh:
    case JX_PRIM_erf_inv:
    case JX_PRIM_lgamma:
    case JX_PRIM_digamma:
    case JX_PRIM_rem:
    case JX_PRIM_atan2:
    case JX_PRIM_igamma:
    case JX_PRIM_igammac:
    case JX_PRIM_igamma_grad_a:
    case JX_PRIM_random_gamma_grad:
    case JX_PRIM_zeta:
    case JX_PRIM_polygamma:
    case JX_PRIM_regularized_incomplete_beta: *partial = true; return true;
    default: return false;
    }
}

/* f(-x) is f(x) times that; 0: it need not be.  Odd ones are 0 at 0 alone. */
static int parity_of(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_atan:
    case JX_PRIM_asin:
    case JX_PRIM_asinh:
    case JX_PRIM_atanh:
    case JX_PRIM_cbrt:
    case JX_PRIM_erf:
    case JX_PRIM_erf_inv:
    case JX_PRIM_bessel_i1e: return -1;
    case JX_PRIM_bessel_i0e: return 1;
    default: return 0;
    }
}

/* A function that is even or odd, of a number or of its negative. */
static jx_cell with_parity(jx_field *f, jx_prim_id id, bool partial,
                           const jx_cell *x)
{
    bool odd = parity_of(id) < 0, flipped;
    jx_cell negative = jx_cell_neg(f, x), to;
    const jx_cell *of;

    if (odd && jx_cell_is_zero(x))
        return *x;
    jx_cell_key(f, 0, x, &flipped);
    of = flipped ? &negative : x;
    to = jx_cell_opaque(f, (uint64_t)id, partial, 1, &of);
    if (!odd)
        return to;
    to.zeros = jx_cell_zeros(f, x);
    return flipped ? jx_cell_neg(f, &to) : to;
}

/* Which function it is, by its parameters too. */
static uint64_t opaque_number(const jx_eqn *eqn)
{
    uint64_t id = (uint64_t)eqn->prim->id;

    if (eqn->prim->id == JX_PRIM_round)
        return jx_hash_mix(
            id, (uint64_t)((const jx_p_round *)eqn->typed)->rounding_method);
    if (eqn->prim->id == JX_PRIM_reduce_precision) {
        const jx_p_reduce_precision *p = eqn->typed;
        return jx_hash_mix(jx_hash_mix(id, (uint64_t)p->exponent_bits),
                           (uint64_t)p->mantissa_bits);
    }
    return id;
}

static bool compares(jx_prim_id id, jx_cell_order *order)
{
    switch (id) {
    case JX_PRIM_eq: *order = JX_IS_EQ; return true;
    case JX_PRIM_ne: *order = JX_IS_NE; return true;
    case JX_PRIM_lt: *order = JX_IS_LT; return true;
    case JX_PRIM_le: *order = JX_IS_LE; return true;
    case JX_PRIM_gt: *order = JX_IS_GT; return true;
    case JX_PRIM_ge: *order = JX_IS_GE; return true;
    default: return false;
    }
}

/* x == inf, and x > -inf. */
static bool asks_for_infinity(const jx_cell *a, const jx_cell *b)
{
    return (a->kind == JX_CELL_INFINITE && b->kind == JX_CELL_NUMBER) ||
           (b->kind == JX_CELL_INFINITE && a->kind == JX_CELL_NUMBER);
}

static jx_cell larger(jx_field *f, const jx_cell *a, const jx_cell *b,
                      bool larger)
{
    const jx_cell *both[] = {a, b};

    return f->sets_of_most ? jx_cell_most(f, larger, 2, both)
                           : jx_cell_larger(f, larger, a, b);
}

/* Of a boolean what the operation is of a pair of them: and, or, xor. */
static jx_cell boolean(jx_field *f, jx_prim_id id, const jx_cell *a,
                       const jx_cell *b)
{
    jx_cell na = jx_cell_not(f, a), nb = jx_cell_not(f, b), left, right;

    if (id == JX_PRIM_and)
        return jx_cell_and(f, a, b);
    if (id == JX_PRIM_or) {
        left = jx_cell_and(f, &na, &nb);
        return jx_cell_not(f, &left);
    }
    left = jx_cell_and(f, a, &nb); /* one of these holds at most */
    right = jx_cell_and(f, &na, b);
    return boolean(f, JX_PRIM_or, &left, &right);
}

/* Whether each number that it may be is one of the dtype's.  Of integers that
 * are not known JAX makes numbers of 32 bits as if they were real. */
static bool is_kept(jx_dtype from, jx_dtype to, const jx_cell *x)
{
    if (x->kind || !jx_dtype_is_float(to) || jx_dtype_holds(to, from))
        return true;
    if (fabs(x->about) <= jx_dtype_whole(to) && floor(x->about) == x->about)
        return true;
    return jx_dtype_is_integer(from) && isnan(x->about) &&
           jx_dtype_of(to)->bits >= 32;
}

/* A conversion that may round is a function of which nothing is known. */
static jx_cell convert(jx_field *f, jx_dtype from, jx_dtype to,
                       const jx_cell *x)
{
    jx_cell zero = jx_cell_integer(f, 0);

    if (to == JX_BOOL)
        return from == JX_BOOL ? *x : jx_cell_compare(f, JX_IS_NE, x, &zero);
    if (from == JX_BOOL)
        return jx_cell_number(f, x);
    if (is_kept(from, to, x))
        return *x;
    return jx_cell_opaque(f, JX_KIND_NARROWED + (uint64_t)to, false, 1, &x);
}

static jx_cell arithmetic(jx_field *f, const jx_eqn *eqn,
                          const jx_cell *const *x)
{
    jx_prim_id id = eqn->prim->id;
    jx_cell one = jx_cell_integer(f, 1), made;

    switch (id) {
    case JX_PRIM_add:
    case JX_PRIM_add_any: return jx_cell_add(f, x[0], x[1]);
    case JX_PRIM_sub: return jx_cell_sub(f, x[0], x[1]);
    case JX_PRIM_mul: return jx_cell_mul(f, x[0], x[1]);
    case JX_PRIM_div: return jx_cell_div(f, x[0], x[1]);
    case JX_PRIM_neg: return jx_cell_neg(f, x[0]);
    case JX_PRIM_square: return jx_cell_power(f, x[0], 2);
    case JX_PRIM_one_minus_square:
        made = jx_cell_power(f, x[0], 2);
        return jx_cell_sub(f, &one, &made);
    case JX_PRIM_integer_pow:
        return jx_cell_power(f, x[0],
                             ((const jx_p_integer_pow *)eqn->typed)->y);
    case JX_PRIM_pow: return jx_cell_raise(f, x[0], x[1]);
    case JX_PRIM_abs: return jx_cell_abs(f, x[0]);
    case JX_PRIM_sign: return jx_cell_sign(f, x[0]);
    case JX_PRIM_max: return larger(f, x[0], x[1], true);
    case JX_PRIM_min: return larger(f, x[0], x[1], false);
    case JX_PRIM_erfc: {
        jx_cell erf = x[0]->kind ? jx_cell_opaque(f, JX_PRIM_erf, false, 1, x)
                                 : with_parity(f, JX_PRIM_erf, false, x[0]);
        return jx_cell_sub(f, &one, &erf);
    }
    default: return jx_cell_unknown(f, NULL);
    }
}

static jx_cell element(jx_field *f, const jx_eqn *eqn,
                       const jx_field_value *ins, const jx_cell *const *x)
{
    jx_prim_id id = eqn->prim->id;
    jx_dtype from = ins[0].dtype, to = eqn->outs[0]->aval->dtype;
    jx_cell_function function;
    jx_cell_order order;
    bool partial;

    if (compares(id, &order)) {
        f->asks_for_nan |= asks_for_infinity(x[0], x[1]);
        return jx_cell_compare(f, order, x[0], x[1]);
    }
    if (id == JX_PRIM_select_n && eqn->nins == 3) {
        jx_cell made = jx_cell_select(f, x[0], x[1], x[2]);
        return to == JX_BOOL ? jx_cell_as_bool(made) : made;
    }
    if (id == JX_PRIM_convert_element_type)
        return convert(f, from, to, x[0]);
    if (id == JX_PRIM_is_finite)
        return x[0]->kind == JX_CELL_UNKNOWN
                   ? *x[0]
                   : jx_cell_depends(
                         f, jx_cell_bool(x[0]->kind == JX_CELL_NUMBER), x[0]);
    if (from == JX_BOOL && id == JX_PRIM_not)
        return jx_cell_not(f, x[0]);
    if (from == JX_BOOL &&
        (id == JX_PRIM_and || id == JX_PRIM_or || id == JX_PRIM_xor))
        return boolean(f, id, x[0], x[1]);
    if (from == JX_BOOL)
        return jx_cell_unknown(f, NULL);
    if (id == JX_PRIM_reduce_precision && keeps_all(eqn, from))
        return *x[0];
    if (known_function(id, &function))
        return jx_cell_apply(f, function, x[0]);
    if (is_opaque(id, &partial) && parity_of(id) && !x[0]->kind)
        return with_parity(f, id, partial, x[0]);
    if (is_opaque(id, &partial))
        return jx_cell_opaque(f, opaque_number(eqn), partial, eqn->nins, x);
    return arithmetic(f, eqn, x);
}

bool jx_field_stretches(const jx_field_value *x, const jx_field_value *out)
{
    for (int a = 0; x->count != 1 && a < out->rank; a++)
        if (x->rank != out->rank ||
            (x->shape[a] != out->shape[a] && x->shape[a] != 1))
            return false;
    return x->count == 1 || x->rank == out->rank;
}

int64_t jx_field_element_of(const jx_field_value *x, const jx_field_value *out,
                            int64_t i)
{
    int64_t to = 0, step = 1;

    if (x->count == out->count || x->count == 1)
        return x->count == 1 ? 0 : i;
    for (int a = out->rank - 1; a >= 0; i /= out->shape[a--]) {
        to += x->shape[a] == 1 ? 0 : i % out->shape[a] * step;
        step *= x->shape[a];
    }
    return to;
}

/* In two steps, so that the comparisons of both have colours of their own. */
static bool clamp(jx_field *f, const jx_field_value *ins, jx_field_value *out)
{
    for (int i = 0; i < 3; i++)
        if (!ins[i].cells && !ins[i].plane)
            return false;
    for (int turn = 0; turn < 2; turn++) {
        const jx_field_value *bound = &ins[turn ? 2 : 0],
                             *x = turn ? out : &ins[1];
        f->colour = -1;
        for (int64_t i = 0; i < jx_field_stored(out) && !f->spent; i++) {
            jx_cell a = jx_plane_element(x, i);
            jx_cell b = jx_plane_element(bound, bound->count == 1 ? 0 : i);
            a = larger(f, &a, &b, !turn);
            jx_plane_put(f, out, i, &a);
        }
    }
    return true;
}

/* x != x, and isfinite. */
static bool asks_for_nan(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_is_finite ||
           ((eqn->prim->id == JX_PRIM_eq || eqn->prim->id == JX_PRIM_ne) &&
            eqn->ins[0].var && eqn->ins[0].var == eqn->ins[1].var);
}

bool jx_field_elementwise(jx_field *f, const jx_eqn *eqn,
                          const jx_field_value *ins, jx_field_value *out)
{
    enum { MOST = 8 };
    const jx_cell *x[MOST];
    jx_cell at[MOST];

    if (eqn->nins > MOST || eqn->nouts != 1 || (!out->cells && !out->plane))
        return false;
    if (eqn->prim->id == JX_PRIM_clamp)
        return clamp(f, ins, out);
    f->asks_for_nan |= asks_for_nan(eqn);
    for (int k = 0; k < eqn->nins; k++)
        if ((!ins[k].cells && !ins[k].plane) ||
            !jx_field_stretches(&ins[k], out))
            return false;
    for (int64_t i = 0; i < jx_field_stored(out) && !f->spent; i++) {
        for (int k = 0; k < eqn->nins; k++) {
            int64_t of =
                ins[k].splat ? 0 : jx_field_element_of(&ins[k], out, i);
            if (ins[k].cells) {
                x[k] = &ins[k].cells[of];
                continue;
            }
            at[k] = jx_plane_get(&ins[k], of);
            x[k] = &at[k];
        }
        jx_cell made = element(f, eqn, ins, x);
        jx_plane_put(f, out, i, &made);
    }
    return true;
}
