/* vec.h - arrays that grow inside an arena.
 *
 *     JX_VEC(int) numbers = {0};
 *     JX_PUSH(arena, &numbers, 3);      -- numbers.at[0], numbers.count
 *
 * Growing copies and leaves the old run behind in the arena, which doubling
 * bounds by the final size.  Without memory a push is dropped; the arena's
 * sticky failure says so. */
#ifndef JX_VEC_H
#define JX_VEC_H

#include "frontend/base/arena.h"

#include <string.h>

#define JX_VEC(type)                                                           \
    struct {                                                                   \
        type *at;                                                              \
        size_t count, capacity;                                                \
    }

#define JX_PUSH(arena, vec, ...)                                               \
    do {                                                                       \
        if ((vec)->count == (vec)->capacity) {                                 \
            size_t jx_cap = (vec)->capacity ? (vec)->capacity * 2 : 8;         \
            void *jx_at = jx_arena_array((arena), jx_cap, sizeof *(vec)->at);  \
            if (!jx_at)                                                        \
                break;                                                         \
            if ((vec)->count)                                                  \
                memcpy(jx_at, (vec)->at, (vec)->count * sizeof *(vec)->at);    \
            (vec)->at = jx_at;                                                 \
            (vec)->capacity = jx_cap;                                          \
        }                                                                      \
        (vec)->at[(vec)->count++] = __VA_ARGS__;                               \
    } while (0)

#endif
