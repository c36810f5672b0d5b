/* plain.h - numbers and messages as C has them, whatever locale the host has
 * set.
 *
 * We live in other people's processes, some of which say setlocale(LC_ALL, "")
 * where a comma is the decimal point.  What reads or writes a number with a
 * point, classifies a letter or words an error of the system goes through
 * here; tests/check_layers.sh sees to it. */
#ifndef JX_PLAIN_H
#define JX_PLAIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* As strtod() and strtof(). */
double jx_strtod(const char *text, char **end);
float jx_strtof(const char *text, char **end);

/* As snprintf() and vsnprintf(). */
int jx_snprintf(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int jx_vsnprintf(char *to, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* As strerror(), in English; valid until the thread asks again. */
const char *jx_strerror(int error);

/* Letters and digits of ASCII. */
static inline bool jx_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool jx_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool jx_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool jx_is_alnum(char c)
{
    return jx_is_alpha(c) || jx_is_digit(c);
}

static inline bool jx_is_hex(char c)
{
    return jx_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Whether two words are one, whatever the case of their letters. */
bool jx_is_word(const char *a, const char *b);

#endif
