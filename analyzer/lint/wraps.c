/* wraps.c - see wraps.h. */
#include "analyzer/lint/wraps.h"

#include "analyzer/lint/look.h"

enum { MOST_USES = 32 };

/* -- bits ------------------------------------------------------------------ */

static bool is_one_number(jx_int_range r)
{
    return r.known && r.low == r.high;
}

static bool is_power_of_two(jx_int_range r)
{
    return is_one_number(r) && r.low > 0 && !(r.low & (r.low - 1));
}

/* Units are converted with round numbers; an odd one of more than half the
 * bits mixes them. */
static bool mixes(const jx_int_range *ranges, const jx_flat_node *node,
                  const jx_dtype_info *info)
{
    for (int i = 0; i < node->nins && node->eqn->prim->id == JX_PRIM_mul &&
                    info->bits > 16;
         i++) {
        jx_int_range by = ranges[node->ins[i]];
        if (is_one_number(by) && by.low & 1 &&
            (by.low < 0 ? -by.low : by.low) >> info->bits / 2)
            return true;
    }
    return false;
}

/* All that is made of it is made of its low bits, which wrapping leaves as they
 * are, or of its bits as such. */
static bool is_of_bits(const jx_linter *lint, const jx_int_range *ranges,
                       int value, int *steps)
{
    const jx_flat *flat = lint->flat;
    const jx_flat_uses *uses = &lint->uses;
    bool is_signed =
        jx_dtype_of(flat->values.at[value].aval->dtype)->kind == JX_KIND_INT;
    bool any = false;

    if (uses->kept[value])
        return false;
    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *use = &flat->nodes.at[uses->nodes[i]];
        if (!use->live)
            continue;
        if (++*steps > MOST_USES)
            return false;
        switch (use->eqn->prim->id) {
        case JX_PRIM_and:
        case JX_PRIM_xor:
        case JX_PRIM_shift_left:
        case JX_PRIM_bitcast_convert_type: break;
        case JX_PRIM_shift_right_logical:
            /* Who shifts a number with a sign says >>, which is another. */
            if (!is_signed)
                return false;
            break;
        case JX_PRIM_rem:
            if (use->ins[0] != value || !is_power_of_two(ranges[use->ins[1]]))
                return false;
            break;
        case JX_PRIM_add:
        case JX_PRIM_sub:
        case JX_PRIM_mul:
        case JX_PRIM_broadcast_in_dim:
        case JX_PRIM_reshape:
        case JX_PRIM_squeeze:
            if (!is_of_bits(lint, ranges, use->outs[0], steps))
                return false;
            break;
        default: return false;
        }
        any = true;
    }
    return any;
}

bool jx_wraps_as_meant(const jx_linter *lint, const jx_int_range *ranges,
                       const jx_flat_node *node)
{
    const jx_aval *aval = lint->flat->values.at[node->outs[0]].aval;
    int steps = 0;

    return mixes(ranges, node, jx_dtype_of(aval->dtype)) ||
           is_of_bits(lint, ranges, node->outs[0], &steps);
}

/* -- guards ---------------------------------------------------------------- */

/* Of the numbers in `r` those for which (number id bound) is `holds`. */
static jx_int_range kept_by(jx_int_range r, jx_prim_id id, jx_int bound,
                            bool holds)
{
    bool below = (id == JX_PRIM_lt || id == JX_PRIM_le) == holds;
    bool with = (id == JX_PRIM_le || id == JX_PRIM_ge) == holds;

    if (id == JX_PRIM_eq || id == JX_PRIM_ne) {
        if ((id == JX_PRIM_eq) == holds)
            r.low = r.high = bound;
        else if (r.low == bound)
            r.low++;
        else if (r.high == bound)
            r.high--;
    } else if (below && r.high > bound - !with) {
        r.high = bound - !with;
    } else if (!below && r.low < bound + !with) {
        r.low = bound + !with;
    }
    return r;
}

static jx_prim_id turned(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_lt: return JX_PRIM_gt;
    case JX_PRIM_le: return JX_PRIM_ge;
    case JX_PRIM_gt: return JX_PRIM_lt;
    case JX_PRIM_ge: return JX_PRIM_le;
    default: return id;
    }
}

static bool is_comparison(const jx_flat_node *node)
{
    switch (node->eqn->prim->id) {
    case JX_PRIM_lt:
    case JX_PRIM_le:
    case JX_PRIM_gt:
    case JX_PRIM_ge:
    case JX_PRIM_eq:
    case JX_PRIM_ne: return node->nins == 2;
    default: return false;
    }
}

/* What an operation on numbers within |2**64| gives at one end. */
static bool at_end(jx_prim_id id, jx_int a, jx_int b, jx_int *to)
{
    switch (id) {
    case JX_PRIM_add: *to = a + b; return true;
    case JX_PRIM_sub: *to = a - b; return true;
    case JX_PRIM_mul: return !__builtin_mul_overflow(a, b, to);
    default: return false;
    }
}

