/* text_parts.h - what the files of the MLIR text reader share.
 *
 * Scanning is by characters: what a word means depends on where it stands
 * (`2x3xf32` is a shape, `%0:2` a value, `1:2` a range).  The first failure
 * moves the reader to the end of the text, where nothing more is found. */
#ifndef JX_MLIR_TEXT_PARTS_H
#define JX_MLIR_TEXT_PARTS_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/mlir/forms.h"
#include "frontend/mlir/ops.h"
#include "frontend/mlir/tree.h"

#include <string.h>

enum {
    JX_MTEXT_DEPTH = 200,      /* of regions in regions */
    JX_MTEXT_NEST = 1000,      /* of attributes, types and locations */
    JX_MTEXT_WEIGHT = 1 << 20, /* of what one alias stands for, written out */
};

/* A run of characters of the text. */
typedef struct jx_piece {
    const char *at;
    size_t length;
} jx_piece;

/* `#name = ...`, `!name = ...`.  What an alias stands for is known before it is
 * used, but for locations, which are filled in where they were referred to. */
typedef struct jx_malias {
    const char *name;   /* interned */
    jx_mlir_attr *attr; /* of locations: shared with who refers to it */
    const jx_mlir_type *type;
    bool defined;
    const char *first; /* where it was used before it was defined */
    int height;        /* how deep the thing nests */
    size_t weight;     /* how many parts it has, written out */
} jx_malias;

/* A value that was used before its definition was read. */
typedef struct jx_mforward {
    const char *at; /* of its first use */
    struct jx_mname *name;
    jx_mlir_value *value;
    int scope, level; /* of the innermost region around it that is open */
    bool defined;
} jx_mforward;

/* A name of values, and what it means now. */
typedef struct jx_mname {
    size_t length;
    jx_mlir_value *const *values; /* NULL: nothing */
    int count;
    int scope;            /* the isolated region that it was defined in */
    jx_mforward *forward; /* or NULL */
    char text[];          /* without `%` */
} jx_mname;

/* What a name meant before the region that hides it. */
typedef struct jx_mhidden {
    jx_mname *name;
    jx_mlir_value *const *values;
    int count, scope;
} jx_mhidden;

/* A label of a block in the region that is being read. */
typedef struct jx_mlabel {
    const char *name;   /* interned */
    const char *at;     /* where it was first used */
    const char *branch; /* where an op goes there; NULL: none does */
    jx_mlir_block *block;
    bool defined;
} jx_mlabel;

/* An operand as it is written. */
typedef struct jx_muse {
    const char *at;
    jx_mname *name;
    int64_t number; /* of `%0#number`; of results: how many */
} jx_muse;

/* A resource whose bytes come at the end of the text. */
typedef struct jx_mblob {
    const char *name; /* interned */
    jx_mlir_attr *attr;
} jx_mblob;

/* An argument of a region, as `%x: type {attrs} loc(...)` has it. */
typedef struct jx_marg {
    jx_muse name; /* .name NULL: there is none */
    const jx_mlir_type *type;
    const jx_mlir_attr *attrs; /* or NULL */
    const jx_mlir_attr *loc;   /* or NULL */
} jx_marg;

typedef JX_VEC(const jx_mlir_type *) jx_mtypes;

