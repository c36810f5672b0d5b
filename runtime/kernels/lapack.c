/* lapack.c - see lapack.h. */
#include "runtime/kernels/lapack.h"

#include "runtime/elementwise.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

jx_dtype jx_lapack_dtype(jx_dtype stored)
{
    if (jx_dtype_is_complex(stored))
        return stored;
    return stored == JX_F64 ? JX_F64 : JX_F32;
}

bool jx_lapack_find(jx_planner *p, const jx_lapack *l, const char *real_name,
                    const char *complex_name, jx_blas_fn **fn)
{
    const char *why = NULL;
    char name[32];
    bool wide = l->real == 8;

    snprintf(name, sizeof name, "%c%s_",
             l->is_complex ? (wide ? 'z' : 'c') : (wide ? 'd' : 's'),
             l->is_complex ? complex_name : real_name);
    *fn = jx_blas_find(name, &why);
    return *fn || jx_plan_fail(p, "%s: %s", name, why);
}

bool jx_lapack_begin(jx_planner *p, const jx_slot *a, const char *real_name,
                     const char *complex_name, jx_lapack *l)
{
    int64_t elements;

    *l = (jx_lapack){.dtype = jx_lapack_dtype(a->dtype), .batch = 1};
    if (a->rank < 2 || !jx_dtype_is_inexact(a->dtype))
        return jx_plan_fail(p, "matrices of floats or complexes are expected");
    int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1];
    if (m > INT_MAX || n > INT_MAX || __builtin_mul_overflow(m, n, &elements) ||
        elements > INT_MAX)
        return jx_plan_fail(p,
                            "a matrix of %lld by %lld is beyond what LAPACK "
                            "can count",
                            (long long)m, (long long)n);
    l->m = (int)m, l->n = (int)n, l->k = m < n ? l->m : l->n;
    for (int i = 0; i < a->rank - 2; i++)
        l->batch *= a->shape[i];
    l->item = jx_dtype_of(l->dtype)->bytes;
    l->is_complex = jx_dtype_is_complex(l->dtype);
    l->real = l->is_complex ? l->item / 2 : l->item;
    return jx_lapack_find(p, l, real_name, complex_name, &l->fn);
}

void jx_lapack_piece(jx_lapack *l, int i, size_t bytes)
{
    l->at[i] = l->scratch;
    l->scratch += (bytes + 64) & ~(size_t)63;
}

/* A size in f32 may have been rounded down. */
int jx_lapack_work(const jx_lapack *l, const void *work)
{
    double size = l->real == 4 ? *(const float *)work : *(const double *)work;

    size += size / (1 << 20) + 16;
    return size < INT_MAX ? (int)size : INT_MAX;
}

jx_slot jx_lapack_matrix(jx_planner *p, const jx_lapack *l, const jx_slot *like,
                         int64_t rows, int64_t cols)
{
    int64_t shape[JX_MAX_RANK];
    int rank = like->rank;

    memcpy(shape, like->shape, sizeof shape);
    shape[rank - 2] = cols, shape[rank - 1] = rows;
    jx_slot slot = jx_plan_new(p, l->dtype, rank, shape);
    int64_t stride = slot.strides[rank - 2];
    slot.strides[rank - 2] = slot.strides[rank - 1];
    slot.strides[rank - 1] = stride;
    slot.shape[rank - 2] = rows, slot.shape[rank - 1] = cols;
    return slot;
}

jx_slot jx_lapack_vector(jx_planner *p, jx_dtype dtype, const jx_slot *like,
                         int64_t size)
{
    int64_t shape[JX_MAX_RANK];

    memcpy(shape, like->shape, sizeof shape);
    shape[like->rank - 2] = size;
    return jx_plan_new(p, dtype, like->rank - 1, shape);
}

jx_slot jx_lapack_infos(jx_planner *p, const jx_slot *like)
{
    return jx_plan_new(p, JX_I32, like->rank - 2, like->shape);
}

jx_slot jx_lapack_copy(jx_planner *p, const jx_lapack *l, const jx_slot *a)
{
    jx_slot from = jx_plan_convert(p, a, l->dtype);
    jx_slot to =
        jx_lapack_matrix(p, l, a, a->shape[a->rank - 2], a->shape[a->rank - 1]);

    jx_plan_copy(p, &from, &to);
    return to;
}

