/* refine_values.c - see refine_parts.h. */
#include "analyzer/transform/refine_parts.h"

#include "frontend/ir/fold.h"

/* ---- what can go wrong, and where */

static const char *place_of(const jx_refiner *r)
{
    const jx_frame *frame = jx_user_frame(r->eqn ? r->eqn->stack : r->stack);

    if (!r->jaxpr)
        return frame ? jx_arena_printf(jx_refiner_arena(r), "%s:%d",
                                       frame->file->path, frame->line)
                     : NULL;
    if (!r->eqn)
        return jx_arena_printf(jx_refiner_arena(r), "inputs of jaxpr %d",
                               r->jaxpr->id);
    if (!frame)
        return jx_arena_printf(
            jx_refiner_arena(r), "equation %d of jaxpr %d (%s)",
            (int)(r->eqn - r->jaxpr->eqns), r->jaxpr->id, jx_eqn_name(r->eqn));
    return jx_arena_printf(jx_refiner_arena(r),
                           "equation %d of jaxpr %d (%s), %s:%d",
                           (int)(r->eqn - r->jaxpr->eqns), r->jaxpr->id,
                           jx_eqn_name(r->eqn), frame->file->path, frame->line);
}

static const char *text_of(const jx_refiner *r, const jx_dim *dim)
{
    jx_buffer text = jx_ctx_text(r->ctx);

    jx_dim_print(dim, &text);
    const char *kept = jx_arena_take(jx_refiner_arena(r), &text);
    return kept ? kept : "";
}

const char *jx_refiner_sizes_text(const jx_refiner *r)
{
    jx_buffer text = jx_ctx_text(r->ctx);

    for (int i = 0; i < r->sizes.count; i++)
        jx_buffer_printf(&text, "%s%s = %lld", i ? ", " : " at ",
                         r->sizes.at[i].var->name,
                         (long long)r->sizes.at[i].value);
    const char *kept = jx_arena_take(jx_refiner_arena(r), &text);
    return kept ? kept : "";
}

bool jx_refiner_refuse_as(const jx_refiner *r, const char *what)
{
    return jx_fail(r->ctx, JX_E_INPUT, r->from->path, place_of(r), "%s",
                   what ? what : "there is no memory");
}

bool jx_refiner_refuse(const jx_refiner *r, const char *what)
{
    return jx_refiner_refuse_as(
        r, jx_arena_printf(jx_refiner_arena(r), "%s%s",
                           what ? what : "there is no memory",
                           jx_refiner_sizes_text(r)));
}

/* ---- dims */

bool jx_refiner_put_size(void *env, const jx_dim_atom *atom, const jx_dim **put)
{
    jx_refiner *r = env;
    jx_dims *dims = r->to->dims;
    int64_t value;

    if (atom->kind == JX_ATOM_VAR) {
        if (jx_assigned(&r->sizes, atom, &value))
            *put = jx_dim_int(dims, value);
        return true;
    }
    const jx_dim *a = jx_dim_map(dims, atom->a, jx_refiner_put_size, r);
    const jx_dim *b = jx_dim_map(dims, atom->b, jx_refiner_put_size, r);
    bool divides = atom->kind == JX_ATOM_FLOORDIV || atom->kind == JX_ATOM_MOD;
    if (divides && b && jx_dim_is_int(b, &value) && value == 0) {
        r->divisor = atom->b;
        return false;
    }
    if (a && b && (a != atom->a || b != atom->b))
        *put = jx_dim_apply(dims, atom->kind, a, b);
    return a && b && (*put || (a == atom->a && b == atom->b));
}

const jx_dim *jx_refined_dim(jx_refiner *r, const jx_dim *dim)
{
    const jx_dim *to;

    r->divisor = NULL;
    to = r->put ? jx_dim_import(r->to->dims, dim, r->put, r->env)
         : dim  ? jx_dim_map(r->to->dims, dim, jx_refiner_put_size, r)
                : NULL;
    if (to)
        return to;
    if (r->divisor)
        jx_refiner_refuse(r, jx_arena_printf(jx_refiner_arena(r),
                                             "the divisor %s is 0",
                                             text_of(r, r->divisor)));
    else
        jx_refiner_refuse(r, jx_arena_printf(jx_refiner_arena(r),
                                             "%s does not fit in 128 bits",
                                             dim ? text_of(r, dim) : "a size"));
    return NULL;
}

