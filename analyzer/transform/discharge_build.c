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

bool jx_discharge_fail(jx_discharging *b, const char *format, ...)
{
    const jx_frame *frame = b->eqn ? jx_user_frame(b->eqn->stack) : NULL;
    const char *place, *line = "";
    char why[256];
    va_list args;

    va_start(args, format);
    jx_vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (frame)
        line = jx_arena_printf(arena_of(b), ", %s:%d", frame->file->path,
                               frame->line);
    place = b->eqn ? jx_arena_printf(arena_of(b),
                                     "equation %d of jaxpr %d (%s)%s",
                                     (int)(b->eqn - b->from->eqns),
                                     b->from->id, jx_eqn_name(b->eqn), line)
                   : jx_arena_printf(arena_of(b), "jaxpr %d", b->from->id);
    return jx_fail(b->d->ctx, JX_E_INPUT, b->d->program->path, place, "%s",
                   why);
}

/* ---- avals and variables */

const jx_aval *jx_discharge_aval(jx_discharging *b, const jx_aval *like,
                                 jx_dtype dtype, int rank,
                                 const jx_dim *const *shape)
{
    jx_aval aval = *like;

    aval.dtype = dtype;
    aval.weak = false;
    aval.shape = shape;
    aval.impl = dtype == JX_KEY ? like->impl : NULL;
    if (rank != like->rank)
        aval.spec = NULL;
    aval.rank = rank;
    return jx_aval_add(&b->d->program->avals, &aval);
}

const jx_var *jx_discharge_var(jx_discharging *b, const jx_aval *aval,
                               bool dropped)
{
    jx_var *var = JX_NEW(arena_of(b), jx_var);

    if (!var || !aval)
        return NULL;
    *var = (jx_var){aval, (int)b->vars.count, dropped};
    JX_PUSH(arena_of(b), &b->vars, var);
    return var;
}

/* ---- parameters */

static const jx_value *kept(const jx_new_params *p, const jx_value *like)
{
    return jx_value_add(&p->b->d->program->values, like);
}

void jx_put_value(jx_new_params *p, const char *name, const jx_value *value)
{
    if (p->count < JX_DISCHARGE_PARAMS)
        p->at[p->count++] =
            (jx_param){jx_intern_text(p->b->d->ctx, name), value};
}

void jx_put_none(jx_new_params *p, const char *name)
{
    jx_value v = {.tag = JX_V_NONE};

    jx_put_value(p, name, kept(p, &v));
}

void jx_put_bool(jx_new_params *p, const char *name, bool value)
{
    jx_value v = {.tag = JX_V_BOOL, .boolean = value};

    jx_put_value(p, name, kept(p, &v));
}

void jx_put_int(jx_new_params *p, const char *name, int64_t value)
{
    jx_value v = {.tag = JX_V_INT, .integer = value};

    jx_put_value(p, name, kept(p, &v));
}

void jx_put_text(jx_new_params *p, jx_value_tag tag, const char *name,
                 const char *text)
{
    jx_value v = {.tag = tag, .text = jx_intern_text(p->b->d->ctx, text)};

    jx_put_value(p, name, kept(p, &v));
}

void jx_put_dtype(jx_new_params *p, const char *name, jx_dtype dtype)
{
    jx_value v = {.tag = JX_V_DTYPE,
                  .dtype = dtype,
                  .text = jx_intern_text(p->b->d->ctx,
                                         jx_dtype_of(dtype)->name)};

    jx_put_value(p, name, kept(p, &v));
}

static const jx_value *tuple(const jx_new_params *p, int count,
                             const jx_value *const *items)
{
    jx_value v = {.tag = JX_V_TUPLE, .count = count, .items = items};

    return kept(p, &v);
}

static const jx_value *ints_value(const jx_new_params *p, int count,
                                  const int64_t *at)
{
    const jx_value **items =
        JX_NEW_ARRAY(arena_of(p->b), count, const jx_value *);

    for (int i = 0; items && i < count; i++) {
        jx_value v = {.tag = JX_V_INT, .integer = at[i]};
        items[i] = kept(p, &v);
    }
    return items ? tuple(p, count, items) : NULL;
}

void jx_put_ints(jx_new_params *p, const char *name, int count,
                 const int64_t *at)
{
    jx_put_value(p, name, ints_value(p, count, at));
}

void jx_put_dims(jx_new_params *p, const char *name, int count,
                 const jx_dim *const *at)
{
    const jx_value **items =
        JX_NEW_ARRAY(arena_of(p->b), count, const jx_value *);

    for (int i = 0; items && i < count; i++) {
        jx_value v = {.tag = JX_V_DIM, .dim = at[i]};
        if (at[i] && jx_dim_is_int(at[i], &v.integer))
            v = (jx_value){.tag = JX_V_INT, .integer = v.integer};
        items[i] = kept(p, &v);
    }
    jx_put_value(p, name, items ? tuple(p, count, items) : NULL);
}

