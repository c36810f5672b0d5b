/* flat_uses.c - see flat_uses.h. */
#include "analyzer/lint/flat_uses.h"

bool jx_flat_uses_of(const jx_flat *flat, jx_flat_uses *to)
{
    jx_arena *arena = flat->program->ctx->arena;
    size_t nvalues = flat->values.count, nnodes = flat->nodes.count;
    int *first = JX_NEW_ARRAY(arena, nvalues + 2, int);
    bool *kept = JX_NEW_ARRAY(arena, nvalues + 1, bool);
    int *nodes;
    int total = 0;

    if (!first || !kept)
        return false;
    for (size_t n = 0; n < nnodes; n++) {
        const jx_flat_node *node = &flat->nodes.at[n];
        for (int i = 0; i < node->nins; i++)
            first[node->ins[i] + 2]++;
        for (int i = 0; i < node->nresults; i++)
            kept[node->results[i]] = true;
        total += node->nins;
    }
    for (int i = 0; i < flat->nouts; i++)
        kept[flat->outs[i]] = true;
    nodes = JX_NEW_ARRAY(arena, total + 1, int);
    if (!nodes)
        return false;
    for (size_t v = 0; v < nvalues; v++)
        first[v + 2] += first[v + 1];
    /* first[v + 1] is where v's begin, and goes on to where they end. */
    for (size_t n = 0; n < nnodes; n++)
        for (int i = 0; i < flat->nodes.at[n].nins; i++)
            nodes[first[flat->nodes.at[n].ins[i] + 1]++] = (int)n;
    *to = (jx_flat_uses){first, nodes, kept};
    return true;
}

const jx_flat_node *jx_flat_sole_use(const jx_flat *flat,
                                     const jx_flat_uses *uses, int value)
{
    const jx_flat_node *found = NULL;

    if (uses->kept[value])
        return NULL;
    for (int i = uses->first[value]; i < uses->first[value + 1]; i++) {
        const jx_flat_node *node = &flat->nodes.at[uses->nodes[i]];
        if (!node->live || node == found)
            continue;
        if (found)
            return NULL;
        found = node;
    }
    return found;
}

static int level_of(const jx_calls *calls)
{
    int level = 0;

    for (; calls; calls = calls->outer)
        level++;
    return level;
}

const int *jx_flat_frames(const jx_flat *flat)
{
    jx_arena *arena = flat->program->ctx->arena;
    int *levels = JX_NEW_ARRAY(arena, flat->bodies.count + 1, int);
    int *frames = JX_NEW_ARRAY(arena, flat->values.count + 1, int);

    if (!levels || !frames)
        return NULL;
    for (size_t i = 0; i < flat->bodies.count; i++)
        levels[i + 1] = level_of(flat->bodies.at[i].calls);
    for (size_t i = 0; i < flat->values.count; i++) {
        const jx_flat_value *v = &flat->values.at[i];
        const jx_flat_node *node =
            v->node < 0 ? NULL : &flat->nodes.at[v->node];
        frames[i] = v->inside;
        for (int k = 0; node && k < node->nins; k++)
            if (levels[frames[node->ins[k]]] > levels[frames[i]])
                frames[i] = frames[node->ins[k]];
    }
    return frames;
}
