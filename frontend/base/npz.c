/* npz.c - see npz.h.
 *
 * A zip file is read from its end: the end record gives the central directory,
 * whose entries give the members.  numpy writes the sizes in the 64-bit extra
 * field of local headers, and Python's zipfile in that of large entries; local
 * headers are only skipped here. */
#include "frontend/base/npz.h"

#include "frontend/base/inflate.h"

#include <stdio.h>
#include <string.h>

enum {
    END_SIZE = 22,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    MAX_RANK = 64,
};

typedef struct zip {
    jx_ctx *ctx;
    const char *path, *member;
    const unsigned char *data;
    size_t size;
} zip;

static bool fail(zip *z, size_t at, const char *what)
{
    char place[160];

    if (z->member)
        snprintf(place, sizeof place, "member \"%.80s\", byte %zu", z->member,
                 at);
    else
        snprintf(place, sizeof place, "byte %zu", at);
    return jx_fail(z->ctx, JX_E_INPUT, z->path, place, "expected %s", what);
}

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;

    for (int i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* ---- the zip file */

typedef struct entry {
    const char *name;
    size_t packed, unpacked, begin; /* `begin`: of its data */
    uint32_t crc;
    int method;
} entry;

/* The directory's place and count, from the record at the end. */
static bool find_directory(zip *z, uint64_t *at, uint64_t *count)
{
    size_t furthest =
        z->size < END_SIZE + 65535 ? 0 : z->size - END_SIZE - 65535;
    size_t end = z->size < END_SIZE ? 0 : z->size - END_SIZE + 1;

    while (end-- > furthest) {
        const unsigned char *r = z->data + end;
        if (memcmp(r, "PK\5\6", 4) ||
            end + END_SIZE + number(r + 20, 2) != z->size)
            continue;
        *count = number(r + 10, 2);
        *at = number(r + 16, 4);
        if (*at != UINT32_MAX && *count != UINT16_MAX)
            return true;
        /* The locator of the 64-bit record lies just before. */
        if (end < LOCATOR_SIZE || memcmp(r - LOCATOR_SIZE, "PK\6\7", 4))
            return fail(z, end, "a 64-bit end record");
        uint64_t far = number(r - LOCATOR_SIZE + 8, 8);
        if (z->size < END64_SIZE || far > z->size - END64_SIZE ||
            memcmp(z->data + far, "PK\6\6", 4))
            return fail(z, end - LOCATOR_SIZE,
                        "the place of the 64-bit end record");
        *count = number(z->data + far + 32, 8);
        *at = number(z->data + far + 48, 8);
        return true;
    }
    return fail(z, z->size, "the end record of an npz (a zip file)");
}

/* Sizes that do not fit 32 bits lie in extra field 1, in this order. */
static bool read_extra(zip *z, const unsigned char *extra, size_t length,
                       uint64_t *const *wide, int count)
{
    for (size_t at = 0; at + 4 <= length;) {
        size_t n = (size_t)number(extra + at + 2, 2), used = 0;
        if (n > length - at - 4)
            break;
        if (number(extra + at, 2) == 1) {
            for (int i = 0; i < count; i++) {
                if (*wide[i] != UINT32_MAX)
                    continue;
                if (used + 8 > n)
                    return fail(z, (size_t)(extra - z->data) + at,
                                "sizes of 64 bits");
                *wide[i] = number(extra + at + 4 + used, 8);
                used += 8;
            }
            return true;
        }
        at += 4 + n;
    }
    return true;
}

static bool find_data(zip *z, uint64_t local, uint64_t packed, entry *e)
{
    if (z->size < LOCAL_SIZE || local > z->size - LOCAL_SIZE ||
        memcmp(z->data + local, "PK\3\4", 4))
        return fail(z, (size_t)local, "a member's header");
    uint64_t begin = local + LOCAL_SIZE + number(z->data + local + 26, 2) +
                     number(z->data + local + 28, 2);
    if (begin > z->size || packed > z->size - begin)
        return fail(z, (size_t)local, "a member that lies in the file");
    e->begin = (size_t)begin;
    e->packed = (size_t)packed;
    return true;
}

/* The entry at *at, which moves behind it. */
static bool read_entry(zip *z, size_t *at, entry *e)
{
    if (z->size - *at < ENTRY_SIZE || memcmp(z->data + *at, "PK\1\2", 4))
        return fail(z, *at, "an entry of the directory");
    const unsigned char *r = z->data + *at;
    uint64_t packed = number(r + 20, 4), unpacked = number(r + 24, 4);
    uint64_t local = number(r + 42, 4);
    size_t name = (size_t)number(r + 28, 2), extra = (size_t)number(r + 30, 2);
    size_t comment = (size_t)number(r + 32, 2);
    if (name + extra + comment > z->size - *at - ENTRY_SIZE)
        return fail(z, *at, "an entry that lies in the file");
    e->name =
        jx_strings_add(&z->ctx->strings, (const char *)r + ENTRY_SIZE, name);
    if (!e->name)
        return false;
    z->member = e->name;
    if (number(r + 8, 2) & 1)
        return fail(z, *at, "a member without encryption");
    uint64_t *const wide[] = {&unpacked, &packed, &local};
    if (!read_extra(z, r + ENTRY_SIZE + name, extra, wide, 3) ||
        !find_data(z, local, packed, e))
        return false;
    if (unpacked > SIZE_MAX / 2)
        return fail(z, *at, "a size that fits memory");
    e->method = (int)number(r + 10, 2);
    e->crc = (uint32_t)number(r + 16, 4);
    e->unpacked = (size_t)unpacked;
    *at += ENTRY_SIZE + name + extra + comment;
    return true;
}

/* The member's bytes; what is stored stays where it is. */
static const unsigned char *unpack(zip *z, const entry *e)
{
    const unsigned char *from = z->data + e->begin;

    if (e->method == 0 && e->packed == e->unpacked)
        return from;
    /* Deflate packs at most about 1030 to 1. */
    if (e->method != 8 || e->unpacked / 1100 > e->packed) {
        fail(z, e->begin,
             e->method == 8 ? "a size that deflate can reach"
                            : "a member stored or deflated");
        return NULL;
    }
    void *to = jx_arena_alloc(z->ctx->arena, e->unpacked);
    if (!to)
        return NULL;
    if (jx_inflate(from, e->packed, to, e->unpacked))
        return to;
    fail(z, e->begin, "deflated data of the size that the directory says");
    return NULL;
}

/* ---- the .npy format: magic, version, length, a Python dict, the data */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take(cursor *c, const char *word)
{
    size_t n = strlen(word);

    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n'))
        c->at++;
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n))
        return false;
    c->at += n;
    return true;
}

