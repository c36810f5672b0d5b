/* text_lex.c - characters, words, strings and errors of MLIR text. */
#include "frontend/mlir/text_parts.h"

#include "frontend/base/plain.h"
#include "frontend/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors */

/* Finds where lines begin up to `at`, each once: places are asked for forward
 * and backward, an op's after those in its regions. */
static void find_lines(jx_mtext *t, const char *at)
{
    if (!t->lines.count)
        JX_PUSH(t->arena, &t->lines, t->begin);
    while (t->counted < at) {
        const char *newline =
            memchr(t->counted, '\n', (size_t)(at - t->counted));
        t->counted = newline ? newline + 1 : at;
        if (newline)
            JX_PUSH(t->arena, &t->lines, t->counted);
    }
}

/* Which line `at` is on, from 1; 0 without memory. */
static size_t line_at(jx_mtext *t, const char *at)
{
    size_t low = 0, high;

    find_lines(t, at);
    high = t->lines.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->lines.at[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *line_begin(jx_mtext *t, const char *at)
{
    size_t line = line_at(t, at);

    return line ? t->lines.at[line - 1] : t->begin;
}

jx_mlir_place jx_mtext_place(jx_mtext *t, const char *at)
{
    size_t line = line_at(t, at);
    const char *begin = line ? t->lines.at[line - 1] : t->begin;

    return (jx_mlir_place){(size_t)(at - t->begin), (int)line,
                           (int)(at - begin) + 1};
}

static char printable(char c)
{
    return (unsigned char)c < ' ' || c == 127 ? ' ' : c;
}

/* The line of `at` with a caret below it; of a long line the piece around. */
static void show_line(jx_mtext *t, const char *at, char *to, size_t size)
{
    enum { BEFORE = 50, AFTER = 30 };
    const char *begin = line_begin(t, at), *end = at;
    size_t n = 0;

    while (end < t->end && *end != '\n' && end - at < AFTER)
        end++;
    if (at - begin > BEFORE)
        begin = at - BEFORE;
    /* Not into the middle of a character of several bytes. */
    while (begin < at && ((unsigned char)*begin & 0xc0) == 0x80)
        begin++;
    while (end > at && end < t->end && ((unsigned char)*end & 0xc0) == 0x80)
        end--;
    n += (size_t)snprintf(to, size, "\n  ");
    for (const char *c = begin; c < end; c++)
        to[n++] = printable(*c);
    n += (size_t)snprintf(to + n, size - n, "\n  ");
    for (const char *c = begin; c < at; c++)
        if (((unsigned char)*c & 0xc0) != 0x80)
            to[n++] = ' ';
    to[n++] = '^';
    to[n] = '\0';
}

bool jx_mtext_fail(jx_mtext *t, const char *at, const char *format, ...)
{
    char place[64], why[400], line[400];
    va_list args;

    if (t->failed)
        return false;
    t->failed = true;
    at = at > t->end ? t->end : at;
    jx_mlir_place where = jx_mtext_place(t, at);
    show_line(t, at, line, sizeof line);
    snprintf(place, sizeof place, "line %d, column %d", where.line,
             where.column);
    va_start(args, format);
    jx_vsnprintf(why, sizeof why, format, args);
    va_end(args);
    t->at = t->end;
    return jx_fail(t->ctx, JX_E_INPUT, t->path, place, "%s%s", why, line);
}

/* Letters, digits, `_` and `$`: no locale has a say. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What stands here, for a message. */
static void found(jx_mtext *t, char *to, size_t size)
{
    enum { MOST = 24 };
    const char *at = t->at;
    int n = 0;

    if (at >= t->end) {
        snprintf(to, size, "the text ends");
        return;
    }
    while (n < MOST && at + n < t->end && (is_word(at[n]) || at[n] == '.'))
        n++;
    if (!n)
        for (n = 1;
             at + n < t->end && n < 4 && ((unsigned char)at[n] & 0xc0) == 0x80;)
            n++;
    snprintf(to, size, "found '%.*s'", n, at);
}

bool jx_mtext_wants(jx_mtext *t, const char *what)
{
    char there[64];

    if (t->failed)
        return false;
    jx_mtext_space(t);
    found(t, there, sizeof there);
    return jx_mtext_fail(t, t->at, "expected %s, %s", what, there);
}

/* ---- tokens */

/* `// -----`, alone on its line or as the dumps of passes have it. */
static bool separates(const char *at, const char *end)
{
    static const char mark[] = "// -----";
    size_t n = sizeof mark - 1;

    if ((size_t)(end - at) < n || memcmp(at, mark, n) != 0)
        return false;
    for (at += n; at < end && (*at == ' ' || *at == '\t' || *at == '\r'); at++)
        ;
    return at == end || *at == '\n' || *at == '/';
}

char jx_mtext_space(jx_mtext *t)
{
    const char *at = t->at, *end = t->end;

    for (; at < end; at++) {
        char c = *at;
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
            continue;
        if (c != '/' || at + 1 >= end || at[1] != '/')
            break;
        if (t->level == 1 && separates(at, end))
            t->separator = at;
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at) {
            at = end;
            break;
        }
    }
    t->at = at;
    return at < end ? *at : '\0';
}

bool jx_mtext_comes_piece(jx_mtext *t, const char *mark, size_t length)
{
    if (jx_mtext_space(t) != *mark || (size_t)(t->end - t->at) < length)
        return false;
    if (length == 1 && !is_word(*mark))
        return true;
    if (memcmp(t->at, mark, length) != 0)
        return false;
    return !is_word(mark[length - 1]) || t->at + length >= t->end ||
           !is_word(t->at[length]);
}

bool jx_mtext_expect_piece(jx_mtext *t, const char *mark, size_t length)
{
    char what[64];

    if (jx_mtext_take_piece(t, mark, length))
        return true;
    snprintf(what, sizeof what, "'%.*s'", (int)length, mark);
    return jx_mtext_wants(t, what);
}

jx_piece jx_mtext_word(jx_mtext *t, bool dots)
{
    char c = jx_mtext_space(t);
    const char *at = t->at;

    if (is_word(c) && !is_digit(c) && c != '$')
        while (at < t->end && (is_word(*at) || (dots && *at == '.')))
            at++;
    jx_piece piece = {t->at, (size_t)(at - t->at)};
    t->at = at;
    return piece;
}

jx_piece jx_mtext_suffix(jx_mtext *t)
{
    const char *at = t->at;

    if (at < t->end && is_digit(*at))
        while (at < t->end && is_digit(*at))
            at++;
    else
        while (at < t->end && (is_word(*at) || *at == '.' ||
                               (*at == '-' && at > t->at &&
                                (at + 1 >= t->end || at[1] != '>'))))
            at++;
    jx_piece piece = {t->at, (size_t)(at - t->at)};
    t->at = at;
    return piece;
}

const char *jx_mtext_intern(jx_mtext *t, jx_piece piece)
{
    const char *text = jx_strings_add(&t->ctx->strings, piece.at, piece.length);

    if (!text)
        t->failed = true;
    return text ? text : "";
}

/* ---- strings */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that the escape at `at` (behind `\`) stands for, its length in the
 * text; 0 if there is no such escape. */
static size_t unescape(const char *at, const char *end, char *byte)
{
    if (at >= end)
        return 0;
    switch (*at) {
    case 'n': *byte = '\n'; return 1;
    case 't': *byte = '\t'; return 1;
    case '"':
    case '\\': *byte = *at; return 1;
    default:
        if (at + 1 >= end || hex_digit(at[0]) < 0 || hex_digit(at[1]) < 0)
            return 0;
        *byte = (char)(hex_digit(at[0]) << 4 | hex_digit(at[1]));
        return 2;
    }
}

static bool unescape_all(jx_mtext *t, jx_piece *string)
{
    const char *at = string->at, *end = at + string->length;
    char *to = jx_arena_alloc(t->arena, string->length);
    size_t n = 0;

    if (!to) {
        t->failed = true;
        return false;
    }
    while (at < end) {
        if (*at != '\\') {
            to[n++] = *at++;
            continue;
        }
        size_t size = unescape(at + 1, end, &to[n]);
        if (!size)
            return jx_mtext_fail(t, at,
                                 "expected an escape: \\n, \\t, \\\", "
                                 "\\\\ or two hexadecimal digits");
        n++;
        at += 1 + size;
    }
    *string = (jx_piece){to, n};
    return true;
}

bool jx_mtext_string(jx_mtext *t, jx_piece *string)
{
    bool escapes = false;

    if (jx_mtext_space(t) != '"')
        return false;
    const char *begin = t->at, *at = begin + 1;
    while (at < t->end && *at != '"' && *at != '\n') {
        if (*at == '\\') {
            escapes = true;
            at++;
        }
        at++;
    }
    if (at >= t->end || *at != '"')
        return jx_mtext_fail(t, begin, "this string has no end on its line");
    *string = (jx_piece){begin + 1, (size_t)(at - begin) - 1};
    t->at = at + 1;
    return !escapes || unescape_all(t, string);
}

bool jx_mtext_is_name(jx_mtext *t, const char *at, jx_piece text)
{
    if (memchr(text.at, '\0', text.length) ||
        !jx_utf8_valid(text.at, text.length, NULL))
        return jx_mtext_fail(t, at, "a name is UTF-8 without a NUL");
    return true;
}

const char *jx_mtext_symbol(jx_mtext *t)
{
    jx_piece piece;

    if (jx_mtext_space(t) != '@')
        return NULL;
    t->at++;
    if (t->at < t->end && *t->at == '"') {
        if (!jx_mtext_string(t, &piece) || !jx_mtext_is_name(t, t->at, piece))
            return NULL;
    } else {
        piece = jx_mtext_suffix(t);
    }
    if (!piece.length)
        return jx_mtext_wants(t, "a name after '@'"), NULL;
    return jx_mtext_intern(t, piece);
}

bool jx_mtext_integer(jx_mtext *t, int64_t *value)
{
    char c = jx_mtext_space(t);
    const char *begin = t->at;
    bool negative = c == '-';
    int64_t v = 0;

    t->at += negative;
    if (t->at >= t->end || !is_digit(*t->at)) {
        t->at = begin;
        return jx_mtext_wants(t, "an integer");
    }
    for (; t->at < t->end && is_digit(*t->at); t->at++)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_sub_overflow(v, *t->at - '0', &v))
            return jx_mtext_fail(t, begin, "expected an integer of 64 bits");
    if (!negative && v == INT64_MIN)
        return jx_mtext_fail(t, begin, "expected an integer of 64 bits");
    *value = negative ? v : -v;
    return true;
}

/* ---- bookkeeping */

bool jx_mtext_enter(jx_mtext *t)
{
    if (t->nest >= JX_MTEXT_NEST)
        return jx_mtext_fail(t, t->at, "this nests more than %d deep",
                             JX_MTEXT_NEST);
    t->nest++;
    t->weight++;
    if (t->nest > t->height)
        t->height = t->nest;
    return !t->failed;
}

void jx_mtext_leave(jx_mtext *t)
{
    t->nest--;
}

void *jx_mtext_cut(jx_mtext *t, const void *stack, size_t size, size_t from,
                   size_t *count)
{
    size_t n = *count > from ? *count - from : 0;
    void *copy =
        n ? jx_arena_copy(t->arena, (const char *)stack + from * size, n * size)
          : jx_arena_alloc(t->arena, 0);

    if (!copy)
        t->failed = true;
    *count = from;
    return copy;
}
