/* batch_shape.c - batching of what changes shapes, of windows and
 * of reductions. */
#include "analyzer/transform/batch_parts.h"

static jx_params no_params(const jx_batch *t)
{
    return (jx_params){.program = t->b->in->program};
}

static const jx_dim *number(const jx_batch *t, int64_t value)
{
    return jx_body_int(t->b, value);
}

/* Operands that say sizes are the same for all. */
static bool has_more(const jx_batch *t)
{
    for (int i = 1; i < t->eqn->nins; i++)
        if (t->has[i])
            return true;
    return false;
}

/* The operand's part is done by `p`; what follows says sizes. */
static bool with_first(jx_batch *t, jx_params *p)
{
    return has_more(t) ? jx_batch_none(t)
                       : jx_batch_with(t, p, t->eqn->nins, t->ins);
}

bool jx_batch_broadcast_in_dim(jx_batch *t)
{
    static const char *const without[] = {"shape", "broadcast_dimensions",
                                          "sharding", NULL};
    const jx_p_broadcast_in_dim *s = t->eqn->typed;
    jx_params p = jx_batch_others(t, without);
    const jx_dim_list shape = jx_batch_sizes(t, t->size, s->shape);

    jx_put_dims(&p, "shape", shape.count, shape.at);
    jx_put_ints(&p, "broadcast_dimensions",
                jx_batch_shifted(t, s->broadcast_dimensions, true));
    jx_put_none(&p, "sharding");
    return with_first(t, &p);
}

bool jx_batch_reshape(jx_batch *t)
{
    static const char *const without[] = {"new_sizes", "dimensions", "sharding",
                                          NULL};
    const jx_p_reshape *s = t->eqn->typed;
    jx_params p = jx_batch_others(t, without);
    const jx_dim_list sizes = jx_batch_sizes(t, t->size, s->new_sizes);

    jx_put_dims(&p, "new_sizes", sizes.count, sizes.at);
    if (jx_eqn_param(t->eqn, "dimensions") && s->dimensions.at)
        jx_put_ints(&p, "dimensions", jx_batch_shifted(t, s->dimensions, true));
    else
        jx_put_none(&p, "dimensions");
    jx_put_none(&p, "sharding");
    return with_first(t, &p);
}

bool jx_batch_transpose(jx_batch *t)
{
    jx_params p = no_params(t);

    jx_put_ints(
        &p, "permutation",
        jx_batch_shifted(
            t, ((const jx_p_transpose *)t->eqn->typed)->permutation, true));
    return jx_batch_with(t, &p, 1, t->ins);
}

bool jx_batch_slice(jx_batch *t)
{
    const jx_p_slice *s = t->eqn->typed;
    const jx_dim_list start = jx_batch_sizes(t, number(t, 0), s->start_indices);
    const jx_dim_list limit = jx_batch_sizes(t, t->size, s->limit_indices);
    const jx_dim_list strides = jx_batch_sizes(t, number(t, 1), s->strides);
    jx_params p = no_params(t);

    jx_put_dims(&p, "start_indices", start.count, start.at);
    jx_put_dims(&p, "limit_indices", limit.count, limit.at);
    if (s->strides.given)
        jx_put_dims(&p, "strides", strides.count, strides.at);
    else
        jx_put_none(&p, "strides");
    return jx_batch_with(t, &p, 1, t->ins);
}

static jx_atom padded(jx_batch *t, jx_atom a, jx_atom with)
{
    const jx_p_pad *s = t->eqn->typed;
    int rank = s->padding_config.count; /* triples */
    const jx_dim **config =
        JX_NEW_ARRAY(jx_batch_arena(t), 3 * (rank + 1), const jx_dim *);
    jx_params p = no_params(t);

    if (!config || !jx_is_made(a) || !jx_is_made(with))
        return (jx_atom){NULL, NULL};
    for (int i = 0; i < 3 * (rank + 1); i++)
        config[i] = i < 3 ? number(t, 0) : s->padding_config.at[i - 3];
    jx_put_tuples(&p, "padding_config", rank + 1, 3, config);
    return jx_build(t->b, JX_PRIM_pad, &p, 2, (const jx_atom[]){a, with});
}

/* Where what it pads with differs, its values replace what one stands for. */
bool jx_batch_pad(jx_batch *t)
{
    jx_atom a = jx_batch_full(t, 0), made, inside;
    const jx_aval *of = jx_is_made(a) ? jx_atom_aval(a) : NULL;
    jx_atom yes = jx_build_number(t->b, JX_BOOL, 1);

    if (!of)
        return false;
    if (!t->has[1])
        return jx_batch_give_one(t, padded(t, a, t->ins[1]));
    made = padded(t, a, jx_build_number(t->b, of->dtype, 0));
    yes =
        jx_build_broadcast(t->b, yes, (jx_ints){0, NULL}, of->rank, of->shape);
    inside = padded(t, yes, jx_build_number(t->b, JX_BOOL, 0));
    return jx_batch_give_one(
        t,
        jx_math_where(t->b, inside, made,
                      jx_batch_spread(t, t->ins[1], true, jx_batch_out(t, 0))));
}

