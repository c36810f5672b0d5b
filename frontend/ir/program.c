/* program.c - see program.h. */
#include "frontend/ir/program.h"

#include <string.h>

const jx_frame *jx_user_frame(const jx_stack *stack)
{
    for (int i = 0; stack && i < stack->count; i++)
        if (stack->frames[i]->file->kind == JX_FILE_USER)
            return stack->frames[i];
    return NULL;
}

const jx_value *jx_eqn_param(const jx_eqn *eqn, const char *name)
{
    int low = 0, high = eqn->nparams;

    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = strcmp(name, eqn->params[middle].name);
        if (order == 0)
            return eqn->params[middle].value;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool same_texts(int count, const char *const *a, const char *const *b)
{
    for (int i = 0; i < count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return true;
}

bool jx_mesh_same(const jx_mesh *a, const jx_mesh *b)
{
    if (a->naxes != b->naxes || a->ntypes != b->ntypes ||
        a->abstract != b->abstract ||
        !same_texts(a->naxes, a->axes, b->axes) ||
        !same_texts(a->ntypes, a->types, b->types))
        return false;
    for (int i = 0; i < a->naxes; i++)
        if (a->sizes[i] != b->sizes[i])
            return false;
    return true;
}
