/* exported_module.c - EXP001, 002, 006, 008, 014: what of a program that is
 * shipped works on the machine alone that made it. */
#include "analyzer/lint/lint.h"
#include "analyzer/lint/places.h"
#include "frontend/ir/params.h"
#include "frontend/ir/signature.h"
#include "frontend/mlir/custom_calls.h"
#include "frontend/mlir/tree.h"
#include "frontend/read/exported.h"

#include <string.h>

/* ---- EXP001, EXP002: calls that need somebody else */

static const char *const callbacks[] = {"pure_callback", "io_callback",
                                        "debug_callback", "debug_print",
                                        "outside_call"};

/* A primitive that runs the user's Python. */
static bool is_callback(const jx_prim *prim)
{
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        if (strcmp(prim->name, callbacks[i]) == 0)
            return true;
    return false;
}

/* How JAX lowers them: xla_ffi_python_cpu_callback, xla_python_gpu_callback. */
static bool calls_python(const char *target)
{
    return strncmp(target, "xla_", 4) == 0 && strstr(target, "python") &&
           strstr(target, "callback");
}

/* A program with symbolic sizes is leaving: on its way to be exported; at
 * others it may be meant to stay. */
static void claim_call(jx_linter *lint, const jx_flat_node *node,
                       const char *target, bool leaving)
{
    const jx_exported *x = lint->program->exported;
    bool python = calls_python(target);
    jx_claim *claim = jx_lint_claim(
        lint, python ? JX_CODE_EXP001 : JX_CODE_EXP002, node,
        python ? jx_arena_printf(lint->ctx->arena,
                                 "custom call %s: it calls a function of the "
                                 "Python process that made the program",
                                 target)
               : jx_arena_printf(lint->ctx->arena,
                                 "custom call %s: JAX does not promise to keep "
                                 "its meaning",
                                 target));

    if (!claim)
        return;
    if (!leaving)
        claim->level = JX_NOTE;
    if (!python && x && !jx_exported_admits(x, target))
        claim->level = JX_ERROR;
    claim->help =
        python ? "compute it with jnp, or outside of the exported function"
               : "JAX may change or drop it with any release: pin the version "
                 "of jaxlib that loads the file, or compute it otherwise";
}

/* Tests of StableHLO assert by calls that stay with us. */
static bool is_ours(const char *target)
{
    return strncmp(target, "check.", 6) == 0;
}

static void claim_callback(jx_linter *lint, const jx_flat_node *node,
                           bool leaving)
{
    jx_claim *claim = jx_lint_claim(
        lint, JX_CODE_EXP001, node,
        jx_arena_printf(lint->ctx->arena,
                        "%s calls a function of this Python process: "
                        "jax.export refuses it",
                        node->eqn->prim->name));

    if (!claim)
        return;
    if (!leaving)
        claim->level = JX_NOTE;
    claim->help = "compute it with jnp, or outside of the exported function";
}

/* (A document has scopes for its rules, too.) */
static bool has_symbolic_inputs(const jx_program *program)
{
    for (int i = 0; i < program->entry.jaxpr->nins; i++) {
        const jx_aval *aval = jx_input_aval(program, i);
        for (int k = 0; k < aval->rank; k++)
            if (jx_dim_is_symbolic(aval->shape[k]))
                return true;
    }
    return false;
}

/* The target of a custom call, and of what jax.ffi.ffi_call makes in a traced
 * program; NULL of what is none. */
static const char *target_of(const jx_eqn *eqn)
{
    const jx_p_hi_call *p = eqn->typed;
    const jx_value *params;

    if (eqn->prim->id == JX_PRIM_stablehlo_custom_call)
        return ((const jx_p_custom_call *)eqn->typed)->call_target_name;
    params = eqn->prim->id == JX_PRIM_call_library_primitive && p && p->name &&
                     strcmp(p->name, "ffi_call") == 0
                 ? p->params
                 : NULL;
    for (int i = 0; params && i < params->count; i += 2)
        if (strcmp(params->items[i]->text, "target_name") == 0 &&
            params->items[i + 1]->tag == JX_V_TEXT)
            return params->items[i + 1]->text;
    return NULL;
}

static void calls(jx_linter *lint)
{
    bool leaving = lint->program->tree || has_symbolic_inputs(lint->program);

    for (size_t i = 0; i < lint->flat->nodes.count; i++) {
        const jx_flat_node *node = &lint->flat->nodes.at[i];
        const char *target = target_of(node->eqn);

        if (is_callback(node->eqn->prim))
            claim_callback(lint, node, leaving);
        else if (target && !jx_custom_call_named(target) && !is_ours(target))
            claim_call(lint, node, target, leaving);
    }
}

