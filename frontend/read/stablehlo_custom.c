/* stablehlo_custom.c - custom calls, checks, and work of many devices. */
#include "frontend/read/replica_groups.h"
#include "frontend/read/stablehlo_entry.h"

/* ---- attributes as parameters: what is said in them stays readable */

enum { MOST_LEVELS = 16, MOST_ITEMS = 4096, MOST_RANK = 64, MOST_BYTES = 256 };

static const char SHAPE_OPERANDS[] = "indices_of_shape_operands";

static const jx_value *value_of(jx_hlo_reader *s, const jx_mlir_attr *a,
                                int depth);

static const jx_value *word(jx_hlo_reader *s, jx_value_tag tag,
                            const char *text)
{
    return jx_value_add(
        &s->program->values,
        &(jx_value){.tag = tag, .text = jx_intern_text(s->ctx, text)});
}

static const jx_value *list_of(jx_hlo_reader *s, const jx_mlir_attr *a,
                               int depth)
{
    const jx_value **items =
        JX_NEW_ARRAY(s->ctx->arena, a->count, const jx_value *);

    for (int i = 0; items && i < a->count; i++)
        items[i] = value_of(s, a->items[i], depth + 1);
    return items ? jx_value_of_tuple(s->program, a->count, items) : NULL;
}

/* A map from names to values. */
static const jx_value *map_of(jx_hlo_reader *s, int count,
                              const char *const *names,
                              const jx_mlir_attr *const *values, int depth)
{
    const jx_value **items =
        JX_NEW_ARRAY(s->ctx->arena, 2 * count, const jx_value *);

    for (int i = 0; items && i < count; i++) {
        items[2 * i] = word(s, JX_V_TEXT, names[i]);
        items[2 * i + 1] = value_of(s, values[i], depth + 1);
        if (!items[2 * i] || !items[2 * i + 1])
            return NULL;
    }
    return items ? jx_value_add(&s->program->values,
                                &(jx_value){.tag = JX_V_MAP,
                                            .count = 2 * count,
                                            .items = items})
                 : NULL;
}

static const jx_value *ints_of(jx_hlo_reader *s, const jx_mlir_attr *a)
{
    if (a->count > MOST_ITEMS || !a->integers)
        return word(s, JX_V_TEXT, "array");
    return jx_value_of_ints(s->program, (jx_ints){a->count, a->integers});
}

/* Bytes as text where they are that, a few others one by one, many by their
 * number. */
static const jx_value *text_of(jx_hlo_reader *s, const jx_mlir_attr *a)
{
    const char *text = jx_mlir_text(s->ctx, a);
    int64_t bytes[MOST_BYTES];

    if (text)
        return word(s, JX_V_TEXT, text);
    if (a->size <= MOST_BYTES) {
        for (size_t i = 0; i < a->size; i++)
            bytes[i] = ((const unsigned char *)a->bytes)[i];
        return jx_value_of_ints(s->program, (jx_ints){(int)a->size, bytes});
    }
    return word(s, JX_V_TEXT,
                jx_arena_printf(s->ctx->arena, "%zu bytes", a->size));
}

static const jx_value *value_of(jx_hlo_reader *s, const jx_mlir_attr *a,
                                int depth)
{
    jx_values *in = &s->program->values;

    if (depth > MOST_LEVELS)
        return word(s, JX_V_TEXT, "...");
    switch (a->kind) {
    case JX_A_UNIT:
        return jx_value_add(in, &(jx_value){.tag = JX_V_BOOL, .boolean = true});
    case JX_A_BOOL:
        return jx_value_add(
            in, &(jx_value){.tag = JX_V_BOOL, .boolean = a->boolean});
    case JX_A_INTEGER:
        return jx_value_add(
            in, &(jx_value){.tag = JX_V_INT, .integer = a->integer});
    case JX_A_FLOAT:
        return jx_value_add(in,
                            &(jx_value){.tag = JX_V_FLOAT, .real = a->real});
    case JX_A_STRING: return text_of(s, a);
    case JX_A_ARRAY: return list_of(s, a, depth);
    case JX_A_DICT: return map_of(s, a->count, a->names, a->items, depth);
    case JX_A_DENSE_ARRAY: return ints_of(s, a);
    case JX_A_ENUM:
    case JX_A_SYMBOL: return word(s, JX_V_TEXT, a->text ? a->text : "");
    default: return word(s, JX_V_TEXT, a->name ? a->name : "attribute");
    }
}

