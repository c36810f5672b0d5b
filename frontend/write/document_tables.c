/* document_tables.c - rows of the tables beside jaxprs, on first use.
 *
 * A row's text is made before the row is added, since making it may add rows
 * to other tables, and (a ref's aval) to its own. */
#include "frontend/base/base64.h"
#include "frontend/ir/scope.h"
#include "frontend/write/document_parts.h"

void jx_emit_int(int64_t value, jx_buffer *to)
{
    const int64_t exact = (int64_t)1 << 53;

    if (value >= -exact && value <= exact) {
        jx_json_put_int(to, value);
        return;
    }
    jx_buffer_putc(to, '"');
    jx_json_put_int(to, value);
    jx_buffer_putc(to, '"');
}

void jx_emit_hex(const void *bits, size_t bytes, jx_buffer *to)
{
    const unsigned char *at = bits;

    jx_buffer_puts(to, "\"0x");
    for (size_t i = bytes; i-- > 0;)
        jx_buffer_printf(to, "%02x", at[i]);
    jx_buffer_putc(to, '"');
}

/* Adds a finished row. */
static int add_row(jx_emit *e, jx_rows *rows, const void *key, jx_buffer *row)
{
    jx_rows_begin(rows);
    jx_buffer_bytes(&rows->text, jx_buffer_text(row), row->length);
    e->failed = e->failed || !jx_buffer_ok(row);
    jx_buffer_free(row);
    return jx_rows_add(e, rows, key);
}

/* Keys that are numbers stand for themselves; 0 is a key, too. */
static const void *number_key(int64_t number)
{
    return (const void *)(uintptr_t)(number + 1);
}

/* ---- sources */

static int emit_file(jx_emit *e, const jx_file *file)
{
    static const char *const kinds[] = {"user", "library", "jax"};
    int row = jx_rows_find(&e->files, file);
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0)
        return row;
    jx_buffer_putc(&text, '[');
    jx_json_put_text(&text, file->path);
    jx_buffer_printf(&text, ",\"%s\"", kinds[file->kind]);
    for (int i = 0; i < file->nlines; i++) {
        jx_buffer_printf(&text, "%s\"%d\":", i ? "," : ",{",
                         file->lines[i].number);
        jx_json_put_text(&text, file->lines[i].text);
    }
    jx_buffer_puts(&text, file->nlines ? "}]" : "]");
    return add_row(e, &e->files, file, &text);
}

static int emit_frame(jx_emit *e, const jx_frame *frame)
{
    int row = jx_rows_find(&e->frames, frame);
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0)
        return row;
    jx_buffer_printf(&text, "[%d,", emit_file(e, frame->file));
    jx_json_put_text(&text, frame->function ? frame->function : "");
    jx_buffer_printf(&text, ",%d,%d,%d,%d]", frame->line, frame->column,
                     frame->end_line, frame->end_column);
    return add_row(e, &e->frames, frame, &text);
}

int jx_emit_stack(jx_emit *e, const jx_stack *stack)
{
    int row = stack ? jx_rows_find(&e->stacks, stack) : -1;
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0 || !stack)
        return row;
    jx_buffer_putc(&text, '[');
    for (int i = 0; i < stack->count; i++)
        jx_buffer_printf(&text, "%s%d", i ? "," : "",
                         emit_frame(e, stack->frames[i]));
    jx_buffer_putc(&text, ']');
    return add_row(e, &e->stacks, stack, &text);
}

static int emit_text(jx_emit *e, jx_rows *rows, const char *name)
{
    int row = jx_rows_find(rows, name);
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0)
        return row;
    jx_json_put_text(&text, name);
    return add_row(e, rows, name, &text);
}

int jx_emit_name(jx_emit *e, const char *name)
{
    return name ? emit_text(e, &e->names, name) : -1;
}

/* A static primitive's name is known by its place, an unknown one's is
 * interned; either way one name is one pointer. */
