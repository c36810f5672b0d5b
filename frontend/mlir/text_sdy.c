/* text_sdy.c - the attributes of sdy, which have a syntax of their own. */
#include "frontend/mlir/text_parts.h"

#include <string.h>

/* A field that is left out when it is empty. */
static void field_if_any(jx_mtext *t, const char *name,
                         const jx_mlir_attr *value)
{
    if (value && value->count)
        jx_mtext_field(t, name, value);
}

/* Axes have names, quoted as a rule. */
static const jx_mlir_attr *axis_name(jx_mtext *t)
{
    jx_piece name;

    if (!jx_mtext_string(t, &name))
        name = jx_mtext_word(t, false);
    if (name.length)
        return jx_mtext_text_attr(t, name);
    jx_mtext_wants(t, "the name of an axis");
    return NULL;
}

/* ---- axes and meshes */

/* `"a"=2` */
static const jx_mlir_attr *mesh_axis(jx_mtext *t)
{
    size_t from = t->entries.count;

    jx_mtext_field(t, "name", axis_name(t));
    if (jx_mtext_expect(t, "="))
        jx_mtext_field(t, "size", jx_mtext_i64(t));
    return jx_mtext_record_attr(t, "sdy.mesh_axis", from);
}

/* Devices in their order, which goes without saying where there are axes. */
static bool in_order(const jx_mlir_attr *axes, const jx_mlir_attr *ids)
{
    if (!axes || !axes->count)
        return false;
    for (int i = 0; i < ids->count; i++)
        if (ids->integers[i] != i)
            return false;
    return true;
}

/* `<["a"=2, "b"=4], device_ids=[...]>` */
static const jx_mlir_attr *mesh(jx_mtext *t)
{
    size_t from = t->entries.count, numbers = t->numbers.count;

    if (!jx_mtext_expect(t, "<"))
        return NULL;
    const jx_mlir_attr *axes = jx_mtext_items(t, "[", "]", mesh_axis);
    jx_mtext_field(t, "axes", axes);
    if (jx_mtext_take(t, ",")) {
        jx_mtext_expect(t, "device_ids");
        jx_mtext_expect(t, "=");
        if (!jx_mtext_list(t, "[", "]"))
            return NULL;
        const jx_mlir_attr *ids = jx_mtext_list_attr(t, t->i64, numbers);
        if (ids && !in_order(axes, ids))
            field_if_any(t, "device_ids", ids);
    }
    jx_mtext_expect(t, ">");
    return jx_mtext_record_attr(t, "sdy.mesh", from);
}

static const jx_mlir_attr *sub_axis(jx_mtext *t)
{
    return jx_mtext_sub_axis(t, "sdy.sub_axis_info");
}

/* `"a"` or `"a":(1)2` */
static const jx_mlir_attr *axis_ref(jx_mtext *t)
{
    size_t from = t->entries.count;

    jx_mtext_field(t, "name", axis_name(t));
    if (jx_mtext_take(t, ":"))
        jx_mtext_field(t, "sub_axis_info", sub_axis(t));
    return jx_mtext_record_attr(t, "sdy.axis_ref", from);
}

/* A record of one array, its field `value`. */
static const jx_mlir_attr *list_record(jx_mtext *t, const char *name,
                                       const char *field, const char *open,
                                       const char *close, jx_mtext_reader *item)
{
    size_t from = t->entries.count;

    jx_mtext_field(t, field, jx_mtext_items(t, open, close, item));
    return jx_mtext_record_attr(t, name, from);
}

static const jx_mlir_attr *axis_ref_list(jx_mtext *t)
{
    return list_record(t, "sdy.axis_ref_list", "value", "{", "}", axis_ref);
}

static const jx_mlir_attr *axis_ref_lists(jx_mtext *t)
{
    return list_record(t, "sdy.list_of_axis_ref_lists", "value", "[", "]",
                       axis_ref_list);
}

static const jx_mlir_attr *manual_axes(jx_mtext *t)
{
    return list_record(t, "sdy.manual_axes", "value", "{", "}", axis_name);
}

/* `{"x"}: 0->1` */
static const jx_mlir_attr *all_to_all_param(jx_mtext *t)
{
    size_t from = t->entries.count;

    jx_mtext_field(t, "axes", jx_mtext_items(t, "{", "}", axis_ref));
    jx_mtext_expect(t, ":");
    jx_mtext_field(t, "src_dim", jx_mtext_i64(t));
    jx_mtext_expect(t, "->");
    jx_mtext_field(t, "tgt_dim", jx_mtext_i64(t));
    return jx_mtext_record_attr(t, "sdy.all_to_all_param", from);
}

static const jx_mlir_attr *all_to_all_params(jx_mtext *t)
{
    return list_record(t, "sdy.all_to_all_param_list", "value", "[", "]",
                       all_to_all_param);
}

