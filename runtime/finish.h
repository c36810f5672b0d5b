/* finish.h - the passes over a planner's operations: finish.c has their order
 * and the final form, finish_fuse.c joins elementwise operations,
 * finish_memory.c decides where buffers lie. */
#ifndef JX_FINISH_H
#define JX_FINISH_H

#include "runtime/plan_impl.h"

/* operand.c */
int64_t jx_operand_count(const jx_operand *o);
bool jx_operand_dense(const jx_operand *o);
/* All of its buffer, row-major. */
bool jx_operand_covers(const jx_planner *p, const jx_operand *o);

bool jx_finish_fuse(jx_planner *p);
/* Outputs of regions that nobody reads any more become internal. */
void jx_finish_drop_internal(jx_planner *p, jx_op **all, int count);

/* Notes where buffers are in use: one of an operation; all of all of them. */
void jx_finish_touch(jx_planner *p, const jx_op *op, int buffer);
void jx_finish_touch_all(jx_planner *p, jx_op **all, int count);
/* Lets buffers live in others, so that copies vanish and operations work in
 * place. */
void jx_finish_share(jx_planner *p, jx_op **all, int count);
/* Offsets in the run's arena; false: the budget is too small. */
bool jx_finish_memory(jx_planner *p, jx_op **all, int nops);

/* Which outputs may have the memory of inputs. */
bool jx_finish_lend(jx_planner *p, jx_op **all);

/* What is wrong with the operations (bounds, aliases, values that are read when
 * they are not there; what lies over what, once buffers are `placed`), in the
 * planner's arena; NULL if nothing is, or there is no memory to tell. */
const char *jx_plan_fault(const jx_planner *p, bool placed);

#endif
