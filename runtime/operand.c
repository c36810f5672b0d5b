/* operand.c - how operands lie in the memory of a plan that is being made. */
#include "runtime/finish.h"

int jx_mem_root(const jx_mems *mems, int buffer)
{
    /* Each on the way skips one from now on: chains of copies are as long
     * as the program. */
    for (int next; (next = jx_mem_at(mems, buffer)->alias) >= 0; buffer = next)
        if (jx_mem_at(mems, next)->alias >= 0)
            jx_mem_at(mems, buffer)->alias = jx_mem_at(mems, next)->alias;
    return buffer;
}

int64_t jx_operand_count(const jx_operand *o)
{
    int64_t n = 1;

    for (int i = 0; i < o->rank; i++)
        n *= o->shape[i];
    return n;
}

bool jx_operand_dense(const jx_operand *o)
{
    int64_t step = (int64_t)jx_dtype_of(o->dtype)->bytes;

    if (jx_operand_count(o) == 0)
        return true;
    for (int i = o->rank - 1; i >= 0; i--) {
        if (o->shape[i] != 1 && o->strides[i] != step)
            return false;
        step *= o->shape[i];
    }
    return true;
}

bool jx_operand_covers(const jx_planner *p, const jx_operand *o)
{
    return o->offset == 0 && jx_operand_dense(o) &&
           jx_operand_count(o) * (int64_t)jx_dtype_of(o->dtype)->bytes ==
               jx_mem_at(&p->mems, o->buffer)->bytes;
}
