/* gradbeyond.c - see gradding.h: what must hold of a rule beside its values. */
#include "analyzer/typing.h"
#include "runtime/elementwise.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradding.h"
#include "runtime/plan_rules.h"

#include <math.h>
#include <string.h>

/* Of the operands that move, the first that is the same value as each
 * in every call. */
static const int *ties_of(const jx_typed *typed, const jx_rule *rule,
                          const jx_calling *calling)
{
    const int *of = calling->ties + rule->nconsts;
    int n = rule->nins - rule->nconsts,
        *to = JX_NEW_ARRAY(typed->program->ctx->arena, n + 1, int);

    for (int i = 0; to && i < n; i++)
        while (of[to[i]] != of[i])
            to[i]++;
    return to;
}

bool jx_grad_is_apart(const jx_gradding *c)
{
    size_t bytes = (size_t)c->in.size * sizeof *c->x;

    for (const jx_grad_apart *at = c->apart; at; at = at->next)
        if (!memcmp(at->x, c->x, bytes))
            return true;
    return false;
}

/* A derivative of a rule's function, as a function with its derivative. */
typedef struct another {
    bool stripped;         /* no rule is looked at */
    jx_closed own;         /* without a jaxpr: there is none */
    const jx_typed *typed; /* of the program that has it and `next` */
    jx_closed next;        /* made when it is first asked for */
    bool tried;
} another;

enum { OWN, KEPT, OTHERS };

/* What a rule computes as a function, with its derivative; and the same of
 * other derivatives of its function: its own one, and the one that JAX makes by
 * the rules of what it calls. */
typedef struct second_order {
    const jx_typed *typed;
    const jx_rule *rule;
    const jx_calling *calling;
    const void *const *passed; /* to the rule by a call; or NULL */
    another others[OTHERS];
    int nvalues; /* of the function's results, that these give last */
    jx_grad_pair pair;
    jx_gradding base;
} second_order;

/* An operand that is the same in every call, as a constant of its dtype. */
static const jx_array *constant_of(jx_arena *arena, const jx_port *port,
                                   const void *at)
{
    jx_dtype dtype = port->aval->dtype;
    bool rounds = jx_dtype_is_inexact(dtype);
    size_t bytes = rounds
                       ? (size_t)port->count * (size_t)jx_dtype_of(dtype)->bytes
                       : port->bytes;
    void *data = jx_arena_alloc(arena, bytes + 1);
    const jx_array array = {.aval = port->aval, .bytes = bytes, .data = data};

    if (data && rounds)
        jx_convert(port->dtype, dtype, at, data, port->count);
    else if (data)
        memcpy(data, at, bytes);
    return data ? jx_arena_copy(arena, &array, sizeof array) : NULL;
}

/* Another derivative takes what the rule closes over, before the rest: as one
 * that closes over it, too, if every call passes these values. */
static jx_closed closed_over(const second_order *s, const jx_closed *own)
{
    const jx_gradding *base = &s->base;
    jx_arena *arena = s->typed->program->ctx->arena;
    int first = own->nconsts, n = first + s->rule->nconsts;
    const jx_kept_plan *of =
        jx_kept_plan_of(base->options->plans, s->typed, &s->rule->primal,
                        JX_WHOLE, base->how->nbindings, base->how->bindings);
    jx_jaxpr *jaxpr = jx_arena_copy(arena, own->jaxpr, sizeof *jaxpr);
    const jx_array **consts = JX_NEW_ARRAY(arena, n + 1, const jx_array *);

    if (!of || !jaxpr || !consts)
        return *own;
    for (int i = 0; i < n; i++) {
        consts[i] = i < first ? own->consts[i]
                    : s->calling->fixed[i - first]
                        ? constant_of(arena, jx_plan_in(of->plan, i - first),
                                      s->passed[i - first])
                        : NULL;
        if (!consts[i])
            return *own;
    }
    jaxpr->nconsts += s->rule->nconsts;
    jaxpr->nins -= s->rule->nconsts;
    return (jx_closed){jaxpr, n, consts};
}

/* The derivative by the rules of what the function calls, where there
 * are any. */
static void make_kept(const second_order *s, another *to)
{
    jx_derived_kept kept = {0};
    jx_program *program = jx_points_calls_rules(s->rule->primal.jaxpr)
                              ? jx_program_derive_kept(s->typed, s->rule, &kept)
                              : NULL;

    if (program && kept.says.jaxpr)
        to->typed = jx_program_at(program, s->base.options->nbindings,
                                  s->base.options->bindings);
    if (to->typed)
        to->own = kept.says;
}

