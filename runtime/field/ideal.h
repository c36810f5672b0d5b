/* ideal.h - what a constant was before it was rounded.
 *
 * 0.7978846 of float32 is the float nearest to sqrt(2/pi), and 0.044715 the one
 * nearest to that decimal: taken so, two programs that round at different
 * places can be told to be the same.  That a constant stands for such a number
 * is an assumption, and named. */
#ifndef JX_IDEAL_H
#define JX_IDEAL_H

#include "runtime/field/cell.h"

typedef struct jx_number {
    uint64_t v, e; /* of F_p and F_q */
    float bits;
    double about;     /* the number, to the precision of a double */
    const char *name; /* "0.797884583 stands for 2^(1/2) pi^(-1/2)" */
} jx_number;

/* False if it is best taken as it stands: a number of few bits, or one that is
 * nothing known. */
bool jx_number_ideal(jx_field *f, double value, jx_dtype dtype, jx_number *to);

#endif
