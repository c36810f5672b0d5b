/* exhaust.c - see exhaust.h: what there is to exhaust in a program. */
#include "runtime/gradients/exhaust.h"

#include "runtime/fits.h"
#include "runtime/gradients/exhaust_run.h"
#include "runtime/gradients/gradding.h"
#include "runtime/gradients/pointwise.h"

#include <math.h>
#include <string.h>

double jx_exhaust_number(jx_dtype dtype, uint32_t bits)
{
    float f;
    int exponent;
    double m;

    if (dtype == JX_F16) {
        exponent = bits >> 10 & 31;
        m = exponent == 31 ? (bits & 1023 ? (double)NAN : (double)INFINITY)
                           : ldexp((bits & 1023) + (exponent ? 1024 : 0),
                                   (exponent ? exponent : 1) - 25);
        return bits >> 15 ? -m : m;
    }
    bits = dtype == JX_BF16 ? bits << 16 : bits;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* A wrong rule is one whose own value in float64 is neither the derivative of
 * its function nor the function's slopes around. */
enum { SURELY_WRONG = 1 << 14 }; /* units */

static jx_code code_of(const jx_program *program, const jx_rule **rule)
{
    if (!*rule && program->nrules == 1)
        *rule = program->rules[0];
    return !*rule         ? JX_CODE_DRV013
           : (*rule)->vjp ? JX_CODE_DRV002
                          : JX_CODE_DRV001;
}

static bool is_intended(const jx_program *program, const jx_rule *rule)
{
    for (int i = 0; i < program->nrules; i++)
        if (program->rules[i]->intent && (!rule || rule == program->rules[i]))
            return true;
    return false;
}

/* Somebody has found it at some points. */
static bool is_known(const jx_claim_list *claims, jx_code code)
{
    for (size_t i = 0; i < claims->count; i++)
        if (claims->at[i]->code == code &&
            claims->at[i]->verdict == JX_WITNESSED)
            return true;
    return false;
}

static bool confirms(jx_ctx *ctx, const jx_exhaust_plans *plans, int argument,
                     const jx_exhaust_place *p)
{
    return p->off >= SURELY_WRONG &&
           jx_exhaust_confirms(ctx, plans, argument, p);
}

static void claim_wrong(jx_program *program, const jx_exhaust_plans *plans,
                        const jx_closed *function, const jx_exhausted *e,
                        jx_claim_list *claims)
{
    jx_ctx *ctx = program->ctx;
    /* A solver is as good as its starting point: its rule may be
     * right where it is. */
    bool iterates = jx_points_has_loop(function->jaxpr);

    for (int a = 0; a < e->narguments; a++) {
        const jx_exhaust_column *c = &e->slopes[a];
        const jx_exhaust_place *p = &c->near_wrong;
        const jx_rule *rule = e->rule;
        jx_claim *claim;
        jx_code code = code_of(program, &rule);
        if (!c->wrong || is_intended(program, rule) || iterates ||
            is_known(claims, code))
            continue;
        if (!confirms(ctx, plans, a, p))
            p = &c->worst_wrong;
        if (!confirms(ctx, plans, a, p))
            continue;
        claim = jx_claim_add(ctx, claims, code);
        if (!claim)
            return;
        claim->stack = rule ? rule->stack : NULL;
        claim->what = jx_arena_printf(
            ctx->arena, "the %s is not the derivative",
            rule ? rule->vjp ? "vjp rule" : "jvp rule" : "derivative by rules");
        claim->verdict = JX_WITNESSED;
        claim->evidence.by = "exhaustion";
        claim->evidence.note = jx_arena_printf(
            ctx->arena,
            "at x = %.9g (and %lld more inputs) it gives %.9g in float64, and "
            "the function's own derivative and its slopes around are %.9g",
            jx_exhaust_number(e->dtype, p->x[a]), (long long)c->wrong - 1,
            p->by_rule, p->want);
    }
}

/* Runs a subject; what was refused is said in *e.  False: told. */
static bool run(jx_program *program, const jx_exhaust_subject *subject,
                const jx_exhaust_subject *reference,
                const jx_exhaust_options *options, jx_claim_list *claims,
                jx_exhausted *e)
{
    jx_exhaust_plans plans;
    bool ok = jx_exhaust_plan(subject, reference, options->memory, &plans);

    ok = ok && jx_exhaust_run(program->ctx, &plans, options, e);
    if (ok)
        claim_wrong(program, &plans, &subject->function, e, claims);
    jx_exhaust_unplan(&plans);
    return ok && jx_ok(program->ctx);
}

static bool refused(jx_exhausted *e, const jx_pointwise_fault *fault,
                    jx_ctx *ctx)
{
    e->refused = fault->eqn
                     ? jx_arena_printf(ctx->arena, "%s %s",
                                       jx_eqn_name(fault->eqn), fault->why)
                     : fault->why;
    e->stack = fault->eqn ? fault->eqn->stack : NULL;
    return false;
}

/* ---- rules */

static bool subject_of_rule(jx_derived *derived, const jx_rule *rule,
                            const jx_exhaust_options *options,
                            jx_exhaust_subject *to)
{
    const jx_derived_rule *made = &derived->rules[rule->id];

    *to = (jx_exhaust_subject){.program = derived->program,
                               .function = rule->primal,
                               .says = made->says,
                               .own = made->own,
                               .has_rules = true};
    if (to->says.jaxpr)
        to->form = rule->vjp ? JX_SLOPE_BACKWARD : JX_SLOPE_FORWARD;
    return jx_sample_sizes(derived->program, rule, options->nbindings,
                           options->bindings, &to->nbindings, &to->bindings);
}

/* The operands that a function closes over have no values of their own. */
static const char *why_not_rule(const jx_rule *rule)
{
    if (rule->nconsts)
        return "it closes over values";
    if (!rule->npatterns)
        return "the document does not hold it";
    if (rule->patterns[0].error)
        return "it raises when traced";
    if (rule->patterns[0].zeros && strchr(rule->patterns[0].zeros, '1'))
        return "the document has it for some of its tangents alone";
    return NULL;
}

static bool exhaust_rule(jx_derived *derived, const jx_rule *rule,
                         const jx_exhaust_options *options,
                         jx_claim_list *claims, jx_exhausted *e)
{
    jx_ctx *ctx = derived->program->ctx;
    jx_pointwise_fault fault;
    jx_exhaust_subject subject;

    if ((e->refused = why_not_rule(rule)))
        return true;
    if (!jx_is_pointwise(ctx, rule->primal.jaxpr, &fault)) {
        refused(e, &fault, ctx);
        return jx_ok(ctx);
    }
    if (!subject_of_rule(derived, rule, options, &subject)) {
        e->refused = "no sizes were found that its constraints allow";
        return jx_ok(ctx);
    }
    if (!subject.form || !subject.own.jaxpr)
        e->underived = "no derivative of its function is known";
    jx_exhaust_drop_own(&subject, &e->underived);
    if (run(derived->program, &subject, NULL, options, claims, e))
        return true;
    if (ctx->error.kind != JX_E_INPUT)
        return false;
    e->refused = ctx->error.message; /* no way to run it */
    jx_error_clear(ctx);
    return true;
}

static bool exhaust_rules(jx_program *program,
                          const jx_exhaust_options *options,
                          jx_claim_list *claims, jx_exhausted_list *to)
{
    jx_derived derived;

    if (!jx_grad_derive(&program, NULL, false, &derived))
        return false;
    derived.program = program;
    for (int i = 0; i < program->nrules; i++) {
        const jx_rule *rule = program->rules[i];
        jx_exhausted e = {
            .rule = rule,
            .derived_by_rules = true,
            .subject = jx_arena_printf(program->ctx->arena, "%s rule of `%s`",
                                       rule->vjp ? "vjp" : "jvp",
                                       rule->name ? rule->name : "a function")};
        if (!exhaust_rule(&derived, rule, options, claims, &e))
            return false;
        JX_PUSH(program->ctx->arena, to, e);
    }
    return jx_ok(program->ctx);
}

/* ---- the program */

/* `which`: text about its result, or "". */
static bool exhaust_whole(jx_program *program, const char *which,
                          const jx_exhaust_options *options,
                          jx_claim_list *claims, jx_exhausted_list *to)
{
    jx_ctx *ctx = program->ctx;
    jx_exhaust_subject subject, reference;
    const char *no_matter;
    jx_exhausted e = {.derived_by_rules = program->nrules > 0,
                      .subject = jx_arena_printf(ctx->arena, "`%s`%s",
                                                 program->name ? program->name
                                                               : "the program",
                                                 which)};

    if (!jx_exhaust_whole(program, &subject, &e.underived))
        return false;
    subject.nbindings = options->nbindings;
    subject.bindings = options->bindings;
    if (options->reference &&
        !jx_exhaust_whole(options->reference, &reference, &no_matter))
        return jx_fail(ctx, JX_E_INPUT, options->reference->path, NULL,
                       "the reference: %s",
                       options->reference->ctx->error.message);
    if (!run(program, &subject, options->reference ? &reference : NULL, options,
             claims, &e))
        return false;
    JX_PUSH(ctx->arena, to, e);
    return jx_ok(ctx);
}

/* Each result of several by itself. */
static bool exhaust_results(jx_program *program,
                            const jx_exhaust_options *options,
                            jx_claim_list *claims, jx_exhausted_list *to)
{
    jx_ctx *ctx = program->ctx;
    jx_program *reference = options->reference;
    int nouts = program->entry.jaxpr->nouts;

    for (int k = 0; k < nouts; k++) {
        jx_program *one = jx_exhaust_result(program, k);
        const char *which = jx_arena_printf(ctx->arena, ", result %d", k);
        jx_exhaust_options how = *options;
        jx_exhausted e = {0};
        jx_pointwise_fault fault;
        if (!one || !which)
            return false;
        if (reference && reference->entry.jaxpr->nouts == nouts &&
            !(how.reference = jx_exhaust_result(reference, k)))
            return false;
        if (jx_is_pointwise(ctx, one->entry.jaxpr, &fault)) {
            if (!exhaust_whole(one, which, &how, claims, to))
                return false;
            continue;
        }
        e.subject = which + 2;
        refused(&e, &fault, ctx);
        JX_PUSH(ctx->arena, to, e);
    }
    return jx_ok(ctx);
}

static bool any_ran(const jx_exhausted_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->at[i].refused)
            return true;
    return false;
}

