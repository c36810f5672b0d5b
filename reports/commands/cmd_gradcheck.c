/* cmd_gradcheck.c - jaxvet gradcheck: custom rules against
 * finite differences. */
#include "frontend/base/utf8.h"
#include "frontend/read/exported.h"
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/commands/progress.h"
#include "reports/commands/select.h"
#include "reports/formats/exhausts.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/inputs.h"
#include "reports/pipeline/report.h"
#include "reports/pipeline/rules.h"
#include "reports/pipeline/source.h"
#include "reports/pipeline/suppress.h"

#include <string.h>
#include <unistd.h>

typedef struct settings {
    const char *format, *output, *inputs, *reference;
    jx_texts set, select, ignore, roots;
    int64_t seed, directions, exhaust;
    bool strict, trust;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"set", 0, JX_OPT_LIST, "NAME=SIZE",
     "the size of a dim variable (default: small ones that are allowed)",
     offsetof(settings, set)},
    {"inputs", 0, JX_OPT_TEXT, "FILE.npz",
     "in0, in1, ...: a sample of the program's inputs, whose rules are then "
     "also checked there and in its domain",
     offsetof(settings, inputs)},
    {"exhaust", 0, JX_OPT_EVERY, "N",
     "run elementwise functions and rules on every input\n"
     "of their dtype (every N-th: that is a sample)",
     offsetof(settings, exhaust)},
    {"reference", 0, JX_OPT_TEXT, "PROGRAM",
     "with --exhaust: what results are held against, in\n"
     "float64 (default: the program itself)",
     offsetof(settings, reference)},
    {"select", 0, JX_OPT_LIST, "CODES",
     "report only these codes, or codes that begin so",
     offsetof(settings, select)},
    {"ignore", 0, JX_OPT_LIST, "CODES", "all but these",
     offsetof(settings, ignore)},
    JX_SOURCE_OPTIONS(settings),
    {"seed", 0, JX_OPT_INT, "N", "of the points and directions (default 0)",
     offsetof(settings, seed)},
    {"directions", 0, JX_OPT_INT, "N",
     "random ones per point, beside the fixed kinds (default 3)",
     offsetof(settings, directions)},
    {"strict", 0, JX_OPT_FLAG, NULL,
     "a rule left undecided, or no rule, is exit status 5",
     offsetof(settings, strict)},
    {"format", 0, JX_OPT_CHOICE, "text|json", "how to say it",
     offsetof(settings, format)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there instead",
     offsetof(settings, output)},
    JX_LIMIT_OPTIONS(settings),
};

/* What the run adds up over programs. */
typedef struct tally {
    JX_VEC(jx_report) reports;
    jx_buffer rules;     /* a line per rule */
    jx_buffer judged;    /* the same as items of a JSON list */
    jx_buffer exhausted; /* what ran on every input, as items of a JSON list */
    int count[JX_RULE_REFUSES + 1];
    bool idle;        /* some program had nothing that was compared */
    jx_limits limits; /* of each program */
    jx_budget paper;  /* pays for what is said of all */
    jx_selection selection;
    jx_sources *sources;
    jx_suppressions *suppressions;
} tally;

static void say_rule(tally *t, const char *path, const jx_rule_report *r)
{
    t->count[r->outcome]++;
    jx_buffer_puts(&t->judged, t->judged.length ? "," : "");
    jx_rule_json(r, path, &t->judged);
    jx_utf8_printf(&t->rules, "%s: %s: ", path, r->subject);
    switch (r->outcome) {
    case JX_RULE_AGREES: jx_rule_say_agreement(r, &t->rules); break;
    case JX_RULE_INTENDED:
        jx_buffer_printf(&t->rules,
                         "%s, as declared: ", jx_intent_name(r->rule->intent));
        jx_rule_say_agreement(r, &t->rules);
        break;
    case JX_RULE_WITHIN:
        jx_buffer_puts(
            &t->rules,
            "counts at single points only, judged with what uses it");
        break;
    case JX_RULE_BEYOND:
        jx_buffer_puts(&t->rules,
                       "not followed: it matters beyond the second order only");
        break;
    case JX_RULE_WRONG: jx_buffer_puts(&t->rules, "wrong"); break;
    case JX_RULE_REFUSES:
        jx_utf8_printf(&t->rules, "raises: %s", r->detail ? r->detail : "");
        break;
    case JX_RULE_UNDECIDED:
        jx_utf8_printf(&t->rules, "undecided: %s",
                       r->detail ? r->detail : "no comparison was possible");
        break;
    }
    jx_buffer_putc(&t->rules, '\n');
}

