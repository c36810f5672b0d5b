/* bytecode_parts.h - what the files of the bytecode reader share. */
#ifndef JX_MLIR_BYTECODE_PARTS_H
#define JX_MLIR_BYTECODE_PARTS_H

#include "frontend/base/vec.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/ops.h"

enum {
    JX_BC_STRING = 0,
    JX_BC_DIALECT,
    JX_BC_ATTR_TYPE,
    JX_BC_ATTR_TYPE_OFFSET,
    JX_BC_IR,
    JX_BC_RESOURCE,
    JX_BC_RESOURCE_OFFSET,
    JX_BC_DIALECT_VERSION,
    JX_BC_PROPERTIES,
    JX_BC_SECTIONS
};

extern const char *const jx_bc_section_names[JX_BC_SECTIONS];

/* The format's versions by what they brought. */
enum {
    JX_BC_HAS_DIALECT_VERSIONS = 1,
    JX_BC_HAS_ISOLATED_SECTIONS = 2,
    JX_BC_HAS_USE_LISTS = 3,
    JX_BC_ELIDES_LOCATIONS = 4,
    JX_BC_HAS_PROPERTIES = 5
};

enum {
    JX_BC_OP_ATTRS = 0x01,
    JX_BC_OP_RESULTS = 0x02,
    JX_BC_OP_OPERANDS = 0x04,
    JX_BC_OP_SUCCESSORS = 0x08,
    JX_BC_OP_REGIONS = 0x10,
    JX_BC_OP_USE_LISTS = 0x20,
    JX_BC_OP_PROPERTIES = 0x40
};

/* A run of bytes that is being read. */
typedef struct jx_bc_cursor {
    const uint8_t *at, *end;
} jx_bc_cursor;

typedef struct jx_bc_text {
    const uint8_t *at;
    size_t size;
    const char *interned; /* NULL: not yet */
} jx_bc_text;

typedef enum jx_bc_state {
    JX_BC_UNREAD = 0,
    JX_BC_READING,
    JX_BC_READ
} jx_bc_state;

/* An attribute or type. */
typedef struct jx_bc_entry {
    const uint8_t *at;
    size_t size;
    uint32_t dialect;
    bool custom; /* false: it is text */
    uint8_t state;
    const void *value; /* jx_mlir_attr or jx_mlir_type */
} jx_bc_entry;

/* A dictionary as an op has it: which ones of its entries are inherent
 * depends on the op. */
typedef struct jx_bc_split {
    const char *inherent; /* names that are; NULL: not split yet */
    int ninherent, nattrs;
    const jx_mlir_named *named; /* inherent ones first */
} jx_bc_split;

typedef enum jx_bc_dialect_kind {
    JX_BC_OTHER = 0,
    JX_BC_BUILTIN,
    JX_BC_VHLO,
    JX_BC_SDY,
    JX_BC_STABLEHLO /* in ops that VHLO has none of: sdy.manual_computation */
} jx_bc_dialect_kind;

typedef struct jx_bc_op_name {
    jx_op_id id;
    const char *name; /* "vhlo.add_v1", interned */
    bool registered;
    const char *attrs; /* names in the order of its properties; NULL: unknown */
} jx_bc_op_name;

typedef struct jx_bc_props {
    const uint8_t *at;
    size_t size;
    const char *names; /* of the attributes; NULL: not read yet */
    int count;
    const jx_mlir_named *named;
} jx_bc_props;

/* What is being read, for errors. */
typedef struct jx_bc_where {
    int section;
    const char *kind; /* "attribute", "op"; or NULL */
    uint64_t index;
    const char *name; /* or NULL */
} jx_bc_where;

typedef struct jx_bc_reader jx_bc_reader;

/* Decoders of one entry's content (after its text form was ruled out). */
typedef const jx_mlir_attr *jx_bc_attr_reader(jx_bc_reader *r, jx_bc_cursor *c,
                                              jx_bc_dialect_kind dialect);
typedef const jx_mlir_type *jx_bc_type_reader(jx_bc_reader *r, jx_bc_cursor *c,
                                              jx_bc_dialect_kind dialect);
jx_bc_attr_reader jx_bc_read_attr;
jx_bc_type_reader jx_bc_read_type;

struct jx_bc_reader {
    jx_ctx *ctx;
    jx_arena *arena;   /* the context's */
    jx_arena *scratch; /* what the tree does not need */
    jx_mlir_types *types;
    jx_mlir_file *file;
    jx_bytecode_extra *extra;
    jx_bc_attr_reader *read_attr; /* entries have entries in them */
    jx_bc_type_reader *read_type;
    const char *path;
    const uint8_t *bytes;
    size_t size, base, used; /* `used` of the arena before */
    unsigned version;
    bool failed;
    int depth, nesting;
    jx_bc_where where;
    jx_bc_cursor sections[JX_BC_SECTIONS];
    bool present[JX_BC_SECTIONS];

