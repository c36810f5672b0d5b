/* walk.h - the files that an argument of the command means. */
#ifndef JX_WALK_H
#define JX_WALK_H

#include "frontend/base/ctx.h"
#include "frontend/base/vec.h"

typedef struct jx_target {
    const char *path;
    bool named; /* by the user: has to be a program */
} jx_target;

typedef JX_VEC(jx_target) jx_targets;

/* Appends the file (`-` too), or all regular files below the folder, sorted by
 * path; hidden ones and links to folders are left out.  False with an error
 * (no such file, a folder that can't be read). */
bool jx_walk_add(jx_ctx *ctx, const char *path, jx_targets *to);

#endif
