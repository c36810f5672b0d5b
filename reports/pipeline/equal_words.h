/* equal_words.h - what is said of two programs that were held
 * against each other. */
#ifndef JX_EQUAL_WORDS_H
#define JX_EQUAL_WORDS_H

#include "analyzer/transform/devices.h"
#include "reports/pipeline/equals.h"
#include "reports/pipeline/sharded.h"

typedef struct jx_equal_words {
    jx_sharded sharded;              /* the first at these sizes */
    const jx_program *program;       /* as it ran */
    const jx_device_pairs *pairs[2]; /* of both */
    const jx_equal_question *question;
    const jx_equal_fields *fields;
    const jx_equal_floats *floats;
    const jx_equal_outside *outside;
    /* what floats show is not there without integers that the programs
     * tell from others */
    bool told;
} jx_equal_words;

/* Claims what is different or undecided, and fills in the words
 * of the equality. */
bool jx_equal_tell(const jx_equal_words *words, jx_claim_list *claims,
                   jx_equality *to);
bool jx_equal_tell_undecided(jx_ctx *ctx, jx_claim_list *claims,
                             jx_equality *to);

#endif
