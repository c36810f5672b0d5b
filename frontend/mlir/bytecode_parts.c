/* bytecode_parts.c - what every part of bytecode is read with: failures,
 * numbers, bytes, sections and strings. */
#include "frontend/mlir/bytecode_parts.h"
#include "frontend/base/plain.h"

#include <stdarg.h>
#include <stdio.h>

const char *const jx_bc_section_names[JX_BC_SECTIONS] = {
    "string",    "dialect",  "attribute and type", "attribute and type offset",
    "IR",        "resource", "resource offset",    "dialect version",
    "properties"};

bool jx_bc_fail(jx_bc_reader *r, const uint8_t *at, const char *format, ...)
{
    char what[300], entity[120] = "", place[40];
    const jx_bc_where *w = &r->where;
    va_list args;

    if (r->failed)
        return false;
    r->failed = true;
    va_start(args, format);
    jx_vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (w->kind)
        snprintf(entity, sizeof entity, ", %s %llu%s%.60s%s", w->kind,
                 (unsigned long long)w->index, w->name ? " (" : "",
                 w->name ? w->name : "", w->name ? ")" : "");
    snprintf(place, sizeof place, "byte %zu",
             r->base + (size_t)(at - r->bytes));
    return jx_fail(r->ctx, JX_E_INPUT, r->path, place, "bytecode: %s%s%s: %s",
                   w->section < 0 ? "header" : jx_bc_section_names[w->section],
                   w->section < 0 ? "" : " section", entity, what);
}

/* Memory stays in proportion to the file: no input makes more than 64 bytes
 * of tree and tables from one of its own (and some for the smallest). */
bool jx_bc_ok(jx_bc_reader *r)
{
    size_t used = jx_arena_used(r->arena) - r->used + jx_arena_used(r->scratch);

    if (r->failed)
        return false;
    if (jx_arena_failed(r->arena) || jx_arena_failed(r->scratch)) {
        r->failed = true;
        return jx_starved(r->ctx);
    }
    if (used > r->size * 64 + (1 << 16))
        return jx_bc_fail(r, r->bytes,
                          "needs more than 64 times the memory of its %zu "
                          "bytes",
                          r->size);
    return true;
}

static void underrun(jx_bc_reader *r, jx_bc_cursor *c)
{
    jx_bc_fail(r, c->end, "ends here, but more is expected");
    c->at = c->end;
}

uint8_t jx_bc_byte(jx_bc_reader *r, jx_bc_cursor *c)
{
    if (c->at >= c->end) {
        underrun(r, c);
        return 0;
    }
    return *c->at++;
}

/* The number of trailing zeros of the first byte is the number of bytes that
 * follow; none set: eight follow, and the first one has no part. */
uint64_t jx_bc_long_varint(jx_bc_reader *r, jx_bc_cursor *c)
{
    uint64_t value = 0;
    unsigned more;

    if (c->at >= c->end) {
        underrun(r, c);
        return 0;
    }
    more = *c->at ? (unsigned)__builtin_ctz(*c->at) : 8;
    if ((size_t)(c->end - c->at) <= more) {
        underrun(r, c);
        return 0;
    }
    for (unsigned i = 0; i < 8 && i + (more == 8) <= more; i++)
        value |= (uint64_t)c->at[i + (more == 8)] << (8 * i);
    c->at += more + 1;
    return more == 8 ? value : value >> (more + 1);
}

int64_t jx_bc_signed(jx_bc_reader *r, jx_bc_cursor *c)
{
    uint64_t value = jx_bc_varint(r, c);

    return (int64_t)((value >> 1) ^ -(value & 1));
}

uint64_t jx_bc_flagged(jx_bc_reader *r, jx_bc_cursor *c, bool *flag)
{
    uint64_t value = jx_bc_varint(r, c);

    *flag = value & 1;
    return value >> 1;
}

size_t jx_bc_count(jx_bc_reader *r, jx_bc_cursor *c, const char *what)
{
    const uint8_t *at = c->at;
    uint64_t count = jx_bc_varint(r, c);

    if (count > (uint64_t)(c->end - c->at) || count > INT32_MAX) {
        jx_bc_fail(r, at, "%llu %s, but only %zu bytes are left",
                   (unsigned long long)count, what, (size_t)(c->end - c->at));
        return 0;
    }
    return r->failed ? 0 : (size_t)count;
}

size_t jx_bc_index(jx_bc_reader *r, jx_bc_cursor *c, size_t count,
                   const char *what)
{
    const uint8_t *at = c->at;
    uint64_t index = jx_bc_varint(r, c);

    if (!r->failed && index < count)
        return (size_t)index;
    jx_bc_fail(r, at, "%s %llu, but there are %zu", what,
               (unsigned long long)index, count);
    return 0;
}

const uint8_t *jx_bc_take(jx_bc_reader *r, jx_bc_cursor *c, uint64_t size)
{
    const uint8_t *at = c->at;

    if (r->failed)
        return NULL;
    if (size > (uint64_t)(c->end - c->at)) {
        jx_bc_fail(r, at, "%llu bytes, but only %zu are left",
                   (unsigned long long)size, (size_t)(c->end - c->at));
        return NULL;
    }
    c->at += size;
    return at;
}

int64_t *jx_bc_signed_list(jx_bc_reader *r, jx_bc_cursor *c, size_t *count)
{
    *count = jx_bc_count(r, c, "numbers");
    int64_t *list = JX_NEW_ARRAY(r->arena, *count, int64_t);

    for (size_t i = 0; list && i < *count; i++)
        list[i] = jx_bc_signed(r, c);
    return jx_bc_ok(r) ? list : NULL;
}

bool jx_bc_padding(jx_bc_reader *r, jx_bc_cursor *c, uint64_t alignment)
{
    if (!alignment || (alignment & (alignment - 1)))
        return jx_bc_fail(r, c->at, "alignment %llu is no power of two",
                          (unsigned long long)alignment);
    while ((uint64_t)(c->at - r->bytes) & (alignment - 1)) {
        const uint8_t *at = c->at;
        if (jx_bc_byte(r, c) != 0xCB)
            return jx_bc_fail(r, at, "padding of another byte than 0xCB");
    }
    return !r->failed;
}

int jx_bc_section(jx_bc_reader *r, jx_bc_cursor *c, jx_bc_cursor *content)
{
    const uint8_t *at = c->at;
    uint8_t head = jx_bc_byte(r, c);
    uint64_t size = jx_bc_varint(r, c);
    int id = head & 0x7f;

    content->at = content->end = c->at;
    if (!r->failed && id >= JX_BC_SECTIONS) {
        jx_bc_fail(r, at, "section %d is not known", id);
        return -1;
    }
    if (!r->failed && (head & 0x80))
        jx_bc_padding(r, c, jx_bc_varint(r, c));
    const uint8_t *data = jx_bc_take(r, c, size);
    if (!data)
        return -1;
    content->at = data;
    content->end = c->at;
    return id;
}

const jx_bc_text *jx_bc_raw_string(jx_bc_reader *r, jx_bc_cursor *c)
{
    size_t i = jx_bc_index(r, c, r->nstrings, "string");

    return r->failed ? NULL : &r->strings[i];
}
