/* gradcheck.c - see gradcheck.h.
 *
 * One rule is checked pattern by pattern (a pattern: which tangents are zero).
 * At a point x, a direction d gives a line; the primal is sampled along it and
 * each output component gets a slope with an error bar (ridders.h).
 *
 *     jvp:  the rule's tangent out, component by component, against the slopes
 *     vjp:  <bwd(c), d> against <c, slopes>, for several cotangents c
 *
 * Complex numbers are pairs of reals; JAX's vjp is the transpose without
 * conjugation, so the pairing of complex vectors is Re(sum c v). */
#include "runtime/gradients/gradcheck.h"

#include "runtime/fits.h"
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <string.h>

enum { PROGRAM_SAMPLES = 3 }; /* operands as the program computes them */

/* -- a point, a pattern, a rule ------------------------------------------- */

static bool prepare_point(jx_gradding *c)
{
    jx_grad_fill_passive(c);
    jx_point_fill(c->point, &c->rng, c->in.spans, c->in.count, c->x);
    jx_space_scatter(&c->in, c->x, &c->primal);
    if (!jx_grad_call(c, &c->primal))
        return false;
    jx_space_gather(&c->out, &c->primal, 0, c->samples);
    bool finite = c->out.size == 0;
    for (int j = 0; j < c->out.size; j++)
        finite = finite || isfinite(c->samples[j]);
    return finite;
}

/* Whether a rule may be asked for a tangent of an operand that this pattern
 * does not have. */
static bool is_left_out(const jx_gradding *c, int operand)
{
    int place = operand - c->rule->nconsts;

    if (place < 0 || c->pattern->zeros[place] != '1')
        return false;
    for (int i = 0; i < c->rule->npatterns; i++)
        if (c->rule->patterns[i].zeros[place] != '1')
            return true;
    return false;
}

/* How the operands move when the program's inputs do.  False if they do not,
 * or if one moves whose tangent this pattern takes for zero. */
static bool follow_program(jx_gradding *c, double *d)
{
    const void *const *ahead, *const *behind;
    bool moves = false;

    if (!c->sample || !jx_sample_moved(c->typed, c->rule, c->sample, &c->rng,
                                       c->how, &ahead, &behind))
        return false;
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        if (is_left_out(c, i) && jx_dtype_is_inexact(port->dtype) &&
            memcmp(ahead[i], behind[i], port->bytes) != 0)
            return false;
    }
    for (int s = 0; s < c->in.count; s++) {
        const jx_span_of *span = &c->in.spans[s];
        const double *there = ahead[c->in.port[s]];
        const double *back = behind[c->in.port[s]];
        for (int k = 0; k < span->count; k++) {
            double by = (there[k] - back[k]) * (JX_SAMPLE_STEPS / 2.);
            d[span->at + k] = isfinite(by) ? by : 0;
            moves = moves || d[span->at + k] != 0;
        }
    }
    return moves;
}

/* Where a rule may rely on how it is called, the directions in which the
 * program moves its operands; else of many kinds. */
static int directions_of(jx_gradding *c, const char **names)
{
    int random = c->options->directions ? c->options->directions : 3;
    int count = 0;

    if (!c->cautious || jx_grad_is_foreign(c))
        return jx_directions_make(c->program->ctx, &c->rng, c->in.spans,
                                  c->in.count, c->in.size, c->x, random,
                                  c->directions, names);
    while (
        count < random && count < JX_MOST_DIRECTIONS &&
        follow_program(c, c->directions + (size_t)count * (size_t)c->in.size))
        names[count++] = "as the program moves it";
    return count;
}

/* False once the rule is known to be wrong. */
static bool check_point(jx_gradding *c)
{
    const char *names[JX_MOST_DIRECTIONS];
    int64_t before = c->comparisons + c->abroad;

    if (!prepare_point(c))
        return true;
    if (c->rule->vjp) {
        if (!jx_grad_prepare_fwd(c))
            return true;
        if (!jx_grad_same_primals(c, &c->fwd,
                                  jx_grad_computed_residuals(c->pattern)))
            return false;
    }
    int count = directions_of(c, names);
    for (int k = 0; k < count; k++) {
        const double *d = c->directions + (size_t)k * (size_t)c->in.size;
        c->direction = names[k];
        if (!jx_grad_sample(c, d, jx_grad_first_step(c, d), c->slopes))
            return true;
        jx_grad_own_along(c, d);
        if (c->rule->vjp ? !jx_grad_vjp_line(c, d) : !jx_grad_jvp_line(c, d))
            return false;
    }
    c->points += c->comparisons + c->abroad > before;
    return true;
}

