/* runner.c - runs documents and compares with the answers beside them.
 *
 *     runner DIR [--misses FILE] [--off FILE] [--group NAME] [--quiet]
 *            [--lowered]
 *
 * Under DIR lie GROUP/NNNN.json and GROUP/NNNN.io.npz (in0, ..., out0, ...).
 * One process runs them all; what fails is named.  A result equals JAX's when
 * it is within the bound of its dtype, or within 2 units in the last place of
 * the value in f64 (the `wide` domain) where JAX is the one that is off: the
 * file given by --off must name those.  Where an output may take an input's
 * memory (jx_plan_lends) a run that does that must give the same bits.
 *
 * With --lowered each program is lowered, printed, read back and run beside
 * itself, and no bit may differ but in those that --off names, which the
 * lowering composes otherwise than the kernel computes, or can't say. */
#include "analyzer/infer.h"
#include "analyzer/typing.h"
#include "frontend/base/file.h"
#include "frontend/base/npz.h"
#include "frontend/base/vec.h"
#include "frontend/mlir/print.h"
#include "frontend/mlir/text.h"
#include "frontend/read/document.h"
#include "frontend/read/stablehlo.h"
#include "frontend/write/stablehlo.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"
#include "runtime/fits.h"
#include "tests/conformance/judge.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct settings {
    const char *dir, *misses, *off, *group;
    bool quiet, lowered;
} settings;

typedef struct tally {
    char name[64];
    int total, passed, off;
} tally;

typedef struct runner {
    const settings *s;
    jx_arena *arena;
    const char *off_list; /* lines "group/NNNN" */
    FILE *misses;
    JX_VEC(tally) groups;
} runner;

typedef struct verdict {
    bool passed, off;
    char why[600];
} verdict;

static const void **inputs_of(jx_ctx *ctx, const jx_plan *plan,
                              const jx_npz *npz, char *why, size_t size)
{
    const void **ins =
        JX_NEW_ARRAY(ctx->arena, jx_plan_nins(plan) + 1, const void *);

    for (int i = 0; i < jx_plan_nins(plan); i++) {
        char name[16];
        snprintf(name, sizeof name, "in%d", i);
        const jx_npy *npy = jx_npz_find(npz, name);
        const jx_port *port = jx_plan_in(plan, i);
        if (!npy || npy->bytes != port->bytes) {
            snprintf(why, size, "%s: %s", name, npy ? "wrong size" : "missing");
            return NULL;
        }
        ins[i] = npy->data;
    }
    return ins;
}

static bool output_agrees(const jx_exec *exec, const jx_plan *plan, int i,
                          const jx_npz *npz, char *why, size_t size)
{
    const jx_port *port = jx_plan_out(plan, i);
    jx_dtype dtype = port->aval->dtype;
    char name[16];
    jx_mismatch found;
    jx_buffer text = {0};

    snprintf(name, sizeof name, "out%d", i);
    const jx_npy *npy = jx_npz_find(npz, name);
    if (!npy || npy->bytes != port->bytes) {
        snprintf(why, size, "%s: %s", name, npy ? "wrong size" : "missing");
        return false;
    }
    jx_tolerance within = jx_tolerance_of(dtype);
    if (jx_compare(dtype, jx_exec_out(exec, i), npy->data, port->count, &within,
                   &found))
        return true;
    size_t item = jx_dtype_of(port->dtype)->bytes;
    jx_buffer_printf(&text, "%s: %lld of %lld differ; [%lld] is ", name,
                     (long long)found.count, (long long)port->count,
                     (long long)found.worst);
    jx_element_print(
        dtype, (const char *)jx_exec_out(exec, i) + (size_t)found.worst * item,
        &text);
    jx_buffer_puts(&text, ", JAX has ");
    jx_element_print(
        dtype, (const char *)npy->data + (size_t)found.worst * item, &text);
    snprintf(why, size, "%s", jx_buffer_text(&text));
    jx_buffer_free(&text);
    return false;
}

static double unit(jx_dtype dtype)
{
    switch (jx_dtype_real(dtype)) {
    case JX_F32: return 0x1p-23;
    case JX_BF16: return 0x1p-7;
    case JX_F16: return 0x1p-10;
    default: return 0;
    }
}

