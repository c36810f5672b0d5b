/* base64.c - see base64.h. */
#include "frontend/base/base64.h"

#include <string.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool jx_base64_read(const char *text, size_t length, void *to, size_t *size)
{
    unsigned char *out = to;
    size_t pad = 0;

    *size = 0;
    if (length % 4)
        return false;
    while (pad < 2 && pad < length && text[length - 1 - pad] == '=')
        pad++;
    for (size_t i = 0; i < length; i += 4) {
        unsigned bits = 0;
        size_t keep = i + 4 == length ? 4 - pad : 4;
        for (size_t k = 0; k < 4; k++) {
            int d = k < keep ? digit((unsigned char)text[i + k]) : 0;
            if (d < 0)
                return false;
            bits = bits << 6 | (unsigned)d;
        }
        if ((keep == 2 && bits & 0xffff) || (keep == 3 && bits & 0xff))
            return false; /* bits beyond the last byte */
        for (size_t k = 0; k + 1 < keep; k++)
            out[(*size)++] = (unsigned char)(bits >> (16 - 8 * k));
    }
    return true;
}

void jx_base64_write(jx_buffer *to, const void *data, size_t size)
{
    const unsigned char *in = data;

    for (size_t i = 0; i < size; i += 3) {
        size_t n = size - i < 3 ? size - i : 3;
        unsigned bits = (unsigned)in[i] << 16;
        char four[4] = {'=', '=', '=', '='};
        if (n > 1)
            bits |= (unsigned)in[i + 1] << 8;
        if (n > 2)
            bits |= in[i + 2];
        for (size_t k = 0; k <= n; k++)
            four[k] = alphabet[bits >> (18 - 6 * k) & 63];
        jx_buffer_bytes(to, four, 4);
    }
}
