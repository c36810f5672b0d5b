/* rules.h - what a type rule gets and how it speaks.
 *
 * A rule infers the outputs of one equation from its inputs and parameters
 * alone, never from the declared output avals (the typer compares those
 * afterwards: SHP011), and states what must hold as claims.  It neither
 * decides nor prints.  When the inputs make no sense at all (ranks that can't
 * fit, a dtype that the primitive does not take) it calls jx_type_wrong() and
 * returns; the outputs it has not filled are then unknown, and what depends on
 * them is undecided. */
#ifndef JX_RULES_H
#define JX_RULES_H

#include "analyzer/typing.h"
#include "frontend/ir/params.h"

typedef struct jx_typing {
    jx_analysis *to;
    jx_program *program;
    const jx_jaxpr *jaxpr;
    const jx_eqn *eqn;
    const void *params; /* the primitive's struct of params.h, never NULL */
    int nins, nouts;
    const jx_aval *const *ins; /* inferred; an unknown one is NULL */
    const jx_aval **outs;      /* to fill */
} jx_typing;

typedef void jx_type_rule(jx_typing *t);

/* The rule of each primitive (NULL: none). */
jx_type_rule *jx_type_rule_of(jx_prim_id id);

/* Claims.  `format` says which sizes: "operand %d, axis %d".  The cheap cases
 * (decided by algebra or by bounds) are settled on the spot. */
void jx_require_eq(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void jx_require_ge(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Not for any size: an SHP010 refuted here and now. */
void jx_type_wrong(jx_typing *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Dims, shortened for rules. */
const jx_dim *jx_const(jx_typing *t, int64_t value);
/* Fills output `i`; the aval has no marks but dtype, weak type and shape, the
 * varying axes are joined from the inputs by the typer. */
void jx_type_out(jx_typing *t, int i, jx_dtype dtype, bool weak, int rank,
                 const jx_dim *const *shape);

#endif
