/* document_values.c - parameter values, literals, rules, comparisons and
 * retraces. */
#include "frontend/write/document_parts.h"

#include <math.h>
#include <string.h>

static void put_items(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_putc(to, '[');
    for (int i = 0; i < v->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_emit_value(e, v->items[i], to);
    }
    jx_buffer_putc(to, ']');
}

static void put_tag(jx_buffer *to, const char *tag, const char *text)
{
    jx_buffer_printf(to, "{\"%s\":", tag);
    jx_json_put_text(to, text ? text : "");
    jx_buffer_putc(to, '}');
}

static void put_int(const jx_value *v, jx_buffer *to)
{
    const int64_t exact = (int64_t)1 << 53;

    if (v->text) {
        jx_buffer_printf(to, "{\"$np\":\"%s\",\"v\":", v->text);
        jx_emit_int(v->integer, to);
        jx_buffer_putc(to, '}');
    } else if (v->tag == JX_V_UINT)
        jx_buffer_printf(to, "{\"$int\":\"%llu\"}",
                         (unsigned long long)v->integer);
    else if (v->integer >= -exact && v->integer <= exact)
        jx_json_put_int(to, v->integer);
    else
        jx_buffer_printf(to, "{\"$int\":\"%lld\"}", (long long)v->integer);
}

static void put_float(double value, jx_buffer *to)
{
    if (isfinite(value)) {
        jx_json_put_real(to, value);
        return;
    }
    jx_buffer_puts(to, "{\"$f\":");
    jx_emit_hex(&value, 8, to);
    jx_buffer_putc(to, '}');
}

static void put_complex(const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$c\":[");
    jx_emit_hex(&v->real, 8, to);
    jx_buffer_putc(to, ',');
    jx_emit_hex(&v->imag, 8, to);
    jx_buffer_puts(to, "]}");
}

static void put_map(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$map\":[");
    for (int i = 0; i + 1 < v->count; i += 2) {
        jx_buffer_puts(to, i ? ",[" : "[");
        jx_emit_value(e, v->items[i], to);
        jx_buffer_putc(to, ',');
        jx_emit_value(e, v->items[i + 1], to);
        jx_buffer_putc(to, ']');
    }
    jx_buffer_puts(to, "]}");
}

static void put_record(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$rec\":");
    jx_json_put_text(to, v->text);
    jx_buffer_puts(to, ",\"f\":{");
    for (int i = 0; i < v->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, v->keys[i]);
        jx_buffer_putc(to, ':');
        jx_emit_value(e, v->items[i], to);
    }
    jx_buffer_puts(to, v->boolean ? "},\"hi\":true}" : "}}");
}

static void put_dim(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    int scope = jx_emit_scope_of(e, v->dim);

    jx_buffer_puts(to, "{\"$dim\":");
    jx_emit_dim_text(v->dim, to);
    if (scope)
        jx_buffer_printf(to, ",\"scope\":%d", scope);
    jx_buffer_putc(to, '}');
}

static void put_jaxpr(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$jaxpr\":%d", jx_emit_jaxpr(e, v->jaxpr));
    for (int i = 0; i < v->count; i++)
        jx_buffer_printf(to, "%s%d", i ? "," : ",\"consts\":[",
                         jx_emit_array(e, v->items[i]->array));
    jx_buffer_puts(to, v->count ? "]" : "");
    jx_buffer_puts(to, v->open ? ",\"open\":true}" : "}");
}

static void put_rule(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$rule\":%d", jx_emit_rule(e, v->rule));
    if (v->text) {
        jx_emit_key(to, "fn");
        jx_json_put_text(to, v->text);
    }
    jx_buffer_putc(to, '}');
}

static void put_marked(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_emit_spec(v, to);
    if (v->unreduced) {
        jx_emit_key(to, "unreduced");
        put_items(e, v->unreduced, to);
    }
    if (v->reduced) {
        jx_emit_key(to, "reduced");
        put_items(e, v->reduced, to);
    }
}

static void put_spec(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$spec\":");
    put_marked(e, v, to);
    jx_buffer_putc(to, '}');
}

static void put_sharding(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$sharding\":{\"mesh\":%d,\"spec\":",
                     jx_emit_mesh(e, v->integer));
    put_marked(e, v->items[0], to);
    if (v->text) {
        jx_emit_key(to, "ms");
        jx_json_put_text(to, v->text);
    }
    jx_buffer_puts(to, "}}");
}

