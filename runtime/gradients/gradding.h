/* gradding.h - one pattern of one rule under check, shared by the files of
 * gradcheck. */
#ifndef JX_GRADDING_H
#define JX_GRADDING_H

#include "analyzer/transform/derived.h"
#include "runtime/gradients/gradcall.h"
#include "runtime/gradients/gradcheck.h"
#include "runtime/gradients/gradjudge.h"
#include "runtime/gradients/gradsample.h"
#include "runtime/turns.h"

typedef struct jx_grad_twins jx_grad_twins;
typedef struct jx_grad_first jx_grad_first;
typedef struct jx_grad_around jx_grad_around;

enum { JX_MOST_LOOKED = 512 };

/* What a check allows for. */
typedef struct jx_regime {
    double tolerance, leeway, nearness, grain; /* as in a jx_gradding */
    bool converges;
} jx_regime;

/* Where the function's loops lead (gradlimit.c). */
typedef struct jx_limit {
    bool in;     /* what runs is that */
    bool was_in; /* at the last point */
    bool lost;   /* the rule gave no number there */
    /* at the point they come to rest, though nothing may draw them there */
    bool rests;
    bool met;   /* at some point they are drawn */
    int misses; /* points before that, at which they come to no rest ... */
    int stays;  /* ... and at which they do, but nothing draws them there */
    bool left; /* at one such point what moves them a little stayed as it was */
    int times; /* turns that it takes, as often as their own */
    double moved; /* how far the function's values lie from there, of them */
    bool reached; /* these are within reach of where loops stop that search */
    int64_t work; /* operations of a call there, at the last point */
    double tolerance; /* of rules */
    jx_regime other;  /* what is allowed for on the other side */
    /* the point and the line of `slopes_at_rest` and `tangent_at_rest` ... */
    int visit;
    const double *along;
    bool good; /* ... if these could be run */
} jx_limit;

/* Rules whose own loops stop short (gradshort.c). */
typedef struct jx_short {
    int visit, here;        /* the last point; whether it is short there */
    int looked, some, many; /* points; short, and far too short at these */
    double most;            /* by so much of what it gives */
    double within; /* the same of all points, short or not, if not of nothing */
    const char *said, *witness; /* of the first that is far too short */
} jx_short;

/* A point that accuses nobody: what moves there. */
typedef struct jx_grad_apart {
    const double *x;
    const struct jx_grad_apart *next;
} jx_grad_apart;

/* A point that is watched: what the function gives there, and whether the
 * derivative gives no number, or not what the slopes are. */
typedef struct jx_grad_watched {
    const double *x, *values; /* NULL: it was not visited */
    int nvalues;
    bool off;
} jx_grad_watched;

/* An integer in one place of an operand that is not differentiated. */
typedef struct jx_grad_single {
    int operand;
    int64_t element, value;
} jx_grad_single;

