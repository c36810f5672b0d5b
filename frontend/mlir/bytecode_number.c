/* bytecode_number.c - numbers for everything that bytecode refers to.
 *
 * As MLIR's writer does it: each attribute, type and name gets a place when it
 * is met first (itself before its parts) and a count of how often it is met.
 * The most used come first; among those whose numbers take as many bytes, the
 * ones of one dialect stand together. */
#include "frontend/mlir/bytecode_write_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- items */

static uint32_t dialect_index(jx_bw *w, const char *name, size_t length)
{
    const char *kept;

    for (size_t i = 0; i < w->dialects.count; i++)
        if (jx_mlir_is_name(w->dialects.at[i], name, length))
            return (uint32_t)i;
    kept = jx_arena_string(w->arena, name, length);
    if (kept)
        JX_PUSH(w->arena, &w->dialects, kept);
    return (uint32_t)w->dialects.count - 1;
}

static const char *dialect_of_attr(const jx_mlir_attr *a, size_t *length)
{
    const char *name = a->vhlo                             ? "vhlo"
                       : a->kind == JX_A_RECORD            ? a->name
                       : a->kind == JX_A_ENUM              ? a->name
                       : a->kind == JX_A_OPAQUE && a->name ? a->name
                                                           : "builtin";

    *length = strcspn(name, ".");
    return name;
}

static const char *dialect_of_type(const jx_mlir_type *t, size_t *length)
{
    const char *name = t->vhlo                 ? "vhlo"
                       : t->kind == JX_T_TOKEN ? "stablehlo"
                                               : "builtin";

    *length = strlen(name);
    if (t->kind == JX_T_OPAQUE && t->text[0] == '!') {
        name = t->text + 1;
        *length = strcspn(name, ".<");
    }
    return name;
}

static jx_bw_item *new_item(jx_bw *w)
{
    jx_bw_item *item = JX_NEW(w->arena, jx_bw_item);

    if (item)
        item->id = w->next_id++;
    return item;
}

static bool same_key(const void *kept, const void *key)
{
    const jx_bw_item *a = kept, *b = key;

    return a->key_size == b->key_size &&
           memcmp(a->key, b->key, a->key_size) == 0;
}

/* Two attributes are one when they encode alike, given that their parts are
 * the same. */
static jx_bw_item *by_key(jx_bw *w, const jx_mlir_attr *attr,
                          const jx_buffer *bytes)
{
    jx_bw_item like = {.key = bytes->text, .key_size = bytes->length};
    uint64_t hash = jx_hash_bytes(bytes->text, bytes->length);
    jx_bw_item *item = (jx_bw_item *)(uintptr_t)jx_intern_find(&w->keys, hash,
                                                               &like, same_key);

    if (item)
        return item;
    item = new_item(w);
    if (!item)
        return NULL;
    item->attr = attr;
    item->key = jx_arena_copy(w->arena, bytes->text, bytes->length);
    item->key_size = bytes->length;
    return item->key && jx_intern_add(&w->keys, hash, item) ? item : NULL;
}

static uint64_t attr_id(jx_bw *w, const jx_mlir_attr *attr)
{
    const jx_bw_item *item = jx_bw_attr_item(w, attr);

    return item ? item->id : 0;
}

static uint64_t type_id(jx_bw *w, const jx_mlir_type *type)
{
    const jx_bw_item *item = jx_bw_type_item(w, type);

    return item ? item->id : 0;
}

static const jx_bw_parts by_id = {attr_id, type_id};

