/* custom_calls.h - what is known of a custom call by the name of its target. */
#ifndef JX_MLIR_CUSTOM_CALLS_H
#define JX_MLIR_CUSTOM_CALLS_H

#include <stddef.h>

typedef struct jx_custom_call {
    const char *target;
    const char *platform; /* "cpu", "gpu", "tpu"; or NULL: any */
    const char *what;     /* "Cholesky factor" */
} jx_custom_call;

/* The row of custom_calls.def: a target that JAX guarantees to keep.  NULL for
 * all others. */
const jx_custom_call *jx_custom_call_named(const char *target);

#endif
