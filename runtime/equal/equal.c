/* equal.c - see equal.h: the plans of both, and what their integers index. */
#include "runtime/equal/equal.h"

#define MEMORY ((size_t)2 << 30)

static bool takes_integers(const jx_jaxpr *entry)
{
    bool any = false;

    for (int i = 0; i < entry->nins; i++)
        any |=
            jx_dtype_is_integer(entry->vars[entry->nconsts + i]->aval->dtype);
    return any;
}

/* Either program says it. */
static bool find_indices(jx_equal_question *question)
{
    jx_program *a = question->a.typed->program, *b = question->b.typed->program;
    int n = b->entry.jaxpr->nins;
    jx_integer_domain *own =
        JX_NEW_ARRAY(b->ctx->arena, n + 1, jx_integer_domain);
    jx_integer_domain *other =
        JX_NEW_ARRAY(b->ctx->arena, n + 1, jx_integer_domain);

    question->domains = question->plain = NULL;
    if (!takes_integers(b->entry.jaxpr))
        return true;
    if (!own || !other || !jx_domain_of_inputs(b, own) ||
        a->entry.jaxpr->nins != n || !jx_domain_of_inputs(a, other))
        return false;
    for (int i = 0; i < n; i++) {
        jx_domain_join(&own[i], &other[i]);
        for (int s = 0; s < 2; s++)
            if (question->declared[s] &&
                i < question->declared[s]->entry.jaxpr->nins)
                jx_domain_bound(question->declared[s], i, &own[i]);
    }
    for (int i = 0; i < n; i++) {
        other[i] = own[i];
        other[i].ntold = 0;
    }
    question->domains = own;
    question->plain = other;
    return true;
}

static bool plan_side(jx_equal_question *question, int which)
{
    const jx_equal_side *side = which ? &question->b : &question->a;
    const jx_plan_options how = {.memory = question->memory ? question->memory
                                                            : MEMORY,
                                 .nbindings = side->nbindings,
                                 .bindings = side->bindings};

    question->plans[which] =
        jx_plan_make(side->typed, &side->typed->program->entry, &how);
    return question->plans[which] != NULL;
}

bool jx_equal_open(jx_equal_question *question)
{
    if (!find_indices(question))
        return false;
    for (int s = 0; s < 2; s++)
        if (!plan_side(question, s)) {
            jx_equal_close(question);
            return false;
        }
    return true;
}

bool jx_equal_open_beside(const jx_equal_question *other, const jx_typed *typed,
                          jx_equal_question *to)
{
    *to = *other;
    to->a = (jx_equal_side){.typed = typed};
    return plan_side(to, 0);
}

void jx_equal_close(jx_equal_question *question)
{
    for (int s = 0; s < 2; s++) {
        jx_plan_free(question->plans[s]);
        question->plans[s] = NULL;
    }
}

bool jx_equal_asks(const jx_equal_question *question, int output)
{
    return !question->alone || question->alone == output + 1;
}

bool jx_equal_tells_integers(const jx_equal_question *question)
{
    bool any = false;

    for (int i = 0; question->domains && i < jx_plan_nins(question->plans[0]);
         i++)
        any |= question->domains[i].ntold > 0;
    return any;
}