jx_bw_item *jx_bw_attr_item(jx_bw *w, const jx_mlir_attr *attr)
{
    jx_bw_slot *slot = jx_bw_find(&w->attr_map, attr, NULL);
    jx_buffer bytes = jx_ctx_text(w->ctx);
    jx_bw_sink sink = {w, JX_BW_KEY, &by_id, &bytes};
    jx_bw_item *item = NULL;
    size_t length;
    const char *dialect = dialect_of_attr(attr, &length);

    if (slot)
        return (jx_bw_item *)(uintptr_t)slot->value.pointer;
    if (w->failed)
        return NULL;
    if (++w->depth > JX_BYTECODE_DEPTH) {
        jx_bw_fail(w, "attributes nest deeper than %d", JX_BYTECODE_DEPTH);
        return NULL;
    }
    jx_buffer_bytes(&bytes, dialect, length);
    jx_buffer_putc(&bytes, attr->kind == JX_A_OPAQUE ? '\1' : '\0');
    jx_bw_encode_attr(&sink, attr);
    w->depth--;
    w->failed |= !jx_buffer_ok(&bytes);
    if (!w->failed)
        item = by_key(w, attr, &bytes);
    jx_buffer_free(&bytes);
    slot = item ? jx_bw_put(w, &w->attr_map, attr, NULL) : NULL;
    if (slot)
        slot->value.pointer = item;
    return item;
}

/* The item of a pointer that stands for itself, a new one at first. */
static jx_bw_item *by_pointer(jx_bw *w, jx_bw_map *map, const void *key)
{
    jx_bw_slot *slot = jx_bw_put(w, map, key, NULL);

    if (slot && !slot->value.pointer)
        slot->value.pointer = new_item(w);
    return slot ? (jx_bw_item *)(uintptr_t)slot->value.pointer : NULL;
}

jx_bw_item *jx_bw_type_item(jx_bw *w, const jx_mlir_type *type)
{
    jx_bw_item *item = by_pointer(w, &w->type_map, type);

    if (item)
        item->type = type;
    return item;
}

jx_bw_item *jx_bw_name_item(jx_bw *w, const char *name)
{
    jx_bw_item *item = by_pointer(w, &w->name_map, name);

    if (item)
        item->name = name;
    return item;
}

/* ---- counting */

/* Counts a reference; true for the first one. */
static bool first_time(jx_bw *w, jx_bw_items *in, jx_bw_item *item)
{
    if (!item)
        return false;
    item->refs++;
    if (item->numbered)
        return false;
    item->numbered = true;
    JX_PUSH(w->arena, in, item);
    return true;
}

static uint64_t count_attr(jx_bw *w, const jx_mlir_attr *attr);
static uint64_t count_type(jx_bw *w, const jx_mlir_type *type);

static const jx_bw_parts counted = {count_attr, count_type};

static void number_attr(jx_bw *w, const jx_mlir_attr *attr)
{
    jx_bw_item *item = jx_bw_attr_item(w, attr);
    jx_bw_sink sink = {w, JX_BW_NUMBER, &counted, NULL};
    size_t length;

    if (!first_time(w, &w->attrs, item))
        return;
    const char *dialect = dialect_of_attr(attr, &length);
    item->dialect = dialect_index(w, dialect, length);
    jx_bw_encode_attr(&sink, attr);
}

static void number_type(jx_bw *w, const jx_mlir_type *type)
{
    jx_bw_item *item = jx_bw_type_item(w, type);
    jx_bw_sink sink = {w, JX_BW_NUMBER, &counted, NULL};
    size_t length;

    if (!first_time(w, &w->types, item))
        return;
    const char *dialect = dialect_of_type(type, &length);
    item->dialect = dialect_index(w, dialect, length);
    jx_bw_encode_type(&sink, type);
}

static uint64_t count_attr(jx_bw *w, const jx_mlir_attr *attr)
{
    number_attr(w, attr);
    return 0;
}

static uint64_t count_type(jx_bw *w, const jx_mlir_type *type)
{
    number_type(w, type);
    return 0;
}

static void number_name(jx_bw *w, const char *name)
{
    jx_bw_item *item = jx_bw_name_item(w, name);

    if (first_time(w, &w->names, item))
        item->dialect = dialect_index(w, name, strcspn(name, "."));
}

