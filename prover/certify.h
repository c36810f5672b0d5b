/* certify.h - certificates: proofs that somebody else can check.
 *
 * Works on the text of a question, as its author wrote it, and proves it again,
 * with the steps noted (trace.h) and written in the rules of the checker
 * (docs/CERTIFICATE.md).  What the solver found has no certificate. */
#ifndef JX_PROVER_CERTIFY_H
#define JX_PROVER_CERTIFY_H

#include "prover/prover.h"

typedef struct jx_certifying {
    jx_ctx *ctx;    /* the question's, which pays */
    const char *id; /* as JSON; NULL: null */
    int64_t base;
    int nconstraints;
    const char *const *constraints; /* as text */
    const char *question;           /* "a*b >= a" */
    const jx_answer *answer;        /* of this question */
} jx_certifying;

/* Appends one line with the certificate; false, and *why, if there is none. */
bool jx_certify(const jx_certifying *c, jx_buffer *to, const char **why);
/* Appends lines that say how one comes to the answer; false, and *why, if
 * nobody but a solver would. */
bool jx_explain(const jx_certifying *c, jx_buffer *to, const char **why);

#endif
