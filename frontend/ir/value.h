/* value.h - parameters as an equation carries them: a tagged tree.
 *
 * The tree keeps everything that the input said, for printing and writing
 * back.  Rules and kernels never see it: they get the primitive's typed struct
 * (params.h), decoded once.  Values are immutable and live in the program's
 * arena. */
#ifndef JX_VALUE_H
#define JX_VALUE_H

#include "frontend/ir/aval.h"

struct jx_jaxpr;
struct jx_rule;
struct jx_definition;
struct jx_array;
struct jaxvet_custom_call;

typedef enum jx_value_tag {
    JX_V_NONE = 0,
    JX_V_BOOL,    /* .boolean */
    JX_V_INT,     /* .integer (int64); .text "int64" of numpy's, or NULL */
    JX_V_UINT,    /* .integer holds the bits of a uint64 above INT64_MAX */
    JX_V_FLOAT,   /* .real */
    JX_V_COMPLEX, /* .real, .imag */
    JX_V_TEXT,    /* .text */
    JX_V_TUPLE,   /* .items, .count (tuples and lists) */
    JX_V_SET,     /* .items sorted */
    JX_V_MAP,     /* .items: key, value, key, value, ... */
    JX_V_SLICE,   /* .items: start, stop, step */
    JX_V_RECORD,  /* .text type name; .keys, .items, .count; .boolean: it is a
                      primitive, printed as the equation of one */
    JX_V_ENUM,    /* .text: "GatherScatterMode.CLIP" */
    JX_V_DTYPE,   /* .dtype; .text numpy's name */
    JX_V_DIM,     /* .dim (symbolic) */
    JX_V_JAXPR,   /* .jaxpr; .items its constants as JX_V_CONST; .open */
    JX_V_RULE,    /* .rule; .text its function's name, or NULL */
    JX_V_DEFINITION, /* .definition */
    JX_V_AVAL,       /* .aval */
    JX_V_PRIM,       /* .text: another primitive's name */
    JX_V_MESH,       /* .integer: index in the program's meshes */
    JX_V_SPEC,       /* .items; .keys/.extra: unreduced, reduced (see below) */
    JX_V_SHARDING, /* .integer: mesh index; .items: {spec}; .text memory kind */
    JX_V_UNSPECIFIED,
    JX_V_CONST,    /* .array */
    JX_V_FUNCTION, /* .text: its name */
    JX_V_TREE,     /* .text: a PyTreeDef as printed */
    JX_V_IMPL,     /* .text: a PRNG implementation's name */
    JX_V_OPAQUE,   /* .text type name, .detail its repr */
    JX_V_SHOWN,    /* .shown: a value that is printed and means nothing, which
                      who follows .items and .jaxpr does not meet */
} jx_value_tag;

typedef struct jx_value {
    jx_value_tag tag;
    bool boolean;
    bool open; /* of a jaxpr that is not closed (`Jaxpr`, no constants) */
    jx_dtype dtype;
    int64_t integer;
    double real, imag;
    const char *text, *detail; /* interned */
    const jx_dim *dim;
    const jx_aval *aval;
    const struct jx_jaxpr *jaxpr;
    const struct jx_rule *rule;
    const struct jx_definition *definition;
    const struct jx_array *array;
    int count;
    const struct jx_value *const *items;
    const char *const *keys; /* of a record: field names */
    /* Of a spec, or NULL; its `text`, if there is one, is "sum", "max" or
     * "min", what of unreduced parts is meant. */
    const struct jx_value *unreduced, *reduced;
    const struct jx_value *shown;
    /* Of the name of a custom call's target: all that its module says of the
     * call, with the types that a parameter leaves out; or NULL. */
    const struct jaxvet_custom_call *call;
} jx_value;

/* Keeps one copy of each distinct value.  (Items of a value that is added must
 * have been added before, so that comparing pointers compares trees.) */
typedef struct jx_values {
    jx_ctx *ctx;
    jx_intern table;
} jx_values;

void jx_values_init(jx_values *in, jx_ctx *ctx);
/* The kept value equal to *like, whose arrays are copied and whose texts must
 * be interned.  NULL without memory. */
const jx_value *jx_value_add(jx_values *in, const jx_value *like);

/* The field of a record, or NULL. */
const jx_value *jx_value_field(const jx_value *record, const char *name);

/* Parameters of one equation, sorted by name. */
typedef struct jx_param {
    const char *name; /* interned */
    const jx_value *value;
} jx_param;

#endif
