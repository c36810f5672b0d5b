/* compiled.c - see values_parts.h: bounds of what XLA makes of equations, by
 * the rows of analyzer/transform/xla.def.  A row may apply or not: its bound
 * joins that of the equation as it is written. */
#include "analyzer/values/values_parts.h"

#include <math.h>

typedef struct compiling {
    jx_bounding *t;
    jx_extenting *how;
} compiling;

/* What made an operand, by that primitive; NULL: another did. */
static const jx_made *made_by(const compiling *c, const jx_known *value,
                              jx_prim_id prim)
{
    const jx_made *made = jx_valuing_made(c->t->in, value);

    return made->eqn && made->eqn->prim->id == prim ? made : NULL;
}

static jx_extent operand(const compiling *c, int i)
{
    return c->t->ins[i].is;
}

static bool called(const compiling *c, jx_prim_id prim, jx_extent of,
                   jx_extent *to)
{
    return jx_extent_function(c->how, prim, of, to);
}

/* The exponent of what is, or is made to be, an exponential: of products,
 * quotients and powers of such, too. */
static bool exponent_of(const compiling *c, const jx_known *value, int depth,
                        jx_extent *to)
{
    const jx_made *made = jx_valuing_made(c->t->in, value);
    jx_extent a, b;

    if (!made->eqn || depth == 0)
        return false;
    switch ((int)made->eqn->prim->id) {
    case JX_PRIM_exp: *to = made->ins[0].is; return true;
    case JX_PRIM_mul:
    case JX_PRIM_div:
        if (!exponent_of(c, &made->ins[0], depth - 1, &a) ||
            !exponent_of(c, &made->ins[1], depth - 1, &b))
            return false;
        *to = made->eqn->prim->id == JX_PRIM_mul ? jx_extent_add(c->how, a, b)
                                                 : jx_extent_sub(c->how, a, b);
        return true;
    case JX_PRIM_pow:
        if (!exponent_of(c, &made->ins[0], depth - 1, &a))
            return false;
        *to = jx_extent_mul(c->how, a, made->ins[1].is);
        return true;
    default: return false;
    }
}

enum { CHAIN = 4 };

/* One number; a subnormal one may be 0 as well. */
static bool is_number(const compiling *c, jx_extent x)
{
    double normal = jx_extent_normal(c->how->dtype);

    return jx_extent_is_one(x) ||
           (!x.nan && x.lo <= x.hi && fmax(fabs(x.lo), fabs(x.hi)) < normal);
}

/* Numbers may be put together over several sums: each rounding is a part
 * of the largest. */
static jx_extent loosened(const compiling *c, jx_extent to, jx_extent x,
                          double a, double b)
{
    double size = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(x.lo), fabs(x.hi)));
    double slack = isfinite(size) ? 4 * jx_ulp_of(c->how->dtype, size) : 0;

    to.lo -= slack;
    to.hi += slack;
    return to;
}

/* x + c or c - x of numbers c and d; d is added. */
static bool regrouped(const compiling *c, const jx_known *of, jx_extent d,
                      jx_prim_id prim, jx_extent *to)
{
    const jx_made *inner = made_by(c, of, prim);

    for (int i = 0; inner && i < 2; i++) {
        jx_extent number = inner->ins[i].is, x = inner->ins[1 - i].is;
        if (!is_number(c, number))
            continue;
        if (prim == JX_PRIM_mul)
            *to = jx_extent_mul(c->how, x, jx_extent_mul(c->how, number, d));
        else if (prim == JX_PRIM_add)
            *to = jx_extent_add(c->how, x, jx_extent_add(c->how, number, d));
        else if (i == 0)
            *to = jx_extent_sub(c->how, jx_extent_add(c->how, number, d), x);
        else
            *to = jx_extent_add(c->how, x, jx_extent_sub(c->how, d, number));
        *to = prim == JX_PRIM_mul ? jx_extent_loosen(c->how, *to, 4)
                                  : loosened(c, *to, x, number.lo, d.lo);
        return true;
    }
    return false;
}

