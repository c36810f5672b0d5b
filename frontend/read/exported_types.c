/* exported_types.c - avals, meshes and shardings of exported files. */
#include "frontend/read/exported_parts.h"

enum { AVAL_KIND, AVAL_SHAPE, AVAL_DTYPE, AVAL_MEMORY };
enum { DEVICE_KIND, DEVICE_CORES, DEVICE_PLATFORM };
enum { MESH_SIZES, MESH_NAMES, MESH_TYPES, MESH_DEVICE };
enum { AXIS_AXES };
enum { SPEC_PARTITIONS, SPEC_REDUCED, SPEC_UNREDUCED };
enum { NAMED_MESH, NAMED_SPEC, NAMED_MEMORY, NAMED_INDEX };
enum { SHARDING_KIND, SHARDING_HLO, SHARDING_NAMED };

/* The dtypes by their number in files; keys have an implementation. */
static const struct {
    jx_dtype dtype;
    const char *impl;
} dtypes[] = {
    {JX_BOOL, NULL},        {JX_I8, NULL},          {JX_I16, NULL},
    {JX_I32, NULL},         {JX_I64, NULL},         {JX_U8, NULL},
    {JX_U16, NULL},         {JX_U32, NULL},         {JX_U64, NULL},
    {JX_F16, NULL},         {JX_F32, NULL},         {JX_F64, NULL},
    {JX_C64, NULL},         {JX_C128, NULL},        {JX_BF16, NULL},
    {JX_I4, NULL},          {JX_U4, NULL},          {JX_F8_E4M3B11FNUZ, NULL},
    {JX_F8_E4M3FN, NULL},   {JX_F8_E4M3FNUZ, NULL}, {JX_F8_E5M2, NULL},
    {JX_F8_E5M2FNUZ, NULL}, {JX_FLOAT0, NULL},      {JX_F8_E4M3, NULL},
    {JX_F8_E3M4, NULL},     {JX_F8_E8M0FNU, NULL},  {JX_F4_E2M1FN, NULL},
    {JX_KEY, "fry"},        {JX_KEY, "rbg"},        {JX_KEY, "urbg"},
};
enum { NDTYPES = sizeof dtypes / sizeof *dtypes };

/* ---- avals */

static bool read_aval(jx_flat *flat, const jx_flat_table *table,
                      jx_exported_aval *to)
{
    uint64_t dtype = jx_flat_scalar(flat, table, AVAL_DTYPE, "dtype", 1, 0);
    uint64_t memory =
        jx_flat_scalar(flat, table, AVAL_MEMORY, "memory_space", 1, 0);
    jx_exported_texts shape =
        jx_exported_texts_of(flat, table, AVAL_SHAPE, "shape");

    if (dtype >= NDTYPES)
        return jx_flat_fail(flat, jx_flat_where(flat, table, AVAL_DTYPE),
                            "dtype", "expected a dtype, 0 to %d, found %d",
                            NDTYPES - 1, (int)dtype);
    if (memory > 3)
        return jx_flat_fail(
            flat, jx_flat_where(flat, table, AVAL_MEMORY), "memory_space",
            "expected a memory space, 0 to 3, found %d", (int)memory);
    *to = (jx_exported_aval){
        .kind = (int)jx_flat_scalar(flat, table, AVAL_KIND, "kind", 1, 0),
        .dtype = dtypes[dtype].dtype,
        .impl = dtypes[dtype].impl,
        .dtype_code = (unsigned char)dtype,
        .memory_space = (unsigned char)memory,
        .rank = shape.count,
        .shape = shape.at,
        .at = table->at,
    };
    return jx_exported_ok(flat);
}

jx_exported_avals jx_exported_avals_of(jx_flat *flat,
                                       const jx_flat_table *table,
                                       unsigned slot, const char *field)
{
    jx_flat_vector vector;
    jx_exported_aval *at;

    if (!jx_exported_vector(flat, table, slot, field, 4, &vector))
        return (jx_exported_avals){0};
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, jx_exported_aval);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        jx_flat_table aval;
        if (!jx_exported_item(flat, &vector, field, i, &aval))
            break;
        read_aval(flat, &aval, &at[i]);
        jx_flat_leave(flat);
    }
    return (jx_exported_avals){(int)vector.count, at};
}

/* ---- meshes */

