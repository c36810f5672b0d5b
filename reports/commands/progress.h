/* progress.h - how far a long run is, on a terminal. */
#ifndef JX_PROGRESS_H
#define JX_PROGRESS_H

#include "runtime/gradients/exhaust.h"

/* Tells standard error, if that is a terminal, while it runs; ends the line. */
void jx_command_progress(jx_exhaust_options *how);
void jx_command_progress_end(const jx_exhaust_options *how);

/* The same for what has stages: "running both 3/6".  Sets *progress, if
 * anybody looks. */
void jx_command_doing(void (**progress)(void *to, const char *doing,
                                        int64_t done, int64_t all));
void jx_command_doing_end(void);

#endif
