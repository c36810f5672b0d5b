/* print.h - programs as text.
 *
 * The text is JAX's own `str(closed_jaxpr)`: its names for variables, its
 * choice of parameters to show, its hoisting of shared jaxprs, its lines of 80
 * columns.  Two programs that print the same may still differ: weak types,
 * values of constants and custom rules are not shown. */
#ifndef JX_PRINT_H
#define JX_PRINT_H

#include "frontend/ir/program.h"

typedef struct jx_print_options {
    int width;       /* of a line; 0: JAX's 80 */
    bool all_params; /* those too that JAX leaves out as implied */
} jx_print_options;

/* Appends a jaxpr and all that it calls, as of its own; no newline at the end.
 * False, with an error, where the text would need more than a gigabyte (calls
 * that call the same jaxpr over and over without being shared). */
bool jx_jaxpr_print(const jx_program *program, const jx_jaxpr *jaxpr,
                    jx_print_options options, jx_buffer *to);
/* The same for the program's entry. */
bool jx_program_print(const jx_program *program, jx_print_options options,
                      jx_buffer *to);

/* A primitive that is an object, inside of a value: on its own, too. */
bool jx_hi_print(const jx_program *program, const jx_value *record,
                 jx_buffer *to);

/* A parameter's value as Python's str() gives it; with `quoted`, its repr(),
 * as inside a tuple.  Jaxprs are shown on their own. */
void jx_value_print(const jx_program *program, const jx_value *value,
                    bool quoted, jx_buffer *to);
/* A literal without its type. */
void jx_literal_print(const jx_literal *literal, jx_buffer *to);

#endif
