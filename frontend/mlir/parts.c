/* parts.c - see parts.h.
 *
 * The layout is MLIR's: a header (magic, version, producer), then sections,
 * each an id, a length and that many bytes.  Numbers are varints with the
 * length of the whole in the low bits of the first byte. */
#include "frontend/mlir/parts.h"

#include "frontend/base/utf8.h"

#include <stdio.h>
#include <string.h>

static const char *const names[JX_NSECTIONS] = {
    "strings",    "dialects",  "attributes",       "attribute offsets",
    "IR",         "resources", "resource offsets", "dialect versions",
    "properties",
};

/* What a custom entry of a dialect begins with (the codes of its printer). */
enum {
    BUILTIN_STRING = 2,
    BUILTIN_CALLSITE = 10,
    BUILTIN_FILE = 11,
    BUILTIN_NAME = 14,
    BUILTIN_UNKNOWN = 15,
    BUILTIN_DENSE = 18,
    BUILTIN_RANGE = 22,
    VHLO_TENSOR = 15
};

const char *jx_mlir_section_name(jx_mlir_section section)
{
    return names[section];
}

/* Bytes still to be read; failing is remembered. */
typedef struct reader {
    const unsigned char *bytes;
    size_t at, end;
    bool failed;
} reader;

typedef struct entry {
    uint32_t at, size;     /* within the section of attributes */
    unsigned char dialect; /* one of the below */
} entry;

enum { OTHER, BUILTIN, VHLO };

typedef struct walk {
    jx_ctx *ctx;
    const char *path;
    size_t base; /* of the module in the file */
    const unsigned char *bytes;
    jx_mlir_parts *to;
    reader data[JX_NSECTIONS]; /* of the sections that are there */
    const size_t *strings;     /* where each begins; the end comes last */
    const entry *entries;      /* of the attributes */
    bool *named;               /* string i is counted already */
    unsigned char *dialects;
    size_t ndialects;
} walk;

static bool fail(walk *w, const reader *r, const char *what)
{
    char place[32];

    snprintf(place, sizeof place, "byte %zu", w->base + r->at);
    return jx_fail(w->ctx, JX_E_INPUT, w->path, place, "module: %s", what);
}

static unsigned byte(reader *r)
{
    if (r->at == r->end) {
        r->failed = true;
        return 0;
    }
    return r->bytes[r->at++];
}

static uint64_t varint(reader *r)
{
    unsigned first = byte(r);
    int more = first ? __builtin_ctz(first) : 8;
    uint64_t value = first;

    for (int i = 1; i <= more; i++) {
        uint64_t next = byte(r);
        value =
            more == 8 ? value | next << (8 * (i - 1)) : value | next << (8 * i);
    }
    return more == 8 ? value : value >> (more + 1);
}

/* ---- the sections */

/* A name is for people; any bytes may stand for one. */
static const char *shown(jx_ctx *ctx, const char *text, size_t length)
{
    char *clean = jx_arena_string(ctx->arena, text, length);

    if (clean)
        jx_utf8_clean(clean);
    return clean ? clean : "";
}

static bool read_version(walk *w, reader *r)
{
    jx_mlir_parts *to = w->to;
    const char *producer = (const char *)r->bytes + r->at;
    size_t length = strnlen(producer, r->end - r->at);
    int end = 0;

    if (length == r->end - r->at)
        return fail(w, r, "expected the producer's name, ended by a NUL");
    to->producer = shown(w->ctx, producer, length);
    r->at += length + 1;
    to->header = r->at;
    if (sscanf(producer, "StableHLO_v%3d.%5d.%5d%n", &to->version[0],
               &to->version[1], &to->version[2], &end) != 3 ||
        (size_t)end != length)
        to->version[0] = to->version[1] = to->version[2] = -1;
    return true;
}

static bool read_header(walk *w, reader *r)
{
    static const unsigned char magic[] = {0x4d, 0x4c, 0xef, 0x52};
    uint64_t version;

    if (r->end < sizeof magic || memcmp(r->bytes, magic, sizeof magic) != 0)
        return fail(w, r, "expected MLIR bytecode (4d 4c ef 52)");
    r->at = sizeof magic;
    version = varint(r);
    if (r->failed || version > 1000)
        return fail(w, r, "expected the version of the bytecode");
    w->to->bytecode = (int)version;
    return read_version(w, r);
}