typedef struct jx_gradding {
    jx_program *program;
    const jx_typed *typed;
    const jx_gradcheck_options *options;
    const jx_rule *rule;
    /* as the program has it, if it is judged as another */
    const jx_rule *called;
    const jx_rule_pattern *pattern;
    jx_callee primal, jvp, fwd, bwd;
    /* the function at all samples of a line, or nothing (gradlines.c) */
    jx_callee line;
    const jx_typed *lines; /* its program, once there is one */
    bool tried;            /* it is known to be the function's */
    /* there is none, or it takes longer: samples are taken one by one */
    bool alone;
    int strikes;      /* lines that took longer so */
    int64_t sampling; /* operations that samples took so far */
    jx_callee own;    /* the function's derivative, or nothing */
    /* that of JAX, by the rules of what it calls, once it is asked for */
    jx_callee kept;
    bool kept_tried;
    jx_callee guard; /* what must be finite, of the first inputs; or nothing */
    const jx_closed *derivative, *guarded; /* these two as jaxprs, or NULL */
    jx_space in, out;
    const jx_plan_options *how; /* of the callees */
    jx_noise *noise; /* of the callees, another at each call; or NULL */
    jx_turns *turns; /* of the callees, if the function loops; or NULL */
    jx_limit limit;
    const jx_calling *calling;
    jx_grad_ends ends;        /* of the first operands */
    const void *const *fixed; /* operands of which the fixed ones count */
    const jx_sampled *sample; /* the caller's, or NULL */
    /* put where points have others (gradinteger.c), or NULL */
    const jx_grad_single *single;
    int turn; /* of loops around the call, at which its operands are taken */
    /* the same of what is no rule that the program calls */
    const jx_sampled *given;
    const jx_typed *pulling; /* the program of bwd; NULL: that of the rest */
    int64_t most_work; /* operations of one call; 0: what is fit for a rule */
    jx_rng rng;
    double tolerance; /* relative, from the narrowest dtype in the code */
    double nearness;  /* to which the rule's own loops compute; 0: exactly */
    double grain;     /* what the function itself rounds to while it runs */
    /* part by which slopes of what stops when it is near enough may be off what
     * it comes near; 0: it does not, or its rule stops as it does */
    double leeway;
    /* the function stops when it is near enough, however near that is */
    bool converges;
    bool symmetric; /* square matrices are moved as symmetric ones */
    double *x, *samples, *tangent, *cotangent, *moved, *directions;
    /* results that the program has no use for, which are not looked at */
    int unwanted;
    /* components that have slopes; none: all */
    int looked[JX_MOST_LOOKED], nlooked;
    bool *is_looked; /* by component */
    /* the function's own derivative along the line at hand ... */
    double *along;
    bool has_along; /* ... if it could be run */
    jx_slope *slopes, *again, *slopes_at_rest;
    bool has_slopes;         /* `slopes` are some of the point at hand */
    double *tangent_at_rest; /* of a jvp rule (gradlimit.c) */
    jx_grad_twins *twins;    /* or NULL */
    jx_grad_around
        *around; /* the point, where the rule gives no number; or NULL */
    jx_grad_first *first; /* that this check is to be kept as, or NULL */
    double rounding;      /* of sums of the slopes (gradcompare.c) */
    jx_intent intent;     /* what the rule is declared to be */
    bool stands_in;   /* the function is a surrogate: its values say nothing */
    bool values_only; /* nothing is asked but the rule's values */
    int64_t passed;   /* tangents that went straight through */
    double factor;    /* of a scaled derivative, once it is known; else 0 */
    double *held;     /* inputs that it may be made of, at the first point */
    void **held_passive; /* ... and integers */
    /* rules that count at single points only are judged as parts of it */
    bool has_within;
    /* it is about the second order: what is not finite says nothing */
    bool second;
    const jx_grad_apart *apart; /* or NULL */
    jx_grad_watched *watched;   /* or NULL */
    bool cautious; /* only the program's own values can accuse the rule */
    int points;
    int64_t comparisons, dropped, outvoted, work; /* see jx_rule_report */
    int64_t call_work;     /* operations of the last call at a point itself */
    int64_t abroad, muted; /* the same at values that the rule may never meet */
    int64_t clipped;    /* comparisons that say nothing of a rule that clips */
    bool stair, spent;  /* why comparisons were not conclusive */
    const char *failed; /* what could not be run, whatever it takes; or NULL */
    bool met;           /* agreed at values that the program computes */
    /* the program moves just what this pattern does; or not so */
    bool followed, unfollowed;
    bool doubted; /* disagreed at others, while cautious */
    /* excused by finite values that are others in the declared dtypes; whether
     * one such was all that spoke for the rule */
    int others;
    bool others_alone;
    const char *wrong;   /* the disagreement that decides, in words ... */
    const char *witness; /* ... and as JSON (gradwitness.c), or NULL */
    const double *place; /* `x` as it was then */
    jx_code code;        /* of it, if that is not of the rule's kind */
    bool loops;          /* the function has a loop ... */
    bool takes_rows;     /* ... each of which ends with the rows it takes ... */
    /* ... and the rule has not, but may rely on where it leads */
    bool iterative;
    bool approximates; /* the function holds numbers that were rounded */
    /* function and jvp rule are elementwise, of many elements: one direction
     * that moves all is a sample of as many points */
    bool pointwise;
    /* it computes when to end; its primitives are no surer than 1e-8, or than
     * a part of the largest result; it holds numbers that were rounded */
    bool iterates, rough, normwise, rounded;
    /* where it is another than the own derivative's, or NULL */
    const char *convention;
    /* what goes wrong in the declared dtypes, or NULL */
    const char *undeclared;
    /* 1 + the largest jump that jx_grad_is_patched() found; 0: not yet asked */
    double patched;
    int patched_lines; /* that it looked at */
    /* that a first step has on both sides; 0: as much as it likes */
    double room;
    bool by_own; /* the own derivative decided, not differences */
    int against; /* points that disagree */
    /* some of them, one after the other: of this check, or of the one that has
     * them looked at where loops lead (gradsolved.c) */
    double *refused;
    int nrefused, answered; /* and those that it agrees at there */
    /* points at which it disagreed though the function's loops had settled */
    int settled_against;
    /* points at which it disagreed while the function's loops were under way,
     * and others, after the first such, where it agreed and they had settled */
    int away, at_rest;
    /* then those have been visited that iterations are for: ... */
    bool has_matrices;
    int of_matrices; /* so many of `points` */
    /* points where that was asked of the function's loops, and where they were
     * and the rule agreed */
    int under_way, agreed_under_way;
    bool stuck_met; /* what disagreed did not move at the sample */
    /* points are looked at where the function's loops lead, alone: searches, or
     * what makes so many turns where there are none; so far they are from that
     * (gradsolved.c) */
    bool ends_only;
    double unsolved;
    const char *solved; /* the rule is right there, in words; or NULL */
    jx_short shorts;
    int unseen;  /* disagreements that gradmean.c excused */
    bool shaken; /* what the own derivative denied last, constants explained */
    /* points of the sample that show an argument ignored; -1:
     * one that does not */
    int ignores;
    const char *ignored, *ignored_witness; /* what the first of them shows */
    int visit;                             /* the number of the point */
    /* by component: points where it agreed, and where it was what disagreed;
     * the last point where it agreed */
    int *agreed, *opposed, *last_agreed;
    /* by component, and of all together: the last point where a disagreement
     * was none in the end */
    int *excused;
    int *lost; /* the same, where the function's value was (graddeclared.c) */
    int outvoted_at; /* the last point where what stood was outvoted */
    /* the last point that was asked whether it is smooth around: beside so
     * large a difference, and not beside one so small */
    int smooth_at;
    double smooth_beside, rough_beside;
    /* the values that a rule gave last which were those of its function,
     * or excused ... */
    double *given_value;
    int given_at;  /* ... and the point */
    int64_t asked; /* operations that asking again took */
    int wrong_at;  /* the component that disagreed last, or -1 */
    const char *first_wrong, *first_witness;
    jx_code first_code;
    const jx_point *point;
    const char *direction;
} jx_gradding;

