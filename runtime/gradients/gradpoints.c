/* gradpoints.c - see gradpoints.h. */
#include "runtime/gradients/gradpoints.h"
#include "frontend/ir/element.h"

#include "frontend/base/vec.h"
#include "runtime/choices.h"
#include "runtime/elementwise.h"
#include "runtime/shake.h"
#include "runtime/turns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const jx_point fixed[] = {
    {JX_AT_NORMAL, 1, "normal"},
    {JX_AT_NORMAL, 0.03, "normal, scale 0.03"},
    {JX_AT_NORMAL, 3, "normal, scale 3"},
    {JX_AT_EQUAL, 0, "all zeros"},
    {JX_AT_NORMAL, 30, "normal, scale 30"},
    {JX_AT_NORMAL, 1000, "normal, scale 1000"},
    {JX_AT_POSITIVE, 1, "positive"},
    {JX_AT_POSITIVE, 5, "positive, scale 5"},
    {JX_AT_UNIT, 1, "between 0 and 1"},
    {JX_AT_EQUAL, 1, "all ones"},
    {JX_AT_EQUAL, -1, "all minus one"},
    {JX_AT_EQUAL, 1000, "all 1000"},
    {JX_AT_EQUAL, -1000, "all -1000"},
    {JX_AT_QUARTERS, 1, "multiples of 1/4"},
    {JX_AT_QUARTERS, 4, "integers"},
    {JX_AT_NORMAL, 1e-5, "normal, scale 1e-5"},
    {JX_AT_SPD, 1, "positive definite matrices"},
};

static const jx_point of_sample[JX_SAMPLE_POINTS] = {
    {JX_AT_SAMPLE, 0, "the sample"},
    {JX_AT_SAMPLE, 0.1, "near the sample"},
    {JX_AT_ROUNDED, 1, "the sample, rounded"},
    {JX_AT_ZEROED, 0, "the sample with argument 0 at zero"},
    {JX_AT_ZEROED, 1, "the sample with argument 1 at zero"},
    {JX_AT_ZEROED, 2, "the sample with argument 2 at zero"},
    {JX_AT_SAMPLE, 0.5, "around the sample"},
};

typedef struct point_list {
    jx_point *at; /* as in JX_VEC */
    size_t count, capacity;
    char *reached; /* by jaxpr: 1 + the least depth at which it was met */
    double reach;  /* as in jx_points_reach() */
} point_list;

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

/* A float literal's value, if it is one that code may compare with. */
static bool constant_of(jx_atom atom, double *value)
{
    return jx_points_float(atom, value) && isfinite(*value) &&
           fabs(*value) > 1e-3 && fabs(*value) <= 1e4 && fabs(*value) != 1;
}

static void add_constant(const jx_program *program, point_list *to,
                         double value)
{
    enum { MOST = 12 };
    size_t around = 0;

    for (size_t i = 0; i < to->count; i++) {
        around += to->at[i].kind == JX_AT_AROUND;
        if (to->at[i].kind == JX_AT_AROUND && to->at[i].scale == value)
            return;
    }
    if (around == MOST)
        return;
    const char *name =
        jx_arena_printf(program->ctx->arena, "around %.6g", value);
    JX_PUSH(program->ctx->arena, to, (jx_point){JX_AT_AROUND, value, name});
}

enum { MAX_DEPTH = 8 };

static void constants_in(const jx_program *program, const jx_jaxpr *jaxpr,
                         int depth, point_list *to);

static void constants_in_value(const jx_program *program, const jx_value *v,
                               int depth, point_list *to)
{
    if (!v || depth > MAX_DEPTH)
        return;
    if (v->tag == JX_V_JAXPR)
        constants_in(program, v->jaxpr, depth + 1, to);
    if (v->tag == JX_V_TUPLE || v->tag == JX_V_RECORD)
        for (int i = 0; i < v->count; i++)
            constants_in_value(program, v->items[i], depth + 1, to);
}

