/* elementwise_convert.c - conversions between all dtypes.
 *
 * Compute dtypes (bool, i8..u64, f32, f64, c64, c128) convert directly; small
 * floats and small integers through one of them.  Floats become integers by
 * truncation that saturates, NaN gives 0; integers narrow by truncation;
 * floats narrow by one rounding to nearest even. */
#include "runtime/elementwise.h"
#include "runtime/kernels/pairs.h"
#include "runtime/kernels/vector.h"

#include <math.h>
#include <string.h>

typedef struct c64 {
    float re, im;
} c64;
typedef struct c128 {
    double re, im;
} c128;

#define REAL_TYPES(X, ...)                                                     \
    X(I8, int8_t, __VA_ARGS__)                                                 \
    X(I16, int16_t, __VA_ARGS__)                                               \
    X(I32, int32_t, __VA_ARGS__)                                               \
    X(I64, int64_t, __VA_ARGS__)                                               \
    X(U8, uint8_t, __VA_ARGS__)                                                \
    X(U16, uint16_t, __VA_ARGS__)                                              \
    X(U32, uint32_t, __VA_ARGS__)                                              \
    X(U64, uint64_t, __VA_ARGS__)                                              \
    X(F32, float, __VA_ARGS__)                                                 \
    X(F64, double, __VA_ARGS__)

#define TILE(name, out_type, in_type, ...)                                     \
    JX_VECTOR_CLONES static void name(void *o, const void *const *ins,         \
                                      int64_t n, const void *param)            \
    {                                                                          \
        out_type *out = o;                                                     \
        const in_type *in = ins[0];                                            \
        (void)param;                                                           \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; i < n; i++) {                                      \
            in_type x = in[i];                                                 \
            out[i] = __VA_ARGS__;                                              \
        }                                                                      \
    }
/* For conversions that are rare: one instruction set. */
#define PLAIN(name, out_type, in_type, ...)                                    \
    static void name(void *o, const void *const *ins, int64_t n,               \
                     const void *param)                                        \
    {                                                                          \
        out_type *out = o;                                                     \
        const in_type *in = ins[0];                                            \
        (void)param;                                                           \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; i < n; i++) {                                      \
            in_type x = in[i];                                                 \
            out[i] = __VA_ARGS__;                                              \
        }                                                                      \
    }

/* Saturation: the limits as floats; `above` is the first value too large. */
#define SATURATE(type, low, high, above)                                       \
    (x != x         ? (type)0                                                  \
     : x >= (above) ? (type)(high)                                             \
     : x <= (low)   ? (type)(low)                                              \
                    : (type)x)

