/* expression.h - the grammar of sizes, the only one: what prover, checker,
 * specs and package read is read here.  It says how a text is put together and
 * nothing of what it means: that is the maker's.
 *
 *     sum     = product { (+ | -) product }
 *     product = unary { (* | // | %) unary }
 *     unary   = (+ | -) unary | power
 *     power   = atom [ (** | ^) exponent ]
 *     exponent= + exponent | "(" exponent ")" | number [ (** | ^) exponent ]
 *     atom    = number | name | "(" sum ")"
 *             | (floordiv | mod | max | min) "(" sum "," sum ")"
 *     name    = letter { letter | digit } { "[" index "]" | "." letter ... }
 *
 * Precedence and associativity are Python's (tests/prove/grammar.py holds them
 * against its eval), with `^` for `**` as JAX writes it: `-n % 4` is `(-n) %
 * 4`, `-n**2` is `-(n**2)`, `2**3**2` is `2**9`.  A name with a path
 * (`args[0].shape[1]`) is how JAX names a dimension of an argument. */
#ifndef JX_EXPRESSION_H
#define JX_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

typedef enum jx_expression_op {
    JX_EXPR_ADD,
    JX_EXPR_NEG, /* of one operand */
    JX_EXPR_MUL,
    JX_EXPR_SLASHES, /* a // b */
    JX_EXPR_PERCENT, /* a % b */
    JX_EXPR_FLOORDIV,
    JX_EXPR_MOD,
    JX_EXPR_MAX,
    JX_EXPR_MIN,
} jx_expression_op;

/* Makes values of the parts, in the order in which Python computes them, but
 * that the minus of a first product comes after its multiplications.  NULL
 * where one does not fit; then none is asked for any more. */
typedef struct jx_expression_maker {
    const void *(*number)(void *env, __int128 value);
    const void *(*name)(void *env, const char *text, size_t length);
    const void *(*apply)(void *env, jx_expression_op op, const void *a,
                         const void *b);
    const void *(*power)(void *env, const void *a, long power);
} jx_expression_maker;

typedef struct jx_expression_end {
    size_t at;            /* where it ends, after white space; or what failed */
    const char *expected; /* what was expected there, or NULL */
    bool too_large;       /* well written, but beyond what we calculate with */
} jx_expression_end;

/* Reads the longest prefix that is a sum.  NULL on failure. */
const void *jx_expression_read(const char *text, size_t length,
                               const jx_expression_maker *make, void *env,
                               jx_expression_end *end);

/* Where the longest prefix that is a sum ends, whatever its size; 0 if none. */
size_t jx_expression_length(const char *text, size_t length);

/* The comparison at the beginning of a text: 0 to 5 for == != >= <= > <, and
 * its length; or -1. */
int jx_expression_relation(const char *text, size_t length, size_t *used);

#endif
