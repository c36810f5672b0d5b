/* exported_json.c - `jaxvet info --format json` of an exported file. */
#include "frontend/base/json.h"
#include "frontend/ir/signature.h"
#include "reports/formats/costs.h"
#include "reports/formats/exported_info.h"
#include "reports/pipeline/sizes.h"

static void put_text(jx_buffer *to, const char *key, const char *text)
{
    jx_buffer_printf(to, ",\"%s\":", key);
    if (text)
        jx_json_put_text(to, text);
    else
        jx_buffer_puts(to, "null");
}

static void put_number(jx_buffer *to, const char *key, int64_t value)
{
    jx_buffer_printf(to, ",\"%s\":%lld", key, (long long)value);
}

static void put_texts(jx_buffer *to, const char *key,
                      const jx_exported_texts *texts)
{
    jx_buffer_printf(to, ",\"%s\":[", key);
    for (int i = 0; i < texts->count; i++) {
        jx_buffer_puts(to, i ? "," : "");
        jx_json_put_text(to, texts->at[i]);
    }
    jx_buffer_putc(to, ']');
}

/* A JSON text of what a printer made. */
static void put_made(jx_buffer *to, const char *key, jx_buffer *text)
{
    put_text(to, key, jx_buffer_text(text));
    jx_buffer_clear(text);
}

/* ---- inputs and outputs */

static void put_sharding(jx_buffer *to, const jx_exported_named *named,
                         const jx_op_sharding *hlo)
{
    jx_buffer text = {.budget = to->budget};

    if (named) {
        jx_exported_spec_print(&named->spec, &text);
        put_made(to, "sharding", &text);
        jx_exported_mesh_print(named->mesh, &text);
        put_made(to, "mesh", &text);
        put_text(to, "memory_kind", named->memory_kind);
    } else if (hlo) {
        jx_op_sharding_print(hlo, &text);
        put_made(to, "sharding", &text);
    }
    jx_buffer_free(&text);
}

static void put_aval(jx_buffer *to, const char *path,
                     const jx_exported_aval *aval, const jx_dim *const *shape)
{
    jx_buffer text = {.budget = to->budget};

    jx_buffer_puts(to, "{\"path\":");
    jx_json_put_text(to, path);
    jx_exported_aval_print(aval, shape, &text);
    put_made(to, "type", &text);
    if (jx_exported_memory(aval))
        put_text(to, "memory", jx_exported_memory(aval));
    jx_buffer_free(&text);
}

