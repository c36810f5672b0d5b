/* dim_parse.c - dims from text.
 *
 *     sum     = [+|-] product { (+|-) product }
 *     product = power { (* | // | %) power }
 *     power   = factor [ ^ number ]
 *     factor  = - factor | number | name | "(" sum ")"
 *             | (floordiv | mod | max | min) "(" sum "," sum ")"
 *     name    = letter { letter | digit } { "[" index "]" | "." name }
 *
 * JAX has no parentheses, `//` and `%`; a name with a path (`args[0].shape[1]`)
 * is how it names a dimension of an argument.  As in JAX, `floordiv(a, b)`
 * stands as written while `a // b` is simplified; a minus in front of a power
 * belongs to the whole of it, and one in front of a sum to its first product.
 * Operations are done in JAX's order, which shows where equalities rewrite. */
#include "frontend/ir/dim.h"

#include <string.h>

enum { MAX_NESTING = 256 };

typedef struct parser {
    jx_dims *in;
    const char *text;
    size_t length, pos;
    int scope, depth;
    bool written; /* nothing is simplified */
    const char *expected; /* the first failure, else NULL */
    size_t failed_at;
} parser;

static const jx_dim *fail_at(parser *p, size_t at, const char *expected)
{
    if (!p->expected) {
        p->expected = expected;
        p->failed_at = at;
    }
    return NULL;
}

static char char_at(const parser *p, size_t pos)
{
    return pos < p->length ? p->text[pos] : '\0';
}

/* The next character that is no space; NUL at the end. */
static char peek(parser *p)
{
    while (char_at(p, p->pos) == ' ' || char_at(p, p->pos) == '\t')
        p->pos++;
    return char_at(p, p->pos);
}

static bool take(parser *p, char c)
{
    if (peek(p) != c || p->pos >= p->length)
        return false;
    p->pos++;
    return true;
}

static bool expect(parser *p, char c, const char *expected)
{
    if (take(p, c))
        return true;
    fail_at(p, p->pos, expected);
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* What was wrong when a constructor gave NULL. */
static const jx_dim *checked(parser *p, const jx_dim *dim, size_t at)
{
    return dim ? dim
               : fail_at(p, at,
                         "a smaller expression (numbers up to 2^127, a few "
                         "thousand terms)");
}

static bool number(parser *p, jx_int *value)
{
    size_t start = p->pos;

    *value = 0;
    for (; is_digit(char_at(p, p->pos)); p->pos++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, char_at(p, p->pos) - '0', value)) {
            fail_at(p, start, "a number below 2^127");
            return false;
        }
    if (is_letter(char_at(p, p->pos))) {
        fail_at(p, p->pos, "an operator after the number");
        return false;
    }
    return true;
}

static const jx_dim *sum(parser *p);

static const jx_dim *call(parser *p, jx_atom_kind kind, size_t at)
{
    const jx_dim *a, *b;

    if (!expect(p, '(', "'(' after the name of an operation"))
        return NULL;
    a = sum(p);
    if (!a || !expect(p, ',', "',' or an operator"))
        return NULL;
    b = sum(p);
    if (!b || !expect(p, ')', "')' or an operator"))
        return NULL;
    if (!p->written && (kind == JX_ATOM_MAX || kind == JX_ATOM_MIN))
        return checked(p, jx_dim_apply(p->in, kind, a, b), at);
    return checked(p, jx_dim_literal(p->in, kind, a, b), at);
}

/* A path after a name: [0], ['key'], .field. */
static bool path(parser *p)
{
    for (;;) {
        char c = char_at(p, p->pos);

        if (c == '.' && is_letter(char_at(p, p->pos + 1))) {
            p->pos++;
            while (is_letter(char_at(p, p->pos)) ||
                   is_digit(char_at(p, p->pos)))
                p->pos++;
        } else if (c == '[') {
            size_t open = p->pos;
            char quote = char_at(p, p->pos + 1);

            p->pos++;
            if (quote == '\'' || quote == '"') {
                /* Control characters stay out: a NUL would end the name for
                 * everybody who reads it later. */
                for (p->pos++; (unsigned char)char_at(p, p->pos) >= ' ' &&
                               char_at(p, p->pos) != quote;)
                    p->pos +=
                        char_at(p, p->pos) == '\\' &&
                                (unsigned char)char_at(p, p->pos + 1) >= ' '
                            ? 2
                            : 1;
                p->pos++;
            } else {
                while (is_digit(char_at(p, p->pos)))
                    p->pos++;
            }
            if (p->pos >= p->length || char_at(p, p->pos) != ']') {
                fail_at(p, open, "an index or a quoted key and ']'");
                return false;
            }
            p->pos++;
        } else {
            return true;
        }
    }
}

