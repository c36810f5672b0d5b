/* utf8.h - whether bytes are text, and text from outside as it may be shown. */
#ifndef JX_UTF8_H
#define JX_UTF8_H

#include "frontend/base/buffer.h"

/* Whether the bytes are UTF-8 as Unicode has it (no overlong forms, no
 * surrogates, nothing above U+10FFFF); if not, *at is the first byte that
 * belongs to no character.  `at` may be NULL. */
bool jx_utf8_valid(const char *text, size_t length, size_t *at);

/* Puts a question mark for each byte that is no UTF-8, and for control
 * characters but line feeds and tabs: what a message quotes may be anything. */
void jx_utf8_clean(char *text);

/* Valid UTF-8 with its control characters as \xNN, so that a terminal shows
 * it and does nothing else. */
void jx_utf8_show(const char *text, jx_buffer *to);
/* The same as Python's repr() writes a string: 'it\'s' in quotes. */
void jx_utf8_repr(const char *text, jx_buffer *to);

#endif
