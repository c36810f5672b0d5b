/* flat.c - see flat.h. */
#include "analyzer/lint/flat.h"
#include "frontend/base/assert.h"
#include "frontend/ir/effects.h"
#include "frontend/ir/growth.h"
#include "frontend/ir/params.h"

#include <string.h>

/* What is met once: a jaxpr with those operands that do not vary. */
typedef struct flat_unit {
    const jx_array *const *consts;
    bool elsewhere;
    int *given, *ins; /* values: of such an operand, or -1; inside */
    int *outs;
    bool acts; /* its results may differ although its operands are the same */
    int next;  /* another of the jaxpr, or 0 */
} flat_unit;

typedef struct flattener {
    const jx_typed *typed;
    jx_flat *flat;
    jx_ctx *ctx;
    jx_intern nodes, literals, arrays;
    int steps;     /* equations met, those in calls once for each call */
    int depth;     /* of calls */
    int level;     /* of bodies of loops and branches */
    bool all;      /* enter those that do not vary, too */
    int elsewhere; /* branches around, that are for Mosaic */
    jx_growth growth;
    JX_VEC(flat_unit) units; /* the first is none */
    int *units_of;           /* by number of the jaxpr: the first, or 0 */
    int64_t special; /* equations that operands which do not vary may add */
    bool acts;       /* something was met that varies by itself */
} flattener;

/* The value of each variable of a jaxpr, while its equations are walked. */
typedef struct scope {
    const jx_jaxpr *jaxpr;
    const jx_calls *calls;
    int *values; /* by jx_var.id */
} scope;

static bool walk(flattener *f, const jx_closed *closed, const jx_calls *calls,
                 const int *ins, int *outs);

static int new_value(flattener *f, jx_flat_value value)
{
    JX_PUSH(f->ctx->arena, &f->flat->values, value);
    return (int)f->flat->values.count - 1;
}

static bool is_scalar(const jx_aval *aval)
{
    int64_t count;

    return jx_aval_elements(aval, &count) && count == 1;
}

/* Changes from run to run or step to step: an input, or what a loop carries. */
static int new_input(flattener *f, const jx_aval *aval, int input, int body,
                     int inside)
{
    return new_value(f, (jx_flat_value){.aval = aval,
                                        .node = -1,
                                        .varies = true,
                                        .splat = is_scalar(aval),
                                        .input = input,
                                        .level = f->level,
                                        .body = body,
                                        .inside = inside});
}

static int new_varying(flattener *f, const jx_aval *aval)
{
    return new_input(f, aval, -1, 0, 0);
}

/* Interned pairs of a key and the value number it got. */
typedef struct numbered {
    const void *key;
    int value;
} numbered;

static bool same_pointer(const void *kept, const void *key)
{
    return ((const numbered *)kept)->key == key;
}

static bool same_literal(const void *kept, const void *key)
{
    const jx_literal *a = ((const numbered *)kept)->key, *b = key;

    return a->aval == b->aval && a->dim == b->dim && a->array == b->array &&
           memcmp(a->bits, b->bits, sizeof a->bits) == 0;
}

/* The number that `key` has, or a new one for `value`. */
static int number_of(flattener *f, jx_intern *table, uint64_t hash,
                     const void *key, jx_same *same, jx_flat_value value)
{
    const numbered *kept = jx_intern_find(table, hash, key, same);
    numbered *made;

    if (kept)
        return kept->value;
    made = JX_NEW(f->ctx->arena, numbered);
    if (!made)
        return 0;
    made->key = key;
    made->value = new_value(f, value);
    jx_intern_add(table, hash, made);
    return made->value;
}

static int value_of_array(flattener *f, const jx_array *array)
{
    jx_flat_value value = {.aval = array->aval,
                           .node = -1,
                           .input = -1,
                           .array = array,
                           .splat = array->splat || is_scalar(array->aval)};

    return number_of(f, &f->arrays, jx_hash_mix(1, (uintptr_t)array), array,
                     same_pointer, value);
}

