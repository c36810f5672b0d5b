/* gradwithin.c - see gradding.h: rules whose results count at
 * single points only.
 *
 * where(x == 0, f(x), sin(x) / x) takes one number from f, and its derivatives
 * from f's rule, which need not be f's anywhere: only the whole has slopes.  So
 * is every rule that the code of such a rule alone calls. */
#include "runtime/gradients/gradding.h"
#include "runtime/plan_rules.h"

#include <string.h>

enum { MOST_FRAMES = 16, MOST_STEPS = 2000 };

/* A jaxpr, and the equation of another one that calls it. */
typedef struct frame {
    const jx_jaxpr *jaxpr;
    const struct frame *caller;
    const jx_eqn *call;
    int depth;
    const jx_rule_pattern
        *pattern; /* it is the fwd or the bwd of that; or NULL */
} frame;

typedef struct tracing {
    jx_arena *arena;
    int steps; /* that are left */
} tracing;

/* A value where it is used, or the equation that makes it. */
typedef struct place {
    const frame *frame;
    jx_atom atom;
    const jx_eqn *eqn; /* NULL: an input, or a literal */
} place;

/* Of the call of a jaxpr as it is, the frame of that; else NULL. */
static const frame *below(jx_arena *arena, const frame *f, const jx_eqn *eqn)
{
    const jx_closed *callee =
        eqn->prim->id == JX_PRIM_jit ? jx_eqn_callee(eqn) : NULL;
    frame *to =
        callee && callee->jaxpr->nins == eqn->nins && f->depth < MOST_FRAMES
            ? JX_NEW(arena, frame)
            : NULL;

    if (to)
        *to = (frame){callee->jaxpr, f, eqn, f->depth + 1, NULL};
    return to;
}

/* Of a bwd's input that its fwd computes, the frame of that and its output
 * there; else NULL. */
static const frame *fwd_of(tracing *t, const frame *f, int input, jx_atom *out)
{
    const jx_rule_pattern *p = f->pattern;
    frame *to;
    int computed = 0;

    if (!p || f->jaxpr != p->bwd.jaxpr || input >= p->nres ||
        (p->fwds && p->fwds[input] >= 0))
        return NULL;
    for (int r = 0; r < input; r++)
        computed += !(p->fwds && p->fwds[r] >= 0);
    to = computed < p->fwd.jaxpr->nouts ? JX_NEW(t->arena, frame) : NULL;
    if (to) {
        *to = (frame){.jaxpr = p->fwd.jaxpr, .pattern = p};
        *out = to->jaxpr->outs[computed];
    }
    return to;
}

/* The number of a variable among a jaxpr's inputs, or -1. */
static int input_of(const jx_jaxpr *jaxpr, const jx_var *var)
{
    int i = var->id - jaxpr->nconsts;

    return i >= 0 && i < jaxpr->nins && jaxpr->vars[var->id] == var ? i : -1;
}

static const jx_eqn *maker_of(const jx_jaxpr *jaxpr, const jx_var *var,
                              int *which)
{
    for (int i = 0; i < jaxpr->neqns; i++)
        for (*which = 0; *which < jaxpr->eqns[i].nouts; ++*which)
            if (jaxpr->eqns[i].outs[*which] == var)
                return &jaxpr->eqns[i];
    return NULL;
}

static bool passes_on(const jx_eqn *eqn)
{
    jx_prim_id id = eqn->prim->id;

    return id == JX_PRIM_broadcast_in_dim || id == JX_PRIM_reshape ||
           id == JX_PRIM_squeeze || id == JX_PRIM_convert_element_type ||
           id == JX_PRIM_copy;
}

/* Where a value comes from, through calls and what only passes it on. */
static place origin_of(tracing *t, const frame *f, jx_atom atom)
{
    while (atom.var && --t->steps > 0) {
        int input = input_of(f->jaxpr, atom.var), which;
        const jx_eqn *eqn = maker_of(f->jaxpr, atom.var, &which);
        const frame *inner = eqn ? below(t->arena, f, eqn) : NULL;
        const frame *fwd =
            input >= 0 && !f->caller ? fwd_of(t, f, input, &atom) : NULL;
        if (input >= 0 && f->caller) {
            atom = f->call->ins[input];
            f = f->caller;
        } else if (fwd) {
            f = fwd;
        } else if (inner) {
            atom = inner->jaxpr->outs[which];
            f = inner;
        } else if (eqn && passes_on(eqn)) {
            atom = eqn->ins[0];
        } else {
            return (place){f, atom, eqn};
        }
    }
    return (place){f, atom, NULL};
}

static bool is_even(const jx_eqn *eqn)
{
    const jx_atom *in = eqn ? eqn->ins : NULL;

    return eqn &&
           (eqn->prim->id == JX_PRIM_abs || eqn->prim->id == JX_PRIM_square ||
            (eqn->prim->id == JX_PRIM_mul && in[0].var &&
             in[0].var == in[1].var));
}

