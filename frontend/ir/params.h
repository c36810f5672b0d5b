/* params.h - parameters as rules and kernels see them: one struct per family,
 * decoded once from the tree by the schema in params.def. */
#ifndef JX_PARAMS_H
#define JX_PARAMS_H

#include "frontend/ir/program.h"

typedef struct jx_ints {
    int count;
    const int64_t *at;
} jx_ints;

static inline bool jx_ints_hold(jx_ints ints, int64_t value)
{
    for (int i = 0; i < ints.count; i++)
        if (ints.at[i] == value)
            return true;
    return false;
}

typedef struct jx_axis_names {
    int count;
    const char *const *at;
} jx_axis_names;

/* What a collective goes over: axes of its operands, which is what a mapped
 * axis becomes, or axes of a mesh, or some of each. */
typedef struct jx_positions {
    jx_ints at;
    jx_axis_names names;
} jx_positions;

typedef struct jx_dim_list {
    int count;
    const jx_dim *const *at; /* numbers are dims too */
    bool given;              /* false: the parameter is None (opt_dims) */
} jx_dim_list;

/* padding: count pairs (low, high) or triples (low, high, interior), flat. */
typedef struct jx_dim_list jx_dim_tuples;

typedef struct jx_closed_list {
    int count;
    const jx_closed *at;
} jx_closed_list;

/* What a linear solve consists of; one that is absent has no jaxpr. */
enum {
    JX_SOLVE_MATVEC,
    JX_SOLVE_VECMAT,
    JX_SOLVE,
    JX_SOLVE_TRANSPOSE,
    JX_SOLVE_PARTS
};
extern const char *const jx_solve_names[JX_SOLVE_PARTS];

typedef struct jx_solve_jaxprs {
    jx_closed part[JX_SOLVE_PARTS];
} jx_solve_jaxprs;

/* How many operands are constants of each part; those of the
 * first come first. */
typedef struct jx_solve_counts {
    /* those of the parts before it; the last: of all */
    int before[JX_SOLVE_PARTS + 1];
} jx_solve_counts;

static inline int jx_solve_count(const jx_solve_counts *counts, int part)
{
    return counts->before[part + 1] - counts->before[part];
}

typedef struct jx_gather_dims {
    jx_ints offset_dims, collapsed_slice_dims, start_index_map;
    jx_ints operand_batching_dims, start_indices_batching_dims;
} jx_gather_dims;

typedef struct jx_scatter_dims {
    jx_ints update_window_dims, inserted_window_dims;
    jx_ints scatter_dims_to_operand_dims;
    jx_ints operand_batching_dims, scatter_indices_batching_dims;
} jx_scatter_dims;

/* Each spec gives the axes in the order (batch, feature, spatial...), for the
 * kernel (out feature, in feature, spatial...). */
typedef struct jx_conv_dims {
    jx_ints lhs_spec, rhs_spec, out_spec;
} jx_conv_dims;

typedef struct jx_dot_dims {
    jx_ints lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
} jx_dot_dims;

/* A product over groups of rows: the axis of the first operand that is cut into
 * groups, and the second one's axis of groups, if it has one. */
typedef struct jx_ragged_dims {
    jx_dot_dims dot;
    jx_ints of_lhs, groups;
} jx_ragged_dims;

/* Numbers of devices that work together; rows of unequal length end in -1. */
typedef struct jx_groups {
    int count;
    const jx_ints *at;
} jx_groups;

/* How one array lies on a mesh: the axes that split each of its own. */
typedef struct jx_sharding {
    int rank; /* of a spec: of as many axes as it says something of */
    const jx_axis_names *axes;
    /* of a spec: axes over which each device has a part of what is
     * meant, or all of it */
    jx_axis_names unreduced, reduced;
    const char *kind; /* what of the parts is meant, NULL or "sum": their sum */
} jx_sharding;

typedef struct jx_shardings {
    int count;
    const jx_sharding *at;
} jx_shardings;

/* What a call knows of a function that jax.export made.  The sizes are dims of
 * a scope of its own, whose constraints the program's scopes hold. */
typedef struct jx_called_export {
    const char *name; /* or NULL */
    int nins, nouts;
    const jx_aval *const *ins, *const *outs;
    const char *const *paths; /* of the inputs, "args[0]['w']"; or NULL */
    int ninner; /* constraints of what it calls in turn, as text */
    const char *const *inner;
    const jx_array *module; /* the StableHLO that jax.export wrote, or NULL */
    int nkept;              /* the inputs that its main takes, in order */
    const uint16_t *kept;
    int nplatforms; /* more than one: main takes the index of one, first */
    const char *const *platforms;
    bool effects; /* main may take and give tokens */
} jx_called_export;

