/* growth.c - see growth.h. */
#include "frontend/ir/growth.h"

enum { TIMES = 2, LARGEST_SMALL = 256 };

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

typedef int64_t size_of(jx_growth *g, const jx_jaxpr *jaxpr);

static int64_t sum_in_value(jx_growth *g, const jx_value *value, size_of *of)
{
    int64_t sum = 0;

    if (value->tag == JX_V_JAXPR)
        return value->jaxpr ? of(g, value->jaxpr) : 0;
    for (int i = 0; value->items && i < value->count; i++)
        sum = plus(sum, sum_in_value(g, value->items[i], of));
    return sum;
}

/* Its equations, and what each runs. */
static int64_t sum_in_jaxpr(jx_growth *g, const jx_jaxpr *jaxpr, size_of *of)
{
    int64_t sum = plus(1, jaxpr->neqns);

    for (int i = 0; i < jaxpr->neqns; i++)
        for (int k = 0; k < jaxpr->eqns[i].nparams; k++)
            sum =
                plus(sum, sum_in_value(g, jaxpr->eqns[i].params[k].value, of));
    return sum;
}

/* What somebody made for himself is not in the program's table, and stands in
 * one place. */
static bool in_table(const jx_growth *g, const jx_jaxpr *jaxpr)
{
    return jaxpr->id >= 0 && jaxpr->id < g->program->njaxprs &&
           g->program->jaxprs[jaxpr->id] == jaxpr;
}

/* Nested jaxprs have smaller numbers, and are as deep as readers allow. */
static int64_t whole_size(jx_growth *g, const jx_jaxpr *jaxpr)
{
    if (!in_table(g, jaxpr)) {
        g->own = plus(g->own, jaxpr->neqns);
        return sum_in_jaxpr(g, jaxpr, whole_size);
    }
    g->uses[jaxpr->id]++;
    if (!g->sizes[jaxpr->id]) {
        g->own = plus(g->own, jaxpr->neqns);
        g->sizes[jaxpr->id] = 1;
        g->sizes[jaxpr->id] = sum_in_jaxpr(g, jaxpr, whole_size);
    }
    return g->sizes[jaxpr->id];
}

static int64_t size_in_place(jx_growth *g, const jx_jaxpr *jaxpr)
{
    if (!in_table(g, jaxpr))
        return sum_in_jaxpr(g, jaxpr, size_in_place);
    return jx_growth_shares(g, jaxpr) ? 1 : g->sizes[jaxpr->id];
}

/* All together, if what is larger than `small` is met once; callees come
 * first. */
static int64_t shared_size(jx_growth *g, const jx_jaxpr *root, int64_t small)
{
    int64_t all = 0;

    g->small = small;
    for (int i = 0; i < g->program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = g->program->jaxprs[i];
        if (!g->sizes[i])
            continue;
        g->sizes[i] = sum_in_jaxpr(g, jaxpr, size_in_place);
        if (jx_growth_shares(g, jaxpr))
            all = plus(all, g->sizes[i]);
    }
    return plus(all, sum_in_jaxpr(g, root, size_in_place));
}

bool jx_growth_measure(jx_arena *arena, const jx_program *program,
                       const jx_jaxpr *root, int64_t least, jx_growth *to)
{
    *to = (jx_growth){.program = program,
                      .sizes = JX_NEW_ARRAY(arena, program->njaxprs, int64_t),
                      .uses = JX_NEW_ARRAY(arena, program->njaxprs, int),
                      .small = INT64_MAX};
    if (!to->sizes || !to->uses)
        return false;
    int64_t all = to->whole = whole_size(to, root);
    to->most = least;
    for (int i = 0; i < TIMES; i++)
        to->most = plus(to->most, to->own);
    for (int64_t small = LARGEST_SMALL; all > to->most && to->small; small /= 4)
        all = shared_size(to, root, small);
    return true;
}

bool jx_growth_shares(const jx_growth *g, const jx_jaxpr *jaxpr)
{
    return g->small < INT64_MAX && in_table(g, jaxpr) &&
           g->uses[jaxpr->id] > 1 && g->sizes[jaxpr->id] > g->small;
}