static bool take_number(cursor *c, int64_t *value)
{
    bool any = false;

    take(c, "");
    *value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *c->at - '0', value))
            return false;
        any = true;
    }
    return any;
}

static bool take_shape(cursor *c, int *rank, int64_t shape[MAX_RANK])
{
    *rank = 0;
    if (!take(c, "("))
        return false;
    while (!take(c, ")")) {
        if (*rank == MAX_RANK || !take_number(c, &shape[*rank]))
            return false;
        ++*rank;
        if (!take(c, ",") && !(take(c, ")") && (c->at--, true)))
            return false;
    }
    return true;
}

/* "<f4": byte order, kind, bytes. */
static bool take_descr(zip *z, cursor *c, jx_npy *to)
{
    char descr[8] = {0};
    int n = 0;

    if (!take(c, "'"))
        return false;
    while (c->at < c->end && *c->at != '\'' && n < 7)
        descr[n++] = *c->at++;
    if (!take(c, "'") || n < 3 || !strchr("|<", descr[0]) ||
        !strchr("biufcV", descr[1]))
        return false;
    cursor size = {descr + 2, descr + n};
    int64_t item;
    if (!take_number(&size, &item) || size.at != size.end || item < 1)
        return false;
    to->descr = jx_intern_text(z->ctx, descr);
    to->item = (size_t)item;
    return to->descr != NULL;
}