/* What anybody added, but for marks that say nothing of values. */
static const jx_value *added(jx_hlo_body *b, const jx_mlir_op *op)
{
    const char **names =
        JX_NEW_ARRAY(b->s->ctx->arena, op->nattrs, const char *);
    const jx_mlir_attr **values =
        JX_NEW_ARRAY(b->s->ctx->arena, op->nattrs, const jx_mlir_attr *);
    int n = 0;

    for (int i = 0; names && values && i < op->nattrs; i++) {
        if (!strcmp(op->attrs[i].name, "mhlo.backend_config"))
            continue;
        names[n] = op->attrs[i].name;
        values[n++] = op->attrs[i].value;
    }
    return names && values ? map_of(b->s, n, names, values, 0) : NULL;
}

/* ---- custom calls */

/* What the operand that is there to say so says of the sizes of a result, if it
 * is known: the call's own rule is held against it. */
static const jx_dim *const *said_shape(jx_hlo_body *b, jx_ints indices,
                                       int result)
{
    const jx_mlir_type *type = b->op->outs[result]->type;
    int64_t operand = result < indices.count ? indices.at[result] : -1;

    return operand >= 0 && operand < b->op->nins && jx_hlo_is_open(type)
               ? jx_hlo_sizes_in(b, (int)operand, type->rank)
               : NULL;
}

/* The avals of all results, flattened. */
static const jx_aval **result_avals(jx_hlo_body *b, int *count)
{
    JX_VEC(const jx_aval *) all = {0};
    jx_ints indices = {0, NULL};

    if (jx_mlir_get(b->op, SHAPE_OPERANDS))
        jx_hlo_attr_ints(b, SHAPE_OPERANDS, &indices);
    for (int i = 0; i < b->op->nouts; i++) {
        const jx_mlir_type *type = b->op->outs[i]->type;
        if (type->kind == JX_T_TUPLE) {
            for (int k = 0; k < type->count; k++)
                JX_PUSH(b->s->ctx->arena, &all,
                        jx_hlo_aval_of(b, type->items[k], NULL));
        } else if (jx_hlo_width(type) == 1) {
            JX_PUSH(b->s->ctx->arena, &all,
                    jx_hlo_result(b, i, said_shape(b, indices, i)));
        }
    }
    *count = (int)all.count;
    return all.count ? all.at
                     : JX_NEW_ARRAY(b->s->ctx->arena, 1, const jx_aval *);
}

/* `call` is all that the module says of it. */
static bool emit_custom_call(jx_hlo_body *b, const char *target,
                             const struct jaxvet_custom_call *call,
                             jx_atoms ins, jx_params *p)
{
    const jx_aval **outs;
    const jx_atom *made;
    int nouts = 0;

    outs = result_avals(b, &nouts);
    jx_put(p, "call_target_name",
           jx_value_add(&b->s->program->values,
                        &(jx_value){.tag = JX_V_TEXT,
                                    .text = jx_intern_text(b->s->ctx, target),
                                    .call = call}));
    made = outs ? jx_hlo_eqn_all(b, jx_prim_of(JX_PRIM_stablehlo_custom_call),
                                 ins.count, ins.at, p, nouts, outs)
                : NULL;
    return made && jx_hlo_define(b, nouts, made);
}

/* What is wrong with an assertion is told once, however often it is called. */
static void note_misstated(jx_hlo_body *b, const jx_size_assertion *a)
{
    jx_misstated made = {.stack = jx_hlo_stack(b->s, b->op->loc)};

    if (a) {
        made.what = a->mismatch.what;
        made.nsizes = a->mismatch.nsizes;
        made.sizes = a->mismatch.sizes;
    }
    for (size_t i = 0; made.what && i < b->s->misstated.count; i++)
        if (b->s->misstated.at[i].stack == made.stack &&
            !strcmp(b->s->misstated.at[i].what, made.what))
            return;
    if (made.what)
        JX_PUSH(b->s->ctx->arena, &b->s->misstated, made);
}

