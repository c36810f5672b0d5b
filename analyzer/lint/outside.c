/* outside.c - elements that an axis of a symbolic size may not have.
 *
 * x[-3] of an axis of size b begins at b - 3, which is below 0 where b is 1 or
 * 2, and x[2] lies beyond its end: a dynamic slice then begins elsewhere,
 * without a word.  Whether some size makes it so is the prover's to say. */
#include "analyzer/lint/lint.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/params.h"
#include "frontend/ir/passage.h"

/* Suspects that lhs >= rhs does not hold for some size. */
static bool suspect(jx_linter *lint, const jx_flat_node *node, int axis,
                    const jx_dim *lhs, const jx_dim *rhs)
{
    const char *what =
        jx_arena_printf(lint->ctx->arena, "what is taken of axis %d", axis);
    jx_int number;
    jx_claim *claim;

    if (!lhs || !rhs ||
        (jx_dim_is_wide(lhs, &number) && jx_dim_is_wide(rhs, &number)))
        return true; /* of numbers alone others speak */
    claim = jx_lint_claim(lint, JX_CODE_IDX006, node, what);
    if (!claim)
        return false;
    claim->verdict = JX_UNDECIDED;
    claim->evidence.by = NULL;
    claim->help = "declare how large the size is (constraints), or take what "
                  "is there: an index "
                  "modulo the size, a slice of at most as many";
    claim->goal = (jx_goal){
        .kind = JX_GOAL_GE,
        .lhs = lhs,
        .rhs = rhs,
        .scope = jx_lint_scope(lint, jx_dim_is_wide(lhs, &number) ? rhs : lhs)};
    return true;
}

/* Its author said what comes of an index outside: the source, or a gather's
 * mode.  All gathers of a module clamp, as does a dynamic slice, which vmap
 * makes a gather of indices that are sorted. */
static bool is_mode_chosen(const jx_linter *lint, const jx_flat_node *node)
{
    const jx_frame *frame = jx_place_frame(node->eqn, node->calls);
    const jx_p_gather *p = node->eqn->typed;
    bool seen;

    if (jx_eqn_mode_is_chosen(node->eqn) ||
        (frame && jx_frame_chooses_mode(lint->ctx->arena, frame, &seen)))
        return true;
    if (node->eqn->prim->id != JX_PRIM_gather)
        return false;
    switch (p->mode) {
    case JX_MODE_FILL_OR_DROP: return true;
    case JX_MODE_CLIP: return !p->indices_are_sorted;
    default: return false;
    }
}

static bool look(jx_linter *lint, const jx_flat_node *node)
{
    const jx_p_dynamic_slice *p = node->eqn->typed;
    const jx_aval *aval = lint->flat->values.at[node->ins[0]].aval;
    jx_dims *dims = lint->program->dims;

    for (int k = 0; k < aval->rank && k + 1 < node->nins; k++) {
        int64_t size;
        int count = 0;
        const jx_dim *const *start =
            jx_flat_sizes_of(lint->sizes, node->ins[k + 1], &count);
        if (!start || count != 1 || jx_dim_is_int(aval->shape[k], &size) ||
            p->slice_sizes.at[k] == aval->shape[k])
            continue;
        if (!suspect(lint, node, k, start[0], jx_dim_int(dims, 0)) ||
            !suspect(lint, node, k,
                     jx_dim_sub(dims, aval->shape[k], p->slice_sizes.at[k]),
                     start[0]))
            return false;
    }
    return true;
}

/* x[:, -3]: one place along each of some axes. */
static bool look_at_gather(jx_linter *lint, const jx_flat_node *node)
{
    const jx_p_gather *p = node->eqn->typed;
    const jx_aval *aval = lint->flat->values.at[node->ins[0]].aval;
    jx_ints axes = p->dimension_numbers.start_index_map;
    jx_dims *dims = lint->program->dims;
    int count = 0;
    const jx_dim *const *start =
        jx_flat_sizes_of(lint->sizes, node->ins[1], &count);

    for (int k = 0; start && count == axes.count && k < count; k++) {
        int axis = (int)axes.at[k];
        int64_t size;
        if (jx_dim_is_int(aval->shape[axis], &size))
            continue;
        if (!suspect(lint, node, axis, start[k], jx_dim_int(dims, 0)) ||
            !suspect(
                lint, node, axis,
                jx_dim_sub(dims, aval->shape[axis], p->slice_sizes.at[axis]),
                start[k]))
            return false;
    }
    return true;
}

bool jx_lint_outside(jx_linter *lint)
{
    for (size_t n = 0; n < lint->flat->nodes.count; n++) {
        const jx_flat_node *node = &lint->flat->nodes.at[n];
        if (!node->live || node->elsewhere || !node->eqn->typed)
            continue;
        if ((node->eqn->prim->id != JX_PRIM_dynamic_slice &&
             node->eqn->prim->id != JX_PRIM_gather) ||
            is_mode_chosen(lint, node))
            continue;
        if (!(node->eqn->prim->id == JX_PRIM_gather ? look_at_gather(lint, node)
                                                    : look(lint, node)))
            return false;
    }
    return true;
}
