/* bytecode.c - see bytecode.h: sections and their tables. */
#include "frontend/base/assert.h"
#include "frontend/mlir/bytecode_parts.h"
#include "frontend/mlir/tree_fault.h"

#include <stdio.h>
#include <string.h>

static const uint8_t magic[] = {'M', 'L', 0xEF, 'R'};

/* ---- strings */

static bool read_strings(jx_bc_reader *r)
{
    jx_bc_cursor c = r->sections[JX_BC_STRING];
    const uint8_t *end = c.end;

    r->where.section = JX_BC_STRING;
    r->nstrings = jx_bc_count(r, &c, "strings");
    r->strings = JX_NEW_ARRAY(r->scratch, r->nstrings, jx_bc_text);
    if (!jx_bc_ok(r))
        return false;
    r->where.kind = "string";
    /* Lengths stand from the last to the first, with the NUL counted. */
    for (size_t i = r->nstrings; i-- > 0;) {
        const uint8_t *at = c.at;
        uint64_t size = jx_bc_varint(r, &c);
        r->where.index = i;
        /* The lengths may run into the strings that they have had. */
        size_t left = end > c.at ? (size_t)(end - c.at) : 0;
        if (!r->failed && (!size || size > left))
            jx_bc_fail(r, at, "length %llu, but there are %zu bytes",
                       (unsigned long long)size, left);
        if (r->failed)
            return false;
        end -= size;
        r->strings[i] = (jx_bc_text){end, (size_t)size - 1, NULL};
        if (end[size - 1] != 0)
            return jx_bc_fail(r, end + size - 1, "does not end with a NUL");
    }
    r->where.kind = NULL;
    if (end != c.at)
        return jx_bc_fail(r, c.at, "%zu bytes between lengths and strings",
                          (size_t)(end - c.at));
    return true;
}

/* The text of that string, interned; a NUL inside is refused. */
static const char *text_at(jx_bc_reader *r, const uint8_t *at, uint64_t i)
{
    if (r->failed)
        return NULL;
    if (i >= r->nstrings) {
        jx_bc_fail(r, at, "string %llu, but there are %zu",
                   (unsigned long long)i, r->nstrings);
        return NULL;
    }
    jx_bc_text *s = &r->strings[i];
    if (!s->interned) {
        if (memchr(s->at, 0, s->size)) {
            jx_bc_fail(r, at, "string %llu holds a NUL, a name can't",
                       (unsigned long long)i);
            return NULL;
        }
        s->interned =
            jx_strings_add(&r->ctx->strings, (const char *)s->at, s->size);
    }
    return jx_bc_ok(r) ? s->interned : NULL;
}

static const char *string(jx_bc_reader *r, jx_bc_cursor *c)
{
    const uint8_t *at = c->at;
    uint64_t i = jx_bc_varint(r, c);

    return text_at(r, at, i);
}

/* ---- dialects and the names of ops */

static jx_bc_dialect_kind dialect_kind(const char *name)
{
    return !strcmp(name, "builtin")     ? JX_BC_BUILTIN
           : !strcmp(name, "vhlo")      ? JX_BC_VHLO
           : !strcmp(name, "sdy")       ? JX_BC_SDY
           : !strcmp(name, "stablehlo") ? JX_BC_STABLEHLO
                                        : JX_BC_OTHER;
}

static bool read_dialect(jx_bc_reader *r, jx_bc_cursor *c, size_t i)
{
    jx_bytecode_dialect *d = &r->dialects[i];
    jx_bc_cursor name = *c, version;
    bool versioned = false;

    if (r->version >= JX_BC_HAS_DIALECT_VERSIONS) {
        uint64_t index = jx_bc_flagged(r, c, &versioned);
        d->name = text_at(r, name.at, index);
    } else {
        d->name = string(r, c);
    }
    if (versioned) {
        const uint8_t *at = c->at;
        if (jx_bc_section(r, c, &version) != JX_BC_DIALECT_VERSION)
            return jx_bc_fail(r, at, "a dialect version section is expected");
        d->version = version.at;
        d->size = (size_t)(version.end - version.at);
    }
    if (!jx_bc_ok(r))
        return false;
    r->kinds[i] = (uint8_t)dialect_kind(d->name);
    return true;
}

