/* test_dim.c - dims against JAX's own text and values (tests/prove/dims.tsv.gz,
 * made by tests/prove/make_dims.py), and against plain evaluation. */
#include "frontend/ir/dim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

typedef struct env {
    const char *names[8];
    int64_t values[8];
    int count;
} env;

static bool look_up(void *data, const jx_dim_atom *var, int64_t *value)
{
    const env *e = data;

    for (int i = 0; i < e->count; i++)
        if (!strcmp(e->names[i], var->name)) {
            *value = e->values[i];
            return true;
        }
    return false;
}

static const jx_dim *parse(jx_dims *in, const char *text)
{
    const char *expected;
    size_t at;
    const jx_dim *d = jx_dim_parse(in, text, strlen(text), 0, &at, &expected);

    if (!d)
        fail_msg("%s: at %zu expected %s", text, at, expected);
    return d;
}

static void check_print(const jx_dim *d, const char *expected)
{
    jx_buffer text = {0};

    jx_dim_print(d, &text);
    assert_true(jx_buffer_ok(&text));
    assert_string_equal(jx_buffer_text(&text), expected);
    jx_buffer_free(&text);
}

/* "a=3,b=4" */
static env read_env(char *text)
{
    env e = {0};

    for (char *part = strtok(text, ","); part; part = strtok(NULL, ",")) {
        char *equals = strchr(part, '=');
        assert_non_null(equals);
        *equals = '\0';
        e.names[e.count] = part;
        e.values[e.count++] = atoll(equals + 1);
    }
    return e;
}

static void check_line(char *line)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    char *jax = strchr(line, '\t'), *at, *value;
    int64_t v;

    *jax++ = '\0';
    at = strchr(jax, '\t');
    *at++ = '\0';
    value = strchr(at, '\t');
    *value++ = '\0';
    value[strcspn(value, "\n")] = '\0';

    const jx_dim *d = parse(in, line);
    check_print(d, jax);
    assert_ptr_equal(parse(in, jax), d);
    env e = read_env(at);
    if (!jx_dim_eval(d, look_up, &e, &v))
        assert_string_equal(value, "-");
    else
        assert_int_equal(v, atoll(value));
    jx_ctx_free(ctx);
}

static void dims_are_built_printed_and_evaluated_as_by_jax(void **state)
{
    gzFile file = gzopen("tests/prove/dims.tsv.gz", "rb");
    static char line[1 << 16];
    int count = 0;
    (void)state;

    assert_non_null(file);
    for (; gzgets(file, line, sizeof line); count++)
        check_line(line);
    gzclose(file);
    assert_true(count >= 4000);
}

static void check_error(const char *text, size_t where, const char *what)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    const char *expected = NULL;
    size_t at = 999;

    assert_null(jx_dim_parse(in, text, strlen(text), 0, &at, &expected));
    assert_int_equal(at, where);
    if (!strstr(expected, what))
        fail_msg("%s: expected %s, not %s", text, what, expected);
    jx_ctx_free(ctx);
}

static void an_error_names_place_and_expectation(void **state)
{
    (void)state;
    check_error("", 0, "a variable");
    check_error("  ", 2, "a variable");
    check_error("a +", 3, "a variable");
    check_error("a + * b", 4, "a variable");
    check_error("a / b", 3, "'//'");
    check_error("max(a)", 5, "','");
    check_error("max(a, b", 8, "')'");
    check_error("floordiv a", 9, "'('");
    check_error("a b", 2, "operator or the end");
    check_error("a^b", 2, "a power");
    check_error("a^-1", 2, "a power");
    check_error("3x", 1, "an operator");
    check_error("a >= 2", 2, "operator or the end");
    check_error("args[0.shape", 4, "an index");
    check_error("args['a\nb'].shape", 4, "a quoted key");
    check_error("(a", 2, "')'");
    check_error("999999999999999999999999999999999999999999999", 0,
                "a number below");
    check_error("(a+b)^1000", 0, "smaller");
    check_error("170141183460469231731687303715884105727 + 1", 40, "smaller");
}

