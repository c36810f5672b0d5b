/* looks.h - what the stages make of a program, as text: `jaxvet show --as
 * flat`, `claims` and `plan`.  The same for the same program. */
#ifndef JX_LOOKS_H
#define JX_LOOKS_H

#include "frontend/ir/program.h"
#include "reports/commands/options.h"

/* The flat form that lints read (analyzer/lint/flat.h). */
bool jx_look_flat(jx_program *program, jx_buffer *to);
/* Every claim, settled: its code, where it is, its goal, the verdict and how it
 * came about. */
bool jx_look_claims(jx_program *program, jx_buffer *to);
/* What would run at the sizes of `set`: buffers and operations. */
bool jx_look_plan(jx_program *program, const jx_texts *set, jx_buffer *to);

#endif
