/* stablehlo_host_call.c - what a custom call says, for whoever runs it.
 *
 * Parameters of the equation are for people: they leave types out.  All that
 * the module says is kept beside them, as hosts are shown it (jaxvet.h). */
#include "frontend/base/plain.h"
#include "frontend/read/stablehlo_entry.h"
#include "jaxvet.h"

enum { MOST_LEVELS = 16 };

/* ---- attributes */

static bool take_attribute(jx_ctx *ctx, const char *name, const jx_mlir_attr *a,
                           int depth, jaxvet_attribute *to);

static bool take_entries(jx_ctx *ctx, const jx_mlir_attr *dict, int depth,
                         int *count, const jaxvet_attribute **to)
{
    jaxvet_attribute *made =
        JX_NEW_ARRAY(ctx->arena, dict->count + 1, jaxvet_attribute);

    for (int i = 0; made && i < dict->count; i++)
        if (!take_attribute(ctx, dict->names[i], dict->items[i], depth + 1,
                            &made[i]))
            return false;
    *count = dict->count;
    *to = made;
    return made != NULL;
}

/* Numbers of `bytes` each, the first of them or the only one. */
static bool take_elements(jx_ctx *ctx, jx_dtype dtype, int64_t count,
                          const void *from, bool splat, jaxvet_attribute *to)
{
    size_t bytes = jx_dtype_of(dtype)->bytes;
    char *at = jx_arena_array(ctx->arena, (size_t)count, bytes);

    if (!at)
        return false;
    if (!splat && count)
        memcpy(at, from, (size_t)count * bytes);
    for (int64_t i = 0; splat && i < count; i++)
        memcpy(at + (size_t)i * bytes, from, bytes);
    to->dtype = jx_dtype_of(dtype)->short_name;
    to->count = count;
    to->data = at;
    return true;
}

/* How many elements a tensor has; -1: nobody can say. */
static int64_t elements_of(const jx_mlir_type *type)
{
    int64_t count = 1;

    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] < 0 ||
            __builtin_mul_overflow(count, type->shape[i], &count))
            return -1;
    return type->rank < 0 ? -1 : count;
}

static bool take_dense(jx_ctx *ctx, const jx_mlir_attr *a, jaxvet_attribute *to)
{
    int64_t count =
        a->type && a->type->kind == JX_T_TENSOR ? elements_of(a->type) : -1;
    jx_dtype dtype;

    if (count < 0 || !jx_hlo_dtype(a->type, &dtype) ||
        a->size < jx_dtype_of(dtype)->bytes * (a->splat ? 1 : (size_t)count))
        return true;
    to->kind = JAXVET_ATTRIBUTE_ARRAY;
    return take_elements(ctx, dtype, count, a->bytes, a->splat, to);
}

/* `array<i32: 1, 2>`: integers of any width are read as 64 bits. */
static bool take_list(jx_ctx *ctx, const jx_mlir_attr *a, jaxvet_attribute *to)
{
    jx_dtype dtype;
    char *at;

    if (!a->type || !jx_hlo_dtype(a->type, &dtype))
        return true;
    size_t bytes = jx_dtype_of(dtype)->bytes;
    if (!a->integers && a->size < bytes * (size_t)a->count)
        return true;
    to->kind = JAXVET_ATTRIBUTE_ARRAY;
    if (!a->integers)
        return take_elements(ctx, dtype, a->count, a->bytes, false, to);
    if (!take_elements(ctx, dtype, a->count, a->integers,
                       bytes != sizeof *a->integers, to))
        return false;
    at = (char *)(uintptr_t)to->data;
    for (int i = 0; i < a->count; i++)
        memcpy(at + (size_t)i * bytes, &a->integers[i],
               bytes < sizeof *a->integers ? bytes : sizeof *a->integers);
    return true;
}

static bool take_number(jx_ctx *ctx, const jx_mlir_attr *a,
                        jaxvet_attribute *to)
{
    const void *from = a->bytes ? a->bytes : &a->integer;
    size_t size = a->bytes ? a->size : sizeof a->integer;
    bool truth = a->kind == JX_A_BOOL ? a->boolean : a->integer != 0;
    jx_dtype dtype = JX_BOOL;

    if (a->kind != JX_A_BOOL && (!a->type || !jx_mlir_dtype(a->type, &dtype)))
        return true;
    if (dtype == JX_BOOL)
        from = &truth, size = sizeof truth;
    if (size < jx_dtype_of(dtype)->bytes)
        return true;
    to->kind = a->kind == JX_A_FLOAT ? JAXVET_ATTRIBUTE_FLOAT
               : dtype == JX_BOOL    ? JAXVET_ATTRIBUTE_BOOL
                                     : JAXVET_ATTRIBUTE_INTEGER;
    return take_elements(ctx, dtype, 1, from, false, to);
}

