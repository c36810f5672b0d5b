/* Specs, constraints and solving: what JAX prints and which shapes it takes
 * (tests/prove/make_rewrites.py asks it), and what is refused, where. */
#include "frontend/ir/dim_spec.h"
#include "frontend/ir/scope.h"
#include "runtime/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

enum { MOST = 8 };

/* Cuts at each `by`; the pieces. */
static int split(char *text, char by, char *parts[MOST])
{
    int n = 0;

    if (*text)
        parts[n++] = text;
    for (; *text && n < MOST; text++)
        if (*text == by) {
            *text = '\0';
            parts[n++] = text + 1;
        }
    return n;
}

/* The fields of the next line; false at the end. */
static bool next_line(gzFile file, char *line, size_t size, char **fields,
                      int wanted)
{
    if (!gzgets(file, line, (int)size))
        return false;
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < wanted; i++) {
        fields[i] = line;
        line += strcspn(line, "\t");
        if (*line)
            *line++ = '\0';
    }
    return true;
}

static bool declare(jx_dims *dims, char *texts, jx_scope_list *list)
{
    char *parts[MOST];
    int n = split(texts, ';', parts);
    jx_scope_error error;

    for (int i = 0; i < n; i++)
        if (!jx_scope_declare(dims, parts[i], 0, true, list, &error))
            return false;
    return true;
}

static void sizes_under_equalities_print_as_in_jax(void **state)
{
    gzFile file = gzopen("tests/prove/rewrites.tsv.gz", "rb");
    static char line[1 << 14];
    char *fields[3];
    int count = 0;

    (void)state;
    assert_non_null(file);
    for (; next_line(file, line, sizeof line, fields, 3); count++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_dims *dims = jx_dims_new(ctx);
        jx_scope_list list = {0};
        jx_buffer text = {0};
        const char *expected;
        size_t at;

        if (!declare(dims, fields[0], &list)) {
            jx_buffer_puts(&text, "error");
        } else {
            const jx_dim *dim = jx_dim_parse(dims, fields[1], strlen(fields[1]),
                                             0, &at, &expected);
            assert_non_null(dim);
            jx_dim_print(dim, &text);
        }
        assert_string_equal(jx_buffer_text(&text), fields[2]);
        jx_buffer_free(&text);
        jx_ctx_free(ctx);
    }
    gzclose(file);
    assert_true(count == 3000);
}

/* -- shapes ---------------------------------------------------------------- */

/* A program with inputs of these specs and nothing else. */
static jx_program *program_of(jx_ctx *ctx, jx_dims *dims, char *specs,
                              const jx_scope_list *list)
{
    char *parts[MOST];
    int n = split(specs, ';', parts);
    jx_program *program = JX_NEW(ctx->arena, jx_program);
    jx_jaxpr *entry = JX_NEW(ctx->arena, jx_jaxpr);
    jx_scope *scope = JX_NEW(ctx->arena, jx_scope);
    const jx_var **vars = JX_NEW_ARRAY(ctx->arena, MOST, const jx_var *);

    for (int i = 0; i < n; i++) {
        jx_aval *aval = JX_NEW(ctx->arena, jx_aval);
        jx_var *var = JX_NEW(ctx->arena, jx_var);
        jx_dim_spec_error error;
        jx_dim_shape shape;

        assert_true(jx_dim_spec_read(dims, parts[i], 0, NULL, &shape, &error));
        *aval =
            (jx_aval){.dtype = JX_F32, .rank = shape.rank, .shape = shape.dims};
        *var = (jx_var){.aval = aval};
        vars[i] = var;
    }
    *scope = (jx_scope){(int)list->count, list->at, NULL};
    *entry = (jx_jaxpr){.nins = n, .nvars = n, .vars = vars};
    *program = (jx_program){.ctx = ctx,
                            .dims = dims,
                            .base = 1,
                            .nscopes = 1,
                            .scopes = scope,
                            .entry = {.jaxpr = entry}};
    return program;
}

static bool takes(const jx_program *program, char *shapes)
{
    char *parts[MOST], *sizes[MOST];
    int64_t numbers[MOST][MOST];
    const int64_t *at[MOST];
    int ranks[MOST], n = split(shapes, ';', parts), nbindings;
    const jx_binding *bindings;

    for (int i = 0; i < n; i++) {
        ranks[i] = split(parts[i], ',', sizes);
        at[i] = numbers[i];
        for (int k = 0; k < ranks[i]; k++)
            numbers[i][k] = strtoll(sizes[k], NULL, 10);
    }
    return jx_plan_solve(program, ranks, at, 0, NULL, &nbindings, &bindings);
}