enum { JX_MOST_KEPT = 12 };

/* The check of the first pattern of a rule that agreed, kept for the others,
 * with operands at which it did. */
struct jx_grad_first {
    jx_gradding check; /* if it is open */
    bool open;
    int npoints;
    /* of each the function's operands, one after the other */
    char *points[JX_MOST_KEPT];
};

/* Weights of the slopes, or one component. */
typedef struct jx_functional {
    const double *weights; /* NULL: component `only` */
    int only;
} jx_functional;

/* What shows a derivative wrong, at the point: along which direction (NULL:
 * any), pulled back from which cotangent (NULL: it is of a jvp); that it is the
 * value that differs; what it gives, and the least and most that it should. */
typedef struct jx_shown {
    const double *direction, *cotangent;
    bool value;
    double gives, low, high;
} jx_shown;

/* Whether the point at hand accuses nobody. */
bool jx_grad_is_apart(const jx_gradding *c);

/* gradwitness.c: keeps it with the check. */
void jx_grad_witness(jx_gradding *c, const jx_shown *shown);
/* Of a batching rule: what it was given; `axes` has a '1' for an operand with
 * the axis, in front. NULL: not to be written. */
const char *jx_grad_batch_witness(jx_ctx *ctx, const char *axes,
                                  const jx_callee *all);

/* gradshrink.c: looks for a smaller point and a simpler line where what
 * was found is as wrong: that is the point then, with its value and
 * target, and the witness. */
void jx_grad_shrink(jx_gradding *c, const double *d, jx_functional f,
                    double *value, jx_target *t);

/* gradcompare.c: whether a disagreement is more than the slopes' and the rule's
 * own uncertainties. */
bool jx_grad_stands(jx_gradding *c, const double *d, jx_functional f,
                    double value, double scale, const jx_target *t);

/* Where operands of the rule come from. */
static inline jx_sampling jx_grad_sampling(const jx_gradding *c)
{
    return (jx_sampling){.typed = c->typed,
                         .how = c->how,
                         .plans = c->options->plans,
                         .callers = c->calling->callers,
                         .turn = c->turn};
}

/* gradspend.c */
/* Zeroed memory for the moment, which the caller frees; NULL where there is
 * none, which the program's context knows then. */
void *jx_grad_room(const jx_gradding *c, size_t count, size_t size);

/* Whether nothing is left of the operations that the rule may take; that
 * is noted then. */
bool jx_grad_is_spent(jx_gradding *c);
/* What a run of it takes, in operations: those that it executed, and what goes
 * through its buffers. */
int64_t jx_grad_cost(const jx_gradding *c, const jx_callee *f);
/* Runs a callee within what is left for the rule. */
bool jx_grad_call(jx_gradding *c, jx_callee *f);
/* The function beside the point, within some times what it takes there. */
bool jx_grad_call_beside(jx_gradding *c);

/* gradline.c: the function along a line. */

