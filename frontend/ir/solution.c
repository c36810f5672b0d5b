/* solution.c - see solution.h. */
#include "frontend/ir/solution.h"

#include "frontend/base/assert.h"
#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/dim_verify.h"
#include "frontend/ir/signature.h"

typedef JX_VEC(const jx_dim_atom *) var_list;
typedef JX_VEC(jx_size_step) step_list;

typedef struct solver {
    jx_dims *dims;
    jx_map known;
    step_list waiting, steps;
} solver;

static jx_arena *arena_of(const solver *s)
{
    return jx_dims_ctx(s->dims)->arena;
}

static bool all_known(const solver *s, const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(s->dims, dim, &count);

    for (int i = 0; vars && i < count; i++)
        if (!jx_map_has(&s->known, vars[i]))
            return false;
    return vars != NULL;
}

static bool atom_known(const solver *s, const jx_dim_atom *atom)
{
    return atom->kind == JX_ATOM_VAR
               ? jx_map_has(&s->known, atom)
               : all_known(s, atom->a) && all_known(s, atom->b);
}

static bool term_known(const solver *s, const jx_dim_term *term)
{
    for (int i = 0; i < term->nfactors; i++)
        if (!atom_known(s, term->factors[i].atom))
            return false;
    return true;
}

/* The only term with an unknown is a number times a variable. */
static bool is_linear(const solver *s, jx_size_step *step)
{
    jx_dims *dims = s->dims;
    const jx_dim_term *unknown = NULL;

    for (int i = 0; i < jx_dim_nterms(step->dim); i++) {
        const jx_dim_term *t = &jx_dim_terms(step->dim)[i];
        if (term_known(s, t))
            continue;
        if (unknown || t->nfactors != 1 || t->factors->power != 1 ||
            t->factors->atom->kind != JX_ATOM_VAR)
            return false;
        unknown = t;
    }
    if (!unknown)
        return false;
    step->var = unknown->factors->atom;
    step->factor = unknown->coefficient;
    step->rest = jx_dim_sub(dims, step->dim,
                            jx_dim_mul(dims, jx_dim_wide(dims, step->factor),
                                       jx_dim_of_atom(dims, step->var)));
    JX_ASSERT(!step->rest || jx_dims_have_rewrites(dims) ||
              jx_dim_is_result('-', step->dim,
                               jx_dim_mul(dims, jx_dim_wide(dims, step->factor),
                                          jx_dim_of_atom(dims, step->var)),
                               step->rest));
    return step->rest != NULL;
}

/* One walk over what waits; true if it found a variable. */
static bool walk(solver *s)
{
    size_t left = 0;
    bool learned = false;

    for (size_t i = 0; i < s->waiting.count; i++) {
        jx_size_step step = s->waiting.at[i];

        if (is_linear(s, &step)) {
            learned |= jx_map_add(&s->known, step.var);
        } else if (!all_known(s, step.dim)) {
            s->waiting.at[left++] = step;
            continue;
        }
        JX_PUSH(arena_of(s), &s->steps, step);
    }
    s->waiting.count = left;
    return learned;
}

static void wait_for_sizes(solver *s, int count, const jx_aval *const *avals)
{
    int64_t number;

    for (int i = 0; i < count; i++) {
        const jx_aval *aval = avals[i];
        for (int k = 0; aval->kind == JX_AVAL_ARRAY && k < aval->rank; k++)
            if (!jx_dim_is_int(aval->shape[k], &number))
                JX_PUSH(arena_of(s), &s->waiting,
                        (jx_size_step){i, k, aval->shape[k], NULL, 0, NULL});
    }
}

static var_list unsolved(const solver *s)
{
    var_list found = {0};
    jx_map seen;

    jx_map_init(&seen, arena_of(s));
    for (size_t i = 0; i < s->waiting.count; i++) {
        int count = 0;
        const jx_dim_atom *const *vars =
            jx_dim_vars(s->dims, s->waiting.at[i].dim, &count);
        for (int k = 0; vars && k < count; k++)
            if (!jx_map_has(&s->known, vars[k]) && jx_map_add(&seen, vars[k]))
                JX_PUSH(arena_of(s), &found, vars[k]);
    }
    return found;
}

const jx_solution *jx_solution_of_avals(jx_dims *dims, int count,
                                        const jx_aval *const *avals, int nknown,
                                        const jx_dim_atom *const *known)
{
    solver s = {.dims = dims};
    jx_solution *solution = JX_NEW(arena_of(&s), jx_solution);
    var_list open;

    jx_map_init(&s.known, arena_of(&s));
    for (int i = 0; i < nknown; i++)
        jx_map_add(&s.known, known[i]);
    wait_for_sizes(&s, count, avals);
    while (walk(&s))
        ;
    open = unsolved(&s);
    if (!solution || !jx_ok(jx_dims_ctx(dims)))
        return NULL;
    *solution =
        (jx_solution){(int)s.steps.count, s.steps.at,      (int)s.waiting.count,
                      s.waiting.at,       (int)open.count, open.at};
    return solution;
}

const jx_solution *jx_solution_of(const jx_program *program, int nknown,
                                  const jx_dim_atom *const *known)
{
    int count = program->entry.jaxpr->nins;
    const jx_aval **avals =
        JX_NEW_ARRAY(program->ctx->arena, count, const jx_aval *);

    for (int i = 0; avals && i < count; i++)
        avals[i] = jx_input_aval(program, i);
    return avals ? jx_solution_of_avals(program->dims, count, avals, nknown,
                                        known)
                 : NULL;
}