static void make_next(const second_order *s, another *to)
{
    jx_ctx *ctx = s->typed->program->ctx;
    jx_program *program = NULL;
    const jx_typed *from;
    const jx_jaxpr *of;
    bool *ins = NULL;

    to->tried = true;
    if (!to->stripped)
        make_kept(s, to);
    from = to->stripped ? s->typed : to->typed;
    to->typed = NULL;
    if (to->own.jaxpr && s->passed)
        to->own = closed_over(s, &to->own);
    of = to->own.jaxpr;
    if (of && of->nins == s->pair.function->jaxpr->nins)
        ins = JX_NEW_ARRAY(ctx->arena, of->nins + 1, bool);
    for (int i = 0; ins && i < s->pair.nmoved; i++)
        ins[i] = !(s->pair.zeros && s->pair.zeros[i] == '1') &&
                 jx_has_tangent(of->vars[of->nconsts + i]->aval);
    if (ins)
        program = jx_program_derive_again(from, &to->own, ins, to->stripped,
                                          &to->next);
    if (program && to->next.jaxpr)
        to->typed = jx_program_at(program, s->base.options->nbindings,
                                  s->base.options->bindings);
    if (ctx->error.kind != JX_E_LIMIT)
        jx_error_clear(ctx);
}

/* Whether the rule gives the tangents there that another derivative does, which
 * has them first; or cotangents. */
static bool gives_alike(const jx_rule *rule, const jx_grad_watched *says,
                        const jx_grad_watched *own)
{
    int first = rule->vjp ? 0 : says->nvalues / 2;

    if (!says->values || !own->values || says->nvalues > own->nvalues)
        return false;
    for (int k = 0; k < says->nvalues - first; k++) {
        double a = says->values[first + k], b = own->values[k];
        if (!(fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b))))
            return false;
    }
    return true;
}

/* Which results of another derivative are compared, tangents first: those that
 * are of the rule; NULL: all.  A vjp rule gives no results of its function. */
static const bool *wanted_alike(const second_order *s, const another *by)
{
    const int n = by->own.jaxpr->nouts, ntangents = n - s->nvalues,
              nresults = s->rule->nouts;
    const bool *of = s->pair.wanted;
    bool aligned = s->rule->vjp ||
                   (of && s->nvalues == nresults &&
                    s->pair.function->jaxpr->nouts == nresults + ntangents);
    bool *wanted =
        aligned ? JX_NEW_ARRAY(s->typed->program->ctx->arena, n + 1, bool)
                : NULL;

    for (int i = 0; wanted && i < n; i++)
        wanted[i] = s->rule->vjp    ? i < ntangents
                    : i < ntangents ? of[nresults + i]
                                    : of[i - ntangents];
    return wanted;
}

/* Whether another derivative of the function, as a function, has no more than
 * the rule a derivative of its own at the place where that was found wrong: |t|
 * at a zero of a t that is never negative.  There are several then, and the
 * rule has chosen one; or it is as wrong as the other one, by which it does. */
static bool is_alike(second_order *s, another *by, const jx_rule_report *found)
{
    jx_grad_pair pair = s->pair;
    jx_gradding base = s->base;
    jx_grad_watched own = {.x = found->place}, says = own;
    jx_rule_report one = {0};

    if (!by->tried)
        make_next(s, by);
    if (!found->place || !by->typed)
        return false;
    base.typed = by->typed;
    base.watched = &own;
    pair.function = &by->own;
    pair.derivative = &by->next;
    pair.wanted = wanted_alike(s, by);
    jx_grad_check_pair(&pair, base, false, &one);
    if (one.outcome == JX_RULE_WRONG && one.place &&
        one.moved == found->moved &&
        !memcmp(one.place, found->place, (size_t)one.moved * sizeof *one.place))
        return true;
    if (!own.off)
        return false;
    one = (jx_rule_report){0};
    base = s->base;
    base.watched = &says;
    jx_grad_check_pair(&s->pair, base, false, &one);
    return gives_alike(s->rule, &says, &own);
}

/* The check, where other derivatives are as wrong at some points that are then
 * left out, as often as that is likely to be so. */
static void check_apart(second_order *s, jx_rule_report *to)
{
    enum { PLACES = 4 };
    jx_arena *arena = s->typed->program->ctx->arena;

    for (int k = 0; k < PLACES; k++) {
        *to = (jx_rule_report){0};
        jx_grad_check_pair(&s->pair, s->base, false, to);
        if (to->outcome != JX_RULE_WRONG ||
            !(is_alike(s, &s->others[OWN], to) ||
              is_alike(s, &s->others[KEPT], to)))
            return;
        s->base.apart =
            jx_arena_copy(arena, &(jx_grad_apart){to->place, s->base.apart},
                          sizeof *s->base.apart);
        to->outcome = JX_RULE_UNDECIDED;
    }
}

/* Which results of a jvp rule are compared; NULL: all.  Where the function
 * stops gradients, and its derivative was not what its slopes are, slopes of
 * its values say nothing. */
