/* gradlook.c - see gradding.h.
 *
 * A slope costs as much as a thousand elements of the function.  Of a large result some are
 * looked at: by chance, and where the rule is not what the function's own derivative is.
 * Without that one, all are, but in second order. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MANY = 2048, /* components: of fewer, all are looked at */
    SUSPECTS = 64,
};

static void add(jx_gradding *c, int component)
{
    if (c->nlooked < JX_MOST_LOOKED && !c->is_looked[component]) {
        c->is_looked[component] = true;
        c->looked[c->nlooked++] = component;
    }
}

static bool differ(const jx_gradding *c, double value, double own, double scale)
{
    return !(fabs(value - own) <= c->tolerance * scale + DBL_MIN); /* or one is NaN */
}

/* Where the rule's tangents differ from the own derivative's. */
static bool add_suspects(jx_gradding *c, const double *d)
{
    int count = 0;

    if (!jx_grad_run_jvp(c, d, 1))
        return false;
    jx_grad_take_tangents(c, c->tangent);
    for (int j = 0; j < c->out.size && count < SUSPECTS; j++)
        if (differ(c, c->tangent[j], c->along[j], fabs(c->tangent[j]) + fabs(c->along[j]))) {
            add(c, j);
            count++;
        }
    return true;
}

/* Whether the rule pulls a cotangent of all components back as the own derivative would. */
static bool pulls_as_own(jx_gradding *c, const double *d)
{
    double value, scale, sum = 0, size = 0;

    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] = jx_rng_normal(&c->rng);
    if (!jx_grad_pulled_back(c, c->cotangent, d, &value, &scale))
        return false;
    jx_space_conjugate(&c->out, c->cotangent);
    for (int j = 0; j < c->out.size; j++) {
        sum += c->cotangent[j] * c->along[j];
        size += fabs(c->cotangent[j] * c->along[j]);
    }
    return !differ(c, value, sum, scale + size);
}

void jx_grad_look(jx_gradding *c, const double *d)
{
    int m = c->out.size;

    for (int k = 0; k < c->nlooked; k++)
        c->is_looked[c->looked[k]] = false;
    c->nlooked = 0;
    if (m <= MANY || c->intent || c->stands_in)
        return;
    jx_grad_own_along(c, d);
    if (!c->second && (!c->has_along || !(c->rule->vjp ? pulls_as_own(c, d) : add_suspects(c, d)))) {
        while (c->nlooked > 0)
            c->is_looked[c->looked[--c->nlooked]] = false;
        return;
    }
    add(c, m - 1);
    for (int k = 0; k < JX_MOST_LOOKED; k++)
        add(c, (int)(jx_rng_next(&c->rng) % (uint64_t)m));
}
