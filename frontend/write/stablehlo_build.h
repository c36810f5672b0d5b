/* stablehlo_build.h - the vocabulary in which programs are lowered: ops of
 * StableHLO by what they compute, each giving its result.
 *
 * A value knows its aval, with symbolic sizes, from which the ops choose their
 * static or their dynamic form.  A value without `value` is one that could not
 * be made (the context knows why); ops made of it are such values, too, so that
 * a rule reads as what it computes. */
#ifndef JX_STABLEHLO_BUILD_H
#define JX_STABLEHLO_BUILD_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/decompose/decompose.h"
#include "frontend/ir/program.h"
#include "frontend/mlir/tree.h"

typedef struct jx_hv {
    const jx_mlir_value *value;
    const jx_aval *aval; /* physical: keys are their u32 data */
} jx_hv;

/* A size that is known in a function: a variable and its i32. */
typedef struct jx_hlo_size {
    const jx_dim_atom *var;
    const jx_mlir_value *value;
} jx_hlo_size;

/* A function that has been lowered, by what it was made of. */
typedef struct jx_hlo_function {
    const jx_jaxpr *jaxpr;
    const jx_array *const *consts;
    const jx_aval *const *ins; /* the operands that it is for */
    int nins;
    const char *name;
    /* another of the same jaxpr; or NULL */
    const struct jx_hlo_function *before;
} jx_hlo_function;

/* A module in the making. */
typedef struct jx_hlo {
    jx_ctx *ctx;
    jx_program *program;
    jx_mlir_types *types;
    JX_VEC(const jx_mlir_op *) functions;
    /* from jaxprs to the functions made of them (jx_hlo_function) */
    jx_map known;
    jx_map taken; /* names of functions */
    /* from names to how many numbers behind them are taken (int) */
    jx_map tried;
    int nvars; /* the program's size variables, which functions take first */
    const jx_dim_atom *const *vars;
    int depth;
    jx_decompositions decompositions;
    int decomposing; /* the equations of how many have no place of their own */
    /* the index of the platform is an argument: `platform`, in the
     * function that takes it */
    bool by_platform;
    jx_hv platform;
    bool unlaid; /* nothing is said of how arrays are to lie */
    const struct jx_code *main;
    JX_VEC(const jx_mesh *) meshes; /* that the module names, and ... */
    JX_VEC(const jx_mlir_op *) mesh_ops;
} jx_hlo;

/* A block in the making: of a function, or of a region inside of one. */
typedef struct jx_code {
    jx_hlo *in;
    JX_VEC(const jx_mlir_op *) ops;
    const jx_hlo_size *sizes; /* of in->vars, here */
    const jx_mlir_attr *loc;  /* of what is being lowered */
    const jx_mlir_value *const *args;
    int nargs;
} jx_code;

/* ---- types and avals */

const jx_mlir_type *jx_hlo_type(jx_hlo *in, const jx_aval *aval);
/* Keys as their u32 data, float0 as bool; itself otherwise. */
const jx_aval *jx_hlo_physical(jx_hlo *in, const jx_aval *aval);
const jx_aval *jx_hlo_aval(jx_hlo *in, jx_dtype dtype, int rank,
                           const jx_dim *const *shape);
const jx_aval *jx_hlo_scalar_aval(jx_hlo *in, jx_dtype dtype);
const jx_aval *jx_hlo_with_dtype(jx_hlo *in, const jx_aval *aval,
                                 jx_dtype dtype);
/* The axes of aval but for the last `fewer`, then these sizes. */
const jx_aval *jx_hlo_leading(jx_code *c, const jx_aval *aval, int fewer,
                              jx_dtype dtype, int n, const jx_dim *const *more);
const jx_dim *jx_hlo_int(jx_hlo *in, int64_t size);
/* The size as a number; a symbolic one fails with what wanted a number. */
int64_t jx_hlo_static(jx_code *c, const jx_dim *dim, const char *what);

/* ---- attributes */

