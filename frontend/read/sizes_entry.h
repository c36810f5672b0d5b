/* sizes_entry.h - what the files behind jx_sz_entry() share: sizes_entry.c walks
 * the entry, sizes_raw.c gives its assertions their meaning. */
#ifndef JX_SIZES_ENTRY_H
#define JX_SIZES_ENTRY_H

#include "frontend/ir/solution.h"
#include "frontend/read/sizes_parts.h"

/* An assertion of the entry. */
typedef struct jx_sz_asserted {
    const jx_mlir_op *op;
    jx_sz_message message;
    /* What it compares, in raw sizes; -1: not known. */
    int ncompared;
    jx_scope_constraint *compared;
    const jx_dim **shown; /* what the message shows, too; NULL: not known */
    jx_size_mismatch mismatch;
    bool agrees; /* what is checked is what the message says, by algebra */
    bool declared; /* ... and a constraint */
} jx_sz_asserted;

/* A variable in raw sizes. */
typedef struct jx_sz_solved {
    const jx_dim_atom *var;
    const jx_dim *value;
    const jx_dim *remainder; /* of the division that gave it, or NULL */
} jx_sz_solved;

typedef struct jx_sz_reading {
    jx_sizes *s;
    const jx_mlir_block *body;
    int nargs;
    JX_VEC(jx_sz_asserted) asserted;
    int nspecs;
    jx_sz_spec *specs;
    jx_dim_shape *shapes; /* by argument; a rank of -1: not known */
    jx_dim_shape *raw;
    JX_VEC(jx_sz_solved) solved;
    const jx_solution *solution;
} jx_sz_reading;

/* What the assertions compare, in raw sizes. */
bool jx_sz_follow_raw(jx_sz_reading *r);
/* What is known of the body's values, where the arguments have these shapes (NULL:
 * where nothing is known of them). */
jx_sizes_env *jx_sz_new_env(jx_sz_reading *r, const jx_dim_shape *shapes);
/* The dim with what was solved for its variables. */
const jx_dim *jx_sz_in_raw(const jx_sz_reading *r, const jx_dim *dim);
/* As jax.export solves for them. */
void jx_sz_solve(jx_sz_reading *r);
/* Where message and operand differ by algebra, sizes are looked for at which
 * they do; the operand counts in any case. */
void jx_sz_compare_message(jx_sz_reading *r, jx_sz_asserted *a);
/* A dim of a message; NULL: it is none. */
const jx_dim *jx_sz_parse(const jx_sz_reading *r, const char *text);

#endif
