/* document.c - the walk, and the document from its tables.  See document.h. */
#include "frontend/write/document.h"

#include "frontend/base/assert.h"
#include "frontend/ir/signature.h"
#include "frontend/read/document.h"
#include "frontend/write/document_fault.h"
#include "frontend/write/document_parts.h"

#include <string.h>

/* ---- tables */

typedef struct place {
    const void *key;
    int row;
} place;

static bool same_key(const void *kept, const void *key)
{
    return ((const place *)kept)->key == key;
}

static uint64_t hash_key(const void *key)
{
    return jx_hash_mix(0, (uint64_t)(uintptr_t)key);
}

int jx_rows_find(const jx_rows *rows, const void *key)
{
    const place *found =
        jx_intern_find(&rows->index, hash_key(key), key, same_key);

    return found ? found->row : -1;
}

int jx_rows_add(jx_emit *e, jx_rows *rows, const void *key)
{
    place *p = JX_NEW(e->arena, place);

    if (!p) {
        e->failed = true;
        return 0;
    }
    *p = (place){key, rows->count++};
    if (!jx_intern_add(&rows->index, hash_key(key), p))
        e->failed = true;
    return p->row;
}

void jx_rows_begin(jx_rows *rows)
{
    if (rows->text.length)
        jx_buffer_putc(&rows->text, ',');
}

void jx_emit_key(jx_buffer *to, const char *key)
{
    if (to->length && to->text[to->length - 1] != '{')
        jx_buffer_putc(to, ',');
    jx_buffer_printf(to, "\"%s\":", key);
}

/* ---- jaxprs */

static void put_texts(jx_buffer *to, const char *key, int count,
                      const char *const *texts)
{
    if (!texts || !count)
        return;
    jx_emit_key(to, key);
    for (int i = 0; i < count; i++) {
        jx_buffer_putc(to, i ? ',' : '[');
        jx_json_put_text(to, texts[i]);
    }
    jx_buffer_putc(to, ']');
}

