/* type_rules.h - what a type rule gets and how it speaks.
 *
 * A rule infers the outputs of one equation from its inputs and parameters
 * alone, never from the declared output avals (the typer compares those
 * afterwards: SHP011), and states what must hold as claims.  It neither
 * decides nor prints.  When the inputs make no sense at all (ranks that can't
 * fit, a dtype that the primitive does not take) it calls jx_type_wrong() and
 * returns; the typer then goes on with the outputs as declared.
 *
 * Before a rule runs, the typer has checked the counts of the
 * primitive table and, but for the rules that pass values on, that
 * every operand is an array. */
#ifndef JX_RULES_H
#define JX_RULES_H

#include "analyzer/typing.h"
#include "frontend/ir/params.h"

struct jx_typer; /* typing_parts.h */

/* Rules compare lists of axes pairwise; no array has so many. */
enum { JX_MOST_AXES = 512 };

typedef struct jx_typing {
    jx_analysis *to;
    jx_program *program;
    struct jx_typer *typer;
    const jx_jaxpr *jaxpr; /* the place; NULL: the program */
    const jx_eqn *eqn;
    const void *params; /* the primitive's struct of params.h, never NULL */
    int nins, nouts;
    const jx_aval *const *ins; /* inferred, never NULL */
    const jx_aval **outs;      /* to fill */
    jx_code code; /* of the claims made: JX_CODE_SHP010 while a rule runs */
    const jx_calls *calls;
    const jx_stack
        *stack;   /* where to point when not at the equation, or NULL */
    bool wrong;   /* jx_type_wrong() was called */
    bool refused; /* something holds for no size: see typed.h */
    bool resting; /* an operand's type is only as good as a declaration that
                      nothing checked: nothing is settled here */
} jx_typing;

typedef void jx_type_rule(jx_typing *t);

/* One per family; a row of prims.def names its rule in the column `type`. */
#define PRIM(id, name, nins, nouts, params, type, plan, ...)                   \
    jx_type_rule jx_type_##type;
#include "frontend/ir/prims.def"
#undef PRIM

/* The rule of each primitive (NULL: none). */
jx_type_rule *jx_type_rule_of(jx_prim_id id);
/* The rule takes values of every kind (tokens, references), not arrays only. */
bool jx_type_rule_takes_any(jx_type_rule *rule);

/* Claims.  `format` says which sizes: "operand %d, axis %d".  The cheap cases
 * (decided by algebra or by bounds) are settled on the spot; of equal
 * conditions only the first is kept. */
