/* batch_index.c - batching of what reads and writes at numbers
 * that are computed. */
#include "analyzer/transform/batch_parts.h"

static const jx_atom nothing = {NULL, NULL};
static const jx_ints no_ints = {0, NULL};

static jx_ints range(const jx_batch *t, int from, int count)
{
    int64_t *at = jx_batch_room(t, count);

    for (int i = 0; at && i < count; i++)
        at[i] = from + i;
    return (jx_ints){at ? count : 0, at};
}

/* ---- gather and scatter: where the indices have the axis, too,
 * each reads its own */

bool jx_batch_gather(jx_batch *t)
{
    static const char *const without[] = {"dimension_numbers", "slice_sizes",
                                          NULL};
    const jx_p_gather *g = t->eqn->typed;
    jx_gather_dims d = g->dimension_numbers;
    jx_params p = jx_batch_others(t, without);
    jx_dim_list sizes = g->slice_sizes;

    if (t->has[0]) {
        sizes = jx_batch_sizes(t, t->has[1] ? jx_body_int(t->b, 1) : t->size,
                               sizes);
        d.collapsed_slice_dims =
            jx_batch_shifted(t, d.collapsed_slice_dims, false);
        d.start_index_map = jx_batch_shifted(t, d.start_index_map, false);
        d.operand_batching_dims =
            jx_batch_shifted(t, d.operand_batching_dims, t->has[1]);
    }
    if (t->has[1])
        d.start_indices_batching_dims =
            jx_batch_shifted(t, d.start_indices_batching_dims, t->has[0]);
    d.offset_dims = jx_batch_shifted(t, d.offset_dims, !t->has[1]);
    jx_put_gather_dims(&p, &d);
    jx_put_dims(&p, "slice_sizes", sizes.count, sizes.at);
    return jx_batch_with(t, &p, 2, t->ins);
}

bool jx_batch_scatter(jx_batch *t)
{
    static const char *const without[] = {"dimension_numbers", NULL};
    const jx_p_scatter *s = t->eqn->typed;
    jx_scatter_dims d = s->dimension_numbers;
    jx_params p = jx_batch_others(t, without);
    const jx_atom ins[] = {jx_batch_full(t, 0), t->ins[1], jx_batch_full(t, 2)};
    bool own = t->has[1];

    d.update_window_dims = jx_batch_shifted(t, d.update_window_dims, !own);
    d.inserted_window_dims = jx_batch_shifted(t, d.inserted_window_dims, false);
    d.scatter_dims_to_operand_dims =
        jx_batch_shifted(t, d.scatter_dims_to_operand_dims, false);
    d.operand_batching_dims = jx_batch_shifted(t, d.operand_batching_dims, own);
    if (own)
        d.scatter_indices_batching_dims =
            jx_batch_shifted(t, d.scatter_indices_batching_dims, true);
    jx_put_scatter_dims(&p, &d);
    return jx_is_made(ins[0]) && jx_is_made(ins[2]) &&
           jx_batch_with(t, &p, 3, ins);
}

/* ---- slices that begin at scalars */

static bool same_for_all(const jx_batch *t, int first)
{
    for (int i = first; i < t->eqn->nins; i++)
        if (t->has[i])
            return false;
    return true;
}

/* The operands before `first`, and where it begins: at 0 along the new axis. */
static bool from_zero(jx_batch *t, jx_params *p, int first,
                      const jx_atom *before)
{
    int nins = t->eqn->nins;
    jx_atom *ins = JX_NEW_ARRAY(jx_batch_arena(t), nins + 2, jx_atom);
    jx_dtype dtype = first < nins ? jx_batch_in(t, first)->dtype : JX_I32;

    if (!ins)
        return false;
    for (int i = 0; i < first; i++)
        if (!jx_is_made(ins[i] = before[i]))
            return false;
    ins[first] = jx_build_number(t->b, dtype, 0);
    for (int i = first; i < nins; i++)
        ins[i + 1] = t->ins[i];
    return jx_is_made(ins[first]) && jx_batch_with(t, p, nins + 1, ins);
}

