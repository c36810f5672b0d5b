/* program.h - a program: jaxprs, and all that they refer to.
 *
 * This is the one representation with meaning.  Every reader makes it, every
 * pass and rule reads it, every writer prints it.  It is built once, by a
 * reader or a pass, and not changed after jx_program_verify(); everything in
 * it lives in the arena of its context.
 *
 *     program -> entry jaxpr -> equations -> (params) -> nested jaxprs
 *
 * A variable is a pointer; it belongs to exactly one jaxpr and is defined once:
 * as a constvar, an input, or an output of one equation, before every use. */
#ifndef JX_PROGRAM_H
#define JX_PROGRAM_H

#include "frontend/ir/prim.h"
#include "frontend/ir/value.h"

/* A constant array.  Row-major; bool one byte, 4-bit types one byte each, keys
 * their u32 data with the trailing axis not in `shape`. */
typedef struct jx_array {
    const jx_aval *aval; /* static */
    bool splat;          /* all elements equal: `data` holds one */
    size_t bytes;        /* of `data` */
    const void *data;    /* NULL if the values are not known (text) */
    const char *npz;     /* the array's name in the side file, or NULL */
} jx_array;

/* A literal operand that is a scalar: the element as it lies in memory. */
typedef struct jx_literal {
    const jx_aval *aval;
    const jx_dim *dim;      /* a symbolic size used as a value, or NULL */
    const jx_array *array;  /* an array literal, or NULL */
    unsigned char bits[16]; /* otherwise: one element, little endian */
    bool wide;              /* a Python float that its dtype can't hold, ... */
    double real; /* ... which JAX still prints: as it was before rounding */
} jx_literal;

typedef struct jx_var {
    const jx_aval *aval; /* as the input declares it */
    int id;       /* its number in its jaxpr: constvars, inputs, outputs */
    bool dropped; /* printed `_`, never used */
} jx_var;

/* An operand: a variable, or a literal if `var` is NULL. */
typedef struct jx_atom {
    const jx_var *var;
    const jx_literal *literal;
} jx_atom;

static inline const jx_aval *jx_atom_aval(jx_atom atom)
{
    return atom.var ? atom.var->aval : atom.literal->aval;
}

typedef enum jx_file_kind {
    JX_FILE_USER = 0,
    JX_FILE_LIBRARY,
    JX_FILE_JAX,
} jx_file_kind;

typedef struct jx_source_line {
    int number; /* from 1 */
    const char *text;
} jx_source_line;

typedef struct jx_file {
    const char *path;
    jx_file_kind kind;
    int nlines;
    const jx_source_line *lines; /* embedded source lines, by number */
} jx_file;

typedef struct jx_frame {
    const jx_file *file;
    const char *function;
    /* lines from 1, columns from 0; -1 */
    int line, column, end_line, end_column;
} jx_frame;

typedef struct jx_stack {
    int count;
    const jx_frame *const *frames; /* innermost first */
} jx_stack;

/* The innermost frame in a file of the user's; NULL if there is none, or no
 * stack. */
const jx_frame *jx_user_frame(const jx_stack *stack);
/* The innermost frame in a file that is not JAX's, where reports point;
 * NULL likewise. */
const jx_frame *jx_outside_frame(const jx_stack *stack);
/* Both are the same expression of the same file; NULL is none. */
bool jx_frame_same(const jx_frame *a, const jx_frame *b);

/* What JAX keeps per equation beside params (JaxprEqnContext). */
typedef struct jx_eqn_ctx {
    bool threefry_partitionable;
    const char *compute_type;     /* or NULL */
    const jx_value *xla_metadata; /* a map from text to text, or NULL */
    int mesh;                     /* 1 + index in the meshes; 0: none */
    /* Of the shard_maps around (mesh.h), or NULL; then `said` is what was read,
     * or NULL if nothing was. */
    const struct jx_bound_axes *axes;
    const struct jx_eqn_ctx *said;
    bool bound;
} jx_eqn_ctx;

typedef struct jx_effect {
    const char *type; /* "NamedAxisEffect" */
    const char *axis; /* or NULL */
    bool has_input;   /* it concerns an input (of a ref), ... */
    int input;        /* ... this one; -1: none here */
} jx_effect;

typedef struct jx_effects {
    int count;
    const jx_effect *at;
} jx_effects;

