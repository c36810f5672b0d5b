/* prng.c - see prng.h. */
#include "frontend/ir/prng.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *tag;
    int words;
} implementations[] = {
    [JX_PRNG_NONE] = {NULL, NULL, 0},
    [JX_PRNG_THREEFRY2X32] = {"threefry2x32", "fry", 2},
    [JX_PRNG_RBG] = {"rbg", "rbg", 4},
    [JX_PRNG_UNSAFE_RBG] = {"unsafe_rbg", "urbg", 4},
    [JX_PRNG_PHILOX2X32] = {"philox2x32", "phx2", 1},
    [JX_PRNG_PHILOX4X32] = {"philox4x32", "phx4", 2},
    [JX_PRNG_THREEFRY4X32] = {"threefry4x32", "fry4", 4},
};

jx_prng jx_prng_named(const char *name)
{
    for (int i = 1; name && i <= JX_PRNG_THREEFRY4X32; i++)
        if (!strcmp(name, implementations[i].name) ||
            !strcmp(name, implementations[i].tag))
            return (jx_prng)i;
    return JX_PRNG_NONE;
}

const char *jx_prng_name(jx_prng prng)
{
    return implementations[prng].name;
}

const char *jx_prng_tag(jx_prng prng)
{
    return implementations[prng].tag;
}

int jx_prng_words(jx_prng prng)
{
    return implementations[prng].words;
}
