/* plan_impl.h - a plan and the planner from inside: shared by plan.c (equations
 * and blocks), plan_calls.c (calls), plan_slots.c (values), finish*.c (the
 * passes over operations) and exec.c. */
#ifndef JX_PLAN_IMPL_H
#define JX_PLAN_IMPL_H

#include "frontend/base/vec.h"
#include "frontend/ir/growth.h"
#include "runtime/plan.h"
#include "runtime/region.h"

typedef enum jx_mem_kind {
    JX_MEM_TEMP = 0, /* in the run's arena */
    JX_MEM_CONST,    /* read in place */
    JX_MEM_IN,       /* the caller's */
    JX_MEM_OUT,      /* the caller's, or the execution's own */
    JX_MEM_MOVING,   /* set by a loop at every turn */
} jx_mem_kind;

/* A buffer.  `first` and `last` bound the positions where it is in use. */
typedef struct jx_mem {
    int64_t bytes;
    int64_t below; /* further ones before its address: a moving one is what
                      its window spans, which may go backwards */
    const void *constant;
    int64_t offset; /* in the run's arena */
    /* positions that read or write it, while the plan is made */
    JX_VEC(int) touches;
    jx_mem_kind kind;
    int port;  /* of an input or output */
    int home;  /* block in which it was made */
    int alias; /* the buffer that it lives in, or -1 */
    int first, last;
    int writes;      /* operations that write it */
    int patches;     /* of one that is set when the plan runs: their number in
                        the plan */
    bool is_literal; /* of an equation, not of a program's constants */
    bool needed, touched;
} jx_mem;

/* Its address is not known before the plan runs. */
static inline bool jx_mem_is_set(const jx_mem *mem)
{
    return mem->kind != JX_MEM_TEMP && mem->kind != JX_MEM_CONST;
}

/* Buffers by number.  They stay where they are when there are more. */
enum { JX_MEMS_PIECE = 32 };
typedef struct jx_mems {
    int count;
    JX_VEC(jx_mem *) pieces;
} jx_mems;

static inline jx_mem *jx_mem_at(const jx_mems *mems, int number)
{
    return &mems->pieces.at[number / JX_MEMS_PIECE][number % JX_MEMS_PIECE];
}

/* A slot, stored in the size it needs. */
typedef struct jx_operand {
    jx_dtype dtype;
    int rank;
    int buffer;
    int64_t offset;
    const int64_t *shape, *strides;
} jx_operand;

typedef struct jx_op {
    const char *name; /* of the primitive that it was planned for */
    jx_kernel *kernel;
    const void *data;
    int nins, nouts;
    jx_operand *ins, *outs;
    size_t scratch;
    int scratch_buffer;
    int block;
    int first_block, nblocks; /* blocks that it runs */
    int unit;                 /* the unit that it calls, or 0 */
    jx_region *region;        /* of an elementwise operation */
    bool copy, dead;
    bool acts; /* it is there for what it does, whatever its results are */
    int begin, position; /* its blocks' first position; its own */
} jx_op;

typedef JX_VEC(jx_op *) jx_op_list;

typedef struct jx_block {
    int parent; /* -1: it is all of its unit */
    int unit;
    jx_op *owner; /* the operation that runs it */
    bool dead;    /* which is not needed */
    bool acts;    /* holds an operation that is there for what it does */
    jx_op_list ops;
} jx_block;

/* How a unit gets an operand. */
typedef enum jx_form {
    JX_FORM_DENSE = 0, /* row-major, wherever it lies */
    JX_FORM_SPLAT,     /* one element, seen as all */
    JX_FORM_KNOWN,     /* a constant, of which the unit may make use */
} jx_form;

/* Operations that are planned once and run from several places (plan_calls.c).
 * Unit 0 is the program.  Operands and results are moving buffers, which the
 * caller sets; a result that is an operand or a constant is neither. */
typedef struct jx_unit {
    const jx_jaxpr *jaxpr;
    const jx_array *const *consts;
    int block;
    bool planned;
    int next; /* another unit of the same jaxpr, or 0 */
    const jx_form *forms;
    jx_operand *ins, *outs;
    int *passes;    /* per result: the operand that it is, or -1 */
    int64_t offset; /* of its memory in the run's arena */
} jx_unit;

/* An operation ready to run: `first_view` indexes the execution's views, which
 * are of its operands. */
typedef struct jx_step {
    jx_kernel *kernel;
    const void *data;
    const jx_operand *operands; /* that it reads, then that it writes */
    int first_view, nins, nouts;
    int64_t scratch; /* offset in the run's arena, or -1 */
    /* for people: its name, where it stands, what it runs */
    const char *name;
    int position, instrs, scratch_buffer, first_block, nblocks;
} jx_step;

typedef struct jx_steps {
    int count;
    const jx_step *at;
} jx_steps;

/* A view of an input, output or moving buffer, and where in it that begins. */
typedef struct jx_patch {
    int view;
    int64_t offset;
} jx_patch;

/* All of one buffer. */
typedef struct jx_patches {
    int count;
    jx_patch *at;
} jx_patches;

/* An input that one operation reads last, where it writes an
 * output in place. */
typedef struct jx_lending {
    int in, out;
} jx_lending;

struct jx_plan {
    jx_arena *arena;
    const jx_program *program;
    jx_domain domain;
    int nins, nouts;
    jx_port *ins, *outs;
    jx_mems mems;
    int nviews;
    jx_patches *patches; /* of buffers that are IN, OUT or MOVING */
    int nblocks;
    jx_steps *blocks;  /* 0 is the program */
    int nsteps;        /* operations in all of them */
    int64_t bytes;     /* of the run's arena */
    int *last_reads;   /* per input: the position, or -1 */
    int *first_writes; /* per output: the position, or -1 */
    JX_VEC(jx_lending) lendings;
    struct jx_host_op *host; /* operations that a host runs (host.h) */
};

