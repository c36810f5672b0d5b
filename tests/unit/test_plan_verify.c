/* test_plan_verify.c - plans broken on purpose, one way each, and good ones
 * that look like them. */
#include "runtime/finish.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 64, ELEMENTS = BYTES / 4 };

typedef struct bench {
    jx_plan plan;
    jx_planner p;
    bool placed;
    int in, out; /* the program's */
} bench;

/* A buffer of 16 floats; those of the arena lie one after the other. */
static int buffer(bench *b, jx_mem_kind kind)
{
    jx_mem mem = {.kind = kind,
                  .bytes = BYTES,
                  .home = b->p.block,
                  .alias = -1,
                  .offset = b->plan.bytes};

    if (kind == JX_MEM_TEMP)
        b->plan.bytes += BYTES;
    return jx_mem_add(&b->p, &mem);
}

static int temp(bench *b)
{
    return buffer(b, JX_MEM_TEMP);
}

static int block(bench *b)
{
    jx_block made = {.parent = b->p.block};

    JX_PUSH(b->p.arena, &b->p.blocks, made);
    b->p.block = (int)b->p.blocks.count - 1;
    return b->p.block;
}

static void end(bench *b)
{
    b->p.block = b->p.blocks.at[b->p.block].parent;
}

static void begin(bench *b)
{
    memset(b, 0, sizeof *b);
    b->p.arena = b->p.scratch = b->plan.arena = jx_arena_new(0);
    b->p.plan = &b->plan;
    b->p.block = -1;
    block(b);
    b->in = buffer(b, JX_MEM_IN);
    b->out = buffer(b, JX_MEM_OUT);
}

static jx_operand all_of(bench *b, int of)
{
    int64_t *both = JX_NEW_ARRAY(b->p.arena, 2, int64_t);

    both[0] = ELEMENTS;
    both[1] = 4;
    return (jx_operand){.dtype = JX_F32,
                        .rank = 1,
                        .buffer = of,
                        .shape = &both[0],
                        .strides = &both[1]};
}

static bool kernel(jx_run *run, const void *data, const jx_view *ins,
                   const jx_view *outs, void *scratch)
{
    (void)run;
    (void)data;
    (void)ins;
    (void)outs;
    (void)scratch;
    return true;
}

/* An operation; -1 is no buffer. */
static jx_op *op(bench *b, int x, int y, int to)
{
    jx_op *made = JX_NEW(b->p.arena, jx_op);

    made->kernel = kernel;
    made->ins = JX_NEW_ARRAY(b->p.arena, 4, jx_operand);
    if (x >= 0)
        made->ins[made->nins++] = all_of(b, x);
    if (y >= 0)
        made->ins[made->nins++] = all_of(b, y);
    made->outs = made->ins + made->nins;
    if (to >= 0)
        made->outs[made->nouts++] = all_of(b, to);
    made->scratch_buffer = -1;
    made->block = b->p.block;
    JX_PUSH(b->p.arena, &b->p.blocks.at[b->p.block].ops, made);
    return made;
}

static jx_op *copy(bench *b, int x, int to)
{
    jx_op *made = op(b, x, -1, to);

    made->copy = true;
    return made;
}

static void tile(void *out, const void *const *ins, int64_t n,
                 const void *param)
{
    (void)out;
    (void)ins;
    (void)n;
    (void)param;
}

/* One that adds element by element: a region of one instruction. */
static jx_op *add(bench *b, int x, int y, int to)
{
    jx_op *made = op(b, x, y, to);
    jx_region *r = made->region = jx_region_new(b->p.arena);
    int ins[2] = {jx_region_input(b->p.arena, r, JX_F32),
                  jx_region_input(b->p.arena, r, JX_F32)};

    jx_region_output(
        b->p.arena, r,
        jx_region_instr(b->p.arena, r, tile, NULL, JX_F32, 2, ins));
    return made;
}

