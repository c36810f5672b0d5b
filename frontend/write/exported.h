/* exported.h - writes exported files.
 *
 * What was read is written byte for byte as JAX wrote it: the fields that are
 * kept "as written" (both generations of tables, .slots), in the order in which
 * every version of JAX builds them.  To change something, copy the struct and
 * change the copy: the module, names, platforms.  What holds by resolution
 * (.in_avals, .in_named, .devices) is not looked at. */
#ifndef JX_WRITE_EXPORTED_H
#define JX_WRITE_EXPORTED_H

#include "frontend/read/exported.h"

/* The builders of flatbuffers that JAX was used with: an old one counts tables
 * of two sizes as alike. */
typedef enum jx_exported_builder {
    JX_BUILDER_NEW = 0,
    JX_BUILDER_OLD,
    JX_BUILDERS,
} jx_exported_builder;

/* Which of them gives exactly these bytes, from which `exported` was read;
 * JX_BUILDERS if none does (no JAX wrote it, or memory ended). */
jx_exported_builder jx_exported_builder_of(jx_ctx *ctx,
                                           const jx_exported *exported,
                                           const void *bytes, size_t size);

/* Appends the file to `to`; false without memory. */
bool jx_exported_write(const jx_exported *exported, jx_exported_builder builder,
                       jx_buffer *to);

#endif
