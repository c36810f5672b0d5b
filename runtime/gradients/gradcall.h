/* gradcall.h - jaxprs as functions of vectors of doubles.
 *
 * A callee is a jaxpr planned in the wide domain with input buffers of its own.
 * A space says how the active (float or complex, not masked) inputs or outputs
 * of one lie in a single vector; a complex element is its two parts. */
#ifndef JX_GRADCALL_H
#define JX_GRADCALL_H

#include "runtime/exec.h"
#include "runtime/gradients/gradpoints.h"

enum { JX_MOST_ELEMENTS = 1 << 20 }; /* of a space */

typedef struct jx_callee {
    jx_plan *plan;
    jx_exec *exec;
    int nins, nouts;
    void **in; /* a buffer per input */
} jx_callee;

typedef struct jx_space {
    int count, size;
    int *port; /* which input or output each span is */
    jx_span_of *spans;
} jx_space;

/* False with the error in the program's context. */
bool jx_callee_open(jx_callee *f, const jx_typed *typed,
                    const jx_closed *closed, const jx_plan_options *how);
/* The same without memory for inputs, which are another's. */
bool jx_callee_open_bare(jx_callee *f, const jx_typed *typed,
                         const jx_closed *closed, const jx_plan_options *how);
void jx_callee_close(jx_callee *f);
bool jx_callee_run(jx_callee *f);
/* Whether all that it gave last, of floats, is finite. */
bool jx_callee_gives_numbers(const jx_callee *f);

/* The space of the outputs.  In the arena; false when it has more than
 * JX_MOST_ELEMENTS. */
bool jx_space_of_outputs(jx_space *to, jx_arena *arena, const jx_plan *plan);
/* The space of the inputs from number `first` on; `zeros` has a '1' for each
 * that is masked, or is NULL; inputs that `ties` says are one value share their
 * place in the vector. */
bool jx_space_of_inputs(jx_space *to, jx_arena *arena, const jx_plan *plan,
                        int first, const char *zeros, const int *ties);
/* Writes a vector into input buffers; takes one from the outputs, whose numbers
 * are `shift` above the space's. */
void jx_space_scatter(const jx_space *s, const double *x, jx_callee *to);
void jx_space_gather(const jx_space *s, const jx_callee *from, int shift,
                     double *y);
/* Adds what lies in outputs (numbered from the first input that may have one,
 * the masked ones of `zeros` left out) to the vector; tied parts add up. */
void jx_space_add(const jx_space *s, const jx_callee *from, int first,
                  int count, const char *zeros, double *y);
/* Makes each real square matrix of the vector the mean of itself and
 * its transpose. */
void jx_space_symmetric(const jx_space *s, double *v);
/* Re(sum a b) of complex elements pairs (re, im) with (re, -im). */
void jx_space_conjugate(const jx_space *s, double *v);

#endif
