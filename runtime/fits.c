/* fits.c - see fits.h. */
#include "runtime/fits.h"

#include "analyzer/transform/refine.h"
#include "analyzer/typing.h"
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

/* The codes whose breach would let a kernel leave its operands, or lets a call
 * of an exported function die. */
static bool structural(jx_code code)
{
    return code == JX_CODE_SHP010 || code == JX_CODE_SHP011 ||
           code == JX_CODE_SHP013 || code == JX_CODE_SHP015;
}

static void mark(const jx_value *value, bool *reached)
{
    if (value->tag == JX_V_JAXPR && !reached[value->jaxpr->id]) {
        reached[value->jaxpr->id] = true;
        return;
    }
    for (int i = 0; i < value->count; i++)
        if (value->items && value->items[i])
            mark(value->items[i], reached);
}

/* Jaxprs that running the entry may meet: callees come before callers, so one
 * walk from the last to the first reaches all.  Rules are not run. */
static bool *reachable(const jx_program *program)
{
    bool *reached =
        JX_NEW_ARRAY(program->ctx->arena, program->njaxprs + 1, bool);

    if (!reached)
        return NULL;
    reached[program->entry.jaxpr->id] = true;
    for (int i = program->njaxprs - 1; i >= 0; i--) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        for (int k = 0; reached[i] && k < jaxpr->neqns; k++)
            for (int n = 0; n < jaxpr->eqns[k].nparams; n++)
                mark(jaxpr->eqns[k].params[n].value, reached);
    }
    return reached;
}

static const char *place_of(const jx_program *program, const jx_claim *claim)
{
    return claim->jaxpr && claim->eqn
               ? jx_arena_printf(program->ctx->arena,
                                 "equation %d of jaxpr %d (%s)",
                                 (int)(claim->eqn - claim->jaxpr->eqns),
                                 claim->jaxpr->id, jx_eqn_name(claim->eqn))
               : "the program";
}

/* What the module itself says of the sizes comes first. */
static bool refuse(const jx_program *program, const jx_claim *claim,
                   const jx_assignment *sizes)
{
    const char *says = jx_asserted_for(program, sizes->count, sizes->at);

    return jx_fail(
        program->ctx, JX_E_INPUT, program->path, place_of(program, claim),
        "%s: %s (%s); %s%s", jx_code_of(claim->code)->summary,
        claim->what ? claim->what : "", jx_code_of(claim->code)->id,
        says ? "the program asserts: " : "jaxvet check says more",
        says ? says : "");
}

/* The first claim that does not hold at these sizes, or NULL. */
static const jx_claim *misfit(jx_program *program, bool rules, int nbindings,
                              const jx_binding *bindings)
{
    jx_analysis *analysis = jx_analysis_new(program);
    jx_assignment s = {nbindings, bindings};

    if (!analysis || !jx_type_program(analysis))
        return NULL;
    const bool *reached = reachable(program);
    for (size_t i = 0; reached && i < analysis->claims.count; i++) {
        const jx_claim *claim = analysis->claims.at[i];
        if (structural(claim->code) &&
            (rules || !claim->jaxpr || reached[claim->jaxpr->id]) &&
            !holds(claim, &s))
            return claim;
    }
    return NULL;
}

bool jx_program_fits(jx_program *program, bool rules, int nbindings,
                     const jx_binding *bindings)
{
    const jx_claim *claim = misfit(program, rules, nbindings, bindings);

    return claim ? refuse(program, claim, &(jx_assignment){nbindings, bindings})
                 : jx_ok(program->ctx);
}

/* -- sizes that wrap ------------------------------------------------------ */

/* A search for a size that is another number in the program's own integers. */
typedef struct wrapping {
    const jx_program *program;
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
    const bool *reached = reachable(w->program);

    for (int i = 0; reached && i < w->program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = w->program->jaxprs[i];
        for (int k = 0; reached[i] && k < jaxpr->nconsts + jaxpr->nins; k++)
            look_at_aval(w, jaxpr->vars[k]->aval);
        for (int k = 0; reached[i] && k < jaxpr->neqns; k++)
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
    jx_buffer text = {0};

    jx_buffer_puts(&text, "the size ");
    jx_dim_print(w->found, &text);
    jx_buffer_puts(&text, " is ");
    jx_int_print(w->exact, &text);
    jx_buffer_printf(&text, " here and %lld in the program's own integers",
                     (long long)w->value);
    const char *kept = jx_arena_take(w->program->ctx->arena, &text);
    return kept ? kept : "a size wraps";
}

static jx_program *refuse_wrapped(const wrapping *w, const char *place,
                                  const char *why)
{
    jx_fail(w->program->ctx, JX_E_INPUT, w->program->path, place,
            "%s (IDX004): %s", story(w), why);
    return NULL;
}

/* What XLA compiles at these sizes, if it can. */
static jx_program *wrapped(jx_program *program, wrapping *w)
{
    wrapping contract = {.program = program, .sizes = w->sizes};
    jx_program *refined;
    const jx_claim *claim;

    look_at_contract(&contract);
    if (contract.found)
        return refuse_wrapped(&contract, NULL,
                              "an array that is given or returned can't have "
                              "both sizes");
    if (w->value < 0)
        return refuse_wrapped(w, NULL, "no array has a negative size");
    refined =
        jx_program_refine_wrapping(program, w->sizes.count, w->sizes.at);
    claim = refined ? misfit(refined, false, 0, NULL) : NULL;
    if (claim)
        return refuse_wrapped(w, place_of(refined, claim),
                              claim->what ? claim->what
                                          : "sizes do not agree any more");
    return refined;
}

jx_program *jx_program_at(jx_program *program, int nbindings,
                          const jx_binding *bindings)
{
    wrapping w = {.program = program, .sizes = {nbindings, bindings}};

    look_at_jaxprs(&w);
    if (w.found)
        return wrapped(program, &w);
    return jx_program_fits(program, false, nbindings, bindings) ? program
                                                                : NULL;
}
