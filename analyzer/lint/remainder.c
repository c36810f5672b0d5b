/* remainder.c - slices that leave out what a division leaves over.
 *
 * `x[:n // 4 * 4]` is all of x where 4 divides n, and silently less elsewhere,
 * as are both of x[:n // 2] and x[n // 2:n // 2 * 2], every second element up
 * to there, and n // 4 turns of a loop that take four each.  Who writes it
 * relies on sizes being multiples, or means to drop the rest; if the former, it
 * is nowhere declared.  Who takes the rest as well drops nothing. */
#include "analyzer/lint/lint.h"
#include "analyzer/lint/look.h"
#include "analyzer/lint/progression.h"
#include "frontend/ir/params.h"

/* The only term's quotient of `size` and something; NULL if there is none. */
static const jx_dim_atom *quotient_of(const jx_dim *dim, const jx_dim *size)
{
    const jx_dim_term *term = jx_dim_terms(dim);

    for (int i = 0; jx_dim_nterms(dim) == 1 && i < term->nfactors; i++) {
        const jx_dim_atom *atom = term->factors[i].atom;
        if (atom->kind == JX_ATOM_FLOORDIV && atom->a == size)
            return atom;
    }
    return NULL;
}

/* `limit` is the largest multiple of something that `size` holds. */
static bool is_rounded_down(jx_dims *dims, const jx_dim *size,
                            const jx_dim *limit)
{
    const jx_dim *drop = limit ? jx_dim_sub(dims, size, limit) : NULL;
    const jx_dim_term *term = drop ? jx_dim_terms(drop) : NULL;
    const jx_dim_atom *atom;

    if (!drop || limit == size)
        return false;
    if (jx_dim_nterms(drop) == 1 && term->coefficient == 1 &&
        term->nfactors == 1 && term->factors->power == 1 &&
        term->factors->atom->kind == JX_ATOM_MOD &&
        term->factors->atom->a == size)
        return true;
    atom = quotient_of(limit, size);
    return atom &&
           jx_dim_mul(dims, jx_dim_of_atom(dims, atom), atom->b) == limit;
}

static bool claim_dropped(jx_linter *lint, const jx_flat_node *node, int axis,
                          const jx_dim *size, const jx_dim *limit)
{
    jx_claim *claim = jx_lint_claim(
        lint, JX_CODE_SHP007, node,
        jx_arena_printf(lint->ctx->arena,
                        "a slice leaves elements of axis %d out", axis));

    if (!claim)
        return false;
    claim->verdict = JX_UNDECIDED;
    claim->evidence.by = NULL;
    claim->goal = (jx_goal){.kind = JX_GOAL_EQ,
                            .lhs = limit,
                            .rhs = size,
                            .scope = jx_lint_scope(lint, size)};
    return true;
}

/* Where slices begin: first, first + step, ..., `count` of them. */
typedef struct run {
    const jx_dim *first, *step, *count;
} run;

enum { DEEP = 16 };

/* The number among what a while loop carries of a value inside of it; -1 where
 * it is none. */
static int carried(const jx_flat *flat, const jx_flat_node *loop, int value)
{
    const jx_flat_value *v = &flat->values.at[value];
    int node = v->inside ? flat->bodies.at[v->inside - 1].node : -1;

    return node >= 0 && &flat->nodes.at[node] == loop ? v->input : -1;
}

/* The operand that a while loop carries along and leaves as it is; the value
 * itself where it is none. */
static int carried_along(const jx_flat *flat, const jx_flat_node *loop,
                         int value)
{
    const jx_p_while *p = loop->eqn->typed;
    int number = carried(flat, loop, value);

    if (number < 0 ||
        carried(flat, loop,
                loop->results[p->cond_jaxpr.jaxpr->nouts + number]) != number)
        return value;
    return flat->bodies.at[flat->values.at[value].inside - 1]
        .ins[p->cond_nconsts + p->body_nconsts + number];
}

/* The turns of a while loop that counts from 0, while what it counts is less
 * than a size; NULL where it is no such. */
