/* print_record.c - attributes that are records (records.def) as text. */
#include "frontend/mlir/print_parts.h"

#include <inttypes.h>
#include <string.h>

static bool is_named(const jx_mlir_attr *record, const char *name)
{
    return record->name && !strcmp(record->name, name);
}

static int64_t integer(const jx_mlir_attr *record, const char *name)
{
    const jx_mlir_attr *field = jx_mlir_field(record, name);

    return field ? field->integer : 0;
}

static bool boolean(const jx_mlir_attr *record, const char *name)
{
    const jx_mlir_attr *field = jx_mlir_field(record, name);

    return field && (field->boolean || field->integer);
}

void jx_mlir_put_items(jx_mlir_printer *p, const jx_mlir_attr *list)
{
    for (int i = 0; list && i < list->count; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        jx_mlir_put_plain(p, list->items[i]);
    }
}

static void put_numbers(jx_mlir_printer *p, const jx_mlir_attr *list)
{
    int64_t count = list ? jx_mlir_numbers(list) : 0;

    for (int64_t i = 0; i < count; i++) {
        int64_t value = jx_mlir_number(list, i);
        jx_buffer_puts(p->to, i ? ", " : "");
        if (value == JX_MLIR_DYNAMIC)
            jx_buffer_putc(p->to, '?');
        else
            jx_buffer_printf(p->to, "%" PRId64, value);
    }
}

/* `<name = value, ...>` of the fields that there are. */
static void put_fields(jx_mlir_printer *p, const char *open,
                       const jx_mlir_attr *record)
{
    jx_buffer_puts(p->to, open);
    for (int i = 0; i < record->count; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        jx_buffer_printf(p->to, "%s = ", record->names[i]);
        jx_mlir_put_plain(p, record->items[i]);
    }
    jx_buffer_putc(p->to, '>');
}

/* ---- convolutions */

/* One of the three lists, [b, 0, 1, f]: which role each axis has. */
static void put_roles(jx_mlir_printer *p, const jx_mlir_attr *spatial,
                      int64_t first, char first_role, int64_t second,
                      char second_role)
{
    int64_t count = spatial ? jx_mlir_numbers(spatial) : 0;

    jx_buffer_putc(p->to, '[');
    for (int64_t axis = 0; axis < count + 2; axis++) {
        jx_buffer_puts(p->to, axis ? ", " : "");
        if (axis == first)
            jx_buffer_putc(p->to, first_role);
        if (axis == second)
            jx_buffer_putc(p->to, second_role);
        for (int64_t i = 0; i < count; i++)
            if (jx_mlir_number(spatial, i) == axis)
                jx_buffer_printf(p->to, "%" PRId64, i);
    }
    jx_buffer_putc(p->to, ']');
}

static bool is_whole(const jx_mlir_attr *spatial, int64_t first, int64_t second)
{
    int64_t count = spatial ? jx_mlir_numbers(spatial) : 0;

    for (int64_t axis = 0; axis < count + 2; axis++) {
        int roles = (axis == first) + (axis == second);

        for (int64_t i = 0; i < count; i++)
            roles += jx_mlir_number(spatial, i) == axis;
        if (roles != 1)
            return false;
    }
    return true;
}

/* Every axis has one role: else no list can say what the numbers say. */
bool jx_mlir_has_conv_roles(const jx_mlir_attr *d)
{
    return is_whole(jx_mlir_field(d, "input_spatial_dimensions"),
                    integer(d, "input_batch_dimension"),
                    integer(d, "input_feature_dimension")) &&
           is_whole(jx_mlir_field(d, "kernel_spatial_dimensions"),
                    integer(d, "kernel_input_feature_dimension"),
                    integer(d, "kernel_output_feature_dimension")) &&
           is_whole(jx_mlir_field(d, "output_spatial_dimensions"),
                    integer(d, "output_batch_dimension"),
                    integer(d, "output_feature_dimension"));
}

