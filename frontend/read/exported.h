/* exported.h - files of `jax.export.Exported.serialize()`.
 *
 * The file is a flatbuffer (flatbuffer.h) around a module in MLIR bytecode.
 * Its versions differ by the slots that are there, not by the number it stores
 * (which was 2 or 3 until July 2026): every slot is read wherever it is, and
 * jx_exported_version() says what they tell.
 *
 * A jx_exported says what the file says, and the file's bytes must outlive it:
 * texts, the module and opaque bytes point into them.  Texts are UTF-8 without
 * a NUL inside, ended by one (others are refused: JAX reads no file with the
 * first, writes none with the second).  What is counted by an int fits one.
 *
 * Two generations of tables say the same: avals and shardings one by one, and
 * since version 10 indexes into tables of distinct ones.  `in_avals` and the
 * others below are what holds: by index where there are indexes, else one by
 * one; both are kept as they were written for writing the file again. */
#ifndef JX_READ_EXPORTED_H
#define JX_READ_EXPORTED_H

#include "frontend/ir/aval.h"
#include "frontend/read/op_sharding.h"

typedef struct jx_exported_bytes {
    const unsigned char *at;
    size_t size;
} jx_exported_bytes;

typedef struct jx_exported_texts {
    int count;
    const char *const *at;
} jx_exported_texts;

/* Pytrees, as JAX flattens arguments and results. */
typedef enum jx_tree_kind {
    JX_TREE_LEAF = 0,
    JX_TREE_NONE,
    JX_TREE_TUPLE,
    JX_TREE_LIST,
    JX_TREE_DICT,   /* .names, one per child */
    JX_TREE_CUSTOM, /* .custom and .aux, as its author registered them */
    JX_TREE_KINDS,
} jx_tree_kind;

typedef struct jx_tree {
    jx_tree_kind kind;
    int nchildren, leaves; /* of the whole tree below */
    const struct jx_tree *children;
    const char *const *names;
    const char *custom;
    jx_exported_bytes aux;
} jx_tree;

/* An array's type; `shape` as JAX printed each dim ("3", "2*b"). */
typedef struct jx_exported_aval {
    int kind; /* 0: an array */
    jx_dtype dtype;
    const char *impl;                       /* of a key: "fry"; else NULL */
    unsigned char dtype_code, memory_space; /* as in the file */
    int rank;
    const char *const *shape;
    size_t at; /* in the file, for messages */
} jx_exported_aval;

/* What the memory_space of an aval means: "device", "host", "any"; NULL where
 * the file does not say. */
const char *jx_exported_memory(const jx_exported_aval *aval);

typedef struct jx_exported_mesh {
    int naxes, ntypes; /* ntypes: naxes, or 0 where the file has none */
    const uint32_t *sizes;
    const char *const *names;
    const unsigned char *types; /* 1 auto, 2 explicit, 3 manual; 0: not said */
    bool has_device, has_cores;
    const char *device, *platform; /* "TPU v5e", "tpu"; platform or NULL */
    uint32_t cores;
} jx_exported_mesh;

typedef struct jx_exported_spec {
    int count; /* of leading axes of the array that it speaks of */
    const jx_exported_texts *axes; /* mesh axes of each; none: replicated */
    jx_exported_texts reduced, unreduced;
} jx_exported_spec;

typedef struct jx_exported_named {
    const jx_exported_mesh *mesh; /* what holds; never NULL */
    bool has_own;
    jx_exported_mesh own; /* written in place */
    uint32_t mesh_index;  /* into .meshes of the file */
    jx_exported_spec spec;
    const char *memory_kind; /* or NULL */
} jx_exported_named;

/* How an input or output lies on the devices. */
typedef struct jx_exported_sharding {
    int kind; /* 0, or 1 in files before March 2026 where it is specified */
    jx_exported_bytes hlo_bytes;
    const jx_op_sharding *hlo;      /* hlo_bytes decoded; or NULL */
    const jx_exported_named *named; /* or NULL */
} jx_exported_sharding;

typedef struct jx_exported_check {
    int kind;           /* JX_CHECK_... */
    const char *target; /* of a custom call, or NULL */
} jx_exported_check;

enum { JX_CHECK_PLATFORM, JX_CHECK_CUSTOM_CALL, JX_CHECK_SHAPE_ASSERTIONS };

typedef struct jx_exported_avals {
    int count;
    const jx_exported_aval *at;
} jx_exported_avals;

typedef struct jx_exported_shardings {
    int count;
    const jx_exported_sharding *at;
} jx_exported_shardings;

typedef struct jx_exported_indexes {
    int count;
    const uint32_t *at;
} jx_exported_indexes;

