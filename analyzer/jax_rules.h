/* jax_rules.h - which rules a release of JAX has for its own primitives. */
#ifndef JX_JAX_RULES_H
#define JX_JAX_RULES_H

#include <stdbool.h>

typedef struct jx_jax_rules {
    const char *name, *rules, *platforms, *refusal; /* as in jax_rules.def */
} jx_jax_rules;

typedef struct jx_jax_release {
    const char *version;
    const jx_jax_rules *rows; /* by name */
    int count;
} jx_jax_release;

/* The release that a program was traced by, or the one before it that is known;
 * the first if all are newer, the last of no version (NULL). */
jx_jax_release jx_jax_release_of(const char *version);

/* NULL: that JAX has no such primitive. */
const jx_jax_rules *jx_jax_rules_of(const jx_jax_release *release,
                                    const char *primitive);

/* Whether it is among the rules of jax_rules.def. */
bool jx_jax_has(const jx_jax_rules *rules, char rule);
bool jx_jax_lowers(const jx_jax_rules *rules, const char *platform);

#endif
