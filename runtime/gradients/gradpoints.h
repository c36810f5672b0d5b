/* gradpoints.h - where and along what a rule is compared.
 *
 * Points and directions are vectors of doubles: the active (float or complex,
 * not constant, not masked) inputs of a rule one after the other, a complex
 * element as its two parts. */
#ifndef JX_GRADPOINTS_H
#define JX_GRADPOINTS_H

#include "frontend/ir/program.h"

/* A small deterministic generator (splitmix64). */
typedef struct jx_rng {
    uint64_t state;
} jx_rng;

uint64_t jx_rng_next(jx_rng *rng);
/* As if that had been called `count` times. */
void jx_rng_skip(jx_rng *rng, int64_t count);
double jx_rng_uniform(jx_rng *rng); /* [0, 1) */
double jx_rng_normal(jx_rng *rng);
void jx_rng_normals(jx_rng *rng, int64_t count, double *to); /* the next ones */
enum { JX_DRAWS_OF_NORMAL = 2 }; /* numbers that it takes */

typedef enum jx_point_kind {
    JX_AT_NORMAL,   /* scale * N(0, 1) */
    JX_AT_POSITIVE, /* scale * (|N(0, 1)| + 0.3) */
    JX_AT_UNIT,     /* uniform in (0.05, 0.95) */
    JX_AT_EQUAL,    /* every element is `scale` */
    JX_AT_QUARTERS, /* scale * N(0, 1) rounded to quarters: ties */
    /* square matrices positive definite, with a diagonal that is heavier by
     * `scale` times their size; others normal */
    JX_AT_SPD,
    JX_AT_AROUND, /* `scale` (a constant of the code) + N(0, 1) / 8 */
    JX_AT_GIVEN,  /* as it stands: nothing is drawn */
    JX_AT_SAMPLE, /* the caller's sample times (1 + scale * N(0, 1)) */
    /* its integers: series end there, powers are no longer of any base */
    JX_AT_ROUNDED,
    JX_AT_ZEROED, /* the sample, but for argument number `scale`, which is 0 */
} jx_point_kind;

typedef struct jx_point {
    jx_point_kind kind;
    double scale;
    const char *name; /* "normal, scale 3" */
} jx_point;

/* The caller's sample first, if there is one, in JX_SAMPLE_POINTS ways; the
 * fixed kinds, the most telling first, then one around each constant that the
 * jaxprs hold (at most `most`), in the arena of the program. */
enum { JX_SAMPLE_POINTS = 7 };
const jx_point *jx_points_make(const jx_program *program,
                               const jx_jaxpr *const *jaxprs, int njaxprs,
                               bool sample, int *count);

/* How large inputs may be if what a jaxpr takes for infinite, nested ones
 * included (-1e9 in the mask of an attention), is to be larger than all that it
 * computes; INFINITY without such numbers. */
double jx_points_reach(const jx_jaxpr *jaxpr);

/* Whether a jaxpr has a loop that comes to floats or complex numbers, nested
 * ones included. */
bool jx_points_has_loop(const jx_jaxpr *jaxpr);
/* Whether floats are made of bits, as what frexp does: JAX's
 * derivative of that is 0. */
bool jx_points_has_bits(const jx_jaxpr *jaxpr);

/* Whether a jaxpr holds numbers that were rounded to their dtype (0.1 was, 0.5
 * was not), as far as one can see it, nested ones included. */
bool jx_points_has_rounded(const jx_jaxpr *jaxpr);

/* The machine epsilon of the narrowest float whose bits a jaxpr looks at, or
 * that it rounds to, nested ones included: it does so in any domain.  That of
 * double without. */
double jx_points_grain(const jx_jaxpr *jaxpr);

/* The largest number below a thousandth that a jaxpr with a loop compares with,
 * nested ones included: how near is near enough.  0 without. */
double jx_points_enough(const jx_jaxpr *jaxpr);

/* The same of comparisons in loops alone; at least the distance of two numbers
 * of the narrowest float, where they compare floats at all: what is near enough
 * may be computed. */
double jx_points_stops_at(const jx_jaxpr *jaxpr);

/* Whether a jaxpr has a loop that ends when numbers are near enough, and does
 * not say that this is nearer than 1e-5; nested ones included. */
bool jx_points_converges(const jx_jaxpr *jaxpr);

/* Whether a jaxpr calls functions of symmetric matrices, which read one half of
 * these or both, nested ones included. */
