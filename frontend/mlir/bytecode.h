/* bytecode.h - MLIR bytecode, versions 0 to 6.
 *
 * A file holds numbered sections, each once:
 *
 *     "ML\xefR" version producer\0
 *     1 dialects and op names     3, 2 attributes and types: sizes, data
 *     4 IR                        6, 5 resources: sizes, data
 *     0 strings                   8 properties (version 5 and later)
 *
 * The reader gives what is written: the VHLO tree of a portable artifact (see
 * tree.h), with attributes and types decoded where they are referenced.  It
 * trusts nothing: every number is checked before it is used, and what is wrong
 * is one error that names the byte, the section and the entity. */
#ifndef JX_MLIR_BYTECODE_H
#define JX_MLIR_BYTECODE_H

#include "frontend/mlir/tree.h"

enum {
    JX_BYTECODE_VERSIONS = 7, /* 0 to 6 */
    JX_BYTECODE_DEPTH = 1000, /* of nested attributes and types */
    JX_BYTECODE_NESTING = 400 /* of regions */
};

/* What a file holds beside its module; kept so that writing gives the bytes
 * that were read. */
typedef struct jx_bytecode_resource {
    const char *dialect; /* or NULL: `group` is that of an outside tool */
    const char *group, *key;
    int kind;     /* 0: bytes, 1: bool, 2: string */
    bool present; /* false: declared only */
    uint64_t alignment;
    const void *bytes; /* of a bool or string: its text, NUL-terminated */
    size_t size;
} jx_bytecode_resource;

/* The order of uses that a builder left, of an op's results or a block's
 * arguments, as it is encoded. */
typedef struct jx_bytecode_uses {
    const void *owner; /* jx_mlir_op or jx_mlir_block */
    const void *bytes;
    size_t size;
} jx_bytecode_uses;

typedef struct jx_bytecode_dialect {
    const char *name;
    const void *version; /* the content of its version section */
    size_t size;
} jx_bytecode_dialect;

typedef struct jx_bytecode_extra {
    int nresources, nuses, ndialects, nsections;
    bool few_isolated; /* written when only modules counted as isolated */
    const jx_bytecode_resource *resources;
    const jx_bytecode_uses *uses;
    const jx_bytecode_dialect *dialects;
    /* Of the sections, in the order of the file. */
    struct jx_bytecode_section {
        int id;
        size_t offset, size; /* of its content, from the module's first byte */
    } sections[9];
} jx_bytecode_extra;

bool jx_bytecode_is(const void *bytes, size_t size);

/* Reads one module.  `base` is where `bytes` begin in the file called `path`:
 * errors and places count from there.  Types go into `types`, or into a table
 * of the file's own if it is NULL.  The bytes must outlive the tree.  NULL with
 * an error in the context. */
jx_mlir_file *jx_bytecode_read(jx_ctx *ctx, jx_mlir_types *types,
                               const char *path, const void *bytes, size_t size,
                               size_t base);

#endif
