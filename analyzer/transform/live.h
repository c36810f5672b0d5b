/* live.h - what of a program something needs.
 *
 * A result is needed if a result of the whole is made of it, or an effect.
 * What stands in a loop or a branch is needed if that is.  Of derivatives the
 * same: what goes through integers, through what stops gradients, or through
 * calls that nobody can differentiate has none. */
#ifndef JX_LIVE_H
#define JX_LIVE_H

#include "frontend/base/map.h"
#include "frontend/ir/program.h"

typedef struct jx_live {
    bool derivatives; /* the caller's: it is about these */
    jx_map wanted;    /* by jaxpr: which of its results, as far as it was met */
    jx_map met;       /* equations, ... */
    jx_map needed;    /* ... and those that something needs */
} jx_live;

/* Looks at all that stands below a jaxpr of which all results are wanted; may
 * be done with several.  False without memory. */
bool jx_live_add(jx_live *to, jx_arena *arena, const jx_jaxpr *root);

/* The same where those results are wanted that `wanted` has. */
bool jx_live_add_some(jx_live *to, jx_arena *arena, const jx_jaxpr *root,
                      const bool *wanted);

/* Which results of a jaxpr are wanted where it was met; NULL: it was not. */
const bool *jx_live_wanted(const jx_live *of, const jx_jaxpr *jaxpr);

/* Whether an equation was met, and nothing needs it wherever it stands. */
bool jx_live_is_dead(const jx_live *of, const jx_eqn *eqn);

#endif
