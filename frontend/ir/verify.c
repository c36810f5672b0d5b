/* verify.c - the rules of the representation. */
#include "frontend/ir/definition.h"
#include "frontend/ir/params.h"

#include <stdio.h>
#include <string.h>

/* ---- counts, by primitive */

static const char *counts(jx_ctx *ctx, const jx_eqn *eqn, const char *what,
                          int64_t expected, int64_t found)
{
    if (expected == found)
        return NULL;
    return jx_arena_printf(ctx->arena, "%s: expected %lld %s, found %lld",
                           eqn->prim->name, (long long)expected, what,
                           (long long)found);
}

static const char *first(const char *a, const char *b)
{
    return a ? a : b;
}

static const char *fits(jx_ctx *ctx, const jx_eqn *eqn, const char *name,
                        const jx_closed *closed, int64_t nins, int64_t nouts)
{
    const jx_jaxpr *jaxpr = closed->jaxpr;

    if (!jaxpr)
        return NULL;
    if (jaxpr->nins == nins && jaxpr->nouts == nouts &&
        jaxpr->nconsts == closed->nconsts)
        return NULL;
    return jx_arena_printf(
        ctx->arena,
        "%s: expected '%s' to have %lld inputs, %lld outputs and %d "
        "constants, found %d, %d and %d",
        eqn->prim->name, name, (long long)nins, (long long)nouts,
        closed->nconsts, jaxpr->nins, jaxpr->nouts, jaxpr->nconsts);
}

static const char *misfit_of_scan(jx_ctx *ctx, const jx_eqn *eqn,
                                  const jx_p_scan *p)
{
    if (p->num_consts < 0 || p->num_carry < 0 || p->num_consts > eqn->nins ||
        p->num_carry > eqn->nins - p->num_consts || p->num_carry > eqn->nouts)
        return "scan: num_consts and num_carry exceed the operands";
    return fits(ctx, eqn, "jaxpr", &p->jaxpr, eqn->nins, eqn->nouts);
}

static const char *misfit_of_while(jx_ctx *ctx, const jx_eqn *eqn,
                                   const jx_p_while *p)
{
    if (p->cond_nconsts < 0 || p->body_nconsts < 0 ||
        p->cond_nconsts > eqn->nins ||
        p->body_nconsts > eqn->nins - p->cond_nconsts)
        return "while: cond_nconsts and body_nconsts exceed the operands";
    int64_t carry = eqn->nins - p->cond_nconsts - p->body_nconsts;
    const char *cond = fits(ctx, eqn, "cond_jaxpr", &p->cond_jaxpr,
                            p->cond_nconsts + carry, 1);
    const char *body = fits(ctx, eqn, "body_jaxpr", &p->body_jaxpr,
                            p->body_nconsts + carry, carry);
    return first(first(cond, body),
                 counts(ctx, eqn, "results", carry, eqn->nouts));
}

static const char *misfit_of_cond(jx_ctx *ctx, const jx_eqn *eqn,
                                  const jx_p_cond *p)
{
    const char *why = NULL;

    if (eqn->nins < 1)
        return "cond: expected an operand that chooses the branch";
    for (int i = 0; i < p->branches.count && !why; i++)
        why = fits(ctx, eqn, "branches", &p->branches.at[i], eqn->nins - 1,
                   eqn->nouts);
    return why;
}

/* Operands and initial values, as many of each as results. */
static const char *misfit_of_reduce(jx_ctx *ctx, const jx_eqn *eqn,
                                    const jx_closed *jaxpr)
{
    return first(counts(ctx, eqn, "operands (two per result)",
                        2 * (int64_t)eqn->nouts, eqn->nins),
                 fits(ctx, eqn, "jaxpr", jaxpr, eqn->nins, eqn->nouts));
}

static const char *misfit_of_call(jx_ctx *ctx, const jx_eqn *eqn,
                                  const jx_closed *callee)
{
    const char *name = jx_eqn_param(eqn, "call_jaxpr") ? "call_jaxpr" : "jaxpr";

    return fits(ctx, eqn, name, callee, eqn->nins, eqn->nouts);
}