static const bool *wanted_of(jx_arena *arena, const jx_rule_report *report,
                             const jx_calling *calling)
{
    const jx_rule *rule = report->rule;
    const jx_rule_pattern *p = &rule->patterns[0];
    bool stops = report->outvoted > 0 && jx_points_stops(rule->primal.jaxpr);
    bool *wanted = calling->wanted
                       ? jx_grad_wanted_of_jvp(arena, rule, p, calling->wanted)
                   : stops ? JX_NEW_ARRAY(arena, p->jvp.jaxpr->nouts + 1, bool)
                           : NULL;

    for (int i = 0; wanted && stops && i < p->jvp.jaxpr->nouts; i++)
        wanted[i] = i >= rule->nouts && (wanted[i] || !calling->wanted);
    return wanted;
}

/* A rule's own derivative is that of what the rule computes, as if that were a
 * function and its rule. */
static void
check_second_order(const jx_typed *typed, const jx_gradcheck_options *options,
                   const jx_plan_options *how, const jx_derived_rule *derived,
                   const jx_calling *calling, jx_rule_report *report)
{
    const jx_rule *rule = report->rule;
    const jx_sampling by = {
        .typed = typed, .how = how, .plans = options->plans};
    second_order s = {.typed = typed, .rule = rule, .calling = calling};
    jx_rule_report one = {0};

    s.others[OWN].stripped = true;
    if (derived->pairs) {
        s.others[OWN].own = derived->pairs[0].own;
        s.nvalues = derived->pairs[0].nvalues;
    }
    s.pair = (jx_grad_pair){
        .name = rule->name,
        .function = &derived->says,
        .derivative = &derived->next,
        .nmoved = rule->nins - rule->nconsts,
        .zeros = rule->patterns[0].zeros,
        .ties = ties_of(typed, rule, calling),
        .wanted = rule->vjp
                      ? NULL
                      : wanted_of(typed->program->ctx->arena, report, calling)};
    s.base = (jx_gradding){
        .typed = typed,
        .options = options,
        .how = how,
        .rng = {options->seed + 2},
        .second = true,
        /* what is right where loops lead alone is so in the next order */
        .ends_only = report->led,
        .ends = rule->nconsts ? (jx_grad_ends){0} : calling->ends,
        .guarded = rule->nconsts ? NULL : &rule->primal,
        .tolerance = 64 * jx_sample_tolerance(rule, jx_sample_nearness(rule))};
    if (calling->any_fixed) {
        const jx_sampled *any = jx_sample_program(&by, rule, &s.base.rng, NULL);
        if (!any)
            return; /* nobody knows what it is that is fixed */
        s.passed = any->at;
        s.base.fixed = any->at + rule->nconsts;
        s.pair.fixed = calling->fixed + rule->nconsts;
    }
    check_apart(&s, &one);
    if (one.outcome != JX_RULE_WRONG)
        return;
    report->outcome = JX_RULE_WRONG;
    report->code = JX_CODE_DRV006;
    report->witness = one.witness;
    report->detail = jx_arena_printf(typed->program->ctx->arena,
                                     "in second order, %s", one.detail);
}

/* The equation at which a jvp rule's tangents can't be gone back along, in what
 * the program has of it; or NULL. */
static const jx_eqn *stuck_at(const jx_rule *rule, const jx_calling *calling,
                              const jx_derived_rule *derived)
{
    for (int i = 0; derived->pairs && i < rule->npatterns; i++) {
        const jx_eqn *stuck = derived->pairs[i].stuck;
        if (stuck &&
            (stuck->prim->id == JX_PRIM_stop_gradient ||
             stuck->prim->id == JX_PRIM_while ||
             jx_plan_rule_of(stuck->prim->id) == jx_plan_elementwise) &&
            jx_grad_is_met(calling, rule, &rule->patterns[i]))
            return stuck;
    }
    return NULL;
}

static void check_backwards(jx_program *program, const jx_calling *calling,
                            const jx_derived_rule *derived,
                            jx_rule_report *report)
{
    const jx_eqn *stuck = stuck_at(report->rule, calling, derived);
    const jx_frame *frame = stuck ? jx_user_frame(stuck->stack) : NULL;

    if (!stuck)
        return;
    report->outcome = JX_RULE_WRONG;
    report->code = JX_CODE_DRV008;
    report->detail = jx_arena_printf(
        program->ctx->arena,
        "its tangents go through %s%s, %s: the rule can't be "
        "transposed, "
        "so that jax.grad fails, or misses what goes through it",
        stuck->prim->id == JX_PRIM_while ? "a while loop" : jx_eqn_name(stuck),
        frame ? jx_arena_printf(program->ctx->arena, " (%s:%d)",
                                frame->file->path, frame->line)
              : "",
        stuck->prim->id == JX_PRIM_while
            ? "which nothing goes back along, as it does along the function"
            : "which is not linear");
}

