/* test_exported.c - flatbuffers and exported files that lie.
 *
 * Each refusal is made from a file that JAX wrote, by changing the bytes of one
 * field, which the reader of flatbuffers finds for us. */
#include "frontend/base/buffer.h"
#include "frontend/base/file.h"
#include "frontend/base/utf8.h"
#include "frontend/mlir/bytecode.h"
#include "frontend/mlir/custom_calls.h"
#include "frontend/mlir/parts.h"
#include "frontend/read/exported_paths.h"
#include "frontend/read/exported_window.h"
#include "frontend/read/flatbuffer.h"
#include "frontend/write/exported.h"
#include "frontend/write/flatbuffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "tests/data/exported/"

typedef struct fixture {
    jx_ctx *ctx;
    unsigned char *bytes; /* of its own, so that ASan sees what is beyond */
    size_t size;
    jx_flat flat;
    jx_flat_table root;
} fixture;

static void put(unsigned char *at, uint64_t value, int width)
{
    for (int i = 0; i < width; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static fixture load(const char *name)
{
    fixture f = {.ctx = jx_ctx_new(0)};
    char path[256];

    snprintf(path, sizeof path, FOLDER "%s.jaxexport", name);
    const char *bytes = jx_file_read(f.ctx, path, &f.size);
    assert_non_null(bytes);
    f.bytes = malloc(f.size);
    memcpy(f.bytes, bytes, f.size);
    assert_true(jx_flat_open(&f.flat, f.ctx, "f", f.bytes, f.size, "Exported",
                             &f.root));
    f.flat.work = SIZE_MAX;
    return f;
}

static void drop(fixture *f)
{
    jx_ctx_free(f->ctx);
    free(f->bytes);
}

/* The bytes of a field of the root. */
static unsigned char *slot(fixture *f, unsigned which)
{
    assert_true(jx_flat_has(&f->flat, &f->root, which));
    return f->bytes + jx_flat_where(&f->flat, &f->root, which);
}

/* What an offset at `at` refers to. */
static unsigned char *target(unsigned char *at)
{
    return at + get(at);
}

/* The read must fail, at a byte, with this text in its message. */
static void refused(fixture *f, const char *expected)
{
    jx_ctx *ctx = jx_ctx_new(0);

    assert_null(jx_exported_read(ctx, "f", f->bytes, f->size));
    assert_int_equal(ctx->error.kind, JX_E_INPUT);
    assert_string_equal(ctx->error.file, "f");
    assert_memory_equal(ctx->error.place, "byte ", 5);
    if (!strstr(ctx->error.message, expected))
        fail_msg("'%s' instead of '%s'", ctx->error.message, expected);
    jx_ctx_free(ctx);
    drop(f);
}

static const jx_exported *taken(fixture *f)
{
    const jx_exported *x = jx_exported_read(f->ctx, "f", f->bytes, f->size);

    if (!x)
        fail_msg("%s: %s", f->ctx->error.place, f->ctx->error.message);
    return x;
}

/* ---- what is read */

static void every_kind_of_tree_is_read(void **state)
{
    fixture f = load("0.10.2-trees");
    const jx_exported *x = taken(&f);
    const jx_tree *args = &x->in_tree.children[0];
    (void)state;

    assert_string_equal(x->name, "f");
    assert_int_equal(x->in_tree.kind, JX_TREE_TUPLE);
    assert_int_equal(x->in_tree.leaves, 6);
    assert_int_equal(x->nins, 6);
    assert_int_equal(args->children[0].kind, JX_TREE_DICT);
    assert_string_equal(args->children[0].names[0], "rest");
    assert_int_equal(args->children[0].children[0].children[1].kind,
                     JX_TREE_NONE);
    assert_int_equal(args->children[1].kind, JX_TREE_CUSTOM);
    assert_string_equal(args->children[1].custom, "tests.Point");
    assert_int_equal(x->in_tree.children[1].kind, JX_TREE_DICT);
    assert_string_equal(x->in_tree.children[1].names[1], "scale");
    /* `flag` is unused. */
    assert_int_equal(x->nkept, 5);
    assert_int_equal(x->in_avals[x->nins - 1]->dtype, JX_BF16);
    assert_memory_equal(x->module.at, "ML\xefR", 4);
    assert_true(x->module.at > f.bytes &&
                x->module.at + x->module.size <= f.bytes + f.size);
    drop(&f);
}

static void symbolic_sizes_become_dims(void **state)
{
    fixture f = load("0.10.2-symbolic");
    const jx_exported *x = taken(&f);
    jx_dims *dims = jx_dims_new(f.ctx);
    const jx_dim *const *shape;
    jx_buffer text = {0};
    (void)state;

    shape = jx_exported_shape(dims, x, x->in_avals[1], 0);
    assert_non_null(shape);
    jx_dim_print(shape[1], &text);
    assert_string_equal(text.text, "2*b + 1");
    jx_buffer_clear(&text);
    shape = jx_exported_shape(dims, x, x->out_avals[2], 0);
    assert_non_null(shape);
    jx_dim_print(shape[0], &text);
    assert_string_equal(text.text, "floordiv(b, 2)");
    jx_buffer_free(&text);
    drop(&f);
}

static void vjps_nest(void **state)
{
    fixture f = load("0.10.2-vjp2");
    const jx_exported *x = taken(&f);
    (void)state;

    assert_int_equal(jx_exported_vjps(x), 2);
    assert_string_equal(x->vjp->name, "fun_vjp_jax");
    assert_int_equal(x->vjp->out_avals[1]->dtype, JX_FLOAT0);
    assert_null(x->vjp->vjp->vjp);
    drop(&f);
}

static void old_files_have_protobufs(void **state)
{
    fixture f = load("0.6.2-sharded");
    const jx_exported *x = taken(&f);
    jx_buffer text = {0};
    (void)state;

    assert_int_equal(jx_exported_version(x), 2);
    assert_null(x->in_named[0]);
    assert_null(x->in_hlo[2]);
    jx_op_sharding_print(x->in_hlo[0], &text);
    assert_string_equal(text.text,
                        "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
    jx_buffer_free(&text);
    drop(&f);
}

static void new_files_have_named_shardings(void **state)
{
    fixture f = load("0.10.2-sharded");
    const jx_exported *x = taken(&f);
    (void)state;

    assert_int_equal(x->devices, 4);
    assert_null(x->in_named[2]);
    assert_ptr_equal(x->in_named[0]->mesh, &x->meshes[0]);
    assert_int_equal(x->in_named[0]->mesh->naxes, 2);
    assert_string_equal(x->in_named[0]->mesh->names[1], "model");
    assert_int_equal(x->in_named[1]->spec.axes[0].count, 2);
    assert_int_equal(x->in_named[0]->spec.axes[1].count, 0);
    drop(&f);
}

static void keys_have_their_implementation(void **state)
{
    fixture f = load("0.8.3-keys");
    const jx_exported *x = taken(&f);
    (void)state;

    assert_int_equal(x->in_avals[0]->dtype, JX_KEY);
    assert_string_equal(x->in_avals[0]->impl, "fry");
    assert_int_equal(jx_exported_version(x), 5);
    drop(&f);
}

static void files_are_recognized(void **state)
{
    fixture f = load("0.6.2-empty");
    static const char text[] = "{ lambda ; a:f32[]. let in (a,) }";
    (void)state;

    assert_true(jx_is_exported(NULL, (char *)f.bytes, f.size));
    assert_true(jx_may_be_exported(NULL, (char *)f.bytes, f.size / 2));
    assert_false(jx_is_exported(NULL, (char *)f.bytes, f.size / 2));
    assert_false(jx_may_be_exported(NULL, text, sizeof text - 1));
    assert_false(jx_may_be_exported(NULL, "\0\0\0\0", 4));
    drop(&f);
}

/* ---- its module, and its signature */

static void a_modules_bytes_are_all_accounted_for(void **state)
{
    static const char *const names[] = {"0.10.2-trees", "0.10.2-symbolic",
                                        "0.6.2-sharded", "0.8.3-empty"};
    (void)state;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture f = load(names[i]);
        const jx_exported *x = taken(&f);
        jx_mlir_parts parts;
        size_t sum;

        assert_true(jx_mlir_parts_read(f.ctx, "f", 0, x->module.at,
                                       x->module.size, &parts));
        sum = parts.header;
        for (int k = 0; k < JX_NSECTIONS; k++)
            sum += parts.sections[k];
        assert_int_equal(sum, x->module.size);
        assert_int_equal(parts.bytecode, 6);
        assert_int_equal(parts.version[0], 1);
        assert_true(i == 3 || (parts.locations && parts.location_strings));
        assert_true(parts.location_bytes + parts.tensor_bytes <
                    parts.sections[JX_SECTION_ATTRS]);
        drop(&f);
    }
}

static void a_module_may_lie(void **state)
{
    static const unsigned char values[] = {0, 1, 0x80, 0xff};
    fixture f = load("0.8.3-empty");
    const jx_exported *x = taken(&f);
    unsigned char *module = f.bytes + (x->module.at - f.bytes);
    size_t refusals = 0;
    (void)state;

    for (size_t i = 0; i < x->module.size; i++)
        for (size_t k = 0; k < sizeof values; k++) {
            unsigned char before = module[i];
            jx_ctx *ctx = jx_ctx_new(0);
            unsigned char *copy = malloc(x->module.size);
            jx_mlir_parts parts;

            module[i] = values[k];
            memcpy(copy, module, x->module.size);
            if (!jx_mlir_parts_read(ctx, "f", 100, copy, x->module.size,
                                    &parts)) {
                assert_int_equal(ctx->error.kind, JX_E_INPUT);
                assert_memory_equal(ctx->error.message, "module: ", 8);
                refusals++;
            }
            module[i] = before;
            free(copy);
            jx_ctx_free(ctx);
        }
    assert_true(refusals > 50);
    drop(&f);
}

static const char *origin(void *env, int input)
{
    (void)env;
    return input == 1 ? "params['w']" : input == 2 ? "pair.y" : NULL;
}

static void paths_are_as_jax_writes_them(void **state)
{
    fixture f = load("0.10.2-trees");
    const jx_exported *x = taken(&f);
    jx_exported_paths paths;
    (void)state;

    assert_true(jx_exported_paths_of(f.ctx, x, NULL, NULL, &paths));
    assert_string_equal(paths.ins[0], "args[0]['rest'][0]");
    assert_string_equal(paths.ins[3], "args[1].y");
    assert_string_equal(paths.ins[4], "flag");
    assert_string_equal(paths.outs[1], "result['y'].y");
    const char *const *ins, *const *outs;
    assert_true(jx_exported_document_paths(f.ctx, x, &ins, &outs));
    assert_string_equal(ins[1], "[0]['w']");
    assert_string_equal(ins[4], "['flag']");
    assert_string_equal(outs[0], "['y'].x");
    /* A name counts only where the rest is the path of that input. */
    assert_true(jx_exported_paths_of(f.ctx, x, origin, NULL, &paths));
    assert_string_equal(paths.args[0], "params");
    assert_null(paths.args[1]);
    assert_string_equal(paths.ins[0], "params['rest'][0]");
    drop(&f);
}

static void keywords_are_written_as_python_can(void **state)
{
    static const char *const texts[][2] = {
        {"flag", "flag"},         {"größe", "größe"},
        {"", "kwargs['']"},       {"2d", "kwargs['2d']"},
        {"a b", "kwargs['a b']"}, {"it's\n\x1b", "kwargs[\"it's\\n\\x1b\"]"}};
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        jx_buffer text = {0};
        jx_exported_keyword_print(texts[i][0], &text);
        assert_string_equal(jx_buffer_text(&text), texts[i][1]);
        jx_buffer_free(&text);
    }
}

static void custom_calls_are_known_by_name(void **state)
{
    (void)state;
    assert_string_equal(jx_custom_call_named("lapack_zgesdd_ffi")->what,
                        "singular values and vectors");
    assert_null(jx_custom_call_named("Sharding")->platform);
    assert_null(jx_custom_call_named("my_call"));
}

static void releases_have_their_days(void **state)
{
    jx_exported_release r = jx_exported_release_of(2);
    (void)state;

    assert_string_equal(r.from, "2023-12-16");
    assert_string_equal(r.before, "2025-11-23");
    assert_string_equal(jx_exported_release_of(11).before, "2026-07-29");
    assert_string_equal(jx_exported_release_of(12).before, "");
    assert_int_equal(jx_exported_release_of(99).version, 12);
}

/* ---- which releases load it */

static const char *answers(const char *name, jx_jax_answer answer)
{
    static char to[400];
    fixture f = load(name);
    const jx_exported *x = jx_exported_read(f.ctx, "f", f.bytes, f.size);
    jx_buffer text = {0};
    jx_jax_window window;
    jx_vhlo_need need;

    const jx_mlir_file *module =
        jx_bytecode_read(f.ctx, NULL, "f", x->module.at, x->module.size, 0);
    assert_non_null(module);
    assert_true(jx_vhlo_needs(f.ctx, module, &need));
    jx_jax_window_of(x, &need, &window);
    jx_jax_window_print(&window, answer, &text);
    snprintf(to, sizeof to, "%s", jx_buffer_text(&text));
    jx_buffer_free(&text);
    drop(&f);
    return to;
}

static void releases_load_what_they_know(void **state)
{
    (void)state;
    assert_string_equal(answers("0.6.2-trees", JX_JAX_LOADS),
                        "0.6.2 to 0.11.0");
    assert_string_equal(answers("0.6.2-trees", JX_JAX_COUNT_OLD),
                        "0.11.1 to 0.12.0.1");
    assert_string_equal(answers("0.6.2-sharded", JX_JAX_PROTOBUFS),
                        "0.11.1 to 0.12.0.1");
    assert_string_equal(answers("0.10.2-trees", JX_JAX_COUNT_NEW),
                        "0.6.2 to 0.8.1");
    assert_string_equal(answers("0.8.3-keys", JX_JAX_SHARDY), "0.6.2");
    assert_string_equal(answers("0.12.0.1-symbolic", JX_JAX_NUMBER),
                        "0.6.2 to 0.8.1");
    assert_string_equal(answers("0.12.0.1-symbolic", JX_JAX_STABLEHLO),
                        "0.8.2 to 0.10.2");
    assert_string_equal(answers("0.12.0.1-shard_map", JX_JAX_LOADS),
                        "0.10.1 to 0.12.0.1");
    assert_string_equal(answers("0.12.0.1-trees", JX_JAX_SHARDY), "");
}

static void releases_are_in_order(void **state)
{
    int last[4] = {0};

    (void)state;
    for (int i = 0; i < JX_JAX_RELEASES; i++) {
        int now[4] = {0};
        const jx_jax_release *r = jx_jax_release_at(i);

        sscanf(r->name, "%d.%d.%d.%d", &now[0], &now[1], &now[2], &now[3]);
        assert_true(now[0] > last[0] || now[1] > last[1] ||
                    (now[1] == last[1] && now[2] > last[2]) ||
                    (now[2] == last[2] && now[3] > last[3]));
        memcpy(last, now, sizeof last);
        assert_ptr_equal(jx_jax_release_named(r->name), r);
        assert_int_equal(jx_exported_release_of(r->format).version, r->format);
    }
    assert_null(jx_jax_release_named("0.5.0"));
}

/* Without the older table of avals, as JAX may write it one day. */
static void names_of_ops_are_shown_escaped(void **state)
{
    const jx_mlir_op op = {.name = "vhlo.\xaa\x1b[2J\n_v1"};
    const jx_vhlo_need need = {.unknown = &op};
    jx_buffer text = {0};
    (void)state;

    jx_jax_why(JX_JAX_STABLEHLO, &need, &text);
    assert_true(jx_utf8_valid(jx_buffer_text(&text), text.length, NULL));
    assert_null(strpbrk(jx_buffer_text(&text), "\x1b\n"));
    assert_non_null(strstr(jx_buffer_text(&text), "_v1, which is not known"));
    jx_buffer_free(&text);
}

static void avals_by_index_need_a_newer_release(void **state)
{
    fixture f = load("0.12.0.1-trees");
    const jx_exported *x = jx_exported_read(f.ctx, "f", f.bytes, f.size);
    jx_exported only = *x;
    jx_vhlo_need need = {0};

    (void)state;
    only.old_in_avals = only.old_out_avals = (jx_exported_avals){0};
    assert_int_equal(
        jx_jax_answer_of(jx_jax_release_named("0.9.2"), &only, &need),
        JX_JAX_INDEXES);
    assert_int_equal(
        jx_jax_answer_of(jx_jax_release_named("0.10.0"), &only, &need),
        JX_JAX_LOADS);
    drop(&f);
}

/* ---- writing */

static void what_jax_wrote_is_written_byte_for_byte(void **state)
{
    static const char *const makers[] = {"0.6.2", "0.8.3", "0.10.2",
                                         "0.12.0.1"};
    static const char *const names[] = {
        "trees",   "symbolic",  "vjp2",  "platforms", "checks", "keys",
        "sharded", "shard_map", "empty", "names",     "dtypes"};
    (void)state;

    for (size_t m = 0; m < sizeof makers / sizeof *makers; m++)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            char name[64];
            snprintf(name, sizeof name, "%s-%s", makers[m], names[n]);
            fixture f = load(name);
            jx_buffer text = {0};

            assert_true(jx_exported_write(taken(&f), JX_BUILDER_NEW, &text));
            assert_int_equal(text.length, f.size);
            assert_memory_equal(text.text, f.bytes, f.size);
            assert_int_equal(
                jx_exported_builder_of(f.ctx, taken(&f), f.bytes, f.size),
                JX_BUILDER_NEW);
            jx_buffer_free(&text);
            drop(&f);
        }
}

