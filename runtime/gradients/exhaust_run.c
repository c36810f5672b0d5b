/* exhaust_run.c - see exhaust_run.h.
 *
 * Inputs are taken in the order of their values, in chunks of a fixed size that
 * threads take as they come, each with columns of its own, which are joined in
 * order.  A chunk begins with a grid of its inputs, whose references are
 * computed again with other roundings: where one of them is not what it seemed
 * to be, so are those of all inputs of the chunk.  It goes block by block: what
 * is plainly near the reference is done; the rest wait until there is a block
 * of them to be judged, with the reference's slack (exhaust_wait.c).  What a
 * few inputs all over show first is as much as need not be looked at in any
 * chunk.  Every input is evaluated and held against its reference; but of
 * inputs in a row that all come to the same (where a function has saturated, or
 * does nothing yet: most numbers are tiny or huge) the slack of the first few
 * stands for that of the others. */
#include "runtime/gradients/exhaust_run.h"

#include "runtime/gradients/exhaust_work.h"
#include "runtime/kernels/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 18, /* inputs */
    GRID = 128,      /* one in so many is judged though it looks well */
    FIRST = 1 << 14, /* inputs that are looked at before all others */
    SIDE = JX_EX_SIDE,
    COLUMNS = JX_EX_COLUMNS,
};

typedef jx_exhaust_job job;
typedef jx_exhaust_worker worker;

/* ---- blocks */

/* Bits by the order of values, from -NaN to NaN, of n indices
 * from `first` on. */
JX_VECTOR_CLONES static void bits_of_orders(int bits, int64_t first,
                                            int64_t step, uint32_t *restrict x,
                                            int64_t n)
{
    uint32_t half = (uint32_t)1 << (bits - 1), from = (uint32_t)first,
             by = (uint32_t)step;

    for (int64_t i = 0; i < n; i++) {
        uint32_t at = from + (uint32_t)i * by;
        x[i] = at < half ? half + (half - 1 - at) : at - half;
    }
}

/* Errors up to which a result need not be looked at: of normal ones,
 * subnormal ones. */
static void limits_of(const job *j, int c, const jx_exhaust_column *so_far,
                      double *limits)
{
    const jx_exhaust_place *worst[] = {&so_far->normal, &so_far->subnormal};

    for (int k = 0; k < 2; k++) {
        double seen = fmax(worst[k]->there ? worst[k]->off : -1, j->seen[c][k]);
        /* Where results vanish, errors grow from nothing, each larger
         * than the last. */
        limits[k] = fmin(seen + JX_EXHAUST_NOTHING, 0.999999);
    }
}

/* What is off by more than anything yet, or by a unit, or where a number is
 * missing.  False: there is nothing like that. */
static bool mark_block(const job *j, worker *w, const jx_exhaust_column *so_far,
                       int64_t n)
{
    double limits[2];
    bool far = false;

    memset(w->mark, 0, (size_t)n);
    for (int c = 0; c < j->ncolumns; c++) {
        limits_of(j, c, &so_far[c], limits);
        far |= jx_exhaust_mark(&j->out, w->got[c], w->want[c], w->want[0],
                               w->nan_in, limits[0], limits[1], w->mark, n);
    }
    return far;
}

/* The same way as the reference, or by too little to tell. */
JX_VECTOR_CLONES static int64_t
steps_down(const double *restrict got, const double *restrict want, int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 1; i < n; i++) {
        double d = got[i] - got[i - 1], s = want[i] - want[i - 1];
        double least = 0x1p-46 * fabs(want[i]);
        count += (d < 0) & (s > least);
        count += (d > 0) & (s < -least);
    }
    return count;
}

/* Some number stands far apart from both beside it. */
JX_VECTOR_CLONES static int any_peak(const double *want, int64_t n)
{
    int any = 0;

    for (int64_t i = 1; i + 1 < n; i++) {
        double jump = fabs(want[i] - want[i - 1]);
        any |= (jump > 0x1p-16 * fabs(want[i])) &
               (fabs(want[i + 1] - want[i - 1]) <= jump / 64);
    }
    return any;
}

