/* exhaust_make.c - see exhaust_make.h. */
#include "runtime/gradients/exhaust_make.h"

#include "analyzer/transform/making.h"
#include "analyzer/transform/vjp.h"
#include "analyzer/transform/widen.h"
#include "analyzer/typing.h"
#include "frontend/base/assert.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradpoints.h"

#include <string.h>

enum {
    /* of a run, if the function's own shape has no more */
    ELEMENTS = 2048
};

/* What steps of the reference are moved by, in two more runs of it. */
static const jx_noise noises[2] = {{.seed = 0x5eed, .by = 8},
                                   {.seed = 0x5eee, .by = 8}};

/* ---- derivatives of a whole program */

static jx_closed derivative(jx_making *make, const jx_typed *typed,
                            const jx_closed *of, bool stripped)
{
    jx_arena *arena = jx_making_arena(make);
    const jx_jaxpr *jaxpr = of->jaxpr;
    bool *ins = JX_NEW_ARRAY(arena, jaxpr->nins + 1, bool);
    bool *outs = JX_NEW_ARRAY(arena, jaxpr->nouts + 1, bool);
    jx_eqn_list closing = {0};
    jx_differentiator by;
    const jx_jvped *made;

    if (!ins || !outs)
        return (jx_closed){0};
    for (int i = 0; i < jaxpr->nins; i++)
        ins[i] = jx_has_tangent(jaxpr->vars[jaxpr->nconsts + i]->aval);
    for (int i = 0; i < jaxpr->nouts; i++)
        outs[i] = jx_has_tangent(jx_atom_aval(jaxpr->outs[i]));
    jx_differentiator_begin(&by, make, typed, stripped);
    by.closing = stripped ? NULL : &closing;
    made = jx_jvp_jaxpr(&by, jaxpr, jx_jvp_one_group(jaxpr), ins, outs);
    return made ? jx_making_closed_like(made->jaxpr, of) : (jx_closed){0};
}

static bool go_on(jx_ctx *ctx)
{
    if (jx_arena_failed(ctx->arena) || ctx->error.kind == JX_E_LIMIT)
        return false;
    jx_error_clear(ctx);
    return true;
}

static bool has_vjp(const jx_program *program)
{
    for (int i = 0; i < program->nrules; i++)
        if (program->rules[i]->vjp)
            return true;
    return false;
}

/* Rules that go backwards alone are asked so. */
static jx_closed backwards(const jx_typed *typed, jx_program **teller)
{
    *teller = jx_program_vjp(typed);
    return *teller ? (*teller)->entry : (jx_closed){0};
}

void jx_exhaust_drop_own(jx_exhaust_subject *subject, const char **why)
{
    if (!subject->own.jaxpr || !jx_points_has_bits(subject->function.jaxpr))
        return;
    subject->own = (jx_closed){0};
    *why = "it makes floats of bits, and no derivative of that is known";
}

bool jx_exhaust_whole(jx_program *program, jx_exhaust_subject *to,
                      const char **why)
{
    jx_ctx *ctx = program->ctx;
    const jx_typed *typed = jx_typed_of(program);
    jx_making make;

    *why = NULL;
    *to = (jx_exhaust_subject){.program = program, .function = program->entry};
    if (!typed || !jx_making_begin(&make, program))
        return false;
    to->own = derivative(&make, typed, &program->entry, true);
    if (!to->own.jaxpr)
        *why = ctx->error.message;
    jx_exhaust_drop_own(to, why);
    if (!go_on(ctx))
        return false;
    make.eqn = NULL;
    to->has_rules = program->nrules > 0;
    to->says = !to->has_rules ? to->own
               : has_vjp(program)
                   ? backwards(typed, &to->teller)
                   : derivative(&make, typed, &program->entry, false);
    if (!to->says.jaxpr && !*why)
        *why = ctx->error.message;
    if (!go_on(ctx))
        return false;
    make.eqn = NULL;
    to->form = !to->says.jaxpr ? JX_SLOPE_NONE
               : to->teller    ? JX_SLOPE_BACKWARD
                               : JX_SLOPE_FORWARD;
    to->program = jx_making_end(&make, program->entry.jaxpr);
    return to->program != NULL;
}

jx_program *jx_exhaust_result(jx_program *program, int k)
{
    const jx_jaxpr *from = program->entry.jaxpr;
    int n = from->nconsts + from->nins;
    jx_making make;
    jx_body *b =
        jx_making_begin(&make, program) ? jx_body_new(&make.build, NULL) : NULL;
    jx_atom *atoms =
        b ? JX_NEW_ARRAY(jx_making_arena(&make), n + from->nouts, jx_atom)
          : NULL;
    bool *wanted =
        b ? JX_NEW_ARRAY(jx_making_arena(&make), from->nouts, bool) : NULL;

    JX_ASSERT(k >= 0 && k < from->nouts);
    if (!atoms || !wanted)
        return NULL;
    wanted[k] = true;
    for (int i = 0; i < n; i++)
        atoms[i] = i < from->nconsts ? jx_body_const(b, from->vars[i]->aval)
                                     : jx_body_input(b, from->vars[i]->aval);
    if (!jx_making_inline(&make, b, from, atoms, atoms + from->nconsts, wanted,
                          atoms + n))
        return NULL;
    jx_body_result(b, atoms[n + k]);
    make.to->out_paths = NULL;
    return jx_making_end(&make, jx_body_finish(b, jx_no_atoms, from->function));
}

