/* field_values.c - see field.h: arrays of cells. */
#include "runtime/field/plane.h"

enum { MOST_ELEMENTS = 1 << 16, MOST_IN_A_PLANE = 1 << 24 }; /* of one array */

bool jx_field_has_cells(jx_dtype dtype)
{
    return jx_dtype_is_float(dtype) || dtype == JX_BOOL;
}

bool jx_field_shape(jx_field *f, const jx_field_program *program,
                    const jx_aval *aval, jx_field_value *to)
{
    jx_assignment sizes = {program->nbindings, program->bindings};
    int64_t *shape = JX_NEW_ARRAY(f->room, aval->rank + 1, int64_t);
    int64_t most = f->largest  ? f->largest
                   : f->planes ? MOST_IN_A_PLANE
                               : MOST_ELEMENTS;

    *to = (jx_field_value){
        .dtype = aval->dtype, .rank = aval->rank, .shape = shape, .count = 1};
    if (!shape)
        f->spent = true;
    if (!shape || aval->kind != JX_AVAL_ARRAY)
        return false;
    for (int i = 0; i < aval->rank; i++) {
        if (!jx_dim_eval(aval->shape[i], jx_assigned, &sizes, &shape[i]) ||
            shape[i] < 0)
            return false;
        if (shape[i] > most || (to->count *= shape[i]) > most) {
            f->spent = true;
            return false;
        }
    }
    return true;
}

bool jx_field_room(jx_field *f, const jx_field_program *program,
                   const jx_aval *aval, jx_field_value *to)
{
    if (!jx_field_shape(f, program, aval, to))
        return false;
    if (jx_field_has_cells(to->dtype) ||
        (jx_dtype_is_complex(to->dtype) && !f->planes))
        to->cells = JX_NEW_ARRAY(f->room, to->count + 1, jx_cell);
    else
        to->bits = jx_arena_alloc(f->room, ((size_t)to->count + 1) *
                                               jx_dtype_of(to->dtype)->bytes);
    if (!to->cells && !to->bits)
        f->spent = true;
    return !f->spent;
}

bool jx_field_single(jx_field *f, const jx_field_program *program,
                     const jx_aval *aval, jx_field_value *to)
{
    if (!jx_field_shape(f, program, aval, to))
        return false;
    to->splat = to->count != 1;
    to->cells = JX_NEW(f->ctx->arena, jx_cell);
    f->spent |= !to->cells;
    return !f->spent;
}

bool jx_field_like(jx_field *f, const jx_field_program *program,
                   const jx_aval *aval, bool single, jx_field_value *to)
{
    if (!f->planes || !jx_field_has_cells(aval->dtype))
        return jx_field_room(f, program, aval, to);
    if (!jx_field_shape(f, program, aval, to))
        return false;
    to->splat = single && to->count != 1;
    to->plane = jx_plane_new(f, jx_field_stored(to));
    return to->plane != NULL;
}

bool jx_field_plane(jx_field *f, const jx_field_program *program,
                    const jx_aval *aval, jx_field_value *to)
{
    return jx_field_shape(f, program, aval, to) &&
           (to->plane = jx_plane_new(f, to->count)) != NULL;
}

void jx_field_lose(jx_field *f, jx_field_value *to, const char *why)
{
    for (int64_t i = 0; (to->cells || to->plane) && i < jx_field_stored(to);
         i++) {
        jx_cell cell = jx_cell_unknown(f, why);
        jx_plane_put(f, to, i, &cell);
    }
    if (!f->why)
        f->why = why;
    to->unknown = !to->cells && !to->plane;
}

jx_cell jx_field_reasons(jx_field *f, const jx_field_value *of)
{
    jx_cell to = of->on ? *of->on : jx_cell_bool(false);

    for (int64_t i = 0; of->cells && i < jx_field_stored(of); i++)
        to = jx_cell_depends(f, to, &of->cells[i]);
    for (int64_t i = 0;
         of->plane && of->plane->needs && i < jx_field_stored(of); i++)
        to.needs = jx_keys_join(f, to.needs, of->plane->needs[i]);
    return to;
}

/* Both parts of complex numbers: these and their conjugates are
 * numbers of their own. */
static bool complex_input(jx_field *f, const jx_field_program *program,
                          const jx_aval *aval, int number, jx_field_value *to)
{
    if (f->planes || !jx_field_room(f, program, aval, to))
        return false;
    to->conjugates = JX_NEW_ARRAY(f->room, to->count + 1, jx_cell);
    for (int64_t i = 0; to->conjugates && i < to->count; i++) {
        uint64_t key = jx_hash_mix((uint64_t)number + 1, (uint64_t)i);
        to->cells[i] = jx_cell_any(f, key);
        to->conjugates[i] = jx_cell_any(f, jx_hash_mix(key, 1));
    }
    return to->conjugates != NULL;
}

bool jx_field_input(jx_field *f, const jx_field_program *program,
                    const jx_aval *aval, int number, jx_field_value *to)
{
    if (aval->kind == JX_AVAL_ARRAY && jx_dtype_is_complex(aval->dtype))
        return complex_input(f, program, aval, number, to);
    if (aval->kind != JX_AVAL_ARRAY || !jx_dtype_is_float(aval->dtype) ||
        !jx_field_like(f, program, aval, false, to))
        return false;
    for (int64_t i = 0; i < to->count; i++) {
        uint64_t key = jx_hash_mix((uint64_t)number + 1, (uint64_t)i);
        jx_cell cell = f->planes ? jx_cell_any(f, key) : jx_cell_random(f, key);
        jx_plane_put(f, to, i, &cell);
    }
    return true;
}
