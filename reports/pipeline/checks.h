/* checks.h - what a call of a program with symbolic sizes checks: how each
 * variable follows from the inputs' shapes, and what must hold of them. */
#ifndef JX_CHECKS_H
#define JX_CHECKS_H

#include "frontend/ir/program.h"

/* One line each, after `indent`: "b = args[0].shape[0]", then, in the order in
 * which they are checked, "check args[0].shape[0] >= 1"; sizes that can't be
 * used are "can't solve a^2 == args[0].shape[0]".  False without memory. */
bool jx_checks_print(const jx_program *program, const char *indent,
                     jx_buffer *to);

#endif
