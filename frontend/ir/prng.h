/* prng.h - the implementations of JAX's random keys. */
#ifndef JX_IR_PRNG_H
#define JX_IR_PRNG_H

typedef enum jx_prng {
    JX_PRNG_NONE = 0,
    JX_PRNG_THREEFRY2X32,
    JX_PRNG_RBG,
    JX_PRNG_UNSAFE_RBG,
    JX_PRNG_PHILOX2X32,
    JX_PRNG_PHILOX4X32,
    JX_PRNG_THREEFRY4X32,
} jx_prng;

/* By the implementation's name, as parameters have it, or its tag, as avals do
 * ("threefry2x32", "fry").  JX_PRNG_NONE: none of these, or NULL. */
jx_prng jx_prng_named(const char *name);
/* Its name; NULL of JX_PRNG_NONE. */
const char *jx_prng_name(jx_prng prng);
/* Its tag; NULL of JX_PRNG_NONE. */
const char *jx_prng_tag(jx_prng prng);
int jx_prng_words(jx_prng prng); /* u32 in a key; 0 of JX_PRNG_NONE */

#endif
