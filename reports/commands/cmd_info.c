/* cmd_info.c - `jaxvet info PROGRAM`: what is in a program, without a word on
 * whether it is right. */
#include "analyzer/transform/inline.h"
#include "analyzer/transform/refine.h"
#include "analyzer/typing.h"
#include "analyzer/values/values.h"
#include "frontend/base/json.h"
#include "frontend/base/plain.h"
#include "frontend/ir/range.h"
#include "prover/choose.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/formats/costs.h"
#include "reports/formats/exported_info.h"
#include "reports/formats/program_info.h"
#include "reports/formats/timings.h"
#include "reports/pipeline/equal_ready.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/inputs.h"
#include "reports/pipeline/transforms.h"

#include <math.h>
#include <string.h>

typedef struct settings {
    const char *format, *output, *fit, *alpha, *beta, *flops;
    int64_t sizes;
    bool cost, values, bubble;
    jx_texts set, ranges, transform;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"format", 0, JX_OPT_CHOICE, "text|json", "how to say it (text)",
     offsetof(settings, format)},
    {"sizes", 0, JX_OPT_INT, "N",
     "instead, N assignments of sizes worth trying, one JSON object a line",
     offsetof(settings, sizes)},
    {"fit", 0, JX_OPT_TEXT, "BYTES",
     "instead, the largest size that needs no more memory: 80GiB",
     offsetof(settings, fit)},
    {"alpha", 0, JX_OPT_TEXT, "SECONDS",
     "instead, how long each device takes if a message takes that long: 1e-6",
     offsetof(settings, alpha)},
    {"beta", 0, JX_OPT_TEXT, "SECONDS",
     "the same if each byte that is sent takes that long: 1e-11",
     offsetof(settings, beta)},
    {"flops", 0, JX_OPT_TEXT, "N",
     "the same if a device does N operations a second: 1e14",
     offsetof(settings, flops)},
    {"bubble", 0, JX_OPT_FLAG, NULL,
     "instead, how much of what devices multiply reaches no result, as in a pipeline that\n"
     "fills and empties",
     offsetof(settings, bubble)},
    {"set", 0, JX_OPT_LIST, "NAME=SIZE",
     "a size that is given, for --fit, times and --bubble",
     offsetof(settings, set)},
    {"values", 0, JX_OPT_FLAG, NULL,
     "instead, between what each output lies, for all inputs within their ranges and\n"
     "all sizes, one JSON object a line: \"nan\" where it may be none",
     offsetof(settings, values)},
    {"range", 0, JX_OPT_LIST, "KEY in [LO, HI]",
     "what the elements of an input hold, for --values: 'x in [0, 1]'",
     offsetof(settings, ranges)},
    JX_TRANSFORM_OPTION(settings),
    {"cost", 0, JX_OPT_FLAG, NULL,
     "count the cost of an exported program however long it is",
     offsetof(settings, cost)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there, whole or not at all",
     offsetof(settings, output)},
    JX_LIMIT_OPTIONS(settings),
};

static int say(const settings *s, jx_ctx *ctx, jx_program *program)
{
    jx_buffer text = jx_ctx_text(ctx);
    int code;

    if (!jx_program_info(program, strcmp(s->format, "json") == 0, &text))
        return jx_command_failed(ctx);
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code;
}

/* {"b":1,"t":2}, a line for each. */
static int say_sizes(const settings *s, const jx_program *program)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    jx_choice chosen;
    int code;

    if (!jx_choose_sizes(
            program,
            (int)(s->sizes > JX_CHOOSE_MOST ? JX_CHOOSE_MOST : s->sizes),
            &chosen))
        return jx_command_failed(program->ctx);
    for (int i = 0; i < chosen.count; i++) {
        for (int k = 0; k < chosen.nvars; k++) {
            jx_buffer_putc(&text, k ? ',' : '{');
            jx_json_put_text(&text, chosen.vars[k]->name);
            jx_buffer_printf(&text, ":%lld",
                             (long long)chosen.values[i * chosen.nvars + k]);
        }
        jx_buffer_puts(&text, "}\n");
    }
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code;
}

static void put_end(double end, jx_buffer *to)
{
    if (isfinite(end))
        jx_json_put_real(to, end);
    else
        jx_buffer_puts(to, end > 0 ? "\"inf\"" : "\"-inf\"");
}

static void put_extent(jx_extent is, jx_buffer *to)
{
    jx_buffer_putc(to, '[');
    put_end(is.lo, to);
    jx_buffer_putc(to, ',');
    put_end(is.hi, to);
    jx_buffer_puts(to, is.nan ? ",\"nan\"]" : "]");
}