/* Whether the rule may never meet the values of this point. */
bool jx_grad_is_foreign(const jx_gradding *c);
/* Everything a rule does not differentiate: constants, integers, keys. */
void jx_grad_fill_passive(jx_gradding *c);
/* Slopes of all outputs along d at the point, from that first step. */
bool jx_grad_sample(jx_gradding *c, const double *d, double first,
                    jx_slope *slopes);
/* Whether a value or a slope that is asked for is larger than its dtype, as
 * declared, has numbers for: the program computes none there. */
bool jx_grad_is_beyond(const jx_gradding *c, jx_functional f);
/* The first step along d: a hundredth of what is there to move. */
double jx_grad_first_step(const jx_gradding *c, const double *d);
/* Where a component of the output stands: "output 1, element 3". */
const char *jx_grad_component(const jx_gradding *c, int j);

/* gradinteger.c: checks the rule where an operand is each of the integers that
 * the code holds others against, which no point may have; false once it is
 * known to be wrong. */
bool jx_grad_integers(jx_gradding *c);

/* gradlook.c: whether the program has a use for a span of the
 * results, or for none. */
bool jx_grad_is_wanted(const jx_gradding *c, int span);
/* How many of the results the program has no use for; 0 where that is all. */
int jx_grad_unwanted(const jx_gradding *c);
/* Chooses the components that have slopes along d. */
void jx_grad_look(jx_gradding *c, const double *d);
/* How many these are, and number k of them. */
static inline int jx_grad_nlooked(const jx_gradding *c)
{
    return c->nlooked ? c->nlooked : c->out.size;
}
static inline int jx_grad_looked(const jx_gradding *c, int k)
{
    return c->nlooked ? c->looked[k] : k;
}

/* What is looked at, while something else is. */
typedef struct jx_grad_looking {
    int nlooked, looked[2];
} jx_grad_looking;

/* Looks at what that functional is of alone, if it is a component: slopes of
 * all of them, asked for one after the other, would be quadratic.  And at what
 * was looked at before. */
jx_grad_looking jx_grad_look_at(jx_gradding *c, jx_functional f);
void jx_grad_look_again(jx_gradding *c, const jx_grad_looking *before);

/* gradlines.c: takes all samples of a line, with these steps, in one run, if
 * that can be done and is worth it; false: nothing is done. */
bool jx_grad_run_line(jx_gradding *c, const double *d, const double *steps);

/* gradown.c: what a derivative of the function, `f`, gives along d at the
 * point: tangents of its results; false: nothing. */
bool jx_grad_derivative_along(jx_gradding *c, jx_callee *f, const double *d,
                              double *to);
/* The same of the function's own derivative. */
void jx_grad_own_along(jx_gradding *c, const double *d);
/* What it gives in the place of that functional of the slopes; whether a rule's
 * value, summed from terms of magnitude `scale`, is that. */
jx_opinion jx_grad_own_says(const jx_gradding *c, jx_functional f, double value,
                            double scale);

/* gradkept.c: whether the rule, right around the point, gives there what the
 * rules give that its function calls: a convention of theirs, for which they
 * answer themselves. */
bool jx_grad_is_kept_alike(jx_gradding *c, const double *d, jx_functional f,
                           double value);

/* gradregion.c: checks the rule in each region between thresholds of its code
 * and the function's; false once it is known to be wrong. */
bool jx_grad_regions(jx_gradding *c);
/* Whether the function's own derivative jumps by such a part of itself at
 * thresholds, on the line through the point along d or another: what is patched
 * together from approximations has no better derivative.  Kinks do not count.
 * Leaves the point elsewhere. */
bool jx_grad_is_patched(jx_gradding *c, const double *d, double part);
/* gradpattern.c: whether a bwd gives cotangents of their inputs' dtypes;
 * else it is wrong. */
bool jx_grad_has_dtypes(jx_gradding *c);
/* gradpattern.c: checks it at the point that stands in `x`; false where it
 * disagrees. */
bool jx_grad_check_point(jx_gradding *c);

/* gradweigh.c: the same at the point that stands in `x`, weighed with those
 * before; false once the rule is known to be wrong. */
bool jx_grad_check_here(jx_gradding *c);
/* Once all points are done. */
void jx_grad_weigh_points(jx_gradding *c);
/* What there is to say of points that disagreed, though they accuse nobody; or
 * NULL. */
const char *jx_grad_doubts(const jx_gradding *c);
/* gradsolved.c: what disagrees with a function that makes so many turns
 * may be its derivative where more of them lead, nearby: if so, nothing is
 * held against it.  `base` is the check as it was before anything was planned.
 * Points that disagreed are kept for that, and visited there. */
void jx_grad_keep_refused(jx_gradding *c);
void jx_grad_visit_refused(jx_gradding *c);
void jx_grad_look_at_solutions(jx_gradding *c, const jx_gradding *base,
                               const jx_plan_options *how, bool thorough);

