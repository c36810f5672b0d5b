/* test_sizes.c - symbolic sizes of StableHLO modules. */
#include "analyzer/infer.h"
#include "frontend/mlir/text.h"
#include "frontend/read/stablehlo_entry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

typedef struct module {
    jx_ctx *ctx;
    jx_dims *dims;
    jx_hlo_reader read;
    jx_sizes *sizes;
    const jx_jaxpr *entry;
    jx_buffer text;
} module;

/* Reads `body` with these inputs' shapes declared (or none); there may be no
 * entry, with an error. */
static module *try_with(const char *body, int nshapes, const char *const *specs)
{
    jx_ctx *ctx = jx_ctx_new(0);
    module *m = JX_NEW(ctx->arena, module);
    const jx_mlir_file *file =
        jx_mlir_read_text(ctx, NULL, "test", body, strlen(body));
    jx_dim_shape shapes[4];
    jx_dim_spec_error error;
    jx_hlo_shapes given = {nshapes, shapes};

    if (!file)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    m->ctx = ctx;
    assert_true(jx_hlo_begin_reading(&m->read, file, jx_infer_reading, NULL));
    m->dims = m->read.program->dims;
    for (int i = 0; i < nshapes; i++)
        assert_true(
            jx_dim_spec_read(m->dims, specs[i], 0, NULL, &shapes[i], &error));
    m->read.module = file->modules[0];
    m->entry = jx_hlo_entry(&m->read, jx_mlir_symbol(file->modules[0], "main"),
                            &given);
    m->sizes = m->read.sizes;
    return m;
}

static module *read_with(const char *body, int nshapes,
                         const char *const *specs)
{
    module *m = try_with(body, nshapes, specs);

    if (!m->entry)
        fail_msg("%s: %s", m->ctx->error.place, m->ctx->error.message);
    return m;
}

static module *read_module(const char *body)
{
    return read_with(body, 0, NULL);
}

static void end(module *m)
{
    jx_buffer_free(&m->text);
    jx_ctx_free(m->ctx);
}

static const char *dims_text(module *m, int count, const jx_dim *const *dims)
{
    jx_buffer_clear(&m->text);
    for (int i = 0; i < count; i++) {
        jx_buffer_puts(&m->text, i ? "; " : "");
        jx_dim_print(dims[i], &m->text);
    }
    return jx_buffer_text(&m->text);
}

/* What the entry returns: its sizes, or its elements. */
static const char *result_shape(module *m, int index)
{
    const jx_aval *aval = jx_atom_aval(m->entry->outs[index]);

    return dims_text(m, aval->rank, aval->shape);
}

static const char *result_value(module *m, int index)
{
    jx_atom atom = m->entry->outs[index];
    const jx_dim *const *known = jx_sz_known(m->sizes, atom);

    return known ? dims_text(m, (int)jx_sz_count(jx_atom_aval(atom)), known)
                 : "unknown";
}

static const char *input_shape(module *m, int index)
{
    const jx_aval *aval = m->entry->vars[index]->aval;

    return dims_text(m, aval->rank, aval->shape);
}

/* The assertions that were met, of which there are three. */
static const jx_size_assertion *const *met(const module *m)
{
    assert_int_equal(m->read.reading->met.count, 3);
    return m->read.reading->met.at;
}

/* A module that returns a scalar made of a size `%n` of its input. */
#define OF_SIZE(ops, type, result)                                             \
    "func.func @main(%a: tensor<?xf32>) -> (" type ") {\n"                     \
    "  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> "    \
    "tensor<i32>\n" ops "  func.return " result " : " type "\n}\n"

static void sizes_are_followed_through_arithmetic(void **state)
{
    static const char *const specs[] = {"(b,)"};
    module *m =
        read_with(OF_SIZE("  %c = stablehlo.constant dense<3> : tensor<i32>\n"
                          "  %0 = stablehlo.multiply %n, %c : tensor<i32>\n"
                          "  %1 = stablehlo.subtract %0, %n : tensor<i32>\n"
                          "  %2 = stablehlo.maximum %1, %c : tensor<i32>\n",
                          "tensor<i32>", "%2"),
                  1, specs);

    (void)state;
    assert_string_equal(result_value(m, 0), "max(2*b, 3)");
    end(m);
}

