/* kernel.h - what kernels and plan rules see.
 *
 * Planning happens at concrete sizes and makes an immutable list of operations
 * on slots.  A slot is a typed, strided window into a buffer, so that
 * broadcast, slice, transpose, reverse and squeeze cost nothing at run time.
 * Buffers are assigned by lifetime after planning.  At run time an operation
 * gets its slots as views (pointers resolved) and may not allocate: it asks for
 * scratch memory while planning. */
#ifndef JX_KERNEL_H
#define JX_KERNEL_H

#include "frontend/ir/params.h"

enum { JX_MAX_RANK = 32 };

/* Which numbers a plan computes with. */
typedef enum jx_domain {
    JX_DECLARED = 0, /* IEEE, each dtype as declared */
    JX_WIDE,         /* f64 for every float, c128 for every complex */
    JX_DOUBLED,      /* the same, but two doubles (f64x2) for every f64 */
} jx_domain;

/* A value while planning.  Strides are in bytes, and may be 0 (broadcast) or
 * negative (reversed). */
typedef struct jx_slot {
    jx_dtype dtype; /* as stored: in the wide domain F64 for every float; a key
                       is U32 with its trailing axis in the shape */
    int rank;
    int64_t shape[JX_MAX_RANK];
    int64_t strides[JX_MAX_RANK];
    int buffer;     /* planner's number */
    int64_t offset; /* of element 0,...,0 in bytes */
} jx_slot;

/* A value while running: the same with its address. */
typedef struct jx_view {
    char *data;
    jx_dtype dtype;
    int rank;
    const int64_t *shape, *strides;
    int64_t count; /* elements */
    bool dense;    /* row-major without gaps */
} jx_view;

typedef struct jx_run jx_run;         /* state of one execution (exec.h) */
typedef struct jx_planner jx_planner; /* plan.h */

/* One operation.  `data` is what the plan rule stored; `scratch` the memory it
 * asked for (64-byte aligned, uninitialized).  False only with jx_run_fail()
 * called. */
typedef bool jx_kernel(jx_run *run, const void *data, const jx_view *ins,
                       const jx_view *outs, void *scratch);

/* Says what is wrong at run time (a factorization that LAPACK refuses with an
 * argument error, memory); always returns false. */
