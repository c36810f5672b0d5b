/* exported_file.c - EXP003 and on: what the signature of an exported file says
 * about itself, before its module is looked at. */
#include "analyzer/lint/lint.h"
#include "frontend/base/plain.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/read/exported_window.h"

#include <string.h>

/* The conventions that the releases known here write.  JAX does not look at the
 * number when it calls the function: it passes what these want. */
enum { OLDEST_CONVENTION = 9, NEWEST_CONVENTION = 10 };

static jx_claim *say(jx_linter *lint, jx_code code, jx_buffer *text,
                     const char *help)
{
    jx_claim *claim =
        jx_lint_claim(lint, code, NULL, jx_arena_take(lint->ctx->arena, text));

    if (claim)
        claim->help = help;
    return claim;
}

/* ---- EXP003: versions */

static void conventions(jx_linter *lint, const jx_exported *x)
{
    jx_buffer text = jx_ctx_text(lint->ctx);

    if (x->calling_convention >= OLDEST_CONVENTION &&
        x->calling_convention <= NEWEST_CONVENTION)
        return;
    jx_buffer_printf(&text,
                     "calling convention %d: JAX does not look at it and calls "
                     "the function as %d and %d want it",
                     x->calling_convention, OLDEST_CONVENTION,
                     NEWEST_CONVENTION);
    say(lint, JX_CODE_EXP003, &text,
        x->calling_convention < OLDEST_CONVENTION
            ? "export it again with a JAX of today"
            : "use a newer jaxvet, or JAX, to look at it");
}

/* What the module needs is only looked at for a file that is refused. */
static bool window_of(jx_linter *lint, const jx_exported *x, jx_jax_window *to)
{
    const jx_mlir_file *module =
        jx_bytecode_read(lint->ctx, NULL, x->path, x->module.at, x->module.size,
                         (size_t)(x->module.at - x->file));
    jx_vhlo_need need;

    if (!module || !jx_vhlo_needs(lint->ctx, module, &need))
        return false;
    jx_jax_window_of(x, &need, to);
    return true;
}

/* Whether the newest release refuses the table of the file. */
static void releases(jx_linter *lint, const jx_exported *x)
{
    jx_vhlo_need need = {0};
    jx_jax_answer answer =
        jx_jax_answer_of(jx_jax_release_at(JX_JAX_RELEASES - 1), x, &need);
    jx_jax_window window;
    jx_buffer text = jx_ctx_text(lint->ctx), loads = jx_ctx_text(lint->ctx);

    if (answer == JX_JAX_LOADS || !window_of(lint, x, &window))
        return;
    jx_buffer_puts(&text, "JAX ");
    jx_jax_window_print(&window, answer, &text);
    jx_buffer_puts(&text, " refuse the file: ");
    jx_jax_why(answer, &need, &text);
    if (jx_jax_window_print(&window, JX_JAX_LOADS, &loads))
        jx_buffer_printf(&text, "; it loads in %s", jx_buffer_text(&loads));
    jx_buffer_free(&loads);
    say(lint, JX_CODE_EXP003, &text, jx_jax_help(answer));
}

static int compare_versions(const int *a, const int *b)
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static void vhlo_version(jx_linter *lint, const jx_mlir_file *tree)
{
    jx_buffer text = jx_ctx_text(lint->ctx);

    if (!tree || tree->version[0] < 0 ||
        compare_versions(tree->version, jx_vhlo_newest) <= 0)
        return;
    jx_buffer_printf(&text,
                     "the module is of StableHLO %d.%d.%d, which is newer than "
                     "the newest known here, %d.%d.%d",
                     tree->version[0], tree->version[1], tree->version[2],
                     jx_vhlo_newest[0], jx_vhlo_newest[1], jx_vhlo_newest[2]);
    say(lint, JX_CODE_EXP003, &text,
        "ops that it has and we do not know are named above as unknown");
}

/* ---- EXP004, EXP007: switched off, and effects */