int jx_emit_prim(jx_emit *e, const char *name)
{
    return emit_text(e, &e->prims, name);
}

/* ---- contexts, meshes, scopes */

static void put_metadata(const jx_value *map, jx_buffer *to)
{
    for (int i = 0; i + 1 < map->count; i += 2) {
        jx_buffer_putc(to, i ? ',' : '{');
        jx_json_put_text(to, map->items[i]->text);
        jx_buffer_putc(to, ':');
        jx_json_put_text(to, map->items[i + 1]->text);
    }
    jx_buffer_putc(to, '}');
}

int jx_emit_context(jx_emit *e, const jx_eqn_ctx *context)
{
    jx_buffer text = jx_ctx_text(e->program->ctx);
    int row;

    if (context && context->bound)
        context = context->said;
    row = context ? jx_rows_find(&e->contexts, context) : -1;
    if (row >= 0 || !context)
        return row;
    jx_buffer_putc(&text, '{');
    if (context->threefry_partitionable) {
        jx_emit_key(&text, "threefry_partitionable");
        jx_buffer_puts(&text, "true");
    }
    if (context->compute_type && *context->compute_type) {
        jx_emit_key(&text, "compute_type");
        jx_json_put_text(&text, context->compute_type);
    }
    if (context->xla_metadata && context->xla_metadata->count) {
        jx_emit_key(&text, "xla_metadata");
        put_metadata(context->xla_metadata, &text);
    }
    if (context->mesh) {
        int mesh = jx_emit_mesh(e, context->mesh - 1);
        jx_emit_key(&text, "mesh");
        jx_json_put_int(&text, mesh);
    }
    jx_buffer_putc(&text, '}');
    return add_row(e, &e->contexts, context, &text);
}

int jx_emit_mesh(jx_emit *e, int64_t index)
{
    int row = jx_rows_find(&e->meshes, number_key(index));
    const jx_mesh *mesh = &e->program->meshes[index];
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0)
        return row;
    jx_buffer_putc(&text, '{');
    for (int i = 0; i < mesh->naxes; i++) {
        jx_buffer_puts(&text, i ? ",[" : "\"axes\":[[");
        jx_json_put_text(&text, mesh->axes[i]);
        jx_buffer_putc(&text, ',');
        jx_emit_int(mesh->sizes[i], &text);
        jx_buffer_putc(&text, ']');
    }
    if (mesh->naxes)
        jx_buffer_putc(&text, ']');
    for (int i = 0; i < mesh->ntypes; i++) {
        if (i == 0)
            jx_emit_key(&text, "types");
        jx_buffer_putc(&text, i ? ',' : '[');
        jx_json_put_text(&text, mesh->types[i]);
    }
    if (mesh->ntypes)
        jx_buffer_putc(&text, ']');
    if (mesh->abstract) {
        jx_emit_key(&text, "abstract");
        jx_buffer_puts(&text, "true");
    }
    if (mesh->device) {
        jx_emit_key(&text, "device");
        jx_json_put_text(&text, mesh->device);
    }
    jx_buffer_putc(&text, '}');
    return add_row(e, &e->meshes, number_key(index), &text);
}

void jx_emit_dim_text(const jx_dim *dim, jx_buffer *to)
{
    jx_buffer_putc(to, '"');
    jx_dim_print(dim, to);
    jx_buffer_putc(to, '"');
}

/* As its author wrote it, where that is known. */
static void put_constraint_text(const jx_scope_constraint *c, jx_buffer *to)
{
    jx_buffer text = {.budget = to->budget};

    jx_scope_print(c, &text);
    jx_json_put_text(to, jx_buffer_text(&text));
    jx_buffer_free(&text);
}

