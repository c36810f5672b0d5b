/* signature.h - the inputs of a program by the names that its author knows:
 * `args[0]['w'].shape[1]`, and what they are declared to be. */
#ifndef JX_SIGNATURE_H
#define JX_SIGNATURE_H

#include "frontend/ir/program.h"

const jx_aval *jx_input_aval(const jx_program *program, int input);
/* "args[0]['w']", "kwargs['x']". */
void jx_input_print(const jx_program *program, int input, jx_buffer *to);
/* "args[0]['w'].shape[1]". */
void jx_input_axis_print(const jx_program *program, int input, int axis,
                         jx_buffer *to);
/* "args[0]['w'].shape = (b, 2*d)". */
void jx_input_spec_print(const jx_program *program, int input, jx_buffer *to);
/* The function as it would have to be written to take the sizes `vars` from an
 * array without elements, in the words of JAX's documentation:
 * `def f(dimensions, x):  # dimensions: i32[0,k], x: i32[4,10]`. */
void jx_signature_with(const jx_program *program, int nvars,
                       const jx_dim_atom *const *vars, jx_buffer *to);
/* The variables of all input sizes, and those that are values of inputs, by
 * name and scope; in the program's arena.
 * NULL without memory. */
const jx_dim_atom *const *jx_input_vars(const jx_program *program, int *count);
/* The same of all values of the entry. */
const jx_dim_atom *const *jx_program_vars(const jx_program *program,
                                          int *count);
/* Whether the program's values have all variables of the dim (of its scope);
 * *missing is the name of one that they have not.  False without memory. */
bool jx_program_has_vars(const jx_program *program, const jx_dim *dim,
                         const char **missing);

#endif
