/* cmd_equal.c - `jaxvet equal A B`: whether two programs compute the same. */
#include "reports/commands/commands.h"
#include "reports/commands/limits.h"
#include "reports/commands/progress.h"
#include "reports/formats/equals_said.h"
#include "reports/formats/formats.h"
#include "reports/pipeline/equals.h"
#include "reports/pipeline/equals_meshes.h"
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
    bool gradient, all_sizes, strict;
    jx_limit_settings limits;
} settings;

static const jx_option options[] = {
    {"set", 0, JX_OPT_LIST, "NAME=SIZE",
     "the size of a symbolic dimension (default: some that are allowed)",
     offsetof(settings, set)},
    {"grad", 0, JX_OPT_FLAG, NULL, "compare their derivatives, too",
     offsetof(settings, gradient)},
    {"all-sizes", 0, JX_OPT_FLAG, NULL,
     "for meshes of all sizes: A on meshes of one or more, before B",
     offsetof(settings, all_sizes)},
    JX_TRANSFORM_OPTION(settings),
    {"witness", 0, JX_OPT_TEXT, "FILE.npz",
     "write the inputs that show a difference (in0, ...), and both results "
     "(got, want)",
     offsetof(settings, witness)},
    {"strict", 0, JX_OPT_FLAG, NULL, "undecided is exit status 5",
     offsetof(settings, strict)},
    {"format", 0, JX_OPT_CHOICE, "text|json", "how to say it (text)",
     offsetof(settings, format)},
    {"output", 'o', JX_OPT_TEXT, "FILE", "write there, whole or not at all",
     offsetof(settings, output)},
    JX_LIMIT_OPTIONS(settings),
};

/* What is said of two programs, from opening them on. */
typedef struct session {
    const settings *s;
    jx_ctx *ctx;
    int n; /* programs: the last is what all others are held against */
    const char *const *paths;
    jx_program *b;
    struct jx_mesh_sizes meshes[2]; /* of values and of derivatives */
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
        jx_equality_text(&r->all.all.at[i], r->paths[r->n - 1], to);
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

static jx_program *open_program(session *r, const char *path)
{
    jx_program *program = jx_input_open(r->ctx, path);

    return program ? jx_program_transformed(program, &r->s->transform, false)
                   : NULL;
}

/* Each of the first programs against the last; what follows for all sizes comes
 * after the last of them. */
static bool compare(session *r, jx_program *a, bool last)
{
    jx_equal_options how = {.set = &r->s->set,
                            .gradient = r->s->gradient,
                            .meshes = r->s->all_sizes ? r->meshes : NULL};
    jx_claim_list claims = {0};
    bool ok;

    jx_command_doing(&how.progress);
    ok = jx_programs_equal(a, r->b, &how, &claims, &r->all);
    jx_command_doing_end();
    for (int g = 0; ok && last && how.meshes && g < (how.gradient ? 2 : 1); g++)
        ok = jx_mesh_sizes_judge(a, g, &how.meshes[g], &claims, &r->all);
    return ok && jx_report_claims(r->ctx, &r->report, a, &claims, NULL);
}

static int run_all(session *r)
{
    int code;

    r->report.path = r->paths[0];
    for (int i = 0; i + 1 < r->n; i++) {
        jx_program *a = open_program(r, r->paths[i]);
        if (a && !r->b)
            r->b = open_program(r, r->paths[r->n - 1]);
        if (!a || !r->b || !compare(r, a, i + 2 == r->n))
            return jx_command_failed(r->ctx);
    }
    if (!jx_report_finish(r->ctx, &r->report))
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
    session r = {.s = &s, .paths = (const char *const *)argv, .n = n};

    if (n < 0)
        return JX_EXIT_USAGE;
    if (n < 2 || (n > 2 && !s.all_sizes))
        return jx_command_usage(
            &jx_command_equal,
            n < 2 || s.all_sizes
                ? "expected two programs"
                : "expected two programs, or more with --all-sizes");
    r.ctx = jx_command_ctx(&jx_command_equal, &s.limits, &code);
    if (!r.ctx)
        return code;
    code = run_all(&r);
    jx_ctx_free(r.ctx);
    return code;
}

const jx_command jx_command_equal = {
    "equal",
    "A... B",
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
    "Integers are the places of what they index, and those that either program tells from\n"
    "others, as a label that it leaves out.  Where indices lie outside of their axis most\n"
    "programs mean nothing: a difference there is said in a line of its own (outside:).\n"
    "\n"
    "Symbolic sizes are those of --set, or some that are allowed; nothing is said of\n"
    "others.  --grad compares the derivatives that we make of both, too.\n"
    "\n"
    "--all-sizes also asks about meshes of all sizes S, of one axis: A is the program for\n"
    "some S, or several of them, one for each S, the reference B comes last.  At these\n"
    "sizes all are compared as ever.  Then a rule is read from the order in which devices\n"
    "add up products: as in a ring, chunk (d - i) mod S at step i on device d.  That each\n"
    "chunk is then added once, for all S, is proved; that the rule goes on at other sizes\n"
    "is assumed, and said in full, with the axes that S has to divide.  One program says\n"
    "less than several; where no rule is seen, or where it fails at some S, the answer is\n"
    "undecided.\n"
    "\n"
    "    jaxvet equal sharded.jaxexport reference.jaxexport --grad\n"
    "    jaxvet equal v1.json v2.json --set b=3 --witness case.npz\n"
    "    jaxvet equal --all-sizes on2.jaxexport on3.jaxexport on8.jaxexport reference.json\n"
    "\n"
    "Exit status 1: different; with --strict 5: undecided.\n",
    options,
    sizeof options / sizeof *options,
    run,
};
