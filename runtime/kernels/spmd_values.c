/* spmd_values.c - variables, literals and equations that are written out for
 * many devices. */
#include "runtime/kernels/spmd.h"

#include "frontend/base/assert.h"

#include <string.h>

enum { MOST_EQUATIONS = 1 << 20 };

bool jx_spmd_fail(jx_spmd *s, const char *why)
{
    s->failed = true;
    return jx_plan_fail(s->p, "%s", why);
}

jx_spmd_atoms jx_spmd_new_atoms(jx_spmd *s, int width)
{
    jx_spmd_atoms made = {
        width, JX_NEW_ARRAY(s->arena, (size_t)s->devices * (size_t)(width + 1),
                            jx_atom)};

    if (!made.at)
        jx_spmd_fail(s, "there is no memory");
    return made;
}

jx_atom *jx_spmd_row(const jx_spmd_atoms *a, int device)
{
    return a->at + (ptrdiff_t)device * a->width;
}

jx_atom jx_spmd_new_var(jx_spmd_maker *m, const jx_aval *aval)
{
    jx_var *var = JX_NEW(m->s->arena, jx_var);

    if (!var) {
        jx_spmd_fail(m->s, "there is no memory");
        return (jx_atom){0};
    }
    *var = (jx_var){.aval = aval, .id = (int)m->vars.count};
    JX_PUSH(m->s->arena, &m->vars, var);
    return (jx_atom){.var = var};
}

/* Appends an equation whose results have these types. */
bool jx_spmd_emit(jx_spmd_maker *m, const jx_prim *prim, const void *typed,
                  int nins, const jx_atom *ins, int nouts,
                  const jx_aval *const *avals, jx_atom *outs)
{
    jx_spmd *s = m->s;
    const jx_var **vars = JX_NEW_ARRAY(s->arena, nouts + 1, const jx_var *);

    if (s->failed || ++s->equations > MOST_EQUATIONS || !vars)
        return jx_spmd_fail(s, "written out for all devices it is too long");
    for (int i = 0; i < nouts; i++) {
        outs[i] = jx_spmd_new_var(m, avals[i]);
        vars[i] = outs[i].var;
    }
    jx_eqn eqn = {.prim = prim,
                  .nins = nins,
                  .nouts = nouts,
                  .ins =
                      jx_arena_copy(s->arena, ins, (size_t)nins * sizeof *ins),
                  .outs = vars,
                  .typed = typed};
    JX_PUSH(s->arena, &m->eqns, eqn);
    return s->failed || jx_arena_failed(s->arena)
               ? jx_spmd_fail(s, "there is no memory")
               : true;
}

jx_atom jx_spmd_emit_one(jx_spmd_maker *m, jx_prim_id prim, const void *typed,
                         size_t size, int nins, const jx_atom *ins,
                         const jx_aval *aval)
{
    jx_atom out = {0};

    /* What failed before has left no operands. */
    if (m->s->failed)
        return out;
    jx_spmd_emit(m, jx_prim_of(prim), jx_arena_copy(m->s->arena, typed, size),
                 nins, ins, 1, &aval, &out);
    return out;
}

static int64_t size_of(jx_spmd *s, const jx_aval *aval, int64_t axis)
{
    if (axis < 0 || axis >= aval->rank) {
        jx_spmd_fail(s, "an axis is out of range");
        return 0;
    }
    int64_t size = jx_plan_dim(s->p, aval->shape[axis]);
    if (s->p->failed)
        s->failed = true;
    return size;
}

static const jx_dim *number(jx_spmd *s, int64_t value)
{
    return jx_dim_int(s->p->program->dims, value);
}

/* The same with another size of one axis. */
static const jx_aval *resized(jx_spmd *s, const jx_aval *aval, int64_t axis,
                              int64_t size)
{
    jx_aval *made = JX_NEW(s->arena, jx_aval);
    const jx_dim **shape =
        JX_NEW_ARRAY(s->arena, aval->rank + 1, const jx_dim *);

    if (!made || !shape) {
        jx_spmd_fail(s, "there is no memory");
        return aval;
    }
    for (int i = 0; i < aval->rank; i++)
        shape[i] = i == axis ? number(s, size) : aval->shape[i];
    *made = *aval;
    made->shape = shape;
    made->spec = NULL;
    return made;
}

