/* expression.c - see expression.h. */
#include "frontend/base/expression.h"

#include <string.h>

enum { MAX_NESTING = 256, MAX_POWER = 1 << 20 };

typedef struct parser {
    const char *text;
    size_t length, pos;
    const jx_expression_maker *make;
    void *env;
    int depth;
    const char *expected; /* the first failure of syntax, else NULL */
    size_t failed_at;
    const char *large; /* the first part that did not fit, else NULL */
    size_t large_at;
} parser;

/* What stands for a value once something did not fit. */
static const char nothing[1];

/* -- Failing ------------------------------------------------------------ */

static const void *fail_at(parser *p, size_t at, const char *expected)
{
    if (!p->expected) {
        p->expected = expected;
        p->failed_at = at;
    }
    return NULL;
}

static const void *too_large(parser *p, size_t at, const char *what)
{
    if (!p->large) {
        p->large = what;
        p->large_at = at;
    }
    return nothing;
}

static const void *checked(parser *p, const void *made, size_t at)
{
    return made ? made
                : too_large(p, at,
                            "a smaller expression (numbers up to 2^127, a few "
                            "thousand terms)");
}

static const void *apply(parser *p, jx_expression_op op, const void *a,
                         const void *b, size_t at)
{
    if (!a || (!b && op != JX_EXPR_NEG))
        return NULL;
    return p->large ? nothing
                    : checked(p, p->make->apply(p->env, op, a, b), at);
}

static bool deeper(parser *p)
{
    if (++p->depth <= MAX_NESTING)
        return true;
    fail_at(p, p->pos, "less nesting (256 levels)");
    return false;
}

/* -- Characters --------------------------------------------------------- */

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

static bool take(parser *p, const char *sign)
{
    size_t n = strlen(sign);

    peek(p);
    if (p->length - p->pos < n || memcmp(p->text + p->pos, sign, n))
        return false;
    p->pos += n;
    return true;
}

