/* elementwise.h - the tiles of each elementwise operation by dtype. */
#ifndef JX_ELEMENTWISE_H
#define JX_ELEMENTWISE_H

#include "runtime/region.h"

/* The tile of a primitive on operands of a compute dtype (bool, i8..u64, f32,
 * f64, c64, c128); NULL if it has none. */
jx_tile *jx_tile_of(jx_prim_id prim, jx_dtype dtype);
/* The tile of the same function of f64 that is off by some units more and much
 * faster, where there is one; else itself. */
jx_tile *jx_tile_brisk(jx_tile *tile);
/* A direct conversion (of a dtype to itself: a copy), or NULL. */
jx_tile *jx_tile_convert(jx_dtype from, jx_dtype to);
/* f32 rounded to bf16 or f16 but kept as f32; NULL for other dtypes. */
jx_tile *jx_tile_round(jx_dtype dtype);
/* x * y + z, rounded once: f32, f64. */
jx_tile *jx_tile_fma(jx_dtype dtype);
/* The same, rounded twice. */
jx_tile *jx_tile_mul_add(jx_dtype dtype);
/* The first step of a conversion and the dtype that it gives. */
jx_tile *jx_convert_step(jx_dtype from, jx_dtype to, jx_dtype *next);
/* The dtype that operations on a stored dtype compute in: f32 for the small
 * floats, i8 and u8 for the small integers, else itself. */
jx_dtype jx_compute_dtype(jx_dtype stored);
/* An operation on two slots of one dtype that it computes in
 * (jx_compute_dtype); the second may be a scalar.  A new slot
 * like the first. */
jx_slot jx_plan_combine(jx_planner *p, jx_prim_id prim, const jx_slot *a,
                        const jx_slot *b);
/* Complex numbers conjugated, and their real or imaginary parts. */
jx_slot jx_plan_conjugate(jx_planner *p, const jx_slot *slot);
jx_slot jx_plan_part(jx_planner *p, const jx_slot *slot, bool imaginary);
/* Converts n elements by the semantics of convert_element_type. */
void jx_convert(jx_dtype from, jx_dtype to, const void *src, void *dst,
                int64_t n);

#endif
