/* exhaust_run.c - see exhaust_run.h.
 *
 * Inputs are taken in the order of their values, in chunks of a fixed size that threads
 * take as they come, each with columns of its own, which are joined in order.  A chunk goes
 * block by block: what is plainly near the reference is done; the rest, and some of the
 * others, wait until there is a block of them to be judged, with the reference's slack.  What
 * a few inputs all over show first is as much as need not be looked at in any chunk.  Of
 * inputs in a row that all come to the same (where a function has saturated, or does nothing
 * yet: most numbers are tiny or huge) the first few stand for the others. */
#include "runtime/gradients/exhaust_run.h"

#include "runtime/gradients/exhaust_count.h"
#include "runtime/gradients/exhaust_eval.h"
#include "runtime/kernels/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 18,  /* inputs */
    GRID = 64,        /* one in so many is judged though it looks well */
    FIRST = 1 << 14,  /* inputs that are looked at before all others */
    SIDE = 3,         /* inputs beside a block, of which only the order counts */
    ALIKE = 8,        /* inputs in a row that come to the same, before others join them */
    COLUMNS = 3,      /* the value and two derivatives */
    MOST_KINKS = 256, /* in a block of what waits */
};

/* One thread's memory. */
typedef struct worker {
    jx_exhaust_eval eval;
    double *got[COLUMNS], *want[COLUMNS];
    double *off, *again[2], *side[4];
    unsigned char *mark; /* a bit for each column in question */
    jx_exhaust_item *items[COLUMNS]; /* that wait, `each` of each column */
    unsigned char *grid;             /* such an item looked well */
    int64_t nitems;
} worker;

typedef struct job {
    jx_ctx *ctx;
    const jx_exhaust_plans *plans;
    const jx_exhaust_options *options;
    jx_float_format in, out;
    int ncolumns, bits; /* of an argument */
    double kinked; /* units that a derivative may be off before sides are looked at */
    double seen[COLUMNS][2]; /* the largest errors of the first inputs: normal, subnormal */
    int64_t step, inputs;
    worker workers[JX_POOL_WORKERS];
    jx_exhaust_column *columns; /* COLUMNS of each chunk */
    int64_t nchunks;
    atomic_llong done;
    atomic_bool failed;
    const char *why; /* a run's own error, by the thread that failed */
} job;

/* ---- inputs by number */

/* Bits by the order of values, from -NaN to NaN. */
static uint32_t bits_of_order(int bits, int64_t order)
{
    uint32_t half = (uint32_t)1 << (bits - 1), at = (uint32_t)order;

    return at < half ? half + (half - 1 - at) : at - half;
}

/* The same of n indices from `first` on. */
JX_VECTOR_CLONES static void bits_of_orders(int bits, int64_t first, int64_t step,
                                            uint32_t *restrict x, int64_t n)
{
    uint32_t half = (uint32_t)1 << (bits - 1), from = (uint32_t)first, by = (uint32_t)step;

    for (int64_t i = 0; i < n; i++) {
        uint32_t at = from + (uint32_t)i * by;
        x[i] = at < half ? half + (half - 1 - at) : at - half;
    }
}

static void arguments_of(const job *j, int64_t index, uint32_t *x)
{
    if (j->plans->narguments == 1) {
        x[0] = bits_of_order(j->bits, index);
        return;
    }
    x[0] = bits_of_order(j->bits, index >> j->bits);
    x[1] = bits_of_order(j->bits, index & (((int64_t)1 << j->bits) - 1));
}

/* The number `by` steps from this one, both zeros counted as one; NaN: beyond infinity. */
static uint32_t neighbour(int bits, uint32_t x, int by)
{
    int64_t sign = (int64_t)1 << (bits - 1);
    int64_t at = x < sign ? (int64_t)x : sign - (int64_t)x;

    at += by;
    return (uint32_t)(at >= 0 ? at : sign - at);
}

/* ---- what waits */

static bool failed(job *j, worker *w, jx_exhaust_role role)
{
    if (!atomic_exchange(&j->failed, true))
        j->why = jx_exec_error(w->eval.execs[role]);
    return false;
}

static bool evaluate(job *j, worker *w, jx_exhaust_role role, int argument, double *value,
                     double *slope)
{
    return jx_exhaust_eval_run(&w->eval, role, argument, value, slope) || failed(j, w, role);
}

