/* comparator.c - see comparator.h.
 *
 * What is recognized, with k standing for a key of the first element and k' for
 * the same key of the second:
 *
 *     less = k < k'  or  k > k'  (also in the total order)
 *     less = or(less, and(k == k', less))
 *     k    = an operand, its real or imaginary part, or one of these with zeros
 *            and NaNs replaced by one zero and one NaN */
#include "runtime/kernels/comparator.h"

#include <string.h>

enum { MAX_NESTING = 2 };

typedef struct matcher {
    const jx_closed *closed;
    const jx_eqn **made; /* per variable: the equation that makes it, or NULL */
} matcher;

/* One side of a comparison. */
typedef struct side {
    int operand, second; /* second: of the second element */
    bool imaginary, part;
    bool zeros, nans; /* each replaced by one of them */
} side;

static const jx_eqn *maker_of(const matcher *m, jx_atom atom)
{
    return atom.var ? m->made[atom.var->id] : NULL;
}

/* The bytes of a scalar that the comparator holds, or NULL. */
static const void *constant_of(const matcher *m, jx_atom atom)
{
    if (!atom.var) {
        const jx_literal *l = atom.literal;
        return l->dim ? NULL : l->array ? l->array->data : l->bits;
    }
    return atom.var->id < m->closed->nconsts
               ? m->closed->consts[atom.var->id]->data
               : NULL;
}

/* As a number of f64; false for what is no constant. */
static bool is_constant(const matcher *m, jx_atom atom, bool nan)
{
    const unsigned char *at = constant_of(m, atom);
    const jx_dtype_info *info = jx_dtype_of(jx_atom_aval(atom)->dtype);
    uint64_t bits = 0, infinity;

    if (!at || info->kind != JX_KIND_FLOAT || info->bytes > 8)
        return false;
    memcpy(&bits, at, info->bytes);
    if (!nan)
        return bits == 0;
    infinity = info->bits == 64                       ? 0x7ff0000000000000
               : info->bits == 32                     ? 0x7f800000
               : jx_atom_aval(atom)->dtype == JX_BF16 ? 0x7f80
               : jx_atom_aval(atom)->dtype == JX_F16  ? 0x7c00
                                                      : UINT64_MAX;
    /* One with a sign comes first in total order. */
    return bits > infinity && !(bits >> (info->bits - 1));
}

static bool same_source(const side *a, const side *b)
{
    return a->operand == b->operand && a->second == b->second &&
           a->part == b->part && a->imaginary == b->imaginary;
}

/* An operand, or a part of it. */
static bool match_source(const matcher *m, jx_atom atom, side *s)
{
    const jx_eqn *eqn = maker_of(m, atom);
    bool part =
        eqn && (eqn->prim->id == JX_PRIM_real || eqn->prim->id == JX_PRIM_imag);

    if (part)
        atom = eqn->ins[0];
    if (!atom.var || maker_of(m, atom))
        return false;
    int input = atom.var->id - m->closed->jaxpr->nconsts;
    *s = (side){.operand = input / 2,
                .second = input % 2,
                .part = part,
                .imaginary = part && eqn->prim->id == JX_PRIM_imag};
    return input >= 0;
}

static bool match_side(const matcher *m, jx_atom atom, side *s, int depth);

/* select(x == 0, 0, y) or select(x != x, NaN, y), where y is x or the other
 * one of it. */
static bool match_select(const matcher *m, const jx_eqn *eqn, side *s,
                         int depth)
{
    const jx_eqn *test = maker_of(m, eqn->ins[0]);
    side of;

    if (eqn->nins != 3 || !test || test->nins != 2 ||
        !match_source(m, test->ins[0], &of) ||
        !match_side(m, eqn->ins[1], s, depth) || !same_source(s, &of))
        return false;
    if (test->prim->id == JX_PRIM_eq && is_constant(m, test->ins[1], false) &&
        is_constant(m, eqn->ins[2], false)) {
        s->zeros = true;
        return true;
    }
    if (test->prim->id != JX_PRIM_ne || !match_source(m, test->ins[1], &of) ||
        !same_source(s, &of) || !is_constant(m, eqn->ins[2], true))
        return false;
    s->nans = true;
    return true;
}

static bool match_side(const matcher *m, jx_atom atom, side *s, int depth)
{
    const jx_eqn *eqn = maker_of(m, atom);

    if (eqn && eqn->prim->id == JX_PRIM_select_n)
        return depth < MAX_NESTING && match_select(m, eqn, s, depth + 1);
    return match_source(m, atom, s);
}