static const char *misfit_of_composite(jx_ctx *ctx, const jx_eqn *eqn,
                                       const jx_p_composite *p)
{
    if (!p->jaxpr.jaxpr == !p->call_jaxpr.jaxpr)
        return "composite: expected one of the parameters 'jaxpr' and "
               "'call_jaxpr'";
    return misfit_of_call(ctx, eqn, jx_eqn_callee(eqn));
}

/* The operands that a path leaves open. */
static const char *misfit_of_path(jx_ctx *ctx, const jx_eqn *eqn)
{
    const jx_p_ref_path *p = eqn->typed;
    int first = jx_ref_path_at(eqn->prim);

    if (p->tree.operands < 0)
        return eqn->nins >= first
                   ? NULL
                   : counts(ctx, eqn, "operands", first, eqn->nins);
    return counts(ctx, eqn, "operands", (int64_t)first + p->tree.operands,
                  eqn->nins);
}

/* By the nested jaxprs that it carries. */
static const char *misfit_of_bodies(jx_ctx *ctx, const jx_eqn *eqn)
{
    const jx_closed *callee = jx_eqn_callee(eqn);
    const void *p = eqn->typed;
    int nins = eqn->nins, nouts = eqn->nouts;

    if (eqn->prim->id == JX_PRIM_composite)
        return misfit_of_composite(ctx, eqn, p);
    if (callee)
        return misfit_of_call(ctx, eqn, callee);
    switch (eqn->prim->id) {
    case JX_PRIM_scan: return misfit_of_scan(ctx, eqn, p);
    case JX_PRIM_while: return misfit_of_while(ctx, eqn, p);
    case JX_PRIM_cond: return misfit_of_cond(ctx, eqn, p);
    case JX_PRIM_reduce:
        return misfit_of_reduce(ctx, eqn, &((const jx_p_reduce *)p)->jaxpr);
    case JX_PRIM_reduce_window:
        return misfit_of_reduce(ctx, eqn,
                                &((const jx_p_reduce_window *)p)->jaxpr);
    case JX_PRIM_stablehlo_sort:
        return first(counts(ctx, eqn, "operands, one per result", nouts, nins),
                     fits(ctx, eqn, "comparator",
                          &((const jx_p_stablehlo_sort *)p)->comparator,
                          2 * (int64_t)nins, 1));
    case JX_PRIM_stablehlo_scatter:
        return first(
            counts(ctx, eqn, "operands, two per result and the indices",
                   2 * (int64_t)nouts + 1, nins),
            fits(ctx, eqn, "update_computation",
                 &((const jx_p_stablehlo_scatter *)p)->update_computation,
                 2 * (int64_t)nouts, nouts));
    case JX_PRIM_stablehlo_select_and_scatter:
        return first(fits(ctx, eqn, "select",
                          &((const jx_p_select_and_scatter *)p)->select, 2, 1),
                     fits(ctx, eqn, "scatter",
                          &((const jx_p_select_and_scatter *)p)->scatter, 2,
                          1));
    case JX_PRIM_get:
    case JX_PRIM_swap:
    case JX_PRIM_addupdate: return misfit_of_path(ctx, eqn);
    case JX_PRIM_run_state:
        return first(counts(ctx, eqn, "results", nins, nouts),
                     fits(ctx, eqn, "jaxpr",
                          &((const jx_p_run_state *)p)->jaxpr, nins, 0));
    case JX_PRIM_stablehlo_map:
        return fits(ctx, eqn, "computation",
                    &((const jx_p_stablehlo_map *)p)->computation, nins, 1);
    case JX_PRIM_stablehlo_all_reduce:
        return fits(ctx, eqn, "computation",
                    &((const jx_p_all_reduce *)p)->computation, 2, 1);
    case JX_PRIM_stablehlo_reduce_scatter:
        return fits(ctx, eqn, "computation",
                    &((const jx_p_reduce_scatter *)p)->computation, 2, 1);
    case JX_PRIM_shard_map:
        return fits(ctx, eqn, "jaxpr", &((const jx_p_shard_map *)p)->jaxpr,
                    nins, nouts);
    case JX_PRIM_sdy_manual_computation:
        return fits(ctx, eqn, "jaxpr",
                    &((const jx_p_manual_computation *)p)->jaxpr, nins, nouts);
    default: return NULL;
    }
}