static bool within_units(const jx_port *port, const void *got, const void *wide,
                         jx_dtype wide_dtype)
{
    jx_dtype dtype = port->aval->dtype;
    jx_tolerance t = {.relative = 2 * unit(dtype)};
    jx_mismatch found;
    size_t size = jx_dtype_of(dtype)->bytes;
    char *rounded = malloc((size_t)port->count * size + 1);

    if (!rounded)
        return false;
    jx_convert(wide_dtype, dtype, wide, rounded, port->count);
    bool ok = jx_compare(dtype, got, rounded, port->count, &t, &found);
    free(rounded);
    return ok;
}

/* Runs the program in the wide domain: true if every output is within 2 units
 * in the last place of what that gives. */
static bool judge(jx_ctx *ctx, jx_program *program, const jx_plan *plan,
                  const jx_exec *exec, const void *const *ins)
{
    jx_plan_options options = {.domain = JX_WIDE, .memory = 1 << 30};
    jx_plan *wide =
        jx_plan_make(jx_typed_of(program), &program->entry, &options);
    jx_exec *run = wide ? jx_exec_new(wide) : NULL;
    const void **args =
        JX_NEW_ARRAY(ctx->arena, jx_plan_nins(plan) + 1, const void *);
    bool ok = run && args;

    for (int i = 0; ok && i < jx_plan_nins(plan); i++) {
        const jx_port *from = jx_plan_in(plan, i), *to = jx_plan_in(wide, i);
        void *converted = jx_arena_alloc(ctx->arena, to->bytes);
        if (from->dtype == to->dtype)
            args[i] = ins[i];
        else if (converted)
            jx_convert(from->dtype, to->dtype, ins[i], converted, to->count),
                args[i] = converted;
    }
    ok = ok && jx_exec_run(run, args, NULL);
    for (int i = 0; ok && i < jx_plan_nouts(plan); i++) {
        const jx_port *port = jx_plan_out(plan, i);
        jx_dtype wide_dtype = jx_plan_out(wide, i)->dtype;
        jx_dtype real = jx_dtype_real(port->aval->dtype);
        ok = real != JX_F64 && within_units(port, jx_exec_out(exec, i),
                                            jx_exec_out(run, i), wide_dtype);
    }
    jx_exec_free(run);
    jx_plan_free(wide);
    return ok;
}

/* By a criterion of the program's own (judge.h). */
static bool right_otherwise(jx_ctx *ctx, jx_program *program,
                            const jx_plan *plan, const jx_npz *npz,
                            const jx_exec *exec, const void *const *ins,
                            verdict *v)
{
    int nouts = jx_plan_nouts(plan);
    const void **all = JX_NEW_ARRAY(ctx->arena, 2 * nouts + 1, const void *);
    const char *why = NULL;

    for (int i = 0; all && i < nouts; i++) {
        char name[16];
        snprintf(name, sizeof name, "out%d", i);
        const jx_npy *npy = jx_npz_find(npz, name);
        if (!npy || npy->bytes != jx_plan_out(plan, i)->bytes)
            return false;
        all[i] = jx_exec_out(exec, i);
        all[nouts + i] = npy->data;
    }
    if (all && jx_judge_outputs(program, plan, ins, all, all + nouts, &why))
        return true;
    if (why)
        snprintf(v->why + strlen(v->why), sizeof v->why - strlen(v->why),
                 " (%s)", why);
    return false;
}

/* Within a hundred times the bounds of the dtypes, as far out in the tails of
 * special functions two ways to compute one lie apart; of the same shapes. */
static bool near(const jx_plan *plan, const jx_exec *x, const jx_exec *y)
{
    jx_mismatch found;

    for (int i = 0; i < jx_plan_nouts(plan); i++) {
        const jx_port *port = jx_plan_out(plan, i);
        jx_tolerance within = jx_tolerance_of(port->aval->dtype);
        within.relative *= 100;
        within.absolute = fmax(within.absolute, DBL_MIN); /* subnormals */
        if (!jx_compare(port->aval->dtype, jx_exec_out(x, i), jx_exec_out(y, i),
                        port->count, &within, &found))
            return false;
    }
    return true;
}

