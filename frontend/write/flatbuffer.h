/* flatbuffer.h - builds flatbuffers, byte for byte as the builder of the Python
 * package `flatbuffers` does, with which JAX writes.
 *
 * The file grows from its end to its beginning: what is referred to is written
 * before what refers to it, and is known by its offset from the end.  Padding
 * comes before an item, so that it is aligned from the end; equal vtables are
 * written once.  (frontend/read/flatbuffer.h has the layout.)
 *
 *     uint32_t name = jx_flat_write_text(&w, "f");
 *     jx_flat_write_begin(&w);
 *     jx_flat_write_scalar(&w, 0, 2, 3, 0);
 *     jx_flat_write_offset(&w, 1, name);
 *     jx_flat_write_finish(&w, jx_flat_write_end(&w), &text);
 *
 * Without memory, or past 2 GiB, writing fails once and for good. */
#ifndef JX_WRITE_FLATBUFFER_H
#define JX_WRITE_FLATBUFFER_H

#include "frontend/base/buffer.h"

#include <stdint.h>

enum { JX_FLAT_WRITE_SLOTS = 32 };

typedef struct jx_flat_writer {
    unsigned char *bytes; /* the file is at its end */
    size_t capacity, used;
    size_t alignment;                    /* the largest so far */
    uint32_t slots[JX_FLAT_WRITE_SLOTS]; /* of the table begun; 0: absent */
    uint32_t table;                      /* where it began */
    uint32_t *vtables;                   /* all that were written */
    size_t nvtables, vtables_room;
    bool loose; /* vtables that differ in the table's size alone are one, as the
                   builder had it until 2025 */
    bool failed, starved; /* for want of memory */
} jx_flat_writer;

void jx_flat_starve(jx_flat_writer *to);     /* fails for want of memory */
void jx_flat_write_free(jx_flat_writer *to); /* zero is an empty one */

/* Vectors: of bytes (a string's NUL is not counted), of scalars of `width`
 * bytes each as they lie in memory, of what offsets refer to. */
uint32_t jx_flat_write_text(jx_flat_writer *to, const char *text);
uint32_t jx_flat_write_bytes(jx_flat_writer *to, const void *bytes,
                             size_t size);
uint32_t jx_flat_write_vector(jx_flat_writer *to, const void *items,
                              size_t count, unsigned width);
uint32_t jx_flat_write_offsets(jx_flat_writer *to, const uint32_t *offsets,
                               size_t count);

/* A table: begin, then its fields in the order that they shall lie from the
 * table's end, then end.  A scalar that is the default is left out; an offset
 * of 0 is none. */
void jx_flat_write_begin(jx_flat_writer *to);
void jx_flat_write_scalar(jx_flat_writer *to, unsigned slot, unsigned width,
                          uint64_t value, uint64_t otherwise);
void jx_flat_write_always(jx_flat_writer *to, unsigned slot, unsigned width,
                          uint64_t value); /* the default, too */
void jx_flat_write_offset(jx_flat_writer *to, unsigned slot, uint32_t offset);
uint32_t jx_flat_write_end(jx_flat_writer *to);

/* Ends the file with its root table and appends it to a buffer.  False without
 * memory. */
bool jx_flat_write_finish(jx_flat_writer *to, uint32_t root, jx_buffer *file);

#endif
