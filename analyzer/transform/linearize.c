/* linearize.c - see linearize.h. */
#include "analyzer/transform/linearize.h"

#include "analyzer/transform/jvp.h"

bool *jx_mask_from(const jx_making *make, int first, int n)
{
    bool *mask = JX_NEW_ARRAY(jx_making_arena(make), n + 1, bool);

    for (int i = first; mask && i < n; i++)
        mask[i] = true;
    return mask;
}

static const jx_aval *input_of(const jx_jaxpr *jaxpr, int i)
{
    return jaxpr->vars[jaxpr->nconsts + i]->aval;
}

bool jx_linearize_split(jx_making *make, const jx_jaxpr *forward, int nins,
                        int nouts, jx_linearized *to)
{
    jx_splitter splitter;
    const bool *ins = jx_mask_from(make, nins, forward->nins);
    const bool *outs = jx_mask_from(make, nouts, forward->nouts);

    *to = (jx_linearized){forward, nins, nouts, NULL, 0};
    jx_splitter_begin(&splitter, make);
    if (ins && outs)
        to->split = jx_split_jaxpr(&splitter, forward, ins, outs, NULL);
    for (int i = 0; to->split && i < nouts; i++)
        to->again += to->split->outs[i];
    return to->split != NULL;
}

bool jx_linearize_begin(jx_making *make, const jx_typed *typed,
                        jx_linearized *to)
{
    const jx_jaxpr *entry = typed->program->entry.jaxpr;
    jx_program *forward = jx_program_jvp(typed);

    return forward && jx_making_begin(make, forward) &&
           jx_linearize_split(make, forward->entry.jaxpr, entry->nins,
                              entry->nouts, to);
}

/* Outputs that are not among what the split knows, by the program as it was. */
static bool add_outputs(jx_making *make, const jx_linearized *of,
                        const jx_jaxpr *entry, const jx_atom *consts,
                        const jx_atom *ins, jx_linear_known *to)
{
    const bool *unknown = of->split->outs;
    jx_atom *outs = JX_NEW_ARRAY(jx_making_arena(make), of->nouts + 1, jx_atom);

    if (!outs || (of->again && !jx_making_inline(make, to->b, entry, consts,
                                                 ins, unknown, outs)))
        return false;
    for (int i = 0, k = 0; i < of->nouts; i++)
        if (!unknown[i])
            outs[i] = to->outs[k++];
    to->outs = outs;
    return true;
}

bool jx_linearize_known(jx_making *make, const jx_linearized *of,
                        const jx_jaxpr *entry, jx_linear_known *to)
{
    const jx_jaxpr *known = of->split->known, *forward = of->forward;
    int nres = of->split->nres, npassed = of->split->npassed;
    const bool *needed =
        jx_mask_from(make, entry ? 0 : known->nouts - nres, known->nouts);
    jx_body *b = jx_body_new(&make->build, NULL);
    jx_atom *atoms = JX_NEW_ARRAY(
        jx_making_arena(make),
        forward->nconsts + of->nins + known->nouts + npassed + 1, jx_atom);
    jx_atom *ins = atoms ? atoms + forward->nconsts : NULL;
    jx_atom *outs = atoms ? ins + of->nins : NULL;

    if (!needed || !b || !atoms)
        return false;
    for (int i = 0; i < forward->nconsts; i++)
        atoms[i] = jx_body_const(b, forward->vars[i]->aval);
    for (int i = 0; i < of->nins; i++)
        ins[i] = jx_body_input(b, input_of(forward, i));
    if (!jx_making_inline(make, b, known, atoms, ins, needed, outs))
        return false;
    for (int i = 0; i < npassed; i++)
        outs[known->nouts + i] = ins[of->split->passed[i]];
    *to = (jx_linear_known){b, atoms, outs, outs + known->nouts - nres,
                            nres + npassed};
    return !entry || add_outputs(make, of, entry, atoms, ins, to);
}

/* ---- the two programs */

