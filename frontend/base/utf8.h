/* utf8.h - whether bytes are text, and text from outside as it may be shown. */
#ifndef JX_UTF8_H
#define JX_UTF8_H

#include "frontend/base/buffer.h"

#include <stdint.h>

/* Whether the bytes are UTF-8 as Unicode has it (no overlong forms, no
 * surrogates, nothing above U+10FFFF); if not, *at is the first byte that
 * belongs to no character.  `at` may be NULL. */
bool jx_utf8_valid(const char *text, size_t length, size_t *at);

/* Puts a question mark for each byte that is no UTF-8, and for control
 * characters but line feeds and tabs: what a message quotes may be anything. */
void jx_utf8_clean(char *text);

/* The character that `length` bytes begin with, and how many bytes it has; 0 if
 * they begin with none, *rune is then the first byte. */
size_t jx_utf8_rune(const char *text, size_t length, uint32_t *rune);

/* Whether a character does something else than to be seen: control characters
 * (C0, DEL, C1), ends of lines, what turns the direction of text around, what
 * has no width. */
bool jx_utf8_is_hidden(uint32_t rune);

/* Text from outside in a line of text for people: what is hidden as \n, \xNN or
 * \uNNNN, and bytes that are no UTF-8 as \xNN, so that a terminal shows it and
 * does nothing else. */
void jx_utf8_show(const char *text, jx_buffer *to);
void jx_utf8_show_bytes(const char *text, size_t length, jx_buffer *to);
/* A line, or a piece of one, put together of such text: as jx_buffer_printf(),
 * but of line feeds only that at the end of the format remains. */
void jx_utf8_printf(jx_buffer *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A whole text, whose line feeds are its own. */
void jx_utf8_show_lines(const char *text, size_t length, jx_buffer *to);
/* The same as Python's repr() writes a string: 'it\'s' in quotes. */
void jx_utf8_repr(const char *text, jx_buffer *to);

#endif