/* A comparison of integers, or several of which all must hold: the checker
 * reads these by itself. */
static bool is_comparison(const jx_mlir_value *value, int depth)
{
    const jx_mlir_op *op = value->op;

    if (!op || depth > MOST_LEVELS || op->nins != 2)
        return false;
    if (op->id == JX_OP_stablehlo_and)
        return is_comparison(op->ins[0], depth + 1) &&
               is_comparison(op->ins[1], depth + 1);
    return op->id == JX_OP_stablehlo_compare &&
           op->ins[0]->type->kind == JX_T_TENSOR &&
           op->ins[0]->type->items[0]->kind == JX_T_INTEGER &&
           op->ins[0]->type->items[0]->width > 1;
}

static jx_atom comparison(jx_hlo_body *b, const jx_scope_constraint *c)
{
    jx_atom none = {NULL, NULL};
    jx_atom lhs = jx_hlo_size_atom(b, JX_I32, c->lhs);
    jx_atom rhs = jx_hlo_size_atom(b, JX_I32, c->rhs);

    if (!lhs.literal || !rhs.literal)
        return none;
    return jx_hlo_eqn2(b,
                       c->equal     ? JX_PRIM_eq
                       : c->differs ? JX_PRIM_ne
                                    : JX_PRIM_ge,
                       lhs, rhs, jx_hlo_array(b, JX_BOOL, 0, NULL));
}

/* What an assertion checks, as comparisons of sizes, where it is computed in
 * some other way; nothing if it is not, or not of sizes. */
static jx_atom compared(jx_hlo_body *b, const jx_size_assertion *a)
{
    const jx_aval *truth = jx_hlo_array(b, JX_BOOL, 0, NULL);
    jx_atom all = {NULL, NULL};
    size_t eqns = b->body.eqns.count, outs = b->body.outs.count;

    if (!a || !a->known || is_comparison(b->op->ins[0], 0))
        return all;
    for (int i = 0; i < a->ncompared; i++) {
        jx_atom one = comparison(b, &a->compared[i]);
        if (!jx_is_made(one)) {
            b->body.eqns.count = eqns;
            b->body.outs.count = outs;
            return one;
        }
        all = jx_is_made(all) ? jx_hlo_eqn2(b, JX_PRIM_and, all, one, truth)
                              : one;
    }
    return a->ncompared ? all : jx_build_number(&b->body, JX_BOOL, 1);
}

static bool shape_assertion(jx_hlo_body *b, jx_atoms ins)
{
    jx_params p = jx_hlo_no_params(b);
    const char *message = jx_hlo_attr_text(b, "error_message");
    const jx_size_assertion *a = jx_sz_assertion(b, ins);
    jx_atom checked = compared(b, a), *with;

    note_misstated(b, a);
    if (jx_is_made(checked)) {
        with = JX_NEW_ARRAY(b->s->ctx->arena, ins.count, jx_atom);
        if (!with)
            return false;
        memcpy(with, ins.at, (size_t)ins.count * sizeof *with);
        with[0] = checked;
        ins.at = with;
    }
    if (message)
        jx_put_text(&p, "error_message", message);
    return jx_hlo_eqn_all(b, jx_prim_of(JX_PRIM_shape_assertion), ins.count,
                          ins.at, &p, 0, NULL) &&
           jx_hlo_define(b, 0, NULL);
}

/* The operands that only say the shapes of results, which are known here: JAX
 * adds them where sizes are open. */
static const bool *says_shapes(jx_hlo_body *b)
{
    bool *says = JX_NEW_ARRAY(b->s->ctx->arena, b->op->nins + 1, bool);
    jx_ints indices = {0, NULL};

    if (says && jx_mlir_get(b->op, SHAPE_OPERANDS))
        jx_hlo_attr_ints(b, SHAPE_OPERANDS, &indices);
    for (int k = 0; k < indices.count; k++)
        if (indices.at[k] >= 0 && indices.at[k] < b->op->nins)
            says[indices.at[k]] = true;
    return says;
}