static bool regrouped_side(const compiling *c, jx_prim_id prim, jx_extent *to)
{
    jx_extent other;
    bool found = false;

    for (int i = 0; i < 2; i++) {
        if (!is_number(c, operand(c, 1 - i)) ||
            !regrouped(c, &c->t->ins[i], operand(c, 1 - i), prim, &other))
            continue;
        *to = found ? jx_extent_join(*to, other) : other;
        found = true;
    }
    return found;
}

static bool sum_of_sum(const compiling *c, jx_extent *to)
{
    return regrouped_side(c, JX_PRIM_add, to);
}

static bool sum_of_difference(const compiling *c, jx_extent *to)
{
    return regrouped_side(c, JX_PRIM_sub, to);
}

static bool difference_of_sum(const compiling *c, jx_extent *to)
{
    jx_extent d;

    if (!is_number(c, operand(c, 1)))
        return false;
    d = jx_extent_neg(c->how, operand(c, 1));
    return regrouped(c, &c->t->ins[0], d, JX_PRIM_add, to) ||
           regrouped(c, &c->t->ins[0], d, JX_PRIM_sub, to);
}

static bool product_of_product(const compiling *c, jx_extent *to)
{
    return regrouped_side(c, JX_PRIM_mul, to);
}

static bool exp_times_exp(const compiling *c, jx_extent *to)
{
    jx_extent a, b;

    return exponent_of(c, &c->t->ins[0], CHAIN, &a) &&
           exponent_of(c, &c->t->ins[1], CHAIN, &b) &&
           called(c, JX_PRIM_exp, jx_extent_add(c->how, a, b), to);
}

static bool masked_product(const compiling *c, jx_extent *to)
{
    for (int i = 0; i < 2; i++) {
        const jx_made *mask =
            made_by(c, &c->t->ins[i], JX_PRIM_convert_element_type);
        if (!mask || jx_atom_aval(mask->eqn->ins[0])->dtype != JX_BOOL)
            continue;
        *to = jx_extent_join(operand(c, 1 - i), jx_extent_of(0));
        return true;
    }
    return false;
}

/* What is divided by what. */
typedef struct fraction {
    jx_extent over, under;
} fraction;

static bool fraction_of(const compiling *c, const jx_known *value, int depth,
                        fraction *to);

/* x / y, whichever of the two becomes, or has become, a fraction. */
static bool divided(const compiling *c, const jx_known *x, const jx_known *y,
                    int depth, fraction *to)
{
    fraction a, b;
    bool above = fraction_of(c, x, depth, &a),
         below = fraction_of(c, y, depth, &b);
    jx_extent one = jx_extent_of(1);

    *to = (fraction){x->is, y->is};
    if (above)
        to->over = jx_extent_join(x->is, a.over);
    if (below)
        to->under = jx_extent_join(y->is, b.over);
    if (below)
        to->over =
            jx_extent_mul(c->how, to->over, jx_extent_join(one, b.under));
    if (above)
        to->under =
            jx_extent_mul(c->how, to->under, jx_extent_join(one, a.under));
    return above || below;
}

static bool fraction_of(const compiling *c, const jx_known *value, int depth,
                        fraction *to)
{
    const jx_made *made = depth > 0 ? made_by(c, value, JX_PRIM_div) : NULL;

    if (made)
        divided(c, &made->ins[0], &made->ins[1], depth - 1, to);
    return made != NULL;
}

static bool quotient_of_quotient(const compiling *c, jx_extent *to)
{
    fraction f;

    if (!divided(c, &c->t->ins[0], &c->t->ins[1], CHAIN, &f))
        return false;
    *to = jx_extent_div(c->how, f.over, f.under);
    return true;
}

static bool quotient_by_quotient(const compiling *c, jx_extent *to)
{
    return quotient_of_quotient(c, to);
}

