/* prover.h - questions about dims: does `lhs op rhs` hold for every assignment
 * that the constraints allow?
 *
 *     jx_prover *p = jx_prover_new(ctx, dims, constraints, n, NULL);
 *     jx_answer a = jx_prove_compare(p, lhs, JX_REL_GE, rhs);
 *     if (a.truth == JX_TRUE) ...
 *     jx_prover_free(p);
 *
 * A prover is made for one set of constraints, analyses them once and answers
 * any number of questions.  A question climbs a ladder, cheapest rung first:
 *
 *     algebra     the difference simplifies to a number
 *     bounds      its interval decides
 *     search      evaluation finds assignments for both answers
 *     elementary  linear reasoning (linear.h), case splits (elementary.h)
 *     z3          the helper process (solver.h), started when first needed
 *
 * Only assignments where no divisor is 0 count.  Every assignment in an answer
 * satisfies the constraints and gives its answer by plain evaluation.  Answers
 * depend on the question alone, never on the clock, but for one: a helper that
 * ran into the processor-time backstop, died or is missing gives JX_UNKNOWN
 * with the reason, and the prover forgets it. */
#ifndef JX_PROVER_H
#define JX_PROVER_H

#include "frontend/ir/dim.h"
#include "frontend/ir/program.h"

typedef struct jx_prover jx_prover;
typedef struct jx_solver jx_solver;

typedef enum jx_relation {
    JX_REL_EQ,
    JX_REL_NE,
    JX_REL_GE,
    JX_REL_LE,
    JX_REL_GT,
    JX_REL_LT,
} jx_relation;

typedef struct jx_constraint {
    const jx_dim *lhs;
    jx_relation relation;
    const jx_dim *rhs;
} jx_constraint;

typedef enum jx_truth {
    JX_UNKNOWN = 0,
    JX_TRUE,          /* for every assignment that the constraints allow */
    JX_FALSE,         /* for none of them */
    JX_DEPENDS,       /* both happen: see the witnesses */
    JX_CONTRADICTION, /* the constraints allow no assignment: see the core */
} jx_truth;

typedef struct jx_answer {
    jx_truth truth;
    const char *by;     /* "algebra", "bounds", "elementary", "search", "z3" */
    const char *why;    /* of JX_UNKNOWN and some contradictions; or NULL */
    const char *solver; /* "z3 4.8.12" where `by` is "z3", else NULL */
    /* Of JX_UNKNOWN: the solver's process failed, which says nothing about the
     * question.  Such an answer is not to be kept. */
    bool passing;
    /* An assignment for which it holds, and one for which it does not; those
     * that the truth admits, where one is known (both for JX_DEPENDS).  Sorted
     * by name. */
    bool has_true, has_false;
    jx_assignment when_true, when_false;
    /* Constraints that contradict each other (by index): all of them are needed
     * for that, unless `core_is_minimal` is false, which `why` then says. */
    int ncore;
    const int *core;
    bool core_is_minimal;
    /* Constraints each of which makes it true; proved. */
    int nsuggestions;
    const jx_constraint *suggestions;
    /* Where no single one does: constraints that make it true
     * together; proved. */
    int ntogether;
    const jx_constraint *together;
} jx_answer;

typedef struct jx_prover_options {
    int64_t base;      /* the least value of every variable */
    bool base_is_set;  /* else 1, as in JAX */
    bool no_solver;    /* stop before z3 */
    bool suggest;      /* look for suggestions */
    jx_solver *solver; /* shared with other provers; NULL: one of its own */
} jx_prover_options;

/* Everything that answers point to lives in the context's arena.  The dims of
 * constraints and questions are those of `dims`.  NULL without memory; the
 * options are copied and may be NULL. */
jx_prover *jx_prover_new(jx_ctx *ctx, jx_dims *dims,
                         const jx_constraint *constraints, int count,
                         const jx_prover_options *options);
void jx_prover_free(jx_prover *prover);

jx_answer jx_prove_compare(jx_prover *prover, const jx_dim *lhs,
                           jx_relation relation, const jx_dim *rhs);
/* k divides n: mod(n, k) == 0. */
jx_answer jx_prove_divides(jx_prover *prover, const jx_dim *k, const jx_dim *n);
/* Whether the constraints allow any assignment: JX_TRUE with one that they
 * do (when_true), JX_CONTRADICTION or JX_UNKNOWN. */
jx_answer jx_prove_consistent(jx_prover *prover);

/* The question as an SMT-LIB 2 script that asks for a counterexample (or, with
 * `negate` false, for an example): what the helper process is given. */
void jx_prove_smt2(jx_prover *prover, const jx_dim *lhs, jx_relation relation,
                   const jx_dim *rhs, bool negate, jx_buffer *to);

const char *jx_relation_text(jx_relation relation); /* ">=" */
/* The relation with that text; false if there is none. */
bool jx_relation_named(const char *text, jx_relation *relation);
bool jx_relation_holds(jx_int lhs, jx_relation relation, jx_int rhs);
/* What holds exactly where `relation` does not. */
jx_relation jx_relation_opposite(jx_relation relation);
const char *jx_truth_text(jx_truth truth); /* "contradiction" */
/* Reads a constraint or question, `sum op sum`; on failure false, with place
 * and expectation as jx_dim_parse() gives them. */
bool jx_constraint_parse(jx_dims *dims, const char *text, size_t length,
                         int scope, jx_constraint *to, size_t *at,
                         const char **expected);
/* The same with all that can be said of it (frontend/ir/dim.h). */
bool jx_constraint_read(jx_dims *dims, const char *text, size_t length,
                        jx_dim_reading *reading, jx_constraint *to);
void jx_constraint_print(const jx_constraint *constraint, jx_buffer *to);
/* A comparison and its mirror image are one: >=, > or, of == and !=, the larger
 * side first. */
jx_constraint jx_constraint_oriented(const jx_constraint *constraint);
/* What a program declares, in the prover's form. */
jx_constraint jx_constraint_of_scope(const jx_scope_constraint *declared);

#endif
