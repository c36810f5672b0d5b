/* vhlo.h - between VHLO, StableHLO as files keep it, and StableHLO.
 *
 * VHLO has each op in the versions that it ever had, with every attribute
 * spelled out; StableHLO has today's meaning, with defaults left out and
 * the dimension numbers as one record.  Ops of other dialects stay what
 * they are (sdy, builtin); the casts that join them to VHLO are no part of
 * StableHLO, and come back with VHLO.  Locations and what no version
 * touches are shared. */
#ifndef JX_MLIR_VHLO_H
#define JX_MLIR_VHLO_H

#include "frontend/mlir/tree.h"

/* Versions of StableHLO: the newest that is known here, and the one that is
 * written unless another is asked for, which JAX has read since 0.10.0. */
extern const int jx_vhlo_newest[3], jx_vhlo_usual[3];

/* The StableHLO tree of a VHLO one, whatever versions its ops have.  A file
 * that holds no VHLO comes back as it is.  NULL with an error. */
jx_mlir_file *jx_vhlo_to_stablehlo(jx_ctx *ctx, const jx_mlir_file *file);

/* The VHLO tree of a StableHLO one at a version (JX_VHLO_RANGE), as the
 * serializer of StableHLO makes it.  NULL with an error that names the op and
 * the versions, where that version can't say what the program means. */
jx_mlir_file *jx_vhlo_from_stablehlo(jx_ctx *ctx, const jx_mlir_file *file,
                                     const int version[3]);

/* A VHLO tree at another version. */
jx_mlir_file *jx_vhlo_set_version(jx_ctx *ctx, const jx_mlir_file *file,
                                  const int version[3]);

/* What a reader of a VHLO tree has to know. */
typedef struct jx_vhlo_need {
    int version[3];       /* the least version that has all of it */
    const jx_mlir_op *op; /* the first that needs it, and for what; or NULL */
    const char *what;
    const jx_mlir_op *unknown; /* an op of VHLO newer than jx_vhlo_newest */
    bool shardy;               /* something of the dialect sdy */
} jx_vhlo_need;

/* All zero for a file that holds no VHLO.  False without memory. */
bool jx_vhlo_needs(jx_ctx *ctx, const jx_mlir_file *file, jx_vhlo_need *to);

/* The tree with every location unknown; nothing else changes. */
jx_mlir_file *jx_mlir_strip_locations(jx_ctx *ctx, const jx_mlir_file *file);

/* The version of bytecode that belongs to a version of VHLO. */
int jx_vhlo_bytecode(const int version[3]);

#endif
