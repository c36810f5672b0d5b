/* print_parts.h - what the files of the printer share. */
#ifndef JX_MLIR_PRINT_PARTS_H
#define JX_MLIR_PRINT_PARTS_H

#include "frontend/base/vec.h"
#include "frontend/mlir/forms.h"
#include "frontend/mlir/ops.h"
#include "frontend/mlir/print.h"

/* How deep attributes, types, locations and regions may nest. */
enum { JX_MLIR_PRINT_DEPTH = 512 };

typedef enum jx_mlir_alias_use {
    JX_LOC_INLINE,
    JX_LOC_ALIASED
} jx_mlir_alias_use;

struct jx_mlir_names;
struct jx_mlir_locs;

typedef struct jx_mlir_printer {
    jx_ctx *ctx; /* NULL: for types and attributes alone */
    jx_buffer *to;
    jx_mlir_print_how how;
    struct jx_mlir_names *names;
    struct jx_mlir_locs *locs; /* NULL: no locations are printed */
    bool collecting;           /* nothing is printed, locations are met */
    int indent, depth;
    bool too_deep;
    jx_forms forms;
    const char *dialect; /* whose ops are named without it here; or "" */
    JX_VEC(const jx_mlir_attr *) resources; /* met, with their bytes */
} jx_mlir_printer;

/* Whether there is room for one more level; if so, p->depth counts it. */
bool jx_mlir_enter(jx_mlir_printer *p);

/* ---- print_attr.c */

void jx_mlir_put_string(jx_mlir_printer *p, const void *bytes, size_t size);
void jx_mlir_put_keyword(jx_mlir_printer *p, const char *name);
void jx_mlir_put_symbol(jx_mlir_printer *p, const char *bytes, size_t size);
void jx_mlir_put_type(jx_mlir_printer *p, const jx_mlir_type *type);

typedef enum jx_mlir_typing {
    JX_TYPE_ALWAYS,
    JX_TYPE_MAY, /* left out for i64 and f64, as in arrays */
    JX_TYPE_NEVER,
} jx_mlir_typing;

void jx_mlir_put_attr(jx_mlir_printer *p, const jx_mlir_attr *attr,
                      jx_mlir_typing typing);
/* As the formats of ops and records have it: `[0, 1]`, `FFT`, `3`. */
void jx_mlir_put_plain(jx_mlir_printer *p, const jx_mlir_attr *attr);
/* `name = value`, or the name alone. */
void jx_mlir_put_named(jx_mlir_printer *p, const char *name,
                       const jx_mlir_attr *value);
/* The bytes of the resources that were met, as they stand behind a module. */
void jx_mlir_put_resources(jx_mlir_printer *p);

/* ---- print_record.c */

void jx_mlir_put_record(jx_mlir_printer *p, const jx_mlir_attr *record);
/* What stands between the angle brackets, with them. */
void jx_mlir_put_record_body(jx_mlir_printer *p, const jx_mlir_attr *record);
/* The values of a list (or none) between commas. */
void jx_mlir_put_items(jx_mlir_printer *p, const jx_mlir_attr *list);
/* Whether jx_mlir_put_conv_dims() can say it. */
bool jx_mlir_has_conv_roles(const jx_mlir_attr *dims);
void jx_mlir_put_conv_dims(jx_mlir_printer *p, const jx_mlir_attr *dims);

/* ---- print_loc.c */

struct jx_mlir_locs *jx_mlir_locs_new(jx_ctx *ctx);
/* ` loc(...)`, or, collecting, a visit. */
void jx_mlir_put_loc(jx_mlir_printer *p, const jx_mlir_attr *loc,
                     jx_mlir_alias_use use, bool deferrable);
void jx_mlir_put_loc_attr(jx_mlir_printer *p, const jx_mlir_attr *loc);
/* Numbers what was met; then the lines of the aliases that come before the
 * module, or those behind it. */
void jx_mlir_locs_number(jx_mlir_printer *p);
void jx_mlir_put_aliases(jx_mlir_printer *p, bool deferred);

/* ---- print_names.c */

struct jx_mlir_names *jx_mlir_names_of(jx_ctx *ctx, const jx_mlir_op *op,
                                       bool generic);
void jx_mlir_put_value(jx_mlir_printer *p, const jx_mlir_value *value);
/* How many operands of a chlo.scan are initial values, -1 if it does not say so
 * (forms_regions.c). */
int jx_mlir_scan_inits(const jx_mlir_op *op);
/* `^bb1`: blocks are named by their place in the region. */
void jx_mlir_put_block_name(jx_mlir_printer *p, const jx_mlir_block *block);
/* `%0:2 = ` or nothing. */
void jx_mlir_put_results(jx_mlir_printer *p, const jx_mlir_op *op);

/* ---- print.c: the vocabulary of forms */

/* `stablehlo.add`, or `add` where its dialect goes without saying. */
void jx_mlir_put_op_name(jx_mlir_printer *p, const jx_mlir_op *op);
void jx_mlir_put_operands(jx_mlir_printer *p, const jx_mlir_op *op, int from,
                          int to);
void jx_mlir_put_types(jx_mlir_printer *p, const jx_mlir_value *const *values,
                       int count);
void jx_mlir_put_function_type(jx_mlir_printer *p, const jx_mlir_op *op);
/* ` {...}` of all attributes but those named in the list `but` ("a b"). */
void jx_mlir_put_attr_dict(jx_mlir_printer *p, const jx_mlir_op *op,
                           const char *but, const char *keyword);
void jx_mlir_put_region(jx_mlir_printer *p, const jx_mlir_region *region,
                        bool arguments, const char *dialect);
void jx_mlir_put_argument(jx_mlir_printer *p, const jx_mlir_value *value,
                          const jx_mlir_attr *attrs);
void jx_mlir_put_newline(jx_mlir_printer *p);
void jx_mlir_put_generic(jx_mlir_printer *p, const jx_mlir_op *op);

static inline void jx_mlir_puts(jx_mlir_printer *p, const char *text)
{
    if (!p->collecting)
        jx_buffer_puts(p->to, text);
}

#endif
