/* cost.h - what a program costs, as polynomials of its sizes.
 *
 * Counted as XLA's own cost analysis counts before any optimization: one
 * floating-point operation for each element that an elementwise equation makes
 * (integers, too), two for each product that is added up, none for moving
 * data; exp, log, tanh and their like apart.  Factorizations count the usual
 * leading terms (Golub and Van Loan), a sort ceil(log2 n) comparisons an
 * element (31 where n is not known).  A branch costs as much as its most
 * expensive one.  A loop whose length can't be read off counts as often as a
 * variable says: `trips1`, `trips2`, in the order in which they are met.
 *
 * Memory is that of the values that live at once if every equation is run
 * alone, in order, and gives its operands back after their last use: inputs and
 * constants live throughout; what only shows another value differently (a
 * broadcast, a reshape, an iota) takes none unless it is a result.  A compiler
 * that fuses needs less, one that keeps more alive needs more. */
#ifndef JX_COST_H
#define JX_COST_H

#include "analyzer/collective.h"
#include "frontend/base/vec.h"
#include "frontend/ir/typed.h"

/* The scope of the variables that count a loop's trips. */
enum { JX_TRIPS_SCOPE = 1 << 20 };

typedef struct jx_uncounted {
    const char *name; /* of a primitive */
    int64_t count;    /* of its equations */
} jx_uncounted;

typedef struct jx_trips {
    const jx_dim_atom *var;
    const jx_eqn *eqn; /* the loop */
} jx_trips;

/* What each device sends by collectives of a kind. */
typedef struct jx_sent {
    jx_collective_kind kind;
    const jx_dim *times, *bytes, *messages;
    /* of these times: some product can run at the same time */
    const jx_dim *beside;
    const jx_dim *down; /* of these bytes: by permutations to lower numbers */
} jx_sent;

/* How often the body of a while loop runs; NULL beyond 128 bits. */
typedef struct jx_loop_turns {
    const jx_eqn *eqn;
    const jx_dim *often;
} jx_loop_turns;

/* Dims are NULL where a coefficient left 128 bits. */
typedef struct jx_cost {
    const jx_dim *flops;
    const jx_dim *transcendentals;
    const jx_dim *moved; /* bytes: of the operands and results of all equations
                            but those that take no memory */
    /* Of a program that has computations on many devices (up to `devices` of
     * them; else 1) the above is what one device does, and this what they do
     * together.  Outside of such computations nothing says who does what: each
     * device is taken to do all of it, and all of them together do it once. */
    int64_t devices;
    const jx_dim *all_flops, *all_transcendentals, *all_moved;
    /* Bytes of one device at the worst moment of such a computation, with its
     * parts of the operands, as for `peaks`; what lives outside of it meanwhile
     * is not in them. */
    JX_VEC(const jx_dim *) device_peaks;
    bool device_peak_known;
    const jx_dim *inputs, *outputs, *constants; /* bytes */
    /* Bytes at the worst moment, inputs and constants included: the largest of
     * these, none of which is always below another. */
    JX_VEC(const jx_dim *) peaks;
    bool peak_known; /* false: too many candidates, or beyond 128 bits */
    /* by kind; within a computation of many devices all counts
     * are one device's */
    JX_VEC(jx_sent) sent;
    JX_VEC(jx_trips) trips;
    JX_VEC(jx_loop_turns) loops;    /* all while loops */
    JX_VEC(jx_uncounted) uncounted; /* operations not in `flops` */
} jx_cost;

/* In the program's arena; false without memory.  Equations that typing refused
 * are uncounted. */
bool jx_cost_of(const jx_typed *typed, jx_cost *cost);
/* The flops alone, where they are a number; else 0.  No variable counts trips
 * here: sums of one for each of many loops are long. */
bool jx_cost_flops(const jx_typed *typed, int64_t *flops);

/* Of an element; a key is the words of its implementation: two of threefry's,
 * four of the others'. */
size_t jx_element_bytes(const jx_aval *aval);
/* The bytes of an array; 0 for a token.  NULL beyond 128 bits. */
const jx_dim *jx_aval_bytes(jx_dims *dims, const jx_aval *aval);

#endif