static const jx_dim *turns_of(const jx_linter *lint, const jx_flat_node *loop,
                              int counter)
{
    const jx_flat *flat = lint->flat;
    const jx_flat_node *test = jx_maker(flat, loop->results[0]);
    const jx_dim *const *bound;
    int count = 0;

    if (!test || test->eqn->prim->id != JX_PRIM_lt ||
        carried(flat, loop, test->ins[0]) != carried(flat, loop, counter))
        return NULL;
    bound = jx_flat_sizes_of(lint->sizes,
                             carried_along(flat, loop, test->ins[1]), &count);
    return bound && count == 1 ? bound[0] : NULL;
}

/* How many turns there are of what a progression counts, or how many elements;
 * NULL: nobody knows. */
static const jx_dim *count_of(const jx_linter *lint, const jx_progression *p)
{
    const jx_flat *flat = lint->flat;
    const jx_flat_node *made = jx_maker(flat, p->of);
    int inside = flat->values.at[p->of].inside;

    if (p->count)
        return jx_dim_int(lint->program->dims, p->count);
    if (made)
        return made->eqn->prim->id == JX_PRIM_iota
                   ? made->eqn->outs[0]->aval->shape
                         [((const jx_p_iota *)made->eqn->typed)->dimension]
                   : NULL;
    if (!inside || p->first || flat->bodies.at[inside - 1].node < 0)
        return NULL;
    made = &flat->nodes.at[flat->bodies.at[inside - 1].node];
    switch (made->eqn->prim->id) {
    case JX_PRIM_scan: return ((const jx_p_scan *)made->eqn->typed)->length;
    case JX_PRIM_while: return turns_of(lint, made, p->of);
    default: return NULL;
    }
}

static bool run_of(const jx_linter *lint, int value, int depth, run *to);

/* A value, or what it is converted to. */
static bool is_of(const jx_flat *flat, int value, int converted)
{
    const jx_flat_node *node = jx_maker(flat, converted);

    return converted == value ||
           (node && node->eqn->prim->id == JX_PRIM_convert_element_type &&
            node->ins[0] == value);
}

/* select(i < 0, i, i + n), as JAX takes an index. */
static bool is_normalised(const jx_flat *flat, const jx_flat_node *node)
{
    const jx_flat_node *test = jx_maker(flat, node->ins[0]);
    const jx_flat_node *sum =
        node->nins == 3 ? jx_maker(flat, node->ins[2]) : NULL;

    return test && sum && test->eqn->prim->id == JX_PRIM_lt &&
           test->ins[0] == node->ins[1] && sum->eqn->prim->id == JX_PRIM_add &&
           (is_of(flat, node->ins[1], sum->ins[0]) ||
            is_of(flat, node->ins[1], sum->ins[1]));
}

/* Plus or times a size or a number. */
static bool combined(const jx_linter *lint, const jx_flat_node *node, int depth,
                     run *to)
{
    jx_dims *dims = lint->program->dims;

    for (int i = 0; i < 2; i++) {
        run by;
        if (!run_of(lint, node->ins[i], depth, &by) || by.step ||
            !run_of(lint, node->ins[1 - i], depth, to))
            continue;
        if (node->eqn->prim->id == JX_PRIM_add) {
            to->first = jx_dim_add(dims, to->first, by.first);
        } else {
            to->first = jx_dim_mul(dims, to->first, by.first);
            to->step = to->step ? jx_dim_mul(dims, to->step, by.first) : NULL;
        }
        return to->first != NULL;
    }
    return false;
}

