/* places.h - where in the source an equation of the flat form was written.
 *
 * An equation within a function of JAX's own has no frame outside JAX; the line
 * that called that function is its place, as reports show it. */
#ifndef JX_PLACES_H
#define JX_PLACES_H

#include "analyzer/lint/flat.h"

/* One place that computes a node: its own, or that of a repeat. */
typedef struct jx_place {
    int node;
    const jx_eqn *eqn;
    const jx_jaxpr *jaxpr;
    const jx_calls *calls;
    int order;
} jx_place;

jx_place jx_place_of_node(const jx_flat *flat, int node);
jx_place jx_place_of_repeat(const jx_flat_repeat *repeat);

/* A function that is written where it is passed on. */
bool jx_frame_is_within(const jx_frame *inner, const jx_frame *outer);

/* The innermost frame outside JAX; NULL if there is none. */
const jx_frame *jx_place_frame(const jx_eqn *eqn, const jx_calls *calls);
/* The frames outside JAX that lead there from within the body that `until`
 * leads into (NULL: from the entry), innermost first; none without memory. */
jx_stack jx_place_stack(jx_arena *arena, const jx_place *place,
                        const jx_calls *until);
/* Where to point for something that two places do: functions that both
 * call to do it are not at fault, the one that calls them for both is.
 * NULL: at the second. */
const jx_stack *jx_places_meet(jx_arena *arena, const jx_place *first,
                               const jx_place *second);
/* The same of what is done at every step of a loop's body. */
const jx_stack *jx_place_in_body(jx_arena *arena, const jx_place *place,
                                 const jx_calls *body);
/* The equation stands in code outside of JAX, and not in a function of JAX's
 * that this called. */
bool jx_place_is_written(const jx_program *program, const jx_eqn *eqn,
                         const jx_calls *calls);

/* The equation that somebody wrote by which the place is reached: its
 * own, or the call of JAX's function that it is part of; no equation if
 * there is none. */
jx_place jx_place_written(const jx_program *program, const jx_place *place);

/* Differentiation made it: what went forward with a tangent, and
 * what went back. */
bool jx_place_is_derivative(const jx_eqn *eqn, const jx_calls *calls);
bool jx_place_is_backward(const jx_eqn *eqn, const jx_calls *calls);

/* Both are in branches of one cond of which one runs. */
bool jx_places_exclude(const jx_calls *a, const jx_calls *b);

/* By number of the jaxpr: which of its equations its results or an effect need;
 * made when first asked for. */
typedef struct jx_needed {
    jx_arena *arena;
    const bool **of;
} jx_needed;

bool jx_needed_init(jx_needed *needed, const jx_program *program);
/* The place's equation is needed where it stands, and so are the calls
 * that lead there. */
bool jx_place_is_needed(jx_needed *needed, const jx_place *place);

#endif
