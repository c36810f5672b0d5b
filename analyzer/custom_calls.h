/* custom_calls.h - the options of a custom call. */
#ifndef JX_CUSTOM_CALLS_H
#define JX_CUSTOM_CALLS_H

#include "frontend/ir/params.h"

/* An entry of the call's backend_config, of its attributes, or of those that
 * MHLO nests in one; NULL: none. */
const jx_value *jx_custom_value(const jx_eqn *eqn, const char *name);
/* The same where it is an integer or a truth value. */
int64_t jx_custom_integer(const jx_eqn *eqn, const char *name,
                          int64_t otherwise);
double jx_custom_real(const jx_eqn *eqn, const char *name, double otherwise);

/* Whether custom_calls.def has the target. */
bool jx_custom_is_known(const char *target);

#endif