/* A scope has its row before its contents are met. */
int jx_emit_scope(jx_emit *e, int scope)
{
    int row = jx_rows_find(&e->scopes, number_key(scope));
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0 || scope >= e->program->nscopes)
        return row;
    const jx_scope *s = &e->program->scopes[scope];
    jx_buffer_putc(&text, '{');
    for (int i = 0; i < s->nconstraints; i++) {
        const jx_scope_constraint *c = &s->constraints[i];
        jx_buffer_puts(&text, i ? ",[" : "\"constraints\":[[");
        jx_buffer_printf(&text, "\"%s\",",
                         c->equal     ? "eq"
                         : c->differs ? "ne"
                                      : "geq");
        jx_emit_dim_text(c->lhs, &text);
        jx_buffer_putc(&text, ',');
        jx_emit_dim_text(c->rhs, &text);
        jx_buffer_putc(&text, ',');
        put_constraint_text(c, &text);
        jx_buffer_putc(&text, ']');
    }
    if (s->nconstraints)
        jx_buffer_putc(&text, ']');
    if (s->stack) {
        int stack = jx_emit_stack(e, s->stack);
        jx_emit_key(&text, "stack");
        jx_json_put_int(&text, stack);
    }
    jx_buffer_putc(&text, '}');
    return add_row(e, &e->scopes, number_key(scope), &text);
}

int jx_emit_scope_of(jx_emit *e, const jx_dim *dim)
{
    int64_t value;
    int count = 0, scope = 0;

    if (jx_dim_is_int(dim, &value))
        return 0;
    /* The list of variables is only asked for where it may matter. */
    if (e->program->nscopes > 1) {
        const jx_dim_atom *const *vars =
            jx_dim_vars(e->program->dims, dim, &count);
        scope = vars && count ? vars[0]->scope : 0;
    }
    int row = jx_emit_scope(e, scope);
    return row < 0 ? 0 : row;
}

/* ---- avals and constants */

static void put_dim(jx_emit *e, const jx_dim *dim, jx_buffer *to)
{
    int64_t value;
    int scope = jx_emit_scope_of(e, dim);

    if (jx_dim_is_int(dim, &value)) {
        jx_emit_int(value, to);
    } else if (scope == 0) {
        jx_emit_dim_text(dim, to);
    } else {
        jx_buffer_puts(to, "{\"$dim\":");
        jx_emit_dim_text(dim, to);
        jx_buffer_printf(to, ",\"scope\":%d}", scope);
    }
}

static void put_shape(jx_emit *e, const jx_aval *aval, jx_buffer *to)
{
    if (!aval->rank)
        return;
    jx_emit_key(to, "sh");
    for (int i = 0; i < aval->rank; i++) {
        jx_buffer_putc(to, i ? ',' : '[');
        put_dim(e, aval->shape[i], to);
    }
    jx_buffer_putc(to, ']');
}

static void put_names(const char *key, const jx_names *names, jx_buffer *to)
{
    if (!names->count)
        return;
    jx_emit_key(to, key);
    for (int i = 0; i < names->count; i++) {
        jx_buffer_putc(to, i ? ',' : '[');
        jx_json_put_text(to, names->at[i]);
    }
    jx_buffer_putc(to, ']');
}

static void put_spec_entry(const jx_value *entry, jx_buffer *to)
{
    if (entry->tag == JX_V_NONE) {
        jx_buffer_puts(to, "null");
    } else if (entry->tag == JX_V_TEXT) {
        jx_json_put_text(to, entry->text);
    } else {
        jx_buffer_putc(to, '[');
        for (int i = 0; i < entry->count; i++) {
            if (i)
                jx_buffer_putc(to, ',');
            jx_json_put_text(to, entry->items[i]->text);
        }
        jx_buffer_putc(to, ']');
    }
}

void jx_emit_spec(const jx_value *spec, jx_buffer *to)
{
    jx_buffer_putc(to, '[');
    for (int i = 0; i < spec->count; i++) {
        if (i)
            jx_buffer_putc(to, ',');
        put_spec_entry(spec->items[i], to);
    }
    jx_buffer_putc(to, ']');
}

