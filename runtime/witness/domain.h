/* domain.h - which integers are meant that a program takes. */
#ifndef JX_WITNESS_DOMAIN_H
#define JX_WITNESS_DOMAIN_H

#include "frontend/ir/program.h"

enum { JX_MOST_TOLD = 24 };

/* Which integers an input may be.  `last`: the last place along the axis that
 * it indexes, as it is or moved and bounded (what is added to it may lead
 * beyond); of what indexes none the largest number that it is compared with, or
 * of places that are numbered; -1 where there is none, or it is no number. */
typedef struct jx_integer_domain {
    int64_t last;
    bool indexes;
    bool held; /* against places: these are what `last` says */
    /* it indexes, whatever is computed before, or is held against places: below
     * 0 is none, nor far beyond */
    bool placed;
    /* Numbers outside of these that the program itself tells from others, as of
     * a label that is to be left out. */
    int ntold;
    int64_t told[JX_MOST_TOLD];
    /* ... or all of them on that side of an end, as a clamp does */
    bool below, above;
    /* how often a loop goes round may be made of it: that many turns are run */
    bool turns;
    /* it is taken modulo that, or 0: where the axis has as many places each
     * integer is one */
    int64_t modulo;
    /* as callers promise, else as its dtype holds */
    int64_t lo, hi;
} jx_integer_domain;

/* Of each input of a program without calls; `to` has room for them.  False
 * without memory. */
bool jx_domain_of_inputs(jx_program *program, jx_integer_domain *to);

/* Leaves of it what callers promise of an input, or what its dtype holds. */
void jx_domain_bound(const jx_program *program, int input,
                     jx_integer_domain *to);

/* What either of two programs says of an input; `own` counts first, and of
 * indices alone. */
void jx_domain_join(jx_integer_domain *own, const jx_integer_domain *other);

#endif