/* Both sides are the same key, of the two elements. */
static bool match_pair(const matcher *m, const jx_eqn *eqn, side *s)
{
    side other;

    return eqn->nins == 2 && match_side(m, eqn->ins[0], s, 0) &&
           match_side(m, eqn->ins[1], &other, 0) &&
           s->operand == other.operand && s->second != other.second &&
           s->part == other.part && s->imaginary == other.imaginary &&
           s->zeros == other.zeros && s->nans == other.nans;
}

/* A comparison of keys that says less or greater. */
static bool match_less(const matcher *m, const jx_eqn *eqn, side *s,
                       jx_sort_key *key)
{
    jx_prim_id id = eqn->prim->id;
    bool total = id == JX_PRIM_lt_to;

    if ((id != JX_PRIM_lt && id != JX_PRIM_gt && !total) ||
        !match_pair(m, eqn, s))
        return false;
    jx_dtype dtype = jx_atom_aval(eqn->ins[0])->dtype;
    if (jx_dtype_is_complex(dtype) ||
        (total && jx_dtype_is_float(dtype) && s->zeros != s->nans))
        return false;
    *key = (jx_sort_key){s->operand, s->imaginary,
                         (id == JX_PRIM_gt) != (s->second == 1),
                         !jx_dtype_is_float(dtype) ? JX_KEY_NUMERIC
                         : !total                  ? JX_KEY_PLAIN
                         : s->zeros                ? JX_KEY_NUMERIC
                                                   : JX_KEY_TOTAL};
    return true;
}

/* The keys are equal, in the sense of this order. */
static bool match_equal(const matcher *m, const jx_eqn *eqn, const side *of,
                        const jx_sort_key *key)
{
    side s;

    if (!eqn || !match_pair(m, eqn, &s) || s.operand != of->operand ||
        s.part != of->part || s.imaginary != of->imaginary ||
        s.zeros != of->zeros || s.nans != of->nans)
        return false;
    if (eqn->prim->id == JX_PRIM_eq_to)
        return key->order != JX_KEY_PLAIN;
    return eqn->prim->id == JX_PRIM_eq && key->order != JX_KEY_TOTAL && !s.nans;
}

/* and(k == k', rest), either way round; gives the rest. */
static bool match_rest(const matcher *m, const jx_eqn *eqn, const side *of,
                       const jx_sort_key *key, jx_atom *rest)
{
    if (!eqn || eqn->prim->id != JX_PRIM_and)
        return false;
    for (int i = 0; i < 2; i++)
        if (match_equal(m, maker_of(m, eqn->ins[i]), of, key)) {
            *rest = eqn->ins[1 - i];
            return true;
        }
    return false;
}

static int match(const matcher *m, jx_atom atom, jx_sort_key *keys, int most)
{
    int count = 0;
    side s;

    for (;;) {
        const jx_eqn *eqn = maker_of(m, atom);
        if (!eqn || count == most)
            return 0;
        if (match_less(m, eqn, &s, &keys[count]))
            return count + 1;
        if (eqn->prim->id != JX_PRIM_or)
            return 0;
        bool found = false;
        for (int i = 0; i < 2 && !found; i++) {
            const jx_eqn *less = maker_of(m, eqn->ins[i]);
            found = less && match_less(m, less, &s, &keys[count]) &&
                    match_rest(m, maker_of(m, eqn->ins[1 - i]), &s,
                               &keys[count], &atom);
        }
        if (!found)
            return 0;
        count++;
    }
}

int jx_comparator_keys(jx_ctx *ctx, const jx_closed *comparator, int noperands,
                       jx_sort_key *keys, int most)
{
    const jx_jaxpr *jaxpr = comparator->jaxpr;
    jx_arena *arena = jx_arena_new(&ctx->budget);
    matcher m = {comparator, NULL};
    int count = 0;

    if (arena)
        m.made = JX_NEW_ARRAY(arena, jaxpr->nvars, const jx_eqn *);
    if (m.made && jaxpr->nins == 2 * noperands && jaxpr->nouts == 1 &&
        comparator->nconsts == jaxpr->nconsts) {
        for (int i = 0; i < jaxpr->neqns; i++)
            for (int k = 0; k < jaxpr->eqns[i].nouts; k++)
                m.made[jaxpr->eqns[i].outs[k]->id] = &jaxpr->eqns[i];
        count = match(&m, jaxpr->outs[0], keys, most);
    }
    if (arena)
        jx_arena_free(arena);
    return count;
}