/* Puts arguments of the items into the evaluation, one of them `by` steps away. */
static void load_items(job *j, worker *w, const jx_exhaust_item *items, int64_t n,
                       int argument, int by)
{
    const jx_exhaust_plans *p = j->plans;

    for (int k = 0; k < p->narguments; k++)
        for (int64_t i = 0; i < p->each; i++) {
            uint32_t x = items[i < n ? i : n - 1].x[k];
            w->eval.x[k][i] = by && k == argument ? neighbour(j->bits, x, by) : x;
        }
    jx_exhaust_load(&w->eval);
}

/* How far other roundings take a number, at most; an estimate. */
static double slack_of(double number, double again, double once_more)
{
    double a = fabs(again - number), b = fabs(once_more - number);

    if (number - number != 0)
        return 0;
    return a - a != 0 || b - b != 0 ? (double)INFINITY
                                    : 2 * fmax(a, b) + 0x1p-51 * fabs(number);
}

static int64_t end_of(const jx_exhaust_item *item)
{
    return item->index + item->times * item->step;
}

/* Two samples may be near each other by chance: the most that is seen of an item and of
 * those close by. */
static double slack_around(const worker *w, const jx_exhaust_item *items, int64_t i,
                           const double *slack)
{
    double most = slack[i];
    int64_t near = 7 * items[i].step;

    for (int64_t k = i < SIDE ? 0 : i - SIDE; k <= i + SIDE && k < w->nitems; k++)
        if (k < i ? items[i].index - end_of(&items[k]) <= near
                  : items[k].index - end_of(&items[i]) <= near)
            most = slack[k] > most ? slack[k] : most;
    return most;
}

/* `again`: the same numbers, with other roundings. */
static void add_slack(worker *w, jx_exhaust_item *items, double *const *again)
{
    for (int64_t i = 0; i < w->nitems; i++)
        w->off[i] = slack_of(items[i].want, again[0][i], again[1][i]);
    for (int64_t i = 0; i < w->nitems; i++)
        items[i].slack = items[i].want - items[i].want == 0
                             ? slack_around(w, items, i, w->off)
                             : 0;
}

static bool find_rule(job *j, worker *w, int argument)
{
    jx_exhaust_item *items = w->items[1 + argument];

    if (!evaluate(j, w, JX_EX_RULE, argument, NULL, w->side[0]) ||
        !evaluate(j, w, JX_EX_RULE_JITTER, argument, NULL, w->again[0]) ||
        !evaluate(j, w, JX_EX_RULE_JITTER_AGAIN, argument, NULL, w->again[1]))
        return false;
    for (int64_t i = 0; i < w->nitems; i++)
        w->off[i] = slack_of(w->side[0][i], w->again[0][i], w->again[1][i]);
    for (int64_t i = 0; i < w->nitems; i++) {
        items[i].by_rule = w->side[0][i];
        items[i].rule_slack = slack_around(w, items, i, w->off);
        if (items[i].rule_slack > 0x1p-10 * fabs(items[i].by_rule)) /* few digits are known */
            items[i].rule_slack = (double)INFINITY;
    }
    return true;
}

static bool find_slack(job *j, worker *w)
{
    const jx_exhaust_plans *p = j->plans;
    double **slopes = j->ncolumns > 1 ? w->side : NULL;

    load_items(j, w, w->items[0], w->nitems, 0, 0);
    for (int a = 0; a < p->narguments && (a == 0 || slopes); a++) {
        for (int k = 0; k < 2; k++)
            if (!evaluate(j, w, JX_EX_JITTER + k, a, a ? NULL : w->again[k],
                          slopes ? slopes[k] : NULL))
                return false;
        if (a == 0)
            add_slack(w, w->items[0], w->again);
        if (slopes)
            add_slack(w, w->items[1 + a], slopes);
        if (slopes && p->rule && !find_rule(j, w, a))
            return false;
    }
    return true;
}

/* What the sides of an input say of the derivative there: two numbers below it, two
 * above.  Where these are smooth and the derivative jumps, any number between is a
 * convention; where it does not, and ours is none, theirs is the reference. */
