/* test_typing_pass.c - what the typer does beyond single equations. */
#include "analyzer/typing.h"
#include "frontend/read/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Types a document whose avals, prims and jaxprs are these; jaxpr `entry` is
 * the program. */
static jx_analysis *type(jx_ctx **ctx, const char *avals, const char *prims,
                         const char *jaxprs, int entry)
{
    jx_buffer doc = {0};

    *ctx = jx_ctx_new(0);
    jx_buffer_printf(&doc,
                     "{\"format\":\"jaxvet-jaxpr\",\"version\":1,\"producer\":{"
                     "\"jaxvet\":\"0\",\"jax\":\"0\",\"python\":\"0\",\"x64\":"
                     "true},\"entry\":{\"jaxpr\":%d},\"avals\":[%s],\"prims\":["
                     "%s],\"jaxprs\":[%s]}\n",
                     entry, avals, prims, jaxprs);
    jx_program *program =
        jx_read_document(*ctx, "-", jx_buffer_text(&doc), doc.length);
    jx_buffer_free(&doc);
    if (!program)
        print_error("%s: %s\n", (*ctx)->error.place, (*ctx)->error.message);
    assert_non_null(program);
    jx_analysis *to = jx_analysis_new(program);
    assert_true(jx_type_program(to));
    return to;
}

#define F3 "{\"dt\":\"f32\",\"sh\":[3]}"
#define F4 "{\"dt\":\"f32\",\"sh\":[4]}"
#define FN "{\"dt\":\"f32\",\"sh\":[\"n\"]}"
#define FM "{\"dt\":\"f32\",\"sh\":[\"m\"]}"

static void one_wrong_declaration_is_one_finding(void **state)
{
    jx_ctx *ctx;
    jx_analysis *to =
        type(&ctx, F3 "," F4, "\"sin\",\"add\"",
             "{\"in\":[0],\"eqns\":[[0,[0],[1],{},-1,-1,-1],"
             "[1,[1,0],[0],{},-1,-1,-1],[0,[2],[0],{},-1,-1,-1]],\"out\":[3]}",
             0);

    (void)state;
    assert_int_equal(to->claims.count, 1);
    assert_int_equal(to->claims.at[0]->code, JX_CODE_SHP011);
    assert_string_equal(to->claims.at[0]->what,
                        "result 0: inferred f32[3], declared f32[4]");
    assert_ptr_equal(to->claims.at[0]->eqn, &to->program->jaxprs[0]->eqns[0]);
    jx_ctx_free(ctx);
}

static void
a_condition_is_claimed_once_and_never_counted_as_proved(void **state)
{
    jx_ctx *ctx;
    jx_analysis *to = type(
        &ctx, FN "," FM, "\"add\"",
        "{\"in\":[0,1],\"eqns\":[[0,[0,1],[0],{},-1,-1,-1],"
        "[0,[1,0],[1],{},-1,-1,-1],[0,[0,1],[0],{},-1,-1,-1]],\"out\":[2]}",
        0);

    (void)state;
    assert_int_equal(to->claims.count, 1); /* m == n is the same */
    assert_int_equal(to->claims.at[0]->goal.kind, JX_GOAL_EQ);
    assert_int_equal(to->claims.at[0]->verdict, JX_UNDECIDED);
    assert_int_equal(to->repeated, 2);
    assert_int_equal(to->settled, 3); /* the three results */
    jx_ctx_free(ctx);
}

