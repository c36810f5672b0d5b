/* aval.c - see aval.h. */
#include "frontend/ir/aval.h"

#include "frontend/base/utf8.h"

#include "frontend/ir/value.h"

#include <string.h>

void jx_avals_init(jx_avals *in, jx_ctx *ctx)
{
    in->ctx = ctx;
    jx_intern_init(&in->table, ctx->arena);
}

static uint64_t mix_pointer(uint64_t hash, const void *pointer)
{
    return jx_hash_mix(hash, (uint64_t)(uintptr_t)pointer);
}

static uint64_t mix_names(uint64_t hash, const jx_names *names)
{
    hash = jx_hash_mix(hash, (uint64_t)names->count);
    for (int i = 0; i < names->count; i++)
        hash = mix_pointer(hash, names->at[i]);
    return hash;
}

static uint64_t hash_aval(const jx_aval *a)
{
    uint64_t h =
        jx_hash_mix((uint64_t)a->kind * 2 + a->weak, (uint64_t)a->dtype);

    h = jx_hash_mix(h, (uint64_t)a->rank);
    for (int i = 0; i < a->rank; i++)
        h = mix_pointer(h, a->shape[i]);
    h = mix_names(mix_names(mix_names(h, &a->varying), &a->unreduced),
                  &a->reduced);
    h = jx_hash_mix(mix_pointer(h, a->impl), (uint64_t)a->mesh);
    h = mix_pointer(mix_pointer(h, a->spec), a->memory_space);
    h = mix_pointer(h, a->unreduced_kind);
    return mix_pointer(mix_pointer(h, a->label), a->of);
}

static bool same_names(const jx_names *a, const jx_names *b)
{
    return a->count == b->count &&
           (!a->count ||
            !memcmp(a->at, b->at, (size_t)a->count * sizeof *a->at));
}

static bool same_aval(const void *kept, const void *key)
{
    const jx_aval *a = kept, *b = key;

    return a->kind == b->kind && a->dtype == b->dtype && a->weak == b->weak &&
           a->rank == b->rank &&
           (!a->rank ||
            !memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape)) &&
           a->impl == b->impl && same_names(&a->varying, &b->varying) &&
           same_names(&a->unreduced, &b->unreduced) &&
           same_names(&a->reduced, &b->reduced) && a->mesh == b->mesh &&
           a->spec == b->spec && a->memory_space == b->memory_space &&
           a->unreduced_kind == b->unreduced_kind && a->label == b->label &&
           a->of == b->of;
}

static bool copy_names(jx_arena *arena, jx_names *names)
{
    names->at = jx_arena_copy(arena, names->at,
                              (size_t)names->count * sizeof *names->at);
    return names->at != NULL;
}

const jx_aval *jx_aval_add(jx_avals *in, const jx_aval *like)
{
    jx_arena *arena = in->ctx->arena;
    uint64_t hash = hash_aval(like);
    const jx_aval *found = jx_intern_find(&in->table, hash, like, same_aval);

    if (found)
        return found;
    jx_aval *aval = jx_arena_copy(arena, like, sizeof *like);
    if (!aval)
        return NULL;
    aval->shape = jx_arena_copy(arena, like->shape,
                                (size_t)like->rank * sizeof *like->shape);
    if (!aval->shape || !copy_names(arena, &aval->varying) ||
        !copy_names(arena, &aval->unreduced) ||
        !copy_names(arena, &aval->reduced))
        return NULL;
    return jx_intern_add(&in->table, hash, aval) ? aval : NULL;
}

bool jx_avals_hold(const jx_avals *in, const jx_aval *aval)
{
    return jx_intern_find(&in->table, hash_aval(aval), aval, same_aval) == aval;
}

const jx_aval *jx_aval_array(jx_avals *in, jx_dtype dtype, bool weak, int rank,
                             const jx_dim *const *shape)
{
    jx_aval like = {.dtype = dtype, .weak = weak, .rank = rank, .shape = shape};

    return jx_aval_add(in, &like);
}

const jx_aval *jx_aval_stack(jx_avals *in, const jx_aval *aval,
                             const jx_dim *size)
{
    const jx_dim **shape =
        aval ? JX_NEW_ARRAY(in->ctx->arena, aval->rank + 1, const jx_dim *)
             : NULL;
    jx_aval stacked;

    if (!shape || !size)
        return NULL;
    stacked = *aval;
    shape[0] = size;
    for (int i = 0; i < aval->rank; i++)
        if (!(shape[i + 1] = aval->shape[i]))
            return NULL;
    stacked.rank++;
    stacked.shape = shape;
    stacked.spec = NULL;
    return jx_aval_add(in, &stacked);
}

