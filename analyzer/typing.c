/* typing.c - the pass: walks jaxprs, runs rules, compares, makes claims.
 *
 * Callees come before callers in the program's table, so one walk in that
 * order finds every callee typed already.  Inside a jaxpr, equations are typed
 * from the types inferred so far.  Where a rule gives up, or inferred and
 * declared sizes are only perhaps equal (a claim says so), the walk goes on
 * with what is declared, so that one defect is one finding. */
#include "analyzer/typing_parts.h"

#include <stdio.h>
#include <string.h>

/* -- equations ---------------------------------------------------------- */

static void take_declared(jx_typing *t)
{
    for (int i = 0; i < t->nouts; i++)
        t->outs[i] = t->eqn->outs[i]->aval;
}

static void type_eqn(jx_typing *t)
{
    t->to->equations++;
    if (!jx_typing_run_rule(t))
        return;
    if (t->wrong) {
        take_declared(t);
        return;
    }
    for (int i = 0; i < t->eqn->nparams; i++)
        jx_typing_look_at_value(t, t->eqn->params[i].value);
    for (int i = 0; i < t->nouts; i++)
        jx_typing_look_at_sizes(t, t->outs[i]);
    if (jx_eqn_is_unknown(t->eqn)) /* what is declared, there is nothing else */
        return;
    for (int i = 0; i < t->nouts; i++)
        t->outs[i] = jx_typing_settle_out(t, i);
}

/* A scalar literal is a scalar, an array literal what its array is. */
static void check_literal(jx_typing *t, const jx_literal *literal, int i)
{
    t->code = JX_CODE_SHP011;
    t->wrong = false;
    if (literal->array)
        jx_type_agree(t, literal->array->aval, literal->aval, "literal %d", i);
    else if (literal->aval->rank != 0)
        jx_type_wrong(t, "literal %d: a scalar is declared with rank %d", i,
                      literal->aval->rank);
    if (literal->dim)
        jx_typing_look_for_divisors(t, literal->dim);
}

/* -- jaxprs ------------------------------------------------------------- */

typedef struct scope {
    const jx_aval **types; /* per variable */
    bool *resting;
    bool *untrue; /* per variable: it is not what it is declared to be */
    const jx_aval **ins, **outs; /* room for one equation */
} scope;

static bool open_scope(jx_typing *t, const jx_jaxpr *jaxpr, scope *env)
{
    jx_arena *arena = jx_typing_ctx(t)->arena;
    int ins = 0, outs = 0;

    for (int i = 0; i < jaxpr->neqns; i++) {
        ins = jaxpr->eqns[i].nins > ins ? jaxpr->eqns[i].nins : ins;
        outs = jaxpr->eqns[i].nouts > outs ? jaxpr->eqns[i].nouts : outs;
    }
    env->types = JX_NEW_ARRAY(arena, jaxpr->nvars, const jx_aval *);
    env->resting = JX_NEW_ARRAY(arena, jaxpr->nvars, bool);
    env->untrue = JX_NEW_ARRAY(arena, jaxpr->nvars, bool);
    env->ins = JX_NEW_ARRAY(arena, ins, const jx_aval *);
    env->outs = JX_NEW_ARRAY(arena, outs, const jx_aval *);
    return env->types && env->resting && env->untrue && env->ins && env->outs;
}

static const jx_aval *type_of(const scope *env, jx_atom atom)
{
    return atom.var ? env->types[atom.var->id] : atom.literal->aval;
}

static void type_in_scope(jx_typing *t, const scope *env)
{
    const jx_eqn *eqn = t->eqn;

    t->resting = false;
    t->refused = false;
    t->nins = eqn->nins;
    t->nouts = eqn->nouts;
    t->ins = env->ins;
    t->outs = env->outs;
    for (int i = 0; i < eqn->nins; i++) {
        if (eqn->ins[i].var) {
            t->resting |= env->resting[eqn->ins[i].var->id];
            t->refused |= env->untrue[eqn->ins[i].var->id];
        } else
            check_literal(t, eqn->ins[i].literal, i);
        env->ins[i] = type_of(env, eqn->ins[i]);
    }
    memset(env->outs, 0, sizeof *env->outs * (size_t)eqn->nouts);
    type_eqn(t);
    for (int i = 0; i < eqn->nouts; i++) {
        env->types[eqn->outs[i]->id] =
            env->outs[i] ? env->outs[i] : eqn->outs[i]->aval;
        env->resting[eqn->outs[i]->id] = t->resting;
        env->untrue[eqn->outs[i]->id] =
            t->refused && env->types[eqn->outs[i]->id] != eqn->outs[i]->aval;
    }
}

