/* xla.h - a program as XLA's algebraic simplifier leaves it on a CPU, as far as
 * xla.def says: floats of 32 and 64 bits, in loops and branches as well, with
 * the jaxlib of the JAX that made the program. */
#ifndef JX_XLA_PROGRAM_H
#define JX_XLA_PROGRAM_H

#include "frontend/ir/program.h"

/* Of a program without calls (inline.h).  In its context; itself if no row
 * applies.  *matters says whether what applied may make other numbers not
 * finite: a constant that is lost, products and quotients in another order.
 * NULL with an error. */
jx_program *jx_program_as_xla(jx_program *program, bool *matters);

#endif