static void nesting_is_limited(void **state)
{
    char *deep = malloc(100001);
    (void)state;

    for (const char *c = "(-"; *c; c++) {
        memset(deep, *c, 100000);
        deep[100000] = '\0';
        check_error(deep, 256, "less nesting");
    }
    free(deep);
}

/* Found by fuzzing: a NUL in a quoted key cut the name short. */
static void a_name_has_no_control_characters(void **state)
{
    static const char texts[][12] = {"a['x\0y']+1", "a['\\\0'] + 1"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        const char *expected = NULL;
        size_t at;
        assert_null(jx_dim_parse(jx_dims_new(ctx), texts[i], sizeof texts[i], 0,
                                 &at, &expected));
        assert_int_equal(at, 1);
        assert_non_null(expected);
        jx_ctx_free(ctx);
    }
}

static void every_prefix_of_a_text_is_read_or_refused_in_place(void **state)
{
    const char *text = "2*max(a, - b)^2 + floordiv(args[0].shape[1], 3) // n";
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    const char *expected;
    size_t at;
    (void)state;

    for (size_t n = 0; n < strlen(text); n++)
        if (!jx_dim_parse(in, text, n, 0, &at, &expected))
            assert_true(at <= n && expected);
    assert_non_null(parse(in, text));
    jx_ctx_free(ctx);
}

static void names_with_paths_are_variables(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    int count;
    (void)state;

    const jx_dim *d =
        parse(in, "args[0].shape[1] - kwargs['x\\'y']['z'].shape[0]*2");
    const jx_dim_atom *const *vars = jx_dim_vars(in, d, &count);
    assert_int_equal(count, 2);
    assert_string_equal(vars[0]->name, "args[0].shape[1]");
    assert_string_equal(vars[1]->name, "kwargs['x\\'y']['z'].shape[0]");
    jx_ctx_free(ctx);
}

static void variables_of_two_scopes_differ(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    const jx_dim *a0 = jx_dim_var(in, "a", 0), *a1 = jx_dim_var(in, "a", 1);
    int count;
    (void)state;

    assert_ptr_not_equal(a0, a1);
    assert_ptr_equal(a0, jx_dim_var(in, "a", 0));
    const jx_dim *d = jx_dim_sub(in, a0, a1);
    assert_int_equal(jx_dim_nterms(d), 2);
    jx_dim_vars(in, d, &count);
    assert_int_equal(count, 2);
    jx_ctx_free(ctx);
}

static void overflow_gives_null_and_null_gives_null(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    const jx_dim *big = jx_dim_int(in, INT64_MAX), *a = parse(in, "a");
    const jx_dim *d = jx_dim_mul(in, jx_dim_mul(in, big, big), a);
    (void)state;

    assert_non_null(d);
    assert_null(jx_dim_mul(in, d, big));
    assert_null(jx_dim_add(in, jx_dim_mul(in, d, big), a));
    assert_null(jx_dim_max(in, NULL, a));
    assert_null(jx_dim_neg(in, NULL));
    assert_null(jx_dim_pow(in, parse(in, "a + b + c + n"), 100));
    jx_ctx_free(ctx);
}

static void deep_and_wide_dims_end_in_null_not_in_a_crash(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    const jx_dim *chain = parse(in, "a"), *wide = chain;
    const jx_dim *two = jx_dim_int(in, 2), *last = NULL;
    int depth = 0;
    (void)state;

    for (; chain; depth++) {
        last = chain;
        chain = jx_dim_add(in, jx_dim_floordiv(in, chain, two), two);
    }
    assert_true(depth > 400 && depth < 100000);
    assert_true(jx_dim_bounds(last, 1).has_low);
    for (depth = 0; wide; depth++)
        wide = jx_dim_max(in, jx_dim_floordiv(in, wide, two),
                          jx_dim_mod(in, wide, two));
    assert_true(depth > 8 && depth < 64);
    jx_ctx_free(ctx);
}

