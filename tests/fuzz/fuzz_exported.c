/* fuzz_exported.c - exported files, mutated as flatbuffers.
 *
 * What the reader takes must hold together (indexes in range, texts ended);
 * what it refuses has an error with a byte; either way memory stays below 64
 * times the file.  The mutator knows what a flatbuffer is made of: it changes
 * offsets, counts and fields of vtables to others that are near, so that most
 * mutants get past the first table. */
#include "frontend/base/json.h"
#include "frontend/base/utf8.h"
#include "frontend/mlir/parts.h"
#include "frontend/read/exported_paths.h"
#include "frontend/read/exported_window.h"
#include "frontend/write/exported.h"
#include "reports/formats/exported_info.h"
#include "tests/fuzz/commands.h"

static size_t walk_tree(const jx_tree *tree)
{
    size_t all = tree->custom ? strlen(tree->custom) : 0;

    for (int i = 0; i < tree->nchildren; i++) {
        all += walk_tree(&tree->children[i]);
        if (tree->names)
            all += strlen(tree->names[i]);
    }
    return all;
}

static size_t walk_named(const jx_exported_named *named)
{
    size_t all = 0;

    for (int i = 0; named && i < named->mesh->naxes; i++)
        all += strlen(named->mesh->names[i]);
    for (int i = 0; named && i < named->spec.count; i++)
        for (int k = 0; k < named->spec.axes[i].count; k++)
            all += strlen(named->spec.axes[i].at[k]);
    return all;
}

/* Each release has an answer, whatever the table says. */
static void ask_releases(const jx_exported *x)
{
    const int stablehlo[3] = {1, 15, 0};
    jx_vhlo_need need = {0};
    jx_jax_window window;
    jx_buffer text = {0};

    jx_jax_window_of(x, &need, &window);
    jx_jax_writers_print(x, stablehlo, &text);
    for (int i = 0; i < JX_JAX_ANSWERS; i++) {
        jx_jax_window_print(&window, (jx_jax_answer)i, &text);
        jx_jax_why((jx_jax_answer)i, &need, &text);
        check(jx_jax_help((jx_jax_answer)i) || i == JX_JAX_LOADS);
    }
    jx_buffer_free(&text);
}

/* Touches all that the reader gives out. */
static void walk(const jx_exported *x)
{
    size_t all = strlen(x->name) + walk_tree(&x->in_tree) +
                 walk_tree(&x->out_tree) + x->module.at[x->module.size - 1];
    jx_buffer text = {0};

    for (int i = 0; i < x->nins; i++) {
        all += walk_named(x->in_named[i]);
        if (x->in_hlo[i])
            jx_op_sharding_print(x->in_hlo[i], &text);
    }
    for (int i = 0; i < x->nouts; i++)
        all += walk_named(x->out_named[i]) + x->out_avals[i]->dtype;
    for (int i = 0; i < x->nkept; i++)
        check(x->kept[i] < x->nins);
    check(x->in_tree.leaves == x->nins && x->out_tree.leaves == x->nouts);
    check(jx_exported_version(x) > 0 && jx_exported_vjps(x) >= 0);
    ask_releases(x);
    jx_buffer_free(&text);
    if (x->vjp)
        walk(x->vjp);
    check(all != SIZE_MAX);
}

static void put_leaf(void *env, int leaf, jx_buffer *to)
{
    check(leaf < *(int *)env);
    jx_buffer_putc(to, '*');
}

static void walk_paths(jx_ctx *ctx, const jx_exported *x)
{
    jx_exported_paths paths;
    jx_buffer text = {0};
    int next = 0, count = x->nins;

    if (jx_exported_paths_of(ctx, x, NULL, NULL, &paths))
        for (int i = 0; i < x->nins; i++)
            check(strlen(paths.ins[i]) > 0);
    jx_tree_print(ctx, &x->in_tree, put_leaf, &count, &next, &text);
    check(next == count);
    jx_buffer_free(&text);
}

