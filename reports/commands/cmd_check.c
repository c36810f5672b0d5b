/* cmd_check.c - `jaxvet check PROGRAM|DIR...`. */
#include "frontend/base/plain.h"
#include "prover/solver.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/commands/select.h"
#include "reports/commands/walk.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/check.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/source.h"
#include "reports/pipeline/transforms.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct settings {
    const char *format, *output, *fail_on, *colour, *grad;
    jx_texts select, ignore, where, ranges, prove, transform;
    int64_t min_elements;
    jx_texts roots;
    bool strict, deps, no_rules, no_solver, timing, trust, allow_empty, list_skipped;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"format", 0, JX_OPT_CHOICE, jx_format_names + 1,
     "how to say it (text)", offsetof(settings, format)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there, whole or not at all",
     offsetof(settings, output)},
    {"select", 0, JX_OPT_LIST, "CODES",
     "only these codes, names, or beginnings of codes",
     offsetof(settings, select)},
    {"ignore", 0, JX_OPT_LIST, "CODES", "all but these",
     offsetof(settings, ignore)},
    {"fail-on", 0, JX_OPT_CHOICE, "error|warning|note|never",
     "exit with 1 from this level on (error)", offsetof(settings, fail_on)},
    {"strict", 0, JX_OPT_FLAG, NULL,
     "exit with 5 if an obligation is undecided", offsetof(settings, strict)},
    {"deps", 0, JX_OPT_FLAG, NULL, "show findings in libraries' files, too",
     offsetof(settings, deps)},
    {"no-rules", 0, JX_OPT_FLAG, NULL,
     "do not run the derivative rules that documents hold (jaxvet gradcheck\n"
     "runs them, and longer)",
     offsetof(settings, no_rules)},
    {"where", 0, JX_OPT_LIST, "CONSTRAINT",
     "assume this of the sizes, too: 'n >= 4', 'mod(n, 2) == 0', 'a != b'",
     offsetof(settings, where)},
    {"range", 0, JX_OPT_LIST, "KEY in [LO, HI]",
     "what the elements of an input hold: 'x in [0, 1]', \"args[0]['w'] in [-1, 1]\",\n"
     "'index in [0, n - 1]'; ends included, inf and sizes are ends, too",
     offsetof(settings, ranges)},
    {"prove", 0, JX_OPT_LIST, "WHAT",
     "prove, for all inputs within their ranges and all sizes: finite (every\n"
     "output), in-bounds (every index), no-wrap (every integer), or\n"
     "'out0 in [0, 1]'; said for IEEE arithmetic (ieee), with subnormals flushed\n"
     "(ftz), and as XLA compiles it (xla)",
     offsetof(settings, prove)},
    {"grad", 0, JX_OPT_CHOICE, "loss|always|never",
     "run the gradient of outputs, too: of a program that gives one number (loss),\n"
     "always, never", offsetof(settings, grad)},
    {"transform", 0, JX_OPT_LIST, "grad,vmap,lower:tpu",
     "predict, without running, which rule JAX will miss for these: grad, vmap,\n"
     "lower:PLATFORM (cpu, cuda, rocm, tpu); what else show --transform does\n"
     "(jvp, vjp, vmap:AXES, set:NAME=SIZE, devices:N) is done first",
     offsetof(settings, transform)},
    JX_SOURCE_OPTIONS(settings),
    {"allow-empty", 0, JX_OPT_FLAG, NULL,
     "a folder without a program is no error",
     offsetof(settings, allow_empty)},
    {"list-skipped", 0, JX_OPT_FLAG, NULL,
     "name what is skipped: files of folders that are no programs,\n"
     "links to folders",
     offsetof(settings, list_skipped)},
    {"min-elements", 0, JX_OPT_INT, "N",
     "let smaller constant computations pass (1024)",
     offsetof(settings, min_elements)},
    {"no-solver", 0, JX_OPT_FLAG, NULL, "prove without Z3",
     offsetof(settings, no_solver)},
    {"timing", 0, JX_OPT_FLAG, NULL, "say how long each program took",
     offsetof(settings, timing)},
    {"color", 0, JX_OPT_CHOICE, "auto|always|never",
     "colours in text (auto: on a terminal without NO_COLOR)",
     offsetof(settings, colour)},
    JX_LIMIT_OPTIONS(settings),
};

