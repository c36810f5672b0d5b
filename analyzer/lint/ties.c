/* ties.c - derivatives that are a convention.
 *
 * Where both operands of a maximum are equal, where several elements are the
 * largest and where what |x| is taken of is 0, there is no derivative.  JAX's
 * rule compares: an operand with the result, with the other operand (since
 * 0.12), or with 0.  That comparison, at the operation's own place, is how a
 * derivative through it is told. */
#include "analyzer/lint/look.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/params.h"

typedef struct ties {
    jx_linter *lint;
    const jx_flat *flat;
    /* by value: the node that takes its absolute value, and 1; or 0 */
    int *magnitude;
    /* ... the last that takes the greater or the less of it and another */
    int *choice;
    bool *told; /* by node */
} ties;

static bool is_choice(const jx_flat_node *node)
{
    switch (node ? node->eqn->prim->id : JX_PRIM_unknown) {
    case JX_PRIM_max:
    case JX_PRIM_min:
    case JX_PRIM_reduce_max:
    case JX_PRIM_reduce_min: return true;
    default: return false;
    }
}

/* An end other than 0, at which something is cut: a number is
 * seldom just that. */
static bool is_cut(const jx_flat *flat, const jx_flat_node *node)
{
    double number;

    for (int i = 0; i < node->nins; i++)
        if (jx_number_of(flat, node->ins[i], &number) && number != 0)
            return true;
    return false;
}

static bool takes_both(const jx_flat_node *node, const jx_flat_node *test)
{
    return node->nins == 2 &&
           ((node->ins[0] == test->ins[0] && node->ins[1] == test->ins[1]) ||
            (node->ins[0] == test->ins[1] && node->ins[1] == test->ins[0]));
}

/* The choice whose derivative the comparison is for; NULL: none. */
static const jx_flat_node *compared_choice(const ties *t,
                                           const jx_flat_node *test)
{
    int both = t->choice[test->ins[0]];

    if (both && takes_both(&t->flat->nodes.at[both - 1], test) &&
        !is_cut(t->flat, &t->flat->nodes.at[both - 1]))
        return &t->flat->nodes.at[both - 1];
    for (int i = 0; i < 2; i++) {
        const jx_flat_node *node =
            jx_maker(t->flat, jx_shown(t->flat, test->ins[i]));
        int other = jx_shown(t->flat, test->ins[1 - i]);
        if (!is_choice(node) || is_cut(t->flat, node))
            continue;
        for (int k = 0; k < node->nins; k++)
            if (jx_shown(t->flat, node->ins[k]) == other)
                return node;
    }
    return NULL;
}

static const jx_flat_node *compared_magnitude(const ties *t,
                                              const jx_flat_node *test)
{
    int node = t->magnitude[test->ins[0]];

    return node ? &t->flat->nodes.at[node - 1] : NULL;
}

static const char *convention_of(jx_prim_id id)
{
    switch (id) {
    case JX_PRIM_abs:
        return "where its operand is 0: JAX takes one side's slope, or 0";
    case JX_PRIM_max:
    case JX_PRIM_min:
        return "where its operands are equal: JAX gives half of it to each";
    default:
        return "where several elements are the same: JAX gives each a part of "
               "it";
    }
}

static void tell(ties *t, const jx_flat_node *node, const jx_flat_node *test)
{
    jx_claim *claim;

    if (!node || t->told[node - t->flat->nodes.at] ||
        !jx_is_implied(test, node) ||
        !jx_dtype_is_float(t->flat->values.at[node->ins[0]].aval->dtype) ||
        !t->flat->values.at[node->outs[0]].varies ||
        !jx_place_is_written(t->lint->program, node->eqn, node->calls))
        return;
    t->told[node - t->flat->nodes.at] = true;
    claim = jx_lint_claim(t->lint, JX_CODE_NUM014, node,
                          jx_arena_printf(t->lint->ctx->arena,
                                          "`%s` has no derivative %s",
                                          jx_eqn_name(node->eqn),
                                          convention_of(node->eqn->prim->id)));
    if (claim)
        claim->help = "say by jnp.where which derivative is meant there "
                      "(jax.nn.relu has 0 at 0), where inputs meet it";
}

bool jx_lint_ties(jx_linter *lint)
{
    jx_arena *arena = lint->ctx->arena;
    ties t = {lint, lint->flat,
              JX_NEW_ARRAY(arena, lint->flat->values.count, int),
              JX_NEW_ARRAY(arena, lint->flat->values.count, int),
              JX_NEW_ARRAY(arena, lint->flat->nodes.count, bool)};

    if (!t.magnitude || !t.choice || !t.told)
        return false;
    for (size_t n = 0; n < t.flat->nodes.count; n++) {
        const jx_flat_node *node = &t.flat->nodes.at[n];
        switch (jx_looks_at(node) ? node->eqn->prim->id : JX_PRIM_unknown) {
        case JX_PRIM_abs: t.magnitude[node->ins[0]] = (int)n + 1; break;
        case JX_PRIM_max:
        case JX_PRIM_min:
            t.choice[node->ins[0]] = t.choice[node->ins[1]] = (int)n + 1;
            break;
        case JX_PRIM_ge:
        case JX_PRIM_sign:
            if (node->live)
                tell(&t, compared_magnitude(&t, node), node);
            break;
        case JX_PRIM_eq:
            if (node->live)
                tell(&t, compared_choice(&t, node), node);
            break;
        default: break;
        }
    }
    return jx_ok(lint->ctx);
}
