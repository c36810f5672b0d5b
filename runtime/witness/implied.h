/* implied.h - what a function takes for granted of its own inputs.
 *
 * log(x), y / x and log(x + 1e-6) of an input x say what x has to be; that
 * another x is outside is no news.  What is computed of inputs first, the sum
 * of a mask, the norm of a vector, the difference of two, may leave the domain
 * though no input looks strange. */
#ifndef JX_IMPLIED_H
#define JX_IMPLIED_H

#include "runtime/witness/origin.h"

/* Whether the domain of an equation is about inputs of the program as they are:
 * its operand there is an input, or element by element a function of inputs
 * that vanishes with one alone.  What one expression of the user's computes in
 * a library counts as one step. */
bool jx_domain_is_implied(const jx_origins *of, const jx_eqn *eqn, int operand);

/* Whether both operands are, element by element, functions of the same
 * input, and the first is more than it: sin(x) / x has a limit where its
 * divisor vanishes. */
bool jx_domain_has_limit(const jx_origins *of, const jx_eqn *eqn);

/* Whether what a root is taken of holds the square of an input that is in
 * the dividend, too: m / sqrt(v + g * g) of an optimizer, whose gradients
 * vanish all at once. */
bool jx_root_vanishes_with(const jx_origins *of, jx_atom radicand,
                           jx_atom dividend);

/* One expression of the user's, a call of a library, makes a value of inputs
 * alone, in several steps. */
bool jx_expression_is_alone(const jx_origins *of, const jx_eqn *eqn);

/* An integer that indexes is an input, or one as JAX makes it
 * count from the end. */
bool jx_index_is_implied(const jx_origins *of, jx_atom index);
/* It makes an index that is below zero count from the end, as JAX
 * does for x[i]. */
bool jx_counts_from_the_end(const jx_origins *of, const jx_eqn *eqn);

#endif
