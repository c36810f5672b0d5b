/* fits.c - see fits.h. */
#include "runtime/fits.h"

#include "analyzer/transform/discharge.h"
#include "analyzer/transform/refine.h"
#include "frontend/ir/params.h"
#include "frontend/read/asserted.h"

/* What the claim says holds at these sizes, as far as they decide it. */
static bool holds(const jx_claim *claim, jx_assignment *s)
{
    const jx_goal *goal = &claim->goal;
    int64_t lhs, rhs;

    if (claim->verdict == JX_PROVED)
        return true;
    if (goal->kind == JX_GOAL_FALSE || goal->kind == JX_GOAL_NONE ||
        goal->kind == JX_GOAL_DECIDED)
        return claim->verdict != JX_REFUTED;
    if (!goal->lhs || !goal->rhs ||
        !jx_dim_eval(goal->lhs, jx_assigned, s, &lhs) ||
        !jx_dim_eval(goal->rhs, jx_assigned, s, &rhs))
        return claim->verdict != JX_REFUTED;
    switch (goal->kind) {
    case JX_GOAL_EQ: return lhs == rhs;
    case JX_GOAL_NE: return lhs != rhs;
    case JX_GOAL_GE: return lhs >= rhs;
    case JX_GOAL_GT: return lhs > rhs;
    default: return lhs != 0 && (lhs == -1 || rhs % lhs == 0);
    }
}

/* What the module itself says of the sizes comes first. */
static bool refuse(const jx_program *program, const jx_claim *claim,
                   const jx_assignment *sizes)
{
    const char *says = jx_asserted_for(program, sizes->count, sizes->at);

    return jx_fail(program->ctx, JX_E_INPUT, program->path,
                   jx_claim_place(program, claim), "%s: %s (%s); %s%s",
                   jx_code_of(claim->code)->summary,
                   claim->what ? claim->what : "", jx_code_of(claim->code)->id,
                   says ? "the program asserts: " : "jaxvet check says more",
                   says ? says : "");
}

/* The first claim that does not hold at these sizes, or NULL.  What is a note
 * or a warning for `check` is no reason not to run. */
static const jx_claim *misfit(const jx_analysis *analysis, bool rules,
                              int nbindings, const jx_binding *bindings)
{
    const jx_looked_at *jaxprs = analysis->typed.jaxprs;
    jx_assignment s = {nbindings, bindings};

    for (size_t i = 0; i < analysis->claims.count; i++) {
        const jx_claim *claim = analysis->claims.at[i];
        if (jx_code_is_structural(claim->code) && claim->level == JX_ERROR &&
            (rules || !claim->jaxpr || jaxprs[claim->jaxpr->id].runs) &&
            !holds(claim, &s))
            return claim;
    }
    return NULL;
}

const jx_typed *jx_analysis_fits(const jx_analysis *analysis, bool rules,
                                 int nbindings, const jx_binding *bindings)
{
    const jx_claim *claim = misfit(analysis, rules, nbindings, bindings);

    if (!claim)
        return &analysis->typed;
    refuse(analysis->program, claim, &(jx_assignment){nbindings, bindings});
    return NULL;
}

const jx_typed *jx_program_fits(jx_program *program, bool rules, int nbindings,
                                const jx_binding *bindings)
{
    const jx_analysis *analysis = jx_typed_analysis(program);

    return analysis ? jx_analysis_fits(analysis, rules, nbindings, bindings)
                    : NULL;
}

const jx_typed *jx_analysis_fits_as(const jx_analysis *analysis,
                                    jx_program *program)
{
    return program == analysis->program
               ? jx_analysis_fits(analysis, false, 0, NULL)
               : jx_program_fits(program, false, 0, NULL);
}

/* -- sizes that wrap ------------------------------------------------------ */

/* A search for a size that is another number in the program's own integers. */
typedef struct wrapping {
    const jx_analysis *of;
    const jx_program *program; /* that is analysed */
    jx_assignment sizes;
    const jx_dim *found;
    jx_int exact;
    int64_t value;
} wrapping;

static void look(wrapping *w, const jx_dim *dim)
{
    int64_t value, number;
    jx_int exact;

    if (w->found || !dim || jx_dim_is_int(dim, &number) ||
        !jx_dim_eval_wide(dim, jx_assigned, &w->sizes, &exact))
        return;
    if (!jx_dim_eval_wrapped(dim, w->program->x64 ? 64 : 32, jx_assigned,
                             &w->sizes, &value))
        value = 0; /* divides by a number that wraps to 0 */
    value = (int64_t)(int32_t)(uint32_t)(uint64_t)value;
    if (value == exact)
        return;
    w->found = dim;
    w->exact = exact;
    w->value = value;
}

static void look_at_aval(wrapping *w, const jx_aval *aval)
{
    for (int i = 0; i < aval->rank; i++)
        look(w, aval->shape[i]);
}

