/* test_runtime.c - plans and their execution. */
#include "analyzer/typing.h"
#include "frontend/read/document.h"
#include "runtime/exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Allocations are counted by standing before the C library's. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define COUNTS_ALLOCATIONS 1
static int allocations;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
#endif

static const char head[] =
    "{\"format\":\"jaxvet-jaxpr\",\"version\":1,"
    "\"producer\":{\"jaxvet\":\"0\",\"jax\":\"0.10.2\",\"python\":\"3\"},";

typedef struct fixture {
    jx_ctx *ctx;
    jx_program *program;
    jx_plan *plan;
    jx_exec *exec;
    jx_binding size;
} fixture;

static void read_program(fixture *f, const char *rest)
{
    char text[4000];

    snprintf(text, sizeof text, "%s%s", head, rest);
    f->ctx = jx_ctx_new(0);
    f->program = jx_read_document(f->ctx, "-", text, strlen(text));
    if (!f->program)
        fail_msg("%s: %s", f->ctx->error.place, f->ctx->error.message);
}

/* Plans with the variable of the first input's first axis at that size (0:
 * there is none). */
static void plan_at(fixture *f, int64_t size, jx_domain domain)
{
    jx_plan_options options = {.domain = domain};

    if (size) {
        const jx_jaxpr *jaxpr = f->program->entry.jaxpr;
        const jx_dim *dim = jaxpr->vars[jaxpr->nconsts]->aval->shape[0];
        int count;
        f->size.var = jx_dim_vars(f->program->dims, dim, &count)[0];
        f->size.value = size;
        options.nbindings = 1;
        options.bindings = &f->size;
    }
    f->plan =
        jx_plan_make(jx_typed_of(f->program), &f->program->entry, &options);
    if (!f->plan)
        fail_msg("%s: %s", f->ctx->error.place, f->ctx->error.message);
    f->exec = jx_exec_new(f->plan);
    assert_non_null(f->exec);
}

static void close_all(fixture *f)
{
    jx_exec_free(f->exec);
    jx_plan_free(f->plan);
    jx_ctx_free(f->ctx);
}

static const char chain[] = "\"entry\":{\"jaxpr\":0,\"name\":\"f\"},"
                            "\"avals\":[{\"dt\":\"f32\",\"sh\":[\"b\",3]},{"
                            "\"dt\":\"f32\",\"weak\":true}],"
                            "\"prims\":[\"mul\",\"add\",\"neg\"],"
                            "\"jaxprs\":[{\"in\":[0,0],\"eqns\":["
                            "[0,[0,{\"a\":1,\"v\":2.0}],[0],{},-1,-1,-1],"
                            "[1,[2,1],[0],{},-1,-1,-1],"
                            "[2,[3],[0],{},-1,-1,-1]],\"out\":[4,0]}]}\n";

static void a_chain_runs_at_any_size_without_allocating(void **state)
{
    enum { LARGE = 70001 };
    (void)state;

    for (int64_t b = 1; b <= LARGE; b = b == 16807 ? LARGE : b * 7) {
        fixture f = {0};
        float *x = calloc((size_t)b * 3, sizeof *x);
        float *y = calloc((size_t)b * 3, sizeof *y);
        for (int64_t i = 0; i < b * 3; i++) {
            x[i] = (float)i;
            y[i] = (float)(i % 5);
        }
        read_program(&f, chain);
        plan_at(&f, b, JX_DECLARED);
        const void *ins[] = {x, y};
        assert_true(jx_exec_run(f.exec, ins, NULL));
#ifdef COUNTS_ALLOCATIONS
        int before = allocations;
        assert_true(jx_exec_run(f.exec, ins, NULL));
        assert_int_equal(allocations, before);
#endif
        const float *out = jx_exec_out(f.exec, 0);
        for (int64_t i = 0; i < b * 3; i++)
            if (out[i] != -(x[i] * 2 + y[i]))
                fail_msg("element %lld of %lld", (long long)i,
                         (long long)b * 3);
        assert_memory_equal(jx_exec_out(f.exec, 1), x,
                            (size_t)b * 3 * sizeof *x);
        free(x);
        free(y);
        close_all(&f);
    }
}

