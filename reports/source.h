/* source.h - lines of source files that an input does not embed, from disk.
 *
 * Only what is shown, and suppressions, come from here; nothing that identifies
 * a finding does, since the disk may have moved on. */
#ifndef JX_SOURCE_H
#define JX_SOURCE_H

#include "frontend/base/ctx.h"

typedef struct jx_sources jx_sources;

jx_sources *jx_sources_new(void);
void jx_sources_free(jx_sources *sources);
/* The line (from 1) without its end, or NULL: there is no such file, or it is
 * no regular one, too large, or shorter. */
const char *jx_sources_line(jx_sources *sources, const char *path, int line);

#endif
