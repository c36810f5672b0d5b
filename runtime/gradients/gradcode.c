/* gradcode.c - see gradpoints.h: what the code of functions and rules holds. */
#include "frontend/ir/element.h"
#include "runtime/choices.h"
#include "runtime/elementwise.h"
#include "runtime/gradients/gradpoints.h"
#include "runtime/shake.h"
#include "runtime/turns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of a literal that is a float of 16 bits or more. */
bool jx_points_float(jx_atom atom, double *value)
{
    const jx_literal *literal = atom.literal;

    if (atom.var || !literal || literal->dim || literal->array ||
        !literal->aval)
        return false;
    if (literal->aval->dtype == JX_F32) {
        float f;
        memcpy(&f, literal->bits, sizeof f);
        *value = f;
        return true;
    }
    if (literal->aval->dtype != JX_F64 && literal->aval->dtype != JX_F16 &&
        literal->aval->dtype != JX_BF16)
        return false;
    jx_convert(literal->aval->dtype, JX_F64, literal->bits, value, 1);
    return true;
}
typedef bool eqn_test(const jx_eqn *eqn, const void *with);

static bool any_below(const jx_jaxpr *jaxpr, eqn_test *test, const void *with,
                      bool *reached);

static bool any_in_value(const jx_value *v, eqn_test *test, const void *with,
                         bool *reached)
{
    bool holds = v->tag == JX_V_TUPLE || v->tag == JX_V_RECORD;

    if (v->tag == JX_V_JAXPR)
        return any_below(v->jaxpr, test, with, reached);
    for (int i = 0; holds && i < v->count; i++)
        if (v->items[i]->tag == JX_V_JAXPR &&
            any_below(v->items[i]->jaxpr, test, with, reached))
            return true;
    return false;
}

static bool any_below(const jx_jaxpr *jaxpr, eqn_test *test, const void *with,
                      bool *reached)
{
    if (reached[jaxpr->id])
        return false;
    reached[jaxpr->id] = true;
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if (test(eqn, with))
            return true;
        for (int k = 0; k < eqn->nparams; k++)
            if (any_in_value(eqn->params[k].value, test, with, reached))
                return true;
    }
    return false;
}

/* Whether an equation passes the test, in nested jaxprs too, whose numbers are
 * smaller.  Without memory it is taken to. */
static bool any_eqn(const jx_jaxpr *jaxpr, eqn_test *test, const void *with)
{
    bool few[1024] = {false}; /* for most programs nothing is asked for */
    bool *reached = jaxpr->id < (int)sizeof few
                        ? few
                        : calloc((size_t)jaxpr->id + 1, sizeof *reached);
    bool any = !reached || any_below(jaxpr, test, with, reached);

    if (reached != few)
        free(reached);
    return any;
}

/* One of integers alone (a search in a table, a key) comes to no number: it
 * gives what others choose by. */
static bool is_loop(const jx_eqn *eqn, const void *with)
{
    (void)with;
    if (eqn->prim->id != JX_PRIM_while && eqn->prim->id != JX_PRIM_scan)
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        if (jx_dtype_is_inexact(eqn->outs[i]->aval->dtype))
            return true;
    return false;
}

bool jx_points_has_loop(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_loop, NULL);
}

static bool is_of_bits(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_bitcast_convert_type &&
           jx_dtype_is_float(eqn->outs[0]->aval->dtype) &&
           jx_dtype_is_integer(jx_atom_aval(eqn->ins[0])->dtype);
}

bool jx_points_has_bits(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_of_bits, NULL);
}

static bool is_while(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_while;
}

static bool is_narrowing(const jx_eqn *eqn, const void *with)
{
    (void)with;
    return eqn->prim->id == JX_PRIM_convert_element_type &&
           jx_dtype_is_narrower(eqn->outs[0]->aval->dtype,
                                jx_atom_aval(eqn->ins[0])->dtype);
}

static bool has_bits(const jx_aval *aval, int bits)
{
    jx_dtype real = jx_dtype_real(aval->dtype);

    return jx_dtype_is_float(real) && jx_dtype_of(real)->bits == bits;
}

static bool computes_with(const jx_eqn *eqn, const void *bits)
{
    for (int i = 0; i < eqn->nins; i++)
        if (has_bits(jx_atom_aval(eqn->ins[i]), *(const int *)bits))
            return true;
    for (int i = 0; i < eqn->nouts; i++)
        if (has_bits(eqn->outs[i]->aval, *(const int *)bits))
            return true;
    return false;
}