/* What runs `count` blocks from that one on. */
static jx_op *runs(jx_op *owner, int first, int count)
{
    owner->first_block = first;
    owner->nblocks = count;
    return owner;
}

/* ---- good ones */

static void a_chain(bench *b)
{
    int x = temp(b), y = temp(b);

    op(b, b->in, -1, x);
    op(b, x, -1, y);
    op(b, x, y, b->out);
}

static void memory_used_again(bench *b)
{
    int x = temp(b), y = temp(b), z = temp(b);

    b->placed = true;
    jx_mem_at(&b->p.mems, z)->offset = jx_mem_at(&b->p.mems, x)->offset;
    op(b, b->in, -1, x);
    op(b, x, -1, y);
    op(b, y, -1, z);
    op(b, z, -1, b->out);
}

static void an_operand_that_dies(bench *b)
{
    int x = temp(b), y = temp(b);

    op(b, b->in, -1, x);
    jx_mem_at(&b->p.mems, x)->alias = y;
    add(b, x, b->in, y);
    copy(b, y, b->out);
    jx_mem_at(&b->p.mems, y)->alias = b->out;
}

/* x is carried; the condition writes `again`. */
static int a_loop_of(bench *b, int x, int again)
{
    int first = block(b), y = temp(b);

    op(b, x, -1, again);
    end(b);
    block(b);
    op(b, x, -1, y);
    copy(b, y, x);
    end(b);
    runs(op(b, again, -1, x), first, 2);
    return y;
}

static void a_loop(bench *b)
{
    int x = temp(b), again = temp(b);

    copy(b, b->in, x);
    a_loop_of(b, x, again);
    copy(b, x, b->out);
}

static void branches(bench *b)
{
    int x = temp(b), first = block(b);

    copy(b, b->in, x);
    end(b);
    block(b);
    op(b, b->in, b->in, x);
    end(b);
    runs(op(b, b->in, -1, x), first, 2)->kernel = jx_run_branch;
    copy(b, x, b->out);
}

/* A block that is run from two places, with an argument and a result. */
static int a_callee(bench *b, int *argument, int *result)
{
    int called, inner;

    *argument = temp(b);
    *result = temp(b);
    called = block(b);
    inner = temp(b);
    op(b, *argument, -1, inner);
    op(b, inner, -1, *result);
    end(b);
    return called;
}

static void call(bench *b, int called, int argument, int result)
{
    runs(op(b, argument, -1, result), called, 1);
}

static void two_calls(bench *b)
{
    int argument, result, called = a_callee(b, &argument, &result);
    int x = temp(b);

    copy(b, b->in, argument);
    call(b, called, argument, result);
    op(b, result, -1, x);
    copy(b, x, argument);
    call(b, called, argument, result);
    op(b, result, -1, b->out);
}

/* Sixty loops, each the body of the one before: 2^60 turns. */
static void deep_loops(bench *b)
{
    int x = temp(b), blocks[60];

    copy(b, b->in, x);
    for (int i = 0; i < 60; i++)
        blocks[i] = block(b);
    op(b, x, -1, x);
    for (int i = 59; i >= 0; i--) {
        end(b);
        runs(op(b, -1, -1, x), blocks[i], 1);
    }
    copy(b, x, b->out);
}

/* A loop whose kernel writes its result, as one that stacks does. */
static void stacks(bench *b, int x, int to)
{
    int first = block(b);

    end(b);
    runs(op(b, x, -1, to), first, 1);
}

static void a_stack_that_a_branch_reads(bench *b)
{
    int x = temp(b), y = temp(b), first = block(b), z = temp(b);

    end(b);
    block(b);
    copy(b, b->in, y);
    end(b);
    stacks(b, b->in, x);
    b->p.block = first;
    stacks(b, x, z);
    copy(b, z, y);
    end(b);
    runs(op(b, b->in, -1, y), first, 2)->kernel = jx_run_branch;
    op(b, x, y, b->out);
}

