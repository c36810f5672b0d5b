/* cell.h - one element of a program over a ring (ring.h): the formal value of a
 * real number, and what must be so for it to be that.
 *
 * Sums, products, quotients and powers are those of the ring.  exp, sin, cos,
 * sqrt and log keep the relations that hold of them over the reals (exp(a + b)
 * = exp(a) exp(b), sin^2 + cos^2 = 1, sqrt(x)^2 = x, exp(log x) = x, and what
 * is made of them: tanh, log1p); any other function is a random element for
 * each distinct argument.  What is the same for such functions is the same for
 * the real ones.
 *
 * A comparison of numbers is a *choice*: negative, zero or positive, of a
 * difference.  Each path through a program (jx_field.digits) decides all of
 * them; the choices of one equation share a *colour*, and go the same way,
 * which covers all cases as long as no result depends on two of a colour
 * (`mixed`).  Or choices are *blended*: random elements, by which a select is h
 * a + (1 - h) b. */
#ifndef JX_CELL_H
#define JX_CELL_H

#include "frontend/base/ctx.h"
#include "frontend/base/intern.h"
#include "frontend/base/map.h"
#include "frontend/base/vec.h"
#include "frontend/ir/dtype.h"
#include "runtime/field/ring.h"

typedef enum jx_cell_kind {
    JX_CELL_NUMBER = 0,
    JX_CELL_INFINITE, /* a constant, below 0 if `signs` says so */
    JX_CELL_NAN,      /* a division by 0, and what comes of it */
    JX_CELL_UNKNOWN,  /* jx_field.why */
} jx_cell_kind;

/* What a number may be. */
enum {
    JX_MAY_BE_NEGATIVE = 1,
    JX_MAY_BE_ZERO = 2,
    JX_MAY_BE_POSITIVE = 4,
    JX_MAY_BE_ANY = 7
};
enum { JX_COLOURS = 8, JX_MOST_LOGS = 3, JX_MOST_LEVELS = 12 };

/* Inverses of one level, which are of polynomials in inverses below: how many,
 * and at most of what degree and of how many bits. */
typedef struct jx_inverses {
    double count;
    float degree, bits;
} jx_inverses;

/* A set of hashes: interned, sorted; NULL is empty. */
typedef struct jx_keys {
    int count;
    const uint64_t *at;
} jx_keys;

/* What of a number is a sum of multiples of logarithms. */
typedef struct jx_logs {
    int count;
    struct jx_log_part {
        int atom;
        uint64_t v;   /* times it, of F_p ... */
        double about; /* ... roughly */
    } at[JX_MOST_LOGS];
} jx_logs;

typedef struct jx_cell {
    uint8_t kind, signs;
    bool blended; /* of a boolean: not known */
    bool mixed;   /* it depends on two choices of one colour */
    /* v + w sqrt n of F_p(sqrt n); where there are planes n is
     * that of `root` */
    uint64_t v, w;
    uint32_t root; /* of w that is not 0: a number of jx_field.roots */
    /* what it adds up (products.h), or which one it is (runtime/idle.c); 0:
     * that is not known */
    uint32_t sum;
    uint64_t e;     /* of F_q */
    uint64_t power; /* of an input: v is g^power; else 0 */
    /* degrees of the numerator and the denominator, at most; where there are
     * planes: in inputs and inverses, and how deep inverses of inverses are
     * nested in it (jx_cell_degree) */
    float over, under;
    /* size of the rational constants in it, at most; where there are planes
     * log2 of the sum of their magnitudes ... */
    float bits;
    float parts;   /* ... and of the power of 2 that makes them integers */
    double about;  /* of a constant: it, roughly; else NAN */
    uint64_t base; /* v is this ... */
    double off;    /* ... plus a constant, roughly this */
    const jx_keys *needs; /* what must not be 0 or must be in a domain */
    const jx_keys *zeros; /* where it is 0; NULL: where itself is */
    const jx_logs *logs;  /* or NULL */
    /* of the larger or smaller of two: the key of the choice
     * which that is; or 0 */
    uint64_t tie;
    /* the choice of each colour that it depends on, or 0 */
    uint32_t by[JX_COLOURS];
} jx_cell;

typedef struct jx_choice {
    uint64_t key;
    int colour;
    bool root;     /* of a sign of a square root, not of a number */
    bool equality; /* the function asks whether it is zero */
    bool flipped;  /* of the negative of `base` + `off` */
    int state;     /* -1, 0, 1 */
    /* it is base + shift, which is `off` if that is exact */
    uint64_t base, shift;
    uint64_t zero; /* the key of a division by it */
    double off;
} jx_choice;