static void a_claim_inside_a_callee_knows_how_one_gets_there(void **state)
{
    jx_ctx *ctx;
    jx_analysis *to =
        type(&ctx, FN "," F3, "\"squeeze\",\"jit\",\"sin\"",
             "{\"in\":[0],\"eqns\":[[2,[0],[1],{},-1,-1,-1]],\"out\":[1]},"
             "{\"in\":[0],\"eqns\":[[1,[0],[1],{\"jaxpr\":{\"$jaxpr\":0}},-1,"
             "-1,-1]],\"out\":[1]},"
             "{\"in\":[0],\"eqns\":[[2,[0],[0],{},-1,-1,-1],[1,[1],[1],{"
             "\"jaxpr\":{\"$jaxpr\":1}},-1,-1,-1]],\"out\":[2]}",
             2);
    const jx_jaxpr *const *jaxprs = to->program->jaxprs;

    (void)state;
    assert_int_equal(to->claims.count, 1); /* n == 3, said where it arises */
    const jx_claim *claim = to->claims.at[0];
    assert_ptr_equal(claim->jaxpr, jaxprs[0]);
    assert_ptr_equal(claim->calls->jaxpr, jaxprs[1]);
    assert_ptr_equal(claim->calls->eqn, &jaxprs[1]->eqns[0]);
    assert_ptr_equal(claim->calls->outer->jaxpr, jaxprs[2]);
    assert_ptr_equal(claim->calls->outer->eqn, &jaxprs[2]->eqns[1]);
    assert_null(claim->calls->outer->outer);
    jx_ctx_free(ctx);
}

static void what_rests_on_an_unknown_primitive_is_undecided(void **state)
{
    jx_ctx *ctx;
    jx_analysis *to = type(&ctx, F3 "," F4, "\"frobnicate\",\"add\",\"sin\"",
                           "{\"in\":[0],\"eqns\":[[0,[0],[1],{},-1,-1,-1],"
                           "[0,[0],[1],{},-1,-1,-1],[1,[1,0],[1],{},-1,-1,-1],"
                           "[2,[3],[1],{},-1,-1,-1]],\"out\":[4]}",
                           0);

    (void)state;
    assert_int_equal(to->unknowns.count, 1);
    assert_int_equal(to->unknowns.at[0].count, 2);
    assert_int_equal(to->assumptions.count, 1);
    assert_non_null(strstr(to->assumptions.at[0], "frobnicate"));
    assert_int_equal(to->claims.count, 2);
    assert_int_equal(to->claims.at[0]->code, JX_CODE_SHP010);
    assert_int_equal(to->claims.at[0]->verdict, JX_UNDECIDED);
    assert_non_null(strstr(to->claims.at[0]->evidence.why, "unknown"));
    assert_int_equal(to->claims.at[1]->code, JX_CODE_PRM001);
    assert_int_equal(to->claims.at[1]->verdict, JX_UNDECIDED);
    assert_int_equal(to->settled, 0);
    assert_true(to->resting > 0);
    jx_ctx_free(ctx);
}

static void sizes_of_inputs_are_not_negative(void **state)
{
    jx_ctx *ctx;
    jx_analysis *to = type(
        &ctx,
        "{\"dt\":\"f32\",\"sh\":[\"n - 3\"]},{\"dt\":\"f32\",\"sh\":[\"n - "
        "2\"]}",
        "\"iota\"",
        "{\"in\":[0],\"eqns\":[[0,[],[0],{\"dimension\":0,\"dtype\":{\"$dt\":"
        "\"float32\"},\"shape\":[{\"$dim\":\"n - 3\"}],\"sharding\":null},-1,"
        "-1,-1],[0,[],[1],{\"dimension\":0,\"dtype\":{\"$dt\":\"float32\"},"
        "\"shape\":[{\"$dim\":\"n - "
        "2\"}],\"sharding\":null},-1,-1,-1]],\"out\":"
        "[1]}",
        0);

    (void)state;
    assert_int_equal(to->claims.count, 1);
    assert_int_equal(to->claims.at[0]->code, JX_CODE_SHP013);
    assert_ptr_equal(to->claims.at[0]->eqn, &to->program->jaxprs[0]->eqns[1]);
    jx_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wrong_declaration_is_one_finding),
        cmocka_unit_test(
            a_condition_is_claimed_once_and_never_counted_as_proved),
        cmocka_unit_test(a_claim_inside_a_callee_knows_how_one_gets_there),
        cmocka_unit_test(what_rests_on_an_unknown_primitive_is_undecided),
        cmocka_unit_test(sizes_of_inputs_are_not_negative),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