static void disabled(jx_linter *lint, const jx_exported *x)
{
    for (int i = 0; i < x->nchecks; i++) {
        const jx_exported_check *check = &x->checks[i];
        jx_buffer text = jx_ctx_text(lint->ctx);

        /* That of a black box is off so that it can be replayed elsewhere. */
        if (check->kind == JX_CHECK_PLATFORM && lint->program->blackbox)
            continue;
        if (check->kind == JX_CHECK_PLATFORM)
            jx_buffer_puts(&text, "the check of the platform is off: the "
                                  "program runs, or fails, on platforms that "
                                  "it was not made for");
        else if (check->kind == JX_CHECK_SHAPE_ASSERTIONS)
            jx_buffer_puts(&text, "the assertions about shapes are off");
        else if (strcmp(check->target, "ALL") == 0)
            jx_buffer_puts(&text,
                           "the check of custom calls is off for all targets");
        else
            jx_buffer_printf(&text, "the check of custom calls of %s is off",
                             check->target);
        say(lint, JX_CODE_EXP004, &text,
            "export without that DisabledSafetyCheck, or know why it is "
            "needed");
    }
}

static void effects(jx_linter *lint, const jx_exported *x)
{
    const jx_exported_texts *kinds[] = {&x->ordered_effects,
                                        &x->unordered_effects};

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < kinds[k]->count; i++) {
            jx_buffer text = jx_ctx_text(lint->ctx);

            jx_buffer_printf(&text, "%s effect %s%s",
                             k ? "unordered" : "ordered", kinds[k]->at[i],
                             k ? "" : ": a call takes and gives a token");
            say(lint, JX_CODE_EXP007, &text, NULL);
        }
}

/* ---- EXP005: a loss without its derivative */

static bool is_float(const jx_exported_aval *aval)
{
    return aval->kind == 0 && jx_dtype_is_inexact(aval->dtype);
}

/* One real number out, and more than one array of such numbers in one
 * argument: parameters and a loss. */
static void loss(jx_linter *lint, const jx_exported *x)
{
    const jx_tree *args = x->in_tree.nchildren ? x->in_tree.children : NULL;
    jx_buffer text = jx_ctx_text(lint->ctx);
    int leaf = 0, most = 0;

    if (x->vjp || x->nouts != 1 || !is_float(x->out_avals[0]) ||
        x->out_avals[0]->rank)
        return;
    for (int i = 0; args && i < args->nchildren; i++) {
        int floats = 0;

        for (int k = 0; k < args->children[i].leaves; k++, leaf++)
            floats += leaf < x->nins && is_float(x->in_avals[leaf]);
        if (floats > most)
            most = floats;
    }
    if (most < 2)
        return;
    jx_buffer_puts(&text, "one number is computed from a tree of parameters, "
                          "and no derivative is stored: jax.grad of the loaded "
                          "function raises");
    say(lint, JX_CODE_EXP005, &text,
        "if it is to be trained from, serialize(vjp_order=1)");
}

/* ---- EXP009: trees */

typedef struct tree_types {
    jx_linter *lint;
    JX_VEC(const char *) names;
} tree_types;

static bool is_known(const tree_types *of, const char *name)
{
    for (size_t i = 0; i < of->names.count; i++)
        if (strcmp(of->names.at[i], name) == 0)
            return true;
    return false;
}

/* The reader limits how deep trees are. */
static void find_types(tree_types *to, const jx_tree *tree)
{
    if (tree->kind == JX_TREE_CUSTOM && tree->custom &&
        !is_known(to, tree->custom))
        JX_PUSH(to->lint->ctx->arena, &to->names, tree->custom);
    for (int i = 0; i < tree->nchildren; i++)
        find_types(to, &tree->children[i]);
}

static void trees(jx_linter *lint, const jx_exported *x)
{
    tree_types types = {.lint = lint};

    find_types(&types, &x->in_tree);
    find_types(&types, &x->out_tree);
    for (size_t i = 0; i < types.names.count; i++) {
        jx_buffer text = jx_ctx_text(lint->ctx);

        jx_buffer_printf(&text,
                         "the signature has nodes of type %s: a process that "
                         "has not registered it can't deserialize the file",
                         types.names.at[i]);
        say(lint, JX_CODE_EXP009, &text,
            "register_pytree_node_serialization (or _namedtuple_) in the "
            "loading process, or export a function of plain dicts and tuples");
    }
}

/* ---- EXP010: nothing checks the sizes */