typedef struct jx_eqn {
    const jx_prim *prim;
    int nins, nouts, nparams;
    const jx_atom *ins;
    const jx_var *const *outs;
    const jx_param *params; /* sorted by name */
    const void *typed;      /* the primitive's struct of params.h; NULL if the
                               primitive is unknown */
    const jx_stack *stack;  /* or NULL */
    const char *name_stack; /* or NULL */
    const jx_eqn_ctx *ctx;  /* or NULL */
    jx_effects effects;
    bool saveable; /* a remat policy keeps its outputs, ... */
    const char *offload_from, *offload_to; /* ... moved between these memories;
                                              or NULL */
    const char *refused; /* why JAX lowers it to nothing, or NULL */
} jx_eqn;

typedef struct jx_jaxpr {
    int id; /* position in the program's table, callees first */
    int nconsts, nins, neqns, nouts, nvars;
    /* all: constvars, inputs, then outputs in order */
    const jx_var *const *vars;
    const jx_eqn *eqns; /* `vars[0..nconsts)` constvars, then `nins` inputs */
    const jx_atom *outs;
    jx_effects effects;
    const char *function; /* "name at file:line", or NULL */
    /* nins / nouts; or NULL */
    const char *const *arg_names, *const *result_paths;
} jx_jaxpr;

/* A jaxpr with the values of its constvars. */
typedef struct jx_closed {
    const jx_jaxpr *jaxpr;
    int nconsts;
    const jx_array *const *consts;
} jx_closed;

/* One pattern of zero tangents of a custom rule. */
typedef struct jx_rule_pattern {
    const char *zeros; /* "010": '1' where the tangent is zero */
    const char *error; /* the rule raised; all below is then empty */
    jx_closed jvp;     /* custom_jvp: primals ++ tangents -> both */
    const char *out_zeros;
    jx_closed fwd, bwd; /* custom_vjp */
    int nres;        /* all residuals, in the order in which bwd takes them */
    const int *fwds; /* per residual: the operand that it is, or -1: the
                            next one that fwd gives */
    const char *ct_zeros;
} jx_rule_pattern;

/* What a rule is declared to be, where it is meant to be no derivative. */
typedef enum jx_intent {
    JX_INTENT_NONE = 0,
    /* its surrogate's derivative; without one, tangents of its first operand
     * are passed on, some of them or all */
    JX_INTENT_STRAIGHT_THROUGH,
    JX_INTENT_CLIP,      /* the derivative, cut off where it is large */
    JX_INTENT_SCALED,    /* times one factor */
    JX_INTENT_IMPLICIT,  /* at a solution, which the function comes near to */
    JX_INTENT_SYMMETRIC, /* where matrices are symmetric */
    JX_INTENT_SURROGATE, /* its surrogate's derivative */
} jx_intent;

typedef struct jx_rule {
    int id;
    bool vjp; /* custom_vjp_call, else custom_jvp_call */
    const char *name;
    const jx_stack *stack;
    int nins, nconsts, nouts;
    const jx_aval *const *ins; /* of all operands, constants first */
    jx_closed primal;          /* takes the same operands */
    bool symbolic_zeros;
    jx_intent intent;
    const char *reason;  /* of the intent, or NULL */
    jx_closed surrogate; /* takes and gives what `primal` does, or no jaxpr */
    int npatterns;
    const jx_rule_pattern *patterns;
    const jx_value *batched; /* reserved for the batched rule, or NULL */
    const char *truncated;   /* why there are no patterns, or NULL */
} jx_rule;

typedef struct jx_mesh {
    int naxes;
    const char *const *axes;
    const int64_t *sizes;
    int ntypes;
    const char *const *types;
    bool abstract;
    /* what JAX says of an abstract one's devices, or NULL */
    const char *device;
} jx_mesh;

/* One declared constraint on symbolic dims: lhs >= rhs, or lhs == rhs, or
 * lhs != rhs (scope.h). */
typedef struct jx_scope_constraint {
    bool equal, differs;
    const jx_dim *lhs, *rhs;
    const char *text; /* as the user wrote it */
} jx_scope_constraint;

typedef struct jx_scope {
    int nconstraints;
    const jx_scope_constraint *constraints;
    const jx_stack *stack;
} jx_scope;

