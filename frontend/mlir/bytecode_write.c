/* bytecode_write.c - see bytecode_write.h: sections and ops. */
#include "frontend/base/assert.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/bytecode_write_parts.h"
#include "frontend/mlir/tree_fault.h"

#include <string.h>

/* ---- sections */

static void align(jx_buffer *to, uint64_t alignment)
{
    while (alignment > 1 && to->length % alignment)
        jx_buffer_putc(to, (char)0xCB);
}

/* A section with this content, aligned if that is more than 1. */
static void put_section(jx_buffer *to, int id, const jx_buffer *content,
                        uint64_t alignment)
{
    jx_buffer_putc(to, (char)(alignment > 1 ? id | 0x80 : id));
    jx_bw_varint(to, content->length);
    if (alignment > 1) {
        jx_bw_varint(to, alignment);
        align(to, alignment);
    }
    if (content->length)
        jx_buffer_bytes(to, content->text, content->length);
}

/* ---- dialects, attributes and types */

/* Runs of items of one dialect: its index, how many, each one. */
static size_t group_of(const jx_bw_items *items, size_t from)
{
    size_t to = from;

    while (to < items->count &&
           items->at[to]->dialect == items->at[from]->dialect)
        to++;
    return to;
}

static const jx_bytecode_dialect *dialect_version(const jx_bw *w,
                                                  const char *name)
{
    const jx_bytecode_extra *extra = w->file->extra;

    for (int i = 0; extra && i < extra->ndialects; i++)
        if (extra->dialects[i].version &&
            strcmp(extra->dialects[i].name, name) == 0)
            return &extra->dialects[i];
    return NULL;
}

static void write_dialects(jx_bw *w, jx_buffer *to)
{
    jx_buffer out = jx_ctx_text(w->ctx);

    jx_bw_varint(&out, w->dialects.count);
    for (size_t i = 0; i < w->dialects.count; i++) {
        const char *name = w->dialects.at[i];
        const jx_bytecode_dialect *d = dialect_version(w, name);
        uint64_t index = jx_bw_keep(w, &w->strings, name, strlen(name));
        if (w->version < JX_BC_HAS_DIALECT_VERSIONS) {
            jx_bw_varint(&out, index);
            continue;
        }
        jx_bw_flagged(&out, index, d != NULL);
        if (d) {
            jx_buffer version = jx_ctx_text(w->ctx);
            jx_buffer_bytes(&version, d->version, d->size);
            put_section(&out, JX_BC_DIALECT_VERSION, &version, 1);
            jx_buffer_free(&version);
        }
    }
    if (w->version >= JX_BC_ELIDES_LOCATIONS)
        jx_bw_varint(&out, w->names.count);
    for (size_t i = 0, end; i < w->names.count; i = end) {
        end = group_of(&w->names, i);
        jx_bw_varint(&out, w->names.at[i]->dialect);
        jx_bw_varint(&out, end - i);
        for (size_t k = i; k < end; k++) {
            const char *name = w->names.at[k]->name;
            name += strcspn(name, ".");
            name += *name == '.';
            uint64_t index = jx_bw_keep(w, &w->strings, name, strlen(name));
            if (w->version >= JX_BC_HAS_PROPERTIES)
                jx_bw_flagged(&out, index, true);
            else
                jx_bw_varint(&out, index);
        }
    }
    put_section(to, JX_BC_DIALECT, &out, 1);
    jx_buffer_free(&out);
}

static uint64_t attr_number(jx_bw *w, const jx_mlir_attr *attr)
{
    const jx_bw_item *item = jx_bw_attr_item(w, attr);

    return item ? item->number : 0;
}

static uint64_t type_number(jx_bw *w, const jx_mlir_type *type)
{
    const jx_bw_item *item = jx_bw_type_item(w, type);

    return item ? item->number : 0;
}

static const jx_bw_parts by_number = {attr_number, type_number};

