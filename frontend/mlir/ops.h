/* ops.h - what the definitions of ops and attributes say of their parts.
 *
 * Two tables: ops.def for the ops of StableHLO modules (stablehlo, chlo, check,
 * sdy, func, builtin) and vhlo_ops.def for every version of each op of VHLO.
 * Readers, printer and converter ask here which attributes are inherent, how
 * operands group and how many regions there are, so that they agree.
 *
 * Lists of names are one text, "inputs* init_values*": names between single
 * spaces, each with an optional mark behind it: `*` a group of any size, `?`
 * may be absent, `=` may be absent and has a default then. */
#ifndef JX_MLIR_OPS_H
#define JX_MLIR_OPS_H

#include "frontend/mlir/op_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct jx_mlir_op_info {
    const char *name; /* "stablehlo.gather" */
    const char *ins, *outs, *attrs, *regions, *form;
} jx_mlir_op_info;

/* NULL: an op that the tables do not know. */
const jx_mlir_op_info *jx_mlir_op_info_find(const char *name);
const jx_mlir_op_info *jx_mlir_op_info_of(jx_op_id id);

/* The versions of VHLO as numbers that compare as they do. */
#define JX_VHLO(major, minor, patch)                                           \
    ((uint32_t)(major) << 20 | (uint32_t)(minor) << 10 | (uint32_t)(patch))
#define JX_VHLO_FIRST JX_VHLO(0, 9, 0)
#define JX_VHLO_MINOR 22
#define JX_VHLO_CURRENT JX_VHLO(1, JX_VHLO_MINOR, 0)
/* The same in words: "0.9.0 to 1.22.0". */
#define JX_VHLO_SPELLED(minor) #minor
#define JX_VHLO_RANGE_TO(minor) "0.9.0 to 1." JX_VHLO_SPELLED(minor) ".0"
#define JX_VHLO_RANGE JX_VHLO_RANGE_TO(JX_VHLO_MINOR)

typedef struct jx_vhlo_op_info {
    const char *name;     /* "gather_v2" */
    uint32_t first, last; /* the versions that have it; last: UINT32_MAX: all
                             later ones */
    const char *ins, *outs, *attrs, *regions;
} jx_vhlo_op_info;

/* The inherent attributes of an op of either table by its full name, in the
 * order of the bytecode; NULL for one that they do not know. */
const char *jx_mlir_op_attrs(const char *name);

/* By the name without the dialect. */
const jx_vhlo_op_info *jx_vhlo_op_info_find(const char *name);

/* Steps through a list of names: from `at` (the list at first) to behind the
 * next name, with its length and its mark (or '\0').  NULL at the end. */
const char *jx_mlir_next_name(const char *at, const char **name, size_t *length,
                              char *mark);
/* Whether the name of that length is this text. */
bool jx_mlir_is_name(const char *text, const char *name, size_t length);
int jx_mlir_count_names(const char *list);
/* Whether `name` is in the list, and its mark. */
bool jx_mlir_has_name(const char *list, const char *name, char *mark);
/* The place of `name` in the list, or -1. */
int jx_mlir_name_index(const char *list, const char *name);

/* How the `total` operands (or results) of an op fall to the names of `list`:
 * where the group of the `index`th name begins and how many it has.  Groups of
 * any size share evenly what is left, as the ops that have several want it.
 * False where no such division exists. */
bool jx_mlir_group(const char *list, int total, int index, int *begin,
                   int *count);

/* ---- attributes that are records or enumerations (records.def) */

typedef struct jx_mlir_record_info {
    const char *name, *fields; /* see records.def */
} jx_mlir_record_info;

const jx_mlir_record_info *jx_mlir_record_info_find(const char *name);
/* Steps through `fields` as jx_mlir_next_name() does; `kind` is the letter. */
const char *jx_mlir_next_field(const char *at, const char **name,
                               size_t *length, char *kind, char *mark);

/* The cases of an enumeration as a list of names, "" for one not in the table;
 * the name with that number in such a list, NULL if it is none or `-`. */
const char *jx_mlir_enum_cases(const char *enumeration);
const char *jx_mlir_case_at(const char *list, uint64_t number, size_t *length);
/* The number of a case of an enumeration, or -1; the case with that number (not
 * NUL-terminated), or NULL; -1 and NULL for an enumeration not in the table. */
int jx_mlir_enum_number(const char *enumeration, const char *text);
const char *jx_mlir_enum_case(const char *enumeration, int number,
                              size_t *length);

#endif
