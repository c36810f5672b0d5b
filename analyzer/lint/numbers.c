/* numbers.c - what is done with numbers that cannot mean what it says, or loses
 * digits that a function of its own keeps. */
#include "analyzer/lint/int_ranges.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/base/plain.h"
#include "frontend/ir/element.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"

#include <math.h>
#include <string.h>

enum { LARGEST_UNIT = 1024 }; /* of a unit matrix in an array */

typedef struct numbers {
    jx_linter *lint;
    const jx_flat *flat;
} numbers;

static jx_dtype dtype_of(const numbers *k, int value)
{
    return k->flat->values.at[value].aval->dtype;
}

static bool is_number(const numbers *k, int value, double number)
{
    double found;

    return jx_number_of(k->flat, value, &found) && found == number;
}

static bool is_written(const numbers *k, const jx_flat_node *node)
{
    return jx_place_is_written(k->lint->program, node->eqn, node->calls) &&
           !jx_place_is_backward(node->eqn, node->calls);
}

/* -- NUM006, NUM007: comparisons ------------------------------------------- */

static void look_at_nan(numbers *k, const jx_flat_node *node)
{
    double number;
    jx_claim *claim;

    for (int i = 0; i < 2; i++) {
        if (!jx_dtype_is_float(dtype_of(k, node->ins[i])) ||
            !jx_number_of(k->flat, node->ins[i], &number) || !isnan(number))
            continue;
        claim = jx_lint_claim(
            k->lint, JX_CODE_NUM006, node,
            jx_arena_printf(
                k->lint->ctx->arena,
                "`%s` with NaN is always %s: NaN is not equal to itself, "
                "nor less nor more than anything",
                jx_eqn_name(node->eqn),
                node->eqn->prim->id == JX_PRIM_ne ? "true" : "false"));
        if (claim)
            claim->help = "jnp.isnan tells NaN";
        return;
    }
}

/* A number that arithmetic may well give: a small whole number of halves,
 * quarters, ..., or an infinity. */
static bool is_exact(double number)
{
    int exponent;

    if (!isfinite(number) || number == 0)
        return true;
    return frexp(number, &exponent) * 4096 ==
           floor(frexp(number, &exponent) * 4096);
}

/* Some of the elements of what it is compared with, or whole numbers. */
static bool is_choice(const numbers *k, int value)
{
    const jx_flat_node *node = jx_maker(k->flat, jx_shown(k->flat, value));

    switch (node ? node->eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
    case JX_PRIM_cummax:
    case JX_PRIM_cummin:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_clamp:
    case JX_PRIM_sort:
    case JX_PRIM_top_k:
    case JX_PRIM_gather:
    case JX_PRIM_dynamic_slice:
    case JX_PRIM_round:
    case JX_PRIM_floor:
    case JX_PRIM_ceil:
    case JX_PRIM_sign:
    case JX_PRIM_reduce_window_max:
    case JX_PRIM_reduce_window_min: return true;
    case JX_PRIM_convert_element_type:
        return !jx_dtype_is_float(dtype_of(k, node->ins[0]));
    default: return false;
    }
}

static void look_at_equality(numbers *k, const jx_flat_node *node)
{
    int a = node->ins[0], b = node->ins[1];
    double number;
    jx_claim *claim;

    if (!jx_dtype_is_float(dtype_of(k, a)) || !is_written(k, node) ||
        jx_place_is_derivative(node->eqn, node->calls) ||
        jx_plain(k->flat, a) == jx_plain(k->flat, b) || is_choice(k, a) ||
        is_choice(k, b))
        return;
    for (int i = 0; i < 2; i++)
        if (jx_number_of(k->flat, node->ins[i], &number) &&
            (isnan(number) || is_exact(number)))
            return;
    claim = jx_lint_suspect(
        k->lint, JX_CODE_NUM007, node,
        "floats that are computed are compared for equality: they "
        "differ by roundings");
    if (claim)
        claim->help = "compare with a tolerance (jnp.isclose)";
}

