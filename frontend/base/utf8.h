/* utf8.h - whether bytes are text. */
#ifndef JX_UTF8_H
#define JX_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes are UTF-8 as Unicode has it (no overlong forms, no
 * surrogates, nothing above U+10FFFF); if not, *at is the first byte that
 * belongs to no character.  `at` may be NULL. */
bool jx_utf8_valid(const char *text, size_t length, size_t *at);

#endif