enum { JX_EXPORTED_VJPS = 16, JX_EXPORTED_SLOTS = 27 };

typedef struct jx_exported {
    const char *path;          /* of the file, for messages */
    const unsigned char *file; /* its first byte */
    size_t size;               /* of the file */
    uint32_t slots;            /* bit i: the root table has slot i */
    int stored_version, calling_convention;
    const char *name;
    jx_tree in_tree, out_tree;
    int nins, nouts;
    const jx_exported_aval *const *in_avals, *const *out_avals;
    /* NULL: unspecified.  `in_hlo` in files that know nothing else. */
    const jx_exported_named *const *in_named, *const *out_named;
    const jx_op_sharding *const *in_hlo, *const *out_hlo;
    uint32_t devices;
    jx_exported_texts platforms, ordered_effects, unordered_effects;
    int nchecks;
    const jx_exported_check *checks; /* disabled ones */
    jx_exported_bytes module;
    int nkept; /* the inputs that the module takes, increasing */
    const uint16_t *kept;
    bool uses_global_constants;
    const char *jax_version;       /* or NULL */
    const struct jx_exported *vjp; /* or NULL */

    /* As written. */
    int16_t devices_short;
    uint32_t devices_long;
    jx_exported_avals old_in_avals, old_out_avals, unique_avals;
    jx_exported_shardings old_in_shardings, old_out_shardings;
    int nmeshes, nunique_named;
    const jx_exported_mesh *meshes;
    const jx_exported_named *unique_named;
    jx_exported_indexes in_avals_idxs, out_avals_idxs;
    jx_exported_indexes in_shardings_idxs, out_shardings_idxs; /* 1-based */
} jx_exported;

/* Slots of the root table. */
enum {
    JX_XS_VERSION,
    JX_XS_NAME,
    JX_XS_IN_TREE,
    JX_XS_IN_AVALS,
    JX_XS_OUT_TREE,
    JX_XS_OUT_AVALS,
    JX_XS_DEVICES_SHORT,
    JX_XS_IN_SHARDINGS,
    JX_XS_OUT_SHARDINGS,
    JX_XS_PLATFORMS,
    JX_XS_ORDERED_EFFECTS,
    JX_XS_UNORDERED_EFFECTS,
    JX_XS_CHECKS,
    JX_XS_MODULE,
    JX_XS_CONVENTION,
    JX_XS_KEPT,
    JX_XS_GLOBAL_CONSTANTS,
    JX_XS_VJP,
    JX_XS_DEVICES,
    JX_XS_UNIQUE_AVALS,
    JX_XS_MESHES,
    JX_XS_UNIQUE_NAMED,
    JX_XS_IN_AVALS_IDXS,
    JX_XS_OUT_AVALS_IDXS,
    JX_XS_IN_SHARDINGS_IDXS,
    JX_XS_OUT_SHARDINGS_IDXS,
    JX_XS_JAX_VERSION,
};

/* Whether the bytes are an exported file by their root table: surely (it has a
 * module of MLIR bytecode), or perhaps (what is wrong with it is then for the
 * reader to say). */
bool jx_is_exported(jx_ctx *ctx, const char *bytes, size_t size);
bool jx_may_be_exported(jx_ctx *ctx, const char *bytes, size_t size);

/* NULL with an error.  Checked beside the layout: trees have as many leaves as
 * there are avals, there are as many shardings as avals (or none), indexes and
 * kept inputs are in range, kinds and dtypes are known. */
const jx_exported *jx_exported_read(jx_ctx *ctx, const char *path,
                                    const void *bytes, size_t size);

/* The version that the slots tell: the least that has all that is there, or
 * from version 12 on the number itself. */
int jx_exported_version(const jx_exported *exported);
/* When a JAX was made that writes this version: from a day on, and before
 * another ("" if there is none yet), and what the version brought. */
typedef struct jx_exported_release {
    int version;
    const char *from, *before, *what;
} jx_exported_release;
jx_exported_release jx_exported_release_of(int version);
/* How many vjps are nested in it. */
int jx_exported_vjps(const jx_exported *exported);

/* Whether the check that custom calls of this target are stable was switched
 * off when the file was written. */
bool jx_exported_admits(const jx_exported *exported, const char *target);

/* Which of the module's inputs an input is, -1 if the module does not take
 * it. */
int jx_exported_taken_as(const jx_exported *exported, int input);

/* The shape of an aval as dims of a program; NULL with an error that names the
 * dim.  An aval of rank 0 gives a valid pointer. */
const jx_dim *const *jx_exported_shape(jx_dims *dims,
                                       const jx_exported *exported,
                                       const jx_exported_aval *aval, int scope);

#endif
