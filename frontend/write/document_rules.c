/* document_rules.c - rules of derivatives, comparisons and retraces. */
#include "frontend/write/document_parts.h"

/* ---- rules */

static void put_mask(const char *key, const char *mask, jx_buffer *to)
{
    if (!mask)
        return;
    jx_emit_key(to, key);
    jx_json_put_text(to, mask);
}

static void put_vjp(jx_emit *e, const jx_rule_pattern *p, jx_buffer *to)
{
    int own = 0;

    jx_emit_key(to, "fwd");
    jx_emit_closed(e, &p->fwd, to);
    for (int i = 0; i < p->nres; i++)
        own += p->fwds[i] < 0;
    if (own) {
        jx_emit_key(to, "nres");
        jx_json_put_int(to, own);
    }
    if (p->nres)
        jx_emit_key(to, "fwds");
    for (int i = 0; i < p->nres; i++) {
        jx_buffer_putc(to, i ? ',' : '[');
        if (p->fwds[i] < 0)
            jx_buffer_puts(to, "null");
        else
            jx_json_put_int(to, p->fwds[i]);
    }
    if (p->nres)
        jx_buffer_putc(to, ']');
    jx_emit_key(to, "bwd");
    jx_emit_closed(e, &p->bwd, to);
    put_mask("ct_zeros", p->ct_zeros, to);
}

static void put_pattern(jx_emit *e, const jx_rule *rule,
                        const jx_rule_pattern *p, jx_buffer *to)
{
    jx_buffer_putc(to, '{');
    jx_emit_key(to, "zeros");
    jx_json_put_text(to, p->zeros);
    if (p->error) {
        jx_emit_key(to, "error");
        jx_json_put_text(to, p->error);
    } else if (rule->vjp) {
        put_vjp(e, p, to);
    } else {
        jx_emit_key(to, "jvp");
        jx_emit_closed(e, &p->jvp, to);
        put_mask("out_zeros", p->out_zeros, to);
    }
    jx_buffer_putc(to, '}');
}

void jx_emit_avals(jx_emit *e, const char *key, int count,
                   const jx_aval *const *avals, jx_buffer *to)
{
    jx_emit_key(to, key);
    jx_buffer_putc(to, '[');
    for (int i = 0; i < count; i++)
        jx_buffer_printf(to, "%s%d", i ? "," : "", jx_emit_aval(e, avals[i]));
    jx_buffer_putc(to, ']');
}

static void put_rule_operands(jx_emit *e, const jx_rule *rule, jx_buffer *to)
{
    jx_emit_avals(e, "in", rule->nins, rule->ins, to);
    if (rule->nconsts) {
        jx_emit_key(to, "nc");
        jx_json_put_int(to, rule->nconsts);
    }
    jx_emit_key(to, "nout");
    jx_json_put_int(to, rule->nouts);
    jx_emit_key(to, "primal");
    jx_emit_closed(e, &rule->primal, to);
}

static void put_intent(jx_emit *e, const jx_rule *rule, jx_buffer *to)
{
    jx_emit_key(to, "intent");
    jx_buffer_printf(to, "{\"kind\":\"%s\"", jx_intent_name(rule->intent));
    if (rule->reason) {
        jx_emit_key(to, "reason");
        jx_json_put_text(to, rule->reason);
    }
    if (rule->surrogate.jaxpr) {
        jx_emit_key(to, "surrogate");
        jx_emit_closed(e, &rule->surrogate, to);
    }
    jx_buffer_putc(to, '}');
}

/* With the first pattern, if there is any. */
static void begin_row(jx_emit *e, const jx_rule *rule, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"prim\":\"%s\"",
                     rule->vjp ? "custom_vjp_call" : "custom_jvp_call");
    if (rule->name && *rule->name) {
        jx_emit_key(to, "name");
        jx_json_put_text(to, rule->name);
    }
    jx_emit_key(to, "stack");
    jx_json_put_int(to, jx_emit_stack(e, rule->stack));
    put_rule_operands(e, rule, to);
    if (rule->symbolic_zeros) {
        jx_emit_key(to, "symbolic_zeros");
        jx_buffer_puts(to, "true");
    }
    if (rule->intent)
        put_intent(e, rule, to);
    if (rule->npatterns) {
        jx_emit_key(to, "patterns");
        jx_buffer_putc(to, '[');
        put_pattern(e, rule, &rule->patterns[0], to);
    }
}