/* A size among shapes and parameters: with `wrapping` as the program computes
 * it, in integers that wrap, of which the low 32 bits are used. */
static const jx_dim *new_size(jx_refiner *r, const jx_dim *dim)
{
    const jx_dim *to = jx_refined_dim(r, dim);
    jx_int exact;
    int64_t value;

    if (!to || to == dim || !r->wrapping || !jx_dim_is_wide(to, &exact))
        return to;
    if (!jx_dim_eval_wrapped(dim, r->from->x64 ? 64 : 32, jx_assigned,
                             &r->sizes, &value)) {
        jx_refiner_refuse(
            r, jx_arena_printf(jx_refiner_arena(r),
                               "%s divides by 0 in the program's own "
                               "integers",
                               text_of(r, dim)));
        return NULL;
    }
    value = (int64_t)(int32_t)(uint32_t)(uint64_t)value;
    return value == exact ? to : jx_dim_int(r->to->dims, value);
}

/* The size of an axis, which can't be negative. */
static const jx_dim *new_extent(jx_refiner *r, const jx_dim *dim)
{
    const jx_dim *to = new_size(r, dim);
    jx_int value;

    if (to && to != dim && jx_dim_is_wide(to, &value) &&
        (value < 0 || value > INT64_MAX)) {
        jx_refiner_refuse(r, jx_arena_printf(jx_refiner_arena(r),
                                             "the size %s is %s",
                                             text_of(r, dim), text_of(r, to)));
        return NULL;
    }
    return to;
}

/* ---- one new thing for each old one */

static const void *keep_done(jx_refiner *r, const void *before,
                             const void *after)
{
    return after && jx_map_put(&r->done, before, after) ? after : NULL;
}

/* ---- avals, arrays, literals */

static const jx_aval *make_aval(jx_refiner *r, const jx_aval *aval)
{
    jx_aval like = *aval;
    const jx_dim **shape =
        JX_NEW_ARRAY(jx_refiner_arena(r), aval->rank, const jx_dim *);

    if (!shape)
        return NULL;
    for (int i = 0; i < aval->rank; i++)
        if (!(shape[i] = new_extent(r, aval->shape[i])))
            return NULL;
    like.shape = shape;
    if (aval->mesh && r->meshes)
        like.mesh = 1 + r->meshes[aval->mesh - 1];
    if (aval->spec && !(like.spec = jx_refined_value(r, aval->spec)))
        return NULL;
    return jx_aval_add(&r->to->avals, &like);
}

/* Arrays hold arrays by `of` at most once or twice: no deep recursion. */
const jx_aval *jx_refined_aval(jx_refiner *r, const jx_aval *aval)
{
    const void *kept = jx_map_get(&r->done, aval);

    if (kept)
        return kept;
    if (aval->of) {
        jx_aval like = *aval;
        like.of = jx_refined_aval(r, aval->of);
        return like.of ? keep_done(r, aval, make_aval(r, &like)) : NULL;
    }
    return keep_done(r, aval, make_aval(r, aval));
}

static const jx_array *new_array(jx_refiner *r, const jx_array *array)
{
    const void *kept = jx_map_get(&r->done, array);
    jx_array *to;

    if (kept || !array)
        return kept;
    to = jx_arena_copy(jx_refiner_arena(r), array, sizeof *array);
    if (!to || !(to->aval = jx_refined_aval(r, array->aval)))
        return NULL;
    return keep_done(r, array, to);
}

const jx_literal *jx_refined_size(jx_refiner *r, const jx_dim *dim,
                                  const jx_aval *aval)
{
    jx_literal *to = JX_NEW(jx_refiner_arena(r), jx_literal);
    const jx_dim *now = jx_refined_dim(r, dim);
    int bits = r->from->x64 ? 64 : 32;
    jx_int exact;
    int64_t value;

    if (!to || !now)
        return NULL;
    to->aval = aval;
    if (!jx_dim_is_wide(now, &exact)) {
        to->dim = now;
        return to;
    }
    if (!jx_dim_eval_wrapped(dim, bits, jx_assigned, &r->sizes, &value)) {
        jx_refiner_refuse(
            r, jx_arena_printf(jx_refiner_arena(r),
                               "%s divides by 0 in the program's own "
                               "%d-bit integers",
                               text_of(r, dim), bits));
        return NULL;
    }
    const jx_scalar number = {JX_I64, (const unsigned char *)&value};
    if (!jx_fold(JX_PRIM_convert_element_type, 1, &number, aval->dtype,
                 to->bits))
        to->dim = jx_dim_int(r->to->dims, value);
    return to;
}

