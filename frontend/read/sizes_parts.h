/* sizes_parts.h - what the files of sizes.h share.
 *
 * Integers are dims.  What dims cannot say by themselves - the sign of one, a
 * division that rounds toward zero, a choice - is an *auxiliary* variable with
 * a record of what it means.  A choice between two dims is made by cases: in
 * each sign of the operands and each remainder (zero or not) the auxiliaries
 * are numbers, and where one dim is right in all cases it is the answer.  So
 * JAX's floor_divide and remainder become floordiv and mod, whatever their
 * functions are called.  An auxiliary that stays is written with max and min. */
#ifndef JX_READ_SIZES_PARTS_H
#define JX_READ_SIZES_PARTS_H

#include "frontend/base/vec.h"
#include "frontend/ir/scope.h"
#include "frontend/read/sizes.h"

enum {
    JX_SZ_ELEMENTS = 256, /* of a value that is followed */
    JX_SZ_NODES = 400,    /* of a dim */
    JX_SZ_RANK = 64,
    JX_SZ_DEPTH = 100,    /* of calls and regions */
    JX_SZ_ASSERTED = 16,  /* comparisons in one assertion */
};

/* ---- conditions: interned, so that equal ones are one pointer */

typedef enum jx_sz_cond_kind {
    JX_SZ_FALSE = 0,
    JX_SZ_TRUE,
    JX_SZ_ZERO,     /* dim == 0 */
    JX_SZ_NONZERO,  /* dim != 0 */
    JX_SZ_NONNEG,   /* dim >= 0 */
    JX_SZ_AND,
    JX_SZ_OR,
} jx_sz_cond_kind;

typedef struct jx_sz_cond {
    jx_sz_cond_kind kind;
    int nodes;
    const jx_dim *dim;
    const struct jx_sz_cond *a, *b;
} jx_sz_cond;

/* An element: an integer or a truth value; all NULL: not known. */
typedef struct jx_sz_elem {
    const jx_dim *dim;
    const jx_sz_cond *cond;
} jx_sz_elem;

/* What is known of a value: its elements (NULL: nothing) and its sizes (NULL:
 * its type says them). */
typedef struct jx_sz_info {
    int count;
    const jx_sz_elem *elems;
    int rank;
    const jx_dim *const *shape;
} jx_sz_info;

typedef enum jx_sz_aux_kind {
    JX_SZ_SIGN,  /* of a: -1, 0, 1 */
    JX_SZ_CARRY, /* 1 where a/b rounded toward 0 is floordiv(a, b) + 1, else 0 */
    JX_SZ_CHOICE, /* 1 where cond holds, else 0 */
    JX_SZ_OPAQUE, /* an element that nothing is known of */
} jx_sz_aux_kind;

typedef struct jx_sz_aux {
    jx_sz_aux_kind kind;
    const jx_dim *a, *b;
    const jx_sz_cond *cond;
    const struct jx_sizes_env *env; /* of an opaque one: in which function, NULL:
                                       an argument of the entry */
    const jx_mlir_value *value;
    int element;
    const jx_dim_atom *var;
    const jx_dim *size; /* of an opaque one: the variable that it is where a
                           size needs it, or NULL */
} jx_sz_aux;

typedef struct jx_sz_equation {
    const jx_dim_atom *var;
    const jx_dim *is;
} jx_sz_equation;

struct jx_sizes {
    jx_ctx *ctx;
    jx_dims *dims;
    jx_sizes_options options;
    jx_mlir_symbols *symbols;
    const jx_mlir_op *entry;
    bool plain; /* nothing here has to do with sizes */
    int64_t base;
    const jx_sz_cond *no, *yes;
    jx_intern conds, auxs, envs;
    JX_VEC(jx_sz_aux *) aux; /* by the number in the variable's name */
    JX_VEC(jx_size_var) vars;
    JX_VEC(jx_size_assertion) assertions;
    jx_scope_list constraints;
    jx_intern names; /* taken by variables */
    int fresh;       /* numbers given to new ones */
    jx_sz_info *args; /* of the entry */
    jx_sizes_env *root;
    int64_t work; /* ops looked at */
    int depth;
    bool recording; /* assertions */
    /* Finding out which sizes are the same: of sizes that nobody named. */
    bool unifying;
    JX_VEC(const jx_dim_atom *) open; /* variables that may be replaced */
    JX_VEC(jx_sz_equation) equations;
    JX_VEC(const char *) equated; /* what they were */
};

struct jx_sizes_env {
    jx_sizes *of;
    const jx_mlir_op *func;
    int nargs;
    const jx_sz_info *args;
    uint64_t hash;
    bool busy; /* being looked at: a call of it leads nowhere */
    jx_intern values, calls;
    int nresults;
    const jx_sz_info *results;
};

/* ---- values (sizes_value.c) */

