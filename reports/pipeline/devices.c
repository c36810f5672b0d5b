/* devices.c - see devices.h. */
#include "reports/pipeline/devices.h"

#include "analyzer/transform/devices.h"
#include "frontend/ir/element.h"
#include "reports/pipeline/values.h"
#include "runtime/elementwise.h"
#include "runtime/exec.h"
#include "runtime/fill.h"
#include "runtime/fits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_OPERATIONS = 2000000,
    MOST_MEMORY = 1 << 30,
    MOST_RESULTS = 4096,
    RUNS = 3,
    /* one run more: some predicates differ where something is not finite */
    INFINITE = RUNS,
};

static bool is_open(const jx_claim *claim)
{
    return claim->verdict == JX_UNDECIDED &&
           (claim->code == JX_CODE_MSH002 || claim->code == JX_CODE_MSH008 ||
            claim->code == JX_CODE_MSH010 || claim->code == JX_CODE_MSH012 ||
            claim->code == JX_CODE_MSH019);
}

static bool any_open(const jx_analysis *to)
{
    for (size_t i = 0; i < to->claims.count; i++)
        if (is_open(to->claims.at[i]))
            return true;
    return false;
}

/* ---- a run */

static void free_inputs(const jx_plan *plan, void **ins)
{
    for (int i = 0; ins && i < jx_plan_nins(plan); i++)
        free(ins[i]);
    free(ins);
}

/* The last element is no number that one reckons with. */
static void put_infinity(const jx_port *port, void *to)
{
    static const double infinity = INFINITY;

    if (jx_dtype_is_float(port->dtype) && port->count)
        jx_convert(JX_F64, port->dtype, &infinity,
                   (char *)to + (size_t)(port->count - 1) *
                                    jx_dtype_of(port->dtype)->bytes,
                   1);
}

static void **made_inputs(jx_ctx *ctx, const jx_plan *plan, int seed)
{
    int n = jx_plan_nins(plan);
    void **ins = calloc((size_t)n + 1, sizeof *ins);
    const char *how = jx_arena_printf(ctx->arena, "random:%d", seed);

    for (int i = 0; ins && i < n; i++) {
        const jx_port *port = jx_plan_in(plan, i);
        ins[i] = calloc(1, port->bytes + 16);
        if (!ins[i] || !how || !jx_fill(how, i, port, ins[i], &ctx->budget)) {
            free_inputs(plan, ins);
            return NULL;
        }
        if (seed == INFINITE)
            put_infinity(port, ins[i]);
    }
    return ins;
}

/* Of NaN; there is nothing worse. */
static int64_t count_nans(const jx_port *port, const void *data)
{
    jx_unfinite found;

    return jx_dtype_is_float(port->dtype) &&
                   jx_port_find_unfinite(port, data, &found) &&
                   isnan(jx_element_real(found.value.dtype,
                                         (const char *)found.value.bits))
               ? found.count
               : 0;
}

typedef struct outcome {
    const char *why; /* it failed, in arena text; NULL: it did not */
    int output;      /* the first that has NaN; -1: none */
    int64_t nans, of;
} outcome;

static outcome run(jx_ctx *ctx, const jx_plan *plan, int seed)
{
    void **ins = made_inputs(ctx, plan, seed);
    jx_exec *exec = ins ? jx_exec_new(plan) : NULL;
    outcome to = {.output = -1};

    if (exec) {
        jx_exec_limit(exec, MOST_OPERATIONS);
        if (!jx_exec_run(exec, (const void *const *)ins, NULL))
            to.why = jx_arena_string(ctx->arena, jx_exec_error(exec),
                                     strlen(jx_exec_error(exec)));
        for (int i = 0; !to.why && to.output < 0 && i < jx_plan_nouts(plan);
             i++) {
            const jx_port *port = jx_plan_out(plan, i);
            to.nans = count_nans(port, jx_exec_out(exec, i));
            to.of = port->count;
            to.output = to.nans ? i : -1;
        }
        jx_exec_free(exec);
    }
    free_inputs(plan, ins);
    return to;
}

/* ---- what it says of claims */

static bool says(const char *why, const char *text)
{
    return text && strstr(why, text);
}

static bool is_of(jx_ctx *ctx, const jx_claim *claim, const char *why)
{
    if (claim->code == JX_CODE_MSH010)
        return says(why, jx_devices_part_text(ctx, claim->eqn));
    for (int i = 0; i < claim->eqn->nouts && i < MOST_RESULTS; i++) {
        const char *result = jx_arena_printf(ctx->arena, "result %d ", i);
        if (result && !strncmp(claim->what, result, strlen(result)))
            return says(why, jx_devices_differ_text(ctx, claim->eqn, i));
    }
    return false;
}

static bool settle(jx_analysis *to, const char *why, int seed)
{
    jx_ctx *ctx = to->program->ctx;
    bool any = false;

    for (size_t i = 0; i < to->claims.count && !any; i++) {
        jx_claim *claim = to->claims.at[i];
        if (!is_open(claim) || !claim->eqn || !is_of(ctx, claim, why) ||
            (seed == INFINITE && claim->code != JX_CODE_MSH010))
            continue;
        claim->verdict = JX_WITNESSED;
        claim->evidence.by = "a run of all devices";
        claim->evidence.note = jx_arena_printf(
            ctx->arena, "on made-up inputs (--fill random:%d%s) they do", seed,
            seed == INFINITE ? ", the last element of each an infinity" : "");
        any = true;
    }
    return any;
}

static bool settle_filler(jx_analysis *to, const outcome *run, int seed)
{
    jx_ctx *ctx = to->program->ctx;
    bool any = false;

    for (size_t i = 0; i < to->claims.count; i++) {
        jx_claim *claim = to->claims.at[i];
        if (!is_open(claim) || claim->code != JX_CODE_MSH019)
            continue;
        claim->verdict = JX_WITNESSED;
        claim->evidence.by = "a run of all devices";
        claim->evidence.note = jx_arena_printf(
            ctx->arena,
            "on made-up inputs (--fill random:%d) %lld of %lld elements of "
            "result %d are NaN",
            seed, (long long)run->nans, (long long)run->of, run->output);
        any = true;
    }
    return any;
}

bool jx_settle_devices(jx_analysis *to)
{
    jx_ctx *ctx = to->program->ctx;
    jx_program *sized =
        any_open(to) ? jx_program_at_small_sizes(to->program) : NULL;
    const jx_typed *typed = sized ? jx_analysis_fits_as(to, sized) : NULL;
    const jx_plan_options options = {.memory = MOST_MEMORY, .compares = true};
    jx_plan *plan =
        typed ? jx_plan_make(typed, &typed->program->entry, &options) : NULL;

    for (int seed = 0; plan && seed <= INFINITE; seed++) {
        outcome ran = run(ctx, plan, seed);
        if (ran.why ? settle(to, ran.why, seed)
                    : ran.output >= 0 && seed != INFINITE &&
                          settle_filler(to, &ran, seed))
            break;
    }
    jx_plan_free(plan);
    if (!plan)
        jx_error_clear(ctx); /* what can't be run stays undecided */
    return jx_ok(ctx);
}
