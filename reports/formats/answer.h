/* answer.h - an answer of the prover as a line of JSON, as `jaxvet prove`
 * prints it and jaxvet_prove() hands it out. */
#ifndef JX_REPORTS_ANSWER_H
#define JX_REPORTS_ANSWER_H

#include "prover/certify.h"

/* What a question is known by in its answer and its certificate: the SHA-256 of
 * {"base":1,"constraints":["a >= 2"],"question":"a >= 1"}, texts as given.  The
 * certificate of a contradiction is about the core alone, and its question is
 * "": that is the claim. */
enum { JX_DIGEST_TEXT = 65, JX_DIGEST_CORE = 512 };
typedef struct jx_digests {
    char question[JX_DIGEST_TEXT], claim[JX_DIGEST_TEXT];
} jx_digests;

void jx_digest(const jx_certifying *of, jx_digests *to);
void jx_digest_question(jx_ctx *ctx, int64_t base, int n,
                        const char *const *constraints, const char *question,
                        char digest[JX_DIGEST_TEXT]);

/* `id` is JSON (NULL: null); `constraints` are the texts that a core is named
 * by.  "passing" marks an unknown that is due to the solver's process and
 * should not be remembered.  The digests may be NULL. */
void jx_answer_json(const jx_answer *a, const char *id,
                    const char *const *constraints, const jx_digests *digest,
                    jx_buffer *to);

#endif
