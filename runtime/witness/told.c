/* told.c - see parts.h: integers that a program tells from others by
 * itself, outside of those that its inputs are meant to be. */
#include "runtime/witness/parts.h"

#include "frontend/ir/params.h"

#include <math.h>

/* Below it integers are drawn of any input; no loop is run with more turns. */
enum { SMALL = 4, MOST_TURNS = 1 << 20 };

/* What one side of an equation tells of the other: numbers, of which those
 * count that lie outside. */
typedef struct telling {
    int count;
    double at[2];
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

/* The numbers on both sides of where a comparison of operand `k` with a number
 * changes: that one is on the side of what is less, or of what is more. */
static telling beside(const jx_eqn *eqn, int k, double number)
{
    jx_prim_id op = eqn->prim->id;
    bool less = k == 0 ? op == JX_PRIM_gt || op == JX_PRIM_le
                       : op == JX_PRIM_lt || op == JX_PRIM_ge;

    return less ? (telling){2, {number, number + 1}}
                : (telling){2, {number - 1, number}};
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
    return operand < eqn->nins ? jx_hunt_largest_number(h, eqn->ins[operand], 0)
                               : -INFINITY;
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
    case JX_PRIM_ne: return (telling){1, {number}};
    case JX_PRIM_max: return (telling){1, {number - 1}};
    case JX_PRIM_min: return (telling){1, {number + 1}};
    case JX_PRIM_abs: return (telling){1, {-1}};
    case JX_PRIM_clamp:
        return k != 1 || chooses_branch(jaxpr, eqn)
                   ? (telling){0}
                   : (telling){
                         2,
                         {number_of(h, eqn, 0) - 1, number_of(h, eqn, 2) + 1}};
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
                 int k, jx_integer_domain *to)
{
    const telling told = tells(h, jaxpr, eqn, k);
    double modulo =
        k == 0 && eqn->prim->id == JX_PRIM_rem ? number_of(h, eqn, 1) : 0;
    bool one = eqn->prim->id == JX_PRIM_eq || eqn->prim->id == JX_PRIM_ne;

    if (modulo > (double)to->modulo && modulo <= MOST_TURNS)
        to->modulo = (int64_t)modulo;
    for (int i = 0; i < told.count; i++) {
        if (!counts(h, jaxpr, eqn, to, told.at[i]))
            continue;
        jx_domain_tell(to, (int64_t)told.at[i]);
        to->below |= !one && told.at[i] < 0;
        to->above |= !one && told.at[i] > (double)to->last;
    }
}

static bool is_made(const jx_origins *of, const jx_eqn *eqn, int operand)
{
    (void)of;
    return !jx_eqn_moves(eqn) ||
           (operand && (eqn->prim->id == JX_PRIM_gather ||
                        eqn->prim->id == JX_PRIM_dynamic_slice));
}

static void look_at(const jx_hunt *h, const jx_jaxpr *jaxpr, const jx_eqn *eqn,
                    int k, jx_integer_domain *to)
{
    const jx_origin *origin;
    jx_origin_walk walk;

    if (!jx_dtype_is_integer(jx_atom_aval(eqn->ins[k])->dtype))
        return;
    jx_origin_walk_from(&walk, &h->origins, 1, &eqn->ins[k]);
    walk.ends = is_made;
    while ((origin = jx_origin_walk_on(&walk)))
        if (!origin->eqn && !origin->owner && !origin->constant)
            tell(h, jaxpr, eqn, k, &to[origin->number]);
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

/* All that a loop of an open number of turns computes may end it. */
static void look_at_turns(const jx_hunt *h, const jx_jaxpr *jaxpr,
                          jx_integer_domain *to)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < jx_bodies_of(eqn); k++) {
            const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
            const jx_origin *origin;
            jx_origin_walk walk;
            look_at_turns(h, body, to);
            if (!body || eqn->prim->id != JX_PRIM_while)
                continue;
            jx_origin_walk_from(&walk, &h->origins, body->nouts, body->outs);
            while ((origin = jx_origin_walk_on(&walk)))
                if (!origin->eqn && !origin->owner && !origin->constant)
                    to[origin->number].turns = true;
        }
    }
}

void jx_hunt_look_at_told(const jx_hunt *h, jx_integer_domain *to)
{
    look_at_turns(h, h->program->entry.jaxpr, to);
    look_at_all(h, h->program->entry.jaxpr, to);
}
