/* values_parts.h - what the files of the analysis of values share. */
#ifndef JX_VALUES_PARTS_H
#define JX_VALUES_PARTS_H

#include "analyzer/values/values.h"
#include "frontend/base/map.h"
#include "frontend/ir/params.h"

/* What is known of a value where it is used.  `number` names what computes it:
 * values of one number are equal. */
typedef struct jx_known {
    jx_extent is;
    int number;
    const jx_lost *
        /* who made it possibly not finite; NULL: it is, or nobody knows */
        lost;
} jx_known;

/* Some element along those axes (a bit each), at all places of the others, is
 * at least `at`; no axes: nothing is known. */
typedef struct jx_peak {
    uint64_t axes;
    double at;
} jx_peak;

/* What a number stands for: an equation's result, or (without one) what comes
 * from outside, a constant, a literal. */
typedef struct jx_made {
    const jx_eqn *eqn;
    int out;
    const jx_known *ins; /* as many as the equation takes */
    const jx_aval *aval;
    jx_known known;
    const jx_dim *dim;          /* its one element is this size; or NULL */
    const jx_dim *least, *most; /* sizes that its elements lie between; NULL */
    const jx_known *among;      /* they are some of its elements; NULL */
    jx_peak peak;
    uint64_t hash;
    int next; /* of that hash's list; -1 */
} jx_made;

/* An equation that is being bounded, and those whose bodies it stands in. */
typedef struct jx_around {
    const struct jx_around *outer; /* or NULL */
    const jx_eqn *eqn;
} jx_around;

/* A predicate that is, or is not, true of what is walked. */
typedef struct jx_assumed {
    jx_known predicate;
    bool holds;
} jx_assumed;

typedef struct jx_valuing {
    jx_program *program;
    jx_extents *to;
    jx_semantics semantics;
    double largest; /* magnitude of floats that are given */
    JX_VEC(jx_made) made;
    JX_VEC(jx_assumed) assumed; /* of the bodies around */
    const jx_around *around;
    int *heads; /* by hash, a power of two of them */
    size_t nheads;
    int64_t walked;
    int64_t looked;    /* equations that asked.c looked at */
    int64_t asked;     /* steps of limits.c */
    bool recording;    /* questions: not before a loop's extents are settled */
    bool leaking;      /* leaks, too */
    int loops;         /* around, */
    int unsettled;     /* those of them that an unsettled one walks */
    int64_t outermost; /* what was walked before the first of them */
    jx_map settled; /* of loops in unsettled ones: what they gave (control.c) */
} jx_valuing;

/* An equation on its way. */
typedef struct jx_bounding {
    jx_valuing *in;
    const jx_eqn *eqn;
    const jx_known *ins;
    jx_known *outs; /* to be bounded: as their dtype is, before */
    bool walked;    /* its bodies were, whose equations answer for themselves */
    unsigned answered; /* what is asked of it, a bit each */
} jx_bounding;

/* Bounds the results of an equation; what it does not say is unknown.  False
 * without memory. */
typedef bool jx_bound_rule(jx_bounding *t);

#define PRIM(id, name, nins, nouts, params, type, plan, cost, jvp, transpose,  \
             batch, extent)                                                    \
    jx_bound_rule jx_bound_##extent;
#include "frontend/ir/prims.def"
#undef PRIM

jx_bound_rule *jx_bound_rule_of(jx_prim_id id); /* of what is in the table */

static inline jx_arena *jx_valuing_arena(const jx_valuing *in)
{
    return in->program->ctx->arena;
}

/* How results of the equation are rounded: of its first one's dtype. */
jx_extenting jx_bound_how(const jx_bounding *t);
/* A result is this, of `wraps` as the arithmetic says. */
bool jx_bound_give(jx_bounding *t, const jx_extenting *how, jx_extent is);
/* The result is another value again. */
bool jx_bound_again(jx_bounding *t, int out, const jx_known *value);
/* The innermost equation being bounded that stands on a user's line; NULL. */
const jx_eqn *jx_bound_place(const jx_valuing *in);
/* Where the bound of a result is lost that is not finite. */
const jx_lost *jx_lost_new(const jx_bounding *t, const jx_known *out);
/* Notes a result that may not be finite, while leaks are noted. */
void jx_leak_note(const jx_bounding *t, int out);
/* Notes an answer, while answers are noted. */
void jx_bound_answer(jx_bounding *t, jx_asked what, bool holds, jx_extent is,
                     jx_extent may);

