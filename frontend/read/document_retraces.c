/* document_retraces.c - what the function of a document is at
 * concrete sizes. */
#include "frontend/read/document_parts.h"

static void read_sizes(jx_doc *d, const jx_node *at, jx_retrace *to)
{
    size_t count = at->json ? jx_json_count(at->json) : 0;
    const char **names = JX_NEW_ARRAY(d->ctx->arena, count, const char *);
    int64_t *values = JX_NEW_ARRAY(d->ctx->arena, count, int64_t);
    const jx_json *value;
    const char *key;
    size_t state = 0;

    if (!names || !values || count > INT32_MAX)
        return;
    for (int i = 0; jx_json_next(at->json, &state, &key, &value); i++) {
        jx_node size = jx_node_member(at, key);
        names[i] = jx_intern_text(d->ctx, key);
        values[i] = jx_node_int(&d->walk, &size, INT64_MIN, INT64_MAX);
    }
    to->nsizes = (int)count;
    to->names = names;
    to->values = values;
}

/* The program at these sizes: inputs and outputs as in the entry. */
static void read_program(jx_doc *d, const jx_node *at, jx_retrace *to)
{
    const jx_jaxpr *entry = d->program->entry.jaxpr;
    jx_node jaxpr = jx_node_need(&d->walk, at, "jaxpr");
    jx_node consts = jx_node_member(at, "consts");
    const jx_jaxpr *found = jx_doc_jaxpr(d, &jaxpr);

    jx_node_object(&d->walk, at, "sizes jaxpr consts");
    if (d->walk.failed)
        return;
    if (found->nins != entry->nins)
        jx_node_fail(&d->walk, &jaxpr,
                     "expected a jaxpr of %d inputs, found %d", entry->nins,
                     found->nins);
    to->closed = (jx_closed){found, found->nconsts,
                             jx_doc_consts(d, &consts, at, found)};
}

static void read_retrace(jx_doc *d, const jx_node *at, jx_retrace *to)
{
    if (!jx_node_object(&d->walk, at,
                        "sizes jaxpr consts raised stack undecided"))
        return;
    jx_node sizes = jx_node_need(&d->walk, at, "sizes");
    jx_node raised = jx_node_member(at, "raised");
    jx_node undecided = jx_node_member(at, "undecided");
    if (sizes.there && jx_node_kind(&sizes) != JX_JSON_OBJECT)
        jx_node_fail(&d->walk, &sizes, "expected an object");
    if (d->walk.failed)
        return;
    read_sizes(d, &sizes, to);
    if (raised.there) {
        jx_node stack = jx_node_need(&d->walk, at, "stack");
        jx_node_object(&d->walk, at, "sizes raised stack");
        to->raised = jx_node_text(&d->walk, &raised);
        to->stack = jx_doc_stack(d, &stack);
    } else if (undecided.there) {
        jx_node_object(&d->walk, at, "sizes undecided");
        to->undecided = jx_node_text(&d->walk, &undecided);
    } else {
        read_program(d, at, to);
    }
}

void jx_doc_retraces(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "retraces");
    int n = jx_node_array(&d->walk, &table);
    jx_retrace *all = JX_NEW_ARRAY(d->ctx->arena, n, jx_retrace);

    for (int i = 0; all && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        read_retrace(d, &item, &all[i]);
    }
    d->program->nretraces = all ? n : 0;
    d->program->retraces = all;
}
