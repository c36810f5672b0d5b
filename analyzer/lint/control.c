/* control.c - choices that are made already, and loops that do not loop
 * or do not end. */
#include "analyzer/lint/int_ranges.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"

#include <math.h>
#include <string.h>

typedef struct control {
    jx_linter *lint;
    const jx_flat *flat;
} control;

/* -- GRF007: predicates ---------------------------------------------------- */

/* Not negative, whatever its inputs are (or NaN); if `plus` not -0 either. */
static bool has_no_minus(const jx_flat *flat, int value, bool plus, int depth)
{
    const jx_flat_node *node = jx_maker(flat, value);
    double number;

    if (jx_number_of(flat, value, &number))
        return number >= 0 && !(plus && signbit(number));
    if (!node || depth > 8)
        return false;
    if (node->nins && jx_shows(node->eqn))
        return has_no_minus(flat, node->ins[0], plus, depth + 1);
    switch (node->eqn->prim->id) {
    case JX_PRIM_abs:
    case JX_PRIM_square:
    case JX_PRIM_exp:
    case JX_PRIM_exp2:
    case JX_PRIM_logistic:
    case JX_PRIM_cosh: return true;
    case JX_PRIM_sqrt: return !plus;
    case JX_PRIM_integer_pow:
        return node->eqn->typed &&
               ((const jx_p_integer_pow *)node->eqn->typed)->y % 2 == 0;
    case JX_PRIM_mul:
        if (jx_plain(flat, node->ins[0]) == jx_plain(flat, node->ins[1]))
            return true;
        return has_no_minus(flat, node->ins[0], plus, depth + 1) &&
               has_no_minus(flat, node->ins[1], plus, depth + 1);
    case JX_PRIM_div: /* 1 / -0 is */
        return has_no_minus(flat, node->ins[0], plus, depth + 1) &&
               has_no_minus(flat, node->ins[1], true, depth + 1);
    case JX_PRIM_add:
        return has_no_minus(flat, node->ins[0], plus, depth + 1) &&
               has_no_minus(flat, node->ins[1], plus, depth + 1);
    case JX_PRIM_max: /* of 0 and -0 it is either */
        for (int i = 0; i < 2; i++)
            if (plus ? jx_number_of(flat, node->ins[i], &number) && number > 0
                     : has_no_minus(flat, node->ins[i], false, depth + 1))
                return true;
        return false;
    case JX_PRIM_reduce_sum:
    case JX_PRIM_cumsum:
        return has_no_minus(flat, node->ins[0], plus, depth + 1);
    default: return false;
    }
}

/* Between what values lie; where one of them may be NaN, so may be
 * what is computed. */
typedef struct ends {
    double low, high;
    bool number; /* surely */
} ends;

static bool ends_of(const jx_flat *flat, int value, int depth, ends *to);

/* What a function gives, whatever it is of. */
static bool ends_of_function(jx_prim_id id, ends *to)
{
    switch (id) {
    case JX_PRIM_logistic: *to = (ends){0, 1, false}; return true;
    case JX_PRIM_tanh:
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_erf: *to = (ends){-1, 1, false}; return true;
    case JX_PRIM_erfc: *to = (ends){0, 2, false}; return true;
    case JX_PRIM_abs:
    case JX_PRIM_square:
    case JX_PRIM_sqrt:
    case JX_PRIM_exp:
    case JX_PRIM_exp2: *to = (ends){0, INFINITY, false}; return true;
    case JX_PRIM_cosh: *to = (ends){1, INFINITY, false}; return true;
    default: return false;
    }
}

static ends anything(const jx_flat *flat, int value, int depth)
{
    ends to;

    return ends_of(flat, value, depth, &to)
               ? to
               : (ends){-INFINITY, INFINITY, false};
}

/* The axis of `from` along which an axis of `to` lies, which has the same
 * elements in the same order: axes of one element come and go.  -1: unknown. */
static int same_axis(const jx_aval *from, const jx_aval *to, int axis)
{
    int64_t size;
    int before = 0;

    for (int i = 0; i < axis; i++)
        before += !jx_dim_is_int(to->shape[i], &size) || size != 1;
    for (int i = 0; i < from->rank; i++)
        if ((!jx_dim_is_int(from->shape[i], &size) || size != 1) && !before--)
            return from->shape[i] == to->shape[axis] ? i : -1;
    return -1;
}

