/* z3.c - the only file that knows Z3.
 *
 * Every question has a context of its own: in a shared one 4.8.12 overruns its
 * resource limit, and what one question leaves behind may change the answer to
 * the next. */
#include "prover/z3.h"

#include <string.h>
#include <z3.h>

/* Z3's default is to end the process. */
static void note_error(Z3_context z3, Z3_error_code code)
{
    (void)z3;
    (void)code;
}

static bool failed(Z3_context z3, jx_buffer *reply)
{
    Z3_error_code code = Z3_get_error_code(z3);

    if (code == Z3_OK)
        return false;
    jx_buffer_puts(reply, "unknown ");
    for (const char *c = Z3_get_error_msg(z3, code); *c; c++)
        jx_buffer_putc(reply, *c == '\n' ? ' ' : *c);
    return true;
}

/* Negative numbers print as (- 3). */
static void print_value(const char *text, jx_buffer *to)
{
    for (; *text; text++)
        if (*text != '(' && *text != ')' && *text != ' ')
            jx_buffer_putc(to, *text);
}

static void print_model(Z3_context z3, Z3_solver solver, jx_buffer *to)
{
    Z3_model model = Z3_solver_get_model(z3, solver);

    if (!model)
        return;
    Z3_model_inc_ref(z3, model);
    for (unsigned i = 0; i < Z3_model_get_num_consts(z3, model); i++) {
        Z3_func_decl decl = Z3_model_get_const_decl(z3, model, i);
        Z3_ast value = Z3_model_get_const_interp(z3, model, decl);
        const char *name = Z3_get_symbol_string(z3, Z3_get_decl_name(z3, decl));

        jx_buffer_printf(to, " %s=", name);
        if (value)
            print_value(Z3_ast_to_string(z3, value), to);
    }
    Z3_model_dec_ref(z3, model);
}

static void set_limit(Z3_context z3, Z3_solver solver, unsigned rlimit)
{
    Z3_params params = Z3_mk_params(z3);

    Z3_params_inc_ref(z3, params);
    Z3_params_set_uint(z3, params, Z3_mk_string_symbol(z3, "rlimit"), rlimit);
    Z3_solver_set_params(z3, solver, params);
    Z3_params_dec_ref(z3, params);
}

static void check(Z3_context z3, Z3_solver solver, jx_buffer *reply)
{
    Z3_lbool result = Z3_solver_check(z3, solver);

    if (failed(z3, reply))
        return;
    if (result == Z3_L_TRUE) {
        jx_buffer_puts(reply, "sat");
        print_model(z3, solver, reply);
    } else if (result == Z3_L_FALSE) {
        jx_buffer_puts(reply, "unsat");
    } else {
        jx_buffer_printf(reply, "unknown %s",
                         Z3_solver_get_reason_unknown(z3, solver));
    }
}

void jx_z3_check(const char *script, unsigned rlimit, jx_buffer *reply)
{
    Z3_config config = Z3_mk_config();
    Z3_context z3 = Z3_mk_context(config);
    Z3_solver solver;
    Z3_ast_vector asserts;

    Z3_del_config(config);
    Z3_set_error_handler(z3, note_error);
    asserts = Z3_parse_smtlib2_string(z3, script, 0, NULL, NULL, 0, NULL, NULL);
    if (!failed(z3, reply)) {
        Z3_ast_vector_inc_ref(z3, asserts);
        solver = Z3_mk_simple_solver(z3);
        Z3_solver_inc_ref(z3, solver);
        set_limit(z3, solver, rlimit);
        for (unsigned i = 0; i < Z3_ast_vector_size(z3, asserts); i++)
            Z3_solver_assert(z3, solver, Z3_ast_vector_get(z3, asserts, i));
        check(z3, solver, reply);
        Z3_solver_dec_ref(z3, solver);
        Z3_ast_vector_dec_ref(z3, asserts);
    }
    Z3_del_context(z3);
}

void jx_z3_version(jx_buffer *to)
{
    unsigned major, minor, build, revision;

    Z3_get_version(&major, &minor, &build, &revision);
    jx_buffer_printf(to, "%u.%u.%u", major, minor, build);
}
