/* definition.c - see definition.h. */
#include "frontend/ir/definition.h"

#include "frontend/ir/params.h"

#include <string.h>

/* ---- sizes */

bool jx_aval_same_kind(const jx_aval *a, const jx_aval *b)
{
    return a->kind == JX_AVAL_ARRAY && b->kind == JX_AVAL_ARRAY &&
           a->dtype == b->dtype && a->rank == b->rank && a->impl == b->impl;
}

/* The variable that a dim is, or NULL. */
static const jx_dim_atom *variable(const jx_dim *dim)
{
    const jx_dim_term *term = jx_dim_terms(dim);

    if (jx_dim_nterms(dim) != 1 || term->coefficient != 1 ||
        term->nfactors != 1 || term->factors->power != 1 ||
        term->factors->atom->kind != JX_ATOM_VAR)
        return NULL;
    return term->factors->atom;
}

static void bind(jx_program *program, const jx_dim *formal, const jx_dim *dim,
                 jx_bound *to)
{
    const jx_dim_atom *var = variable(formal);

    for (int i = 0; var && i < to->count; i++)
        if (to->vars[i] == var)
            return;
    if (!var)
        return;
    to->vars[to->count] = var;
    to->dims[to->count++] = dim;
    to->moves |= jx_dim_of_atom(program->dims, var) != dim;
}

bool jx_bind_sizes(jx_program *program, int count,
                   const jx_aval *const *formals, const jx_aval *const *avals,
                   jx_bound *to)
{
    jx_arena *arena = program->ctx->arena;
    int room = 1;

    for (int i = 0; i < count; i++)
        room += avals[i]->rank;
    *to = (jx_bound){.vars = JX_NEW_ARRAY(arena, room, const jx_dim_atom *),
                     .dims = JX_NEW_ARRAY(arena, room, const jx_dim *)};
    for (int i = 0; i < count; i++) {
        if (!to->vars || !to->dims || !jx_aval_same_kind(formals[i], avals[i]))
            return false;
        for (int k = 0; k < avals[i]->rank; k++)
            bind(program, formals[i]->shape[k], avals[i]->shape[k], to);
    }
    return to->vars && to->dims;
}

typedef struct putting {
    jx_dims *dims;
    const jx_bound *sizes;
} putting;

static const jx_dim *put(void *env, const jx_dim_atom *var)
{
    const putting *p = env;

    for (int i = 0; i < p->sizes->count; i++)
        if (p->sizes->vars[i] == var)
            return p->sizes->dims[i];
    return jx_dim_of_atom(p->dims, var);
}

const jx_dim *jx_dim_bound(jx_dims *dims, const jx_dim *dim,
                           const jx_bound *sizes)
{
    putting p = {dims, sizes};

    return sizes->moves ? jx_dim_import(dims, dim, put, &p) : dim;
}

const jx_aval *jx_aval_bound(jx_program *program, const jx_aval *aval,
                             const jx_bound *sizes)
{
    const jx_dim **shape =
        JX_NEW_ARRAY(program->ctx->arena, aval->rank + 1, const jx_dim *);
    jx_aval to = *aval;

    for (int i = 0; shape && i < aval->rank; i++)
        if (!(shape[i] = jx_dim_bound(program->dims, aval->shape[i], sizes)))
            return NULL;
    to.shape = shape;
    return shape ? jx_aval_add(&program->avals, &to) : NULL;
}

/* ---- rules */

const jx_definition *jx_eqn_definition(const jx_eqn *eqn)
{
    return eqn->prim->id == JX_PRIM_call_library_primitive && eqn->typed
               ? ((const jx_p_hi_call *)eqn->typed)->definition
               : NULL;
}

const char *jx_definition_kind_name(jx_definition_kind kind)
{
    static const char *const names[] = {[JX_DEFINED_JVP] = "jvp",
                                        [JX_DEFINED_TRANSPOSE] = "transpose",
                                        [JX_DEFINED_BATCH] = "batch",
                                        [JX_DEFINED_EVAL] = "eval",
                                        [JX_DEFINED_LOWERING] = "lowering"};

    return names[kind];
}

bool jx_definition_lowers(const jx_definition *of, const char *platform)
{
    for (int i = 0; i < of->nlower; i++)
        if (!strcmp(of->lower[i], "*") || !strcmp(of->lower[i], platform))
            return true;
    return false;
}

const char *jx_missing_rule(jx_ctx *ctx, jx_definition_kind kind,
                            const char *name, const char *platform)
{
    static const char *const rules[] = {
        [JX_DEFINED_JVP] = "Differentiation rule",
        [JX_DEFINED_TRANSPOSE] =
            "Transpose rule (for reverse-mode differentiation)",
        [JX_DEFINED_BATCH] = "Batching rule",
        [JX_DEFINED_EVAL] = "Evaluation rule"};

    if (kind == JX_DEFINED_LOWERING)
        return jx_arena_printf(
            ctx->arena,
            "MLIR translation rule for primitive '%s' not found for "
            "platform %s",
            name, platform);
    return jx_arena_printf(ctx->arena, "%s for '%s' not implemented",
                           rules[kind], name);
}

/* How much a pattern takes beyond what is there, or -1: it does not serve. */
static int excess(jx_definition_kind kind, const jx_definition_pattern *p,
                  const char *mask, const char *zeros)
{
    char all = kind == JX_DEFINED_JVP ? '0' : '1';
    int more = 0;

    for (int i = 0; mask[i]; i++) {
        if (p->mask[i] == mask[i])
            continue;
        if (kind == JX_DEFINED_TRANSPOSE || p->mask[i] != all)
            return -1;
        more++;
    }
    for (int i = 0; zeros && zeros[i]; i++) {
        char its = p->zeros ? p->zeros[i] : '0';
        if (its == '1' && zeros[i] == '0')
            return -1;
        more += its != zeros[i];
    }
    return more;
}

const jx_definition_pattern *jx_definition_find(const jx_definition *of,
                                                jx_definition_kind kind,
                                                const char *mask,
                                                const char *zeros)
{
    const jx_definition_pattern *best = NULL;
    int least = 0;

    for (int i = 0; i < of->npatterns[kind]; i++) {
        const jx_definition_pattern *p = &of->patterns[kind][i];
        int more = excess(kind, p, mask, zeros);
        if (more == 0)
            return p;
        if (more > 0 && !p->error && (!best || more < least)) {
            best = p;
            least = more;
        }
    }
    return best;
}

/* ---- copies */

jx_definition *jx_definition_copies(jx_arena *arena, int count,
                                    const jx_definition *const *from,
                                    const jx_definition *const **table)
{
    jx_definition *to = JX_NEW_ARRAY(arena, count + 1, jx_definition);
    const jx_definition **all =
        JX_NEW_ARRAY(arena, count + 1, const jx_definition *);

    for (int i = 0; to && all && i < count; i++) {
        to[i] = *from[i];
        all[i] = &to[i];
    }
    *table = all;
    return all ? to : NULL;
}

bool jx_definition_remade(jx_arena *arena, jx_definition *of,
                          jx_definition_change *change, void *with)
{
    for (int kind = 0; kind < JX_DEFINED_PATTERNED; kind++) {
        jx_definition_pattern *to =
            jx_arena_copy(arena, of->patterns[kind],
                          (size_t)of->npatterns[kind] * sizeof **of->patterns);
        for (int i = 0; i < of->npatterns[kind]; i++)
            if (!to || !change(with, &of->patterns[kind][i].made, &to[i].made))
                return false;
        of->patterns[kind] = to;
    }
    return true;
}
