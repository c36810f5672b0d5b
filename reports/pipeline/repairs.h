/* repairs.h - changes of the user's lines after which what a run
 * showed is gone.
 *
 * A repair is made twice: as text, around a part of the expression that the
 * finding stands at, and as equations, in the place of those that this
 * expression became (edit.h).  The program so changed runs at the inputs that
 * showed the finding, and is searched as the program was: only what passes the
 * first is offered, and it is said whether the second found nothing. */
#ifndef JX_REPAIRS_H
#define JX_REPAIRS_H

#include "reports/pipeline/fix.h"
#include "runtime/witness/witness.h"

typedef struct jx_repairs jx_repairs;

/* What is searched. */
typedef enum jx_repair_of {
    JX_REPAIR_WRITTEN = 0, /* the program */
    JX_REPAIR_BACKWARD,    /* its derivative backwards (vjp.h) */
    JX_REPAIR_COMPILED,    /* it as XLA compiles it (xla.h) */
    JX_REPAIR_OF,
} jx_repair_of;

/* Of a program without calls; it keeps what was repaired so far.  NULL
 * without memory. */
jx_repairs *jx_repairs_new(jx_program *program);

/* Repairs what a search with these options showed in `typed`, which is that of
 * the program.  All of that stays where it is until the fixes are made.  False
 * without memory. */
bool jx_repairs_find(jx_repairs *r, const jx_typed *typed,
                     const jx_witness_options *options, jx_repair_of of,
                     const jx_witnesses *hunt);

/* When all searches are done: the fix for that witness of one, or NULL; in the
 * program's arena. */
const jx_fix *jx_repairs_fix(const jx_repairs *r, jx_repair_of of, int witness);

#endif