static bool take_string(jx_ctx *ctx, const jx_mlir_attr *a,
                        jaxvet_attribute *to)
{
    char *text = jx_arena_array(ctx->arena, a->size + 1, 1);

    if (!text)
        return false;
    if (a->size)
        memcpy(text, a->bytes, a->size);
    text[a->size] = '\0';
    to->kind = JAXVET_ATTRIBUTE_STRING;
    to->count = (int64_t)a->size;
    to->data = text;
    return true;
}

/* False without memory; what nobody could take is JAXVET_ATTRIBUTE_OTHER. */
static bool take_attribute(jx_ctx *ctx, const char *name, const jx_mlir_attr *a,
                           int depth, jaxvet_attribute *to)
{
    int count;

    *to = (jaxvet_attribute){.name = name};
    switch (a->kind) {
    case JX_A_BOOL:
    case JX_A_INTEGER:
    case JX_A_FLOAT: return take_number(ctx, a, to);
    case JX_A_STRING: return take_string(ctx, a, to);
    case JX_A_DENSE: return take_dense(ctx, a, to);
    case JX_A_DENSE_ARRAY: return take_list(ctx, a, to);
    case JX_A_DICT:
        if (depth > MOST_LEVELS)
            return true;
        to->kind = JAXVET_ATTRIBUTE_DICTIONARY;
        if (!take_entries(ctx, a, depth, &count, &to->entries))
            return false;
        to->count = count;
        return true;
    default: return true;
    }
}

/* ---- operands and results */

typedef JX_VEC(jaxvet_layout) layouts;

/* One for each that is no tuple: the tokens are known here, and arrays by their
 * types once sizes are. */
static void list_layouts(jx_ctx *ctx, const jx_mlir_type *type, layouts *to)
{
    bool many = type->kind == JX_T_TUPLE || type->kind == JX_T_FUTURE;

    for (int i = 0; many && i < type->count; i++)
        list_layouts(ctx, type->items[i], to);
    if (!many)
        JX_PUSH(
            ctx->arena, to,
            ((jaxvet_layout){.dtype = jx_hlo_width(type) ? NULL : "token"}));
}

/* The result that this alias is about, and its operand; false if it says no
 * such thing. */
static bool alias_of(const jx_mlir_attr *alias, int64_t *result,
                     int64_t *operand)
{
    const jx_mlir_attr *to = jx_mlir_field(alias, "output_tuple_indices");
    const jx_mlir_attr *from = jx_mlir_field(alias, "operand_index");
    const jx_mlir_attr *inside = jx_mlir_field(alias, "operand_tuple_indices");

    if (!from || from->kind != JX_A_INTEGER || from->bytes ||
        (inside && jx_mlir_numbers(inside) > 0) ||
        (to && jx_mlir_numbers(to) > 1))
        return false;
    *operand = from->integer;
    *result = to && jx_mlir_numbers(to) == 1 ? jx_mlir_number(to, 0) : 0;
    return true;
}

static bool take_aliases(jx_hlo_body *b, jaxvet_custom_call *call)
{
    const jx_mlir_attr *all = jx_mlir_get(b->op, "output_operand_aliases");
    int *to = JX_NEW_ARRAY(b->s->ctx->arena, call->output_count + 1, int);
    int64_t result, operand;

    for (int i = 0; to && i < call->output_count; i++)
        to[i] = -1;
    for (int i = 0; to && all && all->kind == JX_A_ARRAY && i < all->count;
         i++) {
        if (!alias_of(all->items[i], &result, &operand) || result < 0 ||
            result >= call->output_count || operand < 0 ||
            operand >= call->input_count)
            return jx_hlo_refuse(b,
                                 "attribute 'output_operand_aliases': expected "
                                 "results and operands that there are");
        to[result] = (int)operand;
    }
    call->aliases = to;
    return to != NULL;
}

/* ---- equal calls are one */

