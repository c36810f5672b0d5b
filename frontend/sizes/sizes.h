/* sizes.h - the integers of a program as sizes.
 *
 * A program that does not know its sizes computes them with integers: from
 * sizes of arrays, from arguments, by arithmetic that is spread over functions.
 * Here the integers of equations are followed as dims, one equation after the
 * other:
 *
 *     jx_sz_follow(s, eqn)          what its result holds
 *     jx_sz_known(s, atom)          the integers of an operand, as dims
 *
 * What dims cannot say by themselves - the sign of one, a division that rounds
 * toward zero, a choice - is an *auxiliary* variable with a record of what it
 * means.  A choice between two dims is made by cases: in each sign of the
 * operands and each remainder (zero or not) the auxiliaries are numbers, and
 * where one dim is right in all cases it is the answer.  So JAX's floor_divide
 * and remainder become floordiv and mod, whatever their functions are called.
 * An auxiliary that stays is written with max and min.
 *
 * Integers are those of the mathematicians; where the program's own wrap is the
 * analyzer's business. */
#ifndef JX_SIZES_H
#define JX_SIZES_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/scope.h"

enum {
    JX_SZ_ELEMENTS = 256, /* of a value that is followed */
    JX_SZ_NODES = 400,    /* of a dim */
    JX_SZ_RANK = 64,
    JX_SZ_ASSERTED = 16, /* comparisons in one assertion */
};

/* Where a variable comes from. */
typedef enum jx_size_origin {
    JX_SIZE_AXIS = 0, /* of an input's shape */
    JX_SIZE_INPUT,    /* an element of an input of integers */
    JX_SIZE_BOUND,    /* an element that the program computes otherwise */
    JX_SIZE_FREE,     /* nothing says how large */
} jx_size_origin;

typedef struct jx_size_var {
    const jx_dim_atom *var;
    jx_size_origin origin;
    int input, axis; /* JX_SIZE_AXIS: the first place, the axis -1 where only
                        sums and products have it */
    int element;     /* JX_SIZE_INPUT: of the input */
} jx_size_var;

/* ---- conditions: interned, so that equal ones are one pointer */

typedef enum jx_sz_cond_kind {
    JX_SZ_FALSE = 0,
    JX_SZ_TRUE,
    JX_SZ_ZERO,    /* dim == 0 */
    JX_SZ_NONZERO, /* dim != 0 */
    JX_SZ_NONNEG,  /* dim >= 0 */
    JX_SZ_AND,
    JX_SZ_OR,
} jx_sz_cond_kind;

typedef struct jx_sz_cond {
    jx_sz_cond_kind kind;
    int nodes;
    const jx_dim *dim;
    const struct jx_sz_cond *a, *b;
} jx_sz_cond;

/* An element: an integer or a truth value; both NULL: not known. */
typedef struct jx_sz_elem {
    const jx_dim *dim;
    const jx_sz_cond *cond;
} jx_sz_elem;

/* The elements of a value, row-major; NULL: nothing is known of it. */
typedef struct jx_sz_info {
    int count;
    const jx_sz_elem *elems;
} jx_sz_info;

typedef enum jx_sz_aux_kind {
    JX_SZ_SIGN, /* of a: -1, 0, 1 */
    /* 1 where a/b rounded toward 0 is floordiv(a, b) + 1, else 0 */
    JX_SZ_CARRY,
    JX_SZ_CHOICE, /* 1 where cond holds, else 0 */
    JX_SZ_OPAQUE, /* an element that nothing is known of */
} jx_sz_aux_kind;

typedef struct jx_sz_aux {
    jx_sz_aux_kind kind;
    const jx_dim *a, *b;
    const jx_sz_cond *cond;
    const jx_var *of; /* of an opaque one: whose element; NULL: of an input's */
    int input, element;
    bool scalar; /* the input has no other */
    const jx_dim_atom *var;
    const jx_dim *size; /* of an opaque one: the variable that it is where a
                           size needs it, or NULL */
} jx_sz_aux;

typedef struct jx_sz_equation {
    const jx_dim_atom *var;
    const jx_dim *is;
} jx_sz_equation;

typedef struct jx_sizes {
    jx_ctx *ctx;
    jx_dims *dims;
    bool plain; /* nothing here has to do with sizes, and nothing is followed */
    bool wrapping; /* numbers wrap as those of the program do */
    int64_t base;  /* the least value of every variable */
    const jx_sz_cond *no, *yes;
    jx_intern conds, auxs, values;
    JX_VEC(jx_sz_aux *) aux; /* by the number in the variable's name */
    JX_VEC(jx_size_var) vars;
    jx_scope_list constraints;
    jx_map names; /* taken by variables */
    int fresh;    /* numbers given to new ones */
    int64_t work; /* equations looked at */
    bool looking; /* what equations look at is kept */
    jx_intern looks;
    JX_VEC(jx_looked) looked;
    /* Finding out which sizes are the same: of sizes that nobody named. */
    bool unifying;
    JX_VEC(const jx_dim_atom *) open; /* variables that may be replaced */
    JX_VEC(jx_sz_equation) equations;
} jx_sizes;

