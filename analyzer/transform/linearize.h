/* linearize.h - the derivative of a program at a point, as a
 * program of its own.
 *
 *     inputs -> outputs, residuals
 *     residuals, a tangent per inexact input -> a tangent per inexact output
 *
 * It is the forward derivative (jvp.h), of which what follows from the inputs
 * alone is computed first (split.h).  Inputs that the rest reads are
 * residuals, too. */
#ifndef JX_LINEARIZE_H
#define JX_LINEARIZE_H

#include "analyzer/transform/split.h"
#include "frontend/ir/typed.h"

/* A new program in the same context, with the other as its `linear`; NULL with
 * an error that names the equation that has no derivative (PRM002), or what
 * typing refuses. */
jx_program *jx_program_linearize(const jx_typed *typed);

/* The linear program of one that has it, as a program; NULL,
 * told, of any other. */
jx_program *jx_program_linear(jx_program *program);

/* ---- of a program in the making */

typedef struct jx_linearized {
    const jx_jaxpr *forward; /* of inputs and tangents: outputs and tangents */
    int nins, nouts;         /* of the program itself */
    const jx_split *split;   /* of that, the tangents unknown */
    /* results of the rest that are outputs, which a loop or a reduction gives
     * with their tangents: the first */
    int again;
} jx_linearized;

/* Begins to make another program of this one: its derivative, taken
 * apart.  False, told. */
bool jx_linearize_begin(jx_making *make, const jx_typed *typed,
                        jx_linearized *to);

/* The same of a forward derivative in the making, which takes `nins` inputs and
 * tangents, and gives `nouts` outputs and tangents. */
bool jx_linearize_split(jx_making *make, const jx_jaxpr *forward, int nins,
                        int nouts, jx_linearized *to);

/* True from the first of n on; NULL without memory. */
bool *jx_mask_from(const jx_making *make, int first, int n);

/* A jaxpr in the making that takes the program's inputs and has computed of
 * them what the split knows. */
typedef struct jx_linear_known {
    jx_body *b;
    const jx_atom *consts, *outs, *residuals;
    int nres; /* with the inputs that the rest reads, which come last */
} jx_linear_known;

/* With the outputs of the program, which it is then given, or the residuals
 * alone (NULL); false, told. */
bool jx_linearize_known(jx_making *make, const jx_linearized *of,
                        const jx_jaxpr *entry, jx_linear_known *to);

#endif
