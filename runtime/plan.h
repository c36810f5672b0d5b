/* plan.h - what running a jaxpr at concrete sizes takes.
 *
 * A plan is immutable once made: a list of operations on slots, with calls
 * inlined (where that would grow the program too much, callees are planned once
 * and called), dead code gone, chains of elementwise operations fused and all
 * memory assigned.  Any number of executions (exec.h) may share it. */
#ifndef JX_PLAN_H
#define JX_PLAN_H

#include "frontend/base/map.h"
#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"
#include "runtime/choices.h"
#include "runtime/comm.h"
#include "runtime/kernel.h"
#include "runtime/noise.h"
#include "runtime/shake.h"
#include "runtime/watch.h"

struct jaxvet_handlers;

typedef struct jx_plan jx_plan;

/* What a run looks for that is made with probes.  Each is an operation
 * of its own, which tells a watch, if the plan has one; else the run
 * notices that there is something, and whoever wants to know more runs
 * it again with a watch. */
enum {
    /* of integers: quotients by zero (results are the caller's to see) */
    JX_PROBE_NAN = 1,
    JX_PROBE_OOB = 2,  /* indices outside of their axis */
    JX_PROBE_WRAP = 4, /* integers that their dtype does not hold */
    /* no probe: a run of its own beside (witness/lost.h) */
    JX_PROBE_DIGITS = 8,
};

typedef struct jx_probes {
    unsigned kinds; /* 0: there are none */
    /* equations that have no probe of indices or integers; or NULL */
    const jx_map *quiet;
} jx_probes;

typedef struct jx_plan_options {
    jx_domain domain;
    /* wide only: conversions to floats narrower than this one round, as they
     * are written to; JX_DT_NONE: none do */
    jx_dtype rounds_below;
    /* inputs come in their declared dtypes, whatever the domain */
    bool takes_declared;
    bool excess;    /* fused steps are rounded as XLA rounds them (region.h) */
    jx_shake shake; /* wide only */
    /* functions of f64 may be off by some units, which depend on the processor,
     * where that is much faster */
    bool brisk;
    const jx_noise *noise; /* wide only, read when the plan runs; or NULL */
    jx_watch *watch;     /* what is found goes there: such a plan is run by one
                        execution at a time; or NULL */
    jx_choices *choices; /* likewise */
    /* wide only: loops may go on where they end (turns.h); or NULL */
    struct jx_turns *turns;
    jx_probes probes;
    /* likewise, beside one of another domain (digits.h) */
    struct jx_digits *digits;
    /* a run fails where devices differ in what is said to be one */
    bool compares;
    size_t memory; /* budget for all buffers of a run, in bytes; 0: none */
    int nbindings; /* values of the dim variables */
    const jx_binding *bindings;
    /* Who runs custom calls that we can't (jaxvet.h), for as long as the
     * plan is; or NULL. */
    const struct jaxvet_handlers *handlers;
    /* Of a process that is one device of the program's mesh: how it reaches the
     * others, for as long as the plan is.  NULL: it is all devices. */
    const jx_comm *comm;
} jx_plan_options;

/* An input or output as the caller hands it over: dense, row-major. */
typedef struct jx_port {
    const jx_aval *aval; /* as declared */
    jx_dtype dtype;      /* as stored in the plan's domain */
    int rank;
    const int64_t *shape; /* a key's has its trailing axis */
    int64_t count;
    size_t bytes;
} jx_port;

/* A plan of a jaxpr of this program (its entry, a rule's), which fits the
 * sizes (fits.h).  NULL with the error in the program's context: an
 * unknown primitive, an equation that typing refused, a size without a
 * value, the budget. */
jx_plan *jx_plan_make(const jx_typed *typed, const jx_closed *closed,
                      const jx_plan_options *options);
void jx_plan_free(jx_plan *plan);

int jx_plan_nins(const jx_plan *plan);
int jx_plan_nouts(const jx_plan *plan);
const jx_port *jx_plan_in(const jx_plan *plan, int i);
const jx_port *jx_plan_out(const jx_plan *plan, int i);
/* Whether output `out` may have the memory of input `in`: nothing reads the
 * input once the output is written, but element by element where it is. */
bool jx_plan_lends(const jx_plan *plan, int in, int out);
size_t jx_plan_memory(const jx_plan *plan); /* bytes of a run's own buffers */
int jx_plan_nops(const jx_plan *plan);      /* operations, in loops too */
/* Buffers with their places, blocks with their operations. */
void jx_plan_print(const jx_plan *plan, jx_buffer *to);

/* The values of the dim variables that make the program's inputs have these
 * shapes (the logical ones: a key's without its trailing axis), and that its
 * constraints allow.  Those of `fixed` stay as they are.  Fills *bindings
 * (arena of the program).  False with an error that names the input and axis,
 * what is declared there and where the values that it depends on came from; or
 * the variables that no size determines; or the constraint that is broken. */
bool jx_plan_solve(const jx_program *program, const int *ranks,
                   const int64_t *const *shapes, int nfixed,
                   const jx_binding *fixed, int *nbindings,
                   const jx_binding **bindings);
/* Checks the constraints of the program's scopes, and that variables reach the
 * base, under an assignment. */
bool jx_plan_admissible(const jx_program *program, int nbindings,
                        const jx_binding *bindings);
/* The same; false with an error that names what is broken. */
bool jx_plan_admit(const jx_program *program, int nbindings,
                   const jx_binding *bindings);

#endif
