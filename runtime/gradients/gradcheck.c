/* gradcheck.c - see gradcheck.h: rule by rule. */
#include "runtime/gradients/gradcheck.h"

#include "analyzer/transform/discharge.h"
#include "analyzer/transform/refine.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradding.h"
#include "runtime/gradients/gradsample.h"

#include <math.h>
#include <string.h>

/* Why the document holds no pattern of a rule. */
static const char *why_left_out(const jx_rule *rule)
{
    static const struct {
        const char *truncated, *text;
    } reasons[] = {
        {"depth", "the document does not hold it (rules inside rules are "
                  "followed to a limit)"},
        {"budget", "the document does not hold it (the program's rules are "
                   "larger than the limit)"},
        {"objects", "its function takes or gives objects, which are no arrays "
                    "that a document could hold"},
        {"expansion", "what its primitive computes is not known, so there is "
                      "nothing to compare it with"},
        {"step",
         "its function takes what JAX, running a shard_map step by step, has "
         "computed before, and the rule has a number there"},
    };

    for (size_t i = 0; rule->truncated && i < sizeof reasons / sizeof *reasons;
         i++)
        if (strcmp(rule->truncated, reasons[i].truncated) == 0)
            return reasons[i].text;
    return "the document does not hold it";
}

/* " (where the tangents of inputs 0, 2 are zero)", if some are that need not
 * be: what holds of one pattern alone. */
static const char *where(const jx_program *program, const jx_rule *rule,
                         const jx_rule_pattern *p)
{
    jx_buffer text = jx_ctx_text(program->ctx);
    int n = 0;

    if (rule->npatterns == 1)
        return "";
    for (int i = 0; p->zeros && p->zeros[i]; i++)
        if (p->zeros[i] == '1')
            jx_buffer_printf(&text, "%s%d", n++ ? ", " : "", i);
    const char *list = jx_arena_take(program->ctx->arena, &text);
    if (!n || !list)
        return " (where no tangent is zero)";
    return jx_arena_printf(
        program->ctx->arena, " (where the tangent%s of input%s %s %s zero)",
        n > 1 ? "s" : "", n > 1 ? "s" : "", list, n > 1 ? "are" : "is");
}

/* Whether JAX refused what a rule returned: its error is about that, and not
 * one of the rule's own. */
static bool is_of_returns(const jx_rule_pattern *p)
{
    return p->error && strstr(p->error, "must produce") &&
           (strstr(p->error, "Custom JVP ") || strstr(p->error, "Custom VJP "));
}

/* Nothing of it could be traced: it raised, or what it returned was refused, or
 * the exporter had a reason ("it changes from one trace to the next"). */
static void tell_untraced(const jx_rule_pattern *p, jx_rule_report *one)
{
    one->detail = p->error;
    if (is_of_returns(p)) {
        one->outcome = JX_RULE_WRONG;
        one->code = JX_CODE_DRV004;
    } else if (strncmp(p->error, "it ", 3) != 0) {
        one->outcome = JX_RULE_REFUSES;
    }
}

/* It is wrong where some tangents are zero, and right where none is. */
static void name_zeros(jx_program *program, const jx_rule_pattern *p,
                       const jx_rule *rule, jx_rule_report *one)
{
    one->code = JX_CODE_DRV009;
    one->detail = jx_arena_printf(program->ctx->arena, "%s%s", one->detail,
                                  where(program, rule, p));
}