static bool same_attributes(int count, const jaxvet_attribute *a,
                            const jaxvet_attribute *b)
{
    for (int i = 0; i < count; i++) {
        bool nested = a[i].kind == JAXVET_ATTRIBUTE_DICTIONARY;
        size_t width =
            a[i].dtype
                ? jx_dtype_of(jx_dtype_named(a[i].dtype, strlen(a[i].dtype)))
                      ->bytes
                : 1;
        if (strcmp(a[i].name, b[i].name) || a[i].kind != b[i].kind ||
            a[i].dtype != b[i].dtype || a[i].count != b[i].count ||
            (nested
                 ? !same_attributes((int)a[i].count, a[i].entries, b[i].entries)
                 : a[i].count && memcmp(a[i].data, b[i].data,
                                        (size_t)a[i].count * width)))
            return false;
    }
    return true;
}

static bool same_tokens(int count, const jaxvet_layout *a,
                        const jaxvet_layout *b)
{
    for (int i = 0; i < count; i++)
        if (!a[i].dtype != !b[i].dtype)
            return false;
    return true;
}

static bool same_call(const void *kept, const void *key)
{
    const jaxvet_custom_call *a = kept, *b = key;

    return a->target == b->target && a->api_version == b->api_version &&
           a->has_side_effect == b->has_side_effect &&
           a->input_count == b->input_count &&
           a->output_count == b->output_count &&
           same_tokens(a->input_count, a->inputs, b->inputs) &&
           same_tokens(a->output_count, a->outputs, b->outputs) &&
           !memcmp(a->aliases, b->aliases,
                   (size_t)a->output_count * sizeof *a->aliases) &&
           !a->config == !b->config && a->config_size == b->config_size &&
           (!a->config || !memcmp(a->config, b->config, a->config_size)) &&
           a->attribute_count == b->attribute_count &&
           same_attributes(a->attribute_count, a->attributes, b->attributes);
}

static const jaxvet_custom_call *kept_call(jx_hlo_reader *s,
                                           const jaxvet_custom_call *call)
{
    uint64_t hash = jx_hash_mix((uint64_t)(uintptr_t)call->target,
                                (uint64_t)call->attribute_count);
    const jaxvet_custom_call *found =
        jx_intern_find(&s->calls, hash, call, same_call);

    if (found)
        return found;
    found = jx_arena_copy(s->ctx->arena, call, sizeof *call);
    return found && jx_intern_add(&s->calls, hash, found) ? found : NULL;
}

/* ---- the call */

static bool take_config(jx_hlo_body *b, jaxvet_custom_call *call)
{
    const jx_mlir_attr *text = jx_mlir_get(b->op, "backend_config");
    const jx_mlir_attr *config = jx_mlir_get(b->op, "mhlo.backend_config");
    jaxvet_attribute taken = {0};
    jx_ctx *ctx = b->s->ctx;

    if (text && text->kind == JX_A_DICT)
        config = text;
    if (config && config->kind == JX_A_DICT) {
        call->api_version = 4;
        return take_entries(ctx, config, 0, &call->attribute_count,
                            &call->attributes);
    }
    if (!text || text->kind != JX_A_STRING)
        return true;
    if (!take_string(ctx, text, &taken))
        return false;
    call->config = taken.data;
    call->config_size = text->size;
    return true;
}

const jaxvet_custom_call *jx_hlo_host_call(jx_hlo_body *b, const char *target,
                                           const bool *left_out)
{
    jx_ctx *ctx = b->s->ctx;
    const jx_mlir_op *op = b->op;
    layouts ins = {0}, outs = {0};
    jaxvet_custom_call call = {
        .size = sizeof call,
        .target = jx_intern_text(ctx, target),
        .api_version = (int)jx_hlo_attr_int_or(b, "api_version", 1),
        .has_side_effect = jx_hlo_attr_bool_or(b, "has_side_effect", false),
        .place = ""};

    for (int i = 0; i < op->nins; i++)
        if (!left_out[i])
            list_layouts(ctx, op->ins[i]->type, &ins);
    for (int i = 0; i < op->nouts; i++)
        list_layouts(ctx, op->outs[i]->type, &outs);
    call.input_count = (int)ins.count;
    call.inputs = ins.at;
    call.output_count = (int)outs.count;
    call.outputs = outs.at;
    return call.target && take_config(b, &call) && take_aliases(b, &call) &&
                   jx_ok(ctx)
               ? kept_call(b->s, &call)
               : NULL;
}
