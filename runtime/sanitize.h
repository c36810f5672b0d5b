/* sanitize.h - runs that look at what they compute.
 *
 * A sanitizer has two plans of one program.  The first is as fast as any, with
 * some probes (plan.h); it is what runs.  Only where a probe notices something,
 * or a result is not finite, the second runs once more on the same inputs, with
 * a watch, and says which equation is to blame (given.h).  What the host did
 * for the first run (custom calls, callbacks) it does not do again: the second
 * run gets the same results. */
#ifndef JX_SANITIZE_H
#define JX_SANITIZE_H

#include "runtime/exec.h"
#include "runtime/witness/given.h"

typedef struct jx_sanitizer jx_sanitizer;

/* "nan,oob" as kinds of probes; 0 and *wrong, the first word that is
 * none, in the text. */
unsigned jx_sanitize_kinds(const char *text, const char **wrong);

typedef struct jx_sanitize_options {
    unsigned kinds; /* JX_PROBE_..., one at least */
    /* for as long as the sanitizer is; or NULL */
    const struct jaxvet_handlers *handlers;
    size_t memory; /* budget of one plan, in bytes; 0: none */
    uint64_t seed;
} jx_sanitize_options;

/* Of a program at sizes; NULL with an error in its context. */
jx_sanitizer *jx_sanitizer_new(jx_program *program, int nbindings,
                               const jx_binding *bindings,
                               const jx_sanitize_options *options);
void jx_sanitizer_free(jx_sanitizer *sanitizer);
/* The program that runs: the one at those sizes, without calls. */
jx_program *jx_sanitizer_program(const jx_sanitizer *sanitizer);
/* Its plan, to be run by any number of executions. */
const jx_plan *jx_sanitizer_plan(const jx_sanitizer *sanitizer);

/* Hears what a run showed, one run at a time; false: it can't bear it, with an
 * error in the program's context. */
typedef bool jx_sanitized(void *env, const jx_witnesses *found);

/* Runs an execution of that plan, as jx_exec_run() does; inputs keep what they
 * hold (none is lent).  `context` is for the handlers.  False when a kernel
 * failed: jx_exec_error(); or with an error in the program's context, where a
 * closer look fails. */
bool jx_sanitizer_run(jx_sanitizer *sanitizer, jx_exec *exec,
                      const void *const *ins, void *const *outs, void *context,
                      jx_sanitized *hear, void *env);

#endif
