/* stablehlo_entry.h - the entry of a module: what its sizes are called, and
 * what it asks of those who call it.
 *
 * The entry is read once for what counts, and before that as often as it takes
 * to know its sizes:
 *
 *   stablehlo_raw.c       up to its last assertion, each size of an argument a
 *                         variable of its own, to hold what its assertions
 *                         compare against what their messages say
 *   stablehlo_entry.c     where sizes have no names: to see which are the same
 *   stablehlo_messages.c  what jax.export writes into messages
 *
 * Names and constraints come from the shapes that the caller hands over (those
 * of an exported file), else from the messages of the assertions that
 * jax.export writes into @main, else sizes are named by argument and axis:
 * `arg0_1`. */
#ifndef JX_STABLEHLO_ENTRY_H
#define JX_STABLEHLO_ENTRY_H

#include "frontend/ir/dim_spec.h"
#include "frontend/ir/solution.h"
#include "frontend/read/stablehlo_parts.h"

/* What an assertion says in its message. */
typedef enum jx_assertion_kind {
    JX_ASSERTS_OTHER = 0,
    JX_ASSERTS_POSITIVE,   /* a variable is at least 1 */
    JX_ASSERTS_DIVISIBLE,  /* a size gives a variable without remainder */
    JX_ASSERTS_SHAPE,      /* a size agrees with its specification */
    JX_ASSERTS_CONSTRAINT, /* what the author declared */
} jx_assertion_kind;

/* ---- messages (stablehlo_messages.c) */

typedef struct jx_sz_spec {
    const char *path; /* "args[0]" */
    const char *text; /* "(2*b, 4)" */
    int input;        /* the argument, or -1 */
} jx_sz_spec;

/* A number in a message, and what it is said to be. */
typedef enum jx_sz_shown_kind {
    JX_SZ_SHOWS_NOTHING = 0,
    JX_SZ_SHOWS_VAR,        /* 'b' = {0} */
    JX_SZ_SHOWS_SIZE,       /* args[0].shape[1] (= {0}) */
    JX_SZ_SHOWS_SPEC,       /* specification '2*b' (= {0}) */
    JX_SZ_SHOWS_REST,       /* Division had remainder {0} */
    JX_SZ_SHOWS_DIFFERENCE, /* but found {0} */
} jx_sz_shown_kind;

typedef struct jx_sz_shown {
    jx_sz_shown_kind kind;
    int operand;      /* {0} */
    const char *text; /* the variable, the specification, the path */
    int axis;         /* of JX_SZ_SHOWS_SIZE */
} jx_sz_shown;

typedef struct jx_sz_message {
    jx_assertion_kind kind;
    const char *name;       /* of a variable, or NULL */
    const char *path;       /* "args[0]" of JX_ASSERTS_SHAPE, ... */
    int axis;               /* ... and the axis */
    const char *spec;       /* "2*b" of JX_ASSERTS_SHAPE */
    const char *constraint; /* "a>=b" */
    const char *difference; /* "- b + a" */
    bool equal;
    int nspecs;
    const jx_sz_spec *specs;
    int nshown;
    const jx_sz_shown *shown;
} jx_sz_message;

/* Reads a message of jax.export; kind JX_ASSERTS_OTHER if it is none. */
jx_sz_message jx_sz_read_message(jx_ctx *ctx, const char *text);
/* The first `{0}` of a message that is none of `count` operands, else -1. */
int jx_sz_beyond(const char *text, int count);

/* ---- assertions */

/* Message and operands disagree: what, and sizes at which (their variables are
 * named as `args[0].shape[1]`; none: at all sizes).  A text of NULL: they
 * agree, or the message says nothing, or nobody knows. */
typedef struct jx_size_mismatch {
    const char *what;
    int nsizes;
    const jx_binding *sizes;
} jx_size_mismatch;

/* One that was met where it counts. */
typedef struct jx_size_assertion {
    const struct jx_sz_asserted *of; /* as one of the entry's own, or NULL */
    jx_assertion_kind kind;
    bool declares; /* in the entry: what a caller has to keep to */
    const char *message;
    /* What the operand compares, all of which must hold; known: it could be
     * followed, and there may be nothing left of it (it always holds). */
    bool known;
    int ncompared;
    const jx_scope_constraint *compared;
    bool fails; /* the operand is false, whatever the sizes */
    /* The numbers that the message shows; NULL where one is not known. */
    int nshown;
    const jx_dim *const *shown;
    jx_size_mismatch mismatch; /* of message and operands */
} jx_size_assertion;

/* One of the entry's own, with its message. */
typedef struct jx_sz_asserted {
    const jx_mlir_op *op;
    jx_sz_message message;
    /* What it compares, in raw sizes; -1: not known. */
    int ncompared;
    jx_scope_constraint *compared;
    const jx_dim **shown; /* what the message shows, too; NULL: not known */
    jx_size_mismatch mismatch;
    bool agrees;   /* what is checked is what the message says, by algebra */
    bool declared; /* ... and a constraint */
} jx_sz_asserted;

/* A variable in raw sizes. */
typedef struct jx_sz_solved {
    const jx_dim_atom *var;
    const jx_dim *value;
    const jx_dim *remainder; /* of the division that gave it, or NULL */
} jx_sz_solved;

/* An element of an argument that is a number. */
typedef struct jx_given_integer {
    int arg, element;
    int64_t value;
} jx_given_integer;

typedef struct jx_sz_reading {
    jx_hlo_reader *shlo;
    jx_sizes *s;
    const jx_mlir_op *func;
    const jx_mlir_block *body;
    int nargs;
    size_t njaxprs, narrays, nmisstated; /* before it */
    jx_dim_shape *shapes; /* by argument; a rank of -1: not known */
    /* By argument: what callers say of them (a rank of -1: nothing). */
    bool given;
    jx_dim_shape *caller;
    /* Assertions: the entry's own, and those that are met where it counts. */
    JX_VEC(jx_sz_asserted) asserted;
    JX_VEC(const jx_size_assertion *) met;
    bool recording;
    int nspecs;
    jx_sz_spec *specs;
    /* Raw sizes. */
    bool raw;
    jx_dim_shape *raws;
    JX_VEC(jx_sz_solved) solved;
    const jx_solution *solution;
} jx_sz_reading;

/* Reads the entry where its arguments have these shapes (a rank of -1: as their
 * types say), and these integers are known of them (or NULL), up to the op
 * `last`, if that is not NULL.  NULL with an error. */
const jx_jaxpr *jx_sz_read(jx_sz_reading *r, const jx_dim_shape *shapes,
                           const jx_sz_info *known, const jx_mlir_op *last);
/* An assertion is read, of these operands; NULL: nobody wants to know. */
const jx_size_assertion *jx_sz_assertion(jx_hlo_body *b, jx_atoms ins);
/* What the module asserts at shapes that are numbers, with integers that wrap:
 * the first assertion that fails, or NULL. */
const jx_size_assertion *jx_sz_failing(jx_hlo_reader *s, const jx_mlir_op *func,
                                       const jx_dim_shape *shapes, int ngiven,
                                       const jx_given_integer *given);

/* ---- raw sizes (stablehlo_raw.c) */

/* What the assertions compare, in raw sizes. */
bool jx_sz_follow_raw(jx_sz_reading *r);
/* An assertion of the entry, while it is read so. */
void jx_sz_note_raw(jx_sz_reading *r, jx_sz_asserted *a, jx_atoms ins);
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