    size_t nstrings, ndialects, nopnames, nattrs, ntypes, nprops;
    jx_bc_text *strings;
    jx_bytecode_dialect *dialects;
    uint8_t *kinds; /* jx_bc_dialect_kind, of each dialect */
    jx_bc_op_name *opnames;
    jx_bc_entry *attrs, *types_at;
    jx_bc_props *props;
    jx_bc_split *splits; /* of each attribute that is a dictionary */
    JX_VEC(jx_bytecode_resource) resources;
    JX_VEC(jx_bytecode_uses) uses;
    jx_intern places; /* in files, that were read */
    /* Values by number: a stack of regions.  Where the innermost isolated one
     * begins, numbers begin at 0. */
    jx_mlir_value **values;
    size_t nvalues, value_capacity, scope;
};

/* Records the first failure, at the byte `at`.  Always returns false. */
bool jx_bc_fail(jx_bc_reader *r, const uint8_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* True while nothing failed and memory is within bounds. */
bool jx_bc_ok(jx_bc_reader *r);

uint8_t jx_bc_byte(jx_bc_reader *r, jx_bc_cursor *c);
uint64_t jx_bc_long_varint(jx_bc_reader *r, jx_bc_cursor *c);
int64_t jx_bc_signed(jx_bc_reader *r, jx_bc_cursor *c);
/* A varint whose lowest bit is a flag. */
uint64_t jx_bc_flagged(jx_bc_reader *r, jx_bc_cursor *c, bool *flag);
/* A number of things that take at least a byte each. */
size_t jx_bc_count(jx_bc_reader *r, jx_bc_cursor *c, const char *what);
/* An index below `count` into a table of `what`. */
size_t jx_bc_index(jx_bc_reader *r, jx_bc_cursor *c, size_t count,
                   const char *what);
const uint8_t *jx_bc_take(jx_bc_reader *r, jx_bc_cursor *c, uint64_t size);
/* Steps over what aligns that comes next. */
bool jx_bc_padding(jx_bc_reader *r, jx_bc_cursor *c, uint64_t alignment);
/* The head of a section: its id and content, which the cursor steps over. */
int jx_bc_section(jx_bc_reader *r, jx_bc_cursor *c, jx_bc_cursor *content);

static inline uint64_t jx_bc_varint(jx_bc_reader *r, jx_bc_cursor *c)
{
    if (c->at < c->end && (*c->at & 1))
        return *c->at++ >> 1;
    return jx_bc_long_varint(r, c);
}

/* The bytes of the indexed string. */
const jx_bc_text *jx_bc_raw_string(jx_bc_reader *r, jx_bc_cursor *c);

/* References, read and resolved.  NULL after a failure. */
const jx_mlir_attr *jx_bc_attr(jx_bc_reader *r, jx_bc_cursor *c);
const jx_mlir_attr *jx_bc_attr_or_none(jx_bc_reader *r, jx_bc_cursor *c);
const jx_mlir_type *jx_bc_type(jx_bc_reader *r, jx_bc_cursor *c);
const jx_mlir_type **jx_bc_type_list(jx_bc_reader *r, jx_bc_cursor *c,
                                     size_t *count);
const jx_mlir_attr *jx_bc_attr_at(jx_bc_reader *r, size_t index);
const jx_mlir_type *jx_bc_type_at(jx_bc_reader *r, size_t index);
int64_t *jx_bc_signed_list(jx_bc_reader *r, jx_bc_cursor *c, size_t *count);

bool jx_bc_read_ir(jx_bc_reader *r);

unsigned jx_bc_float_bits(const jx_mlir_type *type);
/* Bytes of one element in a dense attribute; 0: unknown.  i1 counts one. */
size_t jx_mlir_element_size(const jx_mlir_type *element);
/* How many elements a tensor type has; false: not static, or too many. */
bool jx_mlir_elements(const jx_mlir_type *type, uint64_t *count);

/* Rows of bytecode_records.def. */
typedef struct jx_bc_record {
    jx_bc_dialect_kind dialect;
    unsigned code;
    const char *name, *fields;
} jx_bc_record;
const jx_bc_record *jx_bc_record_by_code(jx_bc_dialect_kind dialect,
                                         uint64_t code);
/* The first row of that name with at least the given number of fields. */
const jx_bc_record *jx_bc_record_by_name(const char *name, int fields);

/* VHLO's enumerations: the name in the tree ("vhlo.precision_v1"), the one of
 * StableHLO, whose cases they share. */
typedef struct jx_bc_enum {
    unsigned code;
    const char *name, *stablehlo;
} jx_bc_enum;
const jx_bc_enum *jx_bc_enum_by_name(const char *name);
/* The case as text with that number, or -1 for the other direction. */
const char *jx_bc_enum_case(const jx_bc_enum *e, uint64_t number,
                            size_t *length);
int jx_bc_enum_number(const jx_bc_enum *e, const char *text);

/* The code of a type without parts in a dialect; -1: it has none. */
int jx_bc_simple_code(jx_bc_dialect_kind dialect, const jx_mlir_type *type);

#endif