/* -- NUM008: functions that keep the digits -------------------------------- */

static const jx_flat_node *made_by(const numbers *k, int value, jx_prim_id id)
{
    const jx_flat_node *node = jx_maker(k->flat, jx_plain(k->flat, value));

    return node && node->eqn->prim->id == id ? node : NULL;
}

static void tell_function(numbers *k, const jx_flat_node *node,
                          const char *what, const char *help)
{
    jx_claim *claim = jx_lint_suspect(k->lint, JX_CODE_NUM008, node, what);

    if (claim)
        claim->help = help;
}

static void look_at_difference(numbers *k, const jx_flat_node *node)
{
    bool adds = node->eqn->prim->id == JX_PRIM_add;

    for (int i = 0; i < 2; i++)
        if (is_number(k, node->ins[i], adds ? -1 : 1) &&
            made_by(k, node->ins[1 - i], JX_PRIM_exp) && is_written(k, node)) {
            tell_function(
                k, node,
                "the difference of an exponential and 1 loses all digits near "
                "0",
                "jnp.expm1(x) is exp(x) - 1");
            return;
        }
}

static void look_at_logarithm(numbers *k, const jx_flat_node *node)
{
    const jx_flat_node *sum = made_by(k, node->ins[0], JX_PRIM_add);
    const jx_flat_node *difference = made_by(k, node->ins[0], JX_PRIM_sub);

    if (!is_written(k, node) || !k->flat->values.at[node->ins[0]].varies)
        return;
    for (int i = 0; i < 2; i++)
        if ((sum && is_number(k, sum->ins[i], 1)) ||
            (difference && is_number(k, difference->ins[i], i == 0 ? 1 : -1))) {
            bool softplus = sum && made_by(k, sum->ins[1 - i], JX_PRIM_exp);
            tell_function(
                k, node,
                "the logarithm of what is added to 1 loses all digits of it "
                "near 0",
                softplus ? "jax.nn.softplus(x) is log(1 + exp(x)), and does "
                           "not overflow"
                         : "jnp.log1p(x) is log(1 + x)");
            return;
        }
}

/* -- NUM010: constants that their dtype does not hold ---------------------- */

/* The least number of full precision. */
static double least_normal(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F16: return 0x1p-14;
    case JX_BF16:
    case JX_F32: return 0x1p-126;
    case JX_F64: return 0x1p-1022;
    default: return 0;
    }
}

/* The largest number; 0: it is not looked at. */
static double largest(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F16: return 65504;
    case JX_BF16: return 0x1.fep127;
    case JX_F32: return 0x1.fffffep127;
    default: return INFINITY;
    }
}

/* As an element of the dtype, where half a unit beyond the
 * largest is infinite. */
static double rounded(jx_dtype dtype, double number)
{
    unsigned char bits[16] = {0};
    double most = largest(dtype);

    if (fabs(number) >= most * (1 + ldexp(1, -jx_digits(dtype) - 1)))
        return number > 0 ? INFINITY : -INFINITY;
    jx_element_from_real(dtype, number, bits);
    return jx_element_real(dtype, bits);
}

static void tell_constant(numbers *k, const jx_flat_node *node, double number,
                          jx_dtype dtype)
{
    double held = rounded(dtype, number);
    jx_claim *claim = jx_lint_claim(
        k->lint, JX_CODE_NUM010, node,
        jx_arena_printf(k->lint->ctx->arena, "%g is %s in %s", number,
                        isinf(held) ? (held > 0 ? "infinite" : "-infinite")
                        : held == 0
                            ? "0"
                            : "subnormal, and flushed to 0 by some platforms,",
                        jx_dtype_of(dtype)->name));

    if (claim)
        claim->help = jx_arena_printf(k->lint->ctx->arena,
                                      "the least number of full precision is "
                                      "%g: jnp.finfo(x.dtype) says so "
                                      "(tiny, max, eps)",
                                      least_normal(dtype));
}