/* One entry of a partition spec after a dim, `@x` or `@(x,y)`. */
static void print_entry(const jx_value *entry, jx_buffer *to)
{
    if (entry->tag == JX_V_TEXT) {
        jx_utf8_printf(to, "@%s", entry->text);
    } else if (entry->tag == JX_V_TUPLE) {
        jx_buffer_puts(to, "@(");
        for (int i = 0; i < entry->count; i++)
            jx_buffer_printf(to, "%s%s", i ? "," : "",
                             entry->items[i]->tag == JX_V_TEXT
                                 ? entry->items[i]->text
                                 : "?");
        jx_buffer_putc(to, ')');
    }
}

static void print_array(const jx_aval *aval, jx_buffer *to)
{
    jx_buffer_puts(to, jx_dtype_of(aval->dtype)->short_name);
    if (aval->impl)
        jx_buffer_printf(to, "<%s>", aval->impl);
    if (aval->memory_space)
        jx_buffer_printf(to, "<%s>", aval->memory_space);
    jx_buffer_putc(to, '[');
    for (int i = 0; i < aval->rank; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_dim_print(aval->shape[i], to);
        if (aval->spec && i < aval->spec->count)
            print_entry(aval->spec->items[i], to);
    }
    jx_buffer_putc(to, ']');
}

/* In the document the axes are sorted; JAX prints them in the mesh's order,
 * which the caller knows if it has the mesh's axes. */
static void print_axes(const char *mark, const jx_names *names,
                       const jx_names *order, bool *any, jx_buffer *to)
{
    if (!names->count)
        return;
    jx_buffer_printf(to, "%s%s:%s", *any ? ", " : "{", mark,
                     names->count > 1 ? "(" : "");
    bool first = true;
    for (int i = 0; i < order->count; i++)
        for (int k = 0; k < names->count; k++)
            if (names->at[k] == order->at[i]) {
                jx_buffer_printf(to, "%s%s", first ? "" : ",", names->at[k]);
                first = false;
            }
    jx_buffer_puts(to, names->count > 1 ? ")" : "");
    *any = true;
}

static void print_manual(const jx_aval *aval, const jx_names *mesh,
                         jx_buffer *to)
{
    const char *unreduced = !aval->unreduced_kind                  ? "U"
                            : !strcmp(aval->unreduced_kind, "max") ? "U_max"
                                                                   : "U_min";
    bool any = false;

    print_axes("V", &aval->varying, mesh ? mesh : &aval->varying, &any, to);
    print_axes(unreduced, &aval->unreduced, mesh ? mesh : &aval->unreduced,
               &any, to);
    print_axes("R", &aval->reduced, mesh ? mesh : &aval->reduced, &any, to);
    if (any)
        jx_buffer_putc(to, '}');
}

void jx_aval_print_ordered(const jx_aval *aval, const jx_names *mesh,
                           jx_buffer *to)
{
    switch (aval->kind) {
    case JX_AVAL_ARRAY:
        print_array(aval, to);
        print_manual(aval, mesh, to);
        return;
    case JX_AVAL_TOKEN: jx_buffer_puts(to, "Tok"); return;
    case JX_AVAL_REF:
        jx_buffer_puts(to, "Ref");
        if (aval->memory_space)
            jx_buffer_printf(to, "<%s>", aval->memory_space);
        jx_buffer_putc(to, '{');
        jx_aval_print_ordered(aval->of, mesh, to);
        jx_buffer_putc(to, '}');
        return;
    case JX_AVAL_FUTURE:
        jx_buffer_puts(to, "AbstractFuture{");
        jx_aval_print_ordered(aval->of, mesh, to);
        jx_buffer_putc(to, '}');
        return;
    case JX_AVAL_OTHER:
        jx_utf8_show(aval->label ? aval->label : "?", to);
        return;
    }
}

void jx_aval_print(const jx_aval *aval, jx_buffer *to)
{
    jx_aval_print_ordered(aval, NULL, to);
}

bool jx_aval_same_shape(const jx_aval *a, const jx_aval *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

bool jx_aval_same_values(const jx_aval *a, const jx_aval *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->dtype != b->dtype ||
        a->impl != b->impl || a->label != b->label)
        return false;
    return jx_aval_same_shape(a, b) &&
           (a->of == b->of || jx_aval_same_values(a->of, b->of));
}

bool jx_aval_is_static(const jx_aval *aval)
{
    int64_t value;

    for (int i = 0; i < aval->rank; i++)
        if (!jx_dim_is_int(aval->shape[i], &value))
            return false;
    return true;
}

bool jx_aval_elements(const jx_aval *aval, int64_t *count)
{
    int64_t size, total = 1;
    bool fits = true;

    for (int i = 0; i < aval->rank; i++) {
        if (!jx_dim_is_int(aval->shape[i], &size) || size < 0)
            return false;
        if (size == 0) { /* whatever the others are */
            *count = 0;
            return jx_aval_is_static(aval);
        }
        fits = fits && !__builtin_mul_overflow(total, size, &total);
    }
    *count = total;
    return fits;
}