static bool has_symbolic(const jx_program *program)
{
    const jx_jaxpr *jaxpr = program->entry.jaxpr;

    for (int i = 0; i < jaxpr->nins; i++)
        if (!jx_aval_is_static(jaxpr->vars[jaxpr->nconsts + i]->aval))
            return true;
    return false;
}

/* JAX says so of a module that it made for symbolic sizes. */
static bool is_polymorphic(const jx_mlir_file *tree)
{
    return tree && tree->nmodules == 1 &&
           jx_mlir_get(tree->modules[0], "jax.uses_shape_polymorphism");
}

static void unchecked(jx_linter *lint)
{
    jx_buffer text = jx_ctx_text(lint->ctx);

    if (!is_polymorphic(lint->program->tree) || !has_symbolic(lint->program))
        return;
    for (size_t i = 0; i < lint->flat->nodes.count; i++)
        if (lint->flat->nodes.at[i].eqn->prim->id == JX_PRIM_shape_assertion)
            return;
    jx_buffer_puts(&text, "sizes are symbolic, and the module asserts nothing "
                          "of them: shapes that do not fit give wrong results "
                          "instead of an error");
    say(lint, JX_CODE_EXP010, &text, "export it again with a JAX of today");
}

/* ---- EXP011: devices */

static void devices_differ(jx_linter *lint, const jx_exported *x,
                           const char *what, uint64_t count)
{
    jx_buffer text = jx_ctx_text(lint->ctx);

    jx_buffer_printf(&text, "the file is for %u device%s, %s for %llu",
                     (unsigned)x->devices, x->devices == 1 ? "" : "s", what,
                     (unsigned long long)count);
    say(lint, JX_CODE_EXP011, &text, NULL);
}

static uint64_t mesh_devices(const jx_exported_mesh *mesh)
{
    uint64_t count = 1;

    for (int i = 0; i < mesh->naxes; i++)
        if (__builtin_mul_overflow(count, mesh->sizes[i], &count))
            return UINT64_MAX;
    return count;
}

/* The first mesh that disagrees; a mesh without axes says nothing. */
static void meshes(jx_linter *lint, const jx_exported *x)
{
    for (int side = 0; side < 2; side++) {
        const jx_exported_named *const *named =
            side ? x->out_named : x->in_named;
        int count = side ? x->nouts : x->nins;

        for (int i = 0; named && i < count; i++) {
            const jx_exported_mesh *mesh = named[i] ? named[i]->mesh : NULL;

            if (!mesh || !mesh->naxes || mesh_devices(mesh) == x->devices)
                continue;
            devices_differ(lint, x,
                           side ? "a result's mesh" : "an input's mesh",
                           mesh_devices(mesh));
            return;
        }
    }
}

static int64_t module_count(const jx_mlir_op *module, const char *name)
{
    const jx_mlir_attr *a = jx_mlir_get(module, name);

    return a && a->kind == JX_A_INTEGER && a->integer > 0 ? a->integer : 1;
}

static void module_devices(jx_linter *lint, const jx_exported *x)
{
    const jx_mlir_file *tree = lint->program->tree;
    int64_t count;

    if (!tree || tree->nmodules != 1)
        return;
    if (__builtin_mul_overflow(
            module_count(tree->modules[0], "mhlo.num_partitions"),
            module_count(tree->modules[0], "mhlo.num_replicas"), &count) ||
        (uint64_t)count != x->devices)
        devices_differ(lint, x, "its module", (uint64_t)count);
}

/* ---- EXP012: inputs */

static void unused(jx_linter *lint, const jx_exported *x)
{
    const jx_program *program = lint->program;
    int next = 0, dropped = 0;
    jx_buffer text = jx_ctx_text(program->ctx);

    for (int i = 0; i < x->nins; i++) {
        if (next < x->nkept && x->kept[next] == i) {
            next++;
            continue;
        }
        if (dropped++ < 3) {
            jx_buffer_puts(&text, dropped == 1 ? "" : ", ");
            const char *path =
                program->in_paths && i < program->entry.jaxpr->nins
                    ? program->in_paths[i]
                    : NULL;
            bool positional = path && path[0] == '[' && jx_is_digit(path[1]);
            if (path)
                jx_buffer_printf(&text, "%s%s", positional ? "args" : "", path);
            else
                jx_buffer_printf(&text, "leaf %d", i);
        }
    }
    if (!dropped) {
        jx_buffer_free(&text);
        return;
    }
    if (dropped > 3)
        jx_buffer_printf(&text, " and %d more", dropped - 3);
    jx_buffer_puts(&text, dropped == 1
                              ? ": an input that the module does not take"
                              : ": inputs that the module does not take");
    say(lint, JX_CODE_EXP012, &text, NULL);
}