/* Gives a value the next number, plus 1 (see jx_bw). */
static void number_value(jx_bw *w, jx_bw_map *in, const jx_mlir_value *value,
                         uint64_t *next)
{
    jx_bw_slot *slot = jx_bw_put(w, in, value, NULL);

    if (slot)
        slot->value.number = ++*next;
}

static void number_op(jx_bw *w, const jx_mlir_op *op, uint64_t *next)
{
    jx_bw_sink sink = {w, JX_BW_NUMBER, &counted, NULL};
    const jx_mlir_attr *dict = jx_bw_dictionary(w, op);

    number_name(w, op->name);
    for (int i = 0; i < op->nouts; i++) {
        number_value(w, &w->values, op->outs[i], next);
        number_type(w, op->outs[i]->type);
    }
    if (dict)
        number_attr(w, dict);
    if (jx_bw_has_props(w, op))
        jx_bw_encode_props(&sink, op);
    number_attr(w, op->loc);
}

static void number_block(jx_bw *w, const jx_mlir_block *block, uint64_t *next)
{
    for (int i = 0; i < block->nargs; i++) {
        const jx_mlir_attr *loc = jx_bw_location(w, block->args[i]);
        number_value(w, &w->values, block->args[i], next);
        if (loc)
            number_attr(w, loc);
        number_type(w, block->args[i]->type);
    }
    for (int i = 0; i < block->nops; i++)
        number_op(w, block->ops[i], next);
}

/* ---- which ops are isolated */

typedef struct reach {
    uint64_t least, most; /* places of the values that are used */
} reach;

static void place_region(jx_bw *w, const jx_mlir_region *region, uint64_t *next)
{
    for (int b = 0; b < region->nblocks; b++) {
        const jx_mlir_block *block = region->blocks[b];
        for (int i = 0; i < block->nargs; i++)
            number_value(w, &w->places, block->args[i], next);
        for (int i = 0; i < block->nops; i++) {
            const jx_mlir_op *op = block->ops[i];
            for (int k = 0; k < op->nouts; k++)
                number_value(w, &w->places, op->outs[k], next);
            for (int k = 0; k < op->nregions; k++)
                place_region(w, &op->regions[k], next);
        }
    }
}

static reach isolate(jx_bw *w, const jx_mlir_op *op, uint64_t *next)
{
    reach inside = {UINT64_MAX, 0};
    uint64_t from = *next;

    for (int r = 0; r < op->nregions; r++)
        for (int b = 0; b < op->regions[r].nblocks; b++) {
            const jx_mlir_block *block = op->regions[r].blocks[b];
            *next += (uint64_t)block->nargs;
            for (int i = 0; i < block->nops; i++) {
                *next += (uint64_t)block->ops[i]->nouts;
                reach one = isolate(w, block->ops[i], next);
                inside.least =
                    one.least < inside.least ? one.least : inside.least;
                inside.most = one.most > inside.most ? one.most : inside.most;
            }
        }
    bool may = !w->file->extra || !w->file->extra->few_isolated ||
               op->id == JX_OP_builtin_module;
    if (op->nregions && may &&
        (inside.least > from || inside.least == UINT64_MAX) &&
        inside.most <= *next)
        jx_bw_put(w, &w->isolated, op, NULL);
    for (int i = 0; i < op->nins; i++) {
        jx_bw_slot *slot = jx_bw_find(&w->places, op->ins[i], NULL);
        uint64_t at = slot ? slot->value.number : 0;
        inside.least = at < inside.least ? at : inside.least;
        inside.most = at > inside.most ? at : inside.most;
    }
    return inside;
}

/* ---- regions, the last one that was met first */

typedef struct waiting {
    const jx_mlir_region *region;
    uint64_t next;
} waiting;

typedef JX_VEC(waiting) waiting_list;