static bool take_header(zip *z, cursor *c, jx_npy *to, bool *fortran,
                        int64_t shape[MAX_RANK])
{
    if (!take(c, "{"))
        return false;
    for (int seen = 0; !take(c, "}");) {
        bool ok = false;
        if (take(c, "'descr':") && !(seen & 1)) {
            seen |= 1;
            ok = take_descr(z, c, to);
        } else if (take(c, "'fortran_order':") && !(seen & 2)) {
            seen |= 2;
            *fortran = take(c, "True");
            ok = *fortran || take(c, "False");
        } else if (take(c, "'shape':") && !(seen & 4)) {
            seen |= 4;
            ok = take_shape(c, &to->rank, shape);
        }
        if (!ok)
            return false;
        take(c, ",");
    }
    return to->descr != NULL;
}

/* Column-major to row-major, one element after the other. */
static const void *transposed(zip *z, const jx_npy *npy,
                              const unsigned char *from)
{
    unsigned char *to = jx_arena_alloc(z->ctx->arena, npy->bytes);
    size_t count = npy->bytes / npy->item, index[MAX_RANK] = {0};

    for (size_t i = 0; to && i < count; i++) {
        size_t at = 0;
        for (int axis = npy->rank; axis-- > 0;)
            at = at * (size_t)npy->shape[axis] + index[axis];
        memcpy(to + i * npy->item, from + at * npy->item, npy->item);
        for (int axis = npy->rank; axis-- > 0;) {
            if (++index[axis] < (size_t)npy->shape[axis])
                break;
            index[axis] = 0;
        }
    }
    return to;
}

static const void *aligned(zip *z, const unsigned char *from, size_t size)
{
    if ((uintptr_t)from % 16 == 0)
        return from;
    return jx_arena_copy(z->ctx->arena, from, size);
}

static bool total_bytes(const jx_npy *npy, size_t *bytes)
{
    bool empty = false, fits = true;

    *bytes = npy->item;
    for (int i = 0; i < npy->rank; i++) {
        empty = empty || npy->shape[i] == 0;
        fits = fits &&
               !__builtin_mul_overflow(*bytes, (size_t)npy->shape[i], bytes);
    }
    if (empty)
        *bytes = 0;
    return empty || fits;
}

static bool read_npy(zip *z, const unsigned char *data, size_t size, jx_npy *to)
{
    int64_t shape[MAX_RANK];
    bool fortran = false;
    size_t width = size > 6 && data[6] == 1 ? 2 : 4, length;

    if (size < 12 || memcmp(data, "\x93NUMPY", 6) || data[6] < 1 || data[6] > 3)
        return fail(z, 0, "an array in numpy's format, version 1 to 3");
    length = (size_t)number(data + 8, (int)width);
    size_t begin = 8 + width + length;
    if (begin > size)
        return fail(z, 8, "a header that lies in the member");
    cursor c = {(const char *)data + 8 + width, (const char *)data + begin};
    if (!take_header(z, &c, to, &fortran, shape))
        return fail(z, (size_t)(c.at - (const char *)data),
                    "'descr' (little endian, no objects), 'fortran_order' "
                    "and 'shape'");
    to->shape =
        jx_arena_copy(z->ctx->arena, shape, (size_t)to->rank * sizeof *shape);
    if (!to->shape)
        return false;
    if (!total_bytes(to, &to->bytes) || to->bytes != size - begin)
        return fail(z, begin, "as much data as the shape says");
    to->data = fortran && to->rank > 1 ? transposed(z, to, data + begin)
                                       : aligned(z, data + begin, to->bytes);
    return to->data != NULL;
}

/* "x.npy" is called x. */
static const char *bare(zip *z, const char *name)
{
    size_t n = strlen(name);

    if (n >= 4 && !strcmp(name + n - 4, ".npy"))
        return jx_strings_add(&z->ctx->strings, name, n - 4);
    return name;
}

static bool same_name(const void *kept, const void *key)
{
    return !strcmp(kept, key);
}

