/* host.h - what plans and runs know of a host that runs custom calls. */
#ifndef JX_RUNTIME_HOST_H
#define JX_RUNTIME_HOST_H

#include "jaxvet.h"
#include "runtime/exec.h"
#include "runtime/tape.h"

/* Where an operand or result of a call is no operand or result of its
 * operation: it is a token, or (operands) lies in the memory of result
 * JX_HOST_SHARED - n. */
enum { JX_HOST_TOKEN = -1, JX_HOST_SHARED = -2 };

/* An operation of a plan that a host runs. */
typedef struct jx_host_op {
    jaxvet_custom_call call;
    const jaxvet_handlers *handlers;
    void *state;     /* the host's */
    int *ins, *outs; /* the operation's operand or result that each one is */
    struct jx_host_op *next; /* of the plan */
} jx_host_op;

/* What this run's handlers are given (jaxvet_run_with()). */
void jx_exec_context(jx_exec *exec, void *context);
void *jx_run_context(const jx_run *run);

/* Later runs record on this tape what handlers give, or play it;
 * NULL: neither. */
void jx_exec_tape(jx_exec *exec, jx_tape *tape);
jx_tape *jx_run_tape(const jx_run *run);

/* The run fails with what a handler said; always false. */
bool jx_run_host_failed(jx_run *run, jaxvet_status status,
                        const jaxvet_error *error,
                        const jaxvet_custom_call *call);
/* What the handler that ended the last run said, or NULL. */
const jaxvet_error *jx_exec_host_error(const jx_exec *exec);

/* Memory for a part of an operation, at a multiple of 64; NULL:
 * the run fails. */
void *jx_run_borrow(jx_run *run, size_t bytes);
void jx_run_give_back(jx_run *run, void *memory, size_t bytes);

#endif
