/* test_mlir_tree.c - the syntax tree: interned types, attributes and modules
 * compared. */
#include "frontend/mlir/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct fixture {
    jx_ctx *ctx;
    jx_mlir_types types;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    f->ctx = jx_ctx_new(0);
    jx_mlir_types_init(&f->types, f->ctx);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    jx_ctx_free(f->ctx);
    free(f);
    return 0;
}

static const jx_mlir_type *tensor(fixture *f, int64_t n, const char *element)
{
    return jx_mlir_tensor(&f->types, 1, &n, jx_mlir_float(&f->types, element));
}

static void equal_types_are_one_pointer(void **state)
{
    fixture *f = *state;

    assert_ptr_equal(tensor(f, 3, "f32"), tensor(f, 3, "f32"));
    assert_ptr_not_equal(tensor(f, 3, "f32"), tensor(f, 4, "f32"));
    assert_ptr_not_equal(tensor(f, 3, "f32"), tensor(f, 3, "f64"));
    assert_ptr_not_equal(tensor(f, 3, "f32"),
                         tensor(f, JX_MLIR_DYNAMIC, "f32"));
    assert_ptr_not_equal(jx_mlir_integer(&f->types, JX_UNSIGNED, 8),
                         jx_mlir_integer(&f->types, JX_SIGNLESS, 8));
}

static void scales_and_encodings_tell_types_apart(void **state)
{
    fixture *f = *state;
    const jx_mlir_type *items[] = {jx_mlir_integer(&f->types, JX_SIGNLESS, 8),
                                   jx_mlir_float(&f->types, "f32")};
    double scale = 0.5, other = 0.25;
    int64_t zero = 0, shape = 2, bound = 7;
    jx_mlir_quant q = {
        .axis = -1, .count = 1, .scales = &scale, .zeros = &zero};
    jx_mlir_type like = {.kind = JX_T_QUANTIZED,
                         .rank = -1,
                         .count = 2,
                         .items = items,
                         .quant = &q};
    const jx_mlir_type *half = jx_mlir_type_add(&f->types, &like);
    jx_mlir_attr a = {.kind = JX_A_INTEGER, .integer = 7}, b = a;
    jx_mlir_type bounded = {.kind = JX_T_TENSOR,
                            .rank = 1,
                            .shape = &shape,
                            .count = 1,
                            .items = items + 1,
                            .encoding = &a};
    const jx_mlir_type *seven = jx_mlir_type_add(&f->types, &bounded);

    assert_ptr_equal(half, jx_mlir_type_add(&f->types, &like));
    q.scales = &other;
    assert_ptr_not_equal(half, jx_mlir_type_add(&f->types, &like));
    bounded.encoding = &b;
    assert_ptr_equal(seven, jx_mlir_type_add(&f->types, &bounded));
    b.integer = bound + 1;
    assert_ptr_not_equal(seven, jx_mlir_type_add(&f->types, &bounded));
}

static void every_dtype_of_a_tensor_comes_back(void **state)
{
    fixture *f = *state;

    for (int i = 1; i < JX_NDTYPES; i++) {
        const jx_mlir_type *element = jx_mlir_element(&f->types, (jx_dtype)i);
        jx_dtype back;

        if (i == JX_KEY || i == JX_FLOAT0 || i == JX_F64X2) {
            assert_null(element);
            continue;
        }
        assert_non_null(element);
        assert_true(jx_mlir_dtype(element, &back));
        assert_int_equal(back, i);
    }
    jx_dtype none;
    assert_false(jx_mlir_dtype(jx_mlir_float(&f->types, "tf32"), &none));
    assert_false(
        jx_mlir_dtype(jx_mlir_integer(&f->types, JX_SIGNLESS, 3), &none));
}

static void a_splat_is_its_elements(void **state)
{
    fixture *f = *state;
    const jx_mlir_type *type = tensor(f, 3, "f32");
    float one = 1, ones[] = {1, 1, 1}, others[] = {1, 1, 2};
    jx_mlir_attr splat = {.kind = JX_A_DENSE,
                          .type = type,
                          .splat = true,
                          .bytes = &one,
                          .size = sizeof one};
    jx_mlir_attr all = {
        .kind = JX_A_DENSE, .type = type, .bytes = ones, .size = sizeof ones};
    jx_mlir_attr mixed = {.kind = JX_A_DENSE,
                          .type = type,
                          .bytes = others,
                          .size = sizeof others};

    assert_true(jx_mlir_attr_same(&splat, &all));
    assert_true(jx_mlir_attr_same(&all, &splat));
    assert_false(jx_mlir_attr_same(&splat, &mixed));
    assert_false(jx_mlir_attr_same(&mixed, &all));
}

