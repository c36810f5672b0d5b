/* dump_exported.c FILE... - everything the reader finds in exported files, as
 * JSON, a line for each; what can't be read is {"error": ...}.  For the tests
 * that ask JAX for the same (tests/python/test_exported_files.py). */
#include "frontend/base/file.h"
#include "frontend/base/json.h"
#include "frontend/read/exported.h"

#include <stdio.h>

static void put_key(jx_buffer *to, const char *key)
{
    if (to->length && to->text[to->length - 1] != '{')
        jx_buffer_putc(to, ',');
    jx_buffer_printf(to, "\"%s\":", key);
}

static void put_text(jx_buffer *to, const char *text)
{
    if (text)
        jx_json_put_text(to, text);
    else
        jx_buffer_puts(to, "null");
}

static void put_texts(jx_buffer *to, const jx_exported_texts *texts)
{
    jx_buffer_putc(to, '[');
    for (int i = 0; i < texts->count; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_text(to, texts->at[i]);
    }
    jx_buffer_putc(to, ']');
}

static void put_hex(jx_buffer *to, const jx_exported_bytes *bytes)
{
    jx_buffer_putc(to, '"');
    for (size_t i = 0; i < bytes->size; i++)
        jx_buffer_printf(to, "%02x", bytes->at[i]);
    jx_buffer_putc(to, '"');
}

static void put_tree(jx_buffer *to, const jx_tree *tree)
{
    static const char *const kinds[] = {"leaf", "none", "tuple",
                                        "list", "dict", "custom"};

    jx_buffer_printf(to, "[\"%s\",[", kinds[tree->kind]);
    for (int i = 0; i < tree->nchildren; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_tree(to, &tree->children[i]);
    }
    jx_buffer_putc(to, ']');
    if (tree->kind == JX_TREE_DICT) {
        jx_buffer_putc(to, ',');
        put_texts(to, &(jx_exported_texts){tree->nchildren, tree->names});
    }
    if (tree->kind == JX_TREE_CUSTOM) {
        jx_buffer_putc(to, ',');
        put_text(to, tree->custom);
        jx_buffer_putc(to, ',');
        put_hex(to, &tree->aux);
    }
    jx_buffer_putc(to, ']');
}

static void put_aval(jx_buffer *to, const jx_exported *x, jx_dims *dims,
                     const jx_exported_aval *aval)
{
    const jx_dim *const *shape = jx_exported_shape(dims, x, aval, 0);
    jx_buffer text = {0};

    jx_buffer_puts(to, "{");
    put_key(to, "dtype");
    put_text(to, jx_dtype_of(aval->dtype)->name);
    put_key(to, "impl");
    put_text(to, aval->impl);
    put_key(to, "memory");
    put_text(to, jx_exported_memory(aval));
    put_key(to, "shape");
    put_texts(to, &(jx_exported_texts){aval->rank, aval->shape});
    put_key(to, "dims");
    jx_buffer_putc(to, '[');
    for (int i = 0; shape && i < aval->rank; i++) {
        jx_buffer_clear(&text);
        jx_dim_print(shape[i], &text);
        jx_buffer_puts(to, i ? "," : "");
        put_text(to, jx_buffer_text(&text));
    }
    jx_buffer_puts(to, "]}");
    jx_buffer_free(&text);
}

static void put_mesh(jx_buffer *to, const jx_exported_mesh *mesh)
{
    static const char *const types[] = {"missing", "auto", "explicit",
                                        "manual"};

    jx_buffer_puts(to, "{\"axes\":[");
    for (int i = 0; i < mesh->naxes; i++) {
        jx_buffer_puts(to, i ? ",[" : "[");
        put_text(to, mesh->names[i]);
        jx_buffer_printf(to, ",%u,\"%s\"]", mesh->sizes[i],
                         types[mesh->ntypes ? mesh->types[i] : 0]);
    }
    jx_buffer_puts(to, "],\"device\":");
    if (mesh->has_device) {
        jx_buffer_putc(to, '[');
        put_text(to, mesh->device);
        if (mesh->has_cores)
            jx_buffer_printf(to, ",%u,", mesh->cores);
        else
            jx_buffer_puts(to, ",null,");
        put_text(to, mesh->platform);
        jx_buffer_putc(to, ']');
    } else {
        jx_buffer_puts(to, "null");
    }
    jx_buffer_putc(to, '}');
}

