/* exported_paths.h - an exported function's signature as its author wrote it:
 * the inputs and outputs of the module, put back into their pytrees. */
#ifndef JX_READ_EXPORTED_PATHS_H
#define JX_READ_EXPORTED_PATHS_H

#include "frontend/read/exported.h"

typedef struct jx_exported_paths {
    /* Names of the positional arguments where they are known, else NULL. */
    int nargs;
    const char *const *args;
    /* Of each leaf, as JAX writes paths: "args[0]['w'][1].x", or with a known
     * name "params['w'][1].x"; keyword arguments by their names; outputs
     * "result.y". */
    const char *const *ins, *const *outs;
} jx_exported_paths;

/* Where an input comes from, as the module's locations say it ("v['w']"), by
 * the number of the input; NULL where nothing is known. */
typedef const char *jx_exported_origin(void *env, int input);

/* Fills *to in the context's arena; `origin` may be NULL.  Names are taken
 * only where what follows them in an origin is the path that the tree says. */
bool jx_exported_paths_of(jx_ctx *ctx, const jx_exported *exported,
                          jx_exported_origin *origin, void *env,
                          jx_exported_paths *to);

/* The same as documents write paths: "[0]['w']", "['flag']", outputs ".y" or
 * "" (docs/DOCUMENT.md).  False without memory. */
bool jx_exported_document_paths(jx_ctx *ctx, const jx_exported *exported,
                                const char *const **ins,
                                const char *const **outs);

/* A keyword argument's name, as "kwargs['a b']" if it is none that Python can
 * write. */
void jx_exported_keyword_print(const char *name, jx_buffer *to);

/* The names of a custom node's children where the node says them (a named
 * tuple's fields, an OrderedDict's keys); else NULL. */
const char *const *jx_tree_fields(jx_ctx *ctx, const jx_tree *tree);

/* Prints a tree as Python writes it; `leaf` prints the leaf of that number,
 * counted from `*next` on. */
typedef void jx_tree_leaf_print(void *env, int leaf, jx_buffer *to);
void jx_tree_print(jx_ctx *ctx, const jx_tree *tree, jx_tree_leaf_print *leaf,
                   void *env, int *next, jx_buffer *to);

#endif
