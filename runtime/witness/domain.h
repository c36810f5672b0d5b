/* domain.h - what integer inputs index, or are held against. */
#ifndef JX_DOMAIN_H
#define JX_DOMAIN_H

#include "frontend/ir/program.h"

/* Which integers an input may be.  `last`: the last place along the axis that
 * it indexes, as it is or moved and bounded (what is added to it may lead
 * beyond); of what indexes none the largest number that it is compared with, or
 * of places that are numbered; -1 where there is none, or it is no number.
 * `least`: a number below 0 that the program tells from others, as of what is
 * to be left out; 0: there is none. */
typedef struct jx_integer_domain {
    int64_t last, least;
} jx_integer_domain;

/* Of each input of a program without calls; `to` has room for them.  False
 * without memory. */
bool jx_domain_of_inputs(jx_program *program, jx_integer_domain *to);

#endif
