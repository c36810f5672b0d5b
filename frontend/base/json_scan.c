/* json_scan.c - is this text strictly JSON?  See json.h.
 *
 * A recursive descent over the bytes that keeps nothing but the keys of the
 * objects it is in, to refuse a key given twice. */
#include "frontend/base/json.h"
#include "frontend/base/plain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct key {
    const char *at;
    size_t length;
} key;

typedef struct scan {
    const char *text;
    size_t length, at;
    size_t bad;           /* where the first failure is */
    const char *expected; /* what was expected there; NULL while all is well */
    int depth;
    bool wide; /* integers may be beyond 64 bits */
    key *keys; /* of all open objects, innermost last */
    size_t nkeys, capacity;
} scan;

static bool fail_at(scan *s, size_t at, const char *expected)
{
    if (!s->expected) {
        s->bad = at;
        s->expected = expected;
    }
    return false;
}

static bool fail(scan *s, const char *expected)
{
    return fail_at(s, s->at, expected);
}

static int peek(const scan *s)
{
    return s->at < s->length ? (unsigned char)s->text[s->at] : -1;
}

static void skip_space(scan *s)
{
    for (int c = peek(s); c == ' ' || c == '\n' || c == '\r' || c == '\t';
         c = peek(s))
        s->at++;
}

static bool scan_value(scan *s);

/* The length of a UTF-8 sequence that begins with this byte, and the range of
 * the second byte; 0 if none does. */
static int sequence(int first, int *low, int *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef) {
        if (first == 0xe0)
            *low = 0xa0;
        if (first == 0xed) /* surrogates */
            *high = 0x9f;
        return 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        if (first == 0xf0)
            *low = 0x90;
        if (first == 0xf4)
            *high = 0x8f;
        return 4;
    }
    return 0;
}

static bool scan_utf8(scan *s)
{
    int low, high, n = sequence(peek(s), &low, &high);

    if (!n)
        return fail(s, "valid UTF-8");
    for (int i = 1; i < n; i++) {
        s->at++;
        int c = peek(s);
        if (c < low || c > high)
            return fail(s, "valid UTF-8");
        low = 0x80;
        high = 0xbf;
    }
    s->at++;
    return true;
}

/* Four hexadecimal digits. */
static bool scan_unit(scan *s, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        int c = peek(s), digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (c | 32) - 'a' + 10;
        else
            return fail(s, "four hexadecimal digits after \\u");
        *unit = *unit * 16 + (unsigned)digit;
    }
    return true;
}

static bool scan_unicode(scan *s, size_t begin)
{
    unsigned unit, low;

    if (!scan_unit(s, &unit))
        return false;
    if (unit == 0)
        return fail_at(s, begin, "text without NUL");
    if (unit >= 0xdc00 && unit <= 0xdfff)
        return fail_at(s, begin, "a high surrogate before a low one");
    if (unit < 0xd800 || unit > 0xdbff)
        return true;
    if (s->length - s->at < 2 || memcmp(s->text + s->at, "\\u", 2))
        return fail(s, "a low surrogate after a high one");
    s->at += 2;
    if (!scan_unit(s, &low))
        return false;
    return (low >= 0xdc00 && low <= 0xdfff) ||
           fail_at(s, begin, "a low surrogate after a high one");
}

static bool scan_escape(scan *s)
{
    size_t begin = s->at++;
    int c = peek(s);

    if (c < 0 || !strchr("\"\\/bfnrtu", c) || c == 0)
        return fail_at(s, begin, "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
    s->at++;
    return c != 'u' || scan_unicode(s, begin);
}

static bool scan_text(scan *s, key *content)
{
    if (peek(s) != '"')
        return fail(s, "text in double quotes");
    s->at++;
    size_t begin = s->at;
    for (;;) {
        int c = peek(s);
        if (c < 0)
            return fail(s, "the end of a text, '\"'");
        if (c == '"')
            break;
        if (c < 0x20)
            return fail(s, "an escape instead of a control character");
        if (c == '\\') {
            if (!scan_escape(s))
                return false;
        } else if (c >= 0x80) {
            if (!scan_utf8(s))
                return false;
        } else {
            s->at++;
        }
    }
    *content = (key){s->text + begin, s->at - begin};
    s->at++;
    return true;
}

static bool scan_digits(scan *s)
{
    int c = peek(s);

    if (c < '0' || c > '9')
        return fail(s, "a digit");
    while ((c = peek(s)) >= '0' && c <= '9')
        s->at++;
    return true;
}

/* What lies between [begin, end) is a number in form; is it one in range? */
static bool number_fits(const char *text, size_t length, bool integer)
{
    char copy[512], *end;

    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    if (!integer)
        return isfinite(jx_strtod(copy, &end));
    strtoll(copy, &end, 10);
    return errno == 0;
}

static bool scan_number(scan *s)
{
    size_t begin = s->at;
    bool integer = true;

    if (peek(s) == '-')
        s->at++;
    if (peek(s) == '0')
        s->at++;
    else if (!scan_digits(s))
        return false;
    if (peek(s) == '.') {
        integer = false;
        s->at++;
        if (!scan_digits(s))
            return false;
    }
    if ((peek(s) | 32) == 'e') {
        integer = false;
        s->at++;
        if (peek(s) == '+' || peek(s) == '-')
            s->at++;
        if (!scan_digits(s))
            return false;
    }
    return (integer && s->wide) ||
           number_fits(s->text + begin, s->at - begin, integer) ||
           fail_at(s, begin, integer ? "an integer that fits 64 bits"
                                     : "a number that fits a double");
}

static bool scan_word(scan *s, const char *word)
{
    size_t n = strlen(word);

    if (s->length - s->at < n || memcmp(s->text + s->at, word, n))
        return fail(s, "a value");
    s->at += n;
    return true;
}

static bool scan_array(scan *s)
{
    s->at++;
    skip_space(s);
    if (peek(s) == ']') {
        s->at++;
        return true;
    }
    for (;;) {
        if (!scan_value(s))
            return false;
        skip_space(s);
        int c = peek(s);
        if (c != ',' && c != ']')
            return fail(s, "',' or ']'");
        s->at++;
        if (c == ']')
            return true;
    }
}

static int by_bytes(const void *a, const void *b)
{
    const key *x = a, *y = b;

    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->at, y->at, x->length);
}