static void elementwise_chains_become_one_operation(void **state)
{
    fixture f = {0};
    (void)state;

    read_program(&f, chain);
    plan_at(&f, 100, JX_DECLARED);
    /* The chain, and the copy of the input that is an output. */
    assert_int_equal(jx_plan_nops(f.plan), 2);
    close_all(&f);
}

static void the_wide_domain_computes_in_f64(void **state)
{
    fixture f = {0};
    double x[3] = {0.1, 0.2, 0.3}, y[3] = {1e-9, 1e-9, 1e-9};
    const void *ins[] = {x, y};
    (void)state;

    read_program(&f, chain);
    plan_at(&f, 1, JX_WIDE);
    assert_int_equal(jx_plan_in(f.plan, 0)->dtype, JX_F64);
    assert_true(jx_exec_run(f.exec, ins, NULL));
    const double *out = jx_exec_out(f.exec, 0);
    for (int i = 0; i < 3; i++)
        assert_true(out[i] == -(x[i] * 2 + y[i]));
    close_all(&f);
}

/* A number and an input, both converted from f32 to bf16. */
static const char converted[] =
    "\"entry\":{\"jaxpr\":0,\"name\":\"f\"},"
    "\"avals\":[{\"dt\":\"f32\"},{\"dt\":\"bf16\"}],"
    "\"prims\":[\"convert_element_type\"],"
    "\"jaxprs\":[{\"in\":[0],\"eqns\":["
    "[0,[{\"a\":0,\"v\":1.2}],[1],{\"new_dtype\":{\"$dt\":\"bfloat16\"},"
    "\"sharding\":null,\"weak_type\":false},-1,-1,-1],"
    "[0,[0],[1],{\"new_dtype\":{\"$dt\":\"bfloat16\"},"
    "\"sharding\":null,\"weak_type\":false},-1,-1,-1]],"
    "\"out\":[1,2]}]}\n";

static void a_literal_is_rounded_as_it_is_converted(void **state)
{
    fixture f = {0};
    double x = 1.2;
    const void *ins[] = {&x};
    (void)state;

    read_program(&f, converted);
    plan_at(&f, 0, JX_WIDE);
    assert_true(jx_exec_run(f.exec, ins, NULL));
    assert_true(*(const double *)jx_exec_out(f.exec, 0) == 1.203125);
    assert_true(*(const double *)jx_exec_out(f.exec, 1) == 1.2);
    close_all(&f);
}

/* (a, b) -> (b, a + b), the a's stacked: what a loop carries is swapped, so no
 * copy may overtake another. */
static const char fibonacci[] =
    "\"entry\":{\"jaxpr\":1,\"name\":\"f\"},"
    "\"avals\":[{\"dt\":\"i32\"},{\"dt\":\"i32\",\"sh\":[8]}],"
    "\"prims\":[\"add\",\"scan\"],"
    "\"jaxprs\":[{\"in\":[0,0],\"eqns\":[[0,[0,1],[0],{},-1,-1,-1]],"
    "\"out\":[1,2,0]},"
    "{\"in\":[0,0],\"eqns\":[[1,[0,1],[0,0,1],{\"jaxpr\":{\"$jaxpr\":0},"
    "\"length\":8,\"num_carry\":2,\"num_consts\":0,\"reverse\":%s},-1,-1,-1]],"
    "\"out\":[2,3,4]}]}\n";