static bool is_json(const settings *s)
{
    return s->format && strcmp(s->format, "json") == 0;
}

/* Who has compared nothing has found nothing, which is not to be read as that
 * all is right. */
static void say_idle(jx_ctx *keep, const settings *s, tally *t,
                     const char *path, const jx_rule_reports *rules,
                     jx_report *report)
{
    const char *why = "nothing was compared";

    for (size_t i = 0; i < rules->count; i++)
        if (rules->at[i].comparisons || rules->at[i].outcome == JX_RULE_WRONG)
            return;
    t->idle = true;
    jx_utf8_printf(&t->rules, "%s: %s\n", path, why);
    if (is_json(s))
        JX_PUSH(keep->arena, &report->assumptions, why);
}

/* JSON has no place for what merely was not contradicted but this one: that
 * such a rule is right remains an assumption. */
static void assume_agreement(jx_ctx *keep, const jx_rule_reports *rules,
                             jx_report *report)
{
    for (size_t i = 0; i < rules->count; i++) {
        const jx_rule_report *r = &rules->at[i];
        jx_buffer text = jx_ctx_text(keep);
        if (r->outcome != JX_RULE_AGREES)
            continue;
        jx_buffer_printf(&text, "the %s is right: ", r->subject);
        jx_rule_say_agreement(r, &text);
        JX_PUSH(keep->arena, &report->assumptions,
                jx_arena_take(keep->arena, &text));
    }
}

static bool report_claims(jx_ctx *keep, jx_program *program,
                          jx_claim_list *claims, tally *t, jx_report *report)
{
    if (!jx_report_claims(keep, report, program, claims, &t->selection) ||
        !jx_report_remarks(keep, report, program) ||
        !jx_suppressions_read(t->suppressions, report))
        return false;
    jx_suppress(t->suppressions, report);
    return jx_report_finish(keep, report);
}

/* What the reports of every input say; what is wrong is claims. */
static bool exhaust_program(jx_ctx *ctx, jx_program *program, const char *path,
                            const settings *s,
                            const jx_gradcheck_options *sizes, tally *t,
                            jx_claim_list *claims)
{
    jx_exhaust_options how = {.step = s->exhaust,
                              .nbindings = sizes->nbindings,
                              .bindings = sizes->bindings};
    jx_exhausted_list list = {0};
    bool ok;

    if (s->reference && !(how.reference = jx_input_open(ctx, s->reference)))
        return false;
    jx_command_progress(&how);
    ok = jx_exhaust(program, &how, claims, &list);
    jx_command_progress_end(&how);
    for (size_t i = 0; ok && i < list.count; i++) {
        jx_exhausted_text(&list.at[i], path, &t->rules);
        jx_buffer_puts(&t->exhausted, t->exhausted.length ? "," : "");
        jx_exhausted_json(&list.at[i], path, &t->exhausted);
    }
    return ok;
}

static bool check_program(jx_ctx *keep, jx_ctx *ctx, const char *path,
                          const settings *s, tally *t, jx_report *report)
{
    jx_gradcheck_options how = {.seed = (uint64_t)s->seed,
                                .directions = (int)s->directions};
    jx_program *program = jx_input_open(ctx, path);
    jx_claim_list claims = {0};
    jx_rule_reports rules = {0};

    if (!program)
        return false;
    if (s->inputs
            ? !jx_inputs_npz(program, s->inputs, &s->set, &how.nbindings,
                             &how.bindings, &how.inputs, NULL)
            : !jx_inputs_sizes(program, &s->set, &how.nbindings, &how.bindings))
        return false;
    if (program->exported && jx_exported_vjps(program->exported) &&
        !(how.stored = jx_input_vjp(program, 1)))
        return false;
    if (!jx_gradcheck(program, &how, &claims, &rules))
        return false;
    for (size_t i = 0; i < rules.count; i++)
        say_rule(t, path, &rules.at[i]);
    if (s->exhaust && !exhaust_program(ctx, program, path, s, &how, t, &claims))
        return false;
    say_idle(keep, s, t, path, &rules, report);
    if (is_json(s))
        assume_agreement(keep, &rules, report);
    return report_claims(keep, program, &claims, t, report);
}

