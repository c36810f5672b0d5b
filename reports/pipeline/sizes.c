/* sizes.c - see sizes.h. */
#include "reports/pipeline/sizes.h"

#include "frontend/base/json.h"
#include "frontend/ir/scope.h"

/* The bounds that constraints on the variable alone give it; the base is the
 * least in any case. */
typedef struct range {
    int64_t low, high;
    bool has_high;
} range;

/* `dim` is the variable times 1 plus a number: *offset. */
static bool is_var_plus(const jx_dim *dim, const jx_dim_atom *var,
                        jx_int *coefficient, jx_int *offset)
{
    const jx_dim_term *terms = jx_dim_terms(dim);
    int count = jx_dim_nterms(dim);

    if (count < 1 || count > 2 || terms[0].nfactors != 1 ||
        terms[0].factors[0].atom != var || terms[0].factors[0].power != 1 ||
        (count == 2 && terms[1].nfactors != 0))
        return false;
    *coefficient = terms[0].coefficient;
    *offset = count == 2 ? terms[1].coefficient : 0;
    return *coefficient == 1 || *coefficient == -1;
}

static bool fits(jx_int value)
{
    return value >= INT64_MIN && value <= INT64_MAX;
}

static bool has_var(const jx_program *program, const jx_dim *dim,
                    const jx_dim_atom *var)
{
    int n = 0;
    const jx_dim_atom *const *vars = jx_dim_vars(program->dims, dim, &n);

    for (int i = 0; vars && i < n; i++)
        if (vars[i] == var)
            return true;
    return false;
}

/* lhs - rhs >= 0 (or == 0) as a bound. */
static void narrow(const jx_program *program, range *to,
                   const jx_scope_constraint *c, const jx_dim_atom *var)
{
    const jx_dim *difference;
    jx_int coefficient, offset, bound;

    if (c->differs ||
        (!has_var(program, c->lhs, var) && !has_var(program, c->rhs, var)))
        return;
    difference = jx_dim_sub(program->dims, c->lhs, c->rhs);
    if (!difference || !is_var_plus(difference, var, &coefficient, &offset))
        return;
    bound = coefficient > 0 ? -offset : offset;
    if (!fits(bound))
        return;
    if ((coefficient > 0 || c->equal) && bound > to->low)
        to->low = (int64_t)bound;
    if ((coefficient < 0 || c->equal) && (!to->has_high || bound < to->high)) {
        to->high = (int64_t)bound;
        to->has_high = true;
    }
}

static range range_of(const jx_program *program, const jx_dim_atom *var)
{
    range r = {program->base, 0, false};

    if (var->scope >= 0 && var->scope < program->nscopes)
        for (int i = 0; i < program->scopes[var->scope].nconstraints; i++)
            narrow(program, &r, &program->scopes[var->scope].constraints[i],
                   var);
    return r;
}

void jx_sizes_print(const jx_program *program, int count,
                    const jx_dim_atom *const *vars, jx_buffer *to)
{
    for (int i = 0; i < count; i++) {
        range r = range_of(program, vars[i]);
        jx_buffer_printf(to, "  size %s", vars[i]->name);
        if (vars[i]->scope)
            jx_buffer_printf(to, " (scope %d)", vars[i]->scope);
        jx_buffer_printf(to, ": from %lld", (long long)r.low);
        if (r.has_high)
            jx_buffer_printf(to, " to %lld", (long long)r.high);
        jx_buffer_putc(to, '\n');
    }
    for (int i = 0; i < program->nscopes; i++)
        for (int k = 0; k < program->scopes[i].nconstraints; k++) {
            const jx_scope_constraint *c = &program->scopes[i].constraints[k];
            if (jx_scope_is_derived(&program->scopes[i], k))
                continue;
            jx_buffer_puts(to, "  where ");
            jx_scope_print(c, to);
            jx_buffer_putc(to, '\n');
        }
}

static void put_json_dim(jx_buffer *to, const jx_dim *dim)
{
    jx_buffer text = {.budget = to->budget};

    jx_dim_print(dim, &text);
    jx_json_put_text(to, jx_buffer_text(&text));
    jx_buffer_free(&text);
}

void jx_sizes_json(const jx_program *program, int count,
                   const jx_dim_atom *const *vars, jx_buffer *to)
{
    bool any = false;

    jx_buffer_puts(to, ",\"sizes\":[");
    for (int i = 0; i < count; i++) {
        range r = range_of(program, vars[i]);
        jx_buffer_puts(to, i ? ",{\"name\":" : "{\"name\":");
        jx_json_put_text(to, vars[i]->name);
        jx_buffer_printf(to, ",\"scope\":%d,\"low\":", vars[i]->scope);
        jx_json_put_int(to, r.low);
        if (r.has_high) {
            jx_buffer_puts(to, ",\"high\":");
            jx_json_put_int(to, r.high);
        }
        jx_buffer_putc(to, '}');
    }
    jx_buffer_puts(to, "],\"constraints\":[");
    for (int i = 0; i < program->nscopes; i++)
        for (int k = 0; k < program->scopes[i].nconstraints; k++) {
            const jx_scope_constraint *c = &program->scopes[i].constraints[k];
            jx_buffer_printf(to, "%s{\"scope\":%d,\"lhs\":", any ? "," : "", i);
            any = true;
            put_json_dim(to, c->lhs);
            jx_buffer_printf(to,
                             ",\"op\":\"%s\",\"rhs\":", jx_scope_relation(c));
            put_json_dim(to, c->rhs);
            jx_buffer_putc(to, '}');
        }
    jx_buffer_putc(to, ']');
}