/* Joins what was found of one pattern: a rule agrees if all of them do. */
static void join_pattern(jx_program *program, const jx_rule_pattern *p,
                         bool met, const jx_rule_report *one,
                         jx_rule_report *report)
{
    bool agrees = one->outcome == JX_RULE_UNDECIDED && !one->detail;

    /* Of tangents that the program never has together nothing is held
     * against the rule. */
    if (!met && !agrees) {
        report->muted += one->comparisons + one->dropped + one->muted +
                         (one->outcome == JX_RULE_WRONG);
        report->work += one->work;
        return;
    }

    report->points += one->points;
    report->comparisons += one->comparisons;
    report->dropped += one->dropped;
    report->muted += one->muted;
    report->clipped += one->clipped;
    report->outvoted += one->outvoted;
    report->empty = one->empty;
    report->led = report->led || one->led;
    report->tolerance = fmax(report->tolerance, one->tolerance);
    report->unwanted = one->unwanted;
    report->work += one->work;
    if (!report->undeclared)
        report->undeclared = one->undeclared;
    if (!report->convention)
        report->convention = one->convention;
    if (one->outcome == JX_RULE_WRONG) {
        report->outcome = JX_RULE_WRONG;
        report->detail = one->detail;
        report->witness = one->witness;
        report->code = one->code;
        report->by_own = one->by_own;
    } else if (!agrees && !report->detail) {
        report->outcome = one->outcome;
        report->detail = jx_arena_printf(program->ctx->arena, "%s%s",
                                         one->detail ? one->detail : "",
                                         where(program, report->rule, p));
    }
}

/* Of a rule that nothing was found against.  What the document leaves out of it
 * is code that nobody has looked at. */
static void conclude(jx_program *program, jx_rule_report *report)
{
    const jx_rule *rule = report->rule;

    if (report->dropped > report->comparisons)
        report->detail = jx_arena_printf(
            program->ctx->arena,
            "%lld comparisons agreed, but %lld could not tell: the rule is off "
            "by about what its dtypes round, the function is too rough there, "
            "or the program may never compute such values",
            (long long)report->comparisons, (long long)report->dropped);
    else if (!rule->truncated)
        report->outcome = rule->intent ? JX_RULE_INTENDED : JX_RULE_AGREES;
    else
        report->detail = jx_arena_printf(
            program->ctx->arena,
            "no disagreement at %d points (%lld comparisons), but the document "
            "holds %d of its masks of zeros and leaves out others (%s)",
            report->points, (long long)report->comparisons, rule->npatterns,
            rule->truncated);
}

/* Of a rule that is declared to be no derivative of its function: its
 * values are judged as ever, its derivative as one of the surrogate,
 * or by its kind. */
static void check_intent(const jx_gradding *as, bool thorough,
                         jx_rule_report *one)
{
    jx_gradding values = *as, c = *as;
    jx_rule judged = *as->rule;

    values.values_only = true;
    jx_grad_pattern(&values, as->how, thorough, one);
    if (one->outcome == JX_RULE_WRONG || one->detail)
        return;
    c.intent = as->rule->intent;
    c.called = as->rule;
    if (judged.surrogate.jaxpr) {
        judged.primal = judged.surrogate;
        c.rule = &judged;
        c.stands_in = true;
        c.derivative = NULL;
    }
    jx_grad_pattern(&c, as->how, thorough, one);
    if (one->outcome == JX_RULE_WRONG)
        one->detail =
            jx_arena_printf(as->program->ctx->arena, "declared as %s, but %s",
                            jx_intent_name(as->rule->intent), one->detail);
}

bool jx_grad_is_met(const jx_calling *calling, const jx_rule *rule,
                    const jx_rule_pattern *p)
{
    bool any = false;

    for (int i = 0; i < rule->npatterns && !any; i++)
        any = jx_sample_mask_is_met(calling, rule, rule->patterns[i].zeros);
    return !any || jx_sample_mask_is_met(calling, rule, p->zeros);
}

