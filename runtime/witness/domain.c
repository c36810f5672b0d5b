/* domain.c - see parts.h and domain.h: what integers index. */
#include "runtime/witness/domain.h"
#include "runtime/witness/parts.h"

#include "frontend/ir/params.h"
#include "frontend/ir/range.h"
#include "runtime/elementwise.h"

#include <math.h>

/* The last index of an axis of which windows of this size are taken. */
static double last_of(const jx_aval *aval, int64_t axis, int64_t size)
{
    return axis < aval->rank ? (double)(jx_dim_value(aval->shape[axis]) - size)
                             : 0;
}

/* The size of a scatter's window along an axis of its operand. */
static int64_t window_of(const jx_eqn *eqn, const jx_scatter_dims *dims,
                         int64_t axis)
{
    const jx_aval *updates = jx_atom_aval(eqn->ins[2]);
    int of = jx_scatter_window_axis(dims, (int)axis);

    return of >= 0 && of < updates->rank ? jx_dim_value(updates->shape[of]) : 1;
}

/* What it gives is one of its operands, or within others. */
static bool gives_operand(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_clamp:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_select_n: return true;
    default: return jx_eqn_moves(eqn);
    }
}

double jx_hunt_largest_number(const jx_hunt *h, jx_atom atom, int depth)
{
    const jx_literal *literal = jx_origin_literal(&h->origins, atom);
    const jx_eqn *eqn = jx_origin_eqn(&h->origins, atom);
    double number, most = -INFINITY;

    if (literal && jx_dtype_is_integer(literal->aval->dtype)) {
        jx_convert(literal->aval->dtype, JX_F64, literal->bits, &number, 1);
        return number;
    }
    if (!eqn || depth > 8 || !gives_operand(eqn))
        return most;
    for (int i = eqn->prim->id == JX_PRIM_select_n; i < eqn->nins; i++) {
        number = jx_hunt_largest_number(h, eqn->ins[i], depth + 1);
        if (!isfinite(number))
            return number;
        most = fmax(most, number);
    }
    return most;
}

/* What is taken modulo n, or of which some bits are taken, goes on above what
 * it gives: what it gives at most is what counts. */
static double most_of(const jx_hunt *h, const jx_eqn *eqn, double most)
{
    switch (eqn->prim->id) {
    case JX_PRIM_rem:
        return fmax(most, jx_hunt_largest_number(h, eqn->ins[1], 0) - 1);
    case JX_PRIM_and:
        return fmax(most, jx_hunt_largest_number(h, eqn->ins[1], 0));
    default: return most;
    }
}

/* An index of at most `most` is made of this value: so are the inputs that it
 * is made of, as far as a user may think. */
static void hold_below(jx_hunt *h, jx_map *seen, jx_atom atom, double most,
                       int depth)
{
    const jx_origin *origin = jx_origin_of(&h->origins, atom);

    if (!origin || origin->constant || depth > 40 ||
        !jx_map_add(seen, atom.var) ||
        (h->as_they_are && origin->eqn && !gives_operand(origin->eqn)))
        return;
    if (!origin->eqn && origin->owner) {
        hold_below(h, seen, origin->given, most, depth + 1);
    } else if (!origin->eqn) {
        jx_held *held = &h->held[origin->number];
        if (held->whole && !held->declared && most >= 0) {
            held->hi = held->indexes ? fmin(held->hi, most) : most;
            held->indexes = true;
        }
    } else if (jx_eqn_moves(origin->eqn) ||
               jx_eqn_is_elementwise(origin->eqn)) {
        for (int i = 0; i < origin->eqn->nins; i++)
            if (jx_dtype_is_integer(jx_atom_aval(origin->eqn->ins[i])->dtype))
                hold_below(h, seen, origin->eqn->ins[i],
                           most_of(h, origin->eqn, most), depth + 1);
    }
}

static void hold(jx_hunt *h, jx_atom index, double most)
{
    jx_map seen;

    h->placed = h->placed || jx_hunt_is_of_floats(h, index);
    jx_map_init(&seen, h->program->ctx->arena);
    hold_below(h, &seen, index, most, 0);
}

/* Index vectors that are put together of one array for each axis. */
static void hold_vectors(jx_hunt *h, jx_atom indices, int count,
                         const double *most)
{
    const jx_origin *origin = jx_origin_of(&h->origins, indices);
    double least = INFINITY;

    if (origin && origin->eqn && origin->eqn->prim->id == JX_PRIM_concatenate &&
        origin->eqn->nins == count) {
        for (int i = 0; i < count; i++)
            hold(h, origin->eqn->ins[i], most[i]);
        return;
    }
    for (int i = 0; i < count; i++)
        least = fmin(least, most[i]);
    if (count)
        hold(h, indices, least);
}

