/* flatbuffer.h - bounds-checked access to any flatbuffer.
 *
 * A flatbuffer is read in place: nothing is copied, and every offset, size and
 * count is checked before it is followed.  Layout (little endian, "at" counted
 * from the start of the file):
 *
 *     file    u32 offset of the root table ...
 *     table   i32 back to its vtable, then fields where the vtable says
 *     vtable  u16 its bytes, u16 the table's bytes, u16 per slot: where in the
 *             table the field lies, 0 if it is absent (it has its default)
 *     vector  u32 count, then the items
 *     string  a vector of bytes, with a NUL after the last
 *     a table, vector or string in a table or vector: u32 forward from there
 *
 * Offsets point forward, and one of 0 is refused, so there are no cycles.
 * Tables may be shared, which could make a small file a huge tree: the bytes
 * looked at are counted each time, and may be JX_FLAT_SHARING times the file's
 * (what a vector of tables holds is counted when it is taken).
 * Nesting is limited to JX_FLAT_DEPTH.
 *
 * The first failure is the only one: it becomes the context's error ("byte 76",
 * "Exported.in_avals[2].shape: expected ..."), and from then on everything
 * reads as absent, so that callers check once.
 *
 * Alignment is not asked for: reading does not need it. */
#ifndef JX_READ_FLATBUFFER_H
#define JX_READ_FLATBUFFER_H

#include "frontend/base/ctx.h"

#include <stdint.h>

enum { JX_FLAT_DEPTH = 256, JX_FLAT_SHARING = 2 };

/* A step of the way from the root: a field, or with `item` >= 0 one of its
 * items. */
typedef struct jx_flat_step {
    const char *field;
    int64_t item;
} jx_flat_step;

typedef struct jx_flat {
    jx_ctx *ctx;
    const char *path; /* of the file, for messages */
    const unsigned char *bytes;
    size_t size;
    size_t work; /* bytes that may still be looked at */
    bool failed;
    int depth;
    jx_flat_step steps[JX_FLAT_DEPTH]; /* where the reader is; [0]: the root */
} jx_flat;

typedef struct jx_flat_table {
    size_t at, size;
    size_t vtable;
    unsigned slots; /* that the vtable has */
} jx_flat_table;

typedef struct jx_flat_vector {
    size_t at; /* of the first item */
    uint32_t count;
    unsigned width; /* bytes of an item */
} jx_flat_vector;

/* Opens a file whose root table is called `root` in messages. */
bool jx_flat_open(jx_flat *flat, jx_ctx *ctx, const char *path,
                  const void *bytes, size_t size, const char *root,
                  jx_flat_table *table);

/* Goes down to a field (item -1) or an item of it, for messages and the limit
 * of depth; on true call jx_flat_leave() when done with it. */
bool jx_flat_enter(jx_flat *flat, const char *field, int64_t item);
void jx_flat_leave(jx_flat *flat);

/* Records a failure at a byte of the file: "Exported.FIELD: MESSAGE", FIELD
 * being below where the reader is (NULL: there).  Always false. */
bool jx_flat_fail(jx_flat *flat, size_t at, const char *field,
                  const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the table has this slot (not its default). */
bool jx_flat_has(const jx_flat *flat, const jx_flat_table *table,
                 unsigned slot);
/* Where the field lies in the file, for messages; the table if absent. */
size_t jx_flat_where(const jx_flat *flat, const jx_flat_table *table,
                     unsigned slot);

/* A scalar of 1, 2, 4 or 8 bytes, zero-extended; `otherwise` if absent. */
uint64_t jx_flat_scalar(jx_flat *flat, const jx_flat_table *table,
                        unsigned slot, const char *field, unsigned width,
                        uint64_t otherwise);
/* What a slot refers to; false if it is absent (or on failure, which
 * flat->failed tells apart). */
bool jx_flat_table_of(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                      const char *field, jx_flat_table *to);
bool jx_flat_vector_of(jx_flat *flat, const jx_flat_table *table, unsigned slot,
                       const char *field, unsigned width, jx_flat_vector *to);
/* A string, in place and ended by its NUL; NULL if absent or on failure.  What
 * is not UTF-8 or holds a NUL is refused. */
const char *jx_flat_text(jx_flat *flat, const jx_flat_table *table,
                         unsigned slot, const char *field);

/* Items of a vector, `index` being below its count.  A vector of tables or
 * strings has items of width 4.  A scalar never fails. */
uint64_t jx_flat_item(const jx_flat *flat, const jx_flat_vector *vector,
                      uint32_t index);
bool jx_flat_item_table(jx_flat *flat, const jx_flat_vector *vector,
                        uint32_t index, const char *field, jx_flat_table *to);
const char *jx_flat_item_text(jx_flat *flat, const jx_flat_vector *vector,
                              uint32_t index, const char *field);

#endif
