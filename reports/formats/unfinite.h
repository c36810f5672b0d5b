/* unfinite.h - what a run says of numbers that are not finite. */
#ifndef JX_UNFINITE_H
#define JX_UNFINITE_H

#include "frontend/ir/program.h"
#include "runtime/plan.h"

/* "first NaN: train.py:12 in loss: log of -1 at [0,3] of f32[8,8] (8 of 64
 * elements)", and the same of an infinity: a line for each that was found. */
void jx_watch_print(const jx_watch *watch, jx_buffer *to);

/* "args[0]['w'] f32[8,8]: NaN at [0,3] (8 of 64 elements)", for an input or
 * output of that name; false, and nothing said, if all of it is finite. */
bool jx_port_unfinite(const char *name, const jx_port *port, const void *data,
                      jx_buffer *to);

#endif
