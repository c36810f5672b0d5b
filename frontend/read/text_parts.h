/* text_parts.h - what the files of the text reader share. */
#ifndef JX_TEXT_PARTS_H
#define JX_TEXT_PARTS_H

#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/build.h"
#include "frontend/read/text.h"

enum {
    JX_TEXT_DEPTH = 200, /* of jaxprs in jaxprs, and of values in values */
    JX_TEXT_PARAMS = 64, /* of an equation */
};

/* A hoisted jaxpr, read when it is first referred to: it may come after its
 * user.  A value printed by str() has names of its own. */
typedef struct jx_hoisted {
    const char *name; /* interned */
    const char *at;   /* where its `{` is */
    const jx_jaxpr *jaxpr;
    bool reading;
} jx_hoisted;

/* A jaxpr that a value's str() showed in full: the same text again is the same
 * jaxpr. */
typedef struct jx_shown {
    const char *begin, *end;
    const jx_jaxpr *jaxpr;
} jx_shown;

typedef struct jx_text {
    jx_ctx *ctx;
    jx_program *program;
    const char *path;
    const char *at, *begin, *end; /* position; the whole */
    int depth;
    bool failed;
    JX_VEC(jx_hoisted) hoisted;
    JX_VEC(jx_shown) shown;
    size_t visible; /* the first hoisted name that counts here */
    jx_builder build;
    JX_VEC(jx_mesh) meshes;
    const jx_eqn_ctx *eqn_ctx; /* of all equations, or NULL */
    int scope;                 /* of the variables of sizes */
    jx_text_lines *lines;      /* or NULL: nobody asks */
} jx_text;

/* Records the first failure, at `at`; always false. */
bool jx_text_fail(jx_text *t, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void jx_text_space(jx_text *t);
/* Takes these bytes, after white space, if they come next. */
bool jx_text_take(jx_text *t, const char *word);
bool jx_text_expect(jx_text *t, const char *word);
const char *jx_text_intern(jx_text *t, const char *begin, const char *end);

/* A type such as `f32[2*b,3]` (text_types.c); NULL after a failure. */
const jx_aval *jx_text_aval(jx_text *t);
/* A literal operand, with its type. */
const jx_literal *jx_text_literal(jx_text *t);

/* A jaxpr inside a value that is printed by str(). */
const jx_jaxpr *jx_text_shown(jx_text *t);

/* The names of a jaxpr (text.c), and what one of them is: nothing, if it is no
 * variable defined before. */
typedef struct jx_text_scope jx_text_scope;
jx_atom jx_text_named(jx_text *t, const jx_text_scope *s, const char *begin,
                      const char *end);

/* A part of a reference (text_state.c): the steps to it as the parameter
 * `tree`, the operands that they take, its type. */
typedef struct jx_text_part {
    const jx_value *tree;
    int count;
    const jx_atom *operands;
    const jx_aval *aval;
} jx_text_part;
bool jx_text_path(jx_text *t, const jx_text_scope *scope, const jx_aval *ref,
                  jx_text_part *to);

/* One parameter's value, up to the next ` name=` or `]` (text_values.c). */
const jx_value *jx_text_value(jx_text *t, const jx_prim *prim,
                              const char *name);
const jx_value *jx_text_add(jx_text *t, const jx_value *like);
const jx_value *jx_text_plain(jx_text *t, jx_value_tag tag, const char *text);

/* `name=value ...]`, behind the bracket, into JX_TEXT_PARAMS (text.c); how
 * many, -1 at something else. */
int jx_text_params(jx_text *t, const jx_prim *prim, jx_param *params);

/* A primitive that is an object is shown by the name of its class: one that no
 * table has, and that begins as classes do. */
bool jx_text_is_hi(const char *name);
/* Gives such an equation its primitive and parameters (text_hi.c). */
void jx_text_hi_call(jx_text *t, jx_eqn *eqn, jx_param *params, int *count);
/* One inside of a value, behind `Name[`; NULL if it is none. */
const jx_value *jx_text_hi(jx_text *t, const char *name);

/* NULL if no hoisted jaxpr has this (interned) name, or after a failure.
 * `{ lambda ... }`, or `let name = { lambda ...} in ...` (text.c). */
const jx_jaxpr *jx_text_jaxpr(jx_text *t);
const jx_jaxpr *jx_text_program(jx_text *t);
const jx_jaxpr *jx_text_hoisted(jx_text *t, const char *name);
const jx_value *jx_text_closed(jx_text *t, const jx_jaxpr *jaxpr, bool open);

/* The end of the FlatTree at `at` (text_trees.c), and how many leaves each of
 * its parts has, up to `room` of them; *count of them are there.  NULL: it is
 * none, or a leaf. */
const char *jx_text_tree(jx_text *t, const char *at, const char *end, int room,
                         int64_t *counts, int *count);
/* A scan's constants, carried values and items; false after a failure. */
bool jx_text_scan_counts(jx_text *t, const jx_value *ft_in, int64_t counts[3]);
/* What does not fit between a scan's trees and the rest of it, or NULL. */
const char *jx_text_scan_misfit(jx_text *t, const jx_eqn *eqn);

/* Adds the parameters that JAX does not print (text_hidden.c). */
void jx_text_complete(jx_text *t, jx_eqn *eqn, jx_param *params, int *count);

#endif
