/* gradinteger.c - see gradding.h: integers that code singles out.
 *
 * What is drawn for an operand is like what the program passes, or small.
 * Where function or rule choose by it (a branch of several, a label that is to
 * be ignored, the turn of a loop around the call), there is a point for each
 * choice.  What ends by values counts its turns in integers, too, or notes in
 * them that it has failed: at others it is cut short, and its rule is not for
 * what it has then. */
#include "runtime/gradients/gradding.h"

#include <stdlib.h>

enum {
    MOST = 24, /* integers */
    EACH = 2,  /* points ... */
    TRIES = 4, /* ... and others for each, where the function has no value:
                  what is beside may be an index of nothing */
};

static const jx_point points[EACH] = {
    {JX_AT_NORMAL, 1, "at an integer that the code singles out"},
    {JX_AT_POSITIVE, 1, "positive, at an integer that the code singles out"}};

/* Of several in one operand one may be any that its like is asked to equal; an
 * order, or an index among few, holds of a number alone. */
static int integers_of(const jx_gradding *c, bool alone, int64_t *to)
{
    const jx_jaxpr *code[] = {c->rule->primal.jaxpr, c->pattern->jvp.jaxpr,
                              c->pattern->fwd.jaxpr, c->pattern->bwd.jaxpr};
    int count = 0;

    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (code[i])
            count = jx_points_integers(code[i], !alone, to, count, MOST);
    return count;
}

static bool fits(const jx_port *port, int64_t value)
{
    const jx_dtype_info *dtype = jx_dtype_of(port->dtype);
    const bool has_sign = dtype->kind == JX_KIND_INT;

    return (value >= 0 || has_sign) &&
           (dtype->bytes > 1 ||
            (value >= -127 && value <= (has_sign ? 127 : 255)));
}

/* Checks the rule with one of them there, beside others that are drawn. */
static bool try_single(jx_gradding *c, const jx_grad_single *single)
{
    const int64_t before = c->comparisons + c->abroad;
    bool good = true;

    c->single = single;
    for (int k = 0; k < TRIES && good; k++) {
        good = jx_grad_check_here(c);
        if (c->comparisons + c->abroad > before)
            break;
    }
    c->single = NULL;
    return good;
}

static bool try_integers(jx_gradding *c, int operand)
{
    const jx_port *port = jx_plan_in(c->primal.plan, operand);
    int64_t values[MOST];
    int count = integers_of(c, port->count == 1, values);
    bool good = true;

    for (int k = 0; k < count * EACH && good; k++) {
        const jx_grad_single single = {
            operand, (int64_t)(jx_rng_next(&c->rng) % (uint64_t)port->count),
            values[k / EACH]};
        if (!fits(port, single.value))
            continue;
        c->point = &points[k % EACH];
        good = try_single(c, &single);
    }
    return good;
}

bool jx_grad_integers(jx_gradding *c)
{
    bool good = true;

    if (c->cautious || c->second || c->most_work || c->values_only ||
        c->stands_in || c->pulling ||
        jx_points_ends_by_values(c->rule->primal.jaxpr))
        return true;
    for (int i = 0; i < c->primal.nins && good; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        if (jx_dtype_is_integer(port->dtype) && port->aval->dtype != JX_KEY &&
            port->count > 0 && !c->calling->fixed[i] &&
            c->calling->ties[i] == i)
            good = try_integers(c, i);
    }
    return good;
}