static void shapes_are_taken_that_jax_takes(void **state)
{
    gzFile file = gzopen("tests/prove/shapes.tsv.gz", "rb");
    static char line[1 << 12];
    char *fields[4], kept[1 << 10];
    int yes = 0, no = 0;

    (void)state;
    assert_non_null(file);
    while (next_line(file, line, sizeof line, fields, 4)) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_dims *dims = jx_dims_new(ctx);
        jx_scope_list list = {0};

        snprintf(kept, sizeof kept, "%s where %s at %s", fields[0], fields[1],
                 fields[2]);
        assert_true(declare(dims, fields[1], &list));
        jx_program *program = program_of(ctx, dims, fields[0], &list);
        bool answer = takes(program, fields[2]);
        if (answer != !strcmp(fields[3], "yes"))
            fail_msg("%s: JAX says %s (%s)", kept, fields[3],
                     ctx->error.message ? ctx->error.message : "no error");
        yes += answer;
        no += !answer;
        jx_ctx_free(ctx);
    }
    gzclose(file);
    assert_true(yes > 150 && no > 1000);
}

/* -- specs ----------------------------------------------------------------- */

/* Reads the spec for the shape `like` (NULL: none) and compares its print, or
 * with `column` what was expected there. */
static void check_spec(const char *spec, const char *like, size_t column,
                       const char *expected)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_dims *dims = jx_dims_new(ctx);
    jx_dim_spec_error error = {0};
    jx_dim_shape shape, of;
    jx_buffer text = {0};
    bool ok;

    if (like)
        assert_true(jx_dim_spec_read(dims, like, 0, NULL, &of, &error));
    ok = jx_dim_spec_read(dims, spec, 0, like ? &of : NULL, &shape, &error);
    if (ok)
        jx_dim_shape_print(&shape, &text);
    if (ok && !column)
        assert_string_equal(jx_buffer_text(&text), expected);
    else if (ok || !column || error.column != column ||
             !strstr(error.expected, expected))
        fail_msg("%s: %s, column %zu: %s", spec, jx_buffer_text(&text),
                 error.column, error.expected ? error.expected : "");
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
}

static void specs_are_read_as_by_jax(void **state)
{
    (void)state;
    check_spec("a, b", NULL, 0, "(a, b)");
    check_spec(" ( a , 2 * b ) ", NULL, 0, "(a, 2*b)");
    check_spec("v,", NULL, 0, "(v,)");
    check_spec("", NULL, 0, "()");
    check_spec("()", NULL, 0, "()");
    check_spec("(b, _, _)", "3, 4, 5", 0, "(b, 4, 5)");
    check_spec("a, ...", "3, 4, 5", 0, "(a, 4, 5)");
    check_spec("a, ...", "3", 0, "(a,)");
    check_spec("...", "3, 4", 0, "(3, 4)");
    check_spec("None", "3, 4", 0, "(3, 4)");
    check_spec("None", "", 0, "()");
    check_spec("_, b", "3, 4", 0, "(3, b)");
    check_spec("3, b", "3, 4", 0, "(3, b)");
    check_spec("batch, 4*h", "3, 4", 0, "(batch, 4*h)");
    check_spec("_a, b_", NULL, 0, "(_a, b_)");
    check_spec("(a + b)*2, (c)", NULL, 0, "(2*b + 2*a, c)");
    check_spec("((a, b))", NULL, 0, "(a, b)");
    check_spec("max(a, 3), floordiv(a, 2)", NULL, 0,
               "(max(a, 3), floordiv(a, 2))");
}

static void a_spec_that_does_not_fit_says_where(void **state)
{
    (void)state;
    check_spec("a,,b", NULL, 3, "a variable");
    check_spec("a b", NULL, 3, "','");
    check_spec("(a, b", NULL, 6, "')'");
    check_spec("a, b)", NULL, 5, "','");
    check_spec("_", NULL, 1, "no shape");
    check_spec("a, ...", NULL, 4, "no shape");
    check_spec("a, _", "3", 4, "no more axes");
    check_spec("a, b", "3", 4, "no more axes");
    check_spec("a, b, ...", "3", 4, "no more axes");
    check_spec("..., a", "3, 4", 4, "the end");
    check_spec("a", "3, 4", 2, "1 more size, as in the shape (3, 4)");
    check_spec("4, b", "3, 4", 1, "3, the size in the shape (3, 4)");
    check_spec("-3", NULL, 1, "not negative");
    check_spec("a, --_", "3, 4", 4, "_ by itself");
    check_spec("a, max(_, 3)", "3, 4", 4, "_ by itself");
    check_spec("a + ", NULL, 4, "a variable");
    check_spec("2a", NULL, 2, "an operator");
    check_spec("a^b", NULL, 3, "a power");
    check_spec("floordiv(a)", NULL, 11, "','");
    check_spec("170141183460469231731687303715884105728", NULL, 1, "2^127");
    check_spec("a^999999999", NULL, 1, "smaller");
}

