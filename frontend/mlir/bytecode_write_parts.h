/* bytecode_write_parts.h - what the files of the bytecode writer share. */
#ifndef JX_MLIR_BYTECODE_WRITE_PARTS_H
#define JX_MLIR_BYTECODE_WRITE_PARTS_H

#include "frontend/base/buffer.h"
#include "frontend/mlir/bytecode_parts.h"
#include "frontend/mlir/bytecode_write.h"

/* From pointers to numbers, and to pointers. */
typedef struct jx_bw_slot {
    const void *key, *other;
    union {
        const void *pointer;
        uint64_t number;
    } value;
} jx_bw_slot;

typedef struct jx_bw_map {
    jx_bw_slot *slots;
    size_t count, capacity;
} jx_bw_map;

/* An attribute, a type or the name of an op: what gets a number. */
typedef struct jx_bw_item {
    const jx_mlir_attr *attr;
    const jx_mlir_type *type;
    const char *name; /* of an op */
    const void *key;  /* what makes an attribute the same as another */
    size_t key_size;
    uint32_t id, refs, dialect;
    uint64_t number;
    bool numbered;
} jx_bw_item;

typedef JX_VEC(jx_bw_item *) jx_bw_items;

/* Runs of bytes, each once: strings or properties. */
typedef struct jx_bw_bytes {
    const void *bytes;
    size_t size;
    uint64_t index;
} jx_bw_bytes;

typedef struct jx_bw_table {
    JX_VEC(const jx_bw_bytes *) list;
    jx_intern known; /* by what they hold */
} jx_bw_table;

typedef struct jx_bw {
    jx_ctx *ctx;
    jx_arena *arena; /* of the writer alone */
    const jx_mlir_file *file;
    unsigned version;
    bool failed;
    int depth;
    uint32_t next_id;
    jx_bw_map attr_map, type_map, name_map, text_map, dict_map;
    jx_bw_map values;   /* to their numbers plus 1 */
    jx_bw_map places;   /* of definitions, plus 1 */
    jx_bw_map isolated; /* ops */
    jx_bw_map nvalues;  /* of regions, plus 1 */
    jx_bw_map uses;
    jx_intern keys; /* items of attributes by their keys */
    jx_bw_items attrs, types, names;
    JX_VEC(const char *) dialects;
    JX_VEC(const jx_mlir_attr *) resources;
    jx_bw_table strings, props;
    const jx_mlir_attr *unknown; /* the location; NULL: not made yet */
} jx_bw;

/* Where an encoder puts what it has. */
typedef enum jx_bw_mode {
    JX_BW_KEY,    /* bytes that tell attributes apart */
    JX_BW_NUMBER, /* nothing: references are counted */
    JX_BW_WRITE   /* the bytes of the file */
} jx_bw_mode;

/* What stands for an attribute or a type inside another;
 * numbering counts it. */
typedef struct jx_bw_parts {
    uint64_t (*attr)(jx_bw *w, const jx_mlir_attr *attr);
    uint64_t (*type)(jx_bw *w, const jx_mlir_type *type);
} jx_bw_parts;

typedef struct jx_bw_sink {
    jx_bw *w;
    jx_bw_mode mode;
    const jx_bw_parts *parts;
    jx_buffer *to; /* NULL when numbering */
} jx_bw_sink;

bool jx_bw_fail(jx_bw *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool jx_bw_ok(jx_bw *w);

jx_bw_slot *jx_bw_find(const jx_bw_map *map, const void *key,
                       const void *other);
jx_bw_slot *jx_bw_put(jx_bw *w, jx_bw_map *map, const void *key,
                      const void *other);

/* Bytes into a buffer. */
void jx_bw_varint(jx_buffer *to, uint64_t value);
void jx_bw_flagged(jx_buffer *to, uint64_t value, bool flag);
void jx_bw_signed(jx_buffer *to, int64_t value);
/* The index of these bytes in a table, at whose end they are put when new. */
uint64_t jx_bw_keep(jx_bw *w, jx_bw_table *in, const void *bytes, size_t size);

/* The item that stands for an attribute, type or name. */
jx_bw_item *jx_bw_attr_item(jx_bw *w, const jx_mlir_attr *attr);
jx_bw_item *jx_bw_type_item(jx_bw *w, const jx_mlir_type *type);
jx_bw_item *jx_bw_name_item(jx_bw *w, const char *name);

/* Encodes an attribute or a type; false: its text is what is written. */
bool jx_bw_encode_attr(jx_bw_sink *s, const jx_mlir_attr *attr);
bool jx_bw_encode_type(jx_bw_sink *s, const jx_mlir_type *type);
/* The properties of an op, if it has some. */
bool jx_bw_encode_props(jx_bw_sink *s, const jx_mlir_op *op);
bool jx_bw_has_props(const jx_bw *w, const jx_mlir_op *op);
/* The dictionary of an op, or NULL for an empty one. */
const jx_mlir_attr *jx_bw_dictionary(jx_bw *w, const jx_mlir_op *op);
/* The string attribute with an interned text. */
const jx_mlir_attr *jx_bw_text(jx_bw *w, const char *text, bool vhlo);
/* The unknown location; that of an argument, unknown where it has none. */
const jx_mlir_attr *jx_bw_unknown(jx_bw *w);
static inline const jx_mlir_attr *jx_bw_location(jx_bw *w,
                                                 const jx_mlir_value *argument)
{
    return argument->loc ? argument->loc : jx_bw_unknown(w);
}

/* Counts references, and gives numbers by how many (bytecode_number.c). */
bool jx_bw_number(jx_bw *w, const jx_mlir_op *root);

#endif
