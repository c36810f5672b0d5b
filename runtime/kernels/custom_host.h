/* custom_host.h - custom calls that a host runs. */
#ifndef JX_CUSTOM_HOST_H
#define JX_CUSTOM_HOST_H

#include "runtime/kernel.h"

/* A plan rule for a call whose target the planner's handlers know. */
jx_plan_rule jx_plan_host_call;

#endif
