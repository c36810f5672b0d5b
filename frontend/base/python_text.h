/* python_text.h - expressions of Python as somebody wrote them, for those who
 * change a part.
 *
 * Nothing is evaluated, and no tree is made: a span of a text is looked at from
 * outside, as a call with its arguments or as two sides of an operator.
 * Strings, comments and brackets are skipped as Python skips them.  Text may
 * hold anything; what is not understood is refused. */
#ifndef JX_PYTHON_TEXT_H
#define JX_PYTHON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes [begin, end) of a text. */
typedef struct jx_py_span {
    size_t begin, end;
} jx_py_span;

enum { JX_PY_ARGUMENTS = 12 };

typedef struct jx_py_argument {
    jx_py_span name;  /* of a keyword; else empty */
    jx_py_span value; /* without spaces around it */
} jx_py_argument;

typedef struct jx_py_call {
    /* what comes before the last name: "jax.nn", "(a + b)"; or empty */
    jx_py_span of;
    jx_py_span name; /* "softmax" */
    int nargs;
    jx_py_argument args[JX_PY_ARGUMENTS];
    jx_py_span all; /* between its brackets */
} jx_py_call;

/* How tightly an expression binds; what binds less needs brackets. */
typedef enum jx_py_rank {
    JX_PY_LOOSE = 0, /* comparisons, choices, lambda, what is not understood */
    JX_PY_SUM,
    JX_PY_PRODUCT,
    JX_PY_SIGNED,  /* -x, x ** y */
    JX_PY_PRIMARY, /* names, numbers, calls, indexed things, brackets */
} jx_py_rank;

/* Without spaces, line ends and comments around it, nor brackets
 * around all of it. */
jx_py_span jx_py_bare(const char *text, jx_py_span span);
jx_py_rank jx_py_rank_of(const char *text, jx_py_span span);
/* Whether it is a call, and which; of more arguments than there is room for it
 * is none, nor of starred ones. */
bool jx_py_call_of(const char *text, jx_py_span span, jx_py_call *to);
/* Whether it is `left op right`, of the operator that is applied last: "/",
 * "*", "+", "-", "**". */
bool jx_py_sides_of(const char *text, jx_py_span span, const char *op,
                    jx_py_span *left, jx_py_span *right);
/* The same text, spaces and all. */
bool jx_py_same(const char *text, jx_py_span a, jx_py_span b);
bool jx_py_is(const char *text, jx_py_span span, const char *word);

#endif
