/* refine_parts.h - shared by refine*.c: what each thing that equations refer to
 * is at the sizes. */
#ifndef JX_REFINE_PARTS_H
#define JX_REFINE_PARTS_H

#include "analyzer/transform/refine.h"
#include "frontend/base/map.h"
#include "frontend/ir/build.h"
#include "frontend/ir/definition.h"

typedef struct jx_refiner {
    jx_program *from, *to;
    jx_ctx *ctx;
    bool bare;     /* the entry alone */
    bool part;     /* a jaxpr of a program in the making: rules are not known */
    bool wrapping; /* shapes and parameters wrap, too */
    jx_assignment sizes;
    jx_dim_putting *put; /* dims move to other tables; else NULL */
    void *env;
    int *meshes; /* new numbers, by old ones; NULL: as they were */
    jx_map done; /* from what was before to what is after */
    jx_builder build;
    const jx_jaxpr **jaxprs;    /* new ones, by old number */
    bool *reached;              /* by old number */
    jx_rule *rules;             /* new ones, by number */
    jx_definition *definitions; /* the same */
    const jx_jaxpr *jaxpr;      /* the old one being worked on, or NULL */
    const jx_eqn *eqn;
    const jx_stack *stack; /* where there is no jaxpr, or NULL */
    const jx_dim *divisor; /* that became 0 */
} jx_refiner;

static inline jx_arena *jx_refiner_arena(const jx_refiner *r)
{
    return r->ctx->arena;
}

/* " at b = 1, t = 2" */
const char *jx_refiner_sizes_text(const jx_refiner *r);

/* Tell why (NULL: no memory), of the place that is being worked on, the first
 * also at which sizes; always false. */
bool jx_refiner_refuse(const jx_refiner *r, const char *what);
bool jx_refiner_refuse_as(const jx_refiner *r, const char *what);

/* jx_dim_map()'s: false where a divisor is 0, which r->divisor is then. */
bool jx_refiner_put_size(void *env, const jx_dim_atom *atom,
                         const jx_dim **put);

/* The new thing for an old one, the same for each that is the same; NULL
 * (false) with an error.  Jaxprs are those made so far. */
const jx_dim *jx_refined_dim(jx_refiner *r, const jx_dim *dim);
const jx_aval *jx_refined_aval(jx_refiner *r, const jx_aval *aval);
const jx_literal *jx_refined_literal(jx_refiner *r, const jx_literal *literal);
const jx_value *jx_refined_value(jx_refiner *r, const jx_value *value);
bool jx_refined_closed(jx_refiner *r, const jx_closed *closed, jx_closed *to);

/* The dim as a literal of the (new) aval: a number, if it is one now. */
const jx_literal *jx_refined_size(jx_refiner *r, const jx_dim *dim,
                                  const jx_aval *aval);

#endif
