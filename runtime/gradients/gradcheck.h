/* gradcheck.h - custom derivative rules against finite differences, and
 * against the derivative that we make of their functions; and the derivatives
 * of whole programs.
 *
 * Every custom jvp and vjp rule of a program is compared with slopes of its
 * own primal, both computed in the wide domain, at points of many kinds
 * (scales, zeros, ties, near the constants that the code compares with) and
 * along several directions.  Where slopes and rule disagree, the function's
 * own derivative (analyzer/transform/derived.h) has the third vote; and where
 * slopes see nothing or too little, it accuses alone (gradvote.c).  What a
 * rule computes is compared with its own derivative in the same way: the
 * second order.  Rules are checked in isolation, at their own avals, so a
 * rule in a branch that is never taken is checked too.  The derivative that
 * JAX would take of the whole program is held against its slopes likewise
 * (one that is made of right parts can be wrong: sinc near 0), and so is one
 * that a file holds.
 *
 * This is sampling: it can show a rule wrong (a point, a direction and both
 * numbers), and otherwise says at how many points nothing disagreed.  That is
 * no proof and is not reported as one. */
#ifndef JX_GRADCHECK_H
#define JX_GRADCHECK_H

#include "frontend/ir/claim.h"
#include "frontend/ir/typed.h"

typedef enum jx_rule_outcome {
    JX_RULE_UNDECIDED = 0, /* mostly could not be compared; `detail` says why */
    JX_RULE_AGREES,        /* no disagreement at `points` points */
    JX_RULE_INTENDED,      /* no derivative, and what it is declared to be */
    JX_RULE_WRONG,
    /* its values count at single points only, where it is judged as a part
     * of what uses it */
    JX_RULE_WITHIN,
    /* the document does not hold it, and it matters beyond the
     * second order only */
    JX_RULE_BEYOND,
    JX_RULE_REFUSES, /* it raises when traced, by design or not */
} jx_rule_outcome;

/* What stands behind a rule that agrees, beside the points. */
typedef enum jx_rule_evidence {
    JX_RULE_SAMPLED = 0, /* nothing */
    JX_RULE_PROVED,      /* it is the function's own derivative, term by term */
    /* the same over the reals (runtime/field): `more` says it, with the error
     * and what is assumed */
    JX_RULE_IDENTICAL,
} jx_rule_evidence;

typedef struct jx_rule_report {
    const jx_rule *rule; /* NULL: of the program itself, or a batching rule */
    /* "jvp rule of `f`", "derivative of `f`", "stored vjp of `f`",
     * "batching rule of `f`" */
    const char *subject;
    /* it is of no derivative: points are those where both were run */
    bool batching;
    const jx_stack *stack; /* of a batching rule: the call */
    jx_rule_outcome outcome;
    int points;          /* where at least one comparison was conclusive */
    int64_t comparisons; /* that agreed */
    int64_t dropped;     /* that could not tell: too near the tolerance, slopes
                            too rough, values that the program may never meet */
    int64_t muted;       /* such values, where its own values agreed */
    int64_t clipped;     /* where a rule that is to clip does: not compared */
    double tolerance;    /* relative, from the narrowest dtype in the code */
    int64_t work;        /* operations that it took */
    /* results that the program has no use for: they are not looked at */
    int unwanted;
    /* of one pattern: nothing that the program takes moves just that */
    bool unmet;
    bool led;   /* it was judged where its function's searches lead */
    bool empty; /* it agrees: what it takes or gives has no elements */
    /* slopes that disagreed alone: the function's own
     * derivative is the rule's */
    int64_t outvoted;
    /* a wrong rule differs from the function's own derivative, more finely than
     * differences tell */
    bool by_own;
    jx_code code; /* of a wrong rule: in what, or 0 (jx_rule_code) */
    /* of a rule that is not wrong: where it is in its declared
     * dtypes, or NULL */
    const char *undeclared;
    /* of such a one: where it has another derivative than its function's own,
     * of several that there are; or NULL */
    const char *convention;
    const char *detail; /* arena text, or NULL */
    jx_rule_evidence evidence;
    /* "identical over the reals, ..."; where it is sampled, why no more is
     * known; or NULL */
    const char *more;
    /* of a wrong rule: the point and the line as JSON, or NULL */
    const char *witness;
    const double *place; /* ... and that point: the `moved` numbers that move */
    int moved;
} jx_rule_report;

typedef JX_VEC(jx_rule_report) jx_rule_reports;

/* What is said of the rule is said under this code. */
jx_code jx_rule_code(const jx_rule_report *report);

/* The document has no more of the rule than that there is one. */
static inline bool jx_rule_is_left_out(const jx_rule_report *report)
{
    return report->rule && report->rule->npatterns == 0;
}

typedef struct jx_gradcheck_options {
    int directions; /* random ones per point, beside the fixed kinds; 0: 3 */
    uint64_t seed;
    size_t memory; /* budget of one plan, in bytes; 0: none */
    int nbindings; /* sizes that the user chose */
    const jx_binding *bindings;
    /* the program's inputs as declared, dense, or NULL: they become sample
     * points of the rules that the program calls, and show their domain */
    const void *const *inputs;
    const jx_typed *typed; /* of the program, where that is known; or NULL */
    /* the derivative that its file holds (input.h), or NULL */
    jx_program *stored;
    /* the program itself is left out, and rules that raise, or that the
     * document does not hold, are no claims */
    bool in_passing;
    /* that all rules may execute; what is left then is undecided; 0: any */
    int64_t operations;
    struct jx_kept_plans *plans; /* of all rules: jx_gradcheck()'s own */
} jx_gradcheck_options;

/* Whether a program has rules, of derivatives or of batching, that
 * jx_gradcheck() judges, or was traced with some that miss a part. */
bool jx_gradcheck_has_rules(const jx_program *program);

/* Checks all rules.  A wrong rule adds a witnessed claim (DRV001, DRV002;
 * DRV006: in second order; DRV008: it can't be gone back along), an
 * undecided one an undecided claim; so does a call that closes over what is
 * differentiated (DRV011), or was when the program was traced, and a wrong
 * derivative of the program (DRV013), a rule that is not finite in its
 * declared dtypes (DRV012), and one that is another derivative at a kink
 * than its function's own (DRV020).  False with an error in program->ctx
 * only when memory ends.  A batching rule that is not the map of its
 * function is DRV003. */
bool jx_gradcheck(jx_program *program, const jx_gradcheck_options *options,
                  jx_claim_list *claims, jx_rule_reports *reports);

#endif
