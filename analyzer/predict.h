/* predict.h - which rule JAX will miss, found without running anything.
 *
 * A transformation needs a rule for each primitive that it meets: `grad` a
 * derivative and, of what is linear in the tangents, a transpose; `vmap` a
 * batching rule; `lower:tpu` one that lowers it for that platform.  JAX's own
 * primitives have those that the registries of the program's JAX say
 * (jax_rules.h), others those of their definition (frontend/ir/definition.h).
 * An equation without is a refuted claim (PRM002) in JAX's words.  What is
 * found is what is missing for sure: a rule that is there may still refuse some
 * dtype or parameter. */
#ifndef JX_PREDICT_H
#define JX_PREDICT_H

#include "analyzer/typing.h"

typedef enum jx_prediction_kind {
    JX_PREDICT_GRAD = 0,
    JX_PREDICT_VMAP,
    JX_PREDICT_LOWER,
} jx_prediction_kind;

typedef struct jx_prediction {
    jx_prediction_kind kind;
    const char *platform; /* of lowering: "cpu", "cuda", "rocm", "tpu" */
} jx_prediction;

/* "grad", "vmap" or "lower:PLATFORM"; false: it is none of these. */
bool jx_prediction_named(const char *word, jx_prediction *to);

/* Adds the claims of one to an analysis that is typed: by all inexact inputs,
 * or over a new leading axis of all inputs.  False without memory. */
bool jx_predict(jx_analysis *to, jx_prediction asked);

#endif
