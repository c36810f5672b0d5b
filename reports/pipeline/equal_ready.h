/* equal_ready.h - a program made ordinary, to be held against
 * another (equals.h). */
#ifndef JX_EQUAL_READY_H
#define JX_EQUAL_READY_H

#include "analyzer/transform/devices.h"

typedef struct jx_ordinary {
    const jx_program *declared; /* what it was made of */
    jx_program *flat;           /* without calls, for its devices */
    jx_program *program;        /* ... for one */
    const jx_typed *typed;
    int devices;           /* that it was for */
    const jx_mesh *mesh;   /* of its first computation, or NULL */
    jx_device_pairs pairs; /* further results */
} jx_ordinary;

/* Of a program without symbolic sizes: it, or its derivative backwards.  False
 * with an error in its context.  `change`: of what devices run in a program
 * that is without calls, or NULL. */
bool jx_ordinary_make(jx_program *program, bool gradient,
                      const jx_device_change *change, jx_ordinary *to);

#endif
