/* python_text.c - see python_text.h. */
#include "frontend/base/python_text.h"

#include <string.h>

typedef enum kind {
    END = 0,
    SPACE,
    NAME,
    NUMBER,
    STRING,
    OPEN,
    CLOSE,
    SIGN
} kind;

typedef struct token {
    kind kind;
    size_t begin, end;
} token;

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c & 0x80);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* After a string that begins with a quote there; `end` where it is open. */
static size_t after_string(const char *text, size_t at, size_t end)
{
    char quote = text[at];
    bool three = at + 2 < end && text[at + 1] == quote && text[at + 2] == quote;

    for (at += three ? 3 : 1; at < end; at++) {
        if (text[at] == '\\')
            at++;
        else if (text[at] == quote && !three)
            return at + 1;
        else if (text[at] == quote && at + 2 < end && text[at + 1] == quote &&
                 text[at + 2] == quote)
            return at + 3;
    }
    return end;
}

static size_t after_number(const char *text, size_t at, size_t end)
{
    for (; at < end; at++) {
        bool exponent = (text[at] == '+' || text[at] == '-') &&
                        (text[at - 1] == 'e' || text[at - 1] == 'E');
        if (!is_digit(text[at]) && !begins_name(text[at]) && text[at] != '.' &&
            !exponent)
            break;
    }
    return at;
}

/* Of one or two characters. */
static size_t after_sign(const char *text, size_t at, size_t end)
{
    static const char *const pairs[] = {
        "**", "//", "==", "!=", "<=", ">=", "<<", ">>", ":=", "->"};

    for (size_t i = 0; at + 1 < end && i < sizeof pairs / sizeof *pairs; i++)
        if (memcmp(text + at, pairs[i], 2) == 0)
            return at + 2;
    return at + 1;
}

static token next(const char *text, size_t at, size_t end)
{
    token t = {END, at, at};
    char c;

    if (at >= end)
        return t;
    c = text[at];
    if (strchr(" \t\r\n\\\f", c) && c) {
        t = (token){SPACE, at, at + 1};
    } else if (c == '#') {
        const char *stop = memchr(text + at, '\n', end - at);
        t = (token){SPACE, at, stop ? (size_t)(stop - text) : end};
    } else if (begins_name(c)) {
        while (at < end && (begins_name(text[at]) || is_digit(text[at])))
            at++;
        if (at < end && (text[at] == '"' || text[at] == '\'')) /* r"..." */
            t = (token){STRING, t.begin, after_string(text, at, end)};
        else
            t = (token){NAME, t.begin, at};
    } else if (is_digit(c) ||
               (c == '.' && at + 1 < end && is_digit(text[at + 1]))) {
        t = (token){NUMBER, at, after_number(text, at, end)};
    } else if (c == '"' || c == '\'') {
        t = (token){STRING, at, after_string(text, at, end)};
    } else if (strchr("([{", c) && c) {
        t = (token){OPEN, at, at + 1};
    } else if (strchr(")]}", c) && c) {
        t = (token){CLOSE, at, at + 1};
    } else {
        t = (token){SIGN, at, after_sign(text, at, end)};
    }
    return t;
}

/* After the bracket that closes the one that `open` is; 0: none does. */
static size_t after_brackets(const char *text, token open, size_t end)
{
    int depth = 0;

    for (token t = open; t.kind != END; t = next(text, t.end, end)) {
        depth += (t.kind == OPEN) - (t.kind == CLOSE);
        if (!depth)
            return t.end;
    }
    return 0;
}

/* The next thing outside of brackets that is no space; a pair of brackets is
 * one, OPEN. A bracket without its other ends all, there. */
static token step(const char *text, size_t at, size_t end)
{
    token t = next(text, at, end);

    while (t.kind == SPACE)
        t = next(text, t.end, end);
    if (t.kind == CLOSE)
        return (token){END, t.begin, t.begin};
    if (t.kind == OPEN) {
        size_t after = after_brackets(text, t, end);
        return after ? (token){OPEN, t.begin, after}
                     : (token){END, t.begin, t.begin};
    }
    return t;
}

static jx_py_span trimmed(const char *text, jx_py_span span)
{
    token t = next(text, span.begin, span.end);
    size_t end;

    while (t.kind == SPACE)
        t = next(text, t.end, span.end);
    span.begin = end = t.begin;
    for (; t.kind != END; t = next(text, t.end, span.end))
        if (t.kind != SPACE)
            end = t.end;
    span.end = end;
    return span;
}

jx_py_span jx_py_bare(const char *text, jx_py_span span)
{
    for (;;) {
        token t;
        span = trimmed(text, span);
        t = step(text, span.begin, span.end);
        if (t.kind != OPEN || text[t.begin] != '(' || t.end != span.end)
            return span;
        /* A tuple, or nothing, is not what its brackets hold. */
        jx_py_span inside = trimmed(text, (jx_py_span){t.begin + 1, t.end - 1});
        token part = step(text, inside.begin, inside.end);
        for (; part.kind != END; part = step(text, part.end, inside.end))
            if (part.kind == SIGN && text[part.begin] == ',')
                return span;
        if (inside.begin == inside.end)
            return span;
        span = inside;
    }
}

bool jx_py_same(const char *text, jx_py_span a, jx_py_span b)
{
    return a.end - a.begin == b.end - b.begin &&
           memcmp(text + a.begin, text + b.begin, a.end - a.begin) == 0;
}

