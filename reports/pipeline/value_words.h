/* value_words.h - what a witness (runtime/witness) says, in words. */
#ifndef JX_VALUE_WORDS_H
#define JX_VALUE_WORDS_H

#include "runtime/witness/witness.h"

/* "log of 0 gives -inf", in the arena of the program that is run. */
const char *jx_value_what(jx_program *program, const jx_witness *w);
/* "0 -> -inf": operands and result, to stand beside the expression; or NULL. */
const char *jx_value_shown(jx_program *program, const jx_witness *w);
/* What comes of it elsewhere, w->nthen of them; NULL without memory. */
const jx_consequence *jx_value_then(jx_program *program, const jx_witness *w);
/* "output 0 is not finite with x = 0; as written (ieee)": `program` has
 * the inputs as its author names them, and what was run may be its
 * derivative `backward`. */
const char *jx_value_note(jx_program *program, const jx_witness *w,
                          bool backward);
/* The inputs as JSON (docs/REPORT.md), in the program's arena; NULL where
 * they are many. */
const char *jx_value_witness(jx_program *program, const jx_witness *w,
                             bool backward);

#endif
