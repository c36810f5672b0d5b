/* test_replica_groups.c - groups of devices that axes of a mesh make. */
#include "frontend/mlir/text.h"
#include "frontend/read/replica_groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int make_ctx(void **state)
{
    *state = jx_ctx_new(0);
    return *state ? 0 : -1;
}

static int free_ctx(void **state)
{
    jx_ctx_free(*state);
    return 0;
}

/* The groups of `groups` in a module with two meshes: "0 4|1 5|2 6|3 7", or
 * what was expected. */
static const char *written(jx_ctx *ctx, const char *groups)
{
    static char to[400];
    char text[1000];
    size_t n = 0;
    const char *expected;
    jx_replica_groups found;

    n = (size_t)snprintf(
        text, sizeof text,
        "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2, \"c\"=2]>\n"
        "sdy.mesh @wide = <[\"x\"=8], device_ids=[0, 2, 1, 3, 7, 6, 5, 4]>\n"
        "func.func @main(%%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %%0 = \"stablehlo.all_reduce\"(%%x) <{replica_groups = "
        "#stablehlo.replica_group_mesh_axes<%s>}> ({\n"
        "  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n"
        "    stablehlo.return %%a : tensor<f32>\n"
        "  }) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %%0 : tensor<4xf32>\n}\n",
        groups);
    const jx_mlir_file *file = jx_mlir_read_text(ctx, NULL, "m", text, n);
    assert_non_null(file);
    const jx_mlir_op *module = file->modules[0];
    const jx_mlir_op *main = jx_mlir_symbol(module, "main");
    const jx_mlir_attr *attr =
        jx_mlir_get(jx_mlir_body(main, 0)->ops[0], "replica_groups");
    assert_true(jx_is_replica_groups_of_mesh(attr));
    if (!jx_replica_groups_of_mesh(ctx, module, attr, &found, &expected))
        return expected;
    n = 0;
    for (int64_t i = 0; i < found.count * found.width; i++)
        n += (size_t)snprintf(to + n, sizeof to - n, "%s%d",
                              !i                ? ""
                              : i % found.width ? " "
                                                : "|",
                              (int)found.ids[i]);
    return to;
}

#define AXIS(name) "#stablehlo.axis_ref<name = \"" name "\">"
#define PART(name, pre, size)                                                  \
    "#stablehlo.axis_ref<name = \"" name "\", sub_axis_info = (" #pre          \
    ")" #size ">"
#define MESH(size)                                                             \
    "mesh = #stablehlo.mesh<axes=[<name = \"p\", size = " size ">]>, "
#define OF(mesh, axes) "mesh = @" mesh ", axes = [" axes "]"

/* As XLA gathers: the last axis counts fastest. */
static void axes_count_in_their_order(void **state)
{
    jx_ctx *ctx = *state;

    assert_string_equal(written(ctx, OF("mesh", AXIS("a"))), "0 4|1 5|2 6|3 7");
    assert_string_equal(written(ctx, OF("mesh", AXIS("b") ", " AXIS("a"))),
                        "0 4 2 6|1 5 3 7");
    assert_string_equal(written(ctx, OF("mesh", AXIS("a") ", " AXIS("c"))),
                        "0 1 4 5|2 3 6 7");
    assert_string_equal(
        written(ctx, OF("mesh", AXIS("c") ", " AXIS("a") ", " AXIS("b"))),
        "0 2 4 6 1 3 5 7");
    assert_string_equal(written(ctx, OF("mesh", "")), "0|1|2|3|4|5|6|7");
}

static void axes_have_parts_and_meshes_an_order(void **state)
{
    jx_ctx *ctx = *state;

    assert_string_equal(written(ctx, OF("wide", AXIS("x"))), "0 2 1 3 7 6 5 4");
    assert_string_equal(written(ctx, OF("wide", PART("x", 1, 2))),
                        "0 7|2 6|1 5|3 4");
    assert_string_equal(written(ctx, OF("wide", PART("x", 4, 2))),
                        "0 2|1 3|7 6|5 4");
    assert_string_equal(
        written(ctx, OF("wide", PART("x", 4, 2) ", " PART("x", 1, 2))),
        "0 7 2 6|1 5 3 4");
    assert_string_equal(
        written(ctx, "mesh = #stablehlo.mesh<axes=[<name = \"p\", size = 2>, "
                     "<name = \"q\", size = 3>]>, axes = [" AXIS("p") "]"),
        "0 3|1 4|2 5");
}

static void what_is_no_group_is_refused(void **state)
{
    static const char *const wrong[] = {
        OF("mesh", AXIS("a") ", " AXIS("a")),
        OF("mesh", AXIS("d")),
        OF("wide", PART("x", 3, 2)),
        OF("wide", PART("x", 1, 4) ", " PART("x", 2, 2)),
        OF("none", AXIS("a")),
        MESH("4611686018427387904") "axes = []",
        MESH("-2") "axes = [" AXIS("p") "]",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_non_null(strstr(written(*state, wrong[i]), "mesh"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_ctx, free_ctx)
    const struct CMUnitTest tests[] = {
        TEST(axes_count_in_their_order),
        TEST(axes_have_parts_and_meshes_an_order),
        TEST(what_is_no_group_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
