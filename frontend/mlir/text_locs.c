/* text_locs.c - locations, aliases and resources of MLIR text. */
#include "frontend/mlir/text_parts.h"

#include <ctype.h>
#include <string.h>

/* ---- aliases */

static jx_malias *alias_named(jx_mtext *t, jx_map *table, jx_piece name)
{
    const char *text = jx_mtext_intern(t, name);
    jx_malias *alias = (jx_malias *)(uintptr_t)jx_map_get(table, text);

    if (alias || t->failed)
        return alias;
    alias = JX_NEW(t->arena, jx_malias);
    if (!alias || !jx_map_put(table, text, alias)) {
        t->failed = true;
        return NULL;
    }
    alias->name = text;
    return alias;
}

/* A use of what `alias` stands for, as deep and as much as that is. */
static bool count_use(jx_mtext *t, const char *at, const jx_malias *alias)
{
    int height = t->nest + alias->height;
    size_t most = JX_MTEXT_WEIGHT + 16 * (size_t)(t->end - t->begin);

    t->weight += alias->weight;
    if (height > t->height)
        t->height = height;
    if (height > JX_MTEXT_NEST)
        return jx_mtext_fail(t, at,
                             "with its aliases this nests more than %d deep",
                             JX_MTEXT_NEST);
    if (t->weight > most)
        return jx_mtext_fail(t, at,
                             "the aliases stand for too much: more "
                             "than %zu parts",
                             most);
    return true;
}

const jx_mlir_type *jx_mtext_alias_type(jx_mtext *t, jx_piece name)
{
    const char *at = name.at - 1;
    jx_malias *alias = alias_named(t, &t->type_aliases, name);

    if (!alias)
        return NULL;
    if (!alias->type) {
        jx_mtext_fail(t, at, "the alias !%.64s is not defined", alias->name);
        return NULL;
    }
    return count_use(t, at, alias) ? alias->type : NULL;
}

static const jx_mlir_attr *use_alias(jx_mtext *t, const char *at,
                                     jx_malias *alias)
{
    if (!alias->defined) {
        jx_mtext_fail(t, at, "the alias #%.64s is not defined", alias->name);
        return NULL;
    }
    return count_use(t, at, alias) ? alias->attr : NULL;
}

static bool is_location(const jx_mlir_attr *attr)
{
    return jx_mlir_is_location(attr) || attr->kind == JX_A_LOC_ALIAS;
}

static void define_attr(jx_mtext *t, jx_malias *alias)
{
    jx_piece found = {t->at, 0};
    const jx_mlir_attr *attr = jx_mtext_attr(t);

    if (!attr)
        return;
    if (alias->attr && !is_location(attr))
        jx_mtext_fail(t, alias->first, "#%.64s is no location, line %d says",
                      alias->name, jx_mtext_place(t, found.at).line);
    else if (alias->attr)
        *alias->attr = *attr;
    else
        alias->attr = (jx_mlir_attr *)(uintptr_t)attr;
    alias->defined = true;
}

bool jx_mtext_alias_def(jx_mtext *t)
{
    const char *from = t->at;
    bool type = *t->at++ == '!';
    jx_piece name = jx_mtext_suffix(t);
    jx_malias *alias = NULL;

    if (!name.length)
        return jx_mtext_wants(t, "the name of an alias");
    if (memchr(name.at, '.', name.length))
        return jx_mtext_fail(t, from, "an alias can't have '.' in its name");
    alias = alias_named(t, type ? &t->type_aliases : &t->attr_aliases, name);
    if (!alias)
        return false;
    if (type ? alias->type != NULL : alias->defined)
        return jx_mtext_fail(t, from, "this alias is defined twice");
    if (!jx_mtext_expect(t, "="))
        return false;
    size_t weight = t->weight;
    t->height = t->nest;
    t->defining = true;
    if (type)
        alias->type = jx_mtext_type(t);
    else
        define_attr(t, alias);
    t->defining = false;
    alias->height = t->height - t->nest;
    alias->weight = t->weight - weight;
    if (alias->weight > JX_MTEXT_WEIGHT)
        return jx_mtext_fail(t, from,
                             "this alias stands for too much: more "
                             "than %d parts",
                             JX_MTEXT_WEIGHT);
    return !t->failed;
}

void jx_mtext_forget_aliases(jx_mtext *t)
{
    jx_map_init(&t->attr_aliases, t->arena);
    jx_map_init(&t->type_aliases, t->arena);
}

/* ---- locations */

static jx_mlir_attr *new_loc(jx_mtext *t, jx_mlir_attr_kind kind, int count)
{
    jx_mlir_attr *loc = jx_mtext_new(t, kind);

    if (loc && count) {
        loc->items = JX_NEW_ARRAY(t->arena, count, const jx_mlir_attr *);
        loc->count = count;
        if (!loc->items)
            t->failed = true;
    }
    return t->failed ? NULL : loc;
}