static void look_at_value(wrapping *w, const jx_value *value)
{
    if (value->tag == JX_V_DIM)
        look(w, value->dim);
    for (int i = 0; value->items && i < value->count; i++)
        look_at_value(w, value->items[i]);
}

/* Sizes used as values wrap where they are computed, and change no shape. */
static void look_at_equation(wrapping *w, const jx_eqn *eqn)
{
    for (int i = 0; i < eqn->nparams && eqn->prim->id != JX_PRIM_dim_as_value;
         i++)
        look_at_value(w, eqn->params[i].value);
    for (int i = 0; i < eqn->nouts; i++)
        look_at_aval(w, eqn->outs[i]->aval);
}

static void look_at_jaxprs(wrapping *w)
{
    for (int i = 0; i < w->program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = w->program->jaxprs[i];
        bool runs = w->of->typed.jaxprs[i].runs;
        for (int k = 0; runs && k < jaxpr->nconsts + jaxpr->nins; k++)
            look_at_aval(w, jaxpr->vars[k]->aval);
        for (int k = 0; runs && k < jaxpr->neqns; k++)
            look_at_equation(w, &jaxpr->eqns[k]);
    }
}

/* The same for what a caller gives and gets. */
static void look_at_contract(wrapping *w)
{
    const jx_jaxpr *entry = w->program->entry.jaxpr;

    for (int i = 0; i < entry->nins; i++)
        look_at_aval(w, entry->vars[entry->nconsts + i]->aval);
    for (int i = 0; i < entry->nouts; i++)
        look_at_aval(w, jx_atom_aval(entry->outs[i]));
}

/* "the size k^2 is 4900000000 here and 605032704 in the program's int32" */
static const char *story(const wrapping *w)
{
    jx_buffer text = jx_ctx_text(w->program->ctx);

    jx_buffer_puts(&text, "the size ");
    jx_dim_print(w->found, &text);
    jx_buffer_puts(&text, " is ");
    jx_int_print(w->exact, &text);
    jx_buffer_printf(&text, " here and %lld in the program's own integers",
                     (long long)w->value);
    const char *kept = jx_arena_take(w->program->ctx->arena, &text);
    return kept ? kept : "a size wraps";
}

static const jx_typed *refuse_wrapped(const wrapping *w, const char *place,
                                      const char *why)
{
    jx_fail(w->program->ctx, JX_E_INPUT, w->program->path, place,
            "%s (IDX004): %s", story(w), why);
    return NULL;
}

/* What XLA compiles at these sizes, if it can. */
static const jx_typed *wrapped(jx_program *program, wrapping *w)
{
    wrapping contract = {.program = program, .sizes = w->sizes};
    jx_program *refined;
    const jx_analysis *analysis;
    const jx_claim *claim;

    look_at_contract(&contract);
    if (contract.found)
        return refuse_wrapped(&contract, NULL,
                              "an array that is given or returned can't have "
                              "both sizes");
    if (w->value < 0)
        return refuse_wrapped(w, NULL, "no array has a negative size");
    refined = jx_program_refine_wrapping(program, w->sizes.count, w->sizes.at);
    analysis = jx_typed_analysis(refined);
    claim = analysis ? misfit(analysis, false, 0, NULL) : NULL;
    if (claim)
        return refuse_wrapped(w, jx_claim_place(refined, claim),
                              claim->what ? claim->what
                                          : "sizes do not agree any more");
    return analysis ? &analysis->typed : NULL;
}

static const jx_typed *at_sizes(jx_program *program, int nbindings,
                                const jx_binding *bindings)
{
    const jx_analysis *analysis = jx_typed_analysis(program);
    wrapping w = {
        .of = analysis, .program = program, .sizes = {nbindings, bindings}};

    if (!analysis)
        return NULL;
    look_at_jaxprs(&w);
    return w.found ? wrapped(program, &w)
                   : jx_analysis_fits(analysis, false, nbindings, bindings);
}

bool jx_program_calls_exported(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->neqns; k++)
            if (program->jaxprs[i]->eqns[k].prim->id == JX_PRIM_call_exported)
                return true;
    return false;
}

/* What a function exported elsewhere computes is read at sizes that are numbers
 * (discharge.h), which all are here. */
const jx_typed *jx_program_at(jx_program *program, int nbindings,
                              const jx_binding *bindings)
{
    const jx_typed *typed = at_sizes(program, nbindings, bindings);
    jx_program *refined;

    if (!typed || !nbindings || !jx_program_calls_exported(typed->program))
        return typed;
    refined = jx_program_refine(typed->program, &typed->program->entry,
                                nbindings, bindings);
    return refined && jx_program_discharge(refined) ? at_sizes(refined, 0, NULL)
                                                    : NULL;
}
