/* passage.h - the source text that a frame names, as far as the
 * program embeds it. */
#ifndef JX_PASSAGE_H
#define JX_PASSAGE_H

#include "frontend/base/python_text.h"
#include "frontend/ir/program.h"

/* The lines that a frame names, joined by line ends. */
typedef struct jx_passage {
    const jx_frame *frame;
    const char *text;
    jx_py_span span; /* of the frame's expression in it */
} jx_passage;

/* False if the program does not embed these lines, or the frame
 * has no columns. */
bool jx_passage_of(jx_arena *arena, const jx_frame *frame, jx_passage *to);

/* Whether a line that a frame names has one of these words; *seen: whether its
 * first line is there. */
bool jx_frame_says(const jx_frame *frame, int nwords, const char *const *words,
                   bool *seen);

/* Whether its expression, or where no columns are known its lines, say what
 * becomes of indices outside: x.at[i].get(mode='clip'). */
bool jx_frame_chooses_mode(jx_arena *arena, const jx_frame *frame, bool *seen);

/* The line of that number, or NULL. */
const char *jx_file_line(const jx_file *file, int number);

#endif