static void put_effects(jx_buffer *to, jx_effects effects)
{
    if (!effects.count)
        return;
    jx_emit_key(to, "eff");
    for (int i = 0; i < effects.count; i++) {
        const jx_effect *effect = &effects.at[i];
        jx_buffer_puts(to, i ? ",{" : "[{");
        jx_emit_key(to, "t");
        jx_json_put_text(to, effect->type);
        if (effect->axis) {
            jx_emit_key(to, "axis");
            jx_json_put_text(to, effect->axis);
        }
        if (effect->has_input) {
            jx_emit_key(to, "in");
            jx_json_put_int(to, effect->input);
        }
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_operands(jx_emit *e, jx_buffer *to, int count,
                         const jx_atom *atoms)
{
    jx_buffer_putc(to, '[');
    for (int i = 0; i < count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        if (atoms[i].var)
            jx_json_put_int(to, atoms[i].var->id);
        else
            jx_emit_literal(e, atoms[i].literal, to);
    }
    jx_buffer_putc(to, ']');
}

static void put_params(jx_emit *e, jx_buffer *to, const jx_eqn *eqn)
{
    jx_buffer_putc(to, '{');
    for (int i = 0; i < eqn->nparams; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_text(to, eqn->params[i].name);
        jx_buffer_putc(to, ':');
        jx_emit_value(e, eqn->params[i].value, to);
    }
    jx_buffer_putc(to, '}');
}

static void put_extra(jx_buffer *to, const jx_eqn *eqn)
{
    if (!eqn->effects.count && !eqn->saveable && !eqn->offload_from)
        return;
    jx_buffer_puts(to, ",{");
    put_effects(to, eqn->effects);
    if (eqn->saveable) {
        jx_emit_key(to, "saveable");
        jx_buffer_puts(to, "true");
    }
    if (eqn->offload_from) {
        jx_emit_key(to, "offload");
        jx_buffer_putc(to, '[');
        jx_json_put_text(to, eqn->offload_from);
        jx_buffer_putc(to, ',');
        jx_json_put_text(to, eqn->offload_to);
        jx_buffer_putc(to, ']');
    }
    jx_buffer_putc(to, '}');
}

static void put_index(jx_buffer *to, int index)
{
    jx_buffer_putc(to, ',');
    jx_json_put_int(to, index);
}

static void put_equation(jx_emit *e, jx_buffer *to, const jx_eqn *eqn)
{
    jx_buffer_putc(to, '[');
    jx_json_put_int(to, jx_emit_prim(e, eqn->prim->name));
    jx_buffer_putc(to, ',');
    put_operands(e, to, eqn->nins, eqn->ins);
    jx_buffer_puts(to, ",[");
    for (int i = 0; i < eqn->nouts; i++) {
        int aval = jx_emit_aval(e, eqn->outs[i]->aval);
        if (i)
            jx_buffer_putc(to, ',');
        jx_json_put_int(to, eqn->outs[i]->dropped ? -1 - aval : aval);
    }
    jx_buffer_puts(to, "],");
    put_params(e, to, eqn);
    put_index(to, jx_emit_stack(e, eqn->stack));
    put_index(to, jx_emit_name(e, eqn->name_stack));
    put_index(to, jx_emit_context(e, eqn->ctx));
    put_extra(to, eqn);
    jx_buffer_putc(to, ']');
}

static void put_jaxpr(jx_emit *e, jx_buffer *to, const jx_jaxpr *jaxpr)
{
    jx_buffer_putc(to, '{');
    jx_emit_key(to, "in");
    for (int i = 0; i < jaxpr->nconsts + jaxpr->nins; i++) {
        jx_buffer_putc(to, i ? ',' : '[');
        jx_json_put_int(to, jx_emit_aval(e, jaxpr->vars[i]->aval));
    }
    jx_buffer_puts(to, jaxpr->nconsts + jaxpr->nins ? "]" : "[]");
    if (jaxpr->nconsts) {
        jx_emit_key(to, "nc");
        jx_json_put_int(to, jaxpr->nconsts);
    }
    jx_emit_key(to, "eqns");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < jaxpr->neqns; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_equation(e, to, &jaxpr->eqns[i]);
    }
    jx_buffer_putc(to, ']');
    jx_emit_key(to, "out");
    put_operands(e, to, jaxpr->nouts, jaxpr->outs);
    put_effects(to, jaxpr->effects);
    if (jaxpr->function && *jaxpr->function) {
        jx_emit_key(to, "fn");
        jx_json_put_text(to, jaxpr->function);
    }
    put_texts(to, "args", jaxpr->nins, jaxpr->arg_names);
    put_texts(to, "res", jaxpr->nouts, jaxpr->result_paths);
    jx_buffer_putc(to, '}');
}

/* A jaxpr gets its row when it is complete, after those inside it. */
int jx_emit_jaxpr(jx_emit *e, const jx_jaxpr *jaxpr)
{
    int row = jx_rows_find(&e->jaxprs, jaxpr);
    jx_buffer own = jx_ctx_text(e->program->ctx);

    if (row >= 0 || e->failed)
        return row;
    put_jaxpr(e, &own, jaxpr);
    jx_rows_begin(&e->jaxprs);
    jx_buffer_bytes(&e->jaxprs.text, jx_buffer_text(&own), own.length);
    e->failed = e->failed || !jx_buffer_ok(&own);
    jx_buffer_free(&own);
    return jx_rows_add(e, &e->jaxprs, jaxpr);
}

/* ---- the document */

void jx_emit_entry(jx_emit *e, const jx_closed *closed, jx_buffer *to)
{
    jx_emit_key(to, "jaxpr");
    jx_json_put_int(to, jx_emit_jaxpr(e, closed->jaxpr));
    for (int i = 0; i < closed->nconsts; i++) {
        if (i == 0)
            jx_emit_key(to, "consts");
        jx_buffer_putc(to, i ? ',' : '[');
        jx_json_put_int(to, jx_emit_array(e, closed->consts[i]));
    }
    if (closed->nconsts)
        jx_buffer_putc(to, ']');
}

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

static void put_entry(jx_emit *e, jx_buffer *to)
{
    const jx_program *p = e->program;

    jx_buffer_putc(to, '{');
    jx_emit_entry(e, &p->entry, to);
    if (p->name && *p->name) {
        jx_emit_key(to, "name");
        jx_json_put_text(to, p->name);
    }
    put_texts(to, "in_paths", p->entry.jaxpr->nins, p->in_paths);
    put_texts(to, "out_paths", p->entry.jaxpr->nouts, p->out_paths);
    put_sizes(p, to);
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

static void put_document(jx_emit *e, const jx_buffer *entry,
                         const jx_buffer *comparisons,
                         const jx_buffer *retraces, jx_buffer *to)
{
    jx_buffer_printf(to, "{\"format\":\"jaxvet-jaxpr\",\"version\":%d",
                     JX_DOCUMENT_VERSION);
    put_producer(e->program, to);
    jx_emit_key(to, "entry");
    jx_buffer_bytes(to, jx_buffer_text(entry), entry->length);
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
    put_rows(to, "comparisons", comparisons, false);
    put_rows(to, "retraces", retraces, false);
    jx_buffer_puts(to, "}\n");
}

static jx_rows *const *tables_of(jx_emit *e, jx_rows *tables[12])
{
    jx_rows *const all[12] = {
        &e->files, &e->frames, &e->stacks, &e->names,  &e->contexts,
        &e->meshes, &e->scopes, &e->avals, &e->arrays, &e->prims,
        &e->jaxprs, &e->rules};

    memcpy(tables, all, sizeof all);
    return tables;
}

bool jx_write_document(const jx_program *program, jx_buffer *to)
{
    jx_emit e = {.program = program,
                 .arena = jx_arena_new(&program->ctx->budget)};
    jx_buffer entry = jx_ctx_text(program->ctx), comparisons = jx_ctx_text(program->ctx), retraces = jx_ctx_text(program->ctx);
    jx_rows *tables[12];
    size_t before = to->length;

    if (!e.arena)
        return jx_starved(program->ctx);
    tables_of(&e, tables);
    for (int i = 0; i < 12; i++)
        jx_intern_init(&tables[i]->index, e.arena);
    e.queue = JX_NEW_ARRAY(e.arena, program->nrules, const jx_rule *);
    e.failed = !e.queue;
    put_entry(&e, &entry);
    jx_emit_rules(&e);
    jx_emit_comparisons(&e, &comparisons);
    jx_emit_retraces(&e, &retraces);
    put_document(&e, &entry, &comparisons, &retraces, to);
    for (int i = 0; i < 12; i++) {
        e.failed = e.failed || !jx_buffer_ok(&tables[i]->text);
        jx_buffer_free(&tables[i]->text);
    }
    e.failed = e.failed || !jx_buffer_ok(&entry) || !jx_buffer_ok(to);
    e.failed = e.failed || !jx_buffer_ok(&comparisons) ||
               !jx_buffer_ok(&retraces);
    jx_buffer_free(&entry);
    jx_buffer_free(&comparisons);
    jx_buffer_free(&retraces);
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
