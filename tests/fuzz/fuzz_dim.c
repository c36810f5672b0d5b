/* fuzz_dim.c - text to dims and back, and questions, against brute force.
 *
 * The input is a text; up to a NUL or its end it is read as a dim.  What can
 * be read must print to a text that gives the same pointer, must have the value
 * that a plain evaluator of the text gives, lie within its bounds, and keep
 * its value when simplified.  What has a comparison in it is a question too
 * (constraints before it, `;` between them): the prover's answer must hold on
 * a small box. */
#include "prover/prover.h"
#include "prover/work.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_TEXT = 400, MAX_QUESTION = 48 };

/* -------------------------------------------------------------------------
 * The plain evaluator
 * ---------------------------------------------------------------------- */

typedef struct evaluator {
    const char *text;
    size_t length, pos;
    int64_t seed;
    bool failed; /* no value: division by 0, overflow, or not understood */
} evaluator;

static char peek(evaluator *e)
{
    while (e->pos < e->length &&
           (e->text[e->pos] == ' ' || e->text[e->pos] == '\t'))
        e->pos++;
    return e->pos < e->length ? e->text[e->pos] : '\0';
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

/* A small value that depends on the name alone. */
static int64_t value_of(const char *name, size_t length, int64_t seed)
{
    uint64_t h = (uint64_t)seed * 77 + 5;

    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)name[i]) * 1099511628211u;
    return 1 + (int64_t)((h >> 20) % 9);
}

static jx_int small(evaluator *e, jx_int v)
{
    if (v > ((jx_int)1 << 100) || v < -((jx_int)1 << 100))
        e->failed = true;
    return e->failed ? 0 : v;
}