static void what_was_changed_is_read_again(void **state)
{
    static const unsigned char module[] = "ML\xefR and more";
    fixture f = load("0.10.2-sharded");
    jx_exported changed = *taken(&f);
    jx_buffer text = {0};
    (void)state;

    changed.name = "another";
    changed.module = (jx_exported_bytes){module, sizeof module};
    changed.stored_version = 12;
    changed.slots |= 1u << JX_XS_JAX_VERSION;
    changed.jax_version = "0.11.0";
    changed.vjp = taken(&f);
    changed.slots |= 1u << JX_XS_VJP;
    assert_true(jx_exported_write(&changed, JX_BUILDER_OLD, &text));
    const jx_exported *x = jx_exported_read(f.ctx, "f", text.text, text.length);
    assert_non_null(x);
    assert_string_equal(x->name, "another");
    assert_int_equal(x->module.size, sizeof module);
    assert_int_equal(jx_exported_version(x), 12);
    assert_string_equal(x->jax_version, "0.11.0");
    assert_int_equal(x->vjp->nins, 3);
    assert_string_equal(x->in_named[0]->mesh->names[0], "data");
    jx_buffer_free(&text);
    drop(&f);
}

static void tables_of_two_sizes_may_be_alike(void **state)
{
    size_t sizes[2];
    (void)state;

    for (int old = 0; old < 2; old++) {
        jx_flat_writer w = {.loose = old};
        jx_buffer text = {0};
        uint32_t tables[2];

        for (int i = 0; i < 2; i++) {
            jx_flat_write_begin(&w);
            jx_flat_write_scalar(&w, 0, 4, 7, 0);
            tables[i] = jx_flat_write_end(&w);
        }
        /* The second table begins behind the first one's vtable of 6 bytes. */
        jx_flat_write_begin(&w);
        jx_flat_write_offset(&w, 0, tables[0]);
        jx_flat_write_offset(&w, 1, tables[1]);
        assert_true(jx_flat_write_finish(&w, jx_flat_write_end(&w), &text));
        sizes[old] = text.length;
        jx_buffer_free(&text);
        jx_flat_write_free(&w);
    }
    assert_true(sizes[1] < sizes[0]);
}

