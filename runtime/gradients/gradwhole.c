/* gradwhole.c - see gradding.h: derivatives that are no rules.
 *
 * The program and what JAX would make of it by its rules are held against each
 * other as a function and its rule are, in the first order and in the second;
 * and so is a derivative that was stored beside the program. */
#include "analyzer/transform/jvp.h"
#include "analyzer/transform/vjp.h"
#include "runtime/fits.h"
#include "runtime/gradients/gradding.h"

#include <string.h>

enum { WHOLE_OPERATIONS = 1000000 }; /* one call of a program may execute */

/* A rule and the way it is called, which nothing is known of. */
typedef struct made_up {
    jx_rule rule;
    jx_rule_pattern pattern;
    jx_calling calling;
} made_up;

static made_up *make_up(jx_arena *arena, const jx_grad_pair *pair)
{
    const jx_jaxpr *of = pair->function->jaxpr;
    made_up *m = JX_NEW(arena, made_up);
    const jx_aval **ins = JX_NEW_ARRAY(arena, of->nins + 1, const jx_aval *);
    char *zeros = JX_NEW_ARRAY(arena, of->nins + 1, char);
    int *ties = JX_NEW_ARRAY(arena, of->nins + 1, int);
    bool *fixed = JX_NEW_ARRAY(arena, of->nins + 1, bool);

    if (!m || !ins || !zeros || !ties || !fixed)
        return NULL;
    for (int i = 0; i < of->nins; i++) {
        ins[i] = of->vars[of->nconsts + i]->aval;
        bool moves = i < pair->nmoved && jx_has_tangent(ins[i]) &&
                     !(pair->zeros && pair->zeros[i] == '1');
        zeros[i] = moves ? '0' : '1';
        ties[i] = i < pair->nmoved && pair->ties ? pair->ties[i] : i;
        fixed[i] = i < pair->nmoved && pair->fixed && pair->fixed[i];
    }
    m->pattern = (jx_rule_pattern){.zeros = zeros};
    m->rule = (jx_rule){.name = pair->name,
                        .nins = of->nins,
                        .nouts = of->nouts,
                        .ins = ins,
                        .primal = *pair->function,
                        .npatterns = 1,
                        .patterns = &m->pattern};
    m->calling = (jx_calling){.ties = ties,
                              .fixed = fixed,
                              .any_fixed = pair->fixed != NULL,
                              .reached = true,
                              .wanted = pair->wanted};
    return m;
}

static void check_made_up(made_up *m, jx_gradding base, bool thorough,
                          jx_rule_report *report)
{
    base.rule = &m->rule;
    base.pattern = &m->pattern;
    base.calling = &m->calling;
    base.program = base.typed->program;
    base.nearness = jx_sample_nearness(&m->rule);
    jx_grad_pattern(&base, base.how, thorough, report);
}

/* A mask of the results that have none. */
static const char *no_tangents(jx_arena *arena, const jx_jaxpr *of)
{
    char *zeros = JX_NEW_ARRAY(arena, of->nouts + 1, char);

    for (int i = 0; zeros && i < of->nouts; i++)
        zeros[i] = jx_has_tangent(jx_atom_aval(of->outs[i])) ? '0' : '1';
    return zeros;
}

void jx_grad_check_pair(const jx_grad_pair *pair, jx_gradding base,
                        bool thorough, jx_rule_report *report)
{
    made_up *m = make_up(base.typed->program->ctx->arena, pair);

    if (!m)
        return;
    m->pattern.jvp = *pair->derivative;
    m->pattern.out_zeros =
        no_tangents(base.typed->program->ctx->arena, pair->function->jaxpr);
    if (!m->pattern.out_zeros)
        return;
    check_made_up(m, base, thorough, report);
}

/* ---- the program */

typedef struct whole {
    jx_program *program;
    const jx_gradcheck_options *options;
    jx_plan_options how;
    const jx_typed *typed;
    const char *name;
    jx_gradding base;
} whole;

static const char *subject_of(const whole *w, const char *what)
{
    return jx_arena_printf(w->program->ctx->arena, "%s of `%s`", what, w->name);
}

/* Why a derivative that differs from the slopes may be right
 * nevertheless; or NULL. */
static const char *excuse_of(const whole *w)
{
    const jx_jaxpr *entry = w->program->entry.jaxpr;

    return jx_points_stops(entry) ? "the program stops gradients "
                                    "(stop_gradient), which may be meant so"
           : jx_points_ends_by_values(entry)
               ? "the program iterates until it is near enough, or solves by a "
                 "function of "
                 "its own, and its slopes are those of the iteration"
               : NULL;
}

