/* test_conformance_judge.c - the judge refuses what is wrong. */
#include "tests/conformance/judge.c"

#include "analyzer/typing.h"
#include "frontend/read/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define HEAD                                                                   \
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{\"jaxvet\":"     \
    "\"0.1.0\",\"jax\":\"0.10.2\",\"python\":\"3.11.7\",\"x64\":true},"        \
    "\"entry\":{\"jaxpr\":0,\"name\":\"f\"},"

static const char qr_text[] = HEAD
    "\"avals\":[{\"dt\":\"f64\",\"sh\":[2,2]}],\"prims\":[\"qr\"],"
    "\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[0],[0,0],{\"full_matrices\":false,"
    "\"pivoting\":false,\"use_magma\":null},-1,-1,-1]],\"out\":[1,2]}]}\n";
static const char eigh_text[] = HEAD
    "\"avals\":[{\"dt\":\"f64\",\"sh\":[2,2]},{\"dt\":\"f64\",\"sh\":[2]}],"
    "\"prims\":[\"eigh\"],\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[0],[0,1],"
    "{\"algorithm\":null,\"lower\":true,\"sort_eigenvalues\":true,"
    "\"subset_by_index\":null},-1,-1,-1]],\"out\":[1,2]}]}\n";
static const char sort_text[] =
    HEAD "\"avals\":[{\"dt\":\"i32\",\"sh\":[3]}],\"prims\":[\"sort\"],"
         "\"jaxprs\":[{\"in\":[0,0],\"eqns\":[[0,[0,1],[0,0],{\"dimension\":0,"
         "\"is_stable\":false,\"num_keys\":1},-1,-1,-1]],\"out\":[2,3]}]}\n";

/* The verdict on a program's two outputs. */
static bool verdict(const char *text, const void *const *ins,
                    const void *const *outs, const void *const *want)
{
    jx_ctx *ctx = jx_ctx_new(0);
    jx_plan_options options = {0};
    const char *why;
    jx_program *program = jx_read_document(ctx, "-", text, strlen(text));

    if (!program)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    jx_plan *plan =
        jx_plan_make(jx_typed_of(program), &program->entry, &options);
    if (!plan)
        fail_msg("%s", ctx->error.message);
    bool ok = jx_judge_outputs(program, plan, ins, outs, want, &why);
    jx_plan_free(plan);
    jx_ctx_free(ctx);
    return ok;
}

static bool same_verdict(const char *text, const double *a, const double *one,
                         const double *two)
{
    const void *ins[] = {a}, *outs[] = {one, two};

    return verdict(text, ins, outs, outs);
}

static void a_factor_has_to_be_orthogonal_and_to_give_the_matrix(void **state)
{
    const double a[] = {3, 1, 4, 2}, r[] = {5, 2.2, 0, 0.4};
    const double q[] = {0.6, -0.8, 0.8, 0.6}, other[] = {0.6, 0.8, 0.8, 0.6};
    const double lower[] = {5, 2.2, 1e-9, 0.4}, near_r[] = {5, 2.2, 0, 0.41};
    (void)state;

    assert_true(same_verdict(qr_text, a, q, r));
    assert_false(same_verdict(qr_text, a, other, r));
    assert_false(same_verdict(qr_text, a, q, lower));
    assert_false(same_verdict(qr_text, a, q, near_r));
}

static void eigenvectors_have_any_sign_but_one_order(void **state)
{
    /* The element above the diagonal is not read. */
    const double a[] = {2, 77, 0, 3}, w[] = {2, 3}, swapped[] = {3, 2};
    const double v[] = {1, 0, 0, 1}, minus[] = {-1, 0, 0, 1};
    const double back[] = {0, 1, 1, 0}, long_v[] = {2, 0, 0, 1};
    (void)state;

    assert_true(same_verdict(eigh_text, a, v, w));
    assert_true(same_verdict(eigh_text, a, minus, w));
    assert_false(same_verdict(eigh_text, a, back, swapped));
    assert_false(same_verdict(eigh_text, a, back, w));
    assert_false(same_verdict(eigh_text, a, long_v, w));
}

static void nan_has_to_be_where_it_is_expected(void **state)
{
    const double a[] = {2, 0, 0, 3}, w[] = {2, 3}, v[] = {1, 0, 0, 1};
    const double nans[] = {(double)NAN, (double)NAN};
    const void *ins[] = {a}, *outs[] = {v, nans}, *want[] = {v, w};
    (void)state;

    assert_false(verdict(eigh_text, ins, outs, want));
}

static void rows_may_change_places_but_not_their_elements(void **state)
{
    const int32_t keys[] = {1, 1, 2}, in[] = {1, 2, 1};
    const int32_t values[] = {7, 8, 9}, moved[] = {9, 7, 8};
    const int32_t other[] = {7, 9, 8}, wrong[] = {7, 8, 9};
    const void *ins[] = {in, values}, *want[] = {keys, other};
    (void)state;

    assert_true(verdict(sort_text, ins, (const void *[]){keys, moved}, want));
    assert_false(verdict(sort_text, ins, (const void *[]){keys, wrong}, want));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_has_to_be_orthogonal_and_to_give_the_matrix),
        cmocka_unit_test(eigenvectors_have_any_sign_but_one_order),
        cmocka_unit_test(nan_has_to_be_where_it_is_expected),
        cmocka_unit_test(rows_may_change_places_but_not_their_elements),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
