/* versions.c - see versions.h. */
#include "reports/pipeline/versions.h"

#include "frontend/base/inflate.h"
#include "frontend/mlir/ops.h"
#include "frontend/read/document.h"
#include "frontend/read/exported_window.h"
#include "prover/solver.h"
#include "runtime/blas.h"

#include <string.h>

/* The solver is no library of ours: its helper process is asked. */
static void solver_version(jx_buffer *to)
{
    jx_solver *solver = jx_solver_new(NULL);
    jx_buffer reply = {.budget = to->budget};

    if (solver)
        jx_solver_check(solver, "", 1, to->budget, &reply);
    else
        jx_budget_starved(to->budget);
    if (solver && jx_solver_version(solver))
        jx_buffer_printf(to, "z3 %s\n", jx_solver_version(solver));
    else
        jx_buffer_printf(to, "z3: %s\n", jx_buffer_text(&reply));
    jx_buffer_free(&reply);
    jx_solver_free(solver);
}

/* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": its name and number. */
static void blas_version(jx_buffer *to)
{
    typedef char *config(void);
    const char *why = NULL;
    config *ask = (config *)jx_blas_find("openblas_get_config", &why);

    if (!ask) {
        jx_buffer_printf(to, "openblas: %s\n", why);
        return;
    }
    const char *text = ask();
    size_t name = strcspn(text, " ");
    size_t length = name + (text[name] ? 1 + strcspn(text + name + 1, " ") : 0);
    jx_buffer_bytes(to, text, length);
    jx_buffer_putc(to, '\n');
}

/* The formats that are read, a line each. */
static void formats(jx_buffer *to)
{
    const jx_jax_release *first = jx_jax_release_at(0);
    const jx_jax_release *last = jx_jax_release_at(JX_JAX_RELEASES - 1);

    jx_buffer_printf(to, "documents %d\n", JX_DOCUMENT_VERSION);
    jx_buffer_printf(to,
                     "exported-files up to %d, calling conventions %d to %d, "
                     "as of JAX %s to %s\n",
                     last->format, first->convention, last->convention,
                     first->name, last->name);
    jx_buffer_puts(to, "StableHLO " JX_VHLO_RANGE "\n");
}

void jx_versions(jx_buffer *to)
{
    jx_buffer_puts(to, "jaxvet " JX_VERSION "\n");
    jx_buffer_printf(to, "zlib %s\n", jx_zlib_version());
    blas_version(to);
    solver_version(to);
    formats(to);
}