const char *jx_eqn_misfit(jx_ctx *ctx, const jx_eqn *eqn)
{
    const jx_prim *prim = eqn->prim;
    const char *why = NULL;

    if (prim->nins != JX_ANY_COUNT)
        why = counts(ctx, eqn, "operands", prim->nins, eqn->nins);
    if (!why && prim->nouts != JX_ANY_COUNT)
        why = counts(ctx, eqn, "results", prim->nouts, eqn->nouts);
    if (!why && eqn->typed)
        why = misfit_of_bodies(ctx, eqn);
    return why;
}

/* ---- the whole program */

typedef struct verify {
    const jx_program *program;
    const jx_jaxpr *jaxpr;
    const jx_eqn *eqn;
    int index; /* of the equation */
} verify;

/* Always false: records what is wrong, and where. */
static bool wrong(const verify *v, const char *what)
{
    char place[160] = "program";

    if (v->eqn)
        snprintf(place, sizeof place, "jaxpr %d, equation %d (%.60s)",
                 v->jaxpr->id, v->index, v->eqn->prim->name);
    else if (v->jaxpr)
        snprintf(place, sizeof place, "jaxpr %d", v->jaxpr->id);
    return jx_fail(v->program->ctx, JX_E_INTERNAL, v->program->path, place,
                   "the program breaks a rule of its representation: %s", what);
}

static bool verify_atom(const verify *v, jx_atom atom, int defined)
{
    if (!atom.var) {
        const jx_literal *l = atom.literal;
        if (!l || !l->aval)
            return wrong(v, "an operand that is neither variable nor literal");
        if (!l->dim && !l->array && (l->aval->rank || l->aval->dtype == JX_KEY))
            return wrong(v, "a literal without its elements");
        return true;
    }
    if (atom.var->id < 0 || atom.var->id >= v->jaxpr->nvars ||
        v->jaxpr->vars[atom.var->id] != atom.var)
        return wrong(v, "an operand from another jaxpr");
    if (atom.var->id >= defined)
        return wrong(v, "an operand that is not yet defined");
    return !atom.var->dropped || wrong(v, "an operand that was dropped");
}

/* Everything that a value refers to lies in the program, before the jaxpr that
 * refers to it. */
static bool verify_value(const verify *v, const jx_value *value)
{
    const jx_program *p = v->program;

    if (!value)
        return wrong(v, "a parameter without a value");
    if (value->tag == JX_V_JAXPR) {
        const jx_jaxpr *to = value->jaxpr;
        if (!to || to->id < 0 || to->id >= v->jaxpr->id ||
            p->jaxprs[to->id] != to)
            return wrong(v, "a nested jaxpr that is not in the table before "
                            "its user");
        if (to->nconsts != value->count)
            return wrong(v, "a nested jaxpr without its constants");
    }
    if (value->tag == JX_V_RULE &&
        (!value->rule || value->rule->id < 0 || value->rule->id >= p->nrules ||
         p->rules[value->rule->id] != value->rule))
        return wrong(v, "a rule that is not in the table");
    if (value->tag == JX_V_DEFINITION &&
        (!value->definition || value->definition->id < 0 ||
         value->definition->id >= p->ndefinitions ||
         p->definitions[value->definition->id] != value->definition))
        return wrong(v, "a definition that is not in the table");
    if ((value->tag == JX_V_MESH || value->tag == JX_V_SHARDING) &&
        (value->integer < 0 || value->integer >= p->nmeshes))
        return wrong(v, "a mesh that is not in the table");
    for (int i = 0; value->items && i < value->count; i++)
        if (!verify_value(v, value->items[i]))
            return false;
    return !value->shown || verify_value(v, value->shown);
}

