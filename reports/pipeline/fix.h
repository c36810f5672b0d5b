/* fix.h - changes of source text, as lines that are to be others.
 *
 * What is changed is put around, or in the place of, spans of expressions.
 * Spans of several changes nest or stand apart; those that overlap
 * otherwise are refused. */
#ifndef JX_FIX_H
#define JX_FIX_H

#include "frontend/ir/claim.h"
#include "frontend/ir/passage.h"

/* Text that goes before and after a span of a passage, or in its place. */
typedef struct jx_change {
    const jx_passage *in;
    jx_py_span span;
    /* NULL: nothing; in the place of it: `before` */
    const char *before, *after;
    bool replaces;
    bool bracketed; /* the brackets that the span begins and ends with go */
} jx_change;

/* The lines that these changes make others, without what they do; in the
 * arena.  NULL if two overlap, or without memory. */
const jx_fixed_line *jx_fixed_lines(jx_arena *arena, int count,
                                    const jx_change *changes, int *nlines);
/* The same change of the same place. */
bool jx_change_same(const jx_change *a, const jx_change *b);

/* As a patch: "--- model.py\n+++ model.py\n@@ -4 +4 @@\n-...\n+...\n". */
void jx_fix_print(const jx_fix *fix, jx_buffer *to);

#endif