/* Of the equation just typed: a table of who is refused begins
 * with the first. */
static bool note_refusal(jx_typing *t, bool **refused)
{
    const jx_jaxpr *jaxpr = t->jaxpr;

    if (!t->refused)
        return true;
    if (!*refused)
        *refused = JX_NEW_ARRAY(jx_typing_ctx(t)->arena, jaxpr->neqns, bool);
    if (*refused)
        (*refused)[t->eqn - jaxpr->eqns] = true;
    return *refused != NULL;
}

static bool keep_result(jx_typing *t, const jx_jaxpr *jaxpr, const scope *env)
{
    jx_typed_jaxpr *kept = &t->typer->results[jaxpr->id];
    jx_arena *arena = jx_typing_ctx(t)->arena;

    kept->outs = JX_NEW_ARRAY(arena, jaxpr->nouts, const jx_aval *);
    kept->resting = JX_NEW_ARRAY(arena, jaxpr->nouts, bool);
    if (!kept->outs || !kept->resting)
        return false;
    for (int i = 0; i < jaxpr->nouts; i++) {
        jx_atom out = jaxpr->outs[i];
        kept->outs[i] = type_of(env, out);
        kept->resting[i] = out.var && env->resting[out.var->id];
        if (out.literal)
            check_literal(t, out.literal, i);
        kept->untrue |= out.var && env->untrue[out.var->id];
    }
    kept->untrue |= t->refused;
    return true;
}

static bool type_jaxpr(jx_typer *r, const jx_jaxpr *jaxpr)
{
    jx_typing t = {.to = r->to,
                   .program = r->program,
                   .typer = r,
                   .jaxpr = jaxpr,
                   .calls = r->chains[jaxpr->id]};
    scope env = {0};
    bool *refused = NULL;

    if (!open_scope(&t, jaxpr, &env))
        return false;
    for (int i = 0; i < jaxpr->nconsts + jaxpr->nins; i++) {
        env.types[i] = jaxpr->vars[i]->aval;
        jx_typing_look_at_sizes(&t, jaxpr->vars[i]->aval);
    }
    for (int i = 0; i < jaxpr->neqns && jx_ok(r->program->ctx); i++) {
        t.eqn = &jaxpr->eqns[i];
        type_in_scope(&t, &env);
        if (!note_refusal(&t, &refused))
            return false;
    }
    t.eqn = NULL;
    t.refused = false;
    r->looked[jaxpr->id].typed = true;
    r->looked[jaxpr->id].refused = refused;
    return keep_result(&t, jaxpr, &env);
}

/* -- how one gets to a jaxpr -------------------------------------------- */

typedef struct walk {
    jx_typer *r;
    JX_VEC(const jx_jaxpr *) queue; /* reached, in the order of meeting */
    const jx_jaxpr *jaxpr;          /* now */
    const jx_eqn *eqn;
    const jx_calls *chain; /* of what is nested in eqn, made when needed */
    bool rules;            /* follow rules, not jaxprs */
} walk;

static void reach(walk *w, const jx_jaxpr *nested)
{
    jx_arena *arena = w->r->program->ctx->arena;

    /* Equations of a program that was cut short (blame) carry rules whose
     * jaxprs are beyond its end. */
    if (!nested || nested->id >= w->r->program->njaxprs ||
        w->r->reached[nested->id])
        return;
    if (!w->chain && w->eqn) {
        jx_calls *chain = JX_NEW(arena, jx_calls);
        if (!chain)
            return;
        *chain = (jx_calls){w->r->chains[w->jaxpr->id], w->jaxpr, w->eqn};
        w->chain = chain;
    }
    w->r->reached[nested->id] = true;
    w->r->chains[nested->id] = w->chain;
    JX_PUSH(arena, &w->queue, nested);
}

