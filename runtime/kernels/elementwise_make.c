/* elementwise_make.c - regions of elementwise equations, value by value. */
#include "runtime/kernels/elementwise.h"

#include "runtime/plan_impl.h"

#include <stdlib.h>

jx_tile *jx_tile_of(jx_prim_id prim, jx_dtype dtype)
{
    jx_tile *tile = dtype == JX_F64X2 ? jx_tile_pair(prim) : jx_tile_int(prim, dtype);

    if (!tile)
        tile = jx_tile_float(prim, dtype);
    return tile ? tile : jx_tile_complex(prim, dtype);
}

/* An operand with the output's shape: scalars and keys' selectors repeat. */
static bool spread(const jx_maker *m, const jx_slot *in, jx_slot *out)
{
    *out = *in;
    out->rank = m->out.rank;
    for (int i = 0; i < m->out.rank; i++) {
        int64_t size = i < in->rank ? in->shape[i] : 1;
        if (in->rank == 0)
            size = 1;
        if (size != 1 && size != m->out.shape[i])
            return jx_plan_fail(m->p, "the operands' shapes do not agree");
        out->strides[i] = size == 1 && (i >= in->rank || in->shape[i] == 1)
                              ? 0
                              : in->strides[i];
        out->shape[i] = m->out.shape[i];
    }
    return true;
}

bool jx_make_begin(jx_maker *m, int most)
{
    m->region = jx_region_new(m->p->arena);
    m->operands = malloc((size_t)(most + 1) * sizeof *m->operands);
    m->noperands = 0;
    return (m->region && m->operands) ||
           jx_plan_starved(m->p);
}

int jx_make_operand(jx_maker *m, const jx_slot *slot)
{
    spread(m, slot, &m->operands[m->noperands++]);
    return jx_region_input(m->p->arena, m->region, slot->dtype);
}

bool jx_make_end(jx_maker *m, int result)
{
    if (!m->p->failed && result >= 0)
        result = jx_make_convert(m, result, m->out.dtype);
    if (!m->p->failed && result >= 0) {
        jx_region_output(m->p->arena, m->region, result);
        jx_plan_region(m->p, m->region, m->noperands, m->operands, &m->out);
    }
    free(m->operands);
    m->operands = NULL;
    return !m->p->failed && result >= 0;
}

int jx_make_convert(jx_maker *m, int value, jx_dtype to)
{
    int made = jx_region_convert(m->p->arena, m->region, value, to);

    if (made < 0)
        jx_plan_fail(m->p, "there is no conversion to %s",
                     jx_dtype_of(to)->short_name);
    return made < 0 ? value : made;
}

int jx_make_instr(jx_maker *m, jx_tile *tile, const void *param, jx_dtype out,
                  int nins, const int *ins)
{
    jx_tile *takes = m->p->options->brisk ? jx_tile_brisk(tile) : tile;
    int made = jx_region_instr(m->p->arena, m->region, takes, param, out, nins, ins);

    return jx_plan_is_noisy(m->p) && (out == JX_F64 || out == JX_C128)
               ? jx_make_noise(m, tile, out, made, nins, ins)
               : made;
}