static bool is_lost(double number, jx_dtype dtype)
{
    double held = rounded(dtype, number);

    /* The least number of all is meant to be that. */
    return number != 0 && isfinite(number) &&
           (isinf(held) ||
            (fabs(held) < least_normal(dtype) &&
             fabs(held) != ldexp(least_normal(dtype), 1 - jx_digits(dtype))));
}

static bool starts_number(const char *text, const char *at)
{
    return (*at >= '0' && *at <= '9') &&
           (at == text || !(at[-1] == '_' || at[-1] == '.' ||
                            (at[-1] >= '0' && at[-1] <= '9') ||
                            (at[-1] >= 'a' && at[-1] <= 'z') ||
                            (at[-1] >= 'A' && at[-1] <= 'Z')));
}

/* A number that is written in the equation's part of its line, and of which its
 * dtype makes `held`. */
static bool is_spelt(const jx_flat_node *node, jx_dtype dtype, double held,
                     double *number)
{
    const jx_frame *frame = jx_place_frame(node->eqn, node->calls);
    const char *line = NULL, *end;

    for (int i = 0; frame && i < frame->file->nlines; i++)
        if (frame->file->lines[i].number == frame->line)
            line = frame->file->lines[i].text;
    if (!line || frame->column < 0 || frame->end_line != frame->line ||
        frame->end_column < frame->column ||
        strlen(line) < (size_t)frame->end_column)
        return false;
    end = line + frame->end_column;
    for (const char *at = line + frame->column; at < end;) {
        char *after;
        if (!starts_number(line, at)) {
            at++;
            continue;
        }
        *number = jx_strtod(at, &after);
        at = after > at ? after : at + 1;
        if (after <= end && *number != 0 && isfinite(*number) &&
            rounded(dtype, *number) == fabs(held))
            return true;
    }
    return false;
}

static void look_at_constants(numbers *k, const jx_flat_node *node)
{
    double number;

    for (int i = 0; i < node->nins; i++) {
        const jx_flat_value *v = &k->flat->values.at[node->ins[i]];
        jx_dtype dtype = v->aval->dtype;
        if (!v->literal || v->literal->array || !jx_dtype_is_float(dtype) ||
            !jx_is_asked_for(k->lint->program, node, i) ||
            !jx_number_of(k->flat, node->ins[i], &number) || isnan(number))
            continue;
        if (node->eqn->prim->id == JX_PRIM_convert_element_type &&
            dtype_of(k, node->outs[0]) != dtype) {
            jx_dtype to = dtype_of(k, node->outs[0]);
            if (!jx_dtype_is_float(to) || !is_lost(number, to))
                continue;
            tell_constant(k, node, number, to);
            return;
        }
        if (is_lost(number, dtype)) {
            tell_constant(k, node, number, dtype);
            return;
        }
        if ((number == 0 || isinf(number)) &&
            is_spelt(node, dtype, number, &number)) {
            tell_constant(k, node, number, dtype);
            return;
        }
    }
}

/* -- NUM011: an epsilon that is lost --------------------------------------- */

static double low(const numbers *k, int value, int depth);

/* What made a value, before it was converted. */
static const jx_flat_node *converted(const numbers *k, int value)
{
    const jx_flat_node *node = jx_maker(k->flat, jx_shown(k->flat, value));

    while (node && node->eqn->prim->id == JX_PRIM_convert_element_type)
        node = jx_maker(k->flat, jx_shown(k->flat, node->ins[0]));
    return node;
}

static double low_of_sum(const numbers *k, const jx_flat_node *node, int depth)
{
    const jx_flat_node *exp = converted(k, node->ins[0]);
    const jx_flat_node *shift =
        exp && exp->eqn->prim->id == JX_PRIM_exp
            ? jx_maker(k->flat, jx_shown(k->flat, exp->ins[0]))
            : NULL;
    const jx_flat_node *most =
        shift && shift->eqn->prim->id == JX_PRIM_sub
            ? jx_maker(k->flat, jx_shown(k->flat, shift->ins[1]))
            : NULL;
    double least = low(k, node->ins[0], depth + 1);
    bool symbolic;
    const jx_p_axes *p = node->eqn->typed;
    int64_t terms =
        p ? jx_reduced(k->flat, k->flat->values.at[node->ins[0]].aval,
                       p->axes.count, p->axes.at, &symbolic)
          : 0;

    /* Of exponentials of x - max(x): one of them is 1. */
    if (most && most->eqn->prim->id == JX_PRIM_reduce_max &&
        jx_shown(k->flat, most->ins[0]) == jx_shown(k->flat, shift->ins[0]))
        return 1;
    return least >= 0 ? least * (double)terms : -INFINITY;
}

