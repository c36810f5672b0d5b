/* exported_window.c - see exported_window.h. */
#include "frontend/read/exported_window.h"

#include "frontend/base/utf8.h"

#include <string.h>

/* Formats that brought what a reader has to know. */
enum { LONG_COUNTS = 5, INDEXES = 10 };

const jx_jax_release *jx_jax_release_at(int i)
{
    enum { ALL, SHORT, BARE = 0, SDY };
    static const jx_jax_release releases[] = {
#define V(major, minor, patch)                                                 \
    {                                                                          \
        major, minor, patch                                                    \
    }
#define RELEASE(name, number, format, ends, shardy, convention, writes, reads) \
    {name, number, format, convention, ends, shardy, writes, reads},
#include "frontend/read/exported_versions.def"
#undef V
    };

    return &releases[i];
}

const jx_jax_release *jx_jax_release_named(const char *name)
{
    for (int i = 0; i < JX_JAX_RELEASES; i++)
        if (strcmp(jx_jax_release_at(i)->name, name) == 0)
            return jx_jax_release_at(i);
    return NULL;
}

/* ---- what a release answers */

static bool has_protobufs_only(const jx_exported *x)
{
    for (int i = 0; i < x->nins; i++)
        if (x->in_hlo[i] && !x->in_named[i])
            return true;
    for (int i = 0; i < x->nouts; i++)
        if (x->out_hlo[i] && !x->out_named[i])
            return true;
    return false;
}

static bool has_indexes_only(const jx_exported *x)
{
    return (x->in_avals_idxs.count && !x->old_in_avals.count) ||
           (x->out_avals_idxs.count && !x->old_out_avals.count);
}

static bool is_above(const int *version, const int *most)
{
    for (int i = 0; i < 3; i++)
        if (version[i] != most[i])
            return version[i] > most[i];
    return false;
}

jx_jax_answer jx_jax_answer_of(const jx_jax_release *r, const jx_exported *x,
                               const jx_vhlo_need *need)
{
    if (r->format < LONG_COUNTS) {
        if (x->stored_version != 2 && x->stored_version != 3)
            return JX_JAX_NUMBER;
        if (x->devices_short != (int64_t)x->devices)
            return JX_JAX_COUNT_NEW;
    }
    if (r->ends && has_protobufs_only(x))
        return JX_JAX_PROTOBUFS;
    if (r->ends && !x->devices_long && x->devices_short > 0)
        return JX_JAX_COUNT_OLD;
    if (r->format < INDEXES && has_indexes_only(x))
        return JX_JAX_INDEXES;
    if (is_above(need->version, r->reads) || need->unknown)
        return JX_JAX_STABLEHLO;
    return need->shardy && !r->shardy ? JX_JAX_SHARDY : JX_JAX_LOADS;
}

void jx_jax_window_of(const jx_exported *exported, const jx_vhlo_need *need,
                      jx_jax_window *to)
{
    for (int i = 0; i < JX_JAX_RELEASES; i++)
        to->of[i] = jx_jax_answer_of(jx_jax_release_at(i), exported, need);
}

/* ---- in words */

void jx_jax_why(jx_jax_answer answer, const jx_vhlo_need *need, jx_buffer *to)
{
    static const char *const plain[JX_JAX_ANSWERS] = {
        [JX_JAX_LOADS] = "nothing is in the way",
        [JX_JAX_NUMBER] = "they take formats numbered 2 and 3 only",
        [JX_JAX_COUNT_OLD] = "it counts devices in 16 bits, as JAX did before "
                             "0.8.2: to them it has expired",
        [JX_JAX_COUNT_NEW] = "it does not count devices in 16 bits, where "
                             "they look",
        [JX_JAX_PROTOBUFS] = "its shardings are protobufs, as those of JAX "
                             "before 0.9.0: to them it has expired",
        [JX_JAX_INDEXES] = "it has its avals by index only",
        [JX_JAX_SHARDY] = "its module has shardy's dialect, sdy",
    };

    if (answer != JX_JAX_STABLEHLO) {
        jx_buffer_puts(to, plain[answer]);
        return;
    }
    if (need->unknown)
        jx_utf8_printf(to, "its module has %s, which is not known here",
                       need->unknown->name);
    else
        jx_utf8_printf(to, "its module needs StableHLO %d.%d.%d (%s)",
                       need->version[0], need->version[1], need->version[2],
                       need->what);
}

const char *jx_jax_help(jx_jax_answer answer)
{
    switch (answer) {
    case JX_JAX_COUNT_OLD:
        return "jaxvet rewrite --for-jax writes it for them, and "
               "jax_export_deserialize_expired_versions makes them read it";
    case JX_JAX_NUMBER:
    case JX_JAX_COUNT_NEW: return "jaxvet rewrite --for-jax writes it for them";
    case JX_JAX_STABLEHLO:
        return "jaxvet rewrite --for-jax writes it for them, if their "
               "StableHLO can say it";
    case JX_JAX_PROTOBUFS: return "export it again with JAX 0.9.0 or later";
    case JX_JAX_INDEXES:
    case JX_JAX_SHARDY: return "export it again with one of them";
    default: return NULL;
    }
}

/* ---- ranges of releases */

/* The releases of `in` as ranges, those between two neighbours left out. */
static bool print_ranges(const bool in[JX_JAX_RELEASES], jx_buffer *to)
{
    const char *between = "";

    for (int i = 0; i < JX_JAX_RELEASES; i++) {
        int last = i;

        if (!in[i])
            continue;
        while (last + 1 < JX_JAX_RELEASES && in[last + 1])
            last++;
        jx_buffer_printf(to, "%s%s", between, jx_jax_release_at(i)->name);
        if (last > i)
            jx_buffer_printf(to, " to %s", jx_jax_release_at(last)->name);
        between = ", ";
        i = last;
    }
    return *between != '\0';
}

bool jx_jax_window_print(const jx_jax_window *window, jx_jax_answer answer,
                         jx_buffer *to)
{
    bool in[JX_JAX_RELEASES];

    for (int i = 0; i < JX_JAX_RELEASES; i++)
        in[i] = window->of[i] == answer;
    return print_ranges(in, to);
}

bool jx_jax_writers_print(const jx_exported *x, const int stablehlo[3],
                          jx_buffer *to)
{
    bool in[JX_JAX_RELEASES];

    for (int i = 0; i < JX_JAX_RELEASES; i++) {
        const jx_jax_release *r = jx_jax_release_at(i);

        in[i] = r->number == x->stored_version &&
                r->convention == x->calling_convention &&
                memcmp(r->writes, stablehlo, sizeof r->writes) == 0;
    }
    return print_ranges(in, to);
}
