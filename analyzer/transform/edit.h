/* edit.h - a program in which single equations take or give something else.
 *
 * What changes is said by functions that build it (build.h) in the place
 * of the equation: of an operand, which the equation takes in its place,
 * or of its first result, which all take in its place.  All else, places
 * among it, stays. */
#ifndef JX_EDIT_H
#define JX_EDIT_H

#include "frontend/ir/build.h"

enum { JX_EDIT_ATOMS = 4 };

struct jx_edit;

/* Builds what stands there now; `of` are the edit's atoms as they are in the
 * new program. Nothing: the edit can't be made, and no program is. */
typedef jx_atom jx_edit_make(jx_body *b, const struct jx_edit *edit,
                             const jx_atom *of);

typedef struct jx_edit {
    const jx_eqn *eqn; /* of the program, in whatever body */
    int operand;       /* that becomes another; -1: its first result does */
    jx_edit_make *make;
    int natoms;
    jx_atom atoms[JX_EDIT_ATOMS]; /* of the equation's jaxpr, known before it */
    double numbers[2];
    const jx_eqn *with; /* another equation, for `make`; or NULL */
} jx_edit;

/* In the program's context; NULL with an error.  Several edits of one
 * operand are made in order, each of what the one before gave only if that
 * is its atom 0. */
jx_program *jx_program_edit(jx_program *program, int count,
                            const jx_edit *edits);

/* The program with what `follow` (build.h) makes of each equation on its way;
 * it finds `with` by its body. */
jx_program *jx_program_follow(jx_program *program,
                              bool (*follow)(jx_body *b, jx_eqn *eqn,
                                             jx_atom *atoms),
                              void *with);
void *jx_followed_with(const jx_body *b);

#endif
