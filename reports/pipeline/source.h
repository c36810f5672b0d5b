/* source.h - lines of source files, from disk.
 *
 * Whose name a program has in it decides nothing: lines are read from regular
 * files alone, below the working directory and the folders that the user adds,
 * of at most 4 MiB, along a path that leaves its folder neither by `..` nor by
 * a link.  What is shown, and suppressions, come from here; nothing that
 * identifies a finding does, since the disk may have moved on. */
#ifndef JX_SOURCE_H
#define JX_SOURCE_H

#include "frontend/base/ctx.h"

typedef struct jx_sources jx_sources;

/* Sources below the working directory (unless that is `/`).  NULL without
 * memory. */
jx_sources *jx_sources_new(void);
void jx_sources_free(jx_sources *sources);
/* Those below this folder, too.  False if it can't be opened,
 * errno says why. */
bool jx_sources_add(jx_sources *sources, const char *folder);
/* The line (from 1) without its end, or NULL: there is no such file, or none
 * that may be read, or it is shorter. */
const char *jx_sources_line(jx_sources *sources, const char *path, int line);

#endif
