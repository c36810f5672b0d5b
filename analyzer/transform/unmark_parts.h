/* unmark_parts.h - shared by the files of unmark.h. */
#ifndef JX_UNMARK_PARTS_H
#define JX_UNMARK_PARTS_H

#include "frontend/ir/params.h"

/* What an equation with a mark, or a half of a collective, becomes. */
typedef enum jx_unmarked {
    JX_UNMARKED_SAME = 0, /* it is none of these */
    JX_UNMARKED_PASSES,   /* its operand */
    JX_UNMARKED_BECOMES,  /* another primitive */
} jx_unmarked;

jx_unmarked jx_unmarked_of(const jx_eqn *eqn, jx_prim_id *to);

/* Those of a set that are among the bound axes. */
bool jx_unmark_any(const jx_names *names, jx_axis_names bound);

/* What an equation takes and gives in parts over bound axes is linear in them,
 * or what makes parts, or of parts what they come to. */
bool jx_unmark_is_linear(const jx_eqn *eqn, jx_axis_names bound);

#endif