static jx_atoms without_shapes(jx_hlo_body *b, const bool *says_shape)
{
    JX_VEC(jx_atom) kept = {0};

    if (!jx_mlir_get(b->op, SHAPE_OPERANDS))
        return jx_hlo_ins(b, 0);
    for (int i = 0; i < b->op->nins; i++) {
        jx_atoms each = jx_hlo_atoms_of(b, b->op->ins[i]);
        for (int n = 0; !says_shape[i] && n < each.count; n++)
            JX_PUSH(b->s->ctx->arena, &kept, each.at[n]);
    }
    return (jx_atoms){(int)kept.count, kept.at};
}

/* A function that the call names, as the jaxpr of its own arguments; NULL if
 * it is no function of arrays. */
static const jx_value *called_function(jx_hlo_body *b, const jx_mlir_attr *name)
{
    jx_hlo_reader *s = b->s;
    const jx_mlir_op *func =
        name->kind == JX_A_SYMBOL && name->text
            ? jx_mlir_find(s->ctx, &s->symbols, s->module, name->text)
            : NULL;
    const jx_mlir_block *block =
        func && func->id == JX_OP_func_func ? jx_mlir_body(func, 0) : NULL;
    const jx_aval **ins =
        block ? JX_NEW_ARRAY(s->ctx->arena, block->nargs + 1, const jx_aval *)
              : NULL;

    for (int i = 0; ins && i < block->nargs; i++) {
        if (block->args[i]->type->kind != JX_T_TENSOR)
            return NULL;
        ins[i] = jx_hlo_aval_of(b, block->args[i]->type, NULL);
        if (!ins[i])
            return NULL;
    }
    const jx_jaxpr *jaxpr =
        ins ? jx_hlo_jaxpr_of(s, func, b->op, block->nargs, ins, NULL) : NULL;
    return jaxpr ? jx_value_add(&s->program->values,
                                &(jx_value){.tag = JX_V_JAXPR, .jaxpr = jaxpr})
                 : NULL;
}

/* The functions that a call is given, in place of their names. */
static void put_called(jx_hlo_body *b, jx_params *p)
{
    const jx_mlir_attr *all = jx_mlir_get(b->op, "called_computations");
    const jx_value **items;

    if (!all || all->kind != JX_A_ARRAY)
        return;
    items = JX_NEW_ARRAY(b->s->ctx->arena, all->count + 1, const jx_value *);
    for (int i = 0; items && i < all->count; i++) {
        items[i] = called_function(b, all->items[i]);
        if (!items[i])
            items[i] = value_of(b->s, all->items[i], 0);
        if (!items[i])
            return;
    }
    if (items)
        jx_put(p, "called_computations",
               jx_value_of_tuple(b->s->program, all->count, items));
}

/* The axes of one operand, from the fastest to the slowest. */
static const jx_value *layout_of(jx_hlo_body *b, const jx_mlir_attr *one)
{
    int rank =
        one->type && one->type->rank == 1 ? (int)one->type->shape[0] : -1;
    int64_t axes[MOST_RANK];

    if (one->kind != JX_A_DENSE || rank < 0 || rank > MOST_RANK ||
        (rank && one->size != (one->splat ? 1 : (size_t)rank) * sizeof *axes))
        return NULL;
    for (int i = 0; i < rank; i++)
        memcpy(&axes[i],
               (const char *)one->bytes +
                   (one->splat ? 0 : (size_t)i * sizeof *axes),
               sizeof *axes);
    return jx_value_of_ints(b->s->program, (jx_ints){rank, axes});
}

/* How operands or results lie in memory.  What can't be read is an error: a
 * call without layouts would be another one. */