/* ---- shardings */

/* `p3` behind a dimension's axes. */
static const jx_mlir_attr *priority(jx_mtext *t)
{
    if (jx_mtext_space(t) != 'p')
        return NULL;
    t->at++;
    return jx_mtext_i64(t);
}

/* `{"a", "b":(1)2, ?}p1`: with `?` it may be sharded further. */
static const jx_mlir_attr *dimension_sharding(jx_mtext *t)
{
    size_t from = t->entries.count, axes = t->items.count;
    bool open = false;

    jx_mtext_expect(t, "{");
    if (!jx_mtext_take(t, "}")) {
        do {
            open = jx_mtext_take(t, "?");
            const jx_mlir_attr *axis = open ? NULL : axis_ref(t);
            if (axis)
                JX_PUSH(t->arena, &t->items, axis);
        } while (!open && !t->failed && jx_mtext_take(t, ","));
        jx_mtext_expect(t, "}");
    }
    jx_mtext_field(t, "axes", jx_mtext_array_attr(t, axes));
    jx_mtext_field(t, "is_closed", open ? t->no : t->yes);
    const jx_mlir_attr *order = priority(t);
    if (order)
        jx_mtext_field(t, "priority", order);
    return jx_mtext_record_attr(t, "sdy.dimension_sharding", from);
}

static const jx_mlir_attr *mesh_or_ref(jx_mtext *t)
{
    if (jx_mtext_take(t, "mesh"))
        return mesh(t);
    return jx_mtext_space(t) == '#' ? jx_mtext_in_full(t, "sdy.mesh")
                                    : jx_mtext_symbol_attr(t);
}

static const jx_mlir_attr *reduction(jx_mtext *t)
{
    return jx_mtext_space(t) == '{' ? NULL
                                    : jx_mtext_enum(t, "sdy.reduction_op");
}

/* `<@mesh, [{"a"}, {?}], replicated={"b"}, unreduced={"c"}>` */
static const jx_mlir_attr *sharding(jx_mtext *t)
{
    size_t from = t->entries.count;
    const jx_mlir_attr *replicated = NULL, *unreduced = NULL, *how = NULL;

    if (jx_mtext_space(t) == '#')
        return jx_mtext_in_full(t, "sdy.sharding");
    if (!jx_mtext_expect(t, "<"))
        return NULL;
    jx_mtext_field(t, "mesh_or_ref", mesh_or_ref(t));
    if (jx_mtext_expect(t, ","))
        jx_mtext_field(t, "dim_shardings",
                       jx_mtext_items(t, "[", "]", dimension_sharding));
    while (!t->failed && jx_mtext_take(t, ",")) {
        if (!replicated && jx_mtext_take(t, "replicated")) {
            jx_mtext_expect(t, "=");
            replicated = jx_mtext_items(t, "{", "}", axis_ref);
        } else if (!unreduced && jx_mtext_take(t, "unreduced")) {
            if (jx_mtext_take(t, "="))
                how = reduction(t);
            unreduced = jx_mtext_items(t, "{", "}", axis_ref);
        } else {
            jx_mtext_wants(t, "'replicated=' or 'unreduced=', once");
        }
    }
    jx_mtext_expect(t, ">");
    field_if_any(t, "replicated_axes", replicated);
    field_if_any(t, "unreduced_axes", unreduced);
    /* How nothing is to be reduced is not worth a field: nobody prints it. */
    if (how && unreduced && unreduced->count && strcmp(how->text, "sum") != 0)
        jx_mtext_field(t, "reduction_op", how);
    return jx_mtext_record_attr(t, "sdy.sharding", from);
}

static const jx_mlir_attr *stripped_per_value(jx_mtext *t)
{
    return list_record(t, "sdy.sharding_per_value", "shardings", "[", "]",
                       sharding);
}

static const jx_mlir_attr *per_value(jx_mtext *t)
{
    const jx_mlir_attr *attr;

    if (jx_mtext_space(t) == '[')
        return stripped_per_value(t);
    if (!jx_mtext_expect(t, "<"))
        return NULL;
    attr = stripped_per_value(t);
    return jx_mtext_expect(t, ">") ? attr : NULL;
}

/* ---- rules */

/* `i`, `j`, ..., `z`, `z_1`, ...: the number of a factor; takes it off. */
static bool factor(jx_mtext *t, jx_piece *word, int64_t *number)
{
    size_t used = 1;

    if (!word->length || word->at[0] < 'i' || word->at[0] > 'z')
        return jx_mtext_fail(t, word->at,
                             "expected a factor: i to z, z_1, z_2, ...");
    *number = word->at[0] - 'i';
    if (word->length > 2 && word->at[0] == 'z' && word->at[1] == '_') {
        int64_t more = 0;
        for (used = 2; used < word->length && word->at[used] >= '0' &&
                       word->at[used] <= '9' && used < 12;
             used++)
            more = more * 10 + (word->at[used] - '0');
        *number += more;
    }
    *word = (jx_piece){word->at + used, word->length - used};
    return true;
}