/* graddeclared.c: runs a rule that is right in the wide domain in its declared
 * dtypes, and sets `undeclared` where it is not finite, or has lost its
 * digits, there. */
void jx_grad_declared(jx_gradding *c);
/* Whether the function's values at the point are others in the declared dtypes:
 * they overflow on the way, or have lost all digits, which `others` counts. */
bool jx_grad_is_lost(jx_gradding *c, jx_functional f);
/* Whether that is what the function's own derivative gives in the declared
 * dtypes: they round the numbers that its code compares with. */
bool jx_grad_is_own_declared(jx_gradding *c, const double *d, jx_functional f,
                             double value);

/* gradvote.c: whether the own derivative accuses a rule, where
 * differences see nothing or not enough: JX_DISAGREE if so; JX_UNCERTAIN
 * where nothing that small can be told in the declared dtype; JX_AGREE;
 * JX_SKIP where it has no say. */
jx_opinion jx_grad_own_denies(jx_gradding *c, const double *d, jx_functional f,
                              double value, double scale, const jx_target *t);

/* A rule, and how it is asked about, where sizes are numbers. */
typedef struct jx_grad_asked {
    const jx_rule *rule; /* NULL: it was not asked about, or as another was */
    jx_calling calling;
} jx_grad_asked;

/* gradtwins.c: whether two rules of a program are the same code, and no call
 * says more of one than of the other: where nobody gives the program's inputs,
 * all that is tried on one would be tried on the other. */
bool jx_grad_is_twin(const jx_typed *typed, const jx_grad_asked *a,
                     const jx_grad_asked *b);

/* gradcheck.c: whether tangents of this pattern are ones that the program has
 * together; where it has those of none, all count. */
bool jx_grad_is_met(const jx_calling *calling, const jx_rule *rule,
                    const jx_rule_pattern *p);

/* gradpattern.c: checks one pattern and joins what it found to the report. */
void jx_grad_pattern(jx_gradding *c, const jx_plan_options *how, bool thorough,
                     jx_rule_report *report);

/* gradbeyond.c: what holds of a rule beside its values (second order,
 * backwards), where nothing was found against these. */
void jx_grad_beyond(const jx_typed *typed, const jx_gradcheck_options *options,
                    const jx_plan_options *how, const jx_calling *calling,
                    const jx_derived_rule *derived, jx_rule_report *report);
/* What is wrong in second order because of a wrong rule that it
 * calls is not said. */
void jx_grad_excuse(const jx_derived *derived, jx_rule_reports *reports);
/* Of calls that close over what is differentiated, or was while JAX traced the
 * program: below jit, JAX takes what they close over for a constant, and says
 * nothing.  False without memory. */
bool jx_grad_claim_closures(jx_program *program, const jx_eqn_list *closing,
                            jx_claim_list *claims);
/* gradwithin.c: by number, of rules that are not judged alone what there is to
 * say of them (JX_RULE_WITHIN, JX_RULE_BEYOND); JX_RULE_UNDECIDED of others.
 * NULL without memory. */
const jx_rule_outcome *jx_grad_outcomes(const jx_program *program);
/* gradwanted.c: by number of a rule, which results of its function the program
 * has a use for, or other rules have.  NULL without memory. */
const bool *const *jx_grad_wanted(const jx_program *program);
/* Of what a jvp rule gives, results and then tangents: what is wanted if those
 * results of its function are.  NULL without memory. */
bool *jx_grad_wanted_of_jvp(jx_arena *arena, const jx_rule *rule,
                            const jx_rule_pattern *p, const bool *wanted);
/* The program, with what its rules are held against, and (`whole`) it itself;
 * itself where nothing is known.  `given`: it typed, where that is known; or
 * NULL, or another one. */
bool jx_grad_derive(jx_program **program, const jx_typed *given, bool whole,
                    jx_derived *derived);

/* gradmore.c: more than points, of a rule that agrees at them. */
void jx_grad_more(const jx_typed *typed, const jx_plan_options *how,
                  uint64_t seed, const jx_derived_rule *derived,
                  jx_rule_report *report);

/* A rule that closes over what is differentiated is not its
 * derivative in all. */
void jx_grad_withhold(const jx_eqn_list *closing, jx_rule_reports *reports);

/* gradwhole.c: derivatives that are no rules. */

/* A function and a forward derivative of it, checked as if that were its rule.
 * Moved are the first inputs, `nmoved` of them, that are inexact, but for those
 * that `zeros` (NULL: none) has a '1' for. */
