/* document_sources.c - where things come from (files, frames, stacks, names),
 * and what equations share (contexts, meshes, scopes). */
#include "frontend/read/document_parts.h"

#include <stdlib.h>
#include <string.h>

static jx_file_kind kind_of(jx_doc *d, const jx_node *at)
{
    static const char *const kinds[] = {[JX_FILE_USER] = "user",
                                        [JX_FILE_LIBRARY] = "library",
                                        [JX_FILE_JAX] = "jax"};
    const char *text = jx_node_text(&d->walk, at);

    for (int i = 0; text && i < 3; i++)
        if (!strcmp(text, kinds[i]))
            return (jx_file_kind)i;
    jx_node_fail(&d->walk, at, "expected \"user\", \"library\" or \"jax\"");
    return JX_FILE_USER;
}

static int by_number(const void *a, const void *b)
{
    const jx_source_line *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static void read_lines(jx_doc *d, const jx_node *at, jx_file *file)
{
    size_t state = 0;
    const char *key;
    const jx_json *value;
    int n = 0;

    if (jx_node_kind(at) != JX_JSON_OBJECT) {
        jx_node_fail(&d->walk, at, "expected an object (line to text)");
        return;
    }
    jx_source_line *lines =
        JX_NEW_ARRAY(d->ctx->arena, jx_json_count(at->json), jx_source_line);
    while (lines && jx_json_next(at->json, &state, &key, &value)) {
        jx_node line = {value, true, at, key, 0};
        size_t digits = strspn(key, "0123456789");
        if (!digits || digits > 9 || key[digits] || key[0] == '0')
            jx_node_fail(&d->walk, &line, "expected a line number as key");
        lines[n].number = atoi(key);
        lines[n++].text = jx_node_text(&d->walk, &line);
    }
    if (lines)
        qsort(lines, (size_t)n, sizeof *lines, by_number);
    file->nlines = n;
    file->lines = lines;
}

static const jx_file *read_file(jx_doc *d, const jx_node *at)
{
    jx_file *file = JX_NEW(d->ctx->arena, jx_file);
    int n = jx_node_array(&d->walk, at);

    if (n != 2 && n != 3)
        jx_node_fail(&d->walk, at,
                     "expected [path, kind] or [path, kind, {line: text}]");
    if (!file || d->walk.failed)
        return file;
    jx_node path = jx_node_item(at, 0), kind = jx_node_item(at, 1);
    jx_node lines = jx_node_item(at, 2);
    file->path = jx_node_text(&d->walk, &path);
    file->kind = kind_of(d, &kind);
    if (n == 3)
        read_lines(d, &lines, file);
    return file;
}

static void read_files(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "files");
    int n = jx_node_array(&d->walk, &table);
    const jx_file **files = JX_NEW_ARRAY(d->ctx->arena, n, const jx_file *);

    for (int i = 0; files && i < n; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        files[i] = read_file(d, &item);
    }
    d->program->nfiles = files ? n : 0;
    d->program->files = files;
}

static const jx_frame *read_frame(jx_doc *d, const jx_node *at)
{
    jx_frame *frame = JX_NEW(d->ctx->arena, jx_frame);

    if (!frame || !jx_node_tuple(&d->walk, at, 6))
        return frame;
    jx_node file = jx_node_item(at, 0), function = jx_node_item(at, 1);
    int index = jx_node_index(&d->walk, &file, d->program->nfiles, "files");
    frame->file = index < 0 ? NULL : d->program->files[index];
    frame->function = jx_node_text(&d->walk, &function);
    int *const numbers[] = {&frame->line, &frame->column, &frame->end_line,
                            &frame->end_column};
    for (size_t i = 0; i < 4; i++) {
        jx_node number = jx_node_item(at, 2 + i);
        *numbers[i] = (int)jx_node_int(&d->walk, &number, -1, INT32_MAX);
    }
    return frame;
}

static void read_frames(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "frames");
    int n = jx_node_array(&d->walk, &table);
    const jx_frame **frames = JX_NEW_ARRAY(d->ctx->arena, n, const jx_frame *);

    for (int i = 0; frames && i < n; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        frames[i] = read_frame(d, &item);
    }
    d->nframes = frames ? n : 0;
    d->frames = frames;
}

