/* cost_bytes.c - the bytes of arrays; see cost.h. */
#include "analyzer/cost.h"

#include <string.h>

size_t jx_element_bytes(const jx_aval *aval)
{
    size_t words = 1;

    if (aval->dtype == JX_KEY)
        words = aval->impl && strcmp(aval->impl, "fry") != 0 ? 4 : 2;
    return words * jx_dtype_of(aval->dtype)->bytes;
}

const jx_dim *jx_aval_bytes(jx_dims *dims, const jx_aval *aval)
{
    const jx_dim *n;

    if (aval->kind == JX_AVAL_REF && aval->of)
        return jx_aval_bytes(dims, aval->of);
    if (aval->kind != JX_AVAL_ARRAY)
        return jx_dim_int(dims, 0);
    n = jx_dim_int(dims, (int64_t)jx_element_bytes(aval));
    for (int i = 0; i < aval->rank; i++)
        n = jx_dim_mul(dims, n, aval->shape[i]);
    return n;
}