/* {"output":0,"ieee":[0,1],"ftz":[0,1],"xla":[0,1.5,"nan"]}, a
 * line for each. */
static int say_values(const settings *s, jx_program *program)
{
    jx_ctx *ctx = program->ctx;
    jx_buffer text = jx_ctx_text(ctx);
    const jx_extents *extents[JX_NSEMANTICS];
    int code;

    program = jx_program_inline(program);
    for (int k = 0; k < JX_NSEMANTICS; k++) {
        extents[k] =
            program ? jx_program_extents(program, (jx_semantics)k) : NULL;
        if (!extents[k])
            return jx_command_failed(ctx);
    }
    for (int i = 0; i < extents[0]->nouts; i++) {
        jx_buffer_printf(&text, "{\"output\":%d", i);
        for (int k = 0; k < JX_NSEMANTICS; k++) {
            jx_buffer_printf(&text,
                             ",\"%s\":", jx_semantics_name((jx_semantics)k));
            put_extent(extents[k]->outs[i], &text);
        }
        jx_buffer_puts(&text, "}\n");
    }
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code;
}

static int say_fit(const settings *s, jx_program *program)
{
    const jx_typed *typed;
    jx_buffer text = jx_ctx_text(program->ctx);
    jx_cost cost;
    jx_fit fit;
    int64_t budget;
    int code;

    if (!jx_bytes_read(s->fit, &budget))
        return jx_command_usage(&jx_command_info,
                                "--fit: expected bytes, such as 80GiB");
    typed = jx_typed_of(program);
    if (!typed || !jx_typed_all(typed) || !jx_cost_of(typed, &cost) ||
        !jx_costs_fit(program, &cost, &s->set, budget, &fit))
        return jx_command_failed(program->ctx);
    jx_fit_print(&fit, budget, &text);
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code ? code : fit.fits ? JX_EXIT_OK : JX_EXIT_FINDINGS;
}

/* ---- times */

static bool asks_for_times(const settings *s)
{
    return s->alpha || s->beta || s->flops;
}

static bool read_rate(const char *option, const char *text, double *to)
{
    char *end;

    *to = text ? jx_strtod(text, &end) : 0;
    if (!text || (end != text && !*end && isfinite(*to) && *to >= 0))
        return true;
    jx_command_usage(&jx_command_info,
                     "--%s: expected a number that is not negative, not '%s'",
                     option, text);
    return false;
}

static int say_times(const settings *s, jx_program *program)
{
    jx_ctx *ctx = program->ctx;
    jx_buffer text = jx_ctx_text(ctx);
    const jx_typed *typed;
    const jx_binding *sizes;
    jx_rates rates;
    jx_timing timing;
    jx_cost cost;
    int count, code;

    if (!read_rate("alpha", s->alpha, &rates.alpha) ||
        !read_rate("beta", s->beta, &rates.beta) ||
        !read_rate("flops", s->flops, &rates.flops))
        return JX_EXIT_USAGE;
    typed = jx_inputs_sizes(program, &s->set, &count, &sizes)
                ? jx_typed_of(program)
                : NULL;
    if (!typed || !jx_typed_all(typed) || !jx_cost_of(typed, &cost) ||
        !jx_timing_of(typed, &cost, count, sizes, &rates, &timing))
        return jx_command_failed(ctx);
    (strcmp(s->format, "json") == 0 ? jx_timings_json : jx_timings_print)(
        &rates, &timing, cost.devices, &text);
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code;
}

static int say_bubble(const settings *s, jx_program *program)
{
    jx_ctx *ctx = program->ctx;
    jx_buffer text = jx_ctx_text(ctx);
    const jx_binding *sizes;
    jx_ordinary made;
    jx_idle idle;
    int count, code;

    if (!jx_inputs_sizes(program, &s->set, &count, &sizes) ||
        !(program = jx_program_refine(program, NULL, count, sizes)) ||
        !jx_ordinary_make(program, false, JX_DEVICES_AS_WRITTEN, &made) ||
        !jx_idle_of(made.typed, &idle))
        return jx_command_failed(ctx);
    (strcmp(s->format, "json") == 0 ? jx_idle_json : jx_idle_print)(
        &idle, made.devices, &text);
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code;
}