/* One run over all arguments. */
typedef struct runner {
    const settings *settings;
    jx_ctx *ctx; /* of what the reports show */
    jx_check_options check;
    jx_sources *sources;
    jx_suppressions *suppressions;
    jx_targets targets;
    jx_report *reports;
    int count;
    JX_VEC(const char *) skipped;
    int64_t *programs; /* in each argument */
    jx_limits limits;  /* of each program */
} runner;

static bool set_up(runner *r)
{
    const settings *s = r->settings;

    if (!jx_command_selection(&jx_command_check, r->ctx, &s->select, &s->ignore,
                              &r->check.selection))
        return false;
    r->check.min_elements = s->min_elements;
    r->check.deps = s->deps;
    r->check.no_rules = s->no_rules;
    if (s->grad)
        r->check.backward = !strcmp(s->grad, "always")  ? JX_BACKWARD_ALWAYS
                            : !strcmp(s->grad, "never") ? JX_BACKWARD_NEVER
                                                        : JX_BACKWARD_LOSS;
    r->check.nwhere = s->where.count;
    r->check.transform = &s->transform;
    r->check.nranges = s->ranges.count;
    r->check.ranges = s->ranges.at;
    r->check.where = s->where.at;
    r->check.proofs = (jx_proofs){s->prove.count, s->prove.at};
    r->check.settle.no_solver = s->no_solver;
    r->check.settle.suggest = true;
    return true;
}

/* A report that nothing but an error is. */
static void add_unreadable(runner *r, jx_error_kind kind, const char *path,
                           const char *why)
{
    r->reports[r->count++] = (jx_report){
        .path = path, .unreadable = {kind, path, NULL, why}};
    jx_suppressions_begin(r->suppressions);
}

/* Checks a target into the next report; a file of a folder that is no program
 * is counted and left alone. */
static void check_target(runner *r, const jx_target *target)
{
    jx_ctx *ctx;
    const char *bytes = NULL;
    size_t size = 0;

    if (target->why) {
        add_unreadable(r, JX_E_INPUT, target->path, target->why);
        return;
    }
    if (target->passed_over) {
        JX_PUSH(r->ctx->arena, &r->skipped, target->path);
        return;
    }
    ctx = jx_ctx_limited(r->limits);
    if (!ctx) {
        add_unreadable(r, JX_E_LIMIT, target->path, JX_STARVED);
        return;
    }
    if (target->named ||
        jx_input_belongs(ctx, target->path, &bytes, &size)) {
        r->programs[target->argument]++;
        r->reports[r->count++] =
            jx_check_input(r->ctx, ctx, target->path, bytes, size, &r->check,
                           r->suppressions);
    } else {
        JX_PUSH(r->ctx->arena, &r->skipped, target->path);
    }
    jx_ctx_free(ctx);
}

/* Whoever names a folder expects something in it: that all of it is fine would
 * be said of a wrong folder, too. */
static void check_folders(runner *r, int count, char **arguments,
                          const bool *is_folder)
{
    for (int i = 0; i < count; i++)
        if (is_folder[i] && !r->programs[i] && !r->settings->allow_empty)
            add_unreadable(r, JX_E_INPUT, arguments[i],
                           "no program is in this folder (--allow-empty "
                           "allows that)");
}