/* The factors of a dimension, `ij`; none is `*` or nothing. */
static const jx_mlir_attr *dim_mapping(jx_mtext *t)
{
    size_t from = t->entries.count, numbers = t->numbers.count;

    if (!jx_mtext_take(t, "*")) {
        jx_piece word = jx_mtext_word(t, false);
        while (word.length && !t->failed) {
            int64_t number;
            if (factor(t, &word, &number))
                JX_PUSH(t->arena, &t->numbers, number);
        }
    }
    jx_mtext_field(t, "factor_indices", jx_mtext_list_attr(t, t->i64, numbers));
    return jx_mtext_record_attr(t, "sdy.dim_mapping", from);
}

static const jx_mlir_attr *tensor_mapping(jx_mtext *t)
{
    return list_record(t, "sdy.tensor_mapping", "dim_mappings", "[", "]",
                       dim_mapping);
}

/* `{i, k}`, factors; or `{i=8, j=16}`, their sizes. */
static const jx_mlir_attr *factors(jx_mtext *t, bool sizes)
{
    size_t from = t->numbers.count;

    if (jx_mtext_expect(t, "{") && !jx_mtext_take(t, "}")) {
        do {
            jx_piece word = jx_mtext_word(t, false);
            int64_t number = 0;
            if (!factor(t, &word, &number) ||
                (sizes &&
                 (!jx_mtext_expect(t, "=") || !jx_mtext_integer(t, &number))))
                return NULL;
            JX_PUSH(t->arena, &t->numbers, number);
        } while (jx_mtext_take(t, ","));
        jx_mtext_expect(t, "}");
    }
    return jx_mtext_list_attr(t, t->i64, from);
}

static const jx_mlir_attr *factor_sizes(jx_mtext *t)
{
    return jx_mtext_comes(t, "{")
               ? factors(t, true)
               : jx_mtext_list_attr(t, t->i64, t->numbers.count);
}

/* `<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>` */
static const jx_mlir_attr *rule(jx_mtext *t)
{
    static const char *const kinds[][2] = {
        {"reduction", "reduction_factors"},
        {"need_replication", "need_replication_factors"},
        {"permutation", "permutation_factors"},
        {"blocked_propagation", "blocked_propagation_factors"}};
    size_t from = t->entries.count;
    const jx_mlir_attr *ins, *outs;

    if (!jx_mtext_expect(t, "<"))
        return NULL;
    ins = jx_mtext_items(t, "(", ")", tensor_mapping);
    jx_mtext_expect(t, "->");
    outs = jx_mtext_items(t, "(", ")", tensor_mapping);
    jx_mtext_field(t, "factor_sizes", t->failed ? NULL : factor_sizes(t));
    jx_mtext_field(t, "operand_mappings", ins);
    jx_mtext_field(t, "result_mappings", outs);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (jx_mtext_take(t, kinds[i][0]) && jx_mtext_expect(t, "="))
            field_if_any(t, kinds[i][1], factors(t, false));
    if (jx_mtext_take(t, ",") && jx_mtext_expect(t, "custom"))
        jx_mtext_field(t, "is_custom_rule", t->yes);
    jx_mtext_expect(t, ">");
    return jx_mtext_record_attr(t, "sdy.op_sharding_rule", from);
}

/* ---- all of them */

bool jx_mtext_sdy(jx_mtext *t, const char *name, const jx_mlir_attr **attr)
{
    static const struct row {
        const char *name;
        jx_mtext_reader *read;
    } rows[] = {
        {"sdy.sharding", sharding},
        {"sdy.sharding_per_value", per_value},
        {"sdy.mesh", mesh},
        {"sdy.mesh_axis", mesh_axis},
        {"sdy.axis_ref", axis_ref},
        {"sdy.axis_ref_list", axis_ref_list},
        {"sdy.list_of_axis_ref_lists", axis_ref_lists},
        {"sdy.manual_axes", manual_axes},
        {"sdy.dimension_sharding", dimension_sharding},
        {"sdy.sub_axis_info", sub_axis},
        {"sdy.all_to_all_param", all_to_all_param},
        {"sdy.all_to_all_param_list", all_to_all_params},
        {"sdy.op_sharding_rule", rule},
        {"sdy.tensor_mapping", tensor_mapping},
        {"sdy.dim_mapping", dim_mapping},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *attr = rows[i].read(t);
            return true;
        }
    return false;
}
