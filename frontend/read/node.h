/* node.h - places in a JSON tree, for readers that say where something is
 * wrong.
 *
 * A node is a value and how one got there; it lives on the caller's stack, as
 * do the nodes above it.  The first failure is recorded with the node's JSON
 * pointer ("/jaxprs/2/eqns/5/1/0"); later ones are its echo and are dropped.
 * After a failure the functions still give something harmless (0, "", no
 * items), so that a reader checks at the end of a step. */
#ifndef JX_NODE_H
#define JX_NODE_H

#include "frontend/base/json.h"

typedef struct jx_walk {
    jx_ctx *ctx;
    const char *path; /* of the input */
    bool failed;
} jx_walk;

typedef struct jx_node {
    const jx_json *json;
    bool there; /* false: the object has no such member */
    const struct jx_node *up;
    const char *key; /* in an object; NULL: at `index` of an array */
    size_t index;
} jx_node;

/* Always false. */
bool jx_node_fail(jx_walk *walk, const jx_node *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

jx_json_kind jx_node_kind(const jx_node *at);
jx_node jx_node_item(const jx_node *array, size_t index);
/* The member of that name; `there` is false if there is none.  `object` must
 * be an object or not be there itself. */
jx_node jx_node_member(const jx_node *object, const char *key);
/* A member that has to be there. */
jx_node jx_node_need(jx_walk *walk, const jx_node *object, const char *key);

/* Fails if this is no object, or has a key that is not among `keys` (words
 * between spaces). */
bool jx_node_object(jx_walk *walk, const jx_node *at, const char *keys);
/* The length of an array; 0 if it is not there.  More than INT_MAX fails. */
int jx_node_array(jx_walk *walk, const jx_node *at);
/* The same for an array of exactly `count`. */
bool jx_node_tuple(jx_walk *walk, const jx_node *at, size_t count);
/* Interned; "" after a failure, NULL if it is not there. */
const char *jx_node_text(jx_walk *walk, const jx_node *at);
/* Not there is false. */
bool jx_node_bool(jx_walk *walk, const jx_node *at);
/* An integer within the bounds; as text if it is large. */
int64_t jx_node_int(jx_walk *walk, const jx_node *at, int64_t low,
                    int64_t high);
/* An index into a table with `count` rows; -1 after a failure. */
int jx_node_index(jx_walk *walk, const jx_node *at, int count,
                  const char *table);
/* An array of texts, or NULL if it is not there; it must have `count`. */
const char *const *jx_node_texts(jx_walk *walk, const jx_node *at, int count);

#endif