static void look_at_sides(const job *j, jx_exhaust_item *item, const double *sides)
{
    double ll = sides[0], l = sides[1], r = sides[2], rr = sides[3], want = item->want;
    double jump = fabs(r - l), low = fmin(l, r), high = fmax(l, r);
    double slack = 2 * jx_ulp(&j->out, fmax(fabs(l), fabs(r)));

    if (want - want == 0)
        jump = fmax(jump, fmax(fabs(want - l), fabs(want - r)));
    else if (jump <= 0x1p-10 * (fabs(l) + fabs(r))) {
        item->want = (l + r) / 2;
        item->slack = fabs(r - l);
        return;
    }
    if (!(fabs(ll - l) <= jump / 8 && fabs(rr - r) <= jump / 8) || jump == 0)
        return;
    item->is_kink = item->got >= low - slack && item->got <= high + slack &&
                    (!(item->by_rule == item->by_rule) ||
                     (item->by_rule >= low - slack && item->by_rule <= high + slack));
}

static bool find_kinks(job *j, worker *w, int argument)
{
    static const int steps[] = {-2, -1, 1, 2};
    jx_exhaust_item *items = w->items[1 + argument];
    int64_t odd = 0;
    bool any;

    for (int64_t i = 0; i < w->nitems; i++)
        odd += !items[i].nan_in && items[i].finite &&
                       jx_exhaust_least_error(&j->out, &items[i]) > j->kinked
                   ? items[i].times
                   : 0;
    any = odd > 0 && odd <= MOST_KINKS; /* these are rare: where all is odd, none is one */
    for (int k = 0; any && k < 4; k++) {
        load_items(j, w, items, w->nitems, argument, steps[k]);
        if (!evaluate(j, w, JX_EX_WIDE, argument, NULL, w->side[k]))
            return false;
    }
    for (int64_t i = 0; any && i < w->nitems; i++) {
        const double sides[] = {w->side[0][i], w->side[1][i], w->side[2][i], w->side[3][i]};
        if (!items[i].nan_in && items[i].finite &&
            jx_exhaust_least_error(&j->out, &items[i]) > j->kinked)
            look_at_sides(j, &items[i], sides);
    }
    return true;
}

/* Judges what waits; *unsure: among those that looked well is one whose reference is not
 * what it seemed to be. */
static bool flush(job *j, worker *w, jx_exhaust_column *to, bool *unsure)
{
    if (!w->nitems)
        return true;
    if (!find_slack(j, w))
        return false;
    for (int c = 1; c < j->ncolumns; c++)
        if (!find_kinks(j, w, c - 1))
            return false;
    for (int c = 0; c < j->ncolumns; c++)
        for (int64_t i = 0; i < w->nitems; i++) {
            const jx_exhaust_item *item = &w->items[c][i];
            *unsure |= w->grid[i] && item->slack > jx_ulp(&j->out, item->want) / 8;
            jx_exhaust_count(&to[c], &j->out, item);
        }
    w->nitems = 0;
    return true;
}

/* ---- blocks */

static bool is_nan_bits(const job *j, uint32_t x)
{
    uint32_t sign = (uint32_t)1 << (j->bits - 1);
    uint32_t infinity = ((uint32_t)(2 * j->in.most + 1)) << (j->in.precision - 1);

    return (x & (sign - 1)) > infinity;
}

static bool any_nan(const job *j, int64_t index)
{
    uint32_t x[2];

    arguments_of(j, index, x);
    return is_nan_bits(j, x[0]) || (j->plans->narguments > 1 && is_nan_bits(j, x[1]));
}

static jx_exhaust_item item_of(const job *j, const worker *w, int column, int64_t i,
                               int64_t index)
{
    jx_exhaust_item item = {.index = index, .step = j->step, .times = 1,
                            .by_rule = (double)NAN};

    arguments_of(j, index, item.x);
    memcpy(item.last, item.x, sizeof item.last);
    item.nan_in = any_nan(j, index);
    item.got = w->got[column][i];
    item.want = w->want[column][i];
    item.finite = w->want[0][i] - w->want[0][i] == 0;
    return item;
}

/* Both have none, or the same infinity: there is nothing to be unsure of.  (But for a
 * derivative of what is finite, for which a rule may have a number.) */
static bool is_settled(const job *j, const worker *w, int column, int64_t i, int64_t index)
{
    double want = w->want[column][i];
    jx_exhaust_item item;

    if (want - want == 0 && fabs(want) < j->out.beyond / 2)
        return false;
    item = item_of(j, w, column, i, index);
    if (column > 0 && j->plans->rule && item.finite && want - want != 0)
        return false;
    return jx_exhaust_least_error(&j->out, &item) == 0;
}