const jx_mlir_attr *jx_hlo_i64(jx_hlo *in, int64_t value);
const jx_mlir_attr *jx_hlo_integer(jx_hlo *in, jx_mlir_sign sign,
                                   unsigned width, int64_t value);
const jx_mlir_attr *jx_hlo_bool(jx_hlo *in, bool value);
const jx_mlir_attr *jx_hlo_unit(jx_hlo *in);
/* "f32" or "f64". */
const jx_mlir_attr *jx_hlo_float(jx_hlo *in, const char *type, double value);
const jx_mlir_attr *jx_hlo_text(jx_hlo *in, const char *text);
const jx_mlir_attr *jx_hlo_symbol(jx_hlo *in, const char *name);
const jx_mlir_attr *jx_hlo_type_attr(jx_hlo *in, const jx_mlir_type *type);
const jx_mlir_attr *jx_hlo_i64s(jx_hlo *in, int count, const int64_t *values);
const jx_mlir_attr *jx_hlo_dims_attr(jx_code *c, int count,
                                     const jx_dim *const *dims,
                                     const char *what);
/* tensor<count x i64>. */
const jx_mlir_attr *jx_hlo_i64_row(jx_hlo *in, int count,
                                   const int64_t *values);
/* tensor<rows x columns x i64>, row-major. */
const jx_mlir_attr *jx_hlo_table(jx_hlo *in, int rows, int columns,
                                 const int64_t *values);
/* A tensor of index: axes from the fastest to the slowest. */
const jx_mlir_attr *jx_hlo_axes(jx_hlo *in, int count, const int64_t *axes);
const jx_mlir_attr *jx_hlo_enum(jx_hlo *in, const char *name, const char *text);
const jx_mlir_attr *jx_hlo_list(jx_hlo *in, int count,
                                const jx_mlir_attr *const *items);
/* Fields in the order of records.def; NULL ones are left out. */
const jx_mlir_attr *jx_hlo_record(jx_hlo *in, const char *name, int count,
                                  const char *const *names,
                                  const jx_mlir_attr *const *items);
const jx_mlir_attr *jx_hlo_dict(jx_hlo *in, int count,
                                const jx_mlir_named *entries);
/* A list of integers, or NULL if it is empty (a field with a default). */
const jx_mlir_attr *jx_hlo_some(jx_hlo *in, int count, const int64_t *values);

/* ---- ops */

typedef struct jx_hlo_op {
    const char *name;
    int nins;
    const jx_hv *ins;
    int nouts;
    const jx_aval *const *outs;
    int nattrs; /* inherent ones; those without a value are left out */
    const jx_mlir_named *attrs;
    int nmore; /* the others */
    const jx_mlir_named *more;
    int nregions;
    const jx_mlir_region *regions;
} jx_hlo_op;

/* Appends the op and sets outs[0..nouts). */
void jx_hlo_emit(jx_code *c, const jx_hlo_op *op, jx_hv *outs);
/* The same for an op with one result. */
jx_hv jx_hlo_emit1(jx_code *c, const jx_hlo_op *op);
/* The same without regions, and with inherent attributes alone. */
jx_hv jx_hlo_simple(jx_code *c, const char *name, int nins, const jx_hv *ins,
                    const jx_aval *out, int nattrs, const jx_mlir_named *attrs);

/* A region: begin with arguments of these avals, emit into the code, finish
 * with what it returns. */
jx_code *jx_hlo_begin(jx_code *c, int nargs, const jx_aval *const *args,
                      jx_hv *to);
jx_mlir_region jx_hlo_finish(jx_code *c, int nresults, const jx_hv *results);
/* The same by an op of another name. */
jx_mlir_region jx_hlo_finish_as(jx_code *c, const char *name, int nresults,
                                const jx_hv *results);
/* The beginning of a region that takes scalars. */
jx_code *jx_hlo_begin_scalars(jx_code *c, int count, const jx_dtype *dtypes,
                              jx_hv *to);