void jx_grad_beyond(const jx_typed *typed, const jx_gradcheck_options *options,
                    const jx_plan_options *how, const jx_calling *calling,
                    const jx_derived_rule *derived, jx_rule_report *report)
{
    const jx_rule *rule = report->rule;

    if (!rule->vjp)
        check_backwards(typed->program, calling, derived, report);
    /* Of what only rules call, the first order is the second one
     * of who calls it. */
    if (report->outcome == JX_RULE_AGREES && derived->next.jaxpr &&
        calling->reached && !calling->related)
        check_second_order(typed, options, how, derived, calling, report);
}

/* A rule that calls a wrong one is as wrong as that in the next order. */
static bool is_excused(const jx_derived *derived,
                       const jx_rule_reports *reports,
                       const jx_rule_report *report)
{
    const jx_jaxpr *says = derived->rules[report - reports->at].says.jaxpr;

    for (size_t i = 0; i < reports->count; i++)
        if (reports->at[i].outcome == JX_RULE_WRONG &&
            reports->at[i].code != JX_CODE_DRV006 &&
            &reports->at[i] != report &&
            jx_points_calls(says, reports->at[i].rule))
            return true;
    return false;
}

void jx_grad_excuse(const jx_derived *derived, jx_rule_reports *reports)
{
    for (size_t i = 0; i < reports->count; i++) {
        jx_rule_report *r = &reports->at[i];
        if (r->code != JX_CODE_DRV006 || !is_excused(derived, reports, r))
            continue;
        r->outcome = JX_RULE_AGREES;
        r->code = JX_CODE_NONE;
        r->detail = NULL;
    }
}

/* ---- closures */

static const jx_rule *rule_of(const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->tag == JX_V_RULE)
            return eqn->params[i].value->rule;
    return NULL;
}

/* Of a call: `what` its function does, and what comes of that. */
static bool claim_closure(jx_ctx *ctx, const jx_stack *stack, const char *name,
                          const char *what, const char *note,
                          jx_claim_list *claims)
{
    jx_claim *claim = jx_claim_add(ctx, claims, JX_CODE_DRV011);

    if (!claim)
        return false;
    claim->stack = stack;
    claim->what =
        jx_arena_printf(ctx->arena, "`%s` closes over a value that %s",
                        name ? name : "a function", what);
    claim->verdict = JX_WITNESSED;
    claim->evidence.by = "dependence";
    claim->evidence.note = note;
    claim->help =
        "pass it as an argument of the function, and give its derivative";
    return true;
}

static bool is_told(const jx_eqn_list *closing, size_t i)
{
    size_t k = 0;

    while (closing->at[k] != closing->at[i])
        k++;
    return k < i;
}

bool jx_grad_claim_closures(jx_program *program, const jx_eqn_list *closing,
                            jx_claim_list *claims)
{
    jx_ctx *ctx = program->ctx;
    bool good = true;

    for (size_t i = 0; good && i < closing->count; i++) {
        const jx_eqn *eqn = closing->at[i];
        const jx_rule *rule = rule_of(eqn);
        good =
            is_told(closing, i) ||
            claim_closure(
                ctx, eqn->stack || !rule ? eqn->stack : rule->stack,
                rule && rule->name ? rule->name : jx_eqn_name(eqn),
                "depends on the program's inputs",
                "the rule gives no derivative with respect to it: jax.grad "
                "takes it for a constant under jit, scan, vmap and cond, and "
                "raises elsewhere",
                claims);
    }
    for (int i = 0; good && i < program->nclosures; i++)
        good = claim_closure(
            ctx, program->closures[i].stack, program->closures[i].name,
            "the program differentiates",
            "the rule gives no derivative with respect to it: JAX took it "
            "for a constant when it traced the program, whose derivative "
            "misses a part",
            claims);
    return good;
}

/* ---- what all of it is held against */

bool jx_grad_derive(jx_program **program, const jx_typed *given, bool whole,
                    jx_derived *derived)
{
    jx_program *from = *program;
    const jx_typed *typed =
        given && given->program == from ? given : jx_typed_of(from);

    if (typed && jx_program_derive(typed, whole, derived)) {
        *program = derived->program;
        return true;
    }
    if (jx_arena_failed(from->ctx->arena) ||
        from->ctx->error.kind == JX_E_LIMIT)
        return false;
    jx_error_clear(from->ctx);
    *derived =
        (jx_derived){.rules = JX_NEW_ARRAY(from->ctx->arena, from->nrules + 1,
                                           jx_derived_rule)};
    return derived->rules != NULL;
}
