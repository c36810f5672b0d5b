/* elementwise.h - how the files of elementwise tiles are put together. */
#ifndef JX_KERNELS_ELEMENTWISE_H
#define JX_KERNELS_ELEMENTWISE_H

#include "runtime/elementwise.h"
#include "runtime/kernels/vector.h"

/* A tile of one and of two operands, from an expression in x and y. */
#define JX_UNARY(clones, name, out_type, in_type, ...)                         \
    clones static void name(void *o, const void *const *ins, int64_t n,        \
                            const void *param)                                 \
    {                                                                          \
        out_type *out = o;                                                     \
        const in_type *a = ins[0];                                             \
        (void)param;                                                           \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; i < n; i++) {                                      \
            in_type x = a[i];                                                  \
            out[i] = __VA_ARGS__;                                              \
        }                                                                      \
    }
#define JX_BINARY(clones, name, out_type, in_type, ...)                        \
    clones static void name(void *o, const void *const *ins, int64_t n,        \
                            const void *param)                                 \
    {                                                                          \
        out_type *out = o;                                                     \
        const in_type *a = ins[0], *b = ins[1];                                \
        (void)param;                                                           \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; i < n; i++) {                                      \
            in_type x = a[i], y = b[i];                                        \
            out[i] = __VA_ARGS__;                                              \
        }                                                                      \
    }
#define JX_TERNARY(clones, name, out_type, in_type, ...)                       \
    clones static void name(void *o, const void *const *ins, int64_t n,        \
                            const void *param)                                 \
    {                                                                          \
        out_type *out = o;                                                     \
        const in_type *a = ins[0], *b = ins[1], *c = ins[2];                   \
        (void)param;                                                           \
        JX_NO_ALIAS                                                            \
        for (int64_t i = 0; i < n; i++) {                                      \
            in_type x = a[i], y = b[i], z = c[i];                              \
            out[i] = __VA_ARGS__;                                              \
        }                                                                      \
    }

/* An elementwise equation in the making: a region whose values are made one
 * after the other, from its operands to the output. */
typedef struct jx_maker {
    jx_planner *p;
    const jx_eqn *eqn; /* or NULL */
    jx_region *region;
    jx_slot out;
    jx_slot *operands; /* as large as `out` */
    int noperands;
} jx_maker;

/* `out` is set; at most so many operands follow. */
bool jx_make_begin(jx_maker *m, int most);
/* The slot's elements, repeated where it is smaller than the output. */
int jx_make_operand(jx_maker *m, const jx_slot *slot);
int jx_make_convert(jx_maker *m, int value, jx_dtype to);
int jx_make_instr(jx_maker *m, jx_tile *tile, const void *param, jx_dtype out,
                  int nins, const int *ins);
/* noise.c: `made` of these values by the tile, with the plan's noise if that
 * rounds: the value to go on with. */
int jx_make_noise(jx_maker *m, jx_tile *tile, jx_dtype dtype, int made,
                  int nins, const int *ins);
/* The value is the output, which then lies as `out` says; plans the region,
 * unless planning has failed. */
bool jx_make_end(jx_maker *m, int result);

/* Primitives that JAX makes of a few others: the result, from the operand. */
enum { JX_COMPOSED_NUMBERS = 1 }; /* constants among the operands, at most */
bool jx_is_composed(jx_prim_id prim);
int jx_make_composed(jx_maker *m, int x);
jx_plan_rule jx_plan_polynomial;

jx_tile *jx_tile_int(jx_prim_id prim, jx_dtype dtype);
jx_tile *jx_tile_float(jx_prim_id prim, jx_dtype dtype);
jx_tile *jx_tile_complex(jx_prim_id prim, jx_dtype dtype);
jx_tile *jx_tile_pair(jx_prim_id prim); /* of f64x2 */
/* param: the jx_p_ struct of the primitive. */
jx_tile *jx_tile_nextafter16(jx_dtype dtype);

#endif