static int value_of_literal(flattener *f, const jx_literal *literal)
{
    jx_flat_value value = {.aval = literal->aval,
                           .node = -1,
                           .input = -1,
                           .array = literal->array,
                           .literal = literal,
                           .splat = !literal->array || literal->array->splat};
    uint64_t hash = jx_hash_bytes(literal->bits, sizeof literal->bits);

    if (literal->array)
        return value_of_array(f, literal->array);
    hash = jx_hash_mix(hash, (uintptr_t)literal->aval);
    hash = jx_hash_mix(hash, (uintptr_t)literal->dim);
    return number_of(f, &f->literals, hash, literal, same_literal, value);
}

static int value_of(flattener *f, const scope *in, jx_atom atom)
{
    return atom.var ? in->values[atom.var->id]
                    : value_of_literal(f, atom.literal);
}

/* Whether two parameters say the same; nested jaxprs only by identity. */
static bool same_param(const jx_value *a, const jx_value *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->tag != b->tag || a->count != b->count ||
        a->boolean != b->boolean || a->dtype != b->dtype ||
        a->integer != b->integer || a->text != b->text ||
        a->detail != b->detail || a->dim != b->dim || a->aval != b->aval ||
        a->jaxpr != b->jaxpr || a->rule != b->rule || a->array != b->array ||
        memcmp(&a->real, &b->real, sizeof a->real) != 0 ||
        memcmp(&a->imag, &b->imag, sizeof a->imag) != 0)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!same_param(a->items[i], b->items[i]))
            return false;
    return same_param(a->unreduced, b->unreduced) &&
           same_param(a->reduced, b->reduced);
}

static bool same_ctx(const jx_eqn_ctx *a, const jx_eqn_ctx *b)
{
    return a == b ||
           (a && b && a->threefry_partitionable == b->threefry_partitionable);
}

/* A node in the table of those that exist, or one that may join it. */
typedef struct candidate {
    int node;
    const jx_eqn *eqn;
    const int *ins;
} candidate;

static bool same_node(const void *kept_, const void *key_)
{
    const candidate *kept = kept_, *key = key_;
    const jx_eqn *a = kept->eqn, *b = key->eqn;

    if (a->prim != b->prim || a->nins != b->nins || a->nouts != b->nouts ||
        a->nparams != b->nparams || !same_ctx(a->ctx, b->ctx) ||
        (a->nins &&
         memcmp(kept->ins, key->ins, (size_t)a->nins * sizeof(int)) != 0))
        return false;
    for (int i = 0; i < a->nouts; i++)
        if (a->outs[i]->aval != b->outs[i]->aval)
            return false;
    for (int i = 0; i < a->nparams; i++)
        if (a->params[i].name != b->params[i].name ||
            !same_param(a->params[i].value, b->params[i].value))
            return false;
    return true;
}

static uint64_t hash_node(const jx_eqn *eqn, const int *ins)
{
    uint64_t hash = jx_hash_mix((uintptr_t)eqn->prim, (uint64_t)eqn->nins);

    for (int i = 0; i < eqn->nins; i++)
        hash = jx_hash_mix(hash, (uint64_t)ins[i]);
    for (int i = 0; i < eqn->nouts; i++)
        hash = jx_hash_mix(hash, (uintptr_t)eqn->outs[i]->aval);
    return hash;
}

bool jx_flat_varies_by_itself(const jx_eqn *eqn)
{
    if (jx_eqn_is_unknown(eqn) || jx_eqn_calls_back(eqn))
        return true;
    switch (eqn->prim->id) {
    case JX_PRIM_rng_uniform:
    case JX_PRIM_stablehlo_rng:
    case JX_PRIM_platform_index:
    case JX_PRIM_call_exported: return true;
    default: return jx_eqn_acts(eqn);
    }
}

bool jx_flat_moves(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_broadcast_in_dim:
    case JX_PRIM_convert_element_type:
    case JX_PRIM_dim_as_value:
    case JX_PRIM_empty:
    case JX_PRIM_iota:
    case JX_PRIM_iota_2x32_shape:
    case JX_PRIM_reshape:
    case JX_PRIM_tile: return true;
    default:
        return jx_prim_in_family(eqn->prim->id, "view") ||
               jx_prim_in_family(eqn->prim->id, "identity");
    }
}

