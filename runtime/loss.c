/* loss.c - see loss.h. */
#include "runtime/loss.h"

#include "runtime/compare.h"
#include "runtime/elementwise.h"
#include "runtime/shake.h"

#include <math.h>

const void *const *jx_inputs_widened(jx_ctx *ctx, const jx_plan *plan,
                                     const void *const *declared)
{
    int n = jx_plan_nins(plan);
    const void **ins = JX_NEW_ARRAY(ctx->arena, n + 1, const void *);

    for (int i = 0; ins && i < n; i++) {
        const jx_port *port = jx_plan_in(plan, i);
        jx_dtype from =
            port->aval->dtype == JX_KEY ? JX_U32 : port->aval->dtype;
        ins[i] = declared[i];
        if (from == port->dtype)
            continue;
        void *wide = jx_arena_alloc(ctx->arena, port->bytes);
        if (!wide)
            return NULL;
        jx_convert(from, port->dtype, declared[i], wide, port->count);
        ins[i] = wide;
    }
    return ins;
}

void jx_loss_again(jx_loss *r, const void *const *ins)
{
    r->ran = false;
    for (int k = 0; k < JX_SHAKES; k++)
        r->ran_shaken[k] = false;
    r->ins = ins;
}

void jx_loss_close(jx_loss *r)
{
    jx_exec_free(r->wide);
    for (int k = 0; k < JX_SHAKES; k++)
        jx_exec_free(r->shaken[k]);
    jx_plan_free(r->wide_plan);
    *r = (jx_loss){0};
}

/* What failed has no results to look at. */
static void give_up(jx_loss *r)
{
    if (r->wide && jx_exec_gave_up(r->wide))
        jx_fail(r->ctx, JX_E_LIMIT, r->typed->program->path, NULL, "%s",
                jx_exec_error(r->wide));
    jx_exec_free(r->wide);
    r->wide = NULL;
}

jx_exec *jx_loss_wide(jx_loss *r)
{
    jx_plan_options o = r->options;
    const void *const *ins;

    if (r->ran)
        return r->wide;
    o.domain = JX_WIDE;
    o.watch = NULL;
    if (!r->wide_plan)
        r->wide_plan = jx_plan_make(r->typed, r->closed, &o);
    ins = r->wide_plan ? jx_inputs_widened(r->ctx, r->wide_plan, r->ins) : NULL;
    if (ins && !r->wide)
        r->wide = jx_exec_new(r->wide_plan);
    if (r->wide)
        jx_exec_seed(r->wide, r->seed);
    r->ran = ins && r->wide && jx_exec_run(r->wide, ins, NULL);
    if (r->ran)
        return r->wide;
    give_up(r);
    return NULL;
}

/* Adds what one way makes of them to the most that any does. */
static bool move_constants(jx_loss *r, int way, int i, int64_t count,
                           double *most)
{
    jx_plan_options o = r->options;
    const void *const *ins;
    const double *plain = jx_exec_out(r->wide, i), *other;
    jx_plan *plan;
    jx_exec *exec;
    bool ran;

    o.domain = JX_WIDE;
    o.watch = NULL;
    o.shake = (jx_shake){.seed = (uint64_t)way, .by = 1};
    plan = jx_plan_make(r->typed, r->closed, &o);
    ins = plan ? jx_inputs_widened(r->ctx, plan, r->ins) : NULL;
    exec = ins ? jx_exec_new(plan) : NULL;
    if (exec)
        jx_exec_seed(exec, r->seed);
    ran = exec && jx_exec_run(exec, ins, NULL);
    other = ran ? jx_exec_out(exec, i) : NULL;
    for (int64_t k = 0; ran && k < count; k++)
        most[k] = fmax(most[k], fabs(other[k] - plain[k]));
    jx_exec_free(exec);
    jx_plan_free(plan);
    return ran;
}

double *jx_loss_by_constants(jx_loss *r, int i, int64_t count)
{
    double *most = JX_NEW_ARRAY(r->ctx->arena, count + 1, double);
    bool known = most && jx_loss_wide(r) &&
                 jx_plan_out(r->wide_plan, i)->dtype == JX_F64;

    for (int way = 1; known && way <= JX_SHAKES; way++)
        known = move_constants(r, way, i, count, most);
    if (r->ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(r->ctx);
    return known ? most : NULL;
}

/* An input off by what its dtype can't hold; one of float64 by a
 * unit of its own. */
static const void *moved(jx_loss *r, int i, const void *wide, int which)
{
    const jx_port *port = jx_plan_in(r->wide_plan, i);
    jx_dtype declared = port->aval->dtype;
    const jx_shake shake = {.seed = (uint64_t)which,
                            .by = declared == port->dtype ? 1 : 0.5};
    void *copy = jx_arena_copy(r->ctx->arena, wide, port->bytes);

    if (copy)
        jx_shake_values(&shake, declared, port->dtype, copy, port->count);
    return copy;
}

/* The same with inputs that are off, in one of several ways. */
static jx_exec *shaken(jx_loss *r, int which)
{
    const void *const *wide;
    const void **ins;

    if (r->ran_shaken[which])
        return r->shaken[which];
    wide = jx_inputs_widened(r->ctx, r->wide_plan, r->ins);
    ins = wide ? JX_NEW_ARRAY(r->ctx->arena, jx_plan_nins(r->wide_plan) + 1,
                              const void *)
               : NULL;
    for (int i = 0; ins && i < jx_plan_nins(r->wide_plan); i++)
        if (!(ins[i] = moved(r, i, wide[i], which)))
            return NULL;
    if (ins && !r->shaken[which])
        r->shaken[which] = jx_exec_new(r->wide_plan);
    if (r->shaken[which])
        jx_exec_seed(r->shaken[which], r->seed);
    r->ran_shaken[which] =
        ins && r->shaken[which] && jx_exec_run(r->shaken[which], ins, NULL);
    return r->ran_shaken[which] ? r->shaken[which] : NULL;
}

/* The largest number among the inputs of a float or complex dtype. */
static double largest_input(const jx_loss *r)
{
    double largest = 0;

    for (int i = 0; i < jx_plan_nins(r->plan); i++) {
        const jx_port *port = jx_plan_in(r->plan, i);
        if (jx_dtype_is_inexact(port->dtype))
            largest =
                fmax(largest, jx_largest(port->dtype, r->ins[i], port->count));
    }
    return largest;
}

bool jx_loss_of(jx_loss *r, int i, jx_dtype dtype, const void *got,
                jx_roundoff *to)
{
    int64_t count = jx_plan_out(r->plan, i)->count;
    const void *others[JX_SHAKES];
    bool known;

    to->each = JX_NEW_ARRAY(r->ctx->arena, count + 1, double);
    known = to->each && jx_loss_wide(r);
    for (int k = 0; known && k < JX_SHAKES; k++) {
        jx_exec *exec = shaken(r, k);
        known = exec != NULL;
        others[k] = known ? jx_exec_out(exec, i) : NULL;
    }
    known = known &&
            jx_roundoff_measure(r->ctx, dtype, got, jx_exec_out(r->wide, i),
                                JX_SHAKES, others, count, largest_input(r), to);
    if (r->ctx->error.kind != JX_E_LIMIT) /* that would be another verdict */
        jx_error_clear(r->ctx);
    return known;
}
