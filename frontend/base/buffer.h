/* buffer.h - text that grows.
 *
 * The one way the library makes output: printers append to a buffer and only
 * the command decides where it goes.  A failed allocation is remembered, as is
 * a budget that is spent; the text is then incomplete and jx_buffer_ok() is
 * false. */
#ifndef JX_BUFFER_H
#define JX_BUFFER_H

#include "frontend/base/budget.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct jx_buffer {
    char *text; /* NUL-terminated; NULL while empty */
    size_t length, capacity;
    bool failed;
    jx_budget *budget; /* pays for it, if any; outlives it */
} jx_buffer;

void jx_buffer_free(jx_buffer *buffer); /* and make it empty again */
void jx_buffer_clear(jx_buffer *buffer);
/* Takes back what came after the first `length` bytes, if anything did. */
void jx_buffer_cut(jx_buffer *buffer, size_t length);
void jx_buffer_bytes(jx_buffer *buffer, const void *data, size_t size);
void jx_buffer_puts(jx_buffer *buffer, const char *text);
void jx_buffer_putc(jx_buffer *buffer, char c);
void jx_buffer_printf(jx_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void jx_buffer_vprintf(jx_buffer *buffer, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* "512 bytes", "2.0 MiB". */
void jx_buffer_amount(jx_buffer *buffer, double bytes);
bool jx_buffer_ok(const jx_buffer *buffer);
/* Never NULL. */
const char *jx_buffer_text(const jx_buffer *buffer);

#endif