bool jx_sz_value_init(jx_sizes *s);
jx_dim_range jx_sz_bounds(const jx_sizes *s, const jx_dim *dim);
const jx_sz_cond *jx_sz_compare(jx_sizes *s, const char *direction,
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
const jx_dim *jx_sz_opaque(jx_sizes *s, const jx_sizes_env *env,
                           const jx_mlir_value *value, int element);
/* Whether some of it is opaque; with `inputs`, elements of the entry's
 * arguments count. */
bool jx_sz_is_opaque(const jx_sizes *s, const jx_dim *dim, bool inputs);
/* Without auxiliaries; NULL where that cannot be said. */
const jx_dim *jx_sz_public(jx_sizes *s, const jx_dim *dim);
/* The comparisons that make up `cond`, without auxiliaries; false if it is
 * none of that kind.  What always holds is left out. */
bool jx_sz_compared(jx_sizes *s, const jx_sz_cond *cond,
                    jx_scope_constraint *to, int *count);

/* ---- ops (sizes_ops.c, sizes_shape.c) */

/* What is known of a value; a value that nothing is known of has all zero. */
jx_sz_info jx_sz_info_of(const jx_sizes_env *env, const jx_mlir_value *value);
/* An operand: integers that nothing is known of become opaque, so that two uses
 * of them are seen to be the same, in functions that are called with them,
 * too. */
jx_sz_info jx_sz_operand(jx_sizes_env *env, const jx_mlir_value *value);
bool jx_sz_set(jx_sizes_env *env, const jx_mlir_value *value, jx_sz_info info);
/* The elements of the op's results, where its operands are known. */
void jx_sz_elements(jx_sizes_env *env, const jx_mlir_op *op, jx_sz_info *to);
/* The sizes of the op's result; entries stay NULL where nothing is known.  An
 * axis whose size is a number in the type is not asked for. */
void jx_sz_infer(jx_sizes_env *env, const jx_mlir_op *op, int result,
                 const jx_dim **to);
/* ---- devices (sizes_devices.c): sdy.manual_computation */
void jx_sz_enter_manual(jx_sizes_env *env, const jx_mlir_op *op);
void jx_sz_infer_manual(jx_sizes_env *env, const jx_mlir_op *op, int result,
                        const jx_dim **to);

/* The sizes of an operand. */
const jx_dim *const *jx_sz_shape_of(const jx_sizes_env *env,
                                    const jx_mlir_value *value);
/* An element as a size: opaque where it is not known. */
const jx_dim *jx_sz_size(jx_sizes_env *env, const jx_mlir_value *value,
                         int element);
/* Whether it has variables that no input gives. */
bool jx_sz_is_made_up(jx_sizes *s, const jx_dim *dim);
/* The two are equal, or the program makes no sense. */
void jx_sz_same(jx_sizes *s, const jx_dim *a, const jx_dim *b);
/* Integers of a list attribute (a DENSE_ARRAY, or a dense tensor); false if
 * there is none. */
bool jx_sz_ints(const jx_sizes *s, const jx_mlir_attr *attr, int *count,
                const int64_t **at);
int64_t jx_sz_dense_int(const jx_mlir_attr *attr, int64_t index, bool *ok);
int64_t jx_sz_elements_of(const jx_mlir_type *type); /* -1: not known */

/* ---- functions (sizes.c) */
jx_sizes_env *jx_sz_enter(jx_sizes *s, const jx_mlir_op *func, int nargs,
                          const jx_sz_info *args);
void jx_sz_note(jx_sizes_env *env, const jx_mlir_op *op);
/* The last op of a region's block, or NULL. */
const jx_mlir_op *jx_sz_terminator(const jx_mlir_op *op, int region);
/* A tensor with a size that its type does not say. */
bool jx_sz_is_open(const jx_mlir_type *type);
/* An argument of the entry. */
bool jx_sz_is_input(const jx_sizes_env *env, const jx_mlir_value *value);
/* A new variable, called `name` if that is not taken. */
const jx_dim *jx_sz_fresh(jx_sizes *s, jx_size_var like, const char *name);
/* The name counts as taken. */
bool jx_sz_take_name(jx_sizes *s, const char *name);

/* ---- the entry (sizes_entry.c, sizes_messages.c) */
bool jx_sz_entry(jx_sizes *s);

typedef struct jx_sz_spec {
    const char *path; /* "args[0]" */
    const char *text; /* "(2*b, 4)" */
    int input;        /* the argument, or -1 */
} jx_sz_spec;

/* A number in a message, and what it is said to be. */
typedef enum jx_sz_shown_kind {
    JX_SZ_SHOWS_NOTHING = 0,
    JX_SZ_SHOWS_VAR,        /* 'b' = {0} */
    JX_SZ_SHOWS_SIZE,       /* args[0].shape[1] (= {0}) */
    JX_SZ_SHOWS_SPEC,       /* specification '2*b' (= {0}) */
    JX_SZ_SHOWS_REST,       /* Division had remainder {0} */
    JX_SZ_SHOWS_DIFFERENCE, /* but found {0} */
} jx_sz_shown_kind;

typedef struct jx_sz_shown {
    jx_sz_shown_kind kind;
    int operand;      /* {0} */
    const char *text; /* the variable, the specification, the path */
    int axis;         /* of JX_SZ_SHOWS_SIZE */
} jx_sz_shown;

typedef struct jx_sz_message {
    jx_assertion_kind kind;
    const char *name;       /* of a variable, or NULL */
    const char *path;       /* "args[0]" of JX_ASSERTS_SHAPE, ... */
    int axis;               /* ... and the axis */
    const char *spec;       /* "2*b" of JX_ASSERTS_SHAPE */
    const char *constraint; /* "a>=b" */
    const char *difference; /* "- b + a" */
    bool equal;
    int nspecs;
    const jx_sz_spec *specs;
    int nshown;
    const jx_sz_shown *shown;
} jx_sz_message;

/* Reads a message of jax.export; kind JX_ASSERTS_OTHER if it is none. */
jx_sz_message jx_sz_read_message(jx_ctx *ctx, const char *text);
/* The first `{0}` of a message that is none of `count` operands, else -1. */
int jx_sz_beyond(const char *text, int count);

#endif
