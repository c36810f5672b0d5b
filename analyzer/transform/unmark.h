/* unmark.h - what types of JAX say beside shapes, as shapes and equations.
 *
 * Inside of a shard_map the type of a value may say that each device has a part
 * of what is meant (unreduced), or that its cotangent will be such parts
 * (reduced); arrays may lie so, too.  Here a value in parts is one that varies,
 * one that is reduced one that does not, and casts between them vanish or
 * become `pvary`.  An array that lies in parts is what they come to: a
 * shard_map that takes it so takes an array with one more axis, the first of
 * whose items is the array and the others nothing, and what it gives so has
 * that axis, along which it is reduced behind.
 *
 *     b:f32[4]{U:x} = shard_map[in_specs=(P('x'),)
 *                               out_specs=(P(None, unreduced={'x'}),)] a
 *
 *     c:f32[2,4] = shard_map[in_specs=(P('x'),) out_specs=(P('x', None),)] a
 *     b:f32[4] = reduce_sum[axes=(0,)] c
 *
 * Which part a device has is nothing that a program may tell by: all that it
 * does with parts has to be linear, or it stays as it is.
 *
 * Collectives that are begun and ended (`psum_start`, `psum_done`) become
 * those that are neither: what is ended is used behind its end only, and that
 * order is data flow. */
#ifndef JX_UNMARK_H
#define JX_UNMARK_H

#include "frontend/ir/program.h"

/* Changes the program, in place; `written` of it is then the program as it
 * was.  One without such types, or that does what is not linear, stays as it
 * is.  False without memory. */
bool jx_program_unmark(jx_program *program);

#endif
