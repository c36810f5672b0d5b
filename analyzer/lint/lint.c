/* lint.c - what lints share: see lint.h. */
#include "analyzer/lint/lint.h"

#include "frontend/base/utf8.h"
#include "frontend/ir/signature.h"

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

jx_claim *jx_lint_suspect(jx_linter *lint, jx_code code,
                          const jx_flat_node *node, const char *what)
{
    jx_claim *claim = jx_lint_claim(lint, code, node, what);

    if (claim)
        claim->evidence.by = "pattern";
    return claim;
}

jx_claim *jx_lint_claim_of_input(jx_linter *lint, jx_code code, int input,
                                 const jx_flat_node *node, const char *what)
{
    const jx_program *program = lint->program;
    const char *const *names = program->entry.jaxpr->arg_names;
    jx_buffer text = jx_ctx_text(lint->ctx);
    jx_claim *claim;

    jx_buffer_putc(&text, '`');
    if (names && names[input] && *names[input])
        jx_utf8_show(names[input], &text);
    else
        jx_input_print(program, input, &text);
    jx_buffer_printf(&text, "` %s", what);
    claim = jx_lint_claim(lint, code, program->head ? NULL : node,
                          jx_arena_take(lint->ctx->arena, &text));
    if (claim)
        claim->stack = program->head;
    return claim;
}

jx_claim *jx_lint_claim_of_result(jx_linter *lint, jx_code code, int result,
                                  const jx_flat_node *node, const char *what)
{
    const jx_program *program = lint->program;
    const char *path = program->out_paths ? program->out_paths[result] : NULL;
    jx_buffer text = jx_ctx_text(lint->ctx);
    jx_claim *claim;

    if (path && *path)
        jx_utf8_show(path, &text);
    else if (lint->flat->nouts > 1)
        jx_buffer_printf(&text, "%d", result);
    const char *name = jx_arena_take(lint->ctx->arena, &text);
    claim = jx_lint_claim(lint, code, program->returns ? NULL : node,
                          jx_arena_printf(lint->ctx->arena,
                                          name && *name ? "the result `%s` %s"
                                                        : "the result%s %s",
                                          name ? name : "", what));
    if (claim)
        claim->stack = program->returns ? program->returns
                       : node           ? NULL
                                        : program->head;
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
