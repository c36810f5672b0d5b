/* solver.h - Z3 in a helper process.
 *
 * `jaxvet-solver` is started with posix_spawn when the first question needs
 * it, answers any number of them over a pair of pipes, and ends with the
 * solver object (or when its parent does).  Each question has a context of its
 * own and a limit in Z3's resource units, which makes answers repeatable; a
 * limit of processor time far above that is the backstop: the process is
 * killed, the answer is unknown, the next question starts a new one.
 *
 * A helper may be missing, die, hang or be no helper at all.  Whatever it does,
 * a question gets its reply: JX_SOLVER_FAILED says that the reason lies with
 * the process and not with the question, so that nobody remembers it.  One that
 * uses no processor time for SILENT_SECONDS will not answer any more; one that
 * failed three times in a row is not started again.
 *
 * A request is "check RLIMIT MILLISECONDS BYTES LENGTH\n" and LENGTH bytes of
 * SMT-LIB 2 without (check-sat): the process may take BYTES more of memory than
 * it began with.  The reply one line: "sat" followed by " name=value" for
 * each constant, "unsat", or "unknown " and a reason.  Before the first request
 * it says "jaxvet-solver VERSION". */
#ifndef JX_PROVER_SOLVER_H
#define JX_PROVER_SOLVER_H

#include "frontend/base/buffer.h"
#include "prover/prover.h"

typedef enum jx_solver_reply {
    JX_SOLVER_UNKNOWN = 0,
    JX_SOLVER_SAT,
    JX_SOLVER_UNSAT,
    JX_SOLVER_FAILED, /* no answer from the process: killed, missing, ... */
} jx_solver_reply;

/* Starts nothing yet.  `path` of the helper, absolute, or NULL: the
 * environment's JAXVET_SOLVER, which has to be absolute, then beside the
 * library or executable, wherever the process has gone since it was loaded. */
jx_solver *jx_solver_new(const char *path);
void jx_solver_free(jx_solver *solver);

/* `text` gets the model ("name=value name=value") or the reason.  The process
 * takes no more memory than is left of `budget` (or NULL), and is killed when
 * that does not last. */
jx_solver_reply jx_solver_check(jx_solver *solver, const char *script,
                                long rlimit, jx_budget *budget,
                                jx_buffer *text);
/* Its version ("4.8.12"), or NULL if it has not run. */
const char *jx_solver_version(const jx_solver *solver);
int jx_solver_count(const jx_solver *solver); /* questions so far */

#endif
