/* values.c - see values.h: the walk, and what numbers stand for. */
#include "analyzer/lint/flat.h"
#include "analyzer/values/values_parts.h"

#include "frontend/base/assert.h"
#include "frontend/ir/element.h"
#include "frontend/ir/range.h"
#include "frontend/ir/scope.h"

#include <math.h>
#include <string.h>

jx_bound_rule *jx_bound_rule_of(jx_prim_id id)
{
    static jx_bound_rule *const rules[JX_NPRIMS] = {
        [JX_PRIM_unknown] = jx_bound_unknown,
#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, transpose,  \
             batch, extent)                                                    \
    [JX_PRIM_##id] = jx_bound_##extent,
#include "frontend/ir/prims.def"
#undef PRIM
    };

    return rules[id];
}

/* -- numbers of equations -------------------------------------------------- */

static uint64_t hash_of(const jx_eqn *eqn, const jx_known *ins)
{
    uint64_t hash =
        jx_hash_mix((uint64_t)eqn->prim->id, (uint64_t)(uintptr_t)eqn->prim);

    for (int i = 0; i < eqn->nins; i++)
        hash = jx_hash_mix(hash, (uint64_t)ins[i].number);
    for (int i = 0; i < eqn->nparams; i++)
        hash = jx_hash_mix(hash, (uint64_t)(uintptr_t)eqn->params[i].value);
    return hash;
}

static bool same_eqn(const jx_eqn *a, const jx_eqn *b)
{
    bool same = a->prim == b->prim && a->nins == b->nins &&
                a->nouts == b->nouts && a->nparams == b->nparams;

    for (int i = 0; same && i < a->nparams; i++)
        same = a->params[i].value == b->params[i].value;
    for (int i = 0; same && i < a->nouts; i++)
        same = jx_aval_same_values(a->outs[i]->aval, b->outs[i]->aval);
    return same;
}

/* The number of the equation's first result; those of the others
 * follow.  -1: new. */
static int find_eqn(const jx_valuing *in, uint64_t hash, const jx_eqn *eqn,
                    const jx_known *ins)
{
    for (int i = in->nheads ? in->heads[hash & (in->nheads - 1)] : -1; i >= 0;
         i = in->made.at[i].next) {
        const jx_made *made = &in->made.at[i];
        bool same = made->hash == hash && made->eqn && !made->out &&
                    same_eqn(made->eqn, eqn);
        for (int k = 0; same && k < eqn->nins; k++)
            same = made->ins[k].number == ins[k].number;
        if (same)
            return i;
    }
    return -1;
}

/* -- what comes from outside ----------------------------------------------- */

/* Ends that sizes give lie between what these lie. */
static double end_of(const jx_valuing *in, const jx_value_range_end *end,
                     bool low)
{
    jx_dim_range bounds;

    if (!end->dim)
        return end->number;
    bounds = jx_program_bounds(in->program, end->dim);
    if (low)
        return bounds.has_low ? (double)bounds.low : -INFINITY;
    return bounds.has_high ? (double)bounds.high : INFINITY;
}

static jx_extent input_extent(const jx_valuing *in, int input,
                              const jx_aval *aval)
{
    jx_extent is = aval->kind == JX_AVAL_ARRAY ? jx_extent_finite(aval->dtype)
                                               : jx_extent_whole(JX_DT_NONE);
    jx_extenting how = {.dtype = aval->dtype, .semantics = in->semantics};

    for (int i = 0; i < in->program->nranges; i++) {
        const jx_value_range *range = &in->program->ranges[i];
        if (jx_range_is_of(in->program, range, input))
            is = jx_extent_meet(
                is, jx_extent_between(end_of(in, &range->lo, true),
                                      end_of(in, &range->hi, false)));
    }
    if (jx_dtype_is_float(aval->dtype))
        is = jx_extent_meet(is, jx_extent_between(-in->largest, in->largest));
    return jx_extent_knows(aval->dtype) ? jx_extent_settle(&how, is) : is;
}

