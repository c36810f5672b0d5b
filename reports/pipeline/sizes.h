/* sizes.h - the symbolic sizes of a program and what is asked of them. */
#ifndef JX_REPORTS_SIZES_H
#define JX_REPORTS_SIZES_H

#include "frontend/ir/program.h"

/* Lines such as "  size b: from 2 to 64", then "  where mod(b, 2) == 0". */
void jx_sizes_print(const jx_program *program, int count,
                    const jx_dim_atom *const *vars, jx_buffer *to);
/* The same as two members of a JSON object,
 * `,"sizes":[...],"constraints":[...]`. */
void jx_sizes_json(const jx_program *program, int count,
                   const jx_dim_atom *const *vars, jx_buffer *to);

#endif