/* The first number from i on, of those with three more on both sides, that
 * stands far apart from all of them, which lie together, though no slope there
 * leads so far: the function does not go up and down, it has another value
 * there.  n: there is none. */
static int64_t next_spike(const double *x, const double *want,
                          const double *slope, int64_t i, int64_t n)
{
    if (!any_peak(want, n))
        return n;
    for (i = i < SIDE ? SIDE : i; i + SIDE < n; i++) {
        double jump = fabs(want[i] - want[i - 1]), apart = jump / 64;
        bool alone = jump > 0x1p-16 * fabs(want[i]) &&
                     fabs(want[i + 1] - want[i - 1]) <= apart;
        for (int64_t k = i - 1; alone && k <= i + 1; k++)
            alone = fabs(slope[k] * (x[i + 1] - x[i])) <= apart;
        for (int k = 1; alone && k < SIDE; k++)
            alone = fabs(want[i - k] - want[i - k - 1]) <= apart &&
                    fabs(want[i + k] - want[i + k + 1]) <= apart;
        if (alone)
            return i;
    }
    return n;
}

static void found_down(const job *j, const worker *w, jx_exhaust_column *to,
                       int64_t i, int64_t index)
{
    jx_exhaust_place *place = &to->first_down;

    if (place->there)
        return;
    *place = (jx_exhaust_place){
        true, {0, 0}, w->got[0][i], w->got[0][i - 1], 0, (double)NAN};
    jx_exhaust_arguments(j, index + i * j->step, place->x);
}

/* Of the block that begins at `index`, inputs from .. to-1 are all in question,
 * and n from `begin` on are in order. */
static void look_down(const job *j, const worker *w, jx_exhaust_column *column,
                      int64_t index, int64_t begin, int64_t n, int64_t from,
                      int64_t to)
{
    const double *got = w->got[0], *want = w->want[0];
    int inner = j->plans->narguments - 1;
    int64_t first = from > begin ? from - 1 : from,
            last = to < begin + n ? to : begin + n;
    int64_t count = steps_down(got + first, want + first, last - first);

    for (int64_t i = first + 1; count && !column->first_down.there && i < last;
         i++)
        if (steps_down(got + i - 1, want + i - 1, 2))
            found_down(j, w, column, i, index);
    column->down += count;
    for (int64_t i = from - 1; j->ncolumns > 1;) {
        i = begin + next_spike(w->eval.wide[inner] + begin, want + begin,
                               w->want[1 + inner] + begin, i + 1 - begin, n);
        if (i >= last)
            break;
        found_down(j, w, column, i, index);
        column->down++;
    }
}

JX_VECTOR_CLONES static void mark_nan(const double *x, unsigned char *to,
                                      int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (unsigned char)(to[i] | (x[i] != x[i]));
}

/* n inputs from `index` on, by steps; what is left of a run is
 * the last of them. */
static void put_inputs(const job *j, worker *w, int64_t index, int64_t step,
                       int64_t n)
{
    const jx_exhaust_plans *p = j->plans;

    if (p->narguments == 1)
        bits_of_orders(j->bits, index, step, w->eval.x[0], n);
    for (int64_t i = 0; p->narguments > 1 && i < n; i++) {
        uint32_t x[2];
        jx_exhaust_arguments(j, index + i * step, x);
        w->eval.x[0][i] = x[0];
        w->eval.x[1][i] = x[1];
    }
    for (int k = 0; k < p->narguments; k++)
        for (int64_t i = n; i < p->each; i++)
            w->eval.x[k][i] = w->eval.x[k][n - 1];
    jx_exhaust_load(&w->eval);
    memset(w->nan_in, 0, (size_t)n);
    for (int k = 0; k < p->narguments; k++)
        mark_nan(w->eval.wide[k], w->nan_in, n);
}

