/* gradintent.c - see gradding.h. */
#include "frontend/ir/element.h"
#include "runtime/gradients/gradding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double jx_grad_reach(const jx_gradding *c)
{
    return c->intent == JX_INTENT_CLIP ? 1e-6 : 1;
}

double jx_grad_length(const jx_gradding *c)
{
    bool small = c->intent || c->stands_in || c->most_work || c->second;

    for (int i = 0; i < c->rule->nins; i++)
        small = small || c->rule->ins[i]->dtype == JX_F16;
    return small ? 1 : 1000;
}

/* Integers and truth values keep what they had at the first point, as well; of
 * 0 nothing would be left to compare, and 1 is what other factors are. */
static void hold_passive(jx_gradding *c, int operand)
{
    const jx_port *port = jx_plan_in(c->primal.plan, operand);
    const size_t bytes = jx_dtype_of(port->dtype)->bytes;
    char *in = c->primal.in[operand];
    bool integer = jx_dtype_is_integer(port->dtype);

    if (!(integer || port->dtype == JX_BOOL) || port->aval->dtype == JX_KEY ||
        (c->fixed && c->calling->fixed[operand]) ||
        !jx_grad_is_unread(c, operand))
        return;
    if (!c->held_passive[operand]) {
        c->held_passive[operand] =
            jx_arena_alloc(c->program->ctx->arena, port->bytes);
        for (size_t i = 0; integer && i < (size_t)port->count; i++)
            if (jx_element_integer(port->dtype, in + i * bytes) <= 1)
                jx_element_from_integer(port->dtype, 2, in + i * bytes);
        if (c->held_passive[operand])
            memcpy(c->held_passive[operand], in, port->bytes);
    } else {
        memcpy(in, c->held_passive[operand], port->bytes);
    }
}

void jx_grad_hold_factor(jx_gradding *c)
{
    bool first = !c->held;

    if (c->intent != JX_INTENT_SCALED)
        return;
    if (first)
        c->held = jx_arena_alloc(c->program->ctx->arena,
                                 (size_t)c->in.size * sizeof *c->held);
    if (first)
        c->held_passive =
            JX_NEW_ARRAY(c->program->ctx->arena, c->primal.nins + 1, void *);
    for (int i = 0; c->held_passive && i < c->primal.nins; i++)
        hold_passive(c, i);
    for (int s = 0; c->held && s < c->in.count; s++) {
        double *x = c->x + c->in.spans[s].at;
        double *held = c->held + c->in.spans[s].at;
        if (!jx_grad_is_unread(c, c->in.port[s]))
            continue;
        for (int i = 0; i < c->in.spans[s].count; i++) {
            if (first) /* of 0, nothing would be left to compare */
                held[i] = x[i] != 0 ? x[i] : 0.5;
            x[i] = held[i];
        }
    }
}

double jx_grad_unscaled(jx_gradding *c, double value, const jx_target *t)
{
    if (c->intent != JX_INTENT_SCALED || !isfinite(value))
        return value;
    if (c->factor == 0 && value != 0 && t->low == t->high && !t->undefined &&
        !t->stair && !t->imprecise && fabs(t->low) > 1e4 * t->error)
        c->factor = value / t->low;
    return c->factor != 0 ? value / c->factor : value;
}

/* Whether an argument is 0: what is cut to that is nothing. */
static bool has_zero_argument(const jx_gradding *c)
{
    for (int s = 0; s < c->in.count; s++) {
        const double *x = c->x + c->in.spans[s].at;
        int n = c->in.spans[s].count, i = 0;
        while (i < n && x[i] == 0)
            i++;
        if (n > 0 && i == n)
            return true;
    }
    for (int i = 0; i < c->primal.nins; i++) {
        const jx_port *port = jx_plan_in(c->primal.plan, i);
        const char *in = c->primal.in[i];
        size_t k = 0;
        while (k < port->bytes && in[k] == 0)
            k++;
        if (jx_dtype_is_integer(port->dtype) && k == port->bytes)
            return true;
    }
    return false;
}

bool jx_grad_is_clipped(jx_gradding *c)
{
    static const double less = -1.0 / 1024; /* exact */
    size_t n = (size_t)c->in.size;
    double *d = jx_grad_room(c, 2 * n + 1, sizeof *d), *here = d ? d + n : NULL,
           value, scale;
    bool clipped = d == NULL, any = false;

    if (c->intent != JX_INTENT_CLIP || clipped) {
        free(d);
        return clipped;
    }
    memcpy(here, c->tangent, n * sizeof *here);
    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] *= less;
    clipped = !jx_grad_pulled_back(c, c->cotangent, d, &value, &scale);
    for (size_t i = 0; !clipped && i < n; i++) {
        any |= here[i] != 0;
        clipped = !(fabs(c->tangent[i] - less * here[i]) <=
                    1e-6 * fabs(less * here[i]));
    }
    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] /= less;
    memcpy(c->tangent, here, n * sizeof *here);
    free(d);
    return clipped || (!any && has_zero_argument(c));
}

bool jx_grad_clips(jx_gradding *c)
{
    /* beyond any limit that is passed or drawn */
    static const double large = 1e30;
    size_t n = (size_t)c->in.size;
    double *d = jx_grad_room(c, 2 * n + 1, sizeof *d), *far = d ? d + n : NULL,
           value, scale;
    bool good = d != NULL, less = false, any = false;

    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] = 1e-6;
    good = good && jx_grad_pulled_back(c, c->cotangent, d, &value, &scale);
    if (good)
        memcpy(far, c->tangent, n * sizeof *far);
    for (int j = 0; j < c->out.size; j++)
        c->cotangent[j] *= large;
    good = good && jx_grad_pulled_back(c, c->cotangent, d, &value, &scale);
    for (size_t i = 0; good && i < n; i++) {
        any |= far[i] != 0;
        less |= fabs(c->tangent[i]) < 0.99 * large * fabs(far[i]);
    }
    less = less || !any;
    free(d);
    if (good && !less)
        c->wrong = jx_arena_printf(
            c->program->ctx->arena,
            "it is declared to clip, and does not: cotangents of "
            "1e24 give %.6g times what 1e-6 give",
            large);
    return !good || less;
}

bool jx_grad_is_straight(jx_gradding *c, const double *from, const double *to)
{
    int n = c->in.spans[0].count;

    if (c->in.spans[0].at != 0 || n != c->out.size) {
        c->wrong =
            "it is declared as straight-through, and its first argument is not "
            "of the "
            "size of its results: say what it stands in for (surrogate=)";
        return false;
    }
    for (int i = 0; i < n; i++) {
        bool passed = fabs(to[i] - from[i]) <= c->tolerance * fabs(from[i]);
        c->comparisons++;
        c->passed += passed && from[i] != 0;
        if (passed || to[i] == 0)
            continue;
        c->wrong =
            jx_arena_printf(c->program->ctx->arena,
                            "at %s (%s), element %d: it makes %.10g of %.10g",
                            jx_sample_text(c->program->ctx, c->x, c->in.size),
                            c->point->name, i, to[i], from[i]);
        return false;
    }
    return true;
}
