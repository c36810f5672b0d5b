/* document.c - the document, from its tables.  See document.h. */
#include "frontend/write/document.h"

#include "frontend/base/assert.h"
#include "frontend/ir/signature.h"
#include "frontend/read/document.h"
#include "frontend/write/document_fault.h"
#include "frontend/write/document_parts.h"

#include <string.h>

/* What is unlike JAX: sizes may be 0, and may be elements of inputs. */
static void put_sizes(const jx_program *p, jx_buffer *to)
{
    int count = 0;

    if (p->base == 0 && jx_program_vars(p, &count) && count) {
        jx_emit_key(to, "base");
        jx_json_put_int(to, 0);
    }
    for (int i = 0; i < p->nvalued; i++) {
        const jx_valued *v = &p->valued[i];
        if (i == 0)
            jx_emit_key(to, "valued");
        jx_buffer_printf(to, "%s[%d,%d,", i ? "," : "[", v->input, v->element);
        jx_json_put_text(to, v->var->name);
        jx_buffer_putc(to, ']');
    }
    if (p->nvalued)
        jx_buffer_putc(to, ']');
}

static void put_ranges(const jx_program *p, jx_buffer *to)
{
    for (int i = 0; i < p->nranges; i++) {
        const jx_value_range *r = &p->ranges[i];
        if (i == 0)
            jx_emit_key(to, "ranges");
        jx_buffer_puts(to, i ? ",[" : "[[");
        jx_json_put_text(to, r->key);
        jx_buffer_putc(to, ',');
        jx_json_put_text(to, r->lo.text);
        jx_buffer_putc(to, ',');
        jx_json_put_text(to, r->hi.text);
        jx_buffer_putc(to, ']');
    }
    if (p->nranges)
        jx_buffer_putc(to, ']');
}

static void put_line(jx_emit *e, const char *key, const jx_stack *stack,
                     jx_buffer *to)
{
    if (!stack)
        return;
    jx_emit_key(to, key);
    jx_json_put_int(to, jx_emit_stack(e, stack));
}

static void put_entry(jx_emit *e, jx_buffer *to)
{
    const jx_program *p = e->program;

    jx_buffer_putc(to, '{');
    jx_emit_entry(e, &p->entry, to);
    if (p->name && *p->name) {
        jx_emit_key(to, "name");
        jx_json_put_text(to, p->name);
    }
    jx_emit_texts(to, "in_paths", p->entry.jaxpr->nins, p->in_paths);
    jx_emit_texts(to, "out_paths", p->entry.jaxpr->nouts, p->out_paths);
    put_line(e, "head", p->head, to);
    put_line(e, "returns", p->returns, to);
    put_sizes(p, to);
    put_ranges(p, to);
    jx_buffer_putc(to, '}');
}

static void put_linear(jx_emit *e, jx_buffer *to)
{
    const jx_linear_program *linear = e->program->linear;

    if (!linear)
        return;
    jx_buffer_putc(to, '{');
    jx_emit_entry(e, &linear->closed, to);
    if (linear->nres) {
        jx_emit_key(to, "residuals");
        jx_json_put_int(to, linear->nres);
    }
    jx_emit_texts(to, "in_paths", linear->closed.jaxpr->nins, linear->in_paths);
    jx_emit_texts(to, "out_paths", linear->closed.jaxpr->nouts,
                  linear->out_paths);
    jx_buffer_putc(to, '}');
}

static void put_producer(const jx_program *p, jx_buffer *to)
{
    const struct {
        const char *key, *text;
    } parts[] = {{"jaxvet", p->jaxvet_version},
                 {"jax", p->jax_version},
                 {"python", p->python_version}};

    jx_emit_key(to, "producer");
    jx_buffer_putc(to, '{');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].text) {
            jx_emit_key(to, parts[i].key);
            jx_json_put_text(to, parts[i].text);
        }
    jx_emit_key(to, "x64");
    jx_buffer_puts(to, p->x64 ? "true}" : "false}");
}

static void put_rows(jx_buffer *to, const char *key, const jx_buffer *rows,
                     bool always)
{
    if (!rows->length && !always)
        return;
    jx_emit_key(to, key);
    jx_buffer_putc(to, '[');
    jx_buffer_bytes(to, jx_buffer_text(rows), rows->length);
    jx_buffer_putc(to, ']');
}

static bool uses_npz(const jx_emit *e)
{
    return e->program->npz_name && e->arrays.text.text &&
           strstr(e->arrays.text.text, "\"npz\":");
}

static void put_npz(const jx_emit *e, jx_buffer *to)
{
    if (!uses_npz(e))
        return;
    jx_emit_key(to, "npz");
    jx_buffer_putc(to, '{');
    jx_emit_key(to, "name");
    jx_json_put_text(to, e->program->npz_name);
    jx_emit_key(to, "sha256");
    jx_json_put_text(to, e->program->npz_sha256);
    jx_buffer_putc(to, '}');
}

