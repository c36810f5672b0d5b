/* gradcallers.h - which code of a program leads to the calls of a rule.  A
 * program with many rules is read once for all of them. */
#ifndef JX_GRADCALLERS_H
#define JX_GRADCALLERS_H

#include "frontend/ir/program.h"

typedef struct jx_call_graph jx_call_graph;

/* In the program's arena; NULL without memory. */
jx_call_graph *jx_call_graph_make(const jx_program *program);
/* Of which program. */
const jx_program *jx_call_graph_program(const jx_call_graph *graph);

/* By jaxpr, whether it makes a call of the rule's function, itself or by what
 * it calls; by the code of rules, too, if these are looked into.  In the
 * program's arena; NULL without memory. */
const bool *jx_call_graph_holders(const jx_call_graph *graph,
                                  const jx_rule *rule, bool in_rules);

#endif