bool jx_batch_tile(jx_batch *t)
{
    const jx_dim_list reps = jx_batch_sizes(
        t, number(t, 1), ((const jx_p_tile *)t->eqn->typed)->reps);
    jx_params p = no_params(t);

    jx_put_dims(&p, "reps", reps.count, reps.at);
    return jx_batch_with(t, &p, 1, t->ins);
}

/* ---- reductions by a function: what they begin with is one for all */

static bool begins_with_many(const jx_batch *t)
{
    for (int i = t->eqn->nouts; i < t->eqn->nins; i++)
        if (t->has[i])
            return true;
    return false;
}

/* The operands with the axis, and what they begin with. */
static const jx_atom *begun(jx_batch *t)
{
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), t->eqn->nins + 1, jx_atom);

    for (int i = 0; ins && i < t->eqn->nins; i++) {
        ins[i] = i < t->eqn->nouts ? jx_batch_full(t, i) : t->ins[i];
        if (!jx_is_made(ins[i]))
            return NULL;
    }
    return ins;
}

bool jx_batch_reduce(jx_batch *t)
{
    static const char *const without[] = {"dimensions", NULL};
    jx_params p = jx_batch_others(t, without);

    if (begins_with_many(t))
        return jx_batch_map(t);
    jx_put_ints(
        &p, "dimensions",
        jx_batch_shifted(t, ((const jx_p_reduce *)t->eqn->typed)->dimensions,
                         false));
    return jx_batch_with(t, &p, t->eqn->nins, begun(t));
}

/* ---- windows: of size 1 along the new axis */

typedef struct window {
    jx_dim_list dimensions;
    jx_ints strides, base, dilation;
    jx_dim_tuples padding;
} window;

static jx_ints with_one(jx_batch *t, jx_ints list)
{
    int64_t *to = jx_batch_room(t, list.count + 1);

    for (int i = 0; to && i <= list.count; i++)
        to[i] = i ? list.at[i - 1] : 1;
    return (jx_ints){to ? list.count + 1 : 0, to};
}

static void put_dilation(jx_batch *t, jx_params *p, const char *name,
                         jx_ints list)
{
    if (list.count)
        jx_put_ints(p, name, with_one(t, list));
    else if (jx_eqn_param(t->eqn, name))
        jx_put_none(p, name);
}

static void put_window(jx_batch *t, jx_params *p, const window *w)
{
    const jx_dim_list sizes = jx_batch_sizes(t, number(t, 1), w->dimensions);
    int rank = w->dimensions.count;
    const jx_dim **padding =
        JX_NEW_ARRAY(jx_batch_arena(t), 2 * (rank + 1), const jx_dim *);

    for (int i = 0; padding && i < 2 * (rank + 1); i++)
        padding[i] = i < 2 ? number(t, 0) : w->padding.at[i - 2];
    jx_put_dims(p, "window_dimensions", sizes.count, sizes.at);
    jx_put_ints(p, "window_strides", with_one(t, w->strides));
    jx_put_tuples(p, "padding", padding ? rank + 1 : 0, 2, padding);
    put_dilation(t, p, "base_dilation", w->base);
    put_dilation(t, p, "window_dilation", w->dilation);
}

#define WINDOW_OF(s)                                                           \
    {                                                                          \
        (s)->window_dimensions, (s)->window_strides, (s)->base_dilation,       \
            (s)->window_dilation, (s)->padding                                 \
    }

static const char *const window_names[] = {
    "window_dimensions", "window_strides",  "padding",
    "base_dilation",     "window_dilation", NULL};

bool jx_batch_window(jx_batch *t)
{
    const jx_p_window *s = t->eqn->typed;
    const window w = WINDOW_OF(s);
    jx_params p = jx_batch_others(t, window_names);

    put_window(t, &p, &w);
    return jx_batch_with(t, &p, 1, t->ins);
}

bool jx_batch_select_window(jx_batch *t)
{
    const jx_p_select_window *s = t->eqn->typed;
    const window w = WINDOW_OF(s);
    jx_params p = jx_batch_others(t, window_names);

    put_window(t, &p, &w);
    return jx_batch_with(t, &p, t->eqn->nins, jx_batch_all(t));
}

bool jx_batch_reduce_window(jx_batch *t)
{
    const jx_p_reduce_window *s = t->eqn->typed;
    const window w = WINDOW_OF(s);
    jx_params p = jx_batch_others(t, window_names);

    if (begins_with_many(t))
        return jx_batch_map(t);
    put_window(t, &p, &w);
    return jx_batch_with(t, &p, t->eqn->nins, begun(t));
}

/* ---- collectives over axes of their operands, which a mapped axis became */

bool jx_batch_allreduce(jx_batch *t)
{
    static const char *const without[] = {"axes", NULL};
    const jx_p_allreduce *s = t->eqn->typed;
    jx_params p = jx_batch_others(t, without);

    if (s->axes.names.count && s->axes.at.count)
        return jx_batch_refuse(
            t, "it goes over axes of its operands and of a mesh");
    if (s->axes.names.count)
        return jx_batch_leading(t);
    jx_put_ints(&p, "axes", jx_batch_shifted(t, s->axes.at, false));
    return jx_batch_with(t, &p, t->eqn->nins, jx_batch_all(t));
}
