/* exported_parts.h - what the files of the reader of exported files share. */
#ifndef JX_READ_EXPORTED_PARTS_H
#define JX_READ_EXPORTED_PARTS_H

#include "frontend/read/exported.h"
#include "frontend/read/flatbuffer.h"

/* What may be missing from memory or from the file: true while all is well. */
static inline bool jx_exported_ok(jx_flat *flat)
{
    return !flat->failed && jx_ok(flat->ctx);
}

/* A vector whose count fits an int (an empty one if the slot is absent); false
 * on failure. */
bool jx_exported_vector(jx_flat *flat, const jx_flat_table *table,
                        unsigned slot, const char *field, unsigned width,
                        jx_flat_vector *to);
/* Enters item `i` of a vector of tables; on true call jx_flat_leave() when done
 * with it. */
bool jx_exported_item(jx_flat *flat, const jx_flat_vector *vector,
                      const char *field, uint32_t i, jx_flat_table *to);
/* The texts of a vector of strings. */
jx_exported_texts jx_exported_texts_of(jx_flat *flat,
                                       const jx_flat_table *table,
                                       unsigned slot, const char *field);
/* Bytes in place; .at is NULL if the slot is absent. */
jx_exported_bytes jx_exported_bytes_of(jx_flat *flat,
                                       const jx_flat_table *table,
                                       unsigned slot, const char *field);
jx_exported_indexes jx_exported_indexes_of(jx_flat *flat,
                                           const jx_flat_table *table,
                                           unsigned slot, const char *field);

/* exported_trees.c */
bool jx_exported_tree(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                      const char *field, jx_tree *to);

/* exported_types.c */
jx_exported_avals jx_exported_avals_of(jx_flat *flat,
                                       const jx_flat_table *table,
                                       unsigned slot, const char *field);
const jx_exported_mesh *jx_exported_meshes_of(jx_flat *flat,
                                              const jx_flat_table *table,
                                              unsigned slot, const char *field,
                                              int *count);
/* The meshes of the file must have been read into *of. */
jx_exported_shardings jx_exported_shardings_of(jx_flat *flat,
                                               const jx_flat_table *table,
                                               unsigned slot, const char *field,
                                               const jx_exported *of);
const jx_exported_named *
jx_exported_named_of(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                     const char *field, const jx_exported *of, int *count);

#endif
