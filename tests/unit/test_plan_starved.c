/* test_plan_starved.c - plans whose memory ends anywhere while they are made */
#include "runtime/plan.h"

#include "analyzer/typing.h"
#include "frontend/read/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Chains that are fused, of several results, in loops and beside them. */
#define PROGRAM                                                                \
    "{ lambda ; a:f32[4] b:f32[4]. let\n"                                      \
    "    c:f32[4] = mul a b\n"                                                 \
    "    d:f32[4] = sin c\n"                                                   \
    "    e:f32[4] = add d c\n"                                                 \
    "    f:f32[4] = cos e\n"                                                   \
    "    g:f32[4] = sub f d\n"                                                 \
    "    h:f32[4] i:f32[4] = scan[\n"                                          \
    "      jaxpr={ lambda ; j:f32[4] k:f32[4]. let\n"                          \
    "          l:f32[4] = scan[\n"                                             \
    "            jaxpr={ lambda ; m:f32[4]. let\n"                             \
    "                n:f32[4] = mul m m\n"                                     \
    "                o:f32[4] = exp2 n\n"                                      \
    "                p:f32[4] = sub o n\n"                                     \
    "              in (p,) }\n"                                                \
    "            length=2 num_carry=1 num_consts=0 reverse=False unroll=1\n"   \
    "          ] j\n"                                                          \
    "          q:f32[4] = add l k\n"                                           \
    "        in (k, q) }\n"                                                    \
    "      length=3 num_carry=2 num_consts=0 reverse=False unroll=1\n"         \
    "    ] e g\n"                                                              \
    "    r:f32[4] = mul h i\n"                                                 \
    "    s:f32[4] = tanh r\n"                                                  \
    "  in (e, g, r, s) }\n"

/* With so many bytes for the plan: whether there is one. */
static bool plan_within(size_t bytes)
{
    jx_plan_options options = {.domain = JX_DECLARED};
    jx_ctx *ctx = jx_ctx_new(0);
    jx_program *program = jx_read_text(ctx, "-", PROGRAM, strlen(PROGRAM));
    const jx_typed *typed;
    jx_plan *plan;

    if (!program)
        fail_msg("%s: %s", ctx->error.place, ctx->error.message);
    typed = jx_typed_of(program);
    ctx->budget.limits.bytes = atomic_load(&ctx->budget.used) + bytes;
    plan = jx_plan_make(typed, &program->entry, &options);
    assert_true(plan || !jx_ok(ctx));
    jx_plan_free(plan);
    jx_ctx_free(ctx);
    return plan;
}

static void it_is_made_or_given_up(void **state)
{
    enum { STEP = 16, MOST = 1 << 20 };
    size_t bytes = 0;

    (void)state;
    while (bytes < MOST && !plan_within(bytes))
        bytes += STEP;
    assert_in_range(bytes, STEP, MOST - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_made_or_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
