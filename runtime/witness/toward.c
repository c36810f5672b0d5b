/* toward.c - see parts.h: where the derivative of an operand leads. */
#include "runtime/witness/parts.h"

#include "analyzer/transform/vjp.h"
#include "analyzer/typing.h"
#include "frontend/ir/params.h"
#include "runtime/elementwise.h"
#include "runtime/fits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where an operand does harm. */
typedef enum goal {
    NO_GOAL = 0,
    BELOW,  /* as small as can be: log, sqrt */
    NOUGHT, /* zero: a divisor */
    ABOVE,  /* as large as can be: exp */
    BEYOND, /* as large as can be, of either sign: arccos */
} goal;

static goal goal_of(const jx_eqn *eqn, int *operand)
{
    *operand = 0;
    switch (eqn->prim->id) {
    case JX_PRIM_log:
    case JX_PRIM_log1p:
    case JX_PRIM_sqrt:
    case JX_PRIM_rsqrt:
    case JX_PRIM_acosh:
    case JX_PRIM_pow: return BELOW;
    case JX_PRIM_div:
    case JX_PRIM_rem: *operand = 1; return NOUGHT;
    case JX_PRIM_integer_pow:
        return ((const jx_p_integer_pow *)eqn->typed)->y < 0 ? NOUGHT : NO_GOAL;
    case JX_PRIM_exp:
    case JX_PRIM_exp2:
    case JX_PRIM_expm1:
    case JX_PRIM_lgamma: return ABOVE;
    case JX_PRIM_sinh:
    case JX_PRIM_cosh:
    case JX_PRIM_acos:
    case JX_PRIM_asin:
    case JX_PRIM_atanh:
    case JX_PRIM_square:
    case JX_PRIM_mul: return eqn->prim->id == JX_PRIM_mul ? NO_GOAL : BEYOND;
    default: return NO_GOAL;
    }
}

bool jx_hunt_has_goal(const jx_eqn *eqn)
{
    int operand;
    goal g = eqn->typed ? goal_of(eqn, &operand) : NO_GOAL;

    return g != NO_GOAL && operand < eqn->nins && eqn->ins[operand].var &&
           jx_dtype_is_float(jx_atom_aval(eqn->ins[operand])->dtype);
}

/* -- a way ----------------------------------------------------------------- */

/* A way: the value, and the derivative of one of its elements, both in
 * the wide domain. */
typedef struct way {
    jx_hunt *hunt;
    goal goal;
    jx_callee value, back;
    int64_t count;       /* elements of the value */
    int64_t element;     /* the one that is led */
    double **from, **to; /* per float input: where one is, and where to go */
    bool *apart;         /* per input: the value has not depended on it */
} way;

static bool opened(jx_callee *f, jx_program *program, size_t memory)
{
    const jx_plan_options how = {.domain = JX_WIDE, .memory = memory};
    const jx_typed *typed =
        program ? jx_program_fits(program, false, 0, NULL) : NULL;

    return typed && jx_callee_open(f, typed, &program->entry, &how);
}

static bool open_way(way *w, const jx_site *site, int operand)
{
    jx_hunt *h = w->hunt;
    jx_program *value = jx_hunt_operands(h, site, operand, 1);
    const jx_typed *typed = value ? jx_typed_of(value) : NULL;
    jx_program *back = typed ? jx_program_vjp(typed) : NULL;
    int n = h->run.nins;

    if (!back || !opened(&w->value, value, h->options->memory) ||
        !opened(&w->back, back, h->options->memory) || w->value.nouts != 1 ||
        w->back.nins != n + 1)
        return false;
    w->count = jx_plan_out(w->value.plan, 0)->count;
    w->from = calloc((size_t)n + 1, sizeof *w->from);
    w->to = calloc((size_t)n + 1, sizeof *w->to);
    w->apart = malloc((size_t)n + 1);
    if (w->apart)
        memset(w->apart, true, (size_t)n + 1);
    for (int i = 0; w->from && w->to && i < n; i++) {
        size_t count = (size_t)jx_plan_in(h->run.plan, i)->count + 1;
        if (!jx_dtype_is_float(jx_plan_in(h->run.plan, i)->dtype))
            continue;
        w->from[i] = calloc(count, sizeof **w->from);
        w->to[i] = calloc(count, sizeof **w->to);
        if (!w->from[i] || !w->to[i])
            return false;
    }
    return w->from && w->to && w->apart && w->count > 0;
}

static void close_way(way *w)
{
    for (int i = 0; i < w->hunt->run.nins; i++) {
        if (w->from)
            free(w->from[i]);
        if (w->to)
            free(w->to[i]);
    }
    free(w->from);
    free(w->to);
    free(w->apart);
    jx_callee_close(&w->value);
    jx_callee_close(&w->back);
}

/* How far a value is from where it does harm: less is nearer. */
static double distance(goal g, double value)
{
    if (isnan(value))
        return INFINITY;
    return g == BELOW    ? value
           : g == NOUGHT ? fabs(value)
           : g == ABOVE  ? -value
                         : -fabs(value);
}

/* The value at the hunt's inputs; its nearest element, if `any`. */
static bool look(way *w, bool any, double *value)
{
    const double *values;

    jx_hunt_hand_over(w->hunt, &w->value);
    if (!jx_hunt_spend(w->hunt, &w->value))
        return false;
    values = jx_exec_out(w->value.exec, 0);
    for (int64_t i = 0; any && i < w->count; i++)
        if (i == 0 || distance(w->goal, values[i]) <
                          distance(w->goal, values[w->element]))
            w->element = i;
    *value = values[w->element];
    return true;
}