static bool put_layouts(jx_hlo_body *b, jx_params *p, const char *name)
{
    const jx_mlir_attr *all = jx_mlir_get(b->op, name);
    int n = all && all->kind == JX_A_ARRAY ? all->count : 0;
    const jx_value **items =
        JX_NEW_ARRAY(b->s->ctx->arena, n + 1, const jx_value *);
    bool ok = !all || all->kind == JX_A_ARRAY;

    for (int i = 0; items && ok && i < n; i++)
        ok = (items[i] = layout_of(b, all->items[i])) != NULL;
    if (!ok || !items)
        return jx_hlo_refuse(b,
                             "attribute '%s': expected a list of the orders "
                             "of axes",
                             name);
    if (all)
        jx_put(p, name, jx_value_of_tuple(b->s->program, n, items));
    return true;
}

bool jx_hlo_op_host_call(jx_hlo_body *b, const jx_mlir_op *op,
                         const jx_hlo_row *row)
{
    const char *target = jx_hlo_attr_text(b, "call_target_name");
    jx_params p = jx_hlo_no_params(b);
    const bool *shapes = says_shapes(b);
    const jx_mlir_attr *config = jx_mlir_get(op, "mhlo.backend_config");
    const struct jaxvet_custom_call *call;

    (void)row;
    if (!target || !shapes)
        return false;
    if (!config)
        config = jx_mlir_get(op, "backend_config");
    jx_put_int(&p, "api_version", jx_hlo_attr_int_or(b, "api_version", 1));
    if (config)
        jx_put(&p, "backend_config", value_of(b->s, config, 0));
    jx_put_bool(&p, "has_side_effect",
                !strncmp(target, "check.", 6) ||
                    jx_hlo_attr_bool_or(b, "has_side_effect", false));
    put_called(b, &p);
    if (!put_layouts(b, &p, "operand_layouts") ||
        !put_layouts(b, &p, "result_layouts"))
        return false;
    jx_put(&p, "attributes", added(b, op));
    call = jx_hlo_host_call(b, target, shapes);
    return call &&
           emit_custom_call(b, target, call, without_shapes(b, shapes), &p);
}

bool jx_hlo_op_custom_call(jx_hlo_body *b, const jx_mlir_op *op,
                           const jx_hlo_row *row)
{
    const char *target = jx_hlo_attr_text(b, "call_target_name");
    const bool *shapes = says_shapes(b);
    jx_atoms ins;

    if (!target)
        return jx_hlo_refuse(b, "expected the attribute 'call_target_name'");
    if (!shapes)
        return false;
    row = jx_hlo_row_of(b->s, op->id, target);
    if (row && row->detail[0])
        return row->rule(b, op, row);
    ins = without_shapes(b, shapes);
    if (!strcmp(target, "shape_assertion") && op->nouts == 0 && ins.count)
        return shape_assertion(b, ins);
    return jx_hlo_op_host_call(b, op, row);
}

/* ---- checks: what the tests of StableHLO expect */

static const jx_value *tolerance(jx_hlo_body *b)
{
    const char **names =
        JX_NEW_ARRAY(b->s->ctx->arena, b->op->ninherent, const char *);
    const jx_mlir_attr **values =
        JX_NEW_ARRAY(b->s->ctx->arena, b->op->ninherent, const jx_mlir_attr *);
    int n = 0;

    for (int i = 0; names && values && i < b->op->ninherent; i++) {
        if (!strcmp(b->op->inherent[i].name, "value"))
            continue;
        names[n] = b->op->inherent[i].name;
        values[n++] = b->op->inherent[i].value;
    }
    return names && values ? map_of(b->s, n, names, values, 0) : NULL;
}

static jx_atom expected_value(jx_hlo_body *b, const jx_mlir_attr *value)
{
    const jx_aval *aval = value->kind == JX_A_DENSE && value->type
                              ? jx_hlo_aval_of(b, value->type, NULL)
                              : NULL;

    if (aval && (value->bytes || !value->size))
        return jx_hlo_literal(b, aval, value->bytes, value->size, value->splat);
    jx_hlo_refuse(b, "attribute 'value': expected elements");
    return (jx_atom){NULL, NULL};
}

