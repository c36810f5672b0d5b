/* exported.c - see exported.h.
 *
 * The order of everything is that of jax/_src/export/serialization.py, which
 * has not changed between versions: each added its own at the end. */
#include "frontend/write/exported.h"

#include "frontend/write/flatbuffer.h"

#include <stdlib.h>
#include <string.h>

typedef jx_flat_writer writer;

/* ---- vectors of tables */

/* Offsets of what is written, before their vector. */
static uint32_t *offsets(writer *w, int count)
{
    uint32_t *at = calloc((size_t)count + 1, sizeof *at);

    if (!at)
        jx_flat_starve(w);
    return at;
}

static uint32_t write_offsets(writer *w, uint32_t *at, int count)
{
    uint32_t vector = at ? jx_flat_write_offsets(w, at, (size_t)count) : 0;

    free(at);
    return vector;
}

static uint32_t write_texts(writer *w, const jx_exported_texts *texts)
{
    uint32_t *at = offsets(w, texts->count);

    for (int i = 0; at && i < texts->count; i++)
        at[i] = jx_flat_write_text(w, texts->at[i]);
    return write_offsets(w, at, texts->count);
}

/* ---- trees */

static uint32_t write_tree(writer *w, const jx_tree *tree)
{
    uint32_t children = 0, names = 0, custom = 0, aux = 0;

    if (tree->nchildren) {
        uint32_t *at = offsets(w, tree->nchildren);
        for (int i = 0; at && i < tree->nchildren; i++)
            at[i] = write_tree(w, &tree->children[i]);
        children = write_offsets(w, at, tree->nchildren);
    }
    if (tree->kind == JX_TREE_DICT)
        names =
            write_texts(w, &(jx_exported_texts){tree->nchildren, tree->names});
    if (tree->kind == JX_TREE_CUSTOM) {
        custom = jx_flat_write_text(w, tree->custom);
        aux = jx_flat_write_bytes(w, tree->aux.at, tree->aux.size);
    }
    jx_flat_write_begin(w);
    jx_flat_write_scalar(w, 0, 1, tree->kind, 0);
    jx_flat_write_offset(w, 1, children);
    jx_flat_write_offset(w, 2, names);
    jx_flat_write_offset(w, 3, custom);
    jx_flat_write_offset(w, 4, aux);
    return jx_flat_write_end(w);
}

/* ---- avals, meshes, shardings */

static uint32_t write_aval(writer *w, const jx_exported_aval *aval)
{
    uint32_t shape =
        write_texts(w, &(jx_exported_texts){aval->rank, aval->shape});

    jx_flat_write_begin(w);
    jx_flat_write_scalar(w, 0, 1, (uint64_t)aval->kind, 0);
    jx_flat_write_offset(w, 1, shape);
    jx_flat_write_scalar(w, 2, 1, aval->dtype_code, 0);
    jx_flat_write_scalar(w, 3, 1, aval->memory_space, 0);
    return jx_flat_write_end(w);
}

static uint32_t write_avals(writer *w, const jx_exported_avals *avals)
{
    uint32_t *at = offsets(w, avals->count);

    for (int i = 0; at && i < avals->count; i++)
        at[i] = write_aval(w, &avals->at[i]);
    return write_offsets(w, at, avals->count);
}

static uint32_t write_device(writer *w, const jx_exported_mesh *mesh)
{
    uint32_t kind, platform;

    if (!mesh->has_device)
        return 0;
    kind = jx_flat_write_text(w, mesh->device);
    platform = mesh->platform ? jx_flat_write_text(w, mesh->platform) : 0;
    jx_flat_write_begin(w);
    jx_flat_write_offset(w, 0, kind);
    if (mesh->has_cores)
        jx_flat_write_always(w, 1, 4, mesh->cores);
    jx_flat_write_offset(w, 2, platform);
    return jx_flat_write_end(w);
}

static uint32_t write_mesh(writer *w, const jx_exported_mesh *mesh)
{
    uint32_t sizes =
        jx_flat_write_vector(w, mesh->sizes, (size_t)mesh->naxes, 4);
    uint32_t names =
        write_texts(w, &(jx_exported_texts){mesh->naxes, mesh->names});
    uint32_t types = jx_flat_write_bytes(w, mesh->types, (size_t)mesh->ntypes);
    uint32_t device = write_device(w, mesh);

    jx_flat_write_begin(w);
    jx_flat_write_offset(w, 0, sizes);
    jx_flat_write_offset(w, 1, names);
    jx_flat_write_offset(w, 2, types);
    jx_flat_write_offset(w, 3, device);
    return jx_flat_write_end(w);
}