bool jx_exhaust(jx_program *program, const jx_exhaust_options *options,
                jx_claim_list *claims, jx_exhausted_list *to)
{
    jx_ctx *ctx = program->ctx;
    jx_pointwise_fault fault;
    jx_exhausted e = {0};

    jx_ctx_stage(ctx, "running every input");
    if (jx_is_pointwise(ctx, program->entry.jaxpr, &fault))
        return exhaust_whole(program, "", options, claims, to);
    if (program->entry.jaxpr->nouts > 1) {
        if (!jx_ok(ctx) || !exhaust_results(program, options, claims, to))
            return false;
        if (any_ran(to))
            return true;
        to->count = 0;
    }
    if (!jx_ok(ctx) || !exhaust_rules(program, options, claims, to))
        return false;
    if (any_ran(to))
        return true;
    refused(&e, &fault, ctx);
    return jx_fail(ctx, JX_E_INPUT, program->path,
                   e.stack && jx_user_frame(e.stack)
                       ? jx_arena_printf(ctx->arena, "%s:%d",
                                         jx_user_frame(e.stack)->file->path,
                                         jx_user_frame(e.stack)->line)
                       : NULL,
                   "there is no elementwise function to exhaust: %s%s",
                   e.refused ? e.refused : "",
                   program->nrules ? "; and none of its rules is of one" : "");
}
