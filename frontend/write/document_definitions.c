/* document_definitions.c - what is said of primitives that their
 * authors defined. */
#include "frontend/ir/definition.h"
#include "frontend/write/document_parts.h"

static void put_mask(const char *key, const char *mask, jx_buffer *to)
{
    if (!mask)
        return;
    jx_emit_key(to, key);
    jx_json_put_text(to, mask);
}

static void put_axes(int count, const int *axes, jx_buffer *to)
{
    jx_emit_key(to, "axes");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < count; i++)
        if (axes[i] < 0)
            jx_buffer_puts(to, i ? ",null" : "null");
        else
            jx_buffer_printf(to, "%s%d", i ? "," : "", axes[i]);
    jx_buffer_putc(to, ']');
}

static void put_pattern(jx_emit *e, const jx_definition *of,
                        jx_definition_kind kind, const jx_definition_pattern *p,
                        jx_buffer *to)
{
    static const char *const masks[] = {"zeros", "linear", "batched"};
    static const char *const gives[] = {"out_zeros", "ct_zeros", ""};

    jx_buffer_putc(to, '{');
    put_mask(masks[kind], p->mask, to);
    put_mask("zeros", p->zeros, to);
    if (p->error) {
        jx_emit_key(to, "error");
        jx_json_put_text(to, p->error);
    } else {
        jx_emit_key(to, jx_definition_kind_name(kind));
        jx_emit_closed(e, &p->made, to);
        put_mask(gives[kind], p->gives, to);
        if (p->axes)
            put_axes(of->nouts, p->axes, to);
    }
    jx_buffer_putc(to, '}');
}

static void put_missing(const jx_definition *of, jx_buffer *to)
{
    static const jx_definition_kind order[] = {JX_DEFINED_EVAL, JX_DEFINED_JVP,
                                               JX_DEFINED_TRANSPOSE,
                                               JX_DEFINED_BATCH};
    const char *names[4];
    int count = 0;

    for (int i = 0; i < 4; i++)
        if (of->missing[order[i]])
            names[count++] = jx_definition_kind_name(order[i]);
    jx_emit_texts(to, "missing", count, names);
}

static void put_definition(jx_emit *e, const jx_definition *of, jx_buffer *to)
{
    jx_buffer_putc(to, '{');
    if (of->name && *of->name) {
        jx_emit_key(to, "name");
        jx_json_put_text(to, of->name);
    }
    jx_emit_avals(e, "in", of->nins, of->ins, to);
    jx_emit_avals(e, "out", of->nouts, of->outs, to);
    jx_emit_texts(to, "lower", of->nlower, of->lower);
    put_missing(of, to);
    for (int kind = 0; kind < JX_DEFINED_PATTERNED; kind++)
        for (int i = 0; i < of->npatterns[kind]; i++) {
            if (i == 0)
                jx_emit_key(to, jx_definition_kind_name(kind));
            jx_buffer_putc(to, i ? ',' : '[');
            put_pattern(e, of, kind, &of->patterns[kind][i], to);
            if (i == of->npatterns[kind] - 1)
                jx_buffer_putc(to, ']');
        }
    put_mask("truncated", of->truncated, to);
    jx_buffer_putc(to, '}');
}

void jx_emit_definitions(jx_emit *e)
{
    for (int i = 0; i < e->definitions.count && !e->failed; i++) {
        jx_rows_begin(&e->definitions);
        put_definition(e, e->defined[i], &e->definitions.text);
        jx_emit_rules(e);
    }
}
