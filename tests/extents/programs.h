/* programs.h - random programs of the primitives whose values are
 * bounded, as text.
 *
 * A program takes float arrays of its dtype, 4 by 4, a row of 4, and
 * integers, 4 by 4, and gives every value that it computes.  What it is made
 * of is forms.def. */
#ifndef EXTENTS_PROGRAMS_H
#define EXTENTS_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_INPUTS = 5, ELEMENTS = 16, MOST_VALUES = 48 };

typedef struct rng {
    uint64_t state;
} rng;

int rng_below(rng *r, int n);
double rng_uniform(rng *r);

/* What there is of a kind: numbers of values. */
typedef struct pool {
    int at[MOST_VALUES], count, last;
} pool;

typedef enum kind { WHOLE, ROW, COLUMN, LONE, PREDICATE, INTEGER, KINDS } kind;

typedef struct making {
    rng *r;
    /* "f32", "float32", "i32", "int32" */
    const char *dtype, *name, *whole, *whole_name;
    int count, axis; /* values so far; the axis drawn last */
    pool of[KINDS];
    size_t length; /* of the text */
    char text[16384], values[1024];
} making;

/* The text is the making's. */
void make_program(making *m, rng *r);

#endif
