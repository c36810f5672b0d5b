/* told.c - see parts.h: integers that a program tells from others by
 * itself, outside of those that its inputs are meant to be. */
#include "runtime/witness/parts.h"

#include "frontend/ir/params.h"

#include <math.h>

/* Below it integers are drawn of any input; no loop is run with more turns. */
enum { SMALL = 4, MOST_TURNS = 1 << 20 };

/* What one side of an equation tells of the other, and so of what that one is
 * made of: numbers, of which those count that lie outside. */
typedef struct telling {
    int count;
    double at[2];
    bool one;  /* of these alone, not of all on their side */
    bool made; /* what is held against them is computed of that input */
    double modulo;
} telling;

void jx_domain_tell(jx_integer_domain *to, int64_t number)
{
    for (int i = 0; i < to->ntold; i++)
        if (to->told[i] == number)
            return;
    if (to->ntold < JX_MOST_TOLD)
        to->told[to->ntold++] = number;
}

bool jx_domain_can_tell(const jx_integer_domain *of, double number)
{
    return number >= (double)of->lo && number <= (double)of->hi &&
           !(of->turns && fabs(number) > MOST_TURNS);
}

/* ---- comparisons */

static bool is_comparison(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge: return true;
    default: return false;
    }
}

static telling one_number(double at)
{
    return (telling){.count = 1, .at = {at}};
}

static telling two_numbers(double first, double second)
{
    return (telling){.count = 2, .at = {first, second}};
}

/* The numbers on both sides of where a comparison of operand `k` with a number
 * changes: that one is on the side of what is less, or of what is more. */
static telling beside(const jx_eqn *eqn, int k, double number)
{
    jx_prim_id op = eqn->prim->id;
    bool less = k == 0 ? op == JX_PRIM_gt || op == JX_PRIM_le
                       : op == JX_PRIM_lt || op == JX_PRIM_ge;

    return two_numbers(less ? number : number - 1, less ? number + 1 : number);
}

/* A comparison is one end of a range of which the other end is as far as the
 * axis goes: no device's part of it, but all. */
static bool ends_at(const jx_hunt *h, const jx_eqn *eqn, int64_t last)
{
    for (int k = 0; eqn && is_comparison(eqn) && k < 2; k++) {
        double number = jx_hunt_largest_number(h, eqn->ins[!k], 0);
        if (isfinite(number) &&
            beside(eqn, k, number).at[1] == (double)last + 1)
            return true;
    }
    return false;
}

/* Of what counts from the end below 0, as all indices of JAX do. */
static bool counts_from_end(const jx_hunt *h, const jx_eqn *choice)
{
    bool any = false;

    for (int i = 1; i < choice->nins; i++) {
        const jx_eqn *eqn = jx_origin_eqn(&h->origins, choice->ins[i]);
        any |= eqn && eqn->prim->id == JX_PRIM_add;
    }
    return any && jx_dtype_is_integer(choice->outs[0]->aval->dtype);
}

/* All that a comparison is for are indices: they count from the end, or lie in
 * a part of an axis. */
static bool bounds_index(const jx_hunt *h, const jx_jaxpr *jaxpr,
                         const jx_eqn *eqn, int64_t last)
{
    bool bounds = true;

    for (const jx_eqn *e = eqn + 1; e < jaxpr->eqns + jaxpr->neqns; e++)
        for (int i = 0; i < e->nins; i++) {
            if (e->ins[i].var != eqn->outs[0])
                continue;
            switch (e->prim->id) {
            case JX_PRIM_and:
            case JX_PRIM_or:
                bounds &=
                    !ends_at(h, eqn, last) &&
                    !ends_at(h, jx_origin_eqn(&h->origins, e->ins[!i]), last);
                break;
            case JX_PRIM_select_n: bounds &= counts_from_end(h, e); break;
            default: bounds = false;
            }
        }
    return bounds;
}

/* ---- equations */

/* lax.switch clamps by itself. */
static bool chooses_branch(const jx_jaxpr *jaxpr, const jx_eqn *eqn)
{
    for (const jx_eqn *e = eqn + 1; e < jaxpr->eqns + jaxpr->neqns; e++)
        if (e->prim->id == JX_PRIM_cond && e->ins[0].var == eqn->outs[0])
            return true;
    return false;
}

static double number_of(const jx_hunt *h, const jx_eqn *eqn, int operand)
{
    double number;

    if (operand >= eqn->nins)
        return -INFINITY;
    return jx_origin_number(&h->origins, eqn->ins[operand], &number)
               ? number
               : jx_hunt_largest_number(h, eqn->ins[operand], 0);
}

/* Which numbers an equation tells from others, if operand `k` is one. */
static telling tells(const jx_hunt *h, const jx_jaxpr *jaxpr, const jx_eqn *eqn,
                     int k)
{
    double number = number_of(h, eqn, !k);

    switch (eqn->prim->id) {
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge: return beside(eqn, k, number);
    case JX_PRIM_eq:
    case JX_PRIM_ne: return (telling){.count = 1, .at = {number}, .one = true};
    case JX_PRIM_max: return one_number(number - 1);
    case JX_PRIM_min: return one_number(number + 1);
    case JX_PRIM_abs: return one_number(-1);
    case JX_PRIM_rem: return (telling){.modulo = k ? 0 : number};
    case JX_PRIM_clamp:
        return k != 1 || chooses_branch(jaxpr, eqn)
                   ? (telling){0}
                   : two_numbers(number_of(h, eqn, 0) - 1,
                                 number_of(h, eqn, 2) + 1);
    default: return (telling){0};
    }
}

/* Whether a number lies outside of what an input is meant to be, and is none
 * that bounds an index. */
