/* lost_maps.c - see lost_parts.h. */
#include "runtime/witness/lost_parts.h"

#include "frontend/ir/params.h"
#include "runtime/plan_pairs.h"

#include <string.h>

/* It gives its operands' elements: nothing is lost there. */
static bool is_passed_by(const jx_lost_maps *m, const jx_eqn *eqn)
{
    return jx_eqn_moves(eqn) && !jx_eqn_rounds(m->origins, eqn);
}

static bool note_eqn(jx_lost_maps *m, const jx_eqn *eqn)
{
    bool *lost = JX_NEW_ARRAY(m->arena, eqn->nouts + 1, bool);

    if (!lost)
        return false;
    jx_map_put(&m->lost, eqn, lost);
    JX_PUSH(m->arena, &m->tracks.all, ((jx_tracked){eqn, lost}));
    if (jx_eqn_rounds(m->origins, eqn))
        jx_map_add(&m->rounds, eqn);
    if (is_passed_by(m, eqn))
        jx_map_add(&m->passed, eqn);
    for (int i = 0; i < eqn->nouts; i++) {
        jx_dtype dtype = jx_dtype_real(eqn->outs[i]->aval->dtype);
        m->complex |= jx_dtype_is_complex(eqn->outs[i]->aval->dtype);
        m->pairs |= dtype == JX_F64;
        if (jx_dtype_is_float(dtype) &&
            (!m->narrowest || jx_dtype_is_narrower(dtype, m->narrowest)))
            m->narrowest = dtype;
    }
    return true;
}

static bool note_all(jx_lost_maps *m, const jx_jaxpr *jaxpr)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        if (!note_eqn(m, &jaxpr->eqns[i]))
            return false;
        for (int k = 0; k < jx_bodies_of(&jaxpr->eqns[i]); k++)
            if (!note_all(m, jx_body_of(&jaxpr->eqns[i], k)->jaxpr))
                return false;
    }
    return true;
}

/* A walk back to the equations that make a value, through bodies. */
typedef struct walk {
    jx_lost_maps *m;
    jx_map seen;
    JX_VEC(jx_atom) left;
    JX_VEC(const bool *) found;
} walk;

static void go_to(walk *w, jx_atom atom)
{
    if (atom.var && jx_map_add(&w->seen, atom.var))
        JX_PUSH(w->m->arena, &w->left, atom);
}

static void go_behind(walk *w, const jx_origin *origin)
{
    const jx_eqn *eqn = origin->eqn, *owner = origin->owner;
    const bool *lost = eqn ? jx_map_get(&w->m->lost, eqn) : NULL;
    int result = origin->number;

    for (int i = 0; eqn && jx_map_has(&w->m->passed, eqn) && i < eqn->nins; i++)
        go_to(w, eqn->ins[i]);
    if (eqn && lost && !jx_bodies_of(eqn) && !jx_map_has(&w->m->passed, eqn))
        JX_PUSH(w->m->arena, &w->found, lost + origin->number);
    for (int k = 0; eqn && k < jx_bodies_of(eqn); k++) {
        const jx_jaxpr *body = jx_body_of(eqn, k)->jaxpr;
        if (body && result < body->nouts)
            go_to(w, body->outs[result]);
    }
    if (eqn || !owner)
        return;
    go_to(w, origin->given);
    if (!origin->carried)
        return;
    result -= (int)(owner->prim->id == JX_PRIM_scan
                        ? ((const jx_p_scan *)owner->typed)->num_consts
                        : ((const jx_p_while *)owner->typed)->body_nconsts);
    if (result >= 0 && result < origin->jaxpr->nouts)
        go_to(w, origin->jaxpr->outs[result]);
}

static bool note_sources(jx_lost_maps *m, const jx_var *var)
{
    jx_sources_of_value *to = JX_NEW(m->arena, jx_sources_of_value);
    walk w = {.m = m};

    if (!to)
        return false;
    jx_map_init(&w.seen, m->arena);
    go_to(&w, (jx_atom){.var = var});
    while (w.left.count) {
        const jx_origin *origin =
            jx_origin_of(m->origins, w.left.at[--w.left.count]);
        if (origin)
            go_behind(&w, origin);
    }
    *to = (jx_sources_of_value){(int)w.found.count, w.found.at};
    return jx_map_put(&m->sources, var, to);
}

