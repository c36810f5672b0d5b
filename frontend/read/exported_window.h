/* exported_window.h - which releases of JAX load an exported file, and
 * why others do not: what exported_versions.def knows of them, held
 * against the file. */
#ifndef JX_READ_EXPORTED_WINDOW_H
#define JX_READ_EXPORTED_WINDOW_H

#include "frontend/base/buffer.h"
#include "frontend/mlir/vhlo.h"
#include "frontend/read/exported.h"

typedef struct jx_jax_release {
    const char *name; /* "0.10.2" */
    int number, format, convention;
    bool ends;   /* it no longer reads counts in 16 bits, protobufs */
    bool shardy; /* it knows that dialect */
    int writes[3], reads[3]; /* versions of StableHLO */
} jx_jax_release;

enum {
    JX_JAX_RELEASES = 0
#define RELEASE(...) +1
#include "frontend/read/exported_versions.def"
};

/* From the oldest to the newest. */
const jx_jax_release *jx_jax_release_at(int i);
/* NULL: none of that name. */
const jx_jax_release *jx_jax_release_named(const char *name);

/* Why a release does not load a file, or does not run what it loaded. */
typedef enum jx_jax_answer {
    JX_JAX_LOADS = 0,
    JX_JAX_NUMBER,    /* it takes the numbers 2 and 3 only */
    JX_JAX_COUNT_OLD, /* devices are counted in 16 bits */
    JX_JAX_COUNT_NEW, /* they are not, where it looks for them */
    JX_JAX_PROTOBUFS, /* shardings are protobufs */
    JX_JAX_INDEXES,   /* avals are there by index only */
    JX_JAX_STABLEHLO, /* its StableHLO is older than what the module needs */
    JX_JAX_SHARDY,    /* it knows no shardy */
    JX_JAX_ANSWERS,
} jx_jax_answer;

/* Whether the release loads the file and runs its module, the derivatives
 * apart: they are files of their own in this. */
jx_jax_answer jx_jax_answer_of(const jx_jax_release *release,
                               const jx_exported *exported,
                               const jx_vhlo_need *need);

/* Why, of a file of these needs: "its devices are counted in 16 bits". */
void jx_jax_why(jx_jax_answer answer, const jx_vhlo_need *need, jx_buffer *to);
/* What to do about it; NULL: nothing is known to help. */
const char *jx_jax_help(jx_jax_answer answer);

/* What each release answers. */
typedef struct jx_jax_window {
    jx_jax_answer of[JX_JAX_RELEASES];
} jx_jax_window;

void jx_jax_window_of(const jx_exported *exported, const jx_vhlo_need *need,
                      jx_jax_window *to);
/* The releases of an answer, or of a set of releases, as ranges: "0.6.2 to
 * 0.8.1, 0.9.0".  False, and nothing, if there is none. */
bool jx_jax_window_print(const jx_jax_window *window, jx_jax_answer answer,
                         jx_buffer *to);
/* The releases that write such a file, by its number, its convention and its
 * module's version; false, and nothing, if there is none. */
bool jx_jax_writers_print(const jx_exported *exported, const int stablehlo[3],
                          jx_buffer *to);

#endif