/* ---- plans */

/* That jaxpr as a program of `n` times as many elements; all inputs behind the
 * arguments are for all of them. */
static jx_program *widened(const jx_exhaust_subject *s, const jx_closed *closed,
                           int64_t n)
{
    jx_program *of = closed == &s->says && s->teller ? s->teller : s->program;
    bool *has = JX_NEW_ARRAY(of->ctx->arena, closed->jaxpr->nins + 1, bool);

    for (int i = 0; has && i < s->function.jaxpr->nins; i++)
        has[i] = true;
    return has ? jx_program_widen(of, closed, s->nbindings, s->bindings, has, n)
               : NULL;
}

static jx_plan *plan_of(const jx_exhaust_subject *s, const jx_closed *closed,
                        int64_t n, jx_plan_options how)
{
    jx_program *program = widened(s, closed, n);
    const jx_typed *typed =
        program ? jx_program_fits(program, false, 0, NULL) : NULL;

    return typed ? jx_plan_make(typed, &program->entry, &how) : NULL;
}

static int64_t elements(const jx_exhaust_subject *s)
{
    const jx_jaxpr *jaxpr = s->function.jaxpr;
    const jx_aval *aval = jaxpr->vars[jaxpr->nconsts]->aval;
    jx_assignment sizes = {s->nbindings, s->bindings};
    int64_t count = 1, size;

    for (int i = 0; i < aval->rank; i++)
        if (!jx_dim_eval(aval->shape[i], jx_assigned, &sizes, &size) ||
            size < 1 || __builtin_mul_overflow(count, size, &count))
            return 0;
    return count;
}

bool jx_exhaust_plan(const jx_exhaust_subject *subject,
                     const jx_exhaust_subject *reference, size_t memory,
                     jx_exhaust_plans *to)
{
    const jx_exhaust_subject *wide = reference ? reference : subject;
    const jx_jaxpr *jaxpr = subject->function.jaxpr;
    jx_plan_options how = {.memory = memory};
    jx_plan_options there = {
        .domain = JX_WIDE, .memory = memory, .brisk = true};
    int64_t own = elements(subject), n = own ? (ELEMENTS + own - 1) / own : 0;
    const jx_closed *by = wide->own.jaxpr ? &wide->own : &wide->function;

    *to = (jx_exhaust_plans){.narguments = jaxpr->nins,
                             .each = n * own,
                             .dtype = jaxpr->vars[jaxpr->nconsts]->aval->dtype,
                             .gives = jx_atom_aval(jaxpr->outs[0])->dtype,
                             .form = wide->own.jaxpr ? subject->form
                                                     : JX_SLOPE_NONE,
                             .has_slope = wide->own.jaxpr != NULL};
    if (!own || (reference && elements(reference) != own))
        return jx_fail(subject->program->ctx, JX_E_INPUT,
                       subject->program->path, NULL,
                       reference ? "the reference takes another shape"
                                 : "its arguments have no elements");
    /* What is no rule gives the function's own value on its way. */
    if ((!to->form || subject->has_rules) &&
        !(to->value = plan_of(subject, &subject->function, n, how)))
        return false;
    to->wide = plan_of(wide, by, n, there);
    for (int i = 0; to->wide && i < 2; i++) {
        there.noise = &noises[i];
        to->jitters[i] = plan_of(wide, by, n, there);
    }
    there.noise = NULL;
    if (!to->wide || !to->jitters[0] || !to->jitters[1])
        return false;
    if (to->form && !(to->says = plan_of(subject, &subject->says, n, how)))
        return false;
    /* Another form is no measure of the rule: constants are others there. */
    if (!to->form || !subject->has_rules || reference)
        return true;
    to->rule = plan_of(subject, &subject->says, n, there);
    for (int i = 0; to->rule && i < 2; i++) {
        there.noise = &noises[i];
        to->rule_jitters[i] = plan_of(subject, &subject->says, n, there);
    }
    return to->rule && to->rule_jitters[0] && to->rule_jitters[1];
}

void jx_exhaust_unplan(jx_exhaust_plans *plans)
{
    jx_plan_free(plans->value);
    jx_plan_free(plans->says);
    jx_plan_free(plans->wide);
    jx_plan_free(plans->jitters[0]);
    jx_plan_free(plans->jitters[1]);
    jx_plan_free(plans->rule);
    jx_plan_free(plans->rule_jitters[0]);
    jx_plan_free(plans->rule_jitters[1]);
    *plans = (jx_exhaust_plans){0};
}