/* The node's results have one element each, or all elements are one. */
static bool is_splat(const flattener *f, const jx_eqn *eqn, const int *ins)
{
    if (eqn->prim->id == JX_PRIM_iota ||
        (!jx_flat_moves(eqn) &&
         !jx_prim_in_family(eqn->prim->id, "elementwise")))
        return false;
    for (int i = 0; i < eqn->nins; i++)
        if (!f->flat->values.at[ins[i]].splat)
            return false;
    return true;
}

static bool any_varies(const flattener *f, int count, const int *values)
{
    for (int i = 0; i < count; i++)
        if (f->flat->values.at[values[i]].varies)
            return true;
    return false;
}

static const jx_flat_node *find_equal(flattener *f, const jx_eqn *eqn,
                                      const int *ins, uint64_t hash)
{
    const candidate key = {0, eqn, ins};
    const candidate *kept = jx_intern_find(&f->nodes, hash, &key, same_node);

    if (!kept)
        return NULL;
    f->flat->nodes.at[kept->node].copies++;
    f->flat->nodes.at[kept->node].elsewhere &= f->elsewhere > 0;
    return &f->flat->nodes.at[kept->node];
}

static bool keep_node(flattener *f, const jx_eqn *eqn, const int *ins,
                      uint64_t hash)
{
    candidate *kept = JX_NEW(f->ctx->arena, candidate);

    if (!kept)
        return false;
    *kept = (candidate){(int)f->flat->nodes.count, eqn, ins};
    return jx_intern_add(&f->nodes, hash, kept);
}

/* Appends the equation as a node, or finds the equal one before it. */
static bool add_node(flattener *f, const scope *in, const jx_eqn *eqn,
                     const int *ins, int nresults, const int *results)
{
    bool alone = jx_flat_varies_by_itself(eqn) || nresults > 0;
    bool varies =
        jx_flat_varies_by_itself(eqn) || any_varies(f, eqn->nins, ins);
    bool splat = is_splat(f, eqn, ins);
    uint64_t hash = hash_node(eqn, ins);
    const jx_flat_node *equal = alone ? NULL : find_equal(f, eqn, ins, hash);
    int *outs = JX_NEW_ARRAY(f->ctx->arena, eqn->nouts, int);
    jx_flat_node node = {eqn,        in->jaxpr, in->calls, eqn->nins,
                         eqn->nouts, ins,       outs,      nresults,
                         results,    1,         false,     f->elsewhere > 0,
                         false,      f->steps};

    f->acts |= jx_flat_varies_by_itself(eqn);
    if (!outs || (!alone && !equal && !keep_node(f, eqn, ins, hash)))
        return false;
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_aval *aval = eqn->outs[i]->aval;
        outs[i] = equal ? equal->outs[i]
                        : new_value(f, (jx_flat_value){
                                           .aval = aval,
                                           .node = (int)f->flat->nodes.count,
                                           .input = -1,
                                           .varies = varies,
                                           .splat = splat || is_scalar(aval)});
        in->values[eqn->outs[i]->id] = outs[i];
        JX_ASSERT(f->flat->values.at[in->values[eqn->outs[i]->id]].aval ==
                  aval);
    }
    if (!equal)
        JX_PUSH(f->ctx->arena, &f->flat->nodes, node);
    else
        JX_PUSH(f->ctx->arena, &f->flat->repeats,
                (jx_flat_repeat){(int)(equal - f->flat->nodes.at), eqn,
                                 in->jaxpr, in->calls, f->steps});
    return true;
}

static const jx_calls *enter(flattener *f, const scope *in, const jx_eqn *eqn)
{
    jx_calls *calls = JX_NEW(f->ctx->arena, jx_calls);

    if (calls)
        *calls = (jx_calls){in->calls, in->jaxpr, eqn};
    return calls;
}

static bool inline_call(flattener *f, const scope *in, const jx_eqn *eqn,
                        const jx_closed *body, const int *ins)
{
    const jx_calls *calls = enter(f, in, eqn);
    int *outs = JX_NEW_ARRAY(f->ctx->arena, body->jaxpr->nouts, int);

    if (!calls || !outs || !walk(f, body, calls, ins, outs))
        return false;
    for (int i = 0; i < eqn->nouts; i++)
        in->values[eqn->outs[i]->id] = outs[i];
    return true;
}