/* Answers with no what may be asked of the equation and its rule did not
 * answer (asked.c). */
void jx_bound_answer_rest(jx_bounding *t);

/* How many elements lie along those axes, at least and at most. */
jx_extent jx_bound_count(const jx_valuing *in, const jx_dim *const *dims,
                         int count);
jx_extent jx_bound_size(const jx_valuing *in, const jx_dim *dim);
/* Places along an axis as integers: that a symbolic size fits their dtype is
 * another claim (IDX004), so that these are less than its largest. */
jx_extent jx_bound_places(jx_dtype dtype, const jx_dim *size, jx_extent is);
/* The size that a value is, as a number or an element of an array. */
const jx_dim *jx_bound_dim(const jx_valuing *in, const jx_known *value);

/* A jaxpr on these operands (constants not among them): its results. */
bool jx_valuing_run(jx_valuing *in, const jx_closed *closed,
                    const jx_known *ins, jx_known *outs);
/* A new number of that hash; -1 without memory. */
int jx_valuing_add(jx_valuing *in, const jx_made *made);
/* What is numbered from now on is forgotten by the second. */
int jx_valuing_mark(const jx_valuing *in);
void jx_valuing_forget(jx_valuing *in, int mark);
/* A value of which only this is known. */
jx_known jx_valuing_new(jx_valuing *in, const jx_aval *aval, jx_extent is,
                        const jx_lost *lost);
const jx_made *jx_valuing_made(const jx_valuing *in, const jx_known *value);

/* -- relations (relations.c) ----------------------------------------------- */

/* Narrows a product, a difference (computed with `how`), a quotient by what
 * their operands are to each other. */
void jx_relate_mul(jx_bounding *t, jx_extent *is);
void jx_relate_sub(jx_bounding *t, const jx_extenting *how, jx_extent *is);
void jx_relate_div(jx_bounding *t, jx_extent *is);
/* Narrows a mean, however it is compiled. */
void jx_relate_mean(const jx_bounding *t, jx_extent *is);
/* Narrows a sum over axes of what is a part of their sum each. */
void jx_relate_shares(const jx_bounding *t, jx_ints axes, jx_extent *is);
/* Narrows a sum, a product of matrices, of which all terms but one are zero
 * (places.c). */
void jx_relate_sum(const jx_bounding *t, jx_ints axes, jx_extent *is);
void jx_relate_dot(const jx_bounding *t, jx_dot_dims dims, jx_extent *is);
/* Narrows the difference of what is cut alike from what grows along an axis,
 * one further on. */
void jx_relate_difference(const jx_bounding *t, const jx_extenting *how,
                          jx_extent *is);
/* How much two computations of one value may be apart. */
double jx_relate_slack(const jx_bounding *t, const jx_known *x);
/* Narrows a remainder by what its dividend is a multiple of (residues.c). */
void jx_relate_rem(const jx_bounding *t, jx_extent *is);
/* The peak that an equation's result has by those of its operands. */
jx_peak jx_relate_peak(const jx_bounding *t);
/* What XLA may make of the equation instead (compiled.c);
 * false: nothing else. */
bool jx_bound_compiled(jx_bounding *t, jx_extenting *how, jx_extent *is);
/* What a value repeats along axes that it has not: the number of that,
 * with, per axis of the value, the axis of what is repeated, or -1.  Room
 * for JX_MAX_AXES. */
enum { JX_MAX_AXES = 64 };
int jx_relate_base(const jx_valuing *in, const jx_known *value, int *axes);

/* -- sizes as limits (limits.c) -------------------------------------------- */

/* Whether every element of integers lies between two sizes, for all sizes. */
bool jx_lies_between(jx_valuing *in, const jx_known *value, const jx_dim *least,
                     const jx_dim *most);
/* What is walked between the two is walked where this is so. */
bool jx_suppose(jx_valuing *in, const jx_known *predicate, bool holds);
void jx_supposed(jx_valuing *in);

/* -- guards (guards.c) ----------------------------------------------------- */

/* What a value is where a predicate of the same shape holds, or does not. */
jx_known jx_guarded(jx_valuing *in, const jx_known *predicate, bool holds,
                    const jx_known *value);
/* Whether it is `a or b` that holds, `a and b` that does not. */
bool jx_guard_is_split(const jx_made *made, bool holds);
/* What a predicate that is a scalar says of values: meets them.
 * `count` of them. */
void jx_guard_all(jx_valuing *in, const jx_known *predicate, bool holds,
                  jx_known *values, int count);

#endif