jx_dtype jx_points_narrowest(const jx_jaxpr *jaxpr)
{
    static const jx_dtype narrowest_first[] = {JX_F8_E4M3, JX_F16, JX_F32};

    for (size_t k = 0; k < sizeof narrowest_first / sizeof *narrowest_first;
         k++) {
        int bits = jx_dtype_of(narrowest_first[k])->bits;
        bool has = any_eqn(jaxpr, computes_with, &bits);
        for (int i = 0; i < jaxpr->nins && !has; i++)
            has = has_bits(jaxpr->vars[jaxpr->nconsts + i]->aval, bits);
        if (has)
            return narrowest_first[k];
    }
    return JX_F64;
}

/* All but a few of the bits that a number of that dtype has are zeros
 * in an exact one. */
static bool is_rounded(double value, int bits)
{
    int exponent;
    double mantissa = isfinite(value) ? frexp(value, &exponent) : 0;
    double kept = ldexp(mantissa, bits);

    return kept != trunc(kept);
}

/* Takes a number that was rounded, or rounds; a loop may end when it
 * is near enough. */
static bool takes_rounded(const jx_eqn *eqn, const void *with)
{
    if (eqn->prim->id == JX_PRIM_bitcast_convert_type ||
        eqn->prim->id == JX_PRIM_while ||
        eqn->prim->id == JX_PRIM_reduce_precision || is_narrowing(eqn, with))
        return true;
    for (int i = 0; i < eqn->nins; i++) {
        const jx_literal *literal =
            eqn->ins[i].var ? NULL : eqn->ins[i].literal;
        jx_dtype dtype =
            literal && literal->aval ? literal->aval->dtype : JX_I32;
        double value = 0;
        float narrow;
        if (!literal || !jx_dtype_is_inexact(dtype))
            continue;
        if (literal->array || (dtype != JX_F32 && dtype != JX_F64))
            return true; /* it may be */
        if (dtype == JX_F64)
            memcpy(&value, literal->bits, sizeof value);
        memcpy(&narrow, literal->bits, sizeof narrow);
        if (is_rounded(dtype == JX_F64 ? value : (double)narrow, 12))
            return true;
    }
    return false;
}

bool jx_points_has_rounded(const jx_jaxpr *jaxpr)
{
    return jaxpr->nconsts > 0 || any_eqn(jaxpr, takes_rounded, NULL);
}

static bool shows_bits(const jx_eqn *eqn, const void *with)
{
    const jx_dtype *dtype = with;

    if (eqn->prim->id != JX_PRIM_bitcast_convert_type &&
        eqn->prim->id != JX_PRIM_reduce_precision)
        return false;
    return jx_atom_aval(eqn->ins[0])->dtype == *dtype ||
           eqn->outs[0]->aval->dtype == *dtype;
}

double jx_points_grain(const jx_jaxpr *jaxpr)
{
    static const jx_dtype narrowest_first[] = {JX_BF16, JX_F16, JX_F32};

    for (size_t i = 0; i < sizeof narrowest_first / sizeof *narrowest_first;
         i++)
        if (any_eqn(jaxpr, shows_bits, &narrowest_first[i]))
            return 2 * jx_unit_roundoff(narrowest_first[i]);
    return DBL_EPSILON;
}

/* What is near enough, at most: 1e-3, as any float has it. */
static const double most_enough = 1.01e-3;

/* Keeps the largest number below most_enough that equations compare
 * with; none passes. */
static bool note_compared(const jx_eqn *eqn, const void *with)
{
    double *largest = *(double *const *)with, value;
    jx_prim_id id = eqn->prim->id;

    if (id != JX_PRIM_lt && id != JX_PRIM_le && id != JX_PRIM_gt &&
        id != JX_PRIM_ge)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (jx_points_float(eqn->ins[i], &value) && value < most_enough &&
            value > *largest)
            *largest = value;
    return false;
}

static bool is_cond(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_cond;
}

static bool is_search(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_while && jx_turns_is_search(eqn);
}

/* Whether it is a loop that may end early, or do nothing from some turn on, in
 * which an equation passes the test. */