/* An axis of what shows sums is axis `of` of what they are sums of, or they are
 * the same all along it. */
static bool sums_lie_along(const jx_flat *flat, int value, int axis, int of)
{
    for (;;) {
        const jx_flat_node *node = jx_maker(flat, value);
        const jx_aval *aval = flat->values.at[value].aval;
        int64_t size;
        int i = 0;
        if (axis >= aval->rank ||
            (jx_dim_is_int(aval->shape[axis], &size) && size == 1))
            return true;
        switch (node ? node->eqn->prim->id : JX_PRIM_unknown) {
        case JX_PRIM_unknown:
        case JX_PRIM_transpose:
        case JX_PRIM_rev:
        case JX_PRIM_slice:
        case JX_PRIM_tile: return false;
        case JX_PRIM_reduce_sum:
            for (; i <= axis; i++)
                axis += jx_ints_hold(
                    ((const jx_p_axes *)node->eqn->typed)->axes, i);
            return axis == of;
        case JX_PRIM_broadcast_in_dim: {
            jx_ints to = ((const jx_p_broadcast_in_dim *)node->eqn->typed)
                             ->broadcast_dimensions;
            while (i < to.count && to.at[i] != axis)
                i++;
            if (i == to.count)
                return true;
            axis = i;
            break;
        }
        case JX_PRIM_reshape:
        case JX_PRIM_squeeze:
        case JX_PRIM_expand_dims:
            axis = same_axis(flat->values.at[node->ins[0]].aval, aval, axis);
            break;
        default: break;
        }
        if (axis < 0 || !node->nins)
            return false;
        value = node->ins[0];
    }
}

/* x / sum(x) where no x is below 0, as jax.nn.softmax gives it: at most 1, and
 * what the sum was rounded by. */
static bool is_share(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_flat_node *sum = jx_maker(flat, jx_shown(flat, node->ins[1]));
    const jx_aval *aval = node->eqn->outs[0]->aval;

    if (node->eqn->prim->id != JX_PRIM_div || !sum ||
        sum->eqn->prim->id != JX_PRIM_reduce_sum ||
        jx_dtype_of(aval->dtype)->bits < 32 ||
        jx_plain(flat, sum->ins[0]) != jx_plain(flat, node->ins[0]))
        return false;
    for (int i = 0; i < aval->rank; i++)
        if (!sums_lie_along(flat, node->ins[1], i, i))
            return false;
    return has_no_minus(flat, node->ins[0], false, 0);
}

static bool ends_of_result(const jx_flat *flat, const jx_flat_node *node,
                           int depth, ends *to)
{
    ends a, b;

    if (node->eqn->prim->id == JX_PRIM_abs && depth <= 8) {
        a = anything(flat, node->ins[0], depth + 1);
        *to = (ends){a.low > 0 ? a.low : 0, fmax(fabs(a.low), fabs(a.high)),
                     a.number};
        return true;
    }
    if (ends_of_function(node->eqn->prim->id, to))
        return true;
    if (depth > 8)
        return false;
    switch (node->eqn->prim->id) {
    case JX_PRIM_clamp:
        a = anything(flat, node->ins[0], depth + 1);
        b = anything(flat, node->ins[2], depth + 1);
        *to = (ends){a.low < b.low ? a.low : b.low, b.high, false};
        return true;
    case JX_PRIM_max:
    case JX_PRIM_min:
        a = anything(flat, node->ins[0], depth + 1);
        b = anything(flat, node->ins[1], depth + 1);
        *to = node->eqn->prim->id == JX_PRIM_max
                  ? (ends){fmax(a.low, b.low), fmax(a.high, b.high),
                           a.number && b.number}
                  : (ends){fmin(a.low, b.low), fmin(a.high, b.high),
                           a.number && b.number};
        return true;
    case JX_PRIM_neg:
        a = anything(flat, node->ins[0], depth + 1);
        *to = (ends){-a.high, -a.low, a.number};
        return true;
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
        *to = anything(flat, node->ins[0], depth + 1);
        to->number = false; /* of nothing it is an infinity */
        return true;
    case JX_PRIM_div:
        *to = (ends){0, 1.001, false};
        return is_share(flat, node);
    default: return false;
    }
}

