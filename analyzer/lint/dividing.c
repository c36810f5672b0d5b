/* dividing.c - divisions by a size that can be 0.
 *
 * A mean divides by how many elements there are, x.shape[0] - 1 of them in
 * x[1:].  No size that a shape must have is wrong there: the axis is empty, the
 * sum is 0, and 0/0 is NaN without an error.  This follows sizes that have
 * become numbers through conversions and arithmetic to the divisions by them,
 * and claims that they are not 0 there. */
#include "analyzer/lint/lint.h"

#include <math.h>
#include <string.h>

typedef struct follower {
    jx_linter *lint;
    jx_dims *dims;
    const jx_dim **known; /* by value: the size that it is, or NULL */
} follower;

/* The number that an element is, if it is a whole one. */
static bool whole_number(const unsigned char *bits, jx_dtype dtype,
                         int64_t *value)
{
    double number = 0;
    float narrow;

    switch (dtype) {
    case JX_F32:
        memcpy(&narrow, bits, sizeof narrow);
        number = (double)narrow;
        break;
    case JX_F64: memcpy(&number, bits, sizeof number); break;
    default: return false;
    }
    if (!(fabs(number) < 0x1p53) || number != floor(number))
        return false;
    *value = (int64_t)number;
    return true;
}

/* A number that is a whole one, whatever its type. */
static const jx_dim *of_source(const follower *f, const jx_flat_value *v)
{
    int64_t value;

    return v->literal && !v->literal->array && !v->literal->dim &&
                   whole_number(v->literal->bits, v->aval->dtype, &value)
               ? jx_dim_int(f->dims, value)
               : NULL;
}

/* What all elements of a value are, as far as integers are followed. */
static const jx_dim *followed(const follower *f, int value)
{
    int count;
    const jx_dim *const *dims = jx_flat_sizes_of(f->lint->sizes, value, &count);

    for (int i = 1; i < count; i++)
        if (dims[i] != dims[0])
            return NULL;
    return dims ? dims[0] : NULL;
}

static const jx_dim *of_node(const follower *f, const jx_flat_node *node)
{
    const jx_eqn *eqn = node->eqn;
    const jx_dim *x, *y;

    if ((x = followed(f, node->outs[0])))
        return x;
    x = node->nins ? f->known[node->ins[0]] : NULL;
    if (node->nins == 1 && jx_flat_moves(eqn))
        return x;
    y = node->nins == 2 ? f->known[node->ins[1]] : NULL;
    switch (eqn->prim->id) {
    case JX_PRIM_add: return jx_dim_add(f->dims, x, y);
    case JX_PRIM_sub: return jx_dim_sub(f->dims, x, y);
    case JX_PRIM_mul: return jx_dim_mul(f->dims, x, y);
    case JX_PRIM_max: return jx_dim_max(f->dims, x, y);
    default: return NULL;
    }
}

static bool claim_not_zero(const follower *f, const jx_flat_node *node,
                           const jx_dim *divisor)
{
    jx_linter *lint = f->lint;
    jx_dim_range range = jx_dim_bounds(divisor, lint->program->base);
    jx_claim *claim;

    if ((range.has_low && range.low > 0) || (range.has_high && range.high < 0))
        return true;
    claim = jx_lint_claim(lint, JX_CODE_SHP014, node,
                          "a number is divided by this size");
    if (!claim)
        return false;
    claim->verdict = JX_UNDECIDED;
    claim->evidence.by = NULL;
    claim->goal = (jx_goal){.kind = JX_GOAL_NE,
                            .lhs = divisor,
                            .rhs = jx_dim_int(f->dims, 0),
                            .scope = jx_lint_scope(lint, divisor)};
    claim->help = "0 elements give NaN: declare the least size, or treat the "
                  "empty axis by itself";
    return true;
}

bool jx_lint_empty_axes(jx_linter *lint)
{
    const jx_flat *flat = lint->whole;
    follower f = {
        lint, lint->program->dims,
        JX_NEW_ARRAY(lint->ctx->arena, flat->values.count, const jx_dim *)};

    if (!f.known)
        return false;
    for (size_t v = 0; v < flat->values.count; v++)
        if (flat->values.at[v].node < 0 && !(f.known[v] = followed(&f, (int)v)))
            f.known[v] = of_source(&f, &flat->values.at[v]);
    for (size_t n = 0; n < flat->nodes.count; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        const jx_dim *divisor;

        if (node->nouts == 1)
            f.known[node->outs[0]] = of_node(&f, node);
        if (!node->live || node->eqn->prim->id != JX_PRIM_div)
            continue;
        divisor = f.known[node->ins[1]];
        if (divisor && jx_dim_value(divisor) < 0 &&
            !claim_not_zero(&f, node, divisor))
            return false;
    }
    return true;
}
