/* print_loc.c - locations and their aliases (print_parts.h).
 *
 * Every location that is met gets an alias.  They are numbered by depth (a
 * location is deeper than those it is made of), then in the order of meeting,
 * where a location comes before its parts.  Those that something before the
 * module's end needs at once (arguments of blocks) stand before the module,
 * the others behind it. */
#include "frontend/mlir/print_parts.h"

#include "frontend/base/map.h"
#include "frontend/base/vec.h"

#include <inttypes.h>
#include <string.h>

/* A location, once for all attributes that say the same. */
typedef struct alias {
    const jx_mlir_attr *loc;
    int depth, number;
    bool deferred;
    int nparts;
    struct alias *const *parts; /* those it is made of */
} alias;

typedef struct jx_mlir_locs {
    jx_ctx *ctx;
    jx_map pointers;   /* to aliases, from each attribute that was met */
    jx_intern aliases; /* by what they say */
    JX_VEC(alias *) all;
    alias **sorted;
} jx_mlir_locs;

static const jx_mlir_attr unknown = {.kind = JX_A_LOC_UNKNOWN};

struct jx_mlir_locs *jx_mlir_locs_new(jx_ctx *ctx)
{
    jx_mlir_locs *locs = JX_NEW(ctx->arena, jx_mlir_locs);

    if (!locs)
        return NULL;
    locs->ctx = ctx;
    jx_map_init(&locs->pointers, ctx->arena);
    jx_intern_init(&locs->aliases, ctx->arena);
    return locs;
}

/* Parts have been met before, so equal parts are one pointer. */
static bool same_alias(const void *kept, const void *key)
{
    const alias *a = kept, *b = key;
    const jx_mlir_attr *x = a->loc, *y = b->loc;
    size_t n = (size_t)(x->count < 0 ? 0 : x->count);

    if (x->kind != y->kind || x->text != y->text || a->nparts != b->nparts ||
        (a->nparts &&
         memcmp(a->parts, b->parts, (size_t)a->nparts * sizeof *a->parts) != 0))
        return false;
    if (x->kind == JX_A_LOC_FILE)
        return x->count == y->count && (!n || !memcmp(x->integers, y->integers,
                                                      n * sizeof *x->integers));
    if (!x->extra || !y->extra)
        return x->extra == y->extra;
    return jx_mlir_attr_same(x->extra, y->extra);
}

static uint64_t hash_alias(const alias *a)
{
    uint64_t h = jx_hash_mix(a->loc->kind, (uint64_t)(uintptr_t)a->loc->text);

    if (a->loc->kind == JX_A_LOC_FILE && a->loc->count > 0)
        h = jx_hash_mix(
            h, jx_hash_bytes(a->loc->integers,
                             (size_t)a->loc->count * sizeof *a->loc->integers));
    for (int i = 0; i < a->nparts; i++)
        h = jx_hash_mix(h, (uint64_t)(uintptr_t)a->parts[i]);
    return h;
}

/* ---- meeting them: which locations are the same */

static alias *canonical(jx_mlir_printer *p, const jx_mlir_attr *loc);

static int parts_of(const jx_mlir_attr *loc)
{
    return loc->kind == JX_A_LOC_NAME || loc->kind == JX_A_LOC_CALL ||
                   loc->kind == JX_A_LOC_FUSED
               ? loc->count
               : 0;
}

static alias *make(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    jx_arena *arena = p->ctx->arena;
    alias like = {.loc = loc, .deferred = true, .number = -1}, *made;
    alias **parts = JX_NEW_ARRAY(arena, parts_of(loc), alias *);
    int n = 0;

    if (!parts)
        return NULL;
    for (int i = 0; i < parts_of(loc); i++) {
        /* A name's place that is unknown is not printed. */
        if (loc->kind == JX_A_LOC_NAME &&
            loc->items[i]->kind == JX_A_LOC_UNKNOWN)
            continue;
        parts[n] = canonical(p, loc->items[i]);
        if (!parts[n++])
            return NULL;
    }
    like.parts = parts;
    like.nparts = n;
    uint64_t hash = hash_alias(&like);
    const alias *found =
        jx_intern_find(&p->locs->aliases, hash, &like, same_alias);
    if (found)
        return (alias *)(uintptr_t)found;
    made = jx_arena_copy(arena, &like, sizeof like);
    return made && jx_intern_add(&p->locs->aliases, hash, made) ? made : NULL;
}

static alias *canonical(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    alias *is = (alias *)(uintptr_t)jx_map_get(&p->locs->pointers, loc);

    if (is)
        return is;
    if (!jx_mlir_is_location(loc) || !jx_mlir_enter(p))
        return NULL;
    is = make(p, loc);
    p->depth--;
    return is && jx_map_put(&p->locs->pointers, loc, is) ? is : NULL;
}

/* ---- visiting them in MLIR's order */

static void need_at_once(jx_mlir_printer *p, alias *a)
{
    if (!a->deferred || !jx_mlir_enter(p))
        return;
    a->deferred = false;
    for (int i = 0; i < a->nparts; i++)
        need_at_once(p, a->parts[i]);
    p->depth--;
}

static void visit(jx_mlir_printer *p, alias *a, bool deferrable)
{
    if (a->number >= 0) {
        if (!deferrable)
            need_at_once(p, a);
        return;
    }
    if (!jx_mlir_enter(p))
        return;
    a->number = (int)p->locs->all.count;
    a->deferred = deferrable;
    a->depth = 1;
    JX_PUSH(p->ctx->arena, &p->locs->all, a);
    for (int i = 0; i < a->nparts; i++) {
        visit(p, a->parts[i], deferrable);
        if (a->parts[i]->depth >= a->depth)
            a->depth = a->parts[i]->depth + 1;
    }
    p->depth--;
}

