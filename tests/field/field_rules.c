/* field_rules.c - what is known of rules without points.
 *
 *     field_rules FILE ...
 *
 * A line for each rule of each program: what its derivative is by terms and
 * over finite fields, whatever else is found of it. */
#include "analyzer/typing.h"
#include "reports/pipeline/input.h"
#include "runtime/gradients/gradding.h"

#include <stdio.h>
#include <string.h>

static void say(const char *path, jx_rule_report *r)
{
    printf("%s: %s rule of %s: %s\n", path, r->rule->vjp ? "vjp" : "jvp",
           r->rule->name ? r->rule->name : "?",
           r->evidence == JX_RULE_PROVED                 ? "proved"
           : r->evidence == JX_RULE_IDENTICAL            ? r->more
           : r->more && strncmp(r->more, "identical", 9) ? r->more
                                                         : "withheld");
}

static bool look_at(const char *path)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *program = ctx ? jx_input_open(ctx, path) : NULL;
    jx_derived derived;

    if (!program || !jx_grad_derive(&program, NULL, false, &derived)) {
        printf("%s: %s\n", path, ctx ? ctx->error.message : "no memory");
        jx_ctx_free(ctx);
        return false;
    }
    const jx_typed *typed = jx_typed_of(program);
    jx_rule_reports reports = {0};
    for (int i = 0; typed && i < program->nrules; i++) {
        jx_rule_report report = {.rule = program->rules[i]};
        jx_plan_options how = {.domain = JX_WIDE};
        if (!jx_sample_sizes(program, program->rules[i], 0, NULL,
                             &how.nbindings, &how.bindings))
            continue;
        jx_grad_more(typed, &how, 0, &derived.rules[i], &report);
        JX_PUSH(ctx->arena, &reports, report);
    }
    jx_grad_withhold(&derived.closing, &reports);
    for (size_t i = 0; i < reports.count; i++)
        say(path, &reports.at[i]);
    jx_ctx_free(ctx);
    return true;
}

int main(int argc, char **argv)
{
    bool all = true;

    for (int i = 1; i < argc; i++)
        all &= look_at(argv[i]);
    return !all;
}
