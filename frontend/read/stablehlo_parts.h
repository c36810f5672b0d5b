/* stablehlo_parts.h - what the files of the StableHLO adapter share.
 *
 * One function, or one region, becomes one body; a finished body is a jaxpr.
 * Each op is read by the rule that frontend/mlir/adapter.def names for it: the
 * rule looks up what the op's operands became, emits equations, and says what
 * the op's results are.
 *
 *     value of the tree -> atoms -> operands of equations
 *
 * A tensor is one atom; a tuple is as many as it has tensors; a token is none.
 * A constant is a literal, so it costs no equation and needs no capturing.
 *
 * Every function records the first failure in the context and gives something
 * harmless after it (NULL, zero): rules check at their end, by the result of
 * what they emit. */
#ifndef JX_STABLEHLO_PARTS_H
#define JX_STABLEHLO_PARTS_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/build.h"
#include "frontend/ir/dim_spec.h"
#include "frontend/ir/infer.h"
#include "frontend/mlir/tree.h"
#include "frontend/sizes/sizes.h"

/* Regions in regions and calls in calls, at most: later passes recurse along
 * them. */
enum { JX_HLO_DEPTH = 256, JX_HLO_RANK = 64 };

struct jaxvet_custom_call;
struct jx_hlo_body;
struct jx_hlo_row;

typedef bool jx_hlo_rule(struct jx_hlo_body *b, const jx_mlir_op *op,
                         const struct jx_hlo_row *row);

/* A row of adapter.def, and the next one for the same op. */
typedef struct jx_hlo_row {
    jx_op_id op;
    const char *detail;
    jx_prim_id prim;
    jx_hlo_rule *rule;
    const struct jx_hlo_row *next;
} jx_hlo_row;

/* A size that a type leaves open, while its op is read (stablehlo_open.c). */
typedef struct jx_hlo_open {
    const jx_dim_atom *var;
    const jx_dim *is; /* NULL: not known so far */
} jx_hlo_open;

typedef struct jx_hlo_reader {
    jx_ctx *ctx;
    jx_program *program;
    int64_t base; /* of the program, before */
    const jx_mlir_file *file;
    const jx_mlir_op *module; /* whose functions are called */
    jx_mlir_symbols symbols;
    jx_infer_open *infer; /* types of results; NULL: open sizes are free */
    void *inferring;      /* its state */
    jx_sizes *sizes;      /* of its entry */
    struct jx_sz_reading *reading;  /* ... and how it is read */
    const jx_mlir_op *entry, *last; /* reading ends behind `last`, or NULL */
    bool placeless;                 /* nobody looks at what is read now */
    JX_VEC(jx_hlo_open) open;
    JX_VEC(const char *) equated; /* sizes that are the same */
    JX_VEC(jx_misstated) misstated;
    const jx_hlo_row *rows[JX_OP_COUNT]; /* of each op, in order; or NULL */
    jx_map types;                        /* closed ones, and their avals */
    jx_intern functions; /* those read, by op and types of arguments */
    jx_map doing;        /* functions, and whether each does something */
    jx_intern calls;     /* custom calls, by what they say */
    jx_map *cuts;        /* custom calls, and how operands lie; or NULL */
    jx_map stacks, files, frames; /* by location */
    jx_builder build;
    JX_VEC(const jx_file *) files_read;
    JX_VEC(jx_mesh) meshes;
    int depth;                          /* of calls and regions being read */
    JX_VEC(const jx_dim_atom *) unsaid; /* sizes that nothing determines */
} jx_hlo_reader;

typedef struct jx_hlo_body {
    jx_body body; /* what is made; the builder is `s->build` */
    jx_hlo_reader *s;
    struct jx_hlo_body *outer; /* whose values it may use; NULL: a function */
    const jx_mlir_op *func;    /* whose body it is, or NULL: a region */
    const jx_mlir_op *op;      /* being read: equations come from there */
    const jx_sz_info *known;   /* what its equation's results hold, or NULL */
    jx_map values;             /* jx_mlir_value -> jx_atoms that it became */
    /* of its block, if that was asked for; or NULL */
    struct jx_hlo_spmds *spmds;
    JX_VEC(int) shaping; /* equations that only make known sizes: gone where
                            nobody looks at them */
} jx_hlo_body;

