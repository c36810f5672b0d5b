/* vjp.c - see vjp.h. */
#include "analyzer/transform/vjp.h"

#include "analyzer/transform/jvp.h"
#include "analyzer/transform/split.h"
#include "analyzer/transform/transpose.h"

/* The derivative on its way. */
typedef struct backward {
    jx_making *make;
    const jx_jaxpr *forward;  /* of inputs and tangents: outputs and tangents */
    int nins, nouts;          /* of the program itself */
    const jx_split *split;
    const jx_transposed *back; /* of residuals, inputs and cotangents: cotangents */
} backward;

static bool *mask_from(const backward *v, int first, int n)
{
    bool *mask = JX_NEW_ARRAY(jx_making_arena(v->make), n + 1, bool);

    for (int i = first; mask && i < n; i++)
        mask[i] = true;
    return mask;
}

static bool take_apart(backward *v)
{
    jx_splitter splitter;
    jx_transposer transposer;
    const bool *ins = mask_from(v, v->nins, v->forward->nins);
    const bool *outs = mask_from(v, v->nouts, v->forward->nouts), *linear, *all;

    jx_splitter_begin(&splitter, v->make);
    jx_transposer_begin(&transposer, v->make);
    v->split = ins && outs ? jx_split_jaxpr(&splitter, v->forward, ins, outs, NULL) : NULL;
    if (!v->split)
        return false;
    linear = mask_from(v, v->split->nres + v->split->npassed, v->split->rest->nins);
    all = mask_from(v, 0, v->split->rest->nouts);
    v->back = linear && all
                  ? jx_transpose_jaxpr(&transposer, v->split->rest, linear, all, linear)
                  : NULL;
    return v->back != NULL;
}

static const jx_jaxpr *put_together(backward *v)
{
    const jx_jaxpr *known = v->split->known, *back = v->back->jaxpr, *forward = v->forward;
    int nres = v->split->nres, n = known->nouts, next = 0;
    const bool *needed = mask_from(v, n - nres, n);
    jx_body *b = jx_body_new(&v->make->build, NULL);
    jx_atom *all = JX_NEW_ARRAY(
        jx_making_arena(v->make),
        forward->nconsts + v->nins + n + back->nins + back->nouts + 1, jx_atom);
    jx_atom *ins = all ? all + forward->nconsts : NULL, *outs = all ? ins + v->nins : NULL;
    jx_atom *to = all ? outs + n : NULL, *made = all ? to + back->nins : NULL;

    if (!needed || !b || !all)
        return NULL;
    for (int i = 0; i < forward->nconsts; i++)
        all[i] = jx_body_const(b, forward->vars[i]->aval);
    for (int i = 0; i < v->nins; i++)
        ins[i] = jx_body_input(b, forward->vars[forward->nconsts + i]->aval);
    for (int i = nres + v->split->npassed; i < back->nins; i++)
        to[i] = jx_body_input(b, back->vars[back->nconsts + i]->aval);
    if (!jx_making_inline(v->make, b, known, all, ins, needed, outs))
        return NULL;
    for (int i = 0; i < nres; i++)
        to[next++] = outs[n - nres + i];
    for (int i = 0; i < v->split->npassed; i++)
        to[next++] = ins[v->split->passed[i]];
    if (!jx_making_inline(v->make, b, back, all, to, NULL, made))
        return NULL;
    for (int i = 0; i < back->nouts; i++)
        jx_body_result(b, made[i]);
    return jx_body_finish(b, jx_no_atoms, forward->function);
}

/* Inputs, then what stands for the outputs that have a cotangent; and these of inputs. */
static void name_paths(backward *v, const jx_program *from)
{
    jx_arena *arena = jx_making_arena(v->make);
    const jx_jaxpr *entry = from->entry.jaxpr;
    const char **ins = JX_NEW_ARRAY(arena, entry->nins + entry->nouts + 1, const char *);
    const char **outs = JX_NEW_ARRAY(arena, entry->nins + 1, const char *);
    int nins = entry->nins, nouts = 0;

    if (!ins || !outs || !from->in_paths || !from->out_paths) {
        v->make->to->in_paths = v->make->to->out_paths = NULL;
        return;
    }
    for (int i = 0; i < entry->nins; i++) {
        ins[i] = from->in_paths[i];
        if (jx_has_tangent(entry->vars[entry->nconsts + i]->aval))
            outs[nouts++] = jx_arena_printf(arena, "cotangent of %s", from->in_paths[i]);
    }
    for (int i = 0; i < entry->nouts; i++)
        if (jx_has_tangent(jx_atom_aval(entry->outs[i])))
            ins[nins++] = jx_arena_printf(arena, "cotangent of %s", from->out_paths[i]);
    v->make->to->in_paths = ins;
    v->make->to->out_paths = outs;
}

const jx_jaxpr *jx_vjp_of_jvp(jx_making *make, const jx_jaxpr *forward, int nins,
                              int nouts)
{
    backward v = {.make = make, .forward = forward, .nins = nins, .nouts = nouts};

    return take_apart(&v) ? put_together(&v) : NULL;
}

jx_program *jx_program_vjp(const jx_typed *typed)
{
    jx_program *forward = jx_program_jvp(typed);
    jx_making make;
    backward v = {.make = &make,
                  .nins = typed->program->entry.jaxpr->nins,
                  .nouts = typed->program->entry.jaxpr->nouts};

    if (!forward || !jx_making_begin(&make, forward))
        return NULL;
    v.forward = forward->entry.jaxpr;
    if (!take_apart(&v))
        return NULL;
    name_paths(&v, typed->program);
    return jx_making_end(&make, put_together(&v));
}