static void reach_rule(walk *w, const jx_rule *rule)
{
    for (int i = 0; i < rule->npatterns; i++) {
        reach(w, rule->patterns[i].jvp.jaxpr);
        reach(w, rule->patterns[i].fwd.jaxpr);
        reach(w, rule->patterns[i].bwd.jaxpr);
    }
}

/* Parameter trees are only as deep as the reader lets them be. */
static void reach_value(walk *w, const jx_value *value)
{
    if (!value)
        return;
    if (value->tag == JX_V_JAXPR && !w->rules)
        reach(w, value->jaxpr);
    if (value->tag == JX_V_RULE && w->rules && value->rule)
        reach_rule(w, value->rule);
    for (int i = 0; i < value->count && value->items; i++)
        reach_value(w, value->items[i]);
}

static void reach_from(walk *w, const jx_jaxpr *jaxpr, bool rules)
{
    w->jaxpr = jaxpr;
    w->rules = rules;
    for (int i = 0; i < jaxpr->neqns; i++) {
        w->eqn = &jaxpr->eqns[i];
        w->chain = NULL;
        for (int k = 0; k < w->eqn->nparams; k++)
            reach_value(w, w->eqn->params[k].value);
    }
}

/* The first chain of calls to each jaxpr, breadth first; what only a rule
 * leads to comes after all that the program itself calls. */
static void find_chains(jx_typer *r)
{
    walk w = {.r = r};
    size_t next = 0, ruled = 0;

    reach(&w, r->program->entry.jaxpr);
    if (r->program->linear)
        reach(&w, r->program->linear->closed.jaxpr);
    while (ruled < w.queue.count) {
        if (next < w.queue.count) {
            r->looked[w.queue.at[next]->id].runs = ruled == 0;
            reach_from(&w, w.queue.at[next++], false);
        } else
            reach_from(&w, w.queue.at[ruled++], true);
    }
}

/* -- the program -------------------------------------------------------- */

/* Sizes of the entry's inputs are sizes of arrays that exist. */
static void assume_sizes(jx_typer *r)
{
    const jx_jaxpr *entry = r->program->entry.jaxpr;

    for (int i = 0; i < entry->nconsts + entry->nins; i++) {
        const jx_aval *aval = entry->vars[i]->aval;
        for (int k = 0; k < aval->rank; k++)
            if (jx_dim_is_symbolic(aval->shape[k]))
                jx_typing_is_new(r, JX_GOAL_GE, aval->shape[k], NULL);
    }
}

static void check_entry(jx_typer *r)
{
    jx_typing t = {.to = r->to,
                   .program = r->program,
                   .typer = r,
                   .jaxpr = r->program->entry.jaxpr,
                   .code = JX_CODE_SHP011};

    jx_type_closed(&t, &r->program->entry, "the program");
    if (t.refused)
        r->looked[r->program->entry.jaxpr->id].typed = false;
}

static bool carries(const jx_eqn *eqn, const jx_rule *rule)
{
    for (int i = 0; i < eqn->nparams; i++)
        if (eqn->params[i].value->rule == rule)
            return true;
    return false;
}

/* The call that carries a rule, from the chain to one of its jaxprs. */
static const jx_calls *call_of(jx_typer *r, const jx_rule *rule)
{
    for (int i = 0; i < rule->npatterns; i++) {
        const jx_rule_pattern *p = &rule->patterns[i];
        const jx_jaxpr *own = p->jvp.jaxpr ? p->jvp.jaxpr : p->fwd.jaxpr;
        const jx_calls *chain = own ? r->chains[own->id] : NULL;
        if (chain && carries(chain->eqn, rule))
            return chain;
    }
    return NULL;
}

/* Of what a document leaves out of a rule no type is known.  (Beyond a depth it
 * leaves out whole rules, and says so by having no jaxpr of them.) */
static void assume_left_out(jx_typer *r)
{
    jx_typing t = {.to = r->to, .program = r->program, .typer = r};
    int count = 0;

    for (int i = 0; i < r->program->nrules; i++) {
        const char *why = r->program->rules[i]->truncated;
        count += why && strcmp(why, "depth") != 0;
    }
    if (count)
        jx_assume(&t,
                  "%d custom derivative rule%s right where the document leaves "
                  "out their code",
                  count, count == 1 ? " is" : "s are");
}