typedef enum jx_decision {
    JX_DECIDED_NONE = 0, /* JAX raised */
    JX_DECIDED_TRUE,
    JX_DECIDED_FALSE,
} jx_decision;

/* A comparison of dims that JAX decided while tracing. */
typedef struct jx_comparison {
    const char *op; /* "==", "!=", ">=", ... */
    const jx_dim *lhs, *rhs;
    int scope;
    jx_decision decision;
    int64_t count;
    const jx_stack *stack; /* asking lines outside JAX, or NULL */
    const char *site_file, *site_function; /* innermost frame, or NULL */
    const char *via; /* "call": C code compared on the site's behalf; or NULL */
} jx_comparison;

/* A function with a rule that closes over what JAX differentiated
 * while it traced the program: of what the program computes then, that
 * part is missing. */
typedef struct jx_closure {
    const char *name;      /* of the function, or NULL */
    const jx_stack *stack; /* the call, or NULL */
} jx_closure;

/* The same function traced again at concrete sizes.  One of three: a program,
 * what the function raised, or why there is nothing to compare. */
typedef struct jx_retrace {
    int nsizes;
    const char *const *names; /* of size variables */
    const int64_t *values;
    jx_closed closed;      /* the jaxpr is NULL if there is no program */
    const char *raised;    /* "ValueError: ...", or NULL */
    const jx_stack *stack; /* the lines that raised, or NULL */
    const char *undecided; /* or NULL */
} jx_retrace;

/* What is left of a derivative when a program was linearized at its inputs:
 * residuals, tangents -> tangents, linear in these. */
typedef struct jx_linear_program {
    jx_closed closed;
    int nres; /* residuals: the last outputs of the program */
    /* per input/output; or NULL */
    const char *const *in_paths, *const *out_paths;
} jx_linear_program;

struct jx_mlir_file;
struct jx_exported;
struct jx_blackbox;
struct jx_definition;
struct jx_tree_entry;

/* A size that no shape gives, but an element of an input of integers: programs
 * in StableHLO may take their sizes so. */
typedef struct jx_valued {
    int input, element;
    const jx_dim_atom *var;
} jx_valued;

/* An integer made from sizes, in the type that it is computed in. */
typedef struct jx_looked {
    const jx_dim *dim;
    jx_dtype dtype;
} jx_looked;

/* A shape assertion of StableHLO that is malformed, or whose message says
 * something else than what it checks. */
typedef struct jx_misstated {
    const jx_stack *stack; /* its lines, or NULL */
    const char *what;
    int nsizes; /* at which both differ; 0: at all */
    const jx_binding *sizes;
} jx_misstated;

/* Everything is in the order of the document's tables (docs/DOCUMENT.md). */
/* What a caller promises of an input's values (range.h). */
typedef struct jx_value_range_end {
    const char *text;
    const jx_dim *dim; /* an integer or a size; NULL: the number */
    double number;
} jx_value_range_end;

typedef struct jx_value_range {
    const char *key; /* as its author wrote it: "x", "args[0]['w']", "in0" */
    jx_value_range_end lo, hi;
} jx_value_range;