/* One axis of an indexer: a slice, or one index for all (an integer, or an
 * array of them).  Where the index is, or where the start or the size of a
 * slice is NULL, the next operand says it. */
typedef struct jx_axis_index {
    bool slice;
    const jx_dim *start, *size;
    int64_t stride; /* 0: jaxpr text, which leaves it out, could mean several */
} jx_axis_index;

/* A step from what a reference holds to the part of it that is
 * read or written. */
typedef enum jx_ref_step_kind {
    JX_STEP_INDEX = 1,
    JX_STEP_RESHAPE,   /* to `shape` */
    JX_STEP_BITCAST,   /* to `dtype` */
    JX_STEP_TRANSPOSE, /* by `order` */
    JX_STEP_OTHER,     /* `name`; nothing is known of it */
} jx_ref_step_kind;

typedef struct jx_ref_step {
    jx_ref_step_kind kind;
    int rank;
    const jx_axis_index *axes; /* of what is indexed, `rank` of them, ... */
    jx_dim_list shape;         /* ... and its shape */
    jx_dim_list index_shape;   /* of the indices that are no slices */
    jx_dtype dtype;
    jx_ints order;
    const char *name;
} jx_ref_step;

typedef struct jx_ref_path {
    int count, operands; /* how many operands say what it leaves open; -1: that
                            is not known */
    const jx_ref_step *steps;
} jx_ref_path;

typedef enum jx_gather_mode {
    JX_MODE_CLIP = 1,
    JX_MODE_FILL_OR_DROP,
    JX_MODE_PROMISE_IN_BOUNDS,
    JX_MODE_ONE_HOT,
} jx_gather_mode;

typedef enum jx_fft_kind { JX_FFT = 1, JX_IFFT, JX_RFFT, JX_IRFFT } jx_fft_kind;

typedef enum jx_rounding {
    JX_ROUND_AWAY_FROM_ZERO = 1,
    JX_ROUND_TO_NEAREST_EVEN,
} jx_rounding;

typedef enum jx_rng_algorithm {
    JX_RNG_DEFAULT = 1,
    JX_RNG_THREEFRY,
    JX_RNG_PHILOX,
} jx_rng_algorithm;

typedef enum jx_distribution { JX_UNIFORM = 1, JX_NORMAL } jx_distribution;

/* The C type of each kind of field. */
#define JX_FIELD_boolean bool
#define JX_FIELD_opt_boolean bool
#define JX_FIELD_integer int64_t
#define JX_FIELD_opt_integer int64_t
#define JX_FIELD_real double
#define JX_FIELD_text const char *
#define JX_FIELD_opt_text const char *
#define JX_FIELD_dtype jx_dtype
#define JX_FIELD_opt_dtype jx_dtype
#define JX_FIELD_dim const jx_dim *
#define JX_FIELD_ints jx_ints
#define JX_FIELD_positions jx_positions
#define JX_FIELD_opt_ints jx_ints
#define JX_FIELD_dims jx_dim_list
#define JX_FIELD_opt_dims jx_dim_list
#define JX_FIELD_pairs jx_dim_tuples
#define JX_FIELD_triples jx_dim_tuples
#define JX_FIELD_jaxpr jx_closed
#define JX_FIELD_opt_jaxpr jx_closed
#define JX_FIELD_jaxprs jx_closed_list
#define JX_FIELD_solve_jaxprs jx_solve_jaxprs
#define JX_FIELD_solve_counts jx_solve_counts
#define JX_FIELD_gather jx_gather_dims
#define JX_FIELD_scatter jx_scatter_dims
#define JX_FIELD_conv jx_conv_dims
#define JX_FIELD_dot jx_dot_dims
#define JX_FIELD_ragged jx_ragged_dims
#define JX_FIELD_mode jx_gather_mode
#define JX_FIELD_fft_kind jx_fft_kind
#define JX_FIELD_rounding jx_rounding
#define JX_FIELD_algorithm jx_rng_algorithm
#define JX_FIELD_distribution jx_distribution
#define JX_FIELD_groups jx_groups
#define JX_FIELD_opt_groups jx_groups
#define JX_FIELD_texts jx_axis_names
#define JX_FIELD_opt_texts jx_axis_names
#define JX_FIELD_shardings jx_shardings
#define JX_FIELD_specs jx_shardings
#define JX_FIELD_prim const char *
#define JX_FIELD_rule const struct jx_rule *
#define JX_FIELD_opt_rule const struct jx_rule *
#define JX_FIELD_opt_definition const struct jx_definition *
#define JX_FIELD_impl const char *
#define JX_FIELD_value const jx_value *
#define JX_FIELD_opt_value const jx_value *
#define JX_FIELD_opt_shown const jx_value *
#define JX_FIELD_path jx_ref_path
#define JX_FIELD_opt_exported const jx_called_export *

