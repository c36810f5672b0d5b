/* typing_parts.h - what the parts of the typing pass share: typing.c walks,
 * typing_claims.c makes claims of what rules require, typing_types.c compares
 * and joins types. */
#ifndef JX_TYPING_PARTS_H
#define JX_TYPING_PARTS_H

#include "analyzer/infer.h"
#include "analyzer/type_rules.h"
#include "frontend/base/map.h"

/* What a jaxpr's outputs turned out to be. */
typedef struct jx_typed_jaxpr {
    const jx_aval **outs;
    bool *resting; /* see jx_typing.resting */
    bool untrue;   /* an output is not what its variable is declared to be */
} jx_typed_jaxpr;

typedef struct jx_typer {
    jx_analysis *to;
    jx_program *program;
    jx_typed_jaxpr *results; /* per jaxpr */
    jx_looked_at *looked;    /* per jaxpr */
    const jx_claim *refusal; /* the first of what runs */
    const jx_calls **chains; /* per jaxpr: how one gets there; NULL: a root */
    bool *reached;
    const bool *meant; /* by id: it is more than shown */
    jx_intern conditions;
    jx_map divisors;      /* dims whose divisors have been looked at */
    jx_intern unknowns;   /* of place */
    bool claims_nothing;  /* one equation is asked about (infer.h): ... */
    const char *why;      /* ... why it is refused, the first reason, ... */
    jx_infer_equal *tell; /* ... and who is told of equal sizes, or NULL */
    void *whom;
    jx_map callees; /* what each that was met declares its results to be */
} jx_typer;

static inline jx_ctx *jx_typing_ctx(const jx_typing *t)
{
    return t->program->ctx;
}

/* ---- claims ---- */

/* True the first time that this condition comes up: a `kind` of goal on a
 * difference, or on the two sides of a division. */
bool jx_typing_is_new(jx_typer *r, jx_goal_kind kind, const jx_dim *a,
                      const jx_dim *b);
void jx_typing_count_settled(jx_typing *t);
/* The divisors inside a size, at any depth, must not be 0. */
void jx_typing_look_for_divisors(jx_typing *t, const jx_dim *first);
/* The same for all sizes of a parameter (one may be there and in no type:
 * dim_as_value, or a slice of three elements from n // m on), and of a type. */
void jx_typing_look_at_value(jx_typing *t, const jx_value *value);
void jx_typing_look_at_sizes(jx_typing *t, const jx_aval *aval);

/* ---- rules (infer.c) ---- */

/* Has the rule of the equation fill t->outs, unless t->wrong.  False if there
 * is none, or none for these types: the results are as declared. */
bool jx_typing_run_rule(jx_typing *t);
/* Remembers what callees among the parameters declare to give, where an
 * equation is typed alone: before its rule asks, which then needs no memory. */
bool jx_typing_meet_callees(jx_typer *r, const jx_value *value);

/* ---- types ---- */

/* The inferred type of result `i` against the declared one; gives the one to
 * go on with. */
const jx_aval *jx_typing_settle_out(jx_typing *t, int i);

#endif