/* Of a number, of an input in whatever order whose range is declared (no NaN is
 * in that), of functions with ends of their own. */
static bool ends_of(const jx_flat *flat, int value, int depth, ends *to)
{
    int shown = jx_shown(flat, value);
    const jx_flat_value *v = &flat->values.at[shown];
    const jx_flat_node *node = jx_maker(flat, shown);

    if (jx_number_of(flat, value, &to->low)) {
        to->high = to->low;
        to->number = !isnan(to->low);
        return to->number;
    }
    if (node)
        return ends_of_result(flat, node, depth, to);
    to->number = true;
    return !v->level && !v->inside && v->input >= 0 &&
           jx_range_at(flat->program, v->input, 0, NULL, &to->low, &to->high);
}

/* What a comparison of what lies between ends always is; -1 if that depends.
 * Of NaN all but != are false; `numbers` if none is met. */
static int test_of_ends(const jx_flat *flat, const jx_flat_node *test,
                        bool numbers)
{
    ends a, b;
    bool less, more;

    if (!ends_of(flat, test->ins[0], 0, &a) ||
        !ends_of(flat, test->ins[1], 0, &b))
        return -1;
    numbers = numbers || (a.number && b.number);
    less = a.high < b.low;
    more = a.low > b.high;
    switch (test->eqn->prim->id) {
    case JX_PRIM_lt: return less && numbers ? 1 : a.low >= b.high ? 0 : -1;
    case JX_PRIM_gt: return more && numbers ? 1 : a.high <= b.low ? 0 : -1;
    case JX_PRIM_le: return a.high <= b.low && numbers ? 1 : more ? 0 : -1;
    case JX_PRIM_ge: return a.low >= b.high && numbers ? 1 : less ? 0 : -1;
    case JX_PRIM_eq: return less || more ? 0 : -1;
    case JX_PRIM_ne: return less || more ? 1 : -1;
    default: return -1;
    }
}

/* What a comparison of floats always is; -1 if that depends.  Of a NaN all but
 * != are false, so nothing but `false` is proved of what may be one. */
static int float_test(const jx_flat *flat, const jx_flat_node *test)
{
    int a = test->ins[0], b = test->ins[1];
    int always = test_of_ends(flat, test, false);
    double number;

    if (always >= 0)
        return always;
    switch (test->eqn->prim->id) {
    case JX_PRIM_lt:
    case JX_PRIM_gt:
        if (jx_plain(flat, a) == jx_plain(flat, b))
            return 0;
        if (test->eqn->prim->id == JX_PRIM_gt) {
            a = test->ins[1];
            b = test->ins[0];
        }
        return jx_number_of(flat, b, &number) && number <= 0 &&
                       has_no_minus(flat, a, false, 0)
                   ? 0
                   : -1;
    default: return -1;
    }
}

/* No NaN of numbers, but for what overflows. */
static bool keeps_numbers(const jx_flat *flat, int value, int depth)
{
    int shown = jx_shown(flat, value);
    const jx_flat_value *v = &flat->values.at[shown];
    const jx_flat_node *node = jx_maker(flat, shown);
    double number;

    if (jx_number_of(flat, value, &number))
        return isfinite(number);
    if (!node)
        return !v->level && !v->inside && v->input >= 0;
    if (depth > 8)
        return false;
    switch (node->eqn->prim->id) {
    case JX_PRIM_sqrt:
        return has_no_minus(flat, node->ins[0], false, 0) &&
               keeps_numbers(flat, node->ins[0], depth + 1);
    case JX_PRIM_integer_pow:
        if (!node->eqn->typed ||
            ((const jx_p_integer_pow *)node->eqn->typed)->y < 0)
            return false;
        break;
    case JX_PRIM_convert_element_type:
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_abs:
    case JX_PRIM_square:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_exp:
    case JX_PRIM_exp2:
    case JX_PRIM_tanh:
    case JX_PRIM_logistic:
    case JX_PRIM_erf:
    case JX_PRIM_sin:
    case JX_PRIM_cos:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min:
    case JX_PRIM_cumsum:
    case JX_PRIM_dot_general: break;
    default: return false;
    }
    for (int i = 0; i < node->nins; i++)
        if (!keeps_numbers(flat, node->ins[i], depth + 1))
            return false;
    return true;
}