static void read_device(jx_flat *flat, const jx_flat_table *table,
                        jx_exported_mesh *to)
{
    jx_flat_table device;

    if (!jx_flat_table_of(flat, table, MESH_DEVICE, "abstract_device",
                          &device) ||
        !jx_flat_enter(flat, "abstract_device", -1))
        return;
    to->has_device = true;
    to->device = jx_flat_text(flat, &device, DEVICE_KIND, "device_kind");
    to->has_cores = jx_flat_has(flat, &device, DEVICE_CORES);
    to->cores = (uint32_t)jx_flat_scalar(flat, &device, DEVICE_CORES,
                                         "num_cores", 4, 0);
    to->platform = jx_flat_text(flat, &device, DEVICE_PLATFORM, "platform");
    if (!to->device)
        jx_flat_fail(flat, device.at, "device_kind",
                     "expected the kind of the device");
    jx_flat_leave(flat);
}

static bool read_mesh(jx_flat *flat, const jx_flat_table *table,
                      jx_exported_mesh *to)
{
    jx_exported_indexes sizes =
        jx_exported_indexes_of(flat, table, MESH_SIZES, "axis_sizes");
    jx_exported_texts names =
        jx_exported_texts_of(flat, table, MESH_NAMES, "axis_names");
    jx_exported_bytes types =
        jx_exported_bytes_of(flat, table, MESH_TYPES, "axis_types");

    if (sizes.count != names.count)
        return jx_flat_fail(flat, jx_flat_where(flat, table, MESH_NAMES),
                            "axis_names",
                            "expected a name for each of %d axes, found %d",
                            sizes.count, names.count);
    if (types.size && types.size != (size_t)sizes.count)
        return jx_flat_fail(flat, jx_flat_where(flat, table, MESH_TYPES),
                            "axis_types",
                            "expected a type for each of %d axes, found %zu",
                            sizes.count, types.size);
    for (size_t i = 0; i < types.size; i++)
        if (types.at[i] > 3)
            return jx_flat_fail(
                flat, (size_t)(types.at - flat->bytes) + i, "axis_types",
                "expected a type of axis, 0 to 3, found %d", types.at[i]);
    *to = (jx_exported_mesh){.naxes = sizes.count,
                             .ntypes = (int)types.size,
                             .sizes = sizes.at,
                             .names = names.at,
                             .types = types.at};
    read_device(flat, table, to);
    return jx_exported_ok(flat);
}

const jx_exported_mesh *jx_exported_meshes_of(jx_flat *flat,
                                              const jx_flat_table *table,
                                              unsigned slot, const char *field,
                                              int *count)
{
    jx_flat_vector vector;
    jx_exported_mesh *at;

    *count = 0;
    if (!jx_exported_vector(flat, table, slot, field, 4, &vector))
        return NULL;
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, jx_exported_mesh);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        jx_flat_table mesh;
        if (!jx_exported_item(flat, &vector, field, i, &mesh))
            break;
        read_mesh(flat, &mesh, &at[i]);
        jx_flat_leave(flat);
    }
    *count = (int)vector.count;
    return at;
}

/* ---- shardings */

static void read_partitions(jx_flat *flat, const jx_flat_table *table,
                            jx_exported_spec *to)
{
    jx_flat_vector vector;
    jx_exported_texts *at;

    if (!jx_exported_vector(flat, table, SPEC_PARTITIONS, "partitions", 4,
                            &vector))
        return;
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, jx_exported_texts);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        jx_flat_table axis;
        if (!jx_exported_item(flat, &vector, "partitions", i, &axis))
            break;
        at[i] = jx_exported_texts_of(flat, &axis, AXIS_AXES, "axes");
        jx_flat_leave(flat);
    }
    to->count = (int)vector.count;
    to->axes = at;
}

static bool read_spec(jx_flat *flat, const jx_flat_table *table,
                      jx_exported_spec *to)
{
    jx_flat_table spec;

    if (!jx_flat_table_of(flat, table, NAMED_SPEC, "spec", &spec))
        return jx_flat_fail(flat, table->at, "spec",
                            "expected a partition spec");
    if (!jx_flat_enter(flat, "spec", -1))
        return false;
    read_partitions(flat, &spec, to);
    to->reduced = jx_exported_texts_of(flat, &spec, SPEC_REDUCED, "reduced");
    to->unreduced =
        jx_exported_texts_of(flat, &spec, SPEC_UNREDUCED, "unreduced");
    jx_flat_leave(flat);
    return jx_exported_ok(flat);
}

static void read_own_mesh(jx_flat *flat, const jx_flat_table *table,
                          jx_exported_named *to)
{
    jx_flat_table mesh;

    if (!jx_flat_table_of(flat, table, NAMED_MESH, "mesh", &mesh) ||
        !jx_flat_enter(flat, "mesh", -1))
        return;
    to->has_own = read_mesh(flat, &mesh, &to->own);
    jx_flat_leave(flat);
}

