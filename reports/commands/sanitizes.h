/* sanitizes.h - `jaxvet run --sanitize`: a run that reports what it shows. */
#ifndef JX_SANITIZES_H
#define JX_SANITIZES_H

#include "reports/commands/commands.h"
#include "reports/pipeline/report.h"
#include "runtime/sanitize.h"

typedef struct jx_sanitizes {
    jx_sanitizer *sanitizer;
    jx_report report; /* of the first run: what it shows at once is told */
    bool told;
} jx_sanitizes;

/* Ready to run `program` at these sizes for `kinds` ("nan,oob"); false with an
 * error in its context. */
bool jx_sanitizes_open(jx_sanitizes *to, jx_program *program, const char *kinds,
                       uint64_t seed, int nbindings,
                       const jx_binding *bindings);
void jx_sanitizes_close(jx_sanitizes *s);
/* Runs an execution of its plan; false: it failed, as jx_exec_run() does, or
 * with an error in the program's context. */
bool jx_sanitizes_run(jx_sanitizes *s, jx_exec *exec, const void *const *ins);
/* Appends the report in a format (NULL: text, and in that nothing where nothing
 * was found); the exit code. */
int jx_sanitizes_tell(const jx_sanitizes *s, const char *format, jx_buffer *to);

#endif