void jx_require_eq(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void jx_require_ge(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* These two are claims of the code that the rule has now (t->code). */
void jx_require_least(jx_typing *t, const jx_dim *a, const jx_dim *b,
                      const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void jx_require_ne(jx_typing *t, const jx_dim *a, const jx_dim *b,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A claim that nothing can settle, and why. */
void jx_require_unknown(jx_typing *t, const char *why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* `divisor` divides `dim`. */
void jx_require_divides(jx_typing *t, const jx_dim *divisor, const jx_dim *dim,
                        const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Not for any size: an SHP010 refuted here and now.  Always false, for
 * `return jx_type_wrong(...)`. */
bool jx_type_wrong(jx_typing *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Dims, shortened for rules; NULL goes through as in dim.h. */
const jx_dim *jx_const(jx_typing *t, int64_t value);
const jx_dim *jx_plus(jx_typing *t, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_minus(jx_typing *t, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_times(jx_typing *t, const jx_dim *a, const jx_dim *b);
/* max(0, 1 + dilation * (dim - 1)): the extent with holes between. */
const jx_dim *jx_dilated(jx_typing *t, const jx_dim *dim,
                         const jx_dim *dilation);
/* max(0, (dim - window) // stride + 1): how often a window fits. */
const jx_dim *jx_strided(jx_typing *t, const jx_dim *dim, const jx_dim *window,
                         const jx_dim *stride);
const jx_dim *jx_smaller(jx_typing *t, const jx_dim *a, const jx_dim *b);
bool jx_is_number(const jx_dim *dim, int64_t value);

/* Fills output `i`; the aval has no marks but dtype, weak type and shape, the
 * varying axes are joined from the inputs by the typer. */
void jx_type_out(jx_typing *t, int i, jx_dtype dtype, bool weak, int rank,
                 const jx_dim *const *shape);
/* The same with the dtype of `like` (and its key implementation). */
void jx_type_out_like(jx_typing *t, int i, const jx_aval *like, bool weak,
                      int rank, const jx_dim *const *shape);
/* An array of `count` dims to fill, all NULL; NULL without memory. */
const jx_dim **jx_shape(jx_typing *t, int count);

/* Checks that say what is wrong and give false. */
bool jx_type_counts(jx_typing *t, int nins, int nouts); /* -1: any */
bool jx_type_axis(jx_typing *t, const char *name, int64_t axis, int rank);
/* In range and distinct. */
bool jx_type_axes(jx_typing *t, const char *name, jx_ints axes, int rank);
bool jx_type_same_shapes(jx_typing *t, int first, int last);
bool jx_type_same_dtypes(jx_typing *t, int first, int last);
bool jx_type_scalar(jx_typing *t, int operand);
/* n operands of one shape, then n scalars of their dtypes. */
bool jx_type_starts(jx_typing *t, int n);
bool jx_type_integer(jx_typing *t, int operand);
bool jx_has_axis(jx_ints axes, int64_t axis);
/* Every input is weakly typed (and there is one). */
bool jx_all_weak(const jx_typing *t);

/* Which dtypes an operand may have: a set of kinds. */
enum {
    JX_TAKES_BOOL = 1 << JX_KIND_BOOL,
    JX_TAKES_INT = 1 << JX_KIND_INT,
    JX_TAKES_UINT = 1 << JX_KIND_UINT,
    JX_TAKES_FLOAT = 1 << JX_KIND_FLOAT,
    JX_TAKES_COMPLEX = 1 << JX_KIND_COMPLEX,
    JX_TAKES_KEY = 1 << JX_KIND_KEY,
    JX_TAKES_INTEGER = JX_TAKES_INT | JX_TAKES_UINT,
    JX_TAKES_INEXACT = JX_TAKES_FLOAT | JX_TAKES_COMPLEX,
    JX_TAKES_NUMBER = JX_TAKES_INTEGER | JX_TAKES_INEXACT,
    JX_TAKES_REAL = JX_TAKES_BOOL | JX_TAKES_INTEGER | JX_TAKES_FLOAT,
    JX_TAKES_ANY = JX_TAKES_BOOL | JX_TAKES_NUMBER,
};
bool jx_type_takes(jx_typing *t, int operand, unsigned kinds);
/* What the elementwise and reducing primitives take (accepts.def). */
unsigned jx_prim_takes(jx_prim_id id);

/* Nested jaxprs.  They are typed before their callers; these give what was
 * inferred, and check operands against declared inputs (`what` names them). */
const jx_aval *const *jx_callee_outs(jx_typing *t, const jx_jaxpr *callee);
bool jx_type_closed(jx_typing *t, const jx_closed *closed, const char *what);
/* Input `i` of the callee (after its constvars) gets a value of this type. */
void jx_type_pass(jx_typing *t, const jx_jaxpr *callee, int i,
                  const jx_aval *value, const char *what);
/* A computation on scalars: it takes `nins` of these dtypes and
 * gives `nouts`. */
bool jx_type_computation(jx_typing *t, const jx_closed *closed,
                         const char *what, int nins, const jx_dtype *ins,
                         int nouts, const jx_dtype *outs);
/* The body of a reduction (parameter `jaxpr`): it takes n accumulated and n new
 * values of the types of operands n to 2n, gives n. */
bool jx_type_reducer(jx_typing *t, const jx_closed *body, int n);
/* Two types that must agree but for weak types, which JAX lets differ between
 * branches and round a loop. */
void jx_type_agree(jx_typing *t, const jx_aval *a, const jx_aval *b,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Output `i` is this type as it is, varying axes and all. */
void jx_type_is(jx_typing *t, int i, const jx_aval *aval);
/* Nothing is known of what this equation computes: its results are as declared,
 * which becomes an assumption, and what depends on them is not settled.  `name`
 * is what it is called. */
void jx_type_unknown(jx_typing *t, const char *name);
void jx_assume(jx_typing *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same aval, weakly typed or not. */
const jx_aval *jx_aval_weak(jx_typing *t, const jx_aval *aval, bool weak);
/* The same aval with a leading axis, or without. */
const jx_aval *jx_aval_stacked(jx_typing *t, const jx_aval *aval,
                               const jx_dim *length);
const jx_aval *jx_aval_item(jx_typing *t, const jx_aval *aval);

/* Of a reduction over axes of a mesh, whose results have the types of what
 * each device has: these axes are bound, and where types say over what values
 * vary, results do not vary over them (but those of psum, which JAX has where
 * types say nothing). */
void jx_type_across(jx_typing *t, jx_axis_names axes, jx_groups groups);
/* Sorted sets of axes of a mesh, with these axes and without them; NULL as
 * their names without memory. */
jx_names jx_names_with(jx_typing *t, jx_names set, jx_axis_names more);
jx_names jx_names_without(jx_typing *t, jx_names set, jx_axis_names less);
/* The same aval, that varies over these axes. */
const jx_aval *jx_aval_varying(jx_typing *t, const jx_aval *aval,
                               jx_names axes);

/* Checks the jaxprs of a custom rule against its function
 * (type_rules_custom.c). */
void jx_type_custom_rule(jx_typing *t, const struct jx_rule *rule);

/* What is the same of a ragged_all_to_all in JAX's words and in
 * StableHLO's. */
void jx_type_ragged_rows(jx_typing *t);

#endif