static const jx_stack *read_stack(jx_doc *d, const jx_node *at)
{
    int n = jx_node_array(&d->walk, at);
    jx_stack *stack = JX_NEW(d->ctx->arena, jx_stack);
    const jx_frame **frames = JX_NEW_ARRAY(d->ctx->arena, n, const jx_frame *);

    if (!stack || !frames)
        return NULL;
    for (int i = 0; i < n; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        int index = jx_node_index(&d->walk, &item, d->nframes, "frames");
        frames[i] = index < 0 ? NULL : d->frames[index];
    }
    *stack = (jx_stack){n, frames};
    return stack;
}

static void read_stacks(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "stacks");
    int n = jx_node_array(&d->walk, &table);
    const jx_stack **stacks = JX_NEW_ARRAY(d->ctx->arena, n, const jx_stack *);

    for (int i = 0; stacks && i < n; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        stacks[i] = read_stack(d, &item);
    }
    d->nstacks = stacks ? n : 0;
    d->stacks = stacks;
}

void jx_doc_sources(jx_doc *d, const jx_node *root)
{
    jx_node names = jx_node_member(root, "names");

    read_files(d, root);
    read_frames(d, root);
    read_stacks(d, root);
    d->nnames = jx_node_array(&d->walk, &names);
    d->names = jx_node_texts(&d->walk, &names, d->nnames);
}

/* -1, and nothing at all, are no stack. */
const jx_stack *jx_doc_stack(jx_doc *d, const jx_node *at)
{
    if (!at->there ||
        (jx_node_kind(at) == JX_JSON_INT && jx_json_int(at->json) == -1))
        return NULL;
    int index = jx_node_index(&d->walk, at, d->nstacks, "stacks");
    return index < 0 ? NULL : d->stacks[index];
}

/* ---- contexts, meshes, scopes */

static const jx_value *text_value(jx_doc *d, const char *text)
{
    jx_value v = {.tag = JX_V_TEXT, .text = text};

    return jx_value_add(&d->program->values, &v);
}

static const jx_value *read_metadata(jx_doc *d, const jx_node *at)
{
    size_t state = 0;
    const char *key;
    const jx_json *value;
    jx_value map = {.tag = JX_V_MAP};

    if (!at->there)
        return NULL;
    if (jx_node_kind(at) != JX_JSON_OBJECT) {
        jx_node_fail(&d->walk, at, "expected an object (name to text)");
        return NULL;
    }
    const jx_value **items = JX_NEW_ARRAY(
        d->ctx->arena, 2 * jx_json_count(at->json), const jx_value *);
    while (items && jx_json_next(at->json, &state, &key, &value)) {
        jx_node entry = {value, true, at, key, 0};
        items[map.count++] = text_value(d, jx_intern_text(d->ctx, key));
        items[map.count++] = text_value(d, jx_node_text(&d->walk, &entry));
    }
    map.items = items;
    return jx_value_add(&d->program->values, &map);
}

static const jx_eqn_ctx *read_context(jx_doc *d, const jx_node *at)
{
    jx_eqn_ctx *to = JX_NEW(d->ctx->arena, jx_eqn_ctx);

    if (!to || !jx_node_object(&d->walk, at,
                               "threefry_partitionable compute_type "
                               "xla_metadata mesh"))
        return to;
    jx_node threefry = jx_node_member(at, "threefry_partitionable");
    jx_node type = jx_node_member(at, "compute_type");
    jx_node metadata = jx_node_member(at, "xla_metadata");
    jx_node mesh = jx_node_member(at, "mesh");
    to->threefry_partitionable = jx_node_bool(&d->walk, &threefry);
    to->compute_type = jx_node_text(&d->walk, &type);
    to->xla_metadata = read_metadata(d, &metadata);
    if (mesh.there)
        to->mesh =
            1 + jx_node_index(&d->walk, &mesh, d->program->nmeshes, "meshes");
    return to;
}

static void read_contexts(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "contexts");
    int n = jx_node_array(&d->walk, &table);
    const jx_eqn_ctx **to = JX_NEW_ARRAY(d->ctx->arena, n, const jx_eqn_ctx *);

    for (int i = 0; to && i < n; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        to[i] = read_context(d, &item);
    }
    d->ncontexts = to ? n : 0;
    d->contexts = to;
}