bool jx_run_fail(jx_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says what differs from what the program itself expects (a check that it
 * makes); always returns false. */
bool jx_run_differs(jx_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A plan rule makes operations for one equation.  `ins` are the operands'
 * slots; it fills `outs`.  False only with jx_plan_fail() called. */
typedef bool jx_plan_rule(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                          jx_slot *outs);
jx_plan_rule *jx_plan_rule_of(jx_prim_id id); /* NULL: none */

/* The equation that alone takes the result of `eqn`, which is being planned;
 * NULL where several do, where none does, and where that is not known. */
const jx_eqn *jx_plan_only_user(const jx_planner *p, const jx_eqn *eqn);

bool jx_plan_fail(jx_planner *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool jx_plan_starved(jx_planner *p);      /* of memory: planning fails */
jx_ctx *jx_plan_ctx(const jx_planner *p); /* the program's */
jx_domain jx_plan_domain(const jx_planner *p);
/* How a dtype is stored in this plan's domain. */
jx_dtype jx_plan_dtype(const jx_planner *p, jx_dtype declared);
/* The value of a dim at this plan's sizes; planning fails (and 0 is given)
 * if it has none. */
int64_t jx_plan_dim(jx_planner *p, const jx_dim *dim);
/* A size used as a value: the program's own int32 or int64 arithmetic, which
 * wraps, converted to the dtype. */
jx_slot jx_plan_dim_slot(jx_planner *p, const jx_dim *dim, jx_dtype declared);
/* Shape of an output as declared, evaluated; a key's has its trailing axis. */
void jx_plan_shape(jx_planner *p, const jx_aval *aval, int *rank,
                   int64_t *shape);

/* A new dense slot in a buffer of its own. */
jx_slot jx_plan_new(jx_planner *p, jx_dtype stored, int rank,
                    const int64_t *shape);
/* A new dense slot of the equation's output `i`. */
jx_slot jx_plan_output(jx_planner *p, const jx_eqn *eqn, int i);
bool jx_slot_is_dense(const jx_slot *slot);
int64_t jx_slot_count(const jx_slot *slot);
/* The same value row-major without gaps: itself, or a copy. */
jx_slot jx_plan_dense(jx_planner *p, const jx_slot *slot);
/* The same elements as another stored dtype (a conversion by the semantics of
 * convert_element_type). */
jx_slot jx_plan_convert(jx_planner *p, const jx_slot *slot, jx_dtype stored);
/* The same of what is read several times: what was made of a small input or
 * constant in this block is taken again. */
jx_slot jx_plan_converted(jx_planner *p, const jx_slot *slot, jx_dtype stored);

/* Appends an operation; `data` is copied (NULL with size 0). */
void jx_plan_op(jx_planner *p, jx_kernel *kernel, const void *data,
                size_t data_size, int nins, const jx_slot *ins, int nouts,
                const jx_slot *outs, size_t scratch);

/* Copies one slot's elements into another of the same dtype and shape.  Costs
 * nothing when both end up in the same place: an operation that updates its
 * operand (a scatter) copies the operand to its output and then works on the
 * output, listed among its outs only. */
void jx_plan_copy(jx_planner *p, const jx_slot *from, const jx_slot *into);
/* The same stored dtype and shape; else planning fails.  Documents may lie
 * about their avals: a rule checks what its kernel relies on. */
bool jx_plan_same(jx_planner *p, const jx_slot *a, const jx_slot *b);
/* Results are the operands, which must be what is declared for them. */
bool jx_plan_pass(jx_planner *p, const jx_eqn *eqn, const jx_slot *ins,
                  jx_slot *outs);
/* Planning itself may take so much memory (the budget, or what the machine
 * has); else it fails. */
bool jx_plan_affords(jx_planner *p, int64_t count, size_t size);
/* A dense constant with the given elements (copied). */
jx_slot jx_plan_constant(jx_planner *p, jx_dtype stored, int rank,
                         const int64_t *shape, const void *elements);
/* A literal of the wide domain, rounded to a float dtype and shaken like one;
 * false if the slot is none. */
bool jx_plan_rounded_literal(jx_planner *p, const jx_slot *slot, jx_dtype to,
                             jx_slot *out);
/* The slot seen with another shape of as many elements, sharing memory where
 * the strides allow it, else copied. */
jx_slot jx_plan_reshaped(jx_planner *p, const jx_slot *slot, int rank,
                         const int64_t *shape);

/* Operations of a jaxpr in place (as a call does), or a call of what was
 * planned of it before: `outs` are its results. */
bool jx_plan_inline(jx_planner *p, const jx_closed *closed, const jx_slot *ins,
                    jx_slot *outs);

/* Code that an operation runs any number of times (the body of a loop, the
 * computation of a reduction).  Between begin and end operations go into the
 * block; its number is what jx_run_block() wants.  Slots that are made before
 * and read in the block keep their memory until the owning operation, which is
 * appended last, by jx_plan_block_op(), and lists among its ins and outs all
 * slots through which it talks to its blocks. */
int jx_plan_block_begin(jx_planner *p);
void jx_plan_block_end(jx_planner *p);
void jx_plan_block_op(jx_planner *p, jx_kernel *kernel, const void *data,
                      size_t data_size, int nins, const jx_slot *ins, int nouts,
                      const jx_slot *outs, size_t scratch, int first_block,
                      int nblocks);
bool jx_run_block(jx_run *run, int block);
/* Whether to go on.  Kernels that may compute for long ask between pieces of
 * some milliseconds, in any thread, and leave their work undone if not: the run
 * gives up after them. */
bool jx_run_lasts(jx_run *run);
/* The same for loops of short turns: asks once in so much work, counted in
 * elements by the caller (in *done, 0 at first). */
static inline bool jx_run_lasts_for(jx_run *run, int64_t *done, int64_t work)
{
    enum { PIECE = 1 << 18 };

    if ((*done += work) < PIECE)
        return true;
    *done = 0;
    return jx_run_lasts(run);
}
/* A begin, the jaxpr inlined, and an end: its results are copied to dense
 * slots that outlive the block.  `ins` are slots that the owner fills before
 * each jx_run_block(). */
int jx_plan_body(jx_planner *p, const jx_closed *closed, const jx_slot *ins,
                 jx_slot *outs);

#endif
