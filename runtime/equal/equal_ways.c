/* equal_ways.c - see equal.h: a gives what b does, and b what a does. */
#include "runtime/equal/evaluating.h"
#include "runtime/field/field_same.h"

static bool gives(const jx_equal_question *question, int side,
                  jx_field_answer *answer)
{
    const jx_equal_side *one = side ? &question->b : &question->a;
    const jx_equal_side *other = side ? &question->a : &question->b;
    const jx_field_question ask = {.typed = one->typed,
                                   .other = other->typed,
                                   .a = &one->typed->program->entry,
                                   .b = &other->typed->program->entry,
                                   .seed = jx_evaluating_seed(question),
                                   .strict = true};

    return jx_field_same(&ask, answer);
}

bool jx_equal_by_ways(const jx_equal_question *question, jx_equal_fields *to)
{
    int nouts = question->nouts;
    jx_field_answer forth, back;

    /* of sizes and of NaN ways say nothing */
    if (question->a.typed->program->entry.jaxpr->nouts != nouts ||
        question->b.typed->program->entry.jaxpr->nouts != nouts ||
        question->a.nbindings || question->b.nbindings || to->asks_for_nan)
        return true;
    if (!gives(question, 0, &forth))
        return false;
    if (forth.verdict != JX_FIELD_IDENTICAL)
        return true;
    if (!gives(question, 1, &back))
        return false;
    if (back.verdict == JX_FIELD_IDENTICAL)
        *to = (jx_equal_fields){
            .identical = true,
            .bits = forth.bits < back.bits ? forth.bits : back.bits,
            .assuming = forth.assuming ? forth.assuming : back.assuming,
            .differs.output = -1,
            .pair = -1};
    return true;
}
