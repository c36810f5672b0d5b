/* stablehlo.h - StableHLO modules as programs.
 *
 * The program is the module's function `main`, else its only public function;
 * where there are several (the tests of StableHLO), one that calls each of
 * them in order, and so with several modules in one file.  Private functions
 * become jaxprs that `jit` equations call by their names.
 *
 * An op without a meaning here becomes an equation of a primitive that is
 * known by its name alone, with its declared results. */
#ifndef JX_READ_STABLEHLO_H
#define JX_READ_STABLEHLO_H

#include "frontend/ir/build.h"
#include "frontend/ir/infer.h"
#include "frontend/mlir/tree.h"
#include "frontend/read/exported.h"

/* The function that a program was made of, the inputs of the program that its
 * arguments are, and the outputs that its results are: -1 for what is none. */
typedef struct jx_tree_entry {
    jx_infer_open *infer; /* that it was read with */
    const jx_mlir_op *module, *func;
    int nargs, nresults;
    const int *inputs, *outputs;
} jx_tree_entry;

/* An attribute of the argument that is the program's input, or of the result
 * that is its output; or NULL. */
const jx_mlir_attr *jx_tree_argument(const jx_tree_entry *entry, int input,
                                     const char *name);
const jx_mlir_attr *jx_tree_result(const jx_tree_entry *entry, int output,
                                   const char *name);

/* NULL with an error.  The tree, and what it points into, must outlive the
 * program.  Sizes that types leave open follow from `infer`; without it nothing
 * is said of them. */
jx_program *jx_read_stablehlo(const jx_mlir_file *file, jx_infer_open *infer);

/* The same of the module in an exported file: the program's inputs and outputs
 * are those that the file declares, with their names. */
jx_program *jx_read_exported_program(const jx_mlir_file *file,
                                     const jx_exported *exported,
                                     jx_infer_open *infer);

/* A function that a module is the code of: JAX's types of what it takes and
 * gives, which of its inputs the module's main takes, and for which
 * platforms it is: where there are several, main takes the index of one
 * before all others. */
typedef struct jx_callee {
    const char *name; /* or NULL */
    int nins, nouts, nkept, nplatforms;
    const jx_aval *const *ins, *const *outs;
    const uint16_t *kept;
    const char *const *platforms;
} jx_callee;

/* The function as a jaxpr of the builder's program, whose sizes its types are
 * in; NULL with an error. */
const jx_jaxpr *jx_read_stablehlo_callee(const jx_mlir_file *file,
                                         const jx_callee *callee,
                                         jx_builder *into,
                                         jx_infer_open *infer);

#endif