/* Fills in results and references of inputs from `index` on. */
static bool compute(job *j, worker *w, int64_t index, int64_t step, int64_t n)
{
    const jx_exhaust_plans *p = j->plans;
    bool slopes = j->ncolumns > 1;

    put_inputs(j, w, index, step, n);
    if (p->value && !jx_exhaust_evaluate(j, w, JX_EX_VALUE, 0, w->got[0], NULL))
        return false;
    for (int a = 0; a < p->narguments; a++) {
        if (slopes && !jx_exhaust_evaluate(j, w, JX_EX_SAYS, a,
                                           p->value || a ? NULL : w->got[0],
                                           w->got[1 + a]))
            return false;
        if ((slopes || a == 0) &&
            !jx_exhaust_evaluate(j, w, JX_EX_WIDE, a, a ? NULL : w->want[0],
                                 slopes ? w->want[1 + a] : NULL))
            return false;
    }
    return true;
}

/* Pairs whose first argument changes are no steps. */
static void look_down_rows(const job *j, const worker *w,
                           jx_exhaust_column *column, int64_t index, int64_t n,
                           int64_t from, int64_t to)
{
    int64_t row = (int64_t)1 << j->bits;

    if (j->plans->narguments == 1) {
        look_down(j, w, column, index, 0, n, from, to);
        return;
    }
    for (int64_t i = 0; i < to;) {
        int64_t left =
            (row - ((index + i * j->step) & (row - 1)) + j->step - 1) / j->step;
        int64_t m = left < n - i ? left : n - i;
        if (i + m > from)
            look_down(j, w, column, index, i, m, i > from ? i : from, to);
        i += m;
    }
}

/* Of results that are not looked at, those that are NaN as the reference is. */
JX_VECTOR_CLONES static int64_t undefined(const double *want,
                                          const unsigned char *mark,
                                          const unsigned char *nan_in,
                                          int64_t n)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count += (want[i] != want[i]) & !mark[i] & !nan_in[i];
    return count;
}

static int64_t next_marked(const unsigned char *mark, int64_t i, int64_t end)
{
    uint64_t marks;

    for (; i + (int64_t)sizeof marks <= end; i += (int64_t)sizeof marks) {
        memcpy(&marks, mark + i, sizeof marks);
        if (marks)
            break;
    }
    while (i < end && !mark[i])
        i++;
    return i;
}

/* ---- what is unsure */

/* A block without anything to look at, of one result and one reference. */
typedef struct plateau {
    bool there;
    double got[COLUMNS], want[COLUMNS];
    bool unsure[COLUMNS];
} plateau;

static bool is_flat(const double *x, int64_t n)
{
    return !memcmp(x, x + 1, (size_t)(n - 1) * sizeof *x);
}

static bool is_plateau(const job *j, const worker *w, int64_t n)
{
    for (int c = 0; c < j->ncolumns; c++)
        if (!is_flat(w->got[c], n) || !is_flat(w->want[c], n))
            return false;
    return !memchr(w->nan_in, 1, (size_t)n);
}

static bool goes_on(const job *j, const worker *w, const plateau *p)
{
    for (int c = 0; p->there && c < j->ncolumns; c++)
        if (memcmp(&p->got[c], w->got[c], sizeof(double)) ||
            memcmp(&p->want[c], w->want[c], sizeof(double)))
            return false;
    return p->there;
}

/* Counts references that are not sure, of what looks well; what looks well
 * though the rule itself is not the derivative is marked (*far).  Of blocks
 * that all come to the same the first stands for the others. */