/* A cotangent of another dtype than its input is wrong for every value. */
static bool cotangent_dtypes(jx_gradding *c)
{
    int next = 0, ninputs = c->rule->nins - c->rule->nconsts;
    const char *zeros = c->pattern->ct_zeros;

    for (int i = 0; i < ninputs; i++) {
        if (zeros && zeros[i] == '1')
            continue;
        const jx_aval *in = c->rule->ins[c->rule->nconsts + i];
        const jx_aval *out = jx_plan_out(c->bwd.plan, next++)->aval;
        if (!jx_dtype_is_inexact(in->dtype) || in->dtype == out->dtype)
            continue;
        c->wrong = jx_arena_printf(
            c->program->ctx->arena,
            "the cotangent of input %d has dtype %s, the input has %s", i,
            jx_dtype_of(out->dtype)->short_name,
            jx_dtype_of(in->dtype)->short_name);
        return false;
    }
    return true;
}

/* Shows the spans their part of a sample (NULL: there is none). */
static void attach_sample(jx_gradding *c, const jx_sampled *sample)
{
    c->sample = sample;
    for (int s = 0; s < c->in.count; s++) {
        jx_span_of *span = &c->in.spans[s];
        int operand = c->in.port[s];
        span->sample = sample ? sample->at[operand] : NULL;
        span->fixed =
            c->fixed && c->calling->fixed[operand] ? c->fixed[operand] : NULL;
        /* So many positive numbers are no accident but a domain. */
        span->positive = span->sample && !span->complex && span->count >= 8;
        for (int i = 0; span->positive && i < span->count; i++)
            span->positive = span->sample[i] > 0;
    }
}

/* A point of a rule.  An iteration that has not converged, or that starts
 * outside its domain, gives finite junk with slopes of its own: a rule of one
 * is judged by the majority of points (weigh_points).  False once the rule is
 * known to be wrong. */
static bool visit_point(jx_gradding *c)
{
    if (check_point(c))
        return true;
    c->against++;
    if (!c->iterative)
        return false;
    if (!c->first_wrong)
        c->first_wrong = c->wrong;
    c->wrong = NULL;
    return true;
}

/* Where the program's own values were met, others have no say. */
static void weigh_points(jx_gradding *c)
{
    if (!c->met) {
        c->comparisons += c->abroad;
        c->dropped += c->muted;
        c->muted = 0;
    }
    if (c->iterative && c->first_wrong && c->against > c->points)
        c->wrong = c->first_wrong;
}

/* Points that the program itself can reach: what its own operations before the
 * call make of random inputs. */
static bool check_program_points(jx_gradding *c, const jx_plan_options *how)
{
    static const jx_point points[PROGRAM_SAMPLES] = {
        {JX_AT_SAMPLE, 0, "as the program computes it"},
        {JX_AT_SAMPLE, 0, "as the program computes it from positive inputs"},
        {JX_AT_SAMPLE, 0, "as the program computes it from small inputs"},
    };

    for (int i = 0; i < PROGRAM_SAMPLES; i++) {
        const jx_sampled *sample =
            jx_sample_program(c->typed, c->rule, &c->rng, i, how);
        if (!sample)
            return true;
        attach_sample(c, sample);
        c->point = &points[i];
        if (!visit_point(c))
            return false;
    }
    return true;
}

