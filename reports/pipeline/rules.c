/* rules.c - see rules.h. */
#include "reports/pipeline/rules.h"

#include "frontend/base/json.h"

/* What all rules of a program may execute together. */
#define MOST_OPERATIONS 100000000

/* What is more than points: "proved: the function's own derivative,
 * term by term; ". */
static void say_evidence(const jx_rule_report *r, jx_buffer *to)
{
    if (r->evidence == JX_RULE_PROVED)
        jx_buffer_puts(to,
                       "proved: the function's own derivative, term by term; ");
    else if (r->evidence == JX_RULE_IDENTICAL)
        jx_buffer_printf(to, "%s; ", r->more);
}

void jx_rule_say_agreement(const jx_rule_report *r, jx_buffer *to)
{
    if (r->empty) {
        jx_buffer_puts(to, "what it takes or gives has no elements");
        return;
    }
    say_evidence(r, to);
    jx_buffer_printf(to, "no disagreement at %d points (%lld comparisons",
                     r->points, (long long)r->comparisons);
    if (r->tolerance >= 1e-4) /* of both sides */
        jx_buffer_printf(to, ", each within %.2g %%", 200 * r->tolerance);
    if (r->dropped)
        jx_buffer_printf(to, "; %lld more could not tell",
                         (long long)r->dropped);
    if (r->muted)
        jx_buffer_printf(to,
                         "; %lld at values that the program may never "
                         "compute did not agree",
                         (long long)r->muted);
    if (r->clipped)
        jx_buffer_printf(to, "; %lld that it clips were left out",
                         (long long)r->clipped);
    if (r->unwanted)
        jx_buffer_printf(
            to, "; %d result%s that the program has no use for %s left out",
            r->unwanted, r->unwanted > 1 ? "s" : "",
            r->unwanted > 1 ? "are" : "is");
    jx_buffer_putc(to, ')');
}

static const char *outcome_word(const jx_rule_report *r)
{
    switch (r->outcome) {
    case JX_RULE_AGREES: return "agrees";
    case JX_RULE_INTENDED: return "intended";
    case JX_RULE_WRONG: return "wrong";
    case JX_RULE_WITHIN: return "within";
    case JX_RULE_BEYOND: return "beyond";
    case JX_RULE_REFUSES: return "refuses";
    case JX_RULE_UNDECIDED: break;
    }
    return "undecided";
}

static const char *evidence_word(const jx_rule_report *r)
{
    return r->evidence == JX_RULE_PROVED      ? "proved"
           : r->evidence == JX_RULE_IDENTICAL ? "identical"
                                              : "sampled";
}

static void put_member(jx_buffer *to, const char *key, const char *text)
{
    jx_buffer_printf(to, ",\"%s\":", key);
    jx_json_put_text(to, text);
}

void jx_rule_json(const jx_rule_report *r, const char *path, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"path\":");
    jx_json_put_text(to, path);
    put_member(to, "subject", r->subject);
    put_member(to, "outcome", outcome_word(r));
    if (r->outcome == JX_RULE_AGREES)
        put_member(to, "evidence", evidence_word(r));
    if (r->outcome == JX_RULE_WRONG)
        put_member(to, "code", jx_code_of(jx_rule_code(r))->id);
    jx_buffer_printf(
        to,
        ",\"points\":%d,\"comparisons\":%lld,\"dropped\":%lld,\"muted\":%lld",
        r->points, (long long)r->comparisons, (long long)r->dropped,
        (long long)r->muted);
    if (r->clipped)
        jx_buffer_printf(to, ",\"clipped\":%lld", (long long)r->clipped);
    if (r->unwanted)
        jx_buffer_printf(to, ",\"unwanted\":%d", r->unwanted);
    if (r->detail)
        put_member(to, "why", r->detail);
    jx_buffer_putc(to, '}');
}

/* A rule that raises, by design as a rule, is no fault of a program that may
 * never be differentiated there. */
static bool tell_refusals(jx_ctx *keep, const jx_rule_reports *rules,
                          jx_report *report)
{
    for (size_t i = 0; i < rules->count; i++)
        if (jx_rule_is_left_out(&rules->at[i]))
            JX_PUSH(keep->arena, &report->assumptions,
                    jx_arena_printf(keep->arena, "the %s is right: %s",
                                    rules->at[i].subject,
                                    rules->at[i].detail
                                        ? rules->at[i].detail
                                        : "it was not looked at"));
        else if (rules->at[i].outcome == JX_RULE_REFUSES)
            JX_PUSH(keep->arena, &report->assumptions,
                    jx_arena_printf(keep->arena,
                                    "nothing is differentiated through the %s, "
                                    "which raises: %s",
                                    rules->at[i].subject,
                                    rules->at[i].detail ? rules->at[i].detail
                                                        : ""));
    return jx_ok(keep);
}

/* Of all rules of derivatives, or of batching, that nothing was found against,
 * the least that was compared. */
static bool assume(jx_ctx *keep, const jx_rule_reports *rules, bool batching,
                   jx_report *report)
{
    jx_buffer text;
    int count = 0, least = 0;

    for (size_t i = 0; i < rules->count; i++) {
        const jx_rule_report *r = &rules->at[i];
        if (r->outcome != JX_RULE_AGREES || r->empty || r->batching != batching)
            continue;
        least = !count || r->points < least ? r->points : least;
        count++;
    }
    if (!count)
        return true;
    text = jx_ctx_text(keep);
    jx_buffer_printf(&text,
                     "%d %s rule%s right: no disagreement at %d point%s%s "
                     "(jaxvet gradcheck says more)",
                     count, batching ? "batching" : "derivative",
                     count == 1 ? " is" : "s are", least, least == 1 ? "" : "s",
                     count == 1 ? "" : " or more of each");
    JX_PUSH(keep->arena, &report->assumptions,
            jx_arena_take(keep->arena, &text));
    return jx_ok(keep);
}

bool jx_check_rules(jx_ctx *keep, jx_report *report,
                    const jx_analysis *analysis, const jx_selection *selection)
{
    const jx_gradcheck_options how = {.in_passing = true,
                                      .operations = MOST_OPERATIONS,
                                      .typed = &analysis->typed};
    jx_program *program = analysis->program;
    jx_claim_list claims = {0};
    jx_rule_reports rules = {0};

    return jx_gradcheck(program, &how, &claims, &rules) &&
           tell_refusals(keep, &rules, report) &&
           assume(keep, &rules, false, report) &&
           assume(keep, &rules, true, report) &&
           jx_report_claims(keep, report, program, &claims, selection);
}