typedef struct jx_program {
    jx_ctx *ctx;
    jx_dims *dims;
    jx_avals avals;
    jx_values values;
    const char *path; /* of the input, for messages; "-" for standard input */
    const char *jaxvet_version, *jax_version, *python_version; /* or NULL */
    bool x64;
    jx_closed entry;
    const char *name;
    /* The lines that say what the function takes and what it gives; or NULL. */
    const jx_stack *head, *returns;
    /* per input/output; or NULL */
    const char *const *in_paths, *const *out_paths;
    const jx_linear_program *linear; /* a second program, or NULL */
    int nfiles, nmeshes, nscopes, narrays, njaxprs, nrules, ndefinitions,
        ncomparisons, nclosures, nretraces;
    const jx_file *const *files;
    const jx_mesh *meshes;
    const jx_scope *scopes;
    const jx_array *const *arrays;
    const jx_jaxpr *const *jaxprs; /* callees first */
    const jx_rule *const *rules;
    const struct jx_definition *const *definitions; /* definition.h */
    const jx_comparison *comparisons;
    const jx_closure *closures;
    const jx_retrace *retraces;
    const char *npz_name, *npz_sha256; /* of the side file, or NULL */
    bool from_text;  /* read from jaxpr text, which has no weak types, no values
                       of constants, no custom rules, no effects: what is said
                       of these here is unknown rather than false */
    int64_t base;    /* smallest value of a dim variable: 1 for JAX */
    int64_t devices; /* that run it together, as a module says; 0: one */
    int64_t replicas; /* into how many of these all of it is copied; 0: one */
    int nranges;      /* in the order in which they were declared */
    const jx_value_range *ranges;
    int nvalued;
    const jx_valued *valued;
    /* Variables that stand for sizes of which the program says nothing that we
     * know: what depends on them is not refuted. */
    int nunsaid;
    const jx_dim_atom *const *unsaid;
    /* Sizes of inputs that nobody named and that the operations force to be the
     * same: "arg2_0 = arg1_0". */
    int nequated;
    const char *const *equated;
    int nmisstated;
    const jx_misstated *misstated;
    /* Of StableHLO: what its arithmetic of sizes divides, compares or converts,
     * though the equations have only what comes of it. */
    int nlooked;
    const jx_looked *looked;
    /* As it was read, with references; NULL: as this one
     * (jx_program_written). */
    struct jx_program *written;
    /* What it was made of, for what only the file says; or NULL. */
    const struct jx_mlir_file *tree; /* of StableHLO (frontend/mlir/tree.h) */
    const struct jx_exported *exported; /* frontend/read/exported.h */
    /* The call of it that a file keeps, frontend/read/blackbox.h; or NULL. */
    const struct jx_blackbox *blackbox;
    /* The one function of the tree that it is (frontend/read/stablehlo.h). */
    const struct jx_tree_entry *tree_entry;
} jx_program;

/* An empty one, with tables of its own; NULL without memory. */
jx_program *jx_program_new(jx_ctx *ctx, const char *path);
/* What is printed and written back. */
static inline jx_program *jx_program_written(jx_program *program)
{
    return program->written ? program->written : program;
}

/* Sizes of which the program says nothing; the list stays with it, and is put
 * in order. */
void jx_program_put_unsaid(jx_program *program, int count,
                           const jx_dim_atom **unsaid);
/* The first variable of the dim that is such a size, or NULL. */
const jx_dim_atom *jx_program_unsaid(const jx_program *program,
                                     const jx_dim *dim);

/* As it is written: "straight-through". */
const char *jx_intent_name(jx_intent intent);
/* The intent of that name; JX_INTENT_NONE if there is none. */
jx_intent jx_intent_of(const char *name);

/* Checks the rules of the representation (definition before use, one
 * definition, operand counts by primitive, params sorted, nested jaxprs before
 * their users, ...).  False with an error of kind JX_E_INTERNAL that names the
 * place.  Readers promise a program that passes; passes are checked after each
 * run in debug builds. */
bool jx_program_verify(const jx_program *program);

/* The same, in words, and that types and sizes are the program's own interned
 * ones; NULL if nothing is wrong.  For assertions (assert.h). */
const char *jx_program_fault(const jx_program *program);

/* What is wrong with a jaxpr that stands alone: what it uses is not defined
 * before, or is another's; or NULL. */
const char *jx_jaxpr_fault(const jx_program *program, const jx_jaxpr *jaxpr);

/* Some variable's type mentions a variable of the assignment. */
bool jx_program_mentions(const jx_program *program, const jx_assignment *sizes);

/* What does not fit in one equation by the rules of its primitive (counts of
 * operands and results, of nested jaxprs' too), as arena text; NULL if nothing.
 * Its parameters have been decoded. */
const char *jx_eqn_misfit(jx_ctx *ctx, const jx_eqn *eqn);

/* It is a function of JAX's own files; false where nobody says. */
bool jx_is_of_jax(const jx_jaxpr *jaxpr);

/* Axes, sizes, their types and kind. */
bool jx_mesh_same(const jx_mesh *a, const jx_mesh *b);

/* Of each jaxpr, whether it is there for what it computes: those that only
 * stand in what an equation shows are not.  NULL without memory. */
const bool *jx_program_meant(const jx_program *program);
/* ... and is the program's, or of its derivatives' rules: no rule of a
 * primitive of its own. */
const bool *jx_program_counted(const jx_program *program);

/* The parameter of that name, or NULL. */
const jx_value *jx_eqn_param(const jx_eqn *eqn, const char *name);

#endif
