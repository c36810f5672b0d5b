/* origin.h - where the values of a program without calls (inline.h) come from,
 * through the bodies of loops and branches. */
#ifndef JX_ORIGIN_H
#define JX_ORIGIN_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/program.h"

/* What gives a variable its value. */
typedef struct jx_origin {
    /* that makes it; NULL: it comes from outside, or is a constant */
    const jx_eqn *eqn;
    int number; /* which of its results; of the inputs of the entry or body */
    const jx_jaxpr *jaxpr;
    /* Of an input of a body: what the loop or branch is given for it, and
     * whether later turns are given something else. */
    const jx_eqn *owner;
    jx_atom given;
    bool carried, constant;
} jx_origin;

typedef struct jx_origins {
    jx_map of; /* from variables */
} jx_origins;

/* Of all variables of a program; in its arena.  False without memory. */
bool jx_origins_make(jx_origins *to, jx_program *program);
/* NULL of a literal. */
const jx_origin *jx_origin_of(const jx_origins *of, jx_atom atom);
/* The equation that makes a value, moves and conversions passed by;
 * NULL: none does. */
const jx_eqn *jx_origin_eqn(const jx_origins *of, jx_atom atom);

/* The scalar literal that all elements of a value are, moves and conversions
 * passed by; NULL: it is none. */
const jx_literal *jx_origin_literal(const jx_origins *of, jx_atom atom);
/* The number that it is, in floats; false: it is none. */
bool jx_origin_number(const jx_origins *of, jx_atom atom, double *number);

/* How many bodies an equation runs that can be looked into, and one of them,
 * whose jaxpr may be NULL. */
int jx_bodies_of(const jx_eqn *eqn);
const jx_closed *jx_body_of(const jx_eqn *eqn, int number);

/* Its results are its first operand's elements, in other places or in
 * another dtype. */
bool jx_eqn_moves(const jx_eqn *eqn);
/* Each element of its results is made of the elements of its operands there. */
bool jx_eqn_is_elementwise(const jx_eqn *eqn);

/* The stack of an equation, or, where it has no frame, of the loop or
 * branch around it. */
const jx_stack *jx_origin_stack(const jx_origins *of, const jx_eqn *eqn);
/* Both stand in one expression: what a function of a library computes for one
 * call of a user's does. */
bool jx_eqns_are_one(const jx_origins *of, const jx_eqn *a, const jx_eqn *b);

/* A walk through all that values are made of, each variable once. */
typedef struct jx_origin_walk {
    const jx_origins *of;
    jx_map seen;
    JX_VEC(jx_atom) left;
    /* which operands of an equation it does not look behind; or NULL */
    bool (*ends)(const jx_origins *of, const jx_eqn *eqn, int operand);
    /* of what equations make, it looks behind these variables alone; or NULL */
    const jx_map *through;
} jx_origin_walk;

void jx_origin_walk_from(jx_origin_walk *w, const jx_origins *of, int count,
                         const jx_atom *from);
const jx_origin *jx_origin_walk_on(jx_origin_walk *w); /* NULL at the end */

/* Whether a value is made of what an equation makes, however far behind. */
bool jx_origin_reaches(const jx_origins *of, jx_atom atom, const jx_eqn *eqn);
/* Whether an input of the program reaches a value. */
bool jx_origin_varies(const jx_origins *of, jx_atom atom);

#endif
