/* remainder.c - slices that leave out what a division leaves over.
 *
 * `x[:n // 4 * 4]` is all of x where 4 divides n, and silently less elsewhere.
 * Who writes it relies on sizes being multiples, or means to drop the rest; if
 * the former, it is nowhere declared. */
#include "analyzer/lint/lint.h"
#include "frontend/ir/params.h"

/* The only term, one atom and a coefficient; NULL if it is more. */
static const jx_dim_atom *sole_atom(const jx_dim *dim, jx_int *coefficient)
{
    const jx_dim_term *term = jx_dim_terms(dim);

    if (jx_dim_nterms(dim) != 1 || term->nfactors != 1 ||
        term->factors->power != 1)
        return NULL;
    *coefficient = term->coefficient;
    return term->factors->atom;
}

/* `limit` is the largest multiple of a number that `size` holds. */
static bool is_rounded_down(jx_dims *dims, const jx_dim *size,
                            const jx_dim *limit)
{
    const jx_dim *drop = jx_dim_sub(dims, size, limit);
    jx_int factor, divisor;
    const jx_dim_atom *atom = drop ? sole_atom(drop, &factor) : NULL;

    if (atom && factor == 1 && atom->kind == JX_ATOM_MOD && atom->a == size)
        return jx_dim_is_wide(atom->b, &divisor);
    atom = sole_atom(limit, &factor);
    return atom && atom->kind == JX_ATOM_FLOORDIV && atom->a == size &&
           jx_dim_is_wide(atom->b, &divisor) && divisor == factor && factor > 1;
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

/* How much of each axis of the first operand the equation takes, none where it
 * is no slice.  x[:k] with a symbolic k is a gather. */
static jx_dim_list taken(const jx_eqn *eqn)
{
    const void *p = eqn->typed;

    switch (p ? eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_slice: return ((const jx_p_slice *)p)->limit_indices;
    case JX_PRIM_dynamic_slice:
        return ((const jx_p_dynamic_slice *)p)->slice_sizes;
    case JX_PRIM_gather: return ((const jx_p_gather *)p)->slice_sizes;
    default: return (jx_dim_list){0};
    }
}

bool jx_lint_remainders(jx_linter *lint)
{
    const jx_flat *flat = lint->flat;

    for (size_t n = 0; n < flat->nodes.count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        jx_dim_list limits = taken(node->eqn);
        const jx_aval *aval;

        if (!node->live || !limits.count)
            continue;
        aval = flat->values.at[node->ins[0]].aval;
        for (int k = 0; k < aval->rank && k < limits.count; k++)
            if (is_rounded_down(lint->program->dims, aval->shape[k],
                                limits.at[k]) &&
                !claim_dropped(lint, node, k, aval->shape[k], limits.at[k]))
                return false;
    }
    return true;
}
