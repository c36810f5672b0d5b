/* hashes.c - see parts.h: integers that are bits.
 *
 * Keys, hashes and generators of random numbers wrap by their author's wish.
 * They are known by what else is done to the same integers: they come from
 * bits (random ones, those of a float, of an xor or a shift), or go into an
 * xor or a long shift. */
#include "runtime/witness/parts.h"

#include "frontend/ir/params.h"

/* An integer's elements are those of its operands, combined or moved. */
static bool is_of_integers(const jx_eqn *eqn)
{
    return eqn->nouts == 1 && jx_dtype_is_integer(eqn->outs[0]->aval->dtype) &&
           (jx_eqn_moves(eqn) || jx_eqn_is_elementwise(eqn));
}

static bool gives_bits(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_xor:
    case JX_PRIM_bitcast_convert_type:
    case JX_PRIM_threefry2x32:
    case JX_PRIM_random_bits:
    case JX_PRIM_random_unwrap:
    case JX_PRIM_rng_bit_generator:
    case JX_PRIM_rng_uniform:
    case JX_PRIM_random_seed:
    case JX_PRIM_random_fold_in: return true;
    default: return false;
    }
}

static bool is_long_shift(const jx_hunt *h, const jx_eqn *eqn)
{
    const jx_literal *by;

    if (eqn->prim->id != JX_PRIM_shift_right_logical &&
        eqn->prim->id != JX_PRIM_shift_right_arithmetic)
        return false;
    by = jx_origin_literal(&h->origins, eqn->ins[1]);
    return !by || by->bits[0] > 1; /* half of a sum is a number */
}

static bool makes_bits(const jx_hunt *h, const jx_eqn *eqn)
{
    return gives_bits(eqn) || is_long_shift(h, eqn);
}

static bool is_marked(const jx_map *bits, jx_atom atom)
{
    return atom.var && jx_map_has(bits, atom.var);
}

static void mark(jx_map *bits, jx_atom atom)
{
    if (atom.var && jx_dtype_is_integer(atom.var->aval->dtype))
        jx_map_add(bits, atom.var);
}

typedef void marker(const jx_hunt *h, const jx_jaxpr *jaxpr, jx_map *bits);

static void mark_bodies(const jx_hunt *h, const jx_eqn *eqn, marker *at,
                        jx_map *bits)
{
    for (int k = 0; k < jx_bodies_of(eqn); k++) {
        const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
        if (body)
            at(h, body, bits);
    }
}

/* Of a body's input: where it comes from, and what the turn
 * before gave for it. */
static int carried_result(const jx_origin *origin)
{
    const jx_eqn *owner = origin->owner;

    if (!owner || !origin->carried)
        return -1;
    return origin->number -
           (int)(owner->prim->id == JX_PRIM_scan
                     ? ((const jx_p_scan *)owner->typed)->num_consts
                     : ((const jx_p_while *)owner->typed)->body_nconsts);
}

/* Marks the variables whose integers are made of bits. */
static void mark_after(const jx_hunt *h, const jx_jaxpr *jaxpr, jx_map *bits)
{
    for (int i = 0; i < jaxpr->nins; i++) {
        const jx_var *var = jaxpr->vars[jaxpr->nconsts + i];
        const jx_origin *origin = jx_map_get(&h->origins.of, var);
        int result = origin ? carried_result(origin) : -1;
        if (origin && origin->owner &&
            (is_marked(bits, origin->given) ||
             (result >= 0 && result < jaxpr->nouts &&
              is_marked(bits, jaxpr->outs[result]))))
            mark(bits, (jx_atom){.var = var});
    }
    for (int i = 0; i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool marks = makes_bits(h, eqn);
        mark_bodies(h, eqn, mark_after, bits);
        for (int k = 0; k < jx_bodies_of(eqn); k++) {
            const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
            for (int n = 0; body && n < body->nouts && n < eqn->nouts; n++)
                if (is_marked(bits, body->outs[n]))
                    mark(bits, (jx_atom){.var = eqn->outs[n]});
        }
        for (int k = 0; k < eqn->nins && is_of_integers(eqn); k++)
            marks |= is_marked(bits, eqn->ins[k]);
        for (int k = 0; k < eqn->nouts && marks; k++)
            mark(bits, (jx_atom){.var = eqn->outs[k]});
    }
}

/* ... and, from the end, those whose integers become bits. */
static void mark_before(const jx_hunt *h, const jx_jaxpr *jaxpr, jx_map *bits)
{
    for (int i = jaxpr->neqns - 1; i >= 0; i--) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool marks = makes_bits(h, eqn) ||
                     (is_of_integers(eqn) && eqn->prim->id != JX_PRIM_gather &&
                      jx_map_has(bits, eqn->outs[0]));
        for (int k = 0; k < jx_bodies_of(eqn); k++) {
            const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
            for (int n = 0; body && n < body->nouts && n < eqn->nouts; n++)
                if (jx_map_has(bits, eqn->outs[n]))
                    mark(bits, body->outs[n]);
        }
        mark_bodies(h, eqn, mark_before, bits);
        for (int k = 0; marks && k < eqn->nins; k++)
            mark(bits, eqn->ins[k]);
    }
    for (int i = 0; i < jaxpr->nins; i++) {
        const jx_var *var = jaxpr->vars[jaxpr->nconsts + i];
        const jx_origin *origin = jx_map_get(&h->origins.of, var);
        int result = origin ? carried_result(origin) : -1;
        if (!jx_map_has(bits, var) || !origin || !origin->owner)
            continue;
        mark(bits, origin->given);
        if (result >= 0 && result < jaxpr->nouts)
            mark(bits, jaxpr->outs[result]);
    }
}

static bool may_slip(const jx_eqn *eqn)
{
    switch (eqn->prim->id) {
    case JX_PRIM_add:
    case JX_PRIM_sub:
    case JX_PRIM_mul:
    case JX_PRIM_neg:
    case JX_PRIM_integer_pow:
    case JX_PRIM_reduce_sum:
    case JX_PRIM_convert_element_type:
        return eqn->nouts == 1 &&
               jx_dtype_is_integer(eqn->outs[0]->aval->dtype);
    default: return false;
    }
}

/* What it takes or gives are bits. */
static bool is_of_bits(const jx_map *after, const jx_map *before,
                       const jx_eqn *eqn)
{
    bool is = jx_map_has(before, eqn->outs[0]);

    for (int k = 0; k < eqn->nins; k++)
        is |= is_marked(after, eqn->ins[k]);
    return is;
}

static void collect(const jx_jaxpr *jaxpr, const jx_map *after,
                    const jx_map *before, jx_map *to)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        if ((may_slip(eqn) && is_of_bits(after, before, eqn)) ||
            jx_eqn_mode_is_chosen(eqn))
            jx_map_add(to, eqn);
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            collect(jx_body_of(eqn, k)->jaxpr, after, before, to);
    }
}

/* A loop's turns hand on what they carry: once more, and it is
 * known of all turns. */
enum { TURNS = 2 };

void jx_hunt_find_quiet(jx_hunt *h, jx_map *to)
{
    jx_map after, before;

    jx_map_init(&after, h->program->ctx->arena);
    jx_map_init(&before, h->program->ctx->arena);
    for (int turn = 0; turn < TURNS; turn++) {
        mark_after(h, h->program->entry.jaxpr, &after);
        mark_before(h, h->program->entry.jaxpr, &before);
    }
    collect(h->program->entry.jaxpr, &after, &before, to);
}
