/* utf8.c - see utf8.h. */
#include "frontend/base/utf8.h"

#include <string.h>

/* The length of the sequence that a byte begins, 0 if it begins none, and the
 * range of its second byte, which is what keeps out overlong forms,
 * surrogates and what lies above U+10FFFF. */
static size_t sequence(unsigned char first, unsigned char *low,
                       unsigned char *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return first < 0x80                    ? 1
           : first >= 0xc2 && first < 0xe0 ? 2
           : first >= 0xe0 && first < 0xf0 ? 3
           : first >= 0xf0 && first < 0xf5 ? 4
                                           : 0;
}

bool jx_utf8_valid(const char *text, size_t length, size_t *at)
{
    unsigned char low, high;

    for (size_t i = 0, n; i < length; i += n) {
        n = sequence((unsigned char)text[i], &low, &high);
        if (at)
            *at = i;
        if (!n || n > length - i)
            return false;
        for (size_t k = 1; k < n; k++) {
            unsigned char byte = (unsigned char)text[i + k];
            if (byte < low || byte > high)
                return false;
            low = 0x80;
            high = 0xbf;
        }
    }
    return true;
}

size_t jx_utf8_rune(const char *text, size_t length, uint32_t *rune)
{
    size_t n, bad;

    if (!length)
        return 0;
    *rune = (unsigned char)text[0];
    if (*rune < 0x80)
        return 1;
    n = sequence((unsigned char)text[0], &(unsigned char){0},
                 &(unsigned char){0});
    if (!n || n > length || !jx_utf8_valid(text, n, &bad))
        return 0;
    *rune &= 0x7fu >> n;
    for (size_t i = 1; i < n; i++)
        *rune = *rune << 6 | ((unsigned char)text[i] & 0x3f);
    return n;
}

bool jx_utf8_is_hidden(uint32_t rune)
{
    static const uint32_t ranges[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},     /* control characters */
        {0x61c, 0x61c},   {0x200b, 0x200b}, /* no width */
        {0x200e, 0x200f}, {0x2028, 0x202e}, /* ends of lines, directions */
        {0x2060, 0x206f}, {0xfeff, 0xfeff},
        {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}, /* tags */
    };

    if (rune >= 0x20 && rune < 0x7f)
        return false;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (rune >= ranges[i][0] && rune <= ranges[i][1])
            return true;
    return false;
}

static void put_rune(uint32_t rune, jx_buffer *to)
{
    if (rune == '\n' || rune == '\r' || rune == '\t')
        jx_buffer_printf(to, "\\%c",
                         rune == '\n'   ? 'n'
                         : rune == '\r' ? 'r'
                                        : 't');
    else if (rune < 0x100)
        jx_buffer_printf(to, "\\x%02x", (unsigned)rune);
    else
        jx_buffer_printf(to, rune < 0x10000 ? "\\u%04x" : "\\U%08x",
                         (unsigned)rune);
}

/* The beginning that needs no escape: plain ASCII without what is `escaped`. */
static size_t plain_run(const char *text, size_t length, const char *escaped)
{
    size_t i = 0;

    while (i < length && text[i] >= 0x20 && text[i] < 0x7f &&
           (!*escaped || !strchr(escaped, text[i])))
        i++;
    return i;
}

/* `kept`: a hidden character that stays, or 0. */
static void put(const char *text, size_t length, const char *escaped, char kept,
                jx_buffer *to)
{
    while (length) {
        size_t n = plain_run(text, length, escaped);
        uint32_t rune = 0;

        if (!n) {
            n = jx_utf8_rune(text, length, &rune);
            if (!n || (jx_utf8_is_hidden(rune) &&
                       !(kept && rune == (unsigned char)kept)))
                put_rune(rune, to); /* of what is no UTF-8 the byte */
            else if (rune && rune < 0x80 && strchr(escaped, (int)rune))
                jx_buffer_printf(to, "\\%c", (int)rune);
            else
                jx_buffer_bytes(to, text, n);
            n += !n;
        } else {
            jx_buffer_bytes(to, text, n);
        }
        text += n;
        length -= n;
    }
}

void jx_utf8_show(const char *text, jx_buffer *to)
{
    put(text, strlen(text), "", 0, to);
}

void jx_utf8_printf(jx_buffer *to, const char *format, ...)
{
    size_t length = strlen(format);
    bool ends = length && format[length - 1] == '\n';
    jx_buffer line = {.budget = to->budget};
    va_list args;

    va_start(args, format);
    jx_buffer_vprintf(&line, format, args);
    va_end(args);
    put(jx_buffer_text(&line), line.length - (ends && line.length), "", 0, to);
    if (ends)
        jx_buffer_putc(to, '\n');
    to->failed |= !jx_buffer_ok(&line);
    jx_buffer_free(&line);
}

void jx_utf8_show_bytes(const char *text, size_t length, jx_buffer *to)
{
    put(text, length, "", 0, to);
}

void jx_utf8_show_lines(const char *text, size_t length, jx_buffer *to)
{
    put(text, length, "", '\n', to);
}

void jx_utf8_repr(const char *text, jx_buffer *to)
{
    char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';

    jx_buffer_putc(to, quote);
    put(text, strlen(text), quote == '"' ? "\\" : "\\'", 0, to);
    jx_buffer_putc(to, quote);
}

void jx_utf8_clean(char *text)
{
    size_t length = strlen(text), at = 0, bad;

    while (at < length && !jx_utf8_valid(text + at, length - at, &bad)) {
        text[at + bad] = '?';
        at += bad;
    }
    for (at = 0; at < length; at++)
        if (((unsigned char)text[at] < ' ' && text[at] != '\n' &&
             text[at] != '\t') ||
            text[at] == 0x7f)
            text[at] = '?';
}