static bool look_closely(job *j, worker *w, jx_exhaust_column *to,
                         int64_t first, int64_t end, int64_t n, plateau *same,
                         bool *far)
{
    bool flat = !*far && is_plateau(j, w, n);

    if (flat && goes_on(j, w, same)) {
        for (int c = 0; c < j->ncolumns; c++)
            to[c].unsure += same->unsure[c] ? end - first : 0;
        return true;
    }
    if (!jx_exhaust_find_slack(j, w, n, true))
        return false;
    for (int c = 1; j->plans->rule && c < j->ncolumns; c++)
        *far |= jx_exhaust_mark_wrong(&j->out, w->want[c], w->slack[c],
                                      w->by_rule[c], w->rule_slack[c],
                                      w->nan_in, w->mark, n);
    same->there = flat && !*far;
    for (int c = 0; c < j->ncolumns; c++) {
        int64_t unsure =
            jx_exhaust_unsure(&j->out, w->want[c] + first, w->slack[c] + first,
                              w->mark + first, w->nan_in + first, end - first);
        to[c].unsure += unsure;
        same->got[c] = w->got[c][0];
        same->want[c] = w->want[c][0];
        same->unsure[c] = unsure > 0;
    }
    return true;
}

/* ---- judging */

/* Inputs `first` .. end-1 of the block of n that begins at `index`; what lies
 * beside them is there for their order alone. */
static bool judge(job *j, worker *w, jx_exhaust_column *to, int64_t index,
                  int64_t first, int64_t end, int64_t n, plateau *same)
{
    bool far = mark_block(j, w, to, n);

    if (w->knows_slack && !look_closely(j, w, to, first, end, n, same, &far))
        return false;
    look_down_rows(j, w, &to[0], index, n, first, end);
    for (int c = 0; far && c < j->ncolumns; c++) {
        w->all_odd[c] =
            jx_exhaust_beyond(&j->out, w->got[c] + first, w->want[c] + first,
                              j->kinked, end - first) > JX_EX_MOST_KINKS;
        to[c].undefined += undefined(w->want[c] + first, w->mark + first,
                                     w->nan_in + first, end - first);
    }
    if (far)
        jx_exhaust_count_many(j, w, to, index, first, end);
    for (int64_t i = far ? next_marked(w->mark, first, end) : end; i < end;
         i = next_marked(w->mark, i, end)) {
        int64_t at = index + i * j->step;
        i += jx_exhaust_count_now(j, w, to, at, i)
                 ? 1
                 : jx_exhaust_wait(j, w, to, at, i, end);
    }
    return w->nwaiting < j->plans->each || jx_exhaust_flush(j, w, to);
}

/* Inputs from .. to-1, counted in steps; `closely`: what looks well, too. */
static bool do_inputs(job *j, worker *w, int64_t from, int64_t to, bool closely,
                      jx_exhaust_column *columns)
{
    int64_t room = j->plans->each - 2 * SIDE;
    plateau same = {0};

    memset(columns, 0, COLUMNS * sizeof *columns);
    w->nwaiting = 0;
    w->knows_slack = closely;
    for (int64_t at = from; at < to; at += room) {
        int64_t before = at < SIDE ? at : SIDE,
                count = to - at < room ? to - at : room;
        int64_t index = (at - before) * j->step, n = before + count + SIDE;
        if (at - before + n > j->inputs)
            n = j->inputs - (at - before);
        if (atomic_load(&j->failed) || !compute(j, w, index, j->step, n) ||
            !judge(j, w, columns, index, before, before + count, n, &same))
            return false;
    }
    return jx_exhaust_flush(j, w, columns) && jx_exhaust_flush(j, w, columns);
}

/* ---- the grid */

/* The largest error of n results of a grid, of those whose reference is a
 * number in range. */
static void find_most_off(const job *j, worker *w, int c, int64_t n)
{
    const double *got = w->got[c], *want = w->want[c];

    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(want[i]) < j->out.beyond))
            continue;
        if (got[i] - got[i] != 0)
            w->any_none[c] = true;
        else
            w->most_off[c] = fmax(w->most_off[c], fabs(got[i] - want[i]) /
                                                      jx_ulp(&j->out, want[i]));
    }
}

