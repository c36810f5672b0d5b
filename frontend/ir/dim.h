/* dim.h - sizes of axes, as polynomials over symbolic dimensions.
 *
 * A dim is an interned polynomial with checked 128-bit coefficients over
 * variables and the atoms floordiv, mod, max and min (each of two dims).  Two
 * dims are equal by algebra exactly when their pointers are equal; equality
 * that depends on assumptions is a question for the prover.
 *
 * The normal form is JAX's own (jax/_src/export/shape_poly.py), so that
 * printing gives JAX's text: terms are sorted as JAX sorts them, atoms are
 * opaque but for folding constants, and nothing relates floordiv to mod.
 * Division is Python's: floor.
 *
 * A variable belongs to a scope (a number; 0 almost always): variables of one
 * name and two scopes are different. */
#ifndef JX_DIM_H
#define JX_DIM_H

#include "frontend/base/buffer.h"
#include "frontend/base/ctx.h"
#include "frontend/base/vec.h"

#include <stdint.h>

typedef __int128 jx_int;
typedef struct jx_dim jx_dim;
typedef struct jx_dims jx_dims; /* interns dims; lives in a context's arena */

jx_dims *jx_dims_new(jx_ctx *ctx);

jx_ctx *jx_dims_ctx(const jx_dims *in);

/* Every constructor gives NULL when a coefficient leaves 128 bits or memory
 * ends, and takes NULL operands (giving NULL), so that a chain is checked once
 * at its end. */
