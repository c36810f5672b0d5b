/* document_parts.h - what the files of the document writer share. */
#ifndef JX_WRITE_DOCUMENT_PARTS_H
#define JX_WRITE_DOCUMENT_PARTS_H

#include "frontend/base/json.h"
#include "frontend/base/map.h"
#include "frontend/ir/program.h"

/* One table of the document: its rows as text, and which thing is where.  A
 * thing is known by its pointer; small integers stand for themselves. */
typedef struct jx_rows {
    jx_buffer text; /* the rows, with commas between */
    int count;
    jx_map index; /* each thing's row, plus 1 */
} jx_rows;

typedef struct jx_emit {
    const jx_program *program;
    jx_arena *arena; /* for the tables, gone after writing */
    jx_rows files, frames, stacks, names, contexts, meshes, scopes, avals,
        arrays, prims, jaxprs, rules, definitions;
    const jx_rule **queue;                /* the rules met, in order */
    const struct jx_definition **defined; /* the same of definitions */
    /* of each, the row up to its first pattern, until it is written */
    jx_buffer *begun;
    /* rules whose rows are begun, and that have them whole */
    int nbegun, nwritten;
    bool failed;
    bool unknown; /* a constant without its values was met */
    bool modules; /* an equation that brings its module was met */
} jx_emit;

/* The row of `key`; -1 if it has none yet. */
int jx_rows_find(const jx_rows *rows, const void *key);
/* Gives it the next row, whose text the caller appends (jx_rows_begin puts the
 * comma). */
int jx_rows_add(jx_emit *e, jx_rows *rows, const void *key);
void jx_rows_begin(jx_rows *rows);

/* Rows of things, made on first use (document_tables.c). */
int jx_emit_stack(jx_emit *e, const jx_stack *stack);
int jx_emit_name(jx_emit *e, const char *name);
int jx_emit_context(jx_emit *e, const jx_eqn_ctx *context);
int jx_emit_mesh(jx_emit *e, int64_t index);
int jx_emit_scope(jx_emit *e, int scope);
int jx_emit_aval(jx_emit *e, const jx_aval *aval);
int jx_emit_array(jx_emit *e, const jx_array *array);
int jx_emit_prim(jx_emit *e, const char *name);
int jx_emit_jaxpr(jx_emit *e, const jx_jaxpr *jaxpr);
int jx_emit_rule(jx_emit *e, const jx_rule *rule);
int jx_emit_definition(jx_emit *e, const struct jx_definition *definition);

/* The scope whose variables a dim has (0 if it has none), met on the way. */
int jx_emit_scope_of(jx_emit *e, const jx_dim *dim);
void jx_emit_dim_text(const jx_dim *dim, jx_buffer *to);
void jx_emit_spec(const jx_value *spec, jx_buffer *to);
void jx_emit_hex(const void *bits, size_t bytes, jx_buffer *to);
/* A number, or text beyond 2^53. */
void jx_emit_int(int64_t value, jx_buffer *to);

void jx_emit_value(jx_emit *e, const jx_value *value, jx_buffer *to);
void jx_emit_closed(jx_emit *e, const jx_closed *closed, jx_buffer *to);
void jx_emit_literal(jx_emit *e, const jx_literal *literal, jx_buffer *to);
/* The rules in the queue, and those met meanwhile; then each definition, with
 * the rules that it meets. */
void jx_emit_rules(jx_emit *e);
void jx_emit_free_rules(jx_emit *e); /* those that were begun alone */
void jx_emit_definitions(jx_emit *e);
void jx_emit_avals(jx_emit *e, const char *key, int count,
                   const jx_aval *const *avals, jx_buffer *to);
void jx_emit_comparisons(jx_emit *e, jx_buffer *to);
void jx_emit_closures(jx_emit *e, jx_buffer *to);
void jx_emit_retraces(jx_emit *e, jx_buffer *to);
/* `"jaxpr":0,"consts":[1]`, the latter if there are any. */
void jx_emit_entry(jx_emit *e, const jx_closed *closed, jx_buffer *to);

/* `"key":`, with a comma unless it comes first after the brace. */
void jx_emit_key(jx_buffer *to, const char *key);
/* The key and a list of texts, if there are any. */
void jx_emit_texts(jx_buffer *to, const char *key, int count,
                   const char *const *texts);

#endif