static void check_rules(jx_typer *r)
{
    assume_left_out(r);
    for (int i = 0; i < r->program->nrules; i++) {
        const jx_rule *rule = r->program->rules[i];
        jx_typing t = {.to = r->to,
                       .program = r->program,
                       .typer = r,
                       .stack = rule->stack,
                       .code = JX_CODE_DRV004};
        const jx_calls *call = call_of(r, rule);
        if (call) {
            t.jaxpr = call->jaxpr;
            t.eqn = call->eqn;
            t.calls = call->outer;
        }
        jx_type_custom_rule(&t, rule);
    }
}

static void claim_unknowns(jx_typer *r)
{
    jx_arena *arena = r->program->ctx->arena;

    for (size_t i = 0; i < r->to->unknowns.count; i++) {
        const jx_unknown *unknown = &r->to->unknowns.at[i];
        jx_claim *made =
            jx_claim_add(r->program->ctx, &r->to->claims, JX_CODE_PRM001);
        if (!made)
            return;
        made->jaxpr = unknown->jaxpr;
        made->eqn = unknown->eqn;
        made->calls = unknown->calls;
        made->what = jx_arena_printf(arena, "%s, %lld equation%s",
                                     unknown->name, (long long)unknown->count,
                                     unknown->count == 1 ? "" : "s");
        made->evidence.why =
            unknown->eqn->refused
                ? jx_arena_printf(
                      arena, "unknown primitive; JAX does not lower it: %s",
                      unknown->eqn->refused)
                : "unknown primitive";
        const char *assumption = jx_arena_printf(
            arena, "the results of %s have their declared types",
            unknown->name);
        JX_PUSH(arena, &r->to->assumptions, assumption);
    }
}

jx_analysis *jx_analysis_new(jx_program *program)
{
    jx_analysis *made = JX_NEW(program->ctx->arena, jx_analysis);

    if (made)
        made->program = program;
    return made;
}

static bool start(jx_typer *r)
{
    jx_arena *arena = r->program->ctx->arena;
    int count = r->program->njaxprs;

    r->results = JX_NEW_ARRAY(arena, count, jx_typed_jaxpr);
    r->looked = JX_NEW_ARRAY(arena, count, jx_looked_at);
    r->chains = JX_NEW_ARRAY(arena, count, const jx_calls *);
    r->reached = JX_NEW_ARRAY(arena, count, bool);
    r->meant = jx_program_meant(r->program);
    jx_intern_init(&r->conditions, arena);
    jx_map_init(&r->divisors, arena);
    jx_intern_init(&r->unknowns, arena);
    return r->results && r->looked && r->chains && r->reached && r->meant;
}

/* How many jaxprs are the program's own: those of retraces come last, and what
 * is said of them is said of the comparison. */
static int own_jaxprs(const jx_typer *r)
{
    const jx_program *p = r->program;
    int most = p->entry.jaxpr->id;

    if (!p->nretraces)
        return p->njaxprs;
    for (int i = 0; i < p->njaxprs; i++)
        if (r->reached[i] && i > most)
            most = i;
    for (int i = 0; i < p->nrules; i++)
        if (p->rules[i]->primal.jaxpr->id > most)
            most = p->rules[i]->primal.jaxpr->id;
    return most + 1;
}

bool jx_type_program(jx_analysis *to)
{
    jx_typer r = {.to = to, .program = to->program};

    jx_ctx_stage(to->program->ctx, "typing");
    if (!start(&r))
        return jx_ok(to->program->ctx);
    find_chains(&r);
    assume_sizes(&r);
    for (int i = 0, n = own_jaxprs(&r); i < n; i++)
        if (r.meant[i] && !type_jaxpr(&r, to->program->jaxprs[i]))
            return jx_ok(to->program->ctx);
    check_entry(&r);
    to->typed = (jx_typed){to->program, r.looked, r.refusal};
    check_rules(&r);
    claim_unknowns(&r);
    return jx_ok(to->program->ctx);
}

jx_analysis *jx_typed_analysis(jx_program *program)
{
    jx_analysis *analysis = program ? jx_analysis_new(program) : NULL;

    return analysis && jx_type_program(analysis) ? analysis : NULL;
}

const jx_typed *jx_typed_of(jx_program *program)
{
    const jx_analysis *analysis = jx_typed_analysis(program);

    return analysis ? &analysis->typed : NULL;
}