typedef struct jx_mtext {
    jx_ctx *ctx;
    jx_arena *arena;
    jx_mlir_types *types;
    const char *path;
    const char *at, *begin, *end; /* position; the whole */
    bool failed;
    bool defining;       /* an alias: all that it uses must be defined */
    int depth, nest;     /* of regions; of attributes, types and locations */
    int height;          /* the greatest `nest` since it was last reset */
    size_t weight;       /* of all that was read */
    const char *counted; /* where lines begin is known up to here */
    JX_VEC(const char *) lines;
    const char *separator; /* the last `// -----` that was passed */
    /* Names. */
    jx_map attr_aliases, type_aliases; /* by name */
    jx_intern values;
    jx_intern *labels; /* of the region being read */
    JX_VEC(jx_mhidden) hidden;
    JX_VEC(jx_mforward *) forwards;
    JX_VEC(jx_malias *) pending; /* locations referred to, not defined yet */
    JX_VEC(jx_mblob) blobs;
    int scope, scopes, level;
    const char *block;   /* where the block being read begins */
    const char *dialect; /* of ops that are named without one */
    const jx_mlir_attr *unknown, *unit, *yes, *no;
    const jx_mlir_type *i1, *i32, *i64, *f64;
    struct {
        const char *name; /* interned */
        jx_op_id id;
    } known[256]; /* ops met last, by name */
    jx_forms forms;
    jx_intern spelled; /* types by how they are written */
    /* Stacks of the ops being read; each op remembers where its part begins. */
    JX_VEC(jx_muse) uses, results;
    JX_VEC(jx_marg) args;
    jx_mtypes in_types, out_types;
    JX_VEC(jx_mlir_named) inherent;
    JX_VEC(jx_mlir_named) attrs;
    JX_VEC(jx_mlir_region) regions;
    JX_VEC(const jx_mlir_block *) successors;
    JX_VEC(const jx_mlir_op *) ops;
    JX_VEC(const jx_mlir_block *) blocks;
    JX_VEC(const jx_mlir_attr *) items;
    JX_VEC(jx_mlir_named) entries;
    jx_mtypes parts;
    JX_VEC(int64_t) numbers;
} jx_mtext;

/* An op being read: where its parts begin on the stacks. */
typedef struct jx_mop {
    const char *at, *name;
    jx_op_id id;
    const jx_mlir_attr *loc; /* read already; or NULL */
    size_t results, uses, in_types, out_types, inherent, attrs, regions,
        successors;
} jx_mop;

/* ---- characters (text_lex.c) */

