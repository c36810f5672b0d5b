/* tape.c - see tape.h. */
#include "runtime/tape.h"

#include "frontend/base/intern.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    jx_tape_key key;
    bool played;
    size_t size;
    char *outputs; /* one after the other */
} entry;

struct jx_tape {
    bool plays, torn;
    size_t count, room;
    entry *at;
};

jx_tape *jx_tape_new(void)
{
    return calloc(1, sizeof(jx_tape));
}

void jx_tape_free(jx_tape *tape)
{
    if (!tape)
        return;
    for (size_t i = 0; i < tape->count; i++)
        free(tape->at[i].outputs);
    free(tape->at);
    free(tape);
}

void jx_tape_rewind(jx_tape *tape)
{
    tape->plays = true;
    for (size_t i = 0; i < tape->count; i++)
        tape->at[i].played = false;
}

static uint64_t hashed(uint64_t hash, const void *bytes, size_t size)
{
    return jx_hash_mix(hash, jx_hash_bytes(bytes, size));
}

static uint64_t hashed_attributes(uint64_t hash, int count,
                                  const jaxvet_attribute *at)
{
    for (int i = 0; i < count; i++) {
        hash = hashed(hash, at[i].name, strlen(at[i].name));
        if (at[i].kind == JAXVET_ATTRIBUTE_STRING)
            hash = hashed(hash, at[i].data, (size_t)at[i].count);
        /* of any width: its lowest byte */
        else if (at[i].kind == JAXVET_ATTRIBUTE_INTEGER && at[i].data)
            hash = hashed(hash, at[i].data, 1);
    }
    return hash;
}

jx_tape_key jx_tape_key_of(const jaxvet_custom_call *call,
                           const void *const *inputs)
{
    jx_tape_key key = {0};

    key.call = hashed(key.call, call->target, strlen(call->target));
    key.call = hashed(key.call, call->place, strlen(call->place));
    key.call = hashed(key.call, &call->device, sizeof call->device);
    if (call->config)
        key.call = hashed(key.call, call->config, call->config_size);
    key.call =
        hashed_attributes(key.call, call->attribute_count, call->attributes);
    key.operands = key.call;
    for (int i = 0; i < call->input_count; i++)
        if (call->inputs[i].bytes)
            key.operands =
                hashed(key.operands, inputs[i], call->inputs[i].bytes);
    return key;
}

static size_t size_of(const jaxvet_custom_call *call)
{
    size_t size = 0;

    for (int i = 0; i < call->output_count; i++)
        size += call->outputs[i].bytes;
    return size;
}

void jx_tape_keep(jx_tape *tape, jx_tape_key key,
                  const jaxvet_custom_call *call, void *const *outputs)
{
    entry e = {.key = key, .size = size_of(call)};
    bool torn = tape->torn;
    char *at;

    tape->torn = true; /* until it is there */
    if (tape->count == tape->room) {
        size_t room = tape->room ? 2 * tape->room : 8;
        entry *more = realloc(tape->at, room * sizeof *more);
        if (!more)
            return;
        tape->at = more;
        tape->room = room;
    }
    at = e.outputs = malloc(e.size + 1);
    if (!at)
        return;
    for (int i = 0; i < call->output_count; i++) {
        if (call->outputs[i].bytes)
            memcpy(at, outputs[i], call->outputs[i].bytes);
        at += call->outputs[i].bytes;
    }
    tape->at[tape->count++] = e;
    tape->torn = torn;
}

bool jx_tape_is_whole(const jx_tape *tape)
{
    return !tape->torn;
}

/* The next one with these operands; else the first of that call. */
static entry *find(jx_tape *tape, jx_tape_key key, size_t size)
{
    entry *other = NULL;

    for (size_t i = 0; i < tape->count; i++) {
        entry *e = &tape->at[i];
        if (e->key.call != key.call || e->size != size)
            continue;
        if (e->key.operands == key.operands && !e->played)
            return e;
        if (!other || (e->key.operands == key.operands &&
                       other->key.operands != key.operands))
            other = e;
    }
    return other;
}

bool jx_tape_play(jx_tape *tape, jx_tape_key key,
                  const jaxvet_custom_call *call, void *const *outputs)
{
    entry *e = tape->plays ? find(tape, key, size_of(call)) : NULL;
    const char *at = e ? e->outputs : NULL;

    if (!tape->plays)
        return false;
    for (int i = 0; i < call->output_count; i++) {
        size_t bytes = call->outputs[i].bytes;
        if (bytes && at)
            memcpy(outputs[i], at, bytes);
        else if (bytes)
            memset(outputs[i], 0, bytes);
        at = at ? at + bytes : NULL;
    }
    if (e)
        e->played = true;
    return true;
}