/* Two choices, 1 + their numbers, that no real numbers make both: what
 * depends on both is nothing.  (Other elements of the same equations may
 * well go this way.) */
typedef struct jx_conflict {
    uint32_t one, other;
} jx_conflict;

/* A square root s of which s^2 is known, and nothing else: neither which of
 * both it is, nor whether it is a multiple of another.  Where two of them meet
 * each is a random number. */
typedef struct jx_root {
    uint64_t square, any;
} jx_root;

typedef struct jx_memo {
    uint64_t key;
    jx_cell from, to;
} jx_memo;

typedef JX_VEC(jx_cell) jx_cell_list;

/* What was made over a ring: powers and logarithms of a number, whatever it
 * came from, and constants. */
typedef struct jx_memory {
    JX_VEC(jx_memo) exps;
    JX_VEC(jx_memo) logs;
    /* Numbers in these lists, counted from 1: by key; by the value of e^x; by
     * the value that a logarithm is of. */
    jx_map exp_at, image_at, log_at;
    jx_intern constants; /* cell.c */
} jx_memory;

struct jx_eqn;
struct jx_jaxpr;
struct jx_field_value;

/* One evaluation. */
typedef struct jx_field {
    jx_ctx *ctx;    /* memory of what cells point to */
    jx_arena *room; /* and of arrays of them */
    jx_ring ring;
    uint64_t salt; /* of random functions */
    bool blends;
    bool planes;    /* arrays are planes (plane.h); it blends */
    bool exponents; /* planes have an element of F_q: something takes powers */
    bool sets_of_most; /* a maximum is a function of a set (cell_most.c) */
    /* equality that is asked for is none of the function's */
    bool asks_nothing;
    /* what is divided by, or is a root of, and may be 0; or NULL */
    jx_cell_list *divisors;
    bool ideal; /* constants are what they were rounded from: jx_field.named */
    const uint8_t *digits; /* of the path, by colour; colours beyond take 0 */
    int ndigits;
    int ncolours;
    uint8_t arity[JX_COLOURS], taken[JX_COLOURS];
    int colour; /* of the equation at hand, or -1 */
    bool spent; /* more colours, more work or memory than there is */
    JX_VEC(jx_choice) choices;
    JX_VEC(jx_conflict) conflicts;
    jx_memory *made; /* shared by all evaluations over the ring */
    jx_intern sets;
    jx_intern most; /* jx_most: what is the largest of which */
    /* jx_compared: which of two is larger where a choice holds */
    jx_intern compared;
    /* likewise: which number is a maximum of its set where one holds */
    jx_intern met;
    jx_intern places; /* where the largest of which stands (cell_places.c) */
    /* something is compared with itself or infinity, or asked if finite */
    bool asks_for_nan;
    jx_inverses inverses[JX_MOST_LEVELS]; /* where there are planes */
    int64_t opaque; /* random numbers that were made for arguments */
    double degree;  /* of these arguments, at most */
    /* the first that takes a slice from elsewhere than it says */
    const struct jx_eqn *clamped;
    /* the first that chose numbers where others are NaN */
    const struct jx_eqn *masked;
    JX_VEC(const char *) named; /* "0.797884583 stands for 2^(1/2) pi^(-1/2)" */
    bool powers;                /* it met exp or sin */
    JX_VEC(jx_root) roots;      /* where there are planes */
    jx_map root_at;             /* their numbers from 1, by key */
    struct jx_products *products; /* products.h, or NULL; without planes */
    /* Is shown each equation that was run, of the jaxpr `shown` (NULL: of all),
     * what it took and what it gave; or NULL. */
    void (*show)(void *to, const struct jx_eqn *eqn,
                 const struct jx_field_value *ins,
                 const struct jx_field_value *outs);
    void *to;
    const struct jx_jaxpr *shown;
    bool sketches; /* what contractions give is not computed, but some number */
    int64_t largest; /* array, in elements; 0: as is usual */
    const char *why; /* of the first that is not known */
    int64_t work;    /* operations; once above 0 it gives up */
} jx_field;

/* `room` may be cleared once no value of the evaluation is looked at any more,
 * though cells are that were copied; it is ctx's own, or longer there.  False
 * without memory. */
