/* stablehlo.h - the lowering: a program as a module of StableHLO and CHLO.
 *
 * Each equation becomes ops by the rule that frontend/mlir/adapter.def names
 * for its primitive; what is one to one maps one to one, the rest is composed
 * the way JAX composes it.  Calls become functions, symbolic sizes become
 * values: the public function finds them in the shapes of its arguments and
 * hands them on to the others as leading i32 arguments. */
#ifndef JX_WRITE_STABLEHLO_H
#define JX_WRITE_STABLEHLO_H

#include "frontend/ir/typed.h"
#include "frontend/mlir/tree.h"

/* The module, in the program's arena.  NULL with an error: memory, or what has
 * no StableHLO form and where it stands.  (The program takes part in interning
 * avals and dims, and is not changed otherwise.) */
const jx_mlir_op *jx_write_stablehlo(const jx_typed *typed,
                                     jx_mlir_types *types);

/* The same without a word of how arrays are to lie on devices, for who knows no
 * sdy (jaxlib, for its HLO). */
const jx_mlir_op *jx_write_stablehlo_unlaid(const jx_typed *typed,
                                            jx_mlir_types *types);

/* The same for an exported file of several platforms: the public function
 * takes the platform's index first.  (Else what is lowered is for the CPU.) */
const jx_mlir_op *jx_write_stablehlo_platforms(const jx_typed *typed,
                                               jx_mlir_types *types);

#endif
