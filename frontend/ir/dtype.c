/* dtype.c - see dtype.h. */
#include "frontend/ir/dtype.h"

#include <string.h>

static const jx_dtype_info infos[JX_NDTYPES] = {
    [JX_DT_NONE] = {"none", "none", JX_KIND_NONE, 0, 0},
#define DTYPE(id, short_name, name, kind, bits, bytes)                         \
    [JX_##id] = {short_name, name, JX_KIND_##kind, bits, bytes},
#include "frontend/ir/dtypes.def"
#undef DTYPE
};

const jx_dtype_info *jx_dtype_of(jx_dtype dtype)
{
    return &infos[dtype > JX_DT_NONE && dtype < JX_NDTYPES ? dtype
                                                           : JX_DT_NONE];
}

static bool spells(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

jx_dtype jx_dtype_named(const char *name, size_t length)
{
    for (int i = 1; i < JX_NDTYPES; i++)
        if (i != JX_F64X2 && (spells(infos[i].short_name, name, length) ||
                              spells(infos[i].name, name, length)))
            return (jx_dtype)i;
    return JX_DT_NONE;
}

bool jx_dtype_is_integer(jx_dtype dtype)
{
    jx_dtype_kind kind = jx_dtype_of(dtype)->kind;

    return kind == JX_KIND_INT || kind == JX_KIND_UINT;
}

bool jx_dtype_is_float(jx_dtype dtype)
{
    return jx_dtype_of(dtype)->kind == JX_KIND_FLOAT;
}

bool jx_dtype_is_complex(jx_dtype dtype)
{
    return jx_dtype_of(dtype)->kind == JX_KIND_COMPLEX;
}

bool jx_dtype_is_inexact(jx_dtype dtype)
{
    return jx_dtype_is_float(dtype) || jx_dtype_is_complex(dtype);
}

bool jx_dtype_is_narrower(jx_dtype to, jx_dtype from)
{
    return jx_dtype_is_float(to) && jx_dtype_is_float(from) &&
           jx_dtype_of(to)->bits < jx_dtype_of(from)->bits;
}

bool jx_dtype_holds(jx_dtype to, jx_dtype from)
{
    if (!jx_dtype_is_float(to) || !jx_dtype_is_float(from))
        return false;
    /* powers of two alone */
    if (to == JX_F8_E8M0FNU || (to == JX_F16 && from == JX_F8_E8M0FNU))
        return to == from;
    return to == from || jx_dtype_is_narrower(from, to);
}

double jx_dtype_whole(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64: return 0x1p53;
    case JX_F32: return 0x1p24;
    case JX_F16: return 0x1p11;
    case JX_BF16: return 0x1p8;
    case JX_F8_E4M3:
    case JX_F8_E4M3B11FNUZ:
    case JX_F8_E4M3FN:
    case JX_F8_E4M3FNUZ: return 16;
    case JX_F8_E3M4: return 15; /* its largest is 15.5 */
    case JX_F8_E5M2:
    case JX_F8_E5M2FNUZ: return 8;
    case JX_F4_E2M1FN: return 4;
    default: return -1;
    }
}

jx_dtype jx_dtype_narrowed(jx_dtype dtype)
{
    switch (dtype) {
    case JX_I64: return JX_I32;
    case JX_U64: return JX_U32;
    case JX_F64: return JX_F32;
    case JX_C128: return JX_C64;
    default: return dtype;
    }
}

jx_dtype jx_dtype_real(jx_dtype dtype)
{
    return dtype == JX_C64 ? JX_F32 : dtype == JX_C128 ? JX_F64 : dtype;
}

jx_dtype jx_dtype_complex(jx_dtype dtype)
{
    return dtype == JX_F32 ? JX_C64 : dtype == JX_F64 ? JX_C128 : JX_DT_NONE;
}
