/* exhaust_count.h - results held against a reference, number by number. */
#ifndef JX_EXHAUST_COUNT_H
#define JX_EXHAUST_COUNT_H

#include "runtime/gradients/exhaust.h"

/* A float format: what a unit in the last place is. */
typedef struct jx_float_format {
    int precision; /* bits of the significand, the leading one too */
    /* exponents of normal numbers: 2^least <= |x| < 2^(most + 1) */
    int least, most;
    double normal; /* the least normal number */
    double beyond; /* from here on what rounds to nearest is infinite */
} jx_float_format;

/* Of f32, f16, bf16; false: of no other. */
bool jx_float_format_of(jx_dtype dtype, jx_float_format *format);
/* The unit in the last place of a number: 0 of 0 is that of
 * the least number. */
double jx_ulp(const jx_float_format *format, double of);
/* Sets to[i] to 1 where a result has to be looked at: it is off by more than
 * `limit` units (`subnormal`, where the reference is that), or one of both is
 * no number.  It is left alone where the result is plainly right: both are
 * infinite or beyond the format on the same side, or NaN of an input that is
 * (nan_in), or where the function itself (value) is.  False: all are numbers
 * near the reference. */
bool jx_exhaust_mark(const jx_float_format *format, const double *got,
                     const double *want, const double *value,
                     const unsigned char *nan_in, double limit,
                     double subnormal, unsigned char *to, int64_t n);

/* How many results are off by more than so many units. */
int64_t jx_exhaust_beyond(const jx_float_format *format, const double *got,
                          const double *want, double units, int64_t n);
/* Of those that are not marked, numbers within range of which the reference is
 * unsure: to more than an eighth unit. */
int64_t jx_exhaust_unsure(const jx_float_format *format, const double *want,
                          const double *slack, const unsigned char *marked,
                          const unsigned char *nan_in, int64_t n);
/* Sets to[i] to 1 where the rule itself is not the derivative, and says
 * whether any is. */
bool jx_exhaust_mark_wrong(const jx_float_format *format, const double *want,
                           const double *slack, const double *by_rule,
                           const double *rule_slack,
                           const unsigned char *nan_in, unsigned char *to,
                           int64_t n);

/* One result in question, and what is known of the reference; or that of
 * inputs in a row. */
typedef struct jx_exhaust_item {
    /* of the input, in the order of values; of those that are run */
    int64_t index, step;
    int64_t times;          /* inputs from it on of which all this is true */
    uint32_t x[2], last[2]; /* the bits of the first of them, of the last */
    bool nan_in;            /* one of them is NaN */
    bool finite; /* of a derivative: the function's reference is finite there */
    double got, want;
    double slack; /* the reference may be off by so much: an estimate */
    /* of a derivative: what the rule itself gives in float64; NaN: there is no
     * rule, or nobody asked */
    double by_rule;
    double rule_slack; /* as of the reference */
    /* of a derivative: `got` is between those of the sides of a jump */
    bool is_kink;
} jx_exhaust_item;

/* Whether it says that the result is off by at least so many
 * units, and surely. */
double jx_exhaust_least_error(const jx_float_format *format,
                              const jx_exhaust_item *item);
/* Takes it into account. */
void jx_exhaust_count(jx_exhaust_column *to, const jx_float_format *format,
                      const jx_exhaust_item *item);
/* The same of a number that is held against a number within range, of no rule
 * and at no kink. False: it is the worst so far, which an item has to say. */
bool jx_exhaust_tally(jx_exhaust_column *to, const jx_float_format *format,
                      double got, double want, double slack);
/* How such numbers are near their references, of which `slack` is known. */
typedef struct jx_exhaust_nearness {
    double slack;  /* INFINITY: of none; 0: of each by itself */
    double known;  /* so many units off at most it is */
    double kinked; /* what is off by more is not counted so */
} jx_exhaust_nearness;
/* Leaves of the marks those whose results jx_exhaust_tally() may count, and
 * those that are no number or out of range, as the references are (and the
 * function's, `value`). */
void jx_exhaust_keep_plain(const jx_float_format *format, const double *got,
                           const double *want, const double *value,
                           const jx_exhaust_nearness *near,
                           unsigned char *which, int64_t n);
typedef struct jx_exhaust_tallied {
    /* off by 2^i units at least */
    int64_t unsure, undefined, least[JX_EXHAUST_BARS];
    /* the normal and the subnormal that are worse than any so far; -1: none */
    int64_t worst[2];
} jx_exhaust_tallied;
/* jx_exhaust_tally() of the n that are marked; `off` has room for as many. */
void jx_exhaust_tally_many(const jx_exhaust_column *so_far,
                           const jx_float_format *format, const double *got,
                           const double *want, const double *slack,
                           const unsigned char *which, double *off, int64_t n,
                           jx_exhaust_tallied *to);
/* Counts them; the worst are to be kept. */
void jx_exhaust_add_tallied(jx_exhaust_column *to,
                            const jx_exhaust_tallied *tallied);
/* Keeps it, which has been counted, if it is the worst. */
void jx_exhaust_keep_worst(jx_exhaust_column *to, const jx_float_format *format,
                           const jx_exhaust_item *item);
/* What was counted of later inputs, too; `step` lies between the indices of two
 * that follow each other. */
void jx_exhaust_join(jx_exhaust_column *to, const jx_exhaust_column *later,
                     int64_t step);

#endif