static bool expect(parser *p, const char *sign, const char *expected)
{
    return take(p, sign) || fail_at(p, p->pos, expected);
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

/* -- Numbers and names -------------------------------------------------- */

static bool number(parser *p, __int128 *value)
{
    size_t start = p->pos;
    bool fits = true;

    *value = 0;
    for (; is_digit(char_at(p, p->pos)); p->pos++)
        fits = fits && !__builtin_mul_overflow(*value, 10, value) &&
               !__builtin_add_overflow(*value, char_at(p, p->pos) - '0', value);
    if (is_letter(char_at(p, p->pos)) || char_at(p, p->pos) == '.')
        return fail_at(p, p->pos, "an operator after the number");
    /* Python's octal of old is nobody's decimal. */
    if (char_at(p, start) == '0' && *value)
        return fail_at(p, start, "a number that does not begin with 0");
    if (!fits)
        too_large(p, start, "a number below 2^127");
    return true;
}

static bool quoted_key(parser *p)
{
    char quote = char_at(p, p->pos++);

    /* Control characters stay out: a NUL would end the name for everybody who
     * reads it later. */
    while ((unsigned char)char_at(p, p->pos) >= ' ' &&
           char_at(p, p->pos) != quote)
        p->pos += char_at(p, p->pos) == '\\' &&
                          (unsigned char)char_at(p, p->pos + 1) >= ' '
                      ? 2
                      : 1;
    return char_at(p, p->pos++) == quote;
}

/* A path after a name: [0], ['key'], .field. */
static bool path(parser *p)
{
    for (;;) {
        char c = char_at(p, p->pos);
        size_t open = p->pos;
        bool ok = true;

        if (c == '.' && is_letter(char_at(p, p->pos + 1))) {
            p->pos++;
            while (is_letter(char_at(p, p->pos)) ||
                   is_digit(char_at(p, p->pos)))
                p->pos++;
            continue;
        }
        if (c != '[')
            return true;
        p->pos++;
        if (char_at(p, p->pos) == '\'' || char_at(p, p->pos) == '"')
            ok = quoted_key(p);
        else
            while (is_digit(char_at(p, p->pos)))
                p->pos++;
        if (!ok || char_at(p, p->pos) != ']')
            return fail_at(p, open, "an index or a quoted key and ']'");
        p->pos++;
    }
}

static const void *sum(parser *p);

static const void *call(parser *p, jx_expression_op op, size_t at)
{
    const void *a, *b;

    if (!expect(p, "(", "'(' after the name of an operation"))
        return NULL;
    a = sum(p);
    if (!a || !expect(p, ",", "',' or an operator"))
        return NULL;
    b = sum(p);
    if (!b || !expect(p, ")", "')' or an operator"))
        return NULL;
    return apply(p, op, a, b, at);
}

static const void *name(parser *p)
{
    static const char *const operations[] = {"floordiv", "mod", "max", "min"};
    size_t start = p->pos, length;

    while (is_letter(char_at(p, p->pos)) || is_digit(char_at(p, p->pos)))
        p->pos++;
    length = p->pos - start;
    for (int i = 0; i < 4; i++)
        if (strlen(operations[i]) == length &&
            !memcmp(operations[i], p->text + start, length))
            return call(p, (jx_expression_op)(JX_EXPR_FLOORDIV + i), start);
    if (!path(p))
        return NULL;
    if (p->large)
        return nothing;
    return checked(p, p->make->name(p->env, p->text + start, p->pos - start),
                   start);
}

/* -- Expressions -------------------------------------------------------- */

static const void *atom(parser *p)
{
    char c = peek(p);
    size_t at = p->pos;
    const void *made;
    __int128 value;

    if (is_digit(c)) {
        if (!number(p, &value))
            return NULL;
        return p->large ? nothing
                        : checked(p, p->make->number(p->env, value), at);
    }
    if (is_letter(c))
        return name(p);
    if (!take(p, "("))
        return fail_at(p, at, "a variable, a number, an operation or '('");
    made = sum(p);
    return made && expect(p, ")", "')' or an operator") ? made : NULL;
}

static bool raises(parser *p)
{
    return take(p, "**") || take(p, "^");
}

/* a**b, or what is certainly too large for a power. */
static long raised(long a, long b)
{
    long result = 1;

    for (; b > 0 && result <= MAX_POWER && (a > 1 || b == 1); b--)
        result *= a;
    return b > 0 && a < 2 ? a : result;
}

static bool exponent(parser *p, long *value)
{
    size_t at;
    __int128 number_read;
    long by;
    bool ok;

    if (!deeper(p))
        return false;
    peek(p);
    at = p->pos;
    if (take(p, "+")) {
        ok = exponent(p, value);
    } else if (take(p, "(")) {
        ok = exponent(p, value) && expect(p, ")", "')' or '**'");
    } else {
        ok = is_digit(peek(p)) ||
             fail_at(p, at, "a power that is a number, not negative");
        ok = ok && number(p, &number_read);
        *value =
            !ok || number_read > MAX_POWER ? MAX_POWER + 1 : (long)number_read;
    }
    if (ok && raises(p)) {
        ok = exponent(p, &by);
        *value = ok ? raised(*value, by) : 0;
    }
    p->depth--;
    return ok;
}

static const void *power(parser *p)
{
    const void *made;
    size_t at;
    long n = 0;

    peek(p);
    at = p->pos;
    made = atom(p);
    if (!made || !raises(p))
        return made;
    if (!exponent(p, &n))
        return NULL;
    if (p->large)
        return nothing;
    return checked(p, n > MAX_POWER ? NULL : p->make->power(p->env, made, n),
                   at);
}

static const void *unary(parser *p)
{
    const void *made;
    size_t at;

    if (peek(p) != '+' && peek(p) != '-')
        return power(p);
    if (!deeper(p))
        return NULL;
    at = p->pos;
    made = take(p, "+") ? unary(p)
                        : (p->pos++, apply(p, JX_EXPR_NEG, unary(p), NULL, at));
    p->depth--;
    return made;
}

/* A minus before the first product is done after its multiplications, as JAX
 * does it: the value is the same, what equalities rewrite is not. */
static const void *product(parser *p, bool negated)
{
    const void *made = unary(p);
    size_t first = p->pos;

    while (made) {
        size_t at = (peek(p), p->pos);
        jx_expression_op op;

        if (char_at(p, at) == '*' && char_at(p, at + 1) != '*')
            op = JX_EXPR_MUL;
        else if (char_at(p, at) == '%')
            op = JX_EXPR_PERCENT;
        else if (char_at(p, at) == '/')
            op = JX_EXPR_SLASHES;
        else
            break;
        p->pos++;
        if (op == JX_EXPR_SLASHES) {
            if (char_at(p, p->pos) != '/')
                return fail_at(p, p->pos, "'//' (floor division)");
            p->pos++;
        }
        if (negated && op != JX_EXPR_MUL) {
            made = apply(p, JX_EXPR_NEG, made, NULL, first);
            negated = false;
        }
        made = apply(p, op, made, unary(p), at);
    }
    return negated ? apply(p, JX_EXPR_NEG, made, NULL, first) : made;
}

static const void *sum(parser *p)
{
    const void *made;

    if (!deeper(p))
        return NULL;
    made = product(p, take(p, "-"));
    while (made && (peek(p) == '+' || peek(p) == '-')) {
        bool minus = peek(p) == '-';
        size_t at = p->pos++;
        const void *next = product(p, false);

        if (minus)
            next = apply(p, JX_EXPR_NEG, next, NULL, at);
        made = apply(p, JX_EXPR_ADD, made, next, at);
    }
    p->depth--;
    return made;
}

const void *jx_expression_read(const char *text, size_t length,
                               const jx_expression_maker *make, void *env,
                               jx_expression_end *end)
{
    parser p = {.text = text, .length = length, .make = make, .env = env};
    const void *made = sum(&p);

    peek(&p);
    *end = (jx_expression_end){.at = p.expected ? p.failed_at : p.pos,
                               .expected = p.expected};
    if (p.large && !p.expected)
        *end = (jx_expression_end){p.large_at, p.large, true};
    return end->expected ? NULL : made;
}

static const void *any_number(void *env, __int128 value)
{
    (void)env;
    (void)value;
    return nothing;
}

static const void *any_name(void *env, const char *text, size_t length)
{
    (void)env;
    (void)text;
    (void)length;
    return nothing;
}

static const void *any_apply(void *env, jx_expression_op op, const void *a,
                             const void *b)
{
    (void)env;
    (void)op;
    (void)a;
    (void)b;
    return nothing;
}

static const void *any_power(void *env, const void *a, long n)
{
    (void)env;
    (void)n;
    return a;
}

size_t jx_expression_length(const char *text, size_t length)
{
    static const jx_expression_maker none = {any_number, any_name, any_apply,
                                             any_power};
    parser p = {.text = text, .length = length, .make = &none};

    sum(&p);
    peek(&p);
    return p.expected ? 0 : p.pos;
}

int jx_expression_relation(const char *text, size_t length, size_t *used)
{
    static const char *const signs[] = {"==", "!=", ">=", "<=", ">", "<"};

    for (int i = 0; i < 6; i++) {
        *used = strlen(signs[i]);
        if (length >= *used && !memcmp(text, signs[i], *used))
            return i;
    }
    return -1;
}