/* ---- what is refused */

static void every_truncated_file_is_refused(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    for (size_t size = 0; size < f.size; size++) {
        jx_ctx *ctx = jx_ctx_new(0);
        unsigned char *copy = malloc(size ? size : 1);

        memcpy(copy, f.bytes, size);
        /* What ends a file is a module, a string or padding before. */
        if (jx_exported_read(ctx, "f", copy, size))
            assert_true(size > f.size - 4);
        else
            assert_non_null(ctx->error.message);
        free(copy);
        jx_ctx_free(ctx);
    }
    drop(&f);
}

static void the_root_may_lie_nowhere(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    put(f.bytes, f.size - 3, 4);
    refused(&f, "Exported: expected a table, the file ends at byte");
}

static void a_vtable_may_lie_nowhere(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    put(f.bytes + f.root.at, (uint32_t) - (int64_t)f.size, 4);
    refused(&f, "its vtable lies outside of the file");
    f = load("0.10.2-trees");
    put(f.bytes + f.root.vtable, 7, 2);
    refused(&f, "expected a vtable, its size can't be 7");
    f = load("0.10.2-trees");
    put(f.bytes + f.root.vtable + 2, 2, 2);
    refused(&f, "expected the size of the table");
}

static void a_field_may_lie_outside_of_its_table(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    put(f.bytes + f.root.vtable + 4 + 2 * JX_XS_NAME, f.root.size - 2, 2);
    refused(&f, "Exported.function_name: expected 4 bytes within the table");
}