/* Of the keys from `first` on, is any given twice? */
static bool keys_differ(scan *s, size_t first)
{
    key *keys = s->keys + first;
    size_t n = s->nkeys - first;

    if (n < 2)
        return true;
    if (n > 12) {
        qsort(keys, n, sizeof *keys, by_bytes);
        for (size_t i = 1; i < n; i++)
            if (by_bytes(&keys[i - 1], &keys[i]) == 0)
                return fail_at(s, (size_t)(keys[i].at - s->text) - 1,
                               "every key of an object once");
        return true;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (by_bytes(&keys[k], &keys[i]) == 0)
                return fail_at(s, (size_t)(keys[i].at - s->text) - 1,
                               "every key of an object once");
    return true;
}

static bool push_key(scan *s, key name)
{
    if (s->nkeys == s->capacity) {
        size_t capacity = s->capacity ? s->capacity * 2 : 64;
        key *keys = realloc(s->keys, capacity * sizeof *keys);
        if (!keys)
            return fail(s, "more memory");
        s->keys = keys;
        s->capacity = capacity;
    }
    s->keys[s->nkeys++] = name;
    return true;
}

static bool scan_member(scan *s)
{
    key name;

    skip_space(s);
    if (!scan_text(s, &name) || !push_key(s, name))
        return false;
    skip_space(s);
    if (peek(s) != ':')
        return fail(s, "':' after a key");
    s->at++;
    return scan_value(s);
}

static bool scan_object(scan *s)
{
    size_t first = s->nkeys;

    s->at++;
    skip_space(s);
    if (peek(s) == '}') {
        s->at++;
        return true;
    }
    for (;;) {
        if (!scan_member(s))
            return false;
        skip_space(s);
        int c = peek(s);
        if (c != ',' && c != '}')
            return fail(s, "',' or '}'");
        s->at++;
        if (c == '}')
            break;
    }
    bool ok = keys_differ(s, first);
    s->nkeys = first;
    return ok;
}

static bool scan_nested(scan *s, bool object)
{
    if (++s->depth > JX_JSON_DEPTH)
        return fail(s, "at most 128 levels of nesting");
    bool ok = object ? scan_object(s) : scan_array(s);
    s->depth--;
    return ok;
}

static bool scan_value(scan *s)
{
    key content;

    skip_space(s);
    switch (peek(s)) {
    case '{':
        return scan_nested(s, true);
    case '[':
        return scan_nested(s, false);
    case '"':
        return scan_text(s, &content);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        return scan_word(s, "null");
    case '-': case '0': case '1': case '2': case '3': case '4':
    case '5': case '6': case '7': case '8': case '9':
        return scan_number(s);
    default:
        return fail(s, "a value");
    }
}

static bool scan_all(const char *text, size_t length, bool wide, size_t *at,
                     const char **expected)
{
    scan s = {.text = text, .length = length, .wide = wide};

    if (scan_value(&s)) {
        skip_space(&s);
        if (s.at < length)
            fail(&s, "the end of the input after the value");
    }
    free(s.keys);
    *at = s.bad;
    *expected = s.expected;
    return !s.expected;
}

bool jx_json_scan(const char *text, size_t length, size_t *at,
                  const char **expected)
{
    return scan_all(text, length, false, at, expected);
}

bool jx_json_scan_wide(const char *text, size_t length, size_t *at,
                       const char **expected)
{
    return scan_all(text, length, true, at, expected);
}
