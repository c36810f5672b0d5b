/* layout.h - text with groups that break over lines if they do not fit.
 *
 * The pretty printer that JAX uses (Wadler's, with Lindig's strictness): a
 * group is flat if it fits the rest of the line, and breaks all its breaks
 * otherwise; what follows a group does not count.  The builder keeps a flat
 * list of marks with the width of each group, so that laying out is linear
 * and needs no recursion. */
#ifndef JX_LAYOUT_H
#define JX_LAYOUT_H

#include "frontend/base/buffer.h"
#include "frontend/base/vec.h"

typedef struct jx_mark {
    enum {
        JX_TEXT,
        JX_BREAK, /* a newline, or its text where the group is flat */
        JX_OPEN,
        JX_CLOSE,
        JX_NEST,
        JX_UNNEST,
    } kind;
    size_t width; /* of a text or a break; of a group, laid flat */
    const char *text;
    int indent; /* of a nest */
} jx_mark;

typedef struct jx_layout {
    jx_arena *arena;
    JX_VEC(jx_mark) marks;
    JX_VEC(size_t) open; /* groups not yet closed */
    size_t flat;         /* width so far, as if on one line */
} jx_layout;

/* The text has to live as long as the layout; jx_layout_copy makes sure. */
void jx_layout_text(jx_layout *to, const char *text);
void jx_layout_copy(jx_layout *to, const char *text, size_t length);
void jx_layout_break(jx_layout *to, const char *flat);
void jx_layout_open(jx_layout *to);
void jx_layout_close(jx_layout *to);
void jx_layout_nest(jx_layout *to, int indent);
void jx_layout_unnest(jx_layout *to, int indent);
/* Appends what was built apart, in the same arena; all its
 * groups are closed. */
void jx_layout_append(jx_layout *to, const jx_layout *part);
void jx_layout_print(const jx_layout *layout, size_t width, jx_buffer *to);

#endif
