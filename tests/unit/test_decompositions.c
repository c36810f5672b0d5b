/* test_decompositions.c - each decomposition beside the kernel of its
 * primitive: the examples of every file of frontend/decompose, at a few
 * sizes.  They may lie as far apart as the file says (`#: within`), else they
 * have the same bits. */
#include "analyzer/typing.h"
#include "frontend/decompose/decompose.h"
#include "frontend/ir/signature.h"
#include "frontend/read/text.h"
#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"
#include "runtime/fits.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Between 0 and some tens, small ones and special ones among them. */
static double some_float(uint64_t *state)
{
    static const double special[] = {0, 1, -1, 0.5, NAN, INFINITY};
    uint64_t r = next_random(state);
    double unit = (double)(r >> 11) * 0x1p-53;

    if (r % 7 == 0)
        return special[r / 7 % 6];
    return unit * (r % 3 == 0 ? 0.9 : r % 3 == 1 ? 4 : 40);
}

/* Floats as above; numbers of pivots: at each place of a row one that is not
 * before it; all else random bits. */
static void fill(const jx_port *port, uint64_t *state, void *to)
{
    int64_t row = port->rank ? port->shape[port->rank - 1] : 1;
    jx_dtype dtype = port->dtype;

    for (int64_t i = 0; i < port->count; i++) {
        if (jx_dtype_is_float(dtype)) {
            double x = some_float(state);
            jx_convert(JX_F64, dtype, &x,
                       (char *)to + (size_t)i * jx_dtype_of(dtype)->bytes, 1);
        } else if (dtype == JX_I32)
            ((int32_t *)to)[i] =
                (int32_t)(i % row +
                          (int64_t)(next_random(state) % 4) % (row - i % row));
    }
    if (!jx_dtype_is_float(dtype) && dtype != JX_I32)
        for (size_t i = 0; i < port->bytes; i++)
            ((unsigned char *)to)[i] = (unsigned char)next_random(state);
}

static jx_plan *plan_at(jx_program *p, int size)
{
    jx_plan_options options = {.memory = 1 << 28};
    const jx_dim_atom *const *vars = jx_input_vars(p, &options.nbindings);
    jx_binding *at =
        JX_NEW_ARRAY(p->ctx->arena, options.nbindings + 1, jx_binding);

    for (int i = 0; i < options.nbindings; i++)
        at[i] = (jx_binding){vars[i], size};
    options.bindings = at;
    const jx_typed *typed = jx_program_fits(p, false, options.nbindings, at);
    return typed ? jx_plan_make(typed, &p->entry, &options) : NULL;
}

static double unit_of(jx_dtype dtype)
{
    switch (dtype) {
    case JX_F64: return DBL_EPSILON;
    case JX_F32: return (double)FLT_EPSILON;
    case JX_F16: return 0x1p-10;
    case JX_BF16: return 0x1p-7;
    default: return 0.5; /* next to no digits */
    }
}

static bool agree(const jx_port *port, const void *x, const void *y,
                  const jx_decomposed *made)
{
    const char *within = made->within;
    jx_tolerance t = {.bits = !within};
    jx_mismatch found;
    jx_buffer text = {0};

    if (within) {
        t.relative = atof(within) * unit_of(port->dtype);
        t.absolute = port->dtype == JX_F64 ? DBL_MIN : (double)FLT_MIN;
    }
    if (jx_compare(port->dtype, x, y, port->count, &t, &found) ||
        (made->off &&
         (double)found.count < atof(made->off) * (double)port->count))
        return true;
    size_t at = (size_t)found.worst * jx_dtype_of(port->dtype)->bytes;
    jx_buffer_printf(&text, "%lld of %lld differ; [%lld] is ",
                     (long long)found.count, (long long)port->count,
                     (long long)found.worst);
    jx_element_print(port->dtype, (const char *)x + at, &text);
    jx_buffer_puts(&text, " by the kernel and ");
    jx_element_print(port->dtype, (const char *)y + at, &text);
    print_error("%s\n", jx_buffer_text(&text));
    jx_buffer_free(&text);
    return false;
}

