/* exhaust_wait.c - see exhaust_work.h: inputs that are looked at closely. */
#include "runtime/gradients/exhaust_work.h"

#include "frontend/base/assert.h"
#include "runtime/kernels/vector.h"

#include <math.h>
#include <string.h>

enum {
    /* inputs in a row that come to the same, before others join them */
    ALIKE = 8,
    MANY = 64, /* numbers that are compared at once */
};

typedef jx_exhaust_job job;
typedef jx_exhaust_worker worker;
typedef jx_exhaust_waiting waiting;

/* ---- inputs by number */

/* Bits by the order of values, from -NaN to NaN. */
static uint32_t bits_of_order(int bits, int64_t order)
{
    uint32_t half = (uint32_t)1 << (bits - 1), at = (uint32_t)order;

    return at < half ? half + (half - 1 - at) : at - half;
}

void jx_exhaust_arguments(const job *j, int64_t index, uint32_t *x)
{
    if (j->plans->narguments == 1) {
        x[0] = bits_of_order(j->bits, index);
        return;
    }
    x[0] = bits_of_order(j->bits, index >> j->bits);
    x[1] = bits_of_order(j->bits, index & (((int64_t)1 << j->bits) - 1));
}

/* The number `by` steps from this one, both zeros counted as one; NaN:
 * beyond infinity. */
static uint32_t neighbour(int bits, uint32_t x, int by)
{
    int64_t sign = (int64_t)1 << (bits - 1);
    int64_t at = x < sign ? (int64_t)x : sign - (int64_t)x;

    at += by;
    return (uint32_t)(at >= 0 ? at : sign - at);
}

/* ---- evaluations */

bool jx_exhaust_evaluate(job *j, worker *w, jx_exhaust_role role, int argument,
                         double *value, double *slope)
{
    if (jx_exhaust_eval_run(&w->eval, role, argument, value, slope))
        return true;
    if (!atomic_exchange(&j->failed, true))
        j->why = jx_exec_error(w->eval.execs[role]);
    return false;
}

/* Puts arguments of what waits into the evaluation, one of them
 * `by` steps away. */
static void load_waiting(job *j, worker *w, int64_t n, int argument, int by)
{
    const jx_exhaust_plans *p = j->plans;

    for (int k = 0; k < p->narguments; k++)
        for (int64_t i = 0; i < p->each; i++) {
            uint32_t x = w->waiting[i < n ? i : n - 1].x[k];
            w->eval.x[k][i] =
                by && k == argument ? neighbour(j->bits, x, by) : x;
        }
    jx_exhaust_load(&w->eval);
}

/* ---- slack */

/* How far other roundings take numbers, at most; an estimate. */
JX_VECTOR_CLONES static void find_spread(const double *restrict number,
                                         const double *restrict again,
                                         const double *restrict once_more,
                                         double *restrict to, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double x = number[i], a = fabs(again[i] - x),
               b = fabs(once_more[i] - x);
        double most = 2 * (a > b ? a : b) + 0x1p-51 * fabs(x);
        double spread = ((a - a != 0) | (b - b != 0)) ? (double)INFINITY : most;
        to[i] = x - x != 0 ? 0 : spread;
    }
}

/* Two samples may be near each other by chance: the most that is seen of a
 * number and of those beside it. */
JX_VECTOR_CLONES static void spread_out(const double *restrict from,
                                        double *restrict to, int64_t n)
{
    for (int64_t i = JX_EX_SIDE; i < n - JX_EX_SIDE; i++) {
        double most = from[i];
        for (int k = -JX_EX_SIDE; k <= JX_EX_SIDE; k++)
            most = from[i + k] > most ? from[i + k] : most;
        to[i] = most;
    }
}

static int64_t end_of(const job *j, const waiting *item)
{
    return item->index + item->times * j->step;
}

/* The same of what waits, of those that are close by. */
static double most_near(const job *j, const worker *w, int64_t i, int64_t n,
                        const double *spread)
{
    const waiting *items = w->waiting;
    double most = spread[i];
    int64_t near = 7 * j->step;

    for (int64_t k = i < JX_EX_SIDE ? 0 : i - JX_EX_SIDE;
         k <= i + JX_EX_SIDE && k < n; k++)
        if (k < i ? items[i].index - end_of(j, &items[k]) <= near
                  : items[k].index - end_of(j, &items[i]) <= near)
            most = spread[k] > most ? spread[k] : most;
    return most;
}

