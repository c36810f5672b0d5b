/* rule_pair.h - a rule and a derivative as two jaxprs of one
 * signature (derived.h). */
#ifndef JX_RULE_PAIR_H
#define JX_RULE_PAIR_H

#include "analyzer/transform/derived.h"
#include "analyzer/transform/making.h"

/* Of one pattern, which `says` what it says of operands (not those that are
 * closed over) and what is linear; of a vjp rule it gives the results
 * last.  `own` takes all operands of the rule, then the tangents of all
 * that have one (cotangents of inexact results), and gives tangents behind
 * the results (cotangents of all that have one).  False where they do not
 * fit each other. */
bool jx_rule_pair_make(jx_making *make, const jx_rule *rule,
                       const jx_rule_pattern *p, const jx_closed *says,
                       const jx_closed *own, jx_rule_pair *to);

#endif