static void write_items(jx_bw *w, const jx_bw_items *items, jx_buffer *offsets,
                        jx_buffer *data)
{
    jx_bw_sink sink = {w, JX_BW_WRITE, &by_number, data};

    for (size_t i = 0, end; i < items->count; i = end) {
        end = group_of(items, i);
        jx_bw_varint(offsets, items->at[i]->dialect);
        jx_bw_varint(offsets, end - i);
        for (size_t k = i; k < end; k++) {
            size_t before = data->length;
            bool coded = items->at[k]->attr
                             ? jx_bw_encode_attr(&sink, items->at[k]->attr)
                             : jx_bw_encode_type(&sink, items->at[k]->type);
            jx_bw_flagged(offsets, data->length - before, coded);
        }
    }
}

static void write_attrs(jx_bw *w, jx_buffer *to)
{
    jx_buffer offsets = jx_ctx_text(w->ctx), data = jx_ctx_text(w->ctx);

    jx_bw_varint(&offsets, w->attrs.count);
    jx_bw_varint(&offsets, w->types.count);
    write_items(w, &w->attrs, &offsets, &data);
    write_items(w, &w->types, &offsets, &data);
    put_section(to, JX_BC_ATTR_TYPE_OFFSET, &offsets, 1);
    put_section(to, JX_BC_ATTR_TYPE, &data, 1);
    w->failed |= !jx_buffer_ok(&offsets) || !jx_buffer_ok(&data);
    jx_buffer_free(&offsets);
    jx_buffer_free(&data);
}

/* ---- ops */

static uint64_t value_number(jx_bw *w, const void *value)
{
    jx_bw_slot *slot = jx_bw_find(&w->values, value, NULL);

    if (slot)
        return slot->value.number - 1;
    jx_bw_fail(w, "a value is used that nothing defines");
    return 0;
}

static const jx_bytecode_uses *uses_of(const jx_bw *w, const void *owner)
{
    jx_bw_slot *slot = w->version >= JX_BC_HAS_USE_LISTS
                           ? jx_bw_find(&w->uses, owner, NULL)
                           : NULL;

    return slot ? slot->value.pointer : NULL;
}

static bool write_region(jx_bw *w, const jx_mlir_region *region, jx_buffer *to);

static void write_properties(jx_bw *w, const jx_mlir_op *op, jx_buffer *to)
{
    jx_buffer bytes = jx_ctx_text(w->ctx);
    jx_bw_sink sink = {w, JX_BW_WRITE, &by_number, &bytes};

    jx_bw_encode_props(&sink, op);
    jx_bw_varint(to, jx_bw_keep(w, &w->props, bytes.text, bytes.length));
    jx_buffer_free(&bytes);
}

static void write_values(jx_bw *w, const jx_mlir_op *op, jx_buffer *to)
{
    if (op->nouts)
        jx_bw_varint(to, (uint64_t)op->nouts);
    for (int i = 0; i < op->nouts; i++)
        jx_bw_varint(to, type_number(w, op->outs[i]->type));
    if (op->nins)
        jx_bw_varint(to, (uint64_t)op->nins);
    for (int i = 0; i < op->nins; i++)
        jx_bw_varint(to, value_number(w, op->ins[i]));
    if (op->nsuccessors)
        jx_bw_varint(to, (uint64_t)op->nsuccessors);
    for (int i = 0; i < op->nsuccessors; i++)
        jx_bw_varint(to, value_number(w, op->successors[i]));
}

static bool write_regions(jx_bw *w, const jx_mlir_op *op, jx_buffer *to)
{
    bool isolated = jx_bw_find(&w->isolated, op, NULL) != NULL;
    jx_buffer inner = jx_ctx_text(w->ctx), *out = to;

    if (!op->nregions)
        return true;
    jx_bw_flagged(to, (uint64_t)op->nregions, isolated);
    if (isolated && w->version >= JX_BC_HAS_ISOLATED_SECTIONS)
        out = &inner;
    for (int i = 0; i < op->nregions; i++)
        if (!write_region(w, &op->regions[i], out))
            break;
    if (out == &inner)
        put_section(to, JX_BC_IR, &inner, 1);
    w->failed |= !jx_buffer_ok(&inner);
    jx_buffer_free(&inner);
    return jx_bw_ok(w);
}