static void put_opaque(const jx_value *v, jx_buffer *to)
{
    jx_buffer_puts(to, "{\"$opaque\":");
    jx_json_put_text(to, v->text);
    jx_buffer_puts(to, ",\"repr\":");
    jx_json_put_text(to, v->detail ? v->detail : "");
    jx_buffer_putc(to, '}');
}

void jx_emit_value(jx_emit *e, const jx_value *v, jx_buffer *to)
{
    switch (v->tag) {
    case JX_V_NONE:
        jx_buffer_puts(to, "null");
        break;
    case JX_V_BOOL:
        jx_buffer_puts(to, v->boolean ? "true" : "false");
        break;
    case JX_V_INT:
    case JX_V_UINT:
        put_int(v, to);
        break;
    case JX_V_FLOAT:
        put_float(v->real, to);
        break;
    case JX_V_COMPLEX:
        put_complex(v, to);
        break;
    case JX_V_TEXT:
        jx_json_put_text(to, v->text);
        break;
    case JX_V_TUPLE:
        put_items(e, v, to);
        break;
    case JX_V_SET:
        jx_buffer_puts(to, "{\"$set\":");
        put_items(e, v, to);
        jx_buffer_putc(to, '}');
        break;
    case JX_V_MAP:
        put_map(e, v, to);
        break;
    case JX_V_SLICE:
        jx_buffer_puts(to, "{\"$slice\":");
        put_items(e, v, to);
        jx_buffer_putc(to, '}');
        break;
    case JX_V_RECORD:
        put_record(e, v, to);
        break;
    case JX_V_ENUM:
        put_tag(to, "$enum", v->text);
        break;
    case JX_V_DTYPE:
        put_tag(to, "$dt", v->text);
        break;
    case JX_V_DIM:
        put_dim(e, v, to);
        break;
    case JX_V_JAXPR:
        put_jaxpr(e, v, to);
        break;
    case JX_V_RULE:
        put_rule(e, v, to);
        break;
    case JX_V_AVAL:
        jx_buffer_printf(to, "{\"$aval\":%d}", jx_emit_aval(e, v->aval));
        break;
    case JX_V_PRIM:
        put_tag(to, "$prim", v->text);
        break;
    case JX_V_MESH:
        jx_buffer_printf(to, "{\"$mesh\":%d}", jx_emit_mesh(e, v->integer));
        break;
    case JX_V_SPEC:
        put_spec(e, v, to);
        break;
    case JX_V_SHARDING:
        put_sharding(e, v, to);
        break;
    case JX_V_UNSPECIFIED:
        jx_buffer_puts(to, "{\"$unspecified\":true}");
        break;
    case JX_V_CONST:
        jx_buffer_printf(to, "{\"$const\":%d}", jx_emit_array(e, v->array));
        break;
    case JX_V_FUNCTION:
        put_tag(to, "$fn", v->text);
        break;
    case JX_V_TREE:
        put_tag(to, "$tree", v->text);
        break;
    case JX_V_IMPL:
        put_tag(to, "$impl", v->text);
        break;
    case JX_V_OPAQUE:
        put_opaque(v, to);
        break;
    case JX_V_SHOWN:
        jx_emit_value(e, v->shown, to);
        break;
    }
}

void jx_emit_closed(jx_emit *e, const jx_closed *closed, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"$jaxpr\":%d", jx_emit_jaxpr(e, closed->jaxpr));
    for (int i = 0; i < closed->nconsts; i++)
        jx_buffer_printf(to, "%s%d", i ? "," : ",\"consts\":[",
                         jx_emit_array(e, closed->consts[i]));
    jx_buffer_puts(to, closed->nconsts ? "]}" : "}");
}

/* ---- literals */

static void put_integer(const jx_literal *l, jx_buffer *to)
{
    const jx_dtype_info *info = jx_dtype_of(l->aval->dtype);
    uint64_t bits = 0;
    int unused = 64 - info->bits;

    memcpy(&bits, l->bits, info->bytes);
    if (info->kind == JX_KIND_INT)
        jx_emit_int((int64_t)(bits << unused) >> unused, to);
    else if (bits > (uint64_t)1 << 53)
        jx_buffer_printf(to, "\"%llu\"", (unsigned long long)bits);
    else
        jx_buffer_printf(to, "%llu", (unsigned long long)bits);
}

static void put_real(const jx_literal *l, jx_buffer *to)
{
    float narrow;
    double value = NAN;

    if (l->wide) {
        value = l->real;
    } else if (l->aval->dtype == JX_F32) {
        memcpy(&narrow, l->bits, 4);
        value = narrow;
    } else if (l->aval->dtype == JX_F64) {
        memcpy(&value, l->bits, 8);
    }
    if (isfinite(value))
        jx_json_put_real(to, value);
    else
        jx_emit_hex(l->bits, jx_dtype_of(l->aval->dtype)->bytes, to);
}