static bool same_bits(const jx_plan *a, const jx_exec *x, const jx_plan *b,
                      const jx_exec *y, verdict *v)
{
    if (jx_plan_nouts(a) != jx_plan_nouts(b)) {
        snprintf(v->why, sizeof v->why, "%d results for %d", jx_plan_nouts(b),
                 jx_plan_nouts(a));
        return false;
    }
    for (int i = 0; i < jx_plan_nouts(a); i++) {
        size_t bytes = jx_plan_out(a, i)->bytes;
        if (bytes != jx_plan_out(b, i)->bytes ||
            memcmp(jx_exec_out(x, i), jx_exec_out(y, i), bytes) != 0) {
            snprintf(v->why, sizeof v->why, "out%d has other bits", i);
            v->off = bytes == jx_plan_out(b, i)->bytes && near(a, x, y);
            return false;
        }
    }
    return true;
}

/* Input `in` lies where output `out` is to: nothing of all outputs changes. */
static bool lends(const jx_plan *plan, const jx_exec *exec, jx_exec *again,
                  const void *const *ins, int in, int out, verdict *v)
{
    int nins = jx_plan_nins(plan), nouts = jx_plan_nouts(plan);
    void *shared = malloc(jx_plan_in(plan, in)->bytes);
    const void **args = calloc((size_t)nins, sizeof *args);
    void **results = calloc((size_t)nouts, sizeof *results);
    bool ok = shared && args && results;

    if (ok) {
        memcpy(args, ins, (size_t)nins * sizeof *args);
        memcpy(shared, ins[in], jx_plan_in(plan, in)->bytes);
        args[in] = results[out] = shared;
        ok = jx_exec_run(again, args, results) &&
             same_bits(plan, exec, plan, again, v);
    }
    if (!ok)
        snprintf(v->why + strlen(v->why), sizeof v->why - strlen(v->why),
                 " where in%d lies in the memory of out%d", in, out);
    free(results);
    free(args);
    free(shared);
    return ok;
}

static bool lends_rightly(const jx_plan *plan, const jx_exec *exec,
                          const void *const *ins, verdict *v)
{
    jx_exec *again = jx_exec_new(plan);
    bool ok = again != NULL;

    for (int i = 0; ok && i < jx_plan_nins(plan); i++)
        for (int k = 0; ok && k < jx_plan_nouts(plan); k++)
            ok = !jx_plan_lends(plan, i, k) ||
                 lends(plan, exec, again, ins, i, k, v);
    jx_exec_free(again);
    return ok;
}

static void run_plan(jx_ctx *ctx, jx_program *program, const jx_plan *plan,
                     const jx_npz *npz, verdict *v)
{
    jx_exec *exec = jx_exec_new(plan);
    const void **ins = inputs_of(ctx, plan, npz, v->why, sizeof v->why);

    if (!exec || !ins) {
        jx_exec_free(exec);
        return;
    }
    if (!jx_exec_run(exec, ins, NULL)) {
        snprintf(v->why, sizeof v->why, "%s", jx_exec_error(exec));
        jx_exec_free(exec);
        return;
    }
    v->passed = true;
    for (int i = 0; i < jx_plan_nouts(plan) && v->passed; i++)
        v->passed = output_agrees(exec, plan, i, npz, v->why, sizeof v->why);
    if (!v->passed)
        v->passed = right_otherwise(ctx, program, plan, npz, exec, ins, v);
    if (!v->passed)
        v->off = judge(ctx, program, plan, exec, ins);
    if (!lends_rightly(plan, exec, ins, v))
        v->passed = v->off = false;
    jx_exec_free(exec);
}

/* The program as it is after lowering, printing and reading; NULL with an
 * error. */
