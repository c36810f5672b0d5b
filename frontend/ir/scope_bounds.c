/* scope_bounds.c - see scope.h: between what sizes lie, by what is
 * declared of them. */
#include "frontend/ir/scope.h"

/* A side of a constraint as factor x + offset. */
typedef struct line {
    jx_int factor, offset;
} line;

static bool add_term(line *to, const jx_dim_term *term, const jx_dim_atom *var,
                     bool minus)
{
    jx_int by = minus ? -term->coefficient : term->coefficient;

    if (term->nfactors == 0)
        return !__builtin_add_overflow(to->offset, by, &to->offset);
    return term->nfactors == 1 && term->factors[0].power == 1 &&
           term->factors[0].atom == var &&
           !__builtin_add_overflow(to->factor, by, &to->factor);
}

/* lhs - rhs, of that variable alone. */
static bool line_of(const jx_scope_constraint *c, const jx_dim_atom *var,
                    line *to)
{
    bool is = true;

    *to = (line){0, 0};
    for (int i = 0; is && i < jx_dim_nterms(c->lhs); i++)
        is = add_term(to, &jx_dim_terms(c->lhs)[i], var, false);
    for (int i = 0; is && i < jx_dim_nterms(c->rhs); i++)
        is = add_term(to, &jx_dim_terms(c->rhs)[i], var, true);
    return is && to->factor;
}

/* factor x + offset >= 0 */
static void meet(jx_dim_range *known, line l)
{
    jx_int quotient, rest;

    if (!jx_int_floordiv(l.offset, l.factor > 0 ? l.factor : -l.factor,
                         &quotient, &rest))
        return;
    if (l.factor > 0 && (!known->has_low || known->low < -quotient)) {
        known->has_low = true;
        known->low = -quotient;
    } else if (l.factor < 0 && (!known->has_high || known->high > quotient)) {
        known->has_high = true;
        known->high = quotient;
    }
}

static void by_constraint(const jx_scope_constraint *c, const jx_dim_atom *var,
                          jx_dim_range *known)
{
    line l;

    if (c->differs || !line_of(c, var, &l))
        return;
    meet(known, l);
    if (c->equal)
        meet(known, (line){-l.factor, -l.offset});
}

static void declared(void *env, const jx_dim_atom *atom, jx_dim_range *known)
{
    const jx_program *program = env;

    if (atom->kind != JX_ATOM_VAR)
        return;
    *known = (jx_dim_range){.has_low = true, .low = program->base};
    for (int s = 0; s < program->nscopes; s++)
        for (int i = 0; i < program->scopes[s].nconstraints; i++)
            by_constraint(&program->scopes[s].constraints[i], atom, known);
    /* What contradicts itself is no range; others say so. */
    if (known->has_high && known->high < known->low)
        *known = (jx_dim_range){.has_low = true, .low = program->base};
}

jx_dim_range jx_program_bounds(const jx_program *program, const jx_dim *dim)
{
    return jx_dim_bounds_by(dim, declared, (void *)(uintptr_t)program);
}
