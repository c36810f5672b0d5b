/* build_matrix.c - see build_matrix.h. */
#include "frontend/ir/build_matrix.h"

#include "frontend/base/assert.h"

static const jx_atom nothing = {NULL, NULL};

static int rank_of(jx_atom a)
{
    return jx_atom_aval(a)->rank;
}

const jx_dim *jx_matrix_rows(jx_atom a)
{
    return jx_atom_aval(a)->shape[rank_of(a) - 2];
}

const jx_dim *jx_matrix_columns(jx_atom a)
{
    return jx_atom_aval(a)->shape[rank_of(a) - 1];
}

/* The numbers of axes up to `count`. */
static int64_t *axes_to(jx_body *b, int count)
{
    int64_t *axes =
        JX_NEW_ARRAY(b->in->program->ctx->arena, count + 1, int64_t);

    for (int i = 0; axes && i < count; i++)
        axes[i] = i;
    return axes;
}

static jx_params no_params(jx_body *b)
{
    return (jx_params){.program = b->in->program};
}

jx_atom jx_matrix_as(jx_body *b, jx_atom a, jx_dtype dtype)
{
    return !jx_is_made(a) || jx_atom_aval(a)->dtype == dtype
               ? a
               : jx_build_convert(b, a, dtype, false);
}

jx_atom jx_matrix_real(jx_body *b, jx_atom a)
{
    return jx_is_made(a) && jx_dtype_is_complex(jx_atom_aval(a)->dtype)
               ? jx_math_1(b, JX_PRIM_real, a)
               : a;
}

jx_atom jx_matrix_conjugate(jx_body *b, jx_atom a)
{
    jx_params p = no_params(b);

    if (!jx_is_made(a) || !jx_dtype_is_complex(jx_atom_aval(a)->dtype))
        return a;
    jx_put_dtype(&p, "input_dtype", jx_atom_aval(a)->dtype);
    return jx_build(b, JX_PRIM_conj, &p, 1, &a);
}

jx_atom jx_matrix_transpose(jx_body *b, jx_atom a)
{
    int64_t *order = jx_is_made(a) ? axes_to(b, rank_of(a)) : NULL;
    int rank = order ? rank_of(a) : 0;

    if (!order)
        return nothing;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return jx_build_transpose(b, a, (jx_ints){rank, order});
}

jx_atom jx_matrix_adjoint(jx_body *b, jx_atom a)
{
    return jx_matrix_conjugate(b, jx_matrix_transpose(b, a));
}

jx_atom jx_matrix_dot(jx_body *b, jx_atom a, jx_atom c)
{
    jx_program *program = b->in->program;
    const jx_value *highest = jx_value_add(
        &program->values,
        &(jx_value){.tag = JX_V_ENUM, .text = "Precision.HIGHEST"});
    const jx_value *precision[] = {highest, highest};
    int64_t *axes =
        jx_is_made(a) && jx_is_made(c) ? axes_to(b, rank_of(a)) : NULL;
    jx_params p = no_params(b);

    if (!axes)
        return nothing;
    int rank = rank_of(a);
    const jx_ints batch = {rank - 2, axes};
    const jx_dot_dims dims = {{1, (const int64_t[]){rank - 1}},
                              {1, (const int64_t[]){rank - 2}},
                              batch,
                              batch};
    jx_put_dot_dims(&p, &dims);
    jx_put(&p, "precision", jx_value_of_tuple(program, 2, precision));
    jx_put_dtype(&p, "preferred_element_type", jx_atom_aval(a)->dtype);
    return jx_build(b, JX_PRIM_dot_general, &p, 2, (const jx_atom[]){a, c});
}

/* Of each element of a matrix of the shape of `like` its row's or
 * column's number. */
static jx_atom numbers(jx_body *b, jx_atom like, int from_last)
{
    const jx_aval *of = jx_atom_aval(like);
    jx_params p = no_params(b);

    jx_put_dtype(&p, "dtype", JX_I32);
    jx_put_dims(&p, "shape", of->rank, of->shape);
    jx_put_int(&p, "dimension", of->rank - from_last);
    jx_put_none(&p, "sharding");
    return jx_build(b, JX_PRIM_iota, &p, 0, NULL);
}

