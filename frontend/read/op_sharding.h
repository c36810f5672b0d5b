/* op_sharding.h - XLA's OpSharding, as exported files carried it until March
 * 2026: a protobuf message that says how one array lies on the devices. */
#ifndef JX_READ_OP_SHARDING_H
#define JX_READ_OP_SHARDING_H

#include "frontend/base/buffer.h"
#include "frontend/base/ctx.h"

#include <stdint.h>

typedef enum jx_op_sharding_type {
    JX_OPS_REPLICATED = 0,
    JX_OPS_MAXIMAL, /* all on devices[0] */
    JX_OPS_TUPLE,   /* of several arrays: refused */
    JX_OPS_TILED,
    JX_OPS_MANUAL,
    JX_OPS_UNKNOWN,
    JX_OPS_UNREDUCED,
    JX_OPS_TYPES,
} jx_op_sharding_type;

typedef struct jx_op_numbers {
    int count;
    const int64_t *at;
} jx_op_numbers;

typedef struct jx_op_sharding {
    jx_op_sharding_type type;
    jx_op_numbers tiles;   /* per axis, then per item of `last` */
    jx_op_numbers devices; /* in the order of the tiles; or by the iota: */
    /* the devices are 0, 1, ... shaped as `iota`, its axes ordered by `perm`,
     * flattened. */
    jx_op_numbers iota, perm;
    jx_op_numbers last;  /* what the last axes of `tiles` count: types */
    bool replicate_last; /* or: the last one counts replicas */
    bool grouped, like;  /* in shard group `group`: as, or like */
    int64_t group;
} jx_op_sharding;

/* Decodes a message about one array into the context's arena (memory at most 16
 * times its size).  False with *wrong the byte of the message that does not fit
 * and *expected what was expected there; false without when memory ended. */
bool jx_op_sharding_read(jx_ctx *ctx, const void *bytes, size_t size,
                         jx_op_sharding *to, size_t *wrong,
                         const char **expected);
/* As XLA prints it: "{devices=[2,1]<=[2]}". */
void jx_op_sharding_print(const jx_op_sharding *sharding, jx_buffer *to);

#endif
