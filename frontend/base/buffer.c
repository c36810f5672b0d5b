/* buffer.c - see buffer.h. */
#include "frontend/base/buffer.h"
#include "frontend/base/assert.h"
#include "frontend/base/pages.h"
#include "frontend/base/plain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void jx_buffer_free(jx_buffer *buffer)
{
    jx_budget_give(buffer->budget, buffer->capacity);
    free(buffer->text);
    *buffer = (jx_buffer){.budget = buffer->budget};
}

void jx_buffer_clear(jx_buffer *buffer)
{
    jx_buffer_cut(buffer, 0);
}

void jx_buffer_cut(jx_buffer *buffer, size_t length)
{
    if (length < buffer->length)
        buffer->text[buffer->length = length] = '\0';
}

/* While it moves, both the old text and the new one are there. */
static char *grown(jx_buffer *buffer, size_t capacity)
{
    char *text;

    if (!jx_budget_lasts(buffer->budget) ||
        !jx_budget_take(buffer->budget, capacity))
        return NULL;
    text = realloc(buffer->text, capacity);
    if (text)
        jx_pages_advise(text + buffer->length, capacity - buffer->length);
    else
        jx_budget_starved(buffer->budget);
    jx_budget_give(buffer->budget, text ? buffer->capacity : capacity);
    return text;
}

/* Room for `extra` bytes and the NUL. */
static bool reserve(jx_buffer *buffer, size_t extra)
{
    size_t need, capacity = buffer->capacity ? buffer->capacity : 256;
    char *text = NULL;

    if (buffer->failed ||
        __builtin_add_overflow(buffer->length, extra, &need) ||
        need >= SIZE_MAX / 4) {
        buffer->failed = true;
        return false;
    }
    while (capacity <= need)
        capacity *= 2;
    if (capacity == buffer->capacity)
        return true;
    text = grown(buffer, capacity);
    if (!text) {
        buffer->failed = true;
        return false;
    }
    buffer->text = text;
    buffer->capacity = capacity;
    return true;
}

void jx_buffer_bytes(jx_buffer *buffer, const void *data, size_t size)
{
    if (!reserve(buffer, size))
        return;
    if (size)
        memcpy(buffer->text + buffer->length, data, size);
    buffer->length += size;
    JX_ASSERT(buffer->length < buffer->capacity);
    buffer->text[buffer->length] = '\0';
}

void jx_buffer_puts(jx_buffer *buffer, const char *text)
{
    jx_buffer_bytes(buffer, text, strlen(text));
}

void jx_buffer_putc(jx_buffer *buffer, char c)
{
    jx_buffer_bytes(buffer, &c, 1);
}

void jx_buffer_printf(jx_buffer *buffer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    jx_buffer_vprintf(buffer, format, args);
    va_end(args);
}

void jx_buffer_vprintf(jx_buffer *buffer, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int length = jx_vsnprintf(NULL, 0, format, args);
    if (length >= 0 && reserve(buffer, (size_t)length)) {
        jx_vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format,
                     again);
        buffer->length += (size_t)length;
    } else {
        buffer->failed = true;
    }
    va_end(again);
}

bool jx_buffer_ok(const jx_buffer *buffer)
{
    return !buffer->failed;
}

const char *jx_buffer_text(const jx_buffer *buffer)
{
    return buffer->text ? buffer->text : "";
}

void jx_buffer_amount(jx_buffer *buffer, double bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    int unit = -1;

    while (bytes >= 1024 && unit < 5) {
        bytes /= 1024;
        unit++;
    }
    if (unit < 0)
        jx_buffer_printf(buffer, "%d bytes", (int)bytes);
    else
        jx_buffer_printf(buffer, bytes < 10 ? "%.1f %s" : "%.0f %s", bytes,
                         units[unit]);
}