void jx_put_numbers(jx_new_params *p, const char *record, int count,
                    const char *const *keys, const jx_ints *ints)
{
    const jx_value **items =
        JX_NEW_ARRAY(arena_of(p->b), count, const jx_value *);
    const char **names = JX_NEW_ARRAY(arena_of(p->b), count, const char *);

    for (int i = 0; items && names && i < count; i++) {
        items[i] = ints_value(p, ints[i].count, ints[i].at);
        names[i] = jx_intern_text(p->b->d->ctx, keys[i]);
    }
    jx_value v = {.tag = JX_V_RECORD,
                  .text = jx_intern_text(p->b->d->ctx, record),
                  .count = count,
                  .items = items,
                  .keys = names};
    jx_put_value(p, "dimension_numbers", items && names ? kept(p, &v) : NULL);
}

/* ---- equations */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const jx_param *)a)->name, ((const jx_param *)b)->name);
}

static bool has_all(int nins, const jx_atom *ins, int nparams,
                    const jx_param *params)
{
    for (int i = 0; i < nins; i++)
        if (!jx_is_made(ins[i]))
            return false;
    for (int i = 0; i < nparams; i++)
        if (!params[i].value || !params[i].name)
            return false;
    return true;
}

/* What the equation says beside its primitive: where it stands, and effects that
 * have nothing to do with references. */
static jx_eqn begin_eqn(const jx_discharging *b, const jx_prim *prim)
{
    jx_eqn to = {.prim = prim};

    if (b->eqn) {
        to.stack = b->eqn->stack;
        to.name_stack = b->eqn->name_stack;
        to.ctx = b->eqn->ctx;
    }
    return to;
}

static const jx_var **new_outs(jx_discharging *b, int count,
                               const jx_aval *const *avals, jx_atom *atoms)
{
    const jx_var **outs = JX_NEW_ARRAY(arena_of(b), count, const jx_var *);

    for (int i = 0; outs && i < count; i++) {
        outs[i] = jx_discharge_var(b, avals[i], false);
        if (!outs[i])
            return NULL;
        atoms[i] = (jx_atom){outs[i], NULL};
    }
    return outs;
}

const jx_atom *jx_discharge_emit_all(jx_discharging *b, const jx_prim *prim,
                                     int nins, const jx_atom *ins, int nparams,
                                     const jx_param *params, int nouts,
                                     const jx_aval *const *outs)
{
    jx_eqn to = begin_eqn(b, prim);
    jx_atom *atoms = JX_NEW_ARRAY(arena_of(b), nouts, jx_atom);
    jx_param *sorted;
    const char *why = NULL;

    if (!prim || !atoms || !has_all(nins, ins, nparams, params))
        return NULL;
    sorted = jx_arena_copy(arena_of(b), params,
                           (size_t)nparams * sizeof *params);
    to.nins = nins;
    to.ins = jx_arena_copy(arena_of(b), ins, (size_t)nins * sizeof *ins);
    if (!sorted || !to.ins)
        return NULL;
    qsort(sorted, (size_t)nparams, sizeof *sorted, by_name);
    to.nparams = nparams;
    to.params = sorted;
    to.nouts = nouts;
    to.outs = new_outs(b, nouts, outs, atoms);
    if (!to.outs)
        return NULL;
    if (prim->id != JX_PRIM_unknown)
        to.typed = jx_params_decode(b->d->program, &to, &why);
    if (!why)
        why = jx_eqn_misfit(b->d->ctx, &to);
    if (why) {
        jx_discharge_fail(b, "%s", why);
        return NULL;
    }
    JX_PUSH(arena_of(b), &b->eqns, to);
    return atoms;
}

jx_atom jx_discharge_emit(jx_discharging *b, jx_prim_id prim, int nins,
                          const jx_atom *ins, jx_new_params *params,
                          const jx_aval *out)
{
    const jx_atom *made =
        out ? jx_discharge_emit_all(b, jx_prim_of(prim), nins, ins,
                                    params ? params->count : 0,
                                    params ? params->at : NULL, 1, &out)
            : NULL;

    return made ? made[0] : nothing;
}

jx_atom jx_discharge_two(jx_discharging *b, jx_prim_id prim, jx_atom a,
                         jx_atom c, const jx_aval *out)
{
    jx_atom ins[] = {a, c};

    return jx_discharge_emit(b, prim, 2, ins, NULL, out);
}