bool jx_lapack_end(jx_planner *p, const jx_eqn *eqn, jx_kernel *kernel,
                   const jx_lapack *l, int nins, const jx_slot *ins, int nouts,
                   const jx_slot *slots, int ngiven, jx_slot *outs)
{
    int64_t elements = 0;

    if (eqn->nouts != ngiven)
        return jx_plan_fail(p, "%d results are expected, not %d", ngiven,
                            eqn->nouts);
    for (int i = 0; i < ngiven; i++)
        elements += jx_slot_count(&slots[i]);
    if (elements > 0)
        jx_plan_op(p, kernel, l, sizeof *l, nins, ins, nouts, slots,
                   l->scratch);
    return jx_lapack_give(p, eqn, ngiven, slots, outs);
}

bool jx_lapack_give(jx_planner *p, const jx_eqn *eqn, int count,
                    const jx_slot *slots, jx_slot *outs)
{
    if (eqn->nouts != count)
        return jx_plan_fail(p, "%d results are expected, not %d", count,
                            eqn->nouts);
    for (int i = 0; i < count; i++) {
        jx_dtype declared = jx_plan_dtype(p, eqn->outs[i]->aval->dtype);
        outs[i] = jx_plan_convert(p, &slots[i], declared);
    }
    return true;
}

jx_slot jx_lapack_zeros(jx_planner *p, const jx_eqn *eqn, int i)
{
    static const char zeros[16];
    const jx_aval *aval = eqn->outs[i]->aval;
    jx_slot one =
        jx_plan_constant(p, jx_plan_dtype(p, aval->dtype), 0, NULL, zeros);

    jx_plan_shape(p, aval, &one.rank, one.shape);
    for (int k = 0; k < one.rank; k++)
        one.strides[k] = 0;
    return one;
}

void jx_lapack_nan(jx_dtype dtype, void *data, int64_t count)
{
    if (jx_dtype_is_complex(dtype))
        count *= 2;
    if (dtype == JX_F64 || dtype == JX_C128)
        for (int64_t i = 0; i < count; i++)
            ((double *)data)[i] = (double)NAN;
    else
        for (int64_t i = 0; i < count; i++)
            ((float *)data)[i] = NAN;
}

int jx_lapack_first_nan(const jx_lapack *l, const char *at, int64_t step, int n)
{
    for (int i = 0; i < n; i++, at += (size_t)step * l->item)
        for (size_t part = 0; part < l->item; part += l->real) {
            double x;
            jx_convert(jx_dtype_real(l->dtype), JX_F64, at + part, &x, 1);
            if (x != x)
                return i;
        }
    return n;
}

void jx_lapack_nan_block(const jx_lapack *l, char *a, int row, int end,
                         int column, int past)
{
    for (int j = column; j < past && row < end; j++)
        jx_lapack_nan(l->dtype, a + (size_t)((int64_t)j * l->m + row) * l->item,
                      end - row);
}

bool jx_lapack_finite(jx_dtype dtype, const void *data, int64_t count)
{
    /* x - x is 0 for finite x, else NaN, and NaN stays. */
    double rest = 0;

    if (jx_dtype_is_complex(dtype))
        count *= 2;
    if (dtype == JX_F64 || dtype == JX_C128)
        for (int64_t i = 0; i < count; i++)
            rest += ((const double *)data)[i] - ((const double *)data)[i];
    else
        for (int64_t i = 0; i < count; i++)
            rest += ((const float *)data)[i] - ((const float *)data)[i];
    return rest == 0;
}

void jx_lapack_eye(jx_dtype dtype, void *data, int64_t rows, int64_t cols)
{
    size_t item = jx_dtype_of(dtype)->bytes;
    float one32 = 1;
    double one64 = 1;
    bool wide = dtype == JX_F64 || dtype == JX_C128;

    memset(data, 0, (size_t)(rows * cols) * item);
    for (int64_t i = 0; i < rows && i < cols; i++)
        memcpy((char *)data + (size_t)(i * rows + i) * item,
               wide ? (const void *)&one64 : &one32, wide ? 8 : 4);
}