static void a_scan_carries_and_stacks(void **state)
{
    static const int32_t numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
    (void)state;

    for (int reverse = 0; reverse < 2; reverse++) {
        fixture f = {0};
        char text[1000];
        int32_t zero = 0, one = 1;
        const void *ins[] = {&zero, &one};
        snprintf(text, sizeof text, fibonacci, reverse ? "true" : "false");
        read_program(&f, text);
        plan_at(&f, 0, JX_DECLARED);
        for (int run = 0; run < 2; run++) {
            assert_true(jx_exec_run(f.exec, ins, NULL));
            assert_int_equal(*(const int32_t *)jx_exec_out(f.exec, 0),
                             numbers[8]);
            assert_int_equal(*(const int32_t *)jx_exec_out(f.exec, 1),
                             numbers[9]);
            const int32_t *all = jx_exec_out(f.exec, 2);
            for (int i = 0; i < 8; i++)
                assert_int_equal(all[reverse ? 7 - i : i], numbers[i]);
        }
        close_all(&f);
    }
}

/* Size arithmetic is the program's own: int32 without x64. */
static void size_arithmetic_wraps(void **state)
{
    static const char text[] =
        "\"entry\":{\"jaxpr\":0,\"name\":\"f\"},"
        "\"avals\":[{\"dt\":\"f32\",\"sh\":[\"b\"]},{\"dt\":\"i32\"}],"
        "\"prims\":[\"dim_as_value\"],"
        "\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[],[1],"
        "{\"dim\":{\"$dim\":\"b^2 + 3\"}},-1,-1,-1]],\"out\":[1]}]}\n";
    fixture f = {0};
    float *x = calloc(70000, sizeof *x);
    const void *ins[] = {x};
    (void)state;

    read_program(&f, text);
    plan_at(&f, 70000, JX_DECLARED);
    assert_true(jx_exec_run(f.exec, ins, NULL));
    assert_int_equal(*(const int32_t *)jx_exec_out(f.exec, 0),
                     (int32_t)(uint32_t)(70000ull * 70000 + 3));
    free(x);
    close_all(&f);
}

static const char *refusal(const char *text, size_t memory, int64_t size)
{
    static char message[300];
    fixture f = {0};
    jx_plan_options options = {.memory = memory};

    read_program(&f, text);
    if (size) {
        const jx_dim *dim = f.program->entry.jaxpr->vars[0]->aval->shape[0];
        int count;
        f.size.var = jx_dim_vars(f.program->dims, dim, &count)[0];
        f.size.value = size;
        options.nbindings = 1;
        options.bindings = &f.size;
    }
    assert_null(
        jx_plan_make(jx_typed_of(f.program), &f.program->entry, &options));
    assert_int_equal(f.ctx->error.kind, memory ? JX_E_LIMIT : JX_E_INPUT);
    snprintf(message, sizeof message, "%s", f.ctx->error.message);
    close_all(&f);
    return message;
}

static void what_cannot_run_is_refused_with_a_reason(void **state)
{
    static const char unknown[] =
        "\"entry\":{\"jaxpr\":0,\"name\":\"f\"},"
        "\"avals\":[{\"dt\":\"f32\"}],\"prims\":[\"frobnicate\"],"
        "\"jaxprs\":[{\"in\":[0],\"eqns\":[[0,[0],[0],{},-1,-1,-1]],"
        "\"out\":[1]}]}\n";
    (void)state;

    assert_string_equal(refusal(unknown, 0, 0),
                        "there is no way to run the primitive frobnicate");
    assert_non_null(strstr(refusal(chain, 0, 0), "the size b has no value"));
    assert_non_null(
        strstr(refusal(chain, 1 << 20, 1 << 20), "limit of memory"));
    assert_non_null(strstr(refusal(chain, 0, INT64_MAX / 2),
                           "more elements than there are bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_runs_at_any_size_without_allocating),
        cmocka_unit_test(elementwise_chains_become_one_operation),
        cmocka_unit_test(the_wide_domain_computes_in_f64),
        cmocka_unit_test(a_literal_is_rounded_as_it_is_converted),
        cmocka_unit_test(a_scan_carries_and_stacks),
        cmocka_unit_test(size_arithmetic_wraps),
        cmocka_unit_test(what_cannot_run_is_refused_with_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