/* ---- failures (stablehlo_build.c) */

/* Records the first failure, at the op being read; always false. */
bool jx_hlo_refuse(jx_hlo_body *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool jx_hlo_refuse_at(jx_hlo_reader *s, const jx_mlir_op *op,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- types and values */

/* The element type: a quantized one's is that of what it stores. */
bool jx_hlo_dtype(const jx_mlir_type *type, jx_dtype *dtype);
/* How many atoms a value of that type is. */
int jx_hlo_width(const jx_mlir_type *type);
/* The aval of a tensor type; `known` (its rank long, or NULL) says what the
 * sizes are that the type leaves open.  Nothing said: free variables. */
const jx_aval *jx_hlo_aval_of(jx_hlo_body *b, const jx_mlir_type *type,
                              const jx_dim *const *known);
/* Of the op's result: its type, then the sizes that operands say (or NULL),
 * then what the type rules make of the equations that compute it. */
const jx_aval *jx_hlo_result(jx_hlo_body *b, int index,
                             const jx_dim *const *known);
/* An array of this dtype and shape. */
const jx_aval *jx_hlo_array(jx_hlo_body *b, jx_dtype dtype, int rank,
                            const jx_dim *const *shape);
const jx_dim *jx_hlo_dim_int(jx_hlo_body *b, int64_t value);
/* Whether the op has that result, a tensor of a rank that we take. */
bool jx_hlo_rank_ok(jx_hlo_body *b, int result);
/* What an operand's integers are as sizes, one for each; NULL: not known. */
const jx_dim *const *jx_hlo_sizes_in(jx_hlo_body *b, int operand, int count);
/* The same as the sizes of the first result, where its type leaves them open:
 * those that are not known are variables of their own.  NULL: it does not. */
const jx_dim *const *jx_hlo_shape_in(jx_hlo_body *b, int operand);

/* An elementwise primitive of these operands, as the op's result. */
bool jx_hlo_elementwise(jx_hlo_body *b, jx_prim_id prim, jx_atoms ins);
bool jx_hlo_select_of(jx_hlo_body *b, jx_atoms ins);
bool jx_hlo_compare_of(jx_hlo_body *b, jx_atoms ins);
bool jx_hlo_eqn_slice(jx_hlo_body *b, const jx_dim *const *start,
                      const jx_dim *const *limit, const jx_dim *const *stride);
bool jx_hlo_eqn_pad(jx_hlo_body *b, const jx_dim *const *low,
                    const jx_dim *const *high, const jx_dim *const *interior);

/* What a value became; one atom of a tensor. */
jx_atoms jx_hlo_atoms_of(jx_hlo_body *b, const jx_mlir_value *value);
jx_atom jx_hlo_atom(jx_hlo_body *b, const jx_mlir_value *value);
jx_atom jx_hlo_in(jx_hlo_body *b, int index); /* of the op's operands */
/* All of the op's operands from one on, as one list. */
jx_atoms jx_hlo_ins(jx_hlo_body *b, int from);
/* Says what the op's results are, one after the other; false if there are
 * more or less atoms than they need. */
bool jx_hlo_define(jx_hlo_body *b, int count, const jx_atom *atoms);
bool jx_hlo_define_value(jx_hlo_body *b, const jx_mlir_value *value, int count,
                         const jx_atom *atoms);
bool jx_hlo_define1(jx_hlo_body *b, jx_atom atom);

/* Elements as they lie in memory (`splat`: one for all). */
jx_atom jx_hlo_literal(jx_hlo_body *b, const jx_aval *aval, const void *data,
                       size_t size, bool splat);
/* The literal's element that all elements are equal to; NULL if there is none
 * or it is not known. */
const void *jx_hlo_splat(jx_atom atom);

/* ---- equations */

static inline jx_params jx_hlo_no_params(const jx_hlo_body *b)
{
    return (jx_params){.program = b->s->program};
}

/* Adds an equation; its results, or NULL after a failure. */
const jx_atom *jx_hlo_eqn_all(jx_hlo_body *b, const jx_prim *prim, int nins,
                              const jx_atom *ins, jx_params *params, int nouts,
                              const jx_aval *const *outs);
/* The same, of whose results these integers are known (NULL: none but what the
 * equation says). */
const jx_atom *jx_hlo_eqn_known(jx_hlo_body *b, const jx_prim *prim, int nins,
                                const jx_atom *ins, jx_params *params,
                                int nouts, const jx_aval *const *outs,
                                const jx_sz_info *known);
/* With one result; an atom that is nothing after a failure. */
jx_atom jx_hlo_eqn(jx_hlo_body *b, jx_prim_id prim, int nins,
                   const jx_atom *ins, jx_params *params, const jx_aval *out);
jx_atom jx_hlo_eqn1(jx_hlo_body *b, jx_prim_id prim, jx_atom a,
                    const jx_aval *out);
jx_atom jx_hlo_eqn2(jx_hlo_body *b, jx_prim_id prim, jx_atom a, jx_atom c,
                    const jx_aval *out);
/* A scalar, or the array itself, as an array of that shape. */
jx_atom jx_hlo_eqn_broadcast(jx_hlo_body *b, jx_atom a, int rank,
                             const jx_dim *const *shape);
jx_atom jx_hlo_eqn_broadcast_dims(jx_hlo_body *b, jx_atom a, jx_ints dims,
                                  int rank, const jx_dim *const *shape);
jx_atom jx_hlo_eqn_reshape(jx_hlo_body *b, jx_atom a, int rank,
                           const jx_dim *const *shape);
jx_atom jx_hlo_eqn_transpose(jx_hlo_body *b, jx_atom a, const int64_t *order);
jx_atom jx_hlo_eqn_convert(jx_hlo_body *b, jx_atom a, jx_dtype dtype);

/* ---- attributes (stablehlo_attrs.c): of the op being read.  What is missing
 * or of another kind fails, unless there is a default. */
const jx_mlir_attr *jx_hlo_attr(jx_hlo_body *b, const char *name);
bool jx_hlo_attr_int(jx_hlo_body *b, const char *name, int64_t *value);
int64_t jx_hlo_attr_int_or(jx_hlo_body *b, const char *name, int64_t otherwise);
bool jx_hlo_attr_bool_or(jx_hlo_body *b, const char *name, bool otherwise);
bool jx_hlo_attr_real(jx_hlo_body *b, const char *name, double *value);
const char *jx_hlo_attr_enum(jx_hlo_body *b, const char *name,
                             const char *otherwise);
const char *jx_hlo_attr_text(jx_hlo_body *b, const char *name);
/* Integers of any list attribute; a splat is spread out. */
bool jx_hlo_attr_ints(jx_hlo_body *b, const char *name, jx_ints *to);
/* The same, `count` of them; each is `otherwise` where there
 * is no attribute. */
bool jx_hlo_attr_ints_or(jx_hlo_body *b, const char *name, int count,
                         int64_t otherwise, jx_ints *to);
/* Of a record: an integer, or a list of them (left out: empty). */
bool jx_hlo_field_int(jx_hlo_body *b, const jx_mlir_attr *record,
                      const char *name, int64_t *value);
bool jx_hlo_field_ints(jx_hlo_body *b, const jx_mlir_attr *record,
                       const char *name, jx_ints *to);
/* The integer that a constant of one element is; false if the value is none. */
bool jx_hlo_constant_int(const jx_mlir_value *value, int64_t *to);
/* Distinct axes below `rank`. */
bool jx_hlo_axes_ok(jx_hlo_body *b, const char *name, jx_ints axes, int rank);

/* ---- bodies */

/* When the program is there. */
void jx_hlo_begin_building(jx_hlo_reader *s);
jx_hlo_body *jx_hlo_body_new(jx_hlo_reader *s, jx_hlo_body *outer);
/* Reads a region of the op being read into a body of its own, whose arguments
 * have these avals (flattened) and hold these integers (NULL: nothing is known
 * of them); the body is finished later, when all of the op's captures are
 * known. */
jx_hlo_body *jx_hlo_region(jx_hlo_body *b, const jx_mlir_op *op, int region,
                           int nins, const jx_aval *const *ins,
                           const jx_sz_info *known);
/* Reads a block into a body, its arguments as inputs of these avals. */
bool jx_hlo_read_block(jx_hlo_body *b, const jx_mlir_block *block, int nins,
                       const jx_aval *const *ins, const jx_sz_info *known);
/* What the bodies use of the values around them, each once. */
jx_atoms jx_hlo_captured(jx_hlo_body *b, int count, jx_hlo_body *const *bodies);
/* The jaxpr; these captures come before its inputs. */
jx_jaxpr *jx_hlo_body_finish(jx_hlo_body *b, jx_atoms captures,
                             const char *function);
/* A region that captures nothing that varies, as a jaxpr; NULL and no failure
 * if it does. */
const jx_jaxpr *jx_hlo_closed(jx_hlo_body *b, const jx_mlir_op *op, int region,
                              int nins, const jx_aval *const *ins);
/* How the arguments of a body of scalars lie: one of each operand; two of each,
 * side by side; one of each, then the other of each. */
typedef enum jx_hlo_order {
    JX_HLO_ONES,
    JX_HLO_PAIRS,
    JX_HLO_HALVES,
} jx_hlo_order;

/* The op's first region, of scalars.  Scalars that it captures become further
 * operands, which are that everywhere: `captured`, whose arguments come behind
 * the others (of their half), and of which a body of halves gives back the
 * first.  NULL and no failure if it captures anything else. */
const jx_jaxpr *jx_hlo_lifted(jx_hlo_body *b, const jx_mlir_op *op, int nins,
                              const jx_aval *const *ins, jx_hlo_order order,
                              jx_atoms *captured);
/* Each of them in the shape of `like`. */
jx_atoms jx_hlo_eqn_spread(jx_hlo_body *b, jx_atoms atoms, const jx_aval *like);
/* One list of several; without atoms after a failure. */
jx_atoms jx_hlo_joined(jx_hlo_body *b, int count, const jx_atoms *lists);
/* What a region of two arguments per result consists of, if it is one op that
 * takes all its arguments in order (or, commuting, swapped) and whose result
 * it gives: that op, or stablehlo.return if it gives the second one; else
 * JX_OP_unknown. */
jx_op_id jx_hlo_single_op(const jx_mlir_op *op, int region);

/* Reads the ops of a block (stablehlo.c). */
bool jx_hlo_block(jx_hlo_body *b, const jx_mlir_block *block);
/* The jaxpr of a function for arguments of these avals, which hold these
 * integers (NULL: nothing is known of them). */
const jx_jaxpr *jx_hlo_jaxpr_of(jx_hlo_reader *s, const jx_mlir_op *func,
                                const jx_mlir_op *caller, int nins,
                                const jx_aval *const *ins,
                                const jx_sz_info *known);
/* The row of an op by its detail, else the one with the detail ""; NULL if
 * there is none (or none to read). */
const jx_hlo_row *jx_hlo_row_of(jx_hlo_reader *s, jx_op_id op,
                                const char *detail);
/* Whether the op, or one in what it runs, is there for what it does: a check,
 * an assertion, a call with a side effect, an op that is not known. */
bool jx_hlo_acts(jx_hlo_reader *s, const jx_mlir_op *op, int depth);
/* The op as a primitive that is known by its name alone. */
bool jx_hlo_unknown(jx_hlo_body *b, const jx_mlir_op *op);
/* A call of a jaxpr with the op's operands, defining its results. */
bool jx_hlo_call_of(jx_hlo_body *b, const jx_mlir_op *func, const char *name);

/* `jit`: its results have the types that the jaxpr gives. */
const jx_atom *jx_hlo_eqn_call(jx_hlo_body *b, const jx_jaxpr *jaxpr,
                               jx_atoms ins, const char *name);
/* A scalar that is a number or a size of the inputs; nothing if
 * it is neither. */
jx_atom jx_hlo_size_atom(jx_hlo_body *b, jx_dtype dtype, const jx_dim *dim);
/* The literal that an integer scalar is: a size that the shapes of inputs
 * give.  False if it is none. */
bool jx_hlo_size_symbol(jx_hlo_body *b, jx_atom atom, jx_atom *to);
/* Where the equation gives nothing but sizes: the literals that
 * its results are. */
bool jx_hlo_only_sizes(jx_hlo_body *b, const jx_eqn *eqn, jx_atom *to);

/* ---- open sizes (stablehlo_open.c) */

/* Whether a tensor has a size that its type does not say. */
bool jx_hlo_is_open(const jx_mlir_type *type);
/* A size that the equations of the op being read will say. */
const jx_dim *jx_hlo_open_size(jx_hlo_reader *s);
/* Types the equation's results, as far as sizes are open. */
void jx_hlo_infer(jx_hlo_body *b, jx_eqn *eqn);
/* Puts what was found of the open sizes from `open` on into the equations (and
 * their results) from these on; what nobody said is free. */
bool jx_hlo_close(jx_hlo_body *b, size_t open, size_t eqn, size_t out);

/* ---- quantized tensors (stablehlo_quantized.c) */

bool jx_hlo_is_quantized(const jx_mlir_type *type);
/* Whether an operand or a result of the op is. */
bool jx_hlo_has_quantized(const jx_mlir_op *op);
/* Whether an op's body takes wider elements than its operands have. */
bool jx_hlo_widens(const jx_mlir_op *op);
/* Reads such an op by its rule: with what its operands store, or between
 * dequantizing and quantizing. */
jx_hlo_rule jx_hlo_quantized;

/* ---- custom calls (stablehlo_host_call.c) */

/* All that the op being read says, of this target and without the operands left
 * out; one pointer for equal calls.  NULL with an error. */
const struct jaxvet_custom_call *
jx_hlo_host_call(jx_hlo_body *b, const char *target, const bool *left_out);

/* ---- many devices (stablehlo_devices.c) */

/* Whether these shardings cut by whole axes of meshes that number their devices
 * row by row, as those of a manual computation must. */
bool jx_hlo_are_plain(jx_hlo_body *b, const jx_mlir_attr *shardings);

/* What many devices run, in the words of modules before sdy (stablehlo_spmd.c):
 * its call, and what stands before and behind it and says where it begins and
 * ends; and how arrays are to lie. */
typedef enum jx_hlo_spmd {
    JX_HLO_SPMD_NONE = 0,
    JX_HLO_SPMD_PART, /* is read with the call */
    JX_HLO_SPMD_MADE, /* *made says the same in words of sdy */
} jx_hlo_spmd;

jx_hlo_spmd jx_hlo_spmd_of(jx_hlo_body *b, const jx_mlir_block *block,
                           const jx_mlir_op *op, const jx_mlir_op **made);

/* A custom call whose target has no row. */
jx_hlo_rule jx_hlo_op_host_call;
/* The function that a custom call combines two values with, or NULL. */
const jx_mlir_op *jx_hlo_reducer_called(jx_hlo_body *b);

/* ---- programs */

/* What is known of the shapes of an entry's last arguments. */
typedef struct jx_hlo_shapes {
    int count;
    const jx_dim_shape *at;
} jx_hlo_shapes;

/* Into a program of its own, or into that of a builder, whose jaxprs then go
 * on with those that are read; jx_hlo_end() ends the former,
 * jx_hlo_end_into() the latter. */
bool jx_hlo_begin_reading(jx_hlo_reader *s, const jx_mlir_file *file,
                          jx_infer_open *infer, const jx_builder *into);
void jx_hlo_end_into(const jx_hlo_reader *s, jx_builder *into);
/* The jaxpr of a function of `s->module` that nothing calls; `shapes` or
 * NULL (stablehlo_entry.c). */
const jx_jaxpr *jx_hlo_entry(jx_hlo_reader *s, const jx_mlir_op *func,
                             const jx_hlo_shapes *shapes);
jx_program *jx_hlo_end(jx_hlo_reader *s, const jx_jaxpr *entry,
                       const char *name);
/* Where the function's arguments come from: the last `nkept` are the inputs
 * `kept`; NULL: all are inputs, in order. */
const struct jx_tree_entry *jx_hlo_tree_entry(jx_hlo_reader *s,
                                              const jx_mlir_op *func, int nkept,
                                              const uint16_t *kept);

/* ---- places (stablehlo_places.c) */
const jx_stack *jx_hlo_stack(jx_hlo_reader *s, const jx_mlir_attr *loc);
const char *jx_hlo_name_stack(jx_hlo_reader *s, const jx_mlir_attr *loc);

/* The rules, by the name in adapter.def. */
#define ADAPT(op, detail, prim, read, write) jx_hlo_rule jx_hlo_op_##read;
#include "frontend/mlir/adapter.def"
#undef ADAPT

#endif
