/* gradplans.c - see gradplans.h. */
#include "runtime/gradients/gradplans.h"

#include "runtime/fits.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };
static const size_t most_memory = (size_t)16 << 20; /* of one that stays */

static bool is_it(const jx_kept_plan *p, const jx_typed *typed,
                  const jx_closed *of, int upto, int nbindings,
                  const jx_binding *bindings)
{
    if (p->typed != typed || p->of.jaxpr != of->jaxpr ||
        p->of.consts != of->consts || p->upto != upto ||
        p->nbindings != nbindings)
        return false;
    for (int i = 0; i < nbindings; i++)
        if (p->bindings[i].var != bindings[i].var ||
            p->bindings[i].value != bindings[i].value)
            return false;
    return true;
}

static void close_one(jx_kept_plan *p)
{
    jx_exec_free(p->exec);
    jx_plan_free(p->plan);
    free(p->bindings);
    *p = (jx_kept_plan){0};
}

void jx_kept_plans_free(jx_kept_plans *kept)
{
    for (int i = 0; i < kept->count; i++)
        close_one(&kept->at[i]);
    free(kept->at);
    *kept = (jx_kept_plans){0};
}

/* The equations before number `upto`, as a jaxpr that gives the
 * operands of that one. */
static const jx_jaxpr *part_of(jx_arena *arena, const jx_jaxpr *whole, int upto)
{
    jx_jaxpr *part = jx_arena_copy(arena, whole, sizeof *part);

    if (part) {
        part->neqns = upto;
        part->outs = whole->eqns[upto].ins;
        part->nouts = whole->eqns[upto].nins;
    }
    return part;
}

/* A place for another: the oldest of many makes room, and what is large. */
static jx_kept_plan *room_in(jx_kept_plans *kept)
{
    jx_kept_plan *to;

    if (!kept->at && !(kept->at = calloc(MOST, sizeof *kept->at)))
        return NULL;
    for (int i = 0; i < kept->count; i++)
        if (kept->at[i].plan && jx_plan_memory(kept->at[i].plan) > most_memory)
            close_one(&kept->at[i]);
    to = &kept->at[kept->next];
    close_one(to);
    kept->count = kept->count > kept->next ? kept->count : kept->next + 1;
    kept->next = (kept->next + 1) % MOST;
    return to;
}

const jx_kept_plan *jx_kept_plan_of(jx_kept_plans *kept, const jx_typed *typed,
                                    const jx_closed *of, int upto,
                                    int nbindings, const jx_binding *bindings)
{
    jx_ctx *ctx = typed->program->ctx;
    jx_plan_options how = {
        .domain = JX_WIDE, .nbindings = nbindings, .bindings = bindings};
    jx_closed part = *of;
    jx_kept_plan *to;

    for (int i = 0; i < kept->count; i++)
        if (is_it(&kept->at[i], typed, of, upto, nbindings, bindings))
            return &kept->at[i];
    to = room_in(kept);
    if (to)
        to->bindings = calloc((size_t)nbindings + 1, sizeof *to->bindings);
    if (!to || !to->bindings) {
        jx_starved(ctx);
        return NULL;
    }
    if (nbindings)
        memcpy(to->bindings, bindings, (size_t)nbindings * sizeof *bindings);
    if (upto != JX_WHOLE)
        part.jaxpr = part_of(ctx->arena, of->jaxpr, upto);
    to->plan = part.jaxpr ? jx_plan_make(typed, &part, &how) : NULL;
    to->exec = to->plan ? jx_exec_new(to->plan) : NULL;
    if (!to->exec) {
        close_one(to);
        return NULL;
    }
    to->typed = typed;
    to->of = *of;
    to->upto = upto;
    to->nbindings = nbindings;
    return to;
}

const jx_typed *jx_kept_fits(jx_kept_plans *kept, jx_program *program,
                             int nbindings, const jx_binding *bindings)
{
    if (!kept->analysis || kept->analysis->program != program)
        kept->analysis = jx_typed_analysis(program);
    return kept->analysis
               ? jx_analysis_fits(kept->analysis, true, nbindings, bindings)
               : NULL;
}

const jx_call_graph *jx_kept_graph(jx_kept_plans *kept,
                                   const jx_program *program)
{
    if (!kept->graph || jx_call_graph_program(kept->graph) != program)
        kept->graph = jx_call_graph_make(program);
    return kept->graph;
}