static bool quotient_by_exp(const compiling *c, jx_extent *to)
{
    jx_extent a, b, power, whole;

    if (!exponent_of(c, &c->t->ins[1], CHAIN, &b) ||
        !called(c, JX_PRIM_exp, jx_extent_neg(c->how, b), &power))
        return false;
    *to = jx_extent_mul(c->how, operand(c, 0), power);
    /* exp(x) / exp(y) goes on to be exp(x - y). */
    if (exponent_of(c, &c->t->ins[0], CHAIN, &a) &&
        called(c, JX_PRIM_exp, jx_extent_sub(c->how, a, b), &whole))
        *to = jx_extent_join(*to, whole);
    return true;
}

static bool quotient_by_root(const compiling *c, jx_extent *to)
{
    const jx_made *inner = made_by(c, &c->t->ins[1], JX_PRIM_sqrt);
    jx_extent root;

    if (!inner || !called(c, JX_PRIM_rsqrt, inner->ins[0].is, &root))
        return false;
    *to = jx_extent_mul(c->how, operand(c, 0), root);
    return true;
}

static bool quotient_by_power(const compiling *c, jx_extent *to)
{
    const jx_made *inner = made_by(c, &c->t->ins[1], JX_PRIM_pow);

    if (!inner)
        return false;
    *to =
        jx_extent_mul(c->how, operand(c, 0),
                      jx_extent_power(c->how, inner->ins[0].is,
                                      jx_extent_neg(c->how, inner->ins[1].is)));
    return true;
}

static bool quotient_by_number(const compiling *c, jx_extent *to)
{
    if (!is_number(c, operand(c, 1)))
        return false;
    *to = jx_extent_mul(c->how, operand(c, 0),
                        jx_extent_div(c->how, jx_extent_of(1), operand(c, 1)));
    return true;
}

static bool log_of_exp(const compiling *c, jx_extent *to)
{
    return exponent_of(c, &c->t->ins[0], CHAIN, to);
}

static bool log_of_root(const compiling *c, jx_extent *to)
{
    const jx_made *inner = made_by(c, &c->t->ins[0], JX_PRIM_sqrt);
    jx_extent logs;

    if (!inner || !called(c, JX_PRIM_log, inner->ins[0].is, &logs))
        return false;
    *to = jx_extent_mul(c->how, logs, jx_extent_of(0.5));
    return true;
}

static bool log_of_power(const compiling *c, jx_extent *to)
{
    const jx_made *inner = made_by(c, &c->t->ins[0], JX_PRIM_pow);
    jx_extent logs;

    if (!inner ||
        !called(c, JX_PRIM_log, jx_extent_abs(c->how, inner->ins[0].is), &logs))
        return false;
    *to = jx_extent_join(jx_extent_mul(c->how, logs, inner->ins[1].is),
                         jx_extent_of(0));
    return true;
}

static bool power_of_exp(const compiling *c, jx_extent *to)
{
    jx_extent a;

    return exponent_of(c, &c->t->ins[0], CHAIN, &a) &&
           called(c, JX_PRIM_exp, jx_extent_mul(c->how, a, operand(c, 1)), to);
}

static bool root_of_square(const compiling *c, jx_extent *to)
{
    const jx_made *product = made_by(c, &c->t->ins[0], JX_PRIM_mul);
    const jx_made *square = made_by(c, &c->t->ins[0], JX_PRIM_square);

    if (product && product->ins[0].number != product->ins[1].number)
        product = NULL;
    if (product || square)
        *to = jx_extent_abs(c->how, (product ? product : square)->ins[0].is);
    return product || square;
}

typedef struct row {
    jx_prim_id prim;
    bool (*bound)(const compiling *c, jx_extent *to);
} row;

static const row rows[] = {
#define XLA(name, prim, until, was, now) {JX_PRIM_##prim, name},
#include "analyzer/transform/xla.def"
#undef XLA
};

bool jx_bound_compiled(jx_bounding *t, jx_extenting *how, jx_extent *is)
{
    const compiling c = {t, how};
    bool found = false;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        jx_extent to;
        if (rows[i].prim != t->eqn->prim->id || !rows[i].bound(&c, &to))
            continue;
        *is = found ? jx_extent_join(*is, to) : to;
        found = true;
    }
    return found;
}