static bool check_all(runner *r, int count, char **arguments,
                      const bool *is_folder)
{
    jx_arena *arena = r->ctx->arena;

    r->reports = JX_NEW_ARRAY(arena, r->targets.count + (size_t)count,
                              jx_report);
    r->programs = JX_NEW_ARRAY(arena, count, int64_t);
    if (!r->reports || !r->programs)
        return false;
    /* A program that starves is one report; what is kept of all that does is
     * no report at all. */
    for (size_t i = 0; i < r->targets.count && jx_ok(r->ctx); i++) {
        double start = jx_seconds_now();
        int before = r->count;

        check_target(r, &r->targets.at[i]);
        if (r->settings->timing && r->count > before)
            r->reports[before].milliseconds =
                1e3 * (jx_seconds_now() - start);
    }
    check_folders(r, count, arguments, is_folder);
    return jx_ok(r->ctx) &&
           jx_suppressions_unused(r->suppressions, r->reports, r->count);
}

static bool fails(const settings *s, jx_level level)
{
    const char *least = s->fail_on;

    return strcmp(least, "never") != 0 &&
           level >= (strcmp(least, "note") == 0      ? JX_NOTE
                     : strcmp(least, "warning") == 0 ? JX_WARNING
                                                     : JX_ERROR);
}

static int code_of_report(const settings *s, const jx_report *report)
{
    int code = JX_EXIT_OK;

    if (report->unreadable.kind != JX_E_NONE)
        return report->unreadable.kind == JX_E_INTERNAL ? JX_EXIT_INTERNAL
                                                        : JX_EXIT_INPUT;
    for (size_t i = 0; i < report->findings.count; i++)
        if (fails(s, report->findings.at[i].level))
            code = JX_EXIT_FINDINGS;
    if (s->strict && report->claims.undecided)
        code = jx_exit_worse(code, JX_EXIT_UNDECIDED);
    return code;
}

static bool wants_colour(const settings *s)
{
    if (strcmp(s->colour, "auto") != 0)
        return strcmp(s->colour, "always") == 0;
    return (!s->output || strcmp(s->output, "-") == 0) &&
           jx_command_colour(STDOUT_FILENO);
}

static void render(runner *r, jx_buffer *to)
{
    const jx_report_list list = {
        r->count, r->reports, (int64_t)r->skipped.count,
        r->settings->list_skipped ? r->skipped.at : NULL};
    const jx_style style = {wants_colour(r->settings), r->sources};

    jx_format_named(r->settings->format)(&list, &style, to);
}

/* Errors about inputs are part of every format; text has them on standard
 * error as well, where a pipe does not swallow them. */
static void complain(const runner *r)
{
    for (int i = 0; i < r->count; i++)
        if (r->reports[i].unreadable.kind != JX_E_NONE)
            jx_command_error(&r->reports[i].unreadable);
}

static int finish(runner *r)
{
    jx_budget paper;
    jx_buffer to = {.budget = &paper};
    int code = JX_EXIT_OK;

    jx_budget_init(&paper, (jx_limits){.bytes = r->limits.bytes}, NULL);
    if (!jx_ok(r->ctx))
        return jx_command_failed(r->ctx);
    for (int i = 0; i < r->count; i++)
        code = jx_exit_worse(code, code_of_report(r->settings, &r->reports[i]));
    render(r, &to);
    complain(r);
    code = jx_exit_worse(code,
                         wants_colour(r->settings)
                             ? jx_command_write_bytes(r->settings->output, &to)
                             : jx_command_write(r->settings->output, &to));
    jx_buffer_free(&to);
    return code;
}

static int run_all(runner *r, int argc, char **argv)
{
    bool *is_folder = JX_NEW_ARRAY(r->ctx->arena, argc, bool);

    for (int i = 0; is_folder && i < argc; i++)
        is_folder[i] = jx_walk_add(r->ctx, argv[i], i, &r->targets);
    if (!jx_ok(r->ctx) || !check_all(r, argc, argv, is_folder))
        return jx_command_failed(r->ctx);
    return finish(r);
}