static double low_of_input(const numbers *k, const jx_flat_value *v)
{
    double least, most;

    return v->input >= 0 && !v->level && !v->inside &&
                   jx_range_at(k->flat->program, v->input, 0, NULL, &least,
                               &most)
               ? least
               : -INFINITY;
}

/* It gives numbers between -1 and 1. */
static bool is_within_one(const jx_flat_node *node)
{
    switch (node ? node->eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_tanh:
    case JX_PRIM_erf:
    case JX_PRIM_logistic: return true;
    default: return false;
    }
}

/* The least of what is chosen from; NaN is above all, since it stays NaN. */
static double low_of_choice(const numbers *k, const jx_flat_node *node,
                            int depth)
{
    const jx_flat_node *test = jx_maker(k->flat, node->ins[0]);
    double least = INFINITY, number;
    int count = node->nins;

    if (count == 3 && test && test->eqn->prim->id == JX_PRIM_ne &&
        test->ins[0] == test->ins[1])
        count = 2; /* the other one is for NaN */
    for (int i = 1; i < count; i++)
        if (!jx_number_of(k->flat, node->ins[i], &number) || !isnan(number))
            least = fmin(least, low(k, node->ins[i], depth + 1));
    return least < INFINITY ? least : -INFINITY;
}

/* A number that all elements reach; -inf where nothing says one. */
static double low(const numbers *k, int value, int depth)
{
    const jx_flat_node *node;
    double number, a, b;

    value = jx_shown(k->flat, value);
    node = jx_maker(k->flat, value);
    if (jx_number_of(k->flat, value, &number))
        return isnan(number) ? -INFINITY : number;
    if (k->lint->ranges[value].known)
        return (double)k->lint->ranges[value].low;
    if (!node)
        return low_of_input(k, &k->flat->values.at[value]);
    if (depth > 12 || !node->nins)
        return -INFINITY;
    a = low(k, node->ins[0], depth + 1);
    switch (node->eqn->prim->id) {
    case JX_PRIM_convert_element_type:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min: return a;
    case JX_PRIM_exp:
    case JX_PRIM_exp2: return a >= 0 ? 1 : 0;
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_tanh:
    case JX_PRIM_erf: return -1;
    case JX_PRIM_sub:
        if (jx_number_of(k->flat, node->ins[1], &number))
            return isnan(number) ? -INFINITY : a - number;
        return is_within_one(jx_maker(k->flat, jx_shown(k->flat, node->ins[1])))
                   ? a - 1
                   : -INFINITY;
    case JX_PRIM_div:
        b = low(k, node->ins[1], depth + 1);
        return a >= 0 && b > 0 ? 0 : -INFINITY;
    case JX_PRIM_log1p: return a >= 0 ? log1p(a) : -INFINITY;
    case JX_PRIM_select_n: return low_of_choice(k, node, depth);
    case JX_PRIM_cosh: return 1;
    case JX_PRIM_logistic: return 0;
    case JX_PRIM_abs: return a > 0 ? a : 0;
    case JX_PRIM_square: return a > 0 ? a * a : 0;
    case JX_PRIM_integer_pow:
        return node->eqn->typed &&
                       ((const jx_p_integer_pow *)node->eqn->typed)->y % 2 == 0
                   ? 0
                   : -INFINITY;
    case JX_PRIM_sqrt: return a > 0 ? sqrt(a) : 0;
    case JX_PRIM_reduce_sum: return low_of_sum(k, node, depth);
    case JX_PRIM_add: b = low(k, node->ins[1], depth + 1); return a + b;
    case JX_PRIM_mul:
        if (jx_plain(k->flat, node->ins[0]) == jx_plain(k->flat, node->ins[1]))
            return a > 0 ? a * a : 0;
        b = low(k, node->ins[1], depth + 1);
        return a >= 0 && b >= 0 ? a * b : -INFINITY;
    case JX_PRIM_max: b = low(k, node->ins[1], depth + 1); return a > b ? a : b;
    default: return -INFINITY;
    }
}