/* ---- EXP006: paths */

static bool is_absolute(const char *path)
{
    return path[0] == '/' ||
           (path[0] && path[1] == ':' && (path[2] == '\\' || path[2] == '/'));
}

static void paths(jx_linter *lint)
{
    const jx_program *program = lint->program;
    const jx_file *first = NULL; /* the user's own, if there is one */
    int count = 0;
    jx_claim *claim;

    for (int i = 0; program->tree && i < program->nfiles; i++) {
        const jx_file *file = program->files[i];

        if (!file->path || !is_absolute(file->path))
            continue;
        count++;
        if (!first ||
            (first->kind != JX_FILE_USER && file->kind == JX_FILE_USER))
            first = file;
    }
    if (!count)
        return;
    claim = jx_lint_claim(
        lint, JX_CODE_EXP006, NULL,
        jx_arena_printf(lint->ctx->arena,
                        "%d absolute path%s of source files, such as %s", count,
                        count == 1 ? "" : "s", first->path));
    if (claim)
        claim->help = "`jaxvet rewrite --strip-locations` takes them out";
}

/* ---- EXP008: donated inputs */

static const jx_mlir_op *main_of(const jx_mlir_file *tree)
{
    return tree && tree->nmodules == 1
               ? jx_mlir_symbol(tree->modules[0], "main")
               : NULL;
}

static const jx_mlir_attr *argument(const jx_mlir_op *func, int i,
                                    const char *name)
{
    const jx_mlir_attr *all = jx_mlir_get(func, "arg_attrs");

    return all && all->kind == JX_A_ARRAY && i < all->count
               ? jx_mlir_field(all->items[i], name)
               : NULL;
}

/* What an array of that type takes: -1 of what is none, or of no known size. */
static int64_t bytes_of(const jx_mlir_type *type)
{
    jx_dtype dtype;
    int64_t bytes;

    if (type->kind != JX_T_TENSOR || type->rank < 0 ||
        !jx_mlir_dtype(type->items[0], &dtype))
        return -1;
    bytes = (int64_t)jx_dtype_of(dtype)->bytes;
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] == JX_MLIR_DYNAMIC ||
            __builtin_mul_overflow(bytes, type->shape[i], &bytes))
            return -1;
    return bytes;
}

/* XLA looks for a result of as many bytes, where JAX has not said which. */
static bool can_take(const jx_mlir_type *result, const jx_mlir_type *input,
                     bool said)
{
    int64_t bytes = bytes_of(input);

    return result == input ||
           (!said && bytes >= 0 && bytes == bytes_of(result));
}

/* A donated input gives its memory to a result. */
static void donations(jx_linter *lint)
{
    const jx_mlir_op *func = main_of(lint->program->tree);
    const jx_mlir_block *body = func ? jx_mlir_body(func, 0) : NULL;
    const jx_mlir_attr *type = func ? jx_mlir_get(func, "function_type") : NULL;

    if (!body || !type || type->kind != JX_A_TYPE ||
        type->type->kind != JX_T_FUNCTION)
        return;
    for (int i = 0; i < body->nargs; i++) {
        const jx_mlir_attr *alias = argument(func, i, "tf.aliasing_output");
        const jx_mlir_attr *donor = argument(func, i, "jax.buffer_donor");
        const jx_mlir_type *const *results =
            type->type->items + type->type->inputs;
        int count = type->type->count - type->type->inputs;
        bool fits = false;

        if (!alias && !donor)
            continue;
        for (int k = 0; k < count; k++)
            fits |=
                can_take(results[k], body->args[i]->type, alias) &&
                (!alias || alias->kind != JX_A_INTEGER || alias->integer == k);
        if (!fits)
            jx_lint_claim(lint, JX_CODE_EXP008, NULL,
                          jx_arena_printf(lint->ctx->arena,
                                          "argument %d of main is donated, and "
                                          "no result can take its memory: none "
                                          "has as many bytes",
                                          i));
    }
}

/* ---- EXP014: a function that chooses by the platform */

static void branches(jx_linter *lint)
{
    for (size_t i = 0; i < lint->flat->nodes.count; i++) {
        const jx_flat_node *node = &lint->flat->nodes.at[i];

        if (node->live && node->eqn->prim->id == JX_PRIM_platform_index &&
            jx_place_is_written(lint->program, node->eqn, node->calls))
            jx_lint_claim(lint, JX_CODE_EXP014, node,
                          "it computes differently on different platforms: "
                          "what is found here holds for one of them");
    }
}

bool jx_lint_exported_module(jx_linter *lint)
{
    calls(lint);
    if (!lint->program->exported)
        branches(lint);
    paths(lint);
    donations(lint);
    return jx_ok(lint->ctx);
}