/* What is not rows of a table, in the order of writing, which is also
 * that of the walk. */
enum { ENTRY, LINEAR, COMPARISONS, CLOSURES, RETRACES, NPARTS };

static void put_part(jx_buffer *to, const char *key, const jx_buffer *part)
{
    if (!part->length)
        return;
    jx_emit_key(to, key);
    jx_buffer_bytes(to, jx_buffer_text(part), part->length);
}

static void put_document(jx_emit *e, const jx_buffer parts[NPARTS],
                         jx_buffer *to)
{
    jx_buffer_printf(to, "{\"format\":\"jaxvet-jaxpr\",\"version\":%d",
                     e->definitions.count               ? JX_DOCUMENT_VERSION
                     : e->modules || e->program->linear ? JX_DOCUMENT_MODULES
                                                        : JX_DOCUMENT_PLAIN);
    put_producer(e->program, to);
    put_part(to, "entry", &parts[ENTRY]);
    put_part(to, "linear", &parts[LINEAR]);
    put_rows(to, "files", &e->files.text, false);
    put_rows(to, "frames", &e->frames.text, false);
    put_rows(to, "stacks", &e->stacks.text, false);
    put_rows(to, "names", &e->names.text, false);
    put_rows(to, "contexts", &e->contexts.text, false);
    put_rows(to, "meshes", &e->meshes.text, false);
    put_rows(to, "scopes", &e->scopes.text, false);
    put_rows(to, "avals", &e->avals.text, false);
    put_rows(to, "consts", &e->arrays.text, false);
    put_npz(e, to);
    put_rows(to, "prims", &e->prims.text, true);
    put_rows(to, "jaxprs", &e->jaxprs.text, true);
    put_rows(to, "rules", &e->rules.text, false);
    put_rows(to, "definitions", &e->definitions.text, false);
    put_rows(to, "comparisons", &parts[COMPARISONS], false);
    put_rows(to, "closures", &parts[CLOSURES], false);
    put_rows(to, "retraces", &parts[RETRACES], false);
    jx_buffer_puts(to, "}\n");
}

static jx_rows *const *tables_of(jx_emit *e, jx_rows *tables[13])
{
    jx_rows *const all[13] = {&e->files,      &e->frames, &e->stacks, &e->names,
                              &e->contexts,   &e->meshes, &e->scopes, &e->avals,
                              &e->arrays,     &e->prims,  &e->jaxprs, &e->rules,
                              &e->definitions};

    memcpy(tables, all, sizeof all);
    return tables;
}

bool jx_write_document(const jx_program *program, jx_buffer *to)
{
    jx_emit e = {.program = program,
                 .arena = jx_arena_new(&program->ctx->budget)};
    jx_buffer parts[NPARTS];
    jx_rows *tables[13];
    size_t before = to->length;

    if (!e.arena)
        return jx_starved(program->ctx);
    tables_of(&e, tables);
    for (int i = 0; i < 13; i++)
        jx_map_init(&tables[i]->index, e.arena);
    e.queue = JX_NEW_ARRAY(e.arena, program->nrules, const jx_rule *);
    e.begun = JX_NEW_ARRAY(e.arena, program->nrules, jx_buffer);
    e.defined = JX_NEW_ARRAY(e.arena, program->ndefinitions,
                             const struct jx_definition *);
    e.failed = !e.queue || !e.begun || !e.defined;
    for (int i = 0; i < NPARTS; i++)
        parts[i] = jx_ctx_text(program->ctx);
    put_entry(&e, &parts[ENTRY]);
    put_linear(&e, &parts[LINEAR]);
    jx_emit_rules(&e);
    jx_emit_definitions(&e);
    jx_emit_comparisons(&e, &parts[COMPARISONS]);
    jx_emit_closures(&e, &parts[CLOSURES]);
    jx_emit_retraces(&e, &parts[RETRACES]);
    put_document(&e, parts, to);
    for (int i = 0; i < 13; i++) {
        e.failed = e.failed || !jx_buffer_ok(&tables[i]->text);
        jx_buffer_free(&tables[i]->text);
    }
    e.failed = e.failed || !jx_buffer_ok(to);
    for (int i = 0; i < NPARTS; i++) {
        e.failed = e.failed || !jx_buffer_ok(&parts[i]);
        jx_buffer_free(&parts[i]);
    }
    jx_emit_free_rules(&e);
    jx_arena_free(e.arena);
    if (e.failed || e.unknown)
        jx_buffer_cut(to, before);
    if (e.unknown && !e.failed)
        return jx_fail(program->ctx, JX_E_INPUT, program->path, NULL,
                       "can't be written as a document: text does not say "
                       "the values of its constants");
    JX_ASSERT_NONE(e.failed || program->npz_name
                       ? NULL
                       : jx_document_fault(program, to->text + before,
                                           to->length - before));
    return !e.failed || jx_starved(program->ctx);
}