static bool run_of(const jx_linter *lint, int value, int depth, run *to)
{
    jx_dims *dims = lint->program->dims;
    const jx_flat_node *node;
    jx_progression turns;
    int count = 0;
    const jx_dim *const *known = jx_flat_sizes_of(lint->sizes, value, &count);

    *to = (run){.count = jx_dim_int(dims, 1)};
    if (known && count == 1) {
        to->first = known[0];
        return to->first != NULL;
    }
    if (depth > DEEP)
        return false;
    if (jx_progression_of(lint->flat, value, &turns) && turns.of >= 0) {
        *to = (run){jx_dim_int(dims, turns.first), jx_dim_int(dims, turns.step),
                    count_of(lint, &turns)};
        return to->count != NULL;
    }
    node = jx_maker(lint->flat, jx_shown(lint->flat, value));
    switch (node ? node->eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_convert_element_type:
        return run_of(lint, node->ins[0], depth + 1, to);
    case JX_PRIM_select_n:
        return is_normalised(lint->flat, node) &&
               run_of(lint, node->ins[1], depth + 1, to);
    case JX_PRIM_add:
    case JX_PRIM_mul: return combined(lint, node, depth + 1, to);
    default: return false;
    }
}

/* Where a gather begins along axis k. */
static bool starts_of(const jx_linter *lint, const jx_flat_node *node, int k,
                      run *to)
{
    const jx_p_gather *p = node->eqn->typed;
    jx_ints axes = p->dimension_numbers.start_index_map;
    int count = 0;
    const jx_dim *const *known =
        jx_flat_sizes_of(lint->sizes, node->ins[1], &count);

    if (axes.count == 1)
        return axes.at[0] == k && run_of(lint, node->ins[1], 0, to);
    *to = (run){.count = jx_dim_int(lint->program->dims, 1)};
    for (int i = 0; known && count == axes.count && i < count; i++)
        if (axes.at[i] == k)
            to->first = known[i];
    return to->first != NULL;
}

/* A run is of all numbers that a value holds; whether their order is turned
 * around says how it is made of an iota.  False: nobody knows. */
static bool order_of(const jx_linter *lint, int value, bool *turned)
{
    const jx_flat_node *node = jx_maker(lint->flat, value);
    int count = 0, i = 0;

    *turned = false;
    for (int depth = 0; node && depth < DEEP; depth++, i = 0) {
        switch (node->eqn->prim->id) {
        case JX_PRIM_iota: return node->eqn->outs[0]->aval->rank == 1;
        case JX_PRIM_rev: *turned = !*turned; break;
        case JX_PRIM_convert_element_type: /* a narrower one wraps */
            if (!jx_shows(node->eqn))
                return false;
            break;
        case JX_PRIM_broadcast_in_dim:
        case JX_PRIM_reshape: break;
        case JX_PRIM_add:
        case JX_PRIM_mul:
            i = jx_flat_sizes_of(lint->sizes, node->ins[0], &count) &&
                count == 1;
            break;
        default: return false;
        }
        node = jx_maker(lint->flat, node->ins[i]);
    }
    return false;
}

/* 0, 1 and so on, `size` of them; or the last one first, and turned around. */
static bool is_in_order(const jx_linter *lint, const run *from,
                        const jx_dim *size, bool turned)
{
    jx_dims *dims = lint->program->dims;
    const jx_dim *one = jx_dim_int(dims, 1);
    const jx_dim *first =
        turned ? jx_dim_sub(dims, size, one) : jx_dim_int(dims, 0);

    return from->count == size && from->first == first &&
           from->step == (turned ? jx_dim_int(dims, -1) : one);
}

bool jx_takes_all_in_order(const jx_linter *lint, const jx_flat_node *node)
{
    const jx_p_gather *p = node->eqn->typed;
    const jx_aval *aval =
        node->nins ? lint->flat->values.at[node->ins[0]].aval : NULL;
    bool turned;
    run from;
    int k;

    if (node->eqn->prim->id != JX_PRIM_gather || !p ||
        lint->flat->values.at[node->outs[0]].aval != aval ||
        p->dimension_numbers.start_index_map.count != 1 ||
        p->dimension_numbers.operand_batching_dims.count)
        return false;
    k = (int)p->dimension_numbers.start_index_map.at[0];
    for (int i = 0; i < aval->rank; i++)
        if (i != k && p->slice_sizes.at[i] != aval->shape[i])
            return false;
    return jx_ints_hold(p->dimension_numbers.collapsed_slice_dims, k) &&
           !jx_ints_hold(p->dimension_numbers.offset_dims, k) &&
           order_of(lint, node->ins[1], &turned) &&
           starts_of(lint, node, k, &from) &&
           is_in_order(lint, &from, aval->shape[k], turned);
}

