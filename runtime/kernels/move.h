/* move.h - copying elements between strided windows. */
#ifndef JX_MOVE_H
#define JX_MOVE_H

#include "runtime/kernel.h"

/* Copies elements of `size` bytes; strides in bytes, of any sign.  Transposes
 * go in blocks.  The two windows may not overlap. */
void jx_copy_elements(jx_run *run, int rank, const int64_t *shape, char *to,
                      const int64_t *to_strides, const char *from,
                      const int64_t *from_strides, size_t size);

#endif
