/* shake.c - see shake.h. */
#include "runtime/shake.h"

#include "frontend/base/intern.h"

#include <float.h>
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

double jx_largest_finite(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64:
    case JX_C128: return DBL_MAX;
    case JX_F32:
    case JX_C64: return FLT_MAX;
    case JX_F16: return 65504;
    case JX_BF16: return 0x1.fep127;
    default: return INFINITY;
    }
}

static bool is_short(double value, int digits)
{
    int exponent;
    double bits = ldexp(frexp(value, &exponent), digits);

    return !isfinite(value) || bits == floor(bits);
}

static double moved(const jx_shake *shake, double unit, int digits,
                    double value)
{
    if (is_short(value, digits))
        return value;
    uint64_t bits =
        jx_hash_mix(shake->seed, jx_hash_bytes(&value, sizeof value));
    return value * (1 + (bits & 1 ? unit : -unit) * shake->by);
}

enum { SHORT = 12 };

static void shake_all(const jx_shake *shake, jx_dtype declared, jx_dtype stored,
                      int digits, void *data, int64_t count)
{
    double unit = jx_unit_roundoff(declared), *values = data;

    if (shake->by == 0 || unit == 0)
        return;
    if (stored == JX_C128)
        count *= 2;
    else if (stored != JX_F64)
        return;
    for (int64_t i = 0; i < count; i++)
        values[i] = moved(shake, unit, digits, values[i]);
}

void jx_shake_values(const jx_shake *shake, jx_dtype declared, jx_dtype stored,
                     void *data, int64_t count)
{
    shake_all(shake, declared, stored, SHORT, data, count);
}

void jx_shake_constants(const jx_shake *shake, jx_dtype declared,
                        jx_dtype stored, void *data, int64_t count)
{
    /* Half of the digits of a short dtype: all of its numbers would
     * be short else. */
    int digits = declared == JX_BF16 ? 4 : declared == JX_F16 ? 5 : SHORT;

    if (declared != stored)
        shake_all(shake, declared, stored, digits, data, count);
}