JX_VECTOR_CLONES static void mark_above(unsigned char *mark, unsigned char bit,
                                        const double *off, double limit, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        mark[i] = (unsigned char)(mark[i] | (off[i] <= limit ? 0 : bit));
}

JX_VECTOR_CLONES static int any_below(const double *x, double limit, int64_t n)
{
    int any = 0;

    for (int64_t i = 0; i < n; i++)
        any |= fabs(x[i]) < limit;
    return any;
}

/* What is off by more than anything yet, or by a unit, or where a number is missing. */
static void mark_column(const job *j, worker *w, int c, const jx_exhaust_column *so_far,
                        int64_t n)
{
    double limit = fmax(so_far->normal.there ? so_far->normal.off : 0, j->seen[c][0]);

    if (any_below(w->want[c], j->out.normal, n))
        limit = fmin(limit, fmax(so_far->subnormal.there ? so_far->subnormal.off : 0,
                                 j->seen[c][1]));
    jx_ulps_off(&j->out, w->got[c], w->want[c], w->off, n);
    /* Where results vanish, errors grow from nothing, each larger than the last. */
    limit = fmin(fmax(limit, JX_EXHAUST_NOTHING), 0.999999);
    mark_above(w->mark, (unsigned char)(1 << c), w->off, limit, n);
}

/* The same way as the reference, or by too little to tell. */
JX_VECTOR_CLONES static int64_t steps_down(const double *restrict got,
                                           const double *restrict want, int64_t n)
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

/* The first number from i on, of those with three more on both sides, that stands far apart
 * from all of them, which lie together, though no slope there leads so far: the function
 * does not go up and down, it has another value there.  n: there is none. */