static void
check_patterns(const jx_typed *typed, const jx_gradcheck_options *options,
               const jx_plan_options *how, const jx_calling *calling,
               const jx_derived_rule *derived, jx_rule_report *report)
{
    enum {
        /* operations, up to which all masks are looked at closely */
        SPARE = 300000,
        /* after which no mask is that changes nothing, unless it is wrong */
        ENOUGH = 3000000,
    };
    const jx_rule *rule = report->rule;
    jx_grad_first first = {0};
    double nearness = jx_sample_nearness(rule);
    bool whole = false; /* where no tangent is zero, it agrees */
    int left = 0;

    for (int i = 0; i < rule->npatterns && report->outcome != JX_RULE_WRONG;
         i++) {
        if (report->detail && !first.open && report->work > ENOUGH) {
            left++;
            continue;
        }
        bool thorough = i == 0 || report->work < SPARE;
        const jx_rule_pattern *p = &rule->patterns[i];
        jx_rule_report one = {.rule = rule};
        int64_t work = 0;
        bool like = !thorough && jx_grad_is_like_first(&first, p, &work);
        report->work += work;
        if (like)
            continue;
        jx_gradding c = {
            .program = typed->program,
            .typed = typed,
            .options = options,
            .rule = rule,
            .pattern = p,
            .how = how,
            .calling = calling,
            .ends = calling->ends,
            .rng = {options->seed + 1},
            .derivative = derived->own.jaxpr ? &derived->own : NULL,
            .tolerance = jx_sample_tolerance(rule, nearness),
            .nearness = nearness,
            .first = rule->npatterns > 1 && !rule->intent && !first.open
                         ? &first
                         : NULL};
        if (p->error) {
            tell_untraced(p, &one);
        } else if (rule->intent) {
            check_intent(&c, thorough, &one);
        } else {
            jx_grad_pattern(&c, how, thorough, &one);
        }
        if (p == rule->patterns)
            whole = one.outcome == JX_RULE_UNDECIDED && !one.detail &&
                    one.comparisons > 0;
        else if (whole && one.outcome == JX_RULE_WRONG && !one.code)
            name_zeros(typed->program, p, rule, &one);
        join_pattern(typed->program, p,
                     !one.unmet && jx_grad_is_met(calling, rule, p), &one,
                     report);
    }
    jx_grad_free_first(&first);
    if (left && report->outcome != JX_RULE_WRONG)
        report->detail = jx_arena_printf(typed->program->ctx->arena,
                                         "%s; %d of its %d masks of zeros were "
                                         "not looked at, since it takes long",
                                         report->detail, left, rule->npatterns);
    if (report->outcome != JX_RULE_WRONG && !report->detail &&
        report->comparisons > 0)
        conclude(typed->program, report);
    if (report->empty && report->outcome == JX_RULE_UNDECIDED &&
        !report->detail)
        report->outcome = JX_RULE_AGREES;
    if (report->outcome != JX_RULE_WRONG &&
        report->outcome != JX_RULE_REFUSES && !rule->intent)
        jx_grad_beyond(typed, options, how, calling, derived, report);
    if (report->outcome == JX_RULE_AGREES && !options->in_passing)
        jx_grad_more(typed, how, options->seed, derived, report);
}

/* What was found of a rule that is asked the same, and that nothing was found
 * against: it names no line of that one. */
static const jx_rule_report *twin_of(const jx_typed *typed,
                                     const jx_grad_asked *asked,
                                     const jx_rule_reports *reports)
{
    const jx_grad_asked *here = asked + reports->count;

    for (size_t i = 0; i < reports->count; i++)
        if (asked[i].rule && reports->at[i].outcome == JX_RULE_AGREES &&
            jx_grad_is_twin(typed, &asked[i], here))
            return &reports->at[i];
    return NULL;
}