/* Records the first failure, at `at`; always false. */
bool jx_mtext_fail(jx_mtext *t, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails: `what` was expected here. */
bool jx_mtext_wants(jx_mtext *t, const char *what);
/* Skips white space and comments; the next character, or NUL at the end. */
char jx_mtext_space(jx_mtext *t);
/* Whether these characters come next, after white space; a word only as a
 * whole.  (Inline, so that the lengths of literals are known.) */
bool jx_mtext_comes_piece(jx_mtext *t, const char *mark, size_t length);
static inline bool jx_mtext_comes(jx_mtext *t, const char *mark)
{
    return jx_mtext_comes_piece(t, mark, strlen(mark));
}

/* Takes them, if they do. */
static inline bool jx_mtext_take_piece(jx_mtext *t, const char *mark,
                                       size_t length)
{
    if (!jx_mtext_comes_piece(t, mark, length))
        return false;
    t->at += length;
    return true;
}

static inline bool jx_mtext_take(jx_mtext *t, const char *mark)
{
    return jx_mtext_take_piece(t, mark, strlen(mark));
}

/* Takes them, or fails. */
bool jx_mtext_expect_piece(jx_mtext *t, const char *mark, size_t length);
static inline bool jx_mtext_expect(jx_mtext *t, const char *mark)
{
    return jx_mtext_expect_piece(t, mark, strlen(mark));
}

static inline bool jx_mtext_is(jx_piece piece, const char *text)
{
    return piece.length == strlen(text) &&
           memcmp(piece.at, text, piece.length) == 0;
}

/* A word: letters, digits, `_`, `$` and (with `dots`) `.`; empty if none. */
jx_piece jx_mtext_word(jx_mtext *t, bool dots);
/* What follows a `%`, `^`, `@`, `#` or `!`: digits, or a word; may have
 * `.`, `$` and `-`. */
jx_piece jx_mtext_suffix(jx_mtext *t);
const char *jx_mtext_intern(jx_mtext *t, jx_piece piece);
/* A quoted string, its escapes resolved; false if none or after a failure. */
bool jx_mtext_string(jx_mtext *t, jx_piece *string);
/* Whether a string's bytes can be a name; if not, false with an
 * error at `at`. */
bool jx_mtext_is_name(jx_mtext *t, const char *at, jx_piece text);
/* `@name` or `@"any text"`, interned; NULL if none (no failure). */
const char *jx_mtext_symbol(jx_mtext *t);
bool jx_mtext_integer(jx_mtext *t, int64_t *value);
jx_mlir_place jx_mtext_place(jx_mtext *t, const char *at);
/* One nesting deeper, or a failure. */
bool jx_mtext_enter(jx_mtext *t);
void jx_mtext_leave(jx_mtext *t);
/* Copies the stack from `from` on into the arena and drops it there. */
#define JX_MTEXT_CUT(t, stack, from)                                           \
    jx_mtext_cut((t), (stack)->at, sizeof *(stack)->at, (from), &(stack)->count)
void *jx_mtext_cut(jx_mtext *t, const void *stack, size_t size, size_t from,
                   size_t *count);

/* ---- numbers (text_numbers.c) */

typedef struct jx_mnumber {
    const char *at;
    size_t length;
    bool negative, hex, real; /* real: has a fraction or an exponent */
} jx_mnumber;

/* Scans a number, `-` included; false (nothing read) if none comes. */
bool jx_mnumber_scan(const char *at, const char *end, jx_mnumber *number);
/* Into 16 bytes, little endian, two's complement; false if it does not fit. */
bool jx_mnumber_integer(const jx_mnumber *number, unsigned width,
                        jx_mlir_sign sign, unsigned char bytes[16]);
double jx_mnumber_real(jx_ctx *ctx, const jx_mnumber *number);
/* A float format, by MLIR's name of the type; NULL: none that
 * has values here. */
typedef struct jx_mformat jx_mformat;
const jx_mformat *jx_mformat_of(const char *type);
unsigned jx_mformat_width(const jx_mformat *format); /* in bits */
/* The bits of the value nearest to `value`, ties to even; and back. */
uint64_t jx_mformat_encode(const jx_mformat *format, double value);
double jx_mformat_decode(const jx_mformat *format, uint64_t bits);
/* The bits of the value nearest to a decimal number, ties to even. */
uint64_t jx_mnumber_encode(jx_ctx *ctx, const jx_mnumber *number,
                           const jx_mformat *format);

/* ---- types (text_types.c); NULL after a failure */

const jx_mlir_type *jx_mtext_type(jx_mtext *t);
/* A type if the word that comes begins one; NULL without a failure. */
const jx_mlir_type *jx_mtext_type_word(jx_mtext *t, jx_piece word);
/* `(types)`, pushed on `parts`; or one type without parentheses. */
bool jx_mtext_types(jx_mtext *t);
const jx_mlir_type *jx_mtext_alias_type(jx_mtext *t, jx_piece name);
const jx_mlir_type *jx_mtext_add(jx_mtext *t, const jx_mlir_type *like);

/* ---- attributes (text_attrs.c); NULL after a failure */

jx_mlir_attr *jx_mtext_new(jx_mtext *t, jx_mlir_attr_kind kind);
const jx_mlir_attr *jx_mtext_attr(jx_mtext *t);
/* A number of this type, which is not written, or (NULL) of the one
 * that follows it. */
const jx_mlir_attr *jx_mtext_number(jx_mtext *t, const jx_mlir_type *type);
const jx_mlir_attr *jx_mtext_int_attr(jx_mtext *t, const jx_mlir_type *type,
                                      int64_t value);
const jx_mlir_attr *jx_mtext_text_attr(jx_mtext *t, jx_piece text);
const jx_mlir_attr *jx_mtext_real_attr(jx_mtext *t, double value); /* f64 */
const jx_mlir_attr *jx_mtext_type_attr(jx_mtext *t, const jx_mlir_type *type);
const jx_mlir_attr *jx_mtext_symbol_attr(jx_mtext *t);
/* array<i64: ...> of the numbers on the stack from `from` on. */
const jx_mlir_attr *jx_mtext_list_attr(jx_mtext *t, const jx_mlir_type *of,
                                       size_t from);
/* `true` or `false`; `"text"`; a number of 64 bits. */
const jx_mlir_attr *jx_mtext_bool(jx_mtext *t);
const jx_mlir_attr *jx_mtext_quoted(jx_mtext *t);
const jx_mlir_attr *jx_mtext_i64(jx_mtext *t);
/* Items between brackets, with commas, as JX_A_ARRAY. */
typedef const jx_mlir_attr *jx_mtext_reader(jx_mtext *t);
const jx_mlir_attr *jx_mtext_items(jx_mtext *t, const char *open,
                                   const char *close, jx_mtext_reader *item);
/* JX_A_ARRAY of what lies on `items` from `from` on. */
const jx_mlir_attr *jx_mtext_array_attr(jx_mtext *t, size_t from);
/* `{name = value, ...}`, pushed on `entries`; sorts and refuses doubles. */
bool jx_mtext_entries(jx_mtext *t, const char *open, const char *close);
bool jx_mtext_sort(jx_mtext *t, const char *at, jx_mlir_named *named,
                   size_t count);
const jx_mlir_attr *jx_mtext_dict_attr(jx_mtext *t, size_t from);
/* `[1, ?, 3]`, onto the stack of numbers. */
bool jx_mtext_list(jx_mtext *t, const char *open, const char *close);
/* What comes behind `dense` (text_dense.c). */
const jx_mlir_attr *jx_mtext_dense(jx_mtext *t);
/* Hexadecimal digits to bytes. */
unsigned char *jx_mtext_hex(jx_mtext *t, jx_piece digits, const char *at);

/* ---- attributes of dialects (text_records.c) */

/* What comes behind `#`: an alias, or `dialect.name<...>`. */
const jx_mlir_attr *jx_mtext_dialect_attr(jx_mtext *t);
/* The same without `#dialect.name`, as pretty forms have it. */
const jx_mlir_attr *jx_mtext_record(jx_mtext *t, const char *name);
const jx_mlir_attr *jx_mtext_enum(jx_mtext *t, const char *name);
/* An attribute written in full, `#...`, that must be of this name. */
const jx_mlir_attr *jx_mtext_in_full(jx_mtext *t, const char *name);
/* The attribute if it is of this kind, else NULL with a failure at `at`. */
const jx_mlir_attr *jx_mtext_of_kind(jx_mtext *t, const char *at,
                                     const jx_mlir_attr *attr,
                                     jx_mlir_attr_kind kind);
const jx_mlir_attr *jx_mtext_conv_dims(jx_mtext *t);
/* `(1)2`, part of an axis, as a record of this name. */
const jx_mlir_attr *jx_mtext_sub_axis(jx_mtext *t, const char *name);
/* Records that have a syntax of their own (text_sdy.c); false: `name` is not
 * one of them. */
bool jx_mtext_sdy(jx_mtext *t, const char *name, const jx_mlir_attr **attr);
/* A record under construction: fields on `entries` from `from` on. */
void jx_mtext_field(jx_mtext *t, const char *name, const jx_mlir_attr *value);
const jx_mlir_attr *jx_mtext_record_attr(jx_mtext *t, const char *name,
                                         size_t from);
/* Skips to behind the bracket that closes this one, for what is kept as it is
 * written; false after a failure. */
bool jx_mtext_skip(jx_mtext *t);

/* ---- locations (text_locs.c) */

/* `loc(...)` if it comes next; else NULL, or after a failure. */
const jx_mlir_attr *jx_mtext_loc(jx_mtext *t);
const jx_mlir_attr *jx_mtext_alias_attr(jx_mtext *t, jx_piece name);
/* `#name = ...` and `!name = ...`, at the top. */
bool jx_mtext_alias_def(jx_mtext *t);
bool jx_mtext_resolve_locs(jx_mtext *t);
void jx_mtext_forget_aliases(jx_mtext *t);
/* `{-# ... #-}`. */
bool jx_mtext_resources(jx_mtext *t);

/* ---- names of values (text_names.c) */

/* `%name`, `%name#2`; false if none comes (and no failure). */
bool jx_mtext_use(jx_mtext *t, jx_muse *use);
/* The same; none is a failure. */
bool jx_mtext_need(jx_mtext *t, jx_muse *use);
/* One onto the stack of uses, or a failure. */
bool jx_mtext_operand(jx_mtext *t);
/* `%a, %b`, as many as there are, onto the stack of uses. */
bool jx_mtext_uses(jx_mtext *t);
jx_mlir_value *jx_mtext_resolve(jx_mtext *t, const jx_muse *use,
                                const jx_mlir_type *type);
/* A new value; one that was used already is that one. */
jx_mlir_value *jx_mtext_value(jx_mtext *t, const jx_muse *name,
                              const jx_mlir_type *type);
/* From now on `name` means these. */
bool jx_mtext_define(jx_mtext *t, const jx_muse *name,
                     jx_mlir_value *const *values, int count);

/* What a region changes, to be restored behind it. */
typedef struct jx_mscope {
    size_t hidden, forwards;
    int scope;
    bool isolated;
    const char *block, *dialect;
    jx_intern *labels;
} jx_mscope;
bool jx_mtext_open(jx_mtext *t, jx_mscope *was, bool isolated);
bool jx_mtext_close(jx_mtext *t, const jx_mscope *was);

/* ---- ops (text_ops.c) */

/* The op of that interned name. */
jx_op_id jx_mtext_op_id(jx_mtext *t, const char *name);
/* An op before it is read: its parts begin at the tops of the stacks. */
jx_mop jx_mtext_begin(const jx_mtext *t, const char *at);
/* Reads ops up to `}`, `^` or the end, onto the stack of ops. */
bool jx_mtext_ops(jx_mtext *t);
/* One op; NULL after a failure. */
const jx_mlir_op *jx_mtext_op(jx_mtext *t);
/* What stands behind the name in the generic form. */
bool jx_mtext_generic(jx_mtext *t, const jx_mop *op);
/* Makes the op of what was read, and binds its results. */
const jx_mlir_op *jx_mtext_finish(jx_mtext *t, jx_mop *op);
/* `{...}` with inherent and other attributes, if it comes next. */
bool jx_mtext_attr_dict(jx_mtext *t, const jx_mop *op);
/* Entries between these, all inherent. */
bool jx_mtext_properties(jx_mtext *t, const jx_mop *op, const char *open,
                         const char *close);
bool jx_mtext_give(jx_mtext *t, const char *name, const jx_mlir_attr *value);
/* `(types) -> types` onto in_types and out_types. */
bool jx_mtext_signature(jx_mtext *t);
/* The same of a type that is a function's. */
void jx_mtext_push_function(jx_mtext *t, const jx_mlir_type *type);
/* Types, separated by commas. */
bool jx_mtext_type_list(jx_mtext *t, jx_mtypes *to);

/* ---- regions (text_regions.c) */

/* `%x: type {attrs} loc(...)`. */
bool jx_mtext_arg(jx_mtext *t, jx_marg *arg, bool attrs);
/* `(%x: type, ...)`, onto the stack. */
bool jx_mtext_args(jx_mtext *t, bool attrs);
/* `{ ... }`, pushed on regions; the first block has the arguments that lie on
 * the stack from `args` on, which are dropped. */
bool jx_mtext_region(jx_mtext *t, const jx_mop *op, size_t args);
/* `({...}, {...})`, if it comes next. */
bool jx_mtext_regions(jx_mtext *t, const jx_mop *op);
/* A region of one block with these values and ops, pushed on regions. */
bool jx_mtext_push_region(jx_mtext *t, jx_mlir_value *const *args, int nargs,
                          size_t ops);
/* `[^bb1, ^bb2]`, onto the stack. */
bool jx_mtext_successors(jx_mtext *t);

/* ---- what several forms have in them (forms.h) */

/* A list of i64, `[1, 2]` or as an alias (forms.c). */
const jx_mlir_attr *jx_take_list(jx_mtext *t);
/* `attributes {...}`, if it is there (forms_regions.c). */
bool jx_take_attributes(jx_mtext *t, const jx_mop *op);

#endif