static bool check_points(jx_gradding *c, const jx_plan_options *how,
                         bool thorough)
{
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};
    const jx_sampled *given =
        jx_sample_given(c->typed, c->rule, c->options->inputs, how);
    int count;

    /* What is fixed has a value that only the program knows; and where operands
     * depend on each other, or the program's own code never makes the call,
     * values drawn one by one may be ones that the rule never meets. */
    if (c->calling->any_fixed) {
        const jx_sampled *any =
            jx_sample_program(c->typed, c->rule, &c->rng, 0, how);
        c->fixed = any ? any->at : NULL;
    }
    c->cautious = c->calling->related || !c->calling->reached ||
                  (c->calling->any_fixed && !c->fixed);
    if (c->cautious && !given && !check_program_points(c, how))
        return false;
    attach_sample(c, given);
    const jx_point *points =
        jx_points_make(c->program, code, 4, given != NULL, &count);
    if (!thorough)
        count = count < 3 ? count : 3;
    for (int i = 0; points && i < count; i++) {
        c->point = &points[i];
        if (!visit_point(c))
            return false;
    }
    return true;
}

void jx_grad_pattern(jx_gradding *c, const jx_plan_options *how, bool thorough,
                     jx_rule_report *report)
{
    jx_arena *arena = c->program->ctx->arena;

    if (!jx_grad_masks_fit(c->rule, c->pattern)) {
        report->detail = "its masks of zeros do not fit its operands";
    } else if (!jx_grad_open(c, how)) {
        report->detail = c->program->ctx->error.message;
        jx_error_clear(c->program->ctx);
    } else if (!jx_space_of_inputs(&c->in, arena, c->primal.plan,
                                   c->rule->nconsts, c->pattern->zeros,
                                   c->calling->ties) ||
               !jx_space_of_outputs(&c->out, arena, c->primal.plan) ||
               !jx_grad_allocate(c)) {
        report->detail = "its values are too large to sample";
    } else if (!jx_grad_signature_fits(c)) {
        report->detail = "its jaxprs do not take and give what its function "
                         "does (jaxvet check says where)";
    } else if (!(c->rule->vjp && !cotangent_dtypes(c)) && c->in.size > 0 &&
               c->out.size > 0) {
        c->iterative = jx_points_has_loop(c->rule->primal.jaxpr);
        if (check_points(c, how, thorough) && !thorough &&
            c->comparisons + c->abroad == 0)
            check_points(c, how, true);
        weigh_points(c);
    }
    report->points += c->points;
    report->comparisons += c->comparisons;
    report->dropped += c->dropped;
    report->muted += c->muted;
    report->outvoted += c->outvoted;
    if (c->wrong) {
        report->outcome = JX_RULE_WRONG;
        report->detail = c->wrong;
    } else if (!report->detail && c->doubted && !c->met) {
        report->detail = "it disagrees, but at values only that the program "
                         "may never compute";
    } else if (!report->detail && c->comparisons == 0) {
        report->detail =
            c->in.size == 0 || c->out.size == 0
                ? "nothing that it takes, or nothing that it gives, has a "
                  "derivative"
            : c->stair   ? "the function is a staircase: its differences say "
                           "nothing about slopes"
            : c->spent   ? "its code runs longer than is tried"
            : c->dropped ? "finite differences were too uncertain everywhere"
                         : "the function was not finite at any point tried";
    }
    jx_grad_release(c);
}

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