static void an_offset_may_lead_nowhere(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    put(slot(&f, JX_XS_MODULE), 0x7fffffff, 4);
    refused(&f, "Exported.mlir_module_serialized: expected an offset");
    f = load("0.10.2-trees");
    put(slot(&f, JX_XS_IN_TREE), 0, 4);
    refused(&f, "Exported.in_tree: expected an offset");
}

static void a_count_may_lie(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    put(target(slot(&f, JX_XS_PLATFORMS)), 0x40000001, 4);
    refused(&f, "Exported.platforms: expected a count, 1073741825 items");
    f = load("0.10.2-trees");
    put(target(slot(&f, JX_XS_MODULE)), 0xffffffff, 4);
    refused(&f, "expected a count");
    f = load("0.10.2-trees");
    put(target(slot(&f, JX_XS_MODULE)), 0, 4);
    refused(&f, "Exported.mlir_module_serialized: expected a module");
}

static void texts_are_texts(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    target(slot(&f, JX_XS_NAME))[4] = 0xff;
    refused(&f, "Exported.function_name: expected UTF-8");
    f = load("0.10.2-trees");
    target(slot(&f, JX_XS_NAME))[4] = 0;
    refused(&f, "Exported.function_name: expected text, found a NUL");
    f = load("0.10.2-trees");
    target(slot(&f, JX_XS_NAME))[5] = 'g';
    refused(&f, "Exported.function_name: expected the NUL that ends");
}