static bool any_in_loop(const jx_eqn *eqn, eqn_test *test, const void *with)
{
    bool counted = !is_search(eqn, NULL);
    bool loops =
        eqn->prim->id == JX_PRIM_scan || eqn->prim->id == JX_PRIM_while;

    for (int i = 0; loops && i < eqn->nparams; i++) {
        const jx_value *value = eqn->params[i].value;
        if (value->tag == JX_V_JAXPR &&
            (!counted || any_eqn(value->jaxpr, is_cond, NULL)) &&
            any_eqn(value->jaxpr, test, with))
            return true;
    }
    return false;
}

static bool note_in_loop(const jx_eqn *eqn, const void *with)
{
    return any_in_loop(eqn, note_compared, with);
}

/* The largest number that is noted, rounded up to what halving leads to. */
static double largest_of(const jx_jaxpr *jaxpr, eqn_test *note)
{
    double by = most_enough, largest = 0, *with = &largest;
    bool starved = any_eqn(jaxpr, note, &with);

    for (int i = 0; i < 64; i++, by /= 2)
        if (starved || largest > by)
            return 2 * by;
    return 0;
}

double jx_points_enough(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_while, NULL) ? largest_of(jaxpr, note_compared)
                                          : 0;
}

static bool compares_floats(const jx_eqn *eqn, const void *unused)
{
    jx_prim_id id = eqn->prim->id;

    (void)unused;
    return (id == JX_PRIM_lt || id == JX_PRIM_le || id == JX_PRIM_gt ||
            id == JX_PRIM_ge) &&
           jx_dtype_is_inexact(jx_atom_aval(eqn->ins[0])->dtype);
}

static bool looks_at_floats(const jx_eqn *eqn, const void *unused)
{
    return any_in_loop(eqn, compares_floats, unused);
}

double jx_points_stops_at(const jx_jaxpr *jaxpr)
{
    if (!any_eqn(jaxpr, looks_at_floats, NULL))
        return 0;
    return fmax(largest_of(jaxpr, note_in_loop),
                2 * jx_unit_roundoff(jx_points_narrowest(jaxpr)));
}

static bool ends_by_floats(const jx_eqn *eqn, const void *unused)
{
    const jx_value *cond =
        is_search(eqn, unused) ? jx_eqn_param(eqn, "cond_jaxpr") : NULL;

    return cond && cond->tag == JX_V_JAXPR &&
           any_eqn(cond->jaxpr, compares_floats, NULL);
}

bool jx_points_converges(const jx_jaxpr *jaxpr)
{
    double enough;

    if (!any_eqn(jaxpr, ends_by_floats, NULL))
        return false;
    enough = jx_points_enough(jaxpr);
    return enough == 0 || enough > 1e-5;
}

static bool is_symmetric(const jx_eqn *eqn, const void *unused)
{
    jx_prim_id id = eqn->prim->id;

    (void)unused;
    return id == JX_PRIM_cholesky || id == JX_PRIM_eigh ||
           id == JX_PRIM_tridiagonal;
}

bool jx_points_symmetric(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_symmetric, NULL);
}

static bool is_decomposition(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return jx_prim_decomposes(eqn->prim->id);
}

bool jx_points_decomposes(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_decomposition, NULL);
}

static bool is_call_of(const jx_eqn *eqn, const void *rule)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE &&
            eqn->params[i].value->rule == rule)
            return true;
    return false;
}

bool jx_points_calls(const jx_jaxpr *jaxpr, const jx_rule *rule)
{
    return any_eqn(jaxpr, is_call_of, rule);
}

static bool has_rule(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE)
            return true;
    return false;
}

bool jx_points_calls_rules(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, has_rule, NULL);
}

static bool is_iteration(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_while ||
           eqn->prim->id == JX_PRIM_random_gamma;
}

bool jx_points_iterates(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_iteration, NULL);
}

/* Marks the inputs that these results of a jaxpr are made of: each equation
 * takes all of its operands to all of its results.  False without memory. */