static bool read_section(walk *w, reader *r)
{
    size_t begin = r->at;
    unsigned id = byte(r);
    uint64_t length = varint(r), alignment = id & 0x80 ? varint(r) : 1;

    id &= 0x7f;
    if (r->failed || id >= JX_NSECTIONS || id == JX_SECTION_DIALECT_VERSIONS ||
        w->to->sections[id])
        return fail(w, r, "expected a section that was not there before");
    if (!alignment || alignment > 4096)
        return fail(w, r, "expected the alignment of a section");
    while (r->at % alignment && r->at < r->end)
        r->at++;
    if (length > r->end - r->at)
        return fail(w, r, "expected a section within the module");
    w->data[id] = (reader){r->bytes, r->at, r->at + (size_t)length, false};
    r->at += (size_t)length;
    w->to->sections[id] = r->at - begin;
    return true;
}

/* A count of things of at least one byte each. */
static bool count(walk *w, reader *r, const char *what, size_t *to)
{
    uint64_t value = varint(r);

    if (r->failed || value > r->end - r->at)
        return fail(w, r, what);
    *to = (size_t)value;
    return true;
}

/* Lengths come in reverse order, then the bytes of all. */
static bool read_strings(walk *w)
{
    reader *r = &w->data[JX_SECTION_STRINGS];
    size_t n = 0, end = r->end;
    size_t *at;

    if (!count(w, r, "strings: expected their number", &n))
        return false;
    at = JX_NEW_ARRAY(w->ctx->arena, n + 1, size_t);
    w->named = JX_NEW_ARRAY(w->ctx->arena, n, bool);
    if (!at || !w->named)
        return false;
    at[n] = end;
    for (size_t i = n; i-- > 0;) {
        uint64_t length = varint(r);
        if (r->failed || !length || length > end - r->at)
            return fail(w, r, "strings: expected a length within the section");
        end -= (size_t)length;
        at[i] = end;
    }
    w->strings = at;
    w->to->strings = n;
    return end == r->at || fail(w, r,
                                "strings: expected as many bytes as "
                                "their lengths say");
}

static unsigned char dialect_named(const walk *w, uint64_t string)
{
    size_t begin, size;

    if (string >= w->to->strings)
        return OTHER;
    begin = w->strings[string];
    size = w->strings[string + 1] - begin - 1;
    return size == 7 && !memcmp(w->bytes + begin, "builtin", 7) ? BUILTIN
           : size == 4 && !memcmp(w->bytes + begin, "vhlo", 4)  ? VHLO
                                                                : OTHER;
}

static bool read_dialects(walk *w)
{
    reader *r = &w->data[JX_SECTION_DIALECTS];

    if (!count(w, r, "dialects: expected their number", &w->ndialects))
        return false;
    w->dialects = JX_NEW_ARRAY(w->ctx->arena, w->ndialects, unsigned char);
    for (size_t i = 0; w->dialects && i < w->ndialects; i++) {
        uint64_t name = varint(r);
        if (w->to->bytecode >= 1) {
            if (name & 1) { /* a section with the version follows */
                byte(r);
                size_t size = (size_t)varint(r);
                if (r->failed || size > r->end - r->at)
                    return fail(w, r, "dialects: expected a version");
                r->at += size;
            }
            name >>= 1;
        }
        if (r->failed)
            return fail(w, r, "dialects: expected a name");
        w->dialects[i] = dialect_named(w, name);
    }
    return w->dialects != NULL;
}