bool jx_hlo_op_check(jx_hlo_body *b, const jx_mlir_op *op,
                     const jx_hlo_row *row)
{
    const jx_mlir_attr *value = jx_mlir_get(op, "value");
    jx_params p = jx_hlo_no_params(b);
    jx_atom both[2];

    (void)row;
    both[0] = jx_hlo_in(b, 0);
    both[1] = value ? expected_value(b, value) : jx_hlo_in(b, 1);
    jx_put_bool(&p, "has_side_effect", true);
    jx_put(&p, "attributes", tolerance(b));
    return emit_custom_call(b, op->name, NULL, (jx_atoms){2, both}, &p);
}

/* ---- devices */

static const jx_value *rows_of(jx_hlo_body *b, int n, int width,
                               const int64_t *at)
{
    const jx_value **rows = JX_NEW_ARRAY(b->s->ctx->arena, n, const jx_value *);

    for (int i = 0; rows && i < n; i++)
        rows[i] = jx_value_of_ints(
            b->s->program, (jx_ints){width, at + (size_t)i * (size_t)width});
    return rows ? jx_value_of_tuple(b->s->program, n, rows) : NULL;
}

static const jx_value *groups_of_mesh(jx_hlo_body *b, const char *name,
                                      const jx_mlir_attr *a)
{
    jx_replica_groups groups;
    const char *expected;

    if (jx_replica_groups_of_mesh(b->s->ctx, b->s->module, a, &groups,
                                  &expected))
        return rows_of(b, (int)groups.count, (int)groups.width, groups.ids);
    jx_hlo_refuse(b, "attribute '%s': expected %s", name, expected);
    return NULL;
}

/* Rows of a 2-D tensor of integers: groups of devices, or pairs. */
static const jx_value *groups_of(jx_hlo_body *b, const char *name)
{
    const jx_mlir_attr *a = jx_hlo_attr(b, name);
    jx_ints all;

    if (jx_is_replica_groups_of_mesh(a))
        return groups_of_mesh(b, name, a);
    if (!a || !a->type || a->type->rank != 2 ||
        !jx_hlo_attr_ints(b, name, &all)) {
        jx_hlo_refuse(b, "attribute '%s': expected a matrix of integers", name);
        return NULL;
    }
    return rows_of(b, (int)a->type->shape[0], (int)a->type->shape[1], all.at);
}

/* As JAX writes it: a custom call whose options are those of a collective.
 * Without them it is somebody else's. */
bool jx_hlo_op_ragged(jx_hlo_body *b, const jx_mlir_op *op,
                      const jx_hlo_row *row)
{
    const jx_mlir_attr *more = jx_mlir_get(op, "mhlo.backend_config"),
                       *config =
                           more ? more : jx_mlir_get(op, "backend_config"),
                       *groups = config && config->kind == JX_A_DICT
                                     ? jx_mlir_field(config, "replica_groups")
                                     : NULL;
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    const jx_aval *out;
    int64_t channel = 0;
    jx_atom made;
    jx_ints all;

    if (!groups || !groups->type || groups->type->rank != 2 || ins.count != 6 ||
        op->nouts != 1 || !jx_hlo_field_ints(b, config, "replica_groups", &all))
        return jx_ok(b->s->ctx) && jx_hlo_op_host_call(b, op, row);
    jx_put(&p, "replica_groups",
           rows_of(b, (int)groups->type->shape[0], (int)groups->type->shape[1],
                   all.at));
    if (!jx_hlo_field_int(b, config, "channel_id", &channel))
        return false;
    if (channel)
        jx_put_int(&p, "channel_id", channel);
    out = jx_hlo_result(b, 0, NULL);
    if (!out)
        return false;
    made = jx_hlo_eqn(b, row->prim, ins.count, ins.at, &p, out);
    return jx_is_made(made) && jx_hlo_define(b, 1, &made);
}

static void put_channel(jx_hlo_body *b, jx_params *p)
{
    const jx_mlir_attr *channel = jx_mlir_get(b->op, "channel_handle");
    int64_t handle = 0;

    if (channel && jx_hlo_field_int(b, channel, "handle", &handle))
        jx_put_int(p, "channel_id", handle);
}