/* An input that two varying values are multiplied of. */
static void weigh(jx_hunt *h, jx_atom atom)
{
    const jx_origin *origin = jx_origin_of(&h->origins, atom);

    while (origin && !origin->constant &&
           (origin->eqn ? jx_eqn_moves(origin->eqn) && origin->eqn->nins
                        : origin->owner != NULL))
        origin = jx_origin_of(&h->origins, origin->eqn ? origin->eqn->ins[0]
                                                       : origin->given);
    if (origin && !origin->eqn && !origin->constant)
        h->held[origin->number].weight = true;
}

static void look_at(jx_hunt *h, const jx_eqn *eqn)
{
    const jx_aval *operand = eqn->nins ? jx_atom_aval(eqn->ins[0]) : NULL;
    double most[JX_MAX_RANK];

    switch (eqn->prim->id) {
    case JX_PRIM_acos:
    case JX_PRIM_asin:
    case JX_PRIM_acosh:
    case JX_PRIM_atanh: h->edged = true; break;
    case JX_PRIM_dynamic_slice: {
        const jx_p_dynamic_slice *p = eqn->typed;
        for (int i = 0; i < operand->rank && i + 1 < eqn->nins; i++)
            hold(h, eqn->ins[i + 1],
                 last_of(operand, i, jx_dim_value(p->slice_sizes.at[i])));
        break;
    }
    case JX_PRIM_dynamic_update_slice:
        for (int i = 0; i < operand->rank && i + 2 < eqn->nins; i++)
            hold(h, eqn->ins[i + 2],
                 last_of(operand, i,
                         jx_dim_value(jx_atom_aval(eqn->ins[1])->shape[i])));
        break;
    case JX_PRIM_dot_general:
    case JX_PRIM_conv_general_dilated:
        if (eqn->ins[0].var != eqn->ins[1].var &&
            jx_origin_varies(&h->origins, eqn->ins[0]) &&
            jx_origin_varies(&h->origins, eqn->ins[1])) {
            weigh(h, eqn->ins[0]);
            weigh(h, eqn->ins[1]);
        }
        break;
    case JX_PRIM_gather: {
        const jx_p_gather *p = eqn->typed;
        jx_ints map = p->dimension_numbers.start_index_map;
        for (int i = 0; i < map.count && i < JX_MAX_RANK; i++)
            most[i] = last_of(operand, map.at[i],
                              jx_dim_value(p->slice_sizes.at[map.at[i]]));
        hold_vectors(h, eqn->ins[1], map.count, most);
        break;
    }
    case JX_PRIM_scatter:
    case JX_PRIM_scatter_add:
    case JX_PRIM_scatter_sub:
    case JX_PRIM_scatter_mul:
    case JX_PRIM_scatter_min:
    case JX_PRIM_scatter_max: {
        const jx_p_scatter *p = eqn->typed;
        jx_ints map = p->dimension_numbers.scatter_dims_to_operand_dims;
        for (int i = 0; i < map.count && i < JX_MAX_RANK; i++)
            most[i] = last_of(operand, map.at[i],
                              window_of(eqn, &p->dimension_numbers, map.at[i]));
        hold_vectors(h, eqn->ins[1], map.count, most);
        break;
    }
    default: break;
    }
}

static void look_at_all(jx_hunt *h, const jx_jaxpr *jaxpr)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        h->decomposes |=
            jx_prim_decomposes(eqn->prim->id) || jx_prim_solves(eqn->prim->id);
        if (eqn->typed)
            look_at(h, eqn);
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            look_at_all(h, jx_body_of(eqn, k)->jaxpr);
    }
}

void jx_hunt_look_at_uses(jx_hunt *h)
{
    look_at_all(h, h->program->entry.jaxpr);
}

/* ---- what integers are compared with */

/* Numbers below are drawn of any integer; so many places, or turns of a loop,
 * can be run. */
enum { SMALL = 4, MOST_PLACES = 1 << 10 };

/* How many places along an axis a value numbers, on a device from its first
 * one; 0: it numbers none. */
static double places_of(const jx_hunt *h, jx_atom atom, int depth)
{
    const jx_eqn *eqn = jx_origin_eqn(&h->origins, atom);
    double most = 0, sum = 0, number;

    if (!eqn || depth > 8)
        return 0;
    if (eqn->prim->id == JX_PRIM_iota) {
        const jx_p_iota *p = eqn->typed;
        return p ? last_of(eqn->outs[0]->aval, p->dimension, 0) : 0;
    }
    if (eqn->prim->id != JX_PRIM_add)
        return 0;
    for (int i = 0; i < eqn->nins; i++) {
        number = jx_hunt_largest_number(h, eqn->ins[i], 0);
        most = fmax(most, places_of(h, eqn->ins[i], depth + 1));
        sum += isfinite(number) ? number : 0;
    }
    return most > 0 ? fmax(most, most + sum) : 0;
}

/* The largest integer at which a comparison with a value says something. */
static double telling(const jx_hunt *h, const jx_eqn *eqn, jx_atom with,
                      bool *placed)
{
    double number = jx_hunt_largest_number(h, with, 0),
           places = places_of(h, with, 0);

    *placed = places > 0;
    switch (eqn->prim->id) {
    case JX_PRIM_eq:
    case JX_PRIM_ne: return number >= SMALL ? number : places - 1;
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_clamp:
    case JX_PRIM_rem:
    case JX_PRIM_div:
        places = number >= SMALL ? number + 1 : places;
        return places <= MOST_PLACES ? places : 0;
    default: return 0;
    }
}

