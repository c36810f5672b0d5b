/* batch_parts.h - what the files of batching share. */
#ifndef JX_BATCH_PARTS_H
#define JX_BATCH_PARTS_H

#include "analyzer/transform/batch.h"
#include "frontend/ir/build_math.h"

typedef struct jx_batch_program jx_batch_program;

/* An equation on its way. */
typedef struct jx_batch {
    jx_batch_program *of;
    jx_body *b;
    const jx_dim *size; /* of the new axis */
    const jx_eqn *eqn;
    const jx_atom *ins; /* its operands there, ... */
    const bool *has;    /* ... and whether they have the new axis, in front */
    jx_atom *outs;      /* to be filled in, ... */
    bool *gets;         /* ... with this; false before */
} jx_batch;

/* Adds what an equation becomes; at least one of its operands has the
 * axis.  False: told. */
typedef bool jx_batch_rule(jx_batch *t);

#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, transpose,  \
             batch, ...)                                                       \
    jx_batch_rule jx_batch_##batch;
#include "frontend/ir/prims.def"
#undef PRIM

/* Tells that the equation can't be batched, or why; always false. */
bool jx_batch_refuse(jx_batch *t, const char *why);

jx_arena *jx_batch_arena(const jx_batch *t);
int64_t *jx_batch_room(const jx_batch *t, int count);
/* The type that an operand has in the program itself, or a result. */
const jx_aval *jx_batch_in(const jx_batch *t, int i);
const jx_aval *jx_batch_out(const jx_batch *t, int i);
/* A type with the new axis in front. */
const jx_aval *jx_batch_aval(const jx_batch *t, const jx_aval *aval);

/* ---- operands and results */

/* An operand with the axis: repeated where it has none. */
jx_atom jx_batch_full(jx_batch *t, int i);
/* All of them, in a new array; NULL, told. */
const jx_atom *jx_batch_all(jx_batch *t);
/* A value with the axis in front, for results of that type in the program
 * itself: a scalar's axis stays in front of those that it has not. */
jx_atom jx_batch_spread(jx_batch *t, jx_atom a, bool has, const jx_aval *like);
/* Its axis moved from there to the front, or from the front. */
jx_atom jx_batch_to_front(jx_batch *t, jx_atom a, int from);
jx_atom jx_batch_from_front(jx_batch *t, jx_atom a, int to);

/* Results that all have the axis; a single one.  False for nothing. */
bool jx_batch_give(jx_batch *t, const jx_atom *made);
bool jx_batch_give_one(jx_batch *t, jx_atom made);
/* The equation of other parameters (NULL: its own) on these operands, which
 * gives results that all have the axis in front. */
bool jx_batch_with(jx_batch *t, jx_params *p, int nins, const jx_atom *ins);
/* The equation for each index along the axis: a loop. */
bool jx_batch_map(jx_batch *t);

/* ---- parameters */

/* The parameters of the equation, but of these names (NULL ends them). */
jx_params jx_batch_others(jx_batch *t, const char *const *without);
/* Numbers of axes behind the new one, which is among them if `with`. */
jx_ints jx_batch_shifted(const jx_batch *t, jx_ints axes, bool with);
/* Sizes with another in front. */
jx_dim_list jx_batch_sizes(const jx_batch *t, const jx_dim *first,
                           jx_dim_list sizes);

/* ---- jaxprs */

/* A jaxpr over the axis of some inputs, which some outputs have then. */
typedef struct jx_batched {
    const jx_jaxpr *jaxpr;
    const bool *ins, *outs; /* which */
} jx_batched;

/* With at least these outputs (NULL: those that come of it); NULL, told. */
const jx_batched *jx_batch_jaxpr(jx_batch_program *of, const jx_jaxpr *from,
                                 const bool *ins, const bool *outs);
/* A closed jaxpr as a parameter: with the constants of another. */
const jx_value *jx_batch_closed(jx_batch *t, const jx_jaxpr *jaxpr,
                                const jx_closed *like);
/* A call of it, with its operands as they are there: all
 * results; NULL, told. */
const jx_atom *jx_batch_call_of(jx_batch *t, jx_body *b, const char *name,
                                const jx_value *closed, int nins,
                                const jx_atom *ins);

/* ---- rules */

/* A rule over the axis of some operands.  Its fwd may call it again: it is met
 * then while it is in the making. */
typedef struct jx_batched_rule {
    const jx_rule *from;
    const bool *ins;       /* which of the operands */
    const jx_value *value; /* `to`, as a parameter */
    jx_rule *to;           /* to be filled in: a copy of the rule at first */
} jx_batched_rule;

/* NULL without memory; *met: it is there, or in the making. */
jx_batched_rule *jx_batch_rule_of(jx_batch_program *of, const jx_value *rule,
                                  const bool *ins, bool *met);

#endif
