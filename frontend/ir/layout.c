/* layout.c - see layout.h. */
#include "frontend/ir/layout.h"

/* Width is counted in characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void jx_layout_text(jx_layout *to, const char *text)
{
    jx_mark mark = {JX_TEXT, width_of(text), text, 0};

    to->flat += mark.width;
    JX_PUSH(to->arena, &to->marks, mark);
}

void jx_layout_copy(jx_layout *to, const char *text, size_t length)
{
    char *copy = jx_arena_string(to->arena, text, length);

    if (copy)
        jx_layout_text(to, copy);
}

void jx_layout_break(jx_layout *to, const char *flat)
{
    jx_mark mark = {JX_BREAK, width_of(flat), flat, 0};

    to->flat += mark.width;
    JX_PUSH(to->arena, &to->marks, mark);
}

/* Until it is closed, a group's width is where it begins. */
void jx_layout_open(jx_layout *to)
{
    jx_mark mark = {JX_OPEN, to->flat, NULL, 0};

    JX_PUSH(to->arena, &to->open, to->marks.count);
    JX_PUSH(to->arena, &to->marks, mark);
}

void jx_layout_close(jx_layout *to)
{
    jx_mark mark = {JX_CLOSE, 0, NULL, 0};

    if (jx_arena_failed(to->arena) || !to->open.count)
        return;
    jx_mark *open = &to->marks.at[to->open.at[--to->open.count]];
    open->width = to->flat - open->width;
    JX_PUSH(to->arena, &to->marks, mark);
}

void jx_layout_nest(jx_layout *to, int indent)
{
    jx_mark mark = {JX_NEST, 0, NULL, indent};

    JX_PUSH(to->arena, &to->marks, mark);
}

void jx_layout_unnest(jx_layout *to, int indent)
{
    jx_mark mark = {JX_UNNEST, 0, NULL, indent};

    JX_PUSH(to->arena, &to->marks, mark);
}

void jx_layout_append(jx_layout *to, const jx_layout *part)
{
    for (size_t i = 0; i < part->marks.count; i++)
        JX_PUSH(to->arena, &to->marks, part->marks.at[i]);
    to->flat += part->flat;
}

static void put_line(jx_buffer *to, int indent)
{
    jx_buffer_putc(to, '\n');
    for (int i = 0; i < indent; i++)
        jx_buffer_putc(to, ' ');
}

/* Groups inside a flat group are flat, so counting them is enough. */
void jx_layout_print(const jx_layout *layout, size_t width, jx_buffer *to)
{
    size_t column = 0, flat = 0;
    int indent = 0;

    for (size_t i = 0; i < layout->marks.count; i++) {
        const jx_mark *mark = &layout->marks.at[i];
        switch (mark->kind) {
        case JX_BREAK:
            if (!flat) {
                put_line(to, indent);
                column = (size_t)indent;
                break;
            } /* fall through */
        case JX_TEXT:
            jx_buffer_puts(to, mark->text);
            column += mark->width;
            break;
        case JX_OPEN:
            if (flat || (column <= width && mark->width <= width - column))
                flat++;
            else
                flat = 0;
            break;
        case JX_CLOSE: flat -= flat > 0; break;
        case JX_NEST: indent += mark->indent; break;
        case JX_UNNEST: indent -= mark->indent; break;
        }
    }
}
