/* json_write.c - canonical JSON.  See json.h. */
#include "frontend/base/json.h"
#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_escape(jx_buffer *to, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", name[] = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;

    if (at)
        jx_buffer_printf(to, "\\%c", name[at - from]);
    else
        jx_buffer_printf(to, "\\u%04x", c);
}

/* What is hidden, and U+FFFD for a byte that is no UTF-8; how many bytes. */
static size_t put_hidden(jx_buffer *to, const char *text, size_t length)
{
    uint32_t rune;
    size_t n = jx_utf8_rune(text, length, &rune);

    if (!n)
        jx_buffer_puts(to, "\\ufffd");
    else if (!jx_utf8_is_hidden(rune))
        jx_buffer_bytes(to, text, n);
    else if (rune >= 0x10000)
        jx_buffer_printf(to, "\\u%04x\\u%04x",
                         (unsigned)(0xd800 + ((rune - 0x10000) >> 10)),
                         (unsigned)(0xdc00 + (rune & 0x3ff)));
    else
        jx_buffer_printf(to, "\\u%04x", (unsigned)rune);
    return n ? n : 1;
}

void jx_json_put_bytes(jx_buffer *to, const char *text, size_t length)
{
    size_t begin = 0, i = 0;

    jx_buffer_putc(to, '"');
    while (i < length) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            i++;
            continue;
        }
        jx_buffer_bytes(to, text + begin, i - begin);
        if (c < 0x7f) {
            put_escape(to, c);
            i++;
        } else {
            i += put_hidden(to, text + i, length - i);
        }
        begin = i;
    }
    jx_buffer_bytes(to, text + begin, length - begin);
    jx_buffer_putc(to, '"');
}

void jx_json_put_text(jx_buffer *to, const char *text)
{
    jx_json_put_bytes(to, text, strlen(text));
}

void jx_json_put_int(jx_buffer *to, int64_t value)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    jx_buffer_bytes(to, at, (size_t)(digits + sizeof digits - at));
}

/* The next larger decimal of as many digits; nines alone stay. */
static void bump(char *text)
{
    char *last = strchr(text, 'e');

    while (--last >= text)
        if (*last >= '0' && *last < '9') {
            ++*last;
            return;
        } else if (*last == '9') {
            *last = '0';
        }
}

/* The digits and the decimal exponent of the shortest decimal that reads back.
 * The nearest decimal of n digits reads back if any of n digits does, but at
 * a power of two: floats below it lie closer, so the one above may read back
 * where the nearest, below, does not. */
static int shortest(double value, char digits[32], int *exponent)
{
    char text[40];

    /* 15 digits always read back, but not below the normal range. */
    for (int n = fabs(value) < DBL_MIN ? 1 : 15; n <= 17; n++) {
        jx_snprintf(text, sizeof text, "%.*e", n - 1, value);
        if (jx_strtod(text, NULL) == value)
            break;
        bump(text);
        if (n < 17 && jx_strtod(text, NULL) == value)
            break;
    }
    char *e = strchr(text, 'e');
    *exponent = atoi(e + 1);
    int count = 0;
    for (char *c = text; c < e; c++)
        if (*c != '.' && *c != '-')
            digits[count++] = *c;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

void jx_json_put_real(jx_buffer *to, double value)
{
    char digits[32];
    int exponent, count = shortest(value, digits, &exponent);

    if (__builtin_signbit(value))
        jx_buffer_putc(to, '-');
    if (exponent < -4 || exponent >= 16) {
        jx_buffer_printf(to, "%c%s%s", digits[0], count > 1 ? "." : "",
                         digits + 1);
        jx_buffer_printf(to, "e%c%02d", exponent < 0 ? '-' : '+',
                         abs(exponent));
    } else if (exponent < 0) {
        jx_buffer_printf(to, "0.%.*s%s", -exponent - 1, "0000", digits);
    } else {
        for (int i = 0; i <= exponent; i++)
            jx_buffer_putc(to, i < count ? digits[i] : '0');
        jx_buffer_printf(to, ".%s",
                         count > exponent + 1 ? digits + exponent + 1 : "0");
    }
}
