/* key_views.h - which random keys the values of a program hold.
 *
 * A *source* makes keys that nothing else makes: an input, a seed, a split, a
 * key with something folded in, what a loop gives.  Each key of it has a number
 * of its own.  All else that moves keys about (slices, reshapes, wrapping and
 * unwrapping, copies, a carry that comes back unchanged) is a *view*: a list of
 * such numbers, one for each of its elements.  So two ways to write the same
 * key give one number, and nothing is known of what is merely computed.
 *
 * A raw key is a row of two or four uint32; its last axis is
 * not one of keys. */
#ifndef JX_KEY_VIEWS_H
#define JX_KEY_VIEWS_H

#include "analyzer/lint/lint.h"

/* What the keys of a source have to do with others. */
typedef enum jx_key_link {
    JX_KEYS_ALONE = 0,
    JX_KEYS_CARRIED, /* key i begins as parent i, and another takes its place at
                        every step */
    JX_KEYS_SLICED, /* key i is parents i, i + n, ... one after the other, where
                        the source has n */
    JX_KEYS_CHOSEN, /* each is some one of the parents */
    JX_KEYS_EITHER, /* key i is one of parents i, i + n, ..., where the source
                       has n: what jnp.where and lax.cond choose */
} jx_key_link;

typedef struct jx_key_source {
    int value;        /* that it is */
    int first, count; /* numbers of its keys; one stands for all where they are
                         many, or their count is not known (`coarse`) */
    bool coarse;
    jx_key_link link;
    int nparents;
    const int *parents;
} jx_key_source;

typedef struct jx_key_view {
    int count;
    const int *ids;
    bool coarse;
} jx_key_view;

typedef struct jx_keys {
    const jx_flat *flat;
    jx_arena *arena;
    const jx_key_view **views; /* by value, filled in by need */
    JX_VEC(jx_key_source) sources;
    JX_VEC(int) source_of; /* by number of a key */
} jx_keys;

enum { JX_KEYS_MOST = 4096 }; /* of one source, that are told apart */

/* False without memory. */
bool jx_keys_init(jx_keys *keys, const jx_flat *flat);
/* A value of that type can hold keys. */
bool jx_keys_fit(const jx_aval *aval);
/* The keys of a value; NULL for what is none, and without memory. */
const jx_key_view *jx_keys_of(jx_keys *keys, int value);
const jx_key_source *jx_key_source_of(const jx_keys *keys, int id);
/* The value that takes the place of what a loop carries at its next turn; -1 of
 * what it does not carry. */
int jx_keys_next_of(const jx_keys *keys, int value);

#endif
