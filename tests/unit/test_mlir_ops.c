/* test_mlir_ops.c - the tables of ops, and how lists of names are read. */
#include "frontend/mlir/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {
#define OP(name, ins, outs, attrs, regions, form) name,
#include "frontend/mlir/ops.def"
#undef OP
};

static const char *const vhlo_names[] = {
#define OP(name, first, last, ins, outs, attrs, regions) name,
#include "frontend/mlir/vhlo_ops.def"
#undef OP
};

static void every_row_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const jx_mlir_op_info *info = jx_mlir_op_info_find(names[i]);
        assert_non_null(info);
        assert_ptr_equal(jx_mlir_op_info_of(jx_mlir_op_id(names[i])), info);
        assert_int_equal(jx_mlir_op_id(names[i]), i + 1);
        if (i)
            assert_true(strcmp(names[i - 1], names[i]) < 0);
    }
    for (size_t i = 0; i < sizeof vhlo_names / sizeof *vhlo_names; i++) {
        assert_non_null(jx_vhlo_op_info_find(vhlo_names[i]));
        if (i)
            assert_true(strcmp(vhlo_names[i - 1], vhlo_names[i]) < 0);
    }
    assert_null(jx_mlir_op_info_find("stablehlo.nothing"));
    assert_null(jx_mlir_op_info_of(JX_OP_unknown));
    assert_int_equal(jx_mlir_op_id("stablehlo.add"), JX_OP_stablehlo_add);
    assert_int_equal(jx_mlir_op_id("stablehlo.xor"), JX_OP_stablehlo_xor);
    assert_int_equal(JX_OP_stablehlo_xor, JX_OP_COUNT - 1);
    assert_int_equal(jx_mlir_op_id("stablehlo.nothing"), JX_OP_unknown);
    assert_null(jx_vhlo_op_info_find("vhlo.add_v1"));
}

/* Bytecode stores properties by the alphabet of their names. */
static void attributes_stand_by_the_alphabet(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vhlo_names / sizeof *vhlo_names; i++) {
        const char *at = jx_vhlo_op_info_find(vhlo_names[i])->attrs;
        char before[80] = "", now[80];
        const char *name;
        size_t length;
        char mark;

        while ((at = jx_mlir_next_name(at, &name, &length, &mark))) {
            assert_true(length < sizeof now);
            memcpy(now, name, length);
            now[length] = '\0';
            assert_true(strcmp(before, now) < 0);
            memcpy(before, now, sizeof now);
        }
    }
}

static void versions_of_an_op_do_not_overlap(void **state)
{
    const jx_vhlo_op_info *one = jx_vhlo_op_info_find("gather_v1");
    const jx_vhlo_op_info *two = jx_vhlo_op_info_find("gather_v2");

    (void)state;
    assert_true(one->first == JX_VHLO_FIRST && one->last < two->first);
    assert_true(two->first == JX_VHLO(1, 1, 0) && two->last == UINT32_MAX);
}

static void names_have_marks(void **state)
{
    const jx_mlir_op_info *info = jx_mlir_op_info_find("stablehlo.scatter");
    char mark = 'x';

    (void)state;
    assert_int_equal(jx_mlir_count_names(info->ins), 3);
    assert_true(jx_mlir_has_name(info->attrs, "unique_indices", &mark));
    assert_int_equal(mark, '=');
    assert_true(
        jx_mlir_has_name(info->attrs, "scatter_dimension_numbers", &mark));
    assert_int_equal(mark, '\0');
    assert_false(jx_mlir_has_name(info->attrs, "unique", NULL));
    assert_int_equal(jx_mlir_name_index(info->ins, "updates"), 2);
    assert_int_equal(jx_mlir_name_index(info->ins, "inputs*"), -1);
    assert_int_equal(jx_mlir_count_names(""), 0);
}

static void operands_fall_into_groups(void **state)
{
    const char *list = "inputs* scatter_indices updates*";
    int begin, count;

    (void)state;
    assert_true(jx_mlir_group(list, 5, 0, &begin, &count));
    assert_true(begin == 0 && count == 2);
    assert_true(jx_mlir_group(list, 5, 1, &begin, &count));
    assert_true(begin == 2 && count == 1);
    assert_true(jx_mlir_group(list, 5, 2, &begin, &count));
    assert_true(begin == 3 && count == 2);
    assert_false(jx_mlir_group(list, 4, 0, &begin, &count));
    assert_false(jx_mlir_group("lhs rhs", 1, 0, &begin, &count));
    assert_false(jx_mlir_group("lhs rhs", 2, 2, &begin, &count));
    assert_true(jx_mlir_group("token", 1, 0, &begin, &count));
}

static const char *const record_names[] = {
#define RECORD(name, fields) name,
#define ENUM(name, cases) name,
#include "frontend/mlir/records.def"
#undef ENUM
#undef RECORD
};

static void every_record_and_enumeration_is_found(void **state)
{
    size_t length, count = sizeof record_names / sizeof *record_names;

    (void)state;
    for (size_t i = 0; i < count; i++)
        assert_true(jx_mlir_record_info_find(record_names[i]) ||
                    jx_mlir_enum_case(record_names[i], 1, &length));
    assert_null(jx_mlir_record_info_find("stablehlo.nothing"));
    assert_int_equal(jx_mlir_enum_number("stablehlo.precision", "HIGH"), 1);
    assert_int_equal(jx_mlir_enum_number("stablehlo.precision", "LOW"), -1);
    assert_int_equal(jx_mlir_enum_number("stablehlo.nothing", "HIGH"), -1);
    assert_null(jx_mlir_enum_case("stablehlo.rng_distribution", 0, &length));
    assert_null(jx_mlir_enum_case("stablehlo.rng_distribution", 3, &length));
}

static void fields_have_kinds(void **state)
{
    const char *at = jx_mlir_record_info_find("stablehlo.gather")->fields;
    const char *name;
    size_t length;
    char kind, mark;
    int count = 0;

    (void)state;
    while ((at = jx_mlir_next_field(at, &name, &length, &kind, &mark))) {
        assert_int_equal(mark, '=');
        assert_int_equal(kind, count < 5 ? 'L' : 'I');
        count++;
    }
    assert_int_equal(count, 6);
    assert_int_equal(length, strlen("index_vector_dim"));
    assert_memory_equal(name, "index_vector_dim", length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found),
        cmocka_unit_test(attributes_stand_by_the_alphabet),
        cmocka_unit_test(versions_of_an_op_do_not_overlap),
        cmocka_unit_test(names_have_marks),
        cmocka_unit_test(operands_fall_into_groups),
        cmocka_unit_test(every_record_and_enumeration_is_found),
        cmocka_unit_test(fields_have_kinds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