/* ---- what is met once */

static int find_unit(const flattener *f, const jx_closed *body,
                     const int *given)
{
    int found = f->units_of[body->jaxpr->id];

    for (; found; found = f->units.at[found].next) {
        const flat_unit *unit = &f->units.at[found];
        bool fits = unit->elsewhere == (f->elsewhere > 0);
        for (int i = 0; fits && i < body->nconsts; i++)
            fits = unit->consts[i] == body->consts[i];
        for (int i = 0; fits && i < body->jaxpr->nins; i++)
            fits = unit->given[i] == given[i];
        if (fits)
            break;
    }
    return found;
}

/* Fills the unit's inputs and outputs. */
static bool walk_unit(flattener *f, const jx_closed *body,
                      const jx_calls *calls, flat_unit *unit)
{
    const jx_var *const *vars = body->jaxpr->vars + body->jaxpr->nconsts;
    int level = f->level;
    bool acts = f->acts;

    f->level = JX_FLAT_UNIT;
    f->acts = false;
    for (int i = 0; i < body->jaxpr->nins; i++)
        unit->ins[i] = unit->given[i] >= 0
                           ? unit->given[i]
                           : new_input(f, vars[i]->aval, i, 0, 0);
    bool ok = walk(f, body, calls, unit->ins, unit->outs);
    unit->acts = f->acts;
    f->level = level;
    f->acts |= acts;
    return ok;
}

static int new_unit(flattener *f, const jx_closed *body, const jx_calls *calls,
                    const int *given)
{
    const jx_jaxpr *jaxpr = body->jaxpr;
    jx_arena *arena = f->ctx->arena;
    flat_unit unit = {
        .consts = body->consts,
        .elsewhere = f->elsewhere > 0,
        .given = jx_arena_copy(arena, given, (size_t)jaxpr->nins * sizeof(int)),
        .ins = JX_NEW_ARRAY(arena, jaxpr->nins, int),
        .outs = JX_NEW_ARRAY(arena, jaxpr->nouts, int)};

    if (!calls || !unit.given || !unit.ins || !unit.outs ||
        !walk_unit(f, body, calls, &unit))
        return 0;
    unit.next = f->units_of[jaxpr->id];
    JX_PUSH(arena, &f->units, unit);
    return f->units_of[jaxpr->id] = (int)f->units.count - 1;
}

/* The one for such operands (values, or -1 for what changes).  Only as many are
 * made for those that do not vary as the program may grow by. */
static int unit_for(flattener *f, const scope *in, const jx_eqn *eqn,
                    const jx_closed *body, const int *ins)
{
    int nins = body->jaxpr->nins, found;
    int64_t size = f->growth.sizes[body->jaxpr->id];
    int *given = JX_NEW_ARRAY(f->ctx->arena, nins, int);

    if (!given)
        return 0;
    f->flat->shared = true;
    for (int i = 0; i < nins; i++)
        given[i] = ins[i] >= 0 && !any_varies(f, 1, &ins[i]) ? ins[i] : -1;
    found = find_unit(f, body, given);
    if (!found && f->special < size) {
        for (int i = 0; i < nins; i++) {
            f->flat->truncated |= given[i] >= 0;
            given[i] = -1;
        }
        found = find_unit(f, body, given);
    }
    if (!found) {
        f->special -= size < f->special ? size : f->special;
        found = new_unit(f, body, enter(f, in, eqn), given);
    }
    if (found && f->units.at[found].acts)
        f->acts = f->flat->uncounted = true;
    return found;
}

/* A call is a node.  What does not vary, and operands that come back, are known
 * all the same. */
static bool share_call(flattener *f, const scope *in, const jx_eqn *eqn,
                       const jx_closed *body, const int *ins)
{
    int number = unit_for(f, in, eqn, body, ins);

    if (!number)
        return false;
    const flat_unit unit = f->units.at[number];
    size_t before = f->flat->nodes.count;
    if (!add_node(f, in, eqn, ins, eqn->nouts, unit.outs))
        return false;
    if (f->flat->nodes.count > before)
        f->flat->nodes.at[before].shared = true;
    for (int i = 0; i < eqn->nouts; i++) {
        int *out = &in->values[eqn->outs[i]->id];
        f->flat->values.at[*out].varies |= unit.acts;
        if (!f->flat->values.at[unit.outs[i]].varies)
            *out = unit.outs[i];
        for (int k = 0; k < eqn->nins; k++)
            if (unit.outs[i] == unit.ins[k])
                *out = ins[k];
    }
    return true;
}

