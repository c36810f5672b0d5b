/* utf8.c - see utf8.h. */
#include "frontend/base/utf8.h"

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
