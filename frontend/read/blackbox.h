/* blackbox.h - what jaxvet.blackbox writes: a program and the inputs of the
 * call that went wrong (docs/BLACKBOX.md).
 *
 * An npz: the member "blackbox" says what was seen, as JSON; "module" is a file
 * in one of the other forms; in0, in1, ... are the inputs. */
#ifndef JX_BLACKBOX_H
#define JX_BLACKBOX_H

#include "frontend/base/npz.h"

enum { JX_BLACKBOX_VERSION = 1 };

typedef struct jx_blackbox {
    const jx_npz *arrays; /* all members */
    const char *module;
    size_t module_size;
    /* What the file says of itself; texts may hold anything. */
    const char *function;       /* "step" */
    const char *place;          /* "train.py:12", or NULL */
    const char *why;            /* it was written: "an output is not finite" */
    const char *jax, *platform; /* or NULL */
    int64_t call;               /* which one of the function, from 1 */
    int ninputs;                /* that the call had */
    const char *const *lost;    /* per input: why it is not there, or NULL */
} jx_blackbox;

/* A zip file whose first member is called as a black box's: any that is one has
 * it there, and no other npz begins so. */
bool jx_blackbox_is(const char *bytes, size_t size);

/* Reads one from memory that outlives the result.  NULL with an error. */
const jx_blackbox *jx_blackbox_read(jx_ctx *ctx, const char *path,
                                    const char *bytes, size_t size);

#endif