/* floor_divide as JAX lowers it, with another name. */
#define FLOOR                                                                  \
    "func.func private @f(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> "   \
    "{\n"                                                                      \
    "  %0 = stablehlo.divide %x, %y : tensor<i32>\n"                           \
    "  %1 = stablehlo.sign %x : tensor<i32>\n"                                 \
    "  %2 = stablehlo.sign %y : tensor<i32>\n"                                 \
    "  %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, "             \
    "tensor<i32>) -> tensor<i1>\n"                                             \
    "  %4 = stablehlo.remainder %x, %y : tensor<i32>\n"                        \
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"                       \
    "  %5 = stablehlo.compare NE, %4, %z, SIGNED : (tensor<i32>, "             \
    "tensor<i32>) -> tensor<i1>\n"                                             \
    "  %6 = stablehlo.and %3, %5 : tensor<i1>\n"                               \
    "  %o = stablehlo.constant dense<1> : tensor<i32>\n"                       \
    "  %7 = stablehlo.subtract %0, %o : tensor<i32>\n"                         \
    "  %8 = stablehlo.select %6, %7, %0 : tensor<i1>, tensor<i32>\n"           \
    "  func.return %8 : tensor<i32>\n}\n"

static void division_and_its_corrections_are_floordiv(void **state)
{
    static const struct {
        const char *spec, *expected;
    } cases[] = {
        {"(b,)", "floordiv(b - 5, 3)"},
        {"(3*b + 5,)", "b"},
        {"(3*b + 6,)", "b"},
        {"(max(b, 9),)", "floordiv(max(b, 9) - 5, 3)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        module *m = read_with(
            OF_SIZE("  %k = stablehlo.constant dense<-5> : tensor<i32>\n"
                    "  %c = stablehlo.constant dense<3> : tensor<i32>\n"
                    "  %0 = stablehlo.add %n, %k : tensor<i32>\n"
                    "  %1 = func.call @f(%0, %c) : (tensor<i32>, tensor<i32>) "
                    "-> tensor<i32>\n",
                    "tensor<i32>", "%1") FLOOR,
            1, &cases[i].spec);
        assert_string_equal(result_value(m, 0), cases[i].expected);
        end(m);
    }
}

static void division_toward_zero_is_not_floordiv(void **state)
{
    static const char *const specs[] = {"(b,)"};
    module *m =
        read_with(OF_SIZE("  %k = stablehlo.constant dense<-5> : tensor<i32>\n"
                          "  %c = stablehlo.constant dense<3> : tensor<i32>\n"
                          "  %0 = stablehlo.add %n, %k : tensor<i32>\n"
                          "  %1 = stablehlo.divide %0, %c : tensor<i32>\n",
                          "tensor<i32>", "%1"),
                  1, specs);
    const jx_dim *const *known = jx_sz_known(m->sizes, m->entry->outs[0]);
    const jx_dim_atom *var = jx_dim_var_atom(m->dims, "b", 0);

    (void)state;
    assert_non_null(known);
    for (int64_t b = 1; b < 40; b++) {
        jx_binding at = {var, b};
        jx_assignment sizes = {1, &at};
        int64_t value;
        assert_true(jx_dim_eval(known[0], jx_assigned, &sizes, &value));
        assert_int_equal(value, (b - 5) / 3);
    }
    end(m);
}

static void numbers_wrap_nowhere_unnoticed(void **state)
{
    static const char *const specs[] = {"(b,)"};
    module *m = read_with(
        OF_SIZE("  %c = stablehlo.constant dense<2147483647> : tensor<i32>\n"
                "  %0 = stablehlo.add %c, %c : tensor<i32>\n"
                "  %1 = stablehlo.add %0, %n : tensor<i32>\n",
                "tensor<i32>", "%1"),
        1, specs);

    (void)state;
    assert_string_equal(result_value(m, 0), "unknown");
    end(m);
}

static void vectors_of_sizes_shape_arrays(void **state)
{
    static const char *const specs[] = {"(b,)"};
    module *m = read_with(
        OF_SIZE("  %c = stablehlo.constant dense<4> : tensor<1xi32>\n"
                "  %0 = stablehlo.add %n, %n : tensor<i32>\n"
                "  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>\n"
                "  %2 = stablehlo.concatenate %1, %c, dim = 0 : "
                "(tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n"
                "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
                "  %3 = stablehlo.dynamic_broadcast_in_dim %z, %2, dims = [] : "
                "(tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>\n"
                "  %4 = stablehlo.transpose %3, dims = [1, 0] : "
                "(tensor<?x4xf32>) -> tensor<4x?xf32>\n",
                "tensor<4x?xf32>", "%4"),
        1, specs);

    (void)state;
    assert_string_equal(result_shape(m, 0), "4; 2*b");
    end(m);
}

