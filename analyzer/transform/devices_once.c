/* devices_once.c - what devices have in common is there once.
 *
 * Devices that have the same operands have one result.  A part of what was put
 * together of such parts is that one, and two that are cut alike are one: what
 * one computation leaves on its devices, the next one finds there. */
#include "analyzer/transform/devices_parts.h"
#include "frontend/base/assert.h"

/* ---- parts of arrays */

/* A key, and what is known of it.  What is cut belongs to the body in which it
 * was; what was put together may be used wherever it may. */
typedef struct part {
    const jx_body *in; /* NULL: `from` was put together */
    const jx_var *from;
    int64_t axis, index, count;
    const jx_atom *at; /* the part; or all, in order */
} part;

static uint64_t hash_of(const part *key)
{
    uint64_t hash = jx_hash_mix((uintptr_t)key->in, (uintptr_t)key->from);

    hash = jx_hash_mix(hash, (uint64_t)key->axis);
    hash = jx_hash_mix(hash, (uint64_t)key->index);
    return jx_hash_mix(hash, (uint64_t)key->count);
}

static bool same_part(const void *kept, const void *key)
{
    const part *a = kept, *b = key;

    return a->in == b->in && a->from == b->from && a->axis == b->axis &&
           a->index == b->index && a->count == b->count;
}

static const jx_atom *find(const jx_devices *s, const part *key)
{
    const part *found =
        s->parts.arena ? jx_intern_find(&s->parts, hash_of(key), key, same_part)
                       : NULL;

    return found ? found->at : NULL;
}

/* Unless there is no memory, which others notice. */
static void keep(jx_devices *s, const part *key, const jx_atom *at)
{
    part *kept = at ? jx_arena_copy(s->scratch, key, sizeof *key) : NULL;

    if (!s->parts.arena)
        jx_intern_init(&s->parts, s->scratch);
    if (!kept)
        return;
    kept->at = at;
    jx_intern_add(&s->parts, hash_of(key), kept);
}

static jx_atom cut(jx_devices_body *m, jx_atom from, int64_t axis, int64_t size,
                   int64_t index)
{
    jx_devices *s = m->s;

    if (!jx_devices_room(s))
        return from;
    from = jx_build_slice(&m->body, from, (int)axis,
                          jx_body_int(&m->body, index * size),
                          jx_body_int(&m->body, (index + 1) * size));
    if (!jx_is_made(from) && !s->failed)
        jx_devices_starved(s);
    return from;
}

jx_atom jx_devices_part(jx_devices_body *m, jx_atom from, int64_t axis,
                        int64_t index, int64_t count)
{
    jx_devices *s = m->s;
    int64_t size = s->failed ? 0 : jx_devices_size(s, jx_atom_aval(from), axis);
    part joined = {NULL, from.var, axis, 0, count, NULL};
    part key = {&m->body, from.var, axis, index, count, NULL};
    const jx_atom *found;
    jx_atom made;

    if (count == 1 || s->failed)
        return from;
    if (count < 1 || size % count != 0) {
        jx_devices_fail(
            s, "an axis can't be cut into equal parts for the devices");
        return from;
    }
    JX_ASSERT(index >= 0 && index < count);
    if (from.var && (found = find(s, &joined)))
        return found[index];
    if (from.var && (found = find(s, &key)))
        return *found;
    made = cut(m, from, axis, size / count, index);
    if (!s->failed && from.var)
        keep(s, &key, jx_arena_copy(s->scratch, &made, sizeof made));
    return made;
}

/* Such that each is as large as any other. */
static bool are_alike(jx_devices *s, int count, const jx_atom *parts,
                      int64_t axis)
{
    int64_t size = jx_devices_size(s, jx_atom_aval(parts[0]), axis);

    for (int i = 1; i < count && !s->failed; i++)
        if (jx_devices_size(s, jx_atom_aval(parts[i]), axis) != size)
            return false;
    return !s->failed;
}

jx_atom jx_devices_joined(jx_devices_body *m, int count, const jx_atom *parts,
                          int64_t axis)
{
    jx_devices *s = m->s;
    jx_atom made = {NULL, NULL};
    bool alike;

    if (count == 1 || s->failed)
        return parts[0];
    alike = are_alike(s, count, parts, axis);
    if (!s->failed && jx_devices_room(s))
        made = jx_build_concatenate(&m->body, count, parts, (int)axis);
    if (!jx_is_made(made) && !s->failed)
        jx_devices_starved(s);
    if (alike && !s->failed)
        keep(s, &(part){NULL, made.var, axis, 0, count, NULL},
             jx_arena_copy(s->scratch, parts, (size_t)count * sizeof *parts));
    return made;
}

/* ---- results of devices */

typedef struct row {
    int width, device;
    const jx_atom *at;
} row;

static uint64_t hash_row(const row *r)
{
    uint64_t hash = (uint64_t)r->width;

    for (int i = 0; i < r->width; i++)
        hash = jx_hash_mix(jx_hash_mix(hash, (uintptr_t)r->at[i].var),
                           (uintptr_t)r->at[i].literal);
    return hash;
}

static bool same_row(const void *kept, const void *key)
{
    const row *a = kept, *b = key;

    for (int i = 0; i < a->width && i < b->width; i++)
        if (a->at[i].var != b->at[i].var ||
            a->at[i].literal != b->at[i].literal)
            return false;
    return a->width == b->width;
}

int *jx_devices_alike(jx_devices *s, const jx_device_atoms *values)
{
    row *rows = JX_NEW_ARRAY(s->scratch, s->team.count, row);
    int *like = JX_NEW_ARRAY(s->scratch, s->count, int);
    jx_intern seen;

    jx_intern_init(&seen, s->scratch);
    for (int t = 0; rows && like && t < s->team.count; t++) {
        int d = s->team.at[t];
        rows[t] = (row){values->width, d, jx_device_row(values, d)};
        uint64_t hash = hash_row(&rows[t]);
        const row *found = jx_intern_find(&seen, hash, &rows[t], same_row);
        like[d] = found ? found->device : d;
        if (!found && !jx_intern_add(&seen, hash, &rows[t]))
            like = NULL;
    }
    if (!rows || !like)
        jx_devices_starved(s);
    return s->failed ? NULL : like;
}