/* As JAX reads it: where the file has a table of meshes, the index holds. */
static bool read_named(jx_flat *flat, const jx_flat_table *table,
                       const jx_exported *of, jx_exported_named *to)
{
    read_own_mesh(flat, table, to);
    to->mesh_index = (uint32_t)jx_flat_scalar(flat, table, NAMED_INDEX,
                                              "abstract_mesh_idx", 4, 0);
    to->memory_kind = jx_flat_text(flat, table, NAMED_MEMORY, "memory_kind");
    if (!read_spec(flat, table, &to->spec))
        return false;
    if (of->nmeshes && to->mesh_index >= (uint32_t)of->nmeshes)
        return jx_flat_fail(
            flat, jx_flat_where(flat, table, NAMED_INDEX), "abstract_mesh_idx",
            "expected one of %d meshes, found %u", of->nmeshes, to->mesh_index);
    if (!of->nmeshes && !to->has_own)
        return jx_flat_fail(flat, table->at, "mesh", "expected a mesh");
    to->mesh = of->nmeshes ? &of->meshes[to->mesh_index] : &to->own;
    return true;
}

const jx_exported_named *jx_exported_named_of(jx_flat *flat,
                                              const jx_flat_table *table,
                                              unsigned slot, const char *field,
                                              const jx_exported *of, int *count)
{
    jx_flat_vector vector;
    jx_exported_named *at;

    *count = 0;
    if (!jx_exported_vector(flat, table, slot, field, 4, &vector))
        return NULL;
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, jx_exported_named);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        jx_flat_table named;
        if (!jx_exported_item(flat, &vector, field, i, &named))
            break;
        read_named(flat, &named, of, &at[i]);
        jx_flat_leave(flat);
    }
    *count = (int)vector.count;
    return at;
}

static bool read_hlo(jx_flat *flat, jx_exported_sharding *to)
{
    jx_op_sharding *hlo = JX_NEW(flat->ctx->arena, jx_op_sharding);
    const char *expected = NULL;
    size_t wrong;

    if (!hlo)
        return false;
    if (!jx_op_sharding_read(flat->ctx, to->hlo_bytes.at, to->hlo_bytes.size,
                             hlo, &wrong, &expected))
        return expected &&
               jx_flat_fail(flat,
                            (size_t)(to->hlo_bytes.at - flat->bytes) + wrong,
                            "hlo_sharding_proto", "expected %s", expected);
    to->hlo = hlo;
    return true;
}

static bool read_sharding(jx_flat *flat, const jx_flat_table *table,
                          const jx_exported *of, jx_exported_sharding *to)
{
    jx_flat_table named;
    bool ok;

    to->kind = (int)jx_flat_scalar(flat, table, SHARDING_KIND, "kind", 1, 0);
    to->hlo_bytes =
        jx_exported_bytes_of(flat, table, SHARDING_HLO, "hlo_sharding_proto");
    if (to->hlo_bytes.at && !read_hlo(flat, to))
        return false;
    if (!jx_flat_table_of(flat, table, SHARDING_NAMED, "named_sharding",
                          &named))
        return jx_exported_ok(flat);
    jx_exported_named *at = JX_NEW(flat->ctx->arena, jx_exported_named);
    if (!at || !jx_flat_enter(flat, "named_sharding", -1))
        return false;
    ok = read_named(flat, &named, of, at);
    jx_flat_leave(flat);
    to->named = at;
    return ok;
}

jx_exported_shardings jx_exported_shardings_of(jx_flat *flat,
                                               const jx_flat_table *table,
                                               unsigned slot, const char *field,
                                               const jx_exported *of)
{
    jx_flat_vector vector;
    jx_exported_sharding *at;

    if (!jx_exported_vector(flat, table, slot, field, 4, &vector))
        return (jx_exported_shardings){0};
    at = JX_NEW_ARRAY(flat->ctx->arena, vector.count, jx_exported_sharding);
    for (uint32_t i = 0; at && i < vector.count; i++) {
        jx_flat_table sharding;
        if (!jx_exported_item(flat, &vector, field, i, &sharding))
            break;
        read_sharding(flat, &sharding, of, &at[i]);
        jx_flat_leave(flat);
    }
    return (jx_exported_shardings){(int)vector.count, at};
}

const char *jx_exported_memory(const jx_exported_aval *aval)
{
    static const char *const names[] = {NULL, "device", "host", "any"};

    return names[aval->memory_space];
}
