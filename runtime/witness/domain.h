/* domain.h - what integer inputs index, or are held against. */
#ifndef JX_DOMAIN_H
#define JX_DOMAIN_H

#include "frontend/ir/program.h"

/* Per input of a program without calls: the last place along the axis that it
 * indexes, as it is or moved and bounded (what is added to it may lead beyond);
 * of what indexes none the largest number that it is compared with, or of
 * places that are numbered; -1 where there is none, or it is no number.  `last`
 * has room for each.  False without memory. */
bool jx_domain_of_inputs(jx_program *program, int64_t *last);

#endif
