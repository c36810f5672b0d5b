/* points.h - the inputs at which two programs are run (equal.h). */
#ifndef JX_EQUAL_POINTS_H
#define JX_EQUAL_POINTS_H

#include "runtime/plan.h"
#include "runtime/witness/domain.h"

typedef struct jx_equal_point {
    const char *name; /* "numbers of scale 200" */
    bool extreme;     /* right programs may lose digits there */
    /* numbers that are equal, or zero: rounding decides which way to go */
    bool special;
} jx_equal_point;

/* Ordinary ones first; behind all of them are as many more ordinary ones as
 * somebody wants. */
int jx_equal_points(void);
const jx_equal_point *jx_equal_point_at(int number);
/* Fills input `index` as that point has it; the same in every run.  Keys are
 * random, integers small, or where the input has a `last` one, at some points
 * any up to that, itself and the first and the last of equal parts of the axis
 * often among them; so are those that are `told`.  `domains` may be NULL. */
enum { JX_EQUAL_ONES = -1 }; /* a point beside these */
void jx_equal_fill(int point, int index, const jx_port *port,
                   const jx_integer_domain *domains, void *to);

/* Some of the integers of an input. */
typedef struct jx_equal_span {
    int input;
    int64_t least, most;
} jx_equal_span;

/* Puts some of them in the place of elements: of few, half or all, by turns; of
 * one number its ends first. */
enum { JX_EQUAL_TURNS = 3 };
void jx_equal_fill_span(const jx_equal_span *span, int turn,
                        const jx_port *port, void *to);

#endif