static void look_at_epsilon(numbers *k, const jx_flat_node *node)
{
    jx_dtype dtype = dtype_of(k, node->outs[0]);
    double epsilon, least;
    jx_claim *claim;

    for (int i = 0; i < 2; i++) {
        if (!jx_number_of(k->flat, node->ins[i], &epsilon) || epsilon == 0 ||
            fabs(epsilon) > 1e-2 || !jx_digits(dtype) ||
            k->flat->values.at[node->ins[1 - i]].varies == false)
            continue;
        least = low(k, node->ins[1 - i], 0);
        if (!(least > 0) || !isfinite(least) ||
            fabs(epsilon) * ldexp(1, jx_digits(dtype)) >= least)
            return;
        claim = jx_lint_suspect(
            k->lint, JX_CODE_NUM011, node,
            jx_arena_printf(
                k->lint->ctx->arena,
                "%g is less than half a unit in the last place of %s at %g, "
                "which the other operand is at least: nothing is added",
                epsilon, jx_dtype_of(dtype)->name, least));
        if (claim)
            claim->help = "leave it out, or put it where the small number is";
        return;
    }
}

/* -- NUM013: inverses ------------------------------------------------------ */

/* Numbers along its last axis, or one before it; -1: it does not count. */
static int64_t counts_along(const numbers *k, int value)
{
    const jx_flat_node *node = jx_maker(k->flat, value);

    while (node && node->eqn->prim->id == JX_PRIM_add && node->nins == 2 &&
           (is_number(k, node->ins[0], 0) || is_number(k, node->ins[1], 0)))
        node =
            jx_maker(k->flat, node->ins[is_number(k, node->ins[0], 0) ? 1 : 0]);
    return node && node->eqn->prim->id == JX_PRIM_iota && node->eqn->typed
               ? ((const jx_p_iota *)node->eqn->typed)->dimension
               : -1;
}

static bool is_identity_array(const jx_array *array)
{
    const jx_aval *aval = array->aval;
    size_t bytes = jx_dtype_of(aval->dtype)->bytes;
    int64_t n;

    if (!array->data || array->splat || aval->rank != 2 ||
        aval->shape[0] != aval->shape[1] || !jx_dtype_is_float(aval->dtype) ||
        !jx_dim_is_int(aval->shape[0], &n) || n > LARGEST_UNIT)
        return false;
    for (int64_t i = 0; i < n * n; i++)
        if (jx_element_real(aval->dtype,
                            (const char *)array->data + (size_t)i * bytes) !=
            (i / n == i % n ? 1 : 0))
            return false;
    return n > 1;
}

/* The unit matrix, as jnp.eye and numpy make it. */
static bool is_identity(const numbers *k, int value)
{
    const jx_flat_node *node =
        jx_maker(k->flat, value = jx_shown(k->flat, value));
    const jx_array *array = k->flat->values.at[value].array;
    int64_t rows, columns;

    while (node && node->eqn->prim->id == JX_PRIM_convert_element_type)
        node = jx_maker(k->flat, value = jx_shown(k->flat, node->ins[0]));
    if (!node)
        return array && is_identity_array(array);
    if (node->eqn->prim->id == JX_PRIM_gather) /* its rows in another order */
        return is_identity(k, node->ins[0]);
    if (node->eqn->prim->id != JX_PRIM_eq)
        return false;
    rows = counts_along(k, node->ins[0]);
    columns = counts_along(k, node->ins[1]);
    return rows >= 0 && columns >= 0 && rows != columns;
}