static void trees_and_avals_agree(void **state)
{
    fixture f = load("0.10.2-trees");
    uint32_t n = get(target(slot(&f, JX_XS_IN_AVALS_IDXS)));
    (void)state;

    put(target(slot(&f, JX_XS_IN_AVALS_IDXS)), n - 1, 4);
    refused(&f, "expected a sharding for each of 5 avals, found 6");
    f = load("0.10.2-trees");
    /* The inputs' tree in place of the outputs'. */
    put(slot(&f, JX_XS_OUT_TREE),
        (uint32_t)(target(slot(&f, JX_XS_IN_TREE)) - slot(&f, JX_XS_OUT_TREE)),
        4);
    refused(&f, "Exported.out_tree: expected a leaf for each of 3 outputs, "
                "found 6");
}

static void indexes_are_in_range(void **state)
{
    fixture f = load("0.10.2-trees");
    (void)state;

    put(target(slot(&f, JX_XS_IN_AVALS_IDXS)) + 8, 77, 4);
    refused(&f, "Exported.in_avals_idxs: expected one of 6 avals, found 77");
    f = load("0.10.2-sharded");
    put(target(slot(&f, JX_XS_OUT_SHARDINGS_IDXS)) + 4, 9, 4);
    refused(&f, "expected one of 2 shardings, found 9");
    f = load("0.10.2-trees");
    put(target(slot(&f, JX_XS_KEPT)) + 4, 6, 2);
    refused(&f, "module_kept_var_idx: expected increasing indexes of 6");
    f = load("0.10.2-trees");
    put(target(slot(&f, JX_XS_KEPT)) + 6, 0, 2);
    refused(&f, "expected increasing indexes");
}