/* The end of each input's range that the derivative points to. */
static bool point(way *w, double value)
{
    jx_hunt *h = w->hunt;
    double *cotangent = w->back.in[h->run.nins];
    double sign = w->goal == BELOW    ? -1
                  : w->goal == NOUGHT ? (value > 0 ? -1 : 1)
                  : w->goal == ABOVE  ? 1
                                      : (value < 0 ? -1 : 1);
    int next = 0;
    bool any = false;

    memset(cotangent, 0, (size_t)w->count * sizeof *cotangent);
    cotangent[w->element] = sign;
    jx_hunt_hand_over(h, &w->back);
    if (!jx_hunt_spend(h, &w->back))
        return false;
    for (int i = 0; i < h->run.nins; i++) {
        const double *slope;
        if (!w->to[i])
            continue;
        slope = jx_exec_out(w->back.exec, next++);
        jx_hunt_take(h, i, w->from[i]);
        for (int64_t k = 0; k < jx_plan_in(h->run.plan, i)->count; k++) {
            bool moves = isfinite(slope[k]) && slope[k] != 0;
            w->to[i][k] = !moves         ? w->from[i][k]
                          : slope[k] > 0 ? h->held[i].hi
                                         : h->held[i].lo;
            any |= w->to[i][k] != w->from[i][k];
            w->apart[i] &= slope[k] == 0;
        }
    }
    return any;
}

/* The hunt's inputs that part of the way on. */
static void go(way *w, double part)
{
    enum { PIECE = 256 };
    jx_hunt *h = w->hunt;
    double at[PIECE];

    for (int i = 0; i < h->run.nins; i++) {
        int64_t n = w->to[i] ? jx_plan_in(h->run.plan, i)->count : 0;
        for (int64_t done = 0; done < n; done += PIECE) {
            const double *from = w->from[i] + done, *to = w->to[i] + done;
            int64_t count = n - done < PIECE ? n - done : PIECE;
            for (int64_t k = 0; k < count; k++)
                at[k] = from[k] + part * (to[k] - from[k]);
            jx_hunt_put(h, i, done, at, count);
        }
    }
}

/* Between two values of unlike sign: to the zero, if the numbers have it. */
static void halve(way *w, double first, const jx_eqn *eqn)
{
    double low = 0, high = 1, value;

    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        go(w, middle);
        if (!look(w, false, &value))
            return;
        if (value == 0)
            break;
        if ((value > 0) == (first > 0))
            low = middle;
        else
            high = middle;
        if (i % 8 == 7 &&
            (!jx_hunt_try(w->hunt) || jx_hunt_knows(w->hunt, eqn)))
            return;
    }
    jx_hunt_try(w->hunt);
}

/* The equation gave what is not finite, and no output shows it: tanh(y + z *
 * inf) is 1 but where z is 0.  Inputs that have no part in it may show it where
 * they are zero, or at an end. */
static void uncover(way *w, const jx_eqn *eqn)
{
    jx_hunt *h = w->hunt;
    bool hidden = false, any = false;

    for (int i = 0; i < h->run.nins; i++)
        any |= w->to[i] && w->apart[i];
    if (!any || (h->glanced && !jx_hunt_run(h, false, 0, NULL)))
        return;
    for (int i = 0; i < h->watch->nroots; i++)
        hidden |= h->watch->roots[i].eqn == eqn;
    for (int i = 0; hidden && i < h->run.nins; i++)
        for (int k = 0; w->to[i] && w->apart[i] && jx_hunt_fill_one(h, i, k);
             k++)
            if (!jx_hunt_try(h) || jx_hunt_knows(h, eqn))
                return;
}

enum { STEPS = 5 };

/* From the hunt's inputs on, step by step, as long as it gets nearer. */
static void climb(way *w, const jx_eqn *eqn)
{
    double value, next;

    if (!look(w, true, &value))
        return;
    for (int step = 0; step < STEPS; step++) {
        double part = 1;
        if (!point(w, value))
            return;
        for (; part > 0.01; part /= 4) {
            go(w, part);
            if (!look(w, false, &next))
                return;
            if (distance(w->goal, next) < distance(w->goal, value) ||
                (w->goal == NOUGHT && (next > 0) != (value > 0)))
                break;
        }
        if (!jx_hunt_try(w->hunt) || jx_hunt_knows(w->hunt, eqn))
            return;
        uncover(w, eqn);
        if (jx_hunt_knows(w->hunt, eqn))
            return;
        if (w->goal == NOUGHT && (next > 0) != (value > 0)) {
            halve(w, value, eqn);
            return;
        }
        if (!(distance(w->goal, next) < distance(w->goal, value)))
            return;
        value = next;
    }
}

void jx_hunt_toward(jx_hunt *h, const jx_site *site)
{
    const jx_eqn *eqn = site->eqn;
    way w = {.hunt = h};
    int operand;

    w.goal = goal_of(eqn, &operand);
    if (open_way(&w, site, operand))
        for (int i = 0;
             !jx_hunt_knows(h, eqn) && h->operations > 0 && jx_hunt_start(h, i);
             i++)
            climb(&w, eqn);
    else if (h->program->ctx->error.kind != JX_E_NONE)
        jx_error_clear(h->program->ctx);
    close_way(&w);
}