bool jx_field_begin(jx_field *f, jx_ctx *ctx, jx_arena *room, uint64_t seed);
/* Another over the same ring, with the same random numbers. */
void jx_field_again(jx_field *f, const jx_field *like);

/* ---- numbers */

jx_cell jx_cell_random(jx_field *f, uint64_t key); /* an input: of its number */
/* the same, of no known power */
jx_cell jx_cell_any(jx_field *f, uint64_t key);
jx_cell jx_cell_integer(jx_field *f, int64_t value);
/* A constant of that dtype, as it stands in a program. */
jx_cell jx_cell_constant(jx_field *f, double value, jx_dtype dtype);
jx_cell jx_cell_unknown(jx_field *f, const char *why);
jx_cell jx_cell_nan(void);

/* numbers of the same value */
bool jx_cell_same(const jx_cell *a, const jx_cell *b);
/* The same number, whose roots are random numbers. */
jx_cell jx_cell_collapsed(const jx_field *f, const jx_cell *a);
bool jx_cell_is_zero(const jx_cell *a);

jx_cell jx_cell_add(jx_field *f, const jx_cell *a, const jx_cell *b);
jx_cell jx_cell_sub(jx_field *f, const jx_cell *a, const jx_cell *b);
jx_cell jx_cell_neg(jx_field *f, const jx_cell *a);
jx_cell jx_cell_mul(jx_field *f, const jx_cell *a, const jx_cell *b);
jx_cell jx_cell_div(jx_field *f, const jx_cell *a, const jx_cell *b);
jx_cell jx_cell_power(jx_field *f, const jx_cell *a, int64_t n);
/* The value of a b alone, which is enough to look for a product;
 * whether it is `of`. */
jx_cell jx_cell_product(jx_field *f, const jx_cell *a, const jx_cell *b);
bool jx_cell_is_product(jx_field *f, const jx_cell *a, const jx_cell *b,
                        const jx_cell *of);

/* What is hashed beside primitives, whose numbers are below all of these: kinds
 * differ, and so do functions that jx_cell_opaque() is asked for. */
enum {
    JX_KIND_NARROWED = 1 << 16, /* and the dtype that it is narrowed to */
    JX_KIND_LOG = 1 << 20,      /* what a logarithm is defined for */
    JX_KIND_SQRT,               /* a root, and some other function */
    JX_KIND_FUNCTION,
    JX_KIND_IMAGE, /* what exp gives */
    JX_KIND_TURN,  /* what cos and sin are made of */
    JX_KIND_ROOT,
    JX_KIND_LOGGED,
    JX_KIND_POLE = 1 << 24,
    JX_KIND_CHOICE = 1 << 25,
    JX_KIND_HEADS,
    JX_KIND_MOST = 1 << 26,
    JX_KIND_CONVERTED = 1 << 27, /* 256 times the dtype that it is, and was */
    JX_KIND_PLACE = 1 << 28,
    JX_KIND_CHOSEN = 1 << 29
};

/* A hash of a number or its negative, whichever is less (*flipped). */
uint64_t jx_cell_key(const jx_field *f, uint64_t kind, const jx_cell *a,
                     bool *flipped);
/* What depends on all of these, which is known of `of`. */
jx_cell jx_cell_depends(jx_field *f, jx_cell of, const jx_cell *on);

/* The degree of the numerator that a number has once it is one
 * fraction, at most. */
double jx_cell_degree(const jx_field *f, const jx_cell *a);

/* ---- functions (cell_functions.c) */

typedef enum jx_cell_function {
    JX_F_EXP,
    JX_F_EXP2,
    JX_F_EXPM1,
    JX_F_LOG,
    JX_F_LOG2,
    JX_F_LOG1P,
    JX_F_LOGISTIC,
    JX_F_SIN,
    JX_F_COS,
    JX_F_TAN,
    JX_F_SINH,
    JX_F_COSH,
    JX_F_TANH,
    JX_F_SQRT,
    JX_F_RSQRT,
} jx_cell_function;

jx_cell jx_cell_apply(jx_field *f, jx_cell_function function, const jx_cell *x);
/* x ** y */
jx_cell jx_cell_raise(jx_field *f, const jx_cell *x, const jx_cell *y);
/* A function of which nothing is known but its number; `partial`: it is not
 * defined everywhere. */
jx_cell jx_cell_opaque(jx_field *f, uint64_t function, bool partial, int nins,
                       const jx_cell *const *ins);

/* ---- choices (cell_choices.c) */

