/* stablehlo_rules.h - the rules of the lowering, by the names that the column
 * `write` of frontend/mlir/adapter.def has for them. */
#ifndef JX_STABLEHLO_RULES_H
#define JX_STABLEHLO_RULES_H

#include "frontend/ir/params.h"
#include "frontend/write/stablehlo_build.h"

/* An equation being lowered: the rule sets outs. */
typedef struct jx_hlo_eqn {
    jx_code *code;
    const jx_eqn *eqn;
    const char *op, *detail; /* of the row */
    const jx_hv *ins;
    jx_hv *outs;
    const jx_aval *const *avals; /* of the outs, physical */
} jx_hlo_eqn;

typedef void jx_lowering_rule(jx_hlo_eqn *e);

/* As it stands: clang-format takes the calls of X for one expression. */
/* clang-format off */
#define JX_HLO_RULES(X)                                                       \
    X(elementwise) X(select_n) X(compare) X(convert) X(bitcast)               \
    X(reduce_precision) X(round) X(barrier) X(broadcast_in_dim) X(reshape)    \
    X(transpose) X(reverse) X(slice) X(pad) X(concatenate) X(iota)            \
    X(dimension_size) X(dynamic_slice) X(dynamic_update_slice) X(gather)      \
    X(scatter) X(reduce) X(allreduce) X(reduce_general) X(reduce_window)      \
    X(reduce_window_general) X(select_and_scatter) X(dot_general)             \
    X(convolution) X(fft) X(sort) X(top_k) X(rng_bit_generator)               \
    X(rng_uniform) X(call) X(cond) X(while) X(composed) X(polynomial)         \
    X(integer_pow) X(conj) X(same) X(squeeze) X(split) X(stack) X(unstack)    \
    X(tile) X(empty) X(arg_reduce) X(cumulative) X(select_and_gather)         \
    X(approx_top_k) X(cholesky) X(lu) X(qr) X(geqrf) X(householder) X(ormqr)  \
    X(svd) X(eigh) X(eig) X(schur) X(triangular_solve) X(tridiagonal_solve)   \
    X(tridiagonal) X(hessenberg) X(inline) X(scan) X(custom_linear_solve)     \
    X(platform_index) X(dim_as_value) X(shape_assertion) X(decomposed)        \
    X(own_sort) X(own_scatter) X(own_select_and_scatter) X(own_map)           \
    X(own_rng) X(own_custom_call) X(composite) X(shard_map) X(psum_invariant) \
    X(axis_index) X(ppermute) X(pbroadcast) X(mesh_gather) X(mesh_scatter)    \
    X(mesh_exchange) X(mesh_ragged) X(own_ragged) X(constraint)
/* clang-format on */

#define X(name) jx_lowering_rule jx_lowering_rule_##name;
JX_HLO_RULES(X)
#undef X

/* ---- what rules call of each other */

/* The sum (or extreme) over axes of a mesh that the equation names
 * (stablehlo_mesh.c). */
jx_hv jx_hlo_all_reduce(jx_hlo_eqn *e, jx_hv x, jx_groups within);

/* ---- what rules call of the core */

/* The jaxpr's equations here, as if written in place. */
void jx_hlo_inline(jx_code *c, const jx_closed *closed, const jx_hv *ins,
                   jx_hv *outs);
/* What the decomposition of a primitive of one operand and one result, without
 * parameters that it looks at, gives of x. */
jx_hv jx_hlo_made_of(jx_code *c, jx_prim_id prim, jx_hv x, const jx_aval *out);
/* A region that computes what the jaxpr does, of scalars of the dtypes of n
 * operands: a b, a a b b or a b a b. */
typedef enum jx_hlo_repeat {
    JX_HLO_ONCE,
    JX_HLO_PAIRS,
    JX_HLO_TWICE
} jx_hlo_repeat;
jx_mlir_region jx_hlo_computation(jx_code *c, const jx_closed *closed, int n,
                                  const jx_hv *operands, jx_hlo_repeat how);
/* A call to the jaxpr as a function, made when first called. */
void jx_hlo_call(jx_code *c, const char *name, const jx_closed *closed,
                 const jx_hv *ins, jx_hv *outs);

/* The name of that function; NULL with an error. */
const char *jx_hlo_function_of(jx_code *c, const char *name,
                               const jx_closed *closed,
                               const jx_aval *const *ins);
/* The avals of the values; NULL if one could not be made. */
const jx_aval *const *jx_hlo_avals_of(jx_code *c, int count, const jx_hv *of);
/* A function whose body is the region of an op; its name. */
const char *jx_hlo_region_function(jx_code *c, const char *name,
                                   jx_mlir_region body);
/* A function that compares two pairs of value and place by their values, for
 * ApproxTopK; made once per name. */
bool jx_hlo_comparator(jx_code *c, const char *name, bool greater,
                       jx_dtype dtype);

static inline jx_hv jx_hlo_fill(jx_hlo_eqn *e, jx_hv value)
{
    e->outs[0] = value;
    return value;
}

/* The rule's op on the equation's operands, with its results; `body` is its one
 * region, or NULL. */
static inline void jx_hlo_own(jx_hlo_eqn *e, int nattrs,
                              const jx_mlir_named *attrs,
                              const jx_mlir_region *body)
{
    jx_hlo_emit(e->code,
                &(jx_hlo_op){.name = e->op,
                             .nins = e->eqn->nins,
                             .ins = e->ins,
                             .nouts = e->eqn->nouts,
                             .outs = e->avals,
                             .nattrs = nattrs,
                             .attrs = attrs,
                             .nregions = body != NULL,
                             .regions = body},
                e->outs);
}

/* ---- families that others use */

const jx_mlir_attr *jx_hlo_scatter_dims(jx_hlo *in, const jx_scatter_dims *d,
                                        int index_rank);
/* As large as `like`: JAX lets scalars and axes of size 1
 * stand among arrays. */
jx_hv jx_hlo_fit(jx_code *c, jx_hv x, const jx_aval *like);
jx_hv jx_hlo_isnan(jx_code *c, jx_hv x);

#endif
