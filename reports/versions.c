/* versions.c - see versions.h. */
#include "reports/versions.h"

#include "frontend/base/inflate.h"
#include "frontend/base/json.h"
#include "prover/solver.h"

/* The solver is no library of ours: its helper process is asked. */
static void solver_version(jx_buffer *to)
{
    jx_solver *solver = jx_solver_new(NULL);
    jx_buffer reply = {0};

    if (solver)
        jx_solver_check(solver, "", 1, &reply);
    if (solver && jx_solver_version(solver))
        jx_buffer_printf(to, "z3 %s\n", jx_solver_version(solver));
    else
        jx_buffer_printf(to, "z3: %s\n", jx_buffer_text(&reply));
    jx_buffer_free(&reply);
    jx_solver_free(solver);
}

void jx_versions(jx_buffer *to)
{
    jx_buffer_puts(to, "jaxvet " JX_VERSION "\n");
    jx_buffer_printf(to, "json-c %s\n", jx_json_version());
    jx_buffer_printf(to, "zlib %s\n", jx_zlib_version());
    solver_version(to);
}