static void set_item(jx_mlir_attr *loc, int i, const jx_mlir_attr *item)
{
    ((const jx_mlir_attr **)(uintptr_t)loc->items)[i] = item;
}

static const jx_mlir_attr *location(jx_mtext *t);

/* `:12:3 to 12:8` or `to :8`, behind the name of a file. */
static const jx_mlir_attr *file_loc(jx_mtext *t, const char *file)
{
    jx_mlir_attr *loc = new_loc(t, JX_A_LOC_FILE, 0);
    int64_t numbers[4];
    int count = 0;

    do
        jx_mtext_integer(t, &numbers[count++]);
    while (!t->failed && count < 2 && jx_mtext_take(t, ":"));
    if (count == 2 && jx_mtext_take(t, "to")) {
        numbers[count] = numbers[0];
        if (!jx_mtext_comes(t, ":"))
            jx_mtext_integer(t, &numbers[count]);
        count++;
        if (jx_mtext_expect(t, ":"))
            jx_mtext_integer(t, &numbers[count++]);
    }
    if (t->failed)
        return NULL;
    loc->text = file;
    loc->count = jx_mlir_place_numbers(count, numbers);
    loc->integers =
        jx_arena_copy(t->arena, numbers, (size_t)count * sizeof *numbers);
    return loc->integers ? loc : NULL;
}

static const jx_mlir_attr *named_loc(jx_mtext *t)
{
    jx_piece text;
    const char *at = t->at;
    jx_mlir_attr *loc;

    if (!jx_mtext_string(t, &text) || !jx_mtext_is_name(t, at, text))
        return NULL;
    const char *name = jx_mtext_intern(t, text);
    if (jx_mtext_take(t, ":"))
        return file_loc(t, name);
    bool child = jx_mtext_take(t, "(");
    loc = new_loc(t, JX_A_LOC_NAME, child);
    if (!loc)
        return NULL;
    loc->text = name;
    if (child) {
        set_item(loc, 0, location(t));
        jx_mtext_expect(t, ")");
    }
    return loc;
}

static const jx_mlir_attr *call_loc(jx_mtext *t)
{
    jx_mlir_attr *loc = new_loc(t, JX_A_LOC_CALL, 2);

    if (!loc || !jx_mtext_expect(t, "("))
        return NULL;
    set_item(loc, 0, location(t));
    if (jx_mtext_expect(t, "at"))
        set_item(loc, 1, location(t));
    jx_mtext_expect(t, ")");
    return loc;
}

static const jx_mlir_attr *fused_loc(jx_mtext *t)
{
    jx_mlir_attr *loc = new_loc(t, JX_A_LOC_FUSED, 0);
    size_t from = t->items.count;

    if (loc && jx_mtext_take(t, "<")) {
        loc->extra = jx_mtext_attr(t);
        jx_mtext_expect(t, ">");
    }
    if (!jx_mtext_expect(t, "["))
        return NULL;
    if (!jx_mtext_take(t, "]")) {
        do {
            const jx_mlir_attr *item = location(t);
            if (item)
                JX_PUSH(t->arena, &t->items, item);
        } while (!t->failed && jx_mtext_take(t, ","));
        jx_mtext_expect(t, "]");
    }
    loc->count = (int)(t->items.count - from);
    loc->items = JX_MTEXT_CUT(t, &t->items, from);
    return loc;
}

static jx_malias *alias_of(jx_mtext *t)
{
    t->at++;
    jx_piece name = jx_mtext_suffix(t);
    if (!name.length) {
        jx_mtext_wants(t, "the name of an alias after '#'");
        return NULL;
    }
    return alias_named(t, &t->attr_aliases, name);
}

static const jx_mlir_attr *alias_loc(jx_mtext *t)
{
    const char *at = t->at;
    jx_malias *alias = alias_of(t);
    const jx_mlir_attr *attr = alias ? use_alias(t, at, alias) : NULL;

    if (attr && !is_location(attr)) {
        jx_mtext_fail(t, at, "expected a location, #%.64s is none",
                      alias->name);
        return NULL;
    }
    return attr;
}

static const jx_mlir_attr *any_loc(jx_mtext *t)
{
    char c = jx_mtext_space(t);
    const char *from = t->at;

    if (c == '"')
        return named_loc(t);
    if (c == '#')
        return alias_loc(t);
    jx_piece word = jx_mtext_word(t, false);
    if (jx_mtext_is(word, "callsite"))
        return call_loc(t);
    if (jx_mtext_is(word, "unknown"))
        return t->unknown;
    if (jx_mtext_is(word, "fused"))
        return fused_loc(t);
    t->at = from;
    jx_mtext_wants(t, "a location: \"file\":line:column, \"name\", "
                      "callsite(...), fused[...] or unknown");
    return NULL;
}

