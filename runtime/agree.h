/* agree.h - do two programs give the same on made-up inputs? */
#ifndef JX_AGREE_H
#define JX_AGREE_H

#include "frontend/ir/program.h"

typedef enum jx_agreeing {
    JX_AGREE_UNKNOWN = 0, /* they can't be run here: see why */
    JX_AGREES,            /* on these inputs */
    JX_DISAGREES,
} jx_agreeing;

/* Texts live in the programs' arena. */
typedef struct jx_agreement {
    jx_agreeing verdict;
    const char *why;
    int output;        /* the first that differs; -1: their counts do */
    const char *index; /* of its first element that differs, "[0,2]"; NULL: the
                          types differ */
    const char *a, *b; /* what each gives there: an element, or a type */
} jx_agreement;

typedef struct jx_agree_limits {
    int64_t work;  /* elements computed, roughly; more is not run */
    size_t memory; /* of a run, in bytes */
} jx_agree_limits;

/* Runs both twice.  Their sizes are numbers, and they share a context.  Floats
 * may differ by the usual tolerance of their dtype, or by what rounding does: a
 * difference that is gone in double precision is none, if both programs have
 * the same floats and round as often to smaller ones.  Unknown where only the
 * absolute part of a tolerance hides a difference of small numbers, and where
 * an output has no finite number. */
jx_agreement jx_programs_agree(jx_program *a, jx_program *b,
                               const jx_agree_limits *limits);

#endif