/* The last word on the program. */
static void settle(const whole *w, const char *excuse, jx_rule_report *report)
{
    if (report->outcome == JX_RULE_WRONG && excuse) {
        report->outcome = JX_RULE_UNDECIDED;
        report->detail = jx_arena_printf(
            w->program->ctx->arena, "it differs from the slopes, but %s: %s",
            excuse, report->detail);
    } else if (report->outcome == JX_RULE_WRONG) {
        report->code = JX_CODE_DRV013;
    } else if (!report->detail && report->comparisons > 0 &&
               report->dropped <= report->comparisons) {
        report->outcome = JX_RULE_AGREES;
    } else if (!report->detail) {
        report->detail =
            "most comparisons could not tell: the program is too rough, or "
            "its dtypes round too much";
    }
}

/* Its sizes and types; false with the reason in the report. */
static bool prepare(whole *w, jx_rule_report *report)
{
    const jx_closed *entry = &w->program->entry;
    const jx_grad_pair alone = {
        .name = w->name, .function = entry, .nmoved = entry->jaxpr->nins};
    made_up *m = make_up(w->program->ctx->arena, &alone);

    if (!m)
        return false;
    if (!jx_sample_sizes(w->program, &m->rule, w->options->nbindings,
                         w->options->bindings, &w->how.nbindings,
                         &w->how.bindings)) {
        report->detail = "no sizes were found that its constraints allow";
        return false;
    }
    w->typed = jx_kept_fits(w->options->plans, w->program, w->how.nbindings,
                            w->how.bindings);
    if (!w->typed) {
        report->detail = w->program->ctx->error.message;
        jx_error_clear(w->program->ctx);
        return false;
    }
    report->tolerance =
        jx_sample_tolerance(&m->rule, jx_sample_nearness(&m->rule));
    const jx_sampling by = {
        .typed = w->typed, .how = &w->how, .plans = w->options->plans};
    w->base = (jx_gradding){
        .typed = w->typed,
        .options = w->options,
        .how = &w->how,
        .rng = {w->options->seed + 3},
        .tolerance = report->tolerance,
        .most_work = WHOLE_OPERATIONS,
        .ends = jx_sample_ends(w->program),
        .symmetric = jx_points_symmetric(entry->jaxpr),
        .given = jx_sample_inputs(&by, w->options->inputs),
    };
    return true;
}

/* A program that takes inputs and cotangents, and gives cotangents, as the bwd
 * of a rule of which the residuals are the inputs themselves. */
static void check_pulling(const whole *w, jx_program *pulling, bool thorough,
                          jx_rule_report *report)
{
    jx_arena *arena = w->program->ctx->arena;
    const jx_closed *entry = &w->program->entry;
    const jx_grad_pair pair = {
        .name = w->name, .function = entry, .nmoved = entry->jaxpr->nins};
    made_up *m = make_up(arena, &pair);
    int *fwds = JX_NEW_ARRAY(arena, entry->jaxpr->nins + 1, int);
    const jx_binding *there =
        pulling ? jx_sizes_of(pulling, w->how.nbindings, w->how.bindings)
                : NULL;
    jx_gradding base = w->base;

    base.pulling =
        there ? jx_program_fits(pulling, true, w->how.nbindings, there) : NULL;
    if (!m || !fwds || !base.pulling) {
        report->detail = w->program->ctx->error.message;
        jx_error_clear(w->program->ctx);
        return;
    }
    for (int i = 0; i < entry->jaxpr->nins; i++)
        fwds[i] = i;
    m->rule.vjp = true;
    m->pattern.fwd = *entry;
    m->pattern.bwd = pulling->entry;
    m->pattern.nres = entry->jaxpr->nins;
    m->pattern.fwds = fwds;
    m->pattern.ct_zeros = m->pattern.zeros;
    check_made_up(m, base, thorough, report);
}

/* Adds what is wrong beside the first order, forward. */
static void add_wrong(const whole *w, const char *where,
                      const jx_rule_report *from, jx_rule_report *to)
{
    if (from->outcome != JX_RULE_WRONG)
        return;
    to->outcome = JX_RULE_WRONG;
    to->witness = from->witness;
    to->detail =
        jx_arena_printf(w->program->ctx->arena, "%s, %s", where, from->detail);
}

/* Backwards, a NaN of a branch that is not taken shows that
 * forward does not. */
static void check_backwards(const whole *w, jx_rule_report *report)
{
    jx_program *vjp = jx_program_vjp(w->typed);
    jx_rule_report back = {0};

    if (vjp)
        check_pulling(w, vjp, false, &back);
    jx_error_clear(w->program->ctx); /* loops can't be gone back along */
    add_wrong(w, "backwards", &back, report);
}

