/* trace.h - the steps of a proof, as they are made.
 *
 * A decider that works for a certificate (certify.h) has a trace in its
 * `jx_work` and notes what it does there; without one nothing is noted, and the
 * ordinary path pays for a test of a pointer.  What leads nowhere is taken
 * back: a trace holds the steps of one proof, in order.  Where a proof goes on
 * in cases they follow one another:
 *
 *     SPLIT  CASE step... CASE step... END
 *     CLAIM  step... END         and the proof goes on
 *
 * and each ends with a step that ends a branch. */
#ifndef JX_PROVER_TRACE_H
#define JX_PROVER_TRACE_H

#include "prover/elementary.h"

typedef enum jx_step_kind {
    /* An atom (simplified operands) is equal to something. */
    JX_STEP_RATIO,  /* floordiv(a*(c + d*b), a*d) == b + floordiv(c, d) */
    JX_STEP_NEST,   /* its dividend's quotient `other`, times i, goes into it */
    JX_STEP_HALF,   /* floordiv(x + 1, 2) == x - floordiv(x, 2) */
    JX_STEP_DROP,   /* floordiv(i*a + r, i*m) == floordiv(a, m) */
    JX_STEP_VALUE,  /* it is i, by intervals */
    JX_STEP_FIRST,  /* max(d, 0) == d */
    JX_STEP_SECOND, /* max(d, 0) == 0 */
    JX_STEP_PART,   /* max(i*a, 0) by max(a, 0) */
    JX_STEP_POWER,  /* max(d, 0)^2 == d * max(d, 0) */
    JX_STEP_IS,     /* a quotient is i, by two claims before */
    /* Facts. */
    JX_STEP_NONZERO, /* a divisor (i: as the question has it) */
    JX_STEP_RANGE,   /* a fact k*x + c >= 0 bounds x */
    JX_STEP_CUT,     /* b from a, divided by a number */
    JX_STEP_DIVIDE,  /* b from a, divided by the positive variable `atom` */
    JX_STEP_RAISE,   /* a makes `atom` at least 1 */
    JX_STEP_BOTH,    /* a == 0, as it is >= 0 and <= 0 */
    JX_STEP_PUT,     /* a for the variable; by fact b, or its range */
    JX_STEP_NAME,    /* a quotient is a (or -1 - a if i), the remainder b */
    JX_STEP_CLAIM,   /* a >= 0 */
    /* Cases. */
    JX_STEP_SPLIT,     /* a >= 0, b >= 0 */
    JX_STEP_RESIDUES,  /* of a variable by i; CASE: residue i, new variable a */
    JX_STEP_VALUES,    /* of a variable, i to j; CASE: value i */
    JX_STEP_QUOTIENTS, /* of a quotient, i to j; CASE: value i */
    JX_STEP_CASE,
    JX_STEP_END,
    /* Ends of branches. */
    JX_STEP_IMPOSSIBLE, /* fact a, by signs */
    JX_STEP_FAR,        /* fact a, by the values of `atom` below i, and signs */
    JX_STEP_MODULO,     /* fact a, by residues modulo i */
    JX_STEP_SUM,        /* fact a (if any) i times, and products */
    JX_STEP_EMPTY,      /* this residue has no value */
} jx_step_kind;

/* i * monomial * fact, with x - low for each x of the monomial. */
typedef struct jx_product {
    jx_int times;
    const jx_dim *monomial;
    jx_hyp fact;
} jx_product;

typedef struct jx_step {
    jx_step_kind kind;
    jx_hyp_kind fact; /* the kind of fact a */
    const jx_dim_atom *atom, *other;
    const jx_dim *a, *b, *c, *d;
    jx_int i, j;
    int nproducts;
    const jx_product *products;
} jx_step;

enum { JX_TRACE_PRODUCTS = 8 };

typedef struct jx_trace {
    jx_step *at;
    size_t count, capacity;
    bool failed; /* no memory: the trace is of no use */
    jx_step spare;
    /* Of the sum that is being looked for. */
    int nproducts;
    jx_product products[JX_TRACE_PRODUCTS];
    jx_int scales[JX_TRACE_PRODUCTS];
} jx_trace;

/* Notes a step; with no trace it gives NULL.  Never NULL where there is one. */
jx_step *jx_note(jx_work *work, jx_step_kind kind);
/* What is noted after a mark can be taken back. */
size_t jx_noted(const jx_work *work);
void jx_note_back(jx_work *work, size_t mark);

/* The common ones; they do nothing without a trace. */
void jx_note_atom(jx_work *work, jx_step_kind kind, const jx_dim *atom,
                  jx_int i);
jx_step *jx_note_fact(jx_work *work, jx_step_kind kind, const jx_dim *a,
                      jx_hyp_kind fact);
void jx_note_split(jx_work *work, const jx_dim *a, const jx_dim *b);
void jx_note_case(jx_work *work, jx_int i, const jx_dim *a);
void jx_note_end(jx_work *work);

#endif
