/* defined.c - see defined.h. */
#include "analyzer/transform/defined.h"

static jx_ctx *ctx_of(const jx_making *m)
{
    return m->to->ctx;
}

/* ---- patterns */

static const char *why_none(jx_making *m, const jx_definition *of,
                            jx_definition_kind kind,
                            const jx_definition_pattern *p)
{
    static const char *const names[] = {"differentiation", "transpose",
                                        "batching"};
    jx_arena *arena = jx_making_arena(m);

    if (of->missing[kind])
        return jx_arena_printf(
            arena, "%s (PRM002)",
            jx_missing_rule(ctx_of(m), kind, of->name, NULL));
    if (p)
        return jx_arena_printf(arena, "its %s rule raised %s (PRM002)",
                               names[kind], p->error);
    return jx_arena_printf(
        arena,
        "its %s rule is not in the program for these operands%s%s "
        "(PRM002)",
        names[kind], of->truncated ? ": " : "",
        of->truncated ? of->truncated : "");
}

const jx_definition_pattern *jx_defined_pattern(jx_making *m, const jx_eqn *eqn,
                                                jx_definition_kind kind,
                                                const char *mask,
                                                const char *zeros)
{
    const jx_definition *of = jx_eqn_definition(eqn);
    const jx_definition_pattern *found = NULL;

    if (of->nins != eqn->nins || of->nouts != eqn->nouts) {
        jx_making_fail(
            m, "its rules are for another number of operands or results");
        return NULL;
    }
    if (!of->missing[kind] && mask)
        found = jx_definition_find(of, kind, mask, zeros);
    if (found && !found->error)
        return found;
    jx_making_fail(m, why_none(m, of, kind, found));
    return NULL;
}

/* ---- calls */

jx_atom jx_defined_as(jx_making *m, jx_body *b, jx_atom made,
                      const jx_aval *aval)
{
    const jx_aval *its = jx_is_made(made) ? jx_atom_aval(made) : NULL;
    bool same = its && jx_aval_same_kind(its, aval);

    for (int i = 0; same && i < aval->rank; i++)
        same = its->shape[i] == aval->shape[i];
    if (its && !same)
        jx_making_fail(m, "its rule is of other types than the equation");
    if (!same)
        return (jx_atom){NULL, NULL};
    return its->weak == aval->weak
               ? made
               : jx_build_convert(b, made, aval->dtype, aval->weak);
}

const jx_atom *jx_defined_call(jx_making *m, jx_body *b, const jx_eqn *eqn,
                               const jx_definition_pattern *p, int nins,
                               const jx_atom *ins)
{
    const jx_jaxpr *jaxpr = p->made.jaxpr;
    jx_atom *fit = JX_NEW_ARRAY(jx_making_arena(m), nins + 1, jx_atom);
    const jx_aval **formals =
        JX_NEW_ARRAY(jx_making_arena(m), 2 * nins + 2, const jx_aval *);
    const jx_aval **avals = formals ? formals + nins + 1 : NULL;
    jx_params params = {.program = m->to};
    jx_bound bound;

    if (jaxpr->nins != nins) {
        jx_making_fail(m, "its rule takes another number of operands");
        return NULL;
    }
    if (!fit || !formals)
        return NULL;
    for (int i = 0; i < nins; i++) {
        formals[i] = jaxpr->vars[jaxpr->nconsts + i]->aval;
        avals[i] = jx_atom_aval(ins[i]);
    }
    if (!jx_bind_sizes(m->to, nins, formals, avals, &bound)) {
        jx_making_fail(m, "its rule takes operands of other types");
        return NULL;
    }
    if (bound.moves)
        jaxpr = jx_instantiated(m, jaxpr, &bound);
    for (int i = 0; jaxpr && i < nins; i++) {
        fit[i] =
            jx_defined_as(m, b, ins[i], jaxpr->vars[jaxpr->nconsts + i]->aval);
        if (!jx_is_made(fit[i]))
            return NULL;
    }
    if (!jaxpr)
        return NULL;
    jx_put_text(&params, "name", jx_eqn_name(eqn));
    jx_put(&params, "jaxpr", jx_making_closed(m, jaxpr, &p->made));
    return jx_build_all(b, jx_prim_of(JX_PRIM_jit), &params, nins, fit,
                        jaxpr->nouts);
}
