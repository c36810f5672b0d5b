/* variables.c - the variables that sizes are (see sizes.h). */
#include "frontend/sizes/sizes.h"

#include <stdio.h>

bool jx_sz_take_name(jx_sizes *s, const char *name)
{
    const char *kept = jx_intern_text(s->ctx, name);

    return kept && jx_map_add(&s->names, kept);
}

const jx_dim *jx_sz_fresh(jx_sizes *s, jx_size_var like, const char *name)
{
    char numbered[24];

    while (!name || !jx_sz_take_name(s, name)) {
        if (!jx_ok(s->ctx))
            return NULL;
        snprintf(numbered, sizeof numbered, "s%d", s->fresh++);
        name = numbered;
    }
    like.var = jx_dim_var_atom(s->dims, jx_intern_text(s->ctx, name), 0);
    if (!like.var)
        return NULL;
    JX_PUSH(s->ctx->arena, &s->vars, like);
    return jx_dim_of_atom(s->dims, like.var);
}

const jx_dim *jx_sz_free(jx_sizes *s)
{
    return jx_sz_fresh(
        s, (jx_size_var){.origin = JX_SIZE_FREE, .input = -1, .axis = -1},
        NULL);
}

static const jx_size_var *find_var(const jx_sizes *s, const jx_dim_atom *var)
{
    for (size_t i = 0; i < s->vars.count; i++)
        if (s->vars.at[i].var == var)
            return &s->vars.at[i];
    return NULL;
}

bool jx_sz_is_given(const jx_sizes *s, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, dim, &count);

    for (int i = 0; vars && i < count; i++) {
        const jx_size_var *var = find_var(s, vars[i]);
        if (!var || var->origin == JX_SIZE_BOUND || var->origin == JX_SIZE_FREE)
            return false;
    }
    return vars != NULL;
}
