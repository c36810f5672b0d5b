/* loss.h - the same run in float64, to tell what a run lost (roundoff.h).
 *
 * Made when it is first asked for: the program in the wide domain on the same
 * inputs, and on these off by what their dtype can't hold. */
#ifndef JX_LOSS_H
#define JX_LOSS_H

#include "runtime/exec.h"
#include "runtime/roundoff.h"

/* How often inputs are moved to see what their rounding does. */
enum { JX_SHAKES = 4 };

typedef struct jx_loss {
    jx_ctx *ctx;
    const jx_typed *typed;
    const jx_closed *closed;
    jx_plan_options options; /* of the run */
    uint64_t seed;
    const jx_plan *plan; /* of the run, whose inputs these are: */
    const void *const *ins;
    jx_plan *wide_plan;
    jx_exec *wide;
    jx_exec *shaken[JX_SHAKES];      /* of wide_plan, too */
    bool ran, ran_shaken[JX_SHAKES]; /* on these inputs */
} jx_loss;

/* From now on it is about other inputs of the same run. */
void jx_loss_again(jx_loss *r, const void *const *ins);
void jx_loss_close(jx_loss *r);

/* Inputs as a plan of the wide domain stores them, from declared ones, in
 * `ctx`'s arena; NULL without memory. */
const void *const *jx_inputs_widened(jx_ctx *ctx, const jx_plan *plan,
                                     const void *const *declared);
/* The run in float64; NULL: there is none (an error that is a limit stays). */
jx_exec *jx_loss_wide(jx_loss *r);
/* By how much elements of output `i` move in float64 where constants are off by
 * about as much as they were rounded, at most, in a few ways; NULL: nobody
 * knows. */
double *jx_loss_by_constants(jx_loss *r, int i, int64_t count);
/* What output `i`, `got` of that dtype, loses against the same in float64, and
 * that with inputs that are off: this run may have been lucky, or have added up
 * in a better order. False: that is not known. */
bool jx_loss_of(jx_loss *r, int i, jx_dtype dtype, const void *got,
                jx_roundoff *to);

#endif