static bool write_op(jx_bw *w, const jx_mlir_op *op, jx_buffer *to)
{
    const jx_bw_item *name = jx_bw_name_item(w, op->name);
    const jx_mlir_attr *dict = jx_bw_dictionary(w, op);
    const jx_bytecode_uses *uses = uses_of(w, op);
    bool props = jx_bw_has_props(w, op);
    unsigned mask = (dict ? JX_BC_OP_ATTRS : 0u) |
                    (props ? JX_BC_OP_PROPERTIES : 0u) |
                    (op->nouts ? JX_BC_OP_RESULTS : 0u) |
                    (op->nins ? JX_BC_OP_OPERANDS : 0u) |
                    (op->nsuccessors ? JX_BC_OP_SUCCESSORS : 0u) |
                    (uses ? JX_BC_OP_USE_LISTS : 0u) |
                    (op->nregions ? JX_BC_OP_REGIONS : 0u);

    if (!name)
        return jx_bw_ok(w);
    jx_bw_varint(to, name->number);
    jx_buffer_putc(to, (char)mask);
    jx_bw_varint(to, attr_number(w, op->loc));
    if (dict)
        jx_bw_varint(to, attr_number(w, dict));
    if (props)
        write_properties(w, op, to);
    write_values(w, op, to);
    if (uses)
        jx_buffer_bytes(to, uses->bytes, uses->size);
    return jx_bw_ok(w) && write_regions(w, op, to);
}

static void write_arguments(jx_bw *w, const jx_mlir_block *block, jx_buffer *to)
{
    const jx_bytecode_uses *uses = uses_of(w, block);

    jx_bw_varint(to, (uint64_t)block->nargs);
    for (int i = 0; i < block->nargs; i++) {
        const jx_mlir_value *arg = block->args[i];
        bool located = arg->loc && arg->loc->kind != JX_A_LOC_UNKNOWN;
        const jx_mlir_attr *loc = jx_bw_location(w, arg);
        if (w->version >= JX_BC_ELIDES_LOCATIONS)
            jx_bw_flagged(to, type_number(w, arg->type), located);
        else
            jx_bw_varint(to, type_number(w, arg->type));
        if (loc && (located || w->version < JX_BC_ELIDES_LOCATIONS))
            jx_bw_varint(to, attr_number(w, loc));
    }
    if (w->version < JX_BC_HAS_USE_LISTS)
        return;
    jx_buffer_putc(to, uses ? JX_BC_OP_USE_LISTS : 0);
    if (uses)
        jx_buffer_bytes(to, uses->bytes, uses->size);
}

static bool write_region(jx_bw *w, const jx_mlir_region *region, jx_buffer *to)
{
    jx_bw_slot *slot = jx_bw_find(&w->nvalues, region, NULL);

    jx_bw_varint(to, (uint64_t)region->nblocks);
    if (!region->nblocks)
        return true;
    jx_bw_varint(to, slot ? slot->value.number : 0);
    for (int b = 0; b < region->nblocks; b++) {
        const jx_mlir_block *block = region->blocks[b];
        jx_bw_flagged(to, (uint64_t)block->nops, block->nargs != 0);
        if (block->nargs)
            write_arguments(w, block, to);
        for (int i = 0; i < block->nops; i++)
            if (!write_op(w, block->ops[i], to))
                return false;
    }
    return true;
}

static bool write_ir(jx_bw *w, jx_buffer *to)
{
    jx_buffer out = jx_ctx_text(w->ctx);

    jx_bw_flagged(&out, 1, false);
    write_op(w, w->file->modules[0], &out);
    put_section(to, JX_BC_IR, &out, 1);
    w->failed |= !jx_buffer_ok(&out);
    jx_buffer_free(&out);
    return !w->failed;
}

/* ---- resources, strings, properties */