/* Part `index` of `count` equal ones along an axis. */
jx_atom jx_spmd_part(jx_spmd_maker *m, jx_atom from, int64_t axis,
                     int64_t index, int64_t count)
{
    jx_spmd *s = m->s;
    const jx_aval *aval;
    const jx_dim **ends;
    int64_t size;

    if (s->failed)
        return from;
    aval = jx_atom_aval(from);
    size = size_of(s, aval, axis);
    ends = JX_NEW_ARRAY(s->arena, 2 * aval->rank + 1, const jx_dim *);
    if (count == 1 || s->failed)
        return from;
    if (count < 1 || size % count != 0) {
        jx_spmd_fail(s,
                     "an axis can't be cut into equal parts for the devices");
        return from;
    }
    if (!ends) {
        jx_spmd_fail(s, "there is no memory");
        return from;
    }
    size /= count;
    for (int i = 0; i < aval->rank; i++) {
        ends[i] = number(s, i == axis ? index * size : 0);
        ends[aval->rank + i] =
            i == axis ? number(s, (index + 1) * size) : aval->shape[i];
    }
    jx_p_slice slice = {.start_indices = {aval->rank, ends, true},
                        .limit_indices = {aval->rank, ends + aval->rank, true}};
    return jx_spmd_emit_one(m, JX_PRIM_slice, &slice, sizeof slice, 1, &from,
                            resized(s, aval, axis, size));
}

jx_atom jx_spmd_joined(jx_spmd_maker *m, int count, const jx_atom *parts,
                       int64_t axis)
{
    int64_t size = 0;

    if (count == 1 || m->s->failed)
        return parts[0];
    for (int i = 0; i < count; i++)
        size += size_of(m->s, jx_atom_aval(parts[i]), axis);
    jx_p_concatenate how = {.dimension = axis};
    return jx_spmd_emit_one(m, JX_PRIM_concatenate, &how, sizeof how, count,
                            parts,
                            resized(m->s, jx_atom_aval(parts[0]), axis, size));
}

jx_atom jx_spmd_zeros(jx_spmd_maker *m, const jx_aval *aval)
{
    static const char none[16];
    jx_array *array = JX_NEW(m->s->arena, jx_array);
    jx_literal *literal = JX_NEW(m->s->arena, jx_literal);

    if (!array || !literal) {
        jx_spmd_fail(m->s, "there is no memory");
        return (jx_atom){0};
    }
    *array = (jx_array){.aval = aval,
                        .splat = true,
                        .bytes = jx_dtype_of(aval->dtype)->bytes,
                        .data = none};
    *literal = (jx_literal){.aval = aval, .array = array};
    return (jx_atom){.literal = literal};
}

jx_atom jx_spmd_device_number(jx_spmd_maker *m, const jx_aval *aval,
                              uint32_t value)
{
    jx_literal *literal = JX_NEW(m->s->arena, jx_literal);

    if (!literal) {
        jx_spmd_fail(m->s, "there is no memory");
        return (jx_atom){0};
    }
    *literal = (jx_literal){.aval = aval};
    memcpy(literal->bits, &value, sizeof value);
    return (jx_atom){.literal = literal};
}

const jx_jaxpr *jx_spmd_jaxpr(jx_spmd_maker *m, int id, int nouts,
                              const jx_atom *outs)
{
    jx_jaxpr *made = JX_NEW(m->s->arena, jx_jaxpr);

    if (!made) {
        jx_spmd_fail(m->s, "there is no memory");
        return NULL;
    }
    *made = (jx_jaxpr){
        .id = id,
        .nins = m->nins,
        .neqns = (int)m->eqns.count,
        .nouts = nouts,
        .nvars = (int)m->vars.count,
        .vars = m->vars.at,
        .eqns = m->eqns.at,
        .outs = jx_arena_copy(m->s->arena, outs, (size_t)nouts * sizeof *outs)};
    JX_ASSERT_NONE(m->s->failed || jx_arena_failed(m->s->arena)
                       ? NULL
                       : jx_jaxpr_fault(m->s->p->program, made));
    return made;
}