static bool note_all_sources(jx_lost_maps *m, const jx_jaxpr *jaxpr)
{
    for (int i = 0; jaxpr && i < jaxpr->nvars; i++)
        if (jx_dtype_is_inexact(jaxpr->vars[i]->aval->dtype) &&
            !note_sources(m, jaxpr->vars[i]))
            return false;
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++)
        for (int k = 0; k < jx_bodies_of(&jaxpr->eqns[i]); k++)
            if (!note_all_sources(m, jx_body_of(&jaxpr->eqns[i], k)->jaxpr))
                return false;
    return true;
}

static bool any_rounds(const jx_jaxpr *jaxpr)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        if (jx_pairs_round(&jaxpr->eqns[i]))
            return true;
        for (int k = 0; k < jx_bodies_of(&jaxpr->eqns[i]); k++)
            if (any_rounds(jx_body_of(&jaxpr->eqns[i], k)->jaxpr))
                return true;
    }
    return false;
}

/* Marks what is made of what is computed in double: of a loop or branch
 * all or nothing. */
static void note_unsure(jx_lost_maps *m, const jx_jaxpr *jaxpr, bool all,
                        jx_map *vars)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool unsure = all || jx_pairs_round(eqn);
        for (int k = 0; k < eqn->nins; k++)
            unsure |= eqn->ins[k].var && jx_map_has(vars, eqn->ins[k].var);
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            unsure |= any_rounds(jx_body_of(eqn, k)->jaxpr);
        if (!unsure)
            continue;
        jx_map_add(&m->unsure, eqn);
        for (int k = 0; k < eqn->nouts; k++)
            jx_map_add(vars, eqn->outs[k]);
        for (int k = 0; k < jx_bodies_of(eqn); k++)
            note_unsure(m, jx_body_of(eqn, k)->jaxpr, true, vars);
    }
}

static bool note_all_unsure(jx_lost_maps *m, const jx_jaxpr *entry)
{
    jx_map vars;

    jx_map_init(&m->unsure, m->arena);
    jx_map_init(&vars, m->arena);
    m->unsure_outs = JX_NEW_ARRAY(m->arena, entry->nouts + 1, bool);
    if (!m->unsure_outs)
        return false;
    note_unsure(m, entry, false, &vars);
    for (int i = 0; i < entry->nouts; i++)
        m->unsure_outs[i] =
            entry->outs[i].var && jx_map_has(&vars, entry->outs[i].var);
    return true;
}

bool jx_lost_maps_make(jx_lost_maps *to, const jx_jaxpr *entry)
{
    jx_map_init(&to->rounds, to->arena);
    jx_map_init(&to->passed, to->arena);
    jx_map_init(&to->lost, to->arena);
    jx_map_init(&to->sources, to->arena);
    to->tracks.arena = to->arena;
    if (!note_all(to, entry) || !note_all_sources(to, entry) ||
        !note_all_unsure(to, entry))
        return false;
    to->pairs &= !to->complex;
    return !jx_arena_failed(to->arena);
}

void jx_lost_maps_close(jx_lost_maps *m, const jx_jaxpr *jaxpr)
{
    for (int i = 0; jaxpr && i < jaxpr->neqns; i++) {
        const jx_eqn *eqn = &jaxpr->eqns[i];
        bool *lost = (bool *)(uintptr_t)jx_map_get(&m->lost, eqn);
        for (int k = 0; k < jx_bodies_of(eqn); k++) {
            jx_lost_maps_close(m, jx_body_of(eqn, k)->jaxpr);
        }
        bool is_given = jx_bodies_of(eqn) || jx_map_has(&m->passed, eqn);
        for (int n = 0; lost && is_given && n < eqn->nouts; n++) {
            const jx_sources_of_value *of =
                jx_map_get(&m->sources, eqn->outs[n]);
            for (int k = 0; of && k < of->count; k++)
                lost[n] |= *of->lost[k];
        }
    }
}