/* True of all numbers: x * x >= 0.  (Where only an infinity would do, the
 * comparison asks whether there is one.) */
static bool is_true_of_numbers(const jx_flat *flat, const jx_flat_node *test)
{
    bool less = test->eqn->prim->id == JX_PRIM_le;
    double number;

    if (test->nins != 2 ||
        !jx_dtype_is_float(flat->values.at[test->ins[0]].aval->dtype) ||
        !keeps_numbers(flat, test->ins[0], 0) ||
        !keeps_numbers(flat, test->ins[1], 0))
        return false;
    return test_of_ends(flat, test, true) == 1 ||
           ((less || test->eqn->prim->id == JX_PRIM_ge) &&
            jx_number_of(flat, test->ins[less ? 0 : 1], &number) &&
            number <= 0 &&
            has_no_minus(flat, test->ins[less ? 1 : 0], false, 0));
}

/* What makes a predicate: lax.cond makes an index of it. */
static const jx_flat_node *test_of(const jx_flat *flat, int value)
{
    const jx_flat_node *node = jx_maker(flat, jx_shown(flat, value));

    if (node && node->eqn->prim->id == JX_PRIM_convert_element_type &&
        flat->values.at[node->ins[0]].aval->dtype == JX_BOOL)
        node = jx_maker(flat, jx_shown(flat, node->ins[0]));
    return node;
}

static int decided(const control *c, int value);

/* Whether all are, or any is, of what always is or never is; of no elements
 * all are and none is. */
static int decided_together(const control *c, const jx_flat_node *node)
{
    int each = decided(c, node->ins[0]);
    int of_none = node->eqn->prim->id == JX_PRIM_reduce_and;
    int64_t count;

    return each == of_none ||
                   (jx_aval_elements(c->flat->values.at[node->ins[0]].aval,
                                     &count) &&
                    count > 0)
               ? each
               : -1;
}

/* What a predicate always is; -1 if that depends. */
static int decided(const control *c, int value)
{
    const jx_int_range r = c->lint->ranges[value];
    const jx_flat_node *test = test_of(c->flat, value);

    if (r.known && r.low == r.high)
        return (int)r.low;
    if (test && (test->eqn->prim->id == JX_PRIM_reduce_and ||
                 test->eqn->prim->id == JX_PRIM_reduce_or))
        return decided_together(c, test);
    if (!test || test->nins != 2)
        return -1;
    if (jx_dtype_is_integer(c->flat->values.at[test->ins[0]].aval->dtype) &&
        jx_plain(c->flat, test->ins[0]) == jx_plain(c->flat, test->ins[1])) {
        switch (test->eqn->prim->id) {
        case JX_PRIM_eq:
        case JX_PRIM_le:
        case JX_PRIM_ge: return 1;
        case JX_PRIM_ne:
        case JX_PRIM_lt:
        case JX_PRIM_gt: return 0;
        default: break;
        }
    }
    return jx_dtype_is_float(c->flat->values.at[test->ins[0]].aval->dtype)
               ? float_test(c->flat, test)
               : -1;
}

/* select(i < 0, i, i + n): an index from the end, which JAX writes for every
 * index, with a constant for the predicate where it knew the answer. */
static bool normalizes_index(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_flat_node *test, *added;
    const jx_flat_value *known;
    int index;

    if (node->nins != 3)
        return false;
    test = jx_maker(flat, jx_shown(flat, node->ins[0]));
    added = jx_maker(flat, jx_shown(flat, node->ins[2]));
    if (!added || added->eqn->prim->id != JX_PRIM_add)
        return false;
    /* One comparison of two indices that are the same number has one
     * of their places. */
    if (test)
        return test->eqn->prim->id == JX_PRIM_lt &&
               (jx_is_implied(test, node) || jx_is_implied(added, node));
    index = jx_shown(flat, node->ins[1]);
    known = &flat->values.at[jx_shown(flat, node->ins[0])];
    return (known->literal || known->array) &&
           (jx_shown(flat, added->ins[0]) == index ||
            jx_shown(flat, added->ins[1]) == index);
}

/* Somebody wrote the choice: jnp.where is JAX's function `_where`. */
static bool is_written(const control *c, const jx_flat_node *node)
{
    const jx_value *name =
        node->calls ? jx_eqn_param(node->calls->eqn, "name") : NULL;

    if (jx_place_is_written(c->lint->program, node->eqn, node->calls))
        return true;
    return name && name->text && strcmp(name->text, "_where") == 0 &&
           jx_place_is_written(c->lint->program, node->calls->eqn,
                               node->calls->outer);
}

