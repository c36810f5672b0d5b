/* rules.h - what each code means, with a program that has it and one that has
 * not.  The texts are in rules/rules.def; the tests run the programs. */
#ifndef JX_REPORTS_RULES_H
#define JX_REPORTS_RULES_H

#include "frontend/ir/claim.h"

typedef struct jx_rule_text {
    jx_code code;
    const char *why;      /* paragraphs */
    const char *command;  /* that says it: "check", "gradcheck" */
    const char *language; /* of the programs: "python", "jaxpr" */
    const char *fails, *passes;
} jx_rule_text;

/* Never NULL for a code of codes.def. */
const jx_rule_text *jx_rule_text_of(jx_code code);
const char *jx_rule_why(jx_code code);

#endif