static bool read_op_name(jx_bc_reader *r, jx_bc_cursor *c, const char *dialect)
{
    jx_bc_op_name *op = &r->opnames[r->nopnames];
    bool registered = true;
    const uint8_t *at = c->at;
    uint64_t index = r->version >= JX_BC_HAS_PROPERTIES
                         ? jx_bc_flagged(r, c, &registered)
                         : jx_bc_varint(r, c);

    const char *own = text_at(r, at, index);
    const char *name = own ? jx_arena_printf(r->scratch, "%s%s%s", dialect,
                                             *own ? "." : "", own)
                           : NULL;
    if (!name)
        return jx_bc_ok(r);
    op->name = jx_intern_text(r->ctx, name);
    op->registered = registered;
    if (!jx_bc_ok(r))
        return false;
    op->id = jx_mlir_op_id(op->name);
    op->attrs = jx_mlir_op_attrs(op->name);
    r->nopnames++;
    return true;
}

static bool read_op_names(jx_bc_reader *r, jx_bc_cursor *c)
{
    size_t declared = SIZE_MAX, left;

    if (r->version >= JX_BC_ELIDES_LOCATIONS)
        declared = jx_bc_count(r, c, "names of ops");
    left = (size_t)(c->end - c->at);
    r->opnames = JX_NEW_ARRAY(r->scratch, declared < left ? declared : left,
                              jx_bc_op_name);
    while (jx_bc_ok(r) && c->at < c->end) {
        size_t d = jx_bc_index(r, c, r->ndialects, "dialect");
        size_t count = jx_bc_count(r, c, "names of ops");
        for (size_t i = 0; i < count && !r->failed; i++) {
            r->where =
                (jx_bc_where){JX_BC_DIALECT, "op name", r->nopnames, NULL};
            if (r->nopnames >= declared)
                return jx_bc_fail(r, c->at, "more names than the %zu declared",
                                  declared);
            read_op_name(r, c, r->dialects[d].name);
        }
    }
    if (!r->failed && declared != SIZE_MAX && r->nopnames != declared)
        return jx_bc_fail(r, c->at, "%zu names, but %zu are declared",
                          r->nopnames, declared);
    return jx_bc_ok(r);
}

static bool read_dialects(jx_bc_reader *r)
{
    jx_bc_cursor c = r->sections[JX_BC_DIALECT];

    r->where = (jx_bc_where){JX_BC_DIALECT, NULL, 0, NULL};
    r->ndialects = jx_bc_count(r, &c, "dialects");
    r->dialects = JX_NEW_ARRAY(r->arena, r->ndialects, jx_bytecode_dialect);
    r->kinds = JX_NEW_ARRAY(r->scratch, r->ndialects, uint8_t);
    if (!jx_bc_ok(r))
        return false;
    for (size_t i = 0; i < r->ndialects; i++) {
        r->where.kind = "dialect";
        r->where.index = i;
        if (!read_dialect(r, &c, i))
            return false;
    }
    return read_op_names(r, &c);
}

/* ---- entries of attributes and types */

static bool read_entries(jx_bc_reader *r, jx_bc_cursor *c, jx_bc_cursor *data,
                         jx_bc_entry *entries, size_t count, const char *kind)
{
    for (size_t i = 0; i < count && !r->failed;) {
        r->where.kind = NULL;
        size_t dialect = jx_bc_index(r, c, r->ndialects, "dialect");
        const uint8_t *at = c->at;
        uint64_t group = jx_bc_varint(r, c);
        if (group > count - i)
            return jx_bc_fail(r, at,
                              "a group of %llu %ss, but only %zu are left",
                              (unsigned long long)group, kind, count - i);
        for (; group && !r->failed; group--, i++) {
            r->where = (jx_bc_where){JX_BC_ATTR_TYPE_OFFSET, kind, i, NULL};
            at = c->at;
            uint64_t size = jx_bc_flagged(r, c, &entries[i].custom);
            if (size > (uint64_t)(data->end - data->at))
                return jx_bc_fail(r, at, "%llu bytes, but only %zu are left",
                                  (unsigned long long)size,
                                  (size_t)(data->end - data->at));
            entries[i].at = data->at;
            entries[i].size = (size_t)size;
            entries[i].dialect = (uint32_t)dialect;
            data->at += size;
        }
    }
    return jx_bc_ok(r);
}