/* ---- broken ones */

static void beyond_its_buffer(bench *b)
{
    op(b, b->in, -1, b->out)->ins[0].offset = 4;
}

static void before_its_buffer(bench *b)
{
    ((int64_t *)(uintptr_t)op(b, b->in, -1, b->out)->ins[0].strides)[0] = -4;
}

static void an_axis_below_0(bench *b)
{
    ((int64_t *)(uintptr_t)op(b, b->in, -1, b->out)->ins[0].shape)[0] = -1;
}

static void no_buffer(bench *b)
{
    op(b, b->in, -1, b->out)->ins[0].buffer = 2;
}

static void aliases_in_a_ring(bench *b)
{
    int x = temp(b), y = temp(b);

    op(b, b->in, -1, b->out);
    jx_mem_at(&b->p.mems, x)->alias = y;
    jx_mem_at(&b->p.mems, y)->alias = x;
}

static void an_alias_of_another_size(bench *b)
{
    int x = temp(b), y = temp(b);

    op(b, b->in, -1, b->out);
    jx_mem_at(&b->p.mems, x)->alias = y;
    jx_mem_at(&b->p.mems, x)->bytes = BYTES / 2;
}

static void an_alias_of_an_input(bench *b)
{
    int x = temp(b);

    op(b, b->in, -1, b->out);
    jx_mem_at(&b->p.mems, x)->alias = b->in;
}

static void a_written_input(bench *b)
{
    op(b, b->in, -1, b->in);
    copy(b, b->in, b->out);
}

static void no_value_yet(bench *b)
{
    int x = temp(b);

    op(b, x, -1, b->out);
    op(b, b->in, -1, x);
}

static void lent_while_it_lives(bench *b)
{
    int x = temp(b), y = temp(b);

    jx_mem_at(&b->p.mems, x)->alias = y;
    op(b, b->in, -1, x);
    op(b, b->in, -1, y);
    op(b, x, y, b->out);
}

static void placed_over_what_lives(bench *b)
{
    int x = temp(b), y = temp(b);

    b->placed = true;
    jx_mem_at(&b->p.mems, y)->bytes *= 2;
    jx_mem_at(&b->p.mems, y)->offset = jx_mem_at(&b->p.mems, x)->offset;
    op(b, b->in, -1, x);
    op(b, b->in, -1, y);
    op(b, x, y, b->out);
}

static void placed_beyond_the_arena(bench *b)
{
    a_chain(b);
    b->placed = true;
    b->plan.bytes -= BYTES;
}

static void placed_askew(bench *b)
{
    a_chain(b);
    b->placed = true;
    jx_mem_at(&b->p.mems, 2)->offset += 4;
}

static void written_while_read(bench *b)
{
    int x = temp(b), y = temp(b);

    op(b, b->in, -1, x);
    jx_mem_at(&b->p.mems, x)->alias = y;
    op(b, x, -1, y);
    copy(b, y, b->out);
}

static void shifted_while_read(bench *b)
{
    int x = temp(b), y = temp(b);
    jx_op *sum;

    op(b, b->in, -1, x);
    jx_mem_at(&b->p.mems, x)->alias = y;
    sum = add(b, x, b->in, y);
    for (int i = 0; i < 3; i++) /* ins, then the out */
        ((int64_t *)(uintptr_t)sum->ins[i].shape)[0]--;
    sum->ins[0].offset = 4;
    copy(b, y, b->out);
}

static void results_in_one_place(bench *b)
{
    int x = temp(b), y = temp(b);
    jx_op *two = op(b, b->in, -1, x);

    b->placed = true;
    two->outs[two->nouts++] = all_of(b, y);
    jx_mem_at(&b->p.mems, y)->offset = jx_mem_at(&b->p.mems, x)->offset;
    op(b, y, -1, b->out);
}