/* What an input or a constant is in another dtype. */
typedef struct jx_converted {
    int block;
    jx_slot from, to;
} jx_converted;

/* A constant that is kept as so many elements. */
typedef struct jx_spread {
    jx_dtype dtype;
    int64_t count;
    char element[16];
    int buffer;
} jx_spread;

enum { JX_SPREADS = 32 }; /* that are known, for those who take them again */

/* Shape and strides of operands, which are mostly those of others. */
typedef struct jx_layout {
    int rank;
    const int64_t *both;
} jx_layout;

enum { JX_LAYOUTS = 64 };

struct jx_planner {
    jx_plan *plan;
    jx_arena *arena;   /* the plan's */
    jx_arena *scratch; /* of what goes when the plan is made */
    const jx_typed *typed;
    const jx_program *program; /* that is typed */
    const jx_plan_options *options;
    jx_mems mems;
    JX_VEC(jx_block) blocks;
    JX_VEC(jx_unit) units;
    JX_VEC(int) order; /* of units, callees first */
    jx_growth growth;
    /* small ones, for those who read them again */
    JX_VEC(jx_converted) converted;
    jx_spread spreads[JX_SPREADS];
    int nspreads; /* of all that were made */
    jx_layout layouts[JX_LAYOUTS];
    int *units_of;   /* by number of the jaxpr: the first of its units, or 0 */
    int64_t special; /* equations that units for special operands may add */
    int block;       /* where operations go */
    int unit;        /* that the block is of */
    const jx_eqn *eqn; /* being planned, for messages */
    const jx_jaxpr *jaxpr;
    const jx_eqn **users; /* of its variables: jx_plan_only_user() */
    int depth;
    char *acting;           /* per jaxpr of the program: not known, no, yes */
    const jx_eqn *deciding; /* the loop whose predicate is planned; or NULL */
    bool single; /* of JX_DOUBLED: the equation is planned as in JX_WIDE */
    bool failed;
};

/* There is room for what takes so many bytes, in the plan's own limit and in
 * the program's; else planning fails. */
bool jx_plan_allows(jx_planner *p, const char *what, int64_t bytes);
/* Neither arena has failed. */
bool jx_plan_is_fed(const jx_planner *p);
/* A new buffer; without memory any that is there will do: nobody runs
 * the plan. */
int jx_mem_add(jx_planner *p, const jx_mem *mem);
/* The buffer that a buffer lives in. */
int jx_mem_root(const jx_mems *mems, int buffer);
/* Sets the shape and strides of an operand. */
void jx_operand_lay(jx_planner *p, int rank, const int64_t *shape,
                    const int64_t *strides, jx_operand *to);
/* Whether what is planned gets the plan's noise: of JX_DOUBLED what is
 * computed in double. */
static inline bool jx_plan_is_noisy(const jx_planner *p)
{
    return p->options->noise && (p->options->domain != JX_DOUBLED || p->single);
}
/* A new buffer of this kind, and the slot that is all of it. */
jx_slot jx_plan_slot_in(jx_planner *p, jx_mem_kind kind, jx_dtype stored,
                        int rank, const int64_t *shape);
/* The same for a value of this type. */
jx_slot jx_plan_slot(jx_planner *p, const jx_aval *aval, jx_mem_kind kind);
void jx_plan_array_slot(jx_planner *p, const jx_array *array, jx_slot *slot);
void jx_plan_literal_slot(jx_planner *p, const jx_literal *literal,
                          jx_slot *slot);
void jx_plan_operand(jx_planner *p, const jx_slot *slot, jx_operand *to);
void jx_operand_slot(const jx_operand *operand, jx_slot *to);
/* The operation appended last is there for what it does. */
void jx_plan_acts(jx_planner *p);
/* "prog.py:12:8": the user's line of the equation being planned; "" if nobody
 * knows, NULL without memory. */
const char *jx_plan_user_place(jx_planner *p);
/* Appends an elementwise operation (region.h). */
void jx_plan_region(jx_planner *p, jx_region *region, int nins,
                    const jx_slot *ins, const jx_slot *out);
/* Appends a call of a unit. */
void jx_plan_unit_op(jx_planner *p, int unit, jx_kernel *kernel,
                     const void *data, size_t data_size, int nins,
                     const jx_slot *ins, int nouts, const jx_slot *outs);
/* A buffer whose address a loop sets: an element of the slot's leading axis. */
jx_slot jx_plan_moving(jx_planner *p, const jx_slot *whole);

jx_kernel jx_run_copy;   /* kernels/move.c */
jx_kernel jx_run_branch; /* kernels/control.c: one of its blocks, once */

/* Writes the jaxpr's operations to the block where operations go. */
typedef bool jx_plan_writer(jx_planner *p, const jx_closed *closed,
                            const jx_slot *ins, jx_slot *outs);
/* Finds which jaxprs are called when this one is planned. */
bool jx_plan_measure(jx_planner *p, const jx_jaxpr *root);
bool jx_plan_is_called(const jx_planner *p, const jx_jaxpr *jaxpr);
/* A call of the jaxpr's unit, which is written when first needed. */
bool jx_plan_call_unit(jx_planner *p, const jx_closed *closed,
                       jx_plan_writer *write, const jx_slot *ins,
                       jx_slot *outs);

/* Dead code, fusion, sharing, memory, and the plan's final form. */
bool jx_plan_finish(jx_planner *p);

#endif
