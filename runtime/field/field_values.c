/* field_values.c - see field.h: arrays of cells. */
#include "runtime/field/field.h"

enum { MOST_ELEMENTS = 1 << 16 }; /* of one array */

bool jx_field_has_cells(jx_dtype dtype)
{
    return jx_dtype_is_float(dtype) || dtype == JX_BOOL;
}

bool jx_field_shape(jx_field *f, const jx_field_program *program, const jx_aval *aval,
                    jx_field_value *to)
{
    jx_assignment sizes = {program->nbindings, program->bindings};
    int64_t *shape = JX_NEW_ARRAY(f->ctx->arena, aval->rank + 1, int64_t);

    *to = (jx_field_value){.dtype = aval->dtype, .rank = aval->rank, .shape = shape, .count = 1};
    if (!shape)
        f->spent = true;
    if (!shape || aval->kind != JX_AVAL_ARRAY)
        return false;
    for (int i = 0; i < aval->rank; i++) {
        if (!jx_dim_eval(aval->shape[i], jx_assigned, &sizes, &shape[i]) || shape[i] < 0)
            return false;
        if (shape[i] > MOST_ELEMENTS ||
            (to->count *= shape[i]) > MOST_ELEMENTS) {
            f->spent = true;
            return false;
        }
    }
    return true;
}

bool jx_field_room(jx_field *f, const jx_field_program *program, const jx_aval *aval,
                   jx_field_value *to)
{
    if (!jx_field_shape(f, program, aval, to))
        return false;
    if (jx_field_has_cells(to->dtype))
        to->cells = JX_NEW_ARRAY(f->ctx->arena, to->count + 1, jx_cell);
    else
        to->bits = jx_arena_alloc(f->ctx->arena,
                                  ((size_t)to->count + 1) * jx_dtype_of(to->dtype)->bytes);
    if (!to->cells && !to->bits)
        f->spent = true;
    return !f->spent;
}

void jx_field_lose(jx_field *f, jx_field_value *to, const char *why)
{
    for (int64_t i = 0; to->cells && i < to->count; i++)
        to->cells[i] = jx_cell_unknown(f, why);
    if (!f->why)
        f->why = why;
    to->unknown = !to->cells;
}

jx_cell jx_field_reasons(jx_field *f, const jx_field_value *of)
{
    jx_cell to = of->on ? *of->on : jx_cell_bool(false);

    for (int64_t i = 0; of->cells && i < of->count; i++)
        to = jx_cell_depends(f, to, &of->cells[i]);
    return to;
}

bool jx_field_input(jx_field *f, const jx_field_program *program, const jx_aval *aval,
                    int number, jx_field_value *to)
{
    if (aval->kind != JX_AVAL_ARRAY || !jx_dtype_is_float(aval->dtype) ||
        !jx_field_room(f, program, aval, to))
        return false;
    for (int64_t i = 0; i < to->count; i++)
        to->cells[i] = jx_cell_random(f, jx_hash_mix((uint64_t)number + 1, (uint64_t)i));
    return true;
}