/* Ends that are sizes, of an integer input. */
static void note_sizes(jx_valuing *in, int input, int number)
{
    for (int i = 0; i < in->program->nranges; i++) {
        const jx_value_range *range = &in->program->ranges[i];
        if (!jx_range_is_of(in->program, range, input))
            continue;
        if (range->lo.dim)
            in->made.at[number].least = range->lo.dim;
        if (range->hi.dim)
            in->made.at[number].most = range->hi.dim;
    }
}

static double element_at(jx_dtype dtype, const char *at)
{
    if (jx_dtype_is_float(dtype))
        return jx_element_real(dtype, at);
    return jx_dtype_of(dtype)->kind == JX_KIND_UINT
               ? (double)jx_element_integer(dtype, at)
               : (double)(int64_t)jx_element_integer(dtype, at);
}

static jx_extent array_extent(const jx_valuing *in, const jx_array *array)
{
    jx_dtype dtype = array->aval->dtype;
    size_t size = jx_dtype_of(dtype)->bytes;
    jx_extent is = jx_extent_none();
    jx_extenting how = {.dtype = dtype, .semantics = in->semantics};

    if (!array->data || !jx_extent_knows(dtype))
        return jx_extent_whole(dtype);
    for (size_t at = 0; at + size <= array->bytes; at += size)
        is = jx_extent_join(is, jx_extent_of(element_at(
                                    dtype, (const char *)array->data + at)));
    return jx_extent_settle(&how, is);
}

static jx_extent literal_extent(const jx_valuing *in, const jx_literal *literal)
{
    jx_dtype dtype = literal->aval->dtype;
    jx_extenting how = {.dtype = dtype, .semantics = in->semantics};

    if (literal->dim)
        return jx_extent_settle(&how, jx_bound_size(in, literal->dim));
    if (literal->array)
        return array_extent(in, literal->array);
    if (literal->aval->kind != JX_AVAL_ARRAY || !jx_extent_knows(dtype))
        return jx_extent_whole(dtype);
    return jx_extent_settle(
        &how, jx_extent_of(element_at(dtype, (const char *)literal->bits)));
}

/* Equal literals and arrays have one number: `key` is what they are. */
static jx_known constant(jx_valuing *in, const jx_aval *aval, uint64_t key,
                         const void *eqn_key, jx_extent is, const jx_dim *dim)
{
    uint64_t hash = jx_hash_mix(jx_hash_mix(0x636f6e7374, key),
                                (uint64_t)(uintptr_t)eqn_key);
    jx_made made = {
        .aval = aval, .hash = hash, .known = {is, 0, NULL}, .dim = dim};

    for (int i = in->nheads ? in->heads[hash & (in->nheads - 1)] : -1; i >= 0;
         i = in->made.at[i].next) {
        const jx_made *other = &in->made.at[i];
        if (other->hash == hash && !other->eqn &&
            jx_aval_same_values(other->aval, aval) &&
            jx_extent_same(other->known.is, is) && other->dim == dim)
            return other->known;
    }
    made.known.number = jx_valuing_add(in, &made);
    return made.known;
}

static jx_known literal_known(jx_valuing *in, const jx_literal *literal)
{
    uint64_t bits[2];
    jx_extent is = literal_extent(in, literal);

    /* Of one number that is not 0, which has two signs, that
     * number is the key. */
    memcpy(bits, literal->bits, sizeof bits);
    if (literal->array)
        return constant(in, literal->aval, 1, literal->array, is, NULL);
    return constant(in, literal->aval, jx_hash_mix(bits[0], bits[1]),
                    literal->dim, is, literal->dim);
}

/* -- equations ------------------------------------------------------------- */

const jx_lost *jx_lost_new(const jx_bounding *t, const jx_known *out)
{
    jx_lost *to = JX_NEW(jx_valuing_arena(t->in), jx_lost);

    if (!to)
        return NULL;
    *to =
        (jx_lost){.eqn = t->eqn, .place = jx_bound_place(t->in), .is = out->is};
    for (int i = 0; i < t->eqn->nins && to->nof < 2; i++)
        to->of[to->nof++] = t->ins[i].is;
    return to;
}