/* Where the number of the row, and `above`, is to that of the
 * column as `is` says. */
static jx_atom triangle(jx_body *b, jx_atom a, int above, jx_prim_id is)
{
    jx_atom row;

    if (!jx_is_made(a))
        return a;
    row = numbers(b, a, 2);
    if (above)
        row = jx_math_plus(b, row, above);
    return jx_math_where(b, jx_math_2(b, is, row, numbers(b, a, 1)), a,
                         jx_math_all(b, a, 0));
}

jx_atom jx_matrix_lower(jx_body *b, jx_atom a, int above)
{
    return triangle(b, a, above, JX_PRIM_ge);
}

jx_atom jx_matrix_upper(jx_body *b, jx_atom a, int above)
{
    return triangle(b, a, above, JX_PRIM_le);
}

/* Whether elements of a matrix like that are on its diagonal. */
static jx_atom on_diagonal(jx_body *b, jx_atom like)
{
    return jx_is_made(like) ? jx_math_2(b, JX_PRIM_eq, numbers(b, like, 2),
                                        numbers(b, like, 1))
                            : nothing;
}

jx_atom jx_matrix_eye(jx_body *b, jx_atom like)
{
    jx_atom is = on_diagonal(b, like);

    return jx_is_made(is) ? jx_matrix_as(b, is, jx_atom_aval(like)->dtype) : is;
}

jx_atom jx_matrix_sum(jx_body *b, jx_atom a, int from_last)
{
    jx_params p = no_params(b);

    if (!jx_is_made(a))
        return a;
    jx_put_ints(&p, "axes",
                (jx_ints){1, (const int64_t[]){rank_of(a) - from_last}});
    return jx_build(b, JX_PRIM_reduce_sum, &p, 1, &a);
}

jx_atom jx_matrix_diagonal(jx_body *b, jx_atom a)
{
    jx_atom is = on_diagonal(b, a);

    return jx_is_made(is)
               ? jx_matrix_sum(b, jx_math_where(b, is, a, jx_math_all(b, a, 0)),
                               1)
               : is;
}

/* The elements of `v` lie along that axis of a matrix like that. */
static jx_atom spread(jx_body *b, jx_atom v, jx_atom like, int from_last)
{
    int64_t *axes =
        jx_is_made(v) && jx_is_made(like) ? axes_to(b, rank_of(like)) : NULL;

    if (!axes)
        return nothing;
    int rank = rank_of(like);
    axes[rank - 2] = rank - from_last;
    return jx_build_broadcast(b, v, (jx_ints){rank - 1, axes}, rank,
                              jx_atom_aval(like)->shape);
}

jx_atom jx_matrix_of_rows(jx_body *b, jx_atom row, jx_atom like)
{
    return spread(b, row, like, 1);
}

jx_atom jx_matrix_of_columns(jx_body *b, jx_atom column, jx_atom like)
{
    return spread(b, column, like, 2);
}

jx_atom jx_matrix_one_hot(jx_body *b, jx_atom rows, jx_atom like)
{
    jx_atom at = jx_matrix_of_rows(b, rows, like);

    return jx_is_made(at)
               ? jx_matrix_as(b,
                              jx_math_2(b, JX_PRIM_eq, numbers(b, like, 2), at),
                              jx_atom_aval(like)->dtype)
               : at;
}

jx_atom jx_matrix_solve(jx_body *b, jx_atom a, jx_atom c, unsigned bits)
{
    jx_params p = no_params(b);

    if (!jx_is_made(a) || !jx_is_made(c))
        return nothing;
    jx_put_bool(&p, "left_side", bits & JX_MATRIX_LEFT);
    jx_put_bool(&p, "lower", bits & JX_MATRIX_LOWER);
    jx_put_bool(&p, "transpose_a", bits & JX_MATRIX_TRANSPOSED);
    jx_put_bool(&p, "conjugate_a", bits & JX_MATRIX_CONJUGATED);
    jx_put_bool(&p, "unit_diagonal", bits & JX_MATRIX_UNIT);
    return jx_build(b, JX_PRIM_triangular_solve, &p, 2,
                    (const jx_atom[]){a, c});
}

