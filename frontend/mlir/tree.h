/* tree.h - the syntax tree of an MLIR module: StableHLO as it is written.
 *
 * The tree is syntax: it keeps what the text or the bytecode said, for exact
 * decoding, diffing and writing back, and gives it no meaning.  Meaning comes
 * with the program (frontend/ir/program.h) that frontend/read makes of it.
 *
 *     file -> modules -> op -> regions -> blocks -> ops
 *                         \-> operands, results, attributes, types, location
 *
 * One tree, two levels: bytecode holds VHLO, the versioned twin of StableHLO,
 * and its reader gives exactly that (ops named `vhlo.add_v1`, types and
 * attributes with `vhlo` set); vhlo.h turns it into the StableHLO tree that
 * the text reader gives, too, and back at any version.  Everything but the
 * bytecode reader and writer sees StableHLO trees.
 *
 * Types are interned: equal types are one pointer.  Attributes are not; use
 * jx_mlir_attr_same().  A tree is not changed after it was built: a pass makes
 * a new one, which may share what is as before.  Everything lives in the arena
 * of the context, except large constants of a file, which point into the bytes
 * that were read (these must outlive the tree). */
#ifndef JX_MLIR_TREE_H
#define JX_MLIR_TREE_H

#include "frontend/base/ctx.h"
#include "frontend/ir/dtype.h"
#include "frontend/mlir/op_id.h"

#include <stdint.h>

struct jx_mlir_attr;
struct jx_mlir_op;
struct jx_mlir_block;

/* A size that is not known: `?`. */
#define JX_MLIR_DYNAMIC INT64_MIN

/* ---- types */

typedef enum jx_mlir_type_kind {
    JX_T_INTEGER = 0, /* .width, .sign: i32, ui8, i1 */
    JX_T_INDEX,
    JX_T_FLOAT,    /* .text: "f32", "bf16", "tf32", "f8E4M3FN", ... */
    JX_T_COMPLEX,  /* .items[0] */
    JX_T_TENSOR,   /* .shape, .items[0] element, .encoding or NULL */
    JX_T_UNRANKED, /* tensor<*xf32>: .items[0] */
    JX_T_TUPLE,    /* .items */
    JX_T_FUNCTION, /* .items: .inputs of them inputs, then results */
    JX_T_TOKEN,    /* !stablehlo.token */
    JX_T_NONE,
    JX_T_QUANTIZED, /* !quant.uniform: .items: storage, expressed; .quant */
    JX_T_MEMREF,    /* .shape, .items[0] (the buffer type of VHLO) */
    JX_T_FUTURE,    /* !stablehlo.future<...>: .items */
    JX_T_WITNESS,   /* !shape.witness */
    JX_T_OPAQUE,    /* .text as written: nothing is known of it */
} jx_mlir_type_kind;

typedef enum jx_mlir_sign {
    JX_SIGNLESS = 0, /* i32; StableHLO's signed integers */
    JX_SIGNED,       /* si32 */
    JX_UNSIGNED,     /* ui32 */
} jx_mlir_sign;

/* value = scale * (stored - zero); one of each, or one per index of `axis`. */
typedef struct jx_mlir_quant {
    uint64_t flags;   /* 1: the storage type is signed */
    int64_t min, max; /* of the stored values */
    int axis;         /* -1: one scale for all */
    int count;        /* of the scales and zero points */
    const double *scales;
    const int64_t *zeros;
} jx_mlir_quant;

/* A scale is finite and above 0, as MLIR's verifier has it. */
bool jx_mlir_is_scale(double value);

typedef struct jx_mlir_type {
    jx_mlir_type_kind kind;
    bool vhlo; /* VHLO's version of it */
    jx_mlir_sign sign;
    unsigned width;
    int rank; /* -1 where there is no shape */
    int count, inputs;
    const int64_t *shape; /* `rank` sizes or JX_MLIR_DYNAMIC */
    const struct jx_mlir_type *const *items; /* `count` of them */
    const struct jx_mlir_attr *encoding;     /* compared by its meaning */
    const jx_mlir_quant *quant;
    const char *text; /* interned, or NULL */
} jx_mlir_type;

typedef struct jx_mlir_types {
    jx_ctx *ctx;
    jx_intern table;
} jx_mlir_types;

void jx_mlir_types_init(jx_mlir_types *in, jx_ctx *ctx);
/* The same in the context's arena; NULL without memory. */
jx_mlir_types *jx_mlir_types_new(jx_ctx *ctx);
/* The interned type equal to *like, whose arrays are copied and whose text must
 * be interned.  NULL without memory. */
const jx_mlir_type *jx_mlir_type_add(jx_mlir_types *in,
                                     const jx_mlir_type *like);

/* Builders of StableHLO-level types. */
const jx_mlir_type *jx_mlir_integer(jx_mlir_types *in, jx_mlir_sign sign,
                                    unsigned width);