static uint32_t write_meshes(writer *w, const jx_exported_mesh *meshes,
                             int count)
{
    uint32_t *at = offsets(w, count);

    for (int i = 0; at && i < count; i++)
        at[i] = write_mesh(w, &meshes[i]);
    return write_offsets(w, at, count);
}

static uint32_t write_axis(writer *w, const jx_exported_texts *axes)
{
    uint32_t texts = write_texts(w, axes);

    jx_flat_write_begin(w);
    jx_flat_write_offset(w, 0, texts);
    return jx_flat_write_end(w);
}

static uint32_t write_spec(writer *w, const jx_exported_spec *spec)
{
    uint32_t *at = offsets(w, spec->count), partitions, reduced, unreduced;

    for (int i = 0; at && i < spec->count; i++)
        at[i] = write_axis(w, &spec->axes[i]);
    partitions = write_offsets(w, at, spec->count);
    reduced = write_texts(w, &spec->reduced);
    unreduced = write_texts(w, &spec->unreduced);
    jx_flat_write_begin(w);
    jx_flat_write_offset(w, 0, partitions);
    jx_flat_write_offset(w, 1, reduced);
    jx_flat_write_offset(w, 2, unreduced);
    return jx_flat_write_end(w);
}

static uint32_t write_named(writer *w, const jx_exported_named *named)
{
    uint32_t mesh = named->has_own ? write_mesh(w, &named->own) : 0;
    uint32_t spec = write_spec(w, &named->spec);
    uint32_t memory =
        named->memory_kind ? jx_flat_write_text(w, named->memory_kind) : 0;

    jx_flat_write_begin(w);
    jx_flat_write_offset(w, 0, mesh);
    jx_flat_write_offset(w, 1, spec);
    jx_flat_write_offset(w, 2, memory);
    jx_flat_write_scalar(w, 3, 4, named->mesh_index, 0);
    return jx_flat_write_end(w);
}

static uint32_t write_all_named(writer *w, const jx_exported_named *named,
                                int count)
{
    uint32_t *at = offsets(w, count);

    for (int i = 0; at && i < count; i++)
        at[i] = write_named(w, &named[i]);
    return write_offsets(w, at, count);
}

static uint32_t write_sharding(writer *w, const jx_exported_sharding *sharding)
{
    const jx_exported_bytes *bytes = &sharding->hlo_bytes;
    uint32_t named = sharding->named ? write_named(w, sharding->named) : 0;
    uint32_t hlo =
        bytes->at ? jx_flat_write_bytes(w, bytes->at, bytes->size) : 0;

    jx_flat_write_begin(w);
    jx_flat_write_scalar(w, 0, 1, (uint64_t)sharding->kind, 0);
    jx_flat_write_offset(w, 1, hlo);
    jx_flat_write_offset(w, 2, named);
    return jx_flat_write_end(w);
}

static uint32_t write_shardings(writer *w,
                                const jx_exported_shardings *shardings)
{
    uint32_t *at = offsets(w, shardings->count);

    for (int i = 0; at && i < shardings->count; i++)
        at[i] = write_sharding(w, &shardings->at[i]);
    return write_offsets(w, at, shardings->count);
}

/* ---- effects and checks */

static uint32_t write_effects(writer *w, const jx_exported_texts *effects)
{
    uint32_t *at = offsets(w, effects->count);

    for (int i = 0; at && i < effects->count; i++) {
        uint32_t name = jx_flat_write_text(w, effects->at[i]);
        jx_flat_write_begin(w);
        jx_flat_write_offset(w, 0, name);
        at[i] = jx_flat_write_end(w);
    }
    return write_offsets(w, at, effects->count);
}

static uint32_t write_checks(writer *w, const jx_exported *x)
{
    uint32_t *at = offsets(w, x->nchecks);

    for (int i = 0; at && i < x->nchecks; i++) {
        uint32_t target = x->checks[i].target
                              ? jx_flat_write_text(w, x->checks[i].target)
                              : 0;
        jx_flat_write_begin(w);
        jx_flat_write_scalar(w, 0, 1, (uint64_t)x->checks[i].kind, 0);
        jx_flat_write_offset(w, 1, target);
        at[i] = jx_flat_write_end(w);
    }
    return write_offsets(w, at, x->nchecks);
}

/* ---- the root */

static uint32_t write_root(writer *w, const jx_exported *x);

static uint32_t write_idxs(writer *w, const jx_exported_indexes *indexes)
{
    return jx_flat_write_vector(w, indexes->at, (size_t)indexes->count, 4);
}