static bool verify_params(const verify *v)
{
    const jx_eqn *eqn = v->eqn;

    for (int i = 0; i < eqn->nparams; i++) {
        if (i && strcmp(eqn->params[i - 1].name, eqn->params[i].name) >= 0)
            return wrong(v, "parameters that are not sorted by name");
        if (!verify_value(v, eqn->params[i].value))
            return false;
    }
    if (!eqn->typed != (eqn->prim->id == JX_PRIM_unknown))
        return wrong(v, "typed parameters are there for known primitives, "
                        "and only for those");
    const char *misfit = jx_eqn_misfit(v->program->ctx, eqn);
    return !misfit || wrong(v, misfit);
}

static bool verify_eqn(const verify *v, int *defined)
{
    const jx_eqn *eqn = v->eqn;

    for (int i = 0; i < eqn->nins; i++)
        if (!verify_atom(v, eqn->ins[i], *defined))
            return false;
    if (eqn->nouts > v->jaxpr->nvars - *defined)
        return wrong(v, "more results than variables");
    for (int i = 0; i < eqn->nouts; i++)
        if (eqn->outs[i] != v->jaxpr->vars[*defined + i])
            return wrong(v, "a result that is not the next variable");
    *defined += eqn->nouts;
    return verify_params(v);
}

static bool verify_vars(const verify *v)
{
    const jx_jaxpr *jaxpr = v->jaxpr;

    if (jaxpr->nconsts < 0 || jaxpr->nins < 0 ||
        jaxpr->nins > jaxpr->nvars - jaxpr->nconsts)
        return wrong(v, "more inputs than variables");
    for (int i = 0; i < jaxpr->nvars; i++)
        if (!jaxpr->vars[i] || jaxpr->vars[i]->id != i || !jaxpr->vars[i]->aval)
            return wrong(v, "a variable without its number or aval");
    return true;
}

static bool verify_jaxpr(const jx_program *p, int id)
{
    verify v = {.program = p, .jaxpr = p->jaxprs[id]};

    if (!v.jaxpr || v.jaxpr->id != id)
        return wrong(&v, "a jaxpr that is not at its place in the table");
    if (!verify_vars(&v))
        return false;
    int defined = v.jaxpr->nconsts + v.jaxpr->nins;
    for (int i = 0; i < v.jaxpr->neqns; i++) {
        v.eqn = &v.jaxpr->eqns[i];
        v.index = i;
        if (!verify_eqn(&v, &defined))
            return false;
    }
    v.eqn = NULL;
    if (defined != v.jaxpr->nvars)
        return wrong(&v, "variables that nothing defines");
    for (int i = 0; i < v.jaxpr->nouts; i++)
        if (!verify_atom(&v, v.jaxpr->outs[i], defined))
            return false;
    return true;
}

static bool verify_closed(const jx_program *p, const jx_closed *closed)
{
    verify v = {.program = p};

    if (!closed->jaxpr || closed->jaxpr->id < 0 ||
        closed->jaxpr->id >= p->njaxprs ||
        p->jaxprs[closed->jaxpr->id] != closed->jaxpr)
        return wrong(
            &v,
            "an entry, a rule or a retrace whose jaxpr is not in the table");
    if (closed->nconsts != closed->jaxpr->nconsts)
        return wrong(&v, "an entry, a rule or a retrace without its constants");
    return true;
}

static bool verify_rule(const jx_program *p, const jx_rule *rule)
{
    if (!verify_closed(p, &rule->primal) ||
        (rule->surrogate.jaxpr && !verify_closed(p, &rule->surrogate)))
        return false;
    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *pattern = &rule->patterns[i];
        bool ok =
            pattern->error || (rule->vjp ? verify_closed(p, &pattern->fwd) &&
                                               verify_closed(p, &pattern->bwd)
                                         : verify_closed(p, &pattern->jvp));
        if (!ok)
            return false;
    }
    return true;
}