static void scratch_in_an_operand(bench *b)
{
    int x = temp(b), scratch = temp(b);

    b->placed = true;
    op(b, b->in, -1, x);
    op(b, x, -1, b->out)->scratch_buffer = scratch;
    jx_mem_at(&b->p.mems, scratch)->offset = jx_mem_at(&b->p.mems, x)->offset;
}

static void a_part_of_what_is_gone(bench *b)
{
    int x = temp(b), y = temp(b);

    b->placed = true;
    jx_mem_at(&b->p.mems, y)->offset = jx_mem_at(&b->p.mems, x)->offset;
    op(b, b->in, -1, x);
    op(b, b->in, -1, y);
    ((int64_t *)(uintptr_t)op(b, b->in, -1, x)->outs[0].shape)[0]--;
    op(b, x, -1, b->out);
}

static void a_turn_that_spoils_the_next(bench *b)
{
    int x = temp(b), again = temp(b), kept = temp(b), y;

    b->placed = true;
    op(b, b->in, -1, kept);
    copy(b, kept, x);
    y = a_loop_of(b, x, again);
    op(b, kept, -1, b->out);
    jx_mem_at(&b->p.mems, y)->offset = jx_mem_at(&b->p.mems, kept)->offset;
}

static void a_condition_that_is_lost(bench *b)
{
    int x = temp(b), again = temp(b), y;

    b->placed = true;
    copy(b, b->in, x);
    y = a_loop_of(b, x, again);
    copy(b, x, b->out);
    jx_mem_at(&b->p.mems, y)->offset = jx_mem_at(&b->p.mems, again)->offset;
}

static void a_value_of_the_turn_before(bench *b)
{
    int x = temp(b), first, y;

    copy(b, b->in, x);
    first = block(b);
    y = temp(b);
    op(b, y, -1, x);
    op(b, x, -1, y);
    end(b);
    runs(op(b, -1, -1, x), first, 1);
    copy(b, x, b->out);
}

static void a_value_of_no_turn(bench *b)
{
    int x = temp(b), y = temp(b), first;

    copy(b, b->in, x);
    first = block(b);
    op(b, x, -1, y);
    end(b);
    runs(op(b, -1, -1, x), first, 1);
    op(b, y, -1, b->out);
}

static void a_stack_that_is_gone(bench *b)
{
    int x = temp(b), y = temp(b), z = temp(b);

    b->placed = true;
    jx_mem_at(&b->p.mems, y)->offset = jx_mem_at(&b->p.mems, x)->offset;
    stacks(b, b->in, x);
    copy(b, b->in, y);
    stacks(b, x, z);
    copy(b, z, b->out);
}

static void a_branch_without_its_result(bench *b)
{
    branches(b);
    b->p.blocks.at[2].ops.count = 0;
}

static void a_call_that_spoils_a_value(bench *b)
{
    int argument, result, called = a_callee(b, &argument, &result);
    int x = temp(b);

    b->placed = true;
    jx_mem_at(&b->p.mems, x)->offset =
        jx_mem_at(&b->p.mems, result + 1)->offset; /* inner */
    copy(b, b->in, argument);
    call(b, called, argument, result);
    op(b, result, -1, x);
    copy(b, b->in, argument);
    call(b, called, argument, result);
    op(b, result, x, b->out);
}

static void a_second_call_without_argument(bench *b)
{
    int argument, result, called = a_callee(b, &argument, &result);
    int x = temp(b);

    b->placed = true;
    jx_mem_at(&b->p.mems, x)->offset = jx_mem_at(&b->p.mems, argument)->offset;
    copy(b, b->in, argument);
    call(b, called, argument, result);
    op(b, result, -1, x);
    call(b, called, argument, result);
    op(b, result, -1, b->out);
}

static void a_block_that_runs_itself(bench *b)
{
    int first = block(b);

    runs(op(b, b->in, -1, b->out), first, 1);
    end(b);
    runs(op(b, b->in, -1, b->out), first, 1);
}