/* What the root refers to, by slot; what the file does not have stays 0. */
static void write_fields(writer *w, const jx_exported *x, uint32_t *to)
{
#define PUT(slot, written)                                                     \
    do {                                                                       \
        if (x->slots >> (slot)&1)                                              \
            to[slot] = (written);                                              \
    } while (0)
    PUT(JX_XS_NAME, jx_flat_write_text(w, x->name));
    PUT(JX_XS_IN_TREE, write_tree(w, &x->in_tree));
    PUT(JX_XS_IN_AVALS, write_avals(w, &x->old_in_avals));
    PUT(JX_XS_OUT_TREE, write_tree(w, &x->out_tree));
    PUT(JX_XS_OUT_AVALS, write_avals(w, &x->old_out_avals));
    PUT(JX_XS_IN_SHARDINGS, write_shardings(w, &x->old_in_shardings));
    PUT(JX_XS_OUT_SHARDINGS, write_shardings(w, &x->old_out_shardings));
    PUT(JX_XS_ORDERED_EFFECTS, write_effects(w, &x->ordered_effects));
    PUT(JX_XS_UNORDERED_EFFECTS, write_effects(w, &x->unordered_effects));
    PUT(JX_XS_CHECKS, write_checks(w, x));
    PUT(JX_XS_PLATFORMS, write_texts(w, &x->platforms));
    PUT(JX_XS_MODULE, jx_flat_write_bytes(w, x->module.at, x->module.size));
    PUT(JX_XS_KEPT, jx_flat_write_vector(w, x->kept, (size_t)x->nkept, 2));
    PUT(JX_XS_VJP, x->vjp ? write_root(w, x->vjp) : 0);
    PUT(JX_XS_UNIQUE_AVALS, write_avals(w, &x->unique_avals));
    PUT(JX_XS_MESHES, write_meshes(w, x->meshes, x->nmeshes));
    PUT(JX_XS_UNIQUE_NAMED,
        write_all_named(w, x->unique_named, x->nunique_named));
    PUT(JX_XS_IN_AVALS_IDXS, write_idxs(w, &x->in_avals_idxs));
    PUT(JX_XS_OUT_AVALS_IDXS, write_idxs(w, &x->out_avals_idxs));
    PUT(JX_XS_IN_SHARDINGS_IDXS, write_idxs(w, &x->in_shardings_idxs));
    PUT(JX_XS_OUT_SHARDINGS_IDXS, write_idxs(w, &x->out_shardings_idxs));
    PUT(JX_XS_JAX_VERSION,
        x->jax_version ? jx_flat_write_text(w, x->jax_version) : 0);
#undef PUT
}

/* Slots in the order of the table, but that the number of devices keeps the
 * place it had when it was short. */
static uint32_t write_root(writer *w, const jx_exported *x)
{
    uint32_t at[JX_EXPORTED_SLOTS] = {0};

    write_fields(w, x, at);
    jx_flat_write_begin(w);
    for (unsigned i = 0; i < JX_EXPORTED_SLOTS; i++)
        switch (i) {
        case JX_XS_VERSION:
            jx_flat_write_scalar(w, i, 2, (uint64_t)x->stored_version, 0);
            break;
        case JX_XS_DEVICES_SHORT:
            jx_flat_write_scalar(w, JX_XS_DEVICES, 4, x->devices_long, 0);
            jx_flat_write_scalar(w, i, 2, (uint16_t)x->devices_short, 0);
            break;
        case JX_XS_CONVENTION:
            jx_flat_write_scalar(w, i, 2, (uint64_t)x->calling_convention, 0);
            break;
        case JX_XS_GLOBAL_CONSTANTS:
            jx_flat_write_scalar(w, i, 1, x->uses_global_constants, 0);
            break;
        case JX_XS_DEVICES: break;
        default: jx_flat_write_offset(w, i, at[i]);
        }
    return jx_flat_write_end(w);
}

bool jx_exported_write(const jx_exported *exported, jx_exported_builder builder,
                       jx_buffer *to)
{
    writer w = {.loose = builder == JX_BUILDER_OLD};
    uint32_t root = write_root(&w, exported);
    bool ok = jx_flat_write_finish(&w, root, to);

    jx_flat_write_free(&w);
    return ok;
}

jx_exported_builder jx_exported_builder_of(jx_ctx *ctx,
                                           const jx_exported *exported,
                                           const void *bytes, size_t size)
{
    jx_exported_builder found = JX_BUILDERS;

    for (int i = 0; i < JX_BUILDERS && found == JX_BUILDERS; i++) {
        jx_buffer text = jx_ctx_text(ctx);
        if (jx_exported_write(exported, (jx_exported_builder)i, &text) &&
            text.length == size && memcmp(text.text, bytes, size) == 0)
            found = (jx_exported_builder)i;
        jx_buffer_free(&text);
    }
    return found;
}
