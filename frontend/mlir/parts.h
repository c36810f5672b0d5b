/* parts.h - what the bytes of a module in bytecode are spent on.
 *
 * A walk along the sections that decodes no op, for reports: how large each
 * section is, and how much of it are source locations and tensors. */
#ifndef JX_MLIR_PARTS_H
#define JX_MLIR_PARTS_H

#include "frontend/base/ctx.h"

#include <stdint.h>

typedef enum jx_mlir_section {
    JX_SECTION_STRINGS = 0,
    JX_SECTION_DIALECTS,
    JX_SECTION_ATTRS,
    JX_SECTION_ATTR_OFFSETS,
    JX_SECTION_IR,
    JX_SECTION_RESOURCES,
    JX_SECTION_RESOURCE_OFFSETS,
    JX_SECTION_DIALECT_VERSIONS,
    JX_SECTION_PROPERTIES,
    JX_NSECTIONS,
} jx_mlir_section;

/* "strings", "attributes", ... */
const char *jx_mlir_section_name(jx_mlir_section section);

typedef struct jx_mlir_parts {
    int bytecode;         /* version of the bytecode */
    const char *producer; /* as it may be shown */
    int version[3];       /* of VHLO, from "StableHLO_v1.15.0"; else all -1 */
    size_t size, header;  /* of all, of magic, version and producer */
    size_t sections[JX_NSECTIONS]; /* with their own headers; 0: none */
    size_t strings, attrs, types;  /* how many there are */
    /* Source locations: how many, their bytes, and the bytes of the strings
     * that they name (files and names, each once). */
    size_t locations, location_bytes, location_strings;
    /* Tensors: constants and the lists of integers that ops have. */
    size_t tensors, tensor_bytes, largest_tensor;
} jx_mlir_parts;

/* Walks along `size` bytes that lie at byte `at` of a file.  False with an
 * error that names the byte and the section. */
bool jx_mlir_parts_read(jx_ctx *ctx, const char *path, size_t at,
                        const void *bytes, size_t size, jx_mlir_parts *to);

#endif
