/* exported_text.c - `jaxvet info` of an exported file, for people. */
#include "frontend/base/utf8.h"
#include "frontend/base/vec.h"
#include "frontend/ir/signature.h"
#include "reports/formats/costs.h"
#include "reports/formats/exported_info.h"
#include "reports/pipeline/sizes.h"

#include <string.h>

typedef struct leaves {
    const jx_exported_info *info;
    bool outs;
} leaves;

static void put_leaf(void *env, int leaf, jx_buffer *to)
{
    const leaves *l = env;
    const jx_exported *x = l->info->exported;

    if (l->outs) {
        jx_exported_aval_print(x->out_avals[leaf], l->info->outs[leaf], to);
        return;
    }
    jx_exported_aval_print(x->in_avals[leaf], l->info->ins[leaf], to);
    if (jx_exported_taken_as(x, leaf) < 0)
        jx_buffer_puts(to, " (unused)");
}

/* ---- the signature */

/* An argument begins a line. */
static void begin_argument(jx_buffer *to, const char *head, bool first)
{
    if (!first)
        jx_buffer_printf(to, ",\n  %*s", (int)strlen(head) + 1, "");
}

static bool is_call(const jx_exported *x)
{
    const jx_tree *tree = &x->in_tree;

    return tree->kind == JX_TREE_TUPLE && tree->nchildren == 2 &&
           tree->children[0].kind == JX_TREE_TUPLE &&
           tree->children[1].kind == JX_TREE_DICT;
}

static void put_arguments(const jx_exported_info *info, const char *head,
                          jx_buffer *to)
{
    const jx_tree *args = &info->exported->in_tree.children[0];
    const jx_tree *kwargs = &info->exported->in_tree.children[1];
    leaves in = {info, false};
    int next = 0;

    for (int i = 0; i < args->nchildren; i++) {
        begin_argument(to, head, i == 0);
        if (info->paths.args && info->paths.args[i])
            jx_utf8_show(info->paths.args[i], to);
        else
            jx_buffer_printf(to, "args[%d]", i);
        jx_buffer_puts(to, ": ");
        jx_tree_print(info->ctx, &args->children[i], put_leaf, &in, &next, to);
    }
    for (int i = 0; i < kwargs->nchildren; i++) {
        begin_argument(to, head, i == 0 && !args->nchildren);
        jx_buffer_puts(to, i ? "" : "*, ");
        jx_exported_keyword_print(kwargs->names[i], to);
        jx_buffer_puts(to, ": ");
        jx_tree_print(info->ctx, &kwargs->children[i], put_leaf, &in, &next,
                      to);
    }
}

static void put_signature(const jx_exported_info *info, jx_buffer *to)
{
    const jx_exported *x = info->exported;
    leaves in = {info, false}, out = {info, true};
    jx_buffer head = {.budget = to->budget};
    int next = 0;

    jx_utf8_show(x->name, &head);
    jx_buffer_printf(to, "  %s(", jx_buffer_text(&head));
    if (is_call(x)) {
        put_arguments(info, head.length < 24 ? jx_buffer_text(&head) : "", to);
    } else {
        jx_buffer_putc(to, '*');
        jx_tree_print(info->ctx, &x->in_tree, put_leaf, &in, &next, to);
    }
    jx_buffer_puts(to, ")\n    -> ");
    next = 0;
    jx_tree_print(info->ctx, &x->out_tree, put_leaf, &out, &next, to);
    jx_buffer_putc(to, '\n');
    jx_buffer_free(&head);
}

/* The constraints are in the module alone. */
static void put_sizes(const jx_exported_info *info, jx_buffer *to)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        info->program ? jx_input_vars(info->program, &count) : NULL;

    if (vars)
        jx_sizes_print(info->program, count, vars, to);
    for (int i = 0; !info->program && i < info->nvars; i++)
        jx_utf8_printf(to, "  size %s: from 1\n", info->vars[i]);
}

static void put_cost(const jx_exported_info *info, jx_buffer *to)
{
    if (info->program) {
        jx_costs_print(&info->cost, to);
        jx_reshards_print(&info->reshards, to);
        return;
    }
    jx_buffer_puts(to, "cost: not known of this module: ");
    jx_utf8_show(info->unread, to);
    jx_buffer_putc(to, '\n');
}

/* ---- where it runs */