static void a_region_that_reads_ahead(bench *b)
{
    int x = temp(b);
    jx_op *sum = add(b, b->in, b->in, x);

    ((int *)(uintptr_t)sum->region->instrs.at[0].ins)[1] =
        sum->region->instrs.at[0].out;
    copy(b, x, b->out);
}

static void a_region_of_other_types(bench *b)
{
    int x = temp(b);

    add(b, b->in, b->in, x)->ins[0].dtype = JX_I32;
    copy(b, x, b->out);
}

static void no_result(bench *b)
{
    int x = temp(b), first = block(b);

    op(b, b->in, -1, x);
    op(b, x, -1, b->out);
    end(b);
    runs(op(b, b->in, -1, -1), first, 1);
}

static const struct {
    const char *name;
    void (*make)(bench *b);
    const char *fault; /* NULL: none */
} cases[] = {
    {"a chain", a_chain, NULL},
    {"memory used again", memory_used_again, NULL},
    {"an operand that dies", an_operand_that_dies, NULL},
    {"a loop", a_loop, NULL},
    {"branches", branches, NULL},
    {"two calls", two_calls, NULL},
    {"deep loops", deep_loops, NULL},
    {"a stack that a branch reads", a_stack_that_a_branch_reads, NULL},
    {"beyond its buffer", beyond_its_buffer, "ends before"},
    {"before its buffer", before_its_buffer, "ends before"},
    {"an axis below 0", an_axis_below_0, "an axis below 0"},
    {"no buffer", no_buffer, "is none"},
    {"aliases in a ring", aliases_in_a_ring, "lives in none"},
    {"an alias of another size", an_alias_of_another_size, "not its like"},
    {"an alias of an input", an_alias_of_an_input, "not its like"},
    {"a written input", a_written_input, "no place to write to"},
    {"no value yet", no_value_yet, "before it has a value"},
    {"lent while it lives", lent_while_it_lives, "value is gone"},
    {"placed over what lives", placed_over_what_lives, "value is gone"},
    {"placed beyond the arena", placed_beyond_the_arena, "run's memory"},
    {"placed askew", placed_askew, "run's memory"},
    {"written while read", written_while_read, "operand there is read"},
    {"shifted while read", shifted_while_read, "operand there is read"},
    {"results in one place", results_in_one_place, "another result"},
    {"scratch in an operand", scratch_in_an_operand, "scratch"},
    {"a part of what is gone", a_part_of_what_is_gone, "value is gone"},
    {"a turn that spoils the next", a_turn_that_spoils_the_next,
     "value is gone"},
    {"a condition that is lost", a_condition_that_is_lost, "value is gone"},
    {"a value of the turn before", a_value_of_the_turn_before,
     "before it has a value"},
    {"a value of no turn", a_value_of_no_turn, "value is gone"},
    {"a stack that is gone", a_stack_that_is_gone, "value is gone"},
    {"a branch without its result", a_branch_without_its_result,
     "value is gone"},
    {"a call that spoils a value", a_call_that_spoils_a_value, "value is gone"},
    {"a second call without argument", a_second_call_without_argument,
     "value is gone"},
    {"a block that runs itself", a_block_that_runs_itself, "runs itself"},
    {"a region that reads ahead", a_region_that_reads_ahead, "made later"},
    {"a region of other types", a_region_of_other_types, "region takes"},
    {"no result", no_result, "gone at the end"},
};

static void each_class_of_fault_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bench b;
        begin(&b);
        cases[i].make(&b);
        const char *fault = jx_plan_fault(&b.p, b.placed);
        if (!cases[i].fault ? fault != NULL
                            : !fault || !strstr(fault, cases[i].fault))
            fail_msg("%s: %s", cases[i].name, fault ? fault : "no fault");
        jx_arena_free(b.p.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_of_fault_is_named),
    };

    return cmocka_run_group_tests_name("plan_verify", tests, NULL, NULL);
}