/* Whether it says that the magnitude of a number is below a small one: 1;
 * above it: 0; or -1. */
static int where_small(tracing *t, const frame *f, const jx_eqn *eqn)
{
    static const double small = 1.5e-3;
    jx_prim_id id = eqn->prim->id;
    bool less = id == JX_PRIM_lt || id == JX_PRIM_le;
    double limit;

    if (!less && id != JX_PRIM_gt && id != JX_PRIM_ge)
        return -1;
    for (int i = 0; i < 2; i++) {
        place number = origin_of(t, f, eqn->ins[i]);
        if (jx_points_float(number.atom, &limit) && limit > 0 &&
            limit < small && is_even(origin_of(t, f, eqn->ins[!i]).eqn))
            return less == (i == 1);
    }
    return -1;
}

/* The value of a predicate where two floats are equal, or one is about 0, and
 * hardly anywhere else: 1 or 0; or -1. */
static int where_equal(tracing *t, const frame *f, jx_atom which)
{
    place from = origin_of(t, f, which);
    const jx_eqn *eqn = from.eqn;

    if (eqn && eqn->prim->id == JX_PRIM_not && --t->steps > 0) {
        int inside = where_equal(t, from.frame, eqn->ins[0]);
        return inside < 0 ? inside : !inside;
    }
    if (!eqn || eqn->nins != 2 ||
        !jx_dtype_is_inexact(jx_atom_aval(eqn->ins[0])->dtype))
        return -1;
    if (eqn->prim->id != JX_PRIM_eq && eqn->prim->id != JX_PRIM_ne)
        return where_small(t, from.frame, eqn);
    return eqn->prim->id == JX_PRIM_eq;
}

static bool is_elementwise(const jx_eqn *eqn)
{
    return jx_plan_rule_of(eqn->prim->id) == jx_plan_elementwise;
}

static bool is_zero(tracing *t, const frame *f, jx_atom atom)
{
    place from = origin_of(t, f, atom);
    const jx_literal *literal = from.atom.var ? NULL : from.atom.literal;
    static const unsigned char zeros[sizeof literal->bits];

    return literal && !literal->dim && !literal->array &&
           memcmp(literal->bits, zeros, sizeof zeros) == 0;
}

/* Whether a value is zero but where two numbers are equal. */
static bool is_masked(tracing *t, const frame *f, jx_atom atom)
{
    place from = origin_of(t, f, atom);
    const jx_eqn *eqn = from.eqn;

    if (!eqn || --t->steps < 0)
        return false;
    if (eqn->prim->id == JX_PRIM_select_n && eqn->nins == 3) {
        int equal = where_equal(t, from.frame, eqn->ins[0]);
        return equal >= 0 && is_zero(t, from.frame, eqn->ins[1 + !equal]);
    }
    if (eqn->prim->id == JX_PRIM_neg)
        return is_masked(t, from.frame, eqn->ins[0]);
    return eqn->prim->id == JX_PRIM_mul &&
           (is_masked(t, from.frame, eqn->ins[0]) ||
            is_masked(t, from.frame, eqn->ins[1]));
}

static bool counts(tracing *t, const frame *f, const jx_var *var);

/* Whether operand k of an equation matters in more than single points. */
static bool counts_in(tracing *t, const frame *f, const jx_eqn *eqn, int k)
{
    const frame *inner = below(t->arena, f, eqn);

    if (eqn->prim->id == JX_PRIM_select_n && eqn->nins == 3 && k > 0)
        return where_equal(t, f, eqn->ins[0]) != k - 1 &&
               counts(t, f, eqn->outs[0]);
    if (eqn->prim->id == JX_PRIM_mul && is_masked(t, f, eqn->ins[!k]))
        return false;
    if (passes_on(eqn) || is_elementwise(eqn))
        return counts(t, f, eqn->outs[0]);
    return !inner ||
           counts(t, inner, inner->jaxpr->vars[inner->jaxpr->nconsts + k]);
}

/* Whether output i of a frame does: by its caller, or as a residual by bwd. */
static bool output_counts(tracing *t, const frame *f, int i)
{
    const jx_rule_pattern *p = f->pattern;

    if (f->caller)
        return counts(t, f->caller, f->call->outs[i]);
    for (int r = 0, next = 0; p && f->jaxpr == p->fwd.jaxpr && r < p->nres;
         r++) {
        if ((p->fwds && p->fwds[r] >= 0) || next++ != i)
            continue;
        const frame bwd = {.jaxpr = p->bwd.jaxpr, .pattern = p};
        return r >= bwd.jaxpr->nins ||
               counts(t, &bwd, bwd.jaxpr->vars[bwd.jaxpr->nconsts + r]);
    }
    return true;
}