static void put_list(const char *head, const jx_exported_texts *texts,
                     jx_buffer *to)
{
    for (int i = 0; i < texts->count; i++) {
        jx_buffer_puts(to, i ? ", " : head);
        jx_utf8_show(texts->at[i], to);
    }
    if (texts->count)
        jx_buffer_putc(to, '\n');
}

/* How the inputs and outputs lie: a line for each distinct way. */
typedef struct way {
    const char *text;
    jx_buffer who;
} way;

typedef JX_VEC(way) ways;

static void add_way(const jx_exported_info *info, ways *to,
                    const jx_exported_named *named, const jx_op_sharding *hlo,
                    const char *path)
{
    jx_buffer text = jx_ctx_text(info->ctx);
    const char *kept;
    size_t i = 0;

    if (!named && !hlo)
        return;
    if (named)
        jx_exported_named_print(named, &text);
    else
        jx_op_sharding_print(hlo, &text);
    kept = jx_arena_take(info->ctx->arena, &text);
    if (!kept)
        return;
    while (i < to->count && strcmp(to->at[i].text, kept) != 0)
        i++;
    if (i == to->count)
        JX_PUSH(info->ctx->arena, to, (way){kept, jx_ctx_text(info->ctx)});
    if (i < to->count) {
        jx_buffer_puts(&to->at[i].who, to->at[i].who.length ? ", " : "");
        jx_buffer_puts(&to->at[i].who, path);
    }
}

static void put_shardings(const jx_exported_info *info, jx_buffer *to)
{
    const jx_exported *x = info->exported;
    ways all = {0};

    for (int i = 0; i < x->nins; i++)
        add_way(info, &all, x->in_named[i], x->in_hlo[i], info->paths.ins[i]);
    for (int i = 0; i < x->nouts; i++)
        add_way(info, &all, x->out_named[i], x->out_hlo[i],
                info->paths.outs[i]);
    for (size_t i = 0; i < all.count; i++) {
        jx_utf8_printf(to, "  %s: %s\n", all.at[i].text,
                       jx_buffer_text(&all.at[i].who));
        jx_buffer_free(&all.at[i].who);
    }
}

static void put_checks(const jx_exported *x, jx_buffer *to)
{
    for (int i = 0; i < x->nchecks; i++) {
        const jx_exported_check *check = &x->checks[i];
        jx_buffer_puts(to, "disabled check: ");
        if (check->kind == JX_CHECK_PLATFORM)
            jx_buffer_puts(to, "that it runs where it was exported for");
        else if (check->kind == JX_CHECK_SHAPE_ASSERTIONS)
            jx_buffer_puts(to, "shape assertions");
        else if (!strcmp(check->target, "ALL"))
            jx_buffer_puts(to, "that custom calls are guaranteed stable");
        else {
            jx_buffer_puts(to, "that the custom call ");
            jx_utf8_show(check->target, to);
            jx_buffer_puts(to, " is guaranteed stable");
        }
        jx_buffer_putc(to, '\n');
    }
}

static void put_calls(const jx_exported_info *info, jx_buffer *to)
{
    for (int i = 0; i < info->ncalls; i++) {
        const jx_exported_call *call = &info->calls[i];
        jx_buffer_printf(to, "  %6lld custom call ", (long long)call->count);
        jx_utf8_show(call->target, to);
        if (call->known)
            jx_buffer_printf(to, " (%s; guaranteed stable)\n",
                             call->known->what);
        else
            jx_buffer_printf(to, " (not guaranteed stable%s)\n",
                             call->disabled ? ", its check is disabled" : "");
    }
}

static void put_vjps(const jx_exported *x, jx_buffer *to)
{
    int order = 1;

    for (const jx_exported *v = x->vjp; v; v = v->vjp, order++)
        jx_buffer_printf(to,
                         "vjp of order %d: %d inputs (%d used), %d outputs, "
                         "%zu bytes of module\n",
                         order, v->nins, v->nkept, v->nouts, v->module.size);
}

static void put_place(const jx_exported_info *info, jx_buffer *to)
{
    const jx_exported *x = info->exported;

    jx_buffer_printf(to, "on %u device%s", x->devices,
                     x->devices == 1 ? "" : "s");
    put_list(" of ", &x->platforms, to);
    if (!x->platforms.count)
        jx_buffer_putc(to, '\n');
    put_shardings(info, to);
    put_list("ordered effects: ", &x->ordered_effects, to);
    put_list("unordered effects: ", &x->unordered_effects, to);
    put_checks(x, to);
    put_vjps(x, to);
}

