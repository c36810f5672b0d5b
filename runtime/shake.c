/* shake.c - see shake.h. */
#include "runtime/shake.h"

#include "frontend/base/intern.h"

#include <math.h>

double jx_unit_roundoff(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64:
    case JX_C128: return 0x1p-52;
    case JX_F32:
    case JX_C64: return 0x1p-23;
    case JX_F16: return 0x1p-10;
    case JX_BF16: return 0x1p-7;
    default: return jx_dtype_is_float(dtype) ? 0x1p-2 : 0;
    }
}

static bool is_short(double value)
{
    int exponent;
    double bits = ldexp(frexp(value, &exponent), 12);

    return !isfinite(value) || bits == floor(bits);
}

static double moved(const jx_shake *shake, double unit, double value)
{
    if (is_short(value))
        return value;
    uint64_t bits =
        jx_hash_mix(shake->seed, jx_hash_bytes(&value, sizeof value));
    return value * (1 + (bits & 1 ? unit : -unit) * shake->by);
}

void jx_shake_values(const jx_shake *shake, jx_dtype declared, jx_dtype stored,
                     void *data, int64_t count)
{
    double unit = jx_unit_roundoff(declared), *values = data;

    if (shake->by == 0 || unit == 0)
        return;
    if (stored == JX_C128)
        count *= 2;
    else if (stored != JX_F64)
        return;
    for (int64_t i = 0; i < count; i++)
        values[i] = moved(shake, unit, values[i]);
}

void jx_shake_constants(const jx_shake *shake, jx_dtype declared,
                        jx_dtype stored, void *data, int64_t count)
{
    if (declared != stored)
        jx_shake_values(shake, declared, stored, data, count);
}
