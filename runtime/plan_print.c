/* plan_print.c - a plan as text. */
#include "frontend/base/utf8.h"
#include "runtime/finish.h"

static void put_kind(const jx_mem *mem, jx_buffer *to)
{
    switch (mem->kind) {
    case JX_MEM_TEMP:
        jx_buffer_printf(to, "at %lld, in use from %d to %d",
                         (long long)mem->offset, mem->first, mem->last);
        break;
    case JX_MEM_CONST: jx_buffer_puts(to, "constant"); break;
    case JX_MEM_IN: jx_buffer_printf(to, "input %d", mem->port); break;
    case JX_MEM_OUT: jx_buffer_printf(to, "result %d", mem->port); break;
    case JX_MEM_MOVING: jx_buffer_puts(to, "moves with a loop's turns"); break;
    }
}

static void put_buffers(const jx_plan *plan, jx_buffer *to)
{
    jx_buffer_puts(to, "buffers\n");
    for (int i = 0; i < plan->mems.count; i++) {
        const jx_mem *mem = jx_mem_at(&plan->mems, i);
        if (mem->kind == JX_MEM_TEMP && mem->alias < 0 && !mem->touched)
            continue; /* of nobody */
        jx_buffer_printf(to, "  b%d  %lld bytes, ", i, (long long)mem->bytes);
        if (mem->alias >= 0)
            jx_buffer_printf(to, "lives in b%d", mem->alias);
        else
            put_kind(mem, to);
        jx_buffer_putc(to, '\n');
    }
}

/* `b3 f32[4,3]`, with the offset and strides where it is not all of its buffer,
 * row by row. */
static void put_view(const jx_operand *o, jx_buffer *to)
{
    bool dense = jx_operand_dense(o);

    jx_buffer_printf(to, "b%d", o->buffer);
    if (o->offset)
        jx_buffer_printf(to, "+%lld", (long long)o->offset);
    jx_buffer_printf(to, " %s[", jx_dtype_of(o->dtype)->short_name);
    for (int i = 0; i < o->rank; i++)
        jx_buffer_printf(to, "%s%lld", i ? "," : "", (long long)o->shape[i]);
    jx_buffer_putc(to, ']');
    for (int i = 0; i < o->rank && !dense; i++)
        jx_buffer_printf(to, "%s%lld", i ? "," : " by ",
                         (long long)o->strides[i]);
}

static void put_views(const jx_operand *operands, int count, jx_buffer *to)
{
    for (int i = 0; i < count; i++) {
        jx_buffer_puts(to, i ? "; " : "");
        put_view(&operands[i], to);
    }
}

static void put_step(const jx_step *step, jx_buffer *to)
{
    jx_buffer_printf(to, "  %d  ", step->position);
    put_views(step->operands + step->nins, step->nouts, to);
    jx_buffer_puts(to, step->nouts ? " = " : "");
    jx_utf8_show(step->name, to);
    if (step->instrs > 1)
        jx_buffer_printf(to, " and others, %d instructions", step->instrs);
    jx_buffer_puts(to, step->nins ? " of " : "");
    put_views(step->operands, step->nins, to);
    if (step->scratch >= 0)
        jx_buffer_printf(to, " with scratch b%d", step->scratch_buffer);
    for (int b = 0; b < step->nblocks; b++)
        jx_buffer_printf(to, "%s%d", b ? ", " : " runs block ",
                         step->first_block + b);
    jx_buffer_putc(to, '\n');
}

void jx_plan_print(const jx_plan *plan, jx_buffer *to)
{
    jx_buffer_printf(to, "%d inputs, %d results, %d operations, %lld bytes\n",
                     plan->nins, plan->nouts, plan->nsteps,
                     (long long)plan->bytes);
    put_buffers(plan, to);
    for (int b = 0; b < plan->nblocks; b++) {
        if (b && !plan->blocks[b].count)
            continue; /* of nobody, or empty */
        jx_buffer_printf(to, "block %d\n", b);
        for (int i = 0; i < plan->blocks[b].count; i++)
            put_step(&plan->blocks[b].at[i], to);
    }
}
