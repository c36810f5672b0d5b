/* inflate.c - see inflate.h. */
#include "frontend/base/inflate.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool jx_is_gzip(const void *data, size_t size)
{
    return size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

/* One piece into [used, room); zlib counts in 32 bits. */
static int step(z_stream *z, const unsigned char *in, size_t size, size_t *at,
                unsigned char *to, size_t *used, size_t room)
{
    uInt give = (uInt)smaller(size - *at, UINT_MAX / 2);
    uInt take = (uInt)smaller(room - *used, UINT_MAX / 2);

    z->next_in = (Bytef *)(uintptr_t)(in + *at);
    z->avail_in = give;
    z->next_out = to + *used;
    z->avail_out = take;
    int code = inflate(z, Z_NO_FLUSH);
    *at += give - z->avail_in;
    *used += take - z->avail_out;
    return code;
}

static bool broken(jx_ctx *ctx, const char *path, size_t at, const char *why)
{
    char place[48];

    snprintf(place, sizeof place, "byte %zu", at);
    return jx_fail(ctx, JX_E_INPUT, path, place, "broken gzip data: %s", why);
}

/* Doubles the room until all is out.  A file of several members is one text. */
static char *unpack(jx_ctx *ctx, const char *path, z_stream *z,
                    const unsigned char *in, size_t size, size_t *unpacked)
{
    size_t room = smaller(size * 4 + 4096, JX_INFLATE_MAX), at = 0, used = 0;
    unsigned char *to = jx_arena_alloc(ctx->arena, room + 1);

    while (to) {
        int code = step(z, in, size, &at, to, &used, room);
        if (code == Z_STREAM_END && at == size)
            break;
        if (code == Z_STREAM_END)
            code =
                jx_is_gzip(in + at, size - at) ? inflateReset(z) : Z_DATA_ERROR;
        if (code != Z_OK && !(code == Z_BUF_ERROR && used == room)) {
            broken(ctx, path, at,
                   at == size ? "it ends too early"
                   : z->msg   ? z->msg
                              : "bytes after its end");
            return NULL;
        }
        if (used < room)
            continue;
        if (room >= JX_INFLATE_MAX) {
            broken(ctx, path, at, "it unpacks to more than 2 GiB");
            return NULL;
        }
        unsigned char *more = jx_arena_alloc(ctx->arena, room * 2 + 1);
        if (more)
            memcpy(more, to, used);
        to = more;
        room *= 2;
    }
    *unpacked = used;
    return (char *)to;
}

const char *jx_gunzip(jx_ctx *ctx, const char *path, const void *data,
                      size_t size, size_t *unpacked)
{
    z_stream z = {0};

    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) {
        jx_starved(ctx);
        return NULL;
    }
    char *text = unpack(ctx, path, &z, data, size, unpacked);
    inflateEnd(&z);
    if (!text || !jx_ok(ctx))
        return NULL;
    text[*unpacked] = '\0';
    return text;
}

size_t jx_gunzip_beginning(const void *data, size_t size, void *to, size_t room)
{
    z_stream z = {0};
    size_t at = 0, used = 0;

    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return 0;
    while (used < room && at < size &&
           step(&z, data, size, &at, to, &used, room) == Z_OK)
        ;
    inflateEnd(&z);
    return used;
}

bool jx_inflate(const void *data, size_t size, void *to, size_t unpacked)
{
    z_stream z = {0};
    size_t at = 0, used = 0, before;
    int code;

    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    do {
        before = at + used;
        code = step(&z, data, size, &at, to, &used, unpacked);
    } while (code == Z_OK && at + used > before);
    inflateEnd(&z);
    return code == Z_STREAM_END && used == unpacked;
}

uint32_t jx_crc32(const void *data, size_t size)
{
    const unsigned char *at = data;
    uLong crc = crc32(0, NULL, 0);

    while (size) {
        uInt n = (uInt)smaller(size, UINT_MAX / 2);
        crc = crc32(crc, at, n);
        at += n;
        size -= n;
    }
    return (uint32_t)crc;
}

const char *jx_zlib_version(void)
{
    return zlibVersion();
}