static const jx_mlir_attr *location(jx_mtext *t)
{
    const jx_mlir_attr *loc;

    if (!jx_mtext_enter(t))
        return NULL;
    loc = any_loc(t);
    jx_mtext_leave(t);
    if (!loc)
        t->failed = true;
    return t->failed ? NULL : loc;
}

/* An alias that may be defined later; what refers to it is filled in then. */
static const jx_mlir_attr *later_loc(jx_mtext *t)
{
    const char *at = t->at;
    jx_malias *alias = alias_of(t);

    if (!alias)
        return NULL;
    if (alias->defined && !is_location(alias->attr)) {
        jx_mtext_fail(t, at, "expected a location, #%.64s is none",
                      alias->name);
        return NULL;
    }
    if (!alias->attr) {
        alias->attr = jx_mtext_new(t, JX_A_LOC_ALIAS);
        alias->first = at;
        JX_PUSH(t->arena, &t->pending, alias);
    }
    return alias->attr;
}

const jx_mlir_attr *jx_mtext_loc(jx_mtext *t)
{
    const jx_mlir_attr *loc;

    if (jx_mtext_space(t) != 'l' || !jx_mtext_take(t, "loc"))
        return NULL;
    if (!jx_mtext_expect(t, "("))
        return NULL;
    if (jx_mtext_space(t) == '#' && !t->defining)
        loc = later_loc(t);
    else
        loc = location(t);
    return jx_mtext_expect(t, ")") ? loc : NULL;
}

bool jx_mtext_resolve_locs(jx_mtext *t)
{
    for (size_t i = 0; i < t->pending.count; i++)
        if (!t->pending.at[i]->defined)
            return jx_mtext_fail(t, t->pending.at[i]->first,
                                 "the location #%.64s is not defined anywhere",
                                 t->pending.at[i]->name);
    t->pending.count = 0;
    return !t->failed;
}

/* ---- attributes that begin with `#` */

const jx_mlir_attr *jx_mtext_alias_attr(jx_mtext *t, jx_piece name)
{
    jx_malias *alias = alias_named(t, &t->attr_aliases, name);

    return alias ? use_alias(t, name.at - 1, alias) : NULL;
}

/* ---- resources */

typedef struct blob {
    const unsigned char *bytes;
    size_t size;
} blob;

/* `"0x..."`: four bytes of alignment, then the data. */
static void keep_blob(jx_mtext *t, jx_map *blobs, const char *name,
                      const char *at, jx_piece string)
{
    enum { HEAD = 4 };
    blob *kept = JX_NEW(t->arena, blob);

    if (string.length < 2 || memcmp(string.at, "0x", 2) != 0)
        return;
    string = (jx_piece){string.at + 2, string.length - 2};
    unsigned char *bytes = jx_mtext_hex(t, string, at + 3);
    if (!bytes || !kept)
        return;
    if (string.length / 2 < HEAD) {
        jx_mtext_fail(t, at,
                      "expected four bytes of alignment before the data");
        return;
    }
    *kept = (blob){bytes + HEAD, string.length / 2 - HEAD};
    if (!jx_map_has(blobs, name) && !jx_map_put(blobs, name, kept))
        t->failed = true;
}

/* `{key: value, ...}`, `level` deep. */
static void resource_group(jx_mtext *t, jx_map *blobs, int level)
{
    enum { MOST = 8 };
    jx_piece name;

    if (level > MOST) {
        jx_mtext_fail(t, t->at, "expected no more braces here");
        return;
    }
    do {
        if (jx_mtext_comes(t, "}") || jx_mtext_comes(t, "#-}"))
            break;
        if (!jx_mtext_string(t, &name))
            name = jx_mtext_word(t, true);
        if (!name.length) {
            jx_mtext_wants(t, "the name of a resource");
            return;
        }
        const char *key = jx_mtext_intern(t, name);
        jx_piece value;
        if (!jx_mtext_expect(t, ":"))
            return;
        char c = jx_mtext_space(t);
        const char *at = t->at;
        if (c == '{') {
            t->at++;
            resource_group(t, blobs, level + 1);
            jx_mtext_expect(t, "}");
        } else if (c == '"') {
            if (jx_mtext_string(t, &value))
                keep_blob(t, blobs, key, at, value);
        } else {
            jx_mtext_attr(t);
        }
    } while (!t->failed && jx_mtext_take(t, ","));
}

bool jx_mtext_resources(jx_mtext *t)
{
    jx_map blobs; /* by name */

    jx_map_init(&blobs, t->arena);
    if (!jx_mtext_expect(t, "{-#"))
        return false;
    resource_group(t, &blobs, 0);
    jx_mtext_expect(t, "#-}");
    for (size_t i = 0; !t->failed && i < t->blobs.count; i++) {
        const jx_mblob *b = &t->blobs.at[i];
        const blob *found = jx_map_get(&blobs, b->name);
        if (found) {
            b->attr->bytes = found->bytes;
            b->attr->size = found->size;
        }
    }
    return !t->failed;
}
