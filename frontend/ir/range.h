/* range.h - what callers promise of the values of a program's inputs:
 *
 *     x in [0, 1]          the parameter x, and all leaves below it
 *     args[0]['w'] in [-10, 10]
 *     index in [0, n - 1]  a size as an end
 *
 * Ends are included; `inf` and `-inf` are ends, too.  Every element of an
 * input lies in its range, on its own; none is NaN.  They travel in documents
 * by their keys. */
#ifndef JX_RANGE_H
#define JX_RANGE_H

#include "frontend/ir/program.h"

/* Adds a range to the program; the texts may be of any length and
 * lifetime.  False with a usage error that says what was expected: no such
 * input (those that there are are listed), an end that is no number and no
 * size, ends the wrong way round, beyond what the dtype holds, without a
 * number of it between them, or without anything in common with an earlier
 * range of the same input. */
bool jx_range_declare(jx_program *program, const char *key, const char *lo,
                      const char *hi);
/* The same from one text, "KEY in [LO, HI]". */
bool jx_range_parse(jx_program *program, const char *text);

/* The same without adding it: of whom it is, the caller says. */
bool jx_range_read(const jx_program *program, const char *text,
                   jx_value_range *to);

/* Whether the range is of this input (number `input` after the constants). */
bool jx_range_is_of(const jx_program *program, const jx_value_range *range,
                    int input);
/* As it is declared: "x in [0, 1]". */
void jx_range_print(const jx_value_range *range, jx_buffer *to);

/* The ends that hold for an input at these sizes: those of all its ranges, else
 * what its dtype holds; false if nothing is declared.  Floats have no ends then
 * but infinities. */
bool jx_range_at(const jx_program *program, int input, int nsizes,
                 const jx_binding *sizes, double *lo, double *hi);

#endif