bool jx_py_is(const char *text, jx_py_span span, const char *word)
{
    return span.end - span.begin == strlen(word) &&
           memcmp(text + span.begin, word, strlen(word)) == 0;
}

static jx_py_span span_of(token t)
{
    return (jx_py_span){t.begin, t.end};
}

static bool is_word(const char *text, token t)
{
    static const char *const words[] = {"if",    "else",   "and",  "or",
                                        "not",   "in",     "is",   "for",
                                        "await", "lambda", "yield"};

    for (size_t i = 0; t.kind == NAME && i < sizeof words / sizeof *words; i++)
        if (jx_py_is(text, span_of(t), words[i]))
            return true;
    return false;
}

/* What an operator between two operands makes of them. */
static jx_py_rank rank_of_sign(const char *text, token t)
{
    jx_py_span s = span_of(t);

    if (jx_py_is(text, s, "+") || jx_py_is(text, s, "-"))
        return JX_PY_SUM;
    if (jx_py_is(text, s, "*") || jx_py_is(text, s, "/") ||
        jx_py_is(text, s, "//") || jx_py_is(text, s, "%") ||
        jx_py_is(text, s, "@"))
        return JX_PY_PRODUCT;
    return jx_py_is(text, s, "**") ? JX_PY_SIGNED : JX_PY_LOOSE;
}

/* The rank, and the operator that is applied last, if one is. */
static jx_py_rank look(const char *text, jx_py_span span, token *last)
{
    jx_py_rank rank = JX_PY_PRIMARY;
    bool operand = false; /* one is complete */
    token t;

    *last = (token){0};
    for (t = step(text, span.begin, span.end); t.kind != END;
         t = step(text, t.end, span.end)) {
        jx_py_rank here;
        if (is_word(text, t))
            return JX_PY_LOOSE;
        if (t.kind != SIGN) {
            operand = true;
            continue;
        }
        if (text[t.begin] == '.')
            continue;
        if (!operand) { /* a sign */
            if (!strchr("+-~", text[t.begin]))
                return JX_PY_LOOSE;
            rank = rank < JX_PY_SIGNED ? rank : JX_PY_SIGNED;
            continue;
        }
        here = rank_of_sign(text, t);
        if (here == JX_PY_LOOSE)
            return JX_PY_LOOSE;
        /* Of powers the first is applied last, but before a sign in front. */
        if (here < rank || (here == rank && here != JX_PY_SIGNED)) {
            rank = here;
            *last = t;
        }
        operand = false;
    }
    return operand && t.end == span.end ? rank : JX_PY_LOOSE;
}

jx_py_rank jx_py_rank_of(const char *text, jx_py_span span)
{
    token last;

    span = trimmed(text, span);
    return look(text, span, &last);
}

bool jx_py_sides_of(const char *text, jx_py_span span, const char *op,
                    jx_py_span *left, jx_py_span *right)
{
    token last;

    span = jx_py_bare(text, span);
    if (look(text, span, &last) == JX_PY_LOOSE || last.kind != SIGN ||
        !jx_py_is(text, span_of(last), op))
        return false;
    *left = trimmed(text, (jx_py_span){span.begin, last.begin});
    *right = trimmed(text, (jx_py_span){last.end, span.end});
    return true;
}

/* One argument between commas; false if it is starred. */
static bool add_argument(const char *text, jx_py_span part, jx_py_call *to)
{
    jx_py_argument *arg = &to->args[to->nargs];
    token name, equals;

    part = trimmed(text, part);
    if (part.begin == part.end)
        return true; /* after the last comma */
    if (to->nargs == JX_PY_ARGUMENTS || text[part.begin] == '*')
        return false;
    *arg = (jx_py_argument){{0, 0}, part};
    name = step(text, part.begin, part.end);
    equals = step(text, name.end, part.end);
    if (name.kind == NAME && equals.kind == SIGN &&
        jx_py_is(text, span_of(equals), "=")) {
        arg->name = span_of(name);
        arg->value = trimmed(text, (jx_py_span){equals.end, part.end});
    }
    to->nargs++;
    return true;
}

bool jx_py_call_of(const char *text, jx_py_span span, jx_py_call *to)
{
    token before = {0}, dot = {0}, last = {0}, unused, t;
    size_t begin;

    span = jx_py_bare(text, span);
    if (look(text, span, &unused) != JX_PY_PRIMARY)
        return false;
    for (t = step(text, span.begin, span.end); t.kind != END;
         t = step(text, t.end, span.end)) {
        dot = before;
        before = last;
        last = t;
    }
    if (last.kind != OPEN || text[last.begin] != '(' || before.kind != NAME)
        return false;
    *to = (jx_py_call){.name = span_of(before),
                       .all = {last.begin + 1, last.end - 1}};
    if (dot.kind == SIGN && text[dot.begin] == '.')
        to->of = trimmed(text, (jx_py_span){span.begin, dot.begin});
    else if (before.begin != span.begin)
        return false;
    begin = to->all.begin;
    for (t = step(text, begin, to->all.end);;
         t = step(text, t.end, to->all.end)) {
        bool comma = t.kind == SIGN && text[t.begin] == ',';
        if (!comma && t.kind != END)
            continue;
        if (!add_argument(
                text,
                (jx_py_span){begin, t.kind == END ? to->all.end : t.begin}, to))
            return false;
        if (t.kind == END)
            return true;
        begin = t.end;
    }
}
