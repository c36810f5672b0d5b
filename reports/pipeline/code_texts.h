/* code_texts.h - what each code means, with a program that has it and one that
 * has not.  The texts are in code_texts.def; the tests run the programs. */
#ifndef JX_CODE_TEXTS_H
#define JX_CODE_TEXTS_H

#include "frontend/ir/claim.h"

typedef struct jx_code_text {
    jx_code code;
    const char *why;      /* paragraphs */
    const char *command;  /* that says it: "check", "gradcheck" */
    const char *language; /* of the programs: "python", "jaxpr" */
    const char *fails, *passes;
} jx_code_text;

/* Never NULL for a code of codes.def. */
const jx_code_text *jx_code_text_of(jx_code code);
const char *jx_code_why(jx_code code);

#endif
