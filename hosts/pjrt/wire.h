/* wire.h - numbers and fields as Protocol Buffers write them. */
#ifndef JX_PJRT_WIRE_H
#define JX_PJRT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct jx_wire {
    const unsigned char *at, *end;
} jx_wire;

typedef enum jx_wire_kind {
    JX_WIRE_VARINT = 0,
    JX_WIRE_FIXED64 = 1,
    JX_WIRE_BYTES = 2,
    JX_WIRE_FIXED32 = 5,
} jx_wire_kind;

typedef struct jx_wire_field {
    int number;
    jx_wire_kind kind;
    uint64_t value; /* of VARINT */
    jx_wire bytes;  /* of BYTES */
} jx_wire_field;

bool jx_wire_varint(jx_wire *from, uint64_t *to);
/* The next field; false where the bytes are not well formed. */
bool jx_wire_next(jx_wire *from, jx_wire_field *to);

/* Bytes in the making; without memory `failed` is set, and nothing is added. */
typedef struct jx_wire_out {
    char *at; /* the owner's, to be freed */
    size_t size, room;
    bool failed;
} jx_wire_out;

void jx_wire_put_varint(jx_wire_out *to, int number, uint64_t value);
void jx_wire_put_bytes(jx_wire_out *to, int number, const void *bytes,
                       size_t size);

#endif
