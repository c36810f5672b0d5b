/* vhlo_parts.h - what the files of the VHLO converter share. */
#ifndef JX_MLIR_VHLO_PARTS_H
#define JX_MLIR_VHLO_PARTS_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/mlir/bytecode_parts.h"
#include "frontend/mlir/vhlo.h"

#include <string.h>

typedef enum jx_vhlo_mode {
    JX_VHLO_UP = 0,  /* VHLO to StableHLO */
    JX_VHLO_DOWN,    /* StableHLO to VHLO */
    JX_VHLO_VERSION, /* VHLO to VHLO */
    JX_VHLO_STRIP    /* locations only */
} jx_vhlo_mode;

typedef JX_VEC(jx_mlir_named) jx_vhlo_attrs;

typedef struct jx_vhlo {
    jx_ctx *ctx;
    jx_arena *arena, *scratch;
    jx_mlir_types *types;
    const char *path;
    jx_vhlo_mode mode;
    uint32_t target; /* a JX_VHLO() number, of a patch 0 */
    int version[3];
    bool failed;
    int depth;
    const jx_mlir_op *op; /* being converted, for errors */
    jx_map legal;         /* types and attributes that were */
    jx_map known, type_map, attr_map, dict_map;
    jx_map casts;                /* of values, to the other level: vhlo.c */
    const jx_mlir_attr *unknown; /* location */
    jx_vhlo_need *need; /* being found: nothing is refused then, target is the
                           least version so far */
} jx_vhlo;

/* One name is the other: they differ early, and are compared often. */
static inline bool jx_vhlo_is(const char *a, const char *b)
{
    return a[0] == b[0] && strcmp(a, b) == 0;
}

/* Its maps, in the scratch arena, empty. */
void jx_vhlo_init_maps(jx_vhlo *v);

/* Records the first failure, at the op.  Always returns false. */
bool jx_vhlo_fail(jx_vhlo *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the target has what came with version `first`; else the failure. */
bool jx_vhlo_since(jx_vhlo *v, uint32_t first, const char *what);

/* Types and attributes in the direction of the mode; NULL after a failure. */
const jx_mlir_type *jx_vhlo_type(jx_vhlo *v, const jx_mlir_type *type);
const jx_mlir_attr *jx_vhlo_attr(jx_vhlo *v, const jx_mlir_attr *attr);

/* The inherent attributes of an op by its name without dialect and version:
 * from VHLO's to StableHLO's, the other way (complete), and VHLO's as the
 * `row` of a version has them. */
bool jx_vhlo_inherent_up(jx_vhlo *v, const jx_mlir_op *op, const char *base,
                         jx_vhlo_attrs *to);
bool jx_vhlo_inherent_down(jx_vhlo *v, const jx_mlir_op *op, const char *base,
                           jx_vhlo_attrs *to);
bool jx_vhlo_inherent_fit(jx_vhlo *v, const char *base,
                          const jx_vhlo_op_info *row, jx_vhlo_attrs *set);

/* vhlo_legal.c: whether VHLO at the target has the type, the attribute, and
 * what this op of `row` says; else the failure. */
bool jx_vhlo_type_legal(jx_vhlo *v, const jx_mlir_type *type);
bool jx_vhlo_attr_legal(jx_vhlo *v, const jx_mlir_attr *attr);
bool jx_vhlo_op_legal(jx_vhlo *v, const jx_mlir_op *to,
                      const jx_vhlo_op_info *row);

#endif
