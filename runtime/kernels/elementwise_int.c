/* elementwise_int.c - integers and booleans.
 *
 * Everything wraps.  A division by zero gives all ones, its remainder the
 * dividend; shifts by the width or more give what shifting bit by bit would. */
#include "runtime/kernels/elementwise.h"

#include <string.h>

/* U: unsigned of the same width, where arithmetic wraps.  W: as U, but not
 * narrower than unsigned int, lest two u16 multiply as signed ints. */
#define COMMON(ID, T, U, W, bits)                                              \
    JX_BINARY(JX_VECTOR_CLONES, add_##ID, T, T, (T)(U)((W)(U)x + (W)(U)y))     \
    JX_BINARY(JX_VECTOR_CLONES, sub_##ID, T, T, (T)(U)((W)(U)x - (W)(U)y))     \
    JX_BINARY(JX_VECTOR_CLONES, mul_##ID, T, T, (T)(U)((W)(U)x * (W)(U)y))     \
    JX_BINARY(JX_VECTOR_CLONES, max_##ID, T, T, x > y ? x : y)                 \
    JX_BINARY(JX_VECTOR_CLONES, min_##ID, T, T, x < y ? x : y)                 \
    JX_BINARY(, and_##ID, T, T, x &y)                                          \
    JX_BINARY(, or_##ID, T, T, x | y)                                          \
    JX_BINARY(, xor_##ID, T, T, x ^ y)                                         \
    JX_BINARY(, shl_##ID, T, T, (U)y >= bits ? 0 : (T)(U)((W)(U)x << (U)y))    \
    JX_BINARY(, shrl_##ID, T, T, (U)y >= bits ? 0 : (T)((U)x >> (U)y))         \
    JX_BINARY(JX_VECTOR_CLONES, eq_##ID, uint8_t, T, x == y)                   \
    JX_BINARY(JX_VECTOR_CLONES, ne_##ID, uint8_t, T, x != y)                   \
    JX_BINARY(JX_VECTOR_CLONES, lt_##ID, uint8_t, T, x < y)                    \
    JX_BINARY(JX_VECTOR_CLONES, le_##ID, uint8_t, T, x <= y)                   \
    JX_BINARY(JX_VECTOR_CLONES, gt_##ID, uint8_t, T, x > y)                    \
    JX_BINARY(JX_VECTOR_CLONES, ge_##ID, uint8_t, T, x >= y)                   \
    JX_TERNARY(, clamp_##ID, T, T, (y > x ? y : x) < z ? (y > x ? y : x) : z)  \
    JX_UNARY(, not_##ID, T, T, (T)~x)                                          \
    JX_UNARY(, neg_##ID, T, T, (T)(U)(0 - (W)(U)x))                            \
    JX_UNARY(, square_##ID, T, T, (T)(U)((W)(U)x * (W)(U)x))                   \
    JX_UNARY(, pop_##ID, T, T, (T)__builtin_popcountll((U)x))                  \
    static T power_##ID(T x, int64_t y)                                        \
    {                                                                          \
        W base = (U)x, r = 1;                                                  \
        for (; y > 0; y >>= 1, base = (U)(base * base))                        \
            if (y & 1)                                                         \
                r = (U)(r * base);                                             \
        return (T)(U)r;                                                        \
    }                                                                          \
    JX_UNARY(, ipow_##ID, T, T,                                                \
             power_##ID(x, ((const jx_p_integer_pow *)param)->y))              \
    JX_BINARY(, pow_##ID, T, T, power_##ID(x, (int64_t)y))                     \
    /* param: the width that counts (4 for u4 in a byte) */                    \
    JX_UNARY(, clz_##ID, T, T,                                                 \
             (T)((U)x ? __builtin_clzll((U)x) - 64 + *(const int *)param       \
                      : *(const int *)param))

#define SIGNED(ID, T, U, W, bits, low)                                         \
    COMMON(ID, T, U, W, bits)                                                  \
    JX_BINARY(, div_##ID, T, T,                                                \
              y == 0    ? (T)-1                                                \
              : y == -1 ? (T)(U)(0 - (W)(U)x)                                  \
                        : (T)(x / y))                                          \
    JX_BINARY(, rem_##ID, T, T, y == 0 ? x : y == -1 ? 0 : (T)(x % y))         \
    JX_BINARY(, shra_##ID, T, T, x >> ((U)y >= bits ? bits - 1 : (int)y))      \
    JX_UNARY(, abs_##ID, T, T, x < 0 ? (T)(U)(0 - (W)(U)x) : x)                \
    JX_UNARY(, sign_##ID, T, T, (T)((x > 0) - (x < 0)))

#define UNSIGNED(ID, T, U, W, bits)                                            \
    COMMON(ID, T, U, W, bits)                                                  \
    JX_BINARY(, div_##ID, T, T, y == 0 ? (T)-1 : (T)(x / y))                   \
    JX_BINARY(, rem_##ID, T, T, y == 0 ? x : (T)(x % y))                       \
    /* arithmetic: by the sign of the bits */                                  \
    JX_BINARY(, shra_##ID, T, T,                                               \
              (T)((int64_t)((uint64_t)x << (64 - bits)) >> (64 - bits) >>      \
                  (y >= bits ? bits - 1 : (int)y)))                            \
    JX_UNARY(, abs_##ID, T, T, x)                                              \
    JX_UNARY(, sign_##ID, T, T, x != 0)

SIGNED(I8, int8_t, uint8_t, uint32_t, 8, INT8_MIN)
SIGNED(I16, int16_t, uint16_t, uint32_t, 16, INT16_MIN)
SIGNED(I32, int32_t, uint32_t, uint32_t, 32, INT32_MIN)
SIGNED(I64, int64_t, uint64_t, uint64_t, 64, INT64_MIN)
UNSIGNED(U8, uint8_t, uint8_t, uint32_t, 8)
UNSIGNED(U16, uint16_t, uint16_t, uint32_t, 16)
UNSIGNED(U32, uint32_t, uint32_t, uint32_t, 32)
UNSIGNED(U64, uint64_t, uint64_t, uint64_t, 64)

#define HIGH(ID, T, wide, bits)                                                \
    JX_BINARY(, mulhi_##ID, T, T, (T)((wide)x * (wide)y >> bits))
HIGH(I8, int8_t, int32_t, 8)
HIGH(I16, int16_t, int32_t, 16)
HIGH(I32, int32_t, int64_t, 32)
HIGH(I64, int64_t, __int128, 64)
HIGH(U8, uint8_t, uint32_t, 8)
HIGH(U16, uint16_t, uint64_t, 16)
HIGH(U32, uint32_t, uint64_t, 32)
HIGH(U64, uint64_t, unsigned __int128, 64)

/* Booleans: addition is or, multiplication and. */
#define V JX_VECTOR_CLONES
JX_BINARY(V, or_BOOL, uint8_t, uint8_t, (x | y) != 0)
JX_BINARY(V, and_BOOL, uint8_t, uint8_t, (x != 0) & (y != 0))
JX_BINARY(V, xor_BOOL, uint8_t, uint8_t, (x != 0) != (y != 0))
JX_BINARY(V, eq_BOOL, uint8_t, uint8_t, (x != 0) == (y != 0))
JX_BINARY(V, lt_BOOL, uint8_t, uint8_t, (x == 0) & (y != 0))
JX_BINARY(V, le_BOOL, uint8_t, uint8_t, (x == 0) | (y != 0))
JX_BINARY(V, gt_BOOL, uint8_t, uint8_t, (x != 0) & (y == 0))
JX_BINARY(V, ge_BOOL, uint8_t, uint8_t, (x != 0) | (y == 0))
JX_UNARY(V, not_BOOL, uint8_t, uint8_t, x == 0)
JX_TERNARY(V, clamp_BOOL, uint8_t, uint8_t, ((x | y) != 0) & (z != 0))

#define ROW(op)                                                                \
    {                                                                          \
        [JX_I8] = op##_I8, [JX_I16] = op##_I16, [JX_I32] = op##_I32,           \
        [JX_I64] = op##_I64, [JX_U8] = op##_U8, [JX_U16] = op##_U16,           \
        [JX_U32] = op##_U32, [JX_U64] = op##_U64
#define NO_BOOL }
#define BOOL(tile)                                                             \
    , [JX_BOOL] = tile                                                         \
    }

jx_tile *jx_tile_int(jx_prim_id prim, jx_dtype dtype)
{
    static jx_tile *const tiles[JX_NPRIMS][JX_NDTYPES] = {
        [JX_PRIM_add] = ROW(add) BOOL(or_BOOL),
        [JX_PRIM_add_any] = ROW(add) BOOL(or_BOOL),
        [JX_PRIM_sub] = ROW(sub) NO_BOOL,
        [JX_PRIM_mul] = ROW(mul) BOOL(and_BOOL),
        [JX_PRIM_div] = ROW(div) NO_BOOL,
        [JX_PRIM_rem] = ROW(rem) NO_BOOL,
        [JX_PRIM_max] = ROW(max) BOOL(or_BOOL),
        [JX_PRIM_min] = ROW(min) BOOL(and_BOOL),
        [JX_PRIM_pow] = ROW(pow) NO_BOOL,
        [JX_PRIM_and] = ROW(and) BOOL(and_BOOL),
        [JX_PRIM_or] = ROW(or) BOOL(or_BOOL),
        [JX_PRIM_xor] = ROW(xor) BOOL(xor_BOOL),
        [JX_PRIM_not] = ROW(not ) BOOL(not_BOOL),
        [JX_PRIM_shift_left] = ROW(shl) NO_BOOL,
        [JX_PRIM_shift_right_logical] = ROW(shrl) NO_BOOL,
        [JX_PRIM_shift_right_arithmetic] = ROW(shra) NO_BOOL,
        [JX_PRIM_eq] = ROW(eq) BOOL(eq_BOOL),
        [JX_PRIM_ne] = ROW(ne) BOOL(xor_BOOL),
        [JX_PRIM_lt] = ROW(lt) BOOL(lt_BOOL),
        [JX_PRIM_le] = ROW(le) BOOL(le_BOOL),
        [JX_PRIM_gt] = ROW(gt) BOOL(gt_BOOL),
        [JX_PRIM_ge] = ROW(ge) BOOL(ge_BOOL),
        [JX_PRIM_eq_to] = ROW(eq) BOOL(eq_BOOL),
        [JX_PRIM_lt_to] = ROW(lt) BOOL(lt_BOOL),
        [JX_PRIM_le_to] = ROW(le) BOOL(le_BOOL),
        [JX_PRIM_neg] = ROW(neg) NO_BOOL,
        [JX_PRIM_abs] = ROW(abs) NO_BOOL,
        [JX_PRIM_sign] = ROW(sign) NO_BOOL,
        [JX_PRIM_square] = ROW(square) NO_BOOL,
        [JX_PRIM_population_count] = ROW(pop) NO_BOOL,
        [JX_PRIM_clz] = ROW(clz) NO_BOOL,
        [JX_PRIM_integer_pow] = ROW(ipow) NO_BOOL,
        [JX_PRIM_mulhi] = ROW(mulhi) NO_BOOL,
        [JX_PRIM_clamp] = ROW(clamp) BOOL(clamp_BOOL),
    };

    return tiles[prim][dtype];
}