static void a_protobuf_may_lie(void **state)
{
    fixture f = load("0.6.2-sharded");
    const jx_exported *x = taken(&f);
    size_t at = (size_t)(x->old_in_shardings.at[0].hlo_bytes.at - f.bytes);
    (void)state;

    f.bytes[at + 1] = 2;
    refused(&f, "in_shardings[0].hlo_sharding_proto: expected the sharding of "
                "one array");
    f = load("0.6.2-sharded");
    f.bytes[at] = 0x7f;
    refused(&f, "expected a wire type");
    f = load("0.6.2-sharded");
    f.bytes[at + 3] = 0x7f;
    refused(&f, "expected a length within the message");
}

static void an_unreadable_dim_is_named(void **state)
{
    fixture f = load("0.10.2-symbolic");
    const jx_exported *x = taken(&f);
    jx_dims *dims = jx_dims_new(f.ctx);
    (void)state;

    f.bytes[(const unsigned char *)x->in_avals[0]->shape[1] - f.bytes] = '*';
    assert_null(jx_exported_shape(dims, x, x->in_avals[0], 0));
    assert_non_null(strstr(f.ctx->error.message, "axis 1 of this aval is '*'"));
    assert_memory_equal(f.ctx->error.place, "byte ", 5);
    drop(&f);
}

