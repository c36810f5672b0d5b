/* build_index.c - see build_index.h. */
#include "frontend/ir/build_index.h"

static const jx_atom nothing = {NULL, NULL};

jx_atom jx_build_gather_back(jx_body *b, const jx_eqn *scatter, jx_atom from,
                             jx_atom indices)
{
    const jx_p_scatter *s = scatter->typed;
    const jx_scatter_dims *d = &s->dimension_numbers;
    const jx_gather_dims dims = {d->update_window_dims, d->inserted_window_dims,
                                 d->scatter_dims_to_operand_dims,
                                 d->operand_batching_dims,
                                 d->scatter_indices_batching_dims};
    const jx_aval *updates = jx_atom_aval(scatter->ins[2]);
    int rank = jx_atom_aval(scatter->ins[0])->rank;
    const jx_dim **sizes =
        JX_NEW_ARRAY(b->in->program->ctx->arena, rank + 1, const jx_dim *);
    jx_params p = {.program = b->in->program};

    if (!sizes || !jx_is_made(from))
        return nothing;
    for (int i = 0, k = 0; i < rank; i++)
        sizes[i] = jx_ints_hold(d->inserted_window_dims, i) ||
                           jx_ints_hold(d->operand_batching_dims, i)
                       ? jx_body_int(b, 1)
                       : updates->shape[d->update_window_dims.at[k++]];
    jx_put_gather_dims(&p, &dims);
    jx_put_dims(&p, "slice_sizes", rank, sizes);
    jx_put(&p, "mode", jx_eqn_param(scatter, "mode"));
    jx_put_int(&p, "fill_value", 0);
    jx_put_bool(&p, "indices_are_sorted", s->indices_are_sorted);
    jx_put_bool(&p, "unique_indices", s->unique_indices);
    const jx_atom ins[] = {from, indices};
    return jx_build(b, JX_PRIM_gather, &p, 2, ins);
}

/* What a gather took is added where it was. */
jx_atom jx_build_scatter_back(jx_body *b, const jx_eqn *gather, jx_atom indices,
                              jx_atom updates)
{
    const jx_p_gather *g = gather->typed;
    const jx_gather_dims *d = &g->dimension_numbers;
    const jx_scatter_dims dims = {d->offset_dims, d->collapsed_slice_dims,
                                  d->start_index_map, d->operand_batching_dims,
                                  d->start_indices_batching_dims};
    jx_program *program = b->in->program;
    const jx_aval *to = jx_atom_aval(gather->ins[0]);
    jx_params p = {.program = program};

    jx_put_scatter_dims(&p, &dims);
    jx_put(&p, "mode", jx_eqn_param(gather, "mode"));
    jx_put_bool(&p, "indices_are_sorted", g->indices_are_sorted);
    jx_put_bool(&p, "unique_indices", g->unique_indices);
    jx_put_none(&p, "update_jaxpr");
    jx_put(&p, "update_consts", jx_value_of_tuple(program, 0, NULL));
    const jx_atom ins[] = {jx_build_zeros(b, to), indices, updates};
    return jx_is_made(ins[0]) && jx_is_made(updates)
               ? jx_build_one(b, JX_PRIM_scatter_add, &p, 3, ins, to)
               : nothing;
}
