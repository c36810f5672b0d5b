/* asking.c - see asking.h. */
#include "analyzer/asking.h"

#include <string.h>

typedef struct site {
    const char *file, *function;
    jx_asking class;
    const char *why;
} site;

static const site sites[] = {
#define SITE(file, function, class, why)                                       \
    {file, function, JX_ASKING_##class, why},
#include "analyzer/asking_sites.def"
#undef SITE
};

enum { NSITES = sizeof sites / sizeof *sites, MAX_NAME = 256 };

/* "f.<locals>.g.<genexpr>" -> "f.g": what the table calls a function. */
static void plain_name(const char *qualified, char name[MAX_NAME])
{
    size_t n = 0;

    for (const char *at = qualified; *at;) {
        size_t length = strcspn(at, ".");
        if (*at != '<' && n + length + 2 < MAX_NAME) {
            if (n)
                name[n++] = '.';
            memcpy(name + n, at, length);
            n += length;
        }
        at += length + (at[length] == '.');
    }
    name[n] = '\0';
}

/* The whole, or all that begins with what precedes a final `*`. */
static bool fits(const char *pattern, const char *text)
{
    size_t n = strlen(pattern);

    if (n && pattern[n - 1] == '*')
        return strncmp(pattern, text, n - 1) == 0;
    return strcmp(pattern, text) == 0;
}

/* A function's entry covers what is nested in it. */
static bool fits_function(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);

    if (fits(pattern, name))
        return true;
    return strncmp(pattern, name, n) == 0 && name[n] == '.';
}

static const site *find_site(const char *file, const char *function)
{
    char name[MAX_NAME];

    plain_name(function, name);
    for (int i = 0; i < NSITES; i++)
        if (fits(sites[i].file, file) && fits_function(sites[i].function, name))
            return &sites[i];
    return NULL;
}

/* JAX's paths begin at its package, as exporters write them. */
static bool in_jax(const char *file)
{
    return strncmp(file, "jax/", 4) == 0 || strstr(file, "/jax/_src/");
}

/* The part of a path that begins at the package: an exporter may have kept
 * what precedes it. */
static const char *from_package(const char *file)
{
    const char *at = strstr(file, "/jax/_src/");

    return at ? at + 1 : file;
}

jx_asking jx_asking_of(const jx_comparison *comparison, const char **why)
{
    const char *ignored;
    const site *found;

    if (!why)
        why = &ignored;
    *why = NULL;
    if (comparison->via) {
        *why = "a cache or a dictionary looked for a key";
        return JX_ASKING_harmless;
    }
    if (!comparison->site_file || !in_jax(comparison->site_file))
        return JX_ASKING_semantic;
    if (strcmp(comparison->op, "==") != 0 ||
        comparison->decision == JX_DECIDED_TRUE) {
        *why = "JAX relied on it";
        return JX_ASKING_semantic;
    }
    found =
        find_site(from_package(comparison->site_file),
                  comparison->site_function ? comparison->site_function : "");
    if (!found)
        return JX_ASKING_UNKNOWN;
    *why = found->why;
    return found->class;
}

/* Two askings that make one claim: the same answer at the same line. */
static bool same_asking(const jx_comparison *a, const jx_comparison *b)
{
    return a->lhs == b->lhs && a->rhs == b->rhs && a->scope == b->scope &&
           a->decision == b->decision && strcmp(a->op, b->op) == 0 &&
           (a->stack == b->stack ||
            (a->stack && b->stack && a->stack->count && b->stack->count &&
             a->stack->frames[0] == b->stack->frames[0]));
}

static bool same_goal(const void *kept, const void *key)
{
    return same_asking(kept, key);
}

static uint64_t hash_asking(const jx_comparison *c)
{
    uint64_t h = jx_hash_mix((uintptr_t)c->lhs, (uintptr_t)c->rhs);

    h = jx_hash_mix(h, (uint64_t)c->decision + ((uint64_t)c->scope << 8));
    if (c->stack && c->stack->count)
        h = jx_hash_mix(h, (uintptr_t)c->stack->frames[0]);
    return h;
}

static bool add_claim(jx_analysis *to, const jx_comparison *comparison,
                      const char *why)
{
    jx_ctx *ctx = to->program->ctx;
    bool divisor = strcmp(comparison->op, "!=") == 0;
    jx_claim *claim = jx_claim_add(ctx, &to->claims,
                                   divisor ? JX_CODE_SHP012 : JX_CODE_SHP001);

    if (!claim)
        return false;
    claim->stack = comparison->stack;
    claim->what = why;
    claim->goal.scope = comparison->scope;
    claim->goal.lhs = comparison->lhs;
    claim->goal.rhs = comparison->rhs;
    claim->goal.comparison = comparison;
    claim->goal.kind = JX_GOAL_DECIDED;
    return true;
}

bool jx_claim_comparisons(jx_analysis *to)
{
    jx_program *program = to->program;
    jx_intern seen;

    jx_intern_init(&seen, program->ctx->arena);
    for (int i = 0; i < program->ncomparisons; i++) {
        const jx_comparison *comparison = &program->comparisons[i];
        const char *why;
        jx_asking class = jx_asking_of(comparison, &why);
        uint64_t hash = hash_asking(comparison);

        if (comparison->decision == JX_DECIDED_NONE ||
            class == JX_ASKING_harmless ||
            jx_intern_find(&seen, hash, comparison, same_goal))
            continue;
        if (!jx_intern_add(&seen, hash, comparison) ||
            !add_claim(to, comparison, why))
            return false;
    }
    return jx_ok(program->ctx);
}
