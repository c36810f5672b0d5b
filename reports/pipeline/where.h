/* where.h - constraints that a caller adds to those that a program declares. */
#ifndef JX_WHERE_H
#define JX_WHERE_H

#include "frontend/ir/program.h"

/* Adds each text to the scope that its variables belong to.  False with an
 * error that names the text: what was expected at which column, a variable that
 * the program has not, variables of two scopes. */
bool jx_program_where(jx_program *program, int count,
                      const char *const *constraints);

#endif
