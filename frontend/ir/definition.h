/* definition.h - what a program says of a primitive that its author defined:
 * the rules that JAX keeps as functions, as jaxprs.
 *
 * A definition is of operands of some types (and of some parameters).  Sizes
 * among them that are variables stand for any: who applies a rule binds them to
 * what is there (analyzer/transform/defined.h).  The equation itself has what
 * the primitive computes, as the jaxpr or the module of
 * `call_library_primitive`.
 *
 * Each kind of rule has patterns, by a mask with a character per operand:
 *
 *     jvp        1: its tangent is zero.  Operands, then tangents that are not
 *                zero; gives results, then their tangents but for those of
 *                `gives`
 *     transpose  1: linear in it.  The other operands, then cotangents of
 *                results that are not zero (`zeros`); gives cotangents of the
 *                linear operands but for those of `gives`
 *     batch      1: it has the mapped axis, in front.  Operands; gives results,
 *                of which `axes` says where each has the axis, or -1 */
#ifndef JX_DEFINITION_H
#define JX_DEFINITION_H

#include "frontend/ir/program.h"

typedef enum jx_definition_kind {
    JX_DEFINED_JVP = 0,
    JX_DEFINED_TRANSPOSE,
    JX_DEFINED_BATCH,
    JX_DEFINED_EVAL, /* has no patterns, as what follows */
    JX_DEFINED_LOWERING,
} jx_definition_kind;

enum { JX_DEFINED_PATTERNED = JX_DEFINED_EVAL };

typedef struct jx_definition_pattern {
    const char *mask;
    const char *zeros; /* of results whose cotangent is zero, or NULL */
    const char *error; /* the rule raised; all below is then empty */
    jx_closed made;
    const char *gives; /* '1': zero, and left out; or NULL */
    const int *axes;   /* of a batch, per result */
} jx_definition_pattern;

typedef struct jx_definition {
    int id;
    const char *name; /* of the primitive */
    int nins, nouts, nlower;
    const jx_aval *const *ins, *const *outs;
    const char *const *lower; /* platforms that have a rule; "*" is any */
    bool missing[JX_DEFINED_EVAL + 1]; /* by kind: JAX has no such rule */
    int npatterns[JX_DEFINED_PATTERNED];
    const jx_definition_pattern *patterns[JX_DEFINED_PATTERNED];
    const char *truncated; /* why patterns are left out, or NULL */
} jx_definition;

/* Dims in the place of variables, all at once. */
typedef struct jx_bound {
    int count;
    const jx_dim_atom **vars;
    const jx_dim **dims;
    bool moves; /* one of them is something else than its variable */
} jx_bound;

/* What sizes that are variables in `formals` are in `avals`, of the same number
 * and kind; where two would differ, the first.  False without memory, or where
 * types are of other dtypes or ranks. */
bool jx_bind_sizes(jx_program *program, int count,
                   const jx_aval *const *formals, const jx_aval *const *avals,
                   jx_bound *to);
/* NULL if it does not fit in 128 bits. */
const jx_dim *jx_dim_bound(jx_dims *dims, const jx_dim *dim,
                           const jx_bound *sizes);
/* The same of a type's sizes. */
const jx_aval *jx_aval_bound(jx_program *program, const jx_aval *aval,
                             const jx_bound *sizes);
bool jx_aval_same_kind(const jx_aval *a, const jx_aval *b);

/* Of an equation, or NULL. */
const jx_definition *jx_eqn_definition(const jx_eqn *eqn);

/* As a document calls a kind of rule: "jvp", "transpose", "batch", "eval". */
const char *jx_definition_kind_name(jx_definition_kind kind);

/* Whether a rule lowers it for a platform: "cpu", "cuda", "rocm", "tpu". */
bool jx_definition_lowers(const jx_definition *of, const char *platform);

/* What JAX says where a primitive of that name has no such rule; `platform` is
 * of a lowering.  Arena text; NULL without memory. */
const char *jx_missing_rule(jx_ctx *ctx, jx_definition_kind kind,
                            const char *name, const char *platform);

/* The pattern of that mask, of as many characters as operands, and of those
 * zeros (of a transposition; else NULL).  If there is none: the one that takes
 * the least beside, and did not raise, of tangents, cotangents or mapped
 * operands.  NULL: none serves. */
const jx_definition_pattern *jx_definition_find(const jx_definition *of,
                                                jx_definition_kind kind,
                                                const char *mask,
                                                const char *zeros);

/* Copies of all, and a table of them, to be changed. */
jx_definition *jx_definition_copies(jx_arena *arena, int count,
                                    const jx_definition *const *from,
                                    const jx_definition *const **table);
/* Puts what `change` makes of the jaxpr of each pattern in its place, in a copy
 * of the patterns.  False if that is false, or without memory. */
typedef bool jx_definition_change(void *with, const jx_closed *from,
                                  jx_closed *to);
bool jx_definition_remade(jx_arena *arena, jx_definition *of,
                          jx_definition_change *change, void *with);

#endif
