/* lints.c - all lints, one after the other. */
#include "analyzer/lint/int_ranges.h"
#include "analyzer/lint/lint.h"
#include "frontend/ir/signature.h"

/* What a loop does is looked at for sizes although no input reaches it. */
static bool follow_sizes(jx_linter *lint)
{
    int count = 0;

    lint->whole = jx_program_vars(lint->program, &count) && count
                      ? jx_flatten_all(&lint->to->typed)
                      : lint->flat;
    lint->sizes = lint->whole ? jx_flat_follow(lint->whole) : NULL;
    return lint->sizes != NULL;
}

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
                      .options = {.min_elements = JX_LINT_MIN_ELEMENTS}};

    if (options)
        lint.options = *options;
    lint.flat = jx_flatten(&to->typed);
    if (!lint.flat || !follow_sizes(&lint) ||
        !jx_flat_uses_of(lint.flat, &lint.uses))
        return false;
    lint.frames = jx_flat_frames(lint.flat);
    lint.ranges = jx_int_ranges(lint.flat);
    if (!lint.frames || !lint.ranges)
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
