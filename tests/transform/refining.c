/* refining.c - programs at sizes, against the programs that they come from.
 *
 *     refining [-v] FILE ...     programs of any form
 *     refining --lines FILE      documents, one per line ("-": stdin)
 *     refining --list FILE       paths, one per line
 *
 * Each program with size variables is refined at two assignments that its
 * constraints allow.  What comes out must keep the rules of the representation,
 * have no variable left, give no claim of typing that the original at these
 * sizes does not give, print as text that is read again, be written as a
 * document that is read and written again the same, and compute the same bits
 * as the original with its sizes set; one variable after the other must give
 * the same document.  A refusal is right only where the original can't be run
 * at these sizes either.  Exit 1 after any difference. */
#include "analyzer/transform/refine.h"
#include "analyzer/typing.h"
#include "frontend/ir/print.h"
#include "frontend/ir/signature.h"
#include "frontend/read/text.h"
#include "frontend/write/document.h"
#include "reports/pipeline/input.h"
#include "runtime/exec.h"
#include "runtime/fill.h"
#include "runtime/fits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 2, VARS = 16, STEPS = 200000 };

typedef struct counts {
    long programs, fixed, unreadable, refined, ran, not_run, refused, none,
        steps, hostile, wrong;
} counts;

typedef struct trial {
    const char *path;
    jx_ctx *ctx;
    jx_program *program, *refined;
    int n;
    jx_binding sizes[VARS];
    counts *all;
    bool verbose;
} trial;

static void report(const trial *t, const char *what, const char *detail)
{
    printf("%s:", t->path);
    for (int i = 0; i < t->n; i++)
        printf(" %s=%lld", t->sizes[i].var->name, (long long)t->sizes[i].value);
    printf(": %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
}

static void wrong(const trial *t, const char *what, const char *detail)
{
    t->all->wrong++;
    report(t, what, detail);
}

static const char *said(const trial *t)
{
    return t->ctx->error.message ? t->ctx->error.message : "no error";
}

/* ---- sizes that the constraints allow */

static const int64_t values[] = {3, 4, 2, 5, 6, 8, 1, 7, 9, 10, 12, 16, 32, 64};
enum { NVALUES = sizeof values / sizeof *values };

/* The next assignment in a walk in which all variables differ early on; false
 * at its end.  `skip` of those that fit are left out. */
static bool find_sizes(trial *t, int skip)
{
    int digits[VARS] = {0};

    for (int i = 0; i < t->n; i++)
        digits[i] = i % NVALUES;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < t->n; i++)
            t->sizes[i].value = values[digits[i]];
        if (jx_plan_admissible(t->program, t->n, t->sizes) && skip-- == 0)
            return true;
        int at = 0;
        while (at < t->n && ++digits[at] == NVALUES)
            digits[at++] = 0;
        if (at == t->n)
            return false;
    }
    return false;
}

/* ---- what a refined program must be */

/* The typer objects exactly where the original does not fit at these sizes. */
static void check_types(const trial *t)
{
    jx_analysis *a = jx_analysis_new(t->refined);
    long refuted = 0;

    if (!a || !jx_type_program(a)) {
        wrong(t, "typing failed", said(t));
        return;
    }
    for (size_t i = 0; i < a->claims.count; i++)
        refuted += a->claims.at[i]->verdict == JX_REFUTED;
    bool fits = jx_program_fits(t->program, false, t->n, t->sizes);
    if (refuted && fits)
        wrong(t, "typing objects, and the original fits", NULL);
    jx_error_clear(t->ctx);
}

static void check_text(const trial *t)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer text = {0}, again = {0};

    if (!jx_program_print(t->refined, (jx_print_options){0}, &text))
        wrong(t, "is not printed", said(t));
    else if (!jx_read_text(ctx, "text", jx_buffer_text(&text), text.length))
        wrong(t, "its text is not read", ctx->error.message);
    jx_buffer_free(&text);
    jx_buffer_free(&again);
    jx_ctx_free(ctx);
}

/* Programs from text may have no document. */
static void check_document(const trial *t)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_buffer text = {0}, again = {0};

    if (!t->program->from_text && !jx_write_document(t->refined, &text)) {
        wrong(t, "is not written", said(t));
    } else if (!t->program->from_text && !t->program->npz_name) {
        jx_program *read =
            jx_input_read(ctx, "document", jx_buffer_text(&text), text.length);
        if (!read || !jx_write_document(jx_program_written(read), &again))
            wrong(t, "its document is not read", ctx->error.message);
        else if (strcmp(jx_buffer_text(&text), jx_buffer_text(&again)))
            wrong(t, "its document is not canonical", NULL);
    }
    jx_buffer_free(&text);
    jx_buffer_free(&again);
    jx_ctx_free(ctx);
}

