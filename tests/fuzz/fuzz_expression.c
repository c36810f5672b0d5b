/* fuzz_expression.c - the grammar of sizes alone, with a maker that calculates
 * modulo 2^64 and finds some things too large.
 *
 * What is read ends within the text; the part that was read is read again,
 * whole, and within parentheses, with the same value; what does not fit is as
 * long as if it did. */
#include "frontend/base/expression.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_VALUES = 1 << 12 };

typedef struct values {
    uint64_t at[MAX_VALUES];
    int count;
    bool limited; /* some numbers are too large */
} values;

static const void *keep(values *v, uint64_t value)
{
    if (v->count == MAX_VALUES || (v->limited && value % 7 == 3))
        return NULL;
    v->at[v->count] = value;
    return &v->at[v->count++];
}

static const void *number(void *env, __int128 value)
{
    check(value >= 0);
    return keep(env, (uint64_t)value);
}

static const void *name(void *env, const char *text, size_t length)
{
    uint64_t h = 1469598103934665603u;

    check(length > 0 && !(text[0] >= '0' && text[0] <= '9'));
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return keep(env, h);
}

static const void *apply(void *env, jx_expression_op op, const void *a,
                         const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = b ? *(const uint64_t *)b : 0;

    check((op == JX_EXPR_NEG) == !b);
    switch (op) {
    case JX_EXPR_ADD: return keep(env, x + y);
    case JX_EXPR_NEG: return keep(env, -x);
    case JX_EXPR_MUL: return keep(env, x * y);
    case JX_EXPR_SLASHES:
    case JX_EXPR_FLOORDIV: return keep(env, (x * 31 + y) * 1000003);
    case JX_EXPR_PERCENT:
    case JX_EXPR_MOD: return keep(env, (x * 37 + y) * 1000033);
    case JX_EXPR_MAX: return keep(env, x > y ? x : y);
    case JX_EXPR_MIN: return keep(env, x < y ? x : y);
    }
    return NULL;
}

static const void *power(void *env, const void *a, long n)
{
    uint64_t x = *(const uint64_t *)a, result = 1;

    check(n >= 0 && n <= 1 << 20);
    for (long bits = n; bits; bits >>= 1, x *= x)
        if (bits & 1)
            result *= x;
    return keep(env, result);
}

static bool read(const char *text, size_t length, bool limited,
                 jx_expression_end *end, uint64_t *value)
{
    static const jx_expression_maker maker = {number, name, apply, power};
    values *v = calloc(1, sizeof *v);
    const void *made;

    check(v != NULL);
    v->limited = limited;
    made = jx_expression_read(text, length, &maker, v, end);
    if (made)
        *value = *(const uint64_t *)made;
    check(!made == (end->expected != NULL));
    check(made || end->at <= length);
    check(!made || !end->too_large);
    free(v);
    return made != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_copy(data, size), *wrapped;
    jx_expression_end end, again;
    uint64_t value, other;
    size_t whole = jx_expression_length(text, size), used;

    check(whole <= size);
    if (read(text, size, false, &end, &value)) {
        check(end.at == whole);
        check(read(text, whole, false, &again, &other) && again.at == whole);
        check(other == value);
        wrapped = malloc(whole + 2);
        check(wrapped != NULL);
        wrapped[0] = '(';
        memcpy(wrapped + 1, text, whole);
        wrapped[whole + 1] = ')';
        /* But for what is nested as deeply as it may be already. */
        if (read(wrapped, whole + 2, false, &again, &other))
            check(again.at == whole + 2 && other == value);
        free(wrapped);
    } else {
        check((whole > 0) == end.too_large);
    }
    if (!read(text, size, true, &again, &other) && again.too_large)
        check(whole > 0);
    if (jx_expression_relation(text, size, &used) >= 0)
        check(used <= size);
    free(text);
    return 0;
}
