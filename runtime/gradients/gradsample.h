/* gradsample.h - what a rule's operands may be: sizes, the caller's sample,
 * integers. */
#ifndef JX_GRADSAMPLE_H
#define JX_GRADSAMPLE_H

#include "runtime/gradients/gradplans.h"
#include "runtime/gradients/gradpoints.h"
#include "runtime/plan.h"

/* Small sizes for the dim variables of a rule's operands that the constraints
 * allow; the fixed ones stay.  In the program's arena.  False if none is found
 * in a bounded search. */
bool jx_sample_sizes(const jx_program *program, const jx_rule *rule, int nfixed,
                     const jx_binding *fixed, int *nbindings,
                     const jx_binding **bindings);

/* These sizes in another program that has variables of the same names (those
 * that it has not are left as they are), in its arena; NULL without memory. */
jx_binding *jx_sizes_of(const jx_program *program, int count,
                        const jx_binding *bindings);

/* Operands that the program gives to a rule's function, as stored in the wide
 * domain, one pointer per operand in the program's arena. */
typedef struct jx_sampled {
    const void *const *at;
    const void *const *inputs; /* of the program, wide: what they came from */
} jx_sampled;

/* By jaxpr, whether its code makes the call of a rule, without and with the
 * code of rules: once that has been asked. */
typedef struct jx_callers {
    const bool *holds[2];
} jx_callers;

/* Where operands come from: runs of the program at these sizes. */
typedef struct jx_sampling {
    const jx_typed *typed;
    const jx_plan_options *how;
    jx_kept_plans *plans;
    jx_callers *callers; /* of the rule that is asked for, or NULL */
    /* of a loop around the call, from 0 on; or the last before that */
    int turn;
    int call; /* of those that the program's own code makes, from 0 on */
} jx_sampling;

/* Those of a run on `inputs` (declared dtypes).  The call may be one by
 * the code of another rule, where the tangents or cotangents are drawn.
 * NULL without inputs, or where the call is not reached through plain
 * calls and rules. */
const jx_sampled *jx_sample_given(const jx_sampling *by, const jx_rule *rule,
                                  const void *const *inputs);
/* The inputs themselves, as operands of the program; NULL without. */
const jx_sampled *jx_sample_inputs(const jx_sampling *by,
                                   const void *const *inputs);
/* The same for inputs that are drawn as at that point (NULL: normal ones). */
const jx_sampled *jx_sample_program(const jx_sampling *by, const jx_rule *rule,
                                    jx_rng *rng, const jx_point *point);

/* The same inputs' call again, at another turn than it was found at. */
const jx_sampled *jx_sample_again(const jx_sampling *by, const jx_rule *rule,
                                  const jx_sampled *of);

/* The operands after a small step of the program's inputs (of the input `only`
 * alone, if that is not negative) in a direction that is drawn, and after one
 * the other way: where operands depend on each other, these are the directions
 * that a rule meets.  False if there are none. */
bool jx_sample_moved(const jx_sampling *by, const jx_rule *rule,
                     const jx_sampled *from, int only, jx_rng *rng,
                     const void *const **ahead, const void *const **behind);

/* gradcalling.c */

/* Whether an equation calls the function of a rule. */
bool jx_eqn_calls_rule(const jx_eqn *eqn, const jx_rule *rule);

/* Between what the values of the first operands lie, where that is declared of
 * the program's inputs (range.h) that they are elements of. */
typedef struct jx_grad_ends {
    int count; /* 0: nothing is declared */
    const double *low, *high;
} jx_grad_ends;

/* Of the program's own inputs. */
jx_grad_ends jx_sample_ends(const jx_program *program);

/* How a rule's function is called in the program; a rule may rely on it, so
 * that operands drawn one by one can be values that it never meets.  Arrays
 * have an element per operand, in the program's arena. */
typedef struct jx_calling {
    /* The first operand that is the same value at every call (itself, mostly):
     * lax.custom_root passes what its functions close over once for each. */
    const int *ties;
    /* Always computed from constants alone (a table of coefficients). */
    const bool *fixed;
    bool any_fixed;
    bool varied; /* such constants may be others at another call */
    /* Two that are not tied are computed from a common value (an initial guess
     * from what is solved for). */
    bool related;
    bool reached; /* the entry's own code calls it, not only other rules */
    /* Of each call what its operands depend on, a set of values around it each;
     * NULL: not known of every call. */
    const uint64_t *const *sources;
    int ncalls;
    jx_grad_ends ends;
    jx_callers *callers;
    /* by result of the function: some call has a use for it; or NULL */
    const bool *wanted;
} jx_calling;

/* Whether some call may have tangents of just those operands of the rule
 * (after what it closes over) that `zeros` has no '1' for: where an operand
 * moves, what it is computed from does, and so does all else that is
 * computed from that.  A rule that is given zeros in full is asked for all
 * tangents in any case. */
bool jx_sample_mask_is_met(const jx_calling *calling, const jx_rule *rule,
                           const char *zeros);

/* All but what is wanted.  False without memory. */
bool jx_sample_calling(const jx_program *program, const jx_rule *rule,
                       jx_calling *to);

/* gradsample.c */

/* Fills an input that is not differentiated: the sample, at some points other
 * integers like it; without one, small integers and random bits. */
void jx_sample_passive(jx_rng *rng, const jx_port *port, const jx_point *point,
                       const void *sample, void *to);
/* How many numbers that takes of an inexact input, without a sample. */
int64_t jx_sample_draws(const jx_port *port);

/* How closely a rule of such a nearness can be expected to agree: constants in
 * the code were rounded to its narrowest float dtype before we saw them. */
double jx_sample_tolerance(const jx_rule *rule, double nearness);
/* The same where all loops have come to rest: how near is near enough
 * does not count. */
double jx_sample_tolerance_at_rest(const jx_rule *rule);
/* How near the rule's own loops come to what they compute, relative, where they
 * end when that is near enough; 0 where none does. */
double jx_sample_nearness(const jx_rule *rule);

/* "x = [0.5, -1, ...]", arena text. */
const char *jx_sample_text(jx_ctx *ctx, const double *x, int count);

#endif