static bool is_more_than_notes(const jx_report *report)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.at[i].level > JX_NOTE)
            return true;
    return false;
}

/* One input; its exit code. */
static int add_input(jx_ctx *keep, const char *path, const settings *s,
                     tally *t)
{
    jx_report report = {.path = path};
    int code = JX_EXIT_OK;
    jx_ctx *ctx = jx_ctx_limited(t->limits);
    size_t mark = t->rules.length, judged = t->judged.length,
           exhausted = t->exhausted.length;
    bool done;

    jx_suppressions_begin(t->suppressions);
    if (!ctx) {
        report.unreadable = (jx_error){JX_E_LIMIT, path, NULL, JX_STARVED};
        JX_PUSH(keep->arena, &t->reports, report);
        return jx_command_starved();
    }
    jx_ctx_draw_on(keep, ctx);
    done = check_program(keep, ctx, path, s, t, &report) && jx_ok(ctx);
    jx_ctx_draw_on(keep, NULL);
    if (!done) {
        jx_ok(ctx);
        code = jx_command_error(ctx->error.kind == JX_E_NONE ? &keep->error
                                                             : &ctx->error);
        report = (jx_report){
            .path = path,
            .unreadable = {.kind = ctx->error.kind,
                           .file = path,
                           .message = ctx->error.kind == JX_E_LIMIT
                                          ? "gave up: see standard error"
                                          : "see standard error"}};
        jx_error_clear(keep);
        jx_buffer_cut(&t->rules, mark);
        jx_buffer_cut(&t->judged, judged);
        jx_buffer_cut(&t->exhausted, exhausted);
    } else if (is_more_than_notes(&report)) {
        code = JX_EXIT_FINDINGS;
    } else if (s->strict && report.undecided.count) {
        code = JX_EXIT_UNDECIDED;
    }
    JX_PUSH(keep->arena, &t->reports, report);
    jx_ctx_free(ctx);
    return code;
}

static bool wants_colour(const settings *s)
{
    return !is_json(s) && (!s->output || strcmp(s->output, "-") == 0) &&
           jx_command_colour(STDOUT_FILENO);
}

/* One more member of the object that `to` ends with. */
static void put_list(jx_buffer *to, const char *key, const jx_buffer *items)
{
    jx_buffer_cut(to, to->length - strlen("}\n"));
    jx_buffer_printf(to, ",\"%s\":[", key);
    jx_buffer_bytes(to, jx_buffer_text(items), items->length);
    jx_buffer_puts(to, "]}\n");
}

static void render(const settings *s, const tally *t, jx_buffer *to)
{
    jx_report_list list = {(int)t->reports.count, t->reports.at, 0, NULL};
    jx_style style = {.colour = wants_colour(s)};

    if (is_json(s)) {
        jx_report_json(&list, &style, to);
        put_list(to, "rules", &t->judged);
        if (s->exhaust)
            put_list(to, "exhausted", &t->exhausted);
        return;
    }
    jx_buffer_bytes(to, jx_buffer_text(&t->rules), t->rules.length);
    jx_report_text(&list, &style, to);
}

/* Checks all programs and says what was found; the exit code. */
static int add_all(jx_ctx *keep, int argc, char **argv, const settings *s,
                   tally *t)
{
    jx_buffer text = {.budget = &t->paper};
    int code = JX_EXIT_OK;

    jx_budget_init(&t->paper, (jx_limits){.bytes = t->limits.bytes}, NULL);
    t->rules = t->judged = t->exhausted = (jx_buffer){.budget = &t->paper};
    for (int i = 0; i < argc && jx_ok(keep); i++)
        code = jx_exit_worse(code, add_input(keep, argv[i], s, t));
    if (!jx_ok(keep))
        code = jx_exit_worse(code, jx_command_failed(keep));
    render(s, t, &text);
    if (s->strict && t->idle)
        code = jx_exit_worse(code, JX_EXIT_UNDECIDED);
    if (jx_ok(keep))
        code = jx_exit_worse(
            code, wants_colour(s) ? jx_command_write_bytes(s->output, &text)
                                  : jx_command_write(s->output, &text));
    jx_buffer_free(&text);
    return code;
}

