/* exported_info.c - see exported_info.h. */
#include "reports/formats/exported_info.h"

#include "analyzer/infer.h"
#include "analyzer/typing.h"
#include "frontend/base/map.h"
#include "frontend/base/utf8.h"
#include "frontend/base/vec.h"
#include "frontend/mlir/vhlo.h"
#include "frontend/read/stablehlo.h"

#include <stdlib.h>
#include <string.h>

static const jx_dim *const *const *
shapes_of(jx_exported_info *to, int count, const jx_exported_aval *const *avals)
{
    const jx_dim *const **at =
        JX_NEW_ARRAY(to->ctx->arena, count, const jx_dim *const *);

    for (int i = 0; at && i < count; i++) {
        at[i] = jx_exported_shape(to->dims, to->exported, avals[i], 0);
        if (!at[i])
            return NULL;
    }
    return at;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef JX_VEC(const char *) texts;

static void add_vars(jx_exported_info *to, jx_map *seen, texts *names,
                     const jx_dim *dim)
{
    int count = 0;
    const jx_dim_atom *const *vars =
        jx_dim_value(dim) >= 0 ? NULL : jx_dim_vars(to->dims, dim, &count);

    for (int v = 0; vars && v < count; v++)
        if (jx_map_add(seen, vars[v]))
            JX_PUSH(to->ctx->arena, names, vars[v]->name);
}

/* Every size of the inputs' shapes, and of the outputs' (which have no other,
 * if the file is right). */
static void collect_vars(jx_exported_info *to)
{
    texts names = {0};
    jx_map seen;
    const jx_exported *x = to->exported;

    jx_map_init(&seen, to->ctx->arena);
    for (int i = 0; i < x->nins; i++)
        for (int axis = 0; axis < x->in_avals[i]->rank; axis++)
            add_vars(to, &seen, &names, to->ins[i][axis]);
    for (int i = 0; i < x->nouts; i++)
        for (int axis = 0; axis < x->out_avals[i]->rank; axis++)
            add_vars(to, &seen, &names, to->outs[i][axis]);
    if (names.count)
        qsort(names.at, names.count, sizeof *names.at, compare_names);
    to->nvars = (int)names.count;
    to->vars = names.at;
}

/* A module that is no program is no reason to say nothing of the file. */
static void read_program(jx_exported_info *to)
{
    const jx_mlir_file *file = jx_vhlo_to_stablehlo(to->ctx, to->module);
    jx_program *program =
        file ? jx_read_exported_program(file, to->exported, jx_infer_reading)
             : NULL;

    const jx_typed *typed = program ? jx_typed_of(program) : NULL;

    if (typed && jx_cost_of(typed, &to->cost) &&
        jx_reshards_of(program, &to->reshards)) {
        to->program = program;
        return;
    }
    to->unread =
        to->ctx->error.message ? to->ctx->error.message : "there is no memory";
    if (!jx_arena_failed(to->ctx->arena))
        jx_error_clear(to->ctx);
}

bool jx_exported_info_of(jx_ctx *ctx, const char *path, const void *bytes,
                         size_t size, bool whole, jx_exported_info *to)
{
    const jx_exported *x = jx_exported_read(ctx, path, bytes, size);
    size_t at;

    *to = (jx_exported_info){
        .ctx = ctx, .path = path, .exported = x, .size = size};
    if (!x)
        return false;
    to->dims = jx_dims_new(ctx);
    if (!to->dims)
        return jx_ok(ctx);
    to->ins = shapes_of(to, x->nins, x->in_avals);
    to->outs = to->ins ? shapes_of(to, x->nouts, x->out_avals) : NULL;
    if (!to->outs)
        return false;
    collect_vars(to);
    at = (size_t)(x->module.at - (const unsigned char *)bytes);
    if (!jx_mlir_parts_read(ctx, path, at, x->module.at, x->module.size,
                            &to->parts) ||
        !jx_exported_ops_of(to, at) || !jx_exported_loads_of(to))
        return false;
    if (whole || to->nvars || to->ops <= JX_EXPORTED_INFO_OPS)
        read_program(to);
    else
        to->unread = "it is long, and read whole with --cost only";
    return jx_ok(ctx);
}

/* ---- pieces of text */

void jx_exported_aval_print(const jx_exported_aval *aval,
                            const jx_dim *const *shape, jx_buffer *to)
{
    jx_aval like = {.dtype = aval->dtype,
                    .impl = aval->impl,
                    .rank = aval->rank,
                    .shape = shape};

    jx_aval_print(&like, to);
    if (aval->memory_space > 1)
        jx_buffer_printf(to, "@%s", jx_exported_memory(aval));
}

void jx_exported_mesh_print(const jx_exported_mesh *mesh, jx_buffer *to)
{
    static const char *const types[] = {"", "", " (explicit)", " (manual)"};

    for (int i = 0; i < mesh->naxes; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        jx_utf8_show(mesh->names[i], to);
        jx_buffer_printf(to, "=%u%s", mesh->sizes[i],
                         mesh->ntypes ? types[mesh->types[i]] : "");
    }
    if (!mesh->has_device)
        return;
    jx_buffer_puts(to, " of ");
    jx_utf8_show(mesh->device, to);
    if (mesh->has_cores)
        jx_buffer_printf(to, " (%u cores)", mesh->cores);
}

static void put_axes(const jx_exported_texts *axes, jx_buffer *to)
{
    if (axes->count == 0)
        jx_buffer_puts(to, "None");
    if (axes->count > 1)
        jx_buffer_putc(to, '(');
    for (int i = 0; i < axes->count; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        jx_utf8_repr(axes->at[i], to);
    }
    if (axes->count > 1)
        jx_buffer_putc(to, ')');
}

static void put_set(const char *name, const jx_exported_texts *axes,
                    jx_buffer *to)
{
    if (!axes->count)
        return;
    jx_buffer_printf(to, ", %s={", name);
    for (int i = 0; i < axes->count; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        jx_utf8_repr(axes->at[i], to);
    }
    jx_buffer_putc(to, '}');
}

void jx_exported_spec_print(const jx_exported_spec *spec, jx_buffer *to)
{
    jx_buffer_puts(to, "P(");
    for (int i = 0; i < spec->count; i++) {
        jx_buffer_puts(to, i ? ", " : "");
        put_axes(&spec->axes[i], to);
    }
    put_set("reduced", &spec->reduced, to);
    put_set("unreduced", &spec->unreduced, to);
    jx_buffer_putc(to, ')');
}

void jx_exported_named_print(const jx_exported_named *named, jx_buffer *to)
{
    jx_exported_spec_print(&named->spec, to);
    jx_buffer_puts(to, " on ");
    jx_exported_mesh_print(named->mesh, to);
    if (!named->memory_kind)
        return;
    jx_buffer_puts(to, " in ");
    jx_utf8_show(named->memory_kind, to);
}