/* One call computes what is chosen from, or goes on with it, too: the
 * choice is that function's, and made already for these arguments (a
 * default of it, say). */
static bool is_of_more(const control *c, const jx_flat_node *node)
{
    const jx_flat_uses *uses = &c->lint->uses;
    int out = node->outs[0];

    for (int i = 1; i < node->nins; i++) {
        const jx_flat_node *before =
            jx_maker(c->flat, jx_shown(c->flat, node->ins[i]));
        if (before && before->eqn->prim->id != JX_PRIM_convert_element_type &&
            jx_is_implied(before, node))
            return true;
    }
    for (int i = uses->first[out]; i < uses->first[out + 1]; i++) {
        const jx_flat_node *after = &c->flat->nodes.at[uses->nodes[i]];
        if (!jx_shows(after->eqn) &&
            after->eqn->prim->id != JX_PRIM_convert_element_type &&
            jx_is_implied(after, node))
            return true;
    }
    return false;
}

static void look_at_choice(control *c, const jx_flat_node *node)
{
    bool cond = node->eqn->prim->id == JX_PRIM_cond;
    const jx_flat_node *test = test_of(c->flat, node->ins[0]);
    int always = decided(c, node->ins[0]);
    bool nearly = always < 0 && test && is_true_of_numbers(c->flat, test);
    const char *which;
    jx_claim *claim;

    if (nearly)
        always = 1;
    if (always < 0 || normalizes_index(c->flat, node) || !is_written(c, node) ||
        is_of_more(c, node))
        return;
    /* What a function of JAX's compares is its own affair. */
    if (test && !jx_place_is_written(c->lint->program, test->eqn, test->calls))
        return;
    which = node->nins == (cond ? node->nins : 3) && always < 2 &&
                    c->flat->values.at[node->ins[0]].aval->dtype == JX_BOOL
                ? (always ? "true" : "false")
                : jx_arena_printf(c->lint->ctx->arena, "%d", always);
    claim = jx_lint_claim(
        c->lint, JX_CODE_GRF007, node,
        jx_arena_printf(
            c->lint->ctx->arena,
            "`%s` always takes the same %s: its %s is %s%s",
            jx_eqn_name(node->eqn), cond ? "branch" : "case",
            cond && c->flat->values.at[node->ins[0]].aval->dtype != JX_BOOL
                ? "index"
                : "predicate",
            which, nearly ? " of all numbers (of NaN it is not)" : ""));
    if (claim && nearly)
        claim->level = JX_NOTE; /* it may be meant to ask for NaN */
    if (claim)
        claim->help = "choose while tracing (Python's `if`), or mend the "
                      "comparison";
}

/* -- loops ----------------------------------------------------------------- */

/* The carries of a loop: how many, and what they begin as and become. */
typedef struct carries {
    int count;
    const int *begin, *end;
    const jx_flat_node *loop;
} carries;

static bool carries_of(const jx_flat_node *node, carries *to)
{
    const void *p = node->eqn->typed;

    if (!p || !node->nresults || node->shared)
        return false;
    to->loop = node;
    if (node->eqn->prim->id == JX_PRIM_scan) {
        const jx_p_scan *scan = p;
        to->count = (int)scan->num_carry;
        to->begin = node->ins + scan->num_consts;
        to->end = node->results;
        return true;
    }
    if (node->eqn->prim->id == JX_PRIM_while) {
        const jx_p_while *loop = p;
        to->count = node->nouts;
        to->begin = node->ins + loop->cond_nconsts + loop->body_nconsts;
        to->end = node->results + loop->cond_jaxpr.jaxpr->nouts;
        return true;
    }
    return false;
}

/* The value is input `index` of a body of the loop. */
static bool is_carry(const control *c, const carries *of, int value, int index)
{
    const jx_flat_value *v = &c->flat->values.at[value];

    return v->inside && v->input == index &&
           c->flat->bodies.at[v->inside - 1].node ==
               of->loop - c->flat->nodes.at;
}

