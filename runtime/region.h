/* region.h - elementwise operations, fused.
 *
 * A region computes outputs of one shape from operands of that shape (strided
 * or broadcast windows, too) by a list of instructions.  It runs in tiles that
 * stay in the first-level cache: each instruction works through a tile before
 * the next one does. */
#ifndef JX_REGION_H
#define JX_REGION_H

#include "frontend/base/vec.h"
#include "runtime/kernel.h"

/* Works through `n` elements.  `out` may be one of the ins. */
typedef void jx_tile(void *out, const void *const *ins, int64_t n,
                     const void *param);

/* A value in a region: an operand from outside, or an instruction's result. */
typedef struct jx_rvalue {
    jx_dtype dtype;
    int input;  /* index of the operand, or -1 */
    int output; /* index of the output that it is, or -1 */
} jx_rvalue;

typedef struct jx_rinstr {
    jx_tile *tile;
    const void *param;
    int out, nins;
    const int *ins; /* values */
} jx_rinstr;

typedef struct jx_region {
    JX_VEC(jx_rvalue) values;
    JX_VEC(jx_rinstr) instrs;
    int nins, nouts;
    JX_VEC(int) inputs, outputs; /* the value of each */
} jx_region;

jx_region *jx_region_new(jx_arena *arena);
/* The next operand from outside. */
int jx_region_input(jx_arena *arena, jx_region *r, jx_dtype dtype);
/* An instruction; gives the value that it makes. */
int jx_region_instr(jx_arena *arena, jx_region *r, jx_tile *tile,
                    const void *param, jx_dtype out, int nins, const int *ins);
/* The same, converting the value between stored dtypes. */
int jx_region_convert(jx_arena *arena, jx_region *r, int value, jx_dtype to);
void jx_region_output(jx_arena *arena, jx_region *r, int value);

/* Appends b's instructions to a.  `map` gives for each operand of b the value
 * in a that it is, or -1 (it becomes a's next operand).  b's outputs become
 * further outputs of a. */
void jx_region_merge(jx_arena *arena, jx_region *a, const jx_region *b,
                     const int *map);
/* Joins a rounding to a small float and the widening after it, and drops what
 * is not used; a product that one sum alone takes goes into it.  With `excess`,
 * as XLA's code has it: what is rounded only to be widened again is not
 * rounded, and such a product is not either (a fused multiply-add). */
void jx_region_simplify(jx_arena *arena, jx_region *r, bool excess);
/* Keeps the outputs that are marked. */
void jx_region_keep(jx_region *r, const bool *keep);
/* True if output `out` may be written over operand `in`, which it has the
 * element size of. */
bool jx_region_in_place(const jx_region *r, int in, int out);

/* What is wrong with it: an instruction that reads what is made after it, an
 * output that none makes; or NULL.  For assertions (assert.h). */
const char *jx_region_fault(jx_arena *arena, const jx_region *r);

/* How an operand is read. */
typedef enum jx_access {
    JX_ACCESS_DENSE = 0,
    JX_ACCESS_SPLAT, /* one element for all */
    JX_ACCESS_STRIDED,
} jx_access;

/* The form that runs on `count` elements: data of jx_run_region. */
const void *jx_region_compile(jx_arena *arena, jx_arena *working,
                              const jx_region *r, const jx_access *access,
                              int64_t count, size_t *scratch);
jx_kernel jx_run_region;

#endif
