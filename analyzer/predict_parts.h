/* predict_parts.h - what the files of predictions share. */
#ifndef JX_PREDICT_PARTS_H
#define JX_PREDICT_PARTS_H

#include "analyzer/jax_rules.h"
#include "analyzer/predict.h"
#include "frontend/base/map.h"
#include "frontend/ir/definition.h"

typedef struct jx_memo jx_memo;

typedef struct jx_predictor {
    jx_analysis *to;
    jx_program *
        /* whose equations are looked at: the analysis's, or made of it */
        program;
    jx_prediction asked;
    jx_jax_release release;
    const jx_jaxpr *jaxpr; /* that is looked at, ... */
    const jx_calls *calls; /* ... how one gets there, ... */
    const jx_eqn *eqn;     /* ... and its equation */
    jx_map told;           /* equations, and names of unknown primitives */
    jx_memo **memos;       /* by jaxpr: the masks that it was met with */
    int found;             /* equations that miss a rule */
    int depth;
} jx_predictor;

/* What a walk does with a jaxpr met with a mask of its inputs: `outs` is
 * to be filled in. */
typedef bool jx_met(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                    bool *outs);

bool *jx_predict_mask(jx_predictor *s, int count);
/* The results' mask of a nested jaxpr; NULL without memory.  Each
 * mask is met once. */
const bool *jx_predict_within(jx_predictor *s, const jx_jaxpr *jaxpr,
                              const bool *ins, jx_met *walk);

/* What an equation, s->eqn, does with a mask of its operands, which it may
 * change: `outs`, all false, is to be filled in. */
typedef bool jx_flow_step(jx_predictor *s, bool *ins, bool *outs);

/* Which values of a jaxpr have what these inputs have, by variable: equation by
 * equation. NULL without memory, or where a step says so. */
bool *jx_predict_flow(jx_predictor *s, const jx_jaxpr *jaxpr, const bool *ins,
                      jx_flow_step *step);
/* The same as a walk: of its results. */
bool jx_predict_flow_outs(jx_predictor *s, const jx_jaxpr *jaxpr,
                          const bool *ins, jx_flow_step *step, bool *outs);

/* The same of a loop's body, again until what it carries, `count` from
 * input `first` on, has settled; `outs` are those of the last turn.  False
 * without memory. */
bool jx_predict_loop(jx_predictor *s, const jx_jaxpr *body, bool *ins,
                     int first, int count, bool *outs, jx_met *walk);

/* The equation misses a rule: what JAX says. */
void jx_predict_missing(jx_predictor *s, const char *says);
/* Nobody knows whether it has one, or why nothing more is known. */
void jx_predict_unsure(jx_predictor *s, const char *key, const char *why);

/* By its definition; true, told, if it misses the rule for that mask, or the
 * rule raises; *found is the pattern. */
bool jx_predict_defined(jx_predictor *s, jx_definition_kind kind,
                        const char *mask, const char *zeros,
                        const jx_definition_pattern **found);
/* By JAX's registries; NULL, told, if JAX has no such primitive. */
const jx_jax_rules *jx_predict_jax(jx_predictor *s);

/* What of the derivative is linear in the tangents (predict_linear.c). */
bool jx_predict_transposes(jx_predictor *s);

#endif