/* ---- running */

typedef struct ran {
    jx_plan *plan;
    jx_exec *exec;
} ran;

static bool fill(trial *t, const jx_plan *plan, const void **ins)
{
    for (int i = 0; i < jx_plan_nins(plan); i++) {
        const jx_port *port = jx_plan_in(plan, i);
        void *data = jx_arena_alloc(t->ctx->arena, port->bytes);
        if (!data || !jx_fill("random:1", i, port, data, NULL))
            return false;
        ins[i] = data;
    }
    return true;
}

static bool run(trial *t, jx_program *program, int n, const jx_binding *sizes,
                ran *to)
{
    jx_plan_options o = {.memory = 1 << 28, .nbindings = n, .bindings = sizes};

    const jx_typed *typed = jx_program_fits(program, false, n, sizes);

    if (!typed)
        return false;
    to->plan = jx_plan_make(typed, &program->entry, &o);
    if (!to->plan)
        return false;
    const void **ins =
        JX_NEW_ARRAY(t->ctx->arena, jx_plan_nins(to->plan) + 1, const void *);
    to->exec = ins && fill(t, to->plan, ins) ? jx_exec_new(to->plan) : NULL;
    if (!to->exec)
        return false;
    jx_exec_limit(to->exec, 2000000);
    return jx_exec_run(to->exec, ins, NULL);
}

static void end_run(ran *r)
{
    jx_exec_free(r->exec);
    jx_plan_free(r->plan);
}

static bool same_port(const jx_port *a, const jx_port *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->bytes == b->bytes &&
           (!a->rank ||
            !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape));
}

static void compare(const trial *t, const ran *a, const ran *b)
{
    int n = jx_plan_nouts(a->plan);

    if (n != jx_plan_nouts(b->plan)) {
        wrong(t, "another number of results", NULL);
        return;
    }
    for (int i = 0; i < n; i++) {
        const jx_port *port = jx_plan_out(a->plan, i);
        if (!same_port(port, jx_plan_out(b->plan, i)))
            wrong(t, "a result of another type", NULL);
        else if (port->bytes && memcmp(jx_exec_out(a->exec, i),
                                       jx_exec_out(b->exec, i), port->bytes))
            wrong(t, "other bits", NULL);
    }
}

/* Whether the original can be run is what matters: the same must hold of the
 * refined one. */
static void check_runs(trial *t)
{
    ran a = {0}, b = {0};
    bool first = run(t, t->program, t->n, t->sizes, &a);
    char why[200];

    snprintf(why, sizeof why, "%s", said(t));
    jx_error_clear(t->ctx);
    bool second = t->refined && run(t, t->refined, 0, NULL, &b);
    if (!t->refined && first)
        wrong(t, "refused, and yet it runs", NULL);
    else if (t->refined && first != second)
        wrong(t, first ? "only the original runs" : "only the refined one runs",
              first ? said(t) : why);
    else if (first && second)
        compare(t, &a, &b);
    if (t->refined && first && second)
        t->all->ran++;
    else if (t->refined)
        t->all->not_run++;
    if (t->verbose && !first)
        report(t, "does not run", why);
    jx_error_clear(t->ctx);
    end_run(&a);
    end_run(&b);
}

/* ---- in two steps */

static bool same_documents(jx_program *a, jx_program *b)
{
    jx_buffer one = {0}, two = {0};
    bool same = jx_write_document(a, &one) && jx_write_document(b, &two) &&
                !strcmp(jx_buffer_text(&one), jx_buffer_text(&two));

    jx_buffer_free(&one);
    jx_buffer_free(&two);
    return same;
}

/* One variable, then the others: as all at once. */
static void check_steps(const trial *t)
{
    jx_program *half = jx_program_refine(t->program, NULL, 1, t->sizes);
    jx_binding rest[VARS];

    for (int i = 1; half && i < t->n; i++)
        rest[i - 1] =
            (jx_binding){jx_dim_var_atom(half->dims, t->sizes[i].var->name,
                                         t->sizes[i].var->scope),
                         t->sizes[i].value};
    if (half && !jx_program_verify(half))
        wrong(t, "some sizes: breaks a rule of the representation", said(t));
    jx_program *both =
        half ? jx_program_refine(half, NULL, t->n - 1, rest) : NULL;
    if (!both)
        wrong(t, "not refined in two steps", said(t));
    else if (!t->program->from_text && !same_documents(both, t->refined))
        wrong(t, "another program in two steps", NULL);
    t->all->steps++;
    jx_error_clear(t->ctx);
}

