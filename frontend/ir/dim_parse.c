/* dim_parse.c - dims from text, by the grammar of frontend/base/expression.h.
 *
 * As in JAX, `floordiv(a, b)` stands as written while `a // b` is simplified.
 * Operations are done in JAX's order, which shows where equalities rewrite. */
#include "frontend/base/expression.h"
#include "frontend/ir/dim.h"

typedef struct making {
    jx_dims *in;
    jx_dim_reading *reading;
} making;

static const void *number(void *env, jx_int value)
{
    const making *m = env;

    return jx_dim_wide(m->in, value);
}

static const void *name(void *env, const char *text, size_t length)
{
    const making *m = env;
    jx_ctx *ctx = jx_dims_ctx(m->in);
    const char *kept = jx_strings_add(&ctx->strings, text, length);

    return kept ? jx_dim_var(m->in, kept, m->reading->scope) : NULL;
}

/* Every divisor, also of what the normal form has no trace of: n - n//d*0. */
static void note_divisor(const making *m, const jx_dim *d)
{
    jx_dim_divisors *to = m->reading->divisors;
    jx_int k;

    if (!to || (jx_dim_is_wide(d, &k) && k))
        return;
    for (size_t i = 0; i < to->count; i++)
        if (to->at[i] == d)
            return;
    JX_PUSH(jx_dims_ctx(m->in)->arena, to, d);
}

static const void *apply(void *env, jx_expression_op op, const void *a,
                         const void *b)
{
    static const jx_atom_kind kinds[] = {
        [JX_EXPR_SLASHES] = JX_ATOM_FLOORDIV,  [JX_EXPR_PERCENT] = JX_ATOM_MOD,
        [JX_EXPR_FLOORDIV] = JX_ATOM_FLOORDIV, [JX_EXPR_MOD] = JX_ATOM_MOD,
        [JX_EXPR_MAX] = JX_ATOM_MAX,           [JX_EXPR_MIN] = JX_ATOM_MIN,
    };
    const making *m = env;

    switch (op) {
    case JX_EXPR_ADD: return jx_dim_add(m->in, a, b);
    case JX_EXPR_NEG: return jx_dim_neg(m->in, a);
    case JX_EXPR_MUL: return jx_dim_mul(m->in, a, b);
    case JX_EXPR_SLASHES:
    case JX_EXPR_PERCENT:
        note_divisor(m, b);
        return m->reading->written ? jx_dim_literal(m->in, kinds[op], a, b)
                                   : jx_dim_apply(m->in, kinds[op], a, b);
    case JX_EXPR_FLOORDIV:
    case JX_EXPR_MOD:
        note_divisor(m, b);
        return jx_dim_literal(m->in, kinds[op], a, b);
    case JX_EXPR_MAX:
    case JX_EXPR_MIN: break;
    }
    return m->reading->written ? jx_dim_literal(m->in, kinds[op], a, b)
                               : jx_dim_apply(m->in, kinds[op], a, b);
}

static const void *power(void *env, const void *a, long n)
{
    const making *m = env;

    return jx_dim_pow(m->in, a, n);
}

const jx_dim *jx_dim_read(jx_dims *in, const char *text, size_t length,
                          jx_dim_reading *reading)
{
    static const jx_expression_maker maker = {number, name, apply, power};
    making m = {in, reading};
    jx_expression_end end;
    const jx_dim *dim = jx_expression_read(text, length, &maker, &m, &end);

    reading->end = end.at;
    reading->expected = end.expected;
    reading->too_large = end.too_large;
    return dim;
}

const jx_dim *jx_dim_parse_prefix(jx_dims *in, const char *text, size_t length,
                                  int scope, size_t *end, const char **expected)
{
    jx_dim_reading reading = {.scope = scope};
    const jx_dim *dim = jx_dim_read(in, text, length, &reading);

    *end = reading.end;
    *expected = reading.expected;
    return dim;
}

const jx_dim *jx_dim_parse_written(jx_dims *in, const char *text, size_t length,
                                   int scope, size_t *end,
                                   const char **expected)
{
    jx_dim_reading reading = {.scope = scope, .written = true};
    const jx_dim *dim = jx_dim_read(in, text, length, &reading);

    *end = reading.end;
    *expected = reading.expected;
    return dim;
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