/* Whether n inputs of a chunk from `index` on, one of many, are sure where they
 * look well, and the rule is right there; then the other ones that look well
 * are taken to be as sure. */
static bool is_grid_right(job *j, worker *w, int64_t index, int64_t step,
                          int64_t n, bool *right)
{
    static const jx_exhaust_column none[COLUMNS];

    if (!compute(j, w, index, step, n) ||
        !jx_exhaust_find_slack(j, w, n, false))
        return false;
    mark_block(j, w, none, n);
    for (int c = 0; c < j->ncolumns; c++) {
        find_most_off(j, w, c, n);
        for (int64_t i = 0; i < n; i++)
            w->most_slack[c] = fmax(w->most_slack[c], w->slack[c][i]);
    }
    for (int c = 0; *right && c < j->ncolumns; c++)
        *right = !jx_exhaust_unsure(&j->out, w->want[c], w->slack[c], w->mark,
                                    w->nan_in, n) &&
                 !(c > 0 && j->plans->rule &&
                   jx_exhaust_mark_wrong(&j->out, w->want[c], w->slack[c],
                                         w->by_rule[c], w->rule_slack[c],
                                         w->nan_in, w->mark, n));
    return true;
}

/* Before a chunk: one in GRID of its inputs, whether they look well or not. */
static bool do_grid(job *j, worker *w, int64_t from, int64_t to, bool *right)
{
    int64_t each = j->plans->each;

    *right = true;
    /* In a sample, and in 16 bits, a chunk has many binades. */
    for (int c = 0; c < COLUMNS; c++) {
        w->most_slack[c] = 4 * CHUNK * j->step > (int64_t)1
                                                     << (j->in.precision - 1)
                               ? (double)INFINITY
                               : 0;
        w->most_off[c] = 0;
        w->any_none[c] = false;
    }
    for (int64_t at = from; *right && at < to; at += each * GRID) {
        int64_t n = (to - at + GRID - 1) / GRID;
        if (atomic_load(&j->failed) ||
            !is_grid_right(j, w, at * j->step, j->step * GRID,
                           n < each ? n : each, right))
            return false;
    }
    return true;
}

/* ---- chunks */

/* What is off by no more need not be looked at again: the worst of
 * these are results. */
static bool do_first(job *j, jx_exhausted *to)
{
    jx_exhaust_column *found[COLUMNS] = {&to->value, &to->slopes[0],
                                         &to->slopes[1]};
    const int64_t step = j->step, inputs = j->inputs;
    jx_exhaust_column columns[COLUMNS];
    bool done;

    if (inputs <= FIRST)
        return true;
    for (int c = 0; c < COLUMNS; c++)
        j->workers[0].most_slack[c] = (double)INFINITY;
    j->step *= inputs / FIRST;
    j->inputs = FIRST;
    done = do_inputs(j, &j->workers[0], 0, FIRST, false, columns);
    j->step = step;
    j->inputs = inputs;
    for (int c = 0; done && c < j->ncolumns; c++) {
        const jx_exhaust_place *worst[] = {&columns[c].normal,
                                           &columns[c].subnormal};
        for (int k = 0; k < 2; k++)
            j->seen[c][k] = worst[k]->there ? worst[k]->off : 0;
        found[c]->normal = columns[c].normal;
        found[c]->subnormal = columns[c].subnormal;
    }
    return done;
}

static void do_chunk(const void *data, int64_t i, int number)
{
    job *j = (job *)(uintptr_t)data;
    worker *w = &j->workers[number];
    int64_t from = i * CHUNK,
            to = from + CHUNK < j->inputs ? from + CHUNK : j->inputs;
    jx_exhaust_column *columns = &j->columns[i * COLUMNS];
    bool right;

    if (atomic_load(&j->failed) || !do_grid(j, w, from, to, &right))
        return;
    do_inputs(j, w, from, to, !right, columns);
    atomic_fetch_add(&j->done, 1);
    if (number == 0 && j->options->progress)
        j->options->progress(j->options->told, (double)atomic_load(&j->done) /
                                                   (double)j->nchunks);
}