const jx_mlir_type *jx_mlir_float(jx_mlir_types *in, const char *text);
const jx_mlir_type *jx_mlir_complex(jx_mlir_types *in,
                                    const jx_mlir_type *part);
const jx_mlir_type *jx_mlir_tensor(jx_mlir_types *in, int rank,
                                   const int64_t *shape,
                                   const jx_mlir_type *element);
const jx_mlir_type *jx_mlir_function(jx_mlir_types *in, int ninputs,
                                     const jx_mlir_type *const *inputs,
                                     int nresults,
                                     const jx_mlir_type *const *results);

/* The bits of MLIR's float type of that name; 0 for one that it has not. */
unsigned jx_mlir_float_bits(const char *text, size_t length);

/* The dtype of an element type (i1 is BOOL; integers of no width JAX knows,
 * index, tf32 and f6 have none: false), and the other way (keys, float0: NULL
 * element, so NULL). */
bool jx_mlir_dtype(const jx_mlir_type *element, jx_dtype *dtype);
const jx_mlir_type *jx_mlir_element(jx_mlir_types *in, jx_dtype dtype);

/* ---- attributes */

typedef enum jx_mlir_attr_kind {
    JX_A_UNIT = 0,
    JX_A_BOOL,    /* .boolean */
    JX_A_INTEGER, /* .type; .integer if it fits, else .bytes (little endian) */
    JX_A_FLOAT,   /* .type; .bytes: the bits, little endian; .real */
    /* .bytes, .size: any bytes, not ended by a NUL; .type or NULL */
    JX_A_STRING,
    JX_A_TYPE,  /* .type */
    JX_A_ARRAY, /* .items, .count */
    JX_A_DICT,  /* .names, .items, .count; sorted by name at StableHLO level */
    JX_A_DENSE, /* .type (a tensor's); .bytes, .size; .splat (see below) */
    JX_A_DENSE_STRINGS, /* .type; .items: strings; .splat */
    JX_A_DENSE_ARRAY,   /* array<i64: 1, 2>: .type of an element, .integers or
                         .bytes, .count */
    JX_A_RESOURCE, /* dense_resource<.text> : .type; .bytes, .size if known */
    JX_A_SYMBOL,   /* @a::@b: .text "a", .items: nested symbols */
    JX_A_ENUM,     /* #stablehlo<precision HIGH>: .name "stablehlo.precision",
                      .text "HIGH" */
    JX_A_RECORD,   /* #stablehlo.gather<...>, #sdy.sharding<...>: .name
                      "stablehlo.gather"; fields .names, .items, .count.  Fields
                      left out of the text hold their defaults. */
    JX_A_LOC_UNKNOWN,
    JX_A_LOC_FILE,  /* .text file; .integers: line, column, or a range: line,
                       column, end line, end column (as many as were given; a
                       range that ends where it begins is no range) */
    JX_A_LOC_NAME,  /* .text; .items[0]: where, or none */
    JX_A_LOC_CALL,  /* .items: callee, caller */
    JX_A_LOC_FUSED, /* .items; .extra: metadata or NULL */
    JX_A_LOC_ALIAS, /* only inside a reader: an alias not yet resolved */
    JX_A_OPAQUE,    /* .text as written: nothing is known of it */
} jx_mlir_attr_kind;

typedef struct jx_mlir_attr {
    jx_mlir_attr_kind kind;
    bool vhlo, boolean;
    bool splat; /* of a dense one: .bytes hold one element, all are equal */
    const char *name, *text; /* interned, or NULL */
    const jx_mlir_type *type;
    int64_t integer;
    double real;
    int count;
    int again; /* of a place in a file: how many equal ones the bytecode had
                  before it; to the writer these are several */
    const char *const *names; /* interned */
    const struct jx_mlir_attr *const *items;
    const int64_t *integers;
    const struct jx_mlir_attr *extra;
    const void *bytes;
    size_t size;
} jx_mlir_attr;

/* Elements of dense attributes are as jx_array has them: row-major, little
 * endian, one byte for each bool and each 4-bit integer, complex as real and
 * imaginary part.  (Bytecode packs its bools: its reader unpacks them, and the
 * writer packs them as the version wants it.) */

bool jx_mlir_attr_same(const jx_mlir_attr *a, const jx_mlir_attr *b);
/* The field of a record or entry of a dictionary, or NULL. */
const jx_mlir_attr *jx_mlir_field(const jx_mlir_attr *of, const char *name);

/* How many of the numbers of a JX_A_LOC_FILE say something. */
static inline int jx_mlir_place_numbers(int count, const int64_t *numbers)
{
    return count == 4 && numbers[0] == numbers[2] && numbers[1] == numbers[3]
               ? 2
               : count;
}

static inline bool jx_mlir_is_location(const jx_mlir_attr *attr)
{
    return attr->kind >= JX_A_LOC_UNKNOWN && attr->kind <= JX_A_LOC_FUSED;
}

