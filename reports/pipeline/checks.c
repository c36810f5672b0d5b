/* checks.c - see checks.h. */
#include "reports/pipeline/checks.h"

#include "frontend/ir/scope.h"
#include "frontend/ir/signature.h"
#include "frontend/ir/solution.h"

typedef struct printer {
    const jx_program *program;
    const char *indent;
    jx_buffer *to;
} printer;

static void put_axis(const printer *p, const jx_size_step *step)
{
    jx_input_axis_print(p->program, step->input, step->axis, p->to);
}

/* A sum in parentheses, a single product or number without. */
static void put_rest(const printer *p, const jx_dim *rest)
{
    bool plain =
        jx_dim_nterms(rest) == 1 && jx_dim_terms(rest)->coefficient > 0;

    if (!plain)
        jx_buffer_putc(p->to, '(');
    jx_dim_print(rest, p->to);
    if (!plain)
        jx_buffer_putc(p->to, ')');
}

static bool divides(const jx_size_step *step)
{
    return step->factor != 1 && step->factor != -1;
}

/* factor*var (var, where the factor is -1), from the size and what stands
 * beside it. */
static void put_product(const printer *p, const jx_size_step *step)
{
    bool alone = step->rest == jx_dim_int(p->program->dims, 0);
    bool divided = !alone && divides(step);

    if (divided)
        jx_buffer_putc(p->to, '(');
    if (step->factor == -1) {
        put_rest(p, step->rest);
        jx_buffer_puts(p->to, " - ");
        put_axis(p, step);
    } else {
        put_axis(p, step);
        if (!alone) {
            jx_buffer_puts(p->to, " - ");
            put_rest(p, step->rest);
        }
    }
    if (divided)
        jx_buffer_putc(p->to, ')');
}

/* The variable, from the size. */
static void put_quotient(const printer *p, const jx_size_step *step)
{
    put_product(p, step);
    if (!divides(step))
        return;
    jx_buffer_puts(p->to, " // ");
    jx_int_print(step->factor, p->to);
}

static void put_origin(const printer *p, const jx_size_step *step)
{
    jx_buffer_printf(p->to, "%s%s = ", p->indent, step->var->name);
    put_quotient(p, step);
    jx_buffer_putc(p->to, '\n');
}

static void put_check(const printer *p, const jx_size_step *step)
{
    if (!step->var) {
        jx_buffer_printf(p->to, "%scheck ", p->indent);
        put_axis(p, step);
        jx_buffer_puts(p->to, " == ");
        jx_dim_print(step->dim, p->to);
        jx_buffer_putc(p->to, '\n');
        return;
    }
    if (divides(step)) {
        jx_buffer_printf(p->to, "%scheck ", p->indent);
        put_product(p, step);
        jx_buffer_puts(p->to, " % ");
        jx_int_print(step->factor, p->to);
        jx_buffer_puts(p->to, " == 0\n");
    }
    jx_buffer_printf(p->to, "%scheck ", p->indent);
    put_quotient(p, step);
    jx_buffer_printf(p->to, " >= %lld\n", (long long)p->program->base);
}

/* A variable of the dim that no input has, or NULL. */
static const jx_dim_atom *missing(const printer *p, const jx_dim *dim)
{
    int count = 0, n = 0;
    const jx_dim_atom *const *inputs = jx_input_vars(p->program, &count);
    const jx_dim_atom *const *vars = jx_dim_vars(p->program->dims, dim, &n);

    for (int i = 0; inputs && vars && i < n; i++) {
        int k = 0;
        while (k < count && inputs[k] != vars[i])
            k++;
        if (k == count)
            return vars[i];
    }
    return NULL;
}

static void put_constraints(const printer *p, const jx_scope *scope)
{
    for (int i = 0; i < scope->nconstraints; i++) {
        const jx_scope_constraint *c = &scope->constraints[i];
        const jx_dim_atom *unknown;

        if (jx_scope_is_derived(scope, i))
            continue;
        unknown = missing(p, c->lhs);
        if (!unknown)
            unknown = missing(p, c->rhs);
        jx_buffer_printf(p->to, "%s%s ", p->indent,
                         unknown ? "can't check" : "check");
        jx_scope_print(c, p->to);
        if (unknown)
            jx_buffer_printf(p->to, ": no input's shape has %s", unknown->name);
        jx_buffer_putc(p->to, '\n');
    }
}

static void put_open(const printer *p, const jx_size_step *step)
{
    jx_buffer_printf(p->to, "%scan't solve ", p->indent);
    jx_dim_print(step->dim, p->to);
    jx_buffer_puts(p->to, " == ");
    put_axis(p, step);
    jx_buffer_putc(p->to, '\n');
}

bool jx_checks_print(const jx_program *program, const char *indent,
                     jx_buffer *to)
{
    printer p = {program, indent, to};
    const jx_solution *s = jx_solution_of(program, 0, NULL);

    if (!s)
        return false;
    for (int i = 0; i < s->nsteps; i++)
        if (s->steps[i].var)
            put_origin(&p, &s->steps[i]);
    for (int i = 0; i < s->nsteps; i++)
        put_check(&p, &s->steps[i]);
    for (int i = 0; i < program->nscopes; i++)
        put_constraints(&p, &program->scopes[i]);
    for (int i = 0; i < s->nopen; i++)
        put_open(&p, &s->open[i]);
    return true;
}
