/* flat.h - a program as one list of equations, for lints.
 *
 * Calls that only name a piece of the program (jit, custom_jvp_call,
 * custom_vjp_call, remat) are replaced by their bodies, and equal computations
 * get one value number, so that a lint sees what runs and not how it was
 * written: jnp.where is a jit around a select_n, and `x > 0` written twice is
 * one predicate.  Bodies of loops and branches stay apart from the operands
 * that change, but share the numbers of what is passed in unchanged.
 *
 * Where inlining would grow the program too much (frontend/ir/growth.h),
 * what stands in several places is met once for each list of operands that
 * do not vary: calls of it are then nodes, with its outputs as results, and
 * so are loops and branches that run it.  What varies is for it an input of
 * level JX_FLAT_UNIT.
 *
 * Values are numbered from 0, nodes are in an order of execution: a node's
 * operands come before it. */
#ifndef JX_FLAT_H
#define JX_FLAT_H

#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"

/* One value: a program's input, a constant, a literal, or a node's result. */
typedef struct jx_flat_value {
    const jx_aval *aval;
    int node;                  /* that makes it, or -1 */
    const jx_array *array;     /* of a constant */
    const jx_literal *literal; /* of a literal */
    bool varies; /* depends on the program's inputs, or on its surroundings */
    bool splat;  /* all elements are one: a scalar, or a broadcast one */
    bool live;   /* an output or an effect needs it */
    /* Of what comes from outside: its number, else -1.  The program's inputs
     * have level 0; what a loop changes has the level at which loops nest, the
     * number among such inputs, and which of the loop's bodies it is for. */
    int input, level, body;
    int inside; /* 1 + the body (of jx_flat.bodies) that it is an input of; 0 */
} jx_flat_value;

/* A body of a loop or branch that was walked apart. */
typedef struct jx_flat_body {
    const jx_calls *calls; /* leads into it */
    const int *ins;        /* the operands of the loop or branch */
    int which;             /* of its bodies */
    int node;              /* it, or -1 while its bodies are walked */
} jx_flat_body;

typedef struct jx_flat_node {
    const jx_eqn *eqn;
    const jx_jaxpr *jaxpr; /* that holds the equation */
    const jx_calls *calls; /* how one gets there; NULL at the entry */
    int nins, nouts;
    const int *ins, *outs;
    int nresults; /* of the bodies of a loop or branch: needed by the node */
    const int *results;
    int copies; /* how often the program computes this */
    bool live;
    bool elsewhere; /* only where Mosaic lowers, which no exported program is */
    bool shared;    /* its results are of what is met once */
    int order;      /* of all equations met, this was which */
} jx_flat_node;

/* A place that computes what a node computed before it. */
typedef struct jx_flat_repeat {
    int node;
    const jx_eqn *eqn;
    const jx_jaxpr *jaxpr;
    const jx_calls *calls;
    int order;
} jx_flat_repeat;

typedef struct jx_flat {
    jx_program *program;
    JX_VEC(jx_flat_value) values;
    JX_VEC(jx_flat_node) nodes;
    JX_VEC(jx_flat_repeat) repeats; /* in order */
    JX_VEC(jx_flat_body) bodies;    /* in order */
    int nouts;
    const int *outs; /* the program's */
    int steps;       /* equations met: no order is higher */
    bool shared;     /* something is met once that stands in several places */
    bool uncounted;  /* and varies by itself, so that each place would count */
    bool truncated;  /* beyond the limits below: the rest is left out, and what
                        would need it varies */
} jx_flat;

/* What a program may grow to by inlining, whatever its own size; most equations
 * met, and how deep calls are followed. */
enum { JX_FLAT_GROWTH = 16384, JX_FLAT_MAX = 500000, JX_FLAT_DEPTH = 200 };
/* Above it the levels of loops in what is met once. */
enum { JX_FLAT_UNIT = 1 << 20 };

/* Makes or moves elements and computes none: iota, broadcast, reshape, views,
 * conversions. */
bool jx_flat_moves(const jx_eqn *eqn);

/* Whether its results may differ although its operands are the same. */
bool jx_flat_varies_by_itself(const jx_eqn *eqn);

/* Mosaic lowers the insides of Pallas' kernels for TPUs: a branch of a cond
 * that is for it alone (jnp.diagonal has one) is no part of any program that is
 * exported or run. */
bool jx_flat_is_for_mosaic(const jx_eqn *eqn, int branch);

/* In the program's arena; NULL without memory.  An equation that typing refused
 * is one of an unknown primitive. */
jx_flat *jx_flatten(const jx_typed *typed);
/* The same with the bodies of loops and branches that no input reaches, too:
 * nothing is left whole. */
jx_flat *jx_flatten_all(const jx_typed *typed);

/* What is wrong with it: a value that is used before the node that makes it, a
 * node without its operands, something live that needs what is not; or NULL.
 * For assertions (assert.h). */
const char *jx_flat_fault(const jx_flat *flat);

#endif