/* ---- ops */

/* Where something stands in the input, for messages. */
typedef struct jx_mlir_place {
    size_t offset;    /* bytes from the start of the file */
    int line, column; /* from 1; 0: bytecode */
} jx_mlir_place;

typedef struct jx_mlir_value {
    const jx_mlir_type *type;
    const struct jx_mlir_op *op; /* whose result it is; NULL: of a block */
    const struct jx_mlir_block *block; /* whose argument it is, or NULL */
    int index;                         /* which result or argument */
    const char *name;        /* "arg0" of text, without `%`; or NULL */
    const jx_mlir_attr *loc; /* of an argument; or NULL */
} jx_mlir_value;

typedef struct jx_mlir_named {
    const char *name; /* interned */
    const jx_mlir_attr *value;
} jx_mlir_named;

typedef struct jx_mlir_region {
    int nblocks;
    const struct jx_mlir_block *const *blocks;
} jx_mlir_region;

typedef struct jx_mlir_op {
    jx_op_id id;      /* JX_OP_unknown: only its name is known */
    const char *name; /* "stablehlo.add", "func.func"; interned */
    int nins, nouts, ninherent, nattrs, nregions, nsuccessors;
    const jx_mlir_value *const *ins;
    const jx_mlir_value *const *outs;
    /* What the op's definition names (`broadcast_dimensions`), sorted by name:
     * absent ones with a default are absent at StableHLO level. */
    const jx_mlir_named *inherent;
    /* What anybody may add (`mhlo.sharding`, `jax.result_info`), sorted. */
    const jx_mlir_named *attrs;
    const jx_mlir_region *regions;
    const struct jx_mlir_block *const *successors; /* nothing we read has any
                                                      with a meaning */
    const jx_mlir_attr *loc;                       /* never NULL */
    jx_mlir_place place;
} jx_mlir_op;

typedef struct jx_mlir_block {
    int nargs, nops;
    const jx_mlir_value *const *args;
    const jx_mlir_op *const *ops;
} jx_mlir_block;

/* What was read from one input. */
typedef struct jx_mlir_file {
    jx_ctx *ctx;
    jx_mlir_types *types;
    const char *path;
    int nmodules; /* text may hold several, between `// -----` */
    const jx_mlir_op *const *modules; /* builtin.module ops */
    const char *producer; /* "StableHLO_v1.15.0" of bytecode; or NULL */
    int bytecode;         /* its version, or -1: text */
    int version[3];       /* of VHLO, if the producer says it; else all -1 */
    const struct jx_bytecode_extra *extra; /* bytecode.h; or NULL */
} jx_mlir_file;

/* The value of that name in a list, or NULL. */
const jx_mlir_attr *jx_mlir_named_value(const jx_mlir_named *in, int count,
                                        const char *name);
/* The inherent attribute, else the discardable one; or NULL. */
const jx_mlir_attr *jx_mlir_get(const jx_mlir_op *op, const char *name);
/* The numbers of a dense array, an array of integers or dense integers; -1 if
 * the attribute is none of these. */
int64_t jx_mlir_numbers(const jx_mlir_attr *attr);
int64_t jx_mlir_number(const jx_mlir_attr *attr, int64_t index);
/* The op in the module's body with that sym_name, or NULL. */
const jx_mlir_op *jx_mlir_symbol(const jx_mlir_op *module, const char *name);
/* The same for who asks again and again, as every call of a function does: a
 * module's names, looked through once.  Starts as zeros, in an arena. */
typedef struct jx_mlir_symbols {
    const jx_mlir_op *module; /* whose they are */
    jx_intern names;
} jx_mlir_symbols;
const jx_mlir_op *jx_mlir_find(jx_ctx *ctx, jx_mlir_symbols *in,
                               const jx_mlir_op *module, const char *name);
/* A string attribute's text, interned; NULL if it is none, holds a NUL or is no
 * UTF-8. */
const char *jx_mlir_text(jx_ctx *ctx, const jx_mlir_attr *attr);
/* The only block of a region; NULL if it has another number of blocks. */
const jx_mlir_block *jx_mlir_body(const jx_mlir_op *op, int region);

/* Same up to names and locations: the same ops in the same order with the same
 * types, attributes and operands (positions, not names); successors are only
 * counted.  Both trees must share one jx_mlir_types.  With `why`, a pair of ops
 * that differ, or NULL where one has no counterpart (outer ops are compared
 * before what their regions hold).  False without memory. */
typedef struct jx_mlir_difference {
    const jx_mlir_op *a, *b;
    const char *what; /* "operand 1", "attribute `dim`"; arena text */
} jx_mlir_difference;

bool jx_mlir_same(jx_ctx *ctx, const jx_mlir_op *a, const jx_mlir_op *b,
                  jx_mlir_difference *why);

#endif
