/* cmd_check.c - `jaxvet check PROGRAM|DIR...`. */
#include "frontend/base/machine.h"
#include "frontend/base/plain.h"
#include "frontend/base/sha256.h"
#include "prover/solver.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/commands/reproduce.h"
#include "reports/commands/select.h"
#include "reports/commands/share.h"
#include "reports/commands/walk.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/check.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/record.h"
#include "reports/pipeline/source.h"
#include "reports/pipeline/transforms.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct settings {
    const char *format, *output, *fail_on, *colour, *grad, *repro;
    jx_texts select, ignore, where, ranges, prove, transform;
    int64_t min_elements;
    jx_texts roots;
    bool strict, deps, no_rules, no_solver, timing, trust, allow_empty,
        list_skipped, possible;
    int64_t jobs;
    const char *journal;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"format", 0, JX_OPT_CHOICE, jx_format_names + 1, "how to say it (text)",
     offsetof(settings, format)},
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
    {"possible", 0, JX_OPT_FLAG, NULL,
     "as notes, what bounds of values leave open and nothing proves or shows: where\n"
     "a value may be no finite number, an index outside, an integer too large",
     offsetof(settings, possible)},
    {"grad", 0, JX_OPT_CHOICE, "loss|always|never",
     "run the gradient of outputs, too: of a program that gives one number and has\n"
     "no more than 32768 equations (loss), always, never",
     offsetof(settings, grad)},
    {"repro", 0, JX_OPT_TEXT, "DIR",
     "write there, for each finding that a run shows, its inputs for jaxvet run\n"
     "--inputs (NUM001-1.npz), and of an exported file a test in plain JAX\n"
     "(NUM001-1.py, which runs the copy NUM001-1.jaxexport)",
     offsetof(settings, repro)},
    {"transform", 0, JX_OPT_LIST, "grad,vmap,lower:tpu",
     "predict, without running, which rule JAX will miss for these: grad, vmap,\n"
     "lower:PLATFORM (cpu, cuda, rocm, tpu); what else show --transform does\n"
     "(jvp, vjp, vmap:AXES, set:NAME=SIZE, fix:INPUT=NUMBER,\n"
     "devices:N) is done first",
     offsetof(settings, transform)},
    JX_SOURCE_OPTIONS(settings),
    {"allow-empty", 0, JX_OPT_FLAG, NULL,
     "a folder without a program is no error", offsetof(settings, allow_empty)},
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
    {"jobs", 0, JX_OPT_INT, "N",
     "processes that share the programs (default: one for each processor)",
     offsetof(settings, jobs)},
    {"journal", 0, JX_OPT_TEXT, "DIR",
     "keep each program's result there as it comes: what is killed goes on where it\n"
     "was, and ranks of mpirun share the work",
     offsetof(settings, journal)},
    JX_LIMIT_OPTIONS(settings),
};

enum { JX_JOBS_MAX = 1024 };

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
    int jobs;
    jx_rank rank;
} runner;

