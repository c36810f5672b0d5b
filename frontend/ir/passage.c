/* passage.c - see passage.h. */
#include "frontend/ir/passage.h"

#include <string.h>

const char *jx_file_line(const jx_file *file, int number)
{
    for (int i = 0; i < file->nlines; i++)
        if (file->lines[i].number == number)
            return file->lines[i].text;
    return NULL;
}

bool jx_frame_says(const jx_frame *frame, int nwords, const char *const *words,
                   bool *seen)
{
    int last = frame->end_line < frame->line ? frame->line : frame->end_line;

    *seen = false;
    for (int i = 0; i < frame->file->nlines; i++) {
        const jx_source_line *line = &frame->file->lines[i];
        if (line->number < frame->line || line->number > last)
            continue;
        *seen |= line->number == frame->line;
        for (int w = 0; w < nwords; w++)
            if (strstr(line->text, words[w]))
                return true;
    }
    return false;
}

enum { MOST_LINES = 12 };

bool jx_passage_of(jx_arena *arena, const jx_frame *frame, jx_passage *to)
{
    size_t lengths[MOST_LINES], all = 0, at = 0;
    int count = frame->end_line - frame->line + 1;
    char *text;

    if (frame->line < 1 || frame->end_line < frame->line ||
        count > MOST_LINES || frame->column < 0 || frame->end_column < 0)
        return false;
    for (int i = 0; i < count; i++) {
        const char *line = jx_file_line(frame->file, frame->line + i);
        if (!line)
            return false;
        lengths[i] = strlen(line);
        all += lengths[i] + 1;
    }
    text = jx_arena_alloc(arena, all + 1);
    if (!text || (size_t)frame->column > lengths[0] ||
        (size_t)frame->end_column > lengths[count - 1])
        return false;
    *to = (jx_passage){frame, text, {(size_t)frame->column, 0}};
    for (int i = 0; i < count; i++) {
        if (i == count - 1)
            to->span.end = at + (size_t)frame->end_column;
        memcpy(text + at, jx_file_line(frame->file, frame->line + i),
               lengths[i]);
        at += lengths[i];
        text[at++] = i < count - 1 ? '\n' : 0;
    }
    return to->span.begin < to->span.end;
}

bool jx_frame_chooses_mode(jx_arena *arena, const jx_frame *frame, bool *seen)
{
    static const char *const words[] = {"mode=", "mode =", "fill_value"};
    enum { WORDS = sizeof words / sizeof *words };
    jx_passage at;

    if (!jx_passage_of(arena, frame, &at))
        return jx_frame_says(frame, WORDS, words, seen);
    *seen = true;
    for (int w = 0; w < WORDS; w++) {
        const char *found = strstr(at.text + at.span.begin, words[w]);
        if (found && found < at.text + at.span.end)
            return true;
    }
    return false;
}
