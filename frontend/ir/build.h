/* build.h - jaxprs in the making.
 *
 * A builder makes jaxprs of one program.  A *body* is one of them while
 * equations are added to it; finished, it is a jaxpr:
 *
 *     jx_body *b = jx_body_new(&builder, NULL);
 *     jx_atom x = jx_body_input(b, aval);
 *     jx_atom y = jx_build(b, JX_PRIM_sin, NULL, 1, &x);
 *     jx_body_result(b, y);
 *     const jx_jaxpr *made = jx_body_finish(b, jx_no_atoms, NULL);
 *
 * A body that is nested in another may use what lies around it, at any depth: a
 * value from there becomes an input of its own, and jx_body_captured() says
 * what the equation that holds the body has to hand over for these.  Variables
 * are numbered in the order in which they are added, and once more when their
 * body is finished, since captures come before its inputs and are known last.
 *
 * Every equation has decoded parameters, fits its primitive, and stands at the
 * body's place.  The first failure is told to the builder's owner; from then on
 * there is nothing (an atom without variable and literal, NULL), and whoever
 * takes nothing gives nothing. */
#ifndef JX_BUILD_H
#define JX_BUILD_H

#include "frontend/base/vec.h"
#include "frontend/ir/build_params.h"

typedef struct jx_body jx_body;

/* The types that an equation without declared results gives for operands of
 * these types; false if that is refused or not known, with *why (arena text).
 * The type rules say it: jx_infer_results() of analyzer/infer.h. */
typedef bool jx_infer(void *with, const jx_eqn *eqn, const jx_aval *const *ins,
                      const jx_aval **outs, const char **why);

typedef struct jx_builder {
    jx_program *program;
    bool (*fail)(jx_body *b, const char *why); /* records it; always false */
    jx_infer *infer; /* NULL: all results are declared */
    void *with;      /* of infer */
    bool folds;      /* scalars that are known are computed (fold.h) */
    /* Looks at an equation before it is added, and may say more of it; false:
     * it is not needed, and gives `atoms`.  NULL: nobody looks. */
    bool (*follow)(jx_body *b, jx_eqn *eqn, jx_atom *atoms);
    JX_VEC(const jx_jaxpr *) jaxprs; /* the program's table: callees first */
    jx_intern params; /* lists of parameters, decoded once each */
    JX_VEC(const jx_array *) arrays; /* of literals */
} jx_builder;

/* Where equations come from. */
typedef struct jx_place {
    const jx_stack *stack;
    const char *name_stack;
    const jx_eqn_ctx *ctx;
} jx_place;

typedef struct jx_atoms {
    int count;
    const jx_atom *at;
} jx_atoms;

static const jx_atoms jx_no_atoms = {0, NULL};

/* A value of an enclosing body, and what stands for it here. */
typedef struct jx_capture {
    const jx_var *outer;
    jx_var *inner;
} jx_capture;

struct jx_body {
    jx_builder *in;
    jx_body *outer; /* whose values it may use, or NULL */
    jx_place place; /* of the equations that are added */
    JX_VEC(jx_var *) consts;
    JX_VEC(jx_var *) ins;
    JX_VEC(jx_var *) outs; /* of equations, in order */
    JX_VEC(jx_capture) captures;
    JX_VEC(jx_eqn) eqns;
    JX_VEC(jx_atom) results;
};

/* ---- bodies */

/* NULL without memory.  Whose body is a part of something larger begins it in
 * place: zeroed, it needs `in` and `outer`. */
jx_body *jx_body_new(jx_builder *in, jx_body *outer);
/* Room for that many equations: what grows takes four times the memory. */
void jx_body_reserve(jx_body *b, int neqns);
/* A variable of that type that no equation gives yet (its number is below 0),
 * and an input that is one. */
jx_var *jx_body_var(jx_body *b, const jx_aval *aval);
jx_atom jx_body_input(jx_body *b, const jx_aval *aval);
jx_atom jx_body_const(jx_body *b, const jx_aval *aval);
/* How many are numbered, and one of them. */
int jx_body_nvars(const jx_body *b);
const jx_var *jx_body_numbered(const jx_body *b, int id);
/* What stands in this body for an atom of it, or of one around it. */
jx_atom jx_body_own(jx_body *b, jx_atom atom);
void jx_body_result(jx_body *b, jx_atom atom);
/* What bodies nested in `b` use of its values, each once. */
jx_atoms jx_body_captured(jx_body *b, int count, jx_body *const *bodies);
/* The jaxpr, which is the next of the table.  Those captures, of
 * `b->outer`, come before its inputs, used here or not: bodies of one
 * equation share them. */
