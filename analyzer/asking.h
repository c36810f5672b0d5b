/* asking.h - the comparisons of sizes that JAX decided while
 * tracing, as claims.
 *
 * A branch on sizes is taken once, while tracing, and the program that comes
 * out is what that branch made.  JAX decides == by syntax and answers False
 * where it does not know, so each decision is owed a proof (SHP001).  Where the
 * asker is JAX itself, a table says whether a wrong False does harm
 * (asking_sites.def). */
#ifndef JX_ASKING_H
#define JX_ASKING_H

#include "analyzer/typing.h"

typedef enum jx_asking {
    JX_ASKING_UNKNOWN = 0, /* code of JAX that the table does not know */
    JX_ASKING_harmless,    /* nothing depends on the answer being exact */
    JX_ASKING_semantic,    /* the program depends on it */
} jx_asking;

/* Who asked.  *why (may be NULL) becomes static text, or NULL where the asker
 * is the user's code. */
jx_asking jx_asking_of(const jx_comparison *comparison, const char **why);

/* Adds a claim for each decision that the program may depend on; one for each
 * decision and asking line.  False without memory. */
bool jx_claim_comparisons(jx_analysis *to);

#endif
