/* rules_custom_call.c - calls of code that the program names and does not hold.
 *
 * custom_calls.def says of the known targets how results follow from operands.
 * Of others nothing is known but what is declared. */
#include "analyzer/rules.h"

#include <string.h>

typedef void relation(jx_typing *t);

/* The results are the operands again. */
static void same(jx_typing *t)
{
    if (!jx_type_counts(t, -1, t->nins))
        return;
    for (int i = 0; i < t->nins; i++)
        jx_type_is(t, i, t->ins[i]);
}

/* What is computed against what is expected. */
static void check(jx_typing *t)
{
    if (!jx_type_counts(t, 2, 0) || !jx_type_same_dtypes(t, 0, 2))
        return;
    jx_type_same_shapes(t, 0, 2);
}

static const struct {
    const char *target;
    relation *relation;
} targets[] = {
#define CUSTOM_CALL(target, relation) {target, relation},
#include "analyzer/custom_calls.def"
#undef CUSTOM_CALL
};

void jx_type_custom_call(jx_typing *t)
{
    const jx_p_custom_call *p = t->params;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].target, p->call_target_name)) {
            targets[i].relation(t);
            return;
        }
    jx_type_unknown(t, jx_arena_printf(t->program->ctx->arena,
                                       "%s @%s", t->eqn->prim->name,
                                       p->call_target_name));
}