const jx_dim *jx_dim_int(jx_dims *in, int64_t value);
const jx_dim *jx_dim_wide(jx_dims *in, jx_int value);
const jx_dim *jx_dim_var(jx_dims *in, const char *name, int scope);
const jx_dim *jx_dim_add(jx_dims *in, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_dim_sub(jx_dims *in, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_dim_mul(jx_dims *in, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_dim_neg(jx_dims *in, const jx_dim *a);
const jx_dim *jx_dim_pow(jx_dims *in, const jx_dim *a, int64_t power);
/* As JAX's `//` and `%`: polynomial division where it goes, else the atom. */
const jx_dim *jx_dim_floordiv(jx_dims *in, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_dim_mod(jx_dims *in, const jx_dim *a, const jx_dim *b);
/* Folded where the difference is a number; JAX folds by its bounds, too, so
 * the text that it prints keeps only what stays here as well. */
const jx_dim *jx_dim_max(jx_dims *in, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_dim_min(jx_dims *in, const jx_dim *a, const jx_dim *b);
/* a / b where b divides a as polynomials, else NULL without an error. */
const jx_dim *jx_dim_divide_exactly(jx_dims *in, const jx_dim *a,
                                    const jx_dim *b);

/* From now on the product `before` (one term: a coefficient and its factors) is
 * written as `after` wherever a constructor makes it or a multiple of it, alone
 * or (a single factor) within a larger product: what `before == after` means to
 * JAX, which applies one rule once per operation.  False if `before` is no
 * product, or has a rule.  Values agree only where the equality holds. */
bool jx_dims_rewrite(jx_dims *in, const jx_dim *before, const jx_dim *after);

/* Some rule is there: results may differ from their operands in value. */
bool jx_dims_have_rewrites(const jx_dims *in);

/* True, and sets *value, if the dim is a number (that fits); NULL is none. */
bool jx_dim_is_wide(const jx_dim *dim, jx_int *value);
bool jx_dim_is_int(const jx_dim *dim, int64_t *value);
/* There is a dim, and it is no number. */
bool jx_dim_is_symbolic(const jx_dim *dim);
/* The number, or -1 for a symbolic dim: for code that has checked. */
int64_t jx_dim_value(const jx_dim *dim);

/* Reads the grammar of frontend/base/expression.h.  On failure NULL, with *at
 * at the offset of the first byte that does not fit and *expected what was
 * expected there. */
const jx_dim *jx_dim_parse(jx_dims *in, const char *text, size_t length,
                           int scope, size_t *at, const char **expected);
/* The same for the longest prefix that is a dim: *end is where it ends (after
 * white space), or on failure as above. */
const jx_dim *jx_dim_parse_prefix(jx_dims *in, const char *text, size_t length,
                                  int scope, size_t *end,
                                  const char **expected);
/* The same with all that can be said of it. */
typedef JX_VEC(const jx_dim *) jx_dim_divisors;
typedef struct jx_dim_reading {
    int scope;
    /* Every operation as it is written, nothing simplified but sums and
     * products. */
    bool written;
    /* those that may be 0, or NULL: gathers all written */
    jx_dim_divisors *divisors;
    /* Set: */
    size_t end;
    const char *expected; /* NULL if it was read */
    bool too_large;       /* well written, but it does not fit */
} jx_dim_reading;
const jx_dim *jx_dim_read(jx_dims *in, const char *text, size_t length,
                          jx_dim_reading *reading);
/* As it is written, the longest prefix. */
const jx_dim *jx_dim_parse_written(jx_dims *in, const char *text, size_t length,
                                   int scope, size_t *end,
                                   const char **expected);
/* As JAX prints it. */
void jx_dim_print(const jx_dim *dim, jx_buffer *to);

/* The structure, for the prover: terms in printing order, each a coefficient
 * times factors raised to powers. */
typedef enum jx_atom_kind {
    JX_ATOM_VAR,
    JX_ATOM_FLOORDIV,
    JX_ATOM_MOD,
    JX_ATOM_MAX,
    JX_ATOM_MIN,
} jx_atom_kind;

const char *jx_atom_kind_name(jx_atom_kind kind); /* "floordiv" */

/* Interned: one pointer per atom. */
typedef struct jx_dim_atom {
    jx_atom_kind kind;
    int scope;           /* of a variable */
    const char *name;    /* of a variable, interned */
    const jx_dim *a, *b; /* operands of the others */
    unsigned id;         /* in order of creation within the jx_dims */
} jx_dim_atom;

typedef struct jx_dim_factor {
    const jx_dim_atom *atom;
    int power; /* >= 1 */
} jx_dim_factor;

typedef struct jx_dim_term {
    jx_int coefficient; /* not 0 */
    int nfactors;       /* 0: the constant term, which comes last */
    /* Interned: equal products are one pointer.  Largest atom first; printing
     * goes from the last to the first. */
    const jx_dim_factor *factors;
} jx_dim_term;

int jx_dim_nterms(const jx_dim *dim); /* 0 for the number 0 */
const jx_dim_term *jx_dim_terms(const jx_dim *dim);
/* JAX's order, by structure alone: < 0, 0 or > 0. */
int jx_dim_order(const jx_dim *a, const jx_dim *b);
unsigned jx_dim_id(const jx_dim *dim); /* in order of creation */
/* It is one of these, and found there by its terms. */
bool jx_dims_hold(const jx_dims *in, const jx_dim *dim);
int jx_dim_nodes(const jx_dim *dim); /* of the whole as a tree */

const jx_dim_atom *jx_dim_var_atom(jx_dims *in, const char *name, int scope);
const jx_dim *jx_dim_of_atom(jx_dims *in, const jx_dim_atom *atom);
/* The atom as written, nothing simplified; and by the constructor above. */
const jx_dim *jx_dim_literal(jx_dims *in, jx_atom_kind kind, const jx_dim *a,
                             const jx_dim *b);
const jx_dim *jx_dim_apply(jx_dims *in, jx_atom_kind kind, const jx_dim *a,
                           const jx_dim *b);

/* The distinct variables below a dim, nested ones too, sorted by name, then
 * scope; *count of them in the context's arena. */
const jx_dim_atom *const *jx_dim_vars(jx_dims *in, const jx_dim *dim,
                                      int *count);

/* Replaces a variable everywhere; NULL on overflow. */
const jx_dim *jx_dim_substitute(jx_dims *in, const jx_dim *dim,
                                const jx_dim_atom *var, const jx_dim *value);

/* Puts other dims for some atoms: `map` sets *put for those that change and
 * gives false on overflow.  It is not called for atoms inside of atoms. */
typedef bool jx_dim_mapping(void *env, const jx_dim_atom *atom,
                            const jx_dim **put);
const jx_dim *jx_dim_map(jx_dims *in, const jx_dim *dim, jx_dim_mapping *map,
                         void *env);

/* A dim of other jx_dims as one of `in`: `put` says what (of `in`) stands for
 * each of its variables.  NULL on overflow, or where `put` gives NULL. */
typedef const jx_dim *jx_dim_putting(void *env, const jx_dim_atom *var);
const jx_dim *jx_dim_import(jx_dims *in, const jx_dim *dim, jx_dim_putting *put,
                            void *env);

/* The value under an assignment.  `value` gives a variable's value, false if
 * it has none.  False on overflow of 64 bits, a divisor that is 0, or a
 * variable without a value. */
typedef bool jx_dim_lookup(void *env, const jx_dim_atom *var, int64_t *value);
bool jx_dim_eval(const jx_dim *dim, jx_dim_lookup *value, void *env,
                 int64_t *result);

/* The same of variables whose values may need 128 bits, within 128 bits. */
typedef bool jx_dim_wide_lookup(void *env, const jx_dim_atom *var,
                                jx_int *value);
bool jx_dim_eval_exact(const jx_dim *dim, jx_dim_wide_lookup *value, void *env,
                       jx_int *result);

/* Values of 64 bits, within 128 bits. */
bool jx_dim_eval_wide(const jx_dim *dim, jx_dim_lookup *value, void *env,
                      jx_int *result);

/* The same as a machine computes it whose integers have `bits` bits (2 to 64)
 * and wrap: sums and products are right modulo 2^bits, the operands and results
 * of the other operations wrap first.  False on a divisor that is 0 there, or a
 * variable without a value. */
bool jx_dim_eval_wrapped(const jx_dim *dim, int bits, jx_dim_lookup *value,
                         void *env, int64_t *result);

/* Values of variables: in a counterexample, or those that a run has. */
typedef struct jx_binding {
    const jx_dim_atom *var;
    jx_int value;
} jx_binding;

typedef struct jx_assignment {
    int count;
    const jx_binding *at;
} jx_assignment;

/* The jx_dim_lookup whose `env` is a jx_assignment: a value beyond 64 bits is
 * none.  And the jx_dim_wide_lookup. */
bool jx_assigned(void *env, const jx_dim_atom *var, int64_t *value);
bool jx_assigned_wide(void *env, const jx_dim_atom *var, jx_int *value);

/* Floor division; false when b is 0 or the quotient does not fit. */
bool jx_int_floordiv(jx_int a, jx_int b, jx_int *quotient, jx_int *remainder);
void jx_int_print(jx_int value, jx_buffer *to);

/* A quick interval of the values over all assignments with every variable >=
 * `base` (exact integers, saturating): for cheap answers anywhere.  The prover
 * knows more. */
typedef struct jx_dim_range {
    jx_int low, high;
    bool has_low, has_high;
} jx_dim_range;
jx_dim_range jx_dim_bounds(const jx_dim *dim, int64_t base);
/* The same with a range of its own for each variable, or a better one for any
 * atom: `range` narrows *known, which holds what follows from the atom's
 * operands. */
typedef void jx_dim_range_of(void *env, const jx_dim_atom *atom,
                             jx_dim_range *known);
jx_dim_range jx_dim_bounds_by(const jx_dim *dim, jx_dim_range_of *range,
                              void *env);

#endif
