/* cmd_equal.c - `jaxvet equal A B`: whether two programs compute the same. */
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/commands/progress.h"
#include "reports/formats/equals_said.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/equals.h"
#include "reports/pipeline/input.h"
#include "reports/pipeline/inputs.h"
#include "reports/pipeline/report.h"
#include "reports/pipeline/source.h"
#include "reports/pipeline/transforms.h"

#include <string.h>
#include <unistd.h>

typedef struct settings {
    const char *format, *output, *witness;
    jx_texts set, transform;
    bool gradient, strict;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"set", 0, JX_OPT_LIST, "NAME=SIZE",
     "the size of a symbolic dimension (default: some that are allowed)",
     offsetof(settings, set)},
    {"grad", 0, JX_OPT_FLAG, NULL, "compare their derivatives, too", offsetof(settings, gradient)},
    JX_TRANSFORM_OPTION(settings),
    {"witness", 0, JX_OPT_TEXT, "FILE.npz",
     "write the inputs that show a difference (in0, ...), and both results (got, want)",
     offsetof(settings, witness)},
    {"strict", 0, JX_OPT_FLAG, NULL, "undecided is exit status 5", offsetof(settings, strict)},
    {"format", 0, JX_OPT_CHOICE, "text|json", "how to say it (text)", offsetof(settings, format)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there, whole or not at all",
     offsetof(settings, output)},
    JX_LIMIT_OPTIONS(settings),
};

/* What is said of two programs, from opening them on. */
typedef struct session {
    const settings *s;
    jx_ctx *ctx;
    const char *const *paths;
    jx_program *a, *b;
    jx_claim_list claims;
    jx_equalities all;
    jx_report report;
} session;

static bool is_json(const settings *s)
{
    return strcmp(s->format, "json") == 0;
}

static void render(session *r, jx_sources *sources, jx_buffer *to)
{
    const jx_report_list list = {1, &r->report, 0, NULL};
    jx_style style = {.sources = sources};

    if (is_json(r->s)) {
        jx_equal_report_json(&r->report, &r->all, to);
        return;
    }
    for (size_t i = 0; i < r->all.all.count; i++)
        jx_equality_text(&r->all.all.at[i], r->paths[0], r->paths[1], to);
    style.colour = !r->s->output && jx_command_colour(STDOUT_FILENO);
    jx_report_text(&list, &style, to);
}

/* ---- the inputs that show it */

static const jx_equality *first_shown(const session *r)
{
    for (size_t i = 0; i < r->all.all.count; i++)
        if (r->all.all.at[i].arrays)
            return &r->all.all.at[i];
    return NULL;
}

static int write_witness(const session *r)
{
    const jx_equality *e = first_shown(r);
    jx_buffer bytes = jx_ctx_text(r->ctx);
    int code;

    if (!e)
        return JX_EXIT_OK;
    jx_npz_write(&bytes, e->arrays);
    code = jx_command_write_bytes(r->s->witness, &bytes);
    jx_buffer_free(&bytes);
    return code;
}

/* ---- the run */

static int code_of(const session *r)
{
    int code = JX_EXIT_OK;

    for (size_t i = 0; i < r->all.all.count; i++) {
        jx_equal_verdict verdict = r->all.all.at[i].verdict;
        if (verdict == JX_EQUAL_DIFFERENT)
            code = jx_exit_worse(code, JX_EXIT_FINDINGS);
        else if (verdict == JX_EQUAL_UNDECIDED && r->s->strict)
            code = jx_exit_worse(code, JX_EXIT_UNDECIDED);
    }
    return code;
}

static int say(session *r)
{
    jx_buffer text = jx_ctx_text(r->ctx);
    jx_sources *sources = jx_sources_new();
    int code;

    if (!sources)
        return jx_command_starved();
    render(r, sources, &text);
    code = !r->s->output && !is_json(r->s) && jx_command_colour(STDOUT_FILENO)
               ? jx_command_write_bytes(r->s->output, &text)
               : jx_command_write(r->s->output, &text);
    jx_buffer_free(&text);
    jx_sources_free(sources);
    return code;
}

static bool compare(session *r)
{
    jx_equal_options how = {.set = &r->s->set, .gradient = r->s->gradient};
    bool ok;

    jx_command_doing(&how.progress);
    ok = jx_programs_equal(r->a, r->b, &how, &r->claims, &r->all);
    jx_command_doing_end();
    return ok && jx_report_claims(r->ctx, &r->report, r->a, &r->claims, NULL) &&
           jx_report_finish(r->ctx, &r->report);
}

static int run_both(session *r)
{
    int code;

    r->a = jx_input_open(r->ctx, r->paths[0]);
    r->b = r->a ? jx_input_open(r->ctx, r->paths[1]) : NULL;
    r->a = r->b ? jx_program_transformed(r->a, &r->s->transform, false) : NULL;
    r->b = r->a ? jx_program_transformed(r->b, &r->s->transform, false) : NULL;
    r->report.path = r->paths[0];
    if (!r->b || !compare(r))
        return jx_command_failed(r->ctx);
    code = say(r);
    if (r->s->witness)
        code = jx_exit_worse(code, write_witness(r));
    return jx_exit_worse(code, code_of(r));
}

static int run(int argc, char **argv)
{
    settings s = {.format = "text"};
    int n = jx_command_options(&jx_command_equal, argc, argv, &s), code;
    session r = {.s = &s, .paths = (const char *const *)argv};

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n != 2)
        return jx_command_usage(&jx_command_equal, "expected two programs");
    r.ctx = jx_command_ctx(&jx_command_equal, &s.limits, &code);
    if (!r.ctx)
        return code;
    code = run_both(&r);
    jx_ctx_free(r.ctx);
    return code;
}

const jx_command jx_command_equal = {
    "equal",
    "A B",
    "say whether two programs compute the same",
    "Holds two programs that take and give the same against each other: a sharded one\n"
    "and its reference, an old export and a new one, a function and its batched form.\n"
    "What many devices run is written out for all of them first, and every device's\n"
    "results are compared: an array that is declared to be the same on several devices\n"
    "has to be (MSH002).\n"
    "\n"
    "Both are evaluated over random finite fields, on the same random inputs: programs\n"
    "that are different real functions then differ, but for a chance that is told.\n"
    "Sums in another order are the same there.  Functions that are no polynomials are\n"
    "random numbers for each argument, comparisons random numbers that select; so what\n"
    "differs over fields may be the same all the same, and accuses nobody.  Then both\n"
    "run in their declared dtypes, at ordinary and extreme numbers, zeros and ties: a\n"
    "difference beyond what rounding explains is shown with inputs and both results.\n"
    "\n"
    "    the same by terms          bit for bit the same, on all inputs\n"
    "    identical over the reals   ... error below 2^-k, under what is assumed, and no\n"
    "                               difference in floats at the points that were run\n"
    "    different                  an input shows it\n"
    "    undecided                  neither\n"
    "\n"
    "Symbolic sizes are those of --set, or some that are allowed; nothing is said of\n"
    "others.  --grad compares the derivatives that we make of both, too.\n"
    "\n"
    "    jaxvet equal sharded.jaxexport reference.jaxexport --grad\n"
    "    jaxvet equal v1.json v2.json --set b=3 --witness case.npz\n"
    "\n"
    "Exit status 1: different; with --strict 5: undecided.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