static bool read_attr_tables(jx_bc_reader *r)
{
    jx_bc_cursor c = r->sections[JX_BC_ATTR_TYPE_OFFSET];
    jx_bc_cursor data = r->sections[JX_BC_ATTR_TYPE];

    r->where = (jx_bc_where){JX_BC_ATTR_TYPE_OFFSET, NULL, 0, NULL};
    r->nattrs = jx_bc_count(r, &c, "attributes");
    r->ntypes = jx_bc_count(r, &c, "types");
    r->attrs = JX_NEW_ARRAY(r->scratch, r->nattrs, jx_bc_entry);
    r->types_at = JX_NEW_ARRAY(r->scratch, r->ntypes, jx_bc_entry);
    if (!jx_bc_ok(r) ||
        !read_entries(r, &c, &data, r->attrs, r->nattrs, "attribute") ||
        !read_entries(r, &c, &data, r->types_at, r->ntypes, "type"))
        return false;
    r->where.kind = NULL;
    if (c.at != c.end)
        return jx_bc_fail(r, c.at, "%zu bytes follow the last type",
                          (size_t)(c.end - c.at));
    r->where.section = JX_BC_ATTR_TYPE;
    if (data.at != data.end)
        return jx_bc_fail(r, data.at, "%zu bytes belong to no entry",
                          (size_t)(data.end - data.at));
    return true;
}

/* ---- resources */

static bool read_resource_value(jx_bc_reader *r, jx_bc_cursor c,
                                jx_bytecode_resource *to)
{
    if (to->kind == 1) {
        to->bytes = jx_bc_byte(r, &c) ? "true" : "false";
        to->size = strlen(to->bytes);
    } else if (to->kind == 2) {
        const jx_bc_text *s = jx_bc_raw_string(r, &c);
        to->bytes = s ? s->at : NULL;
        to->size = s ? s->size : 0;
    } else {
        to->alignment = jx_bc_varint(r, &c);
        uint64_t size = jx_bc_varint(r, &c);
        if (!r->failed && jx_bc_padding(r, &c, to->alignment))
            to->bytes = jx_bc_take(r, &c, size);
        to->size = to->bytes ? (size_t)size : 0;
    }
    if (!r->failed && c.at != c.end)
        return jx_bc_fail(r, c.at, "%zu bytes follow its end",
                          (size_t)(c.end - c.at));
    return jx_bc_ok(r);
}

static bool read_resource_group(jx_bc_reader *r, jx_bc_cursor *c,
                                jx_bc_cursor *data, const char *dialect,
                                const char *group)
{
    size_t count = jx_bc_count(r, c, "resources");

    for (size_t i = 0; i < count && !r->failed; i++) {
        jx_bytecode_resource one = {.dialect = dialect, .group = group};
        r->where = (jx_bc_where){JX_BC_RESOURCE_OFFSET, "resource",
                                 r->resources.count, NULL};
        one.key = string(r, c);
        const uint8_t *at = c->at;
        uint64_t size = jx_bc_varint(r, c);
        one.kind = jx_bc_byte(r, c);
        if (!r->failed && one.kind > 2)
            return jx_bc_fail(r, c->at - 1, "kind %d is not known", one.kind);
        if (!r->failed && size > (uint64_t)(data->end - data->at))
            return jx_bc_fail(r, at, "%llu bytes, but only %zu are left",
                              (unsigned long long)size,
                              (size_t)(data->end - data->at));
        if (!jx_bc_ok(r))
            return false;
        r->where.section = JX_BC_RESOURCE;
        r->where.name = one.key;
        one.present = size != 0;
        jx_bc_cursor content = {data->at, data->at + size};
        data->at += size;
        if (one.present && !read_resource_value(r, content, &one))
            return false;
        JX_PUSH(r->arena, &r->resources, one);
    }
    return jx_bc_ok(r);
}

