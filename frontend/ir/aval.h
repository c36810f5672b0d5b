/* aval.h - what is known of a value before it exists: dtype, shape, and JAX's
 * further marks.
 *
 * Avals are interned in a program: equal avals are one pointer.  Everything
 * a jx_aval points to is interned or lives in the same arena. */
#ifndef JX_AVAL_H
#define JX_AVAL_H

#include "frontend/ir/dim.h"
#include "frontend/ir/dtype.h"

typedef enum jx_aval_kind {
    JX_AVAL_ARRAY = 0,
    JX_AVAL_TOKEN,
    JX_AVAL_REF,    /* `of` is what it holds */
    JX_AVAL_FUTURE, /* `of` is what a collective that was begun will give */
    JX_AVAL_OTHER,  /* `label` names the class; nothing is known of it */
} jx_aval_kind;

/* A sorted set of axis names. */
typedef struct jx_names {
    int count;
    const char *const *at; /* interned */
} jx_names;

struct jx_value; /* param.h */

typedef struct jx_aval {
    jx_aval_kind kind;
    jx_dtype dtype;
    bool weak; /* weak type: a Python scalar's */
    int rank;
    const jx_dim *const *shape;           /* `rank` of them, in elements */
    const char *impl;                     /* of a key ("fry"), else NULL */
    jx_names varying, unreduced, reduced; /* manual mesh axes */
    const char *unreduced_kind;           /* "max", "min"; NULL: parts add up */
    int mesh; /* 1 + index in the program's meshes; 0: none */
    const struct jx_value *spec; /* partition spec, or NULL */
    const char *memory_space;    /* NULL: the device's */
    const char *label;           /* of JX_AVAL_OTHER */
    const struct jx_aval *of;    /* of JX_AVAL_REF, JX_AVAL_FUTURE */
} jx_aval;

typedef struct jx_avals {
    jx_ctx *ctx;
    jx_intern table;
} jx_avals;

void jx_avals_init(jx_avals *in, jx_ctx *ctx);
/* The interned aval equal to *like (which is copied, its shape too; texts must
 * be interned).  NULL without memory. */
const jx_aval *jx_aval_add(jx_avals *in, const jx_aval *like);
/* It is one of these, and found there by what it is now. */
bool jx_avals_hold(const jx_avals *in, const jx_aval *aval);
/* An array aval of that dtype and shape and no further marks. */
const jx_aval *jx_aval_array(jx_avals *in, jx_dtype dtype, bool weak, int rank,
                             const jx_dim *const *shape);
/* With a leading axis of that size, whose place on a mesh is not
 * known; NULL of NULL. */
const jx_aval *jx_aval_stack(jx_avals *in, const jx_aval *aval,
                             const jx_dim *size);

/* As JAX prints it: `f32[2*b + 1,3]`, `key<fry>[]`, `f32[4]{V:i}`.  Axes come
 * in the order of `mesh` (its axes), or of their names if that is NULL. */
void jx_aval_print(const jx_aval *aval, jx_buffer *to);
void jx_aval_print_ordered(const jx_aval *aval, const jx_names *mesh,
                           jx_buffer *to);
bool jx_aval_same_shape(const jx_aval *a, const jx_aval *b);
/* Types that mean the same for values: dtype (and which key) and shape. */
bool jx_aval_same_values(const jx_aval *a, const jx_aval *b);
/* Every size is a number. */
bool jx_aval_is_static(const jx_aval *aval);
/* The product of the sizes; false if one is symbolic or it overflows. */
bool jx_aval_elements(const jx_aval *aval, int64_t *count);

#endif