/* By depth, keeping the order of meeting: one pass per depth is too many for
 * deep ones, so count and place. */
void jx_mlir_locs_number(jx_mlir_printer *p)
{
    jx_mlir_locs *locs = p->locs;
    size_t n = locs->all.count;
    int deepest = 0;

    for (size_t i = 0; i < n; i++)
        if (locs->all.at[i]->depth > deepest)
            deepest = locs->all.at[i]->depth;
    size_t *begin = JX_NEW_ARRAY(p->ctx->arena, deepest + 2, size_t);
    locs->sorted = JX_NEW_ARRAY(p->ctx->arena, n, alias *);
    if (!begin || !locs->sorted)
        return;
    for (size_t i = 0; i < n; i++)
        begin[locs->all.at[i]->depth + 1]++;
    for (int d = 1; d < deepest + 2; d++)
        begin[d] += begin[d - 1];
    for (size_t i = 0; i < n; i++) {
        alias *a = locs->all.at[i];
        a->number = (int)begin[a->depth]++;
        locs->sorted[a->number] = a;
    }
}

/* ---- printing */

static void put_alias(jx_mlir_printer *p, const alias *a)
{
    if (a->number)
        jx_buffer_printf(p->to, "#loc%d", a->number);
    else
        jx_buffer_puts(p->to, "#loc");
}

static void put_text(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    jx_mlir_put_string(p, loc->text, strlen(loc->text));
}

/* file:line:column, and where it ends. */
static void put_file(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    const int64_t *at = loc->integers;

    put_text(p, loc);
    jx_buffer_printf(p->to, ":%" PRId64 ":%" PRId64, loc->count > 0 ? at[0] : 0,
                     loc->count > 1 ? at[1] : 0);
    if (loc->count == 3)
        jx_buffer_printf(p->to, " to :%" PRId64, at[2]);
    else if (loc->count == 4 && at[2] == at[0])
        jx_buffer_printf(p->to, " to :%" PRId64, at[3]);
    else if (loc->count == 4)
        jx_buffer_printf(p->to, " to %" PRId64 ":%" PRId64, at[2], at[3]);
}

static void put_body(jx_mlir_printer *p, const jx_mlir_attr *loc);

/* A part: by its alias where there are any. */
static void put_part(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    alias *a = p->locs ? canonical(p, loc) : NULL;

    if (a && a->number >= 0)
        put_alias(p, a);
    else
        put_body(p, loc);
}

static void put_fused(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    jx_buffer_puts(p->to, "fused");
    if (loc->extra) {
        jx_buffer_putc(p->to, '<');
        jx_mlir_put_attr(p, loc->extra, JX_TYPE_ALWAYS);
        jx_buffer_putc(p->to, '>');
    }
    jx_buffer_putc(p->to, '[');
    for (int i = 0; i < loc->count; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        put_part(p, loc->items[i]);
    }
    jx_buffer_putc(p->to, ']');
}

static void put_kind(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    switch (loc->kind) {
    case JX_A_LOC_FILE: put_file(p, loc); break;
    case JX_A_LOC_NAME:
        put_text(p, loc);
        if (loc->count && loc->items[0]->kind != JX_A_LOC_UNKNOWN) {
            jx_buffer_putc(p->to, '(');
            put_part(p, loc->items[0]);
            jx_buffer_putc(p->to, ')');
        }
        break;
    case JX_A_LOC_CALL:
        jx_buffer_puts(p->to, "callsite(");
        put_part(p, loc->items[0]);
        jx_buffer_puts(p->to, " at ");
        put_part(p, loc->items[1]);
        jx_buffer_putc(p->to, ')');
        break;
    case JX_A_LOC_FUSED: put_fused(p, loc); break;
    default: jx_buffer_puts(p->to, "unknown"); break;
    }
}

static void put_body(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    if (!jx_mlir_enter(p))
        return;
    put_kind(p, loc);
    p->depth--;
}

void jx_mlir_put_loc_attr(jx_mlir_printer *p, const jx_mlir_attr *loc)
{
    jx_buffer_puts(p->to, "loc(");
    put_body(p, loc);
    jx_buffer_putc(p->to, ')');
}

void jx_mlir_put_loc(jx_mlir_printer *p, const jx_mlir_attr *loc,
                     jx_mlir_alias_use use, bool deferrable)
{
    if (!p->locs)
        return;
    if (!loc)
        loc = &unknown;
    if (p->collecting) {
        alias *a = canonical(p, loc);
        if (a)
            visit(p, a, deferrable);
        return;
    }
    jx_buffer_puts(p->to, " loc(");
    if (use == JX_LOC_ALIASED)
        put_part(p, loc);
    else
        put_body(p, loc);
    jx_buffer_putc(p->to, ')');
}

void jx_mlir_put_aliases(jx_mlir_printer *p, bool deferred)
{
    for (size_t i = 0; i < p->locs->all.count; i++) {
        const alias *a = p->locs->sorted[i];
        if (a->deferred != deferred)
            continue;
        put_alias(p, a);
        jx_buffer_puts(p->to, " = loc(");
        put_body(p, a->loc);
        jx_buffer_puts(p->to, ")\n");
    }
}
