/* document_parts.h - what the files of the document reader share.
 *
 * The tables of a document become arrays here, in the order in which they
 * refer to each other; document.c reads them, one file reads one kind of
 * thing.  Every function records the first failure in the walk and gives
 * something harmless after it. */
#ifndef JX_DOCUMENT_PARTS_H
#define JX_DOCUMENT_PARTS_H

#include "frontend/base/npz.h"
#include "frontend/ir/build.h"
#include "frontend/read/node.h"

/* Calls within calls, at most: later passes recurse along them. */
enum { JX_CALL_DEPTH = 256 };

typedef struct jx_doc {
    jx_walk walk;
    jx_ctx *ctx;
    jx_program *program;
    const jx_npz *npz; /* the file of large constants, once needed */
    int nframes, nstacks, nnames, ncontexts, navals, nprims, narrays;
    const jx_frame *const *frames;
    const jx_stack *const *stacks;
    const char *const *names;
    const jx_eqn_ctx *const *contexts;
    const jx_aval *const *avals;
    const jx_array *const *arrays;
    const jx_prim *const *prims;
    jx_builder build; /* with the jaxprs so far: what may be called */
    int *depths;      /* how deep calls nest in each */
    int nrules;
    jx_rule *rules; /* filled after the jaxprs that refer to them */
    int ndefinitions;
    struct jx_definition *definitions; /* the same */
} jx_doc;

/* Members of `within` (document_parts.c). */
const jx_stack *jx_doc_stack(jx_doc *d, const jx_node *at);
const jx_aval *jx_doc_aval(jx_doc *d, const jx_node *at);
const jx_jaxpr *jx_doc_jaxpr(jx_doc *d, const jx_node *at);
jx_closed jx_doc_closed(jx_doc *d, const jx_node *at);

const jx_dim *jx_doc_dim_text(jx_doc *d, const jx_node *text, int scope);
int jx_doc_scope(jx_doc *d, const jx_node *within); /* its "scope", or 0 */
/* The constants of `jaxpr`, an array of indices; NULL after a failure. */
const jx_array *const *jx_doc_consts(jx_doc *d, const jx_node *at,
                                     const jx_node *within,
                                     const jx_jaxpr *jaxpr);
const jx_value *jx_doc_spec(jx_doc *d, const jx_node *array);
/* The member "unreduced_kind", or NULL. */
const char *jx_doc_unreduced_kind(jx_doc *d, const jx_node *at);
bool jx_doc_hex(jx_doc *d, const jx_node *at, int bytes, void *to);

/* The parts, in the order of reading. */
void jx_doc_sources(jx_doc *d, const jx_node *root);  /* files to names */
void jx_doc_settings(jx_doc *d, const jx_node *root); /* contexts to scopes */
void jx_doc_avals(jx_doc *d, const jx_node *root);
void jx_doc_arrays(jx_doc *d, const jx_node *root);
void jx_doc_jaxprs(jx_doc *d, const jx_node *root);
/* Places for the definitions, before the jaxprs; then what they say. */
void jx_doc_begin_definitions(jx_doc *d, const jx_node *root);
struct jx_definition *jx_doc_definition(jx_doc *d, const jx_node *at);
void jx_doc_rules(jx_doc *d, const jx_node *root);
void jx_doc_definitions(jx_doc *d, const jx_node *root);
void jx_doc_comparisons(jx_doc *d, const jx_node *root);
void jx_doc_closures(jx_doc *d, const jx_node *root);
void jx_doc_retraces(jx_doc *d, const jx_node *root); /* after the entry */

const jx_value *jx_doc_value(jx_doc *d, const jx_node *at);
const jx_literal *jx_doc_literal(jx_doc *d, const jx_node *at);

#endif
