/* lint.c - what lints share: see lint.h. */
#include "analyzer/lint/lint.h"

jx_claim *jx_lint_claim(jx_linter *lint, jx_code code, const jx_flat_node *node,
                        const char *what)
{
    jx_claim *claim = jx_claim_add(lint->ctx, &lint->to->claims, code);

    if (!claim)
        return NULL;
    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "data flow";
    claim->what = what;
    if (node) {
        claim->jaxpr = node->jaxpr;
        claim->eqn = node->eqn;
        claim->calls = node->calls;
    }
    return claim;
}

int64_t jx_lint_bytes(const jx_aval *aval)
{
    int64_t count, bytes;

    if (aval->kind != JX_AVAL_ARRAY || !jx_aval_elements(aval, &count))
        return -1;
    if (__builtin_mul_overflow(count, (int64_t)jx_dtype_of(aval->dtype)->bytes,
                               &bytes))
        return INT64_MAX;
    return bytes;
}

void jx_lint_describe(const jx_aval *aval, jx_buffer *to)
{
    int64_t bytes = jx_lint_bytes(aval);

    jx_aval_print(aval, to);
    if (bytes < 0)
        return;
    jx_buffer_puts(to, " (");
    jx_buffer_amount(to, (double)bytes);
    jx_buffer_puts(to, ")");
}

int jx_lint_scope(const jx_linter *lint, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        jx_dim_vars(lint->program->dims, dim, &count);

    return vars && count ? vars[0]->scope : 0;
}
