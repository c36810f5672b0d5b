/* flat_fault.c - the rules of the flat form. */
#include "analyzer/lint/flat.h"
#include "frontend/ir/effects.h"

static bool is_earlier(const jx_flat *flat, int value, size_t node)
{
    if (value < 0 || (size_t)value >= flat->values.count)
        return false;
    int maker = flat->values.at[value].node;
    return maker < 0 || (size_t)maker < node;
}

static bool all_earlier(const jx_flat *flat, int count, const int *values,
                        size_t node)
{
    for (int i = 0; i < count; i++)
        if (!is_earlier(flat, values[i], node))
            return false;
    return true;
}

static bool all_live(const jx_flat *flat, int count, const int *values)
{
    for (int i = 0; i < count; i++)
        if (!flat->values.at[values[i]].live)
            return false;
    return true;
}

static const char *fault_of_node(const jx_flat *flat, size_t at)
{
    const jx_flat_node *node = &flat->nodes.at[at];

    if (node->nins != node->eqn->nins || node->nouts != node->eqn->nouts)
        return "a node has not the operands of its equation";
    if (!all_earlier(flat, node->nins, node->ins, at) ||
        !all_earlier(flat, node->nresults, node->results, at))
        return "a node uses a value that is made after it";
    for (int i = 0; i < node->nouts; i++) {
        int value = node->outs[i];
        if (value < 0 || (size_t)value >= flat->values.count ||
            flat->values.at[value].node != (int)at)
            return "a node's result is another's";
        if (flat->values.at[value].live && !node->live)
            return "a node with a live result is dead";
    }
    if (node->live && (!all_live(flat, node->nins, node->ins) ||
                       !all_live(flat, node->nresults, node->results)))
        return "what a live node needs is dead";
    return jx_eqn_acts(node->eqn) && !node->live
               ? "a node with an effect is dead"
               : NULL;
}

const char *jx_flat_fault(const jx_flat *flat)
{
    const char *fault = NULL;

    for (size_t i = 0; i < flat->values.count; i++)
        if (!flat->values.at[i].aval)
            return "a value has no type";
    for (size_t i = 0; i < flat->nodes.count && !fault; i++)
        fault = fault_of_node(flat, i);
    if (!all_earlier(flat, flat->nouts, flat->outs, flat->nodes.count))
        return "a result is made by no node";
    if (!fault && !all_live(flat, flat->nouts, flat->outs))
        return "a result is dead";
    return fault;
}