/* Of an exported file, what stands around its module. */
static int say_exported(const settings *s, jx_ctx *ctx, const char *path,
                        const char *bytes, size_t size)
{
    jx_exported_info info;
    jx_buffer text = jx_ctx_text(ctx);
    int code;

    if (!jx_exported_info_of(ctx, path, bytes, size, s->cost, &info))
        return jx_command_failed(ctx);
    if (strcmp(s->format, "json") == 0)
        jx_exported_json(&info, &text);
    else
        jx_exported_text(&info, &text);
    code = jx_command_write(s->output, &text);
    jx_buffer_free(&text);
    return code;
}

static int say_file(const settings *s, jx_ctx *ctx, const char *path)
{
    size_t size = 0;
    const char *bytes = jx_input_load(ctx, path, &size);
    jx_program *program;

    if (bytes && !s->sizes && !s->fit && !s->values && !asks_for_times(s) &&
        !s->bubble && !s->transform.count &&
        jx_may_be_exported(ctx, bytes, size))
        return say_exported(s, ctx, path, bytes, size);
    program = bytes ? jx_input_read(ctx, path, bytes, size) : NULL;
    for (int i = 0; program && i < s->ranges.count; i++)
        if (!jx_range_parse(program, s->ranges.at[i]))
            program = NULL;
    program = jx_program_transformed(program, &s->transform, false);
    return !program            ? jx_command_failed(ctx)
           : s->sizes          ? say_sizes(s, program)
           : s->fit            ? say_fit(s, program)
           : s->values         ? say_values(s, program)
           : s->bubble         ? say_bubble(s, program)
           : asks_for_times(s) ? say_times(s, program)
                               : say(s, ctx, program);
}

static int run(int argc, char **argv)
{
    settings s = {.format = "text"};
    int n = jx_command_options(&jx_command_info, argc, argv, &s), code;
    jx_ctx *ctx;

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n != 1)
        return jx_command_usage(&jx_command_info, "expected one program");
    ctx = jx_command_ctx(&jx_command_info, &s.limits, &code);
    if (!ctx)
        return code;
    code = say_file(&s, ctx, argv[0]);
    jx_ctx_free(ctx);
    return code;
}

const jx_command jx_command_info = {
    "info",
    "PROGRAM",
    "say what is in a program",
    "Lists the inputs and outputs with their paths, the symbolic sizes\n"
    "with their bounds and constraints, equations by primitive,\n"
    "constants with their bytes, custom derivative rules, effects, and\n"
    "the versions it was traced with.  --sizes 5 gives sizes at which the\n"
    "program is worth looking at instead: small, equal, at the edges of\n"
    "the constraints and of what was asked about sizes while tracing.\n"
    "\n"
    "Cost is counted before any optimization: operations as XLA counts them,\n"
    "the bytes of all operands and results, and the memory of what lives at\n"
    "once if every equation runs alone.  --fit 80GiB --set t=512 gives the\n"
    "largest size left open that needs no more memory than that (exit 1 if\n"
    "none does).  Within shard_map all of that is what one device does, its peak with\n"
    "its parts of the arrays, and what the devices do together is said beside it; so is\n"
    "what they send because an array lies otherwise than a shard_map takes it, which no\n"
    "equation says (where it lies is known of a file's inputs and results).\n"
    "\n"
    "--alpha, --beta and --flops say instead how long each device takes, in seconds, of a\n"
    "program at sizes: computing; sending, as rings send it, and where both directions of\n"
    "a ring send at once; all of it one after the other; and its critical path, which no\n"
    "overlap makes shorter.  A message takes --alpha, and each byte --beta; what is not\n"
    "given takes no time.\n"
    "\n"
    "--bubble follows every element on all devices, of a program at sizes that are not\n"
    "large: what a stage of a pipeline multiplies before its first input is there, or\n"
    "after its last, reaches no result.  For M inputs and S stages that is (S - 1) of\n"
    "M + S - 1.\n"
    "\n"
    "Of a file from Exported.serialize(): the signature as its author wrote\n"
    "it, with inputs that are not used; devices, platforms, shardings,\n"
    "effects, disabled checks, derivatives, what its bytes are spent on, which\n"
    "JAX made it and which can read it.  Of more than 5,000 operations the\n"
    "cost is counted with --cost only.\n"
    "\n"
    "  $ jaxvet info model.json\n"
    "  $ jaxvet info model.jaxexport\n"
    "  $ jaxvet info model.json --format json\n"
    "  $ jaxvet info model.json --fit 16GiB --set t=2048\n"
    "  $ jaxvet info ring.jaxexport --alpha 1e-6 --beta 1e-11 --flops 1e14\n",
    options,
    sizeof options / sizeof *options,
    run,
};