static jx_program *lowered(jx_ctx *ctx, const jx_typed *typed)
{
    jx_mlir_types *types = jx_mlir_types_new(ctx);
    const jx_mlir_op *module = types ? jx_write_stablehlo(typed, types) : NULL;
    jx_buffer text = jx_ctx_text(ctx);
    const jx_mlir_file *file = NULL;

    if (module && jx_mlir_print(ctx, module, (jx_mlir_print_how){0}, &text)) {
        const char *kept =
            jx_arena_string(ctx->arena, jx_buffer_text(&text), text.length);
        file = kept ? jx_mlir_read_text(ctx, NULL, "lowered", kept, text.length)
                    : NULL;
    }
    jx_buffer_free(&text);
    return file ? jx_read_stablehlo(file, jx_infer_reading) : NULL;
}

/* Runs the program and what it is lowered to. */
static void run_lowered(jx_ctx *ctx, const jx_typed *typed, const jx_plan *plan,
                        const jx_npz *npz, verdict *v)
{
    jx_plan_options options = {.memory = 1 << 30};
    jx_program *other = lowered(ctx, typed);
    const jx_typed *fits =
        other ? jx_program_fits(other, false, 0, NULL) : NULL;
    jx_plan *again = fits ? jx_plan_make(fits, &other->entry, &options) : NULL;
    jx_exec *x = jx_exec_new(plan), *y = again ? jx_exec_new(again) : NULL;
    const void **ins = inputs_of(ctx, plan, npz, v->why, sizeof v->why);

    v->off = !other; /* may have no StableHLO form */
    if (!again)
        snprintf(v->why, sizeof v->why, "%s",
                 ctx->error.message ? ctx->error.message : "?");
    else if (x && y && ins && jx_plan_nins(plan) == jx_plan_nins(again) &&
             jx_exec_run(x, ins, NULL) && jx_exec_run(y, ins, NULL))
        v->passed = same_bits(plan, x, again, y, v);
    jx_exec_free(x);
    jx_exec_free(y);
    jx_plan_free(again);
}

static void run_case(jx_ctx *ctx, const settings *s, const char *document,
                     const char *answers, verdict *v)
{
    size_t size = 0, npz_size = 0;
    const char *text = jx_file_read(ctx, document, &size);
    const char *bytes = text ? jx_file_read(ctx, answers, &npz_size) : NULL;
    jx_program *program =
        bytes ? jx_read_document(ctx, document, text, size) : NULL;
    const jx_npz *npz =
        program ? jx_npz_read(ctx, answers, bytes, npz_size) : NULL;
    jx_plan_options options = {.memory = 1 << 30};
    const jx_typed *typed =
        npz ? jx_program_fits(program, false, 0, NULL) : NULL;
    jx_plan *plan =
        typed ? jx_plan_make(typed, &program->entry, &options) : NULL;

    if (plan && s->lowered)
        run_lowered(ctx, typed, plan, npz, v);
    else if (plan)
        run_plan(ctx, program, plan, npz, v);
    else
        snprintf(v->why, sizeof v->why, "%s: %s",
                 ctx->error.place ? ctx->error.place : "",
                 ctx->error.message ? ctx->error.message : "?");
    jx_plan_free(plan);
}