static void constants_in(const jx_program *program, const jx_jaxpr *jaxpr,
                         int depth, point_list *to)
{
    double value;

    /* As deep as this or less, it has been here. */
    if (to->reached[jaxpr->id] && to->reached[jaxpr->id] <= depth + 1)
        return;
    to->reached[jaxpr->id] = (char)(depth + 1);
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nins; k++)
            if (constant_of(eqn->ins[k], &value) && fabs(value) <= to->reach) {
                add_constant(program, to, value);
                add_constant(program, to, -value);
            }
        for (int k = 0; k < eqn->nparams; k++)
            constants_in_value(program, eqn->params[k].value, depth, to);
    }
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

const jx_point *jx_points_make(const jx_program *program,
                               const jx_jaxpr *const *jaxprs, int njaxprs,
                               bool sample, int *count)
{
    jx_arena *arena = program->ctx->arena;
    point_list list = {0};
    double reach = INFINITY;

    for (int i = 0; i < njaxprs; i++)
        reach = jaxprs[i] ? fmin(reach, jx_points_reach(jaxprs[i])) : reach;
    for (size_t i = 0; sample && i < sizeof of_sample / sizeof *of_sample; i++)
        JX_PUSH(arena, &list, of_sample[i]);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fabs(fixed[i].scale) <= reach)
            JX_PUSH(arena, &list, fixed[i]);
    list.reached = JX_NEW_ARRAY(arena, program->njaxprs + 1, char);
    list.reach = reach;
    for (int i = 0; i < njaxprs && list.reached; i++)
        if (jaxprs[i])
            constants_in(program, jaxprs[i], 0, &list);
    *count = (int)list.count;
    return list.at;
}

/* A A' + by n I over the last two axes, where they are equal. */
static bool fill_spd(jx_rng *rng, const jx_span_of *span, double by, double *x)
{
    int64_t n = span->rank >= 2 ? span->shape[span->rank - 1] : 0;

    if (n < 1 || n > 64 || span->shape[span->rank - 2] != n || span->complex)
        return false;
    for (int64_t m = 0; m < span->count / (n * n); m++) {
        double a[64], *to = x + m * n * n;
        memset(to, 0, (size_t)(n * n) * sizeof *to);
        for (int64_t k = 0; k < n; k++) {
            for (int64_t i = 0; i < n; i++)
                a[i] = jx_rng_normal(rng);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++)
                    to[i * n + j] += a[i] * a[j];
        }
        for (int64_t i = 0; i < n; i++)
            to[i * n + i] += by * (double)n;
    }
    return true;
}

/* Close by or, for a large constant, far enough off for a finite difference's
 * steps, which grow with it, to stay on one side. */
static double around(double scale, jx_rng *rng)
{
    bool far = fabs(scale) > 8 && jx_rng_uniform(rng) < 0.5;

    return scale + (far ? fabs(scale) : 1) * jx_rng_normal(rng) / 8;
}

static bool is_of_normals(jx_point_kind kind)
{
    return kind != JX_AT_UNIT && kind != JX_AT_EQUAL && kind != JX_AT_AROUND &&
           kind != JX_AT_ROUNDED && kind != JX_AT_ZEROED;
}

/* `normal`: a number of its own, for what is made of one. */
static double element(const jx_point *point, jx_rng *rng, double normal,
                      double sample)
{
    switch (point->kind) {
    case JX_AT_POSITIVE: return point->scale * (fabs(normal) + 0.3);
    case JX_AT_UNIT: return 0.05 + 0.9 * jx_rng_uniform(rng);
    case JX_AT_EQUAL: return point->scale;
    case JX_AT_QUARTERS: return point->scale * round(4 * normal) / 4;
    case JX_AT_AROUND: return around(point->scale, rng);
    case JX_AT_SAMPLE: return sample * (1 + point->scale * normal);
    case JX_AT_ROUNDED: return round(sample) != 0 ? round(sample) : sample;
    case JX_AT_ZEROED: return sample;
    case JX_AT_GIVEN:
    case JX_AT_NORMAL:
    case JX_AT_SPD: break;
    }
    return point->scale * normal;
}

