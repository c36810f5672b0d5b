/* lint.h - suspicions about a program that its equations alone settle.
 *
 * A lint reads the flat form of a program (flat.h) and makes probes that are
 * witnessed by the program itself: each says what it saw and where.  lints.def
 * lists them. */
#ifndef JX_LINT_H
#define JX_LINT_H

#include "analyzer/lint/flat_sizes.h"
#include "analyzer/lint/flat_uses.h"
#include "analyzer/typing.h"

typedef struct jx_lint_options {
    int64_t min_elements; /* STG001: smaller computations are let pass */
    bool asked; /* say what is said only if somebody asks for it (claim.h) */
} jx_lint_options;

enum { JX_LINT_MIN_ELEMENTS = 1024 };

/* Runs all lints over the program; NULL options are the defaults.  False
 * without memory. */
bool jx_lint(jx_analysis *to, const jx_lint_options *options);

/* For lints. */
typedef struct jx_linter {
    jx_analysis *to;
    jx_program *program;
    jx_ctx *ctx;
    const jx_flat *flat;
    const jx_flat *whole; /* with the bodies of loops that no input reaches */
    const jx_flat_sizes *sizes;        /* of its values */
    jx_flat_uses uses;                 /* of `flat` */
    const int *frames;                 /* of its values: jx_flat_frames() */
    const struct jx_int_range *ranges; /* of its values (int_ranges.h) */
    /* by value, or NULL: integers of 64 bits were asked for, and it has 32
     * (wide_integers.c) */
    const bool *wide;
    jx_lint_options options;
} jx_linter;

#define LINT(name, codes) bool jx_lint_##name(jx_linter *lint);
#include "analyzer/lint/lints.def"
#undef LINT

/* A witnessed probe at a node (NULL: at the program); `what` is its message.
 * NULL without memory. */
jx_claim *jx_lint_claim(jx_linter *lint, jx_code code, const jx_flat_node *node,
                        const char *what);

/* The same of what is suspected by how it is written: no proof, and no run. */
jx_claim *jx_lint_suspect(jx_linter *lint, jx_code code,
                          const jx_flat_node *node, const char *what);
/* Of an input or a result of the program: `what` comes after its name.  Shown
 * where the function begins or returns; at `node` where nobody knows that. */
jx_claim *jx_lint_claim_of_input(jx_linter *lint, jx_code code, int input,
                                 const jx_flat_node *node, const char *what);
jx_claim *jx_lint_claim_of_result(jx_linter *lint, jx_code code, int result,
                                  const jx_flat_node *node, const char *what);

/* Bytes of an array of that aval, saturating; -1 if a size is symbolic. */
int64_t jx_lint_bytes(const jx_aval *aval);
/* "f32[1024,512] (2.0 MiB)"; without the size if it is symbolic. */
void jx_lint_describe(const jx_aval *aval, jx_buffer *to);
/* The scope of a dim's variables (they never mix); 0 if it has none. */
int jx_lint_scope(const jx_linter *lint, const jx_dim *dim);

#endif