#define MESSAGE(what)                                                          \
    "api_version = 2 : i32, error_message = \"Input shapes do not match "      \
    "the " what " Using the following polymorphic shapes specifications: "     \
    "args[0].shape = (b, c). Obtained dimension variables: .\", "              \
    "has_side_effect = true"

/* JAX asserts of each variable that it is at least 1. */
#define POSITIVE(axis, name)                                                   \
    "  %n" axis " = stablehlo.get_dimension_size %a, dim = " axis              \
    " : (tensor<?x?xf32>) -> tensor<i32>\n"                                    \
    "  %o" axis " = stablehlo.constant dense<1> : tensor<i32>\n"               \
    "  %p" axis " = stablehlo.compare GE, %n" axis ", %o" axis ", SIGNED : "   \
    "(tensor<i32>, tensor<i32>) -> tensor<i1>\n"                               \
    "  stablehlo.custom_call @shape_assertion(%p" axis                         \
    ") {" MESSAGE("polymorphic shapes specification. Expected value >= 1 for " \
                  "dimension variable '" name "'.") "} : (tensor<i1>) -> ()\n"

#define CHECKED(compare, what)                                                 \
    "func.func @main(%a: tensor<?x?xf32>) -> tensor<i32> {\n" POSITIVE("0",    \
                                                                       "b")    \
        POSITIVE(                                                              \
            "1",                                                               \
            "c") "  %n = stablehlo.get_dimension_size %a, dim = 1 : "          \
                 "(tensor<?x?xf32>) -> "                                       \
                 "tensor<i32>\n"                                               \
                 "  %c = stablehlo.constant dense<3> : tensor<i32>\n"          \
                 "  %0 = stablehlo.compare " compare                           \
                 ", SIGNED : (tensor<i32>, "                                   \
                 "tensor<i32>) -> tensor<i1>\n"                                \
                 "  stablehlo.custom_call @shape_assertion(%0, %n) {" MESSAGE( \
                     what) "} : (tensor<i1>, tensor<i32>) -> ()\n"             \
                           "  func.return %n : tensor<i32>\n}\n"

static void names_and_constraints_come_from_messages(void **state)
{
    module *m = read_module(CHECKED("GE, %n, %c",
                                    "symbolic shape constraint c>=3. Expected "
                                    "'c - 3' to be greater or equal to 0, but "
                                    "found {0}. "));
    jx_scope_list scope = m->sizes->constraints;
    const jx_size_assertion *const *all;

    (void)state;
    assert_string_equal(input_shape(m, 0), "b; c");
    assert_int_equal(m->sizes->base, 1);
    assert_int_equal(scope.count, 1);
    assert_string_equal(scope.at[0].text, "c>=3");
    all = met(m);
    assert_int_equal(all[2]->kind, JX_ASSERTS_CONSTRAINT);
    assert_true(all[2]->known && all[2]->declares);
    assert_null(all[1]->mismatch.what);
    /* It shows c where it says c - 3. */
    assert_non_null(strstr(all[2]->mismatch.what, "shows {0} as "
                                                  "`args[0].shape[1] - 3`"));
    assert_int_equal(all[2]->mismatch.nsizes, 1);
    end(m);
}