static void put_dtype(const jx_aval *aval, jx_buffer *to)
{
    if (aval->dtype == JX_DT_NONE)
        return;
    jx_emit_key(to, "dt");
    if (aval->dtype == JX_KEY)
        jx_buffer_printf(to, "\"key<%s>\"", aval->impl);
    else
        jx_buffer_printf(to, "\"%s\"", jx_dtype_of(aval->dtype)->short_name);
}

static void put_kind(const jx_aval *aval, jx_buffer *to)
{
    const char *kind = aval->kind == JX_AVAL_TOKEN    ? "token"
                       : aval->kind == JX_AVAL_REF    ? "ref"
                       : aval->kind == JX_AVAL_FUTURE ? "future"
                                                      : aval->label;

    if (aval->kind == JX_AVAL_ARRAY)
        return;
    jx_emit_key(to, "k");
    jx_json_put_text(to, kind);
}

static void put_marks(jx_emit *e, const jx_aval *aval, jx_buffer *to)
{
    if (aval->weak) {
        jx_emit_key(to, "weak");
        jx_buffer_puts(to, "true");
    }
    put_names("vma", &aval->varying, to);
    put_names("unreduced", &aval->unreduced, to);
    if (aval->unreduced_kind) {
        jx_emit_key(to, "unreduced_kind");
        jx_json_put_text(to, aval->unreduced_kind);
    }
    put_names("reduced", &aval->reduced, to);
    if (aval->mesh) {
        int mesh = jx_emit_mesh(e, aval->mesh - 1);
        jx_emit_key(to, "mesh");
        jx_json_put_int(to, mesh);
    }
    if (aval->spec) {
        jx_emit_key(to, "spec");
        jx_emit_spec(aval->spec, to);
    }
    if (aval->memory_space) {
        jx_emit_key(to, "ms");
        jx_json_put_text(to, aval->memory_space);
    }
    if (aval->of) {
        int of = jx_emit_aval(e, aval->of);
        jx_emit_key(to, "of");
        jx_json_put_int(to, of);
    }
}

int jx_emit_aval(jx_emit *e, const jx_aval *aval)
{
    int row = jx_rows_find(&e->avals, aval);
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0)
        return row;
    jx_buffer_putc(&text, '{');
    put_kind(aval, &text);
    put_dtype(aval, &text);
    put_shape(e, aval, &text);
    put_marks(e, aval, &text);
    jx_buffer_putc(&text, '}');
    return add_row(e, &e->avals, aval, &text);
}

/* A constant's dtype and shape are written out, not its aval. */
int jx_emit_array(jx_emit *e, const jx_array *array)
{
    int row = jx_rows_find(&e->arrays, array);
    jx_buffer text = jx_ctx_text(e->program->ctx);

    if (row >= 0)
        return row;
    if (!array->data)
        e->unknown = true;
    jx_buffer_putc(&text, '{');
    put_dtype(array->aval, &text);
    put_shape(e, array->aval, &text);
    if (array->npz && e->program->npz_name) {
        jx_emit_key(&text, "npz");
        jx_json_put_text(&text, array->npz);
    } else {
        jx_emit_key(&text, array->splat ? "splat" : "b64");
        jx_buffer_putc(&text, '"');
        jx_base64_write(&text, array->data, array->bytes);
        jx_buffer_putc(&text, '"');
    }
    jx_buffer_putc(&text, '}');
    return add_row(e, &e->arrays, array, &text);
}

int jx_emit_definition(jx_emit *e, const struct jx_definition *definition)
{
    int row = jx_rows_find(&e->definitions, definition);

    if (row >= 0)
        return row;
    row = jx_rows_add(e, &e->definitions, definition);
    if (row < e->program->ndefinitions)
        e->defined[row] = definition;
    else
        e->failed = true;
    return row;
}

/* The rules met are written later, from the queue (document_rules.c). */
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