/* What a solve, or several one after the other, gave for the unit matrix. */
static bool is_inverse(const numbers *k, int value)
{
    const jx_flat_node *node = jx_maker(k->flat, jx_shown(k->flat, value));

    for (int depth = 0; node && depth < 4; depth++) {
        int last = node->nins - 1;
        if (node->eqn->prim->id != JX_PRIM_custom_linear_solve &&
            node->eqn->prim->id != JX_PRIM_triangular_solve)
            return false;
        if (is_identity(k, node->ins[last]))
            return true;
        node = jx_maker(k->flat, jx_shown(k->flat, node->ins[last]));
    }
    return false;
}

static void look_at_product(numbers *k, const jx_flat_node *node)
{
    jx_claim *claim;

    if (jx_place_is_derivative(node->eqn, node->calls))
        return;
    for (int i = 0; i < 2; i++) {
        if (!is_inverse(k, node->ins[i]))
            continue;
        claim =
            jx_lint_claim(k->lint, JX_CODE_NUM013, node,
                          "a product with an inverse that was computed for it");
        if (claim)
            claim->help =
                "jnp.linalg.solve(a, b) is inv(a) @ b, in less time and with "
                "a smaller error; for several b, jax.scipy.linalg.lu_factor "
                "or cho_factor once";
        return;
    }
}

/* A factorization in a loop that does not change its matrix. */
static void look_at_factorization(numbers *k, const jx_flat_node *node)
{
    int frame = k->lint->frames[node->ins[0]];
    const jx_calls *own = frame ? k->flat->bodies.at[frame - 1].calls : NULL;
    jx_claim *claim;

    for (const jx_calls *c = node->calls; c && c != own; c = c->outer) {
        if (c->eqn->prim->id != JX_PRIM_scan &&
            c->eqn->prim->id != JX_PRIM_while)
            continue;
        claim = jx_lint_claim(
            k->lint, JX_CODE_NUM013, node,
            jx_arena_printf(
                k->lint->ctx->arena,
                "`%s` factorizes the same matrix at every step of a loop",
                jx_eqn_name(node->eqn)));
        if (claim)
            claim->help =
                "factorize it once, outside (jax.scipy.linalg.lu_factor, "
                "cho_factor), and solve with the factors";
        return;
    }
}

/* -- SHP009: rows against columns ------------------------------------------ */

/* [n] becomes [1, n] because the other operand has an axis more. */
static bool is_promoted_row(const numbers *k, const jx_flat_node *node,
                            int value)
{
    const jx_flat_node *row = jx_maker(k->flat, value);
    const jx_aval *aval = k->flat->values.at[value].aval;

    return row && row->eqn->prim->id == JX_PRIM_broadcast_in_dim &&
           aval->rank == 2 && k->flat->values.at[row->ins[0]].aval->rank == 1 &&
           jx_is_implied(row, node);
}

/* keepdims=True, which a reduction was asked for. */
static bool is_kept(const numbers *k, const jx_flat_node *column)
{
    const jx_flat_node *of = jx_maker(k->flat, column->ins[0]);

    return of && jx_prim_in_family(of->eqn->prim->id, "reduce") &&
           jx_is_implied(column, of);
}

static bool is_made_column(const numbers *k, int value)
{
    const jx_flat_node *node = jx_maker(k->flat, value);

    return node && node->nins && jx_shows(node->eqn) &&
           k->flat->values.at[node->ins[0]].aval->rank == 1 &&
           !is_kept(k, node);
}

/* [n, 1], which somebody has as that: of x[:, None] all pairs are meant. */
static bool is_column(const numbers *k, const jx_flat_node *node, int value)
{
    const jx_aval *out = k->flat->values.at[node->outs[0]].aval, *aval;
    const jx_flat_node *wide = jx_maker(k->flat, value);
    int64_t size;

    if (wide && wide->eqn->prim->id == JX_PRIM_broadcast_in_dim &&
        jx_is_implied(wide, node))
        value = wide->ins[0];
    aval = k->flat->values.at[value].aval;
    return !is_made_column(k, value) && aval->rank == 2 &&
           jx_dim_is_int(aval->shape[1], &size) && size == 1 &&
           aval->shape[0] == out->shape[0];
}