void jx_mlir_put_conv_dims(jx_mlir_printer *p, const jx_mlir_attr *d)
{
    if (p->collecting)
        return;
    put_roles(p, jx_mlir_field(d, "input_spatial_dimensions"),
              integer(d, "input_batch_dimension"), 'b',
              integer(d, "input_feature_dimension"), 'f');
    jx_buffer_putc(p->to, 'x');
    put_roles(p, jx_mlir_field(d, "kernel_spatial_dimensions"),
              integer(d, "kernel_input_feature_dimension"), 'i',
              integer(d, "kernel_output_feature_dimension"), 'o');
    jx_buffer_puts(p->to, "->");
    put_roles(p, jx_mlir_field(d, "output_spatial_dimensions"),
              integer(d, "output_batch_dimension"), 'b',
              integer(d, "output_feature_dimension"), 'f');
}

static void put_accuracy(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    static const char *const numbers[] = {"atol", "rtol", "ulps"};

    jx_buffer_putc(p->to, '<');
    for (int i = 0; i < 3; i++) {
        const jx_mlir_attr *f = jx_mlir_field(record, numbers[i]);
        if (!f || (f->kind == JX_A_FLOAT ? f->real == 0 : f->integer == 0))
            continue;
        jx_buffer_printf(p->to, "%s = ", numbers[i]);
        jx_mlir_put_plain(p, f);
        jx_buffer_puts(p->to, ", ");
    }
    jx_buffer_puts(p->to, "mode = ");
    if (jx_mlir_field(record, "mode"))
        jx_mlir_put_attr(p, jx_mlir_field(record, "mode"), JX_TYPE_ALWAYS);
    jx_buffer_putc(p->to, '>');
}

/* ---- sharding */

static void put_axis_name(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    const jx_mlir_attr *name = jx_mlir_field(record, "name");

    if (name)
        jx_mlir_put_string(p, name->bytes, name->size);
}

static void put_axis_ref(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    const jx_mlir_attr *part = jx_mlir_field(record, "sub_axis_info");

    put_axis_name(p, record);
    if (!part)
        return;
    jx_buffer_putc(p->to, ':');
    jx_mlir_put_record_body(p, part);
}

static void put_sub_axis(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    jx_buffer_printf(p->to, "(%" PRId64 ")%" PRId64,
                     integer(record, "pre_size"), integer(record, "size"));
}

static void put_mesh_axis(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    put_axis_name(p, record);
    jx_buffer_printf(p->to, "=%" PRId64, integer(record, "size"));
}

static void put_mesh(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    const jx_mlir_attr *ids = jx_mlir_field(record, "device_ids");

    jx_buffer_puts(p->to, "<[");
    jx_mlir_put_items(p, jx_mlir_field(record, "axes"));
    jx_buffer_putc(p->to, ']');
    if (ids && jx_mlir_numbers(ids) > 0) {
        jx_buffer_puts(p->to, ", device_ids=[");
        put_numbers(p, ids);
        jx_buffer_putc(p->to, ']');
    }
    jx_buffer_putc(p->to, '>');
}

static void put_dimension_sharding(jx_mlir_printer *p,
                                   const jx_mlir_attr *record)
{
    const jx_mlir_attr *axes = jx_mlir_field(record, "axes");
    const jx_mlir_attr *priority = jx_mlir_field(record, "priority");

    jx_buffer_putc(p->to, '{');
    jx_mlir_put_items(p, axes);
    if (!boolean(record, "is_closed"))
        jx_buffer_puts(p->to, axes && axes->count ? ", ?" : "?");
    jx_buffer_putc(p->to, '}');
    if (priority)
        jx_buffer_printf(p->to, "p%" PRId64, priority->integer);
}

static void put_axes(jx_mlir_printer *p, const jx_mlir_attr *list,
                     const char *word, const char *kind)
{
    if (!list || !list->count)
        return;
    jx_buffer_printf(p->to, ", %s=%s{", word, kind);
    jx_mlir_put_items(p, list);
    jx_buffer_putc(p->to, '}');
}