/* Only the sizes that an assertion leaves count, not those that it names. */
static void what_no_assertion_checks_is_not_known(void **state)
{
    static const struct {
        const char *body, *shape, *asked;
        int64_t base;
    } cases[] = {
        /* b is at least 1, c is not said to be. */
        {"func.func @main(%a: tensor<?x?xf32>) {\n" POSITIVE(
             "0", "b") "  func.return\n}\n",
         "b; c", "b >= 1", 0},
        /* The message alone says what c is at least. */
        {"func.func @main(%a: tensor<?x?xf32>, %ok: tensor<i1>) {\n" POSITIVE(
             "0", "b")
             POSITIVE("1", "c") "  stablehlo.custom_call @shape_assertion(%ok) "
                                "{" MESSAGE("symbolic shape constraint c>=3. "
                                            "Expected 'c - 3' to be "
                                            "greater or equal to 0, but found "
                                            "0. ") "} : (tensor<i1>) -> ()\n  "
                                                   "func.return\n}\n",
         "b; c", "", 1},
        /* An even size that nothing checks. */
        {"func.func @main(%a: tensor<?xf32>, %ok: tensor<i1>) {\n"
         "  stablehlo.custom_call @shape_assertion(%ok) {error_message = "
         "\"Input shapes do not match the polymorphic shapes specification. "
         "Division had remainder 0 when computing the value of 'b'. Using "
         "the following polymorphic shapes specifications: args[0].shape = "
         "(2*b,). Obtained dimension variables: .\"} : (tensor<i1>) -> ()\n"
         "  func.return\n}\n",
         "arg0_0", "", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        module *m = read_module(cases[i].body);
        jx_scope_list scope = m->sizes->constraints;
        jx_buffer text = {0};
        assert_string_equal(input_shape(m, 0), cases[i].shape);
        assert_int_equal(m->sizes->base, cases[i].base);
        for (size_t k = 0; k < scope.count; k++)
            jx_scope_print(&scope.at[k], &text);
        assert_string_equal(jx_buffer_text(&text), cases[i].asked);
        jx_buffer_free(&text);
        end(m);
    }
}

/* A few samples of small sizes would not tell these apart. */
static void constraints_count_as_they_are_checked(void **state)
{
    static const struct {
        const char *body, *asked;
        bool told;
    } cases[] = {
        {CHECKED("LE, %n, %c", "symbolic shape constraint c<=100000. Expected "
                               "'- c + 100000' to be greater or equal to 0, "
                               "but found {0}. "),
         "3 >= c", true},
        {CHECKED("NE, %n, %c", "symbolic shape constraint c>=1. Expected "
                               "'c - 1' to be greater or equal to 0, but found "
                               "{0}. "),
         "c != 3", true},
        /* The constraint as text is not the one that is compared. */
        {CHECKED("GE, %n, %c", "symbolic shape constraint c>=4. Expected "
                               "'c - 3' to be greater or equal to 0, but found "
                               "{0}. "),
         "c >= 3", true},
        {CHECKED("GE, %n, %c", "symbolic shape constraint c>=3. Expected "
                               "'c - 3' to be greater or equal to 0, but found "
                               "too few. "),
         "c>=3", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        module *m = read_module(cases[i].body);
        jx_scope_list scope = m->sizes->constraints;
        const jx_size_assertion *const *all;
        jx_buffer text = {0};
        assert_int_equal(scope.count, 1);
        jx_scope_print(&scope.at[0], &text);
        assert_string_equal(jx_buffer_text(&text), cases[i].asked);
        all = met(m);
        assert_int_equal(all[2]->mismatch.what != NULL, cases[i].told);
        jx_buffer_free(&text);
        end(m);
    }
}

static void a_message_shows_the_numbers_it_has(void **state)
{
    static const struct {
        const char *body, *told;
    } cases[] = {
        {CHECKED("GE, %n, %c", "symbolic shape constraint c>=3. Expected "
                               "'c - 3' to be greater or equal to 0, but found "
                               "{1}. "),
         "shows {1} and it has 1 number:"},
        {CHECKED("GE, %n, %c", "shape of c: {0}"), NULL},
        {CHECKED("GE, %n, %c", "'b' = {0}, and {0"), NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        module *m = read_module(cases[i].body);
        const jx_size_assertion *const *all;
        all = met(m);
        if (cases[i].told)
            assert_non_null(strstr(all[2]->mismatch.what, cases[i].told));
        else
            assert_null(all[2]->mismatch.what);
        end(m);
    }
}

/* JAX's sizes are at least 1, one that a program computes need not be. */
static void sizes_that_no_shape_gives_may_be_zero(void **state)
{
    static const char *const specs[] = {"(b,)"};
    module *m = read_with(
        "func.func @main(%k: tensor<1xi32>, %a: tensor<?xf32>) -> "
        "tensor<?xf32> {\n"
        "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %0 = stablehlo.add %k, %k : tensor<1xi32>\n"
        "  %1 = stablehlo.dynamic_broadcast_in_dim %z, %0, dims = [] : "
        "(tensor<f32>, tensor<1xi32>) -> tensor<?xf32>\n"
        "  func.return %1 : tensor<?xf32>\n}\n",
        1, specs);
    jx_scope_list scope = m->sizes->constraints;
    jx_buffer text = {0};

    (void)state;
    assert_string_equal(result_shape(m, 0), "2*arg0_0");
    assert_int_equal(m->sizes->base, 0);
    assert_int_equal(scope.count, 1);
    jx_scope_print(&scope.at[0], &text);
    assert_string_equal(jx_buffer_text(&text), "b >= 1");
    jx_buffer_free(&text);
    end(m);
}

static void a_message_that_says_something_else_is_told(void **state)
{
    module *m = read_module(CHECKED("GT, %n, %c",
                                    "symbolic shape constraint c>=3. Expected "
                                    "'c - 3' to be greater or equal to 0, but "
                                    "found {0}. "));
    jx_scope_list scope = m->sizes->constraints;
    const jx_size_assertion *const *all;
    jx_buffer text = {0};

    (void)state;
    all = met(m);
    assert_non_null(all[2]->mismatch.what);
    assert_non_null(strstr(all[2]->mismatch.what, "args[0].shape[1] = 3"));
    assert_int_equal(all[2]->mismatch.nsizes, 1);
    assert_int_equal(all[2]->mismatch.sizes[0].value, 3);
    /* What is checked holds, not what is said. */
    assert_int_equal(scope.count, 1);
    jx_scope_print(&scope.at[0], &text);
    assert_string_equal(jx_buffer_text(&text), "c >= 4");
    jx_buffer_free(&text);
    end(m);
}

static void an_assertion_without_a_known_message_is_a_constraint(void **state)
{
    module *m = read_module(
        "func.func @main(%a: tensor<?xf32>) {\n"
        "  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> "
        "tensor<i32>\n"
        "  %c = stablehlo.constant dense<3> : tensor<i32>\n"
        "  %0 = stablehlo.compare LE, %n, %c, SIGNED : (tensor<i32>, "
        "tensor<i32>) -> tensor<i1>\n"
        "  stablehlo.custom_call @shape_assertion(%0) {error_message = \"no\"} "
        ": (tensor<i1>) -> ()\n"
        "  func.return\n}\n");
    jx_scope_list scope = m->sizes->constraints;
    jx_buffer text = {0};

    (void)state;
    assert_int_equal(m->sizes->base, 0);
    assert_int_equal(scope.count, 1);
    jx_scope_print(&scope.at[0], &text);
    assert_string_equal(jx_buffer_text(&text), "3 >= arg0_0");
    jx_buffer_free(&text);
    end(m);
}

static void sizes_that_meet_have_one_name(void **state)
{
    module *m = read_module(
        "func.func @main(%n: tensor<i64>, %a: tensor<?x4xf32>, "
        "%b: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
        "  %0 = stablehlo.convert %n : (tensor<i64>) -> tensor<i32>\n"
        "  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>\n"
        "  %c = stablehlo.constant dense<4> : tensor<1xi32>\n"
        "  %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, "
        "tensor<1xi32>) -> tensor<2xi32>\n"
        "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %3 = stablehlo.dynamic_broadcast_in_dim %z, %2, dims = [] : "
        "(tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>\n"
        "  %4 = stablehlo.add %3, %a : tensor<?x4xf32>\n"
        "  func.return %4 : tensor<?x4xf32>\n}\n");

    (void)state;
    assert_string_equal(input_shape(m, 1), "arg0; 4");
    assert_string_equal(input_shape(m, 2), "arg2_0; 4");
    assert_string_equal(result_shape(m, 0), "arg0; 4");
    assert_int_equal(m->sizes->vars.count, 2);
    assert_int_equal(m->sizes->vars.at[1].origin, JX_SIZE_INPUT);
    assert_int_equal(m->sizes->vars.at[1].input, 0);
    end(m);
}

static void two_uses_of_a_count_are_one_size(void **state)
{
    module *m = read_module(
        "func.func @main(%x: tensor<4xi32>) -> (tensor<?xf32>, tensor<?xf32>, "
        "tensor<?xf32>) {\n"
        "  %0 = stablehlo.slice %x [0:1] : (tensor<4xi32>) -> tensor<1xi32>\n"
        "  %1 = stablehlo.slice %x [1:2] : (tensor<4xi32>) -> tensor<1xi32>\n"
        "  %2 = func.call @ones(%0) : (tensor<1xi32>) -> tensor<?xf32>\n"
        "  %3 = func.call @ones(%0) : (tensor<1xi32>) -> tensor<?xf32>\n"
        "  %4 = func.call @ones(%1) : (tensor<1xi32>) -> tensor<?xf32>\n"
        "  func.return %2, %3, %4 : tensor<?xf32>, tensor<?xf32>, "
        "tensor<?xf32>\n}\n"
        "func.func private @ones(%n: tensor<1xi32>) -> tensor<?xf32> {\n"
        "  %z = stablehlo.constant dense<1.0> : tensor<f32>\n"
        "  %0 = stablehlo.dynamic_broadcast_in_dim %z, %n, dims = [] : "
        "(tensor<f32>, tensor<1xi32>) -> tensor<?xf32>\n"
        "  func.return %0 : tensor<?xf32>\n}\n");

    (void)state;
    assert_string_equal(result_shape(m, 0), "arg0_0");
    assert_string_equal(result_shape(m, 1), "arg0_0");
    assert_string_equal(result_shape(m, 2), "arg0_1");
    end(m);
}

static void what_a_loop_changes_is_not_known(void **state)
{
    static const char *const specs[] = {"(b,)"};
    module *m = read_with(
        OF_SIZE("  %c = stablehlo.constant dense<0> : tensor<i32>\n"
                "  %0:2 = stablehlo.while(%i = %c, %k = %n) : tensor<i32>, "
                "tensor<i32>\n"
                "   cond {\n"
                "    %1 = stablehlo.compare LT, %i, %k, SIGNED : (tensor<i32>, "
                "tensor<i32>) -> tensor<i1>\n"
                "    stablehlo.return %1 : tensor<i1>\n"
                "   } do {\n"
                "    %1 = stablehlo.add %i, %k : tensor<i32>\n"
                "    stablehlo.return %1, %k : tensor<i32>, tensor<i32>\n"
                "   }\n",
                "tensor<i32>, tensor<i32>", "%0#0, %0#1"),
        1, specs);

    (void)state;
    assert_string_equal(result_value(m, 0), "unknown");
    assert_string_equal(result_value(m, 1), "b");
    end(m);
}

static void functions_that_call_themselves_end(void **state)
{
    module *m = try_with(
        "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  %0 = func.call @g(%a) : (tensor<?xf32>) -> tensor<?xf32>\n"
        "  func.return %0 : tensor<?xf32>\n}\n"
        "func.func private @g(%a: tensor<?xf32>) -> tensor<?xf32> {\n"
        "  %0 = func.call @g(%a) : (tensor<?xf32>) -> tensor<?xf32>\n"
        "  %1 = stablehlo.concatenate %0, %a, dim = 0 : (tensor<?xf32>, "
        "tensor<?xf32>) -> tensor<?xf32>\n"
        "  func.return %1 : tensor<?xf32>\n}\n",
        0, NULL);

    (void)state;
    assert_null(m->entry);
    assert_non_null(strstr(m->ctx->error.message, "a function that calls"));
    end(m);
}

static void operands_of_the_wrong_length_are_no_sizes(void **state)
{
    module *m = read_module(
        "func.func @main(%a: tensor<?x4xf32>) -> tensor<?x?xf32> {\n"
        "  %c = stablehlo.constant dense<[4]> : tensor<1xi32>\n"
        "  %0 = stablehlo.dynamic_reshape %a, %c : (tensor<?x4xf32>, "
        "tensor<1xi32>) -> tensor<?x?xf32>\n"
        "  func.return %0 : tensor<?x?xf32>\n}\n");

    (void)state;
    assert_non_null(strstr(result_shape(m, 0), "4; s"));
    end(m);
}

/* What no rule of an op says, the type rule of its primitive does. */
static void type_rules_say_which_sizes_are_one(void **state)
{
    module *m = read_module(
        "func.func @main(%a: tensor<?x4xf32>, %b: tensor<?x4xi32>) -> "
        "(tensor<?x4xf32>, tensor<?x4xi32>) {\n"
        "  %0:2 = \"stablehlo.sort\"(%a, %b) ({\n"
        "   ^bb0(%x: tensor<f32>, %y: tensor<f32>, %i: tensor<i32>, "
        "%k: tensor<i32>):\n"
        "    %1 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, "
        "tensor<f32>) -> tensor<i1>\n"
        "    stablehlo.return %1 : tensor<i1>\n"
        "  }) {dimension = 1 : i64} : (tensor<?x4xf32>, tensor<?x4xi32>) -> "
        "(tensor<?x4xf32>, tensor<?x4xi32>)\n"
        "  func.return %0#0, %0#1 : tensor<?x4xf32>, tensor<?x4xi32>\n}\n");

    (void)state;
    assert_string_equal(input_shape(m, 1), "arg0_0; 4");
    assert_string_equal(result_shape(m, 1), "arg0_0; 4");
    assert_int_equal(m->read.equated.count, 1);
    end(m);
}

/* Whoever looks at such a size sees the same one. */
static void what_no_rule_says_is_free(void **state)
{
    static const char *const bodies[] = {
        "  %0 = \"other.op\"(%a) : (tensor<?xf32>) -> tensor<?xf32>\n",
        "  %0 = \"stablehlo.case\"(%i) ({\n"
        "    stablehlo.return %a : tensor<?xf32>\n  }, {\n"
        "    %1 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<?xf32>, "
        "tensor<?xf32>) -> tensor<?xf32>\n"
        "    stablehlo.return %1 : tensor<?xf32>\n"
        "  }) : (tensor<i32>) -> tensor<?xf32>\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        jx_buffer text = {0};
        module *m;
        jx_buffer_printf(
            &text,
            "func.func @main(%%a: tensor<?xf32>, %%i: tensor<i32>) -> "
            "(tensor<?xf32>, tensor<?xf32>) {\n%s"
            "  %%2 = stablehlo.add %%0, %%0 : tensor<?xf32>\n"
            "  func.return %%0, %%2 : tensor<?xf32>, tensor<?xf32>\n}\n",
            bodies[i]);
        m = read_module(jx_buffer_text(&text));
        assert_string_equal(result_shape(m, 0), "s0");
        assert_string_equal(result_shape(m, 1), "s0");
        assert_int_equal(m->read.unsaid.count, 1);
        jx_buffer_free(&text);
        end(m);
    }
}

/* Nor is there an equation or a variable for what it gives. */
static void an_op_that_hands_on_is_nothing(void **state)
{
    module *m = read_module(
        "func.func @main(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<i32>) {\n"
        "  %c = stablehlo.constant dense<7> : tensor<i32>\n"
        "  %0:2 = func.call @f(%a, %c) : (tensor<?xf32>, tensor<i32>) -> "
        "(tensor<?xf32>, tensor<i32>)\n"
        "  func.return %0#0, %0#1 : tensor<?xf32>, tensor<i32>\n}\n"
        "func.func private @f(%a: tensor<?xf32>, %n: tensor<i32>) -> "
        "(tensor<?xf32>, tensor<i32>) {\n"
        "  %0 = stablehlo.convert %a : (tensor<?xf32>) -> tensor<?xf32>\n"
        "  %1 = stablehlo.convert %n : (tensor<i32>) -> tensor<i32>\n"
        "  func.return %0, %1 : tensor<?xf32>, tensor<i32>\n}\n");
    const jx_jaxpr *callee = m->read.build.jaxprs.at[0];

    (void)state;
    assert_int_equal(callee->neqns, 0);
    assert_ptr_equal(callee->outs[0].var, callee->vars[0]);
    assert_non_null(callee->outs[1].literal);
    end(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_followed_through_arithmetic),
        cmocka_unit_test(division_and_its_corrections_are_floordiv),
        cmocka_unit_test(division_toward_zero_is_not_floordiv),
        cmocka_unit_test(numbers_wrap_nowhere_unnoticed),
        cmocka_unit_test(vectors_of_sizes_shape_arrays),
        cmocka_unit_test(names_and_constraints_come_from_messages),
        cmocka_unit_test(a_message_that_says_something_else_is_told),
        cmocka_unit_test(what_no_assertion_checks_is_not_known),
        cmocka_unit_test(constraints_count_as_they_are_checked),
        cmocka_unit_test(a_message_shows_the_numbers_it_has),
        cmocka_unit_test(sizes_that_no_shape_gives_may_be_zero),
        cmocka_unit_test(an_assertion_without_a_known_message_is_a_constraint),
        cmocka_unit_test(sizes_that_meet_have_one_name),
        cmocka_unit_test(two_uses_of_a_count_are_one_size),
        cmocka_unit_test(what_a_loop_changes_is_not_known),
        cmocka_unit_test(functions_that_call_themselves_end),
        cmocka_unit_test(operands_of_the_wrong_length_are_no_sizes),
        cmocka_unit_test(type_rules_say_which_sizes_are_one),
        cmocka_unit_test(what_no_rule_says_is_free),
        cmocka_unit_test(an_op_that_hands_on_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
