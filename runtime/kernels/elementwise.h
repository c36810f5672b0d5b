/* elementwise.h - how the files of elementwise tiles are put together. */
#ifndef JX_KERNELS_ELEMENTWISE_H
#define JX_KERNELS_ELEMENTWISE_H

#include "runtime/elementwise.h"
#include "runtime/kernels/vector.h"

/* A tile of one and of two operands, from an expression in x and y. */
#define JX_UNARY(clones, name, out_type, in_type, ...)                        \
    clones static void name(void *o, const void *const *ins, int64_t n,       \
                            const void *param)                                \
    {                                                                         \
        out_type *out = o;                                                    \
        const in_type *a = ins[0];                                            \
        (void)param;                                                          \
        JX_NO_ALIAS                                                           \
        for (int64_t i = 0; i < n; i++) {                                     \
            in_type x = a[i];                                                 \
            out[i] = __VA_ARGS__;                                             \
        }                                                                     \
    }
#define JX_BINARY(clones, name, out_type, in_type, ...)                       \
    clones static void name(void *o, const void *const *ins, int64_t n,       \
                            const void *param)                                \
    {                                                                         \
        out_type *out = o;                                                    \
        const in_type *a = ins[0], *b = ins[1];                               \
        (void)param;                                                          \
        JX_NO_ALIAS                                                           \
        for (int64_t i = 0; i < n; i++) {                                     \
            in_type x = a[i], y = b[i];                                       \
            out[i] = __VA_ARGS__;                                             \
        }                                                                     \
    }
#define JX_TERNARY(clones, name, out_type, in_type, ...)                      \
    clones static void name(void *o, const void *const *ins, int64_t n,       \
                            const void *param)                                \
    {                                                                         \
        out_type *out = o;                                                    \
        const in_type *a = ins[0], *b = ins[1], *c = ins[2];                  \
        (void)param;                                                          \
        JX_NO_ALIAS                                                           \
        for (int64_t i = 0; i < n; i++) {                                     \
            in_type x = a[i], y = b[i], z = c[i];                             \
            out[i] = __VA_ARGS__;                                             \
        }                                                                     \
    }

jx_tile *jx_tile_int(jx_prim_id prim, jx_dtype dtype);
jx_tile *jx_tile_float(jx_prim_id prim, jx_dtype dtype);
jx_tile *jx_tile_complex(jx_prim_id prim, jx_dtype dtype);
/* param: the jx_p_ struct of the primitive. */
jx_tile *jx_tile_nextafter16(jx_dtype dtype);

#endif