/* Of residuals and tangents. */
static const jx_jaxpr *linear_jaxpr(jx_making *make, const jx_linearized *of)
{
    const jx_jaxpr *rest = of->split->rest;
    jx_body *b = jx_body_new(&make->build, NULL);
    jx_atom *ins = JX_NEW_ARRAY(jx_making_arena(make),
                                rest->nins + rest->nouts + 1, jx_atom);

    if (!b || !ins)
        return NULL;
    for (int i = 0; i < rest->nins; i++)
        ins[i] = jx_body_input(b, input_of(rest, i));
    if (!jx_making_enclose(make, b, rest, ins, ins + rest->nins))
        return NULL;
    for (int i = of->again; i < rest->nouts; i++)
        jx_body_result(b, ins[rest->nins + i]);
    return jx_body_finish(b, jx_no_atoms, of->forward->function);
}

/* What the linear program takes and gives, by the derivative's names. */
static bool name_linear(jx_making *make, const jx_linearized *of,
                        jx_linear_program *to)
{
    jx_arena *arena = jx_making_arena(make);
    int nins = to->closed.jaxpr->nins;
    const char **ins = JX_NEW_ARRAY(arena, nins + 1, const char *);
    const char *const *inputs = make->to->in_paths, *const *outputs =
                                                        make->to->out_paths;

    if (!ins || !inputs || !outputs)
        return ins != NULL;
    for (int i = 0; i < to->nres; i++)
        ins[i] = jx_arena_printf(arena, "residual %d", i);
    for (int i = to->nres; i < nins; i++)
        ins[i] = inputs[of->nins + i - to->nres];
    to->in_paths = ins;
    to->out_paths = outputs + of->nouts;
    return true;
}

/* Of the program itself: outputs, then residuals. */
static bool name_outputs(jx_making *make, const jx_linearized *of, int nres)
{
    jx_arena *arena = jx_making_arena(make);
    const char **outs = JX_NEW_ARRAY(arena, of->nouts + nres + 1, const char *);

    if (!outs || !make->to->in_paths || !make->to->out_paths) {
        make->to->in_paths = make->to->out_paths = NULL;
        return outs != NULL;
    }
    for (int i = 0; i < of->nouts; i++)
        outs[i] = make->to->out_paths[i];
    for (int i = 0; i < nres; i++)
        outs[of->nouts + i] = jx_arena_printf(arena, "residual %d", i);
    make->to->out_paths = outs;
    return true;
}

jx_program *jx_program_linearize(const jx_typed *typed)
{
    jx_making make;
    jx_linearized of;
    jx_linear_known known;
    jx_linear_program *linear;

    if (!jx_linearize_begin(&make, typed, &of) ||
        !jx_linearize_known(&make, &of, typed->program->entry.jaxpr, &known))
        return NULL;
    linear = JX_NEW(jx_making_arena(&make), jx_linear_program);
    if (!linear)
        return NULL;
    for (int i = 0; i < of.nouts; i++)
        jx_body_result(known.b, known.outs[i]);
    for (int i = 0; i < known.nres; i++)
        jx_body_result(known.b, known.residuals[i]);
    linear->nres = known.nres;
    linear->closed =
        jx_making_closed_like(linear_jaxpr(&make, &of), &typed->program->entry);
    if (!linear->closed.jaxpr || !name_linear(&make, &of, linear) ||
        !name_outputs(&make, &of, known.nres))
        return NULL;
    make.to->linear = linear;
    return jx_making_end(&make,
                         jx_making_named(&make,
                                         jx_body_finish(known.b, jx_no_atoms,
                                                        of.forward->function),
                                         typed->program->entry.jaxpr));
}

jx_program *jx_program_linear(jx_program *program)
{
    const jx_linear_program *linear = program->linear;
    jx_program *to;

    if (!linear) {
        jx_fail(
            program->ctx, JX_E_USAGE, program->path, "linear",
            "the program has no linear one beside it: that comes of linearize");
        return NULL;
    }
    to = jx_arena_copy(program->ctx->arena, program, sizeof *program);
    if (!to)
        return NULL;
    to->entry = linear->closed;
    to->in_paths = linear->in_paths;
    to->out_paths = linear->out_paths;
    to->linear = NULL;
    to->written = NULL;
    to->nvalued = 0;
    return to;
}