/* An operation, or the call of jnp.where. */
static bool is_of_shapes(const numbers *k, const jx_flat_node *node)
{
    return is_written(k, node) ||
           (node->eqn->prim->id == JX_PRIM_select_n && node->calls &&
            jx_place_is_written(k->lint->program, node->calls->eqn,
                                node->calls->outer) &&
            !jx_place_is_backward(node->eqn, node->calls));
}

/* The square meets one that is made otherwise: squares of distances are |x|^2 +
 * |y|^2 - 2 x.y, of all pairs. */
static bool meets_square(const numbers *k, const jx_flat_node *node)
{
    const jx_flat_uses *uses = &k->lint->uses;
    int out = node->outs[0];

    for (int i = uses->first[out]; i < uses->first[out + 1]; i++) {
        const jx_flat_node *use = &k->flat->nodes.at[uses->nodes[i]];
        for (int in = 0; in < use->nins; in++) {
            const jx_flat_value *v = &k->flat->values.at[use->ins[in]];
            const jx_flat_node *made = jx_maker(k->flat, use->ins[in]);
            if (use->ins[in] != out && v->varies && !v->splat &&
                jx_aval_same_shape(v->aval, node->eqn->outs[0]->aval) &&
                !(made && jx_shows(made->eqn)) &&
                jx_prim_in_family(use->eqn->prim->id, "elementwise"))
                return true;
        }
    }
    return false;
}

static void look_at_shapes(numbers *k, const jx_flat_node *node)
{
    const jx_aval *out = k->flat->values.at[node->outs[0]].aval;
    bool row = false, column = false;
    int64_t size;
    jx_claim *claim;

    if (out->rank != 2 || out->shape[0] != out->shape[1] ||
        (jx_dim_is_int(out->shape[0], &size) && size < 2) ||
        !is_of_shapes(k, node))
        return;
    for (int i = 0; i < node->nins; i++)
        if (is_promoted_row(k, node, node->ins[i]))
            row = true;
        else if (is_column(k, node, node->ins[i]))
            column = true;
    if (!row || !column || meets_square(k, node))
        return;
    claim =
        jx_lint_suspect(k->lint, JX_CODE_SHP009, node,
                        "a column against a vector of its size makes a square: "
                        "every element with every other");
    if (claim)
        claim->help =
            "for elementwise work give both the same shape (x[:, 0], or "
            "y[:, None]); write y[None, :] where all pairs are meant";
}

bool jx_lint_numbers(jx_linter *lint)
{
    numbers k = {lint, lint->flat};

    for (size_t n = 0; n < k.flat->nodes.count; n++) {
        const jx_flat_node *node = &k.flat->nodes.at[n];
        if (!jx_looks_at(node) || !node->nins || !node->nouts)
            continue;
        look_at_constants(&k, node);
        if (jx_prim_in_family(node->eqn->prim->id, "elementwise"))
            look_at_shapes(&k, node);
        if (jx_prim_decomposes(node->eqn->prim->id))
            look_at_factorization(&k, node);
        switch (node->eqn->prim->id) {
        case JX_PRIM_eq:
        case JX_PRIM_ne: look_at_equality(&k, node); /* fall through */
        case JX_PRIM_lt:
        case JX_PRIM_le:
        case JX_PRIM_gt:
        case JX_PRIM_ge: look_at_nan(&k, node); break;
        case JX_PRIM_add: look_at_epsilon(&k, node); /* fall through */
        case JX_PRIM_sub: look_at_difference(&k, node); break;
        case JX_PRIM_log: look_at_logarithm(&k, node); break;
        case JX_PRIM_dot_general: look_at_product(&k, node); break;
        default: break;
        }
    }
    return jx_ok(lint->ctx);
}
