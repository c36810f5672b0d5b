/* devices_ragged.c - ragged_all_to_all, written out: each device sends a
 * piece of its rows to every device of its group, of a size and to a place
 * that it says itself.
 *
 * A device's result is what it had as `output`, with the pieces that were sent
 * to it: of sender s, rows offset..offset+size are those of its operand from
 * `start` on, where offset, size and start are the elements of s's
 * output_offsets, send_sizes and input_offsets that belong to the receiver.
 * (recv_sizes say once more what was sent.) */
#include "analyzer/transform/devices_parts.h"

#include "frontend/ir/build_math.h"
#include "frontend/ir/mesh.h"

enum { OPERAND, OUTPUT, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS };

/* Element `at` of a row of integers, as an i32 in the shape [rows]. */
static jx_atom number_in(jx_body *b, jx_atom row, int at, const jx_dim *rows)
{
    const jx_dim *shape[1] = {rows};
    jx_atom a =
        jx_build_slice(b, row, 0, jx_body_int(b, at), jx_body_int(b, at + 1));

    a = jx_build_reshape(b, a, 0, NULL);
    a = jx_build_convert(b, a, JX_I32, false);
    return jx_build_broadcast(b, a, (jx_ints){0, NULL}, 1, shape);
}

static jx_atom row_numbers(jx_body *b, const jx_dim *rows)
{
    const jx_dim *shape[1] = {rows};
    jx_params p = {.program = b->in->program};

    jx_put_dtype(&p, "dtype", JX_I32);
    jx_put_dims(&p, "shape", 1, shape);
    jx_put_int(&p, "dimension", 0);
    jx_put_none(&p, "sharding");
    return jx_build(b, JX_PRIM_iota, &p, 0, NULL);
}

/* The rows of an array that an i32 array names. */
static jx_atom rows_of(jx_body *b, jx_atom from, jx_atom which)
{
    jx_program *program = b->in->program;
    const jx_aval *aval = jx_atom_aval(from);
    int rank = aval->rank;
    const jx_dim **sizes =
        JX_NEW_ARRAY(program->ctx->arena, rank, const jx_dim *);
    int64_t *offsets = JX_NEW_ARRAY(program->ctx->arena, rank, int64_t);
    const jx_dim *shape[2] = {jx_atom_aval(which)->shape[0], jx_body_int(b, 1)};
    static const int64_t first[] = {0};
    jx_params p = {.program = program};
    jx_atom ins[2] = {from, jx_build_reshape(b, which, 2, shape)};

    for (int i = 0; sizes && offsets && i < rank; i++) {
        sizes[i] = i ? aval->shape[i] : shape[1];
        offsets[i] = i + 1;
    }
    jx_put_gather_dims(&p, &(jx_gather_dims){.offset_dims = {rank - 1, offsets},
                                             .collapsed_slice_dims = {1, first},
                                             .start_index_map = {1, first}});
    jx_put_dims(&p, "slice_sizes", rank, sizes);
    jx_put_enum(&p, "mode", "GatherScatterMode.CLIP");
    jx_put_none(&p, "fill_value");
    jx_put_bool(&p, "unique_indices", false);
    jx_put_bool(&p, "indices_are_sorted", false);
    return sizes && offsets ? jx_build(b, JX_PRIM_gather, &p, 2, ins)
                            : (jx_atom){NULL, NULL};
}

/* `had`, with what a sender puts there. */
static jx_atom received(jx_body *b, jx_atom had, const jx_atom *sender, int at)
{
    const jx_aval *aval = jx_atom_aval(had);
    const jx_dim *rows = aval->shape[0];
    jx_atom number = row_numbers(b, rows), inside, which, mask, taken;
    jx_atom offset = number_in(b, sender[OUTPUT_OFFSETS], at, rows);
    jx_atom end = jx_math_2(b, JX_PRIM_add, offset,
                            number_in(b, sender[SEND_SIZES], at, rows));
    static const int64_t first[] = {0};

    inside = jx_math_2(b, JX_PRIM_and, jx_math_2(b, JX_PRIM_ge, number, offset),
                       jx_math_2(b, JX_PRIM_lt, number, end));
    which = jx_math_2(b, JX_PRIM_add, jx_math_2(b, JX_PRIM_sub, number, offset),
                      number_in(b, sender[INPUT_OFFSETS], at, rows));
    taken = rows_of(b, sender[OPERAND], which);
    mask = jx_build_broadcast(b, inside, (jx_ints){1, first}, aval->rank,
                              aval->shape);
    return jx_math_where(b, mask, taken, had);
}

static bool has_places(jx_devices *s, const jx_atom *ins, int count)
{
    for (int i = INPUT_OFFSETS; i <= OUTPUT_OFFSETS; i++)
        if (jx_atom_aval(ins[i])->shape[0] !=
            jx_dim_int(s->build.program->dims, count))
            return jx_devices_fail(s, "offsets and sizes are not one for each "
                                      "device of a group");
    return true;
}

bool jx_devices_ragged(jx_devices_body *m, const jx_device_atoms *ins,
                       const jx_device_atoms *outs, int count,
                       const int *members)
{
    jx_devices *s = m->s;

    for (int k = 0; k < count && !s->failed; k++)
        if (!has_places(s, jx_device_row(ins, members[k]), count))
            return false;
    for (int k = 0; k < count && !s->failed; k++) {
        jx_atom result = jx_device_row(ins, members[k])[OUTPUT];
        for (int from = 0; from < count && !s->failed; from++) {
            if (!jx_devices_room(s))
                return false;
            result = received(&m->body, result,
                              jx_device_row(ins, members[from]), k);
            if (!jx_is_made(result) && !s->failed)
                return jx_devices_starved(s);
        }
        jx_device_row(outs, members[k])[0] = result;
    }
    return !s->failed;
}