/* Groups by dialect: where each attribute lies. */
static bool read_offsets(walk *w)
{
    reader *r = &w->data[JX_SECTION_ATTR_OFFSETS];
    const reader *data = &w->data[JX_SECTION_ATTRS];
    size_t n = 0, at = data->at, done = 0;
    entry *entries;

    if (!count(w, r, "attribute offsets: expected the number of attributes",
               &n))
        return false;
    w->to->types = (size_t)varint(r);
    entries = JX_NEW_ARRAY(w->ctx->arena, n, entry);
    while (entries && done < n) {
        uint64_t dialect = varint(r), group = varint(r);
        if (r->failed || dialect >= w->ndialects || !group || group > n - done)
            return fail(w, r, "attribute offsets: expected a group");
        for (; group > 0; group--) {
            uint64_t size = varint(r);
            bool custom = size & 1;
            if (r->failed || size >> 1 > data->end - at)
                return fail(w, r,
                            "attribute offsets: expected a size within "
                            "the attributes");
            entries[done++] = (entry){(uint32_t)at, (uint32_t)(size >> 1),
                                      custom ? w->dialects[dialect] : OTHER};
            at += (size_t)(size >> 1);
        }
    }
    w->entries = entries;
    w->to->attrs = n;
    return entries != NULL;
}

/* ---- what the attributes are */

static reader entry_of(const walk *w, const entry *e)
{
    return (reader){w->bytes, e->at, (size_t)e->at + e->size, false};
}

/* The string that attribute `index` is counts as a location's, once. */
static void count_string(walk *w, uint64_t index)
{
    reader r;
    uint64_t string;

    if (index >= w->to->attrs || w->entries[index].dialect != BUILTIN)
        return;
    r = entry_of(w, &w->entries[index]);
    if (varint(&r) != BUILTIN_STRING)
        return;
    string = varint(&r);
    if (r.failed || string >= w->to->strings || w->named[string])
        return;
    w->named[string] = true;
    w->to->location_strings += w->strings[string + 1] - w->strings[string];
}

static void count_tensor(walk *w, const entry *e)
{
    w->to->tensors++;
    w->to->tensor_bytes += e->size;
    if (e->size > w->to->largest_tensor)
        w->to->largest_tensor = e->size;
}

static void count_entry(walk *w, const entry *e)
{
    reader r = entry_of(w, e);
    uint64_t code = varint(&r);

    if (e->dialect == VHLO ? code == VHLO_TENSOR : code == BUILTIN_DENSE)
        count_tensor(w, e);
    if (e->dialect != BUILTIN ||
        !((code >= BUILTIN_CALLSITE && code <= BUILTIN_UNKNOWN) ||
          code == BUILTIN_RANGE))
        return;
    w->to->locations++;
    w->to->location_bytes += e->size;
    if (code == BUILTIN_FILE || code == BUILTIN_NAME || code == BUILTIN_RANGE)
        count_string(w, varint(&r));
}

static bool needed(walk *w, const reader *end)
{
    static const jx_mlir_section sections[] = {
        JX_SECTION_STRINGS, JX_SECTION_DIALECTS, JX_SECTION_ATTRS,
        JX_SECTION_ATTR_OFFSETS, JX_SECTION_IR};
    char what[64];

    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (!w->to->sections[sections[i]]) {
            snprintf(what, sizeof what, "expected a section of %s",
                     names[sections[i]]);
            return fail(w, end, what);
        }
    return true;
}

bool jx_mlir_parts_read(jx_ctx *ctx, const char *path, size_t at,
                        const void *bytes, size_t size, jx_mlir_parts *to)
{
    walk w = {.ctx = ctx, .path = path, .base = at, .bytes = bytes, .to = to};
    reader r = {.bytes = bytes, .end = size};

    *to = (jx_mlir_parts){.size = size, .version = {-1, -1, -1}};
    if (size > UINT32_MAX)
        return fail(&w, &r, "expected less than 4 GiB");
    if (!read_header(&w, &r))
        return false;
    while (r.at < r.end)
        if (!read_section(&w, &r))
            return false;
    if (!needed(&w, &r) || !read_strings(&w) || !read_dialects(&w) ||
        !read_offsets(&w))
        return false;
    for (size_t i = 0; i < to->attrs; i++)
        if (w.entries[i].dialect != OTHER)
            count_entry(&w, &w.entries[i]);
    return jx_ok(ctx);
}