static const jx_lost *lost_of(const jx_bounding *t, const jx_known *out)
{
    if (jx_extent_is_finite(out->is))
        return NULL;
    for (int i = 0; i < t->eqn->nins; i++)
        if (!jx_extent_is_finite(t->ins[i].is) && t->ins[i].lost)
            return t->ins[i].lost;
    return jx_lost_new(t, out);
}

/* Results as they are without a rule. */
static void begin_outs(const jx_eqn *eqn, jx_known *outs)
{
    for (int i = 0; i < eqn->nouts; i++) {
        const jx_aval *aval = eqn->outs[i]->aval;
        outs[i] = (jx_known){jx_extent_whole(aval->kind == JX_AVAL_ARRAY
                                                 ? aval->dtype
                                                 : JX_DT_NONE),
                             -1, NULL};
    }
}

/* The operands are as narrow as they were when it got its number. */
static bool is_known_as(const jx_made *made, const jx_known *ins)
{
    for (int i = 0; i < made->eqn->nins; i++)
        if (!jx_extent_same(made->ins[i].is, ins[i].is))
            return false;
    return true;
}

static bool number_outs(jx_bounding *t, uint64_t hash, int found)
{
    jx_peak peak = jx_relate_peak(t);

    for (int i = 0; i < t->eqn->nouts; i++) {
        jx_made made = {.eqn = t->eqn,
                        .out = i,
                        .ins = t->ins,
                        .aval = t->eqn->outs[i]->aval,
                        .known = t->outs[i],
                        .peak = peak,
                        .hash = hash,
                        .next = -1};
        if (t->outs[i].number >= 0)
            continue; /* another value again */
        if (!t->outs[i].lost)
            t->outs[i].lost = made.known.lost = lost_of(t, &t->outs[i]);
        jx_leak_note(t, i);
        if (found >= 0) {
            t->outs[i].number = found + i;
            continue;
        }
        t->outs[i].number = jx_valuing_add(t->in, &made);
        if (t->outs[i].number < 0)
            return false;
    }
    return true;
}

/* Results of one equation are numbered in a row, unless they are
 * other values again. */
static bool is_numbered_whole(const jx_valuing *in, int first,
                              const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nouts; i++)
        if (first + i >= (int)in->made.count ||
            in->made.at[first + i].eqn != in->made.at[first].eqn ||
            in->made.at[first + i].out != i)
            return false;
    return true;
}

static bool value_eqn_there(jx_valuing *in, const jx_eqn *eqn,
                            const jx_known *ins, jx_known *outs)
{
    jx_bounding t = {.in = in, .eqn = eqn, .ins = ins, .outs = outs};
    bool alone = jx_flat_varies_by_itself(eqn) || !eqn->nouts;
    /* What may differ from an equal one has no number that others find. */
    uint64_t hash =
        alone ? jx_hash_mix(0x616c6f6e65, in->made.count) : hash_of(eqn, ins);
    int found = alone ? -1 : find_eqn(in, hash, eqn, ins);

    if (found >= 0 && !is_numbered_whole(in, found, eqn))
        found = -1;
    if (found >= 0 && is_known_as(&in->made.at[found], ins) && !in->recording) {
        for (int i = 0; i < eqn->nouts; i++)
            outs[i] = in->made.at[found + i].known;
        return true;
    }
    begin_outs(eqn, outs);
    if (++in->walked > JX_EXTENTS_BUDGET)
        in->to->ended = true;
    else if (eqn->typed && !jx_bound_rule_of(eqn->prim->id)(&t))
        return false;
    jx_bound_answer_rest(&t);
    return number_outs(&t, hash, found);
}