/* ---- small ones */

jx_atom jx_discharge_number(jx_discharging *b, jx_dtype dtype, int64_t value)
{
    jx_literal *literal = JX_NEW(arena_of(b), jx_literal);

    if (!literal)
        return nothing;
    literal->aval = jx_aval_array(&b->d->program->avals, dtype, false, 0, NULL);
    memcpy(literal->bits, &value, sizeof value);
    memset(literal->bits + jx_dtype_of(dtype)->bytes, 0,
           sizeof literal->bits - jx_dtype_of(dtype)->bytes);
    return literal->aval ? (jx_atom){NULL, literal} : nothing;
}

jx_atom jx_discharge_size(jx_discharging *b, const jx_dim *dim)
{
    jx_literal *literal;
    int64_t value;

    if (!dim)
        return nothing;
    if (jx_dim_is_int(dim, &value) && value >= INT32_MIN && value <= INT32_MAX)
        return jx_discharge_number(b, JX_I32, value);
    literal = JX_NEW(arena_of(b), jx_literal);
    if (!literal)
        return nothing;
    literal->aval =
        jx_aval_array(&b->d->program->avals, JX_I32, false, 0, NULL);
    literal->dim = dim;
    return literal->aval ? (jx_atom){NULL, literal} : nothing;
}

jx_atom jx_discharge_convert(jx_discharging *b, jx_atom a, jx_dtype dtype,
                             bool weak)
{
    jx_new_params p = {.b = b};
    const jx_aval *in;
    jx_aval out;

    if (!jx_is_made(a))
        return nothing;
    in = jx_atom_aval(a);
    if (in->dtype == dtype && in->weak == weak)
        return a;
    jx_put_dtype(&p, "new_dtype", dtype);
    jx_put_bool(&p, "weak_type", weak);
    jx_put_none(&p, "sharding");
    out = *in;
    out.dtype = dtype;
    out.weak = weak;
    return jx_discharge_emit(b, JX_PRIM_convert_element_type, 1, &a, &p,
                             jx_aval_add(&b->d->program->avals, &out));
}

jx_atom jx_discharge_reshape(jx_discharging *b, jx_atom a, int rank,
                             const jx_dim *const *shape)
{
    jx_new_params p = {.b = b};

    if (!jx_is_made(a))
        return nothing;
    jx_put_none(&p, "dimensions");
    jx_put_dims(&p, "new_sizes", rank, shape);
    jx_put_none(&p, "sharding");
    return jx_discharge_emit(b, JX_PRIM_reshape, 1, &a, &p,
                             jx_discharge_aval(b, jx_atom_aval(a),
                                               jx_atom_aval(a)->dtype, rank,
                                               shape));
}

jx_atom jx_discharge_transpose(jx_discharging *b, jx_atom a, jx_ints order)
{
    jx_new_params p = {.b = b};
    const jx_dim **shape =
        JX_NEW_ARRAY(arena_of(b), order.count, const jx_dim *);
    const jx_aval *in;

    if (!jx_is_made(a) || !shape)
        return nothing;
    in = jx_atom_aval(a);
    for (int i = 0; i < order.count; i++)
        shape[i] = in->shape[order.at[i]];
    jx_put_ints(&p, "permutation", order.count, order.at);
    return jx_discharge_emit(b, JX_PRIM_transpose, 1, &a, &p,
                             jx_discharge_aval(b, in, in->dtype, in->rank,
                                               shape));
}

jx_atom jx_discharge_bitcast(jx_discharging *b, jx_atom a, jx_dtype dtype)
{
    jx_new_params p = {.b = b};
    const jx_aval *in;

    if (!jx_is_made(a))
        return nothing;
    in = jx_atom_aval(a);
    jx_put_dtype(&p, "new_dtype", dtype);
    return jx_discharge_emit(b, JX_PRIM_bitcast_convert_type, 1, &a, &p,
                             jx_discharge_aval(b, in, dtype, in->rank,
                                               in->shape));
}

jx_atom jx_discharge_broadcast(jx_discharging *b, jx_atom a, int rank,
                               const jx_dim *const *shape, const int64_t *dims)
{
    jx_new_params p = {.b = b};
    const jx_aval *in;

    if (!jx_is_made(a))
        return nothing;
    in = jx_atom_aval(a);
    jx_put_ints(&p, "broadcast_dimensions", in->rank, dims);
    jx_put_dims(&p, "shape", rank, shape);
    jx_put_none(&p, "sharding");
    return jx_discharge_emit(b, JX_PRIM_broadcast_in_dim, 1, &a, &p,
                             jx_discharge_aval(b, in, in->dtype, rank,
                                               shape));
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