/* The scalars from `first` on as one array, a row for each. */
static jx_atom rows(jx_batch *t, int first)
{
    int count = t->eqn->nins - first;
    jx_atom *columns = JX_NEW_ARRAY(jx_batch_arena(t), count + 1, jx_atom);
    const jx_dim *shape[] = {t->size, jx_body_int(t->b, 1)};

    for (int i = 0; columns && i < count; i++) {
        jx_atom a = jx_batch_full(t, first + i);
        if (!jx_is_made(a))
            return nothing;
        if (i && jx_atom_aval(a)->dtype != jx_batch_in(t, first)->dtype)
            a = jx_build_convert(t->b, a, jx_batch_in(t, first)->dtype, false);
        columns[i] = jx_build_reshape(t->b, a, 2, shape);
    }
    return columns ? jx_build_concatenate(t->b, count, columns, 1) : nothing;
}

static void put_clipped(jx_params *p)
{
    jx_put_enum(p, "mode", "GatherScatterMode.CLIP");
    jx_put_bool(p, "indices_are_sorted", true);
    jx_put_bool(p, "unique_indices", true);
}

bool jx_batch_dynamic_slice(jx_batch *t)
{
    const jx_p_dynamic_slice *s = t->eqn->typed;
    int rank = jx_batch_in(t, 0)->rank;
    jx_params p = {.program = t->b->in->program};
    const jx_dim_list sizes =
        t->has[0] ? jx_batch_sizes(
                        t, same_for_all(t, 1) ? t->size : jx_body_int(t->b, 1),
                        s->slice_sizes)
                  : s->slice_sizes;

    jx_put_dims(&p, "slice_sizes", sizes.count, sizes.at);
    if (same_for_all(t, 1))
        return from_zero(t, &p, 1, t->ins);
    const int64_t front = 0;
    const jx_ints batch = {t->has[0], &front};
    const jx_gather_dims d = {range(t, 1, rank), no_ints,
                              range(t, t->has[0], rank), batch, batch};
    const jx_atom ins[] = {t->ins[0], rows(t, 1)};
    jx_put_gather_dims(&p, &d);
    put_clipped(&p);
    jx_put_none(&p, "fill_value");
    return jx_is_made(ins[1]) &&
           jx_batch_give_one(t, jx_build(t->b, JX_PRIM_gather, &p, 2, ins));
}

bool jx_batch_dynamic_update_slice(jx_batch *t)
{
    int rank = jx_batch_in(t, 0)->rank;
    jx_params p = {.program = t->b->in->program};
    const jx_atom both[] = {jx_batch_full(t, 0), jx_batch_full(t, 1)};

    if (same_for_all(t, 2))
        return from_zero(t, NULL, 2, both);
    const int64_t front = 0;
    const jx_ints batch = {1, &front};
    const jx_scatter_dims d = {range(t, 1, rank), no_ints, range(t, 1, rank),
                               batch, batch};
    const jx_atom ins[] = {both[0], rows(t, 2), both[1]};
    jx_put_scatter_dims(&p, &d);
    put_clipped(&p);
    jx_put_none(&p, "update_jaxpr");
    jx_put(&p, "update_consts", jx_value_of_tuple(p.program, 0, NULL));
    return jx_is_made(ins[0]) && jx_is_made(ins[1]) && jx_is_made(ins[2]) &&
           jx_batch_give_one(t, jx_build(t->b, JX_PRIM_scatter, &p, 3, ins));
}

/* ---- random bits: as in JAX, those of the first state are for all, and no
 * other state goes on */

bool jx_batch_rng_bit_generator(jx_batch *t)
{
    static const char *const without[] = {"shape", NULL};
    const jx_p_rng_bit_generator *s = t->eqn->typed;
    const jx_aval *state = jx_batch_in(t, 0);
    const jx_dim_list shape = jx_batch_sizes(t, t->size, s->shape);
    const jx_dim *one = jx_body_int(t->b, 1);
    jx_params p = jx_batch_others(t, without);
    jx_atom first =
                jx_build_slice(t->b, t->ins[0], 0, jx_body_int(t->b, 0), one),
            both[2];
    const jx_atom *made;

    jx_put_dims(&p, "shape", shape.count, shape.at);
    first = jx_is_made(first)
                ? jx_build_reshape(t->b, first, state->rank, state->shape)
                : first;
    made = jx_is_made(first)
               ? jx_build_all(t->b, t->eqn->prim, &p, 1, &first, 2)
               : NULL;
    if (!made)
        return false;
    both[0] = jx_build_reshape(
        t->b, made[0], state->rank + 1,
        jx_batch_sizes(t, one, (jx_dim_list){state->rank, state->shape, true})
            .at);
    both[1] = jx_build_slice(t->b, t->ins[0], 0, one, t->size);
    return jx_batch_give(
        t, (const jx_atom[]){jx_build_concatenate(t->b, 2, both, 0), made[1]});
}
