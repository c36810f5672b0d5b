/* gradwitness.c - see gradding.h: what shows that a derivative is wrong, as
 * JSON (docs/REPORT.md), for whoever makes a test of it. */
#include "frontend/base/json.h"
#include "frontend/ir/element.h"
#include "runtime/gradients/gradding.h"

#include <math.h>

enum { SHOWN = 4096 }; /* elements of one value */

static void put_key(jx_buffer *to, const char *key)
{
    jx_buffer_putc(to, ',');
    jx_json_put_text(to, key);
    jx_buffer_putc(to, ':');
}

static void put_real(jx_buffer *to, double value)
{
    if (isfinite(value))
        jx_json_put_real(to, value);
    else
        jx_json_put_text(to, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void put_element(jx_buffer *to, const jx_port *port, const void *at,
                        int64_t i)
{
    const jx_dtype_info *info = jx_dtype_of(port->dtype);

    if (jx_dtype_is_inexact(port->dtype)) {
        int parts = jx_dtype_is_complex(port->dtype) ? 2 : 1;
        for (int k = 0; k < parts; k++) {
            if (k)
                jx_buffer_putc(to, ',');
            put_real(to, ((const double *)at)[parts * i + k]);
        }
        return;
    }
    uint64_t bits = jx_element_integer(
        port->dtype, (const char *)at + (size_t)i * (size_t)info->bytes);
    if (info->kind == JX_KIND_UINT)
        jx_buffer_printf(to, "%llu", (unsigned long long)bits);
    else
        jx_json_put_int(to, (int64_t)bits);
}

/* {"dtype":"f32","shape":[2],"values":[1.0,2.0]}; a complex element
 * is two numbers. */
static bool put_value(jx_buffer *to, const jx_port *port, const void *at)
{
    if (port->count > SHOWN || port->aval->dtype == JX_KEY ||
        jx_dtype_of(port->dtype)->bytes == 0)
        return false;
    jx_buffer_puts(to, "{\"dtype\":");
    jx_json_put_text(to, jx_dtype_of(port->aval->dtype)->name);
    put_key(to, "shape");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < port->rank; i++)
        jx_buffer_printf(to, "%s%lld", i ? "," : "", (long long)port->shape[i]);
    jx_buffer_putc(to, ']');
    put_key(to, "values");
    jx_buffer_putc(to, '[');
    for (int64_t i = 0; i < port->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_element(to, port, at, i);
    }
    jx_buffer_puts(to, "]}");
    return true;
}

/* A vector of a space, a value for each of `count` ports, null for
 * those outside. */
static bool put_vector(jx_buffer *to, const jx_space *s, const jx_plan *plan,
                       int count,
                       const jx_port *(*port_of)(const jx_plan *, int),
                       const double *v)
{
    bool good = true;

    jx_buffer_putc(to, '[');
    for (int i = 0, span = 0; good && i < count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        if (span < s->count && s->port[span] == i)
            good = put_value(to, port_of(plan, i), v + s->spans[span++].at);
        else
            jx_buffer_puts(to, "null");
    }
    jx_buffer_putc(to, ']');
    return good;
}

static bool put_inputs(jx_buffer *to, const jx_gradding *c)
{
    bool good = true;

    jx_buffer_putc(to, '[');
    for (int i = 0; good && i < c->primal.nins; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        good = put_value(to, jx_plan_in(c->primal.plan, i), c->primal.in[i]);
    }
    jx_buffer_putc(to, ']');
    return good;
}

const char *jx_grad_batch_witness(jx_ctx *ctx, const char *axes,
                                  const jx_callee *all)
{
    jx_buffer text = jx_ctx_text(ctx);
    bool good = true;

    jx_buffer_printf(&text, "{\"rule\":\"batch\",\"axes\":\"%s\"", axes);
    put_key(&text, "inputs");
    for (int i = 0; good && i < all->nins; i++) {
        jx_buffer_putc(&text, i ? ',' : '[');
        good = put_value(&text, jx_plan_in(all->plan, i), all->in[i]);
    }
    jx_buffer_puts(&text, "]}");
    if (good)
        return jx_arena_take(ctx->arena, &text);
    jx_buffer_free(&text);
    return NULL;
}

void jx_grad_witness(jx_gradding *c, const jx_shown *shown)
{
    jx_buffer text = jx_ctx_text(c->program->ctx);
    bool good;

    c->place = jx_arena_copy(c->program->ctx->arena, c->x,
                             (size_t)c->in.size * sizeof *c->x);
    jx_space_scatter(&c->in, c->x, &c->primal);
    jx_buffer_printf(
        &text, "{\"rule\":\"%s\",\"order\":%d,\"whole\":%s,\"closed_over\":%d",
        c->rule->vjp ? "vjp" : "jvp", c->second ? 2 : 1,
        c->most_work ? "true" : "false", c->rule->nconsts);
    put_key(&text, "of");
    jx_json_put_text(&text, shown->value ? "value" : "derivative");
    put_key(&text, "inputs");
    good = put_inputs(&text, c);
    if (good && shown->direction) {
        put_key(&text, "direction");
        good = put_vector(&text, &c->in, c->primal.plan, c->primal.nins,
                          jx_plan_in, shown->direction);
    }
    if (good && shown->cotangent) {
        put_key(&text, "cotangent");
        good = put_vector(&text, &c->out, c->primal.plan, c->primal.nouts,
                          jx_plan_out, shown->cotangent);
    }
    put_key(&text, "gives");
    put_real(&text, shown->gives);
    put_key(&text, "low");
    put_real(&text, shown->low);
    put_key(&text, "high");
    put_real(&text, shown->high);
    jx_buffer_putc(&text, '}');
    c->witness = good ? jx_arena_take(c->program->ctx->arena, &text) : NULL;
    if (!good)
        jx_buffer_free(&text);
}
