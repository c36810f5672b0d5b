/* versions.h - which jaxvet this is and what it stands on. */
#ifndef JX_VERSIONS_H
#define JX_VERSIONS_H

#include "frontend/base/buffer.h"

#define JX_VERSION "0.1.0"

/* A line per library and per format that is read, as `jaxvet --version` prints
 * them: its name, and which. */
void jx_versions(jx_buffer *to);

#endif
