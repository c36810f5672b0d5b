/* parts.h - what the files of the search for witnesses share. */
#ifndef JX_WITNESS_PARTS_H
#define JX_WITNESS_PARTS_H

#include "runtime/gradients/gradcall.h"
#include "runtime/witness/witness.h"

/* What an input holds, in the numbers of double. */
typedef struct jx_held {
    double lo, hi;
    bool whole; /* integers and bools */
    bool open;  /* a key, or what else has no numbers: stays zero */
} jx_held;

typedef struct jx_hunt {
    jx_program *program;
    const jx_typed *typed;
    const jx_witness_options *options;
    jx_watch *watch;
    jx_callee run; /* the program, watched */
    jx_held *held; /* per input */
    jx_rng rng;
    int64_t operations; /* that are left */
    bool flushed;       /* subnormal numbers are zeros now */
    jx_witnesses *to;
} jx_hunt;

/* points.c: fills the inputs of the program in one of many ways; false: there are no more
 * than `number` of them. */
bool jx_hunt_fill(jx_hunt *h, int number);
/* The same in one of the ways to set out from; false: there are no more. */
bool jx_hunt_start(jx_hunt *h, int number);
/* Writes numbers, held within the range, as input `input`; double in, declared dtype out. */
void jx_hunt_put(jx_hunt *h, int input, const double *from);
void jx_hunt_take(const jx_hunt *h, int input, double *to);

/* witness.c: runs the program at the inputs that are filled in; what is found is kept.
 * False: no operations are left. */
bool jx_hunt_try(jx_hunt *h);
bool jx_hunt_knows(const jx_hunt *h, const jx_eqn *eqn);

/* An equation, and the loops and branches around it, outermost first. */
enum { JX_SITE_DEPTH = 6 };
typedef struct jx_site {
    const jx_eqn *eqn;
    int depth;
    const jx_eqn *around[JX_SITE_DEPTH];
    const jx_closed *bodies[JX_SITE_DEPTH]; /* of these, in which it stands */
} jx_site;

/* operand.c: the program that gives an operand of the equation there: in a loop that of its
 * first turn.  NULL where none is known. */
jx_program *jx_hunt_operand(jx_hunt *h, const jx_site *site, int operand);
/* How many bodies an equation runs that can be looked into, and one of them. */
int jx_hunt_bodies(const jx_eqn *eqn);
const jx_closed *jx_hunt_body(const jx_eqn *eqn, int number);

/* toward.c: tries what the derivative of an equation's operand leads to. */
void jx_hunt_toward(jx_hunt *h, const jx_site *site);
/* Whether there is something to lead to: an operand with a bad place. */
bool jx_hunt_has_goal(const jx_eqn *eqn);

#endif