static void check_second(const whole *w, const jx_derived_rule *derived,
                         jx_rule_report *report)
{
    const jx_jaxpr *entry = w->program->entry.jaxpr;
    const jx_grad_pair pair = {.name = w->name,
                               .function = &derived->says,
                               .derivative = &derived->next,
                               .nmoved = entry->nins};
    jx_rule_report next = {0};
    jx_gradding base = w->base;

    if (!derived->next.jaxpr || jx_points_has_loop(entry))
        return;
    base.given = NULL;
    base.second = true;
    base.tolerance *= 64;
    jx_grad_check_pair(&pair, base, false, &next);
    add_wrong(w, "in second order", &next, report);
}

static void check_own(whole *w, const jx_derived_rule *derived,
                      jx_rule_report *report)
{
    const jx_closed *entry = &w->program->entry;
    const jx_grad_pair first = {.name = w->name,
                                .function = entry,
                                .derivative = &derived->says,
                                .nmoved = entry->jaxpr->nins};

    if (!derived->says.jaxpr) {
        report->detail =
            "no derivative of it is known (jaxvet show --transform jvp says "
            "why)";
        return;
    }
    jx_grad_check_pair(&first, w->base, w->program->nrules == 0, report);
    bool agreed = report->outcome != JX_RULE_WRONG &&
                  report->comparisons > report->dropped;
    if (report->outcome != JX_RULE_WRONG && report->comparisons > 0)
        check_backwards(w, report);
    /* What stops gradients does so forward as well, where slopes agreed. */
    bool sure = agreed && report->outcome == JX_RULE_WRONG &&
                !jx_points_has_loop(entry->jaxpr);
    if (report->outcome != JX_RULE_WRONG && report->comparisons > 0)
        check_second(w, derived, report);
    settle(w, sure ? NULL : excuse_of(w), report);
}

static void check_stored(whole *w, jx_rule_report *report)
{
    check_pulling(
        w, jx_program_pulling(w->options->stored, w->program->entry.jaxpr),
        true, report);
    settle(w, excuse_of(w), report);
}

/* The entry does nothing but call a rule's function, or one that does: what
 * there is to say of it is said of the rule. */
static bool is_one_call(const jx_jaxpr *jaxpr)
{
    const jx_value *called;

    if (jaxpr->neqns != 1)
        return false;
    if (jaxpr->eqns[0].prim->id == JX_PRIM_custom_jvp_call ||
        jaxpr->eqns[0].prim->id == JX_PRIM_custom_vjp_call)
        return true;
    called = jaxpr->eqns[0].prim->id == JX_PRIM_jit
                 ? jx_eqn_param(&jaxpr->eqns[0], "jaxpr")
                 : NULL;
    return called && called->tag == JX_V_JAXPR && is_one_call(called->jaxpr);
}

/* Where a rule is wrong, or could not be judged, so is what is made of it.
 * Nobody differentiates what has been lowered: its rules are gone. */
static bool is_worth_it(const whole *w, const jx_rule_reports *reports)
{
    const jx_jaxpr *entry = w->program->entry.jaxpr;
    bool takes = false, gives = false;

    for (int i = 0; i < entry->nins; i++)
        takes |= jx_has_tangent(entry->vars[entry->nconsts + i]->aval);
    for (int i = 0; i < entry->nouts; i++)
        gives |= jx_has_tangent(jx_atom_aval(entry->outs[i]));
    if (!takes || !gives || w->program->tree || w->program->exported ||
        is_one_call(entry))
        return false;
    for (size_t i = 0; i < reports->count; i++)
        if (reports->at[i].outcome != JX_RULE_AGREES &&
            reports->at[i].outcome != JX_RULE_WITHIN &&
            reports->at[i].outcome != JX_RULE_BEYOND)
            return false;
    return true;
}

bool jx_grad_whole(jx_program *program, const jx_gradcheck_options *options,
                   const jx_derived_rule *derived, jx_rule_reports *reports)
{
    jx_arena *arena = program->ctx->arena;
    whole w = {.program = program,
               .options = options,
               .how = {.domain = JX_WIDE, .memory = options->memory},
               .name = program->name ? program->name : "the program"};
    jx_rule_report own = {.subject = subject_of(&w, "derivative")};
    jx_rule_report stored = {.subject = subject_of(&w, "stored vjp")};

    if (is_worth_it(&w, reports)) {
        if (prepare(&w, &own)) {
            for (size_t i = 0; i < reports->count; i++)
                w.base.has_within |= reports->at[i].outcome == JX_RULE_WITHIN;
            check_own(&w, derived, &own);
        }
        /* Where there are rules, what could not be done beside
         * them is no news. */
        if (own.outcome != JX_RULE_UNDECIDED || program->nrules == 0)
            JX_PUSH(arena, reports, own);
    }
    if (options->stored && jx_ok(program->ctx)) {
        if (prepare(&w, &stored))
            check_stored(&w, &stored);
        JX_PUSH(arena, reports, stored);
    }
    return jx_ok(program->ctx);
}