static bool mark_made_of(const jx_jaxpr *jaxpr, const bool *outs, bool *ins)
{
    bool *needed = calloc((size_t)jaxpr->nvars + 1, sizeof *needed);

    for (int i = 0; needed && i < jaxpr->nouts; i++)
        if (outs[i] && jaxpr->outs[i].var)
            needed[jaxpr->outs[i].var->id] = true;
    for (int e = jaxpr->neqns - 1; needed && e >= 0; e--) {
        const jx_eqn *eqn = &jaxpr->eqns[e];
        bool any = false;
        for (int i = 0; i < eqn->nouts; i++)
            any |= needed[eqn->outs[i]->id];
        for (int i = 0; any && i < eqn->nins; i++)
            if (eqn->ins[i].var)
                needed[eqn->ins[i].var->id] = true;
    }
    for (int i = 0; needed && i < jaxpr->nins; i++)
        ins[i] |= needed[jaxpr->nconsts + i];
    free(needed);
    return needed != NULL;
}

static bool holds_inexact(const jx_jaxpr *jaxpr, const bool *ins)
{
    for (int i = 0; i < jaxpr->nins; i++)
        if (ins[i] &&
            jx_dtype_is_inexact(jaxpr->vars[jaxpr->nconsts + i]->aval->dtype))
            return true;
    return false;
}

/* Whether when a loop ends follows from numbers that have no
 * derivative: a count. */
static bool is_counted(const jx_p_while *w)
{
    const jx_jaxpr *cond = w->cond_jaxpr.jaxpr, *body = w->body_jaxpr.jaxpr;
    int nc = (int)w->cond_nconsts, nb = (int)w->body_nconsts, n = body->nouts;
    bool *ends =
        calloc((size_t)(cond->nins + body->nins + n) + 1, sizeof *ends);
    bool *in = ends ? ends + cond->nins : NULL,
         *carried = in ? in + body->nins : NULL;
    bool counted = ends && mark_made_of(cond, (const bool[]){true}, ends) &&
                   !holds_inexact(cond, ends);

    for (bool more = counted; more;) {
        more = false;
        for (int i = 0; i < n; i++)
            if ((ends[nc + i] || in[nb + i]) && !carried[i])
                more = carried[i] = true;
        if (more)
            counted = more =
                mark_made_of(body, carried, in) && !holds_inexact(body, in);
    }
    free(ends);
    return counted;
}

static bool ends_by_values(const jx_eqn *eqn, const void *unused)
{
    return eqn->prim->id == JX_PRIM_custom_linear_solve ||
           (is_iteration(eqn, unused) &&
            (eqn->prim->id != JX_PRIM_while || !is_counted(eqn->typed)));
}

bool jx_points_ends_by_values(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, ends_by_values, NULL);
}

static bool chooses(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return jx_eqn_chooses(eqn);
}

bool jx_points_chooses(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, chooses, NULL);
}

static bool is_step(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_convert_element_type &&
           jx_dtype_is_integer(eqn->outs[0]->aval->dtype) &&
           jx_dtype_is_float(jx_atom_aval(eqn->ins[0])->dtype);
}

bool jx_points_steps(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_step, NULL);
}

typedef struct number_list {
    double *at;
    int count, most;
} number_list;

static bool add_numbers(const jx_eqn *eqn, const void *with)
{
    number_list *to = *(number_list *const *)with;
    double value;

    for (int i = 0; i < eqn->nins && to->count < to->most; i++) {
        bool is_new = jx_points_float(eqn->ins[i], &value) && isfinite(value) &&
                      value != 0 && fabs(value) != 1;
        for (int k = 0; is_new && k < to->count; k++)
            is_new = to->at[k] != value;
        if (is_new)
            to->at[to->count++] = value;
    }
    return false;
}

int jx_points_constants(const jx_jaxpr *jaxpr, double *to, int count, int most)
{
    number_list list = {to, count, most}, *with = &list;

    any_eqn(jaxpr, add_numbers, &with);
    return list.count;
}

typedef struct integer_list {
    int64_t *at;
    int count, most;
    bool equal;
} integer_list;

static void add_integer(integer_list *to, int64_t value)
{
    for (int k = 0; k < to->count; k++)
        if (to->at[k] == value)
            return;
    if (to->count < to->most)
        to->at[to->count++] = value;
}

static bool is_integer(jx_atom atom, int64_t *value)
{
    const jx_literal *literal = atom.literal;

    if (atom.var || !literal || literal->dim || literal->array ||
        !literal->aval || !jx_dtype_is_integer(literal->aval->dtype))
        return false;
    *value = (int64_t)jx_element_integer(literal->aval->dtype, literal->bits);
    return true;
}

