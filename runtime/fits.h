/* fits.h - may this program be planned at these sizes?
 *
 * Kernels rely on shapes and dtypes that agree with each other, and a document
 * may declare any.  So the program is typed from its inputs first: what is
 * refuted, or does not hold at the sizes of this run, is refused. */
#ifndef JX_FITS_H
#define JX_FITS_H

#include "analyzer/typing.h"
#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"

/* The program to plan at these sizes: itself, or, where its size arithmetic
 * wraps there, the one that XLA would compile, whose shapes are the wrapped
 * ones; where it calls functions exported elsewhere, the one at these sizes
 * that has their code. NULL with an error that names what does not fit. */
const jx_typed *jx_program_at(jx_program *program, int nbindings,
                              const jx_binding *bindings);

/* Whether it calls functions exported elsewhere that are not read: at sizes
 * that are no numbers. */
bool jx_program_calls_exported(const jx_program *program);

/* The program typed, if it may be planned at these sizes; NULL with an error
 * that names the equation and what does not fit.  Jaxprs of custom rules count
 * only if they are to be run as well. */
const jx_typed *jx_program_fits(jx_program *program, bool rules, int nbindings,
                                const jx_binding *bindings);
/* The same of a program that is typed already: by jx_type_program(). */
const jx_typed *jx_analysis_fits(const jx_analysis *analysis, bool rules,
                                 int nbindings, const jx_binding *bindings);
/* The same of a program that may be the one that is typed, or another, without
 * bindings and custom rules. */
const jx_typed *jx_analysis_fits_as(const jx_analysis *analysis,
                                    jx_program *program);

#endif
