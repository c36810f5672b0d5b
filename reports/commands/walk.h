/* walk.h - the files that an argument of the command means. */
#ifndef JX_WALK_H
#define JX_WALK_H

#include "frontend/base/ctx.h"
#include "frontend/base/vec.h"

typedef struct jx_target {
    const char *path;
    bool named;       /* by the user: has to be a program */
    bool passed_over; /* a link to a folder, which is not followed */
    const char *why;  /* nobody can read it, or NULL */
    int argument;     /* which of the user's it belongs to, from 0 */
} jx_target;

typedef JX_VEC(jx_target) jx_targets;

/* Appends the file (`-` too), or all files below the folder, sorted by path;
 * hidden ones are left out, and links to folders, which may lead anywhere, are
 * targets that say that they are passed over.  What can't be read is a target
 * that says why: folders, and what has a program's name and is no file.  True
 * if it is a folder. */
bool jx_walk_add(jx_ctx *ctx, const char *path, int argument, jx_targets *to);

#endif
