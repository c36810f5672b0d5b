/* lines.h - the lines of an array along one axis.
 *
 * Many kernels work on one axis and repeat over all others: sort, cumulative
 * operations, FFT.  A jx_lines walks the starts of the lines of several arrays
 * that agree in all axes but that one. */
#ifndef JX_LINES_H
#define JX_LINES_H

#include "runtime/kernel.h"

enum { JX_LINES_MAX = 8 };

typedef struct jx_lines {
    int rank;
    int64_t sizes[JX_MAX_RANK], at[JX_MAX_RANK];
    int narrays;
    const int64_t *strides[JX_LINES_MAX];
    char *data[JX_LINES_MAX];
    int axis;
    bool any; /* false once past the last line, or if there is none */
} jx_lines;

/* Lines along `axis` of `first`, which gives the other sizes. */
static inline void jx_lines_begin(jx_lines *l, const jx_view *first, int axis)
{
    l->rank = first->rank;
    l->axis = axis;
    l->narrays = 0;
    l->any = true;
    for (int i = 0; i < l->rank; i++) {
        l->sizes[i] = i == axis ? 1 : first->shape[i];
        l->at[i] = 0;
        l->any &= l->sizes[i] > 0;
    }
}

/* A further array to walk; gives its number. */
static inline int jx_lines_add(jx_lines *l, const jx_view *array)
{
    l->strides[l->narrays] = array->strides;
    l->data[l->narrays] = array->data;
    return l->narrays++;
}

static inline void jx_lines_next(jx_lines *l)
{
    for (int i = l->rank - 1; i >= 0; i--) {
        for (int k = 0; k < l->narrays; k++)
            l->data[k] += l->strides[k][i];
        if (++l->at[i] < l->sizes[i])
            return;
        for (int k = 0; k < l->narrays; k++)
            l->data[k] -= l->strides[k][i] * l->sizes[i];
        l->at[i] = 0;
    }
    l->any = false;
}

#endif