/* ---- blow-ups, from scratch */

enum { LEVELS = 40, NODE = 24 };

/* A tree of LEVELS vectors, each holding the next one twice: 2^LEVELS leaves
 * in less than 2 KiB.  The reader must give up early. */
static void a_huge_tree_is_refused(void **state)
{
    fixture f = load("0.10.2-trees");
    size_t size = f.size + 32 + LEVELS * NODE + 64, at = f.size;
    unsigned char *bytes = calloc(1, size);
    jx_ctx *ctx = jx_ctx_new(0);
    (void)state;

    at = (at + 3) & ~(size_t)3;
    memcpy(bytes, f.bytes, f.size);
    size_t vtable = at;
    put(bytes + at, 8, 2);
    put(bytes + at + 2, 12, 2);
    put(bytes + at + 4, 8, 2); /* kind */
    put(bytes + at + 6, 4, 2); /* children */
    put(bytes + at + 8, 4, 2); /* and one without slots, of a leaf */
    put(bytes + at + 10, 4, 2);
    at += 12;
    size_t field = jx_flat_where(&f.flat, &f.root, JX_XS_IN_TREE);
    put(bytes + field, at - field, 4);
    for (int i = 0; i < LEVELS; i++, at += NODE) {
        put(bytes + at, at - vtable, 4);
        put(bytes + at + 4, 8, 4);
        put(bytes + at + 8, JX_TREE_TUPLE, 1);
        put(bytes + at + 12, 2, 4);
        put(bytes + at + 16, 8, 4);
        put(bytes + at + 20, 4, 4);
    }
    put(bytes + at, at - vtable - 8, 4);
    assert_null(jx_exported_read(ctx, "f", bytes, size));
    assert_non_null(strstr(ctx->error.message, "share so much"));
    assert_true(jx_arena_used(ctx->arena) < 64 * size);
    jx_ctx_free(ctx);
    free(bytes);
    drop(&f);
}

