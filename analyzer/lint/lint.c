/* lint.c - see lint.h. */
#include "analyzer/lint/lint.h"

bool jx_lint(jx_analysis *to, const jx_lint_options *options)
{
    static bool (*const lints[])(jx_linter *) = {
#define LINT(name, codes) jx_lint_##name,
#include "analyzer/lint/lints.def"
#undef LINT
    };
    jx_linter lint = {.to = to,
                      .program = to->program,
                      .ctx = to->program->ctx,
                      .options = {JX_LINT_MIN_ELEMENTS}};

    if (options)
        lint.options = *options;
    lint.flat = jx_flatten(&to->typed);
    if (!lint.flat)
        return false;
    if (lint.flat->truncated)
        JX_PUSH(lint.ctx->arena, &to->assumptions,
                "the program is too large with its calls inlined: lints saw "
                "only the first part");
    else if (lint.flat->shared)
        JX_PUSH(lint.ctx->arena, &to->assumptions,
                "the program is too large with its calls inlined: lints looked "
                "once at what is called in several places");
    for (size_t i = 0; i < sizeof lints / sizeof *lints; i++)
        if (!lints[i](&lint))
            return false;
    return jx_ok(lint.ctx);
}

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

int64_t jx_lint_integer(const unsigned char *bytes, jx_dtype dtype)
{
    size_t size = jx_dtype_of(dtype)->bytes;
    uint64_t value = 0;

    for (size_t i = 0; i < size && i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    if (jx_dtype_of(dtype)->kind == JX_KIND_INT && size < 8 &&
        value >> (8 * size - 1))
        value |= ~(uint64_t)0 << (8 * size);
    return (int64_t)value;
}

int jx_lint_scope(const jx_linter *lint, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        jx_dim_vars(lint->program->dims, dim, &count);

    return vars && count ? vars[0]->scope : 0;
}