/* What is written reads again, and writes the same. */
static void check_round_trip(const jx_exported *x)
{
    jx_ctx *ctx = jx_ctx_new(64 << 20);
    jx_buffer first = {0}, second = {0};

    check(jx_exported_write(x, JX_BUILDER_NEW, &first));
    x = jx_exported_read(ctx, "-", first.text, first.length);
    check(x && jx_exported_write(x, JX_BUILDER_NEW, &second));
    check(first.length == second.length &&
          !memcmp(first.text, second.text, first.length));
    jx_buffer_free(&first);
    jx_buffer_free(&second);
    jx_ctx_free(ctx);
}

static void walk_shapes(jx_ctx *ctx, const jx_exported *x)
{
    jx_dims *dims = jx_dims_new(ctx);

    for (int i = 0; dims && i < x->nins; i++)
        if (!jx_exported_shape(dims, x, x->in_avals[i], 0))
            return;
}

/* What `jaxvet info` says, of every eighth file: it reads the module, too. */
static void say(const char *bytes, size_t size)
{
    jx_ctx *ctx = jx_ctx_new(64 << 20);
    jx_exported_info info;
    jx_buffer text = {0};
    jx_json_fault fault;
    jx_json *json;

    if (jx_exported_info_of(ctx, "-", bytes, size, true, &info)) {
        jx_exported_text(&info, &text);
        check(jx_utf8_valid(jx_buffer_text(&text), text.length, NULL));
        jx_buffer_clear(&text);
        jx_exported_json(&info, &text);
        json = jx_json_parse(ctx, jx_buffer_text(&text), text.length - 1, false,
                             &fault);
        check(json || !fault.expected);
        jx_json_free(json);
    } else {
        check(ctx->error.kind != JX_E_INTERNAL && ctx->error.message);
    }
    jx_buffer_free(&text);
    jx_ctx_free(ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FIRST = 1 << 14 }; /* what any file costs */
    jx_ctx *ctx = jx_ctx_new(64 << 20);
    char *copy = fuzz_copy(data, size);

    const jx_exported *x = jx_exported_read(ctx, "-", copy, size);
    check(x || (ctx->error.kind == JX_E_INPUT && ctx->error.message &&
                ctx->error.place));
    check(jx_arena_used(ctx->arena) < 64 * size + FIRST);
    if (jx_is_exported(NULL, copy, size))
        check(jx_may_be_exported(NULL, copy, size));
    if (x) {
        jx_mlir_parts parts;
        size_t before = jx_arena_used(ctx->arena);
        walk(x);
        walk_paths(ctx, x);
        check(jx_arena_used(ctx->arena) - before < 64 * size + FIRST);
        check_round_trip(x);
        walk_shapes(ctx, x);
        jx_mlir_parts_read(ctx, "-", 0, x->module.at, x->module.size, &parts);
        if (jx_hash_bytes(data, size) % 8 == 0)
            say(copy, size);
    }
    free(copy);
    jx_ctx_free(ctx);
    fuzz_commands(data, size);
    return 0;
}

/* ---- the mutator */

static uint32_t get(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, 4);
    return value;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    size_t at;
    uint32_t value;
    uint16_t half;

    if (size < 16 || rand_r(&seed) % 8 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    /* The tables of a file lie around its module, which is of no interest. */
    at = (size_t)rand_r(&seed) % (size - 4);
    if (rand_r(&seed) % 2)
        at %= size < 512 ? size - 4 : 512;
    at &= ~(size_t)1;
    value = get(data + at);
    switch (rand_r(&seed) % 6) {
    case 0: /* a field elsewhere, or absent */
        half = (uint16_t)(rand_r(&seed) % 2 ? 0 : 4 * (rand_r(&seed) % 24));
        memcpy(data + at, &half, 2);
        return size;
    case 1: value += (uint32_t)(4 * (rand_r(&seed) % 17) - 32); break;
    case 2: /* to some other place */
        value = (uint32_t)((size_t)rand_r(&seed) % size);
        break;
    case 3: /* what another place refers to */
        value = get(data + ((size_t)rand_r(&seed) % (size - 4) & ~(size_t)3));
        break;
    case 4: value = (uint32_t)(rand_r(&seed) % 40); break;
    default: value = (uint32_t)rand_r(&seed) * 2; break;
    }
    memcpy(data + (at & ~(size_t)3), &value, 4);
    return size;
}