/* The same of a body whose first operands are `same`. */
static bool share_body(flattener *f, const scope *in, const jx_eqn *eqn,
                       const jx_closed *body, int nsame, const int *same,
                       int *outs)
{
    int nins = body->jaxpr->nins;
    int *ins = JX_NEW_ARRAY(f->ctx->arena, nins, int);

    if (!ins)
        return false;
    for (int i = 0; i < nins; i++)
        ins[i] = i < nsame ? same[i] : -1;
    int number = unit_for(f, in, eqn, body, ins);
    if (number && body->jaxpr->nouts)
        memcpy(outs, f->units.at[number].outs,
               (size_t)body->jaxpr->nouts * sizeof *outs);
    return number != 0;
}

/* ---- bodies */

/* Walks a body (of several, `which`) whose first `nsame` inputs are `same`, and
 * whose others change from step to step; appends what it results in to
 * *results. */
static bool walk_body(flattener *f, const scope *in, const jx_eqn *eqn,
                      const int *operands, const jx_closed *body, int which,
                      int nsame, const int *same, int **results, int *nresults)
{
    const jx_calls *calls = enter(f, in, eqn);
    int nins = body->jaxpr->nins, nouts = body->jaxpr->nouts;
    int *ins = JX_NEW_ARRAY(f->ctx->arena, nins, int);
    int *all = JX_NEW_ARRAY(f->ctx->arena, *nresults + nouts, int);
    const jx_var *const *vars = body->jaxpr->vars + body->jaxpr->nconsts;

    if (!calls || !ins || !all)
        return false;
    if (*nresults)
        memcpy(all, *results, (size_t)*nresults * sizeof *all);
    *results = all;
    *nresults += nouts;
    all += *nresults - nouts;
    if (jx_growth_shares(&f->growth, body->jaxpr))
        return share_body(f, in, eqn, body, nsame, same, all);
    JX_PUSH(f->ctx->arena, &f->flat->bodies,
            (jx_flat_body){calls, operands, which, -1});
    int inside = (int)f->flat->bodies.count;
    f->level++;
    for (int i = 0; i < nins; i++)
        ins[i] = i < nsame
                     ? same[i]
                     : new_input(f, vars[i]->aval, i - nsame, which, inside);
    if (!walk(f, body, calls, ins, all))
        return false;
    f->level--;
    return true;
}

/* Some body of it is met once. */
static bool shares_in(const flattener *f, const jx_value *value)
{
    if (value->tag == JX_V_JAXPR)
        return value->jaxpr && jx_growth_shares(&f->growth, value->jaxpr);
    for (int i = 0; value->items && i < value->count; i++)
        if (shares_in(f, value->items[i]))
            return true;
    return false;
}

static bool shares_bodies(const flattener *f, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (shares_in(f, eqn->params[i].value))
            return true;
    return false;
}

static int clamp_count(int64_t count, int most)
{
    return count < 0 ? 0 : count > most ? most : (int)count;
}

static bool walk_scan(flattener *f, const scope *in, const jx_eqn *eqn,
                      const int *ins, int **results, int *nresults)
{
    const jx_p_scan *p = eqn->typed;
    int same = clamp_count(p->num_consts, eqn->nins);

    return walk_body(f, in, eqn, ins, &p->jaxpr, 0, same, ins, results,
                     nresults);
}

static bool walk_while(flattener *f, const scope *in, const jx_eqn *eqn,
                       const int *ins, int **results, int *nresults)
{
    const jx_p_while *p = eqn->typed;
    int cond = clamp_count(p->cond_nconsts, eqn->nins);
    int body = clamp_count(p->body_nconsts, eqn->nins - cond);

    return walk_body(f, in, eqn, ins, &p->cond_jaxpr, 0, cond, ins, results,
                     nresults) &&
           walk_body(f, in, eqn, ins, &p->body_jaxpr, 1, body, ins + cond,
                     results, nresults);
}

