/* sanitize.h - programs that look at what they compute (the
 * sanitizer of jaxvet.h).
 *
 * JAXVET_SANITIZE=nan,oob,wrap (,log) asks for it, or whoever enters the plugin
 * by jaxvet_pjrt_sanitize(), from then on.  A program is opened once more for
 * it, so that one that nobody asks it of is as it was. */
#ifndef JX_PJRT_SANITIZE_H
#define JX_PJRT_SANITIZE_H

#include "hosts/pjrt/ffi.h"
#include "hosts/pjrt/plugin.h"

/* What becomes of findings: a run fails with them; they are printed, or kept
 * for jaxvet_pjrt_sanitize_take(), once for each line. */
enum { JX_PJRT_RAISE = 0, JX_PJRT_LOG, JX_PJRT_COLLECT };

/* What is looked for now: JAXVET_SANITIZE_...; 0: nothing. */
unsigned jx_pjrt_sanitize_kinds(void);

/* Runs the program so; what is found makes an error, if it is to be raised. */
PJRT_Error *jx_pjrt_sanitized_run(jx_pjrt_program *program, unsigned kinds,
                                  const PJRT_Client *client,
                                  const void *const *ins, void *const *outs,
                                  jx_ffi_run *given);
void jx_pjrt_sanitized_free(jx_pjrt_program *program);

/* For our Python package: from now on looks for these kinds
 * (0: for nothing). */
JAXVET_API void jaxvet_pjrt_sanitize(unsigned kinds, int mode);
/* What was collected since the last time, a list of reports as JSON; NULL
 * without memory. To be freed with jaxvet_pjrt_sanitize_free(). */
JAXVET_API char *jaxvet_pjrt_sanitize_take(void);
JAXVET_API void jaxvet_pjrt_sanitize_free(char *text);

#endif