jx_jaxpr *jx_body_finish(jx_body *b, jx_atoms captures, const char *function);
/* The same without captures; what `like`, of as many inputs and results, says
 * beside its equations is said of it. */
jx_jaxpr *jx_body_finish_like(jx_body *b, const jx_jaxpr *like);

/* ---- equations */

static inline bool jx_is_made(jx_atom atom)
{
    return atom.var || atom.literal;
}

/* With the types of its results declared; they are the answer, NULL after a
 * failure. */
const jx_atom *jx_build_as(jx_body *b, const jx_prim *prim, jx_params *params,
                           int nins, const jx_atom *ins, int nouts,
                           const jx_aval *const *outs);
/* The same for one result. */
jx_atom jx_build_one(jx_body *b, jx_prim_id prim, jx_params *params, int nins,
                     const jx_atom *ins, const jx_aval *out);
/* With the results that its primitive gives: one, or several. */
jx_atom jx_build(jx_body *b, jx_prim_id prim, jx_params *params, int nins,
                 const jx_atom *ins);
const jx_atom *jx_build_all(jx_body *b, const jx_prim *prim, jx_params *params,
                            int nins, const jx_atom *ins, int nouts);
/* An equation as it stands, place, effects and all, on other operands; with
 * other parameters (as many, in the same order) and other types of its results,
 * unless these are NULL. */
const jx_atom *jx_build_like(jx_body *b, const jx_eqn *like, const jx_atom *ins,
                             jx_param *params, const jx_aval *const *outs);

/* What readers make of equations that are written down: the parameters, in any
 * order, become the equation's and are decoded; then it is added, with operands
 * of the body's own and results that are variables of it without number.  Both
 * say what is wrong, and tell nobody; NULL: nothing is, if there is memory. */
const char *jx_build_params(jx_builder *in, jx_eqn *eqn, int count,
                            jx_param *params);
const char *jx_build_given(jx_body *b, const jx_eqn *eqn);

/* ---- small vocabulary */

/* The type with another dtype and shape: no weak type, and the marks of `like`
 * that still make sense.  NULL, told, if a size is. */
const jx_aval *jx_body_aval(jx_body *b, const jx_aval *like, jx_dtype dtype,
                            int rank, const jx_dim *const *shape);
const jx_dim *jx_body_int(const jx_body *b, int64_t value);

/* Literals: a scalar, integer or real as that dtype has it; an element as it
 * lies in memory; a constant; zeros in that shape. */
jx_atom jx_build_number(jx_body *b, jx_dtype dtype, double value);
jx_atom jx_build_literal(jx_body *b, const jx_literal *like);
jx_atom jx_build_constant(jx_body *b, const jx_array *array);
jx_atom jx_build_zeros(jx_body *b, const jx_aval *aval);

jx_atom jx_build_two(jx_body *b, jx_prim_id prim, jx_atom a, jx_atom c,
                     const jx_aval *out);
/* The axes of `a` become these of the result. */
jx_atom jx_build_broadcast(jx_body *b, jx_atom a, jx_ints dims, int rank,
                           const jx_dim *const *shape);
jx_atom jx_build_reshape(jx_body *b, jx_atom a, int rank,
                         const jx_dim *const *shape);
jx_atom jx_build_transpose(jx_body *b, jx_atom a, jx_ints order);
jx_atom jx_build_convert(jx_body *b, jx_atom a, jx_dtype dtype, bool weak);
/* From `start` to `limit` along one axis, and all of the others. */
jx_atom jx_build_slice(jx_body *b, jx_atom a, int axis, const jx_dim *start,
                       const jx_dim *limit);
jx_atom jx_build_concatenate(jx_body *b, int count, const jx_atom *parts,
                             int axis);

/* Gives the program that was rewritten in place the jaxprs of its builder, and
 * what *to (a copy of it) has of them: rules, definitions, retraces, entry with
 * its paths, linear function.  `written` is what it was as it was read. */
void jx_program_become(jx_program *program, const jx_builder *build,
                       const jx_program *to, jx_program *written);

#endif
