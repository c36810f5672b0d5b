/* shapes.h - what a plan rule checks before it believes a declared shape. */
#ifndef JX_SHAPES_H
#define JX_SHAPES_H

#include "runtime/kernel.h"

static inline bool jx_same_shape(const jx_slot *a, const jx_slot *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

#endif
