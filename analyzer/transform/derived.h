/* derived.h - what a program's rules are held against: derivatives that we make
 * of what they are rules of, and of the rules themselves. */
#ifndef JX_DERIVED_H
#define JX_DERIVED_H

#include "analyzer/transform/jvp.h"

/* What one pattern of a rule says and what the function's own derivative
 * is, as jaxprs that take and give the same: all operands of the rule, then
 * the tangents that the pattern has (of a vjp rule: cotangents of the
 * inexact results) -> tangents of the inexact results (cotangents of what
 * has a tangent), then these results themselves.  Where they can't be made
 * there is no jaxpr. */
typedef struct jx_rule_pair {
    jx_closed rule, own;
    int nvalues; /* of these results */
    /* The equation at which a jvp rule's tangents cannot be gone back
     * along, or NULL. */
    const jx_eqn *stuck;
} jx_rule_pair;

/* Of one rule; a function that could not be made has no jaxpr. */
typedef struct jx_derived_rule {
    /* operands, tangents -> results, tangents: the derivative of its
     * function as that is written, with no rule looked at.  A tangent for
     * each inexact operand that the function does not close over, and of
     * each inexact result. */
    jx_closed own;
    /* What the rule computes of operands and what is linear (tangents; for a
     * vjp cotangents), and the derivative of that along operands: what the
     * next order of differentiation takes.  Of the first pattern, of whose
     * tangents none is zero. */
    jx_closed says, next;
    const jx_rule_pair *pairs; /* by pattern */
} jx_derived_rule;

typedef struct jx_derived {
    jx_program *program; /* the same, and all that was made */
    /* by number; behind the last one what is known of the program itself, if
     * that is asked for, as if its derivative were a rule */
    jx_derived_rule *rules;
    /* calls, reached by the program's own derivative, of functions that close
     * over what is differentiated, and that something needs */
    jx_eqn_list closing;
} jx_derived;

/* `whole`: of the program itself, too.  False only when memory ends. */
bool jx_program_derive(const jx_typed *typed, bool whole, jx_derived *to);

/* The derivative along the inputs in `ins` of `of`, a jaxpr of the program, by
 * rules or (`stripped`) with none looked at: `to`, of the program that it
 * gives, which has what that one has.  NULL where it can't be made, and without
 * memory. */
jx_program *jx_program_derive_again(const jx_typed *typed, const jx_closed *of,
                                    const bool *ins, bool stripped,
                                    jx_closed *to);

/* The derivative that JAX makes of a rule's function, by the rules of what that
 * calls: as in jx_derived_rule, and what it says in the place of the rule's
 * first pattern. */
typedef struct jx_derived_kept {
    jx_closed own, says;
} jx_derived_kept;

/* The program that has it; NULL where it can't be made, and without
 * memory. */
jx_program *jx_program_derive_kept(const jx_typed *typed, const jx_rule *rule,
                                   jx_derived_kept *to);

/* A stored derivative of a program with these avals of inputs and outputs
 * (which takes inputs and a cotangent per output, and gives one per
 * input), as a program that takes and gives cotangents of inexact values
 * alone; NULL, told. */
jx_program *jx_program_pulling(jx_program *stored, const jx_jaxpr *of);

#endif