/* ---- all of it */

static bool open_worker(const job *j, worker *w)
{
    size_t n = (size_t)j->plans->each + 1;
    bool ok = jx_exhaust_open(j->ctx, j->plans, &w->eval);

    for (int c = 0; c < COLUMNS; c++) {
        w->got[c] = calloc(n, sizeof(double));
        w->want[c] = calloc(n, sizeof(double));
        w->slack[c] = calloc(n, sizeof(double));
        w->by_rule[c] = calloc(n, sizeof(double));
        w->rule_slack[c] = calloc(n, sizeof(double));
        ok = ok && w->got[c] && w->want[c] && w->slack[c] && w->by_rule[c] &&
             w->rule_slack[c];
    }
    for (int k = 0; k < 4; k++)
        ok = ok && (w->side[k] = calloc(n, sizeof(double)));
    for (int k = 0; k < 2; k++)
        ok = ok && (w->again[k] = calloc(n, sizeof(double)));
    w->off = calloc(n, sizeof(double));
    w->mark = calloc(n, 1);
    w->which = calloc(n, 1);
    w->nan_in = calloc(n, 1);
    w->waiting = calloc(2 * n, sizeof *w->waiting);
    return (ok && w->off && w->mark && w->which && w->nan_in && w->waiting) ||
           jx_starved(j->ctx);
}

static void close_worker(worker *w)
{
    jx_exhaust_close(&w->eval);
    for (int c = 0; c < COLUMNS; c++) {
        free(w->got[c]);
        free(w->want[c]);
        free(w->slack[c]);
        free(w->by_rule[c]);
        free(w->rule_slack[c]);
    }
    for (int k = 0; k < 4; k++)
        free(w->side[k]);
    free(w->again[0]);
    free(w->again[1]);
    free(w->off);
    free(w->mark);
    free(w->which);
    free(w->nan_in);
    free(w->waiting);
}

static bool begin(job *j, jx_exhausted *to)
{
    const jx_exhaust_plans *p = j->plans;

    if (!jx_float_format_of(p->dtype, &j->in) ||
        !jx_float_format_of(p->gives, &j->out))
        return jx_fail(j->ctx, JX_E_INPUT, NULL, NULL,
                       "only f32, f16 and bf16 are exhausted, and this is of "
                       "%s and gives %s",
                       jx_dtype_of(p->dtype)->short_name,
                       jx_dtype_of(p->gives)->short_name);
    j->kinked = fmax(2, ldexp(1, j->out.precision - 14));
    j->bits = jx_dtype_of(p->dtype)->bits;
    if (p->narguments * j->bits > 32)
        return jx_fail(
            j->ctx, JX_E_INPUT, NULL, NULL,
            "pairs of %s are too many: two arguments are exhausted in 16 bits",
            jx_dtype_of(p->dtype)->short_name);
    j->step = j->options->step > 1 ? j->options->step : 1;
    j->inputs =
        (((int64_t)1 << p->narguments * j->bits) + j->step - 1) / j->step;
    j->ncolumns = p->form ? 1 + p->narguments : 1;
    j->nchunks = (j->inputs + CHUNK - 1) / CHUNK;
    *to = (jx_exhausted){.subject = to->subject,
                         .rule = to->rule,
                         .derived_by_rules = to->derived_by_rules,
                         .underived = to->underived,
                         .dtype = p->dtype,
                         .gives = p->gives,
                         .narguments = p->narguments,
                         .inputs = j->inputs,
                         .step = j->step};
    /* that nothing is off is to be seen, too */
    for (int c = 0; c < COLUMNS; c++)
        j->seen[c][0] = j->seen[c][1] = -1;
    j->columns = calloc((size_t)j->nchunks * COLUMNS, sizeof *j->columns);
    return j->columns || jx_starved(j->ctx);
}