/* `asked` has an element per rule; those before are of the reports. */
static void check_rule(jx_program *program, const jx_gradcheck_options *options,
                       const jx_derived_rule *derived, const bool *wanted,
                       jx_grad_asked *asked, const jx_rule_reports *before,
                       jx_rule_report *report)
{
    jx_plan_options how = {.domain = JX_WIDE, .memory = options->memory};
    jx_grad_asked *here = asked + before->count;
    const jx_rule *rule = report->rule;
    const jx_rule_report *twin;
    const char *subject = report->subject;
    const jx_typed *typed;

    if (rule->npatterns == 0) {
        report->detail = why_left_out(rule);
        return;
    }
    if (!jx_sample_sizes(program, rule, options->nbindings, options->bindings,
                         &how.nbindings, &how.bindings)) {
        report->detail = "no sizes were found that its constraints allow";
        return;
    }
    typed = jx_kept_fits(options->plans, program, how.nbindings, how.bindings);
    if (!typed) {
        report->detail = program->ctx->error.message;
        jx_error_clear(program->ctx);
        return;
    }
    if (!jx_sample_calling(program, rule, &here->calling))
        return;
    here->calling.wanted = wanted;
    here->rule = how.nbindings || options->inputs ? NULL : rule;
    twin = here->rule ? twin_of(typed, asked, before) : NULL;
    if (!twin) {
        check_patterns(typed, options, &how, &here->calling, derived, report);
        return;
    }
    *report = *twin;
    report->rule = rule;
    report->subject = subject;
    report->work = 0;
    here->rule = NULL;
}

static const char *what_is_wrong(jx_code code)
{
    switch (code) {
    case JX_CODE_DRV003: return "is not the map of its function";
    case JX_CODE_DRV004: return "returns what does not fit its function";
    case JX_CODE_DRV005: return "ignores an argument";
    case JX_CODE_DRV006: return "is wrong in second order";
    case JX_CODE_DRV008: return "has no transpose";
    case JX_CODE_DRV009: return "is wrong where a tangent is a symbolic zero";
    case JX_CODE_DRV010: return "gives another value than its function";
    case JX_CODE_DRV021: return "is meant to be no derivative";
    case JX_CODE_DRV013: return "is not what its slopes are";
    default: return "is not its derivative";
    }
}

jx_code jx_rule_code(const jx_rule_report *report)
{
    if (report->outcome == JX_RULE_INTENDED)
        return JX_CODE_DRV021;
    if (report->code)
        return report->code;
    if (report->batching)
        return JX_CODE_DRV003;
    if (!report->rule)
        return JX_CODE_DRV013;
    return report->rule->vjp ? JX_CODE_DRV002 : JX_CODE_DRV001;
}

/* Whether typing has said the same of a rule. */
static bool is_typed_wrong(const jx_rule_report *report)
{
    bool refused = false;

    if (report->outcome != JX_RULE_WRONG || report->code != JX_CODE_DRV004)
        return false;
    for (int i = 0; i < report->rule->npatterns; i++)
        refused = refused || is_of_returns(&report->rule->patterns[i]);
    return !refused;
}

static const jx_stack *stack_of(const jx_rule_report *report)
{
    return report->rule ? report->rule->stack : report->stack;
}