static void put_signature(jx_buffer *to, const jx_exported_info *info)
{
    const jx_exported *x = info->exported;

    jx_buffer_puts(to, ",\"inputs\":[");
    for (int i = 0; i < x->nins; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_aval(to, info->paths.ins[i], x->in_avals[i], info->ins[i]);
        jx_buffer_printf(to, ",\"used\":%s",
                         jx_exported_taken_as(x, i) < 0 ? "false" : "true");
        put_sharding(to, x->in_named[i], x->in_hlo[i]);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_puts(to, "],\"outputs\":[");
    for (int i = 0; i < x->nouts; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_aval(to, info->paths.outs[i], x->out_avals[i], info->outs[i]);
        put_sharding(to, x->out_named[i], x->out_hlo[i]);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

/* ---- trees: "*" a leaf, null, or {"kind":...,"children":[...]} */

static void put_tree(jx_buffer *to, jx_ctx *ctx, const jx_tree *tree)
{
    static const char *const kinds[] = {"leaf", "none", "tuple",
                                        "list", "dict", "custom"};
    const char *const *names =
        tree->kind == JX_TREE_DICT ? tree->names : jx_tree_fields(ctx, tree);

    if (tree->kind == JX_TREE_LEAF || tree->kind == JX_TREE_NONE) {
        jx_buffer_puts(to, tree->kind == JX_TREE_LEAF ? "\"*\"" : "null");
        return;
    }
    jx_buffer_printf(to, "{\"kind\":\"%s\"", kinds[tree->kind]);
    if (tree->custom)
        put_text(to, "name", tree->custom);
    if (tree->custom && !names) {
        jx_buffer_puts(to, ",\"data\":\"");
        for (size_t i = 0; i < tree->aux.size; i++)
            jx_buffer_printf(to, "%02x", tree->aux.at[i]);
        jx_buffer_putc(to, '"');
    }
    if (names)
        put_texts(to, "names", &(jx_exported_texts){tree->nchildren, names});
    jx_buffer_puts(to, ",\"children\":[");
    for (int i = 0; i < tree->nchildren; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_tree(to, ctx, &tree->children[i]);
    }
    jx_buffer_puts(to, "]}");
}

static void put_trees(jx_buffer *to, const jx_exported_info *info)
{
    jx_buffer_puts(to, ",\"in_tree\":");
    put_tree(to, info->ctx, &info->exported->in_tree);
    jx_buffer_puts(to, ",\"out_tree\":");
    put_tree(to, info->ctx, &info->exported->out_tree);
}

/* ---- the rest */

static void put_format(jx_buffer *to, const jx_exported *x)
{
    jx_exported_release release =
        jx_exported_release_of(jx_exported_version(x));

    jx_buffer_printf(to, ",\"format\":{\"version\":%d", release.version);
    put_number(to, "stored", x->stored_version);
    put_number(to, "calling_convention", x->calling_convention);
    put_text(to, "from", release.from);
    put_text(to, "before", *release.before ? release.before : NULL);
    jx_buffer_putc(to, '}');
    put_text(to, "jax", x->jax_version);
}

static void put_module(jx_buffer *to, const jx_exported_info *info)
{
    const jx_mlir_parts *parts = &info->parts;
    bool any = false;

    jx_buffer_printf(to, ",\"module\":{\"bytecode\":%d", parts->bytecode);
    put_text(to, "producer", parts->producer);
    if (parts->version[0] >= 0)
        jx_buffer_printf(to, ",\"stablehlo\":[%d,%d,%d]", parts->version[0],
                         parts->version[1], parts->version[2]);
    put_number(to, "bytes", (int64_t)parts->size);
    jx_buffer_puts(to, ",\"sections\":{");
    for (int i = 0; i < JX_NSECTIONS; i++) {
        if (!parts->sections[i])
            continue;
        jx_buffer_printf(to, "%s\"%s\":%zu", any ? "," : "",
                         jx_mlir_section_name((jx_mlir_section)i),
                         parts->sections[i]);
        any = true;
    }
    jx_buffer_printf(to,
                     "},\"locations\":{\"count\":%zu,\"bytes\":%zu,"
                     "\"strings\":%zu},\"tensors\":{\"count\":%zu,"
                     "\"bytes\":%zu,\"largest\":%zu}}",
                     parts->locations, parts->location_bytes,
                     parts->location_strings, parts->tensors,
                     parts->tensor_bytes, parts->largest_tensor);
}

static void put_checks(jx_buffer *to, const jx_exported *x)
{
    static const char *const kinds[] = {"platform", "custom_call",
                                        "shape_assertions"};

    jx_buffer_puts(to, ",\"disabled_checks\":[");
    for (int i = 0; i < x->nchecks; i++) {
        jx_buffer_printf(to, "%s{\"kind\":\"%s\"", i ? "," : "",
                         kinds[x->checks[i].kind]);
        if (x->checks[i].target)
            put_text(to, "target", x->checks[i].target);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_calls(jx_buffer *to, const jx_exported_info *info)
{
    put_number(to, "operations", info->ops);
    jx_buffer_puts(to, ",\"custom_calls\":[");
    for (int i = 0; i < info->ncalls; i++) {
        const jx_exported_call *call = &info->calls[i];
        jx_buffer_puts(to, i ? ",{\"target\":" : "{\"target\":");
        jx_json_put_text(to, call->target);
        put_number(to, "count", call->count);
        jx_buffer_printf(to, ",\"stable\":%s", call->known ? "true" : "false");
        if (call->known)
            put_text(to, "what", call->known->what);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
}

static void put_vjps(jx_buffer *to, const jx_exported *x)
{
    bool first = true;

    jx_buffer_puts(to, ",\"vjps\":[");
    for (x = x->vjp; x; x = x->vjp, first = false)
        jx_buffer_printf(to,
                         "%s{\"inputs\":%d,\"used\":%d,\"outputs\":%d,"
                         "\"module\":%zu}",
                         first ? "" : ",", x->nins, x->nkept, x->nouts,
                         x->module.size);
    jx_buffer_putc(to, ']');
}

static void put_bare_sizes(jx_buffer *to, const jx_exported_info *info)
{
    jx_buffer_puts(to, ",\"sizes\":[");
    for (int i = 0; i < info->nvars; i++) {
        jx_buffer_puts(to, i ? ",{\"name\":" : "{\"name\":");
        jx_json_put_text(to, info->vars[i]);
        jx_buffer_puts(to, ",\"scope\":0,\"low\":1}");
    }
    jx_buffer_putc(to, ']');
}

/* What follows from the module as a program: null where it is none. */
static void put_meaning(jx_buffer *to, const jx_exported_info *info)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        info->program ? jx_input_vars(info->program, &count) : NULL;

    if (vars)
        jx_sizes_json(info->program, count, vars, to);
    else
        put_bare_sizes(to, info);
    jx_buffer_puts(to, ",\"cost\":");
    if (info->program)
        jx_costs_json(&info->cost, to);
    else
        jx_buffer_puts(to, "null");
    if (info->reshards.all.count) {
        jx_buffer_puts(to, ",\"reshards\":");
        jx_reshards_json(&info->reshards, to);
    }
    if (info->unread)
        put_text(to, "cost_unknown", info->unread);
}

void jx_exported_json(const jx_exported_info *info, jx_buffer *to)
{
    const jx_exported *x = info->exported;

    jx_buffer_puts(to, "{\"version\":1,\"kind\":\"exported\"");
    put_text(to, "path", info->path);
    put_text(to, "name", x->name);
    put_signature(to, info);
    put_trees(to, info);
    put_number(to, "devices", x->devices);
    put_texts(to, "platforms", &x->platforms);
    put_texts(to, "ordered_effects", &x->ordered_effects);
    put_texts(to, "unordered_effects", &x->unordered_effects);
    put_checks(to, x);
    put_calls(to, info);
    put_vjps(to, x);
    put_meaning(to, info);
    put_number(to, "bytes", (int64_t)info->size);
    put_module(to, info);
    put_format(to, x);
    jx_exported_loads_json(info->loads, to);
    jx_buffer_puts(to, "}\n");
}
