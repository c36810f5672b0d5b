/* jax_rules.c - see jax_rules.h. */
#include "analyzer/jax_rules.h"

#include <stdlib.h>
#include <string.h>

/* A release begins with a row of no name. */
static const jx_jax_rules table[] = {
#define JAX_RELEASE(version) {NULL, version, NULL, NULL},
#define JAX_RULES(name, rules, platforms, refusal)                             \
    {name, rules, platforms, refusal},
#include "analyzer/jax_rules.def"
#undef JAX_RELEASE
#undef JAX_RULES
};

enum { ROWS = sizeof table / sizeof *table };

/* Of versions such as 0.10.2 or 0.12.0.1: below 0, 0 or above. */
static int compare(const char *a, const char *b)
{
    while (*a || *b) {
        char *end_a, *end_b;
        long x = strtol(a, &end_a, 10), y = strtol(b, &end_b, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a = *end_a == '.' ? end_a + 1 : "";
        b = *end_b == '.' ? end_b + 1 : "";
    }
    return 0;
}

jx_jax_release jx_jax_release_of(const char *version)
{
    int first = 0, end;

    for (int i = 1; i < ROWS; i++)
        if (!table[i].name &&
            (!version || compare(table[i].rules, version) <= 0))
            first = i;
    for (end = first + 1; end < ROWS && table[end].name;)
        end++;
    return (jx_jax_release){table[first].rules, &table[first + 1],
                            end - first - 1};
}

const jx_jax_rules *jx_jax_rules_of(const jx_jax_release *release,
                                    const char *primitive)
{
    int low = 0, high = release->count;

    while (low < high) {
        int middle = low + (high - low) / 2;
        int c = strcmp(release->rows[middle].name, primitive);
        if (c == 0)
            return &release->rows[middle];
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool jx_jax_has(const jx_jax_rules *rules, char rule)
{
    return strchr(rules->rules, rule) != NULL;
}

/* A word of the platforms, which are separated by blanks. */
static bool names(const char *platforms, const char *platform)
{
    size_t length = strlen(platform);

    for (const char *at = platforms; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n == length && !strncmp(at, platform, n))
            return true;
        at += n;
    }
    return false;
}

bool jx_jax_lowers(const jx_jax_rules *rules, const char *platform)
{
    return names(rules->platforms, "*") || names(rules->platforms, platform);
}