void jx_point_fill(const jx_point *point, jx_rng *rng, const jx_span_of *spans,
                   int nspans, double *x)
{
    for (int s = 0; s < nspans; s++) {
        double *to = x + spans[s].at;
        if (spans[s].fixed) {
            memcpy(to, spans[s].fixed, (size_t)spans[s].count * sizeof *to);
            continue;
        }
        if (point->kind == JX_AT_SPD &&
            fill_spd(rng, &spans[s], point->scale, to))
            continue;
        if (is_of_normals(point->kind))
            jx_rng_normals(rng, spans[s].count, to);
        for (int i = 0; i < spans[s].count; i++) {
            double sample = spans[s].sample ? spans[s].sample[i] : 0;
            to[i] = element(point, rng, to[i], sample);
            if (spans[s].positive && to[i] < 0)
                to[i] = -to[i];
            if (point->kind == JX_AT_ROUNDED && i > 0 && to[i] == to[i - 1])
                to[i] = sample; /* ties are for others */
        }
    }
}

static void normalize(double *d, int size)
{
    double most = 0;

    for (int i = 0; i < size; i++)
        most = fmax(most, fabs(d[i]));
    for (int i = 0; most > 0 && i < size; i++)
        d[i] /= most;
}

/* The directions under construction. */
typedef struct directions {
    int count, size;
    double *at;
    const char **names;
} directions;

static double *add(directions *d, const char *name)
{
    if (d->count == JX_MOST_DIRECTIONS)
        return NULL;
    d->names[d->count] = name;
    double *at = d->at + (size_t)d->count++ * (size_t)d->size;
    memset(at, 0, (size_t)d->size * sizeof *at);
    return at;
}

static void add_random(directions *d, jx_rng *rng, int from, int count,
                       const char *name)
{
    double *at = add(d, name);

    if (!at)
        return;
    jx_rng_normals(rng, count, at + from);
    normalize(at, d->size);
}

static void add_element(directions *d, jx_ctx *ctx, int i)
{
    double *at = add(d, jx_arena_printf(ctx->arena, "element %d alone", i));

    if (at)
        at[i] = 1;
}

/* What is fixed does not move. */
static void hold_fixed(directions *d, const jx_span_of *spans, int nspans)
{
    for (int k = 0; k < d->count; k++)
        for (int s = 0; s < nspans; s++)
            for (int i = 0; spans[s].fixed && i < spans[s].count; i++)
                d->at[(size_t)k * (size_t)d->size + (size_t)(spans[s].at + i)] =
                    0;
}

int jx_directions_at_random(jx_rng *rng, const jx_span_of *spans, int nspans,
                            int size, double *to, const char **names)
{
    directions d = {0, size, to, names};

    add_random(&d, rng, 0, size, "random");
    hold_fixed(&d, spans, nspans);
    return d.count;
}

int jx_directions_make(jx_ctx *ctx, jx_rng *rng, const jx_span_of *spans,
                       int nspans, int size, const double *x, int random,
                       double *to, const char **names)
{
    directions d = {0, size, to, names};
    double *ones, *along;

    add_random(&d, rng, 0, size, "random");
    if ((ones = add(&d, "all ones")))
        for (int i = 0; i < size; i++)
            ones[i] = 1;
    for (int s = 0; nspans > 1 && s < nspans && s < 6; s++)
        add_random(&d, rng, spans[s].at, spans[s].count,
                   jx_arena_printf(ctx->arena, "argument %d alone", s));
    add_element(&d, ctx, 0);
    if (size > 1)
        add_element(&d, ctx, size - 1);
    if (size > 2)
        add_element(&d, ctx, (int)(jx_rng_next(rng) % (uint64_t)size));
    if ((along = add(&d, "along the point"))) {
        memcpy(along, x, (size_t)size * sizeof *along);
        normalize(along, size);
        if (along[0] == 0 && size == 1)
            d.count--; /* nothing to move along at zero */
    }
    for (int i = 0; i < random; i++)
        add_random(&d, rng, 0, size, "random");
    hold_fixed(&d, spans, nspans);
    return d.count;
}
