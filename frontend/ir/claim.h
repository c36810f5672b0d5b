/* claim.h - statements about a program, and what became of them.
 *
 * A claim is one statement at one place with a typed goal.  The analyzer makes
 * it (verdict JX_UNDECIDED), the prover or the runtime settles it, reports
 * render it.  Obligations count toward a program's status; probes are shown
 * only when something settled them. */
#ifndef JX_CLAIM_H
#define JX_CLAIM_H

#include "frontend/base/vec.h"
#include "frontend/ir/program.h"

typedef enum jx_code {
    JX_CODE_NONE = 0,
#define CODE(id, name, level, class, summary) JX_CODE_##id,
#include "frontend/ir/codes.def"
#undef CODE
    JX_NCODES,
} jx_code;

typedef enum jx_level { JX_NOTE = 1, JX_WARNING, JX_ERROR } jx_level;
typedef enum jx_class { JX_OBLIGATION = 1, JX_PROBE } jx_class;

typedef struct jx_code_info {
    const char *id;   /* "SHP010" */
    const char *name; /* "sizes-disagree" */
    jx_level level;
    jx_class class;
    const char *summary;
} jx_code_info;

const jx_code_info *jx_code_of(jx_code code);
/* What breaks it could make somebody leave an array, or lets a call of an
 * exported function die. */
bool jx_code_is_structural(jx_code code);
/* Said only where its id or name is selected: true of any
 * program, or nearly so. */
bool jx_code_is_asked_for(jx_code code);
/* It is said of a derivative or batching rule. */
bool jx_code_is_of_rules(jx_code code);
/* It is said of random keys. */
bool jx_code_is_of_keys(jx_code code);
/* By id or name; JX_CODE_NONE if there is none. */
jx_code jx_code_named(const char *text);

/* Zero is the modest answer. */
typedef enum jx_verdict {
    JX_UNDECIDED = 0,
    JX_PROVED,
    JX_REFUTED,   /* with a counterexample that plain evaluation confirmed */
    JX_WITNESSED, /* a run, or the program itself, showed it */
    JX_POSSIBLE,  /* bounds leave it open, nothing shows it, and somebody asked
                     to be told: it is counted nowhere */
} jx_verdict;

typedef enum jx_goal_kind {
    JX_GOAL_NONE = 0, /* nothing for the prover: settled by who made it, or by
                         running */
    JX_GOAL_EQ,       /* lhs == rhs for all admissible sizes */
    JX_GOAL_NE,
    JX_GOAL_GE, /* lhs >= rhs */
    JX_GOAL_GT,
    JX_GOAL_DIVIDES, /* lhs divides rhs */
    JX_GOAL_DECIDED, /* what JAX decided (`comparison`) holds for all sizes */
    JX_GOAL_FALSE,   /* can never hold: refuted on the spot by its maker */
    JX_GOAL_ADMISSIBLE, /* some sizes satisfy the constraints of the scope */
    JX_GOAL_CALLABLE,   /* ... and make no size of an input negative */
    JX_GOAL_ADDS,   /* the claim's constraint does not follow from the others */
    JX_GOAL_ANSWER, /* what JAX could not decide has an answer */
} jx_goal_kind;

typedef struct jx_goal {
    jx_goal_kind kind;
    const jx_dim *lhs, *rhs;
    const jx_comparison *comparison; /* of JX_GOAL_DECIDED, JX_GOAL_ANSWER */
    int scope;                       /* whose constraints are assumed */
} jx_goal;

/* What comes of what a finding is about. */
typedef struct jx_consequence {
    const char *what;      /* "log of 0 gives -inf" */
    const jx_stack *stack; /* where, or NULL */
} jx_consequence;

/* A line of a source file as it is and as it should be. */
typedef struct jx_fixed_line {
    const char *file;
    int line;
    const char *was, *is; /* without line ends */
} jx_fixed_line;

/* A change of the source after which a finding is gone. */
typedef struct jx_fix {
    const char *says; /* what it does, in one line */
    /* with it and the fixes of the other findings nothing was found any more;
     * else what showed the finding shows it no more */
    bool quiet;
    int nlines;
    const jx_fixed_line *lines; /* in order, each once */
} jx_fix;

typedef struct jx_evidence {
    const char *by; /* "algebra", "bounds", "z3 4.8.12", "finite differences" */
    const char *why; /* of undecided: budget, unknown primitive, ... */
    int nbindings;
    const jx_binding *bindings; /* of a refutation: sizes that break it */
    int64_t lhs, rhs;           /* the two sides at those sizes */
    const char *note;           /* further text for the report, or NULL */
    const char *suggestion;     /* a constraint that would settle it, or NULL */
    /* of IDX004: all sizes for which nothing wraps, or NULL */
    const char *safe;
    int width;          /* of IDX004: bits of the integers */
    const char *advice; /* what to write, a line each, or NULL */
    /* of what a run shows: JSON (docs/REPORT.md), or NULL */
    const char *witness;
    const jx_fix *fix; /* that was tried on the program, or NULL */
    /* values, to stand beside the expression: "0 -> -inf", or NULL */
    const char *shown;
    int nthen; /* what comes of it elsewhere, */
    const jx_consequence *then;
} jx_evidence;

/* The equations that lead to a nested jaxpr, outermost first. */
typedef struct jx_calls {
    const struct jx_calls *outer; /* or NULL */
    const jx_jaxpr *jaxpr;        /* that holds the call */
    const jx_eqn *eqn;
} jx_calls;

typedef struct jx_claim {
    jx_code code;
    jx_level level; /* usually the code's */
    jx_class class;
    jx_goal goal;
    const jx_scope_constraint *constraint; /* of JX_GOAL_ADDS */
    const jx_jaxpr *jaxpr; /* the place; NULL for the program as a whole */
    const jx_eqn *eqn;     /* NULL: the jaxpr's inputs or outputs */
    const jx_calls *calls; /* how one gets there from the entry, or NULL */
    const jx_stack *stack; /* where to point when not at the equation */
    const char *what;      /* "operand 1, axis 0": arena text */
    const char *help;      /* what to do, or NULL */
    jx_verdict verdict;
    jx_evidence evidence;
} jx_claim;

typedef JX_VEC(jx_claim *) jx_claim_list;

/* A new undecided claim with its code's level and class, added to the list;
 * NULL without memory. */
jx_claim *jx_claim_add(jx_ctx *ctx, jx_claim_list *to, jx_code code);

#endif
