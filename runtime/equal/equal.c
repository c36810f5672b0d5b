/* equal.c - see equal.h: the plans of both. */
#include "runtime/equal/equal.h"

#define MEMORY ((size_t)2 << 30)

bool jx_equal_open(jx_equal_question *question)
{
    for (int s = 0; s < 2; s++) {
        const jx_equal_side *side = s ? &question->b : &question->a;
        const jx_plan_options how = {.memory = question->memory ? question->memory : MEMORY,
                                     .nbindings = side->nbindings,
                                     .bindings = side->bindings};
        question->plans[s] = jx_plan_make(side->typed, &side->typed->program->entry, &how);
        if (!question->plans[s]) {
            jx_equal_close(question);
            return false;
        }
    }
    return true;
}

void jx_equal_close(jx_equal_question *question)
{
    for (int s = 0; s < 2; s++) {
        jx_plan_free(question->plans[s]);
        question->plans[s] = NULL;
    }
}
