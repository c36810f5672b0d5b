/* tape.h - what a host's handlers gave in a run, for another run of
 * the same program.
 *
 * A callback has effects, and is not called twice for one run of its
 * author's.  A call is known again by its target, options and place, and by
 * what it is given; one that is given something else has the results of the
 * first one there. */
#ifndef JX_TAPE_H
#define JX_TAPE_H

#include "jaxvet.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct jx_tape jx_tape;

/* An empty one, on which runs are recorded; NULL without memory. */
jx_tape *jx_tape_new(void);
void jx_tape_free(jx_tape *tape);
/* From now on it is played, from the beginning. */
void jx_tape_rewind(jx_tape *tape);

/* Which call it is, before it is made. */
typedef struct jx_tape_key {
    uint64_t call, operands;
} jx_tape_key;
jx_tape_key jx_tape_key_of(const jaxvet_custom_call *call,
                           const void *const *inputs);

/* All that was to be recorded is on it; false: memory ended. */
bool jx_tape_is_whole(const jx_tape *tape);

/* While recording: keeps the results of a call. */
void jx_tape_keep(jx_tape *tape, jx_tape_key key,
                  const jaxvet_custom_call *call, void *const *outputs);
/* Else: gives them again; zeros for a call that was never made.  False
 * while recording. */
bool jx_tape_play(jx_tape *tape, jx_tape_key key,
                  const jaxvet_custom_call *call, void *const *outputs);

#endif
