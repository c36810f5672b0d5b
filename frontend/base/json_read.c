/* json_read.c - from text to a tree.  See json.h.
 *
 * One pass, by recursive descent.  The text is copied, and what it quotes is
 * unescaped where it stands in the copy, which never takes more room.  Values
 * wait on a stack until the array or object that holds them ends. */
#include "frontend/base/json_tree.h"
#include "frontend/base/plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scan {
    const char *text;
    char *copy; /* of it, with texts unescaped and ended by NUL */
    size_t length, at;
    jx_json_fault fault;
    bool failed;
    int depth;
    bool wide; /* integers may be beyond 64 bits */
    jx_arena *arena;
    jx_buffer stack; /* of jx_json: items of all that is open, innermost last */
} scan;

static bool fail_at(scan *s, size_t at, const char *expected)
{
    if (!s->failed)
        s->fault = (jx_json_fault){at, expected};
    s->failed = true;
    return false;
}

static bool fail(scan *s, const char *expected)
{
    return fail_at(s, s->at, expected);
}

static bool starve(scan *s)
{
    return fail(s, NULL);
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

static bool scan_value(scan *s, jx_json *to);

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

static bool scan_unicode(scan *s, size_t begin, unsigned *code)
{
    unsigned low;

    if (!scan_unit(s, code))
        return false;
    if (*code == 0)
        return fail_at(s, begin, "text without NUL");
    if (*code >= 0xdc00 && *code <= 0xdfff)
        return fail_at(s, begin, "a high surrogate before a low one");
    if (*code < 0xd800 || *code > 0xdbff)
        return true;
    if (s->length - s->at < 2 || memcmp(s->text + s->at, "\\u", 2))
        return fail(s, "a low surrogate after a high one");
    s->at += 2;
    if (!scan_unit(s, &low))
        return false;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return (low >= 0xdc00 && low <= 0xdfff) ||
           fail_at(s, begin, "a low surrogate after a high one");
}

/* As UTF-8; where it ends. */
static char *put_code(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

/* An escape, unescaped at *to. */
static bool scan_escape(scan *s, char **to)
{
    static const char letters[] = "\"\\/bfnrtu";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    size_t begin = s->at++;
    int c = peek(s);
    const char *letter = c > 0 ? strchr(letters, c) : NULL;
    unsigned code;

    if (!letter)
        return fail_at(s, begin,
                       "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u");
    s->at++;
    if (c != 'u') {
        *(*to)++ = meant[letter - letters];
        return true;
    }
    if (!scan_unicode(s, begin, &code))
        return false;
    *to = put_code(*to, code);
    return true;
}

/* One character of a text, to *to. */
static bool scan_character(scan *s, int c, char **to)
{
    size_t begin = s->at;

    if (c < 0x20)
        return fail(s, "an escape instead of a control character");
    if (c == '\\')
        return scan_escape(s, to);
    if (c < 0x80)
        s->at++;
    else if (!scan_utf8(s))
        return false;
    memmove(*to, s->text + begin, s->at - begin);
    *to += s->at - begin;
    return true;
}

static bool scan_text(scan *s, jx_json *text)
{
    char *begin, *end;

    if (peek(s) != '"')
        return fail(s, "text in double quotes");
    s->at++;
    begin = end = s->copy + s->at;
    for (int c; (c = peek(s)) != '"';) {
        if (c < 0)
            return fail(s, "the end of a text, '\"'");
        if (!scan_character(s, c, &end))
            return false;
    }
    *end = '\0';
    *text = (jx_json){.kind = JX_JSON_TEXT,
                      .count = (uint32_t)(end - begin),
                      .of.text = begin};
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

/* What `length` bytes are that have the form of an integer, or of a real;
 * false if that is out of range.  Most of a document are integers; below 0
 * there is one more. */
static bool read_integer(const char *text, size_t length, jx_json *to)
{
    bool negative = *text == '-';
    int64_t value = 0;

    for (size_t i = negative; i < length; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, text[i] - '0', &value))
            return false;
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    *to = (jx_json){.kind = JX_JSON_INT, .of.integer = value};
    return true;
}

static bool read_real(const char *text, size_t length, jx_json *to)
{
    char copy[512], *end;

    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *to = (jx_json){.kind = JX_JSON_REAL, .of.real = jx_strtod(copy, &end)};
    return isfinite(to->of.real);
}

/* The digits of an integer of any length. */
static bool read_wide(scan *s, size_t begin, jx_json *to)
{
    size_t length = s->at - begin;
    char *digits = jx_arena_string(s->arena, s->text + begin, length);

    *to = (jx_json){
        .kind = JX_JSON_WIDE, .count = (uint32_t)length, .of.text = digits};
    return digits || starve(s);
}

static bool scan_number(scan *s, jx_json *to)
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
    if ((integer ? read_integer : read_real)(s->text + begin, s->at - begin,
                                             to))
        return true;
    if (integer && s->wide)
        return read_wide(s, begin, to);
    return fail_at(s, begin,
                   integer ? "an integer that fits 64 bits"
                           : "a number that fits a double");
}

static bool scan_word(scan *s, const char *word, jx_json value, jx_json *to)
{
    size_t n = strlen(word);

    if (s->length - s->at < n || memcmp(s->text + s->at, word, n))
        return fail(s, "a value");
    s->at += n;
    *to = value;
    return true;
}

static bool push(scan *s, const jx_json *value)
{
    jx_buffer_bytes(&s->stack, value, sizeof *value);
    return jx_buffer_ok(&s->stack) || starve(s);
}

/* Makes the items of *to of what was pushed since the stack was `from` bytes
 * high, with `extra` bytes behind them. */
static bool take(scan *s, size_t from, size_t extra, jx_json *to)
{
    size_t bytes = s->stack.length - from;
    void *items = jx_arena_alloc(s->arena, bytes + extra);

    if (!items)
        return starve(s);
    memcpy(items, s->stack.text + from, bytes);
    s->stack.length = from;
    to->of.items = items;
    return true;
}

static bool scan_array(scan *s, jx_json *to)
{
    size_t from = s->stack.length;
    jx_json item;
    int c = 0;

    *to = (jx_json){.kind = JX_JSON_ARRAY};
    s->at++;
    skip_space(s);
    if (peek(s) == ']') {
        s->at++;
        return true;
    }
    while (c != ']') {
        if (!scan_value(s, &item) || !push(s, &item))
            return false;
        to->count++;
        skip_space(s);
        c = peek(s);
        if (c != ',' && c != ']')
            return fail(s, "',' or ']'");
        s->at++;
    }
    return take(s, from, 0, to);
}

static bool keys_differ(scan *s, const jx_json *object)
{
    const char *again = jx_json_key_again(object);

    return !again || fail_at(s, (size_t)(again - s->copy) - 1,
                             "every key of an object once");
}

static bool scan_member(scan *s)
{
    jx_json name, value;

    skip_space(s);
    if (!scan_text(s, &name))
        return false;
    skip_space(s);
    if (peek(s) != ':')
        return fail(s, "':' after a key");
    s->at++;
    return scan_value(s, &value) && push(s, &name) && push(s, &value);
}

static bool scan_object(scan *s, jx_json *to)
{
    size_t from = s->stack.length;
    int c = 0;

    *to = (jx_json){.kind = JX_JSON_OBJECT};
    s->at++;
    skip_space(s);
    if (peek(s) == '}') {
        s->at++;
        return true;
    }
    while (c != '}') {
        if (!scan_member(s))
            return false;
        to->count++;
        skip_space(s);
        c = peek(s);
        if (c != ',' && c != '}')
            return fail(s, "',' or '}'");
        s->at++;
    }
    if (!take(s, from, jx_json_order_size(to->count), to))
        return false;
    jx_json_order_keys(to);
    return keys_differ(s, to);
}

static bool scan_nested(scan *s, bool object, jx_json *to)
{
    if (++s->depth > JX_JSON_DEPTH)
        return fail(s, "at most 128 levels of nesting");
    bool ok = object ? scan_object(s, to) : scan_array(s, to);
    s->depth--;
    return ok;
}

static bool scan_value(scan *s, jx_json *to)
{
    skip_space(s);
    switch (peek(s)) {
    case '{': return scan_nested(s, true, to);
    case '[': return scan_nested(s, false, to);
    case '"': return scan_text(s, to);
    case 't':
        return scan_word(s, "true",
                         (jx_json){.kind = JX_JSON_BOOL, .of.integer = 1}, to);
    case 'f': return scan_word(s, "false", (jx_json){.kind = JX_JSON_BOOL}, to);
    case 'n': return scan_word(s, "null", (jx_json){.kind = JX_JSON_NULL}, to);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return scan_number(s, to);
    default: return fail(s, "a value");
    }
}

static bool scan_all(scan *s, jx_json *root)
{
    if (!scan_value(s, root))
        return false;
    skip_space(s);
    return s->at == s->length ||
           fail(s, "the end of the input after the value");
}

jx_json *jx_json_parse(jx_ctx *ctx, const char *text, size_t length, bool wide,
                       jx_json_fault *fault)
{
    scan s = {.text = text,
              .length = length,
              .wide = wide,
              .arena = jx_arena_new(&ctx->budget),
              .stack = jx_ctx_text(ctx)};
    jx_json_document *made = s.arena ? JX_NEW(s.arena, jx_json_document) : NULL;

    *fault = (jx_json_fault){0};
    if (!s.arena)
        jx_starved(ctx);
    s.copy = made && length < JX_JSON_MOST ? jx_arena_alloc(s.arena, length + 1)
                                           : NULL;
    if (length >= JX_JSON_MOST)
        fail_at(&s, JX_JSON_MOST, "less than 2 GiB of JSON");
    else if (!s.copy)
        starve(&s);
    else if (scan_all(&s, &made->root))
        made->arena = s.arena;
    jx_buffer_free(&s.stack);
    *fault = s.fault;
    if (!s.failed)
        return &made->root;
    jx_arena_free(s.arena);
    return NULL;
}

bool jx_json_read(jx_ctx *ctx, const char *path, const char *text,
                  size_t length, jx_json **json)
{
    jx_json_fault fault;
    char place[48];

    *json = jx_json_parse(ctx, text, length, false, &fault);
    if (*json || !fault.expected)
        return *json || jx_ok(ctx);
    snprintf(place, sizeof place, "byte %zu", fault.at);
    return jx_fail(ctx, JX_E_INPUT, path, place, "expected %s", fault.expected);
}