#define FLOAT_TO_INTS(ID, ftype)                                               \
    PLAIN(ID##_I8, int8_t, ftype, SATURATE(int8_t, -128, 127, 128))            \
    PLAIN(ID##_I16, int16_t, ftype, SATURATE(int16_t, -32768, 32767, 32768))   \
    TILE(ID##_I32, int32_t, ftype,                                             \
         SATURATE(int32_t, -2147483648.0, INT32_MAX, 2147483648.0))            \
    TILE(ID##_I64, int64_t, ftype,                                             \
         SATURATE(int64_t, -9223372036854775808.0, INT64_MAX,                  \
                  9223372036854775808.0))                                      \
    PLAIN(ID##_U8, uint8_t, ftype, SATURATE(uint8_t, 0, 255, 256))             \
    PLAIN(ID##_U16, uint16_t, ftype, SATURATE(uint16_t, 0, 65535, 65536))      \
    TILE(ID##_U32, uint32_t, ftype,                                            \
         SATURATE(uint32_t, 0, UINT32_MAX, 4294967296.0))                      \
    PLAIN(ID##_U64, uint64_t, ftype,                                           \
          SATURATE(uint64_t, 0, UINT64_MAX, 18446744073709551616.0))           \
    PLAIN(ID##_I4, uint8_t, ftype, SATURATE(int8_t, -8, 7, 8) & 15)            \
    PLAIN(ID##_U4, uint8_t, ftype, SATURATE(uint8_t, 0, 15, 16))               \
    PLAIN(ID##_I2, uint8_t, ftype, SATURATE(int8_t, -2, 1, 2) & 3)             \
    PLAIN(ID##_U2, uint8_t, ftype, SATURATE(uint8_t, 0, 3, 4))
FLOAT_TO_INTS(F32, float)
FLOAT_TO_INTS(F64, double)
TILE(F32_F64, double, float, x)
TILE(F64_F32, float, double, (float)x)

/* Integers: to all other integers and to floats. */
#define INT_TO(TO, to, FROM, from) PLAIN(FROM##_##TO, to, from, (to)x)
#define INTS_TO_FLOAT(FROM, from)                                              \
    TILE(FROM##_F32, float, from, (float)x)                                    \
    TILE(FROM##_F64, double, from, (double)x)
#define INTS_FROM(FROM, from)                                                  \
    INT_TO(I8, int8_t, FROM, from)                                             \
    INT_TO(I16, int16_t, FROM, from)                                           \
    INT_TO(I32, int32_t, FROM, from)                                           \
    INT_TO(I64, int64_t, FROM, from)                                           \
    INT_TO(U8, uint8_t, FROM, from)                                            \
    INT_TO(U16, uint16_t, FROM, from)                                          \
    INT_TO(U32, uint32_t, FROM, from)                                          \
    INT_TO(U64, uint64_t, FROM, from)                                          \
    INTS_TO_FLOAT(FROM, from)
INTS_FROM(I8, int8_t)
INTS_FROM(I16, int16_t)
INTS_FROM(I32, int32_t)
INTS_FROM(I64, int64_t)
INTS_FROM(U8, uint8_t)
INTS_FROM(U16, uint16_t)
INTS_FROM(U32, uint32_t)
INTS_FROM(U64, uint64_t)

/* Booleans are bytes that are 0 or 1 once made here, any other on input. */
#define BOOLS(ID, type, dummy)                                                 \
    TILE(BOOL_##ID, type, uint8_t, (type)(x != 0))                             \
    TILE(ID##_BOOL, uint8_t, type, x != 0)
REAL_TYPES(BOOLS, 0)
PLAIN(BOOL_BOOL, uint8_t, uint8_t, x != 0)

#define COMPLEXES(ID, type, dummy)                                             \
    PLAIN(ID##_C64, c64, type, (c64){(float)x, 0})                             \
    PLAIN(ID##_C128, c128, type, (c128){(double)x, 0})
REAL_TYPES(COMPLEXES, 0)
PLAIN(BOOL_C64, c64, uint8_t, (c64){x != 0, 0})
PLAIN(BOOL_C128, c128, uint8_t, (c128){x != 0, 0})
PLAIN(C64_F32, float, c64, x.re)
PLAIN(C64_F64, double, c64, x.re)
PLAIN(C64_C128, c128, c64, (c128){x.re, x.im})
PLAIN(C64_BOOL, uint8_t, c64, x.re != 0 || x.im != 0)
PLAIN(C128_F32, float, c128, (float)x.re)
PLAIN(C128_F64, double, c128, x.re)
PLAIN(C128_C64, c64, c128, (c64){(float)x.re, (float)x.im})
PLAIN(C128_BOOL, uint8_t, c128, x.re != 0 || x.im != 0)

/* Integers of 4 and 2 bits: kept as their low bits. */
PLAIN(I4_I8, int8_t, uint8_t, (int8_t)((x & 15) ^ 8) - 8)
PLAIN(I2_I8, int8_t, uint8_t, (int8_t)((x & 3) ^ 2) - 2)
PLAIN(U4_U8, uint8_t, uint8_t, x & 15)
PLAIN(U2_U8, uint8_t, uint8_t, x & 3)
PLAIN(I8_I4, uint8_t, uint8_t, x & 15)
PLAIN(I8_I2, uint8_t, uint8_t, x & 3)

/* bf16 and f16. */

static inline __attribute__((always_inline)) uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline __attribute__((always_inline)) float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline __attribute__((always_inline)) uint16_t to_bf16(float x)
{
    uint32_t b = bits_of(x);
    uint32_t rounded = (b + 0x7fff + (b >> 16 & 1)) >> 16;
    uint32_t nan = b >> 16 | 0x40;

    return (uint16_t)((b & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

static inline __attribute__((always_inline)) uint16_t to_f16(float x)
{
    uint32_t b = bits_of(x), sign = b >> 16 & 0x8000, a = b & 0x7fffffff;
    uint32_t normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
    /* Below 2^-14 an addition rounds to the right bit. */
    uint32_t small = bits_of(from_bits(a) + 0.5f) - 0x3f000000;
    uint32_t nan = (a >> 13 & 0x3ff) | 0x7e00;
    uint32_t big = a > 0x7f800000 ? nan : 0x7c00;
    uint32_t r = a >= 0x47800000 ? big : a < 0x38800000 ? small : normal;

    return (uint16_t)(r | sign);
}

static inline __attribute__((always_inline)) float of_f16(uint16_t h)
{
    uint32_t a = (uint32_t)(h & 0x7fff) << 13;
    uint32_t scaled = bits_of(from_bits(a) * 0x1p112f);
    uint32_t special = a | 0x7f800000;

    return from_bits((a >= 0x0f800000 ? special : scaled) |
                     (uint32_t)(h & 0x8000) << 16);
}

/* Rounded to odd, so that a further rounding is the only one. */
static inline __attribute__((always_inline)) float to_odd(double x)
{
    float f = (float)x;
    uint32_t b = bits_of(f);
    uint32_t away = fabs((double)f) > fabs(x) ? b - 1 : b + 1;

    return from_bits((double)f == x || x != x || (b & 1) ? b : away);
}

TILE(BF16_F32, float, uint16_t, from_bits((uint32_t)x << 16))
TILE(F32_BF16, uint16_t, float, to_bf16(x))
TILE(F64_BF16, uint16_t, double, to_bf16(to_odd(x)))
TILE(F16_F32, float, uint16_t, of_f16(x))
TILE(F32_F16, uint16_t, float, to_f16(x))
TILE(F64_F16, uint16_t, double, to_f16(to_odd(x)))

/* Rounded to the small format and back. */
TILE(BF16_ROUND, float, float, from_bits((uint32_t)to_bf16(x) << 16))
TILE(F16_ROUND, float, float, of_f16(to_f16(x)))

jx_tile *jx_tile_round(jx_dtype dtype)
{
    return dtype == JX_BF16 ? BF16_ROUND : dtype == JX_F16 ? F16_ROUND : NULL;
}

/* Floats of 8 and 4 bits. */

typedef enum overflow { TO_INFINITY, TO_NAN, TO_MAX } overflow;

typedef struct small_float {
    int mantissa, bias;
    unsigned sign; /* the sign's bit; 0: unsigned */
    unsigned max;  /* largest finite pattern */
    unsigned infinity, nan;
    overflow overflow;
    bool no_minus_zero;
    bool signed_nan;
} small_float;

static const small_float E3M4 = {4,    3,           0x80,  0x6f, 0x70,
                                 0x78, TO_INFINITY, false, true};
static const small_float E4M3 = {3,    7,           0x80,  0x77, 0x78,
                                 0x7c, TO_INFINITY, false, true};
static const small_float E4M3B11FNUZ = {3,    11,     0x80, 0x7f, 0,
                                        0x80, TO_NAN, true, false};
static const small_float E4M3FN = {3,    7,      0x80,  0x7e, 0,
                                   0x7f, TO_NAN, false, true};
static const small_float E4M3FNUZ = {3,    8,      0x80, 0x7f, 0,
                                     0x80, TO_NAN, true, false};
static const small_float E5M2 = {2,    15,          0x80,  0x7b, 0x7c,
                                 0x7e, TO_INFINITY, false, true};
static const small_float E5M2FNUZ = {2,    16,     0x80, 0x7f, 0,
                                     0x80, TO_NAN, true, false};
static const small_float E2M1FN = {1,   1,      0x8,   0x7,  0,
                                   0x8, TO_MAX, false, false};

static inline float decode(const small_float *f, unsigned bits)
{
    unsigned sign = bits & f->sign, a = bits & (f->sign - 1);
    unsigned exponent = a >> f->mantissa;
    unsigned fraction = a & ((1u << f->mantissa) - 1);
    float value;

    if (f->overflow != TO_MAX && (a > (f->infinity ? f->infinity : f->max) ||
                                  (f->no_minus_zero && bits == f->nan)))
        return from_bits(0x7fc00000 | (sign ? 1u << 31 : 0));
    if (f->infinity && a == f->infinity)
        return sign ? -INFINITY : INFINITY;
    value = exponent ? ldexpf((float)(fraction | 1u << f->mantissa),
                              (int)exponent - f->bias - f->mantissa)
                     : ldexpf((float)fraction, 1 - f->bias - f->mantissa);
    return sign ? -value : value;
}

static inline unsigned encode(const small_float *f, double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    unsigned sign = b >> 63 ? f->sign : 0;
    int exponent = (int)(b >> 52 & 0x7ff) - 1023, least = 1 - f->bias;
    uint64_t fraction = (b & 0xfffffffffffff) | (uint64_t)1 << 52;

    if (x != x)
        return f->nan | (f->signed_nan ? sign : 0);
    if (exponent == 1024)
        return f->overflow == TO_NAN
                   ? f->nan | (f->signed_nan ? sign : 0)
                   : (f->overflow == TO_MAX ? f->max : f->infinity) | sign;
    int scale = exponent > least ? exponent : least;
    int shift = 52 - f->mantissa + scale - exponent;
    uint64_t a = 0;
    if (shift < 55) {
        uint64_t half = (uint64_t)1 << (shift - 1);
        uint64_t rest = fraction & (((uint64_t)1 << shift) - 1);
        a = fraction >> shift;
        a += rest > half || (rest == half && (a & 1));
    }
    a += (uint64_t)(scale - least) << f->mantissa;
    if (a > f->max) {
        if (f->overflow == TO_NAN)
            return f->nan | (f->signed_nan ? sign : 0);
        a = f->overflow == TO_MAX ? f->max : f->infinity;
    }
    return a == 0 && f->no_minus_zero ? 0 : (unsigned)a | sign;
}

#define SMALL(ID, format)                                                      \
    PLAIN(ID##_F32, float, uint8_t, decode(&format, x))                        \
    PLAIN(F32_##ID, uint8_t, float, (uint8_t)encode(&format, x))               \
    PLAIN(F64_##ID, uint8_t, double, (uint8_t)encode(&format, x))
SMALL(F8_E3M4, E3M4)
SMALL(F8_E4M3, E4M3)
SMALL(F8_E4M3B11FNUZ, E4M3B11FNUZ)
SMALL(F8_E4M3FN, E4M3FN)
SMALL(F8_E4M3FNUZ, E4M3FNUZ)
SMALL(F8_E5M2, E5M2)
SMALL(F8_E5M2FNUZ, E5M2FNUZ)
SMALL(F4_E2M1FN, E2M1FN)

/* e8m0: powers of two from 2^-127 to 2^127, and NaN. */
static inline float of_e8m0(uint8_t x)
{
    return x == 0xff ? NAN : ldexpf(1, (int)x - 127);
}

static inline uint8_t to_e8m0(double x)
{
    int exponent;

    if (!(x > 0) || isinf(x))
        return 0xff;
    /* x = fraction * 2^exponent, 0.5 <= fraction < 1; a tie goes up, as
     * ml_dtypes has it. */
    double fraction = frexp(x, &exponent);
    int bits = exponent - 1 + 127 + (fraction >= 0.75);
    return (uint8_t)(bits < 0 ? 0 : bits > 254 ? 0xff : bits);
}
PLAIN(F8_E8M0FNU_F32, float, uint8_t, of_e8m0(x))
PLAIN(F32_F8_E8M0FNU, uint8_t, float, to_e8m0(x))
PLAIN(F64_F8_E8M0FNU, uint8_t, double, to_e8m0(x))

/* Pairs of doubles: what 64 bits hold, exactly; else through f64. */
static inline __attribute__((always_inline)) jx_pair of_i64(int64_t x)
{
    int64_t low = x & 0x7ff;

    return jx_pair_joined((double)(x - low), (double)low);
}

static inline __attribute__((always_inline)) jx_pair of_u64(uint64_t x)
{
    uint64_t low = x & 0x7ff;

    return jx_pair_joined((double)(x - low), (double)low);
}

/* Toward zero. */
static inline __attribute__((always_inline)) double whole_part(jx_pair x)
{
    double whole = trunc(x.hi);
    bool less = (x.hi > 0 && x.lo < 0) || (x.hi < 0 && x.lo > 0);

    return whole == x.hi && less ? whole - copysign(1, x.hi) : whole;
}

TILE(F64_F64X2, jx_pair, double, jx_pair_of(x))
TILE(F64X2_F64, double, jx_pair, x.hi)
PLAIN(I64_F64X2, jx_pair, int64_t, of_i64(x))
PLAIN(U64_F64X2, jx_pair, uint64_t, of_u64(x))
/* Integers are made of this. */
PLAIN(F64X2_WHOLE, double, jx_pair, whole_part(x))

/* The same dtype. */
#define SAME(bytes)                                                            \
    static void same##bytes(void *o, const void *const *ins, int64_t n,        \
                            const void *param)                                 \
    {                                                                          \
        (void)param;                                                           \
        if (o != ins[0])                                                       \
            memcpy(o, ins[0], (size_t)n *bytes);                               \
    }
SAME(1)
SAME(2)
SAME(4)
SAME(8)
SAME(16)

/* XLA has booleans for float0. */
static jx_dtype carried(jx_dtype dtype)
{
    return dtype == JX_FLOAT0 ? JX_BOOL : dtype;
}

static jx_tile *same_tile(jx_dtype dtype)
{
    switch (jx_dtype_of(dtype)->bytes) {
    case 1: return same1;
    case 2: return same2;
    case 4: return same4;
    case 8: return same8;
    default: return same16;
    }
}

#define ROW(FROM)                                                              \
    [JX_##FROM] = {[JX_BOOL] = FROM##_BOOL,                                    \
                   [JX_I8] = FROM##_I8,                                        \
                   [JX_I16] = FROM##_I16,                                      \
                   [JX_I32] = FROM##_I32,                                      \
                   [JX_I64] = FROM##_I64,                                      \
                   [JX_U8] = FROM##_U8,                                        \
                   [JX_U16] = FROM##_U16,                                      \
                   [JX_U32] = FROM##_U32,                                      \
                   [JX_U64] = FROM##_U64,                                      \
                   [JX_F32] = FROM##_F32,                                      \
                   [JX_F64] = FROM##_F64,                                      \
                   [JX_C64] = FROM##_C64,                                      \
                   [JX_C128] = FROM##_C128
#define SMALL_ROW(ID) [JX_##ID] = {[JX_F32] = ID##_F32},

#define F32_F32 same4
#define F64_F64 same8

jx_tile *jx_tile_convert(jx_dtype from, jx_dtype to){
    static jx_tile *const tiles[JX_NDTYPES][JX_NDTYPES] = {ROW(BOOL)},
    ROW(I8), [JX_I4] = I8_I4, [JX_I2] = I8_I2},
    ROW(I16)
}
, ROW(I32)
}
, ROW(I64)
}
, ROW(U8), [JX_U4] = I8_I4, [JX_U2] = I8_I2
}
, ROW(U16)
}
, ROW(U32)
}
, ROW(U64)
}
, ROW(F32), [JX_I4] = F32_I4, [JX_U4] = F32_U4, [JX_I2] = F32_I2,
            [JX_U2] = F32_U2, [JX_BF16] = F32_BF16, [JX_F16] = F32_F16,
            [JX_F8_E3M4] = F32_F8_E3M4, [JX_F8_E4M3] = F32_F8_E4M3,
            [JX_F8_E4M3B11FNUZ] = F32_F8_E4M3B11FNUZ,
            [JX_F8_E4M3FN] = F32_F8_E4M3FN, [JX_F8_E4M3FNUZ] = F32_F8_E4M3FNUZ,
            [JX_F8_E5M2] = F32_F8_E5M2, [JX_F8_E5M2FNUZ] = F32_F8_E5M2FNUZ,
            [JX_F8_E8M0FNU] = F32_F8_E8M0FNU, [JX_F4_E2M1FN] = F32_F4_E2M1FN
}
, ROW(F64), [JX_I4] = F64_I4, [JX_U4] = F64_U4, [JX_I2] = F64_I2,
            [JX_U2] = F64_U2, [JX_BF16] = F64_BF16, [JX_F16] = F64_F16,
            [JX_F8_E3M4] = F64_F8_E3M4, [JX_F8_E4M3] = F64_F8_E4M3,
            [JX_F8_E4M3B11FNUZ] = F64_F8_E4M3B11FNUZ,
            [JX_F8_E4M3FN] = F64_F8_E4M3FN, [JX_F8_E4M3FNUZ] = F64_F8_E4M3FNUZ,
            [JX_F8_E5M2] = F64_F8_E5M2, [JX_F8_E5M2FNUZ] = F64_F8_E5M2FNUZ,
            [JX_F8_E8M0FNU] = F64_F8_E8M0FNU, [JX_F4_E2M1FN] = F64_F4_E2M1FN
}
,
    [JX_C64] = {[JX_BOOL] = C64_BOOL,
                [JX_F32] = C64_F32,
                [JX_F64] = C64_F64,
                [JX_C128] = C64_C128},
    [JX_C128] = {[JX_BOOL] = C128_BOOL,
                 [JX_F32] = C128_F32,
                 [JX_F64] = C128_F64,
                 [JX_C64] = C128_C64},
    [JX_I4] = {[JX_I8] = I4_I8}, [JX_I2] = {[JX_I8] = I2_I8},
    [JX_U4] = {[JX_U8] = U4_U8}, [JX_U2] = {[JX_U8] = U2_U8},
    [JX_BF16] = {[JX_F32] = BF16_F32}, [JX_F16] = {[JX_F32] = F16_F32},
    [JX_F64X2] = {[JX_F64] = F64X2_F64},
    /* As it stands: clang-format takes the rows for one expression. */
    /* clang-format off */
        SMALL_ROW(F8_E3M4) SMALL_ROW(F8_E4M3) SMALL_ROW(F8_E4M3B11FNUZ)
        SMALL_ROW(F8_E4M3FN) SMALL_ROW(F8_E4M3FNUZ) SMALL_ROW(F8_E5M2)
        SMALL_ROW(F8_E5M2FNUZ) SMALL_ROW(F8_E8M0FNU) SMALL_ROW(F4_E2M1FN)
/* clang-format on */
}
;

if (jx_dtype_is_complex(from) && to == JX_FLOAT0)
    return NULL; /* by its real part, unlike to bool */
from = carried(from);
to = carried(to);
if (to == JX_F64X2 && from != to)
    return from == JX_F64   ? F64_F64X2
           : from == JX_I64 ? I64_F64X2
           : from == JX_U64 ? U64_F64X2
                            : NULL;
return from == to ? same_tile(from) : tiles[from][to];
}

jx_dtype jx_compute_dtype(jx_dtype stored)
{
    switch (stored) {
    case JX_I2:
    case JX_I4: return JX_I8;
    case JX_U2:
    case JX_U4: return JX_U8;
    case JX_F64:
    case JX_F64X2: return stored;
    default: return jx_dtype_is_float(stored) ? JX_F32 : stored;
    }
}

jx_tile *jx_convert_step(jx_dtype from, jx_dtype to, jx_dtype *next)
{
    *next = to;
    if (jx_tile_convert(from, to))
        return jx_tile_convert(from, to);
    if (to == JX_F64X2)
        return jx_convert_step(from, JX_F64, next);
    if (from == JX_F64X2) {
        *next = JX_F64;
        return jx_dtype_is_integer(to) ? F64X2_WHOLE : F64X2_F64;
    }
    *next = jx_compute_dtype(from);
    if (*next == from)
        *next = jx_dtype_is_complex(from) ? jx_dtype_real(from)
                                          : jx_compute_dtype(to);
    /* An integer reaches a small float through f64, which holds it exactly up
     * to 53 bits, so that it is rounded once. */
    if (*next == JX_F32 && jx_dtype_is_integer(from))
        *next = JX_F64;
    return *next == from ? NULL : jx_tile_convert(from, *next);
}

void jx_convert(jx_dtype from, jx_dtype to, const void *src, void *dst,
                int64_t n)
{
    enum { CHUNK = 128 };
    uint64_t space[2][CHUNK * 2];

    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t count = n - done < CHUNK ? n - done : CHUNK;
        const void *at =
            (const char *)src + (size_t)done * jx_dtype_of(from)->bytes;
        jx_dtype dtype = from, next = from;
        for (int i = 0; i < 4 && (dtype != to || i == 0); i++) {
            jx_tile *tile = jx_convert_step(dtype, to, &next);
            void *out =
                next == to ? (char *)dst + (size_t)done * jx_dtype_of(to)->bytes
                           : (void *)space[i & 1];
            if (!tile)
                return;
            tile(out, &at, count, NULL);
            at = out;
            dtype = next;
        }
    }
}
