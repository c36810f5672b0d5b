/* evaluating.h - both programs ready to be run over fields, on the same
 * inputs (equal.h). */
#ifndef JX_EVALUATING_H
#define JX_EVALUATING_H

#include "runtime/equal/equal.h"
#include "runtime/field/plane.h"

typedef struct jx_evaluating {
    const jx_equal_question *question;
    jx_field_program programs[2]; /* a, b */
    bool exponents;               /* something takes powers */
    bool integers;                /* some inputs were drawn */
    int point;
    const char *why; /* inputs that can't be drawn */
} jx_evaluating;

void jx_evaluating_open(jx_evaluating *e, const jx_equal_question *question);
void jx_evaluating_close(jx_evaluating *e);

size_t jx_evaluating_memory(const jx_equal_question *question);
int64_t jx_evaluating_work(const jx_equal_question *question);
/* The same programs meet the same primes. */
uint64_t jx_evaluating_seed(const jx_equal_question *question);

/* Sets the field up for planes and draws all inputs; integers and keys are
 * others in every other round.  False: `why`. */
bool jx_evaluating_begin(jx_evaluating *e, jx_field *f, int round,
                         jx_field_value *ins);

#endif
