/* document.c - the top level of a document.  See document.h.
 *
 * The tables are read in the order in which they refer to each other, which is
 * almost that of the page: rules look back at jaxprs and jaxprs at rules, so
 * the rules get their places before the jaxprs and their contents after. */
#include "frontend/read/document.h"

#include "frontend/base/inflate.h"
#include "frontend/ir/mesh.h"
#include "frontend/ir/range.h"
#include "frontend/read/document_parts.h"

#include <string.h>

static const char top_keys[] = "format version producer entry linear files "
                               "frames stacks names contexts meshes scopes "
                               "avals consts npz prims jaxprs rules "
                               "definitions comparisons closures retraces";

static void read_head(jx_doc *d, const jx_node *root)
{
    jx_node format = jx_node_need(&d->walk, root, "format");
    jx_node version = jx_node_need(&d->walk, root, "version");
    const char *text = jx_node_text(&d->walk, &format);

    if (text && strcmp(text, "jaxvet-jaxpr"))
        jx_node_fail(&d->walk, &format,
                     "expected \"jaxvet-jaxpr\", found \"%.40s\"", text);
    int64_t n = jx_node_int(&d->walk, &version, 1, INT32_MAX);
    if (n > JX_DOCUMENT_VERSION)
        jx_node_fail(&d->walk, &version,
                     "version %lld of the format is newer than %d, which this "
                     "jaxvet reads: update jaxvet, or write the document again "
                     "with its package",
                     (long long)n, JX_DOCUMENT_VERSION);
    jx_node_object(&d->walk, root, top_keys);
}

static void read_producer(jx_doc *d, const jx_node *root)
{
    jx_node producer = jx_node_need(&d->walk, root, "producer");
    jx_program *p = d->program;

    if (!jx_node_object(&d->walk, &producer, "jaxvet jax python x64"))
        return;
    jx_node jaxvet = jx_node_member(&producer, "jaxvet");
    jx_node jax = jx_node_member(&producer, "jax");
    jx_node python = jx_node_member(&producer, "python");
    jx_node x64 = jx_node_member(&producer, "x64");
    p->jaxvet_version = jx_node_text(&d->walk, &jaxvet);
    p->jax_version = jx_node_text(&d->walk, &jax);
    p->python_version = jx_node_text(&d->walk, &python);
    p->x64 = jx_node_bool(&d->walk, &x64);
}

/* Sizes that are elements of inputs: [[input, element, name], ...]. */
static void read_valued(jx_doc *d, const jx_node *entry, const jx_jaxpr *jaxpr)
{
    jx_node list = jx_node_member(entry, "valued");
    int n = jx_node_array(&d->walk, &list);
    jx_valued *to = JX_NEW_ARRAY(d->ctx->arena, n + 1, jx_valued);

    for (int i = 0; to && i < n; i++) {
        jx_node item = jx_node_item(&list, (size_t)i), part;
        if (!jx_node_tuple(&d->walk, &item, 3))
            return;
        part = jx_node_item(&item, 0);
        to[i].input = jx_node_index(&d->walk, &part, jaxpr->nins, "inputs");
        part = jx_node_item(&item, 1);
        to[i].element = (int)jx_node_int(&d->walk, &part, 0, INT32_MAX);
        part = jx_node_item(&item, 2);
        const char *name = jx_node_text(&d->walk, &part);
        if (d->walk.failed)
            return;
        const jx_aval *aval = jaxpr->vars[jaxpr->nconsts + to[i].input]->aval;
        jx_dtype_kind kind = aval->kind == JX_AVAL_ARRAY
                                 ? jx_dtype_of(aval->dtype)->kind
                                 : JX_KIND_FLOAT;
        if (kind != JX_KIND_INT && kind != JX_KIND_UINT) {
            jx_node_fail(&d->walk, &item, "expected an input of integers");
            return;
        }
        to[i].var =
            name && *name ? jx_dim_var_atom(d->program->dims, name, 0) : NULL;
        if (!to[i].var) {
            jx_node_fail(&d->walk, &part, "expected the name of a size");
            return;
        }
    }
    d->program->nvalued = to ? n : 0;
    d->program->valued = to;
}

/* What callers promise of inputs: [[key, lo, hi], ...]. */
static void read_ranges(jx_doc *d, const jx_node *entry)
{
    jx_node list = jx_node_member(entry, "ranges");
    int n = jx_node_array(&d->walk, &list);

    for (int i = 0; !d->walk.failed && i < n; i++) {
        jx_node item = jx_node_item(&list, (size_t)i), part;
        const char *texts[3];
        if (!jx_node_tuple(&d->walk, &item, 3))
            return;
        for (size_t k = 0; k < 3; k++) {
            part = jx_node_item(&item, k);
            texts[k] = jx_node_text(&d->walk, &part);
        }
        if (!d->walk.failed &&
            !jx_range_declare(d->program, texts[0], texts[1], texts[2])) {
            d->ctx->error.kind = JX_E_INPUT; /* it is the file that says so */
            d->walk.failed = true;
        }
    }
}