static int64_t next_spike(const double *x, const double *want, const double *slope, int64_t i,
                          int64_t n)
{
    for (i = i < SIDE ? SIDE : i; i + SIDE < n; i++) {
        double jump = fabs(want[i] - want[i - 1]), apart = jump / 64;
        bool alone = jump > 0x1p-16 * fabs(want[i]) && fabs(want[i + 1] - want[i - 1]) <= apart;
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

static void found_down(const job *j, const worker *w, jx_exhaust_column *to, int64_t i,
                       int64_t index)
{
    jx_exhaust_item item = item_of(j, w, 0, i, index + i * j->step);

    if (!to->first_down.there)
        to->first_down = (jx_exhaust_place){
            true, {item.x[0], item.x[1]}, item.got, w->got[0][i - 1], 0, (double)NAN};
}

/* Of the block that begins at `index`, inputs from .. to-1 are all in question, and n from
 * `begin` on are in order. */
static void look_down(const job *j, const worker *w, jx_exhaust_column *column, int64_t index,
                      int64_t begin, int64_t n, int64_t from, int64_t to)
{
    const double *got = w->got[0], *want = w->want[0];
    int inner = j->plans->narguments - 1;
    int64_t first = from > begin ? from - 1 : from, last = to < begin + n ? to : begin + n;
    int64_t count = steps_down(got + first, want + first, last - first);

    for (int64_t i = first + 1; count && !column->first_down.there && i < last; i++)
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

/* n inputs from `index` on; what is left of a run is the last of them. */
static void put_inputs(const job *j, worker *w, int64_t index, int64_t n)
{
    const jx_exhaust_plans *p = j->plans;

    if (p->narguments == 1)
        bits_of_orders(j->bits, index, j->step, w->eval.x[0], n);
    for (int64_t i = 0; p->narguments > 1 && i < n; i++) {
        uint32_t x[2];
        arguments_of(j, index + i * j->step, x);
        w->eval.x[0][i] = x[0];
        w->eval.x[1][i] = x[1];
    }
    for (int k = 0; k < p->narguments; k++)
        for (int64_t i = n; i < p->each; i++)
            w->eval.x[k][i] = w->eval.x[k][n - 1];
}

/* Fills in results and references of inputs from `index` on. */
static bool compute(job *j, worker *w, int64_t index, int64_t n)
{
    const jx_exhaust_plans *p = j->plans;
    bool slopes = j->ncolumns > 1;

    put_inputs(j, w, index, n);
    jx_exhaust_load(&w->eval);
    if (p->value && !evaluate(j, w, JX_EX_VALUE, 0, w->got[0], NULL))
        return false;
    for (int a = 0; a < p->narguments; a++) {
        if (slopes && !evaluate(j, w, JX_EX_SAYS, a, p->value || a ? NULL : w->got[0],
                                w->got[1 + a]))
            return false;
        if ((slopes || a == 0) && !evaluate(j, w, JX_EX_WIDE, a, a ? NULL : w->want[0],
                                            slopes ? w->want[1 + a] : NULL))
            return false;
    }
    return true;
}

/* Pairs whose first argument changes are no steps. */
static void look_down_rows(const job *j, const worker *w, jx_exhaust_column *column,
                           int64_t index, int64_t n, int64_t from, int64_t to)
{
    int64_t row = (int64_t)1 << j->bits;

    if (j->plans->narguments == 1) {
        look_down(j, w, column, index, 0, n, from, to);
        return;
    }
    for (int64_t i = 0; i < to;) {
        int64_t left = (row - ((index + i * j->step) & (row - 1)) + j->step - 1) / j->step;
        int64_t m = left < n - i ? left : n - i;
        if (i + m > from)
            look_down(j, w, column, index, i, m, i > from ? i : from, to);
        i += m;
    }
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Whether input i comes to what the inputs before it came to, all of which wait. */
static bool is_alike(const job *j, const worker *w, int64_t i, int64_t index, bool nan_in)
{
    const jx_exhaust_item *last = &w->items[0][w->nitems - 1];

    if (w->nitems < ALIKE || end_of(last) != index || last->nan_in != nan_in ||
        index - w->items[0][w->nitems - ALIKE].index != (last->times + ALIKE - 1) * j->step)
        return false;
    for (int c = 0; c < j->ncolumns; c++)
        for (int64_t k = w->nitems - ALIKE; k < w->nitems; k++)
            if (!same_bits(w->items[c][k].got, w->got[c][i]) ||
                !same_bits(w->items[c][k].want, w->want[c][i]))
                return false;
    return true;
}

static void join_last(const job *j, worker *w, int64_t index, bool grid)
{
    for (int c = 0; c < j->ncolumns; c++) {
        jx_exhaust_item *last = &w->items[c][w->nitems - 1];
        last->times++;
        arguments_of(j, index, last->last);
    }
    w->grid[w->nitems - 1] |= grid;
}

static void wait_for(const job *j, worker *w, int64_t i, int64_t index, bool grid)
{
    for (int c = 0; c < j->ncolumns; c++)
        w->items[c][w->nitems] = item_of(j, w, c, i, index);
    w->grid[w->nitems++] = grid;
}

/* Right without a look at the reference's slack: the same infinity, or NaN from an input
 * that is, or of a function that is undefined there. */
static bool is_plain(const job *j, const worker *w, int64_t i, bool nan_in)
{
    for (int c = 0; c < j->ncolumns; c++) {
        double got = w->got[c][i], want = w->want[c][i];
        if (!(w->mark[i] >> c & 1))
            continue;
        bool overflows = fabs(want) >= j->out.beyond && fabs(got) > j->out.beyond &&
                         (got > 0) == (want > 0);
        bool undefined = got != got && want != want &&
                         (nan_in || w->want[0][i] != w->want[0][i]);
        bool same = got == want && fabs(want) >= j->out.beyond;
        if (!overflows && !undefined && !same && !(nan_in && want == want))
            return false;
    }
    return true;
}

static void count_plain(const job *j, const worker *w, jx_exhaust_column *to, int64_t i,
                        bool nan_in)
{
    for (int c = 0; !nan_in && c < j->ncolumns; c++)
        to[c].undefined += w->mark[i] >> c & 1 && w->want[c][i] != w->want[c][i];
}

/* The next from i on that is marked, or in the grid; `number` is that of the first input. */
static int64_t next_marked(const unsigned char *mark, int64_t number, int64_t i, int64_t end)
{
    for (; i < end; i++) {
        uint64_t marks, place = (uint64_t)(number + i) % GRID;
        if (mark[i] || !place)
            break;
        if (i + 8 < end && place + 8 <= GRID) {
            memcpy(&marks, mark + i, sizeof marks);
            i += marks ? 0 : 7;
        }
    }
    return i;
}

/* Inputs `first` .. end-1 of the block of n that begins at `index`; what lies beside them is
 * there for their order alone. */
static bool judge(job *j, worker *w, jx_exhaust_column *to, int64_t index, int64_t first,
                  int64_t end, int64_t n, bool all, bool *unsure)
{
    int64_t number = index / j->step;

    memset(w->mark, all ? 7 : 0, (size_t)n);
    for (int c = 0; c < j->ncolumns; c++)
        mark_column(j, w, c, &to[c], n);
    look_down_rows(j, w, &to[0], index, n, first, end);
    for (int64_t i = next_marked(w->mark, number, first, end); i < end;
         i = next_marked(w->mark, number, i + 1, end)) {
        int64_t at = index + i * j->step;
        bool grid = (number + i) % GRID == 0, waits = false, nan_in;
        nan_in = any_nan(j, at);
        if (w->mark[i] && is_plain(j, w, i, nan_in)) {
            count_plain(j, w, to, i, nan_in);
            continue;
        }
        if (is_alike(j, w, i, at, nan_in)) {
            join_last(j, w, at, grid && !w->mark[i]);
            continue;
        }
        for (int c = 0; c < j->ncolumns && !waits; c++)
            waits = !is_settled(j, w, c, i, at);
        if (waits) {
            wait_for(j, w, i, at, grid && !w->mark[i]);
            if (w->nitems == j->plans->each && !flush(j, w, to, unsure))
                return false;
        } else {
            for (int c = 0; c < j->ncolumns; c++) {
                jx_exhaust_item item = item_of(j, w, c, i, at);
                jx_exhaust_count(&to[c], &j->out, &item);
            }
        }
    }
    return true;
}

/* Inputs from .. to-1, counted in steps. */
static bool do_inputs(job *j, worker *w, int64_t from, int64_t to, bool all,
                      jx_exhaust_column *columns, bool *unsure)
{
    int64_t room = j->plans->each - 2 * SIDE;

    memset(columns, 0, COLUMNS * sizeof *columns);
    w->nitems = 0;
    for (int64_t at = from; at < to; at += room) {
        int64_t before = at < SIDE ? at : SIDE, count = to - at < room ? to - at : room;
        int64_t index = (at - before) * j->step, n = before + count + SIDE;
        if (at - before + n > j->inputs)
            n = j->inputs - (at - before);
        if (atomic_load(&j->failed) || !compute(j, w, index, n) ||
            !judge(j, w, columns, index, before, before + count, n, all, unsure))
            return false;
    }
    return flush(j, w, columns, unsure);
}

/* Whatever is off by as much is looked at, so that it does not matter which these are. */
static bool do_first(job *j)
{
    const int64_t step = j->step, inputs = j->inputs;
    jx_exhaust_column columns[COLUMNS];
    bool unsure = false, done;

    if (inputs <= FIRST)
        return true;
    j->step *= inputs / FIRST;
    j->inputs = FIRST;
    done = do_inputs(j, &j->workers[0], 0, FIRST, false, columns, &unsure);
    j->step = step;
    j->inputs = inputs;
    for (int c = 0; done && c < j->ncolumns; c++) {
        const jx_exhaust_place *worst[] = {&columns[c].normal, &columns[c].subnormal};
        for (int k = 0; k < 2; k++)
            j->seen[c][k] = worst[k]->there ? worst[k]->off * (1 - 0x1p-20) : 0;
    }
    return done;
}

static void do_chunk(const void *data, int64_t i, int number)
{
    job *j = (job *)(uintptr_t)data;
    worker *w = &j->workers[number];
    int64_t from = i * CHUNK, to = from + CHUNK < j->inputs ? from + CHUNK : j->inputs;
    jx_exhaust_column *columns = &j->columns[i * COLUMNS];
    bool unsure = false;

    if (atomic_load(&j->failed))
        return;
    if (do_inputs(j, w, from, to, false, columns, &unsure) && unsure)
        do_inputs(j, w, from, to, true, columns, &unsure);
    atomic_fetch_add(&j->done, 1);
    if (number == 0 && j->options->progress)
        j->options->progress(j->options->told,
                             (double)atomic_load(&j->done) / (double)j->nchunks);
}

/* ---- all of it */

static bool open_worker(const job *j, worker *w)
{
    size_t n = (size_t)j->plans->each + 1;
    bool ok = jx_exhaust_open(j->ctx, j->plans, &w->eval);

    for (int c = 0; c < COLUMNS; c++) {
        w->got[c] = calloc(n, sizeof(double));
        w->want[c] = calloc(n, sizeof(double));
        w->items[c] = calloc(n, sizeof *w->items[c]);
        ok = ok && w->got[c] && w->want[c] && w->items[c];
    }
    for (int k = 0; k < 4; k++)
        ok = ok && (w->side[k] = calloc(n, sizeof(double)));
    for (int k = 0; k < 2; k++)
        ok = ok && (w->again[k] = calloc(n, sizeof(double)));
    w->off = calloc(n, sizeof(double));
    w->mark = calloc(n, 1);
    w->grid = calloc(n, 1);
    return (ok && w->off && w->mark && w->grid) || jx_starved(j->ctx);
}

static void close_worker(worker *w)
{
    jx_exhaust_close(&w->eval);
    for (int c = 0; c < COLUMNS; c++) {
        free(w->got[c]);
        free(w->want[c]);
        free(w->items[c]);
    }
    for (int k = 0; k < 4; k++)
        free(w->side[k]);
    free(w->again[0]);
    free(w->again[1]);
    free(w->off);
    free(w->mark);
    free(w->grid);
}

static bool begin(job *j, jx_exhausted *to)
{
    const jx_exhaust_plans *p = j->plans;

    if (!jx_float_format_of(p->dtype, &j->in) || !jx_float_format_of(p->gives, &j->out))
        return jx_fail(j->ctx, JX_E_INPUT, NULL, NULL,
                       "only f32, f16 and bf16 are exhausted, and this is of %s and gives %s",
                       jx_dtype_of(p->dtype)->short_name, jx_dtype_of(p->gives)->short_name);
    j->kinked = fmax(2, ldexp(1, j->out.precision - 14));
    j->bits = jx_dtype_of(p->dtype)->bits;
    if (p->narguments * j->bits > 32)
        return jx_fail(j->ctx, JX_E_INPUT, NULL, NULL,
                       "pairs of %s are too many: two arguments are exhausted in 16 bits",
                       jx_dtype_of(p->dtype)->short_name);
    j->step = j->options->step > 1 ? j->options->step : 1;
    j->inputs = (((int64_t)1 << p->narguments * j->bits) + j->step - 1) / j->step;
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
    if (ok && do_first(j))
        jx_pool_run(pool, do_chunk, j, j->nchunks);
    for (int64_t i = 0; ok && i < j->nchunks; i++) {
        jx_exhaust_join(&to->value, &j->columns[i * COLUMNS], j->step);
        for (int a = 0; a < 2; a++)
            jx_exhaust_join(&to->slopes[a], &j->columns[i * COLUMNS + 1 + a], j->step);
    }
    if (ok && atomic_load(&j->failed)) {
        ok = false;
        if (jx_ctx_lasts(ctx))
            jx_fail(ctx, JX_E_INPUT, NULL, NULL, "%s", j->why ? j->why : "a run failed");
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

/* Numbers around one, in pairs, by steps that grow less: relative to it, and at least of a
 * size (near 0 functions of other sizes show nothing of smaller ones). */
static void put_around(double *at, int64_t n)
{
    double x = at[0];

    for (int64_t i = 0; i < 2 * STEPS && i < n; i++) {
        double size = i / 2 % 2 ? fabs(x) : fmax(fabs(x), 0x1p-60);
        at[i] += (i % 2 ? 1 : -1) * size * ldexp(1, -(int)(i / 2) - 6);
    }
}

/* Some slope is the derivative, and none that is no noise is what the rule says. */
static bool tell_apart(const double *at, const double *y, int64_t n, const jx_exhaust_place *place)
{
    double apart = fabs(place->by_rule - place->want) / 16;
    bool found = false;

    for (int64_t i = 0; i + 1 < 2 * STEPS && i + 1 < n; i += 2) {
        double rise = y[i + 1] - y[i], slope = rise / (at[i + 1] - at[i]);
        if (fabs(slope - place->by_rule) < apart && fabs(rise) > 0x1p-40 * fabs(y[i]))
            return false;
        found |= fabs(slope - place->want) < apart;
    }
    return found;
}

bool jx_exhaust_confirms(jx_ctx *ctx, const jx_exhaust_plans *plans, int argument,
                         const jx_exhaust_place *place)
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
