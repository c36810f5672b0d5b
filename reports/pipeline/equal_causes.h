/* equal_causes.h - what most likely makes two programs different: a guess,
 * which is told as one. */
#ifndef JX_EQUAL_CAUSES_H
#define JX_EQUAL_CAUSES_H

#include "reports/pipeline/equal_words.h"

typedef struct jx_equal_cause {
    jx_code code;
    const char *note;      /* "it is 4 times the other: ...", or NULL */
    const jx_stack *stack; /* the line, or NULL */
    /* the equation there gives what the other program never computes */
    const char *parting;
} jx_equal_cause;

/* Whether the first program stopped because its devices go separate ways. */
bool jx_equal_find_divergence(const jx_equal_words *words, jx_equal_cause *to);
void jx_equal_find_cause(const jx_equal_words *words, bool gradient,
                         jx_equal_cause *to);

#endif
