/* extents_random.c - bounds of values, against what random programs compute.
 *
 *     extents_random [--programs N] [--seed K] [--rows]
 *     extents_random --kept FILE
 *
 * Programs are made as text (programs.h), on f32, f16, bf16, f64 and
 * integers, most with ranges of their inputs.  Every value is an output.
 * Each program runs as written (ieee), with subnormals flushed (ftz), and as
 * XLA's simplifier leaves it (xla), at corners, at random, at numbers of all
 * sizes, where the greatest or least value so far was, moved a little toward
 * an end, and where the gradient of that value leads: what lies outside of
 * the bounds of that semantics is printed with its program.  Exits with 1 if
 * anything does.  --rows says how often each primitive was tried; --kept
 * tries the programs of a file, as they are printed, each of which had a
 * value outside once. */
#include "tests/extents/programs.h"

#include "analyzer/transform/inline.h"
#include "analyzer/transform/vjp.h"
#include "analyzer/transform/xla.h"
#include "analyzer/values/values.h"
#include "frontend/ir/params.h"
#include "frontend/ir/range.h"
#include "frontend/read/text.h"
#include "runtime/elementwise.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradcall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 16,
    CLIMBS = 6,     /* along a gradient ... */
    GRADIENTS = 12, /* ... of one run in so many */
};

typedef double point[MOST_INPUTS][ELEMENTS];

typedef struct trial {
    rng r;
    const char *text;
    jx_program *program;
    int nins;
    jx_dtype dtypes[MOST_INPUTS];
    double low[MOST_INPUTS], high[MOST_INPUTS];
    char ranges[MOST_INPUTS][96]; /* "" : none */
    long outside, values, runs, climbs;
} trial;

/* -- ranges ---------------------------------------------------------------- */

static double end_of(rng *r)
{
    static const double ends[] = {
        -1e30, -1000, -100,  -10,    -3,   -1,    -.5, -1e-3, 0,
        0,     1e-30, 1e-3,  .5,     1,    2,     8,   60,    100,
        1000,  1e30,  1e-40, -1e-40, 1e-6, -1e-6, 88,  300};

    return rng_below(r, 4) ? ends[rng_below(r, sizeof ends / sizeof *ends)]
                           : 20 * rng_uniform(r) - 10;
}

