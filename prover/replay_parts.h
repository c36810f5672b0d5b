/* replay_parts.h - what the files that replay a trace share.
 *
 * replay.c walks along the trace and hands each step on: to
 * replay_identities.c what rewrites an atom, to replay_facts.c what derives a
 * fact, to replay_cases.c what splits, to replay_ends.c what ends a branch.
 * They are made of the small steps of replay_claims.c; replay_explain.c says
 * the same to people.  Every function that gives a bool gives false if the step
 * can't be written; why is in the writer then (jx_writer_fail), or is the name
 * of the step. */
#ifndef JX_PROVER_REPLAY_PARTS_H
#define JX_PROVER_REPLAY_PARTS_H

#include "prover/scene.h"
#include "prover/writer.h"

typedef struct jx_replaying {
    jx_writer *w;
    const jx_trace *trace;
    size_t at; /* the step that comes next */
} jx_replaying;

/* -------------------------------------------------------------------------
 * replay_claims.c: dims, NULL where a number is too large
 * ---------------------------------------------------------------------- */

const jx_dim *jx_r_of(const jx_replaying *r, const jx_dim_atom *atom);
/* floordiv(n, d), in the checker's form. */
const jx_dim *jx_r_quotient(const jx_replaying *r, const jx_dim *n,
                            const jx_dim *d);
/* d - 1 */
const jx_dim *jx_r_less(const jx_replaying *r, const jx_dim *d);
/* With q = floordiv(n, d): rest >= 0 and over >= 0 are the quotient's facts. */
const jx_dim *jx_r_rest(const jx_replaying *r, const jx_dim *q, const jx_dim *n,
                        const jx_dim *d);
const jx_dim *jx_r_over(const jx_replaying *r, const jx_dim *q, const jx_dim *n,
                        const jx_dim *d);
/* A variable that nothing has. */
const jx_dim *jx_r_new_name(jx_replaying *r);
/* The atom that d is, or NULL. */
const jx_dim_atom *jx_r_atom_in(const jx_dim *d);

/* -------------------------------------------------------------------------
 * replay_claims.c: steps
 * ---------------------------------------------------------------------- */

/* Puts `value` for the atom; that they are equal is a fact. */
void jx_r_put(jx_replaying *r, jx_facts *f, const jx_dim_atom *atom,
              const jx_dim *value);
/* Gives `value` a name; gives the name. */
const jx_dim *jx_r_let(jx_replaying *r, jx_facts *f, const jx_dim *name,
                       const jx_dim *value);
/* The facts of a quotient; false if q is no operation (any more). */
bool jx_r_have_facts(jx_replaying *r, jx_facts *f, const jx_dim *q);

/* Around the proof of a claim, which is a fact afterwards. */
void jx_open_claim(jx_replaying *r, jx_hyp h);
void jx_close_claim(jx_replaying *r, jx_facts *f, jx_hyp h);
/* Before the two cases a >= 0 and b >= 0, which are lists; jx_write_end ends
 * it. */
void jx_open_split(jx_replaying *r, const jx_dim *a, const jx_dim *b);

/* Claims x == 0, by two sums: the first has x - 1 >= 0, the second
 * -1 - x >= 0. */
bool jx_claim_zero(jx_replaying *r, jx_facts *f, const jx_dim *x, jx_sum *above,
                   jx_sum *below);
/* Claims x == 0 where x >= 0 and -x >= 0 are facts. */
bool jx_claim_both(jx_replaying *r, jx_facts *f, const jx_dim *x);
/* Claims to >= 0, from `from` >= 0 and from <= m*(to + 1) - 1. */
bool jx_claim_divided(jx_replaying *r, jx_facts *f, const jx_dim *from,
                      const jx_dim *to, const jx_dim *m);
/* Claims to == 0 or to != 0, as `from` is, where from.dim == m*to. */
bool jx_claim_factor(jx_replaying *r, jx_facts *f, jx_hyp from,
                     const jx_dim *to, const jx_dim *m);

/* -------------------------------------------------------------------------
 * replay_identities.c
 * ---------------------------------------------------------------------- */

/* A step that rewrites an atom; nothing where no fact has it. */
bool jx_replay_rewrite(jx_replaying *r, jx_facts *f, const jx_step *s);

/* -------------------------------------------------------------------------
 * replay_facts.c: one function per kind of step (trace.h)
 * ---------------------------------------------------------------------- */

bool jx_replay_range(jx_replaying *r, jx_facts *f, const jx_step *s);
bool jx_replay_divide(jx_replaying *r, jx_facts *f, const jx_step *s);
bool jx_replay_raise(jx_replaying *r, jx_facts *f, const jx_step *s);
bool jx_replay_put(jx_replaying *r, jx_facts *f, const jx_step *s);
bool jx_replay_name(jx_replaying *r, jx_facts *f, const jx_step *s);
bool jx_replay_nonzero(jx_replaying *r, jx_facts *f, const jx_step *s);

/* -------------------------------------------------------------------------
 * replay_cases.c
 * ---------------------------------------------------------------------- */

/* Ends the case of one value, which is put in. */
typedef bool jx_each_value(jx_replaying *r, jx_facts *f, jx_int value,
                           void *env);

/* A case for each value of x from low to high. */
bool jx_case_values(jx_replaying *r, jx_facts *f, const jx_dim_atom *x,
                    jx_int low, jx_int high, jx_each_value *each, void *env);
/* A case for each i from 0 to m - 1: x = m*k + i, with k = floordiv(x, m). */
bool jx_case_residues(jx_replaying *r, jx_facts *f, const jx_dim_atom *x,
                      jx_int m, const jx_dim *k, jx_each_value *each,
                      void *env);

/* -------------------------------------------------------------------------
 * replay_ends.c
 * ---------------------------------------------------------------------- */

/* A step that ends a branch. */
bool jx_replay_end(jx_replaying *r, jx_facts *f, const jx_step *s);

/* -------------------------------------------------------------------------
 * replay_explain.c: lines for people; nothing where nobody listens
 * ---------------------------------------------------------------------- */

/* A line.  %d is a dim, %f a fact (jx_hyp *), %i a number (jx_int *). */
void jx_say(jx_replaying *r, const char *format, ...);
/* Says what a step that rewrites does: the atom, and what it is. */
void jx_explain_identity(jx_replaying *r, const jx_facts *f, const jx_step *s);
/* Says what a step that derives a fact does. */
void jx_explain_fact(jx_replaying *r, const jx_facts *f, const jx_step *s);
/* Replays the end of a branch, and says what can't be, and why. */
bool jx_explain_end(jx_replaying *r, jx_facts *f, const jx_step *s);

#endif