bool jx_flat_is_for_mosaic(const jx_eqn *eqn, int branch)
{
    const jx_value *all = jx_eqn_param(eqn, "branches_platforms");
    const jx_value *one = all && all->tag == JX_V_TUPLE && branch < all->count
                              ? all->items[branch]
                              : NULL;

    return one && one->tag == JX_V_TUPLE && one->count == 1 &&
           one->items[0]->tag == JX_V_TEXT &&
           strcmp(one->items[0]->text, "mosaic") == 0;
}

static bool walk_cond(flattener *f, const scope *in, const jx_eqn *eqn,
                      const int *ins, int **results, int *nresults)
{
    const jx_p_cond *p = eqn->typed;

    for (int i = 0; i < p->branches.count; i++) {
        bool elsewhere = jx_flat_is_for_mosaic(eqn, i);
        f->elsewhere += elsewhere;
        if (!walk_body(f, in, eqn, ins, &p->branches.at[i], i, eqn->nins - 1,
                       ins + 1, results, nresults))
            return false;
        f->elsewhere -= elsewhere;
    }
    return true;
}

/* A loop or branch is one node, after the nodes of its bodies; one that does
 * not vary is left whole. */
static bool add_control(flattener *f, const scope *in, const jx_eqn *eqn,
                        const int *ins)
{
    int *results = NULL, nresults = 0;
    size_t bodies = f->flat->bodies.count;
    bool ok = true;

    if (eqn->typed && eqn->nins && (f->all || any_varies(f, eqn->nins, ins)))
        switch (eqn->prim->id) {
        case JX_PRIM_scan:
            ok = walk_scan(f, in, eqn, ins, &results, &nresults);
            break;
        case JX_PRIM_while:
            ok = walk_while(f, in, eqn, ins, &results, &nresults);
            break;
        case JX_PRIM_cond:
            ok = walk_cond(f, in, eqn, ins, &results, &nresults);
            break;
        default: break;
        }
    size_t before = f->flat->nodes.count;
    if (!ok || !add_node(f, in, eqn, ins, nresults, results))
        return false;
    if (nresults && f->flat->nodes.count > before) {
        f->flat->nodes.at[before].shared = shares_bodies(f, eqn);
        for (size_t i = bodies; i < f->flat->bodies.count; i++)
            if (f->flat->bodies.at[i].ins == ins)
                f->flat->bodies.at[i].node = (int)before;
    }
    return true;
}

/* Beyond the limits: what the equation gives is taken to vary. */
static bool leave_out(flattener *f, const scope *in, const jx_eqn *eqn)
{
    f->flat->truncated = true;
    for (int i = 0; i < eqn->nouts; i++)
        in->values[eqn->outs[i]->id] = new_varying(f, eqn->outs[i]->aval);
    return true;
}

/* In the place of one that typing refused: nobody may look into
 * its parameters. */
static const jx_eqn *stand_in(flattener *f, const jx_eqn *eqn)
{
    jx_eqn *made = jx_arena_copy(f->ctx->arena, eqn, sizeof *eqn);

    if (!made)
        return NULL;
    made->prim = jx_prim_unknown(f->ctx, jx_eqn_name(eqn));
    made->typed = NULL;
    return made->prim ? made : NULL;
}

static bool walk_eqn(flattener *f, const scope *in, const jx_eqn *eqn)
{
    if (!jx_typed_accepts(f->typed, in->jaxpr, eqn))
        eqn = stand_in(f, eqn);
    if (!eqn)
        return false;
    const jx_closed *body = jx_eqn_callee(eqn);
    int *ins = JX_NEW_ARRAY(f->ctx->arena, eqn->nins, int);

    if (!ins)
        return false;
    for (int i = 0; i < eqn->nins; i++)
        ins[i] = value_of(f, in, eqn->ins[i]);
    if (!jx_ok(f->ctx)) /* numbers of what could not be kept */
        return false;
    if (++f->steps > JX_FLAT_MAX || f->depth > JX_FLAT_DEPTH)
        return leave_out(f, in, eqn);
    if (body && body->jaxpr && body->jaxpr->nins == eqn->nins &&
        body->jaxpr->nouts == eqn->nouts)
        return (jx_growth_shares(&f->growth, body->jaxpr)
                    ? share_call
                    : inline_call)(f, in, eqn, body, ins);
    return add_control(f, in, eqn, ins);
}

