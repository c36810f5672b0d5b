/* timings.h - how long one device takes (analyzer/timing.h, runtime/idle.h), said to people
 * and to programs. */
#ifndef JX_TIMINGS_H
#define JX_TIMINGS_H

#include "analyzer/timing.h"

/* Lines such as "  critical path    6.01e-06 s, of which 6e-06 s sending". */
void jx_timings_print(const jx_rates *rates, const jx_timing *timing, int64_t devices,
                      jx_buffer *to);
/* The same as a JSON object and a line feed. */
void jx_timings_json(const jx_rates *rates, const jx_timing *timing, int64_t devices,
                     jx_buffer *to);

#endif