typedef struct jx_grad_pair {
    const char *name;
    const jx_closed *function, *derivative;
    int nmoved;
    const char *zeros;
    /* of the first `nmoved`: those that are the base's `fixed`; or NULL */
    const bool *fixed;
    /* ... and the first of them that is the same value as each; or NULL */
    const int *ties;
    /* of the results: those that anybody has a use for; or NULL */
    const bool *wanted;
} jx_grad_pair;

/* `base` has what is to be known of the check beside the rule. */
void jx_grad_check_pair(const jx_grad_pair *pair, jx_gradding base,
                        bool thorough, jx_rule_report *report);
/* The program's own derivative, and one that its file holds; false
 * without memory. */
bool jx_grad_whole(jx_program *program, const jx_gradcheck_options *options,
                   const jx_derived_rule *derived, jx_rule_reports *reports);

/* gradbatch.c: a report of each function that has a batching rule
 * (custom_vmap), of which the document holds what it makes; false
 * without memory. */
bool jx_grad_batching(jx_program *program, const jx_gradcheck_options *options,
                      jx_rule_reports *reports);

/* gradmasks.c: keeps the point of a check that agreed there. */
void jx_grad_note_point(jx_gradding *c);
/* Keeps the whole check, if it agrees and may be of use; else releases it. */
void jx_grad_keep_first(jx_gradding *c, bool agrees);
void jx_grad_free_first(jx_grad_first *first);
/* Whether another pattern gives at points of the first what that one
 * gives where the tangents that it lacks are zero; and the operations
 * that this took. */
bool jx_grad_is_like_first(jx_grad_first *first, const jx_rule_pattern *p,
                           int64_t *work);

/* gradopen.c: plans the function and the rule's jaxprs, or these alone; makes
 * the vectors once the spaces are known; frees both. */
bool jx_grad_open(jx_gradding *c, const jx_plan_options *how);
bool jx_grad_open_rule(jx_gradding *c, const jx_plan_options *how);
bool jx_grad_allocate(jx_gradding *c);
void jx_grad_release(jx_gradding *c);

/* gradshake.c: the check again with other roundings, as twins whose plans
 * are made once. */
void jx_grad_close_twins(jx_gradding *c);

/* Whether the rule is off by no more than other roundings of the
 * constants make of a difference. */
bool jx_grad_is_rounding(jx_gradding *c, const double *d, jx_functional f,
                         double off);

/* The same of other roundings of all that is computed. */
bool jx_grad_is_noise(jx_gradding *c, const double *d, jx_functional f,
                      double off);

/* How far a noise moves what the rule says and the own derivative, at most; or
 * the slope that it makes of the function. */
double jx_grad_noise_moves(jx_gradding *c, const double *d, jx_functional f);

/* Whether the rule differs from the own derivative by no more. */
bool jx_grad_is_shaken(jx_gradding *c, const double *d, jx_functional f,
                       double off);

/* Whether the result that it gives is off by no more. */
bool jx_grad_is_rounded_value(jx_gradding *c, int component, double off);
/* Whether the rule gives a number with other roundings. */
bool jx_grad_is_noisy_nan(jx_gradding *c, const double *d, jx_functional f);
/* Whether it gives one, or the function another value, where subnormal numbers
 * are zeros, as XLA's code has them: what such a number decides says
 * nothing. */
bool jx_grad_is_subnormal_nan(jx_gradding *c, const double *d, jx_functional f);
/* Whether other roundings of all that is computed make as much of a result. */
bool jx_grad_is_noisy_value(jx_gradding *c, int component, double off);

/* gradrules.c: documents may hold anything: the masks of a pattern have a
 * character per operand, and its jaxprs, once planned, take and give what the
 * function does. */
bool jx_grad_masks_fit(const jx_rule *rule, const jx_rule_pattern *p);
bool jx_grad_signature_fits(const jx_gradding *c);

/* gradrules.c: what the rule says along a line; false: it could not run. */

/* Runs the jvp rule along factor * d; its tangents out. */
bool jx_grad_run_jvp(jx_gradding *c, const double *d, double factor);
void jx_grad_take_tangents(jx_gradding *c, double *tangent);
/* The magnitudes of what the jvp rule gives for each input alone along d,
 * summed: where these cancel, their roundings do not.  Of one component. */
double jx_grad_parts(jx_gradding *c, const double *d, int component);
/* <bwd(cotangent), d>, summed from terms of magnitude `scale`. */
bool jx_grad_pulled_back(jx_gradding *c, const double *cotangent,
                         const double *d, double *value, double *scale);
/* What the rule gives in the place of that functional of the
 * slopes, once more. */
bool jx_grad_says(jx_gradding *c, const double *d, jx_functional f,
                  double *value);
