/* progress.h - how far a long run is, on a terminal. */
#ifndef JX_PROGRESS_H
#define JX_PROGRESS_H

#include "runtime/gradients/exhaust.h"

/* Tells standard error, if that is a terminal, while it runs; ends the line. */
void jx_command_progress(jx_exhaust_options *how);
void jx_command_progress_end(const jx_exhaust_options *how);

#endif