static void claim_of(jx_program *program, const jx_gradcheck_options *options,
                     const jx_rule_report *report, jx_claim_list *claims)
{
    jx_ctx *ctx = program->ctx;
    jx_code code = jx_rule_code(report);
    jx_claim *claim;

    if ((report->outcome == JX_RULE_AGREES &&
         report->evidence != JX_RULE_PROVED) ||
        report->outcome == JX_RULE_WITHIN ||
        report->outcome == JX_RULE_BEYOND ||
        (options->in_passing &&
         (report->outcome == JX_RULE_REFUSES || is_typed_wrong(report) ||
          jx_rule_is_left_out(report))))
        return;
    claim = jx_claim_add(ctx, claims, code);
    if (!claim)
        return;
    claim->stack = stack_of(report);
    claim->what =
        report->outcome == JX_RULE_WRONG || report->outcome == JX_RULE_INTENDED
            ? jx_arena_printf(ctx->arena, "the %s %s", report->subject,
                              what_is_wrong(code))
            : jx_arena_printf(ctx->arena, "whether the %s is right",
                              report->subject);
    if (report->outcome == JX_RULE_AGREES) {
        claim->what = jx_arena_printf(ctx->arena, "the %s is its derivative",
                                      report->subject);
        claim->verdict = JX_PROVED;
        claim->evidence.by = "terms";
    } else if (report->outcome == JX_RULE_INTENDED) {
        claim->verdict = JX_WITNESSED;
        claim->evidence.by = "its author";
        claim->evidence.note = jx_arena_printf(
            ctx->arena, "it is declared as %s%s%s, and is that at %d points",
            jx_intent_name(report->rule->intent),
            report->rule->reason ? ": " : "",
            report->rule->reason ? report->rule->reason : "", report->points);
    } else if (report->outcome == JX_RULE_WRONG) {
        claim->verdict = JX_WITNESSED;
        claim->evidence.by = report->code == JX_CODE_DRV008   ? "transposition"
                             : report->code == JX_CODE_DRV004 ? "its types"
                             : report->batching               ? "a run"
                             : report->by_own ? "the function's own derivative"
                                              : "finite differences";
        claim->evidence.note = report->detail;
        claim->evidence.witness = report->witness;
    } else {
        claim->evidence.why =
            report->outcome == JX_RULE_REFUSES
                ? jx_arena_printf(ctx->arena, "it raises when traced: %s",
                                  report->detail ? report->detail : "")
                : report->detail;
    }
}

/* Of a rule that is right over the reals. */
static void claim_undeclared(jx_program *program, const jx_rule_report *report,
                             jx_claim_list *claims)
{
    jx_claim *claim = report->undeclared && report->outcome != JX_RULE_WRONG
                          ? jx_claim_add(program->ctx, claims, JX_CODE_DRV012)
                          : NULL;

    if (!claim)
        return;
    claim->stack = stack_of(report);
    claim->what = jx_arena_printf(
        program->ctx->arena, "the %s fails in the dtypes that are declared",
        report->subject);
    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "a run";
    claim->evidence.note = report->undeclared;
    claim->help = "write it so that no part of it overflows or cancels there";
}

/* Of a rule that is right where there is one derivative alone. */
static void claim_convention(jx_program *program, const jx_rule_report *report,
                             jx_claim_list *claims)
{
    bool told = report->convention && (report->outcome == JX_RULE_AGREES ||
                                       report->outcome == JX_RULE_UNDECIDED);
    jx_claim *claim =
        told ? jx_claim_add(program->ctx, claims, JX_CODE_DRV020) : NULL;

    if (!claim)
        return;
    claim->stack = stack_of(report);
    claim->what = jx_arena_printf(
        program->ctx->arena,
        "the %s is another derivative at a kink than its function's",
        report->subject);
    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "the slopes of both sides";
    claim->evidence.note = report->convention;
}

/* What a vjp rule saves for nothing. */
static void claim_unused(jx_program *program, const jx_rule_report *report,
                         jx_claim_list *claims)
{
    jx_ctx *ctx = program->ctx;
    const char *unused =
        report->rule ? jx_grad_unused_residuals(ctx, report->rule) : NULL;
    jx_claim *claim = unused ? jx_claim_add(ctx, claims, JX_CODE_DRV007) : NULL;

    if (!claim)
        return;
    claim->stack = report->rule->stack;
    claim->what =
        jx_arena_printf(ctx->arena,
                        "the %s saves what its backward pass does not need: "
                        "residual %s",
                        report->subject, unused);
    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "dependence";
    claim->help =
        "leave it out: it lives from the forward to the backward pass";
}

static const char *subject_of(jx_ctx *ctx, const jx_rule *rule)
{
    return jx_arena_printf(ctx->arena, "%s rule of `%s`",
                           rule->vjp ? "vjp" : "jvp",
                           rule->name ? rule->name : "a function");
}