static void put_named(jx_buffer *to, const jx_exported_named *named)
{
    if (!named) {
        jx_buffer_puts(to, "null");
        return;
    }
    jx_buffer_puts(to, "{\"mesh\":");
    put_mesh(to, named->mesh);
    jx_buffer_puts(to, ",\"spec\":[");
    for (int i = 0; i < named->spec.count; i++) {
        jx_buffer_puts(to, i ? "," : "");
        put_texts(to, &named->spec.axes[i]);
    }
    jx_buffer_puts(to, "],\"reduced\":");
    put_texts(to, &named->spec.reduced);
    jx_buffer_puts(to, ",\"unreduced\":");
    put_texts(to, &named->spec.unreduced);
    jx_buffer_puts(to, ",\"memory\":");
    put_text(to, named->memory_kind);
    jx_buffer_putc(to, '}');
}

static void put_side(jx_buffer *to, const jx_exported *x, jx_dims *dims,
                     const char *name, int count,
                     const jx_exported_aval *const *avals,
                     const jx_exported_named *const *named,
                     const jx_op_sharding *const *hlo)
{
    jx_buffer text = {0};

    put_key(to, name);
    jx_buffer_putc(to, '[');
    for (int i = 0; i < count; i++) {
        jx_buffer_puts(to, i ? ",{\"aval\":" : "{\"aval\":");
        put_aval(to, x, dims, avals[i]);
        put_key(to, "named");
        put_named(to, named[i]);
        put_key(to, "hlo");
        jx_buffer_clear(&text);
        if (hlo[i])
            jx_op_sharding_print(hlo[i], &text);
        put_text(to, hlo[i] ? jx_buffer_text(&text) : NULL);
        jx_buffer_putc(to, '}');
    }
    jx_buffer_putc(to, ']');
    jx_buffer_free(&text);
}

static void put_checks(jx_buffer *to, const jx_exported *x)
{
    put_key(to, "checks");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < x->nchecks; i++) {
        jx_buffer_printf(to, "%s[%d,", i ? "," : "", x->checks[i].kind);
        put_text(to, x->checks[i].target);
        jx_buffer_putc(to, ']');
    }
    jx_buffer_putc(to, ']');
}

static void put_exported(jx_buffer *to, const jx_exported *x, jx_dims *dims)
{
    jx_buffer_putc(to, '{');
    put_key(to, "name");
    put_text(to, x->name);
    put_key(to, "stored");
    jx_buffer_printf(to, "%d", x->stored_version);
    put_key(to, "version");
    jx_buffer_printf(to, "%d", jx_exported_version(x));
    put_key(to, "convention");
    jx_buffer_printf(to, "%d", x->calling_convention);
    put_key(to, "devices");
    jx_buffer_printf(to, "%u", x->devices);
    put_key(to, "global");
    jx_buffer_puts(to, x->uses_global_constants ? "true" : "false");
    put_key(to, "jax");
    put_text(to, x->jax_version);
    put_key(to, "platforms");
    put_texts(to, &x->platforms);
    put_key(to, "ordered");
    put_texts(to, &x->ordered_effects);
    put_key(to, "unordered");
    put_texts(to, &x->unordered_effects);
    put_checks(to, x);
    put_key(to, "kept");
    jx_buffer_putc(to, '[');
    for (int i = 0; i < x->nkept; i++)
        jx_buffer_printf(to, "%s%d", i ? "," : "", x->kept[i]);
    jx_buffer_putc(to, ']');
    put_key(to, "in_tree");
    put_tree(to, &x->in_tree);
    put_key(to, "out_tree");
    put_tree(to, &x->out_tree);
    put_side(to, x, dims, "ins", x->nins, x->in_avals, x->in_named, x->in_hlo);
    put_side(to, x, dims, "outs", x->nouts, x->out_avals, x->out_named,
             x->out_hlo);
    put_key(to, "module");
    put_hex(to, &x->module);
    put_key(to, "vjp");
    if (x->vjp)
        put_exported(to, x->vjp, dims);
    else
        jx_buffer_puts(to, "null");
    jx_buffer_putc(to, '}');
}

int main(int argc, char **argv)
{
    jx_buffer text = {0};

    for (int i = 1; i < argc; i++) {
        jx_ctx *ctx = jx_ctx_new(0);
        jx_dims *dims = jx_dims_new(ctx);
        size_t size = 0;
        const char *bytes = jx_file_read(ctx, argv[i], &size);
        const jx_exported *x =
            bytes ? jx_exported_read(ctx, argv[i], bytes, size) : NULL;

        jx_buffer_clear(&text);
        if (x)
            put_exported(&text, x, dims);
        if (!jx_ok(ctx)) {
            jx_buffer_clear(&text);
            jx_buffer_puts(&text, "{\"error\":");
            put_text(&text, ctx->error.message);
            jx_buffer_puts(&text, ",\"place\":");
            put_text(&text, ctx->error.place);
            jx_buffer_putc(&text, '}');
        }
        puts(jx_buffer_text(&text));
        jx_ctx_free(ctx);
    }
    jx_buffer_free(&text);
    return 0;
}