static jx_int divide(evaluator *e, jx_int a, jx_int b, bool quotient)
{
    jx_int q, r;

    if (e->failed || !b) {
        e->failed = true;
        return 0;
    }
    q = a / b;
    r = a % b;
    if (r && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    return quotient ? q : r;
}

static jx_int multiply(evaluator *e, jx_int a, jx_int b)
{
    jx_int v;

    if (__builtin_mul_overflow(a, b, &v)) {
        e->failed = true;
        return 0;
    }
    return small(e, v);
}

static jx_int sum(evaluator *e);

static jx_int call(evaluator *e, const char *name)
{
    jx_int a, b;

    e->pos++;
    a = sum(e);
    peek(e);
    e->pos++;
    b = sum(e);
    peek(e);
    e->pos++;
    switch (name[0] == 'm' ? name[1] : 'f') {
    case 'f': return divide(e, a, b, true);
    case 'o': return divide(e, a, b, false);
    case 'a': return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

static jx_int name(evaluator *e)
{
    size_t start = e->pos, n;
    const char *at = e->text + start;

    while (e->pos < e->length && is_name_char(e->text[e->pos]))
        e->pos++;
    n = e->pos - start;
    if (e->pos < e->length &&
        (e->text[e->pos] == '[' || e->text[e->pos] == '.' ||
         (unsigned char)e->text[e->pos] >= 0x80)) {
        e->failed = true; /* paths and other letters are left out */
        return 0;
    }
    if (peek(e) == '(')
        return call(e, at);
    return value_of(at, n, e->seed);
}

static jx_int power(evaluator *e);

static jx_int factor(evaluator *e)
{
    char c = peek(e);
    jx_int v = 0;

    if (c == '(') {
        e->pos++;
        v = sum(e);
        peek(e);
        e->pos++;
        return v;
    }
    if (c >= '0' && c <= '9') {
        while (e->pos < e->length && e->text[e->pos] >= '0' &&
               e->text[e->pos] <= '9')
            v = small(e, multiply(e, v, 10) + (e->text[e->pos++] - '0'));
        return v;
    }
    if (is_name_char(c))
        return name(e);
    e->failed = true;
    e->pos = e->length;
    return 0;
}

static bool raises(evaluator *e)
{
    bool stars;

    peek(e);
    stars = e->pos + 2 <= e->length && !memcmp(e->text + e->pos, "**", 2);
    if (!stars && peek(e) != '^')
        return false;
    e->pos += stars ? 2 : 1;
    return true;
}

static jx_int raised(evaluator *e, jx_int v, jx_int n)
{
    jx_int result = 1;

    if (n > 200)
        e->failed = true;
    for (; n > 0 && !e->failed; n--)
        result = multiply(e, result, v);
    return result;
}

/* From the right: 2^3^2 is 2^9. */
static jx_int exponent(evaluator *e)
{
    char c = peek(e);
    jx_int n = 0;

    if (c == '+' || c == '(') {
        e->pos++;
        n = exponent(e);
        peek(e);
        e->pos += c == '(';
    }
    while (c != '+' && c != '(' && e->pos < e->length &&
           e->text[e->pos] >= '0' && e->text[e->pos] <= '9')
        n = small(e, n * 10 + (e->text[e->pos++] - '0'));
    return raises(e) ? raised(e, n, exponent(e)) : n;
}

static jx_int power(evaluator *e)
{
    char c = peek(e);
    jx_int v;

    if (c == '-' || c == '+') {
        e->pos++;
        v = power(e);
        return c == '-' ? -v : v;
    }
    v = factor(e);
    return raises(e) ? raised(e, v, exponent(e)) : v;
}

static jx_int product(evaluator *e)
{
    jx_int v = power(e);

    for (;;) {
        char c = peek(e);

        if (c == '*') {
            e->pos++;
            v = multiply(e, v, power(e));
        } else if (c == '%' || c == '/') {
            e->pos += c == '/' ? 2 : 1;
            jx_int by = power(e);
            v = divide(e, v, by, c == '/');
        } else {
            return v;
        }
    }
}

static jx_int sum(evaluator *e)
{
    jx_int v;

    if (peek(e) == '+')
        e->pos++;
    v = product(e);
    for (;;) {
        char c = peek(e);

        if (c != '+' && c != '-')
            return v;
        e->pos++;
        jx_int next = product(e);
        v = small(e, c == '+' ? v + next : v - next);
    }
}

/* -------------------------------------------------------------------------
 * Dims
 * ---------------------------------------------------------------------- */

static bool look_up(void *env, const jx_dim_atom *var, int64_t *value)
{
    *value = value_of(var->name, strlen(var->name), *(int64_t *)env);
    return true;
}

static void check_value(const jx_dim *d, const jx_dim *simple, const char *text,
                        size_t length, int64_t seed)
{
    evaluator e = {.text = text, .length = length, .seed = seed};
    jx_int expected = sum(&e), value;

    if (e.failed || !jx_dim_eval_wide(d, look_up, &seed, &value))
        return;
    check(value == expected);
    jx_dim_range r = jx_dim_bounds(d, 1);
    check(!r.has_low || r.low <= value);
    check(!r.has_high || value <= r.high);
    if (simple && jx_dim_eval_wide(simple, look_up, &seed, &expected))
        check(value == expected);
}

static void check_dim(jx_dims *in, const char *text, size_t length)
{
    const char *expected = NULL;
    size_t at = 0;
    const jx_dim *d = jx_dim_parse(in, text, length, 0, &at, &expected);
    jx_buffer printed = {0};
    jx_work work;

    check(at <= length);
    if (!d) {
        check(expected != NULL);
        return;
    }
    jx_dim_print(d, &printed);
    /* Thousands of terms, one after the other, may not fit. */
    check(jx_dim_parse(in, jx_buffer_text(&printed), printed.length, 0, &at,
                       &expected) == d ||
          !jx_ok(jx_dims_ctx(in)));
    jx_buffer_free(&printed);
    if (!jx_work_init(&work, NULL, 1))
        return;
    const jx_dim *simple = jx_work_simplify(&work, jx_work_import(&work, d));
    for (int64_t seed = 0; seed < 4; seed++)
        check_value(d, simple, text, length, seed);
    jx_work_free(&work);
}

/* -------------------------------------------------------------------------
 * Questions
 * ---------------------------------------------------------------------- */

typedef struct point {
    const jx_dim_atom *vars[8];
    int64_t at[8];
    int count;
} point;

static bool at_point(void *env, const jx_dim_atom *var, int64_t *value)
{
    point *p = env;

    for (int i = 0; i < p->count; i++)
        if (p->vars[i] == var) {
            *value = p->at[i];
            return true;
        }
    return false;
}

static int truth(const jx_constraint *c, point *p)
{
    jx_int a, b;

    if (!jx_dim_eval_wide(c->lhs, at_point, p, &a) ||
        !jx_dim_eval_wide(c->rhs, at_point, p, &b))
        return -1;
    switch (c->relation) {
    case JX_REL_EQ: return a == b;
    case JX_REL_NE: return a != b;
    case JX_REL_GE: return a >= b;
    case JX_REL_LE: return a <= b;
    case JX_REL_GT: return a > b;
    case JX_REL_LT: return a < b;
    }
    return -1;
}

static void gather(jx_dims *in, const jx_dim *d, point *p)
{
    int count;
    const jx_dim_atom *const *vars = jx_dim_vars(in, d, &count);

    for (int i = 0; i < count; i++) {
        int64_t v;
        if (p->count < 8 && !at_point(p, vars[i], &v))
            p->vars[p->count++] = vars[i];
    }
}

static void check_point(const jx_constraint *cs, int n, const jx_constraint *q,
                        const jx_answer *a, point *p)
{
    int t;

    for (int i = 0; i < n; i++)
        if (truth(&cs[i], p) != 1)
            return;
    check(!a->ncore);
    if ((t = truth(q, p)) < 0)
        return;
    check(a->truth != JX_CONTRADICTION);
    check(a->truth != JX_TRUE || t);
    check(a->truth != JX_FALSE || !t);
    for (int i = 0; i < a->nsuggestions; i++)
        check(t || truth(&a->suggestions[i], p) != 1);
}

static void check_question(jx_ctx *ctx, jx_dims *in, const char *text,
                           size_t length)
{
    jx_constraint cs[5];
    const char *all = text;
    const char *expected;
    size_t at;
    point p = {.count = 0};
    int n = 0;

    while (length && n < 5) {
        const char *end = memchr(text, ';', length);
        size_t own = end ? (size_t)(end - text) : length;

        if (!jx_constraint_parse(in, text, own, 0, &cs[n], &at, &expected)) {
            check(at <= own && expected);
            return;
        }
        gather(in, cs[n].lhs, &p);
        gather(in, cs[n].rhs, &p);
        n++;
        own += end != NULL;
        text += own;
        length -= own;
    }
    if (!n || p.count > 3)
        return;
    jx_prover_options o = {.no_solver = true, .suggest = all[0] == ' '};
    jx_prover *prover = jx_prover_new(ctx, in, cs, n - 1, &o);
    if (!prover)
        return;
    jx_answer a = jx_prove_compare(prover, cs[n - 1].lhs, cs[n - 1].relation,
                                   cs[n - 1].rhs);
    check(a.truth != JX_UNKNOWN || a.why);
    check(a.truth != JX_DEPENDS || (a.has_true && a.has_false));
    for (int k = 0; k < 343; k++) {
        for (int i = 0, rest = k; i < p.count; i++, rest /= 7)
            p.at[i] = 1 + rest % 7;
        check_point(cs, n - 1, &cs[n - 1], &a, &p);
    }
    jx_prover_free(prover);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(1 << 26);
    jx_dims *in = ctx ? jx_dims_new(ctx) : NULL;
    const char *text = (const char *)data;

    if (in && size <= MAX_TEXT) {
        check_dim(in, text, size);
        if (size <= MAX_QUESTION && memchr(text, '=', size))
            check_question(ctx, in, text, size);
    }
    jx_ctx_free(ctx);
    return 0;
}
