/* scope.c - see scope.h. */
#include "frontend/ir/scope.h"

#include "frontend/base/expression.h"

#include <string.h>

const char *jx_scope_relation(const jx_scope_constraint *constraint)
{
    return constraint->equal ? "==" : constraint->differs ? "!=" : ">=";
}

bool jx_scope_holds(const jx_scope_constraint *constraint, jx_int lhs,
                    jx_int rhs)
{
    return constraint->equal     ? lhs == rhs
           : constraint->differs ? lhs != rhs
                                 : lhs >= rhs;
}

void jx_scope_print(const jx_scope_constraint *constraint, jx_buffer *to)
{
    if (constraint->text && *constraint->text) {
        jx_buffer_puts(to, constraint->text);
        return;
    }
    jx_dim_print(constraint->lhs, to);
    jx_buffer_printf(to, " %s ", jx_scope_relation(constraint));
    jx_dim_print(constraint->rhs, to);
}

/* The dim as one atom, NULL if it is more. */
static const jx_dim_atom *sole_atom(const jx_dim *dim, jx_int *coefficient)
{
    const jx_dim_term *term = jx_dim_terms(dim);

    if (jx_dim_nterms(dim) != 1 || term->nfactors != 1 ||
        term->factors[0].power != 1)
        return NULL;
    *coefficient = term->coefficient;
    return term->factors[0].atom;
}

/* `mod(e, k) == 0` with a number k: its atom, else NULL. */
static const jx_dim_atom *divisibility(const jx_scope_constraint *c)
{
    jx_int one, zero, k;
    const jx_dim_atom *atom = c->equal ? sole_atom(c->lhs, &one) : NULL;

    return atom && one == 1 && atom->kind == JX_ATOM_MOD &&
                   jx_dim_is_wide(c->rhs, &zero) && zero == 0 &&
                   jx_dim_is_wide(atom->b, &k)
               ? atom
               : NULL;
}

bool jx_scope_is_derived(const jx_scope *scope, int index)
{
    const jx_scope_constraint *c = &scope->constraints[index];
    const jx_dim_atom *quotient, *mod;
    jx_int factor, k;

    if (index + 1 >= scope->nconstraints || !c->equal)
        return false;
    mod = divisibility(&scope->constraints[index + 1]);
    quotient = sole_atom(c->lhs, &factor);
    return mod && quotient && quotient->kind == JX_ATOM_FLOORDIV &&
           quotient->a == mod->a && quotient->b == mod->b && c->rhs == mod->a &&
           jx_dim_is_wide(mod->b, &k) && k == factor;
}

/* -- declaring ------------------------------------------------------------- */

typedef struct declaring {
    jx_dims *dims;
    bool rewrites;
    jx_scope_list *to;
    jx_scope_error *error;
} declaring;

static bool refuse(const declaring *d, const char *expected)
{
    *d->error = (jx_scope_error){0, expected};
    return false;
}

static jx_arena *arena_of(const declaring *d)
{
    return jx_dims_ctx(d->dims)->arena;
}

static bool take(const declaring *d, jx_scope_constraint c);

/* JAX's rule for `==`, and what it derives from a divisibility. */
static bool rewrite(const declaring *d, const jx_scope_constraint *c)
{
    const jx_dim_atom *mod = divisibility(c);

    if (jx_dim_nterms(c->lhs) != 1 || !jx_dim_terms(c->lhs)->nfactors)
        return refuse(d, "one product on the left of ==, as in 4*a, a*b or "
                         "floordiv(a + c, b): JAX rewrites it to the right");
    if (!jx_dims_rewrite(d->dims, c->lhs, c->rhs))
        return refuse(d, "another left side of ==: this product is rewritten "
                         "by an earlier constraint");
    if (!mod)
        return true;
    const jx_dim *quotient =
        jx_dim_mul(d->dims, mod->b,
                   jx_dim_literal(d->dims, JX_ATOM_FLOORDIV, mod->a, mod->b));
    jx_buffer text = jx_ctx_text(jx_dims_ctx(d->dims));
    if (!quotient)
        return refuse(d, "a smaller expression");
    jx_dim_print(quotient, &text);
    jx_buffer_puts(&text, " == ");
    jx_dim_print(mod->a, &text);
    const char *kept = jx_arena_take(arena_of(d), &text);
    return take(
        d, (jx_scope_constraint){
               .equal = true, .lhs = quotient, .rhs = mod->a, .text = kept});
}

/* Appends a constraint whose sides are known. */
static bool take(const declaring *d, jx_scope_constraint c)
{
    const jx_dim *difference = jx_dim_sub(d->dims, c.lhs, c.rhs);
    jx_int value;

    if (!difference)
        return refuse(d, "a smaller expression");
    if (jx_dim_is_wide(difference, &value)) {
        if (jx_scope_holds(&c, value, 0))
            return true; /* nothing that need be remembered */
        return refuse(d, "a constraint that some sizes can satisfy; this one "
                         "holds for none");
    }
    if (d->rewrites && c.equal && !rewrite(d, &c))
        return false;
    JX_PUSH(arena_of(d), d->to, c);
    return true;
}

/* The sides as `>=`, `==` or `!=` compare them. */
static bool oriented(const declaring *d, int relation, const jx_dim *lhs,
                     const jx_dim *rhs, jx_scope_constraint *c)
{
    const jx_dim *one = jx_dim_int(d->dims, 1);

    bool less = relation == 3 || relation == 5; /* == != >= <= > < */

    c->equal = relation == 0;
    c->differs = relation == 1;
    c->lhs = less ? rhs : lhs;
    c->rhs = less ? lhs : rhs;
    if (relation >= 4)
        c->rhs = jx_dim_add(d->dims, c->rhs, one);
    return c->rhs || refuse(d, "a smaller expression");
}

bool jx_scope_declare(jx_dims *dims, const char *text, int scope, bool rewrites,
                      jx_scope_list *to, jx_scope_error *error)
{
    declaring d = {dims, rewrites, to, error};
    size_t length = strlen(text), at, middle, used;
    jx_scope_constraint c = {.text = jx_intern_text(jx_dims_ctx(dims), text)};
    const char *expected;
    int relation = -1;
    const jx_dim *lhs, *rhs;

    lhs = jx_dim_parse_prefix(dims, text, length, scope, &at, &expected);
    middle = at;
    if (lhs)
        relation = jx_expression_relation(text + at, length - at, &used);
    if (relation >= 0)
        middle += used;
    if (lhs && relation < 0) {
        lhs = NULL;
        expected = "an operator or a comparison (== >= <=, or < > !=)";
    }
    rhs = lhs ? jx_dim_parse(dims, text + middle, length - middle, scope, &at,
                             &expected)
              : NULL;
    if (!rhs) {
        *error = (jx_scope_error){(lhs ? middle : 0) + at + 1, expected};
        return false;
    }
    return oriented(&d, relation, lhs, rhs, &c) && take(&d, c);
}
