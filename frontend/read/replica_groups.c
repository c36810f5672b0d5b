/* replica_groups.c - see replica_groups.h. */
#include "frontend/read/replica_groups.h"

#include "frontend/read/meshes.h"

#include <string.h>

enum { MOST_DEVICES = 1 << 20, MOST_AXES = 64 };

/* A digit of a device's place in the mesh: of an axis, or of a part of one. */
typedef struct digit {
    int64_t stride, size;
} digit;

typedef struct mesh {
    jx_ctx *ctx;
    const jx_mlir_attr *axes; /* records of a name and a size */
    digit at[MOST_AXES];
    int64_t devices;
    const jx_mlir_attr *ids; /* of devices by their place; or NULL: the same */
} mesh;

bool jx_is_replica_groups_of_mesh(const jx_mlir_attr *groups)
{
    return groups && groups->kind == JX_A_RECORD &&
           strcmp(groups->name, "stablehlo.replica_group_mesh_axes") == 0;
}

static bool field_int(const jx_mlir_attr *record, const char *name, int64_t *to)
{
    const jx_mlir_attr *a = jx_mlir_field(record, name);

    *to = a && a->kind == JX_A_INTEGER ? a->integer : 0;
    return *to > 0 && *to <= MOST_DEVICES;
}

static const char *name_of(const mesh *m, const jx_mlir_attr *axis)
{
    const jx_mlir_attr *name = jx_mlir_field(axis, "name");

    return name ? jx_mlir_text(m->ctx, name) : NULL;
}

static bool read_mesh(mesh *m, const jx_mlir_attr *from)
{
    int64_t stride = 1;

    m->axes =
        from && from->kind == JX_A_RECORD ? jx_mlir_field(from, "axes") : NULL;
    if (!m->axes || m->axes->kind != JX_A_ARRAY || m->axes->count > MOST_AXES)
        return false;
    for (int i = m->axes->count; i-- > 0;) {
        m->at[i].stride = stride;
        if (!field_int(m->axes->items[i], "size", &m->at[i].size))
            return false;
        stride *= m->at[i].size;
        if (stride > MOST_DEVICES)
            return false;
    }
    m->devices = stride;
    m->ids = jx_mlir_field(from, "device_ids");
    if (m->ids && !jx_mlir_numbers(m->ids))
        m->ids = NULL;
    return !m->ids || jx_mlir_numbers(m->ids) == m->devices;
}

/* The digit that a reference to an axis, or to a part of it, means. */
static bool read_digit(const mesh *m, const jx_mlir_attr *ref, digit *to)
{
    const jx_mlir_attr *part = jx_mlir_field(ref, "sub_axis_info");
    const char *name = name_of(m, ref), *other;
    int64_t before, size, rest;
    int i = 0;

    while (
        name && i < m->axes->count &&
        (!(other = name_of(m, m->axes->items[i])) || strcmp(other, name) != 0))
        i++;
    if (!name || i == m->axes->count)
        return false;
    *to = m->at[i];
    if (!part)
        return true;
    if (!field_int(part, "pre_size", &before) ||
        !field_int(part, "size", &size) || to->size % (before * size) != 0)
        return false;
    rest = to->size / (before * size); /* what counts faster */
    *to = (digit){to->stride * rest, size};
    return true;
}

/* Each device into its group; false if two come to one place. */
static bool fill(const mesh *m, const digit *digits, int n,
                 const jx_replica_groups *groups, int64_t *ids)
{
    int64_t *group = JX_NEW_ARRAY(m->ctx->arena, m->devices, int64_t);
    int64_t next = 0;

    for (int64_t i = 0; i < m->devices; i++)
        ids[i] = -1;
    for (int64_t d = 0; group && d < m->devices; d++) {
        int64_t first = d, place = 0;
        for (int i = 0; i < n; i++) {
            int64_t value = d / digits[i].stride % digits[i].size;
            first -= value * digits[i].stride;
            place = place * digits[i].size + value;
        }
        if (first == d)
            group[d] = next++;
        if (first < 0 || group[first] >= groups->count)
            return false;
        int64_t *at = &ids[group[first] * groups->width + place];
        if (*at >= 0)
            return false;
        *at = m->ids ? jx_mlir_number(m->ids, d) : d;
    }
    return group != NULL;
}

bool jx_replica_groups_of_mesh(jx_ctx *ctx, const jx_mlir_op *module,
                               const jx_mlir_attr *groups,
                               jx_replica_groups *to, const char **expected)
{
    const jx_mlir_attr *axes = jx_mlir_field(groups, "axes");
    mesh m = {.ctx = ctx};
    digit digits[MOST_AXES];
    int64_t *ids;

    *to = (jx_replica_groups){.width = 1};
    *expected = "a mesh with axes and their sizes";
    if (!read_mesh(&m, jx_mesh_of_ref(module, jx_mlir_field(groups, "mesh"))))
        return false;
    *expected = "axes of the mesh, each once";
    if (!axes || axes->kind != JX_A_ARRAY || axes->count > MOST_AXES)
        return false;
    for (int i = 0; i < axes->count; i++) {
        if (!read_digit(&m, axes->items[i], &digits[i]))
            return false;
        to->width *= digits[i].size;
        if (to->width > m.devices)
            return false;
    }
    to->count = m.devices / to->width;
    ids = JX_NEW_ARRAY(ctx->arena, m.devices, int64_t);
    to->ids = ids;
    return to->count * to->width == m.devices && ids &&
           fill(&m, digits, axes->count, to, ids);
}
