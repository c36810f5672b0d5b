/* making.c - see making.h. */
#include "analyzer/transform/making.h"

#include "analyzer/infer.h"
#include "frontend/base/assert.h"
#include "frontend/ir/effects.h"

static bool fail(jx_body *b, const char *why)
{
    return jx_making_fail((jx_making *)(void *)b->in, why);
}

static const char *place_of(const jx_making *m)
{
    const jx_frame *frame = m->eqn ? jx_user_frame(m->eqn->stack) : NULL;

    return frame ? jx_arena_printf(jx_making_arena(m), "%s:%d:%d",
                                   frame->file->path, frame->line,
                                   frame->column + 1)
                 : NULL;
}

bool jx_making_fail(jx_making *m, const char *why)
{
    m->failed = m->eqn;
    return jx_fail(m->to->ctx, JX_E_INPUT, m->to->path, place_of(m), "%s%s%s",
                   m->eqn ? jx_eqn_name(m->eqn) : "", m->eqn ? ": " : "", why);
}

bool jx_making_begin(jx_making *m, jx_program *from)
{
    jx_arena *arena = from->ctx->arena;

    *m = (jx_making){.to = jx_arena_copy(arena, from, sizeof *from)};
    if (!m->to || !jx_intern_copy(&m->to->avals.table, &from->avals.table) ||
        !jx_intern_copy(&m->to->values.table, &from->values.table))
        return false;
    m->build = (jx_builder){.program = m->to,
                            .fail = fail,
                            .infer = jx_infer_results,
                            .with = jx_inferrer_new(m->to)};
    for (int i = 0; i < from->njaxprs; i++)
        JX_PUSH(arena, &m->build.jaxprs, from->jaxprs[i]);
    m->to->nretraces = m->to->ncomparisons = m->to->nclosures = 0;
    m->to->written = NULL;
    m->to->linear = NULL;
    m->to->blackbox = NULL;
    return m->build.with != NULL;
}

jx_program *jx_making_end(jx_making *m, const jx_jaxpr *entry)
{
    m->to->entry.jaxpr = entry;
    m->to->jaxprs = m->build.jaxprs.at;
    m->to->njaxprs = (int)m->build.jaxprs.count;
    return entry && jx_ok(m->to->ctx) ? m->to : NULL;
}

const jx_jaxpr *jx_making_named(jx_making *m, const jx_jaxpr *made,
                                const jx_jaxpr *like)
{
    jx_arena *arena = jx_making_arena(m);
    jx_jaxpr *to = made && like->arg_names
                       ? jx_arena_copy(arena, made, sizeof *made)
                       : NULL;
    const char **names =
        to ? JX_NEW_ARRAY(arena, made->nins + 1, const char *) : NULL;

    JX_ASSERT(!made || made->nins >= like->nins);
    if (!names)
        return made;
    for (int i = 0; i < made->nins; i++)
        names[i] =
            i < like->nins && like->arg_names[i] ? like->arg_names[i] : "";
    to->arg_names = names;
    m->build.jaxprs.at[made->id] = to;
    return to;
}

const jx_value *jx_making_closed(jx_making *m, const jx_jaxpr *jaxpr,
                                 const jx_closed *like)
{
    jx_program *program = m->to;
    const jx_value **consts =
        JX_NEW_ARRAY(jx_making_arena(m), like->nconsts + 1, const jx_value *);

    for (int i = 0; consts && i < like->nconsts; i++)
        consts[i] = jx_value_add(
            &program->values,
            &(jx_value){.tag = JX_V_CONST, .array = like->consts[i]});
    return jaxpr && consts ? jx_value_add(&program->values,
                                          &(jx_value){.tag = JX_V_JAXPR,
                                                      .jaxpr = jaxpr,
                                                      .count = like->nconsts,
                                                      .items = consts})
                           : NULL;
}

jx_closed jx_making_closed_like(const jx_jaxpr *jaxpr, const jx_closed *like)
{
    return (jx_closed){jaxpr, like->nconsts, like->consts};
}

jx_rule *jx_making_rule(jx_making *m, const jx_value *like,
                        const jx_value **value)
{
    jx_program *program = m->to;
    jx_rule *rule =
        jx_arena_copy(jx_making_arena(m), like->rule, sizeof *like->rule);
    const jx_rule **all =
        JX_NEW_ARRAY(jx_making_arena(m), program->nrules + 1, const jx_rule *);

    if (!rule || !all)
        return NULL;
    for (int i = 0; i < program->nrules; i++)
        all[i] = program->rules[i];
    rule->id = program->nrules;
    /* it would have to be changed in the same way */
    if (rule->surrogate.jaxpr) {
        rule->intent = JX_INTENT_NONE;
        rule->surrogate = (jx_closed){0};
    }
    all[program->nrules++] = rule;
    program->rules = all;
    *value = jx_value_add(
        &program->values,
        &(jx_value){.tag = JX_V_RULE, .rule = rule, .text = like->text});
    return *value ? rule : NULL;
}

