/* op_sharding.c - see op_sharding.h.
 *
 * A protobuf message is fields, each a varint key (number << 3 | wire type) and
 * a value; what is repeated may be packed into one value of varints.  Unknown
 * fields are skipped, as protobuf wants it. */
#include "frontend/read/op_sharding.h"

#include "frontend/base/vec.h"

#include <limits.h>

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

enum {
    FIELD_TYPE = 1,
    FIELD_TILES = 3,
    FIELD_DEVICES = 4,
    FIELD_TUPLE = 5,
    FIELD_REPLICATE_LAST = 6,
    FIELD_LAST = 8,
    FIELD_IOTA = 9,
    FIELD_PERM = 10,
    FIELD_GROUPED = 11,
    FIELD_GROUP = 12,
    FIELD_GROUP_TYPE = 13,
};

typedef JX_VEC(int64_t) list;

typedef struct reader {
    jx_arena *arena;
    const unsigned char *bytes;
    size_t at, end;
    const char *expected; /* the first failure, at `at` */
    list tiles, devices, last, iota, perm;
} reader;

static bool fail(reader *r, const char *expected)
{
    if (!r->expected)
        r->expected = expected;
    return false;
}

static bool varint(reader *r, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char byte = r->bytes[r->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return fail(r, "a varint");
}

/* The extent of what a value of bytes holds, from r->at on. */
static bool length(reader *r, size_t *end)
{
    uint64_t size;

    if (!varint(r, &size))
        return false;
    if (size > r->end - r->at)
        return fail(r, "a length within the message");
    *end = r->at + (size_t)size;
    return true;
}

/* Numbers one by one, or packed; they join those that came before. */
static bool numbers(reader *r, unsigned wire, list *to)
{
    size_t end = r->at + 1;
    uint64_t value;

    if (wire == WIRE_BYTES ? !length(r, &end) : wire != WIRE_VARINT)
        return fail(r, "numbers");
    while (r->at < end && varint(r, &value))
        JX_PUSH(r->arena, to, (int64_t)value);
    return !r->expected &&
           (wire == WIRE_VARINT || r->at == end || fail(r, "a varint"));
}

static bool number(reader *r, unsigned wire, int64_t *to)
{
    uint64_t value;

    if (wire != WIRE_VARINT)
        return fail(r, "a number");
    if (!varint(r, &value))
        return false;
    *to = (int64_t)value;
    return true;
}

static bool type(reader *r, unsigned wire, jx_op_sharding_type *to)
{
    int64_t value;

    if (!number(r, wire, &value))
        return false;
    if (value < 0 || value >= JX_OPS_TYPES)
        return fail(r, "a type of sharding, 0 to 6");
    if (value == JX_OPS_TUPLE)
        return fail(r, "the sharding of one array, not of a tuple");
    *to = (jx_op_sharding_type)value;
    return true;
}

static bool skip(reader *r, unsigned wire)
{
    uint64_t value;
    size_t end;

    switch (wire) {
    case WIRE_VARINT: return varint(r, &value);
    case WIRE_BYTES:
        if (!length(r, &end))
            return false;
        r->at = end;
        return true;
    case WIRE_64:
    case WIRE_32:
        end = wire == WIRE_64 ? 8 : 4;
        if (r->end - r->at < end)
            return fail(r, "a value within the message");
        r->at += end;
        return true;
    default: return fail(r, "a wire type of protobuf");
    }
}

static bool field(reader *r, jx_op_sharding *to)
{
    uint64_t key;
    unsigned wire;
    int64_t value = 0;

    if (!varint(r, &key))
        return false;
    wire = (unsigned)(key & 7);
    switch (key >> 3) {
    case FIELD_TYPE: return type(r, wire, &to->type);
    case FIELD_TILES: return numbers(r, wire, &r->tiles);
    case FIELD_DEVICES: return numbers(r, wire, &r->devices);
    case FIELD_TUPLE:
        return fail(r, "the sharding of one array, not of a tuple");
    case FIELD_LAST: return numbers(r, wire, &r->last);
    case FIELD_IOTA: return numbers(r, wire, &r->iota);
    case FIELD_PERM: return numbers(r, wire, &r->perm);
    case FIELD_REPLICATE_LAST:
        to->replicate_last = number(r, wire, &value) && value;
        return !r->expected;
    case FIELD_GROUPED:
        to->grouped = number(r, wire, &value) && value;
        return !r->expected;
    case FIELD_GROUP: return number(r, wire, &to->group);
    case FIELD_GROUP_TYPE:
        to->like = number(r, wire, &value) && value;
        return !r->expected;
    default: return skip(r, wire);
    }
}

/* What the printer, and everybody else, relies on. */
static bool consistent(reader *r, const jx_op_sharding *s)
{
    for (int i = 0; i < s->last.count; i++)
        if (s->last.at[i] < 0 || s->last.at[i] >= JX_OPS_TYPES)
            return fail(r, "types of sharding for the last tile axes");
    if (s->type == JX_OPS_MAXIMAL && s->devices.count != 1)
        return fail(r, "one device for a maximal sharding");
    if (s->type == JX_OPS_TILED && !s->tiles.count)
        return fail(r, "tiles of a tiled sharding");
    if (s->perm.count > s->iota.count ||
        s->last.count + s->replicate_last > s->tiles.count)
        return fail(r, "fewer axes");
    return true;
}

static jx_op_numbers taken(const list *from)
{
    return (jx_op_numbers){(int)from->count, from->at};
}

bool jx_op_sharding_read(jx_ctx *ctx, const void *bytes, size_t size,
                         jx_op_sharding *to, size_t *wrong,
                         const char **expected)
{
    reader r = {.arena = ctx->arena, .bytes = bytes, .end = size};

    if (size > INT_MAX / 2)
        fail(&r, "a short message");
    *to = (jx_op_sharding){0};
    while (!r.expected && r.at < r.end && field(&r, to))
        ;
    to->tiles = taken(&r.tiles);
    to->devices = taken(&r.devices);
    to->last = taken(&r.last);
    to->iota = taken(&r.iota);
    to->perm = taken(&r.perm);
    if (!r.expected && r.at == r.end)
        consistent(&r, to);
    *wrong = r.at;
    *expected = r.expected;
    return !r.expected && !jx_arena_failed(ctx->arena);
}

static void put_numbers(const jx_op_numbers *numbers, jx_buffer *to)
{
    for (int i = 0; i < numbers->count; i++)
        jx_buffer_printf(to, "%s%lld", i ? "," : "", (long long)numbers->at[i]);
}

static bool is_identity(const jx_op_numbers *perm)
{
    for (int i = 0; i < perm->count; i++)
        if (perm->at[i] != i)
            return false;
    return true;
}

static void put_devices(const jx_op_sharding *s, jx_buffer *to)
{
    if (!s->iota.count) {
        put_numbers(&s->devices, to);
        return;
    }
    jx_buffer_puts(to, "<=[");
    put_numbers(&s->iota, to);
    jx_buffer_putc(to, ']');
    if (is_identity(&s->perm))
        return;
    jx_buffer_puts(to, "T(");
    put_numbers(&s->perm, to);
    jx_buffer_putc(to, ')');
}

static const char *const type_names[JX_OPS_TYPES] = {
    "replicated", "maximal", "tuple", "tiled", "manual", "unknown", "unreduced",
};

static void put_tiled(const jx_op_sharding *s, jx_buffer *to)
{
    jx_buffer_puts(to, "devices=[");
    put_numbers(&s->tiles, to);
    jx_buffer_putc(to, ']');
    put_devices(s, to);
    if (s->replicate_last)
        jx_buffer_puts(to, " last_tile_dim_replicate");
    if (!s->last.count)
        return;
    jx_buffer_puts(to, " last_tile_dims={");
    for (int i = 0; i < s->last.count; i++)
        jx_buffer_printf(to, "%s%s", i ? ", " : "", type_names[s->last.at[i]]);
    jx_buffer_putc(to, '}');
}

void jx_op_sharding_print(const jx_op_sharding *s, jx_buffer *to)
{
    jx_buffer_putc(to, '{');
    if (s->type == JX_OPS_TILED)
        put_tiled(s, to);
    else if (s->type == JX_OPS_MAXIMAL)
        jx_buffer_printf(to, "maximal device=%lld",
                         (long long)s->devices.at[0]);
    else
        jx_buffer_puts(to, type_names[s->type]);
    if (s->grouped)
        jx_buffer_printf(to, " shard_%s %lld", s->like ? "like" : "as",
                         (long long)s->group);
    jx_buffer_putc(to, '}');
}
