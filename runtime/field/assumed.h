/* assumed.h - what a comparison over fields rests on, in words. */
#ifndef JX_ASSUMED_H
#define JX_ASSUMED_H

#include "frontend/base/ctx.h"

typedef struct jx_assumption {
    bool there;
    const char *text;
} jx_assumption;

#define JX_ASSUMES_DEFINED                                                     \
    "no divisor is 0 and roots and logarithms are taken where they exist"
#define JX_ASSUMES_POWERS "exp and sin are as good as powers of a random number"

/* Those that are there, and `named` (or NULL), apart by "; ", in the arena;
 * NULL: none, or no memory. */
const char *jx_assumed(jx_ctx *ctx, size_t count, const jx_assumption *all,
                       const char *named);

#endif