static void end_row(jx_emit *e, const jx_rule *rule, jx_buffer *to)
{
    for (int i = 1; i < rule->npatterns; i++) {
        jx_buffer_putc(to, ',');
        put_pattern(e, rule, &rule->patterns[i], to);
    }
    if (rule->npatterns)
        jx_buffer_putc(to, ']');
    if (rule->batched) {
        jx_emit_key(to, "batched");
        jx_emit_value(e, rule->batched, to);
    }
    if (rule->truncated) {
        jx_emit_key(to, "truncated");
        jx_json_put_text(to, rule->truncated);
    }
    jx_buffer_putc(to, '}');
}

/* Each has its first pattern before any has another, as they are traced: so
 * what patterns meet has the rows that it has there. */
void jx_emit_rules(jx_emit *e)
{
    while (!e->failed && e->nwritten < e->rules.count) {
        if (e->nbegun < e->rules.count) {
            int row = e->nbegun++;
            begin_row(e, e->queue[row], &e->begun[row]);
        } else {
            int row = e->nwritten++;
            jx_rows_begin(&e->rules);
            jx_buffer_puts(&e->rules.text, jx_buffer_text(&e->begun[row]));
            e->failed = e->failed || !jx_buffer_ok(&e->begun[row]);
            jx_buffer_free(&e->begun[row]);
            end_row(e, e->queue[row], &e->rules.text);
        }
    }
}

void jx_emit_free_rules(jx_emit *e)
{
    for (int row = e->nwritten; e->begun && row < e->nbegun; row++)
        jx_buffer_free(&e->begun[row]);
}

/* ---- comparisons */

static void put_comparison(jx_emit *e, const jx_comparison *c, jx_buffer *to)
{
    static const char *const verdicts[] = {[JX_DECIDED_NONE] = "null",
                                           [JX_DECIDED_TRUE] = "true",
                                           [JX_DECIDED_FALSE] = "false"};
    int stack = jx_emit_stack(e, c->stack), scope = jx_emit_scope(e, c->scope);

    jx_buffer_puts(to, "{\"op\":");
    jx_json_put_text(to, c->op);
    jx_emit_key(to, "lhs");
    jx_emit_dim_text(c->lhs, to);
    jx_emit_key(to, "rhs");
    jx_emit_dim_text(c->rhs, to);
    if (scope > 0) {
        jx_emit_key(to, "scope");
        jx_json_put_int(to, scope);
    }
    jx_emit_key(to, "verdict");
    jx_buffer_puts(to, verdicts[c->decision]);
    jx_emit_key(to, "n");
    jx_json_put_int(to, c->count);
    if (stack >= 0) {
        jx_emit_key(to, "stack");
        jx_json_put_int(to, stack);
    }
    if (c->site_file) {
        jx_emit_key(to, "site");
        jx_buffer_putc(to, '[');
        jx_json_put_text(to, c->site_file);
        jx_buffer_putc(to, ',');
        jx_json_put_text(to, c->site_function);
        jx_buffer_putc(to, ']');
    }
    put_mask("via", c->via, to);
    jx_buffer_putc(to, '}');
}

void jx_emit_comparisons(jx_emit *e, jx_buffer *to)
{
    for (int i = 0; i < e->program->ncomparisons && !e->failed; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_comparison(e, &e->program->comparisons[i], to);
    }
}

/* ---- closures */

void jx_emit_closures(jx_emit *e, jx_buffer *to)
{
    for (int i = 0; i < e->program->nclosures && !e->failed; i++) {
        const jx_closure *c = &e->program->closures[i];
        jx_buffer_puts(to, i ? ",{" : "{");
        if (c->name) {
            jx_buffer_puts(to, "\"name\":");
            jx_json_put_text(to, c->name);
            jx_buffer_putc(to, ',');
        }
        jx_buffer_puts(to, "\"stack\":");
        jx_json_put_int(to, jx_emit_stack(e, c->stack));
        jx_buffer_putc(to, '}');
    }
}

/* ---- retraces */

static void put_retrace(jx_emit *e, const jx_retrace *r, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"sizes\":{");
    for (int i = 0; i < r->nsizes; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, r->names[i]);
        jx_buffer_putc(to, ':');
        jx_emit_int(r->values[i], to);
    }
    jx_buffer_putc(to, '}');
    if (r->closed.jaxpr) {
        jx_emit_entry(e, &r->closed, to);
    } else if (r->raised) {
        jx_emit_key(to, "raised");
        jx_json_put_text(to, r->raised);
        jx_emit_key(to, "stack");
        jx_json_put_int(to, jx_emit_stack(e, r->stack));
    } else {
        jx_emit_key(to, "undecided");
        jx_json_put_text(to, r->undecided);
    }
    jx_buffer_putc(to, '}');
}

void jx_emit_retraces(jx_emit *e, jx_buffer *to)
{
    for (int i = 0; i < e->program->nretraces && !e->failed; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_retrace(e, &e->program->retraces[i], to);
    }
}