static bool add_integers(const jx_eqn *eqn, const void *with)
{
    enum { MOST_BRANCHES = 16 };
    integer_list *to = *(integer_list *const *)with;
    jx_prim_id id = eqn->prim->id;
    bool equal = id == JX_PRIM_eq || id == JX_PRIM_ne;
    const bool wraps = id == JX_PRIM_lt; /* as what indexes asks: i < 0 */
    int64_t value;

    if (id == JX_PRIM_cond && eqn->typed && !to->equal) {
        int n = ((const jx_p_cond *)eqn->typed)->branches.count;
        for (int i = 0; n > 2 && n <= MOST_BRANCHES && i < n; i++)
            add_integer(to, i);
    }
    /* Of what is at least 0 another may be less: a label to be left out. */
    if (to->equal && id == JX_PRIM_ge && is_integer(eqn->ins[1], &value) &&
        value == 0)
        add_integer(to, -1);
    if (!equal && (to->equal || (id != JX_PRIM_lt && id != JX_PRIM_le &&
                                 id != JX_PRIM_gt && id != JX_PRIM_ge)))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (is_integer(eqn->ins[i], &value))
            for (int64_t by = equal ? 0 : -1; by <= (equal ? 0 : 1); by++)
                if (!(wraps && value == 0 && by < 0))
                    add_integer(to, value + by);
    return false;
}

int jx_points_integers(const jx_jaxpr *jaxpr, bool equal, int64_t *to,
                       int count, int most)
{
    integer_list list = {to, count, most, equal}, *with = &list;

    any_eqn(jaxpr, add_integers, &with);
    return list.count;
}

static bool is_rough(const jx_eqn *eqn, const void *unused)
{
    static const jx_prim_id rough[] = {
        JX_PRIM_igamma_grad_a,
        JX_PRIM_random_gamma_grad,
        JX_PRIM_reduce_precision,
    };

    /* Bits that are made no number of (a sign) decide what is chosen. */
    if (is_of_bits(eqn, unused))
        return true;
    for (size_t i = 0; i < sizeof rough / sizeof *rough; i++)
        if (eqn->prim->id == rough[i])
            return true;
    return false;
}

bool jx_points_is_rough(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_rough, NULL);
}

static bool is_normwise(const jx_eqn *eqn, const void *unused)
{
    jx_prim_id id = eqn->prim->id;

    (void)unused;
    return id == JX_PRIM_fft || id == JX_PRIM_svd || id == JX_PRIM_eigh ||
           id == JX_PRIM_eig || id == JX_PRIM_schur;
}

bool jx_points_is_normwise(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_normwise, NULL);
}

static bool is_stop(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_stop_gradient;
}

static bool batches(const jx_eqn *eqn, const void *unused)
{
    (void)unused;
    return eqn->prim->id == JX_PRIM_custom_vmap_call || jx_eqn_is_unknown(eqn);
}

bool jx_points_batches(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, batches, NULL);
}

bool jx_points_stops(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, is_stop, NULL);
}

static bool looks_up(const jx_eqn *eqn, const void *unused)
{
    jx_prim_id id = eqn->prim->id;

    (void)unused;
    return (id == JX_PRIM_dynamic_slice || id == JX_PRIM_gather) &&
           jx_dtype_is_inexact(eqn->outs[0]->aval->dtype);
}

bool jx_points_looks_up(const jx_jaxpr *jaxpr)
{
    return any_eqn(jaxpr, looks_up, NULL);
}

/* Of literals that a jaxpr fills arrays with, the smallest that is no number
 * of what it computes with. */
static bool find_infinite(const jx_eqn *eqn, const void *with)
{
    double *least = *(double *const *)with, value;
    jx_prim_id id = eqn->prim->id;

    if (id != JX_PRIM_select_n && id != JX_PRIM_broadcast_in_dim &&
        id != JX_PRIM_jit)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (jx_points_float(eqn->ins[i], &value) && isfinite(value) &&
            fabs(value) >=
                (eqn->ins[i].literal->aval->dtype == JX_F16 ? 1e4 : 1e8))
            *least = fmin(*least, fabs(value));
    return false;
}

double jx_points_reach(const jx_jaxpr *jaxpr)
{
    double least = INFINITY, *with = &least;

    any_eqn(jaxpr, find_infinite, &with);
    return sqrt(least) / 10; /* products of two are far from it */
}
