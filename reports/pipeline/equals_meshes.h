/* equals_meshes.h - `jaxvet equal --all-sizes`: from comparisons on meshes of
 * some sizes to what is said of all sizes (runtime/equal/rings.h). */
#ifndef JX_EQUALS_MESHES_H
#define JX_EQUALS_MESHES_H

#include "reports/pipeline/equal_ready.h"
#include "reports/pipeline/equals.h"
#include "runtime/equal/orders.h"

/* "`times` S divides that axis", of an input or a result. */
typedef struct jx_divides {
    bool result;
    int number, axis, times;
} jx_divides;

/* What is known of one size after the other. */
struct jx_mesh_sizes {
    JX_VEC(jx_orders) at;
    JX_VEC(jx_divides) cuts; /* by the specs of inputs */
    /* of the comparisons; why nothing follows for other sizes */
    const char *assuming, *why;
    bool different; /* at one of these sizes */
    int bits;       /* of the comparisons, at least; 0: none */
};

/* Looks at a comparison that was made. */
void jx_mesh_sizes_add(struct jx_mesh_sizes *to,
                       const jx_equal_question *question,
                       const jx_ordinary *first, const jx_equality *made);

/* What follows for all sizes, as one more comparison (jx_equality.every); a
 * claim of `a` if it is undecided.  Nothing, if both differ at a size that was
 * compared.  False with an error in the context of `a`. */
bool jx_mesh_sizes_judge(jx_program *a, bool gradient, struct jx_mesh_sizes *of,
                         jx_claim_list *claims, jx_equalities *to);

#endif