static void put_sharding(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    const jx_mlir_attr *mesh = jx_mlir_field(record, "mesh_or_ref");
    const jx_mlir_attr *kind = jx_mlir_field(record, "reduction_op");

    jx_buffer_putc(p->to, '<');
    if (mesh && mesh->kind == JX_A_RECORD)
        jx_buffer_puts(p->to, "mesh");
    if (mesh)
        jx_mlir_put_plain(p, mesh);
    jx_buffer_puts(p->to, ", [");
    jx_mlir_put_items(p, jx_mlir_field(record, "dim_shardings"));
    jx_buffer_putc(p->to, ']');
    put_axes(p, jx_mlir_field(record, "replicated_axes"), "replicated", "");
    put_axes(p, jx_mlir_field(record, "unreduced_axes"), "unreduced",
             kind && strcmp(kind->text, "sum") != 0 ? kind->text : "");
    jx_buffer_putc(p->to, '>');
}

/* Factors are i, j, ..., z, then z_1, z_2, ... */
static void put_factor(jx_mlir_printer *p, int64_t index)
{
    int64_t last = 'z' - 'i';

    if (index <= last)
        jx_buffer_putc(p->to, (char)('i' + index));
    else
        jx_buffer_printf(p->to, "z_%" PRId64, index - last);
}

static void put_factors(jx_mlir_printer *p, const jx_mlir_attr *list,
                        const char *word)
{
    int64_t count = list ? jx_mlir_numbers(list) : 0;

    if (count <= 0)
        return;
    jx_buffer_printf(p->to, " %s={", word);
    for (int64_t i = 0; i < count; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        put_factor(p, jx_mlir_number(list, i));
    }
    jx_buffer_putc(p->to, '}');
}

static void put_rule(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    static const char *const kinds[] = {"reduction", "need_replication",
                                        "permutation", "blocked_propagation"};
    static const char *const fields[] = {
        "reduction_factors", "need_replication_factors", "permutation_factors",
        "blocked_propagation_factors"};
    const jx_mlir_attr *sizes = jx_mlir_field(record, "factor_sizes");
    int64_t count = sizes ? jx_mlir_numbers(sizes) : 0;

    jx_buffer_puts(p->to, "<(");
    jx_mlir_put_items(p, jx_mlir_field(record, "operand_mappings"));
    jx_buffer_puts(p->to, ")->(");
    jx_mlir_put_items(p, jx_mlir_field(record, "result_mappings"));
    jx_buffer_puts(p->to, count > 0 ? ") {" : ")");
    for (int64_t i = 0; i < count; i++) {
        jx_buffer_puts(p->to, i ? ", " : "");
        put_factor(p, i);
        jx_buffer_printf(p->to, "=%" PRId64, jx_mlir_number(sizes, i));
    }
    jx_buffer_puts(p->to, count > 0 ? "}" : "");
    for (int i = 0; i < 4; i++)
        put_factors(p, jx_mlir_field(record, fields[i]), kinds[i]);
    jx_buffer_puts(p->to,
                   boolean(record, "is_custom_rule") ? ", custom>" : ">");
}

static void put_dim_mapping(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    const jx_mlir_attr *list = jx_mlir_field(record, "factor_indices");
    int64_t count = list ? jx_mlir_numbers(list) : 0;

    for (int64_t i = 0; i < count; i++)
        put_factor(p, jx_mlir_number(list, i));
}

static void put_all_to_all(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    jx_buffer_putc(p->to, '{');
    jx_mlir_put_items(p, jx_mlir_field(record, "axes"));
    jx_buffer_printf(p->to, "}: %" PRId64 "->%" PRId64,
                     integer(record, "src_dim"), integer(record, "tgt_dim"));
}

static void put_stablehlo_mesh(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    const jx_mlir_attr *ids = jx_mlir_field(record, "device_ids");

    jx_buffer_puts(p->to, "<axes=[");
    jx_mlir_put_items(p, jx_mlir_field(record, "axes"));
    jx_buffer_putc(p->to, ']');
    if (ids) {
        jx_buffer_puts(p->to, ", device_ids=");
        jx_mlir_put_attr(p, ids, JX_TYPE_ALWAYS);
    }
    jx_buffer_putc(p->to, '>');
}