/* What is known of n numbers beside each other, or of what waits (NULL:
 * no neighbours). */
static void find_slacks(const job *j, const worker *w, const double *number,
                        double *const *again, double *to, int64_t n,
                        bool in_row, bool waits)
{
    double *spread = in_row || waits ? w->off : to;

    find_spread(number, again[0], again[1], spread, n);
    if (in_row) {
        memcpy(to, spread, (size_t)n * sizeof *to);
        spread_out(spread, to, n);
    }
    for (int64_t i = 0; waits && i < n; i++)
        to[i] = number[i] - number[i] == 0 ? most_near(j, w, i, n, spread) : 0;
}

/* Of what is loaded; `waits`: that is what waits. */
static bool find_all(job *j, worker *w, double *const *wants, int64_t n,
                     bool in_row, bool waits)
{
    const jx_exhaust_plans *p = j->plans;
    double **slopes = j->ncolumns > 1 ? w->side : NULL;

    for (int a = 0; a < p->narguments && (a == 0 || slopes); a++) {
        for (int k = 0; k < 2; k++)
            if (!jx_exhaust_evaluate(j, w, JX_EX_JITTER + k, a,
                                     a ? NULL : w->again[k],
                                     slopes ? slopes[k] : NULL))
                return false;
        if (a == 0)
            find_slacks(j, w, wants[0], w->again, w->slack[0], n, in_row,
                        waits);
        if (slopes)
            find_slacks(j, w, wants[1 + a], slopes, w->slack[1 + a], n, in_row,
                        waits);
        if (!slopes || !p->rule)
            continue;
        if (!jx_exhaust_evaluate(j, w, JX_EX_RULE, a, NULL,
                                 w->by_rule[1 + a]) ||
            !jx_exhaust_evaluate(j, w, JX_EX_RULE_JITTER, a, NULL,
                                 w->side[0]) ||
            !jx_exhaust_evaluate(j, w, JX_EX_RULE_JITTER_AGAIN, a, NULL,
                                 w->side[1]))
            return false;
        find_slacks(j, w, w->by_rule[1 + a], w->side, w->rule_slack[1 + a], n,
                    in_row, waits);
        /* where few digits are known, none is */
        for (int64_t i = 0; i < n; i++)
            if (w->rule_slack[1 + a][i] > 0x1p-10 * fabs(w->by_rule[1 + a][i]))
                w->rule_slack[1 + a][i] = (double)INFINITY;
    }
    return true;
}

bool jx_exhaust_find_slack(job *j, worker *w, int64_t n, bool in_row)
{
    JX_ASSERT(n <= j->plans->each);
    return find_all(j, w, w->want, n, in_row, false);
}

static void keep_slack(const job *j, const worker *w, waiting *item, int64_t i)
{
    for (int c = 0; c < j->ncolumns; c++) {
        item->slack[c] = w->slack[c][i];
        item->by_rule[c] = c && j->plans->rule ? w->by_rule[c][i] : (double)NAN;
        item->rule_slack[c] = c && j->plans->rule ? w->rule_slack[c][i] : 0;
    }
}

/* A chunk spans a small part of a binade: what the slack is at its grid
 * it is about everywhere, but where results are off by far more than any
 * in the grid.  Where it is next to nothing there it may stand for that
 * of what waits. */
bool jx_exhaust_is_like_grid(const job *j, const worker *w, int c, double got,
                             double want)
{
    double ulp = jx_ulp(&j->out, want);

    return 8 * w->most_slack[c] <= ulp / 1024 &&
           (got - got != 0 ? w->any_none[c]
                           : fabs(got - want) <=
                                 fmax(j->kinked, 4 * w->most_off[c]) * ulp);
}

static bool is_slack_known(const job *j, const worker *w, const waiting *item)
{
    for (int c = 0; c < j->ncolumns; c++)
        if (item->want[c] - item->want[c] == 0 &&
            !jx_exhaust_is_like_grid(j, w, c, item->got[c], item->want[c]))
            return false;
    return true;
}

/* Takes the grid's slack for that of what waits, if that will do and
 * no rule stands accused. False: the job has failed, or (*known) more
 * has to be known. */