static bool run_both(jx_ctx *ctx, const jx_plan *a, const jx_plan *b,
                     const jx_decomposed *made)
{
    jx_exec *x = jx_exec_new(a), *y = jx_exec_new(b);
    const void **ins =
        JX_NEW_ARRAY(ctx->arena, jx_plan_nins(a) + 1, const void *);
    uint64_t state = 88172645463325252u;
    bool ok = x && y && ins && jx_plan_nins(a) == jx_plan_nins(b) &&
              jx_plan_nouts(a) == jx_plan_nouts(b);

    for (int i = 0; ok && i < jx_plan_nins(a); i++) {
        const jx_port *port = jx_plan_in(a, i);
        void *to = jx_arena_alloc(ctx->arena, port->bytes + 1);
        ok = to && port->bytes == jx_plan_in(b, i)->bytes;
        if (ok)
            fill(port, &state, to);
        ins[i] = to;
    }
    ok = ok && jx_exec_run(x, ins, NULL) && jx_exec_run(y, ins, NULL);
    for (int i = 0; ok && i < jx_plan_nouts(a); i++)
        ok = agree(jx_plan_out(a, i), jx_exec_out(x, i), jx_exec_out(y, i),
                   made);
    jx_exec_free(x);
    jx_exec_free(y);
    return ok;
}

/* The example beside what its equation is made of. */
static bool same_at(const char *example, bool partitionable, int size)
{
    jx_eqn_ctx way = {.threefry_partitionable = partitionable};
    jx_ctx *ctx = jx_ctx_new(0), *other = jx_ctx_new(0);
    jx_program *p = jx_read_text(ctx, "example", example, strlen(example));
    jx_decompositions all = {.program = p};
    const jx_decomposed *made = NULL;
    jx_program *q = NULL;

    if (p) {
        ((jx_eqn *)(uintptr_t)&p->entry.jaxpr->eqns[0])->ctx = &way;
        made = jx_decomposed_of(&all, &p->entry.jaxpr->eqns[0]);
    }
    if (made)
        q = jx_read_text(other, made->row->path, made->text,
                         strlen(made->text));
    for (int i = 0; q && i < q->njaxprs; i++)
        for (int k = 0; k < q->jaxprs[i]->neqns; k++)
            ((jx_eqn *)(uintptr_t)&q->jaxprs[i]->eqns[k])->ctx = &way;
    jx_plan *a = q ? plan_at(p, size) : NULL, *b = a ? plan_at(q, size) : NULL;
    bool ok = b && run_both(ctx, a, b, made);
    if (!b)
        print_error("%s; %s\n", ctx->error.message ? ctx->error.message : "",
                    other->error.message ? other->error.message : "");
    jx_plan_free(a);
    jx_plan_free(b);
    jx_ctx_free(ctx);
    jx_ctx_free(other);
    return ok;
}

static void each_decomposition_computes_what_its_kernel_does(void **state)
{
    static const int sizes[] = {1, 2, 40};
    const jx_decomposition *row = jx_decomposition_table;
    int failures = 0;

    (void)state;
    for (; row->path; row++) {
        jx_ctx *ctx = jx_ctx_new(0);
        const char *example;
        bool way;
        int i = 0;
        for (; (example = jx_decomposition_example(ctx, row, i, &way)); i++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                if (!same_at(example, way, sizes[k])) {
                    print_error("%s: %s, n=%d\n", row->path, example, sizes[k]);
                    failures++;
                }
        failures += !i;
        jx_ctx_free(ctx);
    }
    assert_int_equal(failures, 0);
}

/* Sizes may be called by words that mean something in programs, or that JAX
 * knows and C does not. */
static void sizes_have_any_name(void **state)
{
    static const char *const names[] = {
        "inf", "nan", "None",   "True", "False", "let", "in", "V",
        "S",   "on",  "\u00e9", "jit",  "np",    "T",   "_"};
    static const char *const sizes[] = {"%s", "%s + 1", "2*%s"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            char size[40], example[200];
            snprintf(size, sizeof size, sizes[k], names[i]);
            snprintf(
                example, sizeof example,
                "{ lambda ; a:f32[%s,2] b:f32[%s,2]. let c:f32[%s,2] = igamma "
                "a b in (c,) }",
                size, size, size);
            if (!same_at(example, true, 3))
                fail_msg("%s", example);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_decomposition_computes_what_its_kernel_does),
        cmocka_unit_test(sizes_have_any_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
