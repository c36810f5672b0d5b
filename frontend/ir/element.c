/* element.c - see element.h. */
#include "frontend/ir/element.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* What a dtype does with its largest exponent, and with minus zero. */
typedef enum special {
    IEEE,     /* infinities and NaNs */
    FN,       /* NaN where all bits below the sign are set */
    FNUZ,     /* NaN in the place of minus zero */
    NUMBERS,  /* numbers only */
    EXPONENT, /* a power of two; all bits set is NaN */
} special;

typedef struct format {
    int exponent, mantissa, bias;
    special kind;
} format;

static format format_of(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F4_E2M1FN: return (format){2, 1, 1, NUMBERS};
    case JX_F8_E3M4: return (format){3, 4, 3, IEEE};
    case JX_F8_E4M3: return (format){4, 3, 7, IEEE};
    case JX_F8_E4M3B11FNUZ: return (format){4, 3, 11, FNUZ};
    case JX_F8_E4M3FN: return (format){4, 3, 7, FN};
    case JX_F8_E4M3FNUZ: return (format){4, 3, 8, FNUZ};
    case JX_F8_E5M2: return (format){5, 2, 15, IEEE};
    case JX_F8_E5M2FNUZ: return (format){5, 2, 16, FNUZ};
    case JX_F8_E8M0FNU: return (format){8, 0, 127, EXPONENT};
    case JX_BF16: return (format){8, 7, 127, IEEE};
    default: return (format){5, 10, 15, IEEE};
    }
}

static double value_of(format f, uint32_t bits)
{
    uint32_t mantissa = bits & ((1u << f.mantissa) - 1);
    uint32_t top = (1u << f.exponent) - 1;
    uint32_t exponent = bits >> f.mantissa & top;
    bool negative = bits >> (f.exponent + f.mantissa) & 1;
    double value;

    if (f.kind == EXPONENT)
        return exponent == top ? NAN : ldexp(1, (int)exponent - f.bias);
    if (f.kind == FNUZ && negative && !mantissa && !exponent)
        return NAN;
    if (f.kind == FN && exponent == top && mantissa == (1u << f.mantissa) - 1)
        return NAN;
    if (f.kind == IEEE && exponent == top)
        value = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(mantissa, 1 - f.bias - f.mantissa);
    else
        value = ldexp(mantissa + (1u << f.mantissa),
                      (int)exponent - f.bias - f.mantissa);
    return negative ? -value : value;
}

double jx_element_real(jx_dtype dtype, const void *bits)
{
    float narrow;
    double wide;
    uint32_t code = 0;

    if (dtype == JX_F64) {
        memcpy(&wide, bits, 8);
        return wide;
    }
    if (dtype == JX_F32) {
        memcpy(&narrow, bits, 4);
        return narrow;
    }
    memcpy(&code, bits, jx_dtype_of(dtype)->bytes);
    return value_of(format_of(dtype), code);
}

/* Codes of values that are not negative grow with the value: find the last one
 * not above it, then the nearer of that and the next. */
static uint32_t nearest(format f, double value)
{
    uint32_t low = 0, high = (1u << (f.exponent + f.mantissa)) - 1;

    while (isnan(value_of(f, high)) || isinf(value_of(f, high)))
        high--;
    uint32_t last = high;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (value_of(f, middle) <= value)
            low = middle;
        else
            high = middle - 1;
    }
    if (low < last && value_of(f, low + 1) - value <= value - value_of(f, low))
        low++;
    return low;
}

static uint32_t code_of(format f, double value)
{
    uint32_t sign = 1u << (f.exponent + f.mantissa);
    uint32_t top = sign - (1u << f.mantissa);
    bool negative = signbit(value) && f.kind != EXPONENT;

    if (isnan(value) && f.kind == IEEE)
        return top | 1u << (f.mantissa - 1);
    if (isnan(value))
        return f.kind == FNUZ ? sign : sign - 1;
    if (isinf(value) && f.kind == IEEE)
        return top | (negative ? sign : 0);
    uint32_t code = nearest(f, fabs(value));
    return code | (negative && !(f.kind == FNUZ && code == 0) ? sign : 0);
}

void jx_element_from_real(jx_dtype dtype, double value, void *bits)
{
    float narrow = (float)value;

    if (dtype == JX_F64) {
        memcpy(bits, &value, 8);
    } else if (dtype == JX_F32) {
        memcpy(bits, &narrow, 4);
    } else {
        uint32_t code = code_of(format_of(dtype), value);
        memcpy(bits, &code, jx_dtype_of(dtype)->bytes);
    }
}

uint64_t jx_element_integer(jx_dtype dtype, const void *bits)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);
    uint64_t value = 0, sign = (uint64_t)1 << (info->bits - 1);

    memcpy(&value, bits, info->bytes);
    return info->kind == JX_KIND_INT ? (value ^ sign) - sign : value;
}

/* Of 4 bits and 2: a byte each, the high bits zero. */
bool jx_element_from_integer(jx_dtype dtype, uint64_t value, void *bits)
{
    const jx_dtype_info *info = jx_dtype_of(dtype);

    if (info->kind == JX_KIND_BOOL)
        value = value != 0;
    else if (info->kind != JX_KIND_INT && info->kind != JX_KIND_UINT)
        return false;
    else if (info->bits < 8)
        value &= ((uint64_t)1 << info->bits) - 1;
    memcpy(bits, &value, info->bytes);
    return true;
}
