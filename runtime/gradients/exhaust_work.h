/* exhaust_work.h - what the threads that go through the inputs share.
 *
 * A worker has a block of inputs with their results and references; some of
 * them wait to be looked at closely, many at a time, with the reference's slack
 * (exhaust_wait.c). */
#ifndef JX_EXHAUST_WORK_H
#define JX_EXHAUST_WORK_H

#include "runtime/gradients/exhaust_count.h"
#include "runtime/gradients/exhaust_eval.h"

#include <stdatomic.h>

enum {
    JX_EX_SIDE = 3, /* inputs beside a block, of which only the order counts */
    JX_EX_COLUMNS = 3, /* the value and two derivatives */
    /* in a block: these are rare, and where all is odd, none is one */
    JX_EX_MOST_KINKS = 256,
};

/* An input that waits, or some in a row that all come to the same. */
typedef struct jx_exhaust_waiting {
    int64_t index, times;
    uint32_t x[2], last[2]; /* as of jx_exhaust_item, like all of it */
    bool nan_in;
    double got[JX_EX_COLUMNS], want[JX_EX_COLUMNS], slack[JX_EX_COLUMNS];
    double by_rule[JX_EX_COLUMNS], rule_slack[JX_EX_COLUMNS];
} jx_exhaust_waiting;

/* One thread's memory. */
typedef struct jx_exhaust_worker {
    jx_exhaust_eval eval;
    double *got[JX_EX_COLUMNS], *want[JX_EX_COLUMNS];
    double *slack[JX_EX_COLUMNS];
    /* where there is a rule */
    double *by_rule[JX_EX_COLUMNS], *rule_slack[JX_EX_COLUMNS];
    double *off, *again[2], *side[4];
    bool all_odd[JX_EX_COLUMNS]; /* so many are far off that none is a kink */
    unsigned char *mark;         /* inputs that are looked at */
    unsigned char *which;  /* those of them that are counted many at once */
    unsigned char *nan_in; /* an argument is NaN */
    jx_exhaust_waiting *waiting; /* twice `each` */
    int64_t nwaiting;
    bool knows_slack; /* of what waits; else that is found when it is judged */
    /* The largest slack in the chunk's grid: where that is next to
     * nothing, nothing else need be known of what waits.  Infinite:
     * nobody has looked. */
    double most_slack[JX_EX_COLUMNS];
    /* The largest error in it, in units, and whether a result is no number
     * though its reference is.  What spoils a reference between two inputs
     * of the grid (a pole, a difference of about nothing) spoils the
     * results of the dtype much more: what is off by about as much as the
     * grid is as sure. */
    double most_off[JX_EX_COLUMNS];
    bool any_none[JX_EX_COLUMNS];
} jx_exhaust_worker;

typedef struct jx_exhaust_job {
    jx_ctx *ctx;
    const jx_exhaust_plans *plans;
    const jx_exhaust_options *options;
    jx_float_format in, out;
    int ncolumns, bits; /* of an argument */
    /* units that a derivative may be off before sides are looked at */
    double kinked;
    /* The largest errors of the first inputs: normal, subnormal; less than 0:
     * nobody has looked. */
    double seen[JX_EX_COLUMNS][2];
    int64_t step, inputs;
    jx_exhaust_worker workers[JX_POOL_WORKERS];
    jx_exhaust_column *columns; /* JX_EX_COLUMNS of each chunk */
    int64_t nchunks;
    atomic_llong done;
    atomic_bool failed;
    const char *why; /* a run's own error, by the thread that failed */
} jx_exhaust_job;

/* The bits of the arguments that have this index in the order of values. */
void jx_exhaust_arguments(const jx_exhaust_job *j, int64_t index, uint32_t *x);
/* jx_exhaust_eval_run() on what is loaded; false: the job has failed. */
bool jx_exhaust_evaluate(jx_exhaust_job *j, jx_exhaust_worker *w,
                         jx_exhaust_role role, int argument, double *value,
                         double *slope);
/* The slack of the block's n references, and what the rule itself gives and
 * how sure that is, by runs with other roundings.  `in_row`: the inputs
 * follow each other. */
bool jx_exhaust_find_slack(jx_exhaust_job *j, jx_exhaust_worker *w, int64_t n,
                           bool in_row);

/* Whether the grid's slack may stand for that of a result that is a number in
 * its reference. */
bool jx_exhaust_is_like_grid(const jx_exhaust_job *j,
                             const jx_exhaust_worker *w, int column, double got,
                             double want);

/* Input i of the block, which is at that index: looked at now, if nothing can
 * be unsure of it, or when there are more.  How many of those up to `end` that
 * are (marked as it is) it stands for. */
int64_t jx_exhaust_wait(const jx_exhaust_job *j, jx_exhaust_worker *w,
                        jx_exhaust_column *to, int64_t index, int64_t i,
                        int64_t end);
/* Counts of inputs first .. end-1 of the block that begins at `index` as many
 * as can be at once, and takes their marks away. */
void jx_exhaust_count_many(const jx_exhaust_job *j, jx_exhaust_worker *w,
                           jx_exhaust_column *to, int64_t index, int64_t first,
                           int64_t end);
/* Input i of the block, at that index, is counted at once, if its results are
 * numbers, its slack is known and neither a rule nor a kink is in question. */
bool jx_exhaust_count_now(const jx_exhaust_job *j, jx_exhaust_worker *w,
                          jx_exhaust_column *to, int64_t index, int64_t i);
/* Counts the first of what waits, as many as a run has. */
bool jx_exhaust_flush(jx_exhaust_job *j, jx_exhaust_worker *w,
                      jx_exhaust_column *to);

#endif
