/* custom_host.h - custom calls that a host runs. */
#ifndef JX_CUSTOM_HOST_H
#define JX_CUSTOM_HOST_H

#include "runtime/kernel.h"

/* A plan rule for a call whose target the planner's handlers know. */
jx_plan_rule jx_plan_host_call;

/* One for a callback of a jaxpr, whose primitive they know as a
 * target; `function` is what its options say (the name of the Python
 * function), or NULL. */
bool jx_plan_host_callback(jx_planner *p, const jx_eqn *eqn,
                           const char *function, const jx_slot *ins,
                           jx_slot *outs);

#endif
