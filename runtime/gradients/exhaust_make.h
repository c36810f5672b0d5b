/* exhaust_make.h - an elementwise function and its derivatives as plans of
 * many elements. */
#ifndef JX_EXHAUST_MAKE_H
#define JX_EXHAUST_MAKE_H

#include "analyzer/transform/derived.h"
#include "runtime/gradients/exhaust.h"
#include "runtime/plan.h"

/* A derivative: of arguments, then tangents -> result, tangent; or of
 * arguments, then a cotangent -> a cotangent per argument. */
typedef enum jx_slope_form {
    JX_SLOPE_NONE = 0,
    JX_SLOPE_FORWARD,
    JX_SLOPE_BACKWARD,
} jx_slope_form;

/* One function as closed jaxprs of a program. */
typedef struct jx_exhaust_subject {
    jx_program *program;
    jx_closed function;
    jx_program *teller; /* whose jaxpr `says` is */
    /* the derivative that is judged: by rules; no jaxpr: there is none */
    jx_closed says;
    jx_slope_form form;
    jx_closed own;  /* forward, its rules passed by; or no jaxpr */
    bool has_rules; /* `says` is another than `own` */
    int nbindings;
    const jx_binding *bindings;
} jx_exhaust_subject;

typedef struct jx_exhaust_plans {
    int narguments;
    int64_t each; /* elements of a run */
    jx_dtype dtype, gives;
    jx_slope_form form;
    jx_plan *value; /* declared; NULL: `says` gives it */
    jx_plan *says;  /* declared; or NULL */
    /* the reference: forward if `has_slope`, else the function */
    jx_plan *wide;
    bool has_slope;
    jx_plan *jitters[2]; /* of `wide` */
    jx_plan *rule;       /* `says` in the wide domain; NULL: no rules */
    jx_plan *rule_jitters[2];
} jx_exhaust_plans;

/* The program itself; its says and own derivative.  NULL jaxprs where there are
 * none, with the reason in *why.  False without memory. */
bool jx_exhaust_whole(jx_program *program, jx_exhaust_subject *to,
                      const char **why);
/* The program that gives the k-th of its results alone; NULL without memory. */
jx_program *jx_exhaust_result(jx_program *program, int k);
/* Takes the function's own derivative away where what we make of it is
 * none; *why then. */
void jx_exhaust_drop_own(jx_exhaust_subject *subject, const char **why);
/* Plans of elements by the thousand.  `reference` may be NULL.  False
 * with the error in the context of the subject's program;
 * jx_exhaust_unplan() in any case. */
bool jx_exhaust_plan(const jx_exhaust_subject *subject,
                     const jx_exhaust_subject *reference, size_t memory,
                     jx_exhaust_plans *to);
void jx_exhaust_unplan(jx_exhaust_plans *plans);

#endif