static bool counts(tracing *t, const frame *f, const jx_var *var)
{
    if (--t->steps < 0)
        return true; /* it may */
    for (int i = 0; i < f->jaxpr->nouts; i++)
        if (f->jaxpr->outs[i].var == var && output_counts(t, f, i))
            return true;
    for (int i = 0; i < f->jaxpr->neqns; i++)
        for (int k = 0; k < f->jaxpr->eqns[i].nins; k++)
            if (f->jaxpr->eqns[i].ins[k].var == var &&
                counts_in(t, f, &f->jaxpr->eqns[i], k))
                return true;
    return false;
}

/* ---- which rules */

typedef enum reach { NOWHERE = 0, AT_POINTS, EVERYWHERE } reach;

/* How code is reached: by how many rules, one in the code of another. */
typedef struct way {
    reach how;
    int depth; /* the least */
} way;

typedef struct search {
    jx_arena *arena;
    way *jaxprs, *rules; /* by number */
} search;

/* Whether that is news. */
static bool arrive(way *at, way by)
{
    bool news = by.how > at->how || by.depth < at->depth;

    at->depth =
        at->how == NOWHERE || by.depth < at->depth ? by.depth : at->depth;
    at->how = by.how > at->how ? by.how : at->how;
    return news;
}

static void reach_code(search *s, const frame *f, way by);

static void reach_rule(search *s, const jx_rule *rule, way by)
{
    way inside = {by.how, by.depth + 1};

    if (!arrive(&s->rules[rule->id], by))
        return;
    reach_code(s, &(frame){.jaxpr = rule->primal.jaxpr}, by);
    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        reach_code(s, &(frame){.jaxpr = p->jvp.jaxpr}, inside);
        reach_code(s, &(frame){.jaxpr = p->fwd.jaxpr, .pattern = p}, inside);
        reach_code(s, &(frame){.jaxpr = p->bwd.jaxpr, .pattern = p}, inside);
    }
}

static void reach_value(search *s, const jx_value *value, way by)
{
    if (value->tag == JX_V_JAXPR)
        reach_code(s, &(frame){.jaxpr = value->jaxpr}, by);
    if (value->tag == JX_V_RULE)
        reach_rule(s, value->rule, by);
    for (int i = 0; value->items && i < value->count; i++)
        reach_value(s, value->items[i], by);
}

/* Whether an equation is no call of a rule's function of which the results
 * count at single points only. */
static bool call_counts(jx_arena *arena, const frame *f, const jx_eqn *eqn)
{
    tracing t = {arena, MOST_STEPS};

    if (eqn->prim->id != JX_PRIM_custom_jvp_call &&
        eqn->prim->id != JX_PRIM_custom_vjp_call)
        return true;
    for (int i = 0; i < eqn->nouts; i++)
        if (counts(&t, f, eqn->outs[i]))
            return true;
    return eqn->nouts == 0;
}

static void reach_code(search *s, const frame *f, way by)
{
    if (!f->jaxpr || !arrive(&s->jaxprs[f->jaxpr->id], by))
        return;
    for (int i = 0; i < f->jaxpr->neqns; i++) {
        const jx_eqn *eqn = &f->jaxpr->eqns[i];
        const frame *inner = below(s->arena, f, eqn);
        way here = by;
        if (by.how == EVERYWHERE && !call_counts(s->arena, f, eqn))
            here.how = AT_POINTS;
        if (inner)
            reach_code(s, inner, here);
        for (int k = 0; !inner && k < eqn->nparams; k++)
            reach_value(s, eqn->params[k].value, here);
    }
}

const jx_rule_outcome *jx_grad_outcomes(const jx_program *program)
{
    enum {
        ORDERS = 2
    }; /* that are judged: a rule counts from its depth + 1 on */
    jx_arena *arena = program->ctx->arena;
    search s = {arena, JX_NEW_ARRAY(arena, program->njaxprs + 1, way),
                JX_NEW_ARRAY(arena, program->nrules + 1, way)};
    jx_rule_outcome *all =
        JX_NEW_ARRAY(arena, program->nrules + 1, jx_rule_outcome);

    if (!s.jaxprs || !s.rules || !all)
        return NULL;
    reach_code(&s, &(frame){.jaxpr = program->entry.jaxpr},
               (way){EVERYWHERE, 0});
    for (int i = 0; i < program->nrules; i++) {
        const jx_rule *rule = program->rules[i];
        bool held = rule->npatterns > 0 || !rule->truncated ||
                    (strcmp(rule->truncated, "depth") != 0 &&
                     strcmp(rule->truncated, "budget") != 0);
        if (s.rules[i].how == AT_POINTS)
            all[i] = JX_RULE_WITHIN;
        else if (s.rules[i].how == EVERYWHERE && !held &&
                 s.rules[i].depth >= ORDERS)
            all[i] = JX_RULE_BEYOND;
    }
    return all;
}
