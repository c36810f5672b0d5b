/* search.h - assignments by evaluation.
 *
 * Candidates come in a fixed order: small values first (in shells of growing
 * radius around the least admissible ones), then values near the numbers of
 * the question, then scattered ones.  Variables that an equation determines
 * are computed, and multiples are stepped over, so that constraints do not
 * leave the search without candidates.
 *
 * Where small values do not do, repairing helps: from the least values on, a
 * constraint that does not hold moves one variable as far as it takes. */
#ifndef JX_PROVER_SEARCH_H
#define JX_PROVER_SEARCH_H

#include "prover/prover.h"

enum { JX_SEARCH_VARS = 256 };

typedef struct jx_point {
    jx_int at[JX_SEARCH_VARS]; /* the search's nvars first ones count */
} jx_point;

typedef struct jx_search {
    jx_dims *dims;
    int64_t base;
    const jx_constraint *constraints;
    int nconstraints;
    int nvalues;
    bool too_many;
    int nvars;         /* those beyond JX_SEARCH_VARS make the search give up */
    jx_int values[64]; /* the numbers of the question, sorted */
    const jx_dim_atom *vars[JX_SEARCH_VARS]; /* sorted by name */
    jx_int low[JX_SEARCH_VARS], high[JX_SEARCH_VARS], step[JX_SEARCH_VARS];
    const jx_dim *given[JX_SEARCH_VARS]; /* computed by this, or NULL */
} jx_search;

/* For the variables of the constraints and of the question. */
void jx_search_init(jx_search *search, jx_dims *dims, int64_t base,
                    const jx_constraint *constraints, int nconstraints,
                    const jx_constraint *question);

/* All constraints hold at the point. */
bool jx_search_admits(const jx_search *search, const jx_point *point);
/* Whether the constraint holds; false when it has no value there. */
bool jx_search_holds(const jx_search *search, const jx_constraint *constraint,
                     const jx_point *point, bool *holds);

/* Looks at candidates number `from` to `to`; `visit` is told of each
 * admissible one and gives false to stop.  True if there are candidates
 * beyond `to`. */
typedef bool jx_search_visit(void *env, const jx_search *search,
                             const jx_point *point);
bool jx_search_run(const jx_search *search, long from, long to,
                   jx_search_visit *visit, void *env);

/* Looks for an admissible point where `question` (NULL: nothing) holds, or
 * does not, by repairing the least one.  False if that leads nowhere. */
bool jx_search_repair(const jx_search *search, const jx_constraint *question,
                      bool holds, jx_point *point);

#endif