static const jx_dim *name(parser *p)
{
    static const jx_atom_kind kinds[] = {JX_ATOM_FLOORDIV, JX_ATOM_MOD,
                                         JX_ATOM_MAX, JX_ATOM_MIN};
    size_t start = p->pos, length;

    while (is_letter(char_at(p, p->pos)) || is_digit(char_at(p, p->pos)))
        p->pos++;
    length = p->pos - start;
    for (int i = 0; i < 4; i++) {
        const char *s = jx_atom_kind_name(kinds[i]);
        if (strlen(s) == length && !memcmp(s, p->text + start, length))
            return call(p, kinds[i], start);
    }
    if (!path(p))
        return NULL;
    jx_ctx *ctx = jx_dims_ctx(p->in);
    const char *text =
        jx_strings_add(&ctx->strings, p->text + start, p->pos - start);
    return checked(p, text ? jx_dim_var(p->in, text, p->scope) : NULL, start);
}

static const jx_dim *power(parser *p);

static const jx_dim *negative(parser *p)
{
    size_t at = p->pos++;
    const jx_dim *dim;

    if (++p->depth > MAX_NESTING)
        return fail_at(p, at, "less nesting (256 levels)");
    dim = power(p);
    p->depth--;
    return dim ? checked(p, jx_dim_neg(p->in, dim), at) : NULL;
}

static const jx_dim *factor(parser *p)
{
    char c = peek(p);
    jx_int value;

    if (is_digit(c))
        return number(p, &value) ? checked(p, jx_dim_wide(p->in, value), p->pos)
                                 : NULL;
    if (is_letter(c))
        return name(p);
    if (take(p, '(')) {
        const jx_dim *dim = sum(p);
        return dim && expect(p, ')', "')' or an operator") ? dim : NULL;
    }
    return fail_at(p, p->pos, "a variable, a number, an operation or '('");
}

static const jx_dim *power(parser *p)
{
    size_t at;
    jx_int exponent;

    if (peek(p) == '-')
        return negative(p);
    at = p->pos;
    const jx_dim *dim = factor(p);
    if (!dim || !take(p, '^'))
        return dim;
    if (!is_digit(peek(p)))
        return fail_at(p, p->pos, "a power that is a number, not negative");
    if (!number(p, &exponent))
        return NULL;
    return checked(
        p,
        exponent > INT32_MAX ? NULL : jx_dim_pow(p->in, dim, (int64_t)exponent),
        at);
}

static const jx_dim *apply(const parser *p, char op, const jx_dim *a,
                           const jx_dim *b)
{
    if (op == '*')
        return jx_dim_mul(p->in, a, b);
    if (p->written)
        return jx_dim_literal(
            p->in, op == '%' ? JX_ATOM_MOD : JX_ATOM_FLOORDIV, a, b);
    return op == '%' ? jx_dim_mod(p->in, a, b) : jx_dim_floordiv(p->in, a, b);
}

static const jx_dim *product(parser *p)
{
    const jx_dim *dim = power(p);

    for (;;) {
        char op = dim ? peek(p) : '\0';
        size_t at = p->pos;
        const jx_dim *next;

        if (op != '*' && op != '%' && op != '/')
            return dim;
        p->pos++;
        if (op == '/') {
            if (char_at(p, p->pos) != '/')
                return fail_at(p, p->pos, "'//' (floor division)");
            p->pos++;
        }
        next = power(p);
        if (!next)
            return NULL;
        dim = checked(p, apply(p, op, dim, next), at);
    }
}

static const jx_dim *sum(parser *p)
{
    const jx_dim *dim;
    bool negated;

    if (++p->depth > MAX_NESTING)
        return fail_at(p, p->pos, "less nesting (256 levels)");
    negated = take(p, '-');
    if (!negated)
        take(p, '+');
    size_t first = p->pos;
    dim = product(p);
    if (negated && dim)
        dim = checked(p, jx_dim_neg(p->in, dim), first);
    while (dim && (peek(p) == '+' || peek(p) == '-')) {
        bool minus = peek(p) == '-';
        size_t at = p->pos++;
        const jx_dim *next = product(p);

        if (!next)
            return NULL;
        dim = checked(p,
                      jx_dim_add(p->in, dim,
                                 minus ? jx_dim_neg(p->in, next) : next),
                      at);
    }
    p->depth--;
    return dim;
}

static const jx_dim *parse(parser *p, size_t *end, const char **expected)
{
    const jx_dim *dim = sum(p);

    peek(p);
    *end = p->expected ? p->failed_at : p->pos;
    *expected = p->expected;
    return p->expected ? NULL : dim;
}

const jx_dim *jx_dim_parse_prefix(jx_dims *in, const char *text, size_t length,
                                  int scope, size_t *end, const char **expected)
{
    parser p = {.in = in, .text = text, .length = length, .scope = scope};

    return parse(&p, end, expected);
}

const jx_dim *jx_dim_parse_written(jx_dims *in, const char *text,
                                   size_t length, int scope, size_t *end,
                                   const char **expected)
{
    parser p = {.in = in,
                .text = text,
                .length = length,
                .scope = scope,
                .written = true};

    return parse(&p, end, expected);
}

const jx_dim *jx_dim_parse(jx_dims *in, const char *text, size_t length,
                           int scope, size_t *at, const char **expected)
{
    const jx_dim *dim =
        jx_dim_parse_prefix(in, text, length, scope, at, expected);

    if (!dim || *at == length)
        return dim;
    *expected = "an operator or the end";
    return NULL;
}