jx_atom jx_matrix_first(jx_body *b, jx_atom a, int from_last, const jx_dim *end)
{
    return jx_is_made(a) ? jx_build_slice(b, a, rank_of(a) - from_last,
                                          jx_body_int(b, 0), end)
                         : nothing;
}

jx_atom jx_matrix_after(jx_body *b, jx_atom a, int from_last,
                        const jx_dim *start)
{
    return jx_is_made(a)
               ? jx_build_slice(b, a, rank_of(a) - from_last, start,
                                jx_atom_aval(a)->shape[rank_of(a) - from_last])
               : nothing;
}

jx_atom jx_matrix_pad(jx_body *b, jx_atom a, int from_last,
                      const jx_dim *before, const jx_dim *behind)
{
    const jx_dim *zero = jx_body_int(b, 0);
    const jx_dim **config;
    jx_params p = no_params(b);

    if (!jx_is_made(a))
        return a;
    int rank = rank_of(a);
    config =
        JX_NEW_ARRAY(b->in->program->ctx->arena, 3 * rank + 1, const jx_dim *);
    if (!config)
        return nothing;
    for (int i = 0; i < 3 * rank; i++)
        config[i] = zero;
    config[3 * (rank - from_last)] = before;
    config[3 * (rank - from_last) + 1] = behind;
    jx_put_tuples(&p, "padding_config", rank, 3, config);
    return jx_build(b, JX_PRIM_pad, &p, 2,
                    (const jx_atom[]){a, jx_math_number(b, a, 0)});
}

jx_atom jx_matrix_take(jx_body *b, jx_atom a, int from_last, int whole,
                       jx_atom order)
{
    const jx_aval *of = jx_is_made(a) ? jx_atom_aval(a) : NULL;
    const jx_aval *by = jx_is_made(order) ? jx_atom_aval(order) : NULL;
    int rank = of ? of->rank : 0, count = 0;
    int64_t *batch = axes_to(b, rank), *there = axes_to(b, rank);
    const jx_dim **sizes =
        JX_NEW_ARRAY(b->in->program->ctx->arena, rank + 1, const jx_dim *);
    const jx_dim **shape =
        JX_NEW_ARRAY(b->in->program->ctx->arena, rank + 1, const jx_dim *);
    jx_params p = no_params(b);

    if (!of || !by || !batch || !there || !sizes || !shape)
        return nothing;
    JX_ASSERT(by->rank == rank - (whole > 0) && from_last != whole);
    const int64_t axis = rank - from_last, window = whole ? rank - whole : -1;
    if (of->shape[axis] == jx_body_int(b, 0)) /* there is nothing to take */
        return a;
    for (int i = 0, k = 0; i < rank; i++) {
        sizes[i] = i == window ? of->shape[i] : jx_body_int(b, 1);
        if (i == window)
            continue;
        if (i != axis) {
            batch[count] = i;
            there[count++] = k;
        }
        shape[k] = by->shape[k];
        k++;
    }
    shape[by->rank] = jx_body_int(b, 1);
    const jx_gather_dims dims = {{whole > 0, &window},
                                 {1, &axis},
                                 {1, &axis},
                                 {count, batch},
                                 {count, there}};
    jx_put_gather_dims(&p, &dims);
    jx_put_dims(&p, "slice_sizes", rank, sizes);
    jx_put_enum(&p, "mode", "GatherScatterMode.PROMISE_IN_BOUNDS");
    jx_put_none(&p, "fill_value");
    jx_put_bool(&p, "indices_are_sorted", false);
    jx_put_bool(&p, "unique_indices", false);
    const jx_atom ins[] = {a, jx_build_reshape(b, order, by->rank + 1, shape)};
    return jx_is_made(ins[1]) ? jx_build(b, JX_PRIM_gather, &p, 2, ins)
                              : nothing;
}
