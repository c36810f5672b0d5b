/* question.h - a question as its author wrote it: constraints and two sides as
 * texts, read and asked in one way, whoever asks (`jaxvet prove`,
 * jaxvet_prove).
 *
 *     jx_question q;
 *     jx_question_begin(&q, ctx, dims, base);
 *     jx_question_assume(&q, "b >= 2");
 *     jx_question_compare(&q, "a*b >= a");
 *     if (jx_question_complete(&q) && (p = jx_question_prover(&q, &options)))
 *         jx_answer a = jx_question_ask(&q, p);
 *
 * What is written well but too large to calculate with is no error: the
 * question is unknown, and reading goes on, since an error behind it is one.
 * Assignments where a divisor is 0 don't count, even if the normal form lost
 * it, as that of 0*(n//d) does.
 *
 * A copy of a question goes on from what has been read, and
 * leaves it as it is. */
#ifndef JX_PROVER_QUESTION_H
#define JX_PROVER_QUESTION_H

#include "prover/prover.h"

enum { JX_QUESTION_CONSTRAINTS = 4096 };

/* The first error, or else the first that does not fit. */
typedef struct jx_fault {
    const char *where; /* "constraints", "lhs", "question"; NULL: none */
    int constraint;    /* which of them */
    const char *text;  /* that was read, or NULL */
    size_t column;     /* from 1; 0: no place in a text */
    const char *expected;
    bool too_large;
} jx_fault;

typedef struct jx_question {
    jx_ctx *ctx;
    jx_dims *dims;
    int64_t base;
    JX_VEC(jx_constraint) constraints;
    JX_VEC(const char *) texts; /* of the constraints, as given */
    int given; /* of them; behind these it says what divisors are not 0 */
    jx_dim_divisors divisors;
    jx_constraint asked;
    jx_fault fault;
} jx_question;

void jx_question_begin(jx_question *q, jx_ctx *ctx, jx_dims *dims,
                       int64_t base);

/* These read a text, which has to outlive the question (NULL: there was no
 * memory for it); false where it is in error.  A side is "lhs" or "rhs". */
bool jx_question_assume(jx_question *q, const char *constraint);
bool jx_question_relate(jx_question *q, const char *op);
bool jx_question_side(jx_question *q, const char *side, const char *text);
bool jx_question_compare(jx_question *q, const char *comparison);

/* Records an error of whoever reads the rest; false. */
bool jx_question_refuse(jx_question *q, const jx_fault *fault);
/* The same for what does not fit. */
void jx_question_unfit(jx_question *q, const char *where, const char *expected);
bool jx_question_is_wrong(const jx_question *q); /* there is an error */

/* After everything has been read: says of lost divisors that they are not 0.
 * Whether a prover may be asked; if not, there is a fault. */
bool jx_question_complete(jx_question *q);
/* The answer to what could be read but does not fit: unknown, with why, which
 * stays in the buffer. */
jx_answer jx_question_unfit_answer(const jx_question *q, jx_buffer *why);

/* A prover with the constraints of a complete question.  Without memory NULL,
 * and the question does not fit. */
jx_prover *jx_question_prover(jx_question *q, const jx_prover_options *options);
jx_answer jx_question_ask(const jx_question *q, jx_prover *prover);

#endif
