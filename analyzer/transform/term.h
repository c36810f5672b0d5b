/* term.h - values of programs as terms, one pointer per meaning.
 *
 * Terms are interned: two values that are one pointer are equal bit for bit
 * whenever the programs' inputs are.  What does not change a value is taken out
 * when a term is made: moves that move nothing, calls, names, weak types, where
 * a number is written (as a literal, a constant, a size).  Scalars of integers
 * and IEEE floats are computed where the result is exact or rounded once, as
 * every machine does it; nothing is rearranged. */
#ifndef JX_TERM_H
#define JX_TERM_H

#include "frontend/ir/claim.h"

typedef enum jx_term_kind {
    JX_TERM_INPUT,   /* numbers: input, level, body (flat.h) */
    JX_TERM_UNKNOWN, /* a value of its own */
    JX_TERM_SIZE,    /* a dim as a number: numbers[0] is its address */
    JX_TERM_SCALAR,  /* bits */
    JX_TERM_SPLAT,   /* ins[0], a scalar value, in every element */
    JX_TERM_ARRAY,   /* array */
    JX_TERM_EMPTY,   /* no elements */
    JX_TERM_RESHAPE, /* ins[0] in row-major order */
    JX_TERM_SLICE,   /* ins[0] from numbers[] on, each step 1 */
    JX_TERM_NODE,    /* eqn applied to ins, with the results of its bodies */
    JX_TERM_RESULT,  /* numbers[0] of ins[0], a node */
} jx_term_kind;

typedef struct jx_term jx_term;
struct jx_term {
    jx_term_kind kind;
    const jx_aval *aval; /* of a node: of its first result, or NULL */
    const jx_eqn *eqn;
    int nins, nresults; /* `ins` holds both, results last */
    const jx_term *const *ins;
    int nnumbers;
    const int64_t *numbers; /* of a node: which of the like, if that counts */
    unsigned char bits[16];
    const jx_array *array;
    bool by_name; /* of a node: as of the terms that it is among */
    int id;       /* in order of creation, from 0 */
};

typedef struct jx_terms {
    jx_ctx *ctx;
    jx_intern table;
    int count;
    const jx_dim *one;
    bool by_name; /* what is known by a name alone is what has that name, too */
    /* x + y is y + x, and so are products: but for the payload of a NaN */
    bool commutes;
    bool differentiated; /* what is stopped is not what it was */
} jx_terms;

/* `dims` are those of the shapes in both programs. */
void jx_terms_init(jx_terms *in, jx_ctx *ctx, jx_dims *dims);

/* NULL without memory. */
const jx_term *jx_term_input(jx_terms *in, const jx_aval *aval, int input,
                             int level, int body);
const jx_term *jx_term_unknown(jx_terms *in, const jx_aval *aval);
const jx_term *jx_term_literal(jx_terms *in, const jx_literal *literal);
const jx_term *jx_term_array(jx_terms *in, const jx_array *array);

/* What an equation gives from its operands (and, of a loop or branch, what its
 * bodies give).  `which` tells apart equations that may give different values
 * for the same operands; 0 for all others.  False without memory. */
bool jx_term_apply(jx_terms *in, const jx_eqn *eqn, const jx_term *const *ins,
                   int nresults, const jx_term *const *results, int64_t which,
                   const jx_term **outs);

/* The equation itself, of what has an effect: `which` is its
 * place among them. */
const jx_term *jx_term_effect(jx_terms *in, const jx_eqn *eqn,
                              const jx_term *const *ins, int nresults,
                              const jx_term *const *results, int64_t which);

/* The same array, or one of the same bytes; bytes that are not
 * known are none. */
bool jx_array_same_data(const jx_array *a, const jx_array *b);
/* The same primitive with parameters that mean the same, and more than one
 * result of the same types.  Nested jaxprs count only with `bodies`. */
bool jx_eqn_same(const jx_eqn *a, const jx_eqn *b, bool bodies, bool by_name);

#endif
