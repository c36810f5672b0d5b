/* timings.h - how long one device takes (analyzer/timing.h, runtime/idle.h),
 * said to people and to programs. */
#ifndef JX_TIMINGS_H
#define JX_TIMINGS_H

#include "analyzer/timing.h"
#include "runtime/idle.h"

/* Lines such as "  critical path    6.01e-06 s, of which 6e-06 s sending". */
void jx_timings_print(const jx_rates *rates, const jx_timing *timing,
                      int64_t devices, jx_buffer *to);
/* The same as a JSON object and a line feed. */
void jx_timings_json(const jx_rates *rates, const jx_timing *timing,
                     int64_t devices, jx_buffer *to);

/* "3456 of 8064 multiplications of matrices reach no result (42.9
 * %)", and as JSON. */
void jx_idle_print(const jx_idle *idle, int devices, jx_buffer *to);
void jx_idle_json(const jx_idle *idle, int devices, jx_buffer *to);

#endif