bool jx_exhaust_run(jx_ctx *ctx, const jx_exhaust_plans *plans,
                    const jx_exhaust_options *options, jx_exhausted *to)
{
    job *j = calloc(1, sizeof *j);
    jx_pool *pool = jx_pool_new();
    bool ok = j && pool;

    if (!ok)
        jx_starved(ctx);
    if (j)
        *j = (job){.ctx = ctx, .plans = plans, .options = options};
    ok = ok && begin(j, to);
    for (int i = 0; ok && i < JX_POOL_WORKERS; i++)
        ok = open_worker(j, &j->workers[i]);
    if (ok && do_first(j, to))
        jx_pool_run(pool, do_chunk, j, j->nchunks);
    for (int64_t i = 0; ok && i < j->nchunks; i++) {
        jx_exhaust_join(&to->value, &j->columns[i * COLUMNS], j->step);
        for (int a = 0; a < 2; a++)
            jx_exhaust_join(&to->slopes[a], &j->columns[i * COLUMNS + 1 + a],
                            j->step);
    }
    if (ok && atomic_load(&j->failed)) {
        ok = false;
        if (jx_ctx_lasts(ctx))
            jx_fail(ctx, JX_E_INPUT, NULL, NULL, "%s",
                    j->why ? j->why : "a run failed");
    }
    jx_pool_free(pool);
    for (int i = 0; j && i < JX_POOL_WORKERS; i++)
        close_worker(&j->workers[i]);
    if (j)
        free(j->columns);
    free(j);
    return ok && jx_ctx_lasts(ctx);
}

/* ---- slopes around a place */

enum { STEPS = 12 };

/* Numbers around one, in pairs, by steps that grow less: relative to it, and
 * at least of a size (near 0 functions of other sizes show nothing of
 * smaller ones). */
static void put_around(double *at, int64_t n)
{
    double x = at[0];

    for (int64_t i = 0; i < 2 * STEPS && i < n; i++) {
        double size = i / 2 % 2 ? fabs(x) : fmax(fabs(x), 0x1p-60);
        at[i] += (i % 2 ? 1 : -1) * size * ldexp(1, -(int)(i / 2) - 6);
    }
}

/* Some slope is the derivative, and none that is no noise is what
 * the rule says. */
static bool tell_apart(const double *at, const double *y, int64_t n,
                       const jx_exhaust_place *place)
{
    double apart = fabs(place->by_rule - place->want) / 16;
    bool found = false;

    for (int64_t i = 0; i + 1 < 2 * STEPS && i + 1 < n; i += 2) {
        double rise = y[i + 1] - y[i], slope = rise / (at[i + 1] - at[i]);
        if (fabs(slope - place->by_rule) < apart &&
            fabs(rise) > 0x1p-40 * fabs(y[i]))
            return false;
        found |= fabs(slope - place->want) < apart;
    }
    return found;
}

bool jx_exhaust_confirms(jx_ctx *ctx, const jx_exhaust_plans *plans,
                         int argument, const jx_exhaust_place *place)
{
    jx_exhaust_eval e;
    double *y = calloc((size_t)plans->each + 2 * STEPS, sizeof *y);
    bool ok = y && jx_exhaust_open(ctx, plans, &e), found = false;

    if (ok) {
        for (int k = 0; k < plans->narguments; k++)
            for (int64_t i = 0; i < plans->each; i++)
                e.x[k][i] = place->x[k];
        jx_exhaust_load(&e);
        put_around(e.wide[argument], plans->each);
        found = jx_exhaust_eval_run(&e, JX_EX_WIDE, argument, y, NULL) &&
                tell_apart(e.wide[argument], y, plans->each, place);
    }
    if (y)
        jx_exhaust_close(&e);
    free(y);
    return found;
}