/* ---- EXP013: derivatives */

/* The dtype of a tangent: float0 where there is none. */
static jx_dtype tangent(jx_dtype dtype)
{
    return jx_dtype_is_inexact(dtype) ? dtype : JX_FLOAT0;
}

static bool same_shape(const jx_exported_aval *a, const jx_exported_aval *b)
{
    if (a->kind != b->kind || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (strcmp(a->shape[i], b->shape[i]) != 0)
            return false;
    return true;
}

static bool fits(const jx_exported_aval *of, const jx_exported_aval *tangents,
                 bool cotangent)
{
    return same_shape(of, tangents) &&
           (cotangent ? tangents->dtype == tangent(of->dtype)
                      : tangents->dtype == of->dtype);
}

/* A vjp takes the inputs and a cotangent for each output, and gives one for
 * each input. */
static const char *misfit(jx_ctx *ctx, const jx_exported *x)
{
    const jx_exported *vjp = x->vjp;

    if (vjp->nins != x->nins + x->nouts)
        return jx_arena_printf(ctx->arena,
                               "it takes %d arrays instead of %d inputs and %d "
                               "cotangents",
                               vjp->nins, x->nins, x->nouts);
    if (vjp->nouts != x->nins)
        return jx_arena_printf(ctx->arena,
                               "it gives %d cotangents for %d inputs",
                               vjp->nouts, x->nins);
    for (int i = 0; i < x->nins; i++) {
        if (!fits(x->in_avals[i], vjp->in_avals[i], false))
            return jx_arena_printf(ctx->arena, "its input %d has another type",
                                   i);
        if (!fits(x->in_avals[i], vjp->out_avals[i], true))
            return jx_arena_printf(
                ctx->arena, "the cotangent of input %d has another type", i);
    }
    for (int i = 0; i < x->nouts; i++)
        if (!fits(x->out_avals[i], vjp->in_avals[x->nins + i], true))
            return jx_arena_printf(
                ctx->arena, "the cotangent of output %d has another type", i);
    return NULL;
}

static void vjps(jx_linter *lint, const jx_exported *x)
{
    for (int order = 1; x->vjp; order++, x = x->vjp) {
        const char *why = misfit(lint->ctx, x);
        jx_buffer text = jx_ctx_text(lint->ctx);

        if (!why)
            continue;
        jx_buffer_printf(&text, "the stored derivative of order %d: %s", order,
                         why);
        say(lint, JX_CODE_EXP013, &text,
            "the file was not written by jax.export; export it again");
    }
}

/* ---- EXP014: platforms */

static void platforms(jx_linter *lint, const jx_exported *x)
{
    jx_buffer text = jx_ctx_text(lint->ctx);

    if (x->platforms.count < 2)
        return;
    for (size_t i = 0; i < lint->flat->nodes.count; i++) {
        const jx_flat_node *node = &lint->flat->nodes.at[i];

        if (!node->live || node->eqn->prim->id != JX_PRIM_platform_index)
            continue;
        jx_buffer_puts(&text, "it branches on the platform (");
        for (int k = 0; k < x->platforms.count; k++)
            jx_buffer_printf(&text, "%s%s", k ? ", " : "", x->platforms.at[k]);
        jx_buffer_puts(&text, "): what is found here holds for one of them");
        say(lint, JX_CODE_EXP014, &text, NULL);
        return;
    }
}

bool jx_lint_exported_file(jx_linter *lint)
{
    const jx_exported *x = lint->program->exported;

    vhlo_version(lint, lint->program->tree);
    unchecked(lint);
    if (!x)
        return true;
    conventions(lint, x);
    releases(lint, x);
    disabled(lint, x);
    effects(lint, x);
    loss(lint, x);
    trees(lint, x);
    meshes(lint, x);
    module_devices(lint, x);
    unused(lint, x);
    vjps(lint, x);
    platforms(lint, x);
    return jx_ok(lint->ctx);
}
