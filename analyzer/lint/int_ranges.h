/* int_ranges.h - between what the integers of a program lie, by their types and
 * by how they are made.
 *
 * Inputs are anything that their dtype or a declared range allows, what a loop
 * carries anything of its dtype.  Where a result can leave its dtype it wraps,
 * and may be anything of it. */
#ifndef JX_INT_RANGES_H
#define JX_INT_RANGES_H

#include "analyzer/lint/flat.h"

typedef struct jx_int_range {
    jx_int low, high;
    bool known; /* of integers and booleans */
    /* as computed it can leave its dtype, whatever wrapped before, ... */
    bool leaves;
    bool wraps;         /* ... though nothing that it is made of did */
    jx_int least, most; /* of what leaves: as computed */
    /* somebody said between what all inputs lie that it is made of */
    bool declared;
} jx_int_range;

/* By value; in the arena.  NULL without memory. */
const jx_int_range *jx_int_ranges(const jx_flat *flat);

#endif