static bool take_slack(job *j, worker *w, int64_t n, bool *known)
{
    const jx_exhaust_plans *p = j->plans;

    *known = true;
    for (int64_t i = 0; *known && i < n; i++)
        *known = is_slack_known(j, w, &w->waiting[i]);
    for (int c = 0; *known && c < j->ncolumns; c++)
        for (int64_t i = 0; i < n; i++)
            w->slack[c][i] = 8 * w->most_slack[c];
    for (int a = 0; *known && p->rule && j->ncolumns > 1 && a < p->narguments;
         a++) {
        if (!jx_exhaust_evaluate(j, w, JX_EX_RULE, a, NULL, w->by_rule[1 + a]))
            return false;
        memset(w->rule_slack[1 + a], 0, (size_t)n * sizeof(double));
        memset(w->mark, 0, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            w->nan_in[i] = w->waiting[i].nan_in;
        *known = !jx_exhaust_mark_wrong(&j->out, w->got[1 + a], w->slack[1 + a],
                                        w->by_rule[1 + a], w->rule_slack[1 + a],
                                        w->nan_in, w->mark, n);
    }
    return true;
}

static bool find_waiting(job *j, worker *w, int64_t n)
{
    double **wants = w->got; /* nobody reads these any more, nor the marks */
    bool known;

    load_waiting(j, w, n, 0, 0);
    for (int c = 0; c < j->ncolumns; c++)
        for (int64_t i = 0; i < n; i++)
            wants[c][i] = w->waiting[i].want[c];
    if (!take_slack(j, w, n, &known) ||
        (!known && !find_all(j, w, wants, n, false, true)))
        return false;
    for (int64_t i = 0; i < n; i++)
        keep_slack(j, w, &w->waiting[i], i);
    return true;
}

/* ---- kinks */

static jx_exhaust_item item_of(const job *j, const waiting *of, int c)
{
    return (jx_exhaust_item){.index = of->index,
                             .step = j->step,
                             .times = of->times,
                             .x = {of->x[0], of->x[1]},
                             .last = {of->last[0], of->last[1]},
                             .nan_in = of->nan_in,
                             .finite = of->want[0] - of->want[0] == 0,
                             .got = of->got[c],
                             .want = of->want[c],
                             .slack = of->slack[c],
                             .by_rule = of->by_rule[c],
                             .rule_slack = of->rule_slack[c]};
}

/* What the sides of an input say of the derivative there: two numbers below
 * it, two above.  Where these are smooth and the derivative jumps, any
 * number between is a convention; where it does not, and ours is none,
 * theirs is the reference. */
static void look_at_sides(const job *j, jx_exhaust_item *item,
                          const double *sides)
{
    double ll = sides[0], l = sides[1], r = sides[2], rr = sides[3],
           want = item->want;
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
    item->is_kink =
        item->got >= low - slack && item->got <= high + slack &&
        (!(item->by_rule == item->by_rule) ||
         (item->by_rule >= low - slack && item->by_rule <= high + slack));
}

static bool is_odd(const job *j, const jx_exhaust_item *item)
{
    return !item->nan_in && item->finite &&
           jx_exhaust_least_error(&j->out, item) > j->kinked;
}

/* Whether some of n may be kinks; then the sides of all are in w->side. */
static bool find_sides(job *j, worker *w, int64_t n, int c, bool *found)
{
    static const int steps[] = {-2, -1, 1, 2};
    int64_t odd = 0;

    for (int64_t i = 0; i < n && odd <= JX_EX_MOST_KINKS; i++) {
        const jx_exhaust_item item = item_of(j, &w->waiting[i], c);
        odd += is_odd(j, &item) ? item.times : 0;
    }
    *found = odd > 0 && odd <= JX_EX_MOST_KINKS;
    for (int k = 0; *found && k < 4; k++) {
        load_waiting(j, w, n, c - 1, steps[k]);
        if (!jx_exhaust_evaluate(j, w, JX_EX_WIDE, c - 1, NULL, w->side[k]))
            return false;
    }
    return true;
}

static bool count_waiting(job *j, worker *w, int64_t n, int c,
                          jx_exhaust_column *to)
{
    bool sides = false;

    if (c > 0 && !find_sides(j, w, n, c, &sides))
        return false;
    for (int64_t i = 0; i < n; i++) {
        jx_exhaust_item item = item_of(j, &w->waiting[i], c);
        const double at[] = {w->side[0][i], w->side[1][i], w->side[2][i],
                             w->side[3][i]};
        if (sides && is_odd(j, &item))
            look_at_sides(j, &item, at);
        jx_exhaust_count(to, &j->out, &item);
    }
    return true;
}

bool jx_exhaust_flush(job *j, worker *w, jx_exhaust_column *to)
{
    int64_t each = j->plans->each, n = w->nwaiting < each ? w->nwaiting : each;

    if (!n)
        return true;
    if (!w->knows_slack && !find_waiting(j, w, n))
        return false;
    for (int c = 0; c < j->ncolumns; c++)
        if (!count_waiting(j, w, n, c, &to[c]))
            return false;
    w->nwaiting -= n;
    memmove(w->waiting, w->waiting + n,
            (size_t)w->nwaiting * sizeof *w->waiting);
    return true;
}

/* ---- what comes to wait */

/* Both have none, or the same infinity: there is nothing to be unsure of.  (But
 * for a derivative of what is finite, for which a rule may have a number.) */
static bool is_settled(const job *j, const waiting *of, int c)
{
    double want = of->want[c];
    jx_exhaust_item item;

    if (want - want == 0 && fabs(want) < j->out.beyond / 2)
        return false;
    item = item_of(j, of, c);
    if (c > 0 && j->plans->rule && item.finite && want - want != 0)
        return false;
    return jx_exhaust_least_error(&j->out, &item) == 0;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Whether input i comes to what the inputs before it came to, all
 * of which wait. */
static bool is_alike(const job *j, const worker *w, int64_t i, int64_t index)
{
    const waiting *last = w->waiting + w->nwaiting - 1,
                  *first = last - ALIKE + 1;

    if (w->nwaiting < ALIKE || end_of(j, last) != index ||
        last->nan_in != w->nan_in[i] ||
        index - first->index != (last->times + ALIKE - 1) * j->step)
        return false;
    for (int c = 0; c < j->ncolumns; c++)
        for (const waiting *item = first; item <= last; item++)
            if (!same_bits(item->got[c], w->got[c][i]) ||
                !same_bits(item->want[c], w->want[c][i]))
                return false;
    return true;
}

/* The first place from i on whose successor is not what it is, or end - 1. */
static int64_t same_until(const double *x, int64_t i, int64_t end)
{
    while (i + MANY < end && !memcmp(x + i, x + i + 1, MANY * sizeof *x))
        i += MANY;
    while (i + 1 < end && same_bits(x[i], x[i + 1]))
        i++;
    return i;
}

/* How many inputs from i on, up to `end`, are looked at and come to what
 * the first does. */
static int64_t run_of(const job *j, const worker *w, int64_t i, int64_t end)
{
    int64_t last = end - 1, k = i;

    for (int c = 0; c < j->ncolumns; c++) {
        last = same_until(w->got[c], i, last + 1);
        last = same_until(w->want[c], i, last + 1);
    }
    while (k < last && w->mark[k + 1] && w->nan_in[k + 1] == w->nan_in[i])
        k++;
    return k + 1 - i;
}

static void put_item(const job *j, const worker *w, int64_t index, int64_t i,
                     waiting *item)
{
    *item = (waiting){.index = index, .times = 1, .nan_in = w->nan_in[i]};
    jx_exhaust_arguments(j, index, item->x);
    memcpy(item->last, item->x, sizeof item->last);
    for (int c = 0; c < j->ncolumns; c++) {
        item->got[c] = w->got[c][i];
        item->want[c] = w->want[c][i];
        item->by_rule[c] = (double)NAN;
    }
    if (w->knows_slack)
        keep_slack(j, w, item, i);
}

/* `run` inputs more, from `index` on, come to what the item does. */
static void add_alike(const job *j, waiting *item, int64_t index, int64_t run)
{
    item->times += run;
    if (run)
        jx_exhaust_arguments(j, index + (run - 1) * j->step, item->last);
}

static double known_slack(const worker *w, int c, int64_t i)
{
    return w->knows_slack ? w->slack[c][i] : 8 * w->most_slack[c];
}

/* Whether the numbers of that result may be counted as they are. */
static bool is_plain(const job *j, const worker *w, int c, int64_t i)
{
    double got = w->got[c][i], want = w->want[c][i],
           ulp = jx_ulp(&j->out, want);

    return fabs(want) < j->out.beyond &&
           (w->knows_slack || jx_exhaust_is_like_grid(j, w, c, got, want)) &&
           (c == 0 || w->all_odd[c] || fabs(got - want) <= j->kinked * ulp);
}

/* Which of inputs first .. end-1 may be counted as they are; how many. */
static int64_t find_plain(const job *j, worker *w, int64_t first, int64_t end)
{
    int64_t count = 0, n = end - first;

    for (int64_t i = first; i < end; i++)
        w->which[i] = w->mark[i] & (w->nan_in[i] ^ 1);
    for (int c = 0; c < j->ncolumns; c++) {
        jx_exhaust_nearness near = {
            .slack = w->knows_slack ? 0 : 8 * w->most_slack[c],
            .known = w->knows_slack ? (double)INFINITY
                                    : fmax(j->kinked, 4 * w->most_off[c]),
            .kinked = c == 0 || w->all_odd[c] ? (double)INFINITY : j->kinked};
        jx_exhaust_keep_plain(&j->out, w->got[c] + first, w->want[c] + first,
                              w->want[0] + first, &near, w->which + first, n);
    }
    for (int64_t i = first; i < end; i++)
        count += w->which[i];
    return count;
}

static jx_exhaust_item item_at(const job *j, worker *w, int64_t index,
                               int64_t i, int c, double slack)
{
    waiting item;

    put_item(j, w, index, i, &item);
    item.slack[c] = slack;
    return item_of(j, &item, c);
}

void jx_exhaust_count_many(const job *j, worker *w, jx_exhaust_column *to,
                           int64_t index, int64_t first, int64_t end)
{
    jx_exhaust_tallied tallied;
    int64_t n = end - first;

    if (j->plans->rule || find_plain(j, w, first, end) < n / 8)
        return;
    for (int c = 0; c < j->ncolumns; c++) {
        double *slack = w->knows_slack ? w->slack[c] + first : w->side[0];
        for (int64_t i = 0; i < n && !w->knows_slack; i++)
            slack[i] = 8 * w->most_slack[c];
        jx_exhaust_tally_many(&to[c], &j->out, w->got[c] + first,
                              w->want[c] + first, slack, w->which + first,
                              w->off, n, &tallied);
        jx_exhaust_add_tallied(&to[c], &tallied);
        for (int k = 0; k < 2; k++) {
            int64_t i = first + tallied.worst[k];
            if (tallied.worst[k] < 0)
                continue;
            const jx_exhaust_item worst =
                item_at(j, w, index + i * j->step, i, c, known_slack(w, c, i));
            jx_exhaust_keep_worst(&to[c], &j->out, &worst);
        }
    }
    for (int64_t i = first; i < end; i++)
        w->mark[i] ^= w->which[i];
}

bool jx_exhaust_count_now(const job *j, worker *w, jx_exhaust_column *to,
                          int64_t index, int64_t i)
{
    bool plain = !w->nan_in[i] && !j->plans->rule;

    for (int c = 0; plain && c < j->ncolumns; c++)
        plain = is_plain(j, w, c, i);
    for (int c = 0; plain && c < j->ncolumns; c++) {
        double slack = known_slack(w, c, i);
        if (w->got[c][i] - w->got[c][i] == 0 &&
            jx_exhaust_tally(&to[c], &j->out, w->got[c][i], w->want[c][i],
                             slack))
            continue;
        const jx_exhaust_item item = item_at(j, w, index, i, c, slack);
        jx_exhaust_count(&to[c], &j->out, &item);
    }
    return plain;
}

int64_t jx_exhaust_wait(const job *j, worker *w, jx_exhaust_column *to,
                        int64_t index, int64_t i, int64_t end)
{
    waiting *item = &w->waiting[w->nwaiting];
    bool waits = false;
    int64_t run;

    JX_ASSERT(w->nwaiting < 2 * j->plans->each);
    if (is_alike(j, w, i, index)) {
        run = run_of(j, w, i, end);
        add_alike(j, &item[-1], index, run);
        return run;
    }
    put_item(j, w, index, i, item);
    for (int c = 0; c < j->ncolumns && !waits; c++)
        waits = !is_settled(j, item, c);
    if (waits) {
        w->nwaiting++;
        return 1;
    }
    run = run_of(j, w, i, end);
    add_alike(j, item, index + j->step, run - 1);
    for (int c = 0; c < j->ncolumns; c++) {
        const jx_exhaust_item settled = item_of(j, item, c);
        jx_exhaust_count(&to[c], &j->out, &settled);
    }
    return run;
}