/* Which carry of the loop a value is in one of its bodies; -1: none. */
static int carry_of(const control *c, const carries *of, int value)
{
    int input = c->flat->values.at[value].input;

    return input >= 0 && input < of->count && is_carry(c, of, value, input)
               ? input
               : -1;
}

/* By how much a step moves a carry; 0: unknown. */
static double step_of(const control *c, const carries *of, int carry)
{
    const jx_flat_node *node =
        jx_maker(c->flat, jx_shown(c->flat, of->end[carry]));
    double number;

    /* `//` is a quotient, or one less. */
    if (node && node->eqn->prim->id == JX_PRIM_select_n)
        node = jx_maker(c->flat, jx_shown(c->flat, node->ins[1]));
    if (!node || node->nins != 2)
        return 0;
    switch (node->eqn->prim->id) {
    case JX_PRIM_add:
        for (int i = 0; i < 2; i++)
            if (is_carry(c, of, jx_shown(c->flat, node->ins[i]), carry) &&
                jx_number_of(c->flat, node->ins[1 - i], &number))
                return number;
        return 0;
    case JX_PRIM_sub:
        return is_carry(c, of, jx_shown(c->flat, node->ins[0]), carry) &&
                       jx_number_of(c->flat, node->ins[1], &number)
                   ? -number
                   : 0;
    case JX_PRIM_div:
    case JX_PRIM_shift_right_logical:
    case JX_PRIM_shift_right_arithmetic:
        return is_carry(c, of, jx_shown(c->flat, node->ins[0]), carry) &&
                       jx_number_of(c->flat, node->ins[1], &number) &&
                       number >= (node->eqn->prim->id == JX_PRIM_div ? 2 : 1)
                   ? -1
                   : 0;
    default: return 0;
    }
}

/* Nothing of the loop changes it. */
static bool is_fixed(const control *c, const carries *of, int value)
{
    int carry = carry_of(c, of, value), frame = c->lint->frames[value];

    if (carry >= 0)
        return is_carry(c, of, of->end[carry], carry);
    return !frame ||
           c->flat->bodies.at[frame - 1].node != of->loop - c->flat->nodes.at;
}

/* A comparison that some step makes false. */
static bool comes_to_an_end(const control *c, const carries *of, int value,
                            int depth)
{
    const jx_flat_node *test = jx_maker(c->flat, jx_shown(c->flat, value));
    jx_prim_id id = test ? test->eqn->prim->id : JX_PRIM_unknown;

    if (!test || test->nins != 2 || depth > 16)
        return false;
    if (id == JX_PRIM_and)
        return comes_to_an_end(c, of, test->ins[0], depth + 1) ||
               comes_to_an_end(c, of, test->ins[1], depth + 1);
    if (id == JX_PRIM_or)
        return comes_to_an_end(c, of, test->ins[0], depth + 1) &&
               comes_to_an_end(c, of, test->ins[1], depth + 1);
    for (int i = 0; i < 2; i++) {
        int carry = carry_of(c, of, jx_shown(c->flat, test->ins[i]));
        double step = carry < 0 ? 0 : step_of(c, of, carry);
        bool less = id == JX_PRIM_lt || id == JX_PRIM_le;
        bool more = id == JX_PRIM_gt || id == JX_PRIM_ge;
        if (step == 0 || !is_fixed(c, of, jx_shown(c->flat, test->ins[1 - i])))
            continue;
        if ((i == 0 ? less : more) && step > 0)
            return true;
        if ((i == 0 ? more : less) && step < 0)
            return true;
        if (id == JX_PRIM_ne && (step == 1 || step == -1))
            return true;
    }
    return false;
}

static void look_at_end(control *c, const carries *of)
{
    jx_claim *claim;

    if (of->loop->eqn->prim->id != JX_PRIM_while ||
        comes_to_an_end(c, of, of->loop->results[0], 0))
        return;
    claim =
        jx_lint_suspect(c->lint, JX_CODE_GRF009, of->loop,
                        "no step of this loop is seen to bring it to its end");
    if (claim)
        claim->help =
            "count its steps as well, and stop at some number of them";
}

/* The number that a loop's test takes before the first turn. */
static bool number_at_first(const control *c, const carries *of, int value,
                            double *number)
{
    int carry = carry_of(c, of, value);

    return jx_number_of(c->flat, carry >= 0 ? of->begin[carry] : value, number);
}

