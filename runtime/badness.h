/* badness.h - which elements of an array are not finite. */
#ifndef JX_BADNESS_H
#define JX_BADNESS_H

#include "runtime/kernel.h"

enum { JX_WATCHED_OPERANDS = 3 };

typedef struct jx_element {
    jx_dtype dtype; /* as stored */
    unsigned char bits[16];
} jx_element;

/* An element that is not finite; who computed it and of what, where
 * that is known. */
typedef struct jx_unfinite {
    const jx_eqn *eqn; /* NULL: none */
    int out;           /* which of its results */
    jx_element value;
    int rank;
    int64_t shape[JX_MAX_RANK],
        index[JX_MAX_RANK]; /* the first such element's */
    int64_t count;          /* of such elements */
    int64_t run; /* how often the equation had run before, in loops */
    /* The operands there, where they have as many elements as the result. */
    int noperands;
    jx_element operands[JX_WATCHED_OPERANDS];
} jx_unfinite;

/* How far from finite a number is; the worse counts. */
typedef enum jx_badness { JX_FINITE, JX_INFINITE, JX_NO_NUMBER } jx_badness;

/* What is seen of an array: of each badness, how many elements there are (one
 * for all along an axis with stride 0) and which is the first. */
typedef struct jx_look {
    const jx_view *view;
    struct {
        int64_t count;
        int64_t first[JX_MAX_RANK];
        const char *at;
    } found[JX_NO_NUMBER + 1];
} jx_look;

/* Looks at an array in memory, of an inexact dtype; how bad its
 * worst element is. */
jx_badness jx_look_at(jx_look *look, const jx_view *view);

/* How bad its worst element is, alone. */
jx_badness jx_worst_of(const jx_view *view);
/* The first element that is as bad as that, of which there is one. */
void jx_look_tell(const jx_look *look, jx_badness is, jx_unfinite *to);

jx_element jx_element_at(jx_dtype dtype, const char *at);

/* Indices along an axis that lie at places of their own: one, where
 * its stride is 0. */
int64_t jx_steps_along(const jx_view *view, int axis);

/* Whether the elements fill a piece of memory that begins with the first, in
 * whatever order of axes (those of stride 0 give them again); then `count` of
 * them lie there. */
bool jx_view_fills(const jx_view *view, int64_t *count);

/* Whether all elements are finite, at sight: of dense ones in memory, of a
 * dtype that says it by an exponent of ones; false where it has to be
 * looked at closer. */
bool jx_finite_at_sight(jx_dtype dtype, const void *at, int64_t count);

/* The worst element of an array, if it is not finite; false: all are finite. */
bool jx_unfinite_find(const jx_view *view, jx_unfinite *found);

#endif