/* NULL without memory. */
jx_sizes *jx_sizes_new(jx_ctx *ctx, jx_dims *dims);
/* What was followed so far, and the variables made for it; those of inputs
 * stay. */
void jx_sz_forget(jx_sizes *s);

/* ---- what is known (sizes.c) */

/* Of an operand; a value that nothing is known of has all zero. */
jx_sz_info jx_sz_info_of(jx_sizes *s, jx_atom atom);
/* The same, where integers that nothing is known of become opaque, so that two
 * uses of them are seen to be the same, in functions that are called with them,
 * too. */
jx_sz_info jx_sz_operand(jx_sizes *s, jx_atom atom);
bool jx_sz_set(jx_sizes *s, jx_atom atom, jx_sz_info info);
/* The variable is argument `input` of the entry. */
void jx_sz_set_input(jx_sizes *s, const jx_var *var, int input);

/* The elements of an integer tensor, for a place that wants sizes: integers of
 * the entry's inputs become variables there.  NULL if one is not known before
 * the program runs. */
const jx_dim *const *jx_sz_sizes(jx_sizes *s, jx_atom atom);
/* The same, of elements that follow from the shapes of inputs alone. */
const jx_dim *const *jx_sz_known(jx_sizes *s, jx_atom atom);
/* limit - start, where that is known though they themselves may not be. */
const jx_dim *const *jx_sz_slice(jx_sizes *s, jx_atom start, jx_atom limit);
/* An element as a size: a variable of its own where it is not known. */
const jx_dim *jx_sz_size(jx_sizes *s, jx_atom atom, int element);
/* Both atoms hold the same, as far as anybody knows. */
bool jx_sz_same_info(const jx_sz_info *a, const jx_sz_info *b);
/* Every variable of it is a size or an element of an input. */
bool jx_sz_is_given(const jx_sizes *s, const jx_dim *dim);
/* How many elements; -1: not known. */
int64_t jx_sz_count(const jx_aval *aval);

/* A new variable, called `name` if that is not taken. */
const jx_dim *jx_sz_fresh(jx_sizes *s, jx_size_var like, const char *name);
/* One for a size that nothing is known of. */
const jx_dim *jx_sz_free(jx_sizes *s);
/* The name counts as taken. */
bool jx_sz_take_name(jx_sizes *s, const char *name);
/* Without choices between sizes of which one is known to be the larger. */
const jx_dim *jx_sz_decided(jx_sizes *s, const jx_dim *dim);
/* The two are equal, or the program makes no sense. */
void jx_sz_same(jx_sizes *s, const jx_dim *a, const jx_dim *b);

/* ---- equations (integers.c) */

/* Whether equations are followed: there is something to know,
 * and not too much. */
bool jx_sz_follows(const jx_sizes *s);
/* Follows the integers of the equation, as far as they are known. */
void jx_sz_follow(jx_sizes *s, const jx_eqn *eqn);
/* The variable holds what the elementwise primitive makes of both, however
 * it is computed. */
void jx_sz_follow_as(jx_sizes *s, const jx_prim *prim, jx_atom a, jx_atom b,
                     const jx_var *to);

/* ---- values (value.c) */

bool jx_sz_value_init(jx_sizes *s);
jx_dim_range jx_sz_bounds(const jx_sizes *s, const jx_dim *dim);
const jx_sz_cond *jx_sz_compare(jx_sizes *s, jx_prim_id comparison,
                                const jx_dim *a, const jx_dim *b);
const jx_sz_cond *jx_sz_and(jx_sizes *s, const jx_sz_cond *a,
                            const jx_sz_cond *b);
const jx_sz_cond *jx_sz_or(jx_sizes *s, const jx_sz_cond *a,
                           const jx_sz_cond *b);
const jx_sz_cond *jx_sz_not(jx_sizes *s, const jx_sz_cond *a);
const jx_dim *jx_sz_sign(jx_sizes *s, const jx_dim *a);
const jx_dim *jx_sz_abs(jx_sizes *s, const jx_dim *a);
/* Rounded toward 0; and what is left. */
const jx_dim *jx_sz_divide(jx_sizes *s, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_sz_remainder(jx_sizes *s, const jx_dim *a, const jx_dim *b);
const jx_dim *jx_sz_select(jx_sizes *s, const jx_sz_cond *cond,
                           const jx_dim *yes, const jx_dim *no);
/* 1 or 0. */
const jx_dim *jx_sz_indicator(jx_sizes *s, const jx_sz_cond *cond);
/* An opaque element; `like` says whose. */
const jx_dim *jx_sz_opaque(jx_sizes *s, jx_sz_aux like);
/* Whether some of it is opaque; with `inputs`, elements of the entry's
 * arguments count. */
bool jx_sz_is_opaque(const jx_sizes *s, const jx_dim *dim, bool inputs);
/* Without auxiliaries; NULL where that cannot be said. */
const jx_dim *jx_sz_public(jx_sizes *s, const jx_dim *dim);
/* The comparisons that make up `cond`, without auxiliaries; false if it is
 * none of that kind.  What always holds is left out. */
bool jx_sz_compared(jx_sizes *s, const jx_sz_cond *cond,
                    jx_scope_constraint *to, int *count);

#endif