static bool fails_at_once(const control *c, const carries *of,
                          const jx_flat_node *test)
{
    double a, b;

    if (test->nins != 2 || !number_at_first(c, of, test->ins[0], &a) ||
        !number_at_first(c, of, test->ins[1], &b))
        return false;
    switch (test->eqn->prim->id) {
    case JX_PRIM_lt: return !(a < b);
    case JX_PRIM_le: return !(a <= b);
    case JX_PRIM_gt: return !(a > b);
    case JX_PRIM_ge: return !(a >= b);
    case JX_PRIM_eq: return !(a == b);
    case JX_PRIM_ne: return !(a != b);
    default: return false;
    }
}

/* The steps of a loop over numbers that are known; -1: unknown. */
static double steps_of(const control *c, const carries *of)
{
    const jx_flat_node *node = of->loop, *test;
    int64_t length;
    double first, last, step;
    int carry;

    if (node->eqn->prim->id == JX_PRIM_scan)
        return jx_dim_is_int(((const jx_p_scan *)node->eqn->typed)->length,
                             &length)
                   ? (double)length
                   : -1;
    test = jx_maker(c->flat, node->results[0]);
    if (decided(c, node->results[0]) == 0)
        return 0;
    if (test && fails_at_once(c, of, test))
        return 0;
    if (!test || test->eqn->prim->id != JX_PRIM_lt)
        return -1;
    carry = carry_of(c, of, test->ins[0]);
    step = carry < 0 ? 0 : step_of(c, of, carry);
    if (step <= 0 || !jx_number_of(c->flat, of->begin[carry], &first))
        return -1;
    carry = carry_of(c, of, test->ins[1]);
    if (!jx_number_of(c->flat,
                      carry >= 0 && is_fixed(c, of, test->ins[1])
                          ? of->begin[carry]
                          : test->ins[1],
                      &last))
        return -1;
    return first >= last ? 0 : first + step >= last ? 1 : 2;
}

/* The carry is what a comparison of the loop's test takes: the end
 * of fori_loop's. */
static bool is_bound(const control *c, const carries *of, int carry)
{
    const jx_flat_node *test = of->loop->eqn->prim->id == JX_PRIM_while
                                   ? jx_maker(c->flat, of->loop->results[0])
                                   : NULL;

    return test && test->nins == 2 &&
           (carry_of(c, of, test->ins[0]) == carry ||
            carry_of(c, of, test->ins[1]) == carry);
}

static void look_at_steps(control *c, const carries *of)
{
    double steps = steps_of(c, of);
    int fixed = 0;
    jx_claim *claim = NULL;

    if (steps == 0 || steps == 1) {
        claim = jx_lint_claim(c->lint, JX_CODE_GRF008, of->loop,
                              steps == 0 ? "this loop never runs"
                                         : "this loop runs once");
        if (claim)
            claim->help = "write its body without the loop";
        return;
    }
    for (int i = 0; i < of->count; i++)
        fixed += is_carry(c, of, of->end[i], i) && !is_bound(c, of, i);
    if (!fixed)
        return;
    claim = jx_lint_claim(
        c->lint, JX_CODE_GRF008, of->loop,
        fixed == 1
            ? "this loop carries a value that it never changes"
            : jx_arena_printf(c->lint->ctx->arena,
                              "this loop carries %d values that it never "
                              "changes",
                              fixed));
    if (claim)
        claim->help =
            "take it from outside of the loop (a closure), so that it "
            "is seen to be constant";
}

bool jx_lint_control(jx_linter *lint)
{
    control c = {lint, lint->flat};

    for (size_t n = 0; n < c.flat->nodes.count; n++) {
        const jx_flat_node *node = &c.flat->nodes.at[n];
        carries of = {0};

        if (!jx_looks_at(node) || !node->nins)
            continue;
        if (node->eqn->prim->id == JX_PRIM_cond ||
            node->eqn->prim->id == JX_PRIM_select_n)
            look_at_choice(&c, node);
        else if (carries_of(node, &of) &&
                 jx_place_is_written(lint->program, node->eqn, node->calls) &&
                 !jx_place_is_backward(node->eqn, node->calls)) {
            if (steps_of(&c, &of) != 0)
                look_at_end(&c, &of);
            look_at_steps(&c, &of);
        }
    }
    return jx_ok(lint->ctx);
}