/* ---- versions and sizes */

/* Six months after "2026-04-04": as JAX counts its promise. */
static void put_half_a_year_later(const char *day, jx_buffer *to)
{
    int year = (day[0] - '0') * 1000 + (day[1] - '0') * 100 +
               (day[2] - '0') * 10 + (day[3] - '0');
    int month = (day[5] - '0') * 10 + (day[6] - '0') + 6;

    jx_buffer_printf(to, "%d-%02d", month > 12 ? year + 1 : year,
                     month > 12 ? month - 12 : month);
}

static void put_versions(const jx_exported_info *info, jx_buffer *to)
{
    const jx_exported *x = info->exported;
    const jx_mlir_parts *parts = &info->parts;
    jx_exported_release release =
        jx_exported_release_of(jx_exported_version(x));
    jx_buffer writers = {.budget = to->budget};

    if (x->jax_version) {
        jx_buffer_puts(to, "exported by JAX ");
        jx_utf8_show(x->jax_version, to);
    } else if (jx_jax_writers_print(x, parts->version, &writers)) {
        jx_buffer_printf(to, "exported as by JAX %s", jx_buffer_text(&writers));
    } else {
        jx_buffer_printf(to, "exported by a JAX of %s", release.from);
        jx_buffer_printf(to, *release.before ? " to %s" : " or later",
                         release.before);
    }
    jx_buffer_free(&writers);
    jx_buffer_printf(to, "; format %d", release.version);
    if (x->stored_version != release.version)
        jx_buffer_printf(to, " (numbered %d)", x->stored_version);
    jx_buffer_printf(to, ", calling convention %d\n", x->calling_convention);
    jx_exported_loads_text(info, to);
    if (info->loads->window.of[JX_JAX_RELEASES - 1] == JX_JAX_LOADS) {
        jx_buffer_puts(to, "JAX promises to read it until ");
        put_half_a_year_later(release.from, to);
        jx_buffer_puts(to, " at least\n");
    }
    if (parts->version[0] >= 0)
        jx_buffer_printf(to, "module for StableHLO %d.%d.%d and later",
                         parts->version[0], parts->version[1],
                         parts->version[2]);
    else {
        jx_buffer_puts(to, "module by ");
        jx_utf8_show(parts->producer, to);
    }
    jx_buffer_printf(to, ", bytecode %d\n", parts->bytecode);
}

static void put_part(const char *name, size_t bytes, jx_buffer *to)
{
    if (bytes)
        jx_utf8_printf(to, "  %10zu %s\n", bytes, name);
}

static size_t vjp_bytes(const jx_exported *x)
{
    size_t bytes = 0;

    for (x = x->vjp; x; x = x->vjp)
        bytes += x->module.size;
    return bytes;
}

static void put_bytes(const jx_exported_info *info, jx_buffer *to)
{
    const jx_mlir_parts *parts = &info->parts;
    size_t vjps = vjp_bytes(info->exported);
    size_t modules = parts->size + vjps;

    jx_buffer_printf(to, "%zu bytes\n", info->size);
    put_part("signature", info->size > modules ? info->size - modules : 0, to);
    put_part("modules of derivatives", vjps, to);
    put_part("module", parts->size, to);
    for (int i = 0; i < JX_NSECTIONS; i++)
        if (parts->sections[i])
            jx_utf8_printf(to, "    %10zu %s\n", parts->sections[i],
                           jx_mlir_section_name((jx_mlir_section)i));
    jx_buffer_printf(to,
                     "  of which source locations (%zu): %zu, and %zu in "
                     "the strings they name\n",
                     parts->locations, parts->location_bytes,
                     parts->location_strings);
    jx_buffer_printf(to, "  of which tensors (%zu): %zu, the largest %zu\n",
                     parts->tensors, parts->tensor_bytes,
                     parts->largest_tensor);
}

void jx_exported_text(const jx_exported_info *info, jx_buffer *to)
{
    jx_utf8_printf(to, "%s: ", info->path);
    jx_utf8_show(info->exported->name, to);
    jx_buffer_puts(to, ", an exported function\n");
    put_signature(info, to);
    put_sizes(info, to);
    put_place(info, to);
    jx_buffer_printf(to, "%lld operation%s\n", (long long)info->ops,
                     info->ops == 1 ? "" : "s");
    put_calls(info, to);
    put_cost(info, to);
    put_bytes(info, to);
    put_versions(info, to);
}