const bool *jx_making_mask(const jx_making *m, int n, const bool *mask)
{
    bool *to = mask ? JX_NEW_ARRAY(jx_making_arena(m), n + 1, bool) : NULL;

    for (int i = 0; to && i < n; i++)
        to[i] = mask[i];
    return to;
}

bool jx_same_masks(int n, const bool *a, const bool *c)
{
    for (int i = 0; i < n; i++)
        if ((a && a[i]) != (c && c[i]))
            return false;
    return true;
}

/* ---- inlining */

static void need(bool *needed, jx_atom atom)
{
    if (atom.var)
        needed[atom.var->id] = true;
}

/* By variable: whether a result that is wanted, or an effect, takes it. */
static bool *needed_of(const jx_making *m, const jx_jaxpr *from,
                       const bool *wanted)
{
    bool *needed = JX_NEW_ARRAY(jx_making_arena(m), from->nvars + 1, bool);

    for (int i = 0; needed && i < from->nouts; i++)
        if (!wanted || wanted[i])
            need(needed, from->outs[i]);
    for (int i = from->neqns - 1; needed && i >= 0; i--) {
        const jx_eqn *eqn = &from->eqns[i];
        bool any = jx_eqn_acts(eqn);
        for (int k = 0; k < eqn->nouts; k++)
            any |= needed[eqn->outs[k]->id];
        for (int k = 0; any && k < eqn->nins; k++)
            need(needed, eqn->ins[k]);
    }
    return needed;
}

static bool add_eqn(jx_making *m, jx_body *b, const jx_eqn *eqn, jx_atom *now)
{
    jx_atom *ins = JX_NEW_ARRAY(jx_making_arena(m), eqn->nins + 1, jx_atom);
    const jx_atom *made;

    for (int i = 0; ins && i < eqn->nins; i++)
        ins[i] = eqn->ins[i].var ? now[eqn->ins[i].var->id] : eqn->ins[i];
    b->place = (jx_place){eqn->stack, eqn->name_stack, eqn->ctx};
    made = ins ? jx_build_like(b, eqn, ins, NULL, NULL) : NULL;
    b->place = (jx_place){0};
    for (int i = 0; made && i < eqn->nouts; i++)
        now[eqn->outs[i]->id] = made[i];
    return made != NULL;
}

bool jx_making_inline(jx_making *m, jx_body *b, const jx_jaxpr *from,
                      const jx_atom *consts, const jx_atom *ins,
                      const bool *wanted, jx_atom *outs)
{
    jx_atom *now = JX_NEW_ARRAY(jx_making_arena(m), from->nvars + 1, jx_atom);
    const bool *needed = needed_of(m, from, wanted);

    if (!now || !needed)
        return false;
    jx_body_reserve(b, from->neqns);
    for (int i = 0; i < from->nconsts; i++)
        now[i] = consts[i];
    for (int i = 0; i < from->nins; i++)
        now[from->nconsts + i] = ins[i];
    for (int i = 0; i < from->neqns; i++) {
        const jx_eqn *eqn = &from->eqns[i];
        bool any = jx_eqn_acts(eqn);
        for (int k = 0; k < eqn->nouts; k++)
            any |= needed[eqn->outs[k]->id];
        if (any && !add_eqn(m, b, eqn, now))
            return false;
    }
    for (int i = 0; i < from->nouts; i++)
        if (!wanted || wanted[i])
            outs[i] =
                from->outs[i].var ? now[from->outs[i].var->id] : from->outs[i];
    return jx_ok(m->to->ctx);
}

bool jx_making_enclose(jx_making *m, jx_body *b, const jx_jaxpr *from,
                       const jx_atom *ins, jx_atom *outs)
{
    jx_atom *consts =
        JX_NEW_ARRAY(jx_making_arena(m), from->nconsts + 1, jx_atom);

    for (int i = 0; consts && i < from->nconsts; i++)
        consts[i] = jx_body_const(b, from->vars[i]->aval);
    return consts && jx_making_inline(m, b, from, consts, ins, NULL, outs);
}
