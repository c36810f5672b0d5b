/* lost_parts.h - what the files of the search for lost digits share. */
#ifndef JX_LOST_PARTS_H
#define JX_LOST_PARTS_H

#include "runtime/digits.h"
#include "runtime/witness/origin.h"

/* rounds.c: it rounds on purpose (a narrower dtype, a bitcast, (x + c) - c), or
 * may as well give something else for operands that are a little off. */
bool jx_eqn_rounds(const jx_origins *of, const jx_eqn *eqn);

/* Which results have lost digits, and who tells of an
 * operand's: lost_maps.c. */
typedef struct jx_lost_maps {
    jx_arena *arena;
    const jx_origins *origins;
    jx_map rounds;      /* equations */
    jx_map passed;      /* ... that move elements, and are not compared */
    jx_map lost;        /* from equations to bools */
    jx_map sources;     /* from variables */
    jx_tracks tracks;   /* all that are in `lost` */
    jx_dtype narrowest; /* of the floats that equations give */
    /* it has f64, and no complex numbers: pairs of doubles run beside it */
    bool pairs;
    /* ... of which these equations are made of some that are computed in double
     * there (plan_pairs.h) */
    jx_map unsure;
    bool *unsure_outs; /* and these results of the program */
    bool complex;
} jx_lost_maps;

/* False without memory. */
bool jx_lost_maps_make(jx_lost_maps *to, const jx_jaxpr *entry);
/* After a run: results of loops and branches are those of their bodies. */
void jx_lost_maps_close(jx_lost_maps *maps, const jx_jaxpr *entry);

#endif
