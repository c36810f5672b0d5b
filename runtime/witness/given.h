/* given.h - what a run shows whose inputs somebody gives: the
 * sanitizer's closer look.
 *
 * The same search as witness.h has, at one point: what is not finite and gets
 * to an output, an index outside that is noticed, integers that do not hold
 * what they say. */
#ifndef JX_GIVEN_H
#define JX_GIVEN_H

#include "runtime/plan.h"
#include "runtime/tape.h"
#include "runtime/witness/witness.h"

typedef struct jx_given jx_given;

typedef struct jx_given_options {
    unsigned kinds; /* JX_PROBE_...: what is looked for */
    const struct jaxvet_handlers *handlers; /* or NULL */
    size_t memory; /* budget of one plan, in bytes; 0: none */
    uint64_t seed;
} jx_given_options;

/* Of a program without symbolic sizes whose equations stand at one place each
 * (inline.h), which lives as long.  NULL with an error in its context. */
jx_given *jx_given_new(const jx_typed *typed, const jx_given_options *options);
void jx_given_free(jx_given *given);
/* The equations whose integers and indices mean no harm: their author chose
 * what becomes of indices outside, or makes keys and hashes of integers. */
const jx_map *jx_given_quiet(const jx_given *given);
/* Runs the program with these inputs, as its plan stores them, until it is
 * known what is to blame; what handlers give is on the tape (or NULL).  The
 * result is valid until the next look.  NULL with an error: it can't be run,
 * or memory ends. */
const jx_witnesses *jx_given_look(jx_given *given, const void *const *inputs,
                                  jx_tape *tape);

#endif