static bool set_up(runner *r)
{
    const settings *s = r->settings;

    if (!jx_command_selection(&jx_command_check, r->ctx, &s->select, &s->ignore,
                              &r->check.selection))
        return false;
    r->check.min_elements = s->min_elements;
    r->check.no_rules = s->no_rules;
    r->check.possible = s->possible;
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

/* Ranks of mpirun that share no journal would do the same
 * work, each of them. */
static bool set_up_jobs(runner *r)
{
    int jobs = (int)(r->settings->jobs < JX_JOBS_MAX ? r->settings->jobs
                                                     : JX_JOBS_MAX);

    r->rank = jx_rank_here();
    r->jobs = jobs ? jobs : jx_machine_cores() / r->rank.here;
    if (r->jobs < 1)
        r->jobs = 1;
    if (r->rank.count == 1 || r->settings->journal)
        return true;
    if (!r->rank.number)
        jx_command_usage(&jx_command_check,
                         "%d ranks of mpirun share work by a journal: give "
                         "--journal DIR, a folder that all of them see",
                         r->rank.count);
    return false;
}

/* What became of a target: a report, unless it is a file of a folder that is no
 * program. */
typedef struct checked {
    bool is_program;
    jx_report report;
} checked;

static checked unreadable(jx_error_kind kind, const char *path, const char *why)
{
    return (checked){true,
                     {.path = path, .unreadable = {kind, path, NULL, why}}};
}

/* Checks a target; what the report shows lives in `keep`. */
static checked check_target(const runner *r, jx_ctx *keep,
                            const jx_target *target)
{
    double start = jx_seconds_now();
    checked made = {0};
    jx_ctx *ctx;
    const char *bytes = NULL;
    size_t size = 0;

    if (target->why)
        return unreadable(JX_E_INPUT, target->path, target->why);
    if (target->passed_over)
        return made;
    ctx = jx_ctx_limited(r->limits);
    if (!ctx)
        return unreadable(JX_E_LIMIT, target->path, JX_STARVED);
    if (target->named || jx_input_belongs(ctx, target->path, &bytes, &size)) {
        made.is_program = true;
        made.report =
            jx_check_input(keep, ctx, target->path, bytes, size, &r->check);
        if (r->settings->timing)
            made.report.milliseconds = 1e3 * (jx_seconds_now() - start);
    }
    jx_ctx_free(ctx);
    return made;
}

/* Takes what became of the next target into the run. */
static bool add(runner *r, const jx_target *target, const checked *made)
{
    if (!made->is_program) {
        JX_PUSH(r->ctx->arena, &r->skipped, target->path);
        return jx_ok(r->ctx);
    }
    if (!target->why)
        r->programs[target->argument]++;
    r->reports[r->count] = made->report;
    return jx_check_finish(r->ctx, &r->reports[r->count++], r->settings->deps,
                           r->suppressions) &&
           jx_ok(r->ctx);
}

/* ---- shared out to processes */

/* What the run of one of them has to hand. */
typedef struct sharing {
    const runner *runner;
    const jx_target **targets; /* of the pieces */
} sharing;

static bool make_piece(void *user, jx_ctx *ctx, size_t piece, jx_outcome *to)
{
    const sharing *s = user;
    checked made = check_target(s->runner, ctx, s->targets[piece]);

    if (!jx_ok(ctx))
        return false;
    jx_buffer_putc(&to->bytes, made.is_program ? 'p' : '-');
    if (made.is_program)
        jx_record_write(&made.report, &to->bytes);
    /* Nobody knows what was in the way, and whether it still is. */
    to->fleeting = made.is_program && made.report.unreadable.kind != JX_E_NONE;
    to->beside = made.report.beside;
    return true;
}

static bool read_piece(runner *r, const jx_target *target,
                       const jx_shared *from, checked *to)
{
    *to = (checked){.report = {.path = target->path}};
    if (!from->bytes) {
        *to =
            unreadable(from->gave_up ? JX_E_LIMIT : JX_E_INTERNAL, target->path,
                       from->died ? from->died : "its result is missing");
        return true;
    }
    to->is_program = from->size && from->bytes[0] == 'p';
    return !to->is_program ||
           jx_record_read(r->ctx, from->bytes + 1, from->size - 1,
                          &to->report) ||
           (jx_ok(r->ctx) &&
            jx_fail(r->ctx, JX_E_INPUT, target->path, NULL,
                    "what the journal holds of it is no report: remove the "
                    "journal, and run again"));
}

/* What is read once only, or costs nothing, is not shared. */
static bool is_shared(const jx_target *target)
{
    return !target->why && !target->passed_over &&
           strcmp(target->path, "-") != 0;
}

/* A name for all that the result depends on: this build, what was asked, the
 * file as it is. */
static const char *key_of(const runner *r, const jx_target *target)
{
    /* What is done with reports, not what is in them. */
    static const char *const without[] = {
        "format",      "output",         "fail-on", "strict",  "deps",
        "allow-empty", "color",          "jobs",    "journal", "list-skipped",
        "source-root", "trust-embedded", "repro",   NULL};
    jx_buffer text = {0};
    char print[65];

    jx_journal_state("/proc/self/exe", &text);
    jx_options_text(options, sizeof options / sizeof *options, r->settings,
                    without, &text);
    jx_buffer_printf(&text, "%d%s\n", target->named, target->path);
    jx_journal_state(target->path, &text);
    if (!jx_buffer_ok(&text)) {
        jx_buffer_free(&text);
        jx_starved(r->ctx);
        return NULL;
    }
    jx_sha256(text.text, text.length, print);
    jx_buffer_free(&text);
    return jx_arena_string(r->ctx->arena, print, 64);
}

static int64_t size_of(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
}

static bool share(runner *r, size_t count, jx_shared *results)
{
    jx_piece *pieces = JX_NEW_ARRAY(r->ctx->arena, count, jx_piece);
    sharing s = {r, JX_NEW_ARRAY(r->ctx->arena, count, const jx_target *)};
    const char *folder = r->settings->journal;
    jx_journal journal;
    size_t n = 0;

    if (!pieces || !s.targets ||
        (folder && !jx_journal_open(r->ctx, folder, &r->rank, &journal)))
        return false;
    for (size_t i = 0; i < r->targets.count; i++) {
        const jx_target *target = &r->targets.at[i];

        if (!is_shared(target))
            continue;
        s.targets[n] = target;
        pieces[n] = (jx_piece){target->path, folder ? key_of(r, target) : NULL,
                               size_of(target->path)};
        if (folder && !pieces[n].key)
            return false;
        n++;
    }
    return jx_share_out(
        r->ctx,
        &(jx_share){.count = n,
                    .pieces = pieces,
                    .jobs = r->jobs < (int)n || !n ? r->jobs : (int)n,
                    .journal = folder ? &journal : NULL,
                    .doing = "checked",
                    .make = make_piece,
                    .user = &s},
        results);
}

/* Whoever names a folder expects something in it: that all of it is fine would
 * be said of a wrong folder, too. */
static void check_folders(runner *r, int count, char **arguments,
                          const bool *is_folder)
{
    for (int i = 0; i < count; i++)
        if (is_folder[i] && !r->programs[i] && !r->settings->allow_empty)
            r->reports[r->count++] =
                unreadable(
                    JX_E_INPUT, arguments[i],
                    "no program is in this folder (--allow-empty allows that)")
                    .report;
}

static bool check_all(runner *r, int count, char **arguments,
                      const bool *is_folder)
{
    jx_arena *arena = r->ctx->arena;
    size_t shared = 0, next = 0;
    jx_shared *results;

    for (size_t i = 0; i < r->targets.count; i++)
        shared += is_shared(&r->targets.at[i]);
    if (!r->settings->journal && (r->jobs == 1 || shared < 2))
        shared = 0; /* all is done here */
    results = JX_NEW_ARRAY(arena, shared, jx_shared);
    r->reports =
        JX_NEW_ARRAY(arena, r->targets.count + (size_t)count, jx_report);
    r->programs = JX_NEW_ARRAY(arena, count, int64_t);
    if (!results || !r->reports || !r->programs ||
        (shared && !share(r, shared, results)))
        return false;
    if (r->rank.number)
        return true; /* the first says it */
    /* A program that starves is one report; what is kept of all that does is
     * no report at all. */
    for (size_t i = 0; i < r->targets.count; i++) {
        const jx_target *target = &r->targets.at[i];
        checked made;

        if (!shared || !is_shared(target))
            made = check_target(r, r->ctx, target);
        else if (!read_piece(r, target, &results[next++], &made))
            return false;
        if (!add(r, target, &made))
            return false;
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
    if (r->settings->repro &&
        !jx_reproduce(r->ctx, r->settings->repro, r->reports, r->count))
        code = jx_exit_worse(code, jx_command_failed(r->ctx));
    return code;
}

static int run_all(runner *r, int argc, char **argv)
{
    bool *is_folder = JX_NEW_ARRAY(r->ctx->arena, argc, bool);

    for (int i = 0; is_folder && i < argc; i++)
        is_folder[i] = jx_walk_add(r->ctx, argv[i], i, &r->targets);
    if (!jx_ok(r->ctx) || !check_all(r, argc, argv, is_folder))
        return jx_command_failed(r->ctx);
    return r->rank.number ? JX_EXIT_OK : finish(r);
}

static int run(int argc, char **argv)
{
    settings s = {.format = "text", .fail_on = "error", .colour = "auto"};
    int n = jx_command_options(&jx_command_check, argc, argv, &s), code;
    runner r = {.settings = &s};

    if (n < 0 || !jx_command_limits(&jx_command_check, &s.limits, &r.limits))
        return JX_EXIT_USAGE;
    if (!n)
        return jx_command_usage(&jx_command_check,
                                "expected a program or a folder");
    if (!set_up_jobs(&r))
        return r.rank.number ? JX_EXIT_OK : JX_EXIT_USAGE;
    r.ctx = jx_ctx_new(0);
    r.sources = jx_sources_new();
    r.check.settle.solver = jx_solver_new(NULL);
    if (r.ctx && r.sources)
        r.suppressions =
            jx_suppressions_new(r.ctx, r.sources, &r.check.selection);
    if (!r.suppressions || !r.check.settle.solver)
        code = jx_command_starved();
    else
        code =
            set_up(&r) && jx_command_sources(&jx_command_check, &s.roots,
                                             s.trust, r.sources, r.suppressions)
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
    "Several programs are shared out to --jobs processes, largest first; the report\n"
    "is the same for any number.  A process that dies is named, and its program\n"
    "tried once more.  With --journal DIR what is done is kept: the same command\n"
    "goes on where a killed one was.  Ranks share one journal, and the first of\n"
    "them reports when all have ended:\n"
    "\n"
    "  $ mpirun -n 4 jaxvet check exports/ --journal /shared/journal\n"
    "\n"
    "(Open MPI 4 takes two seconds more to end where there are findings, but for\n"
    "mpirun --mca odls_base_sigkill_timeout 0.)\n"
    "\n"
    "Exit code: 0 nothing at or above --fail-on, 1 findings, 3 a program\n"
    "can't be read or a folder has none, 5 (with --strict) undecided, 2 wrong usage.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
