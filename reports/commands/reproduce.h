/* reproduce.h - what a run showed, as files: the inputs of each witness as an
 * npz, and of what is an exported file a test in plain JAX.
 *
 * NUM001-1.npz is what `jaxvet run PROGRAM --inputs` takes.  NUM001-1.py runs
 * the copy of the file beside it, NUM001-1.jaxexport, with these inputs, and
 * fails where an output is not finite.  A jaxpr or a module is no function of
 * JAX: of those there are the inputs, as of what no output shows. */
#ifndef JX_REPRODUCE_H
#define JX_REPRODUCE_H

#include "reports/pipeline/report.h"

/* Into the folder, which is made if there is none; what is there stays.  Says
 * on standard error what is written.  False with an error. */
bool jx_reproduce(jx_ctx *ctx, const char *folder, const jx_report *reports,
                  int count);

#endif