static bool is_of_others(const jx_origins *of, const jx_eqn *eqn, int operand)
{
    (void)of;
    return (!jx_eqn_moves(eqn) && !jx_eqn_is_elementwise(eqn)) ||
           !jx_dtype_is_integer(jx_atom_aval(eqn->ins[operand])->dtype);
}

/* Integers that a value is made of may be as large. */
static void let_be(const jx_hunt *h, jx_atom atom, double most, bool placed,
                   jx_integer_domain *to)
{
    jx_origin_walk walk;
    const jx_origin *origin;

    if (most <= 0 || !jx_dtype_is_integer(jx_atom_aval(atom)->dtype))
        return;
    jx_origin_walk_from(&walk, &h->origins, 1, &atom);
    walk.ends = is_of_others;
    while ((origin = jx_origin_walk_on(&walk)))
        if (!origin->eqn && !origin->owner && !origin->constant) {
            jx_integer_domain *of = &to[origin->number];
            /* places say more than numbers, which may lie outside */
            if (placed == of->held ? most > (double)of->last : placed)
                of->last = (int64_t)most;
            of->held |= placed;
            of->placed |= placed;
        }
}

static void look_at_comparisons(const jx_hunt *h, const jx_jaxpr *jaxpr,
                                jx_integer_domain *to)
{
    bool placed;

    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        for (int k = 0; k < eqn->nins; k++)
            for (int with = 0; with < eqn->nins; with++)
                if (with != k) {
                    double most = telling(h, eqn, eqn->ins[with], &placed);
                    let_be(h, eqn->ins[k], most, placed, to);
                }
        if (eqn->prim->id == JX_PRIM_cond)
            let_be(h, eqn->ins[0], jx_bodies_of(eqn) - 1, true, to);
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            look_at_comparisons(h, jx_body_of(eqn, k)->jaxpr, to);
    }
}

/* ---- all of it */

/* Integers beyond it are none that doubles tell apart. */
static const int64_t MOST = (int64_t)1 << 53;

void jx_domain_bound(const jx_program *program, int input,
                     jx_integer_domain *to)
{
    double lo, hi;

    jx_range_at(program, input, 0, NULL, &lo, &hi);
    lo = fmax(ceil(lo), (double)to->lo);
    hi = fmin(floor(hi), (double)to->hi);
    if (lo <= hi) {
        to->lo = (int64_t)lo;
        to->hi = (int64_t)hi;
    }
}

/* What is an index, as it is or whatever is computed before. */
static bool look_at_uses(jx_hunt *h, bool as_they_are)
{
    int n = h->program->entry.jaxpr->nins;

    h->as_they_are = as_they_are;
    h->held = JX_NEW_ARRAY(h->program->ctx->arena, n + 1, jx_held);
    for (int i = 0; h->held && i < n; i++)
        h->held[i].whole = true;
    if (h->held)
        jx_hunt_look_at_uses(h);
    return h->held != NULL;
}

bool jx_domain_of_inputs(jx_program *program, jx_integer_domain *to)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    jx_hunt h = {.program = program};

    if (!jx_origins_make(&h.origins, program) || !look_at_uses(&h, false))
        return false;
    for (int i = 0; i < entry->nins; i++) {
        to[i] = (jx_integer_domain){
            .last = -1, .placed = h.held[i].indexes, .lo = -MOST, .hi = MOST};
        jx_domain_bound(program, i, &to[i]);
    }
    if (!look_at_uses(&h, true))
        return false;
    look_at_comparisons(&h, entry, to);
    for (int i = 0; i < entry->nins; i++)
        if (h.held[i].indexes) {
            to[i].last = (int64_t)h.held[i].hi;
            to[i].indexes = true;
        }
    jx_hunt_look_at_told(&h, to);
    return true;
}

void jx_domain_join(jx_integer_domain *own, const jx_integer_domain *other)
{
    int rank = 2 * own->indexes + own->held,
        others = 2 * other->indexes + other->held, outside = 0;

    if (own->last < 0 || rank < others ||
        (!own->indexes && rank == others && own->last < other->last))
        own->last = other->last;
    own->indexes |= other->indexes;
    own->placed |= other->placed;
    own->below |= other->below;
    own->above |= other->above;
    own->modulo = own->modulo > other->modulo ? own->modulo : other->modulo;
    own->turns |= other->turns;
    own->held |= other->held;
    for (int i = 0; i < other->ntold; i++)
        jx_domain_tell(own, other->told[i]);
    for (int i = 0; i < own->ntold; i++)
        if ((own->told[i] < 0 || own->told[i] > own->last) &&
            jx_domain_can_tell(own, (double)own->told[i]))
            own->told[outside++] = own->told[i];
    own->ntold = outside;
}