/* What an equation takes of axis k of its first operand: `size` elements from
 * each of `from`, whose `first` is NULL where nobody knows it.  x[:k] with a
 * symbolic k is a gather. */
typedef struct taking {
    run from;
    const jx_dim *size;
} taking;

static taking taken(const jx_linter *lint, const jx_flat_node *node, int k)
{
    const void *p = node->eqn->typed;
    jx_dims *dims = lint->program->dims;
    taking it = {0};

    switch (p ? node->eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_slice: {
        const jx_p_slice *slice = p;
        it.from = (run){.first = slice->start_indices.at[k],
                        .count = jx_dim_int(dims, 1)};
        it.size = jx_dim_sub(dims, slice->limit_indices.at[k], it.from.first);
        break;
    }
    case JX_PRIM_dynamic_slice:
        it.size = ((const jx_p_dynamic_slice *)p)->slice_sizes.at[k];
        if (!run_of(lint, node->ins[k + 1], 0, &it.from))
            it.from.first = NULL;
        break;
    case JX_PRIM_gather:
        it.size = ((const jx_p_gather *)p)->slice_sizes.at[k];
        if (!starts_of(lint, node, k, &it.from))
            it.from.first = NULL;
        break;
    default: break;
    }
    return it;
}

/* The end of what is taken of an axis of that size, if it is the size rounded
 * down, and the rest would have been taken as well had there been a whole one;
 * else NULL. */
static const jx_dim *end_of(const jx_linter *lint, const taking *it,
                            const jx_dim *size)
{
    jx_dims *dims = lint->program->dims;
    const jx_dim *reach;
    int64_t first, step, length;

    if (is_rounded_down(dims, size, it->size))
        return it->size;
    if (!it->from.first)
        return NULL;
    reach = jx_dim_add(dims, it->from.first, it->size);
    if (!it->from.step)
        return is_rounded_down(dims, size, reach) ? reach : NULL;
    reach = jx_dim_mul(dims, it->from.step, it->from.count);
    if (it->from.step == it->size && reach)
        reach = jx_dim_add(dims, it->from.first, reach);
    else if (!jx_dim_is_int(it->from.first, &first) ||
             !jx_dim_is_int(it->from.step, &step) ||
             !jx_dim_is_int(it->size, &length) || first < 0 ||
             first + length > step || first + 1 >= step)
        return NULL;
    return is_rounded_down(dims, size, reach) ? reach : NULL;
}

/* Somebody takes what lies behind. */
static bool is_rest_taken(const jx_linter *lint, int value, int axis)
{
    const jx_flat *flat = lint->flat;
    const jx_dim *size = flat->values.at[value].aval->shape[axis];

    for (int i = lint->uses.first[value]; i < lint->uses.first[value + 1];
         i++) {
        const jx_flat_node *node = &flat->nodes.at[lint->uses.nodes[i]];
        taking it = node->live && node->ins[0] == value
                        ? taken(lint, node, axis)
                        : (taking){0};
        if (it.size && it.from.first && !it.from.step &&
            is_rounded_down(lint->program->dims, size, it.from.first))
            return true;
    }
    return false;
}

bool jx_lint_remainders(jx_linter *lint)
{
    const jx_flat *flat = lint->flat;

    for (size_t n = 0; n < flat->nodes.count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        const jx_aval *aval;

        if (!node->live || !node->nins)
            continue;
        aval = flat->values.at[node->ins[0]].aval;
        for (int k = 0; k < aval->rank; k++) {
            taking it = jx_dim_is_symbolic(aval->shape[k])
                            ? taken(lint, node, k)
                            : (taking){0};
            const jx_dim *end =
                it.size ? end_of(lint, &it, aval->shape[k]) : NULL;
            if (end && !is_rest_taken(lint, node->ins[0], k) &&
                !claim_dropped(lint, node, k, aval->shape[k], end))
                return false;
        }
    }
    return true;
}
