/* check.c - see check.h. */
#include "reports/pipeline/check.h"
#include "analyzer/asking.h"
#include "analyzer/declared.h"
#include "analyzer/lint/lint.h"
#include "frontend/ir/range.h"
#include "frontend/read/exported.h"
#include "reports/pipeline/devices.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/possible.h"
#include "reports/pipeline/requirements.h"
#include "reports/pipeline/retraces.h"
#include "reports/pipeline/rules.h"
#include "reports/pipeline/settle_declared.h"
#include "reports/pipeline/transforms.h"
#include "reports/pipeline/where.h"
#include "reports/pipeline/wraps.h"

#include <string.h>

static bool begin(jx_program *program, const char *stage)
{
    jx_ctx_stage(program->ctx, stage);
    return jx_ctx_lasts(program->ctx);
}

static bool predict(jx_analysis *to, const jx_check_options *options)
{
    jx_predictions asked = {0};

    if (options->transform)
        jx_transforms_predict(options->transform, &asked);
    for (int i = 0; i < asked.count; i++)
        if (!jx_predict(to, asked.at[i]))
            return false;
    return true;
}

/* Whether something is selected that is said on request alone. */
static bool asks(const jx_selection *selection)
{
    for (int code = 1; code < JX_NCODES; code++)
        if (jx_code_is_asked_for((jx_code)code) &&
            jx_selects(selection, (jx_code)code))
            return true;
    return false;
}

jx_analysis *jx_check_program(jx_program *program,
                              const jx_check_options *options)
{
    jx_lint_options lint = {.min_elements = options->min_elements
                                                ? options->min_elements
                                                : JX_LINT_MIN_ELEMENTS,
                            .asked = asks(&options->selection)};
    jx_analysis *analysis = jx_typed_analysis(program);

    if (!analysis || !predict(analysis, options) ||
        !jx_claim_comparisons(analysis) || !jx_claim_declared(analysis) ||
        !begin(program, "linting") || !jx_lint(analysis, &lint) ||
        !begin(program, "proving") ||
        !jx_settle_wraps(analysis, &options->settle) ||
        !jx_settle(program, &analysis->claims, &options->settle) ||
        !jx_settle_fixed(program, &analysis->claims, &options->settle) ||
        !jx_settle_requirements(analysis, &options->settle) ||
        !jx_settle_devices(analysis) ||
        !begin(program, "comparing with other traces") ||
        !jx_settle_retraces(analysis) || !begin(program, "reporting"))
        return NULL;
    return analysis;
}

static const char *copy(jx_ctx *keep, const char *text)
{
    return text ? jx_arena_string(keep->arena, text, strlen(text)) : NULL;
}

static void copy_error(jx_ctx *keep, jx_report *report, const jx_error *error)
{
    report->unreadable = (jx_error){
        error->kind == JX_E_NONE ? JX_E_INTERNAL : error->kind,
        copy(keep, error->file),
        copy(keep, error->place),
        error->message ? copy(keep, error->message) : "stopped without a word",
    };
}

/* Sizes whose proof rests on an unknown primitive's declared results count as
 * undecided; they are told of at the first such primitive. */
static void tell_resting(jx_ctx *keep, jx_report *report, int64_t resting)
{
    report->claims.undecided += resting;
    for (size_t i = 0; resting && i < report->undecided.count; i++) {
        jx_finding *at = &report->undecided.at[i];
        if (at->code != JX_CODE_PRM001)
            continue;
        at->why = jx_arena_printf(keep->arena,
                                  "%s; %lld more statement%s about sizes "
                                  "rest%s on declared types of such results",
                                  at->why ? at->why : "unknown primitive",
                                  (long long)resting, resting == 1 ? "" : "s",
                                  resting == 1 ? "s" : "");
        break;
    }
}

static bool fill(jx_ctx *keep, jx_report *report, jx_analysis *analysis,
                 const jx_check_options *options)
{
    bool ok;

    report->claims.proved += analysis->settled;
    report->equations += analysis->equations;
    for (size_t i = 0; i < analysis->assumptions.count; i++)
        JX_PUSH(keep->arena, &report->assumptions,
                copy(keep, analysis->assumptions.at[i]));
    for (size_t i = 0; i < analysis->conditions.count; i++)
        JX_PUSH(keep->arena, &report->conditions,
                copy(keep, analysis->conditions.at[i]));
    ok = jx_report_claims(keep, report, analysis->program, &analysis->claims,
                          &options->selection);
    tell_resting(keep, report, analysis->resting);
    return ok;
}

/* Below error, what is in somebody else's file, or in a function of JAX's that
 * nobody's line leads to, is not for this user to mend.  Nor is, in such a
 * file, a derivative rule, which gradcheck is for, or what is done with keys,
 * from which the same numbers may be drawn again on purpose (a path of noise
 * is, point by point). */