bool jx_points_symmetric(const jx_jaxpr *jaxpr);

/* Whether a jaxpr calls the function of a rule, nested ones included. */
bool jx_points_calls(const jx_jaxpr *jaxpr, const jx_rule *rule);
/* The same of any rule. */
bool jx_points_calls_rules(const jx_jaxpr *jaxpr);

/* Whether a jaxpr has a loop of which it computes when to end, or draws what
 * JAX differentiates implicitly, nested ones included. */
bool jx_points_iterates(const jx_jaxpr *jaxpr);
/* The same but for loops whose end follows from a count, and with
 * solvers of its own. */
bool jx_points_ends_by_values(const jx_jaxpr *jaxpr);
/* Whether a jaxpr chooses by numbers (choices.h), nested ones included. */
bool jx_points_chooses(const jx_jaxpr *jaxpr);
/* Whether a jaxpr makes integers of floats, which may be indices; nested
 * ones included. */
bool jx_points_steps(const jx_jaxpr *jaxpr);
/* Adds the finite numbers among a jaxpr's literals, nested ones included, but
 * 0, 1 and -1, to `count` that are there, each once; how many there are then,
 * at most `most`. */
int jx_points_constants(const jx_jaxpr *jaxpr, double *to, int count, int most);
/* Adds the integers that a jaxpr holds others against, nested ones included, to
 * those that are there, each once: literals of comparisons (`equal`: of those
 * alone that ask for equality, and -1 of what asks whether others are at least
 * 0), and the numbers of branches, where these are more than two. */
int jx_points_integers(const jx_jaxpr *jaxpr, bool equal, int64_t *to,
                       int count, int most);
/* Whether a jaxpr has primitives of which no kernel has all digits, or that
 * show bits; nested ones included. */
bool jx_points_is_rough(const jx_jaxpr *jaxpr);
/* Whether a jaxpr has primitives each of whose results is as sure as the
 * largest: transforms, decompositions that iterate; nested ones included. */
bool jx_points_is_normwise(const jx_jaxpr *jaxpr);
/* The value of a float literal; false of anything else. */
bool jx_points_float(jx_atom atom, double *value);
/* Whether a jaxpr decomposes matrices, nested ones included. */
bool jx_points_decomposes(const jx_jaxpr *jaxpr);
/* Whether a jaxpr calls what has a batching rule of its own, nested
 * ones included. */
bool jx_points_batches(const jx_jaxpr *jaxpr);
/* Whether a jaxpr takes numbers out of arrays by indices, nested ones
 * included. */
bool jx_points_looks_up(const jx_jaxpr *jaxpr);
/* Whether a jaxpr stops gradients, nested ones included. */
bool jx_points_stops(const jx_jaxpr *jaxpr);

/* A float of as few bits as any that a jaxpr computes with, nested ones
 * included: of what is complex, its parts; JX_F64 without any. */
jx_dtype jx_points_narrowest(const jx_jaxpr *jaxpr);

/* One input: its place in the vector. */
typedef struct jx_span_of {
    int at, count; /* doubles */
    bool complex;
    bool tied; /* an earlier span has the same place */
    int rank;
    const int64_t *shape;
    double largest; /* finite number of its dtype, as declared */
    bool positive;  /* the sample shows it positive: points keep it so */
    /* between which its values lie, as somebody declares, if these differ */
    double low, high;
    const double *sample; /* or NULL */
    const double *fixed;  /* its only value: it never moves; or NULL */
} jx_span_of;

void jx_point_fill(const jx_point *point, jx_rng *rng, const jx_span_of *spans,
                   int nspans, double *x);

/* gradends.c */

/* Whether a value is between what is declared of its place, not at an end:
 * there a function has slopes on one side. */
bool jx_span_has(const jx_span_of *span, double value);
/* Moves values into what is declared, each to a place of its own. */
void jx_spans_keep(const jx_span_of *spans, int nspans, double *x);

enum { JX_MOST_DIRECTIONS = 24 };
/* Directions scaled to a largest element of 1, each `size` doubles; returns how
 * many.  `names` get static text or arena text. */
int jx_directions_make(jx_ctx *ctx, jx_rng *rng, const jx_span_of *spans,
                       int nspans, int size, const double *x, int random,
                       double *directions, const char **names);
/* The first of them alone. */
int jx_directions_at_random(jx_rng *rng, const jx_span_of *spans, int nspans,
                            int size, double *directions, const char **names);

#endif
