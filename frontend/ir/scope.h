/* scope.h - what a program's author declared about its symbolic sizes.
 *
 * A scope (jx_scope of program.h) holds constraints in the order in which they
 * were declared.  JAX knows `>=`, `<=` and `==`; here `<`, `>` and `!=` are
 * understood as well, and parentheses, `//` and `%` in what they compare.
 *
 * To JAX `==` is a rewriting rule besides: its left side must be one product,
 * which is from then on written as its right side.  jx_scope_declare() follows
 * it in that, in order, so that dims made later print as JAX prints them. */
#ifndef JX_SCOPE_H
#define JX_SCOPE_H

#include "frontend/base/vec.h"
#include "frontend/ir/program.h"

/* How a constraint compares its sides: ">=", "==" or "!=". */
const char *jx_scope_relation(const jx_scope_constraint *constraint);
bool jx_scope_holds(const jx_scope_constraint *constraint, jx_int lhs,
                    jx_int rhs);
/* As the user wrote it; else as its sides print. */
void jx_scope_print(const jx_scope_constraint *constraint, jx_buffer *to);
/* What JAX adds by itself to `mod(e, k) == 0`, right before it:
 * `k*floordiv(e, k) == e`. */
bool jx_scope_is_derived(const jx_scope *scope, int index);

/* jx_dim_bounds() with what constraints on one size say of it: `b <=
 * 1000`, `2*b >= 6`. */
jx_dim_range jx_program_bounds(const jx_program *program, const jx_dim *dim);

/* Why a constraint was not taken. */
typedef struct jx_scope_error {
    size_t column;        /* from 1; 0: the constraint as a whole */
    const char *expected; /* "expected ..." at that column */
} jx_scope_error;

/* Reads a constraint and appends it (and what JAX derives from it) to a list
 * in the arena of the dims' context.  With `rewrites` an equality becomes a
 * rule of the dims, and one that JAX refuses (two terms on the left, a
 * second rule for the same product, a false statement about numbers) is
 * refused.  A statement about numbers that holds is taken and not kept.  On
 * failure false. */
typedef JX_VEC(jx_scope_constraint) jx_scope_list;
bool jx_scope_declare(jx_dims *dims, const char *text, int scope, bool rewrites,
                      jx_scope_list *to, jx_scope_error *error);

#endif