static void depth_is_limited(void **state)
{
    fixture f = load("0.10.2-empty");
    (void)state;

    for (int i = 1; i < JX_FLAT_DEPTH; i++)
        assert_true(jx_flat_enter(&f.flat, "children", i));
    assert_false(jx_flat_enter(&f.flat, "children", 0));
    assert_non_null(strstr(f.ctx->error.message, "nested deeper than"));
    drop(&f);
}

/* Every byte set to several values: no crash, and an error or a result. */
static void any_byte_may_be_wrong(void **state)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    fixture f = load("0.6.2-sharded");
    (void)state;

    for (size_t i = 0; i < f.size; i++)
        for (size_t k = 0; k < sizeof values; k++) {
            unsigned char before = f.bytes[i];
            jx_ctx *ctx = jx_ctx_new(0);

            f.bytes[i] = values[k];
            const jx_exported *x = jx_exported_read(ctx, "f", f.bytes, f.size);
            assert_true(x || ctx->error.kind == JX_E_INPUT);
            assert_true(jx_arena_used(ctx->arena) < 64 * f.size);
            f.bytes[i] = before;
            jx_ctx_free(ctx);
        }
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_tree_is_read),
        cmocka_unit_test(symbolic_sizes_become_dims),
        cmocka_unit_test(vjps_nest),
        cmocka_unit_test(old_files_have_protobufs),
        cmocka_unit_test(new_files_have_named_shardings),
        cmocka_unit_test(keys_have_their_implementation),
        cmocka_unit_test(files_are_recognized),
        cmocka_unit_test(a_modules_bytes_are_all_accounted_for),
        cmocka_unit_test(a_module_may_lie),
        cmocka_unit_test(paths_are_as_jax_writes_them),
        cmocka_unit_test(keywords_are_written_as_python_can),
        cmocka_unit_test(custom_calls_are_known_by_name),
        cmocka_unit_test(releases_have_their_days),
        cmocka_unit_test(releases_load_what_they_know),
        cmocka_unit_test(releases_are_in_order),
        cmocka_unit_test(names_of_ops_are_shown_escaped),
        cmocka_unit_test(avals_by_index_need_a_newer_release),
        cmocka_unit_test(what_jax_wrote_is_written_byte_for_byte),
        cmocka_unit_test(what_was_changed_is_read_again),
        cmocka_unit_test(tables_of_two_sizes_may_be_alike),
        cmocka_unit_test(every_truncated_file_is_refused),
        cmocka_unit_test(the_root_may_lie_nowhere),
        cmocka_unit_test(a_vtable_may_lie_nowhere),
        cmocka_unit_test(a_field_may_lie_outside_of_its_table),
        cmocka_unit_test(an_offset_may_lead_nowhere),
        cmocka_unit_test(a_count_may_lie),
        cmocka_unit_test(texts_are_texts),
        cmocka_unit_test(trees_and_avals_agree),
        cmocka_unit_test(indexes_are_in_range),
        cmocka_unit_test(a_protobuf_may_lie),
        cmocka_unit_test(an_unreadable_dim_is_named),
        cmocka_unit_test(a_huge_tree_is_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(any_byte_may_be_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