static void a_polynomial_is_divided_only_where_it_goes(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    const jx_dim *p = parse(in, "(a + 2*b)*(a*b - 3)");
    (void)state;

    check_print(jx_dim_divide_exactly(in, p, parse(in, "a + 2*b")), "a*b - 3");
    assert_null(jx_dim_divide_exactly(in, p, parse(in, "a + b")));
    assert_null(jx_dim_divide_exactly(in, p, parse(in, "0")));
    assert_null(
        jx_dim_divide_exactly(in, parse(in, "2*a + 1"), parse(in, "2")));
    check_print(parse(in, "(6*a + 5) // -3"), "- 2*a - 2");
    check_print(parse(in, "(6*a + 5) % -3"), "-1");
    check_print(parse(in, "7 // 0"), "floordiv(7, 0)");
    jx_ctx_free(ctx);
}

/* -------------------------------------------------------------------------
 * Random dims against evaluation
 * ---------------------------------------------------------------------- */

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static const jx_dim *random_dim(jx_dims *in, uint64_t *seed, int depth)
{
    static const char *names[] = {"a", "b", "c"};
    unsigned what = (unsigned)next(seed) % 9;

    if (!depth || what == 0)
        return jx_dim_int(in, (int64_t)(next(seed) % 9) - 4);
    if (what == 1)
        return jx_dim_var(in, names[next(seed) % 3], 0);
    const jx_dim *a = random_dim(in, seed, depth - 1);
    const jx_dim *b = random_dim(in, seed, depth - 1);
    switch (what) {
    case 2: return jx_dim_sub(in, a, b);
    case 3: return jx_dim_mul(in, a, b);
    case 4: return jx_dim_floordiv(in, a, b);
    case 5: return jx_dim_mod(in, a, b);
    case 6: return jx_dim_max(in, a, b);
    case 7: return jx_dim_min(in, a, b);
    default: return jx_dim_add(in, a, b);
    }
}

static void bounds_hold_at_every_point(void **state)
{
    uint64_t seed = 3;
    int64_t v;
    (void)state;

    for (int i = 0; i < 20000; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_dims *in = jx_dims_new(ctx);
        const jx_dim *d = random_dim(in, &seed, 4);
        int64_t base = (int64_t)(next(&seed) % 3);
        jx_dim_range r = jx_dim_bounds(d, base);

        for (int k = 0; k < 40; k++) {
            env e = {{"a", "b", "c"}, {0}, 3};
            for (int j = 0; j < 3; j++)
                e.values[j] = base + (int64_t)(next(&seed) % 7);
            if (!jx_dim_eval(d, look_up, &e, &v))
                continue;
            assert_true(!r.has_low || r.low <= v);
            assert_true(!r.has_high || v <= r.high);
        }
        jx_ctx_free(ctx);
    }
}

static void check_bounds(const char *text, int64_t low, int64_t high)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *in = jx_dims_new(ctx);
    jx_dim_range r = jx_dim_bounds(parse(in, text), 1);

    assert_int_equal(r.has_low, low != INT64_MIN);
    assert_int_equal(r.has_high, high != INT64_MAX);
    assert_true(!r.has_low || r.low == low);
    assert_true(!r.has_high || r.high == high);
    jx_ctx_free(ctx);
}

static void bounds_are_as_tight_as_intervals_can(void **state)
{
    (void)state;
    check_bounds("2*a + 3*b - 1", 4, INT64_MAX);
    check_bounds("1 - a*b", INT64_MIN, 0);
    check_bounds("mod(a, 8) - 3", -3, 4);
    check_bounds("mod(a, -8)", -7, 0);
    check_bounds("mod(2 - mod(a, 3), 4)", 0, 2);
    check_bounds("floordiv(mod(a, 8), 3)", 0, 2);
    check_bounds("floordiv(5, a)", 0, 5);
    check_bounds("floordiv(a, a - 3)", INT64_MIN, INT64_MAX);
    check_bounds("max(a - 5, -3)^2", 0, INT64_MAX);
    check_bounds("min(max(a - 5, -3), 2)^3", -27, 8);
    check_bounds("floordiv(- a, 2)", INT64_MIN, -1);
    check_bounds("mod(a, b)", 0, INT64_MAX);
}