static void absurd_specs_end_in_an_error(void **state)
{
    size_t length = 3000000;
    char *deep = malloc(length + 1);
    jx_dim_spec_error error;
    jx_dim_shape shape;

    (void)state;
    for (const char *c = "(,a+_"; *c; c++) {
        jx_ctx *ctx = jx_ctx_new(1 << 28);
        memset(deep, *c, length);
        deep[length] = '\0';
        bool ok =
            jx_dim_spec_read(jx_dims_new(ctx), deep, 0, NULL, &shape, &error);
        assert_true(*c == 'a' || *c == '_' || !ok);
        jx_ctx_free(ctx);
    }
    for (size_t i = 0; i < length; i += 2)
        memcpy(deep + i, "1,", 2);
    jx_ctx *ctx = jx_ctx_new(1 << 28);
    assert_false(
        jx_dim_spec_read(jx_dims_new(ctx), deep, 0, NULL, &shape, &error));
    assert_non_null(strstr(error.expected, "1024"));
    jx_ctx_free(ctx);
    free(deep);
}

/* -- constraints ----------------------------------------------------------- */

static void check_constraint(const char *text, size_t column, const char *what)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_scope_list list = {0};
    jx_scope_error error = {0};
    jx_buffer printed = {0};

    if (jx_scope_declare(jx_dims_new(ctx), text, 0, true, &list, &error)) {
        for (size_t i = 0; i < list.count; i++) {
            list.at[i].text = NULL; /* its sides are printed */
            jx_buffer_puts(&printed, i ? "; " : "");
            jx_scope_print(&list.at[i], &printed);
        }
        assert_string_equal(jx_buffer_text(&printed), what);
    } else if (error.column != column || !strstr(error.expected, what)) {
        fail_msg("%s: column %zu: %s", text, error.column, error.expected);
    }
    jx_buffer_free(&printed);
    jx_ctx_free(ctx);
}

static void constraints_are_more_than_jax_knows(void **state)
{
    (void)state;
    check_constraint("a >= b", 0, "a >= b");
    check_constraint("a <= b + 1", 0, "b + 1 >= a");
    check_constraint("a > 2*b", 0, "a >= 2*b + 1");
    check_constraint("a < 8", 0, "8 >= a + 1");
    check_constraint("a != b", 0, "a != b");
    check_constraint("2*(a + b) >= c // 2", 0, "2*b + 2*a >= floordiv(c, 2)");
    check_constraint("a*b == c + d", 0, "a*b == d + c");
    check_constraint("mod(b, 3) == 0", 0,
                     "3*floordiv(b, 3) == b; mod(b, 3) == 0");
    check_constraint("4 >= 3", 0, "");
    check_constraint("a", 2, "a comparison");
    check_constraint("a = b", 3, "a comparison");
    check_constraint("a >= ", 6, "a variable");
    check_constraint("a >= b c", 8, "an operator or the end");
    check_constraint("a + b == 3", 0, "one product on the left");
    check_constraint("3 == a", 0, "one product on the left");
    check_constraint("3 >= 4", 0, "some sizes can satisfy");
    check_constraint("a != a", 0, "some sizes can satisfy");
}

static void derived_constraints_are_recognized(void **state)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_scope_list list = {0};
    jx_scope_error error;

    (void)state;
    assert_true(jx_scope_declare(jx_dims_new(ctx), "mod(a + b, 4) == 0", 0,
                                 true, &list, &error));
    jx_scope scope = {(int)list.count, list.at, NULL};
    assert_int_equal(scope.nconstraints, 2);
    assert_true(jx_scope_is_derived(&scope, 0));
    assert_false(jx_scope_is_derived(&scope, 1));
    jx_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_under_equalities_print_as_in_jax),
        cmocka_unit_test(shapes_are_taken_that_jax_takes),
        cmocka_unit_test(specs_are_read_as_by_jax),
        cmocka_unit_test(a_spec_that_does_not_fit_says_where),
        cmocka_unit_test(absurd_specs_end_in_an_error),
        cmocka_unit_test(constraints_are_more_than_jax_knows),
        cmocka_unit_test(derived_constraints_are_recognized),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
