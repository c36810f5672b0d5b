/* infer.c - runs the rule of one equation; see infer.h. */
#include "analyzer/infer.h"

#include "analyzer/typing_parts.h"

struct jx_inferrer {
    jx_analysis analysis; /* where rules count, and assume; nobody reads it */
    jx_typer typer;
    int room;
    const jx_var **outs; /* of one equation, so many at most */
};

/* The counts of the table, and arrays where arrays belong. */
static bool is_callable(jx_typing *t, jx_type_rule *rule)
{
    const jx_prim *prim = t->eqn->prim;

    if (!jx_type_counts(t, prim->nins, prim->nouts))
        return false;
    for (int i = 0; i < t->nins && !jx_type_rule_takes_any(rule); i++)
        if (t->ins[i]->kind != JX_AVAL_ARRAY)
            return jx_type_wrong(t, "operand %d is no array", i);
    for (int i = 0; i < t->nins; i++)
        if (t->ins[i]->rank > JX_MOST_AXES)
            return jx_type_wrong(t, "operand %d has %d axes, more than %d", i,
                                 t->ins[i]->rank, JX_MOST_AXES);
    unsigned kinds = jx_prim_takes(prim->id);
    for (int i = 0; kinds && i < t->nins; i++)
        if (!jx_type_takes(t, i, kinds))
            return false;
    return true;
}

/* Whether some operand or result is of a type that nothing is known
 * of: an array of a dtype that a library made is one, and any rule may
 * be meant for it. */
static bool has_unknown_type(const jx_typing *t)
{
    bool found = false;

    for (int i = 0; i < t->nins; i++)
        found |= t->ins[i]->kind == JX_AVAL_OTHER;
    for (int i = 0; i < t->nouts && t->eqn->outs; i++)
        found |= t->eqn->outs[i]->aval->kind == JX_AVAL_OTHER;
    return found;
}

bool jx_typing_run_rule(jx_typing *t)
{
    jx_type_rule *rule = jx_type_rule_of(t->eqn->prim->id);
    bool known = rule && t->eqn->typed;

    t->code = JX_CODE_SHP010;
    t->wrong = false;
    if (known && !jx_type_rule_takes_any(rule) && has_unknown_type(t)) {
        known = false;
        t->refused = true; /* nobody is to look into it */
    }
    if (!known) {
        jx_type_unknown(t, t->eqn->prim->name);
        return false;
    }
    t->params = t->eqn->typed;
    if (is_callable(t, rule))
        rule(t);
    return true;
}

jx_inferrer *jx_inferrer_new(jx_program *program)
{
    jx_inferrer *in = JX_NEW(program->ctx->arena, jx_inferrer);

    if (in) {
        in->analysis.program = program;
        in->typer = (jx_typer){
            .to = &in->analysis, .program = program, .claims_nothing = true};
        jx_map_init(&in->typer.callees, program->ctx->arena);
    }
    return in;
}

void jx_inferrer_tell(jx_inferrer *in, jx_infer_equal *tell, void *whom)
{
    in->typer.tell = tell;
    in->typer.whom = whom;
}

/* ---- results */

/* What stands for results while a rule is asked: no rule is to give what
 * somebody declared, but for a type that nobody knows. */
static const jx_aval undeclared_type = {.kind = JX_AVAL_ARRAY};
static const jx_var undeclared = {.aval = &undeclared_type};

static bool undeclare(jx_inferrer *in, const jx_eqn *eqn)
{
    if (eqn->nouts > in->room) {
        in->outs = JX_NEW_ARRAY(in->typer.program->ctx->arena, eqn->nouts,
                                const jx_var *);
        in->room = in->outs ? eqn->nouts : 0;
    }
    for (int i = 0; in->outs && i < eqn->nouts; i++)
        in->outs[i] = eqn->outs && eqn->outs[i]->aval->kind == JX_AVAL_OTHER
                          ? eqn->outs[i]
                          : &undeclared;
    return in->room >= eqn->nouts;
}

/* Whether all results are known; those that are not are NULL. */
static bool knows_all(int nouts, const jx_aval **outs)
{
    bool all = true;

    for (int i = 0; i < nouts; i++) {
        if (outs[i] == &undeclared_type)
            outs[i] = NULL;
        all &= outs[i] != NULL;
    }
    return all;
}

jx_inferred jx_infer_equation(jx_inferrer *in, const jx_eqn *eqn,
                              const jx_aval *const *ins, const jx_aval **outs,
                              const char **why)
{
    jx_eqn asked = *eqn;
    jx_typing t = {.to = &in->analysis,
                   .program = in->typer.program,
                   .typer = &in->typer,
                   .eqn = &asked,
                   .nins = eqn->nins,
                   .nouts = eqn->nouts,
                   .ins = ins,
                   .outs = outs};

    *why = in->typer.why = NULL;
    for (int i = 0; i < eqn->nouts; i++)
        outs[i] = NULL;
    if (!undeclare(in, eqn))
        return JX_INFER_NOTHING;
    for (int i = 0; i < eqn->nparams; i++)
        if (!jx_typing_meet_callees(&in->typer, eqn->params[i].value))
            return JX_INFER_NOTHING;
    asked.outs = in->outs;
    bool known = jx_typing_run_rule(&t);
    bool all = knows_all(eqn->nouts, outs);
    if (known && (t.wrong || t.refused)) {
        *why = in->typer.why;
        return JX_INFER_REFUSED;
    }
    return known && all && !t.resting ? JX_INFER_TYPES : JX_INFER_NOTHING;
}

bool jx_infer_results(void *inferrer, const jx_eqn *eqn,
                      const jx_aval *const *ins, const jx_aval **outs,
                      const char **why)
{
    jx_inferrer *in = inferrer;
    jx_inferred found = jx_infer_equation(in, eqn, ins, outs, why);

    if (found == JX_INFER_NOTHING)
        *why = jx_arena_printf(in->typer.program->ctx->arena,
                               "nobody knows the types of its results");
    if (*why)
        *why = jx_arena_printf(in->typer.program->ctx->arena, "%s: %s",
                               eqn->prim->name, *why);
    return found == JX_INFER_TYPES;
}

void jx_infer_reading(void **state, jx_program *program, const jx_eqn *eqn,
                      const jx_aval **outs, jx_infer_equal *tell, void *whom)
{
    jx_inferrer *in = *state ? *state : (*state = jx_inferrer_new(program));
    const jx_aval **ins =
        JX_NEW_ARRAY(program->ctx->arena, eqn->nins, const jx_aval *);
    jx_inferred found = JX_INFER_REFUSED;
    const char *why;

    if (in && ins) {
        for (int i = 0; i < eqn->nins; i++)
            ins[i] = jx_atom_aval(eqn->ins[i]);
        jx_inferrer_tell(in, tell, whom);
        found = jx_infer_equation(in, eqn, ins, outs, &why);
    }
    for (int i = 0; i < eqn->nouts && found == JX_INFER_REFUSED; i++)
        outs[i] = NULL;
}