/* Runs the forward function at the point and hands on its residuals. */
bool jx_grad_prepare_fwd(jx_gradding *c);
/* Residuals that fwd computes, before its primal outputs. */
int jx_grad_computed_residuals(const jx_rule_pattern *p);

/* The unit roundoff of the least precise of the rule's inputs. */
double jx_grad_unit(const jx_gradding *c);
/* gradmean.c: whether a rule that holds elsewhere, and is off by that here,
 * integrates to what the function's values are, to within what its numbers
 * were rounded to. */
bool jx_grad_is_unseen(jx_gradding *c, const double *d, jx_functional f,
                       double value, double off);

/* gradnear.c: how the function behaves around the point. */

/* What rounding makes of sums in which the largest slopes cancel, or numbers of
 * the size of the direction, which is 1: a slope below that may be anything. */
double jx_grad_rounding(const jx_gradding *c, const jx_slope *slopes);
/* What a rule must give in the place of that functional of the slopes. */
jx_target jx_grad_target(const jx_gradding *c, jx_functional f,
                         const jx_slope *slopes, double rounding);
/* Whether the slope along a random line is nearly the same at points close by,
 * on all sides, and slopes add up as lines do: at ties and kinks they do not,
 * though the function may be smooth along some lines, and then any derivative
 * is a convention.  Nearly: beside a difference of `off`. */
bool jx_grad_is_smooth_around(jx_gradding *c, double off);
/* Whether the rule is right at points close by: what is left is a tie, of which
 * another derivative is another convention. */
bool jx_grad_is_isolated(jx_gradding *c, const double *d, jx_functional f);
/* Whether the rule gives one thing here and another there at many points close
 * by, beside a difference of `off`: of the orders in which ties break, few may
 * show that there are some. */
bool jx_grad_varies_around(jx_gradding *c, const double *d, jx_functional f,
                           double off);
/* Whether the point lies beside a kink of the function by no more than its
 * dtype rounds: on both sides of it the rule is right, and here it gives
 * something between. */
bool jx_grad_is_beside_kink(jx_gradding *c, const double *d, jx_functional f,
                            double value);
/* gradsettle.c: whether the quotients of both sides come to one number, by less
 * and less: there is a derivative, `slope`, though the function may bend so
 * much that no extrapolation finds it. */
bool jx_grad_settles(jx_gradding *c, const double *d, jx_functional f,
                     double *slope);
/* Whether some result rises without bound there (the cube root of 0): the
 * function's own derivative gives no number for it, and its quotients along the
 * first direction, which moves everything, come to none. */
bool jx_grad_is_unbounded(jx_gradding *c);
/* Whether the function computes no NaN on its way at points close by, on both
 * sides: where it does, and then leaves it out (log of a negative number, where
 * another operand is zero), nobody asks for a derivative. */
bool jx_grad_is_in_domain(jx_gradding *c);
/* Frees what is kept of that. */
void jx_grad_forget_around(jx_gradding *c);

/* gradlimit.c: where the loops of the function and the rule lead. */

/* Whether it has loops that end when they are near enough, and can go on; or
 * others do that are asked to. */
static inline bool jx_grad_goes_on(const jx_gradding *c)
{
    return c->turns &&
           (c->turns->searches > 0 || (c->ends_only && c->turns->again > 0));
}
/* If the function's loops are drawn to rest near what it gives at the point
 * (which stands in `samples`), all that runs goes on until they are there;
 * false: they are not. */
bool jx_grad_enter_limit(jx_gradding *c);
/* All runs as it stands, if that was not so. */
void jx_grad_leave_limit(jx_gradding *c);
/* Whether a rule that is off by that there, from that target, is wrong: it is
 * at rest around the point, the rule does not lead elsewhere by itself, and is
 * not right as it stands. */
bool jx_grad_stands_in_limit(jx_gradding *c, const double *d, jx_functional f,
                             double value, double off, const jx_target *t);
/* Whether loops come to rest at the point, drawn there or not, where the rule
 * is right: outside of the limit.  `stands`: what it gives as it stands. */
bool jx_grad_agrees_at_rest(jx_gradding *c, const double *d, jx_functional f,
                            double stands);
/* Whether the loops are far from it at the point, all that they give: a
 * rule that is right there follows the loops' turns, and does not rely on
 * where these lead. */
bool jx_grad_is_under_way(jx_gradding *c);
/* The same by a fifth of all that they give: there is no solution that so many
 * turns are meant to come near. */
bool jx_grad_is_far_from_rest(jx_gradding *c);
/* Whether what disagreed last moves, and as many turns again change nothing of
 * what the function gives: it has settled, if not at a solution. */
bool jx_grad_is_settled(jx_gradding *c);
/* Whether as many turns again do change it by more than that part of what it
 * gives; nothing is known of loops that can't go on. */
