/* wrapping.c - size arithmetic of the program itself, which has 32 bits.
 *
 * A proof about sizes holds over the integers.  The program computes with its
 * own type: b*n in int32 wraps when the product passes 2^31, and an array of
 * the wrong size or a wrong index comes out without an error.  For each integer
 * that depends on sizes alone this finds a polynomial that bounds it, and
 * claims that the type holds the bound.  Only products of sizes are claimed: a
 * single axis of 2^31 elements is a different kind of problem. */
#include "analyzer/lint/lint.h"
#include "frontend/ir/params.h"

/* Both are attained or not: the claim is about what may be computed. */
typedef struct interval {
    const jx_dim *low, *high; /* NULL: nothing is known */
} interval;

typedef struct bounder {
    jx_linter *lint;
    jx_dims *dims;
    interval *known; /* by value */
    bool *wraps;     /* by value: an operand may already have wrapped */
} bounder;

static bool is_nonnegative(const bounder *b, const jx_dim *dim)
{
    jx_dim_range range = jx_dim_bounds(dim, b->lint->program->base);

    return range.has_low && range.low >= 0;
}

/* Some term is a product of two variables (or a square). */
static bool is_product(const jx_dim *dim)
{
    const jx_dim_term *terms = jx_dim_terms(dim);

    for (int i = 0; i < jx_dim_nterms(dim); i++) {
        int degree = 0;
        for (int k = 0; k < terms[i].nfactors; k++)
            degree += terms[i].factors[k].power;
        if (degree > 1)
            return true;
    }
    return false;
}

static bool is_integer(const jx_aval *aval)
{
    return aval->kind == JX_AVAL_ARRAY && jx_dtype_is_integer(aval->dtype) &&
           jx_dtype_of(aval->dtype)->bytes <= 8;
}

static interval of_source(const bounder *b, const jx_flat_value *v)
{
    interval none = {NULL, NULL};
    const jx_dim *dim = NULL;

    if (v->node >= 0 || !is_integer(v->aval))
        return none;
    if (v->literal && v->literal->dim)
        dim = v->literal->dim;
    else if (v->literal && !v->literal->array)
        dim = jx_dim_int(b->dims,
                         jx_lint_integer(v->literal->bits, v->aval->dtype));
    else if (v->array && v->splat && v->array->data &&
             v->array->bytes >= jx_dtype_of(v->aval->dtype)->bytes)
        dim = jx_dim_int(b->dims,
                         jx_lint_integer(v->array->data, v->aval->dtype));
    return (interval){dim, dim};
}

static interval of_iota(const bounder *b, const jx_eqn *eqn)
{
    const jx_p_iota *p = eqn->typed;
    interval none = {NULL, NULL};

    if (!p || p->dimension < 0 || p->dimension >= p->shape.count)
        return none;
    return (interval){
        jx_dim_int(b->dims, 0),
        jx_dim_sub(b->dims, p->shape.at[p->dimension], jx_dim_int(b->dims, 1))};
}

static interval of_product(const bounder *b, interval x, interval y)
{
    interval none = {NULL, NULL};

    if (!is_nonnegative(b, x.low) || !is_nonnegative(b, y.low))
        return none;
    return (interval){jx_dim_mul(b->dims, x.low, y.low),
                      jx_dim_mul(b->dims, x.high, y.high)};
}

static interval of_two(const bounder *b, jx_prim_id prim, interval x,
                       interval y)
{
    interval none = {NULL, NULL};

    switch (prim) {
    case JX_PRIM_add:
        return (interval){jx_dim_add(b->dims, x.low, y.low),
                          jx_dim_add(b->dims, x.high, y.high)};
    case JX_PRIM_sub:
        return (interval){jx_dim_sub(b->dims, x.low, y.high),
                          jx_dim_sub(b->dims, x.high, y.low)};
    case JX_PRIM_mul: return of_product(b, x, y);
    default: return none;
    }
}

/* What the node's result lies between, as far as sizes alone say. */
static interval of_node(const bounder *b, const jx_flat_node *node)
{
    const jx_eqn *eqn = node->eqn;
    interval none = {NULL, NULL}, x, y;

    if (eqn->prim->id == JX_PRIM_dim_as_value && eqn->typed) {
        const jx_dim *dim = ((const jx_p_dim_as_value *)eqn->typed)->dim;
        return (interval){dim, dim};
    }
    if (eqn->prim->id == JX_PRIM_iota)
        return of_iota(b, eqn);
    if (!node->nins)
        return none;
    x = b->known[node->ins[0]];
    if (!x.low || !x.high)
        return none;
    if (jx_flat_moves(eqn))
        return node->nins == 1 ? x : none;
    if (node->nins != 2)
        return none;
    y = b->known[node->ins[1]];
    return y.low && y.high ? of_two(b, eqn->prim->id, x, y) : none;
}

/* The largest value of an integer type. */
static int64_t largest(jx_dtype dtype)
{
    int bits = jx_dtype_of(dtype)->bits;

    if (jx_dtype_of(dtype)->kind == JX_KIND_INT)
        bits--;
    return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

static bool claim_fits(const bounder *b, const jx_flat_node *node,
                       const jx_dim *high)
{
    jx_dtype dtype = node->eqn->outs[0]->aval->dtype;
    jx_linter *lint = b->lint;
    jx_buffer text = {0};
    jx_claim *claim;

    jx_buffer_printf(&text, "`%s` computes in %s", node->eqn->prim->name,
                     jx_dtype_of(dtype)->short_name);
    claim =
        jx_lint_claim(lint, JX_CODE_IDX004, node, jx_lint_text(lint, &text));
    if (!claim)
        return false;
    claim->verdict = JX_UNDECIDED;
    claim->evidence.by = NULL;
    claim->goal = (jx_goal){.kind = JX_GOAL_GE,
                            .lhs = jx_dim_int(b->dims, largest(dtype)),
                            .rhs = high};
    claim->help = "declare how large these sizes can be, or compute with "
                  "64-bit integers (jax_enable_x64)";
    return true;
}

static bool visit(bounder *b, const jx_flat_node *node)
{
    const jx_flat *flat = b->lint->flat;
    int out = node->nouts ? node->outs[0] : -1;
    jx_claim_list *claims = &b->lint->to->claims;
    interval found;

    if (out < 0 || flat->values.at[out].varies ||
        !is_integer(flat->values.at[out].aval))
        return true;
    for (int i = 0; i < node->nins; i++)
        b->wraps[out] |= b->wraps[node->ins[i]];
    found = of_node(b, node);
    b->known[out] = found;
    if (b->wraps[out] || !node->live || !found.high || !is_product(found.high))
        return true;
    b->wraps[out] = true; /* said once, where it begins */
    if (!claim_fits(b, node, found.high))
        return false;
    claims->at[claims->count - 1]->goal.scope =
        jx_lint_scope(b->lint, found.high);
    return true;
}

bool jx_lint_size_arithmetic(jx_linter *lint)
{
    const jx_flat *flat = lint->flat;
    bounder b = {
        lint,
        lint->program->dims,
        JX_NEW_ARRAY(lint->ctx->arena, flat->values.count, interval),
        JX_NEW_ARRAY(lint->ctx->arena, flat->values.count, bool),
    };

    if (!b.known || !b.wraps)
        return false;
    for (size_t v = 0; v < flat->values.count; v++)
        b.known[v] = of_source(&b, &flat->values.at[v]);
    for (size_t n = 0; n < flat->nodes.count; n++)
        if (!visit(&b, &flat->nodes.at[n]))
            return false;
    return true;
}
