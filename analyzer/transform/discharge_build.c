/* discharge_build.c - the equations that references become. */
#include "analyzer/transform/discharge_parts.h"

#include "frontend/base/plain.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static jx_arena *arena_of(const jx_discharging *b)
{
    return b->d->ctx->arena;
}

static const jx_atom nothing = {NULL, NULL};

/* ---- failures */

const char *jx_discharge_place(const jx_discharging *b)
{
    const jx_frame *frame = b->eqn ? jx_user_frame(b->eqn->stack) : NULL;
    const char *line = NULL;

    if (frame)
        line = jx_arena_printf(arena_of(b), ", %s:%d", frame->file->path,
                               frame->line);
    return b->eqn
               ? jx_arena_printf(arena_of(b), "equation %d of jaxpr %d (%s)%s",
                                 (int)(b->eqn - b->from->eqns), b->from->id,
                                 jx_eqn_name(b->eqn), line ? line : "")
               : jx_arena_printf(arena_of(b), "jaxpr %d", b->from->id);
}

bool jx_discharge_fail(jx_discharging *b, const char *format, ...)
{
    char why[256];
    va_list args;

    va_start(args, format);
    jx_vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return jx_fail(b->d->ctx, JX_E_INPUT, b->d->program->path,
                   jx_discharge_place(b), "%s", why);
}

/* ---- avals and variables */

const jx_aval *jx_discharge_aval(jx_discharging *b, const jx_aval *like,
                                 jx_dtype dtype, int rank,
                                 const jx_dim *const *shape)
{
    return jx_body_aval(&b->body, like, dtype, rank, shape);
}

/* ---- equations */

static bool tell(jx_body *b, const char *why)
{
    return jx_discharge_fail((jx_discharging *)b, "%s", why);
}

void jx_discharge_begin(jx_discharge *d, jx_discharging *b, bool lenient)
{
    d->build.program = d->program;
    d->build.fail = tell;
    *b = (jx_discharging){.body.in = &d->build, .d = d, .lenient = lenient};
}

/* The body, at the place of the equation that is worked on. */
static jx_body *here(jx_discharging *b)
{
    b->body.place =
        b->eqn ? (jx_place){b->eqn->stack, b->eqn->name_stack, b->eqn->ctx}
               : (jx_place){0};
    return &b->body;
}

const jx_atom *jx_discharge_emit_all(jx_discharging *b, const jx_prim *prim,
                                     int nins, const jx_atom *ins,
                                     jx_params *params, int nouts,
                                     const jx_aval *const *outs)
{
    return jx_build_as(here(b), prim, params, nins, ins, nouts, outs);
}

jx_atom jx_discharge_emit(jx_discharging *b, jx_prim_id prim, int nins,
                          const jx_atom *ins, jx_params *params,
                          const jx_aval *out)
{
    return jx_build_one(here(b), prim, params, nins, ins, out);
}

jx_atom jx_discharge_two(jx_discharging *b, jx_prim_id prim, jx_atom a,
                         jx_atom c, const jx_aval *out)
{
    return jx_build_two(here(b), prim, a, c, out);
}

/* ---- small ones */

jx_atom jx_discharge_number(jx_discharging *b, jx_dtype dtype, int64_t value)
{
    return jx_build_number(&b->body, dtype, (double)value);
}

jx_atom jx_discharge_size(jx_discharging *b, const jx_dim *dim)
{
    jx_literal like = {
        .aval = jx_aval_array(&b->d->program->avals, JX_I32, false, 0, NULL),
        .dim = dim};
    int64_t value;

    if (!dim)
        return nothing;
    if (jx_dim_is_int(dim, &value) && value >= INT32_MIN && value <= INT32_MAX)
        return jx_discharge_number(b, JX_I32, value);
    return jx_build_literal(&b->body, &like);
}

jx_atom jx_discharge_convert(jx_discharging *b, jx_atom a, jx_dtype dtype,
                             bool weak)
{
    return jx_build_convert(here(b), a, dtype, weak);
}

jx_atom jx_discharge_reshape(jx_discharging *b, jx_atom a, int rank,
                             const jx_dim *const *shape)
{
    return jx_build_reshape(here(b), a, rank, shape);
}

jx_atom jx_discharge_transpose(jx_discharging *b, jx_atom a, jx_ints order)
{
    return jx_build_transpose(here(b), a, order);
}

jx_atom jx_discharge_bitcast(jx_discharging *b, jx_atom a, jx_dtype dtype)
{
    jx_params p = {.program = b->d->program};
    const jx_aval *in;

    if (!jx_is_made(a))
        return nothing;
    in = jx_atom_aval(a);
    jx_put_dtype(&p, "new_dtype", dtype);
    return jx_discharge_emit(
        b, JX_PRIM_bitcast_convert_type, 1, &a, &p,
        jx_discharge_aval(b, in, dtype, in->rank, in->shape));
}

jx_atom jx_discharge_broadcast(jx_discharging *b, jx_atom a, int rank,
                               const jx_dim *const *shape, const int64_t *dims)
{
    int count = jx_is_made(a) ? jx_atom_aval(a)->rank : 0;

    return jx_build_broadcast(here(b), a, (jx_ints){count, dims}, rank, shape);
}

static bool same_shape(const jx_aval *a, const jx_aval *c)
{
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != c->shape[i])
            return false;
    return true;
}

jx_atom jx_discharge_as(jx_discharging *b, jx_atom a, const jx_aval *aval)
{
    const jx_aval *in;
    jx_buffer has = {0}, wants = {0};

    if (!jx_is_made(a))
        return nothing;
    in = jx_atom_aval(a);
    if (in->kind != JX_AVAL_ARRAY || aval->kind != JX_AVAL_ARRAY)
        return a;
    if (in->rank != aval->rank || in->dtype != aval->dtype) {
        jx_aval_print(in, &has);
        jx_aval_print(aval, &wants);
        jx_discharge_fail(b, "expected a value of the type %s, got %s",
                          jx_buffer_text(&wants), jx_buffer_text(&has));
        jx_buffer_free(&has);
        jx_buffer_free(&wants);
        return nothing;
    }
    if (!same_shape(in, aval))
        a = jx_discharge_emit(b, JX_PRIM_copy, 1, &a, NULL, aval);
    return jx_discharge_convert(b, a, aval->dtype, aval->weak);
}