static void put_element(const jx_literal *l, jx_buffer *to)
{
    const jx_dtype_info *info = jx_dtype_of(l->aval->dtype);

    switch (info->kind) {
    case JX_KIND_INT:
    case JX_KIND_UINT:
        put_integer(l, to);
        break;
    case JX_KIND_FLOAT:
        put_real(l, to);
        break;
    case JX_KIND_COMPLEX:
        jx_buffer_putc(to, '[');
        jx_emit_hex(l->bits, info->bytes / 2, to);
        jx_buffer_putc(to, ',');
        jx_emit_hex(l->bits + info->bytes / 2, info->bytes / 2, to);
        jx_buffer_putc(to, ']');
        break;
    default:
        jx_buffer_puts(to, l->bits[0] ? "true" : "false");
    }
}

void jx_emit_literal(jx_emit *e, const jx_literal *l, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"a\":%d", jx_emit_aval(e, l->aval));
    if (l->dim) {
        int scope = jx_emit_scope_of(e, l->dim);
        jx_emit_key(to, "dim");
        jx_emit_dim_text(l->dim, to);
        if (scope)
            jx_buffer_printf(to, ",\"scope\":%d", scope);
    } else if (l->array) {
        jx_buffer_printf(to, ",\"c\":%d", jx_emit_array(e, l->array));
    } else {
        jx_emit_key(to, "v");
        put_element(l, to);
    }
    jx_buffer_putc(to, '}');
}

/* ---- rules */

int jx_emit_rule(jx_emit *e, const jx_rule *rule)
{
    int row = jx_rows_find(&e->rules, rule);

    if (row >= 0)
        return row;
    row = jx_rows_add(e, &e->rules, rule);
    if (row < e->program->nrules)
        e->queue[row] = rule;
    else
        e->failed = true;
    return row;
}

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

static void put_rule_operands(jx_emit *e, const jx_rule *rule, jx_buffer *to)
{
    jx_emit_key(to, "in");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < rule->nins; i++)
        jx_buffer_printf(to, "%s%d", i ? "," : "",
                         jx_emit_aval(e, rule->ins[i]));
    jx_buffer_putc(to, ']');
    if (rule->nconsts) {
        jx_emit_key(to, "nc");
        jx_json_put_int(to, rule->nconsts);
    }
    jx_emit_key(to, "nout");
    jx_json_put_int(to, rule->nouts);
    jx_emit_key(to, "primal");
    jx_emit_closed(e, &rule->primal, to);
}

static void put_rule_row(jx_emit *e, const jx_rule *rule, jx_buffer *to)
{
    jx_buffer patterns = jx_ctx_text(e->program->ctx);
    int stack = jx_emit_stack(e, rule->stack);

    /* The walk meets the stack first, then the patterns. */
    for (int i = 0; i < rule->npatterns; i++) {
        jx_buffer_puts(&patterns, i ? "," : "");
        put_pattern(e, rule, &rule->patterns[i], &patterns);
    }
    jx_buffer_printf(to, "{\"prim\":\"%s\"",
                     rule->vjp ? "custom_vjp_call" : "custom_jvp_call");
    if (rule->name && *rule->name) {
        jx_emit_key(to, "name");
        jx_json_put_text(to, rule->name);
    }
    jx_emit_key(to, "stack");
    jx_json_put_int(to, stack);
    put_rule_operands(e, rule, to);
    if (rule->symbolic_zeros) {
        jx_emit_key(to, "symbolic_zeros");
        jx_buffer_puts(to, "true");
    }
    if (patterns.length) {
        jx_emit_key(to, "patterns");
        jx_buffer_printf(to, "[%s]", patterns.text);
    }
    if (rule->batched) {
        jx_emit_key(to, "batched");
        jx_emit_value(e, rule->batched, to);
    }
    if (rule->truncated) {
        jx_emit_key(to, "truncated");
        jx_json_put_text(to, rule->truncated);
    }
    jx_buffer_putc(to, '}');
    e->failed = e->failed || !jx_buffer_ok(&patterns);
    jx_buffer_free(&patterns);
}

void jx_emit_rules(jx_emit *e)
{
    for (int i = 0; i < e->rules.count && !e->failed; i++) {
        jx_rows_begin(&e->rules);
        put_rule_row(e, e->queue[i], &e->rules.text);
    }
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
