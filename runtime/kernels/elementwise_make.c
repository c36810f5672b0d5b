/* elementwise_make.c - regions of elementwise equations, value by value. */
#include "runtime/kernels/elementwise.h"

#include "runtime/plan_impl.h"

#include <stdlib.h>

jx_tile *jx_tile_of(jx_prim_id prim, jx_dtype dtype)
{
    jx_tile *tile =
        dtype == JX_F64X2 ? jx_tile_pair(prim) : jx_tile_int(prim, dtype);

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
    m->region = jx_region_new(m->p->scratch);
    m->operands = malloc((size_t)(most + 1) * sizeof *m->operands);
    m->noperands = 0;
    return (m->region && m->operands) || jx_plan_starved(m->p);
}

int jx_make_operand(jx_maker *m, const jx_slot *slot)
{
    spread(m, slot, &m->operands[m->noperands++]);
    return jx_region_input(m->p->scratch, m->region, slot->dtype);
}

/* ---- in which order elements are taken */

static bool is_one_element(const jx_slot *slot)
{
    for (int k = 0; k < slot->rank; k++)
        if (slot->shape[k] > 1 && slot->strides[k])
            return false;
    return true;
}

/* The axes in the order in which a dense slot has them in memory, the
 * longest step first. */
static void order_of(const jx_slot *slot, int *axes)
{
    for (int n = 0; n < slot->rank; n++) {
        int at = n;
        for (; at > 0 && slot->shape[n] > 1 &&
               slot->strides[axes[at - 1]] < slot->strides[n];
             at--)
            axes[at] = axes[at - 1];
        axes[at] = n;
    }
}

static jx_slot in_order(const jx_slot *slot, const int *axes)
{
    jx_slot to = *slot;

    for (int k = 0; k < slot->rank; k++) {
        to.shape[k] = slot->shape[axes[k]];
        to.strides[k] = slot->strides[axes[k]];
    }
    return to;
}

/* Several operands that all lie in one other order, as products do that
 * are only there to be transposed: then they are taken as they lie, and so
 * does the result. */
static bool lie_otherwise(const jx_maker *m, int *axes)
{
    int arrays = 0;

    for (int i = 0; i < m->noperands; i++) {
        const jx_slot *slot = &m->operands[i];
        jx_slot turned;
        if (is_one_element(slot))
            continue;
        if (!arrays++)
            order_of(slot, axes);
        turned = in_order(slot, axes);
        if (jx_slot_is_dense(slot) || !jx_slot_is_dense(&turned))
            return false;
    }
    return arrays > 1;
}

static void plan(jx_maker *m)
{
    int axes[JX_MAX_RANK];
    jx_slot out = m->out;

    if (!lie_otherwise(m, axes)) {
        jx_plan_region(m->p, m->region, m->noperands, m->operands, &m->out);
        return;
    }
    for (int i = 0; i < m->noperands; i++)
        m->operands[i] = in_order(&m->operands[i], axes);
    out = in_order(&m->out, axes);
    for (int k = out.rank - 1, step = 0; k >= 0; k--, step++)
        out.strides[k] = step ? out.strides[k + 1] * out.shape[k + 1]
                              : (int64_t)jx_dtype_of(out.dtype)->bytes;
    jx_plan_region(m->p, m->region, m->noperands, m->operands, &out);
    for (int k = 0; k < out.rank; k++)
        m->out.strides[axes[k]] = out.strides[k];
}

bool jx_make_end(jx_maker *m, int result)
{
    if (!m->p->failed && result >= 0)
        result = jx_make_convert(m, result, m->out.dtype);
    if (!m->p->failed && result >= 0) {
        jx_region_output(m->p->scratch, m->region, result);
        plan(m);
    }
    free(m->operands);
    m->operands = NULL;
    return !m->p->failed && result >= 0;
}

int jx_make_convert(jx_maker *m, int value, jx_dtype to)
{
    int made = jx_region_convert(m->p->scratch, m->region, value, to);

    if (made < 0)
        jx_plan_fail(m->p, "there is no conversion to %s",
                     jx_dtype_of(to)->short_name);
    return made < 0 ? value : made;
}

int jx_make_instr(jx_maker *m, jx_tile *tile, const void *param, jx_dtype out,
                  int nins, const int *ins)
{
    jx_tile *takes = m->p->options->brisk ? jx_tile_brisk(tile) : tile;
    int made =
        jx_region_instr(m->p->scratch, m->region, takes, param, out, nins, ins);

    return jx_plan_is_noisy(m->p) && (out == JX_F64 || out == JX_C128)
               ? jx_make_noise(m, tile, out, made, nins, ins)
               : made;
}