static bool value_eqn(jx_valuing *in, const jx_eqn *eqn, const jx_known *ins,
                      jx_known *outs)
{
    const jx_around here = {in->around, eqn};
    bool ok;

    in->around = &here;
    ok = value_eqn_there(in, eqn, ins, outs);
    in->around = here.outer;
    return ok;
}

bool jx_valuing_run(jx_valuing *in, const jx_closed *closed,
                    const jx_known *ins, jx_known *outs)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;
    jx_arena *arena = jx_valuing_arena(in);
    jx_known *env = JX_NEW_ARRAY(arena, jaxpr->nvars + 1, jx_known);

    for (int i = 0; env && i < jaxpr->nconsts; i++)
        env[i] = constant(in, jaxpr->vars[i]->aval, 2, closed->consts[i],
                          array_extent(in, closed->consts[i]), NULL);
    for (int i = 0; env && i < jaxpr->nins; i++)
        env[jaxpr->nconsts + i] = ins[i];
    for (int i = 0; env && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        jx_known *operands =
            JX_NEW_ARRAY(arena, eqn->nins + eqn->nouts + 1, jx_known);
        if (!operands)
            return false;
        for (int k = 0; k < eqn->nins; k++)
            operands[k] = eqn->ins[k].var
                              ? env[eqn->ins[k].var->id]
                              : literal_known(in, eqn->ins[k].literal);
        if (!value_eqn(in, eqn, operands, operands + eqn->nins))
            return false;
        for (int k = 0; k < eqn->nouts; k++)
            env[eqn->outs[k]->id] = operands[eqn->nins + k];
    }
    for (int i = 0; env && i < jaxpr->nouts; i++)
        outs[i] = jaxpr->outs[i].var
                      ? env[jaxpr->outs[i].var->id]
                      : literal_known(in, jaxpr->outs[i].literal);
    return env && jx_ok(in->program->ctx);
}

static jx_extents *extents(jx_program *program, jx_semantics semantics,
                           double largest, bool leaking)
{
    jx_arena *arena = program->ctx->arena;
    const jx_jaxpr *entry = program->entry.jaxpr;
    jx_extents *to = JX_NEW(arena, jx_extents);
    jx_known *ins =
        JX_NEW_ARRAY(arena, entry->nins + entry->nouts + 1, jx_known);
    jx_extent *are = JX_NEW_ARRAY(arena, entry->nouts + 1, jx_extent);
    const jx_lost **lost =
        JX_NEW_ARRAY(arena, entry->nouts + 1, const jx_lost *);
    jx_valuing in = {.program = program,
                     .to = to,
                     .semantics = semantics,
                     .largest = largest,
                     .leaking = leaking,
                     .recording = true};
    jx_known *outs = ins ? ins + entry->nins : NULL;

    if (!to || !ins || !are || !lost)
        return NULL;
    *to = (jx_extents){.semantics = semantics,
                       .nouts = entry->nouts,
                       .outs = are,
                       .lost = lost};
    jx_map_init(&to->unbounded, arena);
    for (int i = 0; i < entry->nins; i++) {
        const jx_aval *aval = entry->vars[entry->nconsts + i]->aval;
        ins[i] = jx_valuing_new(&in, aval, input_extent(&in, i, aval), NULL);
        if (ins[i].number < 0)
            return NULL;
        note_sizes(&in, i, ins[i].number);
    }
    if (!jx_valuing_run(&in, &program->entry, ins, outs))
        return NULL;
    for (int i = 0; i < entry->nouts; i++) {
        are[i] = outs[i].is;
        lost[i] = outs[i].lost;
    }
    return to;
}

jx_extents *jx_program_extents(jx_program *program, jx_semantics semantics)
{
    return extents(program, semantics, INFINITY, false);
}

jx_extents *jx_program_extents_within(jx_program *program,
                                      jx_semantics semantics, double largest)
{
    return extents(program, semantics, largest, false);
}

jx_extents *jx_program_leaks(jx_program *program, jx_semantics semantics)
{
    return extents(program, semantics, INFINITY, true);
}