/* Who reads by name would get one of the two: which depends on the reader. */
static bool is_known(zip *z, jx_intern *names, const char *name)
{
    uint64_t hash = jx_hash_bytes(name, strlen(name));

    if (jx_intern_find(names, hash, name, same_name)) {
        jx_fail(z->ctx, JX_E_INPUT, z->path, NULL,
                "expected one member for each name, but \"%.80s\" stands there "
                "twice",
                name);
        return true;
    }
    return !jx_intern_add(names, hash, name);
}

const jx_npz *jx_npz_read(jx_ctx *ctx, const char *path, const void *data,
                          size_t size)
{
    zip z = {ctx, path, NULL, data, size};
    uint64_t start = 0, count = 0;

    if (!find_directory(&z, &start, &count))
        return NULL;
    if (start > size || count > (size - start) / ENTRY_SIZE) {
        fail(&z, size, "a directory that lies in the file");
        return NULL;
    }
    jx_npz *npz = JX_NEW(ctx->arena, jx_npz);
    jx_npy *all = JX_NEW_ARRAY(ctx->arena, count, jx_npy);
    size_t at = (size_t)start;
    jx_intern names;
    jx_intern_init(&names, ctx->arena);
    for (size_t i = 0; npz && all && i < count; i++) {
        entry e = {0};
        z.member = NULL;
        if (!read_entry(&z, &at, &e))
            return NULL;
        const unsigned char *member = unpack(&z, &e);
        if (!member)
            return NULL;
        if (jx_crc32(member, e.unpacked) != e.crc) {
            fail(&z, e.begin, "data with the checksum that the directory says");
            return NULL;
        }
        all[i].name = bare(&z, e.name);
        if (is_known(&z, &names, all[i].name))
            return NULL;
        if (!read_npy(&z, member, e.unpacked, &all[i]))
            return NULL;
    }
    if (!jx_ok(ctx))
        return NULL;
    *npz = (jx_npz){(int)count, all};
    return npz;
}

const jx_npy *jx_npz_find(const jx_npz *npz, const char *name)
{
    for (int i = 0; i < npz->count; i++)
        if (!strcmp(npz->at[i].name, name))
            return &npz->at[i];
    return NULL;
}

/* ---- writing */

static void put(jx_buffer *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        jx_buffer_putc(to, (char)(value >> (8 * i) & 255));
}

/* The .npy header, padded so that the data begins at a multiple of 64. */
static void put_npy_header(jx_buffer *to, const jx_npy *npy)
{
    jx_buffer dict = {.budget = to->budget};

    jx_buffer_printf(&dict,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     npy->descr);
    for (int i = 0; i < npy->rank; i++)
        jx_buffer_printf(&dict, "%s%lld", i ? ", " : "",
                         (long long)npy->shape[i]);
    jx_buffer_puts(&dict, npy->rank == 1 ? ",), }" : "), }");
    while ((10 + dict.length + 1) % 64 && jx_buffer_ok(&dict))
        jx_buffer_putc(&dict, ' ');
    jx_buffer_putc(&dict, '\n');
    jx_buffer_bytes(to, "\x93NUMPY\1\0", 8);
    put(to, dict.length, 2);
    jx_buffer_bytes(to, jx_buffer_text(&dict), dict.length);
    to->failed = to->failed || dict.failed;
    jx_buffer_free(&dict);
}

/* What a local header and an entry have in common. */
static void put_common(jx_buffer *to, uint32_t crc, uint64_t size, size_t name,
                       size_t extra)
{
    bool wide = size >= UINT32_MAX;

    put(to, 0, 2);    /* flags */
    put(to, 0, 2);    /* stored */
    put(to, 0, 2);    /* midnight, ... */
    put(to, 0x21, 2); /* ... 1980-01-01 */
    put(to, crc, 4);
    put(to, wide ? UINT32_MAX : size, 4);
    put(to, wide ? UINT32_MAX : size, 4);
    put(to, name, 2);
    put(to, extra, 2);
}

/* Always with the 64-bit field, like numpy: the header's length is then known
 * before the data. */
