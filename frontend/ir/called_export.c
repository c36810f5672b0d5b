/* called_export.c - what a call knows of a function that jax.export made: the
 * record `Exported`, with the fields of JAX's class. */
#include "frontend/ir/params.h"

#include <string.h>

/* Room for the items of a tuple; NULL of what is none, or without memory. */
static void *room_for(jx_program *program, const jx_value *v, size_t size)
{
    return v && v->tag == JX_V_TUPLE
               ? jx_arena_array(program->ctx->arena, (size_t)v->count + 1, size)
               : NULL;
}

/* The avals of a tuple, or NULL. */
static const jx_aval *const *avals_of(jx_program *program, const jx_value *v)
{
    const jx_aval **at = room_for(program, v, sizeof *at);

    for (int i = 0; at && i < v->count; i++) {
        if (v->items[i]->tag != JX_V_AVAL)
            return NULL;
        at[i] = v->items[i]->aval;
    }
    return at;
}

/* A tuple of texts, or NULL. */
static const char *const *texts_of(jx_program *program, const jx_value *v)
{
    const char **at = room_for(program, v, sizeof *at);

    for (int i = 0; at && i < v->count; i++) {
        if (v->items[i]->tag != JX_V_TEXT)
            return NULL;
        at[i] = v->items[i]->text;
    }
    return at;
}

/* A tuple of increasing numbers below `below`, or NULL. */
static const uint16_t *indexes_of(jx_program *program, const jx_value *v,
                                  int below)
{
    uint16_t *at = room_for(program, v, sizeof *at);
    int64_t last = -1;

    for (int i = 0; at && i < v->count; i++) {
        const jx_value *item = v->items[i];
        if (item->tag != JX_V_INT || item->integer <= last ||
            item->integer >= below || item->integer > UINT16_MAX)
            return NULL;
        at[i] = (uint16_t)(last = item->integer);
    }
    return at;
}

static bool has_items(const jx_value *record, const char *field)
{
    const jx_value *v = jx_value_field(record, field);

    return v && v->count;
}

/* The code, whom it is for and what it takes. */
static const char *read_module(jx_program *program, const jx_value *record,
                               jx_called_export *to)
{
    const jx_value *module = jx_value_field(record, "mlir_module_serialized");
    const jx_value *kept = jx_value_field(record, "module_kept_var_idx");
    const jx_value *platforms = jx_value_field(record, "platforms");

    if (!module)
        return NULL;
    if (module->tag != JX_V_CONST || module->array->aval->dtype != JX_U8 ||
        module->array->aval->rank != 1)
        return "an Exported whose mlir_module_serialized is an array of u8";
    if (!(to->platforms = texts_of(program, platforms)) || !platforms->count)
        return "an Exported whose platforms are a tuple of names";
    if (!(to->kept = indexes_of(program, kept, to->nins)))
        return "an Exported whose module_kept_var_idx are increasing numbers "
               "of its in_avals";
    to->module = module->array;
    to->nplatforms = platforms->count;
    to->nkept = kept->count;
    to->effects = has_items(record, "ordered_effects") ||
                  has_items(record, "unordered_effects");
    return NULL;
}

/* Text has only the function's name: nothing is known then. */
const char *jx_called_export_decode(jx_program *program, const jx_value *v,
                                    const jx_called_export **to)
{
    const jx_value *name, *ins, *outs, *paths, *inner;
    jx_called_export *made;

    *to = NULL;
    if (v->tag != JX_V_RECORD || !v->text || strcmp(v->text, "Exported") ||
        !(ins = jx_value_field(v, "in_avals")))
        return NULL;
    outs = jx_value_field(v, "out_avals");
    name = jx_value_field(v, "fun_name");
    made = JX_NEW(program->ctx->arena, jx_called_export);
    if (!made)
        return "memory";
    made->ins = avals_of(program, ins);
    made->outs = avals_of(program, outs);
    if (!made->ins || !made->outs)
        return "an Exported whose in_avals and out_avals are tuples of avals";
    made->nins = ins->count;
    made->nouts = outs->count;
    made->name = name && name->tag == JX_V_TEXT ? name->text : NULL;
    paths = jx_value_field(v, "in_paths");
    if (paths && paths->count == made->nins)
        made->paths = texts_of(program, paths);
    inner = jx_value_field(v, "inner");
    made->inner = texts_of(program, inner);
    made->ninner = made->inner ? inner->count : 0;
    *to = made;
    return read_module(program, v, made);
}
