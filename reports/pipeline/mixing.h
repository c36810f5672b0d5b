/* mixing.h - sizes of two symbolic scopes in one question.  JAX refuses to
 * calculate with them; a program that was put together can still have them. */
#ifndef JX_MIXING_H
#define JX_MIXING_H

#include "frontend/ir/program.h"

/* The dims have variables of more than one scope. */
bool jx_mixes_scopes(const jx_program *program, const jx_dim *a,
                     const jx_dim *b);
/* Which variables, of which scopes, and where those were made. */
const char *jx_mixing_note(const jx_program *program, const jx_dim *a,
                           const jx_dim *b);

#endif
