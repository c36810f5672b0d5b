/* sizes.h - which sizes the integers of a StableHLO module stand for.
 *
 * A module with sizes that are not known says `?` in its types, and computes
 * with integers what the sizes are: from get_dimension_size, from arguments,
 * by arithmetic that is spread over private functions.  Here that arithmetic
 * is done with dims, so that each `?` gets a symbolic size and each assertion
 * about sizes becomes a statement about dims:
 *
 *     jx_sizes *s = jx_sizes_new(ctx, dims, &options);
 *     const jx_sizes_env *in = jx_sizes_entry(s);
 *     jx_sizes_shape(in, value)  the sizes of a tensor
 *     jx_sizes_of(in, value)     the integers that a value holds
 *     jx_sizes_call(in, op)      the function that `op` calls, for its operands
 *
 * A function is looked at anew for each list of arguments that differ in what
 * is known of them; equal ones share one environment.  Where an environment
 * has nothing to say about a size it is a variable of its own, so that a shape
 * is always complete.
 *
 * Names and constraints come from the shapes that the caller hands over (those
 * of an exported file), else from the messages of the assertions that
 * jax.export writes into @main, else sizes are named by argument and axis:
 * `arg0_1`.  Integers are those of the mathematicians; where the program's own
 * wrap is the analyzer's business. */
#ifndef JX_READ_SIZES_H
#define JX_READ_SIZES_H

#include "frontend/ir/dim_spec.h"
#include "frontend/ir/program.h"
#include "frontend/mlir/tree.h"

typedef struct jx_sizes jx_sizes;         /* of a module */
typedef struct jx_sizes_env jx_sizes_env; /* of a function, for one list of
                                             arguments */

/* An element of an argument (counted as the shapes are) that is a number. */
typedef struct jx_given_integer {
    int input, element;
    int64_t value;
} jx_given_integer;

typedef struct jx_sizes_options {
    const jx_mlir_op *module;
    const char *entry; /* the function's name; NULL: "main" */
    const jx_mlir_op *function; /* ... or it itself */
    /* Shapes of the entry's last `nshapes` arguments (what comes before are the
     * platform's index and tokens); 0: they are found out. */
    int nshapes;
    const jx_dim_shape *shapes;
    const char *path; /* of the input, for messages */
    /* The shapes are numbers (a rank of -1: not known): integers wrap as those
     * of the program do, and messages are not read.  Integers that callers
     * give, as far as they are known: */
    bool at_sizes;
    int ngiven;
    const jx_given_integer *given;
} jx_sizes_options;

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
    int input, axis;            /* JX_SIZE_AXIS: the first place, or -1 where
                                   only sums and products have it */
    const jx_mlir_value *value; /* of JX_SIZE_INPUT, JX_SIZE_BOUND; of
                                   JX_SIZE_FREE: whose axis it is */
    int element;                /* ... and which element (or axis) */
} jx_size_var;

/* What an assertion says in its message. */
typedef enum jx_assertion_kind {
    JX_ASSERTS_OTHER = 0,
    JX_ASSERTS_POSITIVE,   /* a variable is at least 1 */
    JX_ASSERTS_DIVISIBLE,  /* a size gives a variable without remainder */
    JX_ASSERTS_SHAPE,      /* a size agrees with its specification */
    JX_ASSERTS_CONSTRAINT, /* what the author declared */
} jx_assertion_kind;

/* Message and operands disagree: what, and sizes at which (their variables are
 * named as `args[0].shape[1]`; none: at all sizes).  A text of NULL: they agree,
 * or the message says nothing, or nobody knows. */
typedef struct jx_size_mismatch {
    const char *what;
    int nsizes;
    const jx_binding *sizes;
} jx_size_mismatch;

typedef struct jx_size_assertion {
    const jx_mlir_op *op; /* custom_call @shape_assertion */
    const jx_sizes_env *env;
    jx_assertion_kind kind;
    bool declares; /* in the entry: what a caller has to keep to */
    const char *message;
    const char *text; /* of JX_ASSERTS_CONSTRAINT: the author's words */
    /* What the operand compares, all of which must hold; known: it could be
     * followed, and there may be nothing left of it (it always holds). */
    bool known;
    int ncompared;
    const jx_scope_constraint *compared;
    bool fails; /* the operand is false, whatever the sizes */
    /* The numbers that the message shows; NULL where one is not known. */
    int nshown;
    const jx_dim *const *shown;
    jx_size_mismatch mismatch; /* of message and operands */
} jx_size_assertion;

/* NULL with an error (memory). */
jx_sizes *jx_sizes_new(jx_ctx *ctx, jx_dims *dims,
                       const jx_sizes_options *options);

/* NULL: there is no such function. */
const jx_sizes_env *jx_sizes_entry(const jx_sizes *sizes);
/* The environment of the function that a call (func.call, stablehlo.composite)
 * leads to; NULL where it is not known (an unknown name, too deep). */
const jx_sizes_env *jx_sizes_call(const jx_sizes_env *in,
                                  const jx_mlir_op *call);
const jx_mlir_op *jx_sizes_function(const jx_sizes_env *env);

/* The sizes of a tensor's axes; NULL for what is no ranked tensor. */
const jx_dim *const *jx_sizes_shape(const jx_sizes_env *in,
                                    const jx_mlir_value *value);
/* The elements of an integer tensor, row-major, for a place that wants sizes:
 * integers of the entry's inputs become variables there.  NULL if one is not
 * known before the program runs. */
const jx_dim *const *jx_sizes_of(const jx_sizes_env *in,
                                 const jx_mlir_value *value);
/* The same, of elements that follow from the shapes of inputs alone. */
const jx_dim *const *jx_sizes_known(const jx_sizes_env *in,
                                    const jx_mlir_value *value);
/* limit - start, where that is known though they themselves may not be. */
const jx_dim *const *jx_sizes_slice(const jx_sizes_env *in,
                                    const jx_mlir_value *start,
                                    const jx_mlir_value *limit);
/* The element of a scalar that is a symbolic size (no number): what a literal
 * of the program stands for.  NULL for everything else. */
const jx_dim *jx_sizes_symbol(const jx_sizes_env *in,
                              const jx_mlir_value *value);

/* The least value of every variable: 1 for what JAX wrote, else 0. */
int64_t jx_sizes_base(const jx_sizes *sizes);
/* What the entry asks of its callers, in the order of its assertions; empty
 * where it asks for nothing. */
jx_scope jx_sizes_scope(const jx_sizes *sizes);
/* Sizes that nobody named and that are the same: "arg2_0 = arg1_0". */
int jx_sizes_equated(const jx_sizes *sizes, const char *const **texts);
/* All variables, those of inputs first. */
int jx_sizes_vars(const jx_sizes *sizes, const jx_size_var **vars);
/* All assertions, those of the entry first. */
int jx_sizes_assertions(const jx_sizes *sizes,
                        const jx_size_assertion **assertions);
/* That of `op`, or NULL. */
const jx_size_assertion *jx_sizes_assertion(const jx_sizes_env *in,
                                            const jx_mlir_op *op);

#endif