const jx_literal *jx_refined_literal(jx_refiner *r, const jx_literal *literal)
{
    const jx_aval *aval = jx_refined_aval(r, literal->aval);
    jx_literal *to;

    if (!aval)
        return NULL;
    if (literal->dim)
        return jx_refined_size(r, literal->dim, aval);
    to = jx_arena_copy(jx_refiner_arena(r), literal, sizeof *literal);
    if (!to)
        return NULL;
    to->aval = aval;
    if (literal->array && !(to->array = new_array(r, literal->array)))
        return NULL;
    return to;
}

/* ---- parameters */

static const jx_value *const *new_items(jx_refiner *r, const jx_value *value)
{
    const jx_value **to =
        JX_NEW_ARRAY(jx_refiner_arena(r), value->count, const jx_value *);

    for (int i = 0; to && i < value->count; i++)
        if (!(to[i] = jx_refined_value(r, value->items[i])))
            return NULL;
    return to;
}

/* A size among parameters: a number is written as one. */
static bool put_dim(jx_refiner *r, const jx_value *value, jx_value *to)
{
    int64_t number;

    to->dim = new_size(r, value->dim);
    if (!to->dim)
        return false;
    if (jx_dim_is_int(to->dim, &number))
        *to = (jx_value){.tag = JX_V_INT, .integer = number};
    return true;
}

static void put_rule(const jx_refiner *r, const jx_value *value, jx_value *to)
{
    if (!r->bare) {
        to->rule = &r->rules[value->rule->id];
        return;
    }
    *to = (jx_value){.tag = JX_V_FUNCTION,
                     .text = value->text ? value->text : value->rule->name};
    if (!to->text)
        to->text = jx_intern_text(r->ctx, "rule");
}

static bool fill_value(jx_refiner *r, const jx_value *value, jx_value *to)
{
    *to = *value;
    if (value->items && !(to->items = new_items(r, value)))
        return false;
    if (value->unreduced &&
        !(to->unreduced = jx_refined_value(r, value->unreduced)))
        return false;
    if (value->reduced && !(to->reduced = jx_refined_value(r, value->reduced)))
        return false;
    if (value->shown && !(to->shown = jx_refined_value(r, value->shown)))
        return false;
    if (value->array && !(to->array = new_array(r, value->array)))
        return false;
    if (value->aval && !(to->aval = jx_refined_aval(r, value->aval)))
        return false;
    if (value->jaxpr && !(to->jaxpr = r->jaxprs[value->jaxpr->id]))
        return jx_refiner_refuse(r, "a nested jaxpr comes after its user");
    if (value->rule && r->part)
        return jx_refiner_refuse(
            r, "it calls a function with a rule of its own (PRM002)");
    if (value->rule)
        put_rule(r, value, to);
    if (value->definition && r->bare)
        *to = (jx_value){.tag = JX_V_NONE};
    else if (value->definition)
        to->definition = &r->definitions[value->definition->id];
    if (r->meshes && (value->tag == JX_V_MESH || value->tag == JX_V_SHARDING))
        to->integer = r->meshes[value->integer];
    return value->tag != JX_V_DIM || put_dim(r, value, to);
}

const jx_value *jx_refined_value(jx_refiner *r, const jx_value *value)
{
    const void *kept = jx_map_get(&r->done, value);
    jx_value like;

    if (kept)
        return kept;
    if (!fill_value(r, value, &like))
        return NULL;
    return keep_done(r, value, jx_value_add(&r->to->values, &like));
}

bool jx_refined_closed(jx_refiner *r, const jx_closed *closed, jx_closed *to)
{
    const jx_array **consts =
        JX_NEW_ARRAY(jx_refiner_arena(r), closed->nconsts, const jx_array *);

    *to = (jx_closed){0};
    if (!closed->jaxpr)
        return true;
    for (int i = 0; consts && i < closed->nconsts; i++)
        if (closed->consts[i] && !(consts[i] = new_array(r, closed->consts[i])))
            return false;
    *to = (jx_closed){r->jaxprs[closed->jaxpr->id], closed->nconsts, consts};
    return consts && to->jaxpr;
}