#define FIELD(kind, name) JX_FIELD_##kind name;
#define PARAMS(name, ...)                                                      \
    typedef struct jx_p_##name {                                               \
        char jx_nothing; /* a struct may have no other member */               \
        __VA_ARGS__                                                            \
    } jx_p_##name;
#include "frontend/ir/params.def"
#undef PARAMS
#undef FIELD

/* The bytes of the StableHLO module that an equation of call_library_primitive
 * brings as its meaning; NULL: none. */
const jx_array *jx_eqn_module(const jx_eqn *eqn);

/* Decodes an equation's tree by its primitive's schema into the program's
 * arena.  NULL, with *why (arena text: which parameter, what was expected),
 * when the tree does not fit. */
const void *jx_params_decode(jx_program *program, const jx_eqn *eqn,
                             const char **why);

/* Of the parameter `tree` of get, swap and addupdate (state.c); NULL, or
 * what was expected. */
const char *jx_ref_path_decode(jx_program *program, const jx_value *value,
                               jx_ref_path *to);
/* The same of the parameter `exported` (called_export.c); nothing is known
 * where *to is NULL. */
const char *jx_called_export_decode(jx_program *program, const jx_value *value,
                                    const jx_called_export **to);
/* How many operands stand before those of the path; 0: the primitive takes no
 * path. */
int jx_ref_path_at(const jx_prim *prim);

/* A value that is a jaxpr, with its constants, in the arena; without them
 * if memory ends. */
jx_closed jx_closed_of_value(jx_arena *arena, const jx_value *value);

/* The jaxpr that an equation runs once, on its operands as they are (a call, a
 * custom rule's primal, a composite); NULL: it does something else, or nothing
 * is known of it. */
const jx_closed *jx_eqn_callee(const jx_eqn *eqn);

/* Whether JAX makes a loop of a polynomial, one that begins with 0, since it
 * has more coefficients than `unroll` (8 if that is left out). */
bool jx_polynomial_loops(const jx_eqn *eqn);

/* The axis of the updates along which a scatter's window goes on that
 * axis of its operand; -1: the window is one element there, or the
 * numbers do not fit. */
int jx_scatter_window_axis(const jx_scatter_dims *dims, int axis);
/* A scatter writes what a jaxpr makes of the elements that are there
 * (`x.at[i].apply(f)`), and not its updates. */
bool jx_scatter_applies(const jx_eqn *eqn);
/* The package says that its author chose what becomes of indices
 * outside (_modes.py). */
bool jx_eqn_mode_is_chosen(const jx_eqn *eqn);

/* What an equation is called: a primitive that is an object has the name of its
 * class, all others are called as JAX's tables call them. */
const char *jx_eqn_name(const jx_eqn *eqn);

/* It says over which axes an array lies in parts, or what is
 * reduced already. */
bool jx_sharding_is_marked(const jx_sharding *how);

/* Nothing is known of it but its name and what it declares: its primitive
 * is in no table, is an object that nobody expanded, works across axes
 * that no shard_map around it binds, or takes arrays that lie in parts
 * that add up to them. */
bool jx_eqn_is_unknown(const jx_eqn *eqn);
/* The axes of a mesh that a collective goes over, in its order; none of what is
 * no collective of JAX's. */
jx_axis_names jx_eqn_mesh_axes(const jx_eqn *eqn);
/* What it does is in the Python process that traced the program: of that, only
 * a function's name is known. */
bool jx_eqn_calls_back(const jx_eqn *eqn);

/* One of the two primitives that are objects (JAX's hi primitives). */
bool jx_prim_is_hi(const jx_prim *prim);

/* The value with which readers keep a parameter: what is only shown is kept
 * apart (JX_V_SHOWN), all else is as it was read. */
const jx_value *jx_param_keep(jx_program *program, const jx_prim *prim,
                              const char *name, const jx_value *value);

/* The kind of a parameter in params.def ("opt_dtype"), or NULL if the schema of
 * the primitive does not name it. */
const char *jx_params_kind(jx_prim_id id, const char *name);

#endif