static bool seventy_thousand(void *unused, const jx_dim_atom *var,
                             int64_t *value)
{
    (void)unused;
    (void)var;
    *value = 70000;
    return true;
}

static void check_wrapped(const char *text, int bits, int64_t expected)
{
    jx_ctx *ctx = jx_ctx_new(0);
    size_t at;
    const char *what;
    const jx_dim *dim =
        jx_dim_parse(jx_dims_new(ctx), text, strlen(text), 0, &at, &what);
    int64_t value;

    assert_non_null(dim);
    assert_true(jx_dim_eval_wrapped(dim, bits, seventy_thousand, NULL, &value));
    if (value != expected)
        fail_msg("%s in %d bits: %lld", text, bits, (long long)value);
    jx_ctx_free(ctx);
}

static void sizes_wrap_as_the_machine_does(void **state)
{
    (void)state;

    check_wrapped("k", 32, 70000);
    check_wrapped("k^2", 32, 605032704);
    check_wrapped("k^2", 64, 4900000000);
    check_wrapped("floordiv(k^2, 70000)", 32, 8643);
    check_wrapped("mod(k^2, 1000)", 32, 704);
    check_wrapped("k^2 - k^2 + k", 32, 70000);
    check_wrapped("- k^2", 32, -605032704);
    check_wrapped("max(k^3, 0)", 32, 0);
    check_wrapped("k^3", 32, -383225856);
    check_wrapped("k^4", 64, 5563255926290448384);
    check_wrapped("floordiv(k^2, 7)", 32, 86433243);
}

static void substitution_and_evaluation_commute(void **state)
{
    uint64_t seed = 7;
    int agreed = 0;
    (void)state;

    for (int i = 0; i < 20000; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_dims *in = jx_dims_new(ctx);
        const jx_dim *d = random_dim(in, &seed, 4);
        const jx_dim *by = random_dim(in, &seed, 2);
        const jx_dim_atom *a = jx_dim_var_atom(in, "a", 0);
        const jx_dim *put = jx_dim_substitute(in, d, a, by);
        env e = {{"a", "b", "c"}, {0}, 3};
        int64_t v, direct, after;

        for (int j = 0; j < 3; j++)
            e.values[j] = 1 + (int64_t)(next(&seed) % 7);
        assert_non_null(put);
        if (jx_dim_eval(by, look_up, &e, &v)) {
            bool ok = jx_dim_eval(put, look_up, &e, &after);
            e.values[0] = v;
            /* Simplifying may only lose a division by 0. */
            if (jx_dim_eval(d, look_up, &e, &direct)) {
                assert_true(ok);
                assert_int_equal(direct, after);
                agreed++;
            }
        }
        jx_ctx_free(ctx);
    }
    assert_true(agreed > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dims_are_built_printed_and_evaluated_as_by_jax),
        cmocka_unit_test(an_error_names_place_and_expectation),
        cmocka_unit_test(a_name_has_no_control_characters),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(every_prefix_of_a_text_is_read_or_refused_in_place),
        cmocka_unit_test(names_with_paths_are_variables),
        cmocka_unit_test(variables_of_two_scopes_differ),
        cmocka_unit_test(overflow_gives_null_and_null_gives_null),
        cmocka_unit_test(deep_and_wide_dims_end_in_null_not_in_a_crash),
        cmocka_unit_test(a_polynomial_is_divided_only_where_it_goes),
        cmocka_unit_test(bounds_hold_at_every_point),
        cmocka_unit_test(bounds_are_as_tight_as_intervals_can),
        cmocka_unit_test(sizes_wrap_as_the_machine_does),
        cmocka_unit_test(substitution_and_evaluation_commute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
