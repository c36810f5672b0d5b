/* program_info.h - what `jaxvet info` says of a program: signature, sizes,
 * equations by primitive, constants, rules, effects, cost, versions.  Of an
 * exported file there is more to say: exported_info.h. */
#ifndef JX_PROGRAM_INFO_H
#define JX_PROGRAM_INFO_H

#include "frontend/base/buffer.h"
#include "frontend/ir/program.h"

/* For people, or as a JSON object.  False without memory. */
bool jx_program_info(jx_program *program, bool json, jx_buffer *to);

#endif