static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; at && (at = strstr(at, name)); at++)
        if ((at == list || at[-1] == '\n') &&
            (at[length] == '\n' || at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void one(runner *r, tally *group, const char *stem)
{
    char document[512], answers[512], name[160];
    verdict v = {0};
    jx_ctx *ctx = jx_ctx_new(0);

    snprintf(name, sizeof name, "%s/%s", group->name, stem);
    snprintf(document, sizeof document, "%s/%s.json", r->s->dir, name);
    snprintf(answers, sizeof answers, "%s/%s.io.npz", r->s->dir, name);
    run_case(ctx, r->s, document, answers, &v);
    bool known = v.off && listed(r->off_list, name);
    group->total++;
    group->passed += v.passed || known;
    group->off += known;
    /* A list that names what is the same is not true. */
    group->passed -= r->s->lowered && v.passed && listed(r->off_list, name);
    if (!v.passed && !known && r->misses)
        fprintf(r->misses, "%s%s %s\n", name, v.off ? " (JAX is off)" : "",
                v.why);
    jx_ctx_free(ctx);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a folder that end in `suffix` ("" for all), without it, sorted. */
static char **names_in(runner *r, const char *path, const char *suffix,
                       int *count)
{
    JX_VEC(char *) names = {0};
    DIR *dir = opendir(path);
    size_t cut = strlen(suffix);

    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        if (e->d_name[0] == '.' || length <= cut ||
            strcmp(e->d_name + length - cut, suffix) ||
            (!cut && strchr(e->d_name, '.')))
            continue;
        JX_PUSH(r->arena, &names,
                jx_arena_string(r->arena, e->d_name, length - cut));
    }
    if (dir)
        closedir(dir);
    if (names.count)
        qsort(names.at, names.count, sizeof *names.at, by_name);
    *count = (int)names.count;
    return names.at;
}

static void run_group(runner *r, const char *name)
{
    char path[512];
    tally group = {0};
    int count;

    snprintf(group.name, sizeof group.name, "%s", name);
    snprintf(path, sizeof path, "%s/%s", r->s->dir, name);
    char **stems = names_in(r, path, ".io.npz", &count);
    for (int i = 0; i < count; i++)
        one(r, &group, stems[i]);
    if (group.total)
        JX_PUSH(r->arena, &r->groups, group);
}

static int report(const runner *r, double seconds)
{
    int complete = 0, low = 0, total = 0, passed = 0, off = 0;
    double rates = 0;

    for (size_t i = 0; i < r->groups.count; i++) {
        const tally *g = &r->groups.at[i];
        double rate = (double)g->passed / g->total;
        rates += rate;
        complete += g->passed == g->total;
        low += rate < 0.5;
        total += g->total;
        passed += g->passed;
        off += g->off;
        if (!r->s->quiet && g->passed != g->total)
            printf("%-32s %5d of %5d  %5.1f %%\n", g->name, g->passed, g->total,
                   100 * rate);
    }
    printf("%zu groups: mean of rates %.2f %%, %d complete, %d below half\n",
           r->groups.count,
           r->groups.count ? 100 * rates / (double)r->groups.count : 0,
           complete, low);
    if (r->s->lowered)
        printf("%d of %d programs are the same lowered (%d known to differ), "
               "%.1f s\n",
               passed, total, off, seconds);
    else
        printf("%d of %d programs equal JAX (%d where JAX is off), %.1f s\n",
               passed, total, off, seconds);
    return passed == total ? 0 : 1;
}

static bool read_settings(int argc, char **argv, settings *s)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quiet"))
            s->quiet = true;
        else if (!strcmp(argv[i], "--lowered"))
            s->lowered = true;
        else if (!strcmp(argv[i], "--misses") && i + 1 < argc)
            s->misses = argv[++i];
        else if (!strcmp(argv[i], "--off") && i + 1 < argc)
            s->off = argv[++i];
        else if (!strcmp(argv[i], "--group") && i + 1 < argc)
            s->group = argv[++i];
        else if (!s->dir && argv[i][0] != '-')
            s->dir = argv[i];
        else
            return false;
    return s->dir != NULL;
}

int main(int argc, char **argv)
{
    settings s = {0};
    struct timespec a, b;
    int count;
    jx_ctx *ctx = jx_ctx_new(0);

    if (!read_settings(argc, argv, &s)) {
        fprintf(stderr, "usage: runner DIR [--misses FILE] [--off FILE] "
                        "[--group NAME] [--quiet] [--lowered]\n");
        return 2;
    }
    runner r = {.s = &s, .arena = ctx->arena};
    size_t size;
    r.off_list = s.off ? jx_file_read(ctx, s.off, &size) : NULL;
    r.misses = s.misses ? fopen(s.misses, "w") : NULL;
    clock_gettime(CLOCK_MONOTONIC, &a);
    char **groups = names_in(&r, s.dir, "", &count);
    for (int i = 0; i < count; i++)
        if (!s.group || !strcmp(s.group, groups[i]))
            run_group(&r, groups[i]);
    clock_gettime(CLOCK_MONOTONIC, &b);
    int code = report(&r, (double)(b.tv_sec - a.tv_sec) +
                              1e-9 * (double)(b.tv_nsec - a.tv_nsec));
    if (r.misses)
        fclose(r.misses);
    jx_ctx_free(ctx);
    return code;
}