static bool read_resources(jx_bc_reader *r)
{
    jx_bc_cursor c = r->sections[JX_BC_RESOURCE_OFFSET];
    jx_bc_cursor data = r->sections[JX_BC_RESOURCE];

    r->where = (jx_bc_where){JX_BC_RESOURCE_OFFSET, NULL, 0, NULL};
    if (!r->present[JX_BC_RESOURCE_OFFSET])
        return true;
    size_t groups = jx_bc_count(r, &c, "groups of resources");
    for (size_t i = 0; i < groups && !r->failed; i++) {
        const char *group = string(r, &c);
        read_resource_group(r, &c, &data, NULL, group);
    }
    while (!r->failed && c.at < c.end) {
        r->where = (jx_bc_where){JX_BC_RESOURCE_OFFSET, NULL, 0, NULL};
        size_t d = jx_bc_index(r, &c, r->ndialects, "dialect");
        if (!r->failed)
            read_resource_group(r, &c, &data, r->dialects[d].name, NULL);
    }
    r->where = (jx_bc_where){JX_BC_RESOURCE, NULL, 0, NULL};
    if (!r->failed && data.at != data.end)
        return jx_bc_fail(r, data.at, "%zu bytes belong to no resource",
                          (size_t)(data.end - data.at));
    return jx_bc_ok(r);
}

/* ---- properties */

static bool read_properties(jx_bc_reader *r)
{
    jx_bc_cursor c = r->sections[JX_BC_PROPERTIES];

    r->where = (jx_bc_where){JX_BC_PROPERTIES, NULL, 0, NULL};
    if (!r->present[JX_BC_PROPERTIES])
        return true;
    r->nprops = jx_bc_count(r, &c, "entries");
    r->props = JX_NEW_ARRAY(r->scratch, r->nprops, jx_bc_props);
    for (size_t i = 0; r->props && i < r->nprops && !r->failed; i++) {
        r->where.kind = "entry";
        r->where.index = i;
        uint64_t size = jx_bc_varint(r, &c);
        r->props[i].at = jx_bc_take(r, &c, size);
        r->props[i].size = (size_t)size;
    }
    if (!r->failed && c.at != c.end)
        return jx_bc_fail(r, c.at, "%zu bytes follow the last entry",
                          (size_t)(c.end - c.at));
    return jx_bc_ok(r);
}

/* ---- the file */

static const int required[] = {JX_BC_STRING, JX_BC_DIALECT, JX_BC_ATTR_TYPE,
                               JX_BC_ATTR_TYPE_OFFSET, JX_BC_IR};

static bool read_sections(jx_bc_reader *r, jx_bc_cursor *c)
{
    while (c->at < c->end && !r->failed) {
        const uint8_t *at = c->at;
        jx_bc_cursor content;
        int id = jx_bc_section(r, c, &content);
        if (r->failed)
            return false;
        if (r->present[id])
            return jx_bc_fail(r, at, "a second %s section",
                              jx_bc_section_names[id]);
        if (id == JX_BC_DIALECT_VERSION)
            return jx_bc_fail(r, at,
                              "a dialect version section belongs into "
                              "the dialect section");
        if (id == JX_BC_PROPERTIES && r->version < JX_BC_HAS_PROPERTIES)
            return jx_bc_fail(r, at, "version %u has no properties section",
                              r->version);
        r->present[id] = true;
        r->sections[id] = content;
        r->extra->sections[r->extra->nsections].id = id;
        r->extra->sections[r->extra->nsections].offset =
            (size_t)(content.at - r->bytes);
        r->extra->sections[r->extra->nsections++].size =
            (size_t)(content.end - content.at);
    }
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!r->failed && !r->present[required[i]])
            return jx_bc_fail(r, c->at, "there is no %s section",
                              jx_bc_section_names[required[i]]);
    if (!r->failed &&
        r->present[JX_BC_RESOURCE] != r->present[JX_BC_RESOURCE_OFFSET])
        return jx_bc_fail(r, c->at, "only one of the resource sections");
    return !r->failed;
}