/* The mesh may be any attribute, so its record is named. */
static void put_groups(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    jx_buffer_puts(p->to, "<mesh = ");
    jx_mlir_put_attr(p, jx_mlir_field(record, "mesh"), JX_TYPE_ALWAYS);
    jx_buffer_puts(p->to, ", axes = ");
    jx_mlir_put_plain(p, jx_mlir_field(record, "axes"));
    jx_buffer_putc(p->to, '>');
}

/* ---- all records */

static void put_between(jx_mlir_printer *p, const char *open,
                        const jx_mlir_attr *list, const char *close)
{
    jx_buffer_puts(p->to, open);
    jx_mlir_put_items(p, list);
    jx_buffer_puts(p->to, close);
}

static void put_conv(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    if (!jx_mlir_has_conv_roles(record)) {
        put_fields(p, "<raw ", record);
        return;
    }
    jx_buffer_putc(p->to, '<');
    jx_mlir_put_conv_dims(p, record);
    jx_buffer_putc(p->to, '>');
}

static void put_bounds(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    jx_buffer_putc(p->to, '<');
    put_numbers(p, jx_mlir_field(record, "bounds"));
    jx_buffer_putc(p->to, '>');
}

static void put_value_list(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    put_between(p, "[", jx_mlir_field(record, "value"), "]");
}

static void put_value_set(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    put_between(p, "{", jx_mlir_field(record, "value"), "}");
}

static void put_shardings(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    put_between(p, "<[", jx_mlir_field(record, "shardings"), "]>");
}

static void put_tensor_mapping(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    put_between(p, "[", jx_mlir_field(record, "dim_mappings"), "]");
}

/* Records whose text is more than names and values. */
static const struct {
    const char *name;
    void (*put)(jx_mlir_printer *p, const jx_mlir_attr *record);
} forms[] = {
    {"stablehlo.conv", put_conv},
    {"stablehlo.bounds", put_bounds},
    {"stablehlo.result_accuracy", put_accuracy},
    {"stablehlo.mesh", put_stablehlo_mesh},
    {"stablehlo.replica_group_mesh_axes", put_groups},
    {"stablehlo.sub_axis_info", put_sub_axis},
    {"sdy.all_to_all_param", put_all_to_all},
    {"sdy.all_to_all_param_list", put_value_list},
    {"sdy.axis_ref", put_axis_ref},
    {"sdy.axis_ref_list", put_value_set},
    {"sdy.dim_mapping", put_dim_mapping},
    {"sdy.dimension_sharding", put_dimension_sharding},
    {"sdy.list_of_axis_ref_lists", put_value_list},
    {"sdy.manual_axes", put_value_set},
    {"sdy.mesh", put_mesh},
    {"sdy.mesh_axis", put_mesh_axis},
    {"sdy.op_sharding_rule", put_rule},
    {"sdy.sharding", put_sharding},
    {"sdy.sharding_per_value", put_shardings},
    {"sdy.sub_axis_info", put_sub_axis},
    {"sdy.tensor_mapping", put_tensor_mapping},
};

void jx_mlir_put_record_body(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    if (p->collecting || !jx_mlir_enter(p))
        return;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is_named(record, forms[i].name)) {
            forms[i].put(p, record);
            p->depth--;
            return;
        }
    put_fields(p, "<", record);
    p->depth--;
}

/* MLIR writes `#dialect.name<...>` where the body brings its brackets, else
 * `#dialect<name...>`. */
void jx_mlir_put_record(jx_mlir_printer *p, const jx_mlir_attr *record)
{
    const char *dot = strchr(record->name, '.');
    jx_buffer body = jx_ctx_text(p->ctx), *to = p->to;

    if (p->collecting || !dot)
        return;
    p->to = &body;
    jx_mlir_put_record_body(p, record);
    p->to = to;
    if (jx_buffer_text(&body)[0] == '<')
        jx_buffer_printf(to, "#%s%s", record->name, jx_buffer_text(&body));
    else
        jx_buffer_printf(to, "#%.*s<%s%s>", (int)(dot - record->name),
                         record->name, dot + 1, jx_buffer_text(&body));
    to->failed |= body.failed;
    jx_buffer_free(&body);
}
