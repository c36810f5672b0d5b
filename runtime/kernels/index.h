/* index.h - what the indexing kernels share. */
#ifndef JX_INDEX_H
#define JX_INDEX_H

#include "runtime/kernel.h"

/* An index of any integer dtype; what does not fit int64 saturates. */
int64_t jx_read_index(jx_dtype dtype, const void *at);
/* Steps through a shape with two offsets at once; false after the last. */
bool jx_advance2(int n, const int64_t *shape, int64_t *index,
                 const int64_t *a_strides, int64_t *a, const int64_t *b_strides,
                 int64_t *b);

#endif