static void read_entry(jx_doc *d, const jx_node *root)
{
    jx_node entry = jx_node_need(&d->walk, root, "entry");
    jx_program *p = d->program;

    if (!jx_node_object(&d->walk, &entry,
                        "jaxpr consts name in_paths out_paths head returns "
                        "base valued ranges"))
        return;
    jx_node jaxpr = jx_node_need(&d->walk, &entry, "jaxpr");
    const jx_jaxpr *to = jx_doc_jaxpr(d, &jaxpr);
    jx_node consts = jx_node_member(&entry, "consts");
    jx_node name = jx_node_member(&entry, "name");
    jx_node ins = jx_node_member(&entry, "in_paths");
    jx_node outs = jx_node_member(&entry, "out_paths");
    if (!to)
        return;
    p->entry =
        (jx_closed){to, to->nconsts, jx_doc_consts(d, &consts, &entry, to)};
    p->name = jx_node_text(&d->walk, &name);
    p->in_paths = jx_node_texts(&d->walk, &ins, to->nins);
    p->out_paths = jx_node_texts(&d->walk, &outs, to->nouts);
    jx_node head = jx_node_member(&entry, "head");
    jx_node returns = jx_node_member(&entry, "returns");
    p->head = head.there ? jx_doc_stack(d, &head) : NULL;
    p->returns = returns.there ? jx_doc_stack(d, &returns) : NULL;
    jx_node base = jx_node_member(&entry, "base");
    if (base.there)
        p->base = jx_node_int(&d->walk, &base, 0, 0);
    read_valued(d, &entry, to);
    read_ranges(d, &entry);
}

/* The second program. */
static void read_linear(jx_doc *d, const jx_node *root)
{
    jx_node node = jx_node_member(root, "linear");
    jx_linear_program *linear =
        node.there ? JX_NEW(d->ctx->arena, jx_linear_program) : NULL;

    if (!linear || !jx_node_object(&d->walk, &node,
                                   "jaxpr consts residuals in_paths out_paths"))
        return;
    jx_node jaxpr = jx_node_need(&d->walk, &node, "jaxpr");
    const jx_jaxpr *to = jx_doc_jaxpr(d, &jaxpr);
    jx_node consts = jx_node_member(&node, "consts");
    jx_node residuals = jx_node_member(&node, "residuals");
    jx_node ins = jx_node_member(&node, "in_paths");
    jx_node outs = jx_node_member(&node, "out_paths");
    if (!to)
        return;
    int most = d->program->entry.jaxpr->nouts;
    linear->closed =
        (jx_closed){to, to->nconsts, jx_doc_consts(d, &consts, &node, to)};
    if (residuals.there)
        linear->nres = (int)jx_node_int(&d->walk, &residuals, 1,
                                        to->nins < most ? to->nins : most);
    linear->in_paths = jx_node_texts(&d->walk, &ins, to->nins);
    linear->out_paths = jx_node_texts(&d->walk, &outs, to->nouts);
    d->program->linear = linear;
}

static void read_prims(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_need(&d->walk, root, "prims");
    int n = jx_node_array(&d->walk, &table);
    const jx_prim **prims = JX_NEW_ARRAY(d->ctx->arena, n, const jx_prim *);

    for (int i = 0; prims && i < n; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        const char *name = jx_node_text(&d->walk, &item);
        prims[i] = jx_prim_named(d->ctx, name ? name : "");
    }
    d->nprims = prims ? n : 0;
    d->prims = prims;
}

static void read_root(jx_doc *d, const jx_node *root)
{
    void (*const parts[])(jx_doc *, const jx_node *) = {
        read_head,    read_producer,      jx_doc_sources,     jx_doc_settings,
        jx_doc_avals, jx_doc_arrays,      read_prims,         jx_doc_jaxprs,
        jx_doc_rules, jx_doc_definitions, jx_doc_comparisons, jx_doc_closures,
        read_entry,   read_linear,        jx_doc_retraces,
    };

    if (jx_node_kind(root) != JX_JSON_OBJECT) {
        jx_node_fail(&d->walk, root, "expected an object");
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i](d, root);
        if (d->walk.failed || jx_arena_failed(d->ctx->arena))
            return;
    }
}

jx_program *jx_read_document(jx_ctx *ctx, const char *path, const char *text,
                             size_t length)
{
    jx_json *json = NULL;
    jx_doc d = {.walk = {.ctx = ctx, .path = path}, .ctx = ctx};

    d.program = d.build.program = jx_program_new(ctx, path);
    if (jx_is_gzip(text, length))
        text = jx_gunzip(ctx, path, text, length, &length);
    if (d.program && text && jx_json_read(ctx, path, text, length, &json)) {
        jx_node root = {.json = json, .there = true};
        read_root(&d, &root);
    }
    jx_json_free(json);
    if (!jx_ok(ctx) || !jx_program_bind_axes(d.program))
        return jx_ok(ctx), NULL;
    return d.program;
}
