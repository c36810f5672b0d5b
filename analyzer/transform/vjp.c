/* vjp.c - see vjp.h. */
#include "analyzer/transform/vjp.h"

#include "analyzer/transform/jvp.h"
#include "analyzer/transform/linearize.h"
#include "analyzer/transform/transpose.h"

/* The derivative on its way. */
typedef struct backward {
    jx_making *make;
    jx_linearized of;
    /* of residuals, inputs and cotangents: cotangents */
    const jx_transposed *back;
} backward;

static bool turn_back(backward *v)
{
    const jx_split *split = v->of.split;
    const bool *linear =
        jx_mask_from(v->make, split->nres + split->npassed, split->rest->nins);
    const bool *tangents =
        jx_mask_from(v->make, v->of.again, split->rest->nouts);
    jx_transposer transposer;

    jx_transposer_begin(&transposer, v->make);
    if (linear && tangents)
        v->back = jx_transpose_jaxpr(&transposer, split->rest, linear, tangents,
                                     linear);
    return v->back != NULL;
}

static const jx_jaxpr *put_together(backward *v)
{
    const jx_jaxpr *back = v->back->jaxpr;
    jx_atom *to = JX_NEW_ARRAY(jx_making_arena(v->make),
                               back->nins + back->nouts + 1, jx_atom);
    jx_atom *made = to ? to + back->nins : NULL;
    jx_linear_known known;

    if (!to || !jx_linearize_known(v->make, &v->of, NULL, &known))
        return NULL;
    for (int i = 0; i < back->nins; i++)
        to[i] =
            i < known.nres
                ? known.residuals[i]
                : jx_body_input(known.b, back->vars[back->nconsts + i]->aval);
    if (!jx_making_inline(v->make, known.b, back, known.consts, to, NULL, made))
        return NULL;
    for (int i = 0; i < back->nouts; i++)
        jx_body_result(known.b, made[i]);
    return jx_body_finish(known.b, jx_no_atoms, v->of.forward->function);
}

/* Inputs, then what stands for the outputs that have a cotangent; and
 * these of inputs. */
static void name_paths(backward *v, const jx_program *from)
{
    jx_arena *arena = jx_making_arena(v->make);
    const jx_jaxpr *entry = from->entry.jaxpr;
    const char **ins =
        JX_NEW_ARRAY(arena, entry->nins + entry->nouts + 1, const char *);
    const char **outs = JX_NEW_ARRAY(arena, entry->nins + 1, const char *);
    int nins = entry->nins, nouts = 0;

    if (!ins || !outs || !from->in_paths || !from->out_paths) {
        v->make->to->in_paths = v->make->to->out_paths = NULL;
        return;
    }
    for (int i = 0; i < entry->nins; i++) {
        ins[i] = from->in_paths[i];
        if (jx_has_tangent(entry->vars[entry->nconsts + i]->aval))
            outs[nouts++] =
                jx_arena_printf(arena, "cotangent of %s", from->in_paths[i]);
    }
    for (int i = 0; i < entry->nouts; i++)
        if (jx_has_tangent(jx_atom_aval(entry->outs[i])))
            ins[nins++] =
                jx_arena_printf(arena, "cotangent of %s", from->out_paths[i]);
    v->make->to->in_paths = ins;
    v->make->to->out_paths = outs;
}

const jx_jaxpr *jx_vjp_of_jvp(jx_making *make, const jx_jaxpr *forward,
                              int nins, int nouts)
{
    backward v = {.make = make};

    return jx_linearize_split(make, forward, nins, nouts, &v.of) &&
                   turn_back(&v)
               ? put_together(&v)
               : NULL;
}

jx_program *jx_program_vjp(const jx_typed *typed)
{
    jx_making make;
    backward v = {.make = &make};

    if (!jx_linearize_begin(&make, typed, &v.of) || !turn_back(&v))
        return NULL;
    name_paths(&v, typed->program);
    return jx_making_end(&make, jx_making_named(&make, put_together(&v),
                                                typed->program->entry.jaxpr));
}
