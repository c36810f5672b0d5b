/* pointwise.h - is this function elementwise? */
#ifndef JX_POINTWISE_H
#define JX_POINTWISE_H

#include "frontend/ir/program.h"

/* Why not: an equation, or the signature. */
typedef struct jx_pointwise_fault {
    const jx_eqn *eqn; /* the first that is not elementwise, or NULL */
    const char *why;   /* arena text */
} jx_pointwise_fault;

/* Whether each element of the jaxpr's one result follows from the elements at
 * the same place of its inputs, which are one or two floats of the result's
 * shape: what depends on an input is elementwise, or a call, a scan or a branch
 * made of that; what does not may be anything.  A function of scalars is
 * elementwise whatever it does.  False with the fault filled in (an error in
 * the context without memory). */
bool jx_is_pointwise(jx_ctx *ctx, const jx_jaxpr *jaxpr,
                     jx_pointwise_fault *fault);

/* The same of any number of inputs and results of one shape, which may be of
 * any dtypes. */
bool jx_code_is_pointwise(jx_ctx *ctx, const jx_jaxpr *jaxpr);

#endif
