/* gradlook.c - see gradding.h.
 *
 * A slope costs as much as a thousand elements of the function.  Of a large
 * result some are looked at: by chance, and where the rule is not what the
 * function's own derivative is. Without that one, all are, but in second order.
 *
 * What the program has no use for (what a solver knows of its last step) has no
 * cotangent but zero, and is not looked at. */
#include "runtime/gradients/gradding.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MANY = 2048, /* components: of fewer, all are looked at */
    SUSPECTS = 64,
};

bool jx_grad_is_wanted(const jx_gradding *c, int span)
{
    return !c->unwanted || c->calling->wanted[c->out.port[span]];
}

static int span_of(const jx_gradding *c, int component)
{
    int s = 0;

    while (s + 1 < c->out.count && c->out.spans[s + 1].at <= component)
        s++;
    return s;
}

static bool is_wanted(const jx_gradding *c, int component)
{
    return jx_grad_is_wanted(c, span_of(c, component));
}

/* The other part of a complex number, without which neither has a slope; what
 * is real is its own. */
static int other_part(const jx_gradding *c, int component)
{
    const jx_span_of *span = &c->out.spans[span_of(c, component)];

    return span->complex ? span->at + ((component - span->at) ^ 1) : component;
}

int jx_grad_unwanted(const jx_gradding *c)
{
    const bool *wanted = c->calling->wanted;
    int count = 0;

    for (int i = 0; wanted && i < c->out.count; i++)
        count += !wanted[c->out.port[i]];
    return count < c->out.count ? count : 0;
}

static void add(jx_gradding *c, int component)
{
    const int parts[] = {component, other_part(c, component)};

    for (int k = 0; k < 2 && c->nlooked < JX_MOST_LOOKED; k++)
        if (!c->is_looked[parts[k]] && is_wanted(c, component)) {
            c->is_looked[parts[k]] = true;
            c->looked[c->nlooked++] = parts[k];
        }
}

jx_grad_looking jx_grad_look_at(jx_gradding *c, jx_functional f)
{
    const jx_grad_looking before = {c->nlooked, {c->looked[0], c->looked[1]}};
    const int other = f.weights ? 0 : other_part(c, f.only);

    if (f.weights)
        return before;
    c->nlooked = 1 + (other != f.only);
    c->looked[0] = f.only;
    c->looked[1] = other != f.only ? other : before.looked[1];
    return before;
}

void jx_grad_look_again(jx_gradding *c, const jx_grad_looking *before)
{
    c->nlooked = before->nlooked;
    memcpy(c->looked, before->looked, sizeof before->looked);
}

/* Of results that are not all wanted: all components of these, or some. */
static void look_at_wanted(jx_gradding *c)
{
    int m = c->out.size, count = 0;

    for (int j = 0; j < m; j++)
        count += is_wanted(c, j);
    for (int j = 0; count <= JX_MOST_LOOKED && j < m; j++)
        add(c, j);
    for (int k = 0; count > JX_MOST_LOOKED && k < JX_MOST_LOOKED; k++)
        add(c, (int)(jx_rng_next(&c->rng) % (uint64_t)m));
}

static bool differ(const jx_gradding *c, double value, double own, double scale)
{
    /* or one is NaN */
    return !(fabs(value - own) <= c->tolerance * scale + DBL_MIN);
}

/* Where the rule's tangents differ from the own derivative's. */
static bool add_suspects(jx_gradding *c, const double *d)
{
    int count = 0;

    if (!jx_grad_run_jvp(c, d, 1))
        return false;
    jx_grad_take_tangents(c, c->tangent);
    for (int j = 0; j < c->out.size && count < SUSPECTS; j++)
        if (differ(c, c->tangent[j], c->along[j],
                   fabs(c->tangent[j]) + fabs(c->along[j]))) {
            add(c, j);
            count++;
        }
    return true;
}

/* Whether the rule pulls a cotangent of all components back as the own
 * derivative would. */
static bool pulls_as_own(jx_gradding *c, const double *d)
{
    double value, scale, sum = 0, size = 0;

    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] = is_wanted(c, j) ? jx_rng_normal(&c->rng) : 0;
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
    if (c->intent || c->stands_in)
        return;
    if (m <= MANY) {
        if (c->unwanted)
            look_at_wanted(c);
        return;
    }
    jx_grad_own_along(c, d);
    if (!c->second && (!c->has_along || !(c->rule->vjp ? pulls_as_own(c, d)
                                                       : add_suspects(c, d)))) {
        while (c->nlooked > 0)
            c->is_looked[c->looked[--c->nlooked]] = false;
        return;
    }
    add(c, m - 1);
    for (int k = 0; k < JX_MOST_LOOKED; k++)
        add(c, (int)(jx_rng_next(&c->rng) % (uint64_t)m));
}
