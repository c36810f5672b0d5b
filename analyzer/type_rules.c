/* type_rules.c - what type rules share. */
#include "analyzer/type_rules.h"

static const unsigned takes[JX_NPRIMS] = {
#define ACCEPTS(id, kinds) [JX_PRIM_##id] = JX_TAKES_##kinds,
#include "analyzer/accepts.def"
#undef ACCEPTS
};

unsigned jx_prim_takes(jx_prim_id id)
{
    return id < JX_NPRIMS ? takes[id] : 0;
}

/* Checks. */
bool jx_type_counts(jx_typing *t, int nins, int nouts)
{
    if (nins >= 0 && t->nins != nins)
        return jx_type_wrong(t, "takes %d operands, has %d", nins, t->nins);
    if (nouts >= 0 && t->nouts != nouts)
        return jx_type_wrong(t, "gives %d results, %d are declared", nouts,
                             t->nouts);
    return true;
}

bool jx_type_axis(jx_typing *t, const char *name, int64_t axis, int rank)
{
    if (axis < 0 || axis >= rank)
        return jx_type_wrong(t, "%s %lld is out of range for rank %d", name,
                             (long long)axis, rank);
    return true;
}

bool jx_has_axis(jx_ints axes, int64_t axis)
{
    for (int i = 0; i < axes.count; i++)
        if (axes.at[i] == axis)
            return true;
    return false;
}

bool jx_type_axes(jx_typing *t, const char *name, jx_ints axes, int rank)
{
    if (axes.count > rank || axes.count > JX_MOST_AXES)
        return jx_type_wrong(t, "%s has %d axes for rank %d", name, axes.count,
                             rank);
    for (int i = 0; i < axes.count; i++) {
        if (!jx_type_axis(t, name, axes.at[i], rank))
            return false;
        if (jx_has_axis((jx_ints){i, axes.at}, axes.at[i]))
            return jx_type_wrong(t, "%s names axis %lld twice", name,
                                 (long long)axes.at[i]);
    }
    return true;
}

bool jx_type_same_shapes(jx_typing *t, int first, int last)
{
    const jx_aval *a = t->ins[first];

    for (int i = first + 1; i < last; i++) {
        const jx_aval *b = t->ins[i];
        if (b->rank != a->rank)
            return jx_type_wrong(t, "operand %d has rank %d, operand %d has %d",
                                 first, a->rank, i, b->rank);
        for (int k = 0; k < a->rank; k++)
            jx_require_eq(t, a->shape[k], b->shape[k],
                          "operands %d and %d, axis %d", first, i, k);
    }
    return true;
}

bool jx_type_same_dtypes(jx_typing *t, int first, int last)
{
    const jx_aval *a = t->ins[first];

    for (int i = first + 1; i < last; i++)
        if (t->ins[i]->dtype != a->dtype || t->ins[i]->impl != a->impl)
            return jx_type_wrong(t, "operand %d is %s, operand %d is %s", first,
                                 jx_dtype_of(a->dtype)->short_name, i,
                                 jx_dtype_of(t->ins[i]->dtype)->short_name);
    return true;
}

bool jx_type_scalar(jx_typing *t, int operand)
{
    if (t->ins[operand]->rank != 0)
        return jx_type_wrong(t, "operand %d has rank %d, must be a scalar",
                             operand, t->ins[operand]->rank);
    return true;
}

bool jx_type_takes(jx_typing *t, int operand, unsigned kinds)
{
    const jx_dtype_info *info = jx_dtype_of(t->ins[operand]->dtype);

    if (!(kinds & 1u << info->kind))
        return jx_type_wrong(t, "operand %d is %s, which %s does not take",
                             operand, info->short_name, t->eqn->prim->name);
    return true;
}

bool jx_type_starts(jx_typing *t, int n)
{
    for (int i = 0; i < n; i++) {
        if (!jx_type_scalar(t, n + i))
            return false;
        if (t->ins[i]->dtype != t->ins[n + i]->dtype)
            return jx_type_wrong(t, "operand %d is %s, its start %s", i,
                                 jx_dtype_of(t->ins[i]->dtype)->short_name,
                                 jx_dtype_of(t->ins[n + i]->dtype)->short_name);
    }
    return jx_type_same_shapes(t, 0, n);
}

bool jx_type_integer(jx_typing *t, int operand)
{
    return jx_type_takes(t, operand, JX_TAKES_INTEGER);
}

bool jx_all_weak(const jx_typing *t)
{
    for (int i = 0; i < t->nins; i++)
        if (!t->ins[i]->weak)
            return false;
    return t->nins > 0;
}
