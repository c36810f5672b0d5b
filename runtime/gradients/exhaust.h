/* exhaust.h - elementwise functions and their derivatives on every input
 * that there is.
 *
 * Every number of the dtype (of two arguments of 16 bits: every pair) goes
 * through the function, and through the derivative that its rules make of it,
 * in the declared dtype, and each result is held against the same function in
 * the wide domain, and against the derivative that we make of that, its rules
 * passed by.  A float64 evaluation is no truth where it cancels: each result
 * that looks wrong, and one in some hundred of those that do not, is computed
 * again with all roundings the other way (runtime/noise.h); by how much that
 * differs is the reference's slack, which is never held against a result, and
 * inputs of which it is large are counted as unsure. */
#ifndef JX_EXHAUST_H
#define JX_EXHAUST_H

#include "frontend/ir/claim.h"

enum {
    JX_EXHAUST_RANGES = 6, /* of inputs, kept of each kind */
    JX_EXHAUST_BARS = 12,  /* of the histogram */
};

/* Units in the last place that are none: what is off by no more may go unseen,
 * the largest error that is found may be less than the largest by as much, and
 * so may errors be as they are counted (the slack of a chunk's grid is taken
 * off all that are in it). */
#define JX_EXHAUST_NOTHING 0x1p-10

/* One input and what came of it. */
typedef struct jx_exhaust_place {
    bool there;
    uint32_t x[2];         /* bits of the arguments */
    double got, want, off; /* `off` in units in the last place */
    double by_rule;        /* see exhaust_count.h */
} jx_exhaust_place;

/* Inputs that follow each other, in the order of their values. */
typedef struct jx_exhaust_range {
    int64_t from, to; /* indices: both ends belong to it */
    uint32_t first[2], last[2];
    int64_t count;
} jx_exhaust_range;

typedef struct jx_exhaust_ranges {
    int64_t count; /* of inputs */
    int kept;
    jx_exhaust_range at[JX_EXHAUST_RANGES]; /* the first ones */
} jx_exhaust_ranges;

/* What was found of one result: the function's, or a derivative. */
typedef struct jx_exhaust_column {
    /* the worst: where the reference is that */
    jx_exhaust_place normal, subnormal;
    int64_t off;    /* inputs whose result is off by a unit or more */
    int64_t unsure; /* inputs whose reference is: to more than an eighth unit */
    int64_t undefined; /* NaN here and in the reference, of a number */
    /* a derivative that is so where the function is finite: */
    jx_exhaust_place trapped;
    int64_t ntrapped;
    /* though the reference is, and within range */
    jx_exhaust_ranges not_finite;
    jx_exhaust_ranges nan; /* those of them that are NaN */
    /* finite though the reference is not, or out of range */
    jx_exhaust_ranges beyond;
    int64_t lost_nan; /* a number, of NaN, where the reference is NaN */
    int64_t down; /* steps the other way than the reference's (not monotone) */
    /* the upper end of the first; `want` is what was there one input before */
    jx_exhaust_place first_down;
    int64_t kinks; /* derivatives between those of the sides of a jump */
    jx_exhaust_place kink;
    int64_t wrong; /* the rule in float64 is not the derivative */
    /* and the one of the most usual size */
    jx_exhaust_place worst_wrong, near_wrong;
    /* inputs off by [2^i, 2^(i+1)) units, the last: more */
    int64_t bars[JX_EXHAUST_BARS];
} jx_exhaust_column;

typedef struct jx_exhausted {
    const char *subject;          /* "`f`", "jvp rule of `f`" */
    const jx_rule *rule;          /* NULL: the program itself */
    const char *refused;          /* why it was not run; or NULL */
    const struct jx_stack *stack; /* where that is, or NULL */
    /* the derivative is made by a rule, or by some inside */
    bool derived_by_rules;
    const char *underived; /* why there is no derivative; or NULL */
    jx_dtype dtype, gives; /* of arguments and result */
    int narguments;
    int64_t inputs, step; /* how many were run; every one, or every step-th */
    jx_exhaust_column value, slopes[2]; /* derivative along each argument */
} jx_exhausted;

typedef JX_VEC(jx_exhausted) jx_exhausted_list;

typedef struct jx_exhaust_options {
    int64_t step;  /* every step-th bit pattern; 0, 1: every one */
    size_t memory; /* of one plan, in bytes; 0: no limit */
    int nbindings; /* sizes that the user chose */
    const jx_binding *bindings;
    /* the same function in another form (traced in float64), whose evaluation
     * in the wide domain is the reference; or NULL */
    jx_program *reference;
    /* Told now and then how much is done, 0 to 1; or NULL. */
    void (*progress)(void *told, double done);
    void *told;
} jx_exhaust_options;

/* The program, if it is elementwise, of several results each by itself; else
 * each of its rules that is, and why the others are not.  A rule that is wrong
 * adds a claim.  False with an error in program->ctx: there is nothing to
 * exhaust (it names the first equation that is not elementwise), the limits. */
bool jx_exhaust(jx_program *program, const jx_exhaust_options *options,
                jx_claim_list *claims, jx_exhausted_list *to);

/* The number that a dtype's bits are. */
double jx_exhaust_number(jx_dtype dtype, uint32_t bits);

#endif
