/* api_program.h - what the files behind jaxvet.h know of programs and calls. */
#ifndef JX_REPORTS_API_PROGRAM_H
#define JX_REPORTS_API_PROGRAM_H

#include "frontend/ir/program.h"
#include "reports/api.h"
#include "runtime/exec.h"
#include "runtime/sanitize.h"

/* An element of an input that says a size which is decided. */
typedef struct jx_said_size {
    int input, element;
    int64_t value;
    const char *size;
} jx_said_size;

struct jaxvet_program {
    jx_ctx *ctx;
    jx_program *program;
    bool is_guest; /* the context is that of another program */
    bool trusts_embedded;
    bool has_summands; /* jaxvet_program_summands() */
    const struct jx_mlir_attr *const *found_shardings; /* of results; or NULL */
    int nins, nouts, nsizes;
    const char **in_types, **out_types;
    const jx_dim_atom *const *sizes; /* of the signature, by name */
    int nsaid;                       /* by refinement */
    const jx_said_size *said;
    const jaxvet_handlers *handlers; /* or NULL */
    jx_buffer report;                /* of the last check */
    jx_buffer info;
    jx_buffer module;
};

struct jaxvet_call {
    const jaxvet_program *program;
    bool is_copy; /* plan and layouts are another call's */
    jx_plan *plan;
    jx_exec *exec;
    jaxvet_layout *ins, *outs;
    int nsaid;
    const jx_said_size *said;
    jx_sanitizer *sanitizer;    /* whose plan it is; or NULL */
    struct jx_api_found *found; /* by the last run; or NULL */
};

/* api_sanitize.c: makes the plan of a call that looks at what it computes. */
bool jx_api_sanitize(jaxvet_call *call, const jx_binding *bindings,
                     unsigned kinds);
jaxvet_status jx_api_run_sanitized(jaxvet_call *call, const void *const *inputs,
                                   void *const *outputs, void *context,
                                   jaxvet_error *error);
/* Why the last run failed. */
jaxvet_status jx_api_tell_failure(const jaxvet_call *call, jaxvet_error *error);
void jx_api_found_free(struct jx_api_found *found);

/* Time counts from the call that the host makes. */
void jx_api_begin(const jaxvet_program *program);
/* Types of inputs and outputs, as texts; false without memory. */
bool jx_api_read_signature(jaxvet_program *p);
/* `p` as one of `program`; NULL, and closed, with an error. */
jaxvet_program *jx_api_opened(jaxvet_program *p, jx_program *program,
                              jaxvet_error *error);

#endif