static void write_resource(jx_bw *w, const jx_bytecode_resource *one,
                           jx_buffer *offsets, jx_buffer *data,
                           uint64_t *alignment)
{
    size_t before = data->length;

    if (one->present && one->kind == 1) {
        jx_buffer_putc(data, ((const char *)one->bytes)[0] == 't');
    } else if (one->present && one->kind == 2) {
        jx_bw_varint(data, jx_bw_keep(w, &w->strings, one->bytes, one->size));
    } else if (one->present) {
        jx_bw_varint(data, one->alignment);
        jx_bw_varint(data, one->size);
        align(data, one->alignment);
        if (one->size)
            jx_buffer_bytes(data, one->bytes, one->size);
        if (one->alignment > *alignment)
            *alignment = one->alignment;
    }
    jx_bw_varint(offsets,
                 jx_bw_keep(w, &w->strings, one->key, strlen(one->key)));
    jx_bw_varint(offsets, data->length - before);
    jx_buffer_putc(offsets, (char)one->kind);
}

/* The resources of a group, or of a dialect in the order of their numbers. */
static const jx_bytecode_resource *resource_named(const jx_bw *w,
                                                  const char *key)
{
    const jx_bytecode_extra *extra = w->file->extra;

    for (int i = 0; extra && i < extra->nresources; i++)
        if (extra->resources[i].dialect && extra->resources[i].key == key)
            return &extra->resources[i];
    return NULL;
}

static void write_outside(jx_bw *w, jx_buffer *offsets, jx_buffer *data,
                          uint64_t *alignment)
{
    const jx_bytecode_extra *extra = w->file->extra;
    int n = extra ? extra->nresources : 0, groups = 0, end;

    for (int i = 0; i < n; i++)
        groups +=
            extra->resources[i].group &&
            (!i || extra->resources[i].group != extra->resources[i - 1].group);
    jx_bw_varint(offsets, (uint64_t)groups);
    for (int i = 0; i < n && extra->resources[i].group; i = end) {
        const char *group = extra->resources[i].group;
        for (end = i; end < n && extra->resources[end].group == group;)
            end++;
        jx_bw_varint(offsets, jx_bw_keep(w, &w->strings, group, strlen(group)));
        jx_bw_varint(offsets, (uint64_t)(end - i));
        for (int k = i; k < end; k++)
            write_resource(w, &extra->resources[k], offsets, data, alignment);
    }
}

static void write_resources(jx_bw *w, jx_buffer *to)
{
    jx_buffer offsets = jx_ctx_text(w->ctx), data = jx_ctx_text(w->ctx);
    uint64_t alignment = 1;

    write_outside(w, &offsets, &data, &alignment);
    for (size_t d = 0; w->resources.count && d < w->dialects.count; d++) {
        if (strcmp(w->dialects.at[d], "builtin") != 0)
            continue;
        jx_bw_varint(&offsets, d);
        jx_bw_varint(&offsets, w->resources.count);
        for (size_t i = 0; i < w->resources.count; i++) {
            const jx_mlir_attr *a = w->resources.at[i];
            const jx_bytecode_resource *known = resource_named(w, a->text);
            jx_bytecode_resource one = {.key = a->text,
                                        .present = a->bytes != NULL,
                                        .alignment = 8,
                                        .bytes = a->bytes,
                                        .size = a->size};
            write_resource(w, known ? known : &one, &offsets, &data,
                           &alignment);
        }
    }
    put_section(to, JX_BC_RESOURCE_OFFSET, &offsets, 1);
    put_section(to, JX_BC_RESOURCE, &data, alignment);
    jx_buffer_free(&offsets);
    jx_buffer_free(&data);
}

static void write_strings(jx_bw *w, jx_buffer *to)
{
    jx_buffer out = jx_ctx_text(w->ctx);

    jx_bw_varint(&out, w->strings.list.count);
    for (size_t i = w->strings.list.count; i-- > 0;)
        jx_bw_varint(&out, w->strings.list.at[i]->size + 1);
    for (size_t i = 0; i < w->strings.list.count; i++) {
        jx_buffer_bytes(&out, w->strings.list.at[i]->bytes,
                        w->strings.list.at[i]->size);
        jx_buffer_putc(&out, 0);
    }
    put_section(to, JX_BC_STRING, &out, 1);
    jx_buffer_free(&out);
}

