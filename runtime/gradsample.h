/* gradsample.h - what a rule's operands may be: sizes, the caller's sample,
 * integers. */
#ifndef JX_GRADSAMPLE_H
#define JX_GRADSAMPLE_H

#include "runtime/gradpoints.h"
#include "runtime/plan.h"

/* Small sizes for the dim variables of a rule's operands that the constraints
 * allow; the fixed ones stay.  In the program's arena.  False if none is found
 * in a bounded search. */
bool jx_sample_sizes(const jx_program *program, const jx_rule *rule,
                     int nfixed, const jx_binding *fixed, int *nbindings,
                     const jx_binding **bindings);

/* The operands that the program itself gives to the rule's function when run
 * on `inputs` (declared dtypes), as stored in the wide domain, one pointer per
 * operand in the program's arena.  NULL without inputs, or where the call is
 * not reached through plain calls alone. */
const void *const *jx_sample_operands(jx_program *program, const jx_rule *rule,
                                      const void *const *inputs, int nbindings,
                                      const jx_binding *bindings);

/* Fills an input that is not differentiated: small integers, random bits. */
void jx_sample_passive(jx_rng *rng, const jx_port *port, const jx_point *point,
                       const void *sample, void *to);

/* How closely a rule can be expected to agree: constants in the code were
 * rounded to its narrowest float dtype before we saw them. */
double jx_sample_tolerance(const jx_rule *rule);

/* "x = [0.5, -1, ...]", arena text. */
const char *jx_sample_text(jx_ctx *ctx, const double *x, int count);

#endif