/* ---- sizes that nobody has */

/* Refused with a reason, or a program. */
static void check_hostile(trial *t)
{
    static const int64_t some[] = {
        0,        -1, INT64_MIN, INT32_MAX, (int64_t)1 << 32, (int64_t)1 << 62,
        INT64_MAX};

    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        for (int i = 0; i < t->n; i++)
            t->sizes[i].value = some[k];
        jx_program *p = jx_program_refine(t->program, NULL, t->n, t->sizes);
        if (p ? !jx_program_verify(p) || some[k] < t->program->base
              : t->ctx->error.kind != JX_E_INPUT)
            wrong(t, "a size that nobody has", said(t));
        t->all->hostile++;
        jx_error_clear(t->ctx);
    }
}

/* ---- one program */

static void check_refined(trial *t)
{
    int left = 0;

    t->all->refined++;
    if (!jx_program_verify(t->refined))
        wrong(t, "breaks a rule of the representation", said(t));
    else if (!jx_input_vars(t->refined, &left) || left)
        wrong(t, "has variables left", NULL);
    check_types(t);
    check_text(t);
    check_document(t);
    if (t->n > 1)
        check_steps(t);
}

static void check_at(trial *t, int skip)
{
    if (!find_sizes(t, skip) && (!skip || !find_sizes(t, 1))) {
        t->all->none += !skip;
        return;
    }
    t->refined = jx_program_refine(t->program, NULL, t->n, t->sizes);
    if (t->refined) {
        check_refined(t);
    } else {
        t->all->refused++;
        if (t->verbose || t->ctx->error.kind != JX_E_INPUT)
            report(t, "refused", said(t));
        t->all->wrong += t->ctx->error.kind != JX_E_INPUT;
    }
    jx_error_clear(t->ctx);
    check_runs(t);
}

static void check(const char *path, const char *bytes, size_t size,
                  bool verbose, counts *all)
{
    trial t = {
        .path = path, .ctx = jx_ctx_new(0), .all = all, .verbose = verbose};

    all->programs++;
    t.program = bytes ? jx_input_read(t.ctx, path, bytes, size)
                      : jx_input_open(t.ctx, path);
    const jx_dim_atom *const *vars =
        t.program ? jx_input_vars(t.program, &t.n) : NULL;
    if (!vars) {
        all->unreadable++;
        report(&t, "unreadable", said(&t));
    } else if (!t.n || t.n > VARS) {
        all->fixed++;
    } else {
        for (int i = 0; i < t.n; i++)
            t.sizes[i].var = vars[i];
        for (int i = 0; i < TRIES; i++)
            check_at(&t, i * 5);
        check_hostile(&t);
    }
    jx_ctx_free(t.ctx);
}

static bool check_lines(const char *path, bool names, bool verbose, counts *all)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    char *text = NULL, name[32];
    size_t capacity = 0;
    ssize_t length;

    if (!file) {
        perror(path);
        return false;
    }
    for (long n = 0; (length = getline(&text, &capacity, file)) > 0; n++) {
        snprintf(name, sizeof name, "%ld", n);
        text[strcspn(text, "\n")] = '\0';
        if (names)
            check(text, NULL, 0, verbose, all);
        else
            check(name, text, (size_t)length - 1, verbose, all);
    }
    free(text);
    if (file != stdin)
        fclose(file);
    return true;
}

int main(int argc, char **argv)
{
    counts all = {0};
    bool verbose = false, ok = true;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else if (!strcmp(argv[i], "--lines") && i + 1 < argc)
            ok = check_lines(argv[++i], false, verbose, &all) && ok;
        else if (!strcmp(argv[i], "--list") && i + 1 < argc)
            ok = check_lines(argv[++i], true, verbose, &all) && ok;
        else
            check(argv[i], NULL, 0, verbose, &all);
    }
    printf("%ld programs (%ld of fixed sizes, %ld unreadable, %ld without "
           "sizes found), %ld refined (%ld in two steps as well), %ld of these "
           "ran, %ld did not, %ld refused, %ld at sizes that nobody has, %ld "
           "wrong\n",
           all.programs, all.fixed, all.unreadable, all.none, all.refined,
           all.steps, all.ran, all.not_run, all.refused, all.hostile,
           all.wrong);
    return ok && !all.wrong && !all.unreadable ? 0 : 1;
}
