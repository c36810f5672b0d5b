/* inputs.h - the values that a user gives a program: sizes and arrays. */
#ifndef JX_INPUTS_H
#define JX_INPUTS_H

#include "frontend/base/npz.h"
#include "frontend/base/texts.h"
#include "frontend/ir/claim.h"

/* The sizes of `--set b=3`, in the program's arena.  False with an error that
 * names the word: no such variable, not a size. */
bool jx_inputs_sizes(const jx_program *program, const jx_texts *set,
                     int *nbindings, const jx_binding **bindings);

/* The sizes that give the program's inputs these shapes: `--shape 3,4` in the
 * order of inputs, or `--shape "args[1]=(3, 4)"`.  Inputs whose sizes are
 * numbers may be left out.  Sizes of `set` stay.  False with an error. */
bool jx_inputs_shapes(const jx_program *program, const jx_texts *shapes,
                      const jx_texts *set, int *nbindings,
                      const jx_binding **bindings);

/* How an array of this dtype is spelled in an npz: numpy's descr, where numpy
 * has no such dtype the unsigned integer of its width. */
const char *jx_inputs_descr(jx_dtype dtype);

/* The arrays in0, in1, ... of an npz file, which must fit the entry's inputs:
 * dtypes as they are, shapes for some sizes that the constraints allow.  Fills
 * the sizes (those of `set` stay) and a pointer per input; all live in the
 * program's arena.  `npz` may be NULL, or gets the file's arrays. */
bool jx_inputs_npz(const jx_program *program, const char *path,
                   const jx_texts *set, int *nbindings,
                   const jx_binding **bindings, const void *const **inputs,
                   const jx_npz **npz);

/* The same with the inputs of the call that a black box keeps. */
bool jx_inputs_kept(const jx_program *program, const jx_texts *set,
                    int *nbindings, const jx_binding **bindings,
                    const void *const **inputs);

#endif