/* Whether what depends on all that these two depend on can't be. */
bool jx_cell_is_impossible(const jx_field *f, const jx_cell *a,
                           const jx_cell *b);

typedef enum jx_cell_order {
    JX_IS_LT,
    JX_IS_LE,
    JX_IS_EQ,
    JX_IS_NE,
    JX_IS_GE,
    JX_IS_GT,
} jx_cell_order;

jx_cell jx_cell_bool(bool value);
jx_cell jx_cell_compare(jx_field *f, jx_cell_order order, const jx_cell *a,
                        const jx_cell *b);
jx_cell jx_cell_select(jx_field *f, const jx_cell *which, const jx_cell *no,
                       const jx_cell *yes);
/* What a select gave of booleans: it is blended where it is neither. */
jx_cell jx_cell_as_bool(jx_cell of);
/* The larger (or smaller) of two by a choice; where they are
 * equal, the second. */
jx_cell jx_cell_larger(jx_field *f, bool larger, const jx_cell *a,
                       const jx_cell *b);
jx_cell jx_cell_abs(jx_field *f, const jx_cell *x);
jx_cell jx_cell_sign(jx_field *f, const jx_cell *x);
jx_cell jx_cell_and(jx_field *f, const jx_cell *a, const jx_cell *b);
jx_cell jx_cell_not(jx_field *f, const jx_cell *a);
/* The largest (or smallest) of some.  It does not matter in which order and how
 * often they come, and the largest of largest ones is that of all; of two it is
 * what a comparison selects.  Only where jx_field.sets_of_most. */
/* Notes that where `choice` holds, both numbers are equal; that where it holds,
 * `more` is at least `less`; what a choice selects of two numbers, if it is
 * noted that these are they: their maximum or minimum. */
void jx_cell_note_meeting(jx_field *f, const jx_cell *choice, const jx_cell *a,
                          const jx_cell *b);
void jx_cell_note_order(jx_field *f, const jx_cell *choice, const jx_cell *more,
                        const jx_cell *less);
/* Whether one of these choices holds for sure: each says that a number of a set
 * is the largest of it, and none of the set is missing. */
bool jx_cell_one_holds(jx_field *f, int64_t n, uint64_t *choices);
bool jx_cell_selects_most(jx_field *f, const jx_cell *choice, const jx_cell *no,
                          const jx_cell *yes, jx_cell *to);
jx_cell jx_cell_most(jx_field *f, bool largest, int64_t n,
                     const jx_cell *const *of);
/* The numbers that one is the largest of; NULL: it was made as none.  Which two
 * a choice says to be equal, the largest and what it may be. */
const jx_keys *jx_cell_set_of(jx_field *f, uint64_t v);
bool jx_cell_meets(jx_field *f, const jx_cell *choice, uint64_t *more,
                   uint64_t *less);
/* Where the largest of some numbers stands, the first if there are several;
 * that, so much further; that, if a choice says that it is of the largest, else
 * a number; the less of two such.  False: that is not known. */
typedef struct jx_cell_at {
    uint64_t v;
    int64_t place;
} jx_cell_at;

bool jx_cell_place(jx_field *f, int count, const jx_cell_at *of, jx_cell *to);
bool jx_cell_move_place(jx_field *f, const jx_cell *of, const jx_cell *by,
                        jx_cell *to);
bool jx_cell_ask_place(jx_field *f, const jx_cell *which, const jx_cell *no,
                       const jx_cell *yes, jx_cell *to);
bool jx_cell_first_place(jx_field *f, const jx_cell *a, const jx_cell *b,
                         jx_cell *to);
/* The number that a boolean is. */
jx_cell jx_cell_number(jx_field *f, const jx_cell *of);
/* 0 or 1, made on the way to a root of the number of that key. */
int jx_cell_root_choice(jx_field *f, uint64_t key, jx_cell *to);
/* The first that decides a choice of this number as zero and so makes a need
 * fail; the key of a division by a number. */
bool jx_cell_needs_zero(const jx_field *f, const jx_keys *needs);
uint64_t jx_cell_zero_key(const jx_field *f, const jx_cell *a);

/* ---- sets */
const jx_keys *jx_keys_with(jx_field *f, const jx_keys *set, uint64_t key);
const jx_keys *jx_keys_join(jx_field *f, const jx_keys *a, const jx_keys *b);
bool jx_keys_hold(const jx_keys *set, uint64_t key);
const jx_keys *jx_cell_zeros(jx_field *f, const jx_cell *a);

#endif
