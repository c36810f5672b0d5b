/* custom_call.h - what runs the known targets of custom calls.
 *
 * A row of analyzer/custom_calls.def names its rule in the column `plan`:
 * jx_custom_<plan>, a plan rule like that of a primitive. */
#ifndef JX_CUSTOM_CALL_H
#define JX_CUSTOM_CALL_H

#include "analyzer/custom_calls.h"
#include "runtime/plan_rules.h"

#define CUSTOM_CALL(target, relation, plan) jx_plan_rule jx_custom_##plan;
#include "analyzer/custom_calls.def"
#undef CUSTOM_CALL

#endif
