/* defined.h - rules of primitives that their authors defined, applied
 * to an equation.
 *
 * A rule is a jaxpr of some types (frontend/ir/definition.h), whose sizes may
 * be variables that stand for any.  What an equation has binds them, and the
 * jaxpr becomes one of its types, which is called. */
#ifndef JX_DEFINED_H
#define JX_DEFINED_H

#include "analyzer/transform/making.h"
#include "frontend/ir/definition.h"

/* The pattern of that kind for an equation's operands, as jx_definition_find()
 * finds it. NULL, told in JAX's words: there is no such rule, or it raised. */
const jx_definition_pattern *jx_defined_pattern(jx_making *m, const jx_eqn *eqn,
                                                jx_definition_kind kind,
                                                const char *mask,
                                                const char *zeros);

/* What its jaxpr gives for these operands; NULL, told. */
const jx_atom *jx_defined_call(jx_making *m, jx_body *b, const jx_eqn *eqn,
                               const jx_definition_pattern *p, int nins,
                               const jx_atom *ins);

/* A result of it as one of that type: no more than its weak type may differ.
 * Nothing, told. */
jx_atom jx_defined_as(jx_making *m, jx_body *b, jx_atom made,
                      const jx_aval *aval);

/* ---- jaxprs at other sizes (instantiate.c) */

/* The jaxpr with these dims in the place of variables, all at
 * once; NULL, told. */
const jx_jaxpr *jx_instantiated(jx_making *m, const jx_jaxpr *from,
                                const jx_bound *sizes);

#endif