static bool verify_definition(const jx_program *p, const jx_definition *of)
{
    for (int kind = 0; kind < JX_DEFINED_PATTERNED; kind++)
        for (int i = 0; i < of->npatterns[kind]; i++)
            if (!of->patterns[kind][i].error &&
                !verify_closed(p, &of->patterns[kind][i].made))
                return false;
    return true;
}

static bool verify_linear(const jx_program *p, const jx_linear_program *linear)
{
    return linear->nres <= p->entry.jaxpr->nouts &&
           linear->nres <= linear->closed.jaxpr->nins &&
           verify_closed(p, &linear->closed);
}

bool jx_program_verify(const jx_program *program)
{
    for (int i = 0; i < program->njaxprs; i++)
        if (!verify_jaxpr(program, i))
            return false;
    for (int i = 0; i < program->nrules; i++)
        if (!verify_rule(program, program->rules[i]))
            return false;
    for (int i = 0; i < program->ndefinitions; i++)
        if (!verify_definition(program, program->definitions[i]))
            return false;
    for (int i = 0; i < program->nretraces; i++)
        if (program->retraces[i].closed.jaxpr &&
            !verify_closed(program, &program->retraces[i].closed))
            return false;
    return verify_closed(program, &program->entry) &&
           (!program->linear || verify_linear(program, program->linear));
}

/* Of the variable's type; array types of references are looked at, too. */
static bool is_interned(const jx_program *p, const jx_aval *aval)
{
    for (; aval; aval = aval->of) {
        if (!jx_avals_hold(&p->avals, aval))
            return false;
        for (int i = 0; i < aval->rank; i++)
            if (!jx_dims_hold(p->dims, aval->shape[i]))
                return false;
    }
    return true;
}

const char *jx_program_fault(const jx_program *program)
{
    if (!jx_program_verify(program))
        return program->ctx->error.message;
    for (int i = 0; i < program->njaxprs; i++) {
        const jx_jaxpr *jaxpr = program->jaxprs[i];
        for (int k = 0; k < jaxpr->nvars; k++)
            if (!is_interned(program, jaxpr->vars[k]->aval))
                return jx_arena_printf(program->ctx->arena,
                                       "jaxpr %d, variable %d: its type is "
                                       "none of the program's",
                                       i, k);
    }
    return NULL;
}

const char *jx_jaxpr_fault(const jx_program *program, const jx_jaxpr *jaxpr)
{
    verify v = {.program = program, .jaxpr = jaxpr};
    int defined = jaxpr->nconsts + jaxpr->nins;
    bool ok = verify_vars(&v);

    for (int i = 0; ok && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = v.eqn = &jaxpr->eqns[i];
        v.index = i;
        for (int k = 0; ok && k < eqn->nins; k++)
            ok = verify_atom(&v, eqn->ins[k], defined);
        for (int k = 0; ok && k < eqn->nouts; k++, defined++)
            ok = (defined < jaxpr->nvars &&
                  eqn->outs[k] == jaxpr->vars[defined]) ||
                 wrong(&v, "a result that is not the next variable");
    }
    v.eqn = NULL;
    for (int i = 0; ok && i < jaxpr->nouts; i++)
        ok = verify_atom(&v, jaxpr->outs[i], defined);
    return ok ? NULL : program->ctx->error.message;
}

static bool dim_mentions(jx_dims *dims, const jx_dim *dim,
                         const jx_assignment *sizes)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        for (int k = 0; k < sizes->count; k++)
            if (sizes->at[k].var == vars[i])
                return true;
    return false;
}

bool jx_program_mentions(const jx_program *program, const jx_assignment *sizes)
{
    for (int i = 0; i < program->njaxprs; i++)
        for (int k = 0; k < program->jaxprs[i]->nvars; k++) {
            const jx_aval *aval = program->jaxprs[i]->vars[k]->aval;
            for (int axis = 0; axis < aval->rank; axis++)
                if (dim_mentions(program->dims, aval->shape[axis], sizes))
                    return true;
        }
    return false;
}