/* "StableHLO_v1.15.0", what StableHLO's serializer calls itself. */
static void read_version(jx_mlir_file *file)
{
    unsigned v[3];
    int end = 0;

    file->version[0] = file->version[1] = file->version[2] = -1;
    if (sscanf(file->producer, "StableHLO_v%4u.%4u.%4u%n", &v[0], &v[1], &v[2],
               &end) == 3 &&
        !file->producer[end])
        for (int i = 0; i < 3; i++)
            file->version[i] = (int)v[i];
}

static bool read_header(jx_bc_reader *r, jx_bc_cursor *c)
{
    r->where = (jx_bc_where){-1, NULL, 0, NULL};
    if (!jx_bytecode_is(r->bytes, r->size))
        return jx_bc_fail(r, r->bytes, "does not begin with \"ML\\xefR\"");
    c->at += sizeof magic;
    const uint8_t *at = c->at;
    uint64_t version = jx_bc_varint(r, c);
    if (!r->failed && version >= JX_BYTECODE_VERSIONS)
        return jx_bc_fail(r, at, "version %llu, but 0 to %d are known",
                          (unsigned long long)version,
                          JX_BYTECODE_VERSIONS - 1);
    r->version = (unsigned)version;
    const uint8_t *nul = memchr(c->at, 0, (size_t)(c->end - c->at));
    if (!r->failed && !nul)
        return jx_bc_fail(r, c->at, "the producer's name has no end");
    if (r->failed)
        return false;
    r->file->bytecode = (int)version;
    r->file->producer = jx_strings_add(&r->ctx->strings, (const char *)c->at,
                                       (size_t)(nul - c->at));
    c->at = nul + 1;
    if (!jx_bc_ok(r))
        return false;
    read_version(r->file);
    return true;
}

static bool read_file(jx_bc_reader *r)
{
    jx_bc_cursor c = {r->bytes, r->bytes + r->size};

    if (!read_header(r, &c) || !read_sections(r, &c) || !read_strings(r) ||
        !read_dialects(r) || !read_resources(r) || !read_properties(r) ||
        !read_attr_tables(r) || !jx_bc_read_ir(r))
        return false;
    r->extra->nresources = (int)r->resources.count;
    r->extra->resources = r->resources.at;
    r->extra->nuses = (int)r->uses.count;
    r->extra->uses = r->uses.at;
    r->extra->ndialects = (int)r->ndialects;
    r->extra->dialects = r->dialects;
    return true;
}

bool jx_bytecode_is(const void *bytes, size_t size)
{
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

jx_mlir_file *jx_bytecode_read(jx_ctx *ctx, jx_mlir_types *types,
                               const char *path, const void *bytes, size_t size,
                               size_t base)
{
    jx_bc_reader r = {.ctx = ctx,
                      .arena = ctx->arena,
                      .read_attr = jx_bc_read_attr,
                      .read_type = jx_bc_read_type,
                      .types = types ? types : jx_mlir_types_new(ctx),
                      .path = path,
                      .bytes = bytes,
                      .size = size,
                      .base = base,
                      .used = jx_arena_used(ctx->arena)};

    r.file = JX_NEW(ctx->arena, jx_mlir_file);
    r.extra = JX_NEW(ctx->arena, jx_bytecode_extra);
    r.scratch = jx_arena_new(&ctx->budget);
    if (!r.file || !r.extra || !r.scratch || !r.types) {
        jx_arena_free(r.scratch);
        jx_starved(ctx);
        return NULL;
    }
    jx_intern_init(&r.places, r.scratch);
    r.file->ctx = ctx;
    r.file->types = r.types;
    r.file->path = path;
    r.file->extra = r.extra;
    bool done = read_file(&r);
    jx_arena_free(r.scratch);
    if (!done || !jx_ok(ctx))
        return NULL;
    JX_ASSERT_NONE(jx_mlir_file_fault(r.file));
    return r.file;
}
