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

/* A control character of Unicode (Cc) at `at`: its length in bytes, else 0. */
static size_t control(const unsigned char *at)
{
    if (at[0] < 0x20 || at[0] == 0x7f)
        return 1;
    return at[0] == 0xc2 && at[1] < 0xa0 ? 2 : 0;
}

static void put(const char *text, const char *escaped, jx_buffer *to)
{
    const unsigned char *at = (const unsigned char *)text;

    for (size_t n; *at; at += n ? n : 1) {
        n = control(at);
        if (n && *escaped && strchr("\n\r\t", *at))
            jx_buffer_puts(to, *at == '\n' ? "\\n" : *at == '\r' ? "\\r" : "\\t");
        else if (n)
            jx_buffer_printf(to, "\\x%02x", at[n - 1]);
        else if (strchr(escaped, *at))
            jx_buffer_printf(to, "\\%c", *at);
        else
            jx_buffer_putc(to, (char)*at);
    }
}

void jx_utf8_show(const char *text, jx_buffer *to)
{
    put(text, "", to);
}

void jx_utf8_repr(const char *text, jx_buffer *to)
{
    char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';

    jx_buffer_putc(to, quote);
    put(text, quote == '"' ? "\\" : "\\'", to);
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
             text[at] != '\t') || text[at] == 0x7f)
            text[at] = '?';
}
