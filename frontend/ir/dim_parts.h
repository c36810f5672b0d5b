/* dim_parts.h - what a dim is made of, for the files behind dim.h.
 *
 * The shape of a dim, from the inside out:
 *
 *     atom   n  or  floordiv(D, D), mod(D, D), max(D, D), min(D, D)
 *     mono   atom^power * atom^power * ...      largest atom first; 1 if empty
 *     dim    coefficient*mono + ...             largest mono first
 *
 * All three are interned, so that equal ones are one pointer.  "Largest" is
 * JAX's order: first by a size that counts coefficients and powers, then by
 * the parts in turn.  It is not compatible with multiplication, so a product
 * has to be sorted anew. */
#ifndef JX_IR_DIM_PARTS_H
#define JX_IR_DIM_PARTS_H

#include "frontend/ir/dim.h"

#include <stddef.h>

typedef unsigned __int128 jx_wide;

typedef struct jx_dim_mono {
    jx_wide size;
    unsigned id;
    int nodes, depth, nfactors;
    jx_dim_factor factors[];
} jx_dim_mono;

typedef struct jx_dim_node {
    jx_dim_atom a;
    jx_wide size;
    int nodes, depth;
} jx_dim_node;

struct jx_dim {
    jx_wide size;
    unsigned id;
    int nodes, depth, nterms;
    const jx_dim_term *terms;
    const jx_dim_atom *const *vars; /* made when first asked for */
    int nvars;
};

struct jx_dims {
    jx_ctx *ctx;
    jx_intern atoms, monos, dims;
    unsigned natoms, nmonos, ndims;
    const jx_dim_mono *one;
    const jx_dim *zero;
    const jx_dim *numbers[256]; /* the last of these lowest bits, or NULL */
    /* Where results grow before they are interned. */
    jx_dim_term *terms;
    size_t nterms, terms_capacity;
    jx_dim_factor *factors;
    size_t factors_capacity;
    jx_intern rules; /* by mono, see jx_dims_rewrite() */
    int nrules;
};

static inline const jx_dim_mono *jx_dim_mono_of(const jx_dim_term *term)
{
    return (const jx_dim_mono *)((const char *)term->factors -
                                 offsetof(jx_dim_mono, factors));
}

static inline const jx_dim_node *jx_dim_node_of(const jx_dim_atom *a)
{
    return (const jx_dim_node *)a;
}

static inline jx_int jx_dim_constant(const jx_dim *d)
{
    return d->nterms && !d->terms[d->nterms - 1].nfactors
               ? d->terms[d->nterms - 1].coefficient
               : 0;
}

static inline bool jx_dim_is_constant(const jx_dim *d)
{
    return !d->nterms || !d->terms[0].nfactors;
}

/* Whether the variable is in the dim (dim_inside.c). */
bool jx_dim_mentions(jx_dims *in, const jx_dim *dim, const jx_dim_atom *var);

#endif