static void read_mesh(jx_doc *d, const jx_node *at, jx_mesh *mesh)
{
    if (!jx_node_object(&d->walk, at, "axes types abstract device"))
        return;
    jx_node axes = jx_node_member(at, "axes");
    jx_node types = jx_node_member(at, "types");
    jx_node abstract = jx_node_member(at, "abstract");
    jx_node device = jx_node_member(at, "device");
    int n = jx_node_array(&d->walk, &axes);
    const char **names = JX_NEW_ARRAY(d->ctx->arena, n, const char *);
    int64_t *sizes = JX_NEW_ARRAY(d->ctx->arena, n, int64_t);
    for (int i = 0; names && sizes && i < n; i++) {
        jx_node axis = jx_node_item(&axes, (size_t)i);
        if (!jx_node_tuple(&d->walk, &axis, 2))
            return;
        jx_node name = jx_node_item(&axis, 0), size = jx_node_item(&axis, 1);
        names[i] = jx_node_text(&d->walk, &name);
        sizes[i] = jx_node_int(&d->walk, &size, 0, INT64_MAX);
    }
    *mesh = (jx_mesh){.naxes = n, .axes = names, .sizes = sizes};
    mesh->ntypes = jx_node_array(&d->walk, &types);
    mesh->types = jx_node_texts(&d->walk, &types, mesh->ntypes);
    mesh->abstract = jx_node_bool(&d->walk, &abstract);
    if (device.there)
        mesh->device = jx_node_text(&d->walk, &device);
}

static void read_meshes(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "meshes");
    int n = jx_node_array(&d->walk, &table);
    jx_mesh *meshes = JX_NEW_ARRAY(d->ctx->arena, n, jx_mesh);

    for (int i = 0; meshes && i < n; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        read_mesh(d, &item, &meshes[i]);
    }
    d->program->nmeshes = meshes ? n : 0;
    d->program->meshes = meshes;
}

static void read_constraint(jx_doc *d, const jx_node *at, int scope,
                            jx_scope_constraint *to)
{
    if (!jx_node_tuple(&d->walk, at, 4))
        return;
    jx_node kind = jx_node_item(at, 0), lhs = jx_node_item(at, 1);
    jx_node rhs = jx_node_item(at, 2), text = jx_node_item(at, 3);
    const char *name = jx_node_text(&d->walk, &kind);
    if (strcmp(name, "geq") && strcmp(name, "eq") && strcmp(name, "ne"))
        jx_node_fail(&d->walk, &kind, "expected \"geq\", \"eq\" or \"ne\"");
    to->equal = !strcmp(name, "eq");
    to->differs = !strcmp(name, "ne");
    to->lhs = jx_doc_dim_text(d, &lhs, scope);
    to->rhs = jx_doc_dim_text(d, &rhs, scope);
    to->text = jx_node_text(&d->walk, &text);
}

static void read_scope(jx_doc *d, const jx_node *at, int index, jx_scope *to)
{
    if (!jx_node_object(&d->walk, at, "constraints stack"))
        return;
    jx_node rows = jx_node_member(at, "constraints");
    jx_node stack = jx_node_member(at, "stack");
    int n = jx_node_array(&d->walk, &rows);
    jx_scope_constraint *all =
        JX_NEW_ARRAY(d->ctx->arena, n, jx_scope_constraint);
    for (int i = 0; all && i < n; i++) {
        jx_node row = jx_node_item(&rows, (size_t)i);
        read_constraint(d, &row, index, &all[i]);
    }
    *to = (jx_scope){all ? n : 0, all, jx_doc_stack(d, &stack)};
}

static void read_scopes(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "scopes");
    int n = jx_node_array(&d->walk, &table);
    jx_scope *scopes = JX_NEW_ARRAY(d->ctx->arena, n, jx_scope);

    for (int i = 0; scopes && i < n; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        read_scope(d, &item, i, &scopes[i]);
    }
    d->program->nscopes = scopes ? n : 0;
    d->program->scopes = scopes;
}

void jx_doc_settings(jx_doc *d, const jx_node *root)
{
    read_meshes(d, root);
    read_contexts(d, root);
    read_scopes(d, root);
}