static int run(int argc, char **argv)
{
    settings s = {0};
    int n = jx_command_options(&jx_command_gradcheck, argc, argv, &s);
    int code;
    tally t = {0};

    if (n < 0 ||
        !jx_command_limits(&jx_command_gradcheck, &s.limits, &t.limits))
        return JX_EXIT_USAGE;
    if (n == 0)
        return jx_command_usage(&jx_command_gradcheck,
                                "name a program to check");
    if (s.reference && !s.exhaust)
        return jx_command_usage(&jx_command_gradcheck,
                                "--reference is for --exhaust");
    jx_ctx *keep = jx_ctx_new(0);
    t.sources = jx_sources_new();
    if (keep && t.sources)
        t.suppressions = jx_suppressions_new(keep, t.sources, &t.selection);
    if (!t.suppressions)
        code = jx_command_starved();
    else
        code = jx_command_selection(&jx_command_gradcheck, keep, &s.select,
                                    &s.ignore, &t.selection) &&
                       jx_command_sources(&jx_command_gradcheck, &s.roots,
                                          s.trust, t.sources, t.suppressions)
                   ? add_all(keep, n, argv, &s, &t)
                   : JX_EXIT_USAGE;
    jx_buffer_free(&t.rules);
    jx_buffer_free(&t.judged);
    jx_buffer_free(&t.exhausted);
    jx_sources_free(t.sources);
    jx_ctx_free(keep);
    return code;
}

const jx_command jx_command_gradcheck = {
    "gradcheck",
    "PROGRAM...",
    "compare custom derivative rules with finite differences",
    "Every custom_jvp and custom_vjp rule that the programs hold is compared "
    "with\nfinite differences of its own function, both in double precision, "
    "at points of\nmany kinds (scales, zeros, ties, near the constants that "
    "the code compares\nwith) and along several directions.  A rule is called "
    "wrong only with a point,\na direction and both numbers to show, and after "
    "smaller steps have confirmed it;\notherwise the report says at how many "
    "points nothing disagreed.  That is no proof.\n\n"
    "The derivative that JAX takes of the whole program is compared with its slopes as\n"
    "well, and so is one that an exported file holds (DRV013).\n\n"
    "The derivative that we make of the function itself has the third vote.  What a\n"
    "rule computes is compared with its own derivative as well (DRV006: Hessians are\n"
    "wrong), its tangents are gone back along (DRV008: jax.grad fails), and a call that\n"
    "closes over what is differentiated is named (DRV011).  At a kink or a tie, a rule that\n"
    "has another convention than the function's own derivative is noted (DRV020).  A\n"
    "batching rule (custom_vmap) is run beside its function, over axes of size 1, 2 and 3\n"
    "(DRV003).\n\n"
    "With --exhaust, a function that is elementwise (else each rule of one) runs on every\n"
    "number that its dtype has, in 16 bits on every pair of them: each of its results and\n"
    "derivatives in the declared dtype against the same in float64, in units in the last\n"
    "place (ULP), where they are not monotone, and where they are not finite.\n\n"
    "Beside the points, a rule may be \"proved\" (it is the function's own derivative,\n"
    "term by term) or \"identical over the reals\" (random finite fields do not tell both\n"
    "apart; the chance that they should have, and what is assumed, is said).  Neither says\n"
    "anything of overflow or lost digits: that is what the points are for.\n\n"
    "  jaxvet gradcheck program.json\n"
    "  jaxvet gradcheck --exhaust softplus.json\n"
    "  jaxvet gradcheck program.json --set n=5 --inputs sample.npz\n\n"
    "A comment `# jaxvet: ignore[DRV002] reason` on the line of a call accepts "
    "what is\nfound there.\n\n"
    "Exit status 1: a rule is wrong; with --strict 5: one is undecided, or "
    "nothing was\ncompared at all, which is said in any case.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