/* What fails here, with the place in the program; sets the context's error. */
jx_hv jx_hlo_fail(jx_code *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- values */

jx_hv jx_hlo_constant(jx_code *c, const jx_array *array);
/* A scalar; complex: the real part. */
jx_hv jx_hlo_scalar(jx_code *c, jx_dtype dtype, double value);
jx_hv jx_hlo_scalar_int(jx_code *c, jx_dtype dtype, int64_t value);
jx_hv jx_hlo_bits(jx_code *c, jx_dtype dtype, const void *bits);
/* A vector of i32 or i64 numbers. */
jx_hv jx_hlo_vector(jx_code *c, jx_dtype dtype, int count,
                    const int64_t *values);
/* The least and the greatest value of the dtype: infinite ones for floats. */
jx_hv jx_hlo_least(jx_code *c, jx_dtype dtype);
jx_hv jx_hlo_greatest(jx_code *c, jx_dtype dtype);
/* The size of an axis as it is when the program is called: an i32. */
jx_hv jx_hlo_size_of(jx_code *c, jx_hv array, int64_t axis);
/* A size as an i32 scalar; several as a vector of i32. */
jx_hv jx_hlo_dim(jx_code *c, const jx_dim *dim);
jx_hv jx_hlo_dims(jx_code *c, int count, const jx_dim *const *dims);

/* ---- elementwise */

jx_hv jx_hlo_unary(jx_code *c, const char *name, jx_hv x);
jx_hv jx_hlo_unary_to(jx_code *c, const char *name, jx_hv x, jx_dtype dtype);
jx_hv jx_hlo_binary(jx_code *c, const char *name, jx_hv x, jx_hv y);
/* "LT", and the comparison that goes with the dtype. */
jx_hv jx_hlo_compare(jx_code *c, const char *direction, jx_hv x, jx_hv y);
jx_hv jx_hlo_compare_as(jx_code *c, const char *direction, const char *type,
                        jx_hv x, jx_hv y);
jx_hv jx_hlo_select(jx_code *c, jx_hv which, jx_hv yes, jx_hv no);
/* As JAX converts: complex to real drops the imaginary part, to bool is a
 * comparison with 0. */
jx_hv jx_hlo_convert(jx_code *c, jx_hv x, jx_dtype dtype);
jx_hv jx_hlo_complex(jx_code *c, jx_hv real, jx_hv imag);
/* Greater or less, complex numbers as pairs: `name` is stablehlo.maximum or
 * stablehlo.minimum. */
jx_hv jx_hlo_extreme(jx_code *c, const char *name, jx_hv x, jx_hv y);
/* A region whose one op is `name` of its two arguments. */
jx_mlir_region jx_hlo_reducer(jx_code *c, const char *name, jx_dtype dtype);
jx_hv jx_hlo_bitcast(jx_code *c, jx_hv x, const jx_aval *to);

static inline jx_hv jx_hlo_add(jx_code *c, jx_hv x, jx_hv y)
{
    return jx_hlo_binary(c, "stablehlo.add", x, y);
}
static inline jx_hv jx_hlo_sub(jx_code *c, jx_hv x, jx_hv y)
{
    return jx_hlo_binary(c, "stablehlo.subtract", x, y);
}
static inline jx_hv jx_hlo_mul(jx_code *c, jx_hv x, jx_hv y)
{
    return jx_hlo_binary(c, "stablehlo.multiply", x, y);
}
static inline jx_hv jx_hlo_div(jx_code *c, jx_hv x, jx_hv y)
{
    return jx_hlo_binary(c, "stablehlo.divide", x, y);
}
static inline jx_hv jx_hlo_and(jx_code *c, jx_hv x, jx_hv y)
{
    return jx_hlo_binary(c, "stablehlo.and", x, y);
}
static inline jx_hv jx_hlo_or(jx_code *c, jx_hv x, jx_hv y)
{
    return jx_hlo_binary(c, "stablehlo.or", x, y);
}
static inline jx_hv jx_hlo_neg(jx_code *c, jx_hv x)
{
    return jx_hlo_unary(c, "stablehlo.negate", x);
}

/* ---- movement */

/* `dims[i]` is the axis of the result that axis i becomes. */
jx_hv jx_hlo_broadcast(jx_code *c, jx_hv x, const jx_aval *to,
                       const int64_t *dims);
/* The same where they are the axes from `first` on. */
jx_hv jx_hlo_along(jx_code *c, jx_hv x, const jx_aval *to, int first);
/* The scalar, as large as `like` (and with its sizes). */
jx_hv jx_hlo_spread(jx_code *c, jx_hv scalar, const jx_aval *like);
jx_hv jx_hlo_full(jx_code *c, const jx_aval *aval, double value);
jx_hv jx_hlo_full_int(jx_code *c, const jx_aval *aval, int64_t value);
/* The number, as large as x and of its dtype. */
jx_hv jx_hlo_like(jx_code *c, jx_hv x, double value);
jx_hv jx_hlo_reshape(jx_code *c, jx_hv x, int rank, const jx_dim *const *shape);
jx_hv jx_hlo_transpose(jx_code *c, jx_hv x, const int64_t *permutation);
jx_hv jx_hlo_iota(jx_code *c, const jx_aval *to, int axis);
/* NULL steps: 1. */
jx_hv jx_hlo_slice(jx_code *c, jx_hv x, const jx_dim *const *from,
                   const jx_dim *const *to, const jx_dim *const *steps);
/* [from, to) of one axis. */
jx_hv jx_hlo_slice_axis(jx_code *c, jx_hv x, int axis, const jx_dim *from,
                        const jx_dim *to);
jx_hv jx_hlo_concatenate(jx_code *c, int count, const jx_hv *parts, int axis);
/* padding: low, high, interior of each axis. */
jx_hv jx_hlo_pad(jx_code *c, jx_hv x, jx_hv with, const jx_dim *const *padding);
jx_hv jx_hlo_reverse(jx_code *c, jx_hv x, int count, const int64_t *axes);
jx_hv jx_hlo_reduce(jx_code *c, const char *name, jx_hv x, jx_hv init,
                    int naxes, const int64_t *axes);
/* Whether any of the booleans holds. */
jx_hv jx_hlo_any(jx_code *c, jx_hv x);
jx_hv jx_hlo_dynamic_slice(jx_code *c, jx_hv x, const jx_hv *starts,
                           const jx_dim *const *sizes);
jx_hv jx_hlo_dynamic_update(jx_code *c, jx_hv x, jx_hv update,
                            const jx_hv *starts);

/* ---- loops and calls */

/* One step of a loop: from what is carried to the next (or, for `go_on`, one
 * boolean). */
typedef void jx_hlo_step(jx_code *c, void *env, const jx_hv *carry,
                         jx_hv *next);
void jx_hlo_while(jx_code *c, int count, const jx_hv *init, jx_hlo_step *go_on,
                  jx_hlo_step *step, void *env, jx_hv *outs);

/* `message` (with {0}, {1}, ... for the operands behind the first), unless the
 * first operand holds when the program is called. */
void jx_hlo_assert(jx_code *c, int nins, const jx_hv *ins, const char *message);

/* A call to an FFI target of XLA.  With `column_major`, those of the highest
 * rank lie with their last two axes swapped, as LAPACK wants it; `aliases`
 * gives the operand that each result overwrites, or -1. */
typedef struct jx_hlo_ffi {
    const char *target;
    int nins;
    const jx_hv *ins;
    int nouts;
    const jx_aval *const *outs;
    int nconfig;
    const jx_mlir_named *config;
    bool column_major;
    const int *aliases; /* or NULL: none */
} jx_hlo_ffi;

void jx_hlo_call_ffi(jx_code *c, const jx_hlo_ffi *call, jx_hv *outs);
/* The operands of a custom call: where sizes of its results are open, their
 * shapes follow as vectors of i32, one for each result, and *indices says which
 * operands these are; else it is NULL. */
const jx_hv *jx_hlo_with_shapes(jx_code *c, int *nins, const jx_hv *ins,
                                int nouts, const jx_aval *const *outs,
                                const jx_mlir_attr **indices);

#endif