static bool is_hidden(const jx_finding *finding)
{
    bool file = finding->where.file != NULL;
    bool theirs = finding->where.kind == (file ? JX_FILE_LIBRARY : JX_FILE_JAX);

    return theirs && (finding->level < JX_ERROR ||
                      (file && (jx_code_is_of_rules(finding->code) ||
                                jx_code_is_of_keys(finding->code))));
}

static void put_aside_hidden(jx_report *report)
{
    size_t kept = 0;

    for (size_t i = 0; i < report->findings.count; i++) {
        if (is_hidden(&report->findings.at[i]))
            report->hidden++;
        else
            report->findings.at[kept++] = report->findings.at[i];
    }
    report->findings.count = kept;
}

bool jx_check_finish(jx_ctx *keep, jx_report *report, bool deps,
                     jx_suppressions *suppressions)
{
    if (suppressions)
        jx_suppressions_begin(suppressions);
    if (report->unreadable.kind != JX_E_NONE)
        return true;
    if (suppressions) {
        if (!jx_suppressions_read(suppressions, report))
            return false;
        jx_suppress(suppressions, report);
    }
    if (!deps)
        put_aside_hidden(report);
    return jx_report_finish(keep, report);
}

/* An exported file is its function and the derivatives stored beside it, whose
 * claims join the function's: what is said of both at one line is said once. */
static bool fill_derivatives(jx_ctx *keep, jx_report *report,
                             jx_program *program,
                             const jx_check_options *options)
{
    int count = program->exported ? jx_exported_vjps(program->exported) : 0;

    for (int order = 1; order <= count; order++) {
        jx_program *vjp = jx_input_vjp(program, order);
        jx_analysis *analysis;

        if (!vjp)
            return false;
        vjp->exported = NULL; /* what the file says of itself is said once */
        analysis = jx_check_program(vjp, options);
        if (!analysis || !fill(keep, report, analysis, options))
            return false;
    }
    return true;
}

/* What is proved needs no search for inputs that make it otherwise. */
static bool check_values(jx_ctx *keep, jx_report *report,
                         const jx_analysis *analysis,
                         const jx_check_options *options)
{
    jx_program *program = analysis->program;
    bool settled;

    return begin(program, "bounding values") &&
           jx_check_proofs(keep, report, program, analysis->unfit,
                           &options->proofs, &options->selection, &settled) &&
           begin(program, "looking for numbers that are not finite") &&
           jx_check_values(keep, report, analysis, &options->selection,
                           options->backward, settled) &&
           (!options->possible || analysis->unfit ||
            jx_check_possible(keep, report, program, &options->selection));
}

static bool check_rules(jx_ctx *keep, jx_report *report,
                        const jx_analysis *analysis,
                        const jx_check_options *options)
{
    return options->no_rules || !jx_gradcheck_has_rules(analysis->program) ||
           (begin(analysis->program, "running derivative rules") &&
            jx_check_rules(keep, report, analysis, &options->selection));
}

bool jx_check_report(jx_ctx *keep, jx_report *report, jx_program *program,
                     const jx_check_options *options)
{
    jx_analysis *analysis = jx_check_program(program, options);

    return analysis && fill(keep, report, analysis, options) &&
           fill_derivatives(keep, report, program, options) &&
           check_rules(keep, report, analysis, options) &&
           check_values(keep, report, analysis, options) &&
           jx_report_remarks(keep, report, program);
}

/* Where a file of that name lies that belongs to the program; NULL of none. */
static const char *path_beside(jx_ctx *keep, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return name ? jx_arena_printf(keep->arena, "%.*s%s",
                                  slash ? (int)(slash - path) + 1 : 0, path,
                                  name)
                : NULL;
}

jx_report jx_check_input(jx_ctx *keep, jx_ctx *ctx, const char *path,
                         const char *bytes, size_t size,
                         const jx_check_options *options)
{
    const char *kept = copy(keep, path);
    jx_report report = {.path = kept ? kept : "a program without a name"};
    jx_program *program;
    bool done;

    jx_ctx_draw_on(keep, ctx);
    program = bytes ? jx_input_read(ctx, path, bytes, size)
                    : jx_input_open(ctx, path);
    report.beside = program ? path_beside(keep, path, program->npz_name) : NULL;
    for (int i = 0; program && i < options->nranges; i++)
        if (!jx_range_parse(program, options->ranges[i]))
            program = NULL;
    if (options->transform)
        program = jx_program_transformed(program, options->transform, true);
    done = program &&
           jx_program_where(program, options->nwhere, options->where) &&
           jx_check_report(keep, &report, program, options) && jx_ok(ctx);
    jx_ctx_draw_on(keep, NULL);
    if (!done) {
        jx_ok(ctx); /* what it may take is spent: that is the error, then */
        copy_error(keep, &report,
                   ctx->error.kind == JX_E_NONE ? &keep->error : &ctx->error);
        jx_error_clear(keep);
        report.findings.count = report.undecided.count = 0;
        report.assumptions.count = report.conditions.count =
            report.proofs.count = 0;
        report.claims = (jx_counts){0};
    }
    return report;
}
