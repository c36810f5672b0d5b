/* reshards.h - what devices send because an array lies otherwise than a
 * computation on many devices takes it: nobody wrote that, and no equation
 * is there for it.
 *
 * Where arrays lie is known of a file's inputs and results, and of what such
 * computations give. What a device receives is what it needs and has not: of
 * the part that the spec gives it what is outside of the part that it had. */
#ifndef JX_RESHARDS_H
#define JX_RESHARDS_H

#include "frontend/base/buffer.h"
#include "frontend/base/vec.h"
#include "frontend/ir/program.h"

typedef struct jx_reshard {
    /* of the program, or -1: it is made, and used, in between */
    int input, result;
    const char *from, *to; /* "P('data', None)" */
    int64_t bytes;         /* that one device receives, at most */
} jx_reshard;

typedef struct jx_reshards {
    JX_VEC(jx_reshard) all;
} jx_reshards;

/* False with an error in its context. */
bool jx_reshards_of(jx_program *program, jx_reshards *to);

/* Lines such as "  input 3   from P('a') to P('b'): 512 bytes", under a head;
 * nothing for none. */
void jx_reshards_print(const jx_reshards *of, jx_buffer *to);
/* A JSON array. */
void jx_reshards_json(const jx_reshards *of, jx_buffer *to);

#endif