static void write_props(jx_bw *w, jx_buffer *to)
{
    jx_buffer out = jx_ctx_text(w->ctx);

    jx_bw_varint(&out, w->props.list.count);
    for (size_t i = 0; i < w->props.list.count; i++) {
        jx_bw_varint(&out, w->props.list.at[i]->size);
        jx_buffer_bytes(&out, w->props.list.at[i]->bytes,
                        w->props.list.at[i]->size);
    }
    put_section(to, JX_BC_PROPERTIES, &out, 1);
    jx_buffer_free(&out);
}

/* ---- the file */

static void note_uses(jx_bw *w)
{
    const jx_bytecode_extra *extra = w->file->extra;

    for (int i = 0; extra && i < extra->nuses; i++) {
        jx_bw_slot *slot = jx_bw_put(w, &w->uses, extra->uses[i].owner, NULL);
        if (slot)
            slot->value.pointer = &extra->uses[i];
    }
}

static bool write_file(jx_bw *w, jx_buffer *to)
{
    const char *producer = w->file->producer;

    note_uses(w);
    if (!jx_bw_number(w, w->file->modules[0]))
        return false;
    jx_buffer_puts(to, "ML\xef"
                       "R");
    jx_bw_varint(to, w->version);
    jx_buffer_bytes(to, producer, strlen(producer) + 1);
    write_dialects(w, to);
    write_attrs(w, to);
    if (!write_ir(w, to))
        return jx_bw_ok(w);
    write_resources(w, to);
    write_strings(w, to);
    if (w->version >= JX_BC_HAS_PROPERTIES)
        write_props(w, to);
    return jx_bw_ok(w);
}

/* How what was written differs from the module, when it is read: in the same
 * context, since names are equal as pointers.  A module whose attributes are
 * not in order, which only a changed file has, is written in order. */
static const char *written_fault(jx_ctx *ctx, const jx_mlir_file *file,
                                 const char *bytes, size_t size)
{
    jx_mlir_difference why = {0};
    if (jx_mlir_fault(file->modules[0], true))
        return NULL;
    const jx_mlir_file *back =
        jx_bytecode_read(ctx, file->types, file->path, bytes, size, 0);

    if (!back)
        return ctx->error.kind == JX_E_LIMIT
                   ? NULL
                   : "the module that was written can't be read";
    if (jx_mlir_same(ctx, file->modules[0], back->modules[0], &why) ||
        jx_arena_failed(ctx->arena))
        return NULL;
    return jx_arena_printf(ctx->arena, "the module reads otherwise: %s",
                           why.what);
}

bool jx_bytecode_write(jx_ctx *ctx, const jx_mlir_file *file, jx_buffer *to)
{
    jx_bw w = {.ctx = ctx, .file = file};
    bool done;

    if (file->nmodules != 1 || !file->producer || file->bytecode < 0)
        return jx_fail(ctx, JX_E_INPUT, file->path, NULL,
                       "bytecode: one module at a version of VHLO is "
                       "expected");
    w.arena = jx_arena_new(&ctx->budget);
    if (!w.arena)
        return jx_starved(ctx);
    w.version = (unsigned)file->bytecode;
    jx_intern_init(&w.keys, w.arena);
    jx_intern_init(&w.strings.known, w.arena);
    jx_intern_init(&w.props.known, w.arena);
    size_t before = to->length;
    done = write_file(&w, to) && jx_buffer_ok(to);
    jx_arena_free(w.arena);
    JX_ASSERT_NONE(
        done ? written_fault(ctx, file, to->text + before, to->length - before)
             : NULL);
    if (!done && jx_ok(ctx))
        jx_starved(ctx);
    return done;
}