static bool counts(const jx_hunt *h, const jx_jaxpr *jaxpr, const jx_eqn *eqn,
                   const jx_integer_domain *of, double number)
{
    double last = of->indexes ? (double)of->last : SMALL - 1;

    return jx_domain_can_tell(of, number) && (number < 0 || number > last) &&
           !(is_comparison(eqn) && bounds_index(h, jaxpr, eqn, of->last));
}

static void tell(const jx_hunt *h, const jx_jaxpr *jaxpr, const jx_eqn *eqn,
                 const telling *told, jx_integer_domain *to)
{
    if (told->modulo > (double)to->modulo && told->modulo <= MOST_TURNS)
        to->modulo = (int64_t)told->modulo;
    /* a device counts from its own part of an axis */
    if (told->made && to->placed && !told->one)
        return;
    for (int i = 0; i < told->count; i++) {
        double at = told->at[i], number = at < 0 ? floor(at) : ceil(at);
        if ((told->one && number != at) || !counts(h, jaxpr, eqn, to, number))
            continue;
        jx_domain_tell(to, (int64_t)number);
        to->below |= !told->one && number < 0;
        to->above |= !told->one && number > (double)to->last;
    }
}

static double before(jx_prim_id op, int k, double number, double by)
{
    switch (op) {
    case JX_PRIM_add: return number - by;
    case JX_PRIM_sub: return k ? by - number : number + by;
    case JX_PRIM_mul: return number / by;
    case JX_PRIM_div: return k ? NAN : number * by;
    case JX_PRIM_neg: return -number;
    default: return NAN;
    }
}

/* What is told of operand `k` of an equation, of which it is told.  False:
 * nothing is. */
static bool tell_before(const jx_hunt *h, const jx_eqn *eqn, int k,
                        telling *told)
{
    jx_prim_id op = eqn->prim->id;

    if (jx_eqn_moves(eqn))
        return !k || (op != JX_PRIM_gather && op != JX_PRIM_dynamic_slice);
    if (op == JX_PRIM_max || op == JX_PRIM_min ||
        (op == JX_PRIM_clamp && k == 1))
        return true;
    for (int i = 0; i < told->count; i++) {
        told->at[i] = before(op, k, told->at[i], number_of(h, eqn, !k));
        if (!isfinite(told->at[i]))
            return false;
    }
    told->made = true;
    told->modulo = 0;
    return told->count > 0;
}

typedef struct looking {
    const jx_hunt *h;
    const jx_jaxpr *jaxpr;
    const jx_eqn *eqn; /* that tells numbers apart */
    jx_map seen;
    jx_integer_domain *to; /* of each input */
} looking;

static void look_behind(looking *l, jx_atom atom, const telling *told,
                        int depth)
{
    const jx_origin *origin = jx_origin_of(&l->h->origins, atom);

    if (!origin || origin->constant || depth > 40 ||
        !jx_map_add(&l->seen, atom.var))
        return;
    if (!origin->eqn && origin->owner)
        look_behind(l, origin->given, told, depth + 1);
    else if (!origin->eqn && jx_dtype_is_integer(atom.var->aval->dtype))
        tell(l->h, l->jaxpr, l->eqn, told, &l->to[origin->number]);
    for (int k = 0; origin->eqn && k < origin->eqn->nins; k++) {
        telling own = *told;
        if (tell_before(l->h, origin->eqn, k, &own))
            look_behind(l, origin->eqn->ins[k], &own, depth + 1);
    }
}

static void look_at(const jx_hunt *h, const jx_jaxpr *jaxpr, const jx_eqn *eqn,
                    int k, jx_integer_domain *to)
{
    const telling told = tells(h, jaxpr, eqn, k);
    looking l = {.h = h, .jaxpr = jaxpr, .eqn = eqn, .to = to};

    jx_map_init(&l.seen, h->program->ctx->arena);
    if (told.count || told.modulo > 0)
        look_behind(&l, eqn->ins[k], &told, 0);
}

/* What may tell integers apart. */
static bool tells_any(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_eq:
    case JX_PRIM_ne:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_abs:
    case JX_PRIM_clamp:
    case JX_PRIM_rem: return true;
    default: return is_comparison(eqn);
    }
}

static void look_at_all(const jx_hunt *h, const jx_jaxpr *jaxpr,
                        jx_integer_domain *to)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; tells_any(eqn) && k < eqn->nins; k++)
            look_at(h, jaxpr, eqn, k, to);
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            look_at_all(h, jx_body_of(eqn, k)->jaxpr, to);
    }
}

static void mark_turns(const jx_hunt *h, int count, const jx_atom *from,
                       jx_integer_domain *to)
{
    const jx_origin *origin;
    jx_origin_walk walk;

    jx_origin_walk_from(&walk, &h->origins, count, from);
    while ((origin = jx_origin_walk_on(&walk)))
        if (!origin->eqn && !origin->owner && !origin->constant)
            to[origin->number].turns = true;
}

/* All that a loop of an open number of turns computes may end it, and what is
 * asked beside. */
static void look_at_turns(const jx_hunt *h, const jx_jaxpr *jaxpr,
                          jx_integer_domain *to)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        const jx_p_while *loop =
            eqn->prim->id == JX_PRIM_while ? eqn->typed : NULL;
        if (loop)
            mark_turns(h, (int)loop->cond_nconsts, eqn->ins, to);
        for (int k = 0; k < jx_bodies_of(eqn); k++) {
            const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
            look_at_turns(h, body, to);
            if (loop && body)
                mark_turns(h, body->nouts, body->outs, to);
        }
    }
}

void jx_hunt_look_at_told(const jx_hunt *h, jx_integer_domain *to)
{
    look_at_turns(h, h->program->entry.jaxpr, to);
    look_at_all(h, h->program->entry.jaxpr, to);
}