bool jx_grad_is_unsettled(jx_gradding *c, double part);

/* gradshort.c: notes what a rule gives as it stands, in the place of that
 * functional, and where its loops go on, of magnitude `scale`. */
void jx_grad_note_short(jx_gradding *c, const double *d, jx_functional f,
                        double stands, double rests, double scale);
/* The same in the limit, of what a jvp rule has given in `tangent` along factor
 * * d, and of what a vjp rule has pulled back of `cotangent`: along the first
 * direction. */
void jx_grad_look_short(jx_gradding *c, const double *d, double factor);
void jx_grad_look_short_back(jx_gradding *c, const double *d, double rests,
                             double scale);
/* Once all points are done: accuses what is far too short at most of them, and
 * says how short others are; or NULL. */
void jx_grad_weigh_short(jx_gradding *c);
const char *jx_grad_is_short(const jx_gradding *c);

/* gradstuck.c */
/* Whether what disagreed last does not move at all at a point that was
 * drawn, though it depends on each of the inputs elsewhere: a search that is
 * stuck where it may not go on. Where the program's own values are such, it
 * has no such excuse. */
bool jx_grad_finds_nothing(jx_gradding *c);
/* Whether what disagreed last does not move at all; not known of a value that
 * differs before anything moves. */
bool jx_grad_is_stuck(jx_gradding *c);

/* gradintent.c: what a rule must be that is declared to be no derivative. */

/* Whether the bwd of a rule that clips makes less of large
 * cotangents; false: told. */
bool jx_grad_clips(jx_gradding *c);
/* Whether the bwd of such a rule, which pulled `cotangent` back to `tangent`
 * just now, made less of it: limits that are arguments may be anywhere, and
 * only where it leaves small cotangents alone is it to be the derivative. */
bool jx_grad_is_clipped(jx_gradding *c);
/* A factor may be an argument that the function has no use for: such ones are
 * at all points what they were at the first. */
void jx_grad_hold_factor(jx_gradding *c);
/* What a scaled derivative is of one that is not; the first slope that is sure
 * tells the factor. */
double jx_grad_unscaled(jx_gradding *c, double value, const jx_target *t);
/* Whether these are what is passed straight through, or zeros; false: told. */
bool jx_grad_is_straight(jx_gradding *c, const double *from, const double *to);
/* How large cotangents and tangents may be. */
double jx_grad_reach(const jx_gradding *c);
/* How long the longest of them are, where a rule must be linear. */
double jx_grad_length(const jx_gradding *c);

/* gradvalue.c: the rule's own primal outputs (from number `first`) must be the
 * function's. */
bool jx_grad_same_primals(jx_gradding *c, jx_callee *rule, int first);

/* gradstructure.c: the first span of the inputs whose tangent the rule makes
 * nothing of (or to which it gives no cotangent), by its code alone; -1:
 * there is none. */
int jx_grad_ignored(const jx_gradding *c);
/* Whether the function makes nothing of an operand, by its code alone. */
bool jx_grad_is_unread(const jx_gradding *c, int operand);
/* gradneglect.c: names an argument that the rule makes nothing of, if that is
 * what is wrong. */
void jx_grad_look_for_ignored(jx_gradding *c, const double *d);
/* Where a loop explains what a rule is off by, notes at a point of the sample
 * whether an argument is ignored all the same; once all points are done, that
 * is what is wrong. */
void jx_grad_neglects(jx_gradding *c);
void jx_grad_weigh_ignored(jx_gradding *c);
/* Whether the slopes of a loop depend on an argument that the rule makes
 * nothing of, where it begins, by as much as the rule is off: they are those of
 * so many steps. */
bool jx_grad_depends_on_start(jx_gradding *c, const double *d, jx_functional f,
                              double off, const jx_target *t);
/* The residuals that fwd computes and bwd makes nothing of, with their
 * bytes; or NULL. */
const char *jx_grad_unused_residuals(jx_ctx *ctx, const jx_rule *rule);
/* Whether its tangents or cotangents go through a loop: then it follows the
 * function's steps, and does not rely on where these lead. */
bool jx_grad_loops_itself(const jx_gradding *c);
/* Whether all loops of a function take rows that depend on its inputs, one at
 * each turn: when these are used up they have come to their end, and lead
 * nowhere else. */
bool jx_grad_takes_rows(const jx_jaxpr *jaxpr);

/* gradcompare.c: holds what the rule says along a line against the slopes
 * there; false once it is known to be wrong. */
bool jx_grad_jvp_line(jx_gradding *c, const double *d);
bool jx_grad_vjp_line(jx_gradding *c, const double *d);

#endif