static int run(int argc, char **argv)
{
    settings s = {.format = "text", .fail_on = "error", .colour = "auto"};
    int n = jx_command_options(&jx_command_check, argc, argv, &s), code;
    runner r = {.settings = &s};

    if (n < 0 ||
        !jx_command_limits(&jx_command_check, &s.limits, &r.limits))
        return JX_EXIT_USAGE;
    if (!n)
        return jx_command_usage(&jx_command_check,
                                "expected a program or a folder");
    r.ctx = jx_ctx_new(0);
    r.sources = jx_sources_new();
    r.check.settle.solver = jx_solver_new(NULL);
    if (r.ctx && r.sources)
        r.suppressions =
            jx_suppressions_new(r.ctx, r.sources, &r.check.selection);
    if (!r.suppressions || !r.check.settle.solver)
        code = jx_command_starved();
    else
        code = set_up(&r) && jx_command_sources(&jx_command_check, &s.roots,
                                                  s.trust, r.sources,
                                                  r.suppressions)
                   ? run_all(&r, n, argv)
                   : JX_EXIT_USAGE;
    jx_solver_free(r.check.settle.solver);
    jx_sources_free(r.sources);
    jx_ctx_free(r.ctx);
    return code;
}

const jx_command jx_command_check = {
    "check",
    "PROGRAM|DIR...",
    "say what can go wrong in programs",
    "Reads each program, types it for all sizes, proves what has to\n"
    "hold or shows sizes for which it does not, and looks for what a\n"
    "trace bakes in by accident.  A program is a jaxpr document (from\n"
    "jaxvet.dump) or a jaxpr as JAX prints it, plain or gzipped; - is\n"
    "standard input.  A folder is walked: what is a program by its content\n"
    "or by its name (.jaxexport .mlir .mlirbc .stablehlo .jaxpr; .json that\n"
    "begins as a document does) is checked or said to be unreadable, other\n"
    "files are counted, as are links to folders, which are not followed;\n"
    "hidden files are left out.\n"
    "\n"
    "Derivative rules that a document holds are run beside their functions,\n"
    "each at a few points: a wrong one is a finding (DRV), of others the\n"
    "report says how much was compared.\n"
    "\n"
    "With ranges of inputs (--range, or declared in the document) the program is\n"
    "run within them, at corners and where its derivative leads, for an output that\n"
    "is not finite: NUM names the line to blame, with the inputs that show it.\n"
    "\n"
    "--transform grad,vmap,lower:tpu asks of each program which rule JAX will\n"
    "miss, without running it: for jax.grad by all inexact inputs (a derivative,\n"
    "and a transpose of what is linear in the tangents: none goes back through a\n"
    "while loop), for jax.vmap over a new axis of all inputs, for lowering to a\n"
    "platform.  JAX's own primitives have the rules of the JAX that traced the\n"
    "program, others those that the document holds.  Each is asked of the program\n"
    "itself, after the transformations that are named with them: vmap:0,grad asks\n"
    "for the derivative of the mapped program.  What is missing is PRM002, at the\n"
    "equation, in JAX's words; that nothing is missing is no promise that a rule\n"
    "takes every dtype and parameter.\n"
    "\n"
    "  $ jaxvet check model.json\n"
    "  $ jaxvet check exports/ --select SHP --format sarif -o out.sarif\n"
    "  $ jaxvet check model.json --transform grad,vmap,lower:tpu\n"
    "\n"
    "A finding says how it is known (a counterexample, a proof, a run)\n"
    "and where in the source it comes from; `jaxvet explain CODE` says\n"
    "what it means.  A comment `# jaxvet: ignore[CODE] reason` on that\n"
    "line accepts it.  Source is read below the working directory and\n"
    "--source-root; what a program says of its source is shown where there\n"
    "is none, and accepts nothing (but see --trust-embedded).  What could "
    "neither be proved nor refuted is\n"
    "listed as undecided, never as fine.\n"
    "\n"
    "Exit code: 0 nothing at or above --fail-on, 1 findings, 3 a program\n"
    "can't be read or a folder has none, 5 (with --strict) undecided, 2 wrong usage.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
