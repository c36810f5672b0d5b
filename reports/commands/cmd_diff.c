/* cmd_diff.c - `jaxvet diff OLD NEW`: what changed between two versions. */
#include "prover/solver.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/formats/differ.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/transforms.h"

#include <string.h>

typedef struct settings {
    const char *format, *output, *fail_on;
    jx_texts transform;
    bool no_solver;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"format", 0, JX_OPT_CHOICE, "text|json", "how to say it (text)",
     offsetof(settings, format)},
    {"fail-on", 0, JX_OPT_CHOICE, "any|contract|never",
     "exit with 1 at any difference, or only if NEW is not shown to be a "
     "drop-in replacement (any)",
     offsetof(settings, fail_on)},
    JX_TRANSFORM_OPTION(settings),
    {"no-solver", 0, JX_OPT_FLAG, NULL, "prove without Z3",
     offsetof(settings, no_solver)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there, whole or not at all",
     offsetof(settings, output)},
    JX_LIMIT_OPTIONS(settings),
};

static bool fails(const settings *s, const jx_program_diff *diff)
{
    if (strcmp(s->fail_on, "never") == 0)
        return false;
    return !diff->drop_in || (strcmp(s->fail_on, "any") == 0 && !diff->same);
}

static int say(const settings *s, jx_ctx *ctx, const jx_program_diff *diff)
{
    jx_buffer text = jx_ctx_text(ctx);
    int code;

    if (strcmp(s->format, "json") == 0)
        jx_diff_json(diff, &text);
    else
        jx_diff_text(diff, &text);
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code ? code : fails(s, diff) ? JX_EXIT_FINDINGS : JX_EXIT_OK;
}

static int compare(const settings *s, jx_ctx *ctx, char **paths)
{
    jx_program *before = jx_input_open(ctx, paths[0]);
    jx_program *after = before ? jx_input_open(ctx, paths[1]) : NULL;
    jx_settle_options settle = {.no_solver = s->no_solver};
    jx_program_diff diff;

    before = jx_program_transformed(before, &s->transform, false);
    after = before ? jx_program_transformed(after, &s->transform, false) : NULL;
    if (!after || !jx_programs_diff(before, after, &settle, &diff))
        return jx_command_failed(ctx);
    return say(s, ctx, &diff);
}

static int run(int argc, char **argv)
{
    settings s = {.format = "text", .fail_on = "any"};
    int n = jx_command_options(&jx_command_diff, argc, argv, &s), code;
    jx_ctx *ctx;

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n != 2)
        return jx_command_usage(&jx_command_diff, "expected two programs");
    ctx = jx_command_ctx(&jx_command_diff, &s.limits, &code);
    if (!ctx)
        return code;
    code = compare(&s, ctx, argv);
    jx_ctx_free(ctx);
    return code;
}

const jx_command jx_command_diff = {
    "diff",
    "OLD NEW",
    "say what changed between two versions of a program",
    "Three things: whether NEW computes the same at the shapes that OLD\n"
    "takes (up to names, source lines, calls, dead code and the order of\n"
    "independent equations), with the first equation that the other has\n"
    "not; whether NEW is a drop-in replacement, that is, takes all that OLD\n"
    "takes under OLD's constraints and gives results of the same types,\n"
    "with the sizes that break it (an exported file also runs where OLD did,\n"
    "takes and gives the same pytrees, and can be differentiated as often);\n"
    "and how the cost changed.  Another order of floating-point operations is\n"
    "another program.\n"
    "\n"
    "  $ jaxvet diff v1.jaxexport v2.jaxexport\n"
    "  $ jaxvet diff v1.json v2.json --fail-on contract\n",
    options,
    sizeof options / sizeof *options,
    run,
};