static double within(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

static void take_all(trial *t, int i)
{
    jx_dtype dtype = t->dtypes[i];
    /* Doubles beyond that are none of 64-bit integers. */
    double most = jx_dtype_is_float(dtype) ? INFINITY : 0x1p62;

    t->low[i] = fmax(jx_extent_least(dtype), -most);
    t->high[i] = fmin(jx_extent_most(dtype), most);
}

/* A range that is declared, or the finite numbers. */
static bool take_range(trial *t, int i)
{
    jx_dtype dtype = t->dtypes[i];
    bool is_float = jx_dtype_is_float(dtype);
    double most = dtype == JX_F16 ? 60000 : is_float ? 1e30 : 0x1p53;
    double a = within(end_of(&t->r), -most, most),
           b = within(end_of(&t->r), -most, most);

    if (!is_float) {
        a = within(rint(a), jx_extent_least(dtype), jx_extent_most(dtype));
        b = within(rint(b), jx_extent_least(dtype), jx_extent_most(dtype));
    }
    t->low[i] = is_float ? jx_round_to(dtype, fmin(a, b)) : fmin(a, b);
    t->high[i] = is_float ? jx_round_to(dtype, fmax(a, b)) : fmax(a, b);
    t->ranges[i][0] = 0;
    if (!rng_below(&t->r, 8)) {
        take_all(t, i);
        return true;
    }
    snprintf(t->ranges[i], sizeof t->ranges[i], "in%d in [%.17g, %.17g]", i,
             t->low[i], t->high[i]);
    return jx_range_parse(t->program, t->ranges[i]);
}

/* -- points ---------------------------------------------------------------- */

/* A number of any size. */
static double scattered(rng *r, double low, double high)
{
    double value = ldexp(1 + rng_uniform(r), rng_below(r, 280) - 150);

    if (rng_below(r, 3) == 0)
        value = ldexp(1 + rng_uniform(r), rng_below(r, 24) - 12);
    return within(rng_below(r, 2) ? value : -value, low, high);
}

static double special(rng *r, jx_dtype dtype, double low, double high)
{
    double tiny = dtype == JX_F64   ? 0x1p-1022
                  : dtype == JX_F16 ? 0x1p-14
                                    : 0x1p-126;
    double at[] = {0,  tiny, -tiny, tiny / 2, -tiny / 4, 1,
                   -1, low,  high,  low,      high,      -0.0};
    double value = at[rng_below(r, sizeof at / sizeof *at)];

    if (!rng_below(r, 3) && jx_dtype_is_float(dtype))
        value += (rng_below(r, 2) ? 1 : -1) * jx_ulp_of(dtype, value);
    return within(value, low, high);
}

static double any_number(trial *t, int how, int i, double best, double same,
                         int corner)
{
    double low = t->low[i], high = t->high[i], part = rng_uniform(&t->r);

    switch (how) {
    case 0: return corner ? low : high;
    case 1: return rng_below(&t->r, 2) ? low : high;
    case 2: return low * (1 - same) + same * high;
    case 3:
        return rng_below(&t->r, 2) ? (low > 0 || high < 0 ? low : 0)
                                   : low * (1 - part) + part * high;
    case 4:
    case 5: return low * (1 - part) + part * high;
    case 6: return scattered(&t->r, low, high);
    case 7: return special(&t->r, t->dtypes[i], low, high);
    case 8:
        return corner ? special(&t->r, t->dtypes[i], low, high)
                      : scattered(&t->r, low, high);
    default: /* from the best so far, some elements to an end */
        switch (rng_below(&t->r, 8)) {
        case 0: return low;
        case 1: return high;
        case 2: return special(&t->r, t->dtypes[i], low, high);
        case 3: return best + (part - .5) * .1 * (high / 2 - low / 2);
        default: return best;
        }
    }
}

static void fill(trial *t, int how, point at, point best)
{
    for (int i = 0; i < t->nins; i++) {
        double same = rng_uniform(&t->r);
        int corner = rng_below(&t->r, 2);
        for (int k = 0; k < ELEMENTS; k++) {
            double value = any_number(t, how, i, best[i][k], same, corner);
            if (!jx_dtype_is_float(t->dtypes[i]))
                value = rint(value);
            at[i][k] = within(value, t->low[i], t->high[i]);
        }
    }
}

/* -- runs ------------------------------------------------------------------ */

/* One program at many points, within the extents of a semantics. */
typedef struct running {
    trial *t;
    jx_semantics semantics;
    const jx_extents *extents;
    jx_callee f;
    /* the output that is made as large as can be, or as small */
    int goal, sign;
    int64_t element;
    double seen;
    bool climbed; /* there is a better one here */
    point at, best;
} running;

static void show(const running *run, int out, double value, jx_extent is)
{
    printf("%s", run->t->text);
    for (int i = 0; i < run->t->nins; i++)
        printf("%s%s", run->t->ranges[i], *run->t->ranges[i] ? "\n" : "");
    printf("%s: output %d is %.17g outside of [%.17g, %.17g]%s\n\n",
           jx_semantics_name(run->semantics), out, value, is.lo, is.hi,
           is.nan ? " or NaN" : "");
}

static void look_at(running *run, int out)
{
    enum { MOST = 2 * ELEMENTS };
    const jx_port *port = jx_plan_out(run->f.plan, out);
    jx_extent is = run->extents->outs[out];
    double values[MOST];

    jx_convert(port->dtype, JX_F64, jx_exec_out(run->f.exec, out), values,
               port->count);
    run->t->values += port->count;
    for (int64_t k = 0; k < port->count; k++) {
        if ((isnan(values[k]) ? !is.nan
                              : values[k] < is.lo || values[k] > is.hi) &&
            !run->t->outside++)
            show(run, out, values[k], is);
        if (out == run->goal && !(run->sign * values[k] < run->seen)) {
            run->seen = run->sign * values[k];
            run->element = k;
            run->climbed = true;
        }
    }
}

static void hand_over(const point at, int nins, jx_callee *f)
{
    for (int i = 0; i < nins; i++) {
        const jx_port *port = jx_plan_in(f->plan, i);
        jx_convert(JX_F64, port->dtype, at[i], f->in[i], port->count);
    }
}

static bool run_at(running *run)
{
    hand_over(run->at, run->t->nins, &run->f);
    if (!jx_callee_run(&run->f))
        return false;
    run->t->runs++;
    run->climbed = false;
    for (int o = 0; o < run->f.nouts; o++)
        look_at(run, o);
    if (run->climbed)
        memcpy(run->best, run->at, sizeof run->best);
    return true;
}

/* -- gradients ------------------------------------------------------------- */

/* The derivative of the goal's element, backwards. */
static bool differentiate(running *run, jx_callee *back)
{
    int cotangent = run->t->nins;

    hand_over(run->best, run->t->nins, back);
    for (int o = 0; o < run->f.nouts; o++) {
        const jx_port *port = jx_plan_out(run->f.plan, o);
        if (!jx_dtype_is_float(port->dtype))
            continue;
        memset(back->in[cotangent], 0, (size_t)port->count * sizeof(double));
        if (o == run->goal)
            ((double *)back->in[cotangent])[run->element] = run->sign;
        cotangent++;
    }
    return cotangent == back->nins && jx_callee_run(back);
}

/* Some way along, or all the way to the ends. */
static bool step(running *run, const jx_callee *back, int number)
{
    const trial *t = run->t;
    double part = number == 0 ? 1 : ldexp(1, -number);
    bool moved = false;

    memcpy(run->at, run->best, sizeof run->at);
    for (int i = 0; i < back->nouts; i++) { /* floats come first */
        const double *slope = jx_exec_out(back->exec, i);
        for (int64_t k = 0; k < jx_plan_out(back->plan, i)->count; k++) {
            if (!(fabs(slope[k]) > 0))
                continue;
            moved = true;
            run->at[i][k] =
                within(run->at[i][k] + (slope[k] > 0 ? 2 : -2) * part *
                                           (t->high[i] / 2 - t->low[i] / 2),
                       t->low[i], t->high[i]);
        }
    }
    return moved;
}

static void climb(running *run, const jx_typed *typed)
{
    const jx_plan_options wide = {.domain = JX_WIDE};
    jx_program *derivative = jx_program_vjp(typed);
    const jx_typed *fits =
        derivative ? jx_program_fits(derivative, false, 0, NULL) : NULL;
    jx_callee back;

    if (fits && jx_callee_open(&back, fits, &derivative->entry, &wide)) {
        run->t->climbs++;
        for (int k = 0; k < CLIMBS; k++)
            if (!differentiate(run, &back) || !step(run, &back, k) ||
                !run_at(run))
                break;
        jx_callee_close(&back);
    }
    /* not all that is here has a derivative */
    jx_error_clear(typed->program->ctx);
}

static void run(trial *t, jx_program *program, jx_semantics semantics,
                const jx_extents *extents)
{
    const jx_typed *typed = jx_program_fits(program, false, 0, NULL);
    const jx_plan_options how = {.domain = JX_DECLARED};
    running run = {
        .t = t, .semantics = semantics, .extents = extents, .seen = -INFINITY};

    if (!typed || !jx_callee_open(&run.f, typed, &program->entry, &how)) {
        printf("%snot run: %s\n", t->text, program->ctx->error.message);
        jx_error_clear(program->ctx);
        return;
    }
    run.goal = rng_below(&t->r, run.f.nouts);
    run.sign = rng_below(&t->r, 2) ? 1 : -1;
    jx_exec_flush(run.f.exec, semantics != JX_IEEE);
    for (int n = 0; n < TRIES; n++) {
        fill(t, n, run.at, run.best);
        if (!run_at(&run))
            break;
    }
    if (jx_dtype_is_float(jx_plan_out(run.f.plan, run.goal)->dtype) &&
        !rng_below(&t->r, GRADIENTS))
        climb(&run, typed);
    jx_callee_close(&run.f);
}

/* -- programs -------------------------------------------------------------- */

static void count_rows(const jx_program *program, long *rows)
{
    for (int i = 0; i < program->entry.jaxpr->neqns; i++)
        rows[program->entry.jaxpr->eqns[i].prim->id]++;
}

static void run_all(trial *t)
{
    const jx_extents *ieee = jx_program_extents(t->program, JX_IEEE);
    const jx_extents *ftz = jx_program_extents(t->program, JX_FTZ);
    jx_program *flat = jx_program_inline(t->program);
    const jx_extents *xla = flat ? jx_program_extents(flat, JX_XLA) : NULL;
    bool matters;
    jx_program *compiled = flat ? jx_program_as_xla(flat, &matters) : NULL;

    if (ieee)
        run(t, t->program, JX_IEEE, ieee);
    if (ftz)
        run(t, t->program, JX_FTZ, ftz);
    if (xla && compiled)
        run(t, compiled, JX_XLA, xla);
}

typedef struct totals {
    long values, runs, climbs, outside;
    long *rows;
} totals;

/* What was tried counts; a program that can't be read, or ranges that don't
 * fit, is no good. */
static void finish(trial *t, const jx_ctx *ctx, totals *all)
{
    all->values += t->values;
    all->runs += t->runs;
    all->climbs += t->climbs;
    all->outside += t->outside > 0;
    if (ctx->error.kind != JX_E_NONE) {
        printf("%s\n%s\n", ctx->error.message, t->text);
        all->outside++;
    }
    fflush(stdout);
}

static bool open_text(trial *t, jx_ctx *ctx)
{
    t->program = jx_read_text(ctx, "random", t->text, strlen(t->text));
    t->nins = t->program ? t->program->entry.jaxpr->nins : 0;
    if (t->nins > MOST_INPUTS)
        return jx_fail(ctx, JX_E_USAGE, NULL, NULL, "more than %d inputs",
                       MOST_INPUTS);
    for (int i = 0; i < t->nins; i++)
        t->dtypes[i] = t->program->entry.jaxpr->vars[i]->aval->dtype;
    return t->program;
}

static void try_seed(making *m, uint64_t seed, totals *all)
{
    trial t = {.r = {seed * 2654435761u + 12345}, .text = m->text};
    jx_ctx *ctx = jx_ctx_new((size_t)256 << 20);
    bool ranged = true;

    rng_below(&t.r, 2);
    make_program(m, &t.r);
    if (open_text(&t, ctx)) {
        for (int i = 0; ranged && i < t.nins; i++)
            ranged = take_range(&t, i);
        count_rows(t.program, all->rows);
        if (ranged)
            run_all(&t);
    }
    finish(&t, ctx, all);
    jx_ctx_free(ctx);
}

/* -- programs that are kept ------------------------------------------------ */

/* Lines that declare ranges stand behind the program's. */
static bool read_range(trial *t, const char *line)
{
    int i;
    double low, high;

    if (sscanf(line, "in%d in [%lf, %lf]", &i, &low, &high) != 3 || i < 0 ||
        i >= t->nins)
        return false;
    t->low[i] = low;
    t->high[i] = high;
    snprintf(t->ranges[i], sizeof t->ranges[i], "%s", line);
    return jx_range_parse(t->program, line);
}

static void try_kept(char *text, totals *all)
{
    enum { TIMES = 60 };
    char *ranges = strstr(text, "\nin ("), *line;
    trial t = {.r = {(uint64_t)all->runs + 1}, .text = text};
    jx_ctx *ctx = jx_ctx_new((size_t)256 << 20);
    bool ranged = true;

    ranges = ranges ? strchr(ranges + 1, '\n') : NULL;
    if (ranges)
        *ranges++ = 0;
    if (open_text(&t, ctx)) {
        for (int i = 0; i < t.nins; i++)
            take_all(&t, i);
        for (line = ranges ? strtok(ranges, "\n") : NULL; line && ranged;
             line = strtok(NULL, "\n"))
            ranged = read_range(&t, line);
        for (int n = 0; ranged && n < TIMES; n++)
            run_all(&t);
    }
    if (!ranged)
        jx_fail(ctx, JX_E_USAGE, NULL, NULL,
                "ranges are not as they are printed");
    finish(&t, ctx, all);
    jx_ctx_free(ctx);
}

static long try_file(const char *path, totals *all)
{
    enum { MOST_TEXT = 1 << 16 };
    char *text = calloc(1, MOST_TEXT), line[4096];
    FILE *file = fopen(path, "r");
    long count = 0;

    if (!file) {
        perror(path);
        all->outside++;
        free(text);
        return 0;
    }
    while (fgets(line, sizeof line, file)) {
        if (*line == '#')
            continue;
        if (*line != '\n' && strlen(text) + strlen(line) < MOST_TEXT)
            strcat(text, line);
        if (*line == '\n' && *text) {
            try_kept(text, all);
            count++;
            *text = 0;
        }
    }
    if (*text) {
        try_kept(text, all);
        count++;
    }
    fclose(file);
    free(text);
    return count;
}

static long tell_rows(const long *rows, bool tell)
{
    long least = -1;

    for (int id = 1; id < JX_NPRIMS; id++) {
        if (!rows[id])
            continue;
        least = least < 0 || rows[id] < least ? rows[id] : least;
        if (tell)
            printf("%8ld %s\n", rows[id], jx_prim_of((jx_prim_id)id)->name);
    }
    return least;
}

int main(int argc, char **argv)
{
    long programs = 2000, seed = 0;
    totals all = {.rows = calloc(JX_NPRIMS, sizeof *all.rows)};
    making *m = malloc(sizeof *m);
    const char *kept = NULL;
    bool tell = false;

    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--programs") && i + 1 < argc)
            programs = atol(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = atol(argv[++i]);
        else if (!strcmp(argv[i], "--kept") && i + 1 < argc)
            kept = argv[++i];
        else if (!strcmp(argv[i], "--rows"))
            tell = true;
    if (kept)
        programs = try_file(kept, &all);
    for (long i = 0; !kept && i < programs; i++)
        try_seed(m, (uint64_t)(seed + i), &all);
    printf("extents: %ld programs, %ld runs, %ld of them with gradients, %ld "
           "values, each "
           "primitive in %ld or more; %ld programs with a value outside\n",
           programs, all.runs, all.climbs, all.values,
           tell_rows(all.rows, tell), all.outside);
    free(all.rows);
    free(m);
    return all.outside > 0;
}
