/* plain.c - see plain.h. */
#include "frontend/base/plain.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The locale "C", which costs the GNU C library no memory. */
static locale_t plain(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Makes this thread's locale "C" if its numbers look otherwise, which hardly
 * any host's do; `(locale_t)0` if nothing was to be done. */
static locale_t enter(locale_t *before)
{
    const char *point = nl_langinfo(RADIXCHAR);
    locale_t c = (locale_t)0;

    if (point[0] == '.' && !point[1])
        return c;
    c = plain();
    if (c)
        *before = uselocale(c);
    return c;
}

static void leave(locale_t entered, locale_t before)
{
    if (!entered)
        return;
    uselocale(before);
    freelocale(entered);
}

double jx_strtod(const char *text, char **end)
{
    locale_t before = (locale_t)0, entered = enter(&before);
    double value = strtod(text, end);

    leave(entered, before);
    return value;
}

float jx_strtof(const char *text, char **end)
{
    locale_t before = (locale_t)0, entered = enter(&before);
    float value = strtof(text, end);

    leave(entered, before);
    return value;
}

int jx_vsnprintf(char *to, size_t size, const char *format, va_list args)
{
    locale_t before = (locale_t)0, entered = enter(&before);
    int length = vsnprintf(to, size, format, args);

    leave(entered, before);
    return length;
}

int jx_snprintf(char *to, size_t size, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = jx_vsnprintf(to, size, format, args);
    va_end(args);
    return length;
}

const char *jx_strerror(int error)
{
    locale_t c = plain();
    const char *text = c ? strerror_l(error, c) : strerror(error);

    if (c)
        freelocale(c);
    return text;
}

static char lower(char c)
{
    return jx_is_upper(c) ? (char)(c + 'a' - 'A') : c;
}

bool jx_is_word(const char *a, const char *b)
{
    for (; *a && lower(*a) == lower(*b); a++)
        b++;
    return lower(*a) == lower(*b);
}