static void put_member(jx_buffer *to, const jx_npy *npy, size_t *crc_at,
                       uint64_t *size)
{
    size_t name = strlen(npy->name) + 4;

    jx_buffer_bytes(to, "PK\3\4", 4);
    put(to, 45, 2);
    *crc_at = to->length + 8;
    put_common(to, 0, UINT32_MAX, name, 20);
    jx_buffer_printf(to, "%s.npy", npy->name);
    put(to, 1, 2);
    put(to, 16, 2);
    size_t size_at = to->length, begin = size_at + 16;
    put(to, 0, 8);
    put(to, 0, 8);
    put_npy_header(to, npy);
    jx_buffer_bytes(to, npy->data, npy->bytes);
    if (to->failed)
        return;
    *size = to->length - begin;
    uint32_t crc = jx_crc32(to->text + begin, (size_t)*size);
    for (int i = 0; i < 8; i++)
        to->text[size_at + (size_t)i] = to->text[size_at + 8 + (size_t)i] =
            (char)(*size >> (8 * i) & 255);
    for (int i = 0; i < 4; i++)
        to->text[*crc_at + (size_t)i] = (char)(crc >> (8 * i) & 255);
}

static void put_entry(jx_buffer *to, const jx_npy *npy, uint64_t local,
                      size_t crc_at, uint64_t size)
{
    bool wide = size >= UINT32_MAX || local >= UINT32_MAX;
    uint32_t crc = (uint32_t)number((unsigned char *)to->text + crc_at, 4);

    jx_buffer_bytes(to, "PK\1\2", 4);
    put(to, 45, 2);
    put(to, 45, 2);
    put_common(to, crc, wide ? UINT32_MAX : size, strlen(npy->name) + 4,
               wide ? 28 : 0);
    put(to, 0, 2 + 2 + 2); /* comment, disk, attributes */
    put(to, 0, 4);
    put(to, wide ? UINT32_MAX : local, 4);
    jx_buffer_printf(to, "%s.npy", npy->name);
    if (!wide)
        return;
    put(to, 1, 2);
    put(to, 24, 2);
    put(to, size, 8);
    put(to, size, 8);
    put(to, local, 8);
}

static void put_end(jx_buffer *to, uint64_t count, uint64_t start,
                    uint64_t length)
{
    bool wide = count >= UINT16_MAX || start >= UINT32_MAX;
    uint64_t here = to->length;

    if (wide) {
        jx_buffer_bytes(to, "PK\6\6", 4);
        put(to, END64_SIZE - 12, 8);
        put(to, 45, 2);
        put(to, 45, 2);
        put(to, 0, 8);
        put(to, count, 8);
        put(to, count, 8);
        put(to, length, 8);
        put(to, start, 8);
        jx_buffer_bytes(to, "PK\6\7\0\0\0\0", 8);
        put(to, here, 8);
        put(to, 1, 4);
    }
    jx_buffer_bytes(to, "PK\5\6\0\0\0\0", 8);
    put(to, wide ? UINT16_MAX : count, 2);
    put(to, wide ? UINT16_MAX : count, 2);
    put(to, wide ? UINT32_MAX : length, 4);
    put(to, wide ? UINT32_MAX : start, 4);
    put(to, 0, 2);
}

void jx_npz_write(jx_buffer *to, const jx_npz *npz)
{
    typedef struct place {
        uint64_t local, size;
        size_t crc_at;
    } place;
    size_t base = to->length;
    jx_buffer places = {.budget = to->budget};

    for (int i = 0; i < npz->count; i++) {
        place p = {to->length - base, 0, 0};
        put_member(to, &npz->at[i], &p.crc_at, &p.size);
        jx_buffer_bytes(&places, &p, sizeof p);
    }
    uint64_t start = to->length - base;
    for (int i = 0; i < npz->count && !places.failed && !to->failed; i++) {
        place p;
        memcpy(&p, places.text + (size_t)i * sizeof p, sizeof p);
        put_entry(to, &npz->at[i], p.local, p.crc_at, p.size);
    }
    put_end(to, (uint64_t)npz->count, start, to->length - base - start);
    to->failed = to->failed || places.failed;
    jx_buffer_free(&places);
}