/* Joins what was found of one pattern: a rule agrees if all of them do. */
static void join_pattern(jx_program *program, const jx_rule_pattern *p,
                         const jx_rule_report *one, jx_rule_report *report)
{
    bool agrees = one->outcome == JX_RULE_UNDECIDED && !one->detail;

    report->points += one->points;
    report->comparisons += one->comparisons;
    report->dropped += one->dropped;
    report->muted += one->muted;
    report->outvoted += one->outvoted;
    if (one->outcome == JX_RULE_WRONG) {
        report->outcome = JX_RULE_WRONG;
        report->detail = one->detail;
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
        report->outcome = JX_RULE_AGREES;
    else
        report->detail = jx_arena_printf(
            program->ctx->arena,
            "no disagreement at %d points (%lld comparisons), but the document "
            "holds %d of its masks of zeros and leaves out others (%s)",
            report->points, (long long)report->comparisons, rule->npatterns,
            rule->truncated);
}

static void check_patterns(const jx_typed *typed,
                           const jx_gradcheck_options *options,
                           const jx_plan_options *how, const jx_calling *calling,
                           const jx_derived_rule *derived, jx_rule_report *report)
{
    const jx_rule *rule = report->rule;

    report->tolerance = jx_sample_tolerance(rule);
    for (int i = 0; i < rule->npatterns && report->outcome != JX_RULE_WRONG;
         i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        jx_rule_report one = {.rule = rule};
        jx_gradding c = {.program = typed->program,
                         .typed = typed,
                         .options = options,
                         .rule = rule,
                         .pattern = p,
                         .how = how,
                         .calling = calling,
                         .rng = {options->seed + 1},
                         .derivative = derived->own.jaxpr ? &derived->own : NULL,
                         .tolerance = report->tolerance};
        if (p->error) {
            one.outcome = JX_RULE_REFUSES;
            one.detail = p->error;
        } else {
            jx_grad_pattern(&c, how, i == 0, &one);
        }
        join_pattern(typed->program, p, &one, report);
    }
    if (report->outcome != JX_RULE_WRONG && !report->detail &&
        report->comparisons > 0)
        conclude(typed->program, report);
    if (report->outcome != JX_RULE_WRONG && report->outcome != JX_RULE_REFUSES)
        jx_grad_beyond(typed, options, how, calling, derived, report);
}

static void check_rule(jx_program *program, const jx_gradcheck_options *options,
                       const jx_rule *rule, const jx_derived_rule *derived,
                       jx_rule_report *report)
{
    jx_plan_options how = {.domain = JX_WIDE, .memory = options->memory};
    const jx_typed *typed;
    jx_calling calling;

    if (rule->npatterns == 0) {
        report->detail = why_left_out(rule);
        return;
    }
    if (!jx_sample_sizes(program, rule, options->nbindings, options->bindings,
                         &how.nbindings, &how.bindings)) {
        report->detail = "no sizes were found that its constraints allow";
        return;
    }
    typed = jx_program_fits(program, true, how.nbindings, how.bindings);
    if (!typed) {
        report->detail = program->ctx->error.message;
        jx_error_clear(program->ctx);
        return;
    }
    if (jx_sample_calling(program, rule, &calling))
        check_patterns(typed, options, &how, &calling, derived, report);
}

static void claim_of(jx_program *program, const jx_rule_report *report,
                     jx_claim_list *claims)
{
    const jx_rule *rule = report->rule;
    jx_ctx *ctx = program->ctx;

    if (report->outcome == JX_RULE_AGREES)
        return;
    const char *what = report->code == JX_CODE_DRV006   ? "is wrong in second order"
                       : report->code == JX_CODE_DRV008 ? "has no transpose"
                                                        : "is not its derivative";
    jx_claim *claim = jx_claim_add(ctx, claims, report->code   ? report->code
                                                : rule->vjp ? JX_CODE_DRV002
                                                            : JX_CODE_DRV001);
    if (!claim)
        return;
    claim->stack = rule->stack;
    claim->what =
        jx_arena_printf(ctx->arena, "the %s rule of `%s` %s", rule->vjp ? "vjp" : "jvp",
                        rule->name ? rule->name : "a function", what);
    if (report->outcome == JX_RULE_WRONG) {
        claim->verdict = JX_WITNESSED;
        claim->evidence.by = report->code == JX_CODE_DRV008 ? "transposition"
                                                            : "finite differences";
        claim->evidence.note = report->detail;
    } else {
        claim->evidence.why =
            report->outcome == JX_RULE_REFUSES
                ? jx_arena_printf(ctx->arena, "it raises when traced: %s",
                                  report->detail ? report->detail : "")
                : report->detail;
    }
}

bool jx_gradcheck(jx_program *program, const jx_gradcheck_options *options,
                  jx_claim_list *claims, jx_rule_reports *reports)
{
    jx_derived derived;

    if (!jx_grad_derive(&program, &derived) ||
        !jx_grad_claim_closures(program->ctx, &derived.closing, claims))
        return false;
    for (int i = 0; i < program->nrules; i++) {
        jx_rule_report report = {.rule = program->rules[i]};
        /* A rule inside a rule beyond the limit has a twin outside. */
        check_rule(program, options, program->rules[i], &derived.rules[i], &report);
        JX_PUSH(program->ctx->arena, reports, report);
        if (!jx_ok(program->ctx))
            return false;
    }
    jx_grad_excuse(&derived, reports);
    for (size_t i = 0; i < reports->count; i++)
        claim_of(program, &reports->at[i], claims);
    return jx_ok(program->ctx);
}
