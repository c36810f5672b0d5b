/* culprit.h - `jaxvet run --against`: which equation another
 * machine got wrong. */
#ifndef JX_CULPRIT_H
#define JX_CULPRIT_H

#include "frontend/base/buffer.h"
#include "runtime/against.h"

typedef struct jx_culprit_search {
    const jx_typed *typed; /* the program, at the sizes of this run */
    /* its inputs, one array each, of the declared dtypes */
    const void *const *ins;
    int nsizes;
    const jx_binding *sizes;
    /* an npz: what the other machine has for out0, out1, ... */
    const char *path;
} jx_culprit_search;

/* Appends the first equation whose result there lies outside of its declared
 * error, or that there is none; the exit code, or -1 with an error in the
 * program's context. */
int jx_culprit_tell(const jx_culprit_search *s, jx_buffer *to);

#endif