static bool walk(flattener *f, const jx_closed *closed, const jx_calls *calls,
                 const int *ins, int *outs)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;
    scope in = {jaxpr, calls, JX_NEW_ARRAY(f->ctx->arena, jaxpr->nvars, int)};

    if (!in.values)
        return false;
    for (int i = 0; i < jaxpr->nconsts; i++)
        in.values[jaxpr->vars[i]->id] =
            i < closed->nconsts ? value_of_array(f, closed->consts[i])
                                : new_varying(f, jaxpr->vars[i]->aval);
    for (int i = 0; i < jaxpr->nins; i++)
        in.values[jaxpr->vars[jaxpr->nconsts + i]->id] = ins[i];
    f->depth++;
    for (int i = 0; i < jaxpr->neqns; i++)
        if (!walk_eqn(f, &in, &jaxpr->eqns[i]))
            return false;
    f->depth--;
    for (int i = 0; i < jaxpr->nouts; i++)
        outs[i] = value_of(f, &in, jaxpr->outs[i]);
    return jx_ok(f->ctx);
}

static bool walk_entry(flattener *f)
{
    const jx_closed *entry = &f->flat->program->entry;
    const jx_jaxpr *jaxpr = entry->jaxpr;
    int *ins = JX_NEW_ARRAY(f->ctx->arena, jaxpr->nins, int);
    int *outs = JX_NEW_ARRAY(f->ctx->arena, jaxpr->nouts, int);

    if (!ins || !outs)
        return false;
    for (int i = 0; i < jaxpr->nins; i++)
        ins[i] = new_input(f, jaxpr->vars[jaxpr->nconsts + i]->aval, i, 0, 0);
    f->flat->nouts = jaxpr->nouts;
    f->flat->outs = outs;
    return walk(f, entry, NULL, ins, outs);
}

static void revive(jx_flat *flat, int count, const int *values)
{
    for (int i = 0; i < count; i++)
        flat->values.at[values[i]].live = true;
}

/* Backward: a node is needed if a result is, or if it has an effect. */
static void mark_live(jx_flat *flat)
{
    revive(flat, flat->nouts, flat->outs);
    for (size_t n = flat->nodes.count; n-- > 0;) {
        jx_flat_node *node = &flat->nodes.at[n];
        node->live = jx_eqn_acts(node->eqn);
        for (int i = 0; i < node->nouts; i++)
            node->live |= flat->values.at[node->outs[i]].live;
        if (!node->live)
            continue;
        revive(flat, node->nins, node->ins);
        revive(flat, node->nresults, node->results);
    }
}

static jx_flat *flatten(const jx_typed *typed, bool all)
{
    jx_ctx *ctx = typed->program->ctx;
    flattener f = {.typed = typed,
                   .ctx = ctx,
                   .all = all,
                   .flat = JX_NEW(ctx->arena, jx_flat)};

    if (!f.flat)
        return NULL;
    f.flat->program = typed->program;
    jx_intern_init(&f.nodes, f.ctx->arena);
    jx_intern_init(&f.literals, f.ctx->arena);
    jx_intern_init(&f.arrays, f.ctx->arena);
    f.units_of = JX_NEW_ARRAY(ctx->arena, typed->program->njaxprs, int);
    JX_PUSH(ctx->arena, &f.units, (flat_unit){0});
    if (!f.units_of || !f.units.count ||
        !jx_growth_measure(ctx->arena, typed->program,
                           typed->program->entry.jaxpr, JX_FLAT_GROWTH,
                           &f.growth))
        return NULL;
    f.special = f.growth.most;
    if (!walk_entry(&f) || !jx_ok(f.ctx))
        return NULL;
    f.flat->steps = f.steps;
    mark_live(f.flat);
    JX_ASSERT_NONE(jx_flat_fault(f.flat));
    return f.flat;
}

jx_flat *jx_flatten(const jx_typed *typed)
{
    return flatten(typed, false);
}

jx_flat *jx_flatten_all(const jx_typed *typed)
{
    return flatten(typed, true);
}