/* x + 1 where x < 255: the operand is compared with a number, and what is kept
 * of it does not wrap. */
static bool is_kept_small(const jx_linter *lint, const jx_int_range *ranges,
                          const jx_flat_node *node, const jx_flat_node *test,
                          bool holds)
{
    const jx_flat *flat = lint->flat;
    const jx_dtype_info *info =
        jx_dtype_of(flat->values.at[node->outs[0]].aval->dtype);
    int half = info->bits - (info->kind == JX_KIND_INT);
    jx_int most = ((jx_int)1 << half) - 1;
    jx_int least = info->kind == JX_KIND_INT ? -most - 1 : 0;

    for (int i = 0; i < 2; i++)
        for (int k = 0; k < node->nins && node->nins == 2; k++) {
            jx_int_range bound = ranges[test->ins[1 - i]];
            jx_int_range by = ranges[node->ins[1 - k]];
            jx_int_range r = ranges[node->ins[k]];
            jx_prim_id id = node->eqn->prim->id;
            jx_int low, high;
            if (jx_shown(flat, test->ins[i]) != jx_shown(flat, node->ins[k]) ||
                !r.known || !is_one_number(bound) || !is_one_number(by))
                continue;
            r = kept_by(r,
                        i ? turned(test->eqn->prim->id) : test->eqn->prim->id,
                        bound.low, holds);
            if (at_end(id, k ? by.low : r.low, k ? r.low : by.low, &low) &&
                at_end(id, k ? by.low : r.high, k ? r.high : by.low, &high) &&
                (low < high ? low : high) >= least &&
                (low < high ? high : low) <= most)
                return true;
        }
    return false;
}

/* The value, or what one operation with another number makes of it. */
static bool is_about(const jx_flat *flat, int compared, int value)
{
    const jx_flat_node *node = jx_maker(flat, jx_shown(flat, compared));

    if (jx_shown(flat, compared) == jx_shown(flat, value))
        return true;
    for (int i = 0; node && i < node->nins && node->nins == 2; i++)
        if (jx_shown(flat, node->ins[i]) == jx_shown(flat, value))
            return true;
    return false;
}

/* a + b where a <= most - b; or the sum itself is compared, which is another
 * than it had to be if it wrapped. */
static bool is_compared(const jx_flat *flat, const jx_flat_node *node,
                        const jx_flat_node *test)
{
    const int *of = test->ins;

    for (int i = 0; i < 2; i++)
        if (jx_shown(flat, of[i]) == node->outs[0])
            return true;
    for (int k = 0; k < node->nins; k++)
        if (!is_about(flat, of[0], node->ins[k]) &&
            !is_about(flat, of[1], node->ins[k]))
            return false;
    return node->nins == 2;
}

static bool is_guard(const jx_linter *lint, const jx_int_range *ranges,
                     const jx_flat_node *node, const jx_flat_node *choice)
{
    const jx_flat *flat = lint->flat;
    const jx_flat_node *test = jx_maker(flat, jx_shown(flat, choice->ins[0]));

    for (int i = 1; test && is_comparison(test) && i < choice->nins; i++)
        if (jx_shown(flat, choice->ins[i]) == node->outs[0] &&
            (is_compared(flat, node, test) ||
             is_kept_small(lint, ranges, node, test, i == 2)))
            return true;
    return false;
}

/* a + min(255 - a, b): no more than there is room for. */
static bool has_room(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_aval *aval = flat->values.at[node->outs[0]].aval;

    if (jx_dtype_of(aval->dtype)->kind != JX_KIND_UINT ||
        node->eqn->prim->id != JX_PRIM_add)
        return false;
    for (int i = 0; i < 2; i++) {
        const jx_flat_node *less = jx_maker(flat, jx_plain(flat, node->ins[i]));
        bool is_less = less && less->eqn->prim->id == JX_PRIM_min;
        for (int k = 0; is_less && k < less->nins; k++) {
            const jx_flat_node *room =
                jx_maker(flat, jx_plain(flat, less->ins[k]));
            if (room && room->eqn->prim->id == JX_PRIM_sub &&
                !flat->values.at[room->ins[0]].varies &&
                jx_plain(flat, room->ins[1]) ==
                    jx_plain(flat, node->ins[1 - i]))
                return true;
        }
    }
    return false;
}

bool jx_wraps_in_vain(const jx_linter *lint, const jx_int_range *ranges,
                      const jx_flat_node *node)
{
    const jx_flat_uses *uses = &lint->uses;
    int value = node->outs[0];
    bool any = false;

    if (has_room(lint->flat, node))
        return true;
    if (uses->kept[value])
        return false;
    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *use = &lint->flat->nodes.at[uses->nodes[i]];
        if (!use->live || is_comparison(use))
            continue;
        if (use->eqn->prim->id != JX_PRIM_select_n ||
            !is_guard(lint, ranges, node, use))
            return false;
        any = true;
    }
    return any;
}