static void add_regions(jx_bw *w, waiting_list *to, const jx_mlir_op *op,
                        uint64_t next)
{
    if (jx_bw_find(&w->isolated, op, NULL))
        next = 0;
    for (int i = 0; i < op->nregions; i++)
        JX_PUSH(w->arena, to, (waiting){&op->regions[i], next});
}

static void number_region(jx_bw *w, const jx_mlir_region *region,
                          uint64_t *next)
{
    uint64_t from = *next;
    jx_bw_slot *slot;

    for (int i = 0; i < region->nblocks; i++) {
        slot = jx_bw_put(w, &w->values, region->blocks[i], NULL);
        if (slot)
            slot->value.number = (uint64_t)i + 1;
        number_block(w, region->blocks[i], next);
    }
    slot = jx_bw_put(w, &w->nvalues, region, NULL);
    if (slot)
        slot->value.number = *next - from;
}

/* ---- order */

/* Stable: what is equal stays in the order in which it was met. */
static void sort(jx_bw *w, jx_bw_item **items, size_t count,
                 bool (*before)(const jx_bw_item *, const jx_bw_item *,
                                uint32_t),
                 uint32_t first)
{
    jx_bw_item **other = JX_NEW_ARRAY(w->arena, count, jx_bw_item *);

    for (size_t width = 1; other && width < count; width *= 2) {
        for (size_t lo = 0; lo < count; lo += 2 * width) {
            size_t mid = lo + width < count ? lo + width : count;
            size_t hi = lo + 2 * width < count ? lo + 2 * width : count;
            size_t a = lo, b = mid;
            for (size_t k = lo; k < hi; k++)
                other[k] =
                    a < mid && (b >= hi || !before(items[b], items[a], first))
                        ? items[a++]
                        : items[b++];
        }
        memcpy(items, other, count * sizeof *items);
    }
}

static bool more_used(const jx_bw_item *a, const jx_bw_item *b, uint32_t first)
{
    (void)first;
    return a->refs > b->refs;
}

static bool dialect_before(const jx_bw_item *a, const jx_bw_item *b,
                           uint32_t first)
{
    if (a->dialect == first)
        return b->dialect != first;
    if (b->dialect == first)
        return false;
    return a->dialect < b->dialect;
}

static void order(jx_bw *w, jx_bw_items *items)
{
    size_t done = 0, group = 0;
    uint32_t first = 0;

    sort(w, items->at, items->count, more_used, 0);
    for (unsigned bytes = 1; bytes < 9 && done < items->count; bytes++) {
        size_t left = items->count - done;
        group = ((size_t)1 << (7 * bytes)) - group;
        if (group > left)
            group = left;
        sort(w, items->at + done, group, dialect_before, first);
        done += group;
        first = items->at[done - 1]->dialect;
        group = ((size_t)1 << (7 * bytes)) -
                (bytes > 1 ? ((size_t)1 << (7 * (bytes - 1))) : 0);
    }
    for (size_t i = 0; i < items->count; i++)
        items->at[i]->number = i;
}

bool jx_bw_number(jx_bw *w, const jx_mlir_op *root)
{
    waiting_list list = {0};
    uint64_t next = 0;

    for (int i = 0; i < root->nregions; i++)
        place_region(w, &root->regions[i], &next);
    next = 0;
    isolate(w, root, &next);
    next = 0;
    number_op(w, root, &next);
    add_regions(w, &list, root, next);
    while (list.count && jx_bw_ok(w)) {
        waiting one = list.at[--list.count];
        next = one.next;
        number_region(w, one.region, &next);
        for (int b = 0; b < one.region->nblocks; b++)
            for (int i = 0; i < one.region->blocks[b]->nops; i++)
                add_regions(w, &list, one.region->blocks[b]->ops[i], next);
    }
    if (!jx_bw_ok(w))
        return false;
    order(w, &w->attrs);
    order(w, &w->names);
    order(w, &w->types);
    return jx_bw_ok(w);
}
