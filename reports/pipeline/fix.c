/* fix.c - see fix.h. */
#include "reports/pipeline/fix.h"

#include <stdlib.h>
#include <string.h>

/* -- places ---------------------------------------------------------------- */

/* A byte of a file. */
typedef struct place {
    const jx_file *file;
    int line;
    size_t column;
} place;

static place place_at(const jx_passage *in, size_t offset)
{
    place to = {in->frame->file, in->frame->line, offset};

    for (size_t i = 0; i < offset; i++)
        if (in->text[i] == '\n') {
            to.line++;
            to.column = offset - i - 1;
        }
    return to;
}

static int compare_places(const place *a, const place *b)
{
    int c = a->file == b->file ? 0 : strcmp(a->file->path, b->file->path);

    c = c ? c : (a->line > b->line) - (a->line < b->line);
    return c ? c : (a->column > b->column) - (a->column < b->column);
}

/* One end of a change: text that stands there then. */
typedef struct piece {
    place at, other; /* the other end of its span */
    bool closes;     /* it is the end */
    size_t cut;      /* bytes that go */
    const char *text;
} piece;

/* What closes comes before what opens; of the former the inner, of the
 * latter the outer. */
static int compare_pieces(const void *a_, const void *b_)
{
    const piece *a = a_, *b = b_;
    int c = compare_places(&a->at, &b->at);

    c = c ? c : (int)b->closes - (int)a->closes;
    return c ? c : compare_places(&b->other, &a->other);
}

bool jx_change_same(const jx_change *a, const jx_change *b)
{
    place x = place_at(a->in, a->span.begin),
          y = place_at(b->in, b->span.begin);
    place x_end = place_at(a->in, a->span.end),
          y_end = place_at(b->in, b->span.end);

    return compare_places(&x, &y) == 0 && compare_places(&x_end, &y_end) == 0 &&
           a->replaces == b->replaces && a->bracketed == b->bracketed &&
           strcmp(a->before ? a->before : "", b->before ? b->before : "") ==
               0 &&
           strcmp(a->after ? a->after : "", b->after ? b->after : "") == 0;
}

/* One begins within the other and ends beyond it, or lies in what the
 * other replaces. */
static bool overlap(const jx_change *a, const jx_change *b)
{
    place a0 = place_at(a->in, a->span.begin),
          a1 = place_at(a->in, a->span.end);
    place b0 = place_at(b->in, b->span.begin),
          b1 = place_at(b->in, b->span.end);

    if (compare_places(&a1, &b0) <= 0 || compare_places(&b1, &a0) <= 0)
        return false;
    if (a->replaces || b->replaces)
        return true;
    return (compare_places(&a0, &b0) < 0 && compare_places(&a1, &b1) < 0) ||
           (compare_places(&b0, &a0) < 0 && compare_places(&b1, &a1) < 0);
}

/* -- lines ----------------------------------------------------------------- */

/* Adds the pieces of a change; false if what it replaces has several lines. */
static bool add_pieces(const jx_change *c, piece *to, int *count)
{
    size_t bracket = c->bracketed ? 1 : 0;
    place begin = place_at(c->in, c->span.begin),
          end = place_at(c->in, c->span.end);

    if (c->replaces) {
        to[(*count)++] = (piece){begin, end, false, end.column - begin.column,
                                 c->before ? c->before : ""};
        return begin.line == end.line;
    }
    to[(*count)++] =
        (piece){begin, end, false, bracket, c->before ? c->before : ""};
    end.column -= bracket;
    to[(*count)++] =
        (piece){end, begin, true, bracket, c->after ? c->after : ""};
    return true;
}

static const char *fixed(jx_arena *arena, const char *line, int count,
                         const piece *pieces)
{
    size_t length = strlen(line), at = 0, n = 0;
    char *to;

    for (int i = 0; i < count; i++)
        length += strlen(pieces[i].text);
    to = jx_arena_alloc(arena, length + 1);
    for (int i = 0; to && i < count; i++) {
        size_t from = pieces[i].at.column;
        memcpy(to + n, line + at, from - at);
        n += from - at;
        memcpy(to + n, pieces[i].text, strlen(pieces[i].text));
        n += strlen(pieces[i].text);
        at = from + pieces[i].cut;
    }
    if (to)
        strcpy(to + n, line + at);
    return to;
}

const jx_fixed_line *jx_fixed_lines(jx_arena *arena, int count,
                                    const jx_change *changes, int *nlines)
{
    piece *pieces = JX_NEW_ARRAY(arena, 2 * count + 1, piece);
    jx_fixed_line *to = JX_NEW_ARRAY(arena, 2 * count + 1, jx_fixed_line);
    int n = 0;

    *nlines = 0;
    for (int i = 0; pieces && i < count; i++) {
        bool again = false;
        for (int k = 0; k < i && !again; k++) {
            again = jx_change_same(&changes[k], &changes[i]);
            if (!again && overlap(&changes[k], &changes[i]))
                return NULL;
        }
        if (!again && !add_pieces(&changes[i], pieces, &n))
            return NULL;
    }
    if (!pieces || !to)
        return NULL;
    qsort(pieces, (size_t)n, sizeof *pieces, compare_pieces);
    for (int i = 0, next; i < n; i = next) {
        const piece *p = &pieces[i];
        const char *was = jx_file_line(p->at.file, p->at.line);
        for (next = i; next < n && pieces[next].at.file == p->at.file &&
                       pieces[next].at.line == p->at.line;)
            next++;
        to[*nlines] =
            (jx_fixed_line){p->at.file->path, p->at.line, was,
                            was ? fixed(arena, was, next - i, p) : NULL};
        if (!to[(*nlines)++].is)
            return NULL;
    }
    return to;
}

/* -- patches --------------------------------------------------------------- */

void jx_fix_print(const jx_fix *fix, jx_buffer *to)
{
    for (int i = 0; i < fix->nlines; i++) {
        const jx_fixed_line *line = &fix->lines[i];
        if (i == 0 || strcmp(line->file, line[-1].file) != 0)
            jx_buffer_printf(to, "--- %s\n+++ %s\n", line->file, line->file);
        jx_buffer_printf(to, "@@ -%d +%d @@\n-%s\n+%s\n", line->line,
                         line->line, line->was, line->is);
    }
}