/* What a function exported elsewhere computes is read at sizes that are
 * numbers: the program at some, with its rules, and the options with these.
 * The program itself where nothing is to be gained. */
static jx_program *with_code(jx_program *program, jx_gradcheck_options *options)
{
    const jx_jaxpr *entry = program->entry.jaxpr;
    const jx_aval **ins =
        JX_NEW_ARRAY(program->ctx->arena, entry->nins + 1, const jx_aval *);
    const jx_rule like = {.nins = entry->nins, .ins = ins};
    const jx_binding *sizes;
    jx_program *at;
    int count = 0;

    if (!ins || !jx_program_calls_exported(program))
        return program;
    for (int i = 0; i < entry->nins; i++)
        ins[i] = entry->vars[entry->nconsts + i]->aval;
    if (!jx_sample_sizes(program, &like, options->nbindings, options->bindings,
                         &count, &sizes) ||
        !count)
        return program;
    at = jx_program_refine(program, NULL, count, sizes);
    if (at && jx_program_discharge(at)) {
        options->nbindings = count; /* which reports name */
        options->bindings = sizes;
        return at;
    }
    if (program->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(program->ctx);
    return program;
}

/* All rules, and the program itself. */
static bool check_all(jx_program *program, jx_gradcheck_options *options,
                      jx_claim_list *claims, jx_rule_reports *reports)
{
    const jx_rule_outcome *outcomes;
    const bool *const *wanted;
    jx_grad_asked *asked;
    jx_program *written;
    jx_derived derived;
    int64_t work = 0;

    program = with_code(program, options);
    written = program; /* with what is batched by rules of its own */
    asked =
        JX_NEW_ARRAY(program->ctx->arena, program->nrules + 1, jx_grad_asked);
    outcomes = jx_grad_outcomes(program);
    if (!asked || !outcomes ||
        !jx_grad_derive(&program, options->typed, !options->in_passing,
                        &derived) ||
        !jx_grad_claim_closures(written, &derived.closing, claims))
        return false;
    wanted = jx_grad_wanted(program);
    if (!wanted)
        return false;
    for (int i = 0; i < program->nrules; i++) {
        jx_rule_report report = {
            .rule = program->rules[i],
            .subject = subject_of(program->ctx, program->rules[i]),
            .outcome = outcomes[i]};
        /* A rule inside a rule beyond the limit has a twin outside. */
        if (report.outcome != JX_RULE_UNDECIDED)
            ; /* it is not judged alone */
        else if (options->operations && work > options->operations)
            report.detail =
                "the rules before it took all the time that there was for them "
                "(jaxvet gradcheck has more)";
        else
            check_rule(program, options, &derived.rules[i], wanted[i], asked,
                       reports, &report);
        work += report.work;
        JX_PUSH(program->ctx->arena, reports, report);
        if (!jx_ok(program->ctx))
            return false;
    }
    jx_grad_excuse(&derived, reports);
    jx_grad_withhold(&derived.closing, reports);
    if (!options->in_passing && derived.closing.count == 0 &&
        !jx_grad_whole(program, options, &derived.rules[program->nrules],
                       reports))
        return false;
    if (!jx_grad_batching(written, options, reports))
        return false;
    for (size_t i = 0; i < reports->count; i++) {
        claim_of(program, options, &reports->at[i], claims);
        claim_undeclared(program, &reports->at[i], claims);
        if (!options->in_passing)
            claim_convention(program, &reports->at[i], claims);
        claim_unused(program, &reports->at[i], claims);
    }
    return jx_ok(program->ctx);
}

bool jx_gradcheck(jx_program *program, const jx_gradcheck_options *given,
                  jx_claim_list *claims, jx_rule_reports *reports)
{
    jx_kept_plans plans = {0};
    jx_gradcheck_options here = *given;
    bool done;

    here.plans = &plans;
    done = check_all(program, &here, claims, reports);
    jx_kept_plans_free(&plans);
    return done;
}