/* "all_gather_dim" and the like are the same for both. */
static void put_ints(jx_hlo_body *b, jx_params *p, const char *const *names)
{
    for (; *names; names++) {
        int64_t value = 0;
        if (jx_hlo_attr_int(b, *names, &value))
            jx_put_int(p, *names, value);
    }
}

static bool put_computation(jx_hlo_body *b, jx_params *p, jx_atoms ins)
{
    const jx_aval *scalar =
        ins.count ? jx_hlo_array(b, jx_atom_aval(ins.at[0])->dtype, 0, NULL)
                  : NULL;
    const jx_aval *const args[] = {scalar, scalar};
    const jx_jaxpr *body = scalar ? jx_hlo_closed(b, b->op, 0, 2, args) : NULL;

    jx_put_jaxpr(p, "computation", body);
    return body || jx_hlo_refuse(b, "expected a computation of two scalars");
}

static bool collective(jx_hlo_body *b, const jx_hlo_row *row,
                       const char *groups, const char *const *ints)
{
    jx_params p = jx_hlo_no_params(b);
    jx_atoms ins = jx_hlo_ins(b, 0);
    int nouts = 0;
    const jx_aval **outs = result_avals(b, &nouts);
    const jx_atom *made;

    if (groups)
        jx_put(&p, groups, groups_of(b, groups));
    put_ints(b, &p, ints);
    put_channel(b, &p);
    const jx_mlir_attr *global = jx_mlir_get(b->op, "use_global_device_ids");
    if (global && !(global->kind == JX_A_BOOL && !global->boolean))
        jx_put_bool(&p, "use_global_device_ids", true);
    if (b->op->nregions && !put_computation(b, &p, ins))
        return false;
    made = outs ? jx_hlo_eqn_all(b, jx_prim_of(row->prim), ins.count, ins.at,
                                 &p, nouts, outs)
                : NULL;
    return made && jx_hlo_define(b, nouts, made);
}

bool jx_hlo_op_collective(jx_hlo_body *b, const jx_mlir_op *op,
                          const jx_hlo_row *row)
{
    static const char *const none[] = {NULL};

    (void)op;
    return collective(b, row, "replica_groups", none);
}

bool jx_hlo_op_device_id(jx_hlo_body *b, const jx_mlir_op *op,
                         const jx_hlo_row *row)
{
    static const char *const none[] = {NULL};

    (void)op;
    return collective(b, row, NULL, none);
}

bool jx_hlo_op_collective_permute(jx_hlo_body *b, const jx_mlir_op *op,
                                  const jx_hlo_row *row)
{
    static const char *const none[] = {NULL};

    (void)op;
    return collective(b, row, "source_target_pairs", none);
}

bool jx_hlo_op_all_gather(jx_hlo_body *b, const jx_mlir_op *op,
                          const jx_hlo_row *row)
{
    static const char *const ints[] = {"all_gather_dim", NULL};

    (void)op;
    return collective(b, row, "replica_groups", ints);
}

bool jx_hlo_op_reduce_scatter(jx_hlo_body *b, const jx_mlir_op *op,
                              const jx_hlo_row *row)
{
    static const char *const ints[] = {"scatter_dimension", NULL};

    (void)op;
    return collective(b, row, "replica_groups", ints);
}

bool jx_hlo_op_all_to_all(jx_hlo_body *b, const jx_mlir_op *op,
                          const jx_hlo_row *row)
{
    static const char *const ints[] = {"split_dimension", "concat_dimension",
                                       "split_count", NULL};

    (void)op;
    return collective(b, row, "replica_groups", ints);
}

/* A constraint on where an array lies does not change it. */
bool jx_hlo_op_same(jx_hlo_body *b, const jx_mlir_op *op, const jx_hlo_row *row)
{
    jx_atoms ins = jx_hlo_ins(b, 0);

    (void)row;
    return ins.count == op->nouts && jx_hlo_define(b, ins.count, ins.at);
}