/* module { %0 = "t.a"(); %1 = "t.b"(%0, OPERAND) {k = VALUE} } */
static const jx_mlir_op *module(fixture *f, bool swapped, int64_t k,
                                const char *name)
{
    jx_arena *arena = f->ctx->arena;
    const jx_mlir_type *type = tensor(f, 3, "f32");
    jx_mlir_value *v = JX_NEW_ARRAY(arena, 3, jx_mlir_value);
    const jx_mlir_value **ins = JX_NEW_ARRAY(arena, 2, const jx_mlir_value *),
                        **outs = JX_NEW_ARRAY(arena, 3, const jx_mlir_value *);
    jx_mlir_attr *value = JX_NEW(arena, jx_mlir_attr);
    jx_mlir_named *attrs = JX_NEW(arena, jx_mlir_named);
    jx_mlir_op *ops = JX_NEW_ARRAY(arena, 3, jx_mlir_op);
    const jx_mlir_op **list = JX_NEW_ARRAY(arena, 2, const jx_mlir_op *);
    jx_mlir_block *block = JX_NEW(arena, jx_mlir_block);
    const jx_mlir_block **blocks = JX_NEW(arena, const jx_mlir_block *);
    jx_mlir_region *region = JX_NEW(arena, jx_mlir_region);

    for (int i = 0; i < 3; i++) {
        v[i] = (jx_mlir_value){.type = type, .name = name};
        outs[i] = &v[i];
    }
    ins[0] = &v[swapped ? 1 : 0];
    ins[1] = &v[swapped ? 0 : 1];
    *value = (jx_mlir_attr){.kind = JX_A_INTEGER, .integer = k};
    *attrs = (jx_mlir_named){"k", value};
    ops[0] = (jx_mlir_op){
        .name = jx_intern_text(f->ctx, "t.a"), .nouts = 2, .outs = outs};
    ops[1] = (jx_mlir_op){.name = jx_intern_text(f->ctx, "t.b"),
                          .nins = 2,
                          .ins = ins,
                          .nouts = 1,
                          .outs = outs + 2,
                          .nattrs = 1,
                          .attrs = attrs};
    list[0] = &ops[0];
    list[1] = &ops[1];
    *block = (jx_mlir_block){.nops = 2, .ops = list};
    *blocks = block;
    *region = (jx_mlir_region){1, blocks};
    ops[2] = (jx_mlir_op){.name = jx_intern_text(f->ctx, "builtin.module"),
                          .nregions = 1,
                          .regions = region};
    return &ops[2];
}

/* However the reader or pass that made it lists nothing. */
static void empty_lists_are_the_same(void **state)
{
    static const jx_mlir_attr *const none[1];
    jx_mlir_attr a = {.kind = JX_A_ARRAY, .items = none};
    jx_mlir_attr b = {.kind = JX_A_ARRAY};
    (void)state;

    assert_true(jx_mlir_attr_same(&a, &b));
    a.count = b.count = 1;
    assert_false(jx_mlir_attr_same(&a, &b));
}

static void modules_are_the_same_up_to_names(void **state)
{
    fixture *f = *state;
    const jx_mlir_op *m = module(f, false, 1, "x");
    jx_mlir_difference why;

    assert_true(jx_mlir_same(f->ctx, m, module(f, false, 1, "y"), NULL));
    assert_false(jx_mlir_same(f->ctx, m, module(f, true, 1, "x"), &why));
    assert_string_equal(why.what, "operand 0");
    assert_string_equal(why.a->name, "t.b");
    assert_false(jx_mlir_same(f->ctx, m, module(f, false, 2, "x"), &why));
    assert_string_equal(why.what, "attribute `k`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(equal_types_are_one_pointer),
        CASE(scales_and_encodings_tell_types_apart),
        CASE(every_dtype_of_a_tensor_comes_back),
        CASE(a_splat_is_its_elements),
        CASE(empty_lists_are_the_same),
        CASE(modules_are_the_same_up_to_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
